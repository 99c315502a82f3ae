/* Choice of the method that suits a recording: regression, simulation or prediction.
 */
#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/data/moving_samples.h"
#include "identification/dynamics/dynamics_estimate_parts.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/dynamics/input_delay.h"
#include "identification/simulation/channel_cause.h"
#include "identification/simulation/prediction_error.h"
#include "identification/simulation/simulation_thresholds.def"

/* Range of pem's search for the delay: standard errors around that of output error, and at
 * least this many periods. */
static const double DELAY_ERRORS = 10.0;
static const double DELAY_PERIODS = 4.0;
/* Number of samples that are simulated in a tenth of a second. */
enum { PART_SAMPLES = 6000 };
/* A slope is computed from delays this many periods to either side. */
static const double SLOPE_PERIODS = 0.5;

/* Fits pem, starting from an output-error fit. The result is that fit if a parameter has no
 * value, or if pem cannot be computed. */
static enum status fit_prediction(const struct estimate_job *job,
                                  const struct dynamics_fit *from, struct dynamics_fit *fit,
                                  struct search_report *report)
{
    struct search_options search;
    struct estimate_stage stage = {job->options, DYNAMICS_PEM};
    if (from->stop != DYNAMICS_STOP_CONVERGED || !estimate_is_whole(from)) {
        estimate_fall_back(from, ESTIMATE_MARGINAL, "pem needs a start for every parameter",
                           fit);
        return STATUS_OK;
    }
    estimate_set_search(job, &stage, &search);
    estimate_narrow(from, DELAY_ERRORS, DELAY_PERIODS * job->set->dt_s, &search);
    const enum status st =
        prediction_error_fit(job->model, job->set, from->estimate.value, &search, fit, report);
    if (st == STATUS_E_MATH) {
        estimate_fall_back(from, ESTIMATE_FAIL,
                           "pem cannot be computed from here, numbers overflow", fit);
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        estimate_copy_regression(from, fit);
    }
    return st;
}

static enum status estimate_once(const struct estimate_job *job, enum dynamics_method method,
                                 struct dynamics_fit *fit)
{
    struct search_report report;
    struct search_report pem;
    struct dynamics_fit start;
    struct dynamics_fit simulated;
    if (method != DYNAMICS_OUTPUT_ERROR && method != DYNAMICS_PEM) {
        return estimate_by_regression(job, method, fit);
    }
    const enum status st = estimate_by_simulation(job, &start, &simulated, &report);
    if (st != STATUS_OK || method == DYNAMICS_OUTPUT_ERROR ||
        simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = st == STATUS_OK ? simulated : *fit;
        return st;
    }
    return fit_prediction(job, &simulated, fit, &pem);
}

static bool explains_recording(const struct model *model, const struct search_report *report)
{
    bool well = true;
    for (size_t i = 0; i < model->axis_count; i++) {
        well = well && report->axis[i].r2 >= CHOICE_R2_MIN;
    }
    return well;
}

/* The two fits from which auto chooses. */
struct contest {
    const struct estimate_job *job;
    struct dynamics_fit simulated, predicted;
    struct search_report oe;
    struct search_report pem;
};

/* Hausman's test, parameter by parameter: output error is unbiased for any disturbance, so
 * pem must agree with it within its robust errors (as wide as its intervals). A physical
 * parameter at zero also counts against pem. */
static bool doubt_values(const struct contest *c, char doubt[ESTIMATE_TEXT_MAX])
{
    const struct estimate *e = &c->simulated.estimate;
    const double errors_max = gsl_cdf_ugaussian_Qinv(0.5 * HAUSMAN_CHANCE / (double)e->p);
    for (size_t i = 0; i < e->p; i++) {
        const double shift = c->predicted.estimate.value[i] - e->value[i];
        const double wide = 0.5 * (e->hi[i] - e->lo[i]) / gsl_cdf_ugaussian_Pinv(0.975);
        const double se = fmax(fmax(e->se_white[i], c->simulated.se_hac[i]), wide);
        char name[64];
        (void)dynamics_parameter_words(c->job->model, i, name, sizeof name);
        if (i < c->job->model->parameter_count &&
            c->job->model->parameters[i].sign != MODEL_ANY && e->value[i] > 0.0 &&
            !(c->predicted.estimate.value[i] > 0.0)) {
            (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "reduces %s to zero", name);
            return true;
        }
        if (fabs(shift) > errors_max * se) {
            (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "moves %s by %.1f of these errors", name,
                           shift / se);
            return true;
        }
    }
    return false;
}

