/* identification/simulation/prediction_filter.h - the Kalman filter of prediction_error, with
 * sensitivities; private.
 */
#ifndef IDENTIFICATION_SIMULATION_PREDICTION_FILTER_H
#define IDENTIFICATION_SIMULATION_PREDICTION_FILTER_H

#include <gsl/gsl_matrix.h>

#include "identification/data/trajectory.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/simulation/free_parameters.h"

struct prediction_filter {
    const struct model *model;
    const struct data_set *set;
    struct free_parameters free_parameters;
    struct trajectory_rules rules; /* always with biases: their columns are those of forces */
    size_t n, g;
    size_t added; /* columns behind those of the unknowns: efforts of the caller's making */
    struct prediction_noise noise;
    size_t evaluations;
    bool sensitive;         /* this pass wants its rows */
    gsl_matrix *covariance; /* [2n x 2n] of velocities, then forces */
    gsl_matrix *transition; /* [2n x 2n] */
    gsl_matrix *product;    /* [2n x 2n] */
    gsl_matrix *gain;       /* [2n x n] */
    gsl_matrix *root;       /* [n x n] Cholesky factor of the innovations' covariance */
    gsl_matrix *state_by;   /* [2n x (g + added)] sensitivities of the state */
    gsl_matrix *moved_by;   /* [2n x (g + added)] */
    gsl_matrix *rows;       /* [n x (g + added)] whitened sensitivities of one sample */
    gsl_matrix *efforts;    /* [n x added] of each added column, on each axis; NULL: none */
    gsl_matrix *residual;   /* [axes x set->n] one-step, NaN where there is none */
    gsl_matrix *whitened;   /* likewise, of unit variance and uncorrelated axes */
};

/* What a pass gives. */
struct prediction_pass {
    double cost;                   /* -2 log likelihood; INFINITY when it ran away */
    size_t counted;                /* samples with an innovation that counts */
    struct qr_accumulator *qr;     /* whitened [sensitivities, innovation]; NULL: not wanted */
    struct hac_covariance *scores; /* started, of g moments, in; NULL or with qr */
    /* Asked for what the added columns are on the way to the next sample, in the mean: efforts
     * [n x added], zero on entry; NULL where there is none. */
    void (*add)(void *context, const struct trajectory *walk, gsl_matrix *efforts);
    /* Told of each innovation: whitened sensitivities [n x (g + added)] and innovation [n]; or
     * NULL. */
    void (*see)(void *context, const struct trajectory *walk, const gsl_matrix *rows,
                const double *z);
    void *context;
};

/* set of rules all but step_s. added: columns beside the unknowns. False when memory ran out;
 * prediction_filter_free() in any case. */
bool prediction_filter_alloc(struct prediction_filter *filter, const struct model *model,
                             const struct data_set *set, const struct search_options *options,
                             size_t added);

void prediction_filter_free(struct prediction_filter *filter);

/* Over all runs. Returns STATUS_E_STALE when it was told to end. */
MUST_USE enum status prediction_filter_pass(struct prediction_filter *filter,
                                            const struct free_values *values,
                                            struct prediction_pass *pass);

#endif
