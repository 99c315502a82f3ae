/* Simulation of all runs, and the reduction of its Jacobian (docs/model/output_error.md). */
#include "identification/simulation/output_error_parts.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

static enum status failure(int gsl_code)
{
    return gsl_code == GSL_ENOMEM ? STATUS_E_NOMEM : STATUS_E_MATH;
}

double oe_weight(const struct oe_work *work, const struct oe_point *point, size_t axis)
{
    return 1.0 / fmax(point->rss[axis] / (double)work->counted, work->floor2[axis]);
}

enum status oe_fold(struct oe_work *work, gsl_matrix *triangle, gsl_matrix *rows)
{
    const size_t m = triangle->size2;
    gsl_matrix_view reflector = gsl_matrix_submatrix(work->reflector, 0, 0, m, m);
    const int code = gsl_linalg_QR_UR_decomp(triangle, rows, &reflector.matrix);
    return code == GSL_SUCCESS ? STATUS_OK : failure(code);
}

/* The triangle of a run and an axis. */
static gsl_matrix_view triangle_of(const struct oe_work *work, const struct oe_point *point,
                                   size_t run, size_t axis)
{
    const size_t m = work->columns;
    return gsl_matrix_submatrix(point->triangles, (run * work->n + axis) * m, 0, m, m);
}