static bool doubt_axes(const struct contest *c, const struct search_report *other,
                       char doubt[ESTIMATE_TEXT_MAX])
{
    for (size_t i = 0; i < c->job->model->axis_count; i++) {
        const char *name = c->job->model->axes[i].velocity;
        const double correlation = c->pem.axis[i].correlation;
        if (fabs(correlation) >
            fmax(CHOICE_NEARLY_WHITE, 3.0 / sqrt((double)c->pem.axis[i].n))) {
            (void)snprintf(doubt, ESTIMATE_TEXT_MAX,
                           "has innovations of %s with an autocorrelation of %.2f", name,
                           correlation);
            return true;
        }
        if (!(other->axis[i].rmse <= WORSE_RATIO * c->oe.axis[i].rmse)) {
            (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "simulates %s %.1f times worse", name,
                           other->axis[i].rmse / c->oe.axis[i].rmse);
            return true;
        }
    }
    return false;
}

/* Finds an objection to a converged pem. An objection means that the disturbance is not of
 * the kind that pem models. */
static enum status find_doubt(const struct contest *c, char doubt[ESTIMATE_TEXT_MAX])
{
    struct search_report other;
    const double delay_s = isfinite(c->predicted.delay_s) ? c->predicted.delay_s : 0.0;
    if (doubt_values(c, doubt)) {
        return STATUS_OK;
    }
    const enum status st =
        estimate_is_whole(&c->predicted)
            ? output_error_validate(c->job->model, c->job->set, c->predicted.estimate.value,
                                    c->predicted.bias_count > 0, delay_s, NULL, &other)
            : STATUS_E_MATH;
    if (st != STATUS_OK) {
        (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "cannot be simulated");
        return st == STATUS_E_NOMEM ? st : STATUS_OK;
    }
    (void)doubt_axes(c, &other, doubt);
    return STATUS_OK;
}

/* Writes the reason why pem is rejected; an empty text accepts it. */
static enum status doubt_prediction(const struct contest *c, char doubt[ESTIMATE_TEXT_MAX])
{
    doubt[0] = '\0';
    if (c->predicted.method != DYNAMICS_PEM) {
        (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "cannot be computed");
    } else if (c->predicted.stop != DYNAMICS_STOP_CONVERGED &&
               c->predicted.stop != DYNAMICS_STOP_CANCELLED) {
        (void)snprintf(doubt, ESTIMATE_TEXT_MAX, "did not find an end: %s",
                       dynamics_stop_name(c->predicted.stop));
    } else if (c->predicted.stop == DYNAMICS_STOP_CONVERGED) {
        return find_doubt(c, doubt);
    }
    return STATUS_OK;
}

/* Regression with the delay that gives the smallest residuals. */
static enum status regress_by_delay(const struct estimate_job *job, struct dynamics_fit *fit)
{
    struct estimate_stage stage = {job->options, DYNAMICS_WEAK};
    struct search_options search;
    estimate_set_search(job, &stage, &search);
    return search.fit_delay ? input_delay_fit(job->model, job->set, job->options,
                                              search.delay_s_min, search.delay_s_max, fit)
                            : estimate_by_regression(job, DYNAMICS_WEAK, fit);
}

/* Returns whether the residuals of the equations come mostly from rests, so that they say
 * nothing about motion. */
static bool rests_mislead(const struct model *model, const struct dynamics_fit *all,
                          const struct dynamics_fit *motion)
{
    bool mislead = false;
    for (size_t a = 0; a < model->axis_count; a++) {
        mislead = mislead || all->residual_sd[a] > RESTS_RATIO * motion->residual_sd[a];
    }
    return mislead && motion->rows > motion->estimate.p && estimate_is_whole(motion);
}

/* Friction that holds a joint exactly balances any effort. Rests are then left out;
 * otherwise they contain information about the forces at rest. simulated: a simulation explains
 * when it rests. */
