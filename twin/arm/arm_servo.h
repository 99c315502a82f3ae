/* twin/arm/arm_servo.h - simulates six servo joints, each under its own position controller,
 * and their motor currents. Pure.
 *
 *   u_j = controller(set point, q_j, w_j),   servo joint (docs/model/servo.md, eq. 1)
 *   current_j = J_j w_j' + F_j w_j + C_j tanh(w_j / 0.01 rad/s) + gravity_j(q)      (1)
 *
 * Under `profile` the joints track moving set points, each by the point where it would coast to
 * (servo.md, eq. 18), so that they stay together. Under the other controllers each joint moves
 * to its set point independently. docs/model/arm.md.
 */
#ifndef TWIN_ARM_ARM_SERVO_H
#define TWIN_ARM_ARM_SERVO_H

#include "base/text/names.h"
#include "identification/geometry/arm_geometry.h"
#include "twin/control/pid.h"
#include "twin/control/position_control.h"
#include "twin/control/servo_joint.h"

enum arm_controller {
    ARM_CONTROLLER_PROFILE,
    ARM_CONTROLLER_FSM,
    ARM_CONTROLLER_P,
    ARM_CONTROLLER_TIME_OPTIMAL,
    ARM_CONTROLLER_PID, /* P for the position, PID for the speed: the paper's cascade */
    ARM_CONTROLLER_COUNT
};

/* "profile", "fsm", "p", "time_optimal", "pid". */
ENUM_NAMES_DECLARED(arm_controller);

enum { ARM_GRAVITY_TERMS = 10 };

struct arm_servo_params {
    enum arm_controller controller;
    double period_s;                    /* > 0 */
    double lag_s[ARM_JOINTS];           /* >= 0, lag of the speed servos */
    double known_lag_s[ARM_JOINTS];     /* >= 0, the controllers' estimate of it */
    double gain[ARM_JOINTS];            /* > 0: speed per commanded speed */
    double speed_max_radps[ARM_JOINTS]; /* > 0 */
    double gain_per_s, tracking_per_s;  /* > 0 */
    double stop_rad, near_rad;          /* windows: 0 <= stop <= near, near > 0 */
    double speed_min_radps;             /* >= 0: P and the machine move no slower */
    double motor_lag_s;                 /* > 0: of the motor under the PID */
    double load_gain; /* >= 0, rad/s per A: speed lost to friction and gravity */
    double inertia[ARM_JOINTS], viscous[ARM_JOINTS], coulomb[ARM_JOINTS]; /* of (1), A s^2, A s,
                                                                             A */
    /* A: of joint 2 on cos q2, cos q23, sin q234, cos q234 sin q5, of joint 3 on the last
     * three, of joint 4 on the last two, of joint 5 on sin q234 cos q5; q23 = q2 + q3 ... */
    double gravity[ARM_GRAVITY_TERMS];
};

/* Wanted angles and speeds of the joints. */
struct arm_set_point {
    double q[ARM_JOINTS], qd[ARM_JOINTS];
};

struct arm_servo { /* All zero: at rest at the origin. */
    struct servo_joint joint[ARM_JOINTS];
    struct position_control control[ARM_JOINTS];
    struct pid pid[ARM_JOINTS];
    double u[ARM_JOINTS]; /* rad/s, last command */
    double current_a[ARM_JOINTS];
};

/* Places the joints at rest and resets the controllers. */
void arm_servo_place(struct arm_servo *s, const double q[ARM_JOINTS]);

/* Simulates one period, from the set point at its beginning to that at its end. All finite. */
void arm_servo_step(struct arm_servo *s, const struct arm_servo_params *p,
                    const struct arm_set_point *now, const struct arm_set_point *next);

/* Simulates one period with externally given speeds. */
void arm_servo_drive(struct arm_servo *s, const struct arm_servo_params *p,
                     const double u[ARM_JOINTS]);

/* Simulates one period in which the joints are exactly at their set points. */
void arm_servo_follow(struct arm_servo *s, const struct arm_servo_params *p,
                      const struct arm_set_point *next);

/* Is every joint within window_rad of its set point, including its coasting distance? */
bool arm_servo_arrived(const struct arm_servo *s, const struct arm_servo_params *p,
                       const double q[ARM_JOINTS], double window_rad);

#endif
