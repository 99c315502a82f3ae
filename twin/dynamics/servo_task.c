#include "twin/dynamics/servo_task.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/model/models.h"
#include "identification/servo/servo_fit.h"
#include "twin/dynamics/pair_dynamics_thresholds.def"

/* A fit and its samples. */
struct fitted {
    struct servo_set set;
    struct servo_summary summary;
    struct servo_fit fit;
};

/* The model's parameters are powers of the fit's. */
static const struct {
    enum servo_parameter from;
    double power;
} conversion[] = {
    {SERVO_NATURAL_FREQUENCY, -2.0},
    {SERVO_POSITION_GAIN, -1.0},
    {SERVO_DEAD_BAND, 1.0},
    {SERVO_DROOP, 1.0},
};

bool servo_task_suits(const struct model *model)
{
    return model == &position_servo_model;
}

static double get_time(const struct dynamics_task *task, size_t k)
{
    return (double)(task->t_us[k] - task->t_us[0]) * 1e-6;
}

static enum status make_set(const struct dynamics_task *task, size_t from, size_t to,
                            struct fitted *fitted, struct err *err)
{
    const size_t n = to - from;
    gsl_vector *memory = gsl_vector_alloc(3 * n);
    if (!memory) {
        return err_no_memory(err, "fit", "no memory for %zu samples", n);
    }
    double *t_s = memory->data;
    double *command = t_s + n;
    double *position = command + n;
    for (size_t k = 0; k < n; k++) {
        const float *row = task->values + (from + k) * 3; /* nu, tau, pose of one axis */
        t_s[k] = get_time(task, from + k);
        command[k] = (double)row[1];
        position[k] = task->has_pose ? (double)row[2] : nan("");
    }
    const struct servo_raw raw = {.n = n,
                                  .t_s = t_s,
                                  .command_rad = command,
                                  .position_rad = position,
                                  .part_count = 1,
                                  .part_start = {0, n}};
    const enum status status = servo_set_make(&raw, &fitted->set, &fitted->summary, err);
    gsl_vector_free(memory);
    return status;
}

static enum status fit_samples(const struct dynamics_task *task, size_t from, size_t to,
                               const char *stage, struct fitted *fitted, struct err *err)
{
    if (task->go_on && !task->go_on(task->context, stage)) {
        return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "fit", "cancelled");
    }
    enum status status = make_set(task, from, to, fitted, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = servo_fit_run(&fitted->set, &fitted->summary, &fitted->fit);
    return status == STATUS_OK ? status
                               : err_set(err, status, FAULT_FIT_FAILED, "fit", "%s: %s", stage,
                                         status_name(status));
}

static double slope_conversion(const struct estimate *from, size_t i)
{
    const double power = conversion[i].power;
    return power * pow(from->value[conversion[i].from], power - 1.0);
}

/* Errors follow by the gradient. */
static void convert_values(const struct estimate *from, struct dynamics_fit *fit)
{
    struct estimate *to = &fit->estimate;
    for (size_t i = 0; i < COUNT(conversion); i++) {
        const enum servo_parameter at = conversion[i].from;
        const double slope = slope_conversion(from, i);
        const double reach = (from->hi[at] - from->value[at]) / from->se[at];
        to->value[i] = pow(from->value[at], conversion[i].power);
        to->se[i] = fit->se_hac[i] = fabs(slope) * from->se[at];
        to->se_white[i] = fabs(slope) * from->se_white[at];
        to->lo[i] = to->value[i] - reach * to->se[i];
        to->hi[i] = to->value[i] + reach * to->se[i];
        if (conversion[i].power > 0.0 || from->lo_open[at] > 0.0) {
            const double ends[] = {pow(from->lo_open[at], conversion[i].power),
                                   pow(from->hi_open[at], conversion[i].power)};
            to->lo_open[i] = fmin(ends[0], ends[1]);
            to->hi_open[i] = fmax(ends[0], ends[1]);
        }
        to->identifiable[i] = from->identifiable[at];
        fit->delay_covariance[i] = slope * from->covariance[at][SERVO_DELAY];
        for (size_t k = 0; k < COUNT(conversion); k++) {
            to->covariance[i][k] =
                slope * slope_conversion(from, k) * from->covariance[at][conversion[k].from];
        }
    }
}

static void convert_fit(const struct model *model, const struct fitted *fitted,
                        struct dynamics_fit *fit)
{
    const struct servo_fit *servo = &fitted->fit;
    const struct estimate *from = &servo->estimate;
    dynamics_fit_start(fit, model, DYNAMICS_OUTPUT_ERROR, false);
    convert_values(from, fit);
    fit->estimate.rank = from->rank;
    fit->estimate.condition = from->condition;
    for (size_t k = 0; k < from->reason_count; k++) {
        estimate_reason(&fit->estimate, from->reason_codes[k], from->reason_verdicts[k], "%s",
                        from->reasons[k]);
    }
    for (size_t k = 0; k < from->advice_count; k++) {
        estimate_advise(&fit->estimate, "%s", from->advice[k]);
    }
    fit->stop = servo->converged             ? DYNAMICS_STOP_CONVERGED
                : servo->law.stiffness > 0.0 ? DYNAMICS_STOP_LIMIT
                                             : DYNAMICS_STOP_STILL;
    fit->n = fit->rows = servo->n;
    fit->iterations = servo->iterations;
    fit->hac_share = servo->hac_share;
    fit->delay_s = from->value[SERVO_DELAY];
    fit->delay_se_s = from->se[SERVO_DELAY];
    fit->delay_phase_s[1] = fitted->set.hold_s;
}