static enum status regress_motion(const struct estimate_job *job, bool simulated,
                                  struct dynamics_fit *fit)
{
    struct data_set moving;
    struct dynamics_fit motion;
    gsl_vector *columns = NULL;
    const struct estimate_job other = {job->model, &moving, job->options};
    enum status st = regress_by_delay(job, fit);
    if (st != STATUS_OK) {
        return st;
    }
    st = moving_samples_copy(job->set, &moving, &columns);
    if (st != STATUS_OK) {
        return st == STATUS_E_NOMEM ? st : STATUS_OK;
    }
    st = moving.n < job->set->n ? regress_by_delay(&other, &motion) : STATUS_E_EMPTY;
    if (st == STATUS_OK && rests_mislead(job->model, fit, &motion)) {
        *fit = motion;
        estimate_reason(
            &fit->estimate, REASON_AT_REST, simulated ? ESTIMATE_PASS : ESTIMATE_MARGINAL,
            "%zu of %zu samples are at rest, with more friction than the model has, and are "
            "left out: %s",
            job->set->n - moving.n, job->set->n,
            simulated ? "a simulation explains when it rests"
                      : "values hold in motion, the breakaway effort is unknown");
        if (!simulated) {
            estimate_advise(
                &fit->estimate,
                "try a model with Stribeck friction; for values in motion only, keep "
                "it moving, with efforts well above the breakaway effort");
        }
    }
    gsl_vector_free(columns);
    return st == STATUS_E_NOMEM ? st : STATUS_OK;
}

/* Simulation is biased in two cases. First, a simulated joint creeps while dry friction
 * holds the real one, and the fit compensates with more friction. Second, if a controller
 * drives the joint, disturbances return through the efforts. */
static enum status prefer_regression(const struct estimate_job *job, enum dynamics_method start,
                                     bool simulated, struct dynamics_fit *fit)
{
    const enum dynamics_method method = start == DYNAMICS_OLS_SG ? start : DYNAMICS_WEAK;
    const enum status st = method == DYNAMICS_WEAK ? regress_motion(job, simulated, fit)
                                                   : estimate_by_regression(job, method, fit);
    if (st == STATUS_OK) {
        estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "auto chose %s: residuals of output_error are not white, and dry "
                        "friction or a controller would bias it",
                        dynamics_method_name(fit->method));
    }
    return st;
}

/* Sticking and controllers leave residuals that hardly change between samples. If the
 * residuals do change, neither is the case. A regression, which knows no delay, would then
 * be less accurate than the simulation. */
bool estimate_is_at_home(const struct model *model, const struct dynamics_fit *fit,
                         const struct search_report *report)
{
    bool moves_on = true;
    for (size_t i = 0; i < model->axis_count; i++) {
        moves_on = moves_on && fabs(report->axis[i].correlation) <= STICKS_FROM;
    }
    const bool ended =
        fit->stop == DYNAMICS_STOP_CONVERGED || fit->stop == DYNAMICS_STOP_STALLED;
    return fit->method == DYNAMICS_OUTPUT_ERROR && ended && (report->white || moves_on);
}

/* A joint that breaks away at another effort than the simulated one leaves residuals that last
 * for whole motions. */
static bool explains_rests(const struct contest *c)
{
    const struct residual_summary *left = &c->oe.axis[0];
    return c->simulated.method == DYNAMICS_OUTPUT_ERROR &&
           sqrt(1.0 - left->r2) < COLOURED_SHARE_MAX && left->correlation < RESTS_CORRELATION;
}

static enum status find_causes(const struct estimate_job *job, const struct dynamics_fit *fit,
                               struct channel_causes *causes)
{
    return job->options->skip_causes ? STATUS_OK
                                     : channel_causes_find(job->model, job->set, fit, causes);
}

