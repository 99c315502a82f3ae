/* identification/arm/arm_kinematics.h - calibration of an arm's links from joint angles and
 * tool poses.
 *
 *     minimise  sum |p - p(q, x)|^2 / s_p^2 + |log(R R(q, x)')|^2 / s_r^2  (docs/model/arm.md)
 *
 * x are the 36 small motions after the links of arm_geometry.h. The frame of a link can be
 * shifted along and rotated about the following joint axis, with the inverse motion of the next
 * link, without a change of any pose. Therefore z and rz of links 1 to 5 are fixed to 0, and 26
 * corrections are estimated. The pseudo inverse leaves out combinations that the poses do not
 * determine. Deterministic, no I/O, no clock. Cold path: allocates through GSL while it runs
 * and frees all of it.
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

/* A measured pose of the arm. */
struct arm_pair {
    double q_rad[ARM_JOINTS];
    double pose[6]; /* x y z in m, rotation vector in rad */
};

struct arm_pairs {
    size_t n;
    const struct arm_pair *pair; /* [n], finite */
};

/* Distance of the tool from its predicted pose. */
struct arm_kinematics_check {
    size_t n;
    double mean_m, rms_m, max_m;
    double rms_rad, max_rad;
};

struct arm_kinematics_fit {
    size_t n, iterations;
    size_t outliers; /* poses far from the others: rejected */
    bool converged;
    struct estimate estimate;           /* "link1_x_m" ..., 26 entries */
    double correction[ARM_CORRECTIONS]; /* for arm_geometry_correct(); 0 if not determined */
    double noise_m, noise_rad;          /* noise of one coordinate of a pose */
    /* For the nominal arm, the fit, fits without the predicted fifth of the poses, and
     * held-out poses. */
    struct arm_kinematics_check nominal, own, crossed, held_out;
    bool is_held_out;
    double room_se_m;     /* standard error of the tool's position over the whole workspace */
    double tool_se_m;     /* standard error of the tool's position at these poses, rms */
    double neighbour_rho; /* correlation of residuals between rows */
    const char *missing;  /* unmodelled effect; NULL: none found */
    double missing_m;     /* its effect on the tool's position, rms */
    /* explanation if the poses are not those of this arm; "": they are */
    char explained[ESTIMATE_TEXT_MAX];
    double tool_m; /* distance of the poses from the flange; NAN: unknown */
};

/* Sets the names of the parameters, with unknown values. */
void arm_kinematics_fit_start(struct arm_kinematics_fit *fit);

/* Fits and judges. arm: nominal. Returns STATUS_OK, STATUS_E_EMPTY (too few poses),
 * STATUS_E_NOMEM, STATUS_E_MATH. Undetermined corrections are an answer, with its verdict. */
enum { ARM_KINEMATICS_POSES_MIN = 8 };
MUST_USE enum status arm_kinematics_fit_run(const struct arm_geometry *arm,
                                            const struct arm_pairs *pairs, bool doubt_units,
                                            struct arm_kinematics_fit *fit);

/* Compares with poses that the fit has not seen; lowers the verdict. */
void arm_kinematics_hold_out(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                             struct arm_kinematics_fit *fit);

/* Compares an arm with corrections with these poses. */
void arm_kinematics_compare(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                            struct arm_kinematics_check *check);

/* Returns the index among the 36 corrections of the i-th estimated one. */
size_t arm_kinematics_place(size_t i);

#endif
