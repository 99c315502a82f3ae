/* twin/arm/arm_move.h - plans moves of an arm from rest to rest: along a line of joint angles,
 * or a line or arc of the tool. Pure.
 *
 * The share s of the path goes from 0 to 1 with a trapezoid of speed, common to all joints:
 *
 *   duration = 1/v + v/a,   v at most sqrt(a)    with v in 1/s, a in 1/s^2               (1)
 *
 * like UR controllers: on 12 moves of a real UR5 their target angles agree within 0.7 mrad. A
 * move is planned completely when it is accepted, so that an impossible one is refused before
 * it begins, with the share of the path where it fails. docs/model/arm.md.
 */
#ifndef TWIN_ARM_ARM_MOVE_H
#define TWIN_ARM_ARM_MOVE_H

#include "identification/geometry/arm_clearance.h"
#include "identification/geometry/arm_inverse.h"

/* Reasons of a refusal; names in arm_refusal_names. */
enum arm_refusal {
    ARM_ACCEPTED,
    ARM_BAD_VALUE,    /* not finite, a speed that is not > 0, an arc through collinear points */
    ARM_BEYOND_LIMIT, /* a joint would leave its range */
    ARM_OUT_OF_REACH,
    ARM_AT_SINGULARITY, /* a joint would have to jump, or the move would take more than 20 times
                           as long */
    ARM_TOO_FAST,       /* the requested time is too short */
    ARM_COLLISION,
    ARM_REFUSAL_COUNT,
};
extern const char *const arm_refusal_names[ARM_REFUSAL_COUNT];

/* Rates of a move. Speeds and accelerations > 0 are those of the joint that turns furthest, or
 * of the tool. time_s > 0 is the duration: for joints it replaces both, for the tool it is a
 * minimum. */
struct arm_rates {
    double v_radps, a_radps2; /* joints, and turns of the tool; UR defaults: 1.05, 1.4 */
    double v_mps, a_mps2;     /* the tool; UR defaults: 0.25, 1.2 */
    double time_s;
};
extern const struct arm_rates arm_rates_default;

/* Bounds that are checked along the path during planning. */
struct arm_bounds {
    double clearance_m; /* minimum distance between parts; -INFINITY: not checked */
    double floor_m;     /* -INFINITY: none */
    bool hold_speed; /* true: a move with a joint that is too fast is refused (ARM_TOO_FAST), as
                        a real arm stops; else the whole move slows down */
};
extern const struct arm_bounds arm_bounds_none;

enum arm_path { ARM_JOINT_PATH, ARM_LINE, ARM_ARC };

/* The place and reason of a refusal. */
struct arm_fault {
    enum arm_refusal refusal;
    double at;                /* share of the path, 0 .. 1; NAN: not at a place */
    enum arm_reach reach;     /* for ARM_OUT_OF_REACH */
    const char *part, *other; /* for ARM_COLLISION; borrowed, static */
    double begins_m; /* for ARM_COLLISION: the move begins nearer than allowed by this; 0: no */
    const char *why;          /* for ARM_BAD_VALUE, static; NULL: a number is out of range */
};

struct arm_move {
    enum arm_path path;
    double from_q[ARM_JOINTS], to_q[ARM_JOINTS];
    double last_q[ARM_JOINTS]; /* last result: the next solution is the closest */
    struct rigid from;
    double shift_m[3], turn_rad[3]; /* of the tool; the turn in its own axes at the start */
    double centre_m[3], out_m[3], aside_m[3]; /* of an arc: centre, and two of its radii */
    double sweep_rad;
    double speed, acceleration; /* of the share, 1/s and 1/s^2 */
    double speed_limit;         /* 1/s, speed on a path long enough to reach it */
    double duration_s;
    double length_m, angle_rad; /* of the tool's path; 0 for a joint path */
    double size_rad;            /* largest turn of a joint between both ends */
    double stretch; /* factor by which it is slower than requested, for a joint's sake; 1: not
                       slower */
};

/* Plans a move on which all joints start and end together. */
struct arm_fault arm_plan_joints(const struct arm_geometry *arm,
                                 const double from_q[ARM_JOINTS], const double to_q[ARM_JOINTS],
                                 const struct arm_rates *rates, const struct arm_bounds *bounds,
                                 struct arm_move *out);

/* Plans a straight line of the tool, with a turn about one axis; both on one trapezoid. */
struct arm_fault arm_plan_line(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                               const struct rigid *to, const struct arm_rates *rates,
                               const struct arm_bounds *bounds, struct arm_move *out);

/* Plans an arc of the tool on the circle through its place, via_m and to: as far as `to`,
 * turning to its orientation; or, with turns > 0, that many whole circles, without turning. */
struct arm_fault arm_plan_arc(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                              const double via_m[3], const struct rigid *to, double turns,
                              const struct arm_rates *rates, const struct arm_bounds *bounds,
                              struct arm_move *out);

/* Computes joint angles and speeds at t_s after the start; at rest before 0 and after the end.
 * Times of a line or an arc must not jump, because each solution is the one closest to the
 * last. False, with the last q, if there is no solution after all. */
bool arm_move_at(struct arm_move *move, const struct arm_geometry *arm, double t_s,
                 double q[ARM_JOINTS], double qd[ARM_JOINTS]);

/* Returns the distance of the tool, at joint angles q, from the path or its continuation: from
 * the line or the circle; for a joint path from the tool's place at the closest angles of that
 * path. m. */
double arm_move_off_path(const struct arm_move *move, const struct arm_geometry *arm,
                         const double q[ARM_JOINTS]);

/* Returns the duration (1) of a path of this size (rad or m). */
double arm_duration_s(double size, double v, double a);

/* Returns the share of a path at t_s of its duration, and its rate: speed and acceleration of
 * the share, 1/s and 1/s^2. */
double arm_share_at(double speed, double acceleration, double duration_s, double t_s,
                    double *rate);

/* Sets shift, turn and their sizes of a line of the tool from move->from. */
void arm_move_set_line(struct arm_move *move, const struct rigid *to);

#endif