static enum status choose_method(const struct estimate_job *job, struct dynamics_fit *fit,
                                 struct channel_causes *causes)
{
    struct contest c = {.job = job};
    struct dynamics_fit weak;
    char doubt[ESTIMATE_TEXT_MAX] = "would need a model that explains more";
    enum status st = estimate_by_simulation(job, &weak, &c.simulated, &c.oe);
    if (st != STATUS_OK) {
        return st;
    }
    if (job->model->sticks && c.simulated.stop != DYNAMICS_STOP_CANCELLED &&
        !estimate_is_at_home(job->model, &c.simulated, &c.oe)) {
        return prefer_regression(job, weak.method, explains_rests(&c), fit);
    }
    if (c.simulated.method != DYNAMICS_OUTPUT_ERROR ||
        c.simulated.stop == DYNAMICS_STOP_DIVERGED) {
        *fit = weak;
        estimate_reason(&fit->estimate, REASON_NOT_SIMULATED, ESTIMATE_MARGINAL,
                        "auto chose %s: the model cannot be simulated over the recording",
                        dynamics_method_name(weak.method));
        return STATUS_OK;
    }
    if (c.simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = c.simulated;
        return STATUS_OK;
    }
    st = find_causes(job, &c.simulated, causes);
    if (st != STATUS_OK) {
        return st;
    }
    if (c.oe.white || !channel_causes_unnamed(causes)) {
        *fit = c.simulated;
        estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "auto chose output_error: %s",
                        c.oe.white ? "its residuals are white"
                                   : "what colours its residuals is small or known");
        return STATUS_OK;
    }
    if (c.simulated.stop == DYNAMICS_STOP_CONVERGED && estimate_is_whole(&c.simulated) &&
        explains_recording(job->model, &c.oe)) {
        st = fit_prediction(job, &c.simulated, &c.predicted, &c.pem);
        st = st == STATUS_OK ? doubt_prediction(&c, doubt) : st;
        if (st != STATUS_OK) {
            return st;
        }
        if (doubt[0] == '\0') {
            *fit = c.predicted;
            estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                            "auto chose pem: residuals of output_error are not white");
            return STATUS_OK;
        }
    }
    *fit = c.simulated;
    estimate_reason(
        &fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
        "auto chose output_error with robust errors: its residuals are not white, and pem %s",
        doubt);
    return STATUS_OK;
}

/* Estimates, on a part of the recording, by how much the values of weak_iv grow per second
 * of delay. */
static enum status find_slope(const struct contest *c, const struct dynamics_options *options,
                              double slope[DYNAMICS_P_MAX])
{
    struct dynamics_fit fit[2];
    const struct data_set *part = c->job->set;
    const struct dynamics_fit *from = &c->simulated;
    const double reach_s = SLOPE_PERIODS * part->dt_s;
    gsl_vector *tau = gsl_vector_alloc(part->axes * part->n);
    enum status st = tau ? STATUS_OK : STATUS_E_NOMEM;
    for (size_t k = 0; k < COUNT(fit) && st == STATUS_OK; k++) {
        struct data_set late = *part;
        data_view_delay(&late, from->delay_s + (k == 0 ? -reach_s : reach_s), tau->data);
        st = dynamics_linear_fit(c->job->model, &late, DYNAMICS_WEAK_IV, options, &fit[k]);
    }
    for (size_t i = 0; i < from->estimate.p && st == STATUS_OK; i++) {
        slope[i] = (fit[1].estimate.value[i] - fit[0].estimate.value[i]) / (2.0 * reach_s);
    }
    gsl_vector_free(tau);
    return st;
}

/* Adds a delay from another fit, and its error to those of the estimates. */
static void add_delay(const struct contest *c, const struct estimate_job *whole,
                      const double slope[DYNAMICS_P_MAX], struct dynamics_fit *fit)
{
    input_delay_widen(whole->model, whole->set, c->simulated.delay_s,
                      c->simulated.delay_se_s * c->simulated.delay_se_s, slope, fit);
    if (c->oe.delay_at_bound) {
        estimate_reason(&fit->estimate, REASON_AT_BOUND, ESTIMATE_MARGINAL,
                        "the delay stands at its bound of %.4g s", fit->delay_s);
    }
}

