/* twin/control/servo_joint.h - model of a joint with a speed servo: the speed lags its command,
 * and the position is the integral of the speed.
 *
 *   lag_s w' = speed_gain u - load_gain tau - w,   q' = position_gain w
 *                                                    (docs/model/servo.md, eq. 1 - 4)
 *
 * With speed_gain = K_m and a voltage u it is the motor itself, under a speed controller. Units
 * are those of the position; rad here. Plain data. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CONTROL_SERVO_JOINT_H
#define TWIN_CONTROL_SERVO_JOINT_H

enum servo_method {
    SERVO_EXACT, /* exact solution of the differential equations with u held */
    SERVO_EULER, /* backward differences, the usual program of such joints */
    SERVO_METHOD_COUNT
};

struct servo_joint_params {
    double lag_s;           /* lambda >= 0; 0: the speed equals its command */
    double speed_gain;      /* steady speed per unit of the command; > 0 */
    double position_gain;   /* k > 0: gear ratio; 1 for a joint measured at its shaft */
    double load_gain;       /* >= 0: steady loss of speed per unit of load torque */
    double speed_radps_max; /* > 0, may be infinite: limit of the steady speed */
};

struct servo_joint { /* All zero: at rest at the origin. */
    double q_rad;
    double w_radps; /* before the gear */
};

/* Simulates one period of period_s > 0 with u and load held. Finite numbers give finite
 * numbers, and a speed within its limit stays there. */
void servo_joint_step(struct servo_joint *joint, const struct servo_joint_params *p,
                      enum servo_method method, double period_s, double u, double load);

#endif
