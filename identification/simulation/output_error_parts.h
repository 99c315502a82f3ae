/* identification/simulation/output_error_parts.h - what the sources of output_error share;
 * private.
 *
 * Columns of the Jacobian of one run: its velocities at the start (axes), then the global
 * unknowns: parameters, biases, delay; then the residual. Units are natural ones; the
 * logarithms of positive parameters are a scale of their columns.
 */
#ifndef IDENTIFICATION_SIMULATION_OUTPUT_ERROR_PARTS_H
#define IDENTIFICATION_SIMULATION_OUTPUT_ERROR_PARTS_H

#include <string.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "identification/data/trajectory.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/simulation/unknowns.h"

enum { OE_SLOW_ITERATIONS = 10 };

/* One set of values of all unknowns, and what the simulation from there gives. */
struct oe_point {
    struct unknown_values values;
    gsl_matrix *initial; /* [runs x axes] */
    gsl_matrix
        *triangles; /* [runs axes columns x columns]: of each run and axis, upper, unweighted */
    double rss[MODEL_AXES_MAX];
    double cost; /* -2 log likelihood, but for a constant; INFINITY when it ran away */
};

struct oe_work {
    const struct model *model;
    const struct data_set *set;
    const struct search_options *options;
    struct unknowns unknowns;
    struct trajectory_rules rules;
    size_t n;       /* axes */
    size_t p;       /* parameters and biases */
    size_t g;       /* p + 1: global unknowns */
    size_t columns; /* n + g + 1 */
    size_t runs;
    size_t counted;                /* residuals of one axis */
    size_t free_count;             /* unknowns, velocities at the start included */
    double floor2[MODEL_AXES_MAX]; /* a residual variance below it is none */
    size_t evaluations;
    double past[OE_SLOW_ITERATIONS]; /* costs of the last iterations */
    gsl_matrix *run;              /* [runs columns x columns] triangles of the runs, weighted */
    struct qr_accumulator global; /* of the global unknowns, and what is left */
    gsl_matrix *residual;         /* [axes x set->n] */
    struct oe_point here, there;
};

double oe_weight(const struct oe_work *work, const struct oe_point *point, size_t axis);

/* Simulate from the point's unknowns; fills triangles, rss and cost. */
MUST_USE enum status oe_evaluate(struct oe_work *work, struct oe_point *point);

/* Residuals of here into work->residual; NaN where a sample takes no part. */
void oe_residuals(struct oe_work *work);

/* Triangles of here, weighted, into work->run and global; velocities at the start are damped
 * by lambda. */
void oe_reduce(struct oe_work *work, double lambda);

/* The damped step from here, and there where it leads. *length: against the standard errors,
 * at least that of each unknown. */
void oe_step(struct oe_work *work, double lambda, double *length);

/* Errors of the estimate at here: se, se_hac, covariance, rank, condition, null directions and
 * delay of fit; hac_lags of report, whose summaries are there already. */
MUST_USE enum status oe_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                                   struct search_report *report);

#endif
