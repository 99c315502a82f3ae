#include "identification/simulation/prediction_filter.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

bool prediction_filter_alloc(struct prediction_filter *filter, const struct model *model,
                             const struct data_set *set, const struct search_options *options,
                             size_t added)
{
    *filter = (struct prediction_filter){
        .model = model, .set = set, .n = model->axis_count, .added = added};
    free_parameters_init(&filter->free_parameters, model, options);
    filter->g = filter->free_parameters.g;
    filter->rules = (struct trajectory_rules){.model = model,
                                              .set = set,
                                              .at_rest = options->at_rest,
                                              .with_biases = true,
                                              .sensitive = true,
                                              .budget = options->budget};
    for (size_t i = 0; i < filter->n; i++) {
        double largest = 0.0;
        filter->rules.limit[i] = free_parameters_limit(set, i, &largest);
    }
    const size_t n = filter->n;
    const size_t columns = filter->g + added;
    filter->covariance = gsl_matrix_alloc(2 * n, 2 * n);
    filter->transition = gsl_matrix_alloc(2 * n, 2 * n);
    filter->product = gsl_matrix_alloc(2 * n, 2 * n);
    filter->gain = gsl_matrix_alloc(2 * n, n);
    filter->root = gsl_matrix_alloc(n, n);
    filter->state_by = gsl_matrix_alloc(2 * n, columns);
    filter->moved_by = gsl_matrix_alloc(2 * n, columns);
    filter->rows = gsl_matrix_alloc(n, columns);
    filter->efforts = added > 0 ? gsl_matrix_alloc(n, added) : NULL;
    filter->residual = gsl_matrix_alloc(n, set->n);
    filter->whitened = gsl_matrix_alloc(n, set->n);
    return filter->covariance && filter->transition && filter->product && filter->gain &&
           filter->root && filter->state_by && filter->moved_by && filter->rows &&
           (filter->efforts || added == 0) && filter->residual && filter->whitened;
}

void prediction_filter_free(struct prediction_filter *filter)
{
    gsl_matrix_free(filter->covariance);
    gsl_matrix_free(filter->transition);
    gsl_matrix_free(filter->product);
    gsl_matrix_free(filter->gain);
    gsl_matrix_free(filter->root);
    gsl_matrix_free(filter->state_by);
    gsl_matrix_free(filter->moved_by);
    gsl_matrix_free(filter->rows);
    gsl_matrix_free(filter->efforts);
    gsl_matrix_free(filter->residual);
    gsl_matrix_free(filter->whitened);
}

/* A run starts at its first measured velocities, with forces of their stationary variance. */
static void begin_run(struct prediction_filter *filter, struct trajectory *walk, size_t run,
                      const double *theta, double delay_s)
{
    const size_t n = filter->n;
    const bool at_rest = filter->free_parameters.options->at_rest[run];
    double nu_0[MODEL_AXES_MAX];
    gsl_matrix_set_zero(filter->covariance);
    gsl_matrix_set_zero(filter->state_by);
    for (size_t i = 0; i < n; i++) {
        const double sd = filter->noise.velocity_sd[i];
        const double force_sd = filter->noise.force_sd[i];
        nu_0[i] = at_rest ? 0.0 : filter->set->nu[i][filter->set->run_start[run]];
        gsl_matrix_set(filter->covariance, i, i, at_rest ? 0.0 : sd * sd);
        gsl_matrix_set(filter->covariance, n + i, n + i, force_sd * force_sd);
    }
    trajectory_begin(walk, &filter->rules, run, theta, delay_s, nu_0);
}

/* Filter of prediction error (docs/model/prediction_error.md, eq. 1 - 4). Its state consists
 * of the velocities and an unmeasured force on each axis. A force decays within force_time_s
 * and is driven by white noise (Gauss-Markov). The linearised motion over one sample gives
 * the transition. The innovation is the next measurement minus its prediction; its
 * covariance gives the likelihood. The sensitivities of the innovations pass through the
 * same transition and gain as the state, with the gain treated as constant. They are the
 * rows of the search. Assumes Gaussian noise and a motion that is nearly linear within one
 * sample. Reference: Jazwinski, Stochastic Processes and Filtering Theory (1970), chapter 8. */

/* Computes the transition over one sample from the sensitivities of the walk. A force decays
 * to `decay` of itself and acts with its mean over the sample. */
static void set_transition(struct prediction_filter *filter, const struct trajectory *walk,
                           double decay)
{
    const size_t n = filter->n;
    const size_t m = trajectory_columns(&filter->rules);
    /* columns of constant efforts, which have the opposite sign */
    const size_t force = m - 1 - n;
    gsl_matrix_set_zero(filter->transition);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            gsl_matrix_set(filter->transition, i, j, walk->by[i * m + j]);
            gsl_matrix_set(filter->transition, i, n + j,
                           -0.5 * (1.0 + decay) * walk->by[i * m + force + j]);
        }
        gsl_matrix_set(filter->transition, n + i, n + i, decay);
    }
}

