#include "identification/dynamics_estimate.h"

#include <math.h>
#include <stdio.h>

#include "identification/outlier_samples.h"
#include "identification/output_error.h"
#include "identification/prediction_error.h"

/* How late velocities may answer efforts where nobody says: 20 periods, in these bounds, and no
 * more than this share of a run, whose samples before take no part. */
static const double DELAY_PERIODS = 20.0;
static const double DELAY_S_MIN = 0.5;
static const double DELAY_S_MAX = 2.0;
static const double DELAY_RUN_SHARE = 0.125;
/* Stamps of efforts may be late themselves, so the delay may come out below zero, though by no
 * more than a period or this: a response that begins before its effort is another response. */
static const double EARLY_S_MIN = 0.02;
/* A second search stays this many standard errors around what the first one found, or this
 * share of a period. */
static const double DELAY_ERRORS = 5.0;
static const double DELAY_SHARE = 0.25;
/* A search that has not ended by then will not end well. */
enum { ITERATIONS_MAX = 100, REFINEMENTS = 3 };
/* A model that explains less of some axis is wrong, not disturbed. */
static const double R2_MIN = 0.5;
/* Innovations more correlated than this mean forces of another kind than pem's: its estimate is
 * biased then, that of output error is not. */
static const double NEARLY_WHITE = 0.1;
/* On joints that stick or are controlled, of residuals next to each other: 0.95 and more. */
static const double STICKS_FROM = 0.5;
static const double HAUSMAN_MAX = 3.0; /* of output error's robust errors */
static const double WORSE_RATIO = 1.2; /* of the rms of simulated residuals */
/* A value that fits worse by less than this in -2 log likelihood is as good: 95 %. */
static const double CHI2_95 = 3.84;

static bool is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->p; i++) {
        if (!isfinite(fit->theta[i])) {
            return false;
        }
    }
    return true;
}

static double delay_max_s(const struct data_set *set, const struct dynamics_options *options)
{
    if (!isnan(options->delay_max_s)) {
        return options->delay_max_s;
    }
    const double run_s = set->dt_s * (double)set->n / (double)set->run_count;
    const double periods_s =
        fmin(fmax(DELAY_PERIODS * set->dt_s, DELAY_S_MIN), fmax(DELAY_S_MAX, set->dt_s));
    return fmin(periods_s, DELAY_RUN_SHARE * run_s);
}

/* An exact zero is what counters and simulators at rest give, noise does not. */
static bool begins_at_rest(const struct data_set *set, size_t run)
{
    for (size_t i = 0; i < set->axes; i++) {
        if (fabs(set->nu[i][set->run_start[run]]) > 0.0) {
            return false;
        }
    }
    return true;
}

/* Who is asked before an iteration, and of which method. */
struct stage {
    const struct dynamics_options *options;
    enum dynamics_method method;
};

static bool go_on(void *context, size_t iteration)
{
    const struct stage *stage = context;
    return stage->options->go_on(stage->options->context, stage->method, iteration);
}

static void set_search(const struct model *model, const struct data_set *set,
                       struct stage *stage, struct output_error_options *search)
{
    const struct dynamics_options *options = stage->options;
    output_error_defaults(model, search);
    search->with_biases = options->biases;
    for (size_t r = 0; r < set->run_count; r++) {
        search->at_rest[r] = options->from_rest || begins_at_rest(set, r);
    }
    search->delay_s_max = delay_max_s(set, options);
    search->delay_s_min = -fmin(fmax(set->dt_s, EARLY_S_MIN), search->delay_s_max);
    search->fit_delay = search->delay_s_max > 0.0;
    search->iterations_max = ITERATIONS_MAX;
    search->go_on = options->go_on ? go_on : NULL;
    search->context = stage;
}

/* Around a delay that is nearly known. What is left out at the start of each run for the sake
 * of the latest delay shrinks with it. */
static void narrow(const struct dynamics_fit *from, double reach_s,
                   struct output_error_options *search)
{
    search->delay_s = from->delay_s;
    search->delay_s_min = fmax(search->delay_s_min, from->delay_s - reach_s);
    search->delay_s_max = fmin(search->delay_s_max, from->delay_s + reach_s);
}

