#include "identification/simulation/prediction_error.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/numbers/constants.h"
#include "identification/data/data_view.h"
#include "identification/simulation/information.h"
#include "identification/simulation/prediction_filter.h"

enum {
    SWEEPS_FIRST = 4, /* sweeps of the noise search before the first fit */
    SWEEPS_LATER = 1,
    ROUNDS = 2, /* rounds of noise and parameters in turn */
    SCALES = 9,
    FINER_MAX = 3,
    EXACT_MAX = 12,
    DELAYS_MAX = 33,
    NOISES_MAX = 2 * MODEL_AXES_MAX + 1
};

/* The same units as in output error: standard errors, and -2 log likelihood. Steps ignore
 * how the covariances depend on the parameters, which matters only near the minimum. A
 * failed step of a twentieth of a standard error therefore also ends the search. */
static const struct damped_rules rules = {.lambda = 1e-4,
                                          .ease = 0.2,
                                          .step_enough = 1e-3,
                                          .step_useless = 0.05,
                                          .gain_enough = 1e-6};
/* A failed step this short ends the search with the gradient by differences. DIFFERENCE: its
 * step, in standard errors. */
static const double STEP_EXACT = 0.02;
static const double DIFFERENCE = 0.1;
/* The first scale of forces that is tried, as a ratio of the model's own forces, and the
 * factor to the next one. */
static const double SCALE_LEAST = 1e-4;
static const double SCALE_FACTOR = 3.0;
/* In the logarithm of a noise: the first step of the search, and the longest jump. */
static const double PROBE = 0.6;
static const double JUMP_MAX = 1.5;
/* A sweep that gains less in -2 log likelihood is the last. */
static const double SWEEP_ENOUGH = 0.1;
/* Factor on the forces, to find the errors that depend on them. */
static const double FORCE_PROBE = 1.1;
/* Bounds and start of a force's correlation time: some samples, and a small part of the
 * recording. */
static const double TIME_SAMPLES_START = 10.0;
static const double TIME_SAMPLES_MIN = 2.0;
static const double TIME_SHARE_MAX = 0.1;

struct pe_work {
    struct prediction_filter filter;
    struct free_values here, there;
    struct qr_accumulator qr; /* triangle of the last pass that computed rows */
    double r[NUMERIC_COLUMNS_MAX][NUMERIC_COLUMNS_MAX]; /* [R | z] of the present point */
    bool last; /* last round: gradients by differences are allowed */
    bool held; /* the delay is held */
    int exact; /* number of gradients by differences so far */
    double cost;
    size_t counted;
};

/* Runs the filter at the present point and stores its triangle. */
static enum status pass_here(struct pe_work *work)
{
    struct prediction_pass pass = {.qr = &work->qr};
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    work->cost = pass.cost;
    work->counted = pass.counted;
    memcpy(work->r, work->qr.r, sizeof work->r);
    return st;
}

/* Searched noises, by their logarithms: velocity_sd, force_sd, force_time_s. */
static double *noise_entry(struct prediction_noise *noise, size_t n, size_t j)
{
    return j < n       ? &noise->velocity_sd[j]
           : j < 2 * n ? &noise->force_sd[j - n]
                       : &noise->force_time_s;
}

static double noise_cost(struct pe_work *work, size_t j, double logarithm)
{
    double *entry = noise_entry(&work->filter.noise, work->filter.n, j);
    const double was = *entry;
    struct prediction_pass pass = {.qr = NULL};
    *entry = exp(logarithm);
    /* A pass without a triangle cannot fail. */
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    *entry = was;
    return st == STATUS_OK ? pass.cost : HUGE_VAL;
}

static double limit_noise(const struct pe_work *work, size_t j, double logarithm)
{
    const struct data_set *set = work->filter.set;
    if (j < 2 * work->filter.n) {
        return logarithm;
    }
    const double span_s = TIME_SHARE_MAX * set->dt_s * (double)set->n;
    const double least_s = TIME_SAMPLES_MIN * set->dt_s;
    return fmin(fmax(logarithm, log(least_s)), log(fmax(span_s, least_s)));
}

/* Step to the minimum of the parabola through three costs; without a minimum, a step to the
 * better side. */
static double find_lowest(double down, double at, double up, double probe)
{
    const double curve = down - 2.0 * at + up;
    if (curve > 0.0) {
        return fmin(fmax(0.5 * probe * (down - up) / curve, -JUMP_MAX), JUMP_MAX);
    }
    return down < up ? -2.0 * probe : 2.0 * probe;
}

