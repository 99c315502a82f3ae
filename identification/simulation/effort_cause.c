#include "identification/simulation/effort_cause.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/curve_fit.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/numeric/residual_colour.h"
#include "identification/simulation/free_parameters.h"
#include "identification/simulation/simulation_thresholds.def"

enum { FIRST_ITERATIONS = 4, ITERATIONS = 40, SETTLED_ROWS = 6 };
static const double DIFFERENCE = 1e-4;
/* The same in standard errors, for values near zero. */
static const double DIFFERENCE_ERRORS = 0.01;
/* Positive parameters stay above this share of their values. */
static const double LEAST_SHARE = 0.01;
/* Range of a lag, in sample times; its starts: a short one, and most of the delay. */
static const double LAG_MAX_ROWS = 30.0;
static const double LAG_SHORT = 0.4;
static const double LAG_SHARE = 0.7;
static const double SLOW_NOISE = 3.0;
static const double DRIFT_MAX = 1.5;
static const double DRIFT_START = 0.05;

/* A search among parameters, delay and one effect. */
struct search {
    const struct model *model;
    const struct data_set *set;
    const struct dynamics_fit *fit;
    struct data_set view; /* set with the efforts that act */
    double *tau[MODEL_AXES_MAX], *command[MODEL_AXES_MAX];
    struct trajectory_rules rules;
    bool at_rest[DATA_RUNS_MAX];
    enum effort_effect effect;
    size_t p;    /* parameters and constant efforts; then the delay */
    size_t last; /* the size; before it velocities and efforts at the first row */
    struct effort_lag lag;
    double effort_sd[MODEL_AXES_MAX];
    int inertia, drag; /* parameters that may drift; -1: none */
    gsl_vector *room;
    double *residual, *tried; /* [axes n] of the base, of an effect */
    double squares, white;    /* of the base, in units of its variance */
};

/* ---- simulation ---- */

/* Integral of a response's weight exp(-(end - s) / response) times exp(-(s - from) / lag) over
 * from .. to; lag HUGE_VAL: of the weight alone. */
static double integrate_decay(double from_s, double to_s, double end_s, double lag_s,
                              double response_s)
{
    const double rate = 1.0 / response_s - 1.0 / lag_s;
    const double begin = exp(-(end_s - from_s) / response_s);
    const double length_s = to_s - from_s;
    return fabs(rate) * length_s < 1e-6 ? begin * length_s
                                        : begin * expm1(rate * length_s) / rate;
}

/* An effort behind the lag, on its way through the rows of a run. */
struct late_effort {
    const double *t_s, *tau;
    size_t next, end;    /* row whose effort acts next */
    double effort, acts; /* that acts before the lag, and behind it */
};

/* Equivalent effort from from_s to end_s. */
static double pass_row(struct late_effort *e, const struct effort_lag *lag, double response_s,
                       double from_s, double end_s)
{
    double sum = 0.0;
    double at_s = from_s;
    while (at_s < end_s) {
        while (e->next < e->end && e->t_s[e->next] + lag->delay_s <= at_s) {
            e->effort = e->tau[e->next++];
        }
        const double to_s =
            e->next < e->end ? fmin(e->t_s[e->next] + lag->delay_s, end_s) : end_s;
        sum +=
            e->effort * integrate_decay(at_s, to_s, end_s, HUGE_VAL, response_s) +
            (e->acts - e->effort) * integrate_decay(at_s, to_s, end_s, lag->lag_s, response_s);
        e->acts = e->effort + (e->acts - e->effort) * exp(-(to_s - at_s) / lag->lag_s);
        at_s = to_s;
    }
    return sum / integrate_decay(from_s, end_s, end_s, HUGE_VAL, response_s);
}