/* What regression alone knows about the recording. */
static void keep_regression(const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    fit->window_s = from->window_s;
    for (size_t i = 0; i < fit->p; i++) {
        fit->regressor_rms[i] = from->regressor_rms[i];
        fit->independence_ratio[i] = from->independence_ratio[i];
    }
}

/* weak_iv; where runs are too short for its windows, what derivatives say. */
static enum status find_start(const struct model *model, const struct data_set *set,
                              const struct dynamics_options *options,
                              struct dynamics_fit *start)
{
    struct dynamics_fit other;
    enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK_IV, options, start);
    if (st != STATUS_OK || start->rows > start->p) {
        return st;
    }
    st = dynamics_linear_fit(model, set, DYNAMICS_OLS_SG, options, &other);
    if (st == STATUS_OK && is_whole(&other)) {
        *start = other;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* output_error from a start: first with every delay that may be, then near the one it found. */
static enum status search_twice(const struct model *model, const struct data_set *set,
                                struct output_error_options *search,
                                const struct dynamics_fit *start, struct dynamics_fit *fit,
                                struct output_error_report *report)
{
    struct output_error_report second;
    struct dynamics_fit near;
    const struct output_error_options wide = *search;
    enum status st = output_error_fit(model, set, start->theta, search, NULL, fit, report);
    if (st != STATUS_OK || fit->stop != DYNAMICS_STOP_CONVERGED || !is_whole(fit) ||
        !search->fit_delay || (report->delay_at_bound && isfinite(fit->delay_s))) {
        return st;
    }
    const bool found = isfinite(fit->delay_s);
    if (found) {
        const double se_s = fmax(fit->delay_se_s, report->delay_se_hac_s);
        narrow(fit, fmax(DELAY_ERRORS * se_s, DELAY_SHARE * set->dt_s), search);
    } else {
        search->fit_delay = false;
    }
    st = output_error_fit(model, set, fit->theta, search, NULL, &near, &second);
    const bool better = near.stop == DYNAMICS_STOP_CONVERGED && !second.delay_at_bound;
    if (st == STATUS_OK && (better || near.stop == DYNAMICS_STOP_CANCELLED)) {
        near.iterations += fit->iterations;
        second.evaluations += report->evaluations;
        *fit = near;
        *report = second;
        if (!found) {
            dynamics_reason(fit, DYNAMICS_PASS,
                            "efforts do not change inside the runs, which leaves the delay "
                            "open: it counts as none");
        }
    } else {
        *search = wide;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* How many residuals in a row tell as much as one that is independent. */
static double inflation(const struct model *model, const struct output_error_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < model->axis_count; i++) {
        rho = fmax(rho, report->axis[i].correlation);
    }
    return (1.0 + fmin(rho, 0.99)) / (1.0 - fmin(rho, 0.99));
}

/* Mark what physical parameters a search pushed to zero although the start has them above it;
 * whether there are any beyond those marked already. */
static bool mark_pushed(const struct model *model, const struct dynamics_fit *start,
                        const struct output_error_report *report, bool *pushed)
{
    bool more = false;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const bool now = !pushed[i] && report->at_bound[i] && start->theta[i] > 0.0;
        more = more || now;
        pushed[i] = pushed[i] || now;
    }
    return more;
}

static void hold(const struct model *model, const struct dynamics_fit *start, size_t i,
                 struct dynamics_fit *fit)
{
    const double se = sqrt(start->covariance[i][i]);
    fit->se[i] = start->se[i];
    fit->se_hac[i] = start->se_hac[i];
    fit->covariance[i][i] = start->covariance[i][i];
    fit->lo[i] = start->lo[i];
    fit->hi[i] = start->hi[i];
    fit->identifiable[i] = false;
    dynamics_reason(fit, DYNAMICS_MARGINAL,
                    "%s: simulation cannot tell zero from what %s says, %.4g with an error of "
                    "%.2g, so that stays",
                    model->parameters[i].name, dynamics_method_name(start->method),
                    fit->theta[i], se);
}

/* A damping of zero is what no robot has. Where the recording cannot tell zero from the start's
 * value, that one stays, with its error, and the others are found beside it. search is what fit
 * was found with. */
static enum status keep_positive(const struct model *model, const struct data_set *set,
                                 struct output_error_options *search,
                                 const struct dynamics_fit *start, struct dynamics_fit *fit,
                                 struct output_error_report *report)
{
    struct output_error_report other = *report;
    struct dynamics_fit held = *fit;
    bool *pushed = search->fixed;
    size_t count = 0;
    search->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    while (is_whole(&held) && mark_pushed(model, start, &other, pushed)) {
        double from[DYNAMICS_P_MAX];
        for (size_t i = 0; i < fit->p; i++) {
            from[i] = pushed[i] ? start->theta[i] : held.theta[i];
        }
        const enum status st = output_error_fit(model, set, from, search, NULL, &held, &other);
        if (st != STATUS_OK) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
    }
    for (size_t i = 0; i < model->parameter_count; i++) {
        count += pushed[i] ? 1 : 0;
    }
    const double loss = 2.0 * (report->log_likelihood - other.log_likelihood);
    if (count == 0 || held.stop != DYNAMICS_STOP_CONVERGED ||
        loss > CHI2_95 * (double)count * inflation(model, report)) {
        return STATUS_OK;
    }
    held.iterations += fit->iterations;
    held.rank += count;
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (pushed[i]) {
            hold(model, start, i, &held);
        }
    }
    *fit = held;
    *report = other;
    return STATUS_OK;
}