/* Searches one logarithm: probes to both sides, then the minimum of the parabola. Only
 * improvements are kept, so that the cost never rises. */
static void improve_noise(struct pe_work *work, size_t j, double probe)
{
    double *entry = noise_entry(&work->filter.noise, work->filter.n, j);
    const double at = log(*entry);
    const double below = limit_noise(work, j, at - probe);
    const double above = limit_noise(work, j, at + probe);
    const double down = noise_cost(work, j, below);
    const double up = noise_cost(work, j, above);
    const double jump = limit_noise(work, j, at + find_lowest(down, work->cost, up, probe));
    const double there = noise_cost(work, j, jump);
    const struct {
        double logarithm, cost;
    } tried[] = {{below, down}, {above, up}, {jump, there}};
    for (size_t i = 0; i < COUNT(tried); i++) {
        if (tried[i].cost < work->cost) {
            work->cost = tried[i].cost;
            *entry = exp(tried[i].logarithm);
        }
    }
}

/* Initial noise: that of the measurement from the data set, forces in units of the model's
 * own. */
static void guess_noise(struct pe_work *work, double *force)
{
    struct prediction_filter *filter = &work->filter;
    const struct data_set *set = filter->set;
    const size_t n = filter->n;
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double spread = 0.0;
        force[i] = 0.0;
        for (size_t k = 0; k < set->n; k++) {
            double nu[MODEL_AXES_MAX];
            const double rest[MODEL_AXES_MAX] = {0.0};
            double tau[MODEL_AXES_MAX];
            double demand[MODEL_AXES_MAX];
            double pose[MODEL_AXES_MAX];
            data_set_velocity(set, k, nu);
            data_view_effort(set, k, tau);
            model_demand(filter->model, work->here.theta, data_set_pose(set, k, pose), nu, rest,
                         tau, demand);
            force[i] += demand[i] * demand[i] / (double)set->n;
            spread += nu[i] * nu[i] / (double)set->n;
        }
        force[i] = sqrt(force[i]);
        largest = fmax(largest, force[i]);
        const double sd = set->noise_sd[i] > 0.0 ? set->noise_sd[i] : 0.01 * sqrt(spread);
        filter->noise.velocity_sd[i] = sd > 0.0 ? sd : 1e-6;
    }
    for (size_t i = 0; i < n; i++) {
        /* An axis at rest needs some force to begin with. */
        force[i] = fmax(force[i], fmax(0.01 * largest, 1e-6));
    }
    filter->noise.force_time_s =
        exp(limit_noise(work, 2 * n, log(TIME_SAMPLES_START * set->dt_s)));
}

/* Chooses the best of several common scales of the forces. */
static void scan_scales(struct pe_work *work)
{
    struct prediction_filter *filter = &work->filter;
    struct prediction_noise best;
    double force[MODEL_AXES_MAX];
    double scale = SCALE_LEAST;
    double least = HUGE_VAL;
    guess_noise(work, force);
    best = filter->noise;
    for (int k = 0; k < SCALES; k++) {
        struct prediction_pass pass = {.qr = NULL};
        for (size_t i = 0; i < filter->n; i++) {
            filter->noise.force_sd[i] = scale * force[i];
        }
        const enum status st = prediction_filter_pass(filter, &work->here, &pass);
        if (st == STATUS_OK && (k == 0 || pass.cost < least)) {
            least = pass.cost;
            best = filter->noise;
        }
        scale *= SCALE_FACTOR;
    }
    filter->noise = best;
    work->cost = least;
}

static void search_noise(struct pe_work *work, int sweeps)
{
    double probe = PROBE;
    double before = HUGE_VAL;
    for (int sweep = 0; sweep < sweeps && before - work->cost > SWEEP_ENOUGH; sweep++) {
        before = work->cost;
        for (size_t j = 0; j < 2 * work->filter.n + 1; j++) {
            improve_noise(work, j, probe);
        }
        probe *= 0.6;
    }
}

/* Distance of trial delays as a share of the sample time: the search converges from this
 * distance. */
static const double DELAY_SHARE = 0.5;

/* Chooses the best of a grid of delays. A prediction from sample to sample sees a delay in
 * single innovations, so that the likelihood has one valley per sample. The start from
 * output error can be in a wrong one if forces and dry friction act together. */
