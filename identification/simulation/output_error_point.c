/* Simulation of all runs, and the reduction of its Jacobian (docs/model/output_error.md).
 *
 * Each sample gives every axis a row of sensitivities and a residual, which go into the R of
 * its run and axis at once: the Jacobian is never held. Weights of the axes follow from the
 * residuals of all runs, so they are multiplied to these R's afterwards; a run's velocities at
 * the start are its first columns, and what QR leaves below them is about the unknowns that all
 * runs share. */
#include "identification/simulation/output_error_parts.h"

#include <math.h>

double oe_weight(const struct oe_work *work, const struct oe_point *point, size_t axis)
{
    return 1.0 / fmax(point->rss[axis] / (double)work->counted, work->floor2[axis]);
}

/* Row i of the triangle of a run and an axis. */
static double *triangle_row(const struct oe_work *work, const struct oe_point *point,
                            size_t run, size_t axis, size_t i)
{
    const size_t top = (run * work->n + axis) * work->columns;
    return gsl_matrix_ptr(point->triangles, top + i, 0);
}

/* The rows of one sample, one for each axis, and its share of the sums of squares. */
static void add_sample(struct oe_work *work, struct oe_point *point,
                       const struct trajectory *walk, struct qr_accumulator *axes)
{
    const size_t m = work->columns;
    for (size_t i = 0; i < work->n; i++) {
        const double residual = work->set->nu[i][walk->at] - walk->nu[i];
        double row[NUMERIC_COLUMNS_MAX];
        memcpy(row, walk->by + i * (m - 1), (m - 1) * sizeof *row);
        row[m - 1] = residual;
        qr_add(&axes[i], row);
        point->rss[i] += residual * residual;
    }
}

static enum status walk_run(struct oe_work *work, struct oe_point *point, size_t run,
                            bool *ran_away)
{
    const double settled_s = unknowns_settled_s(&work->unknowns, work->set, run);
    struct qr_accumulator axes[MODEL_AXES_MAX];
    struct trajectory walk;
    bool more = true;
    for (size_t i = 0; i < work->n; i++) {
        qr_start(&axes[i], work->columns);
    }
    trajectory_begin(&walk, &work->rules, run, point->values.theta, point->values.delay_s,
                     gsl_matrix_const_ptr(point->initial, run, 0));
    while (more) {
        if (!unknowns_go_on(&work->unknowns)) {
            return STATUS_E_STALE;
        }
        if (work->set->t_s[walk.at] >= settled_s) {
            add_sample(work, point, &walk, axes);
        }
        more = walk.at + 1 < walk.end;
        if (more && !trajectory_next(&walk)) {
            *ran_away = true;
            return STATUS_OK;
        }
    }
    for (size_t i = 0; i < work->n; i++) {
        qr_flush(&axes[i]);
        for (size_t k = 0; k < work->columns; k++) {
            memcpy(triangle_row(work, point, run, i, k), axes[i].r[k],
                   work->columns * sizeof(double));
        }
    }
    return STATUS_OK;
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

/* Rows sqrt(lambda) times the lengths of the first columns. A velocity at the start that is
 * forgotten before the residuals begin has no effect to be divided by: it is damped as if one
 * sample showed it. */
static void damp_start(const struct oe_work *work, struct qr_accumulator *qr, double lambda)
{
    double lengths[MODEL_AXES_MAX] = {0.0};
    for (size_t j = 0; j < work->n; j++) {
        for (size_t i = 0; i <= j; i++) {
            lengths[j] = hypot(lengths[j], qr->r[i][j]);
        }
    }
    for (size_t j = 0; j < work->n; j++) {
        const double least = sqrt(oe_weight(work, &work->here, j));
        double row[NUMERIC_COLUMNS_MAX] = {0.0};
        row[j] = sqrt(lambda) * fmax(lengths[j] > 0.0 ? lengths[j] : 1.0, least);
        qr_add(qr, row);
    }
    qr_flush(qr);
}

/* The triangle of one run from those of its axes, into work->run. */
static void reduce_run(struct oe_work *work, size_t run, double lambda)
{
    const size_t m = work->columns;
    struct qr_accumulator qr;
    qr_start(&qr, m);
    for (size_t a = 0; a < work->n; a++) {
        const double root = sqrt(oe_weight(work, &work->here, a));
        for (size_t i = 0; i < m; i++) {
            const double *from = triangle_row(work, &work->here, run, a, i);
            double row[NUMERIC_COLUMNS_MAX];
            for (size_t j = 0; j < m; j++) {
                const bool none = j < i || (j < work->n && work->options->at_rest[run]);
                row[j] = none ? 0.0 : root * from[j];
            }
            qr_add(&qr, row);
        }
    }
    qr_flush(&qr);
    if (lambda > 0.0) {
        damp_start(work, &qr, lambda);
    }
    for (size_t i = 0; i < m; i++) {
        memcpy(gsl_matrix_ptr(work->run, run * m + i, 0), qr.r[i], m * sizeof(double));
    }
}

void oe_reduce(struct oe_work *work, double lambda)
{
    qr_start(&work->global, work->g + 1);
    for (size_t r = 0; r < work->runs; r++) {
        reduce_run(work, r, lambda);
        /* What the velocities at the start of the run cannot explain is left to the rest. */
        for (size_t i = work->n; i < work->columns; i++) {
            qr_add(&work->global,
                   gsl_matrix_const_ptr(work->run, r * work->columns + i, work->n));
        }
    }
    qr_flush(&work->global);
}

void oe_step(struct oe_work *work, double lambda, double *length)
{
    struct unknown_step step;
    oe_reduce(work, lambda);
    unknowns_step(&work->unknowns, &work->here.values, work->global.r[0], NUMERIC_COLUMNS_MAX,
                  lambda, &step);
    work->there.values = step.to;
    double squares = step.length * step.length;
    for (size_t r = 0; r < work->runs; r++) {
        const double *rows = gsl_matrix_const_ptr(work->run, r * work->columns, 0);
        double follow[MODEL_AXES_MAX];
        damped_follow(rows, work->columns, work->n, work->g, step.by, follow);
        for (size_t i = 0; i < work->n; i++) {
            const double z = rows[i * work->columns + work->columns - 1];
            gsl_matrix_set(work->there.initial, r, i,
                           gsl_matrix_get(work->here.initial, r, i) + step.ratio * follow[i]);
            squares += z * z;
        }
    }
    *length = sqrt(squares);
}