/* Computes the efforts behind a lag: tau [axes][n], out, apart from the efforts of the set. */
static void delay_efforts(const struct data_set *set, const struct effort_lag *lag,
                          double *const *tau)
{
    const struct data_commands *c = &set->commands;
    const bool apart = c->count > 0;
    for (size_t a = 0; a < set->axes; a++) {
        for (size_t r = 0; r < set->run_count; r++) {
            const size_t end = set->run_start[r + 1];
            const double before = r == 0            ? lag->before[a]
                                  : lag->at_rest[r] ? 0.0
                                                    : set->tau[a][set->run_start[r]];
            struct late_effort e = {apart ? c->t_s : set->t_s,
                                    apart ? c->tau[a] : set->tau[a],
                                    apart ? set->run_commands[r][0] : set->run_start[r],
                                    apart ? set->run_commands[r][1] : end,
                                    before,
                                    before};
            for (size_t k = set->run_start[r]; k < end; k++) {
                const double end_s = k + 1 < end ? set->t_s[k + 1] : set->t_s[k] + set->dt_s;
                tau[a][k] = pass_row(&e, lag, lag->response_s[a], set->t_s[k], end_s);
            }
        }
    }
}

enum status effort_lag_apply(struct data_table *table, const struct effort_lag *lag)
{
    struct data_set *set = &table->set;
    double *tau[MODEL_AXES_MAX] = {NULL};
    gsl_vector *room = gsl_vector_alloc(set->axes * set->n);
    if (!room) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        tau[a] = room->data + a * set->n;
    }
    delay_efforts(set, lag, tau);
    for (size_t a = 0; a < set->axes; a++) {
        const ptrdiff_t at = set->tau[a] - table->memory->data;
        memcpy(table->memory->data + at, tau[a], set->n * sizeof(double));
    }
    set->commands.count = 0;
    gsl_vector_free(room);
    return STATUS_OK;
}

/* Time since the middle of the recording, relative to its length. */
static double find_phase(const struct data_set *set, double t_s)
{
    const double span_s = set->t_s[set->n - 1] - set->t_s[0];
    return (t_s - set->t_s[0]) / span_s - 0.5;
}

static void set_efforts(struct search *s, double delay_s, double size)
{
    if (s->effect == EFFORT_LAG && size > 0.0) {
        s->lag.lag_s = size;
        s->lag.delay_s = delay_s;
        delay_efforts(s->set, &s->lag, s->tau);
        s->view.commands.count = 0;
        return;
    }
    const struct data_commands *c = &s->set->commands;
    const double drift = s->effect == EFFORT_DRIFTS ? size : 0.0;
    s->view.commands.count = c->count;
    for (size_t a = 0; a < s->set->axes; a++) {
        for (size_t k = 0; k < s->set->n; k++) {
            s->tau[a][k] =
                (1.0 + drift * find_phase(s->set, s->set->t_s[k])) * s->set->tau[a][k];
        }
        for (size_t i = 0; i < c->count; i++) {
            s->command[a][i] = (1.0 + drift * find_phase(s->set, c->t_s[i])) * c->tau[a][i];
        }
    }
}

/* Parameters that hold at sample k. */
static void set_parameters(const struct search *s, const double *x, size_t k, double *theta)
{
    const double factor = 1.0 + x[s->last] * find_phase(s->set, s->set->t_s[k]);
    memcpy(theta, x, s->p * sizeof *theta);
    if (s->effect == EFFORT_INERTIA_DRIFTS) {
        theta[s->inertia] *= factor;
    } else if (s->effect == EFFORT_DRAG_DRIFTS) {
        theta[s->drag] *= factor;
    }
}

static bool walk_run(struct search *s, const double *x, size_t run, double *residual)
{
    const size_t n = s->set->n;
    const size_t from = s->set->run_start[run];
    double theta[DYNAMICS_P_MAX] = {0.0};
    struct trajectory walk;
    bool more = true;
    const bool late = s->effect == EFFORT_LAG && x[s->last] > 0.0; /* the efforts have it */
    const double *start = run == 0 ? x + s->p + 1 : s->fit->initial[run];
    trajectory_begin(&walk, &s->rules, run, theta, late ? 0.0 : x[s->p], start);
    while (more) {
        for (size_t a = 0; a < s->set->axes; a++) {
            const bool counts =
                walk.at >= from + SETTLED_ROWS && data_set_is_recorded(s->set, walk.at);
            residual[a * n + walk.at] =
                counts ? (s->set->nu[a][walk.at] - walk.nu[a]) / s->fit->residual_sd[a] : 0.0;
        }
        set_parameters(s, x, walk.at, theta);
        more = walk.at + 1 < walk.end;
        if (more && !trajectory_next(&walk)) {
            return false;
        }
    }
    return true;
}