/* Whether a parameter that must be positive is not, beyond its error. */
static bool is_reversed(const struct model *model, const struct dynamics_fit *start)
{
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (model->parameters[i].sign == MODEL_POSITIVE && start->hi[i] < 0.0) {
            return true;
        }
    }
    return false;
}

/* A start without what may have any sign: where such a term is hardly excited, what regression
 * makes of it can drive a simulation away that is stable without. */
static struct dynamics_fit calm_down(const struct model *model,
                                     const struct dynamics_fit *start)
{
    struct dynamics_fit calm = *start;
    for (size_t i = 0; i < model->parameter_count; i++) {
        calm.theta[i] = model->parameters[i].sign == MODEL_ANY ? 0.0 : calm.theta[i];
    }
    return calm;
}

/* A start in *start, and output_error from there in *fit. Where that cannot be, *fit is the
 * start and says why; fit->method tells. */
static enum status simulate(const struct model *model, const struct data_set *set,
                            const struct dynamics_options *options, struct dynamics_fit *start,
                            struct dynamics_fit *fit, struct output_error_report *report)
{
    enum status st = find_start(model, set, options, start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!is_whole(start)) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "output_error needs a start for every parameter: values are those of "
                        "%s",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    if (is_reversed(model, start)) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "output_error has no start with the signs of a robot: values are those "
                        "of %s",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    struct output_error_options search;
    struct stage stage = {options, DYNAMICS_OUTPUT_ERROR};
    set_search(model, set, &stage, &search);
    st = search_twice(model, set, &search, start, fit, report);
    if (st == STATUS_OK && fit->stop == DYNAMICS_STOP_DIVERGED) {
        const struct dynamics_fit calm = calm_down(model, start);
        st = search_twice(model, set, &search, &calm, fit, report);
    }
    if (st == STATUS_OK) {
        st = keep_positive(model, set, &search, start, fit, report);
    }
    if (st == STATUS_E_MATH) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "output_error cannot be computed from here, numbers overflow: values "
                        "are those of %s; check units, or ask for less with --method weak_iv",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        keep_regression(start, fit);
        if (options->ridge > 0.0) {
            dynamics_reason(fit, DYNAMICS_PASS,
                            "the ridge has part in the start only: output_error does without");
        }
        if (start->method == DYNAMICS_OLS_SG) {
            dynamics_reason(fit, DYNAMICS_PASS,
                            "started from ols_sg: the runs are too short for the windows of "
                            "weak_iv");
        }
    }
    return st;
}

/* From an output-error fit, which it gives back where that has no value for every parameter or
 * pem cannot be computed. */
