#include "twin/control/position_control.h"

#include <math.h>

#include "twin/control/position_fsm.h"

ENUM_NAMES(position_kind, POSITION_KIND_COUNT, "p", "fsm", "profile", "time_optimal");

double position_slow_window(const struct position_params *p, double margin)
{
    const double coasting = p->position_gain * p->lag_s * (p->command_max - p->command_min);
    return fmax(coasting + margin, p->near_by);
}

struct motion_limits position_profile_limits(const struct position_params *p)
{
    struct motion_limits limits = p->limits;
    const double speed_max = p->position_gain * p->command_max;
    limits.speed = fmin(limits.speed, speed_max);
    if (p->lag_s > 0.0) {
        limits.deceleration = fmin(limits.deceleration, speed_max / p->lag_s);
    }
    return limits;
}

static enum status refuse_value(struct err *err, const char *what, const char *right)
{
    return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, what, "cannot be, %s is wanted",
                   right);
}

enum status position_check(const struct position_params *p, struct err *err)
{
    if (!(p->period_s > 0.0)) {
        return refuse_value(err, "period_s", "more than 0");
    }
    if (!(p->command_max > 0.0) || !isfinite(p->command_max) || !(p->command_min >= 0.0) ||
        !(p->command_min <= p->command_max)) {
        return refuse_value(err, "command_min, command_max", "0 <= min <= max, max above 0");
    }
    if (!(p->lag_s >= 0.0) || !(p->position_gain > 0.0)) {
        return refuse_value(err, "lag_s, position_gain", "a lag of 0 or more, a gain above 0");
    }
    switch (p->kind) {
    case POSITION_P:
    case POSITION_FSM:
        if (!(p->gain_per_s > 0.0) || !(p->stop >= 0.0)) {
            return refuse_value(err, "gain_per_s, stop",
                                "a gain above 0, a window of 0 or more");
        }
        if (p->kind == POSITION_FSM && (!(p->near_by > 0.0) || !(p->slow >= p->near_by) ||
                                        !(p->rest >= 0.0) || !(p->rest <= p->near_by))) {
            return refuse_value(err, "near_by, slow, rest", "0 <= rest <= near_by <= slow");
        }
        return STATUS_OK;
    case POSITION_PROFILE:
    case POSITION_TIME_OPTIMAL:
    case POSITION_KIND_COUNT:
    default:
        if (!(p->tracking_per_s > 0.0)) {
            return refuse_value(err, "tracking_per_s", "more than 0");
        }
        return motion_limits_check(&p->limits, err);
    }
}

/* --- without a plan ------------------------------------------------------------------------
 */

static double limit_within(double command, double most)
{
    return fmin(fmax(command, -most), most);
}

static double limit_command(const struct position_params *p, double command)
{
    const double size = fmin(fmax(fabs(command), p->command_min), p->command_max);
    return copysign(size, command);
}

static double command_by_error(const struct position_params *p, double error)
{
    return fabs(error) <= p->stop ? 0.0 : limit_command(p, p->gain_per_s * error);
}

static double command_by_machine(struct position_control *c, const struct position_params *p,
                                 double error, double w)
{
    const struct position_fsm_in in = {
        .error = error,
        .coast = p->rest > 0.0 ? p->position_gain * p->lag_s * w : 0.0,
        .slow = p->slow,
        .near_by = p->near_by,
        .rest = p->rest > 0.0 ? p->rest : 0.5 * p->near_by,
        .fast_command = p->command_max,
        .slow_command = p->command_min,
        .near_command = p->rest > 0.0 ? limit_within(p->gain_per_s * error, p->command_max)
                                      : limit_command(p, p->gain_per_s * error),
    };
    const int64_t t_us = (int64_t)((double)c->steps * p->period_s * 1e6 + 0.5);
    if (!c->started) {
        efsm_reset(&position_fsm_table, &c->machine, t_us);
    }
    return position_fsm_step(&c->machine, &in, t_us);
}

/* --- along a plan --------------------------------------------------------------------------
 */

static void plan_motion(struct position_control *c, const struct position_params *p,
                        double target, double q, double w)
{
    if (p->kind == POSITION_TIME_OPTIMAL) {
        time_optimal_make(&c->quickest, p->command_max, p->position_gain, p->lag_s, target - q,
                          w);
    } else {
        const struct motion_limits limits = position_profile_limits(p);
        struct motion start = {q, p->position_gain * w, 0.0};
        if (c->started) {
            motion_profile_at(&c->profile, c->elapsed_s, &start);
        }
        motion_profile_make(&c->profile, &limits, &start, target);
    }
    c->target = target;
    c->elapsed_s = 0.0;
}

/* Returns the point where the planned motion would coast to, t_s after the plan was made. */
static double coasting_point(const struct position_control *c, const struct position_params *p,
                             double t_s)
{
    if (p->kind == POSITION_TIME_OPTIMAL) {
        const struct time_optimal *quickest = &c->quickest;
        const double left =
            time_optimal_travel(quickest, quickest->end_s) - time_optimal_travel(quickest, t_s);
        return c->target - p->position_gain * left;
    }
    struct motion m;
    motion_profile_at(&c->profile, t_s, &m);
    return m.q + p->lag_s * m.v;
}

static double command_along_plan(struct position_control *c, const struct position_params *p,
                                 double target, double q, double w)
{
    if (!c->started || target < c->target || target > c->target) {
        plan_motion(c, p, target, q, w);
    }
    const double travel = p->position_gain * p->period_s;
    const double now = coasting_point(c, p, c->elapsed_s);
    const double next = coasting_point(c, p, c->elapsed_s + p->period_s);
    const double miss = now - (q + p->position_gain * p->lag_s * w);
    const double share = -expm1(-p->tracking_per_s * p->period_s);
    const double command = (next - now + share * miss) / travel;
    c->elapsed_s += p->period_s;
    return limit_within(command, p->command_max);
}

bool position_step(struct position_control *c, const struct position_params *p, double target,
                   double q, double w, double *command)
{
    *command = c->command;
    if (!isfinite(target) || !isfinite(q) || !isfinite(w)) {
        return false;
    }
    switch (p->kind) {
    case POSITION_P:
        *command = command_by_error(p, target - q);
        break;
    case POSITION_FSM:
        *command = command_by_machine(c, p, target - q, w);
        break;
    case POSITION_PROFILE:
    case POSITION_TIME_OPTIMAL:
    case POSITION_KIND_COUNT:
    default:
        *command = command_along_plan(c, p, target, q, w);
        break;
    }
    c->started = true;
    c->steps++;
    c->command = *command;
    return true;
}
