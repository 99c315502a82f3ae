#include "twin/dynamics/dynamics_task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "base/numbers/hash.h"
#include "identification/dynamics/dynamics_agreement.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/dynamics/unmodelled_term.h"
#include "identification/fit/column_check.h"
#include "identification/model/models.h"
#include "twin/dynamics/pair_dynamics_thresholds.def"
#include "twin/dynamics/servo_task.h"

/* ---- data ---------------------------------------------------------------------------------
 */

/* Makes columns of samples from .. to - 1, at their own times. */
static enum status make_table(const struct dynamics_task *task, size_t from, size_t to,
                              struct data_table *table, struct data_summary *summary,
                              struct err *err)
{
    const size_t n = to - from;
    const size_t axes = task->model->axis_count;
    gsl_vector *memory = gsl_vector_alloc(n * (1 + 3 * axes));
    if (!memory) {
        return err_no_memory(err, "fit", "no memory for %zu samples", n);
    }
    struct data_raw raw = {.axes = axes, .n = n, .part_count = 1, .part_start = {0, n}};
    double *column = memory->data;
    raw.t_s = column;
    for (size_t k = 0; k < n; k++) {
        column[k] = (double)(task->t_us[from + k] - task->t_us[0]) * 1e-6;
    }
    for (size_t c = 0; c < 3 * axes; c++) {
        column += n;
        for (size_t k = 0; k < n; k++) {
            column[k] = (double)task->values[(from + k) * 3 * axes + c];
        }
        if (c < axes) {
            raw.nu[c] = column;
        } else if (c < 2 * axes) {
            raw.tau[c - axes] = column;
        } else if (task->has_pose) {
            raw.pose[c - 2 * axes] = column;
        }
    }
    const enum status status = data_table_make(&raw, table, summary, err);
    gsl_vector_free(memory);
    return status;
}

static uint64_t hash_task(const struct dynamics_task *task)
{
    const uint64_t hash = hash_bytes(HASH_START, task->t_us, task->n * sizeof task->t_us[0]);
    return hash_bytes(hash, task->values,
                      task->n * 3 * task->model->axis_count * sizeof task->values[0]);
}

/* ---- the fit ------------------------------------------------------------------------------
 */

struct asking {
    const struct dynamics_task *task;
    const char *stage;
    bool ended;
};

static bool may_go_on(struct asking *asking)
{
    const struct dynamics_task *task = asking->task;
    asking->ended =
        asking->ended || (task->go_on && !task->go_on(task->context, asking->stage));
    return !asking->ended;
}

static bool ask_whether(void *context, enum dynamics_method stage, size_t iteration)
{
    (void)stage;
    (void)iteration;
    return may_go_on(context);
}

static struct dynamics_options options_of(const struct dynamics_task *task)
{
    struct dynamics_options options = dynamics_options_defaults();
    options.biases = task->biases;
    return options;
}

/* Chooses the interpolation of efforts between two samples. */
static enum status hold_efforts(const struct dynamics_task *task,
                                enum input_interpolation asked, struct data_table *table,
                                struct interpolation_choice *choice, struct err *err)
{
    struct dynamics_options options = options_of(task);
    struct step_budget budget = dynamics_options_budget(&table->set);
    options.budget = &budget;
    const enum status status =
        input_interpolation_choose(task->model, table, &options, asked, choice);
    return status == STATUS_OK
               ? status
               : err_set(err, status, FAULT_NO_MEMORY, "fit", "no memory for the efforts");
}