static enum status predict(const struct model *model, const struct data_set *set,
                           const struct dynamics_options *options,
                           const struct dynamics_fit *from, struct dynamics_fit *fit,
                           struct prediction_error_report *report)
{
    struct output_error_options search;
    struct stage stage = {options, DYNAMICS_PEM};
    if (from->stop != DYNAMICS_STOP_CONVERGED || !is_whole(from)) {
        *fit = *from;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "pem needs a start for every parameter: values are those of %s",
                        dynamics_method_name(from->method));
        return STATUS_OK;
    }
    set_search(model, set, &stage, &search);
    if (!isfinite(from->delay_s)) {
        search.fit_delay = false;
    } else {
        narrow(from, fmax(2.0 * DELAY_ERRORS * from->delay_se_s, 2.0 * set->dt_s), &search);
    }
    const enum status st =
        prediction_error_fit(model, set, from->theta, &search, NULL, fit, report);
    if (st == STATUS_E_MATH) {
        *fit = *from;
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "pem cannot be computed from here, numbers overflow: values are those "
                        "of %s",
                        dynamics_method_name(from->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        keep_regression(from, fit);
    }
    return st;
}

static enum status estimate(const struct model *model, const struct data_set *set,
                            enum dynamics_method method, const struct dynamics_options *options,
                            struct dynamics_fit *fit)
{
    struct output_error_report report;
    struct prediction_error_report pem;
    struct dynamics_fit start;
    struct dynamics_fit simulated;
    if (method != DYNAMICS_OUTPUT_ERROR && method != DYNAMICS_PEM) {
        return dynamics_linear_fit(model, set, method, options, fit);
    }
    const enum status st = simulate(model, set, options, &start, &simulated, &report);
    if (st != STATUS_OK || method == DYNAMICS_OUTPUT_ERROR ||
        simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = st == STATUS_OK ? simulated : *fit;
        return st;
    }
    return predict(model, set, options, &simulated, fit, &pem);
}

static bool explains(const struct model *model, const struct output_error_report *report)
{
    bool well = true;
    for (size_t i = 0; i < model->axis_count; i++) {
        well = well && report->axis[i].r2 >= R2_MIN;
    }
    return well;
}

/* The two fits that auto has to choose from. */
struct contest {
    const struct model *model;
    const struct data_set *set;
    struct dynamics_fit simulated, predicted;
    struct output_error_report oe;
    struct prediction_error_report pem;
};

/* Physical parameters at zero, or further from output error than its robust errors allow: that
 * one has no bias whatever disturbs the robot (Hausman's test, parameter by parameter). */
static bool doubt_values(const struct contest *c, char doubt[DYNAMICS_TEXT_MAX])
{
    for (size_t i = 0; i < c->simulated.p; i++) {
        const double shift = c->predicted.theta[i] - c->simulated.theta[i];
        const double se = fmax(c->simulated.se[i], c->simulated.se_hac[i]);
        char name[64];
        (void)dynamics_parameter_name(c->model, i, name, sizeof name);
        if (i < c->model->parameter_count && c->model->parameters[i].sign != MODEL_ANY &&
            c->simulated.theta[i] > 0.0 && !(c->predicted.theta[i] > 0.0)) {
            (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "takes %s to zero", name);
            return true;
        }
        if (fabs(shift) > HAUSMAN_MAX * se) {
            (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "moves %s by %.1f of these errors", name,
                           shift / se);
            return true;
        }
    }
    return false;
}

static bool doubt_axes(const struct contest *c, const struct output_error_report *other,
                       char doubt[DYNAMICS_TEXT_MAX])
{
    for (size_t i = 0; i < c->model->axis_count; i++) {
        const char *name = c->model->axes[i].velocity;
        const double correlation = c->pem.axis[i].correlation;
        if (fabs(correlation) > fmax(NEARLY_WHITE, 3.0 / sqrt((double)c->pem.axis[i].n))) {
            (void)snprintf(doubt, DYNAMICS_TEXT_MAX,
                           "leaves innovations of %s as far from white as %.2f", name,
                           correlation);
            return true;
        }
        if (!(other->axis[i].rmse <= WORSE_RATIO * c->oe.axis[i].rmse)) {
            (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "simulates %s %.1f times worse", name,
                           other->axis[i].rmse / c->oe.axis[i].rmse);
            return true;
        }
    }
    return false;
}

/* What speaks against pem although it found an end: that what disturbs this robot is not of the
 * kind that pem knows. */