/* Residuals of all axes, in units of their standard deviations. */
static void compute_residuals(void *context, const double *x, double *residual)
{
    struct search *s = context;
    bool well = true;
    for (size_t a = 0; a < s->set->axes; a++) {
        s->lag.before[a] = x[s->p + 1 + s->set->axes + a];
    }
    set_efforts(s, x[s->p], x[s->last]);
    for (size_t r = 0; r < s->set->run_count && well; r++) {
        well = walk_run(s, x, r, residual);
    }
    if (!well) {
        residual[0] = (double)NAN; /* refused */
    }
}

/* ---- search ---- */

static struct curve_fit describe_search(struct search *s, const double *x)
{
    const struct dynamics_fit *fit = s->fit;
    const double dt_s = s->set->dt_s;
    struct curve_fit c = {.n = s->set->axes * s->set->n, .p = s->last + 1};
    c.residuals = compute_residuals;
    c.context = s;
    c.memory = s->room->data;
    double largest = 0.0; /* an error may be far larger than all values */
    for (size_t i = 0; i < s->p; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    for (size_t i = 0; i < s->p; i++) {
        const double size = fabs(x[i]);
        const bool positive = i < s->model->parameter_count &&
                              s->model->parameters[i].sign != MODEL_ANY && x[i] > 0.0;
        const double se = fit->estimate.se[i];
        c.lower[i] = positive ? LEAST_SHARE * size : -HUGE_VAL;
        c.upper[i] = HUGE_VAL;
        c.step[i] =
            fmax(DIFFERENCE * size,
                 isfinite(se) ? fmin(DIFFERENCE_ERRORS * se, DIFFERENCE * largest) : 0.0);
        c.upper[i] = c.step[i] > 0.0 ? c.upper[i] : c.lower[i];
    }
    c.lower[s->p] = fmin(-dt_s, x[s->p]);
    c.upper[s->p] = fmax(x[s->p], 0.0) + LAG_MAX_ROWS * dt_s;
    c.step[s->p] = DIFFERENCE * 10.0 * dt_s;
    const bool none = s->effect == EFFORT_EFFECTS;
    const bool lag = s->effect == EFFORT_LAG;
    for (size_t a = 0; a < s->set->axes; a++) {
        const bool fixed = s->at_rest[0];
        c.lower[s->p + 1 + a] = fixed ? x[s->p + 1 + a] : -HUGE_VAL;
        c.upper[s->p + 1 + a] = fixed ? x[s->p + 1 + a] : HUGE_VAL;
        c.step[s->p + 1 + a] = DIFFERENCE_ERRORS * fit->residual_sd[a];
    }
    for (size_t a = 0; a < s->set->axes; a++) {
        const size_t j = s->p + 1 + s->set->axes + a;
        c.lower[j] = lag ? -HUGE_VAL : x[j];
        c.upper[j] = lag ? HUGE_VAL : x[j];
        c.step[j] = DIFFERENCE_ERRORS * s->effort_sd[a];
    }
    c.lower[s->last] = none || lag ? 0.0 : -DRIFT_MAX;
    c.upper[s->last] = none ? 0.0 : lag ? LAG_MAX_ROWS * dt_s : DRIFT_MAX;
    c.step[s->last] = lag ? DIFFERENCE * 10.0 * dt_s : DIFFERENCE;
    return c;
}

static double find_chi2(const struct search *s, double squares)
{
    return (s->squares - squares) * (double)(s->set->axes * s->set->n) / squares - 1.0;
}

static double find_share(const struct search *s, double squares)
{
    const double room = s->squares - s->white * (double)(s->set->axes * s->set->n);
    return (s->squares - squares) / fmax(room, 1e-9 * s->squares);
}

/* Fits an effect from one start; one that gains little after the first steps is left. */
static double fit_effect(struct search *s, const double *base, double start, double *x)
{
    memcpy(x, base, s->last * sizeof *x);
    x[s->last] = start;
    if (s->effect == EFFORT_LAG) { /* a lag takes the place of a part of the delay */
        x[s->p] = fmax(x[s->p] - start, 0.0);
    }
    const struct curve_fit c = describe_search(s, x);
    double squares = curve_fit_run(&c, FIRST_ITERATIONS, x, s->tried);
    if (find_chi2(s, squares) > CAUSE_CHI2) {
        squares = curve_fit_run(&c, ITERATIONS, x, s->tried);
    }
    return squares;
}

/* Error of the last unknown, and what its change does to the parameters, from the triangle of
 * the slopes at x. */
static void find_errors(struct search *s, const double *x, double squares,
                        struct effort_cause *cause)
{
    const struct curve_fit c = describe_search(s, x);
    struct qr_accumulator qr;
    double by[CURVE_FIT_UNKNOWNS_MAX];
    curve_fit_slopes(&c, x, s->tried, c.memory);
    qr_start(&qr, c.p);
    for (size_t k = 0; k < c.n; k++) {
        double row[NUMERIC_COLUMNS_MAX];
        for (size_t j = 0; j < c.p; j++) {
            row[j] = c.memory[j * c.n + k];
        }
        qr_add(&qr, row);
    }
    qr_flush(&qr);
    const size_t last = c.p - 1;
    cause->lag = s->lag;
    cause->lag.lag_s = x[last];
    cause->lag.delay_s = x[s->p];
    cause->lag.lag_se_s = sqrt(squares / (double)c.n) / fabs(qr.r[last][last]);
    for (size_t i = last; i-- > 0;) {
        by[i] = -qr.r[i][last];
        for (size_t j = i + 1; j < last; j++) {
            by[i] -= qr.r[i][j] * by[j];
        }
        by[i] = fabs(qr.r[i][i]) > 0.0 ? by[i] / qr.r[i][i] : 0.0;
    }
    memcpy(cause->lag.slope, by, (s->p + 1) * sizeof *by);
}

/* Fits the effect from all starts; keeps it if it explains more than the best so far. */
static void try_effect(struct search *s, const double *base, struct effort_cause *cause)
{
    const bool lag = s->effect == EFFORT_LAG;
    const double starts_s[] = {LAG_SHORT * s->set->dt_s,
                               fmax(LAG_SHARE * base[s->p], s->set->dt_s)};
    for (size_t i = 0; i < (lag ? COUNT(starts_s) : 1); i++) {
        double x[CURVE_FIT_UNKNOWNS_MAX];
        const double squares = fit_effect(s, base, lag ? starts_s[i] : DRIFT_START, x);
        const double share = find_share(s, squares);
        if (share > cause->share) {
            cause->effect = s->effect;
            cause->size = x[s->last];
            cause->share = share;
            cause->chi2 = find_chi2(s, squares);
            if (lag) {
                find_errors(s, x, squares, cause);
            }
        }
    }
}

/* Slopes of positions are smoothed over a row, which looks like a lag of half of it. */
static bool is_significant(const struct data_set *set, const struct effort_cause *cause)
{
    const bool lag = cause->effect == EFFORT_LAG;
    const double row_s = set->derived[0] ? ROW_LAG_MAX * set->dt_s : 0.0;
    return cause->share >= CAUSE_SHARE && cause->chi2 > (lag ? CAUSE_CHI2 : DRIFT_CHI2) &&
           (!lag || cause->size > fmax(LAG_S_MIN, row_s));
}

static void search_cause(struct search *s, struct effort_cause *cause)
{
    double base[CURVE_FIT_UNKNOWNS_MAX];
    const size_t n = s->set->n;
    bool coloured = false;
    memcpy(base, s->fit->estimate.value, s->p * sizeof *base);
    base[s->p] = isfinite(s->fit->delay_s) ? s->fit->delay_s : 0.0;
    memcpy(base + s->p + 1, s->fit->initial[0], s->set->axes * sizeof *base);
    for (size_t a = 0; a < s->set->axes; a++) {
        s->effort_sd[a] = gsl_stats_sd(s->set->tau[a], 1, n);
        base[s->p + 1 + s->set->axes + a] = s->lag.at_rest[0] ? 0.0 : s->set->tau[a][0];
    }
    base[s->last] = 0.0;
    s->effect = EFFORT_EFFECTS;
    const struct curve_fit c = describe_search(s, base);
    s->squares = curve_fit_run(&c, ITERATIONS, base, s->residual);
    if (!(s->squares < HUGE_VAL)) {
        return;
    }
    for (size_t a = 0; a < s->set->axes; a++) {
        struct residual_colour colour;
        residual_colour_find(s->residual + a * n, s->set->run_start, s->set->run_count,
                             &colour);
        s->white += colour.white / (double)s->set->axes;
        const double share = residual_colour_share(&colour, gsl_stats_sd(s->set->nu[a], 1, n) /
                                                                s->fit->residual_sd[a]);
        coloured = coloured || share > 0.0;
    }
    const bool joint = s->model->sticks && s->set->axes == 1 && s->inertia >= 0 && s->drag >= 0;
    for (size_t e = 0; coloured && e < (joint ? EFFORT_EFFECTS : EFFORT_INERTIA_DRIFTS); e++) {
        s->effect = (enum effort_effect)e;
        try_effect(s, base, cause);
    }
}

static enum status alloc_search(struct search *s)
{
    const size_t all = s->set->axes * s->set->n;
    const size_t unknowns = s->last + 1;
    const size_t commands = s->set->commands.count;
    s->room = gsl_vector_alloc((unknowns + 1 + 3) * all + s->set->axes * commands);
    if (!s->room) {
        return STATUS_E_NOMEM;
    }
    s->residual = s->room->data + (unknowns + 1) * all;
    s->tried = s->residual + all;
    s->view = *s->set;
    for (size_t a = 0; a < s->set->axes; a++) {
        s->tau[a] = s->tried + all + a * s->set->n;
        s->view.tau[a] = s->tau[a];
        s->command[a] = s->tried + 2 * all + a * commands;
        s->view.commands.tau[a] = s->command[a];
    }
    return STATUS_OK;
}

/* A run that began at rest has initial velocities of exactly zero. */
static bool begins_at_rest(const struct search *s, size_t run)
{
    bool rest = true;
    for (size_t a = 0; a < s->set->axes; a++) {
        rest = rest && !(fabs(s->fit->initial[run][a]) > 0.0);
    }
    return rest;
}

/* A run whose first velocities do not exceed their noise: no effort acted before it. */
static bool starts_slowly(const struct search *s, size_t run)
{
    const size_t first = s->set->run_start[run];
    bool slow = true;
    for (size_t a = 0; a < s->set->axes; a++) {
        slow = slow && fabs(s->set->nu[a][first]) <= SLOW_NOISE * s->set->noise_sd[a];
    }
    return slow;
}

static void set_rules(struct search *s, struct step_budget *budget)
{
    for (size_t r = 0; r < s->set->run_count; r++) {
        s->at_rest[r] = begins_at_rest(s, r);
        s->lag.at_rest[r] = s->at_rest[r] || starts_slowly(s, r);
    }
    s->rules = (struct trajectory_rules){.model = s->model,
                                         .set = &s->view,
                                         .at_rest = s->at_rest,
                                         .with_biases = s->fit->bias_count > 0,
                                         .budget = budget};
    s->rules.step_s = trajectory_step_s(s->model, s->fit->estimate.value, s->set);
    for (size_t a = 0; a < s->set->axes; a++) {
        double largest = 0.0;
        s->rules.limit[a] = free_parameters_limit(s->set, a, &largest);
    }
}

/* Returns whether a simulation explains enough to be a start. */
static bool is_start(const struct data_set *set, const struct dynamics_fit *fit)
{
    bool well = fit->method == DYNAMICS_OUTPUT_ERROR &&
                (fit->stop == DYNAMICS_STOP_CONVERGED || fit->stop == DYNAMICS_STOP_STALLED) &&
                fit->estimate.p + 2 * set->axes + 2 <= CURVE_FIT_UNKNOWNS_MAX;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        well = well && isfinite(fit->estimate.value[i]);
    }
    for (size_t a = 0; a < set->axes && well; a++) {
        const double left = fit->residual_sd[a];
        well = left > 0.0 &&
               left * left < (1.0 - CAUSE_R2_MIN) * gsl_stats_variance(set->nu[a], 1, set->n);
    }
    return well;
}