static enum status scan_delays(struct pe_work *work)
{
    const struct search_options *o = work->filter.free_parameters.options;
    const double span_s = o->delay_s_max - o->delay_s_min;
    const double count =
        fmin(ceil(span_s / (DELAY_SHARE * work->filter.set->dt_s)), DELAYS_MAX);
    const double start_s = work->here.delay_s;
    double best_s = start_s;
    for (double k = 0.0; k <= count; k += 1.0) {
        struct prediction_pass pass = {.qr = NULL};
        work->here.delay_s = o->delay_s_min + span_s * k / count;
        const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
        if (st != STATUS_OK) {
            work->here.delay_s = start_s;
            return st;
        }
        if (pass.cost < work->cost) {
            work->cost = pass.cost;
            best_s = work->here.delay_s;
        }
    }
    work->here.delay_s = best_s;
    return STATUS_OK;
}

/* If efforts change at sample times, the likelihood has a bend at delays of whole periods:
 * the change moves to another innovation. Steps end at a bend. If the next step from there
 * does not help, the delay is held while the other unknowns are searched. */
static const double ON_BEND = 1e-6;

static bool is_on_bend(const struct pe_work *work)
{
    const double periods = work->here.delay_s / work->filter.set->dt_s;
    return fabs(periods - round(periods)) < ON_BEND;
}

static void stop_at_bend(struct pe_work *work)
{
    const double dt_s = work->filter.set->dt_s;
    const double from = work->here.delay_s / dt_s;
    const double to = work->there.delay_s / dt_s;
    const double up = floor(from + ON_BEND) + 1.0;
    const double down = ceil(from - ON_BEND) - 1.0;
    if (to > up || to < down) {
        work->there.delay_s = dt_s * (to > up ? up : down);
    }
}

static enum status propose_step(void *context, double lambda, double *length)
{
    struct pe_work *work = context;
    bool *delay_is_free = &work->filter.free_parameters.free[work->filter.free_parameters.p];
    const bool was_free = *delay_is_free;
    struct free_step step;
    *delay_is_free = was_free && !work->held;
    free_parameters_step(&work->filter.free_parameters, &work->here, work->r[0],
                         NUMERIC_COLUMNS_MAX, lambda, &step);
    *delay_is_free = was_free;
    work->there = step.to;
    stop_at_bend(work);
    *length = step.length;
    return STATUS_OK;
}

/* Effort that accelerates an axis by 1, at rest. */
static double find_inertia(const struct model *model, const double *theta, size_t axis)
{
    const double zero[MODEL_AXES_MAX] = {0.0};
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    double still[MODEL_AXES_MAX];
    double moved[MODEL_AXES_MAX];
    model_demand(model, theta, zero, zero, nu_dot, zero, still);
    nu_dot[axis] = 1.0;
    model_demand(model, theta, zero, zero, nu_dot, zero, moved);
    return moved[axis] - still[axis];
}

/* Scales the forces with the inertia, so that their effect on the motion stays the same. The
 * sensitivities describe a step of the parameters alone, at the same effect. */
static void carry_forces(struct pe_work *work)
{
    struct prediction_filter *filter = &work->filter;
    for (size_t i = 0; i < filter->n; i++) {
        const double ratio = find_inertia(filter->model, work->there.theta, i) /
                             find_inertia(filter->model, work->here.theta, i);
        if (isfinite(ratio) && ratio > 0.0) {
            filter->noise.force_sd[i] *= ratio;
        }
    }
}

/* Cost with one unknown changed and the forces scaled. */
static double cost_near(struct pe_work *work, size_t j, double by)
{
    const struct prediction_noise noise = work->filter.noise;
    struct prediction_pass pass = {.qr = NULL};
    work->there = work->here;
    *(j < work->filter.free_parameters.p ? &work->there.theta[j] : &work->there.delay_s) += by;
    carry_forces(work);
    const enum status st = prediction_filter_pass(&work->filter, &work->there, &pass);
    work->filter.noise = noise;
    return st == STATUS_OK ? pass.cost : HUGE_VAL;
}

/* Computes the right side of the triangle from differences of the cost. The sensitivities
 * treat the gain of the filter as constant. This is too inaccurate if forces exceed the
 * noise of the measurement. */