/* Adds the sensitivities of one sample: to the unknowns, and to the caller's efforts. Those
 * act as constant efforts with the opposite sign. */
static void add_sources(struct prediction_filter *filter, const struct trajectory *walk)
{
    const size_t n = filter->n;
    const size_t m = trajectory_columns(&filter->rules);
    const size_t force = n + filter->model->parameter_count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < filter->g; j++) {
            /* The delay is the last column of the walk, whether biases are fitted or not. */
            const size_t column = j + 1 < filter->g ? n + j : m - 1;
            *gsl_matrix_ptr(filter->state_by, i, j) += walk->by[i * m + column];
        }
        for (size_t j = 0; j < filter->added; j++) {
            for (size_t a = 0; a < n; a++) {
                *gsl_matrix_ptr(filter->state_by, i, filter->g + j) -=
                    walk->by[i * m + force + a] * gsl_matrix_get(filter->efforts, a, j);
            }
        }
    }
}

/* Predicts the next sample; false if the velocities diverge. */
static bool predict_next(struct prediction_filter *filter, struct trajectory *walk,
                         double *force, const struct prediction_pass *pass)
{
    const size_t n = filter->n;
    const double h_s = filter->set->t_s[walk->at + 1] - filter->set->t_s[walk->at];
    const double decay = exp(-h_s / filter->noise.force_time_s);
    for (size_t i = 0; i < n; i++) {
        walk->force[i] = 0.5 * (1.0 + decay) * force[i];
        force[i] *= decay;
    }
    trajectory_linearise(walk);
    if (filter->added > 0) {
        gsl_matrix_set_zero(filter->efforts);
        pass->add(pass->context, walk, filter->efforts);
    }
    if (!trajectory_next(walk)) {
        return false;
    }
    set_transition(filter, walk, decay);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, filter->transition,
                         filter->covariance, 0.0, filter->product);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1.0, filter->product, filter->transition,
                         0.0, filter->covariance);
    for (size_t i = 0; i < n; i++) {
        const double sd = filter->noise.force_sd[i];
        *gsl_matrix_ptr(filter->covariance, n + i, n + i) += sd * sd * (1.0 - decay * decay);
    }
    if (!filter->sensitive) {
        return true;
    }
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, filter->transition, filter->state_by,
                         0.0, filter->moved_by);
    gsl_matrix_memcpy(filter->state_by, filter->moved_by);
    add_sources(filter, walk);
    return true;
}

/* Cholesky factor of the innovations' covariance; false if it is not positive definite. */
static bool factor_innovation(struct prediction_filter *filter)
{
    const size_t n = filter->n;
    gsl_matrix_const_view velocities =
        gsl_matrix_const_submatrix(filter->covariance, 0, 0, n, n);
    gsl_matrix_memcpy(filter->root, &velocities.matrix);
    for (size_t i = 0; i < n; i++) {
        const double sd = filter->noise.velocity_sd[i];
        *gsl_matrix_ptr(filter->root, i, i) += sd * sd;
        if (!(gsl_matrix_get(filter->root, i, i) > 0.0)) {
            return false;
        }
    }
    return gsl_linalg_cholesky_decomp1(filter->root) == GSL_SUCCESS;
}

/* Updates state, covariance and sensitivities with the sample. e: the innovation. */
static void update_state(struct prediction_filter *filter, struct trajectory *walk,
                         double *force, const double *e)
{
    const size_t n = filter->n;
    gsl_matrix_const_view seen = gsl_matrix_const_submatrix(filter->covariance, 0, 0, 2 * n, n);
    gsl_matrix_const_view velocity_by =
        gsl_matrix_const_submatrix(filter->state_by, 0, 0, n, filter->state_by->size2);
    /* The gain is covariance H' (L L')^-1. */
    gsl_matrix_memcpy(filter->gain, &seen.matrix);
    (void)gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1.0, filter->root,
                         filter->gain);
    /* While `gain` holds gain L, covariance - (gain L) (gain L)' stays symmetric. */
    (void)gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1.0, filter->gain, filter->gain, 1.0,
                         filter->covariance);
    (void)gsl_blas_dtrsm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1.0, filter->root,
                         filter->gain);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            walk->nu[i] += gsl_matrix_get(filter->gain, i, j) * e[j];
            force[i] += gsl_matrix_get(filter->gain, n + i, j) * e[j];
        }
    }
    if (filter->sensitive) {
        (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, filter->gain, &velocity_by.matrix,
                             0.0, filter->moved_by);
        gsl_matrix_sub(filter->state_by, filter->moved_by);
    }
}