enum status effort_cause_find(const struct model *model, const struct data_set *set,
                              const struct dynamics_fit *fit, struct step_budget *budget,
                              struct effort_cause *cause)
{
    struct effort_cause out = {.effect = EFFORT_EFFECTS, .share = -HUGE_VAL};
    struct search s = {.model = model, .set = set, .fit = fit, .p = fit->estimate.p};
    *cause = out;
    if (!is_start(set, fit)) {
        return STATUS_OK;
    }
    s.last = s.p + 1 + 2 * set->axes;
    s.inertia = model_parameter_find(model, "inertia");
    s.drag = model_parameter_find(model, "viscous");
    const enum status st = alloc_search(&s);
    if (st == STATUS_OK) {
        set_rules(&s, budget);
        free_parameters_responses(model, fit->estimate.value, set, s.lag.response_s);
        search_cause(&s, &out);
        out.effect = is_significant(set, &out) ? out.effect : EFFORT_EFFECTS;
        *cause = out;
    }
    gsl_vector_free(s.room);
    return st;
}

/* ---- use of the findings ---- */

void effort_lag_widen(const struct model *model, const struct data_set *set,
                      const struct effort_lag *lag, struct dynamics_fit *fit)
{
    const size_t p = fit->estimate.p;
    const double variance = lag->lag_se_s * lag->lag_se_s;
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            fit->estimate.covariance[i][j] += lag->slope[i] * lag->slope[j] * variance;
        }
        fit->delay_covariance[i] += lag->slope[i] * lag->slope[p] * variance;
    }
    fit->delay_se_s = hypot(fit->delay_se_s, lag->slope[p] * lag->lag_se_s);
    dynamics_judge(fit, model, set);
}

