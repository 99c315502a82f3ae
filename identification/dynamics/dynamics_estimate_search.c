/* Output error from a start, and what else the methods that simulate share. */
#include <math.h>

#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/data/outlier_samples.h"
#include "identification/data/simulation.h"
#include "identification/dynamics/dynamics_estimate_parts.h"

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
enum { ITERATIONS_MAX = 100 };
/* A value that fits worse by less than this in -2 log likelihood is as good: 95 %. */
static const double CHI2_95 = 3.84;

bool estimate_is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->estimate.p; i++) {
        if (!isfinite(fit->estimate.value[i])) {
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

static bool go_on(void *context, size_t iteration)
{
    const struct estimate_stage *stage = context;
    return stage->options->go_on(stage->options->context, stage->method, iteration);
}

void estimate_set_search(const struct estimate_job *job, struct estimate_stage *stage,
                         struct search_options *search)
{
    search_defaults(job->model, search);
    search->with_biases = job->options->biases;
    for (size_t r = 0; r < job->set->run_count; r++) {
        search->at_rest[r] = job->options->from_rest || begins_at_rest(job->set, r);
    }
    search->delay_s_max = delay_max_s(job->set, job->options);
    search->delay_s_min = -fmin(fmax(job->set->dt_s, EARLY_S_MIN), search->delay_s_max);
    search->fit_delay = search->delay_s_max > 0.0;
    search->iterations_max = ITERATIONS_MAX;
    search->go_on = job->options->go_on ? go_on : NULL;
    search->context = stage;
}

/* Around a delay that is nearly known. What is left out at the start of each run for the sake
 * of the latest delay shrinks with it. */
void estimate_narrow(const struct dynamics_fit *from, double errors, double least_s,
                     struct search_options *search)
{
    const double reach_s = fmax(errors * from->delay_se_s, least_s);
    if (!isfinite(from->delay_s)) {
        search->fit_delay = false;
        return;
    }
    search->delay_s = from->delay_s;
    search->delay_s_min = fmax(search->delay_s_min, from->delay_s - reach_s);
    search->delay_s_max = fmin(search->delay_s_max, from->delay_s + reach_s);
}

/* What regression alone knows about the recording. */
void estimate_keep_regression(const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    fit->window_s = from->window_s;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        fit->regressor_rms[i] = from->regressor_rms[i];
        fit->independence_ratio[i] = from->independence_ratio[i];
    }
}

enum status estimate_by_regression(const struct estimate_job *job, enum dynamics_method method,
                                   struct dynamics_fit *fit)
{
    return dynamics_linear_fit(job->model, job->set, method, job->options, fit);
}

void estimate_fall_back(const struct dynamics_fit *from, enum estimate_verdict at_best,
                        const char *why, struct dynamics_fit *fit)
{
    *fit = *from;
    estimate_reason(&fit->estimate, at_best, "%s: values are those of %s", why,
                    dynamics_method_name(from->method));
}

/* weak_iv; where runs are too short for its windows, what derivatives say. */
static enum status find_start(const struct estimate_job *job, struct dynamics_fit *start)
{
    struct dynamics_fit other;
    enum status st = estimate_by_regression(job, DYNAMICS_WEAK_IV, start);
    if (st != STATUS_OK || start->rows > start->estimate.p) {
        return st;
    }
    st = estimate_by_regression(job, DYNAMICS_OLS_SG, &other);
    if (st == STATUS_OK && estimate_is_whole(&other)) {
        *start = other;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* output_error from a start: first with every delay that may be, then near the one it found. */
static enum status search_twice(const struct estimate_job *job, struct search_options *search,
                                const struct dynamics_fit *start, struct dynamics_fit *fit,
                                struct search_report *report)
{
    struct search_report second;
    struct dynamics_fit near;
    const struct search_options wide = *search;
    enum status st = output_error_fit(job->model, job->set, start->estimate.value, search, NULL,
                                      fit, report);
    if (st != STATUS_OK || fit->stop != DYNAMICS_STOP_CONVERGED || !estimate_is_whole(fit) ||
        !search->fit_delay || (report->delay_at_bound && isfinite(fit->delay_s))) {
        return st;
    }
    const bool found = isfinite(fit->delay_s);
    estimate_narrow(fit, DELAY_ERRORS, DELAY_SHARE * job->set->dt_s, search);
    st = output_error_fit(job->model, job->set, fit->estimate.value, search, NULL, &near,
                          &second);
    const bool better = near.stop == DYNAMICS_STOP_CONVERGED && !second.delay_at_bound;
    if (st == STATUS_OK && (better || near.stop == DYNAMICS_STOP_CANCELLED)) {
        near.iterations += fit->iterations;
        second.evaluations += report->evaluations;
        *fit = near;
        *report = second;
        if (!found) {
            estimate_reason(&fit->estimate, ESTIMATE_PASS,
                            "efforts do not change inside the runs, which leaves the delay "
                            "open: it counts as none");
        }
    } else {
        *search = wide;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* How many residuals in a row tell as much as one that is independent. */
static double residuals_as_one(const struct model *model, const struct search_report *report)
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
                        const struct search_report *report, bool *pushed)
{
    bool more = false;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const bool now = !pushed[i] && report->at_bound[i] && start->estimate.value[i] > 0.0;
        more = more || now;
        pushed[i] = pushed[i] || now;
    }
    return more;
}

static void hold_at_start(const struct model *model, const struct dynamics_fit *start, size_t i,
                          struct dynamics_fit *fit)
{
    const double se = sqrt(start->estimate.covariance[i][i]);
    char name[128];
    fit->estimate.se_white[i] = start->estimate.se_white[i];
    fit->se_hac[i] = start->se_hac[i];
    fit->estimate.covariance[i][i] = start->estimate.covariance[i][i];
    fit->estimate.lo[i] = start->estimate.lo[i];
    fit->estimate.hi[i] = start->estimate.hi[i];
    fit->estimate.identifiable[i] = false;
    estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                    "%s: simulation cannot tell zero from what %s says, %.4g with an error of "
                    "%.2g, so that stays",
                    dynamics_parameter_both(model, i, name, sizeof name),
                    dynamics_method_name(start->method), fit->estimate.value[i], se);
}

/* A damping of zero is what no robot has. Where the recording cannot tell zero from the start's
 * value, that one stays, with its error, and the others are found beside it. search is what fit
 * was found with. */
static enum status keep_positive(const struct estimate_job *job, struct search_options *search,
                                 const struct dynamics_fit *start, struct dynamics_fit *fit,
                                 struct search_report *report)
{
    struct search_report other = *report;
    struct dynamics_fit held = *fit;
    bool *pushed = search->fixed;
    size_t count = 0;
    search->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    while (estimate_is_whole(&held) && mark_pushed(job->model, start, &other, pushed)) {
        double from[DYNAMICS_P_MAX];
        for (size_t i = 0; i < fit->estimate.p; i++) {
            from[i] = pushed[i] ? start->estimate.value[i] : held.estimate.value[i];
        }
        const enum status st =
            output_error_fit(job->model, job->set, from, search, NULL, &held, &other);
        if (st != STATUS_OK) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
    }
    for (size_t i = 0; i < job->model->parameter_count; i++) {
        count += pushed[i] ? 1 : 0;
    }
    const double loss = 2.0 * (report->log_likelihood - other.log_likelihood);
    if (count == 0 || held.stop != DYNAMICS_STOP_CONVERGED ||
        loss > CHI2_95 * (double)count * residuals_as_one(job->model, report)) {
        return STATUS_OK;
    }
    held.iterations += fit->iterations;
    held.estimate.rank += count;
    for (size_t i = 0; i < job->model->parameter_count; i++) {
        if (pushed[i]) {
            hold_at_start(job->model, start, i, &held);
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
        if (model->parameters[i].sign == MODEL_POSITIVE && start->estimate.hi[i] < 0.0) {
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
        calm.estimate.value[i] =
            model->parameters[i].sign == MODEL_ANY ? 0.0 : calm.estimate.value[i];
    }
    return calm;
}

/* The search in a batch. Simulated residuals have many minima: a start far off, a wrong delay
 * or a sign that no robot has leads into one of them. So regression, which needs no start,
 * finds one; the delay is searched over all that may be, then again near what was found, with
 * the samples that its bounds cost back in; a model that runs away from that start gets one
 * without the terms that may have any sign; and a parameter that ended at zero, where the data
 * cannot tell it from the start's value, is held there. Each stage keeps what the former one
 * found (docs/model/output_error.md). */

/* A start in *start, and output_error from there in *fit. Where that cannot be, *fit is the
 * start and says why; fit->method tells. */
enum status estimate_by_simulation(const struct estimate_job *job, struct dynamics_fit *start,
                                   struct dynamics_fit *fit, struct search_report *report)
{
    enum status st = find_start(job, start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!estimate_is_whole(start)) {
        estimate_fall_back(start, ESTIMATE_MARGINAL,
                           "output_error needs a start for every parameter", fit);
        return STATUS_OK;
    }
    if (is_reversed(job->model, start)) {
        estimate_fall_back(start, ESTIMATE_FAIL,
                           "output_error has no start with the signs of a robot", fit);
        return STATUS_OK;
    }
    struct search_options search;
    struct estimate_stage stage = {job->options, DYNAMICS_OUTPUT_ERROR};
    estimate_set_search(job, &stage, &search);
    st = search_twice(job, &search, start, fit, report);
    if (st == STATUS_OK && fit->stop == DYNAMICS_STOP_DIVERGED) {
        const struct dynamics_fit calm = calm_down(job->model, start);
        st = search_twice(job, &search, &calm, fit, report);
    }
    if (st == STATUS_OK) {
        st = keep_positive(job, &search, start, fit, report);
    }
    if (st == STATUS_E_MATH) {
        *fit = *start;
        estimate_reason(&fit->estimate, ESTIMATE_FAIL,
                        "output_error cannot be computed from here, numbers overflow: values "
                        "are those of %s; check units, or ask for less with --method weak_iv",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        estimate_keep_regression(start, fit);
        if (job->options->ridge > 0.0) {
            estimate_reason(&fit->estimate, ESTIMATE_PASS,
                            "the ridge has part in the start only: output_error does without");
        }
        if (start->method == DYNAMICS_OLS_SG) {
            estimate_reason(&fit->estimate, ESTIMATE_PASS,
                            "started from ols_sg: the runs are too short for the windows of "
                            "weak_iv");
        }
    }
    return st;
}

/* Estimates that look past samples that are no motion (docs/model/identification.md, 3). */

enum { ROUNDS_MAX = 10 };
/* Rounds end when no estimate moves by more of its standard error. */
static const double MOVED_MAX = 0.1;
/* A delay stays this many standard errors around that of the round before, or two periods. */
static const double ROUND_ERRORS = 10.0;
static const double ROUND_PERIODS = 2.0;

struct rounds {
    const struct data_set *set;
    struct data_set clean;   /* velocities in memory */
    struct estimate_job job; /* of the clean set */
    gsl_vector *memory;
    gsl_vector *room;                 /* [axes + 1] rows of n: residuals, scratch */
    double *residual[MODEL_AXES_MAX]; /* of room */
    size_t outliers[MODEL_AXES_MAX];
    struct dynamics_fit fit, before; /* of this round and the one before */
    size_t round;
};

static bool is_usable(const struct dynamics_fit *fit)
{
    return fit->stop != DYNAMICS_STOP_CANCELLED && fit->stop != DYNAMICS_STOP_DIVERGED &&
           estimate_is_whole(fit);
}

/* By simulation, with what is left of it; from the second round on from where the first one
 * ended. */
static enum status simulate_samples(struct rounds *r, bool *found)
{
    struct search_report report;
    struct search_options search;
    struct estimate_stage stage = {r->job.options, DYNAMICS_OUTPUT_ERROR};
    enum status st = STATUS_OK;
    if (r->round == 0) {
        struct dynamics_fit start;
        st = estimate_by_simulation(&r->job, &start, &r->fit, &report);
        *found =
            st == STATUS_OK && r->fit.method == DYNAMICS_OUTPUT_ERROR && is_usable(&r->fit);
    }
    if (st != STATUS_OK || !*found) {
        return st;
    }
    const struct dynamics_fit *from = r->round == 0 ? &r->fit : &r->before;
    estimate_set_search(&r->job, &stage, &search);
    estimate_narrow(from, ROUND_ERRORS, ROUND_PERIODS * r->set->dt_s, &search);
    st = output_error_fit(r->job.model, &r->clean, from->estimate.value, &search, r->residual,
                          &r->fit, &report);
    *found = st == STATUS_OK && is_usable(&r->fit);
    return st;
}

/* The same by regression of all samples: of very many of them, one simulation is quick, a
 * search by simulation is not. */
static enum status regress_samples(struct rounds *r, bool *found)
{
    struct data_set late = r->clean;
    enum status st = estimate_plainly(&r->job, DYNAMICS_METHOD_COUNT, &r->fit);
    if (st != STATUS_OK || !is_usable(&r->fit)) {
        *found = false;
        return st;
    }
    gsl_vector *tau = gsl_vector_alloc(r->set->axes * r->set->n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    if (isfinite(r->fit.delay_s)) {
        data_view_late(&late, r->fit.delay_s, tau->data);
    }
    *found = simulation_run(r->job.model, r->fit.estimate.value, r->fit.bias_count, &late,
                            r->job.options->from_rest, r->residual);
    for (size_t a = 0; a < r->set->axes && *found; a++) {
        for (size_t k = 0; k < r->set->n; k++) {
            r->residual[a][k] = r->clean.nu[a][k] - r->residual[a][k];
        }
    }
    gsl_vector_free(tau);
    return STATUS_OK;
}

static bool has_moved(const struct rounds *r)
{
    bool moved = r->round == 0;
    for (size_t i = 0; i < r->fit.estimate.p && !moved; i++) {
        const double step = fabs(r->fit.estimate.value[i] - r->before.estimate.value[i]);
        moved = !(step <= MOVED_MAX * sqrt(r->fit.estimate.covariance[i][i]));
    }
    return moved;
}

static enum status find_outliers(struct rounds *r)
{
    const bool many = r->set->n > ESTIMATE_SAMPLES_MAX;
    bool moved = true;
    for (r->round = 0; r->round < ROUNDS_MAX && moved; r->round++) {
        bool found = true;
        const enum status st = many ? regress_samples(r, &found) : simulate_samples(r, &found);
        if (st != STATUS_OK || !found) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
        /* From what is left of the clean samples to what is left of the measured ones. */
        for (size_t a = 0; a < r->set->axes; a++) {
            for (size_t k = 0; k < r->set->n; k++) {
                r->residual[a][k] += r->set->nu[a][k] - r->clean.nu[a][k];
            }
        }
        outlier_samples_refine(r->set, r->residual, r->room->data + r->set->axes * r->set->n,
                               r->memory, r->outliers);
        moved = has_moved(r);
        r->before = r->fit;
    }
    return STATUS_OK;
}

static void tell_outliers(const struct rounds *r, struct dynamics_fit *fit)
{
    fit->robust = true;
    for (size_t a = 0; a < r->job.model->axis_count; a++) {
        fit->outliers[a] = r->outliers[a];
        if (r->outliers[a] > 0) {
            estimate_reason(
                &fit->estimate, ESTIMATE_PASS,
                "%zu of %zu samples of %s lie far from what the others say and were replaced",
                r->outliers[a], r->set->n, r->job.model->axes[a].velocity);
        }
    }
}

enum status estimate_robustly(const struct estimate_job *job, enum dynamics_method method,
                              struct dynamics_fit *fit)
{
    struct rounds r = {.set = job->set, .job = {job->model, &r.clean, job->options}};
    enum status st = outlier_samples_replace(job->set, &r.clean, &r.memory, r.outliers);
    if (st != STATUS_OK) {
        return st;
    }
    r.room = gsl_vector_alloc((job->set->axes + 1) * job->set->n);
    for (size_t a = 0; a < job->set->axes && r.room; a++) {
        r.residual[a] = r.room->data + a * job->set->n;
    }
    st = r.room ? find_outliers(&r) : STATUS_E_NOMEM;
    st = st == STATUS_OK ? estimate_plainly(&r.job, method, fit) : st;
    if (st == STATUS_OK) {
        tell_outliers(&r, fit);
    }
    gsl_vector_free(r.memory);
    gsl_vector_free(r.room);
    return st;
}