static enum status fold_block(struct oe_work *work, struct oe_point *point, size_t run,
                              size_t rows)
{
    for (size_t i = 0; i < work->n && rows > 0; i++) {
        gsl_matrix_view triangle = triangle_of(work, point, run, i);
        gsl_matrix_view block =
            gsl_matrix_submatrix(work->block, i * OE_BLOCK_ROWS, 0, rows, work->columns);
        const enum status st = oe_fold(work, &triangle.matrix, &block.matrix);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return STATUS_OK;
}

/* The rows of one sample, one for each axis, and its share of the sums of squares. */
static void add_sample(struct oe_work *work, struct oe_point *point,
                       const struct trajectory *walk, size_t row)
{
    const size_t m = work->columns;
    for (size_t i = 0; i < work->n; i++) {
        const double residual = work->set->nu[i][walk->at] - walk->nu[i];
        double *to = gsl_matrix_ptr(work->block, i * OE_BLOCK_ROWS + row, 0);
        memcpy(to, walk->by + i * (m - 1), (m - 1) * sizeof *to);
        to[m - 1] = residual;
        point->rss[i] += residual * residual;
    }
}

static enum status walk_run(struct oe_work *work, struct oe_point *point, size_t run,
                            bool *ran_away)
{
    const double settled_s = unknowns_settled_s(&work->unknowns, work->set, run);
    struct trajectory walk;
    size_t rows = 0;
    trajectory_begin(&walk, &work->rules, run, point->values.theta, point->values.delay_s,
                     gsl_matrix_const_ptr(point->initial, run, 0));
    for (;;) {
        if (!unknowns_go_on(&work->unknowns)) {
            return STATUS_E_STALE;
        }
        if (work->set->t_s[walk.at] >= settled_s) {
            add_sample(work, point, &walk, rows++);
        }
        if (rows == OE_BLOCK_ROWS) {
            const enum status st = fold_block(work, point, run, rows);
            if (st != STATUS_OK) {
                return st;
            }
            rows = 0;
        }
        if (walk.at + 1 == walk.end) {
            return fold_block(work, point, run, rows);
        }
        if (!trajectory_next(&walk)) {
            *ran_away = true;
            return STATUS_OK;
        }
    }
}

enum status oe_evaluate(struct oe_work *work, struct oe_point *point)
{
    const double counted = (double)work->counted;
    bool ran_away = false;
    work->evaluations++;
    work->unknowns.walked = 0;
    work->rules.sensitive = true;
    gsl_matrix_set_zero(point->triangles);
    memset(point->rss, 0, sizeof point->rss);
    point->cost = INFINITY;
    for (size_t r = 0; r < work->runs && !ran_away; r++) {
        const enum status st = walk_run(work, point, r, &ran_away);
        if (st != STATUS_OK) {
            return st;
        }
    }
    double cost = 0.0;
    for (size_t i = 0; i < work->n; i++) {
        cost += counted * log(fmax(point->rss[i] / counted, work->floor2[i]));
    }
    /* Sensitivities can overflow where velocities do not. */
    for (size_t i = 0; i < point->triangles->size1 && !ran_away; i++) {
        for (size_t j = 0; j < work->columns && !ran_away; j++) {
            ran_away = !isfinite(gsl_matrix_get(point->triangles, i, j));
        }
    }
    point->cost = ran_away || !isfinite(cost) ? HUGE_VAL : cost;
    return STATUS_OK;
}

void oe_residuals(struct oe_work *work)
{
    work->rules.sensitive = false;
    gsl_matrix_set_all(work->residual, NAN);
    for (size_t r = 0; r < work->runs; r++) {
        const double settled_s = unknowns_settled_s(&work->unknowns, work->set, r);
        struct trajectory walk;
        bool more = true;
        trajectory_begin(&walk, &work->rules, r, work->here.values.theta,
                         work->here.values.delay_s,
                         gsl_matrix_const_ptr(work->here.initial, r, 0));
        while (more) {
            for (size_t i = 0; i < work->n && work->set->t_s[walk.at] >= settled_s; i++) {
                gsl_matrix_set(work->residual, i, walk.at,
                               work->set->nu[i][walk.at] - walk.nu[i]);
            }
            more = walk.at + 1 < walk.end && trajectory_next(&walk);
        }
    }
}

/* Length of a column of a triangle, 1 for one that is empty: nothing is moved along it. */
static double length_of(const gsl_matrix *triangle, size_t column)
{
    gsl_vector_const_view v = gsl_matrix_const_subcolumn(triangle, column, 0, column + 1);
    const double length = gsl_blas_dnrm2(&v.vector);
    return length > 0.0 ? length : 1.0;
}

/* sqrt(lambda) times the lengths of the first columns, or least where they are shorter, as
 * rows below the triangle. */
static enum status damp(struct oe_work *work, gsl_matrix *triangle, size_t count, double lambda,
                        const bool *free, const double *least)
{
    gsl_matrix_view rows = gsl_matrix_submatrix(work->below, 0, 0, count, triangle->size2);
    gsl_matrix_set_zero(&rows.matrix);
    for (size_t j = 0; j < count; j++) {
        const bool held = free && !free[j];
        const double length = fmax(length_of(triangle, j), least ? least[j] : 0.0);
        gsl_matrix_set(&rows.matrix, j, j, held ? 1.0 : sqrt(lambda) * length);
    }
    return oe_fold(work, triangle, &rows.matrix);
}

/* The triangle of one run from those of its axes; returns it in work->run. A velocity at the
 * start that is forgotten before the residuals begin has no effect to be divided by: it is
 * damped as if one sample showed it. */
static enum status reduce_run(struct oe_work *work, size_t run, double lambda,
                              const double *scale)
{
    const size_t m = work->columns;
    gsl_matrix_view triangle = gsl_matrix_submatrix(work->run, run * m, 0, m, m);
    double least[MODEL_AXES_MAX];
    gsl_matrix_set_zero(&triangle.matrix);
    for (size_t i = 0; i < work->n; i++) {
        least[i] = sqrt(oe_weight(work, &work->here, i));
        gsl_matrix_view axis = triangle_of(work, &work->here, run, i);
        gsl_matrix_memcpy(work->below, &axis.matrix);
        gsl_matrix_scale(work->below, least[i]);
        if (work->options->at_rest[run]) {
            gsl_matrix_view start = gsl_matrix_submatrix(work->below, 0, 0, m, work->n);
            gsl_matrix_set_zero(&start.matrix);
        }
        for (size_t j = 0; scale && j < work->g; j++) {
            gsl_vector_view column = gsl_matrix_column(work->below, work->n + j);
            gsl_vector_scale(&column.vector, scale[j]);
        }
        const enum status st = oe_fold(work, &triangle.matrix, work->below);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return lambda > 0.0 ? damp(work, &triangle.matrix, work->n, lambda, NULL, least)
                        : STATUS_OK;
}

enum status oe_reduce(struct oe_work *work, double lambda, const double *scale,
                      const bool *free)
{
    const size_t g1 = work->g + 1;
    gsl_matrix_set_zero(work->global);
    for (size_t r = 0; r < work->runs; r++) {
        enum status st = reduce_run(work, r, lambda, scale);
        if (st != STATUS_OK) {
            return st;
        }
        /* What the velocities at the start of the run cannot explain is left to the rest. */
        gsl_matrix_const_view rest =
            gsl_matrix_const_submatrix(work->run, r * work->columns + work->n, work->n, g1, g1);
        gsl_matrix_view copy = gsl_matrix_submatrix(work->below, 0, 0, g1, g1);
        gsl_matrix_memcpy(&copy.matrix, &rest.matrix);
        st = oe_fold(work, work->global, &copy.matrix);
        if (st != STATUS_OK) {
            return st;
        }
    }
    for (size_t j = 0; j < work->g; j++) {
        gsl_vector_view column = gsl_matrix_column(work->global, j);
        if (!free[j]) {
            gsl_vector_set_zero(&column.vector);
        }
    }
    return lambda > 0.0 ? damp(work, work->global, work->g, lambda, free, NULL) : STATUS_OK;
}

enum status oe_step(struct oe_work *work, double lambda, const double *scale, const bool *free,
                    double *step, double *length)
{
    const enum status st = oe_reduce(work, lambda, scale, free);
    if (st != STATUS_OK) {
        return st;
    }
    double sum = 0.0;
    gsl_vector_view x = gsl_vector_view_array(step, work->g);
    gsl_matrix_const_view u = gsl_matrix_const_submatrix(work->global, 0, 0, work->g, work->g);
    for (size_t j = 0; j < work->g; j++) {
        step[j] = gsl_matrix_get(work->global, j, work->g);
        sum += step[j] * step[j];
    }
    int code = gsl_blas_dtrsv(CblasUpper, CblasNoTrans, CblasNonUnit, &u.matrix, &x.vector);
    for (size_t r = 0; r < work->runs && code == GSL_SUCCESS; r++) {
        const size_t top = r * work->columns;
        gsl_matrix_const_view a =
            gsl_matrix_const_submatrix(work->run, top, 0, work->n, work->n);
        gsl_matrix_const_view b =
            gsl_matrix_const_submatrix(work->run, top, work->n, work->n, work->g);
        gsl_vector_view y = gsl_matrix_row(work->step, r);
        for (size_t i = 0; i < work->n; i++) {
            const double z = gsl_matrix_get(work->run, top + i, work->columns - 1);
            gsl_vector_set(&y.vector, i, z);
            sum += z * z;
        }
        (void)gsl_blas_dgemv(CblasNoTrans, -1.0, &b.matrix, &x.vector, 1.0, &y.vector);
        code = gsl_blas_dtrsv(CblasUpper, CblasNoTrans, CblasNonUnit, &a.matrix, &y.vector);
    }
    *length = sqrt(sum);
    return code == GSL_SUCCESS ? STATUS_OK : failure(code);
}
