#include "identification/numeric/damped_search.h"

#include <math.h>

#include "identification/numeric/qr_accumulator.h"

static const double LAMBDA_MIN = 1e-12;
static const double LAMBDA_MAX = 1e9;
/* Above this damping, a step is too short to show whether the minimum is near. */
static const double LAMBDA_FREE = 1e-2;
static const double HARDER = 10.0;

/* Sets lambda for the next step. Returns true if the search ends, with the reason in *stop. */
static bool judge_step(struct damped_search *search, double length, double gain,
                       enum search_stop *stop)
{
    const struct damped_rules *rules = &search->rules;
    const bool is_free = search->lambda <= LAMBDA_FREE;
    if (gain >= 0.0) {
        search->lambda = fmax(rules->ease * search->lambda, LAMBDA_MIN);
        *stop = SEARCH_CONVERGED;
        return is_free && gain <= rules->gain_enough;
    }
    search->lambda *= HARDER;
    const bool useless =
        (is_free && rules->step_useless > 0.0 && length <= rules->step_useless) ||
        -gain <= rules->loss_enough;
    *stop = useless ? SEARCH_CONVERGED : SEARCH_STALLED;
    return useless || search->lambda > LAMBDA_MAX;
}

enum status damped_search_run(struct damped_search *search, size_t iterations_max,
                              size_t *iterations, enum search_stop *stop)
{
    search->lambda = search->rules.lambda;
    for (; *iterations < iterations_max; (*iterations)++) {
        double length = 0.0;
        double gain = 0.0;
        if (search->is_over && search->is_over(search->context, *iterations, stop)) {
            return STATUS_OK;
        }
        enum status st = search->propose(search->context, search->lambda, &length);
        if (st == STATUS_OK && search->lambda <= LAMBDA_FREE &&
            search->rules.step_enough > 0.0 && length <= search->rules.step_enough) {
            *stop = SEARCH_CONVERGED;
            return STATUS_OK;
        }
        st = st == STATUS_OK ? search->try_step(search->context, &gain) : st;
        if (st != STATUS_OK || judge_step(search, length, gain, stop)) {
            return st;
        }
        if (search->review && search->review(search->context, gain, search)) {
            break;
        }
    }
    *stop = SEARCH_LIMIT;
    return STATUS_OK;
}

/* Stacks the scaled columns of R above a diagonal that damps them: sqrt(lambda) times the
 * column's length. A column of zeros gets the diagonal 1, so that its variable does not
 * move. */
static void stack_rows(const double *r, size_t stride, size_t g, double lambda,
                       const double *scale, const bool *free, struct qr_accumulator *qr)
{
    double row[NUMERIC_COLUMNS_MAX];
    double squares[NUMERIC_COLUMNS_MAX] = {0.0};
    qr_start(qr, g + 1);
    for (size_t i = 0; i < g; i++) {
        for (size_t j = 0; j <= g; j++) {
            const double by = j == g ? 1.0 : free && !free[j] ? 0.0 : scale ? scale[j] : 1.0;
            row[j] = j < i ? 0.0 : by * r[i * stride + j];
            squares[j] += row[j] * row[j];
        }
        qr_add(qr, row);
    }
    for (size_t j = 0; j < g; j++) {
        const double length = squares[j] > 0.0 ? sqrt(squares[j]) : 1.0;
        for (size_t i = 0; i <= g; i++) {
            row[i] = 0.0;
        }
        row[j] = free && !free[j] ? 1.0 : sqrt(lambda) * length;
        qr_add(qr, row);
    }
    qr_flush(qr);
}

double damped_step(const double *r, size_t stride, size_t g, double lambda, const double *scale,
                   const bool *free, double *step)
{
    struct qr_accumulator qr;
    double squares = 0.0;
    stack_rows(r, stride, g, lambda, scale, free, &qr);
    for (size_t i = g; i-- > 0;) {
        double rest = qr.r[i][g];
        squares += rest * rest;
        for (size_t j = i + 1; j < g; j++) {
            rest -= qr.r[i][j] * step[j];
        }
        step[i] = rest / qr.r[i][i];
    }
    return sqrt(squares);
}

void damped_follow(const double *rows, size_t stride, size_t n, size_t g, const double *step,
                   double *follow)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = rows + i * stride;
        double rest = row[n + g];
        for (size_t j = 0; j < g; j++) {
            rest -= row[n + j] * step[j];
        }
        for (size_t j = i + 1; j < n; j++) {
            rest -= row[j] * follow[j];
        }
        follow[i] = fabs(row[i]) > 0.0 ? rest / row[i] : 0.0;
    }
}
