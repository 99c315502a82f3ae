#include "twin/sim/experiment/arm_shadow.h"

#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "base/numbers/random.h"
#include "identification/model/models.h"

/* Slower set points count as rest, for moves and for the evaluated rows. */
static const double REST_RADPS = 0.002;
static const double MOVING_RADPS = 0.01;
/* A move whose duration differs from the command by more than this number of rows is another
 * move. */
static const double TIMING_ROWS = 3.0;
/* Simulated joints about their set points: decay rate of an angle error. */
static const double TRACKING_PER_S = 20.0;

/* ---- errors ---- */

double arm_errors_joint_rms_rad(const struct arm_errors *e)
{
    return e->n > 0 ? sqrt(e->joint_square / (double)(e->n * ARM_JOINTS)) : nan("");
}

double arm_errors_tool_rms_m(const struct arm_errors *e)
{
    return e->n > 0 ? sqrt(e->tool_square / (double)e->n) : nan("");
}

static double tool_gap_m(const struct arm_geometry *arm, const double *a, const double *b)
{
    const struct rigid p = arm_forward(arm, a);
    const struct rigid q = arm_forward(arm, b);
    return hypot(hypot(p.at_m[0] - q.at_m[0], p.at_m[1] - q.at_m[1]), p.at_m[2] - q.at_m[2]);
}

static double find_largest(const double values[ARM_JOINTS])
{
    double most = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        most = fmax(most, fabs(values[i]));
    }
    return most;
}

/* Returns the distance of the tools. */
static double add_error(const struct arm_geometry *arm, const struct arm_row *row,
                        const double *shown, struct arm_errors *e)
{
    const double gap_m = tool_gap_m(arm, shown, row->q_rad);
    if (!(find_largest(row->qd_target_radps) > MOVING_RADPS)) {
        return gap_m;
    }
    e->n++;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double off = shown[i] - row->q_rad[i];
        e->joint_square += off * off;
        e->joint_max_rad = fmax(e->joint_max_rad, fabs(off));
    }
    e->tool_square += gap_m * gap_m;
    e->tool_max_m = fmax(e->tool_max_m, gap_m);
    return gap_m;
}

/* ---- by telemetry ---- */

struct listener {
    const struct arm_telemetry *telemetry;
    enum arm_shown shown;
    struct shadow_params p;
    struct shadow s;
    struct random_source random;
    size_t next;    /* next row to send */
    int64_t due_us; /* due time of the next sample */
};

static void receive_row(struct listener *l, const struct arm_row *row,
                        const struct arm_row *before, int64_t now_us)
{
    const enum shadow_gate gate = shadow_sample(&l->s, &l->p, row->t_us, now_us, row->qd_radps,
                                                row->qd_target_radps, row->q_rad);
    if (l->shown == ARM_SHOWN_COMMANDED && before && gate == SHADOW_ACCEPTED) {
        double rate[ARM_JOINTS];
        for (size_t i = 0; i < ARM_JOINTS; i++) {
            rate[i] = (row->qd_target_radps[i] - before->qd_target_radps[i]) /
                      lab_s(row->t_us - before->t_us);
        }
        shadow_set_rate(&l->s, &l->p, rate);
    }
}

/* Applies all samples that have arrived by now. */
static void receive_rows(struct listener *l, const struct arm_row *rows, size_t n,
                         int64_t now_us)
{
    const int64_t late_us = lab_us(l->telemetry->late_s);
    const int64_t every_us = lab_us(1.0 / l->telemetry->rate_hz);
    for (; l->next < n && rows[l->next].t_us + late_us <= now_us; l->next++) {
        const struct arm_row *row = &rows[l->next];
        if (row->t_us < l->due_us) {
            continue;
        }
        l->due_us += (row->t_us - l->due_us) / every_us * every_us + every_us;
        if (random_uniform(&l->random) >= l->telemetry->loss_ratio) {
            receive_row(l, row, l->next > 0 ? row - 1 : NULL, row->t_us + late_us);
        }
    }
}

static void begin_listening(struct listener *l, const double *theta)
{
    const struct arm_telemetry *t = l->telemetry;
    shadow_params_default(&l->p);
    l->p.model = arm6_row.model;
    l->p.axes = ARM_JOINTS;
    l->p.method = l->shown <= ARM_SHOWN_SPEED ? SHADOW_RAW : SHADOW_RAMP;
    l->p.latency_s_max += 2.0 * t->late_s;
    l->p.stale_s = fmax(l->p.stale_s, 3.0 / t->rate_hz + t->late_s);
    memcpy(l->p.theta, theta, arm6_row.model->parameter_count * sizeof theta[0]);
    l->random.state = t->seed;
}

