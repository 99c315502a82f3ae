/* Fits by any method, with all samples or without outliers.
 */
#include "identification/dynamics/dynamics_estimate.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/data/motion_test.h"
#include "identification/data/outlier_samples.h"
#include "identification/data/simulation.h"
#include "identification/dynamics/dynamics_estimate_parts.h"

/* Robust fit: outliers are samples far from the prediction by the other, fitted samples.
 * They are searched again after each fit until they stay the same
 * (docs/model/identification_theory.md, "Equations"). This is iteratively reweighted least
 * squares with Tukey's biweight, written as a change of the data, so that any method can be
 * used for the fit. */

enum { ROUNDS_MAX = 10 };
/* Rounds end when no estimate moves by more than this share of its standard error. */
static const double MOVED_MAX = 0.1;
/* The delay is searched within this many standard errors of the previous one, or within two
 * periods. */
static const double ROUND_ERRORS = 10.0;
static const double ROUND_PERIODS = 2.0;

struct rounds {
    const struct data_set *set;
    struct data_set clean;   /* velocities are in memory */
    struct estimate_job job; /* job with the clean set */
    gsl_vector *memory;
    gsl_vector *room;                 /* [axes + 1] rows of n: residuals, scratch */
    double *residual[MODEL_AXES_MAX]; /* rows of room */
    size_t outliers[MODEL_AXES_MAX];
    struct dynamics_fit fit, before; /* present and previous round */
    size_t round;
};

static bool is_usable(const struct dynamics_fit *fit)
{
    return fit->stop != DYNAMICS_STOP_CANCELLED && fit->stop != DYNAMICS_STOP_DIVERGED &&
           estimate_is_whole(fit);
}

/* Fits by simulation and computes the residuals. From the second round on, the search starts
 * at the previous result. */
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

/* The same by regression of all samples. With very many samples one simulation is fast, but
 * a search by simulation is not. */
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
        data_view_delay(&late, r->fit.delay_s, tau->data);
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
        /* Converts residuals of the clean samples into residuals of the measured ones. */
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

static void report_outliers(const struct rounds *r, struct dynamics_fit *fit)
{
    fit->robust = true;
    for (size_t a = 0; a < r->job.model->axis_count; a++) {
        fit->outliers[a] = r->outliers[a];
        if (r->outliers[a] > 0) {
            estimate_reason(&fit->estimate, REASON_OUTLIERS, ESTIMATE_PASS,
                            "%zu of %zu samples of %s are outliers and were replaced",
                            r->outliers[a], r->set->n, r->job.model->axes[a].velocity);
        }
    }
}

static enum status estimate_robustly(const struct estimate_job *job,
                                     enum dynamics_method method, struct dynamics_fit *fit)
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
        report_outliers(&r, fit);
    }
    gsl_vector_free(r.memory);
    gsl_vector_free(r.room);
    return st;
}

/* Nothing moves: no value is determined, and a search in noise would only take long. */
static void report_still(const struct estimate_job *job, enum dynamics_method method,
                         struct dynamics_fit *fit)
{
    dynamics_fit_start(fit, job->model,
                       method == DYNAMICS_METHOD_COUNT ? DYNAMICS_WEAK : method,
                       job->options->biases);
    fit->stop = DYNAMICS_STOP_STILL;
    fit->n = job->set->n;
    dynamics_judge_columns(fit, job->model, job->set);
    if (fit->estimate.verdict != ESTIMATE_FAIL) {
        estimate_reason_first(&fit->estimate, REASON_NO_MOTION, ESTIMATE_FAIL,
                              "nothing moves: %s%s not exceed %s noise",
                              job->model->axes[0].velocity,
                              job->model->axis_count > 1 ? " and the others do" : " does",
                              job->model->axis_count > 1 ? "their" : "its");
        estimate_advise(&fit->estimate,
                        "look whether the robot was free to move, whether efforts were "
                        "strong enough, and whether the right columns were read");
    }
}

enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                              enum dynamics_method method,
                              const struct dynamics_options *options, struct dynamics_fit *fit)
{
    const struct estimate_job job = {model, set, options};
    if (!motion_test_moves(set)) {
        report_still(&job, method, fit);
        return STATUS_OK;
    }
    const enum status st = options->robust ? estimate_robustly(&job, method, fit)
                                           : estimate_plainly(&job, method, fit);
    if (st == STATUS_OK) {
        memcpy(fit->delay_phase_s, set->phase_s, sizeof fit->delay_phase_s);
    }
    return st;
}

enum status dynamics_estimate_auto(const struct model *model, const struct data_set *set,
                                   const struct dynamics_options *options,
                                   struct dynamics_fit *fit)
{
    return dynamics_estimate(model, set, DYNAMICS_METHOD_COUNT, options, fit);
}

/* A fit by simulation: fit, or one that is computed. Without one there is no cause. */
static enum status find_simulated(const struct model *model, const struct data_set *set,
                                  const struct dynamics_options *options,
                                  const struct dynamics_fit *fit,
                                  struct dynamics_fit *simulated)
{
    enum status st = STATUS_OK;
    *simulated = *fit;
    if (set->n > ESTIMATE_SAMPLES_MAX) {
        simulated->method = DYNAMICS_METHOD_COUNT;
    } else if (fit->method != DYNAMICS_OUTPUT_ERROR) {
        st = dynamics_estimate(model, set, DYNAMICS_OUTPUT_ERROR, options, simulated);
    }
    if (st != STATUS_OK) {
        simulated->method = DYNAMICS_METHOD_COUNT;
    }
    return st == STATUS_E_NOMEM                         ? st
           : simulated->stop == DYNAMICS_STOP_CANCELLED ? STATUS_E_STALE
                                                        : STATUS_OK;
}

enum status dynamics_estimate_phases(const struct model *model,
                                     const struct dynamics_options *options,
                                     const struct dynamics_fit *fit, bool own,
                                     struct data_table *table, struct input_phases *phases)
{
    struct dynamics_fit simulated;
    const struct data_set *set = &table->set;
    *phases = (struct input_phases){.count = 0};
    enum status st = find_simulated(model, set, options, fit, &simulated);
    if (st != STATUS_OK || simulated.method != DYNAMICS_OUTPUT_ERROR) {
        return st;
    }
    gsl_vector *shift_s = gsl_vector_alloc(set->axes * set->n);
    if (!shift_s) {
        return STATUS_E_NOMEM;
    }
    own = own || fit->method != DYNAMICS_OUTPUT_ERROR;
    st = input_phases_find(model, set, &simulated, own, options->budget, shift_s->data, phases);
    if (st == STATUS_OK && phases->within_row) {
        st = input_phases_apply(table, shift_s->data);
    }
    gsl_vector_free(shift_s);
    return st;
}

enum status dynamics_estimate_cause(const struct model *model, const struct data_set *set,
                                    const struct dynamics_options *options,
                                    const struct dynamics_fit *fit, struct effort_cause *cause)
{
    struct dynamics_fit simulated;
    const enum status st = find_simulated(model, set, options, fit, &simulated);
    return st == STATUS_OK ? effort_cause_find(model, set, &simulated, options->budget, cause)
                           : st;
}