/* Two lags in a row have the same effect in either order; only dry friction distinguishes them.
 * A motor's own lag is the shorter one as a rule. */
static void judge_exchange(const struct model *model, const struct effort_lag *lag,
                           struct dynamics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const int inertia = model_parameter_find(model, "inertia");
    const int drag = model_parameter_find(model, "viscous");
    if (inertia < 0 || drag < 0) {
        return;
    }
    const double motion_s = e->value[inertia] / e->value[drag];
    if (!(motion_s > 0.0 && lag->lag_s > motion_s)) {
        return;
    }
    const double other = lag->lag_s * e->value[drag];
    const double relative =
        hypot(lag->lag_se_s / lag->lag_s, e->se[inertia] / e->value[inertia]);
    for (size_t i = 0; i < e->p; i++) {
        e->lo_open[i] = e->lo[i];
        e->hi_open[i] = e->hi[i];
    }
    e->hi_open[inertia] =
        fmax(e->hi[inertia], other * (1.0 + estimate_reach(HUGE_VAL) * relative));
    estimate_reason_first(e, REASON_NEARLY_ALIKE, ESTIMATE_MARGINAL,
                          "the effort lag of %.3g ms is longer than J / Fv, %.3g ms: if they "
                          "are exchanged, inertia is %.4g and not %.4g",
                          1e3 * lag->lag_s, 1e3 * motion_s, other, e->value[inertia]);
    estimate_advise(e, "log the effort where it acts (the motor's current) and the position "
                       "itself: a velocity that the drive filters is late, too");
}