void arm_shadow_run(const struct arm_geometry *arm, const double *theta,
                    const struct arm_row *rows, size_t n, const struct arm_telemetry *telemetry,
                    enum arm_shown shown, arm_shadow_point *point, void *context,
                    struct arm_errors *out)
{
    struct listener l = {.telemetry = telemetry, .shown = shown};
    *out = (struct arm_errors){0};
    begin_listening(&l, theta);
    l.due_us = n > 0 ? rows[0].t_us : 0;
    for (size_t k = 0; k < n; k++) {
        const double period_s = k + 1 < n ? lab_s(rows[k + 1].t_us - rows[k].t_us) : 1.0;
        struct follower_target target;
        receive_rows(&l, rows, n, rows[k].t_us);
        if (!shadow_target(&l.s, &l.p, rows[k].t_us, period_s, &target)) {
            continue;
        }
        const double *pose = shown == ARM_SHOWN_HOLD ? l.s.pose : target.pose;
        const double gap_m = add_error(arm, &rows[k], pose, out);
        if (point) {
            point(context, &rows[k], pose, gap_m);
        }
    }
}

/* ---- by commands ---- */

/* Repeats the move from row `first`, still at rest, to row `last`, at rest again. */
static void follow_command(const struct arm_geometry *arm, const struct arm_rates *rates,
                           const struct arm_row *rows, size_t first, size_t last, double off_s,
                           struct arm_commands *commands, struct arm_errors *out)
{
    struct arm_move move;
    const double row_s = lab_s(rows[first + 1].t_us - rows[first].t_us);
    const double took_s = lab_s(rows[last].t_us - rows[first].t_us);
    const struct arm_fault fault = arm_plan_joints(
        arm, rows[first].q_target_rad, rows[last].q_target_rad, rates, &arm_bounds_none, &move);
    commands->moves++;
    if (fault.refusal != ARM_ACCEPTED ||
        !(fabs(move.duration_s - took_s) <= TIMING_ROWS * row_s)) {
        commands->others++;
        return;
    }
    for (size_t k = first; k <= last; k++) {
        double q[ARM_JOINTS];
        double qd[ARM_JOINTS];
        const double t_s = lab_s(rows[k].t_us - rows[first].t_us) + off_s;
        if (arm_move_at(&move, arm, t_s, q, qd)) {
            (void)add_error(arm, &rows[k], q, out);
        }
    }
}

void arm_commands_run(const struct arm_geometry *arm, const struct arm_rates *rates,
                      const struct arm_row *rows, size_t n, double off_s,
                      struct arm_commands *commands, struct arm_errors *out)
{
    size_t first = 0;
    *out = (struct arm_errors){0};
    *commands = (struct arm_commands){0};
    for (size_t k = 1; k < n; k++) {
        const bool rested = find_largest(rows[k - 1].qd_target_radps) <= REST_RADPS;
        const bool rests = find_largest(rows[k].qd_target_radps) <= REST_RADPS;
        first = rested && !rests ? k : first;
        if (!rested && rests && first > 0) {
            follow_command(arm, rates, rows, first - 1, k, off_s, commands, out);
        }
    }
}

/* ---- a simulated arm ---- */

static void record_row(const struct arm_move *move, const struct arm_geometry *arm, double t_s,
                       int64_t t_us, struct arm_row *row)
{
    struct arm_move m = *move;
    row->t_us = t_us;
    (void)arm_move_at(&m, arm, t_s, row->q_target_rad, row->qd_target_radps);
}

/* Advances the joints by a period, towards the set points of this row. */
static void move_joints(const double *theta, const struct arm_row *row, double period_s,
                        double *q, double *qd)
{
    double u[ARM_JOINTS];
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        u[i] = row->qd_target_radps[i] + TRACKING_PER_S * (row->q_target_rad[i] - q[i]);
    }
    model_step(arm6_row.model, theta, qd, q, u, NULL, period_s);
}

size_t arm_record_moves(const struct arm_geometry *arm, const double *theta,
                        const struct arm_rates *rates, const double (*to)[ARM_JOINTS],
                        size_t count, double rest_s, double period_s, struct arm_row *rows,
                        size_t room, size_t *refused)
{
    double q[ARM_JOINTS];
    double qd[ARM_JOINTS] = {0.0};
    size_t n = 0;
    memcpy(q, to[0], sizeof q);
    for (size_t i = 0; i < count; i++) {
        struct arm_move move;
        if (arm_plan_joints(arm, to[i > 0 ? i - 1 : 0], to[i], rates, &arm_bounds_none, &move)
                .refusal != ARM_ACCEPTED) {
            *refused = i;
            return 0;
        }
        const size_t steps = (size_t)ceil((move.duration_s + rest_s) / period_s);
        for (size_t k = 0; k < steps && n < room; k++, n++) {
            record_row(&move, arm, (double)k * period_s, lab_us((double)n * period_s),
                       &rows[n]);
            memcpy(rows[n].q_rad, q, sizeof q);
            memcpy(rows[n].qd_radps, qd, sizeof qd);
            move_joints(theta, &rows[n], period_s, q, qd);
        }
    }
    return n;
}

ENUM_NAMES(arm_shown, ARM_SHOWN_COUNT, "hold", "speed", "ramp", "commanded");
