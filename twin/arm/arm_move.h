/* twin/arm/arm_move.h - moves of an arm from rest to rest: along a line of joint angles, a line
 * or an arc of the tool. Pure.
 *
 * A share s of the path goes from 0 to 1 on a trapezoid of speed, all joints on the same one:
 *
 *     duration = 1/v + v/a,   v at most sqrt(a)    with v in 1/s, a in 1/s^2               (1)
 *
 * as UR controllers move: on 12 moves of a real UR5 their target angles are met within 0.7
 * mrad. A move is planned whole when it is taken, so that one that cannot be ended is refused
 * before it begins, with the share of the path where it fails. docs/model/arm.md.
 */
#ifndef TWIN_ARM_ARM_MOVE_H
#define TWIN_ARM_ARM_MOVE_H

#include "identification/geometry/arm_clearance.h"
#include "identification/geometry/arm_inverse.h"

/* Why a move is refused; names in arm_refusal_names. */
enum arm_refusal {
    ARM_ACCEPTED,
    ARM_BAD_VALUE,    /* not finite, a speed that is not > 0, an arc of points on a line */
    ARM_BEYOND_LIMIT, /* a joint would leave its range */
    ARM_OUT_OF_REACH,
    ARM_AT_SINGULARITY, /* a joint would have to jump, or to race for more than 20 times as long
                         */
    ARM_TOO_FAST,       /* the time asked for is too short */
    ARM_COLLISION,
    ARM_REFUSAL_COUNT,
};
extern const char *const arm_refusal_names[ARM_REFUSAL_COUNT];

/* What a move may take. Speeds and accelerations > 0 are of the joint that turns furthest, or
 * of the tool; time_s > 0 is the duration: of joints it goes before both, of the tool it is the
 * least. */
struct arm_rates {
    double v_radps, a_radps2; /* joints, and turns of the tool; UR: 1.05, 1.4 */
    double v_mps, a_mps2;     /* the tool; UR: 0.25, 1.2 */
    double time_s;
};
extern const struct arm_rates arm_rates_default;

/* What the way is held against while it is planned. */
struct arm_bounds {
    double clearance_m; /* least distance between parts; -INFINITY: not looked at */
    double floor_m;     /* -INFINITY: none */
    bool hold_speed;    /* true: where a joint would be too fast the move is refused
                         * (ARM_TOO_FAST), as a real arm stops; else all of it slows down */
};
extern const struct arm_bounds arm_bounds_none;

enum arm_path { ARM_JOINT_PATH, ARM_LINE, ARM_ARC };

/* Where and why not. */
struct arm_fault {
    enum arm_refusal refusal;
    double at;                /* share of the path, 0 .. 1; NAN where it is no place's */
    enum arm_reach reach;     /* of ARM_OUT_OF_REACH */
    const char *part, *other; /* of ARM_COLLISION; borrowed, static */
};

struct arm_move {
    enum arm_path path;
    double from_q[ARM_JOINTS], to_q[ARM_JOINTS];
    double last_q[ARM_JOINTS]; /* what was told last: the next is the solution nearest to it */
    struct rigid from;
    double shift_m[3], turn_rad[3]; /* of the tool; the turn in its own axes at the start */
    double centre_m[3], out_m[3], aside_m[3]; /* of an arc: centre, and two of its radii */
    double sweep_rad;
    double speed, acceleration; /* of the share, 1/s and 1/s^2 */
    double duration_s;
    double length_m, angle_rad; /* of the tool's path; 0 of a joint path */
    double size_rad;            /* the largest turn of a joint, by joint angles at both ends */
    double stretch; /* so many times slower than asked, for a joint's sake; 1: not */
};

/* All joints start and end together. */
struct arm_fault arm_plan_joints(const struct arm_geometry *arm,
                                 const double from_q[ARM_JOINTS], const double to_q[ARM_JOINTS],
                                 const struct arm_rates *rates, const struct arm_bounds *bounds,
                                 struct arm_move *out);

/* The tool on a straight line, turning about one axis; both on one trapezoid. */
struct arm_fault arm_plan_line(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                               const struct rigid *to, const struct arm_rates *rates,
                               const struct arm_bounds *bounds, struct arm_move *out);

/* The tool on the circle through where it is, via_m and to: as far as `to`, turning to its
 * orientation; or, with turns > 0, so many whole circles, without turning. */
struct arm_fault arm_plan_arc(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                              const double via_m[3], const struct rigid *to, double turns,
                              const struct arm_rates *rates, const struct arm_bounds *bounds,
                              struct arm_move *out);

/* Joint angles and speeds at t_s after the start; before 0 and after the end at rest there.
 * Times of a line or an arc must not jump: each solution is the one nearest to the last. False,
 * with q as last told, where a solution cannot be had after all. */
bool arm_move_at(struct arm_move *move, const struct arm_geometry *arm, double t_s,
                 double q[ARM_JOINTS], double qd[ARM_JOINTS]);

/* How far the tool, at joint angles q, is from the path, wherever on it or on beyond its ends:
 * from the line or the circle; of a joint path from where the tool is at the nearest angles of
 * that path. m. */
double arm_move_off_path(const struct arm_move *move, const struct arm_geometry *arm,
                         const double q[ARM_JOINTS]);

/* Duration (1) of a path of this size (rad or m). */
double arm_duration_s(double size, double v, double a);

#endif