/* Fits all samples by weak_iv, with the delay that output error found on a part of them. */
static enum status regress_late(const struct contest *c, const struct estimate_job *whole,
                                struct dynamics_fit *fit)
{
    struct data_set late = *whole->set;
    struct dynamics_options near = *whole->options;
    const struct estimate_job job = {whole->model, &late, &near};
    double slope[DYNAMICS_P_MAX];
    gsl_vector *tau = gsl_vector_alloc(late.axes * late.n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    data_view_delay(&late, c->simulated.delay_s, tau->data);
    near.iv_start = c->simulated.estimate.value;
    enum status st = estimate_by_regression(&job, DYNAMICS_WEAK_IV, fit);
    st = st == STATUS_OK ? find_slope(c, whole->options, slope) : st;
    gsl_vector_free(tau);
    if (st == STATUS_OK) {
        add_delay(c, whole, slope, fit);
        estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "auto chose %s for %zu samples, and output_error for the delay alone, "
                        "on %zu of them: --method output_error uses all, but takes longer",
                        dynamics_method_name(fit->method), whole->set->n, c->job->set->n);
    }
    return st;
}

/* Used if simulation would take too long: a regression of all samples with the delay from a
 * part. */
static enum status choose_fast(const struct estimate_job *job, struct dynamics_fit *fit)
{
    size_t from = 0;
    const struct data_set part = data_view_busiest(job->set, PART_SAMPLES, &from);
    struct dynamics_options of_part = *job->options;
    const struct estimate_job part_job = {job->model, &part, &of_part};
    struct contest c = {.job = &part_job};
    struct dynamics_fit start;
    of_part.from_rest = job->options->from_rest && from == 0;
    enum status st = estimate_by_simulation(&part_job, &start, &c.simulated, &c.oe);
    if (st == STATUS_OK && c.simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = c.simulated;
        return st;
    }
    if (st != STATUS_OK && st != STATUS_E_MATH) {
        return st;
    }
    const bool stuck = st == STATUS_OK && job->model->sticks &&
                       !estimate_is_at_home(job->model, &c.simulated, &c.oe);
    if (st == STATUS_OK && !stuck && c.simulated.method == DYNAMICS_OUTPUT_ERROR &&
        c.simulated.stop == DYNAMICS_STOP_CONVERGED && estimate_is_whole(&c.simulated) &&
        isfinite(c.simulated.delay_s)) {
        return regress_late(&c, job, fit);
    }
    const enum dynamics_method method = stuck ? DYNAMICS_WEAK : DYNAMICS_WEAK_IV;
    st = estimate_by_regression(job, method, fit);
    if (st == STATUS_OK) {
        estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "auto chose %s for %zu samples: --method output_error takes longer",
                        dynamics_method_name(fit->method), job->set->n);
    }
    return st;
}

/* Reports a delay that remains unknown because the model was not simulated. */
static void report_delay(enum dynamics_method method, const struct dynamics_options *options,
                         struct dynamics_fit *fit)
{
    const bool sought = !(options->delay_max_s <= 0.0);
    if (method >= DYNAMICS_OUTPUT_ERROR && fit->method < DYNAMICS_OUTPUT_ERROR &&
        !isfinite(fit->delay_s)) {
        estimate_reason(&fit->estimate, REASON_DELAY_ASSUMED, ESTIMATE_PASS,
                        "no delay was %s: efforts are assumed to act at once; if they act "
                        "late, these values are wrong",
                        sought ? "found" : "sought");
    }
}

static void report_budget(const struct dynamics_options *options, struct dynamics_fit *fit)
{
    if (step_budget_is_spent(options->budget)) {
        estimate_reason(&fit->estimate, REASON_SEARCH_FAILED, ESTIMATE_MARGINAL,
                        "the search stopped after %.2g million integration steps",
                        1e-6 * (double)options->budget->limit);
        estimate_advise(&fit->estimate,
                        "fit a shorter part of the recording, or ask for --method weak");
    }
}

enum status estimate_plainly(const struct estimate_job *job, enum dynamics_method method,
                             struct dynamics_fit *fit)
{
    enum status st = STATUS_OK;
    struct channel_causes causes = {.count = 0};
    if (method != DYNAMICS_METHOD_COUNT) {
        st = estimate_once(job, method, fit);
        st = st == STATUS_OK ? find_causes(job, fit, &causes) : st;
    } else {
        st = job->set->n > ESTIMATE_SAMPLES_MAX ? choose_fast(job, fit)
                                                : choose_method(job, fit, &causes);
    }
    if (st == STATUS_OK) {
        channel_causes_judge(job->model, &causes, fit);
        report_delay(method, job->options, fit);
        report_budget(job->options, fit);
    }
    return st;
}
