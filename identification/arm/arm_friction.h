/* identification/arm/arm_friction.h - inertia, friction and gravity of an arm's six joints,
 * from their currents.
 *
 *     i_j = J qdd_j + Fv qd_j + Fc tanh(qd_j / 0.01) + o + gravity + coupling
 * (docs/model/arm.md)
 *
 * linear in the parameters of each joint, all terms and the current behind the same low pass.
 * Errors know that what is left hangs together in time. Deterministic, no I/O, no clock. Cold
 * path: allocates through GSL while it runs, keeps nothing.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_H
#define IDENTIFICATION_ARM_ARM_FRICTION_H

#include "identification/arm/arm_friction_data.h"
#include "identification/fit/estimate.h"

enum { ARM_FRICTION_P_MAX = 10 };

/* How well currents of one joint are foretold. */
struct arm_friction_check {
    size_t n;
    double rmse_a, r2; /* NaN: the current did not change */
};

/* What the model lacks, by the share of what it leaves that one more term would explain. */
struct arm_friction_unmodelled {
    const char *term; /* in words; NULL: none is large */
    size_t joint;     /* whose motion the term is of; ARM_JOINTS: its own */
    double share;
};

struct arm_friction_joint {
    struct estimate estimate; /* "inertia1_as2" … */
    struct arm_friction_check own, held_out;
    double speed_max_radps, current_max_a, angle_max_rad;
    /* Of the angle's changes to what the speed makes of them: 1, and 1. */
    double rate_ratio, rate_r2;
    struct arm_friction_unmodelled missing;
    double residual_rho; /* correlation of what is left with its neighbour */
};

struct arm_friction_fit {
    struct arm_friction_joint joint[ARM_JOINTS];
    struct estimate
        whole; /* no parameters: the worst of the joints, and what is wrong of all */
    bool is_held_out;
};

/* The names of what is found, nothing known. */
void arm_friction_fit_start(struct arm_friction_fit *fit);

/* Fit all joints, and judge. STATUS_E_NOMEM, STATUS_E_MATH; what the data do not determine is
 * an answer, with its verdict. */
MUST_USE enum status arm_friction_fit_run(const struct arm_friction_set *set,
                                          const struct arm_friction_summary *summary,
                                          bool doubt_units, struct arm_friction_fit *fit);

/* Foretell currents of a recording that took no part; lowers verdicts. */
MUST_USE enum status arm_friction_hold_out(const struct arm_friction_set *set,
                                           struct arm_friction_fit *fit);

#endif