/* Compares the velocities of the newest samples, and of all, with the simulated ones. */
static enum status compare_velocities(const struct dynamics_task *task,
                                      const struct fitted *fitted, struct dynamics_result *r)
{
    const struct servo_set *set = &fitted->set;
    struct dynamics_trace *trace = &r->trace;
    const size_t shown = set->n < DYNAMICS_TRACE_MAX ? set->n : DYNAMICS_TRACE_MAX;
    double squares = 0.0;
    gsl_vector *memory = gsl_vector_alloc(2 * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    double *velocity = memory->data + set->n;
    (void)servo_simulate(set, &fitted->fit.law, memory->data, velocity);
    for (size_t k = 0, at = 0, run = 0; k < set->n; k++) {
        while (get_time(task, at) < set->t_s[k]) { /* the set lacks rows of short pieces */
            at++;
        }
        const double measured = (double)task->values[at * 3];
        squares += (measured - velocity[k]) * (measured - velocity[k]);
        if (k + shown >= set->n) {
            const bool begins = k == set->run_start[run];
            trace->t_s[trace->n] = (float)(set->t_s[k] - set->t_s[set->n - shown]);
            trace->measured[0][trace->n] = (float)measured;
            trace->effort[0][trace->n] = task->values[at * 3 + 1];
            trace->simulated[0][trace->n++] = begins ? NAN : (float)velocity[k];
        }
        run += k + 1 == set->run_start[run + 1] ? 1 : 0;
    }
    r->run_rmse[0] = r->fit.residual_sd[0] = sqrt(squares / (double)set->n);
    gsl_vector_free(memory);
    return STATUS_OK;
}

enum status servo_task_fit(const struct dynamics_task *task, struct dynamics_result *r,
                           bool *refused, struct err *err)
{
    struct fitted fitted = {.set = {.n = 0}};
    enum status status = fit_samples(task, 0, task->n, "fit", &fitted, err);
    if (status == STATUS_OK) {
        if (task->plausible) {
            servo_judge_units(&fitted.fit, &fitted.summary);
        }
        *refused = !(fitted.fit.law.stiffness > 0.0);
        convert_fit(task->model, &fitted, &r->fit);
    }
    if (status == STATUS_OK && !*refused) {
        dynamics_reference_from_fit(&r->honest, &r->fit);
        status = compare_velocities(task, &fitted, r);
    }
    servo_set_free(&fitted.set);
    return status == STATUS_E_NOMEM && err->text[0] == '\0'
               ? err_no_memory(err, "fit", "no memory for %zu samples", task->n)
               : status;
}

static void judge_newer(const struct servo_check *check, struct servo_fit *older,
                        struct dynamics_result *r)
{
    const enum estimate_verdict verdict = !(check->r2 >= R2_MIN)    ? ESTIMATE_FAIL
                                          : !(check->r2 >= R2_PASS) ? ESTIMATE_MARGINAL
                                                                    : ESTIMATE_PASS;
    r->held_out_r2[0] = check->r2;
    parameters_add_check(&r->checks, CHECK_HELD_OUT, verdict,
                         "the newest %zu positions, simulated with the older ones' fit: R2 "
                         "%.3f, %.3g rad off",
                         check->positions, check->r2, check->rmse_rad);
    older->estimate.verdict = ESTIMATE_PASS;
    older->estimate.reason_count = 0;
    servo_judge_held_out(older, check);
    if (older->estimate.verdict != ESTIMATE_PASS && verdict == ESTIMATE_PASS) {
        parameters_add_check(&r->checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL, "%.159s",
                             older->estimate.reasons[0]);
    }
}

enum status servo_task_hold_out(const struct dynamics_task *task, size_t split,
                                struct dynamics_result *r, struct err *err)
{
    struct fitted older = {.set = {.n = 0}};
    struct fitted newer = {.set = {.n = 0}};
    struct servo_check check = {.r2 = NAN};
    struct err inner = {0};
    enum status status = fit_samples(task, 0, split, "held_out", &older, &inner);
    status = status == STATUS_OK ? make_set(task, split, task->n, &newer, &inner) : status;
    status = status == STATUS_OK ? servo_check_run(&newer.set, &older.fit, &check) : status;
    if (status == STATUS_OK) {
        judge_newer(&check, &older.fit, r);
    } else if (status != STATUS_E_NOMEM && status != STATUS_E_STALE) {
        parameters_add_check(
            &r->checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL,
            "the older samples do not determine a servo that predicts the newer ones");
        status = STATUS_OK;
    }
    servo_set_free(&older.set);
    servo_set_free(&newer.set);
    return status == STATUS_OK ? status
                               : err_set(err, status, inner.fault, "fit", "%s", inner.text);
}
