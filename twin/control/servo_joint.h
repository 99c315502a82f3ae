/* twin/control/servo_joint.h - a joint as its position controller sees it: a speed that
 * lags its command, and a position that is the integral of the speed.
 *
 *     lag_s w' = speed_gain u - load_gain tau - w,   q' = position_gain w
 *                                                      (docs/model/servo.md, eq. 1 - 4)
 *
 * With speed_gain = K_m and u a voltage it is the motor itself, which a speed controller works
 * on. Units are those of the position; rad here. Plain data. Pure: no I/O, no clock, no
 * allocation.
 */
#ifndef TWIN_CONTROL_SERVO_JOINT_H
#define TWIN_CONTROL_SERVO_JOINT_H

enum servo_method {
    SERVO_EXACT, /* what the differential equations do while u is held */
    SERVO_EULER, /* backward differences, as such joints are mostly programmed */
    SERVO_METHOD_COUNT
};

struct servo_joint_params {
    double lag_s;         /* lambda >= 0; 0: the speed is its command */
    double speed_gain;    /* speed per unit of the command, when settled; > 0 */
    double position_gain; /* k > 0: a gear; 1 for a joint measured at its shaft */
    double load_gain;     /* >= 0: speed lost per unit of load torque, when settled */
    double
        speed_radps_max; /* > 0, may be infinite: what the speed settles at is cut off here */
};

struct servo_joint { /* all zero: at rest at the origin */
    double q_rad;
    double w_radps; /* before the gear */
};

/* One period of period_s > 0 with u and load held. Finite numbers give finite numbers, and a
 * speed within its limit stays there. */
void servo_joint_step(struct servo_joint *joint, const struct servo_joint_params *p,
                      enum servo_method method, double period_s, double u, double load);

#endif
