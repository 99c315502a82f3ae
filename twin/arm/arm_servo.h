/* twin/arm/arm_servo.h - six servo joints, each under a position controller of its own, and the
 * currents of their motors. Pure.
 *
 *     u_j = controller(set point, q_j, w_j),   servo joint (docs/model/servo.md, eq. 1)
 *     current_j = J_j w_j' + F_j w_j + C_j tanh(w_j / 0.01 rad/s) + gravity_j(q)      (1)
 *
 * Under `profile` the joints track set points that move, each by the point where it would coast
 * to (servo.md, eq. 18), so that they keep together; under the others each joint goes to its
 * set point on its own. docs/model/arm.md.
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
    ARM_CONTROLLER_PID, /* P of the position, the speed by a PID: the paper's cascade */
    ARM_CONTROLLER_COUNT
};

/* "profile", "fsm", "p", "time_optimal", "pid". */
extern const struct names arm_controller_names;
const char *arm_controller_name(enum arm_controller controller);

enum { ARM_GRAVITY_TERMS = 10 };

struct arm_servo_params {
    enum arm_controller controller;
    double period_s;                    /* > 0 */
    double lag_s[ARM_JOINTS];           /* >= 0, of the speed servos */
    double known_lag_s[ARM_JOINTS];     /* >= 0, as the controllers believe it to be */
    double gain[ARM_JOINTS];            /* > 0: speed per speed asked for */
    double speed_max_radps[ARM_JOINTS]; /* > 0 */
    double gain_per_s, tracking_per_s;  /* > 0 */
    double stop_rad, near_rad;          /* windows: 0 <= stop <= near, near > 0 */
    double speed_min_radps;             /* >= 0: P and the machine creep no slower */
    double motor_lag_s;                 /* > 0: of the motor below the PID */
    double load_gain; /* >= 0, rad/s per A: speed that the servos lose to friction and gravity
                       */
    double inertia[ARM_JOINTS], viscous[ARM_JOINTS], coulomb[ARM_JOINTS]; /* of (1), A s^2, A s,
                                                                             A */
    /* A: of joint 2 on cos q2, cos q23, sin q234, cos q234 sin q5, of joint 3 on the last
     * three, of joint 4 on the last two, of joint 5 on sin q234 cos q5; q23 = q2 + q3 ... */
    double gravity[ARM_GRAVITY_TERMS];
};

/* Where the joints shall be, and how fast. */
struct arm_set_point {
    double q[ARM_JOINTS], qd[ARM_JOINTS];
};

struct arm_servo { /* all zero: at rest at the origin */
    struct servo_joint joint[ARM_JOINTS];
    struct position_control control[ARM_JOINTS];
    struct pid pid[ARM_JOINTS];
    double u[ARM_JOINTS]; /* rad/s, as told last */
    double current_a[ARM_JOINTS];
};

/* At rest there; controllers begin anew. */
void arm_servo_place(struct arm_servo *s, const double q[ARM_JOINTS]);

/* One period, from the set point at its beginning to that at its end. All finite. */
void arm_servo_step(struct arm_servo *s, const struct arm_servo_params *p,
                    const struct arm_set_point *now, const struct arm_set_point *next);

/* One period with speeds that somebody else tells. */
void arm_servo_drive(struct arm_servo *s, const struct arm_servo_params *p,
                     const double u[ARM_JOINTS]);

/* One period in which the joints are where they are told to be. */
void arm_servo_follow(struct arm_servo *s, const struct arm_servo_params *p,
                      const struct arm_set_point *next);

/* Every joint within window_rad of its set point, and coasting no further. */
bool arm_servo_arrived(const struct arm_servo *s, const struct arm_servo_params *p,
                       const double q[ARM_JOINTS], double window_rad);

#endif