static enum status estimate_dynamics(const struct dynamics_task *task,
                                     const struct data_set *set, const char *stage,
                                     struct dynamics_fit *fit, struct err *err)
{
    struct asking asking = {.task = task, .stage = stage};
    struct dynamics_options options = options_of(task);
    struct step_budget budget = dynamics_options_budget(set);
    options.budget = &budget;
    options.go_on = ask_whether;
    options.context = &asking;
    if (!may_go_on(&asking)) {
        return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "fit", "cancelled");
    }
    const enum status status =
        task->method == DYNAMICS_METHOD_COUNT
            ? dynamics_estimate_auto(task->model, set, &options, fit)
            : dynamics_estimate(task->model, set, (enum dynamics_method)task->method, &options,
                                fit);
    if (asking.ended) {
        return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "fit", "cancelled");
    }
    return status == STATUS_OK ? status
                               : err_set(err, status, FAULT_FIT_FAILED, "fit", "%s: %s", stage,
                                         status_name(status));
}

/* Finds what explains coloured residuals, as `tandem identify` does: a lag of the efforts or
 * phases of the commands, with which the model is fitted again, or a drift. */
static enum status find_cause(const struct dynamics_task *task, struct data_table *table,
                              struct dynamics_result *r, struct err *err)
{
    const struct data_set *set = &table->set;
    struct dynamics_options options = options_of(task);
    struct step_budget budget = dynamics_options_budget(set);
    struct asking asking = {.task = task, .stage = "causes"};
    options.budget = &budget;
    options.go_on = ask_whether;
    options.context = &asking;
    r->cause = (struct effort_cause){.effect = EFFORT_EFFECTS};
    if (r->fit.stop == DYNAMICS_STOP_STILL) {
        return STATUS_OK;
    }
    enum status status =
        dynamics_estimate_phases(task->model, &options, &r->fit, true, table, &r->phases);
    if (status == STATUS_OK && r->phases.within_row) {
        status = estimate_dynamics(task, set, "fit", &r->fit, err);
    }
    if (status == STATUS_OK && r->phases.within_row) {
        input_phases_widen(&r->phases, task->model, set, &r->fit);
    }
    if (status == STATUS_OK && !task->model->channels) {
        status = dynamics_estimate_cause(task->model, set, &options, &r->fit, &r->cause);
    }
    if (status == STATUS_OK && r->cause.effect == EFFORT_LAG) {
        r->lag = r->cause.lag;
        status = effort_lag_apply(table, &r->lag);
        status =
            status == STATUS_OK ? estimate_dynamics(task, set, "fit", &r->fit, err) : status;
    }
    if (status == STATUS_OK && r->lag.lag_s > 0.0) {
        effort_lag_widen(task->model, set, &r->lag, &r->fit);
    }
    return asking.ended ? err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "fit", "cancelled")
           : status == STATUS_OK || err->text[0] != '\0'
               ? status
               : err_set(err, status, FAULT_FIT_FAILED, "fit", "causes: %s",
                         status_name(status));
}

/* ---- checks -------------------------------------------------------------------------------
 */

static void check_excitation(const struct model *model, struct dynamics_result *r)
{
    size_t known = 0;
    const char *first = NULL;
    enum estimate_verdict verdict = ESTIMATE_PASS;
    for (size_t j = 0; j < model->parameter_count; j++) {
        known += r->fit.estimate.identifiable[j] ? 1 : 0;
        if (!r->fit.estimate.identifiable[j] && !first) {
            first = model->parameters[j].words;
        }
        if (!isfinite(r->fit.estimate.value[j]) ||
            (!r->fit.estimate.identifiable[j] && model->parameters[j].sign == MODEL_POSITIVE)) {
            verdict = ESTIMATE_FAIL;
        }
    }
    verdict = known < model->parameter_count && verdict == ESTIMATE_PASS ? ESTIMATE_MARGINAL
                                                                         : verdict;
    parameters_add_check(&r->checks, CHECK_EXCITATION, verdict,
                         first ? "%zu of %zu parameters are determined, not %s"
                               : "%zu of %zu parameters are determined",
                         known, model->parameter_count, first ? first : "");
}

static void check_signs(const struct model *model, struct dynamics_result *r)
{
    const int odd = model_unphysical(model, r->fit.estimate.value);
    parameters_add_check(&r->checks, CHECK_SIGNS, odd < 0 ? ESTIMATE_PASS : ESTIMATE_FAIL,
                         odd < 0 ? "all values are possible ones"
                                 : "%s is not a possible value",
                         odd < 0 ? "" : model->parameters[odd].words);
}

