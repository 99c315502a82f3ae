/* identification/simulation/prediction_filter.h - Kalman filter of prediction_error, with
 * sensitivities. Private.
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
    struct trajectory_rules rules; /* always with biases: their columns serve for forces */
    size_t n, g;
    /* number of columns after those of the unknowns, for efforts that the caller adds */
    size_t added;
    struct prediction_noise noise;
    bool sensitive;         /* compute rows in this pass */
    gsl_matrix *covariance; /* [2n x 2n] covariance of velocities, then forces */
    gsl_matrix *transition; /* [2n x 2n] */
    gsl_matrix *product;    /* [2n x 2n] */
    gsl_matrix *gain;       /* [2n x n] */
    gsl_matrix *root;       /* [n x n] Cholesky factor of the innovations' covariance */
    gsl_matrix *state_by;   /* [2n x (g + added)] sensitivities of the state */
    gsl_matrix *moved_by;   /* [2n x (g + added)] */
    gsl_matrix *rows;       /* [n x (g + added)] whitened sensitivities of one sample */
    gsl_matrix *efforts;  /* [n x added] effort of each added column on each axis; NULL: none */
    gsl_matrix *residual; /* [axes x set->n] one-step residuals, NaN where there is none */
    gsl_matrix *whitened; /* the same with unit variance and uncorrelated axes */
};

/* Result of a pass, and its optional outputs. */
struct prediction_pass {
    double cost;                   /* -2 log likelihood; INFINITY if it diverged */
    size_t counted;                /* number of samples with an innovation that counts */
    struct qr_accumulator *qr;     /* whitened [sensitivities, innovation]; NULL: not wanted */
    struct hac_covariance *scores; /* started for g moments, in; NULL, or only with qr */
    /* Callback that sets the mean of each added column on the way to the next sample:
     * efforts [n x added], zero on entry. NULL if there are none. */
    void (*add)(void *context, const struct trajectory *walk, gsl_matrix *efforts);
    /* Callback for each innovation: whitened sensitivities [n x (g + added)] and innovation
     * [n]; or NULL. */
    void (*see)(void *context, const struct trajectory *walk, const gsl_matrix *rows,
                const double *z);
    void *context;
};

/* Allocates the filter and sets rules, except step_s. added: number of additional columns.
 * Returns false if memory ran out; call prediction_filter_free() in any case. */
bool prediction_filter_alloc(struct prediction_filter *filter, const struct model *model,
                             const struct data_set *set, const struct search_options *options,
                             size_t added);

void prediction_filter_free(struct prediction_filter *filter);

/* Runs the filter over all runs. Returns STATUS_E_STALE if go_on stopped it. */
MUST_USE enum status prediction_filter_pass(struct prediction_filter *filter,
                                            const struct free_values *values,
                                            struct prediction_pass *pass);

#endif
