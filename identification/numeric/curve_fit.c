#include "identification/numeric/curve_fit.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "identification/numeric/damped_search.h"
#include "identification/numeric/qr_accumulator.h"

static const double LAMBDA = 1e-3;
static const double EASIER = 0.1;
static const double HARDER = 10.0;
static const double LAMBDA_MAX = 1e6;
/* A relative gain below this ends the search. */
static const double GAIN_MIN = 1e-7;
/* A difference below this share of the residual is rounding. */
static const double SEEN_MIN = 1e-9;

static double sum_squares(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return isfinite(sum) ? sum : HUGE_VAL;
}

void curve_fit_slopes(const struct curve_fit *fit, const double *x, const double *residual,
                      double *slopes)
{
    double moved[CURVE_FIT_UNKNOWNS_MAX];
    const double squares = sum_squares(residual, fit->n);
    memcpy(moved, x, fit->p * sizeof *x);
    for (size_t j = 0; j < fit->p; j++) {
        if (!(fit->lower[j] < fit->upper[j])) { /* it does not move */
            memset(slopes + j * fit->n, 0, fit->n * sizeof *slopes);
            continue;
        }
        const double step = x[j] + fit->step[j] <= fit->upper[j] ? fit->step[j] : -fit->step[j];
        moved[j] = x[j] + step;
        fit->residuals(fit->context, moved, slopes + j * fit->n);
        moved[j] = x[j];
        double *slope = slopes + j * fit->n;
        for (size_t k = 0; k < fit->n; k++) {
            slope[k] = (slope[k] - residual[k]) / step;
        }
        /* a slope that is rounding, or that diverged, would ask for a huge step */
        const double seen = fabs(step) * sqrt(sum_squares(slope, fit->n));
        if (!(seen < HUGE_VAL && seen * seen > SEEN_MIN * SEEN_MIN * squares)) {
            memset(slope, 0, fit->n * sizeof *slope);
        }
    }
}

/* Triangle of the slopes and of the residual: minus the slopes times the step explains it. */
static void reduce_slopes(const struct curve_fit *fit, const double *slopes,
                          const double *residual, struct qr_accumulator *qr)
{
    qr_start(qr, fit->p + 1);
    for (size_t k = 0; k < fit->n; k++) {
        double row[NUMERIC_COLUMNS_MAX];
        for (size_t j = 0; j < fit->p; j++) {
            row[j] = -slopes[j * fit->n + k];
        }
        row[fit->p] = residual[k];
        qr_add(qr, row);
    }
    qr_flush(qr);
}

/* Computes the damped step to there; unknowns that would leave their bounds stop at them. */
static void propose_step(const struct curve_fit *fit, const struct qr_accumulator *qr,
                         double lambda, const double *x, double *there)
{
    double step[CURVE_FIT_UNKNOWNS_MAX];
    bool free[CURVE_FIT_UNKNOWNS_MAX];
    bool held = true;
    for (size_t j = 0; j < fit->p; j++) {
        free[j] = fit->lower[j] < fit->upper[j];
    }
    while (held) {
        held = false;
        (void)damped_step(qr->r[0], NUMERIC_COLUMNS_MAX, fit->p, lambda, NULL, free, step);
        for (size_t j = 0; j < fit->p; j++) {
            const bool out = (x[j] <= fit->lower[j] && step[j] < 0.0) ||
                             (x[j] >= fit->upper[j] && step[j] > 0.0);
            held = held || (free[j] && out);
            free[j] = free[j] && !out;
        }
    }
    for (size_t j = 0; j < fit->p; j++) {
        const double moved = free[j] ? x[j] + step[j] : x[j];
        there[j] = fmin(fmax(moved, fit->lower[j]), fit->upper[j]);
    }
}

double curve_fit_run(const struct curve_fit *fit, size_t iterations_max, double *x,
                     double *residual)
{
    struct qr_accumulator qr;
    double there[CURVE_FIT_UNKNOWNS_MAX];
    double *slopes = fit->memory;
    double *tried = fit->memory + fit->p * fit->n;
    double lambda = LAMBDA;
    assert(fit->p <= CURVE_FIT_UNKNOWNS_MAX);
    fit->residuals(fit->context, x, residual);
    double cost = sum_squares(residual, fit->n);
    for (size_t i = 0; i < iterations_max && cost < HUGE_VAL; i++) {
        double gain = -1.0;
        curve_fit_slopes(fit, x, residual, slopes);
        reduce_slopes(fit, slopes, residual, &qr);
        while (!(gain >= 0.0) && lambda < LAMBDA_MAX) {
            propose_step(fit, &qr, lambda, x, there);
            fit->residuals(fit->context, there, tried);
            gain = cost - sum_squares(tried, fit->n);
            lambda *= gain >= 0.0 ? EASIER : HARDER;
        }
        if (!(gain >= 0.0)) {
            return cost;
        }
        memcpy(x, there, fit->p * sizeof *x);
        memcpy(residual, tried, fit->n * sizeof *residual);
        cost -= gain;
        if (gain <= GAIN_MIN * cost) {
            return cost;
        }
    }
    return cost;
}
