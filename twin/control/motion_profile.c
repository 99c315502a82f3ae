#include "twin/control/motion_profile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rounding can make a stop miss its target by this share of the distances involved. */
static const double ROUNDING = 1e-13;

enum { BISECTIONS = 100 };

enum status motion_limits_check(const struct motion_limits *limits, struct err *err)
{
    const struct {
        const char *name;
        double value;
    } finite[] = {{"speed", limits->speed},
                  {"acceleration", limits->acceleration},
                  {"deceleration", limits->deceleration}};
    for (size_t i = 0; i < COUNT(finite); i++) {
        if (!(finite[i].value > 0.0) || !isfinite(finite[i].value)) {
            return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, finite[i].name,
                           "%g cannot be, a finite number above 0 is wanted", finite[i].value);
        }
    }
    if (!(limits->jerk > 0.0)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "jerk",
                       "%g cannot be, a number above 0 is wanted", limits->jerk);
    }
    return STATUS_OK;
}

/* --- pieces ------------------------------------------------------------------------------- */

static struct motion motion_after(const struct motion *m, double jerk, double t_s)
{
    return (struct motion){
        m->q + t_s * (m->v + t_s * (m->a / 2.0 + t_s * jerk / 6.0)),
        m->v + t_s * (m->a + t_s * jerk / 2.0),
        m->a + t_s * jerk,
    };
}

/* Appends a piece; *m advances from its start to its end. */
static void append_piece(struct motion_profile *p, struct motion *m, double duration_s,
                         double jerk)
{
    if (!(duration_s > 0.0)) {
        return;
    }
    assert(p->count < MOTION_PIECES_MAX);
    p->piece[p->count++] = (struct motion_piece){duration_s, *m, jerk};
    p->duration_s += duration_s;
    *m = motion_after(m, jerk, duration_s);
}

/* Returns the limit for a change of speed from v to wanted. A jerk limit carries the
 * acceleration through zero speed, so the stricter limit holds on both sides. */
static double limit_between(const struct motion_limits *l, double v, double wanted)
{
    if (v * wanted < 0.0) {
        return fmin(l->acceleration, l->deceleration);
    }
    return fabs(wanted) < fabs(v) ? l->deceleration : l->acceleration;
}

static void change_at_once(struct motion_profile *p, const struct motion_limits *l,
                           struct motion *m, double wanted)
{
    const double stop = m->v * wanted < 0.0 ? 0.0 : wanted;
    const double goals[] = {stop, wanted};
    for (size_t i = 0; i < COUNT(goals); i++) {
        const double change = goals[i] - m->v;
        const double rate = limit_between(l, m->v, goals[i]);
        m->a = copysign(rate, change);
        append_piece(p, m, fabs(change) / rate, 0.0);
        m->v = goals[i];
    }
    m->a = 0.0;
}

static void change_smoothly(struct motion_profile *p, const struct motion_limits *l,
                            struct motion *m, double wanted)
{
    const double jerk = l->jerk;
    /* Remaining change of speed while the present acceleration ramps to zero. */
    const double coasting = m->v + m->a * fabs(m->a) / (2.0 * jerk);
    const double sign = wanted < coasting ? -1.0 : 1.0;
    const double a0 = sign * m->a;
    const double change = sign * (wanted - m->v);
    const double from = a0 < 0.0 ? coasting : m->v;
    const double most = limit_between(l, from, wanted);
    const double peak = fmin(sqrt(fmax(jerk * change + a0 * a0 / 2.0, 0.0)), most);
    const double ramp_s = fabs(peak - a0) / jerk;
    const double ramps = ramp_s * (peak + a0) / 2.0 + peak * peak / (2.0 * jerk);
    append_piece(p, m, ramp_s, copysign(jerk, sign * (peak - a0)));
    m->a = sign * peak;
    append_piece(p, m, peak > 0.0 ? (change - ramps) / peak : 0.0, 0.0);
    append_piece(p, m, peak / jerk, -sign * jerk);
    m->v = wanted; /* exactly */
    m->a = 0.0;
}

static void change_speed(struct motion_profile *p, const struct motion_limits *l,
                         struct motion *m, double wanted)
{
    if (isfinite(l->jerk)) {
        change_smoothly(p, l, m, wanted);
    } else {
        change_at_once(p, l, m, wanted);
    }
}