static void check_precision(const struct model *model, struct dynamics_result *r)
{
    double worst = 0.0;
    size_t at = 0;
    for (size_t j = 0; j < model->parameter_count; j++) {
        const double ratio = r->fit.estimate.se[j] / fabs(r->fit.estimate.value[j]);
        if (model->parameters[j].sign == MODEL_POSITIVE && !(ratio <= worst)) {
            worst = ratio;
            at = j;
        }
    }
    /* The comparison is written so that NaN fails. */
    const enum estimate_verdict verdict = !(worst <= SE_RATIO_MAX)    ? ESTIMATE_FAIL
                                          : !(worst <= SE_RATIO_PASS) ? ESTIMATE_MARGINAL
                                                                      : ESTIMATE_PASS;
    parameters_add_check(&r->checks, CHECK_PRECISION, verdict,
                         isfinite(worst) ? "standard error of %s: %.2g %%"
                                         : "standard error of %s: not known",
                         model->parameters[at].words, 100.0 * worst);
}

/* A joint under position control drifts away when it is simulated without its controller, so
 * its efforts may judge the model instead. */
static double best_r2(const struct dynamics_check *check, size_t axis)
{
    return fmax(check->axis[axis].run.r2, check->effort_r2); /* fmax ignores a NaN */
}

/* Judges how much of the newer samples' motion the older samples predict. */
static void judge_explained(const struct model *model, const struct dynamics_check *check,
                            const struct data_summary *summary, struct dynamics_result *r)
{
    double worst = 1.0;
    size_t moved = 0;
    size_t at = 0;
    for (size_t i = 0; i < model->axis_count; i++) {
        r->held_out_r2[i] = check->axis[i].run.r2;
        if (!(summary->nu[i].signal_ratio >= SIGNAL_MIN) && summary->nu[i].noise_sd > 0.0) {
            continue;
        }
        moved++;
        if (!(best_r2(check, i) >= worst)) {
            worst = best_r2(check, i);
            at = i;
        }
    }
    const bool by_effort = worst > r->held_out_r2[at];
    const enum estimate_verdict verdict = moved == 0            ? ESTIMATE_MARGINAL
                                          : !(worst >= R2_MIN)  ? ESTIMATE_FAIL
                                          : !(worst >= R2_PASS) ? ESTIMATE_MARGINAL
                                                                : ESTIMATE_PASS;
    if (moved > 0) {
        parameters_add_check(&r->checks, CHECK_HELD_OUT, verdict,
                             "the newest %.0f s, %s with the older ones' fit: R2 of %s %.3f",
                             summary->duration_s, by_effort ? "computed" : "simulated",
                             by_effort ? model->axes[at].effort : model->axes[at].velocity,
                             worst);
    } else {
        parameters_add_check(&r->checks, CHECK_HELD_OUT, verdict,
                             "in the newest %.0f s there was too little motion to judge",
                             summary->duration_s);
    }
}

/* Compares the fits of older and newer samples like hold-out recordings: sizes, means,
 * parameters. If they disagree, the verdict is only lowered, because the robot itself may have
 * changed. */
static void judge_agreement(const struct model *model, struct dynamics_fit *older,
                            const struct dynamics_check *own,
                            const struct dynamics_check *newer, struct dynamics_result *r)
{
    struct estimate *e = &older->estimate;
    e->verdict = ESTIMATE_PASS;
    e->reason_count = 0;
    dynamics_judge_held_out(older, model, own, newer);
    if (e->verdict != ESTIMATE_PASS &&
        r->checks.check[CHECK_HELD_OUT].verdict == ESTIMATE_PASS) {
        parameters_add_check(&r->checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL, "%.159s",
                             e->reasons[0]);
    }
}

