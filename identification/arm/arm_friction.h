/* identification/arm/arm_friction.h - inertia, friction and gravity of an arm's six joints,
 * from their currents.
 *
 *     i_j = J qdd_j + Fv qd_j + Fc tanh(qd_j / 0.01) + o + gravity + coupling
 *                                                                       (docs/model/arm.md)
 *
 * The equation is linear in the parameters of each joint. All terms and the current pass the
 * same low-pass filter, which keeps the equation valid and makes accelerations computable.
 * Errors allow for autocorrelated residuals. Reference: Swevers et al., IEEE Control Systems
 * 27, 2007. Deterministic, no I/O, no clock. Cold path: allocates through GSL while it runs and
 * frees all of it.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_H
#define IDENTIFICATION_ARM_ARM_FRICTION_H

#include "identification/arm/arm_friction_data.h"
#include "identification/fit/estimate.h"

enum { ARM_FRICTION_P_MAX = 10 };

/* Quality of the predicted current of one joint. */
struct arm_friction_check {
    size_t n;
    double rmse_a, r2; /* NaN: the current is constant */
};

/* Largest unmodelled term: the share of the squared residuals that it would explain. */
struct arm_friction_unmodelled {
    const char *term; /* name; NULL: none is large */
    size_t joint;     /* joint whose motion the term contains; ARM_JOINTS: its own */
    double share;
};

struct arm_friction_joint {
    struct estimate estimate; /* "inertia1_as2" … */
    struct arm_friction_check own, held_out;
    double speed_max_radps, current_max_a, angle_max_rad;
    /* Slope of the angle's changes against the integrated speed, and its R2; both 1 if
     * consistent. */
    double rate_ratio, rate_r2;
    struct arm_friction_unmodelled missing;
    double residual_rho; /* correlation of neighbouring residuals */
};

/* A delay or a lag of the currents behind the motion, the same for all joints. */
struct arm_friction_late {
    double delay_s, lag_s; /* that is fitted; both 0: none */
    double found_s, se_s;  /* delay to first order, before the search, and its error */
    double other_s;        /* the best lag next to a fitted delay, or delay next to a lag */
    double chi2;           /* by which the fitted one is better */
    bool at_end;           /* the fitted one is the longest that is tried */
};

struct arm_friction_fit {
    struct arm_friction_joint joint[ARM_JOINTS];
    struct estimate
        whole; /* without parameters: worst verdict of the joints, and common reasons */
    bool is_held_out;
    struct arm_friction_late late;
};

/* Sets the names of the parameters, with unknown values. */
void arm_friction_fit_start(struct arm_friction_fit *fit);

/* Fits all joints and judges them. A delay or lag of the currents is found first and set in
 * the set. Returns STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH;
 * undetermined parameters are an answer, with its verdict. */
MUST_USE enum status arm_friction_fit_run(struct arm_friction_set *set,
                                          const struct arm_friction_summary *summary,
                                          bool doubt_units, struct arm_friction_fit *fit);

/* Predicts the currents of a recording that the fit has not seen; lowers verdicts. */
MUST_USE enum status arm_friction_hold_out(struct arm_friction_set *set,
                                           struct arm_friction_fit *fit);

#endif