static void set_gradient(struct pe_work *work)
{
    const size_t g = work->filter.g;
    for (size_t j = 0; j < g; j++) {
        double length = 0.0;
        double slope = 0.0;
        const double pivot = work->r[j][j];
        for (size_t i = 0; i <= j; i++) {
            length = hypot(length, work->r[i][j]);
        }
        if (work->filter.free_parameters.free[j] && fabs(pivot) > 0.0) {
            const double h = DIFFERENCE / length;
            slope = (cost_near(work, j, h) - cost_near(work, j, -h)) / (2.0 * h);
        }
        /* R' z = -slope / 2, column by column. */
        double sum = -0.5 * slope;
        for (size_t i = 0; i < j; i++) {
            sum -= work->r[i][j] * work->r[i][g];
        }
        work->r[j][g] = fabs(pivot) > 0.0 && isfinite(sum) ? sum / pivot : 0.0;
    }
}

static enum status try_step(void *context, double *gain)
{
    struct pe_work *work = context;
    const struct prediction_noise noise = work->filter.noise;
    struct prediction_pass pass = {.qr = &work->qr};
    carry_forces(work);
    const enum status st = prediction_filter_pass(&work->filter, &work->there, &pass);
    *gain = work->cost - pass.cost;
    if (st == STATUS_OK && *gain >= 0.0) {
        memcpy(work->r, work->qr.r, sizeof work->r);
        work->here = work->there;
        work->cost = pass.cost;
    } else {
        work->filter.noise = noise;
    }
    return st;
}

static bool is_over(void *context, size_t iteration, enum search_stop *stop)
{
    struct pe_work *work = context;
    return free_parameters_is_over(&work->filter.free_parameters, iteration, stop);
}

/* Uses the sensitivities while they help; in the last round, then differences of the cost. */
static bool review_step(void *context, double gain, struct damped_search *search)
{
    struct pe_work *work = context;
    if (!(gain >= 0.0) && !work->held && is_on_bend(work) &&
        work->filter.free_parameters.free[work->filter.free_parameters.p]) {
        work->held = true;
        search->lambda = rules.lambda;
        return false;
    }
    if (!work->last || (work->exact > 0 ? !(gain >= 0.0) : gain >= 0.0)) {
        return false;
    }
    if (work->exact == 0) {
        search->lambda = rules.lambda;
        search->rules.step_enough = STEP_EXACT;
    }
    if (work->exact++ == EXACT_MAX) {
        return true;
    }
    set_gradient(work);
    return false;
}

static enum status search_round(struct pe_work *work, bool last, size_t *iterations,
                                enum search_stop *stop)
{
    struct damped_search search = {.rules = rules,
                                   .context = work,
                                   .is_over = is_over,
                                   .propose = propose_step,
                                   .try_step = try_step,
                                   .review = review_step};
    const size_t most = work->filter.free_parameters.options->iterations_max;
    work->last = last;
    work->held = false;
    const enum status st = damped_search_run(&search, most, iterations, stop);
    if (st != STATUS_OK || !work->held || *stop != SEARCH_CONVERGED) {
        return st;
    }
    /* With the other unknowns changed, the delay may move again. */
    work->held = false;
    return damped_search_run(&search, most, iterations, stop);
}

/* Tries a shorter integration step, because a simulation may diverge only for its long
 * steps. */
static enum status begin_search(struct pe_work *work, const double *start)
{
    struct prediction_filter *filter = &work->filter;
    free_parameters_start(&filter->free_parameters, start, &work->here);
    filter->rules.step_s =
        free_parameters_step_s(&filter->free_parameters, filter->set, &work->here);
    for (int finer = 0; finer < FINER_MAX; finer++) {
        scan_scales(work);
        const enum status st = pass_here(work);
        if (st != STATUS_OK || work->cost < HUGE_VAL) {
            return st;
        }
        filter->rules.step_s *= 0.5;
    }
    return STATUS_OK;
}

/* Estimates noise and parameters in turn; ends with a pass at the result. */
static enum status refine_fit(struct pe_work *work, size_t *iterations, enum search_stop *stop)
{
    enum status st = STATUS_OK;
    for (int round = 0; round < ROUNDS && st == STATUS_OK; round++) {
        search_noise(work, round == 0 ? SWEEPS_FIRST : SWEEPS_LATER);
        if (round == 0 && work->filter.free_parameters.free[work->filter.free_parameters.p]) {
            const double before_s = work->here.delay_s;
            st = scan_delays(work);
            /* A large move of the delay means that forces had replaced the effect of the
             * effort. */
            const double moved_s = fabs(work->here.delay_s - before_s);
            if (st == STATUS_OK && moved_s > DELAY_SHARE * work->filter.set->dt_s) {
                search_noise(work, SWEEPS_FIRST);
            }
        }
        st = st == STATUS_OK ? pass_here(work) : st;
        if (st == STATUS_OK) {
            st = search_round(work, round + 1 == ROUNDS, iterations, stop);
        }
        if (*stop == SEARCH_CANCELLED) {
            break;
        }
    }
    return st == STATUS_OK ? pass_here(work) : st;
}