/* A fit of the older samples, compared with them and with the newer ones. */
struct held_out {
    struct data_table older, newer;
    struct data_summary summary; /* of the newer ones */
    struct dynamics_fit fit;
    struct dynamics_check own, check;
};

/* Returns the index of the first newer sample. */
static size_t split_samples(const struct dynamics_task *task)
{
    return (size_t)((1.0 - HELD_OUT_SHARE) * (double)task->n);
}

static enum status fit_older(const struct dynamics_task *task, struct held_out *held,
                             struct dynamics_result *r, struct err *err)
{
    const size_t split = split_samples(task);
    struct data_summary ignored;
    struct interpolation_choice same;
    enum status status = make_table(task, 0, split, &held->older, &ignored, err);
    status = status == STATUS_OK ? hold_efforts(task, r->hold.hold, &held->older, &same, err)
                                 : status;
    if (status == STATUS_OK && r->lag.lag_s > 0.0) {
        status = effort_lag_apply(&held->older, &r->lag);
    }
    status = status == STATUS_OK
                 ? estimate_dynamics(task, &held->older.set, "held_out", &held->fit, err)
                 : status;
    status = status == STATUS_OK
                 ? make_table(task, split, task->n, &held->newer, &held->summary, err)
                 : status;
    status = status == STATUS_OK ? hold_efforts(task, r->hold.hold, &held->newer, &same, err)
                                 : status;
    return status == STATUS_OK && r->lag.lag_s > 0.0 ? effort_lag_apply(&held->newer, &r->lag)
                                                     : status;
}

static enum status check_held_out(const struct dynamics_task *task, struct dynamics_result *r,
                                  struct err *err)
{
    struct err inner = {0};
    struct held_out held = {.summary = {.rows = 0}};
    const struct model *model = task->model;
    enum status status = fit_older(task, &held, r, &inner);
    const bool whole =
        status == STATUS_OK && model_unphysical(model, held.fit.estimate.value) < 0;
    if (whole) {
        status = dynamics_check_part(model, &held.fit, &held.newer.set, &held.check);
    }
    if (whole && status == STATUS_OK && held.check.simulated) {
        judge_explained(model, &held.check, &held.summary, r);
        status = dynamics_check_part(model, &held.fit, &held.older.set, &held.own);
        if (status == STATUS_OK) {
            judge_agreement(model, &held.fit, &held.own, &held.check, r);
        }
    } else if (status != STATUS_E_NOMEM && status != STATUS_E_STALE) {
        parameters_add_check(
            &r->checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL,
            "the older samples do not determine a model that predicts the newer ones");
        status = STATUS_OK;
    }
    data_table_free(&held.older);
    data_table_free(&held.newer);
    return status == STATUS_OK ? status
                               : err_set(err, status, inner.fault, "fit", "%s", inner.text);
}

/* Tries further terms in the efforts that the model of a joint does not have. */
static enum status try_terms(const struct dynamics_task *task, const struct data_set *set,
                             struct dynamics_result *r)
{
    struct unmodelled_term missing;
    struct asking asking = {.task = task, .stage = "terms"};
    struct dynamics_options options = options_of(task);
    struct step_budget budget = dynamics_options_budget(set);
    options.budget = &budget;
    options.go_on = ask_whether;
    options.context = &asking;
    unmodelled_term_find(task->model, &r->fit, set, &missing);
    const enum status status =
        unmodelled_term_try(task->model, &r->fit, set, &options, &missing);
    if (status == STATUS_OK && !asking.ended) {
        unmodelled_term_judge(&r->fit, task->model, &missing);
    }
    return asking.ended ? STATUS_E_STALE : status;
}

/* Samples of the trace per time constant of the motion. */
static const double TRACE_DENSITY = 8.0;