static enum status find_doubt(const struct contest *c, char doubt[DYNAMICS_TEXT_MAX])
{
    struct output_error_report other;
    const double delay_s = isfinite(c->predicted.delay_s) ? c->predicted.delay_s : 0.0;
    if (doubt_values(c, doubt)) {
        return STATUS_OK;
    }
    const enum status st =
        is_whole(&c->predicted)
            ? output_error_validate(c->model, c->set, c->predicted.theta,
                                    c->predicted.bias_count > 0, delay_s, NULL, &other)
            : STATUS_E_MATH;
    if (st != STATUS_OK) {
        (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "cannot be simulated");
        return st == STATUS_E_NOMEM ? st : STATUS_OK;
    }
    (void)doubt_axes(c, &other, doubt);
    return STATUS_OK;
}

/* Why pem is not to be taken; empty when it is. */
static enum status compare(const struct contest *c, char doubt[DYNAMICS_TEXT_MAX])
{
    doubt[0] = '\0';
    if (c->predicted.method != DYNAMICS_PEM) {
        (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "cannot be computed");
    } else if (c->predicted.stop != DYNAMICS_STOP_CONVERGED &&
               c->predicted.stop != DYNAMICS_STOP_CANCELLED) {
        (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "did not find an end: %s",
                       dynamics_stop_name(c->predicted.stop));
    } else if (c->predicted.stop == DYNAMICS_STOP_CONVERGED) {
        return find_doubt(c, doubt);
    }
    return STATUS_OK;
}

/* Where dry friction holds a joint, a simulated one creeps, and a simulation pays for that with
 * more friction; where a controller drives it, what disturbs it comes back through the efforts.
 */
static enum status regress(const struct model *model, const struct data_set *set,
                           const struct dynamics_options *options, enum dynamics_method start,
                           struct dynamics_fit *fit)
{
    const enum dynamics_method method = start == DYNAMICS_OLS_SG ? start : DYNAMICS_WEAK;
    const enum status st = dynamics_linear_fit(model, set, method, options, fit);
    if (st == STATUS_OK) {
        dynamics_reason(fit, DYNAMICS_PASS,
                        "auto chose %s: what output_error leaves is not white, and dry "
                        "friction or a controller would mislead it",
                        dynamics_method_name(method));
    }
    return st;
}

/* Sticking and controllers leave residuals that hardly change from one to the next. Where they
 * do change, what is left is no such thing, and a regression, which knows no delay, would be
 * further off than the simulation. */
static bool is_at_home(const struct contest *c)
{
    bool moves_on = true;
    for (size_t i = 0; i < c->model->axis_count; i++) {
        moves_on = moves_on && fabs(c->oe.axis[i].correlation) <= STICKS_FROM;
    }
    const bool ended = c->simulated.stop == DYNAMICS_STOP_CONVERGED ||
                       c->simulated.stop == DYNAMICS_STOP_STALLED;
    return c->simulated.method == DYNAMICS_OUTPUT_ERROR && ended && (c->oe.white || moves_on);
}

static enum status choose(const struct model *model, const struct data_set *set,
                          const struct dynamics_options *options, struct dynamics_fit *fit)
{
    struct contest c = {.model = model, .set = set};
    struct dynamics_fit weak;
    char doubt[DYNAMICS_TEXT_MAX] = "would need a model that explains more";
    enum status st = simulate(model, set, options, &weak, &c.simulated, &c.oe);
    if (st != STATUS_OK) {
        return st;
    }
    if (model->sticks && c.simulated.stop != DYNAMICS_STOP_CANCELLED && !is_at_home(&c)) {
        return regress(model, set, options, weak.method, fit);
    }
    if (c.simulated.method != DYNAMICS_OUTPUT_ERROR ||
        c.simulated.stop == DYNAMICS_STOP_DIVERGED) {
        *fit = weak;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "auto chose %s: the model cannot be simulated over the recording",
                        dynamics_method_name(weak.method));
        return STATUS_OK;
    }
    if (c.simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = c.simulated;
        return STATUS_OK;
    }
    if (c.oe.white) {
        *fit = c.simulated;
        dynamics_reason(fit, DYNAMICS_PASS, "auto chose output_error: what it leaves is white");
        return STATUS_OK;
    }
    if (c.simulated.stop == DYNAMICS_STOP_CONVERGED && is_whole(&c.simulated) &&
        explains(model, &c.oe)) {
        st = predict(model, set, options, &c.simulated, &c.predicted, &c.pem);
        st = st == STATUS_OK ? compare(&c, doubt) : st;
        if (st != STATUS_OK) {
            return st;
        }
        if (doubt[0] == '\0') {
            *fit = c.predicted;
            dynamics_reason(fit, DYNAMICS_PASS,
                            "auto chose pem: what output_error leaves is not white");
            return STATUS_OK;
        }
    }
    *fit = c.simulated;
    dynamics_reason(fit, DYNAMICS_PASS,
                    "auto chose output_error with robust errors: what it leaves is not white, "
                    "and pem %s",
                    doubt);
    return STATUS_OK;
}