static void summarise_innovations(const struct pe_work *work, struct search_report *report)
{
    const struct prediction_filter *filter = &work->filter;
    const struct data_set *set = filter->set;
    report->white = true;
    for (size_t i = 0; i < filter->n; i++) {
        struct residual_summary whitened;
        struct residual_summary *axis = &report->axis[i];
        residual_summarise(gsl_matrix_const_ptr(filter->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, axis);
        residual_summarise(gsl_matrix_const_ptr(filter->whitened, i, 0), set->nu[i],
                           set->run_start, set->run_count, &whitened);
        axis->correlation = whitened.correlation;
        axis->runs_z = whitened.runs_z;
        axis->ljung_box = whitened.ljung_box;
        axis->ljung_box_p = whitened.ljung_box_p;
        axis->white = whitened.white;
        report->white = report->white && axis->white;
    }
    free_parameters_report(&filter->free_parameters, &work->here, report);
    report->log_likelihood =
        -0.5 * (work->cost + (double)(filter->n * work->counted) * log(2.0 * PI));
}

/* Covariance of the scores from one more pass, which overwrites the triangle. */
static enum status find_robust(struct pe_work *work, struct information *information,
                               const struct search_report *report, struct dynamics_fit *fit)
{
    struct hac_covariance scores;
    const size_t lags = free_parameters_lags(&work->filter.free_parameters, report,
                                             work->counted, work->counted);
    fit->hac_share = report->white ? 0.0 : (double)lags / (double)work->counted;
    hac_start(&scores, work->filter.g, lags, false);
    struct prediction_pass pass = {.qr = &work->qr, .scores = &scores};
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    information_sandwich(information, &scores);
    return st;
}

/* Share of each unknown's variance that is due to forces: 1 all, 0 none. It follows from the
 * growth of the variance if forces are larger by FORCE_PROBE. */
static enum status find_force_shares(struct pe_work *work,
                                     const struct information *information, double *share)
{
    struct information more;
    struct prediction_pass pass = {.qr = &work->qr};
    const struct prediction_noise noise = work->filter.noise;
    const size_t g = work->filter.g;
    for (size_t i = 0; i < work->filter.n; i++) {
        work->filter.noise.force_sd[i] *= FORCE_PROBE;
    }
    enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    work->filter.noise = noise;
    st = st == STATUS_OK ? information_find(&more, &work->filter.free_parameters, work->qr.r[0],
                                            NUMERIC_COLUMNS_MAX)
                         : st;
    for (size_t i = 0; i < g && st == STATUS_OK; i++) {
        const double growth =
            log(more.covariance[i * g + i] / information->covariance[i * g + i]);
        const double part = growth / (2.0 * log(FORCE_PROBE));
        share[i] = isfinite(part) ? fmin(fmax(part, 0.0), 1.0) : 0.0;
    }
    return st;
}

/* Allows for the uncertainty of the force's size. There is one independent value of the
 * force for each two correlation times, less the number of fitted unknowns per axis. The
 * part of an error that is due to forces then follows Student's t (Satterthwaite: freedom
 * divided by the squared share). */
static enum status widen_by_forces(struct pe_work *work, struct information *information)
{
    double share[FREE_PARAMETERS_MAX];
    double widen[FREE_PARAMETERS_MAX];
    const size_t g = work->filter.g;
    const double span_s = (double)work->counted * work->filter.set->dt_s;
    const double values = span_s / (2.0 * work->filter.noise.force_time_s);
    const double used_rows = (double)information->count / (double)work->filter.n;
    const enum status st = find_force_shares(work, information, share);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t i = 0; i < g; i++) {
        const double freedom = fmax(values - used_rows, 1.0) / fmax(share[i] * share[i], 1e-6);
        widen[i] = sqrt(1.0 + share[i] * used_rows / fmax(values - used_rows, 1.0)) *
                   gsl_cdf_tdist_Pinv(0.975, freedom) / gsl_cdf_ugaussian_Pinv(0.975);
    }
    for (size_t i = 0; i < g * g; i++) {
        information->covariance[i] *= widen[i / g] * widen[i % g];
        information->robust[i] *= widen[i / g] * widen[i % g];
    }
    return STATUS_OK;
}

