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
#include "identification/simulation/output_error.h"
#include "identification/simulation/unknowns.h"

enum { OE_BLOCK_ROWS = 64, OE_GLOBALS_MAX = INFORMATION_MAX };

/* One set of values of all unknowns, and what the simulation from there gives. */
struct oe_point {
    struct unknown_values values;
    gsl_matrix *initial;   /* [runs x axes] */
    gsl_matrix *triangles; /* [runs axes columns x columns]: of each run and axis, unweighted */
    double rss[MODEL_AXES_MAX];
    double cost; /* -2 log likelihood, but for a constant; INFINITY when it ran away */
};

struct oe_work {
    const struct model *model;
    const struct data_set *set;
    const struct output_error_options *options;
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
    gsl_matrix *block;     /* [axes OE_BLOCK_ROWS x columns] rows on their way to triangles */
    gsl_matrix *reflector; /* [columns x columns] */
    gsl_matrix *below;     /* [columns x columns] what is folded into a triangle */
    gsl_matrix *run;       /* [runs columns x columns] triangles of the runs, weighted */
    gsl_matrix *global;    /* [g + 1 x g + 1] triangle of the global unknowns */
    gsl_matrix *step;      /* [runs x axes] of the velocities at the start */
    gsl_matrix *residual;  /* [axes x set->n] */
    struct oe_point here, there;
};

double oe_weight(const struct oe_work *work, const struct oe_point *point, size_t axis);

/* Simulate from the point's unknowns; fills triangles, rss and cost. */
MUST_USE enum status oe_evaluate(struct oe_work *work, struct oe_point *point);

/* Residuals of here into work->residual; NaN where a sample takes no part. */
void oe_residuals(struct oe_work *work);

/* Triangles of here, weighted, damped by lambda, columns times scale [g]: work->run, global. */
MUST_USE enum status oe_reduce(struct oe_work *work, double lambda, const double *scale,
                               const bool *free);

/* The damped step: global unknowns, in scaled units, into step [g], the others into
 * work->step. *length: against the standard errors, at least that of each unknown. */
MUST_USE enum status oe_step(struct oe_work *work, double lambda, const double *scale,
                             const bool *free, double *step, double *length);

/* Fold rows into a triangle; they are lost. */
MUST_USE enum status oe_fold(struct oe_work *work, gsl_matrix *triangle, gsl_matrix *rows);

/* Errors of the estimate at here: se, se_hac, covariance, rank, condition, null directions and
 * delay of fit; hac_lags of report, whose summaries are there already. */
MUST_USE enum status oe_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                                   struct output_error_report *report);

#endif
