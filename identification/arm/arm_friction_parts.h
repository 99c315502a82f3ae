/* identification/arm/arm_friction_parts.h - functions shared by the files of the friction fit.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H
#define IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H

#include <gsl/gsl_matrix.h>

#include "identification/arm/arm_friction.h"
#include "identification/numeric/agreement.h"
#include "identification/numeric/qr_accumulator.h"

/* Terms, and one that is tried. */
enum { ARM_FRICTION_PARTS = 3, ARM_FRICTION_COLUMNS_MAX = ARM_FRICTION_P_MAX + 1 };

/* Filtered columns of the regression: terms, one tried term, the current. */
struct arm_friction_work {
    const struct arm_friction_set *set;
    gsl_matrix *memory; /* [P + 3 + ARM_JOINTS x n], P = ARM_FRICTION_COLUMNS_MAX */
    size_t p;
    double *x[ARM_FRICTION_COLUMNS_MAX], *tried, *y, *residual;
    double *qdd[ARM_JOINTS];
    double beta[ARM_FRICTION_COLUMNS_MAX];
    struct svd svd;
    double rest_squares; /* squared residuals over the rows in use */
};

/* Allocates the columns and computes the accelerations. Returns STATUS_OK, STATUS_E_NOMEM. */
MUST_USE enum status arm_friction_open_work(struct arm_friction_work *w,
                                            const struct arm_friction_set *set);
/* Direction of a joint at sample k, as dry friction takes it: -1 .. 1. */
double arm_friction_dry_at(const struct arm_friction_set *set, size_t joint, size_t k);
void arm_friction_fill_columns(struct arm_friction_work *w, size_t joint);

/* Triangle of rows lo .. hi - 1 of those in use: terms, optionally the tried one, the
 * current. */
void arm_friction_make_triangle(const struct arm_friction_work *w, size_t lo, size_t hi,
                                bool with_tried, struct qr_accumulator *qr);
/* Sets svd and beta from these rows. */
MUST_USE enum status arm_friction_solve(struct arm_friction_work *w, size_t lo, size_t hi);
void arm_friction_set_residuals(struct arm_friction_work *w);

/* Covariance [w->p x w->p] of the parameters from rows lo .. hi - 1, which are autocorrelated
 * over `reach` rows; returns its degrees of freedom. */
double arm_friction_find_covariance(const struct arm_friction_work *w, size_t lo, size_t hi,
                                    size_t reach, double *covariance);

/* Finds a delay or a lag, and sets it in the set. Returns STATUS_OK, STATUS_E_NOMEM,
 * STATUS_E_MATH. */
MUST_USE enum status arm_friction_find_late(struct arm_friction_set *set,
                                            struct arm_friction_late *late);

/* Slopes [w->p] of the values by a second of delay, from the fitted model. */
void arm_friction_late_slopes(struct arm_friction_work *w, double *slope);

/* Values with the other kind, next to a delay or lag that is fitted: [ARM_JOINTS]
 * [ARM_FRICTION_P_MAX], out. Returns as arm_friction_find_late(). */
MUST_USE enum status arm_friction_solve_other(const struct arm_friction_set *set,
                                              const struct arm_friction_late *late,
                                              double other[][ARM_FRICTION_P_MAX]);

/* Values of one joint with the noise of the speeds added once more to the terms in proportion
 * to it, mean of three draws: [ARM_JOINTS][ARM_FRICTION_P_MAX], out. Returns as
 * arm_friction_find_late(). */
MUST_USE enum status arm_friction_add_noise(const struct arm_friction_set *set,
                                            double noisy[][ARM_FRICTION_P_MAX]);

/* Parameters of a joint in the thirds of the recording. */
struct arm_friction_thirds {
    size_t count; /* number of thirds that determine all parameters */
    struct estimate_of_one each[ARM_FRICTION_P_MAX][ARM_FRICTION_PARTS];
    /* standard deviation of the current due to a parameter of size 1 */
    double effect_a[ARM_FRICTION_P_MAX];
    double current_sd_a;
};

/* Judges one joint, by number from 0. */
void arm_friction_judge_joint(struct arm_friction_joint *joint, size_t number,
                              const struct arm_friction_thirds *thirds, bool doubt_units);
/* Judges the arm, after all joints. */
void arm_friction_judge_whole(struct arm_friction_fit *fit,
                              const struct arm_friction_summary *summary);
/* Judges after all joints were compared with a held-out recording. */
void arm_friction_judge_held_out(struct arm_friction_fit *fit);

#endif