/* --- the plan ----------------------------------------------------------------------------- */

/* Lays out the change to speed v, cruising for cruise_s, and the stop. Returns the end
 * point. */
static double lay_out(struct motion_profile *p, const struct motion_limits *l,
                      const struct motion *start, double v, double cruise_s)
{
    struct motion m = *start;
    p->count = 0;
    p->duration_s = 0.0;
    change_speed(p, l, &m, v);
    append_piece(p, &m, cruise_s, 0.0);
    change_speed(p, l, &m, 0.0);
    return m.q;
}

/* Finds the speed, 0 .. limit in direction sign, whose stop is just short of the target. */
static double peak_speed(struct motion_profile *p, const struct motion_limits *l,
                         const struct motion *start, double sign, double target)
{
    const double ramp = isfinite(l->jerk) ? start->a * fabs(start->a) / (2.0 * l->jerk) : 0.0;
    const double coasting = sign * (start->v + ramp);
    double lo = 0.0;
    double hi = l->speed;
    /* Braking from the present speed and cruising at it end at the same point: search above. */
    if (coasting > 0.0 && coasting < hi &&
        sign * (target - lay_out(p, l, start, sign * coasting, 0.0)) >= 0.0) {
        lo = coasting;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        const double mid = 0.5 * (lo + hi);
        if (!(mid > lo) || !(mid < hi)) {
            break;
        }
        if (sign * (target - lay_out(p, l, start, sign * mid, 0.0)) >= 0.0) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

void motion_profile_make(struct motion_profile *profile, const struct motion_limits *limits,
                         const struct motion *start, double target)
{
    struct motion_profile *p = profile;
    memset(p, 0, sizeof *p);
    p->target = target;
    const double stop = lay_out(p, limits, start, 0.0, 0.0);
    const double gap = target - stop;
    const double scale = fabs(start->q) + fabs(target) + fabs(stop);
    if (fabs(gap) <= ROUNDING * scale) {
        return;
    }
    const double sign = gap < 0.0 ? -1.0 : 1.0;
    double speed = limits->speed;
    double left = sign * (target - lay_out(p, limits, start, sign * speed, 0.0));
    if (!(left >= 0.0)) {
        speed = peak_speed(p, limits, start, sign, target);
        left = fmax(sign * (target - lay_out(p, limits, start, sign * speed, 0.0)), 0.0);
    }
    /* Cruising also covers the rest that bisection left. */
    (void)lay_out(p, limits, start, sign * speed, speed > 0.0 ? left / speed : 0.0);
}

void motion_profile_at(const struct motion_profile *profile, double t_s, struct motion *out)
{
    double left = fmax(t_s, 0.0);
    for (size_t i = 0; i < profile->count; i++) {
        const struct motion_piece *piece = &profile->piece[i];
        if (left < piece->duration_s) {
            *out = motion_after(&piece->start, piece->jerk, left);
            return;
        }
        left -= piece->duration_s;
    }
    *out = (struct motion){profile->target, 0.0, 0.0};
}

/* --- the fastest motion
 * -------------------------------------------------------------------- */

void time_optimal_make(struct time_optimal *out, double command_max, double position_gain,
                       double lag_s, double error, double w)
{
    const double ratio = fabs(w) / command_max;
    /* End point under full speed back from now on: the switching curve. */
    const double stop =
        position_gain * lag_s * copysign(command_max * (ratio - log1p(ratio)), w);
    const double sign = error < stop ? -1.0 : 1.0;
    const double rest_s =
        sign * (error - position_gain * lag_s * w) / (position_gain * command_max);
    double back_s = 0.0;
    if (lag_s > 0.0) {
        const double root = 1.0 - exp(-rest_s / lag_s) * (1.0 - sign * w / command_max);
        back_s = lag_s * log1p(sqrt(fmax(root, 0.0)));
    }
    out->command = sign * command_max;
    out->switch_s = fmax(rest_s + back_s, 0.0);
    out->end_s = out->switch_s + back_s;
}

double time_optimal_travel(const struct time_optimal *plan, double t_s)
{
    const double t = fmin(fmax(t_s, 0.0), plan->end_s);
    return plan->command * (t < plan->switch_s ? t : 2.0 * plan->switch_s - t);
}