/* Computes estimate and error bars from the triangle of the last pass. */
static enum status set_bars(struct pe_work *work, const struct search_report *report,
                            struct dynamics_fit *fit)
{
    struct information information;
    enum status st = information_find(&information, &work->filter.free_parameters, work->r[0],
                                      NUMERIC_COLUMNS_MAX);
    st = st == STATUS_OK ? find_robust(work, &information, report, fit) : st;
    st = st == STATUS_OK ? widen_by_forces(work, &information) : st;
    if (st != STATUS_OK) {
        return st;
    }
    const double left = (double)fit->rows - (double)information.count;
    const double factor = left > 0.0 ? (double)fit->rows / left : nan("");
    information_report(&information, &work->filter.free_parameters, &work->here, factor,
                       report->white, fit);
    return STATUS_OK;
}

/* ---- degrees of freedom of the noise ---- */

/* Step in a logarithm of the noise. */
static const double FREEDOM_STEP = 0.2;
/* A noise with less curvature of the cost has no effect: a force that does not act. */
static const double BEND_MIN = 1e-3;
static const double FLAT_RATIO = 1e-4;

struct noise_probe {
    size_t m; /* number of logarithms: velocity_sd, force_sd, force_time_s */
    double cost, information;
    double up[NOISES_MAX]; /* cost with one of them larger */
    double by[NOISES_MAX]; /* d log det of the errors' covariance */
    double bend[NOISES_MAX * NOISES_MAX];
};

/* -2 log likelihood with two of the noises scaled. information, optional: log of its
 * determinant. */
static enum status cost_scaled(struct pe_work *work, size_t j, double by_j, size_t k,
                               double by_k, double *cost, double *information)
{
    struct prediction_filter *filter = &work->filter;
    const struct prediction_noise noise = filter->noise;
    struct prediction_pass pass = {.qr = information ? &work->qr : NULL};
    *noise_entry(&filter->noise, filter->n, j) *= exp(by_j);
    *noise_entry(&filter->noise, filter->n, k) *= exp(by_k);
    const enum status st = prediction_filter_pass(filter, &work->here, &pass);
    filter->noise = noise;
    *cost = pass.cost;
    for (size_t i = 0; information && i < filter->g; i++) {
        const double pivot = fabs(work->qr.r[i][i]);
        *information += filter->free_parameters.free[i] && pivot > 0.0 ? 2.0 * log(pivot) : 0.0;
    }
    return st;
}

/* Computes the curvature of the cost, and the derivative of the information by the noises,
 * from difference quotients of the likelihood. */
static enum status probe_noise(struct pe_work *work, struct noise_probe *probe)
{
    const double h = FREEDOM_STEP;
    enum status st = cost_scaled(work, 0, 0.0, 0, 0.0, &probe->cost, &probe->information);
    for (size_t j = 0; j < probe->m && st == STATUS_OK; j++) {
        double information = 0.0;
        double down = 0.0;
        st = cost_scaled(work, j, h, j, 0.0, &probe->up[j], &information);
        st = st == STATUS_OK ? cost_scaled(work, j, -h, j, 0.0, &down, NULL) : st;
        probe->by[j] = (probe->information - information) / h;
        probe->bend[j * probe->m + j] = (probe->up[j] - 2.0 * probe->cost + down) / (h * h);
        for (size_t k = 0; k < j && st == STATUS_OK; k++) {
            double both = 0.0;
            st = cost_scaled(work, j, h, k, h, &both, NULL);
            const double bend = (both - probe->up[j] - probe->up[k] + probe->cost) / (h * h);
            probe->bend[j * probe->m + k] = bend;
            probe->bend[k * probe->m + j] = bend;
        }
    }
    return st;
}

/* Number of independent values that determined the noise (docs/model/prediction_error.md,
 * eq. 5, 6). */
