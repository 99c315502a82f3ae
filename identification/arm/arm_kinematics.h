/* identification/arm/arm_kinematics.h - how the links of one arm differ from those of its kind,
 * from joint angles and the poses of its tool.
 *
 *     minimise  sum |p - p(q, x)|^2 / s_p^2 + |log(R R(q, x)')|^2 / s_r^2 (docs/model/arm.md)
 *
 * x are the small motions behind the links of arm_geometry.h, 36 numbers. A link's frame may be
 * shifted along and turned about the joint axis behind it, and the next link back again: that
 * changes no pose, so that z and rz of links 1 to 5 are 0, and 26 are sought. By the pseudo
 * inverse, without what the poses do not tell. Deterministic, no I/O, no clock. Cold path:
 * allocates through GSL while it runs, keeps nothing.
 */
#ifndef IDENTIFICATION_ARM_ARM_KINEMATICS_H
#define IDENTIFICATION_ARM_ARM_KINEMATICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "identification/fit/estimate.h"
#include "identification/geometry/arm_geometry.h"

enum { ARM_KINEMATICS_P = 26, ARM_CORRECTIONS = 6 * ARM_JOINTS };
_Static_assert((int)ARM_KINEMATICS_P <= (int)ESTIMATE_P_MAX, "in an estimate");

/* One pose of the arm, as measured. */
struct arm_pair {
    double q_rad[ARM_JOINTS];
    double pose[6]; /* x y z in m, rotation vector in rad */
};

struct arm_pairs {
    size_t n;
    const struct arm_pair *pair; /* [n] finite */
};

/* How far the tool is from where it is foretold. */
struct arm_kinematics_check {
    size_t n;
    double mean_m, rms_m, max_m;
    double rms_rad, max_rad;
};

struct arm_kinematics_fit {
    size_t n, iterations;
    size_t outliers; /* poses far from what the others say: left out */
    bool converged;
    struct estimate estimate;           /* "link1_x_m" …, 26 of them */
    double correction[ARM_CORRECTIONS]; /* as arm_geometry_correct() takes them; 0 where free */
    double noise_m, noise_rad;          /* of one coordinate of a pose */
    /* Of the nominal arm, of the fit, and of fits that had not seen the poses (five parts). */
    struct arm_kinematics_check nominal, own, crossed, held_out;
    bool is_held_out;
    double room_se_m;     /* as the next one, at poses all over the room */
    double tool_se_m;     /* how well the tool's place is known at these poses: rms */
    double neighbour_rho; /* correlation of what is left from row to row */
    const char *missing;  /* what the model lacks, in words; NULL: nothing was found */
    double missing_m;     /* by so much of the tool's place, rms */
    char explained[ESTIMATE_TEXT_MAX]; /* what the poses are instead; "": poses of this arm */
    double tool_m;                     /* how far they are from the flange; NAN: not known */
};

/* Names; nothing known. */
void arm_kinematics_fit_start(struct arm_kinematics_fit *fit);

/* Fit, and judge. arm: nominal. STATUS_E_EMPTY when there are too few poses to tell anything,
 * STATUS_E_NOMEM, STATUS_E_MATH; what the poses do not determine is an answer, with its
 * verdict. */
enum { ARM_KINEMATICS_POSES_MIN = 8 };
MUST_USE enum status arm_kinematics_fit_run(const struct arm_geometry *arm,
                                            const struct arm_pairs *pairs, bool doubt_units,
                                            struct arm_kinematics_fit *fit);

/* Poses that took no part; lowers the verdict. */
void arm_kinematics_hold_out(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                             struct arm_kinematics_fit *fit);

/* Of an arm with corrections, against these poses. */
void arm_kinematics_compare(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                            struct arm_kinematics_check *check);

/* Which of the corrections is the i-th of those sought. */
size_t arm_kinematics_place(size_t i);

#endif
