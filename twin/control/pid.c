#include "twin/control/pid.h"

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
    return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, what, "cannot be, %s is wanted",
                   right);
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

double pid_step(struct pid *s, const struct pid_params *p, double wanted, double measured,
                double feedforward)
{
    const double ahead = isfinite(feedforward) ? feedforward : 0.0;
    if (!isfinite(wanted) || !isfinite(measured)) {
        return limit_output(p, s->integral + ahead);
    }
    const double error = wanted - measured;
    const double mean = 0.5 * (error + s->error); /* zero before the first step */
    if (s->started) {
        s->rate =
            (p->filter_s * s->rate + measured - s->measured) / (p->filter_s + p->period_s);
    }
    s->started = true;
    s->error = error;
    s->measured = measured;
    s->integral += p->integral_s > 0.0 ? p->gain * p->period_s / p->integral_s * mean : 0.0;
    const double u = p->gain * (error - p->derivative_s * s->rate) + s->integral + ahead;
    if (p->integral_s > 0.0) {
        const double cut = limit_output(p, u) - u;
        s->integral += cut * (p->tracking_s > p->period_s ? p->period_s / p->tracking_s : 1.0);
    }
    return limit_output(p, u);
}
