/* identification/servo/servo_fit_parts.h - internals of the servo fit: errors, and the verdict.
 *
 * Private to identification/servo. Pure.
 */
#ifndef IDENTIFICATION_SERVO_SERVO_FIT_PARTS_H
#define IDENTIFICATION_SERVO_SERVO_FIT_PARTS_H

#include "identification/servo/servo_fit.h"
#include "identification/servo/servo_search.h"

/* Covariance of the free terms at a point, robust to residuals that are autocorrelated over a
 * second. */
struct servo_errors {
    double covariance[TERMS * TERMS]; /* [TERMS x TERMS] zero for terms that are not free */
    double white[TERMS * TERMS];      /* the same for independent residuals */
    double share;                     /* of the rows that one second has, <= 1 */
    double freedom;                   /* degrees of freedom of the errors */
    size_t rank;
    double condition;
};

MUST_USE enum status servo_errors_compute(struct servo_problem *problem,
                                          const struct servo_point *point,
                                          struct servo_errors *errors);

/* Values of all parameters at a point; NaN for those that are not in the model. */
void servo_point_values(const struct servo_point *point, double values[SERVO_P]);

/* Sets the estimate: values, errors by the delta method, intervals. */
void servo_estimate_set(struct servo_fit *fit, const struct servo_set *set,
                        const struct servo_point *point, const struct servo_errors *errors);

/* Sets the interval that also holds if there is play: it reaches over the values of the fit
 * with play, and their intervals. */
void servo_estimate_open(struct servo_fit *fit, const struct servo_point *with_play,
                         const struct servo_errors *errors);

/* Fits the rows of one part and of the other from the whole fit, and adds a reason if the
 * parameters differ: halves of the time, and slow and fast commands. */
MUST_USE enum status servo_judge_parts(struct servo_problem *problem,
                                       const struct servo_point *point, struct servo_fit *fit);

/* Compares the gain of each tenth of the time with that of the others, one Gauss-Newton step
 * from the whole fit, and adds a reason if one differs: halves miss a gain that dips and
 * returns. */
MUST_USE enum status servo_judge_times(struct servo_problem *problem,
                                       const struct servo_point *point, struct servo_fit *fit);

/* Describe residuals at the point whose simulation problem->shown has: the part that earlier
 * residuals predict, as a ratio of the motion's sd, and the speed above which nothing follows.
 */
double servo_residuals_colour(const struct servo_problem *problem);
/* rms of the residual that commands of unknown phase cause: each may have changed anywhere
 * within the row that first shows it. */
double servo_residuals_phase(struct servo_problem *problem, const struct servo_law *law);
void servo_residuals_describe(struct servo_problem *problem, struct servo_fit *fit);

/* Is there a residual beyond noise and the encoder's steps? */
bool servo_residuals_ask(const struct servo_set *set, double coloured_ratio, double least);

/* Adds the reasons of the whole fit. */
void servo_judge(struct servo_fit *fit, const struct servo_set *set,
                 const struct servo_summary *summary);

#endif
