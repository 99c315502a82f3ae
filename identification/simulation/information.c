#include "identification/simulation/information.h"

#include <math.h>
#include <string.h>

#include "identification/numeric/qr_accumulator.h"

/* Rank tolerance, relative to the largest singular value of the scaled columns. */
static const double RANK_TOLERANCE = 1e-7;

/* Returns the root of a variance; NaN if it is not positive. */
static double find_se(double variance)
{
    return isfinite(variance) && variance >= 0.0 ? sqrt(variance) : nan("");
}

/* Reduces the free columns to a triangle. Rows of unknowns that are not free contribute too. */
static enum status decompose_columns(struct information *information, const double *r,
                                     size_t stride)
{
    const size_t count = information->count;
    struct qr_accumulator qr;
    double row[FREE_PARAMETERS_MAX];
    qr_start(&qr, count);
    for (size_t i = 0; i < information->g; i++) {
        for (size_t k = 0; k < count; k++) {
            const size_t j = information->index[k];
            row[k] = i <= j ? r[i * stride + j] : 0.0;
        }
        qr_add(&qr, row);
    }
    qr_flush(&qr);
    qr_lengths(&qr, count, information->length);
    return qr_decompose(&qr, count, information->length, RANK_TOLERANCE, &information->svd);
}

/* Computes (R'R)^+ of the free unknowns from R^+. */
static void set_covariance(struct information *information)
{
    const size_t count = information->count;
    const size_t *index = information->index;
    double gram[FREE_PARAMETERS_MAX * FREE_PARAMETERS_MAX];
    square_multiply(information->svd.inverse, information->svd.inverse, true, count, gram);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            information->covariance[index[a] * information->g + index[b]] = gram[a * count + b];
        }
    }
}

/* An unknown that is not free has no column. One whose column is empty, or parallel to
 * others, occurs in a null direction and gets no value. */
enum status information_find(struct information *information,
                             const struct free_parameters *free_parameters, const double *r,
                             size_t stride)
{
    memset(information, 0, sizeof *information);
    information->g = free_parameters->g;
    for (size_t j = 0; j < free_parameters->g; j++) {
        if (free_parameters->free[j]) {
            information->index[information->count++] = j;
        }
    }
    if (information->count == 0) {
        return STATUS_OK;
    }
    const enum status st = decompose_columns(information, r, stride);
    if (st != STATUS_OK) {
        return st;
    }
    set_covariance(information);
    null_space_find(&information->nulls, information->svd.v, information->count,
                    information->svd.rank);
    for (size_t a = 0; a < information->count; a++) {
        information->open[information->index[a]] = information->nulls.open[a];
        if (!(information->length[a] > 0.0)) {
            information->length[a] = 1.0;
        }
    }
    return STATUS_OK;
}

void information_sandwich(struct information *information, const struct hac_covariance *scores)
{
    square_sandwich(information->covariance, scores->robust, information->g,
                    information->robust);
}

/* Reports null directions and combinations by name. */
static void report_nulls(const struct information *information,
                         const struct free_parameters *free_parameters,
                         const struct free_values *at, const double *used, double factor,
                         struct dynamics_fit *fit)
{
    struct null_parameters named = {.model = free_parameters->model};
    for (size_t a = 0; a < information->count; a++) {
        const size_t i = information->index[a];
        named.index[a] = i;
        named.length[a] = information->length[a];
        named.value[a] = i < free_parameters->p ? at->theta[i] : at->delay_s;
        for (size_t b = 0; b < information->count; b++) {
            named.covariance[a][b] = factor * used[i * information->g + information->index[b]];
        }
    }
    null_space_report(&information->nulls, &named, fit);
}

void information_report(const struct information *information,
                        const struct free_parameters *free_parameters,
                        const struct free_values *at, double factor, bool white,
                        struct dynamics_fit *fit)
{
    const bool *open = information->open;
    const size_t g = information->g;
    const size_t delay = free_parameters->p;
    const bool has_delay = free_parameters->free[delay] && !open[delay];
    const double *used = white ? information->covariance : information->robust;
    /* The rank in the fit counts its parameters without the delay. */
    fit->estimate.rank = information->svd.rank - (has_delay ? 1 : 0);
    if (information->count > 0) {
        fit->estimate.condition = information->svd.condition;
    }
    report_nulls(information, free_parameters, at, used, factor, fit);
    for (size_t a = 0; a < free_parameters->p; a++) {
        const double ordinary = factor * information->covariance[a * g + a];
        const double robust = factor * information->robust[a * g + a];
        fit->estimate.value[a] = open[a] ? nan("") : at->theta[a];
        fit->estimate.se_white[a] = open[a] ? nan("") : find_se(ordinary);
        fit->se_hac[a] = open[a] ? nan("") : find_se(robust);
        for (size_t b = 0; b < free_parameters->p; b++) {
            fit->estimate.covariance[a][b] =
                open[a] || open[b] ? nan("") : factor * used[a * g + b];
        }
    }
    if (!has_delay) {
        return;
    }
    fit->delay_s = at->delay_s;
    fit->delay_se_s = find_se(factor * used[delay * g + delay]);
    for (size_t a = 0; a < free_parameters->p; a++) {
        fit->delay_covariance[a] = open[a] ? nan("") : factor * used[a * g + delay];
    }
}