void effort_cause_judge(const struct model *model, const struct effort_cause *cause,
                        const struct effort_lag *lag, struct dynamics_fit *fit)
{
    static const char *const what[EFFORT_EFFECTS] = {
        [EFFORT_DRIFTS] = "the effect of an effort (supply, temperature of the motor)",
        [EFFORT_INERTIA_DRIFTS] = "the inertia (load)",
        [EFFORT_DRAG_DRIFTS] = "viscous friction (temperature)"};
    struct estimate *e = &fit->estimate;
    if (lag->lag_s > 0.0) {
        estimate_note(e, REASON_DELAY_ASSUMED, "effort lag %.3g ms: fitted", 1e3 * lag->lag_s);
        judge_exchange(model, lag, fit);
    }
    if (cause->effect == EFFORT_EFFECTS || cause->effect == EFFORT_LAG) {
        return;
    }
    estimate_reason_first(e, REASON_CAUSE, ESTIMATE_MARGINAL,
                          "%s changes by %+.2g %% during the recording", what[cause->effect],
                          100.0 * cause->size);
    estimate_advise(
        e, "record again when %s: all values mix those of the beginning and the end",
        cause->effect == EFFORT_INERTIA_DRIFTS ? "the load stays the same"
                                               : "it is warm and the supply steady");
}