static enum status count_freedom(struct pe_work *work, double *freedom)
{
    struct noise_probe probe = {.m = 2 * work->filter.n + 1};
    struct svd svd;
    double scale[NOISES_MAX];
    double shift[NOISES_MAX];
    double bias = 0.0;
    double p = 0.0;
    const enum status st = probe_noise(work, &probe);
    for (size_t j = 0; j < probe.m; j++) {
        const double bend = probe.bend[j * probe.m + j];
        scale[j] = bend > BEND_MIN ? sqrt(bend) : 0.0;
    }
    *freedom = nan("");
    if (st != STATUS_OK ||
        svd_find(probe.bend, probe.m, scale, scale, FLAT_RATIO, &svd) != STATUS_OK) {
        return st;
    }
    svd_solve(&svd, probe.by, shift);
    for (size_t j = 0; j < probe.m; j++) {
        bias += probe.by[j] * shift[j];
    }
    for (size_t i = 0; i < work->filter.g; i++) {
        p += work->filter.free_parameters.free[i] ? 1.0 : 0.0;
    }
    *freedom = bias > 0.0 ? p * p / bias : nan("");
    return st;
}

static void describe_noise(const struct pe_work *work, struct dynamics_fit *fit)
{
    const struct prediction_filter *filter = &work->filter;
    fit->n = filter->set->n;
    fit->rows = filter->n * work->counted;
    fit->force_time_s = filter->noise.force_time_s;
    for (size_t i = 0; i < filter->n; i++) {
        const double *residual = gsl_matrix_const_ptr(filter->residual, i, 0);
        double sum = 0.0;
        for (size_t k = 0; k < filter->set->n; k++) {
            sum += isnan(residual[k]) ? 0.0 : residual[k] * residual[k];
        }
        fit->residual_sd[i] = sqrt(sum / (double)work->counted);
        fit->velocity_sd[i] = filter->noise.velocity_sd[i];
        fit->force_sd[i] = filter->noise.force_sd[i];
        for (size_t r = 0; r < filter->set->run_count; r++) {
            fit->initial[r][i] = filter->set->nu[i][filter->set->run_start[r]];
        }
    }
}

static enum status run_fit(struct pe_work *work, const double *start, struct dynamics_fit *fit,
                           struct search_report *report)
{
    static const char *const words[3] = {"innovations",
                                         "the model and its forces do not explain them",
                                         "the model and its forces leave a trace unexplained"};
    enum search_stop stop = SEARCH_LIMIT;
    enum status st = begin_search(work, start);
    if (st == STATUS_OK && work->counted == 0 && work->cost < HUGE_VAL) {
        return STATUS_E_EMPTY;
    }
    if (st == STATUS_OK && !(work->cost < HUGE_VAL)) {
        free_parameters_give_up(&work->filter.free_parameters, &work->here,
                                DYNAMICS_STOP_DIVERGED, fit);
        return STATUS_OK;
    }
    st = st == STATUS_OK ? refine_fit(work, &fit->iterations, &stop) : st;
    if (st == STATUS_E_STALE) {
        free_parameters_give_up(&work->filter.free_parameters, &work->here,
                                DYNAMICS_STOP_CANCELLED, fit);
        return STATUS_OK;
    }
    if (st != STATUS_OK) {
        return st;
    }
    fit->stop = free_parameters_stop(stop);
    describe_noise(work, fit);
    summarise_innovations(work, report);
    st = set_bars(work, report, fit);
    st = st == STATUS_OK ? count_freedom(work, &fit->noise_freedom) : st;
    if (st == STATUS_OK) {
        free_parameters_judge(&work->filter.free_parameters, &work->here, report,
                              work->filter.set, words, fit);
        dynamics_judge(fit, work->filter.model, work->filter.set);
    }
    return st;
}

enum status prediction_error_fit(const struct model *model, const struct data_set *set,
                                 const double *start, const struct search_options *options,
                                 struct dynamics_fit *fit, struct search_report *report)
{
    assert(model && set && start && options && fit && report);
    enum status st = free_parameters_check(model, set, start, options);
    if (st != STATUS_OK) {
        return st;
    }
    struct pe_work work = {.cost = 0.0};
    struct search_report found = {.white = false};
    struct dynamics_fit out;
    dynamics_fit_start(&out, model, DYNAMICS_PEM, options->with_biases);
    st = prediction_filter_alloc(&work.filter, model, set, options, 0)
             ? run_fit(&work, start, &out, &found)
             : STATUS_E_NOMEM;
    if (st == STATUS_OK) {
        *fit = out;
        *report = found;
    }
    prediction_filter_free(&work.filter);
    return st;
}