/* Whitens the innovation and its rows, and adds to the cost. */
static void count_innovation(struct prediction_filter *filter, const struct trajectory *walk,
                             const double *e, struct prediction_pass *pass)
{
    const size_t n = filter->n;
    double z[MODEL_AXES_MAX];
    memcpy(z, e, n * sizeof *z);
    gsl_vector_view whitened = gsl_vector_view_array(z, n);
    (void)gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, filter->root,
                         &whitened.vector);
    for (size_t i = 0; i < n; i++) {
        pass->cost += 2.0 * log(gsl_matrix_get(filter->root, i, i)) + z[i] * z[i];
        gsl_matrix_set(filter->whitened, i, walk->at, z[i]);
    }
    pass->counted++;
    if (!filter->sensitive) {
        return;
    }
    gsl_matrix_const_view velocity_by =
        gsl_matrix_const_submatrix(filter->state_by, 0, 0, n, filter->state_by->size2);
    gsl_matrix_memcpy(filter->rows, &velocity_by.matrix);
    (void)gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1.0, filter->root,
                         filter->rows);
    if (pass->see) {
        pass->see(pass->context, walk, filter->rows, z);
    }
    if (!pass->qr) {
        return;
    }
    double score[NUMERIC_COLUMNS_MAX] = {0.0};
    for (size_t i = 0; i < n; i++) {
        double row[NUMERIC_COLUMNS_MAX];
        for (size_t j = 0; j < filter->g; j++) {
            row[j] = gsl_matrix_get(filter->rows, i, j);
            score[j] += row[j] * z[i];
        }
        row[filter->g] = z[i];
        qr_add(pass->qr, row);
    }
    if (pass->scores) {
        hac_add(pass->scores, score);
    }
}

/* One run of the filter: predict, compute the innovation, add it to the likelihood, update.
 * Samples whose efforts may be unknown update the state but do not count. */
static enum status pass_run(struct prediction_filter *filter, size_t run, const double *theta,
                            double delay_s, struct prediction_pass *pass)
{
    const size_t n = filter->n;
    const double settled_s =
        free_parameters_settled_s(&filter->free_parameters, filter->set, run);
    double force[MODEL_AXES_MAX] = {0.0};
    struct trajectory walk;
    begin_run(filter, &walk, run, theta, delay_s);
    while (walk.at + 1 < walk.end) {
        double e[MODEL_AXES_MAX];
        if (!free_parameters_go_on(&filter->free_parameters)) {
            pass->cost = HUGE_VAL;
            return STATUS_E_STALE;
        }
        if (!predict_next(filter, &walk, force, pass) || !factor_innovation(filter)) {
            pass->cost = HUGE_VAL;
            return STATUS_OK;
        }
        for (size_t i = 0; i < n; i++) {
            e[i] = filter->set->nu[i][walk.at] - walk.nu[i];
        }
        if (filter->set->t_s[walk.at] >= settled_s) {
            for (size_t i = 0; i < n; i++) {
                gsl_matrix_set(filter->residual, i, walk.at, e[i]);
            }
            count_innovation(filter, &walk, e, pass);
        }
        update_state(filter, &walk, force, e);
    }
    if (pass->scores) {
        hac_break(pass->scores);
    }
    return STATUS_OK;
}

enum status prediction_filter_pass(struct prediction_filter *filter,
                                   const struct free_values *values,
                                   struct prediction_pass *pass)
{
    /* Biases that are not fitted are zero. */
    double theta[DYNAMICS_P_MAX] = {0.0};
    memcpy(theta, values->theta, filter->free_parameters.p * sizeof *theta);
    filter->free_parameters.walked = 0;
    filter->sensitive = pass->qr || pass->see;
    filter->rules.fixed = !filter->sensitive;
    pass->cost = 0.0;
    pass->counted = 0;
    gsl_matrix_set_all(filter->residual, nan(""));
    gsl_matrix_set_all(filter->whitened, nan(""));
    if (pass->qr) {
        qr_start(pass->qr, filter->g + 1);
    }
    for (size_t r = 0; r < filter->set->run_count && pass->cost < HUGE_VAL; r++) {
        const enum status st = pass_run(filter, r, theta, values->delay_s, pass);
        if (st != STATUS_OK) {
            return st;
        }
    }
    if (pass->qr) {
        qr_flush(pass->qr);
    }
    if (!isfinite(pass->cost)) {
        pass->cost = HUGE_VAL;
    }
    return STATUS_OK;
}
