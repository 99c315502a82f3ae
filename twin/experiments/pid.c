#include "twin/experiments/pid.h"

#include <math.h>

void pid_tune_imc(struct pid_params *p, double speed_gain, double lag_s, double closed_s)
{
    p->gain = lag_s / (speed_gain * closed_s);
    p->integral_s = lag_s;
    p->derivative_s = 0.0;
    p->filter_s = 0.0;
}

static enum status refuse_value(struct err *err, const char *what, const char *right)
{
    return err_set(err, STATUS_E_RANGE, what, 0, 0, "cannot be, %s is wanted", right);
}

enum status pid_check(const struct pid_params *p, struct err *err)
{
    if (!isfinite(p->gain)) {
        return refuse_value(err, "gain", "a finite number");
    }
    if (!(p->integral_s >= 0.0) || !(p->derivative_s >= 0.0) || !(p->filter_s >= 0.0) ||
        !(p->tracking_s >= 0.0)) {
        return refuse_value(err, "integral_s, derivative_s, filter_s, tracking_s", "0 or more");
    }
    if (!(p->out_lo < p->out_hi)) {
        return refuse_value(err, "out_lo, out_hi", "out_lo below out_hi");
    }
    return p->period_s > 0.0 ? STATUS_OK : refuse_value(err, "period_s", "more than 0");
}

static double limit_output(const struct pid_params *p, double u)
{
    return fmin(fmax(u, p->out_lo), p->out_hi);
}

/* What the law gives without its integral and feedforward. */
static double quick_part(const struct pid *s, const struct pid_params *p)
{
    return p->gain * (s->error - p->derivative_s * s->rate);
}

static void keep_within(struct pid *s, const struct pid_params *p, double step, double wanted)
{
    const double cut = limit_output(p, wanted) - wanted; /* against the side that is reached */
    if (p->windup == PID_CONDITIONAL) {
        if (cut * step < 0.0) {
            s->integral -= step;
        }
        return;
    }
    s->integral += cut * (p->tracking_s > p->period_s ? p->period_s / p->tracking_s : 1.0);
}

double pid_step(struct pid *s, const struct pid_params *p, double wanted, double measured,
                double feedforward)
{
    const double ahead = isfinite(feedforward) ? feedforward : 0.0;
    if (!isfinite(wanted) || !isfinite(measured)) {
        return limit_output(p, s->integral + ahead);
    }
    const double error = wanted - measured;
    const double mean = 0.5 * (error + s->error); /* before the first step: zero */
    const double step =
        p->integral_s > 0.0 ? p->gain * p->period_s / p->integral_s * mean : 0.0;
    if (s->started) {
        s->rate =
            (p->filter_s * s->rate + measured - s->measured) / (p->filter_s + p->period_s);
    }
    s->started = true;
    s->error = error;
    s->measured = measured;
    s->integral += step;
    const double u = quick_part(s, p) + s->integral + ahead;
    if (p->integral_s > 0.0) {
        keep_within(s, p, step, u);
    }
    return limit_output(p, u);
}

void pid_change(struct pid *s, const struct pid_params *from, const struct pid_params *to)
{
    s->integral += quick_part(s, from) - quick_part(s, to);
    if (!(to->integral_s > 0.0)) {
        s->integral = 0.0;
    }
}
