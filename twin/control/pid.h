/* twin/control/pid.h - a PID controller with anti-windup and a filtered derivative.
 *
 *   u = kc e + I - kc Td y' + feedforward,   I' = kc e / Ti
 *                                                      (docs/model/servo.md, eq. 5 - 8)
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
        derivative_s;  /* Td >= 0, of the measurement, so that a set point step gives no kick */
    double filter_s;   /* >= 0: time constant of the derivative's filter */
    double tracking_s; /* >= 0: time constant of anti-windup; 0: at once */
    double out_lo, out_hi; /* out_lo < out_hi, may be infinite */
    double period_s;       /* > 0 */
};

struct pid { /* All zero: initial state. */
    bool started;
    double error; /* of the previous step */
    double measured;
    double rate; /* y', filtered */
    double integral;
};

/* Tunes gain and integral_s for a plant speed_gain / (lag_s s + 1) so that the loop is 1 /
 * (closed_s s + 1): internal model control, eq. 8. No derivative; other members stay. All three
 * > 0. */
void pid_tune_imc(struct pid_params *p, double speed_gain, double lag_s, double closed_s);

/* STATUS_E_RANGE with err: which number is invalid. */
MUST_USE enum status pid_check(const struct pid_params *p, struct err *err);

/* Runs one period. Returns the output, within the limits. For an input that is not finite the
 * output is feedforward plus integral only, or zero, and the state does not change. */
double pid_step(struct pid *s, const struct pid_params *p, double wanted, double measured,
                double feedforward);

#endif