/* method: DYNAMICS_METHOD_COUNT leaves the choice to the data. */
static enum status dispatch(const struct model *model, const struct data_set *set,
                            enum dynamics_method method, const struct dynamics_options *options,
                            struct dynamics_fit *fit)
{
    return method == DYNAMICS_METHOD_COUNT ? choose(model, set, options, fit)
                                           : estimate(model, set, method, options, fit);
}

/* Simulate with what the samples so far give, and see which of the measured ones are far off.
 */
static enum status refine(const struct model *model, const struct data_set *set,
                          const struct data_set *clean, const struct dynamics_options *options,
                          gsl_vector *memory, size_t outliers[MODEL_AXES_MAX])
{
    struct output_error_report report;
    struct dynamics_fit fit;
    double *residual[MODEL_AXES_MAX] = {NULL};
    gsl_vector *room = gsl_vector_alloc((set->axes + 1) * set->n);
    if (!room) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        residual[a] = room->data + a * set->n;
    }
    enum status st = estimate(model, clean, DYNAMICS_OUTPUT_ERROR, options, &fit);
    if (st == STATUS_OK && fit.method == DYNAMICS_OUTPUT_ERROR &&
        fit.stop == DYNAMICS_STOP_CONVERGED && is_whole(&fit)) {
        st =
            output_error_validate(model, clean, fit.theta, options->biases,
                                  isfinite(fit.delay_s) ? fit.delay_s : 0.0, residual, &report);
        /* From what is left of the clean samples to what is left of the measured ones. */
        for (size_t a = 0; a < set->axes && st == STATUS_OK; a++) {
            for (size_t k = 0; k < set->n; k++) {
                residual[a][k] += set->nu[a][k] - clean->nu[a][k];
            }
        }
        if (st == STATUS_OK) {
            outlier_samples_refine(set, residual, room->data + set->axes * set->n, memory,
                                   outliers);
        }
    }
    gsl_vector_free(room);
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

static enum status estimate_robustly(const struct model *model, const struct data_set *set,
                                     enum dynamics_method method,
                                     const struct dynamics_options *options,
                                     struct dynamics_fit *fit)
{
    struct data_set clean;
    gsl_vector *memory = NULL;
    size_t outliers[MODEL_AXES_MAX] = {0};
    enum status st = outlier_samples_replace(set, &clean, &memory, outliers);
    for (int pass = 0; pass < REFINEMENTS && st == STATUS_OK; pass++) {
        st = refine(model, set, &clean, options, memory, outliers);
    }
    st = st == STATUS_OK ? dispatch(model, &clean, method, options, fit) : st;
    gsl_vector_free(memory);
    if (st != STATUS_OK) {
        return st;
    }
    fit->robust = true;
    for (size_t a = 0; a < model->axis_count; a++) {
        fit->outliers[a] = outliers[a];
        if (outliers[a] > 0) {
            dynamics_reason(fit, DYNAMICS_PASS,
                            "%zu of %zu samples of %s lie far from their neighbours and were "
                            "replaced",
                            outliers[a], set->n, model->axes[a].velocity);
        }
    }
    return st;
}

enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                              enum dynamics_method method,
                              const struct dynamics_options *options, struct dynamics_fit *fit)
{
    return options->robust ? estimate_robustly(model, set, method, options, fit)
                           : estimate(model, set, method, options, fit);
}

enum status dynamics_estimate_auto(const struct model *model, const struct data_set *set,
                                   const struct dynamics_options *options,
                                   struct dynamics_fit *fit)
{
    return options->robust ? estimate_robustly(model, set, DYNAMICS_METHOD_COUNT, options, fit)
                           : choose(model, set, options, fit);
}