static void fill_trace(const struct data_set *set, double *const *residual, size_t step,
                       struct dynamics_trace *trace)
{
    const size_t there = (set->n + step - 1) / step;
    trace->n = (uint32_t)(there < DYNAMICS_TRACE_MAX ? there : DYNAMICS_TRACE_MAX);
    const size_t first = set->n - 1 - step * (trace->n - 1);
    for (size_t i = 0; i < trace->n; i++) {
        const size_t k = first + i * step;
        trace->t_s[i] = (float)(set->t_s[k] - set->t_s[first]);
        for (size_t a = 0; a < set->axes; a++) {
            trace->measured[a][i] = (float)set->nu[a][k];
            trace->simulated[a][i] = (float)(set->nu[a][k] - residual[a][k]);
            trace->effort[a][i] = (float)set->tau[a][k];
        }
    }
}

static enum status compute_trace(const struct dynamics_task *task, const struct data_set *set,
                                 double motion_s, struct dynamics_result *r)
{
    double *residual[MODEL_AXES_MAX];
    bool simulated = false;
    gsl_vector *memory = gsl_vector_alloc(set->axes * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        residual[a] = memory->data + a * set->n;
    }
    const enum status status =
        dynamics_check_residuals(task->model, &r->fit, set, residual, &simulated);
    if (status == STATUS_OK && simulated) {
        const double step = motion_s / TRACE_DENSITY / set->dt_s;
        /* NaN: no motion. */
        fill_trace(set, residual, step > 1.0 ? (size_t)fmin(step, (double)set->n) : 1,
                   &r->trace);
    }
    gsl_vector_free(memory);
    return status;
}

/* Simulates the fit over its own samples, if possible, and judges the residuals like `tandem
 * identify`. */
static enum status simulate_own(const struct dynamics_task *task, const struct data_set *set,
                                struct dynamics_result *r, struct err *err)
{
    struct dynamics_check check;
    if (model_unphysical(task->model, r->fit.estimate.value) >= 0) {
        return STATUS_OK;
    }
    enum status status = dynamics_check_run(task->model, &r->fit, set, &check);
    status = status == STATUS_OK ? compute_trace(task, set, check.motion_s, r) : status;
    status = status == STATUS_OK && task->model->sticks ? try_terms(task, set, r) : status;
    for (size_t i = 0; status == STATUS_OK && check.simulated && i < set->axes; i++) {
        r->run_rmse[i] = check.axis[i].run.rmse;
    }
    if (status == STATUS_OK) {
        const struct model_row *row = model_row_find(task->model->name);
        input_interpolation_report(&r->fit, &r->hold);
        effort_cause_judge(task->model, &r->cause, &r->lag, &r->fit);
        input_phases_judge(&r->phases, &r->fit);
        dynamics_check_judge(&r->fit, task->model, &r->summary,
                             task->plausible && row ? &row->limits : NULL, &check, NULL);
    }
    if (status == STATUS_E_STALE) {
        return err_set(err, status, FAULT_CANCELLED, "fit", "cancelled");
    }
    return status == STATUS_E_NOMEM
               ? err_set(err, status, FAULT_NO_MEMORY, "fit", "no memory for a simulation")
               : STATUS_OK;
}

/* Chooses estimates for comparison with other fits: their error bars need white residuals, or
 * knowledge of forces. Robust errors of output_error are half too small if forces persist, and
 * auto uses output_error if pem is far from it. */
static enum status fit_reference(const struct dynamics_task *task, const struct data_set *set,
                                 struct dynamics_result *r, struct err *outer)
{
    struct dynamics_task again = *task;
    struct dynamics_fit fit;
    struct err err = {0};
    if (r->fit.method != DYNAMICS_OUTPUT_ERROR || !(r->fit.hac_share > 0.0)) {
        if (r->fit.method == DYNAMICS_PEM || r->fit.method == DYNAMICS_OUTPUT_ERROR) {
            dynamics_reference_from_fit(&r->honest, &r->fit);
        }
        return STATUS_OK;
    }
    again.method = DYNAMICS_PEM;
    const enum status status = estimate_dynamics(&again, set, "drift", &fit, &err);
    if (status == STATUS_OK && fit.stop == DYNAMICS_STOP_CONVERGED) {
        dynamics_reference_from_fit(&r->honest, &fit);
    }
    return status == STATUS_E_NOMEM || status == STATUS_E_STALE
               ? err_set(outer, status, err.fault, "fit", "%s", err.text)
               : STATUS_OK;
}

