/* twin/control/pid.h - one PID controller: limits without windup, a filtered derivative.
 *
 *     u = kc e + I - kc Td y' + feedforward,   I' = kc e / Ti
 *                                                        (docs/model/servo.md, eq. 5 - 8)
 *
 * Plain data. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CONTROL_PID_H
#define TWIN_CONTROL_PID_H

#include <stdbool.h>

#include "base/errors/err.h"

struct pid_params {
    double gain;       /* kc, finite */
    double integral_s; /* Ti >= 0; 0: no integral */
    double
        derivative_s;  /* Td >= 0, of the measurement: a step of the set point does not kick */
    double filter_s;   /* >= 0: time constant of the derivative's filter */
    double tracking_s; /* >= 0: a limit's cut goes off the integral within it; 0: at once */
    double out_lo, out_hi; /* out_lo < out_hi, may be infinite */
    double period_s;       /* > 0 */
};

struct pid { /* all zero: nothing has happened */
    bool started;
    double error; /* of the step before */
    double measured;
    double rate; /* y', filtered */
    double integral;
};

/* Tuned for a plant speed_gain / (lag_s s + 1) so that the loop is 1 / (closed_s s + 1):
 * internal model control, eq. 8. Sets gain and integral_s, and no derivative; the rest is left.
 * All three > 0. */
void pid_tune_imc(struct pid_params *p, double speed_gain, double lag_s, double closed_s);

/* STATUS_E_RANGE with err saying which number cannot be. */
MUST_USE enum status pid_check(const struct pid_params *p, struct err *err);

/* One period. Returns the output, within the limits. An input that is not finite gives the
 * feedforward and the integral alone, or zero, and is not remembered. */
double pid_step(struct pid *s, const struct pid_params *p, double wanted, double measured,
                double feedforward);

#endif