/* Fits and judges all samples, unless their columns contradict each other. */
static enum status fit_all(const struct dynamics_task *task, struct data_table *table,
                           struct dynamics_result *r, bool *refused, struct err *err)
{
    struct column_check columns;
    enum status status = column_check_run(task->model, &table->set, &columns);
    if (status != STATUS_OK) {
        return err_no_memory(err, "fit", "no memory for %zu samples", task->n);
    }
    *refused = column_check_refuse(&columns, task->model, &table->set, &r->summary, &r->fit);
    if (*refused) {
        return STATUS_OK;
    }
    status = hold_efforts(task, (enum input_interpolation)task->hold, table, &r->hold, err);
    status = status == STATUS_OK ? estimate_dynamics(task, &table->set, "fit", &r->fit, err)
                                 : status;
    status = status == STATUS_OK ? find_cause(task, table, r, err) : status;
    status = status == STATUS_OK ? simulate_own(task, &table->set, r, err) : status;
    if (status == STATUS_OK) {
        column_check_judge(&columns, task->model, &r->summary, &r->fit);
        status = fit_reference(task, &table->set, r, err);
    }
    return status;
}

enum status dynamics_task_run(const struct dynamics_task *task, struct dynamics_result *out,
                              struct err *err)
{
    struct dynamics_result r;
    struct data_table table = {0};
    memset(&r, 0, sizeof r);
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        r.held_out_r2[i] = nan("");
        r.run_rmse[i] = nan("");
    }
    if (task->n < DATA_RUN_MIN) {
        return err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "fit", "%zu samples are too few",
                       task->n);
    }
    enum status status = make_table(task, 0, task->n, &table, &r.summary, err);
    r.summary.counted = false; /* times are stamps, even at 1 Hz */
    bool refused = false;
    const bool is_servo = servo_task_suits(task->model);
    if (status == STATUS_OK) {
        status = is_servo ? servo_task_fit(task, &r, &refused, err)
                          : fit_all(task, &table, &r, &refused, err);
    }
    data_table_free(&table);
    if (status != STATUS_OK) {
        return status;
    }
    if (isfinite(r.fit.delay_s)) {
        r.fit.delay_s += r.lag.delay_s; /* the efforts already had it */
    }
    r.since_us = task->t_us[0];
    r.until_us = task->t_us[task->n - 1];
    r.data_hash = hash_task(task);
    check_excitation(task->model, &r);
    check_signs(task->model, &r);
    check_precision(task->model, &r);
    parameters_add_check(&r.checks, CHECK_FIT, r.fit.estimate.verdict, "%.150s",
                         r.fit.estimate.reason_count > 0 ? r.fit.estimate.reasons[0]
                                                         : "no objection");
    if (!refused) {
        status = is_servo ? servo_task_hold_out(task, split_samples(task), &r, err)
                          : check_held_out(task, &r, err);
    }
    if (status == STATUS_OK) {
        *out = r;
    }
    return status;
}

enum status dynamics_task_end(const struct dynamics_task *task, struct dynamics_result *out,
                              struct event_fit *end, struct err *err)
{
    const enum status status = dynamics_task_run(task, out, err);
    const bool failed = status != STATUS_OK && status != STATUS_E_STALE;
    end->outcome = status == STATUS_OK ? FIT_DONE : failed ? FIT_FAILED : FIT_CANCELLED;
    end->result = status == STATUS_OK ? out : NULL;
    (void)snprintf(end->detail, sizeof end->detail, "%.*s", (int)sizeof end->detail - 1,
                   failed ? err->text : "");
    return status;
}
