#include "identification/numeric/same_moves.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "identification/numeric/numeric_thresholds.def"
#include "identification/numeric/qr_accumulator.h"

enum { TERMS = 5 };

struct moves_fit {
    double value[TERMS], covariance[TERMS * TERMS];
    double mean[TERMS]; /* sum of the rows, until they are pooled */
};

static void fill_row(const struct moves_sample *s, size_t i, double row[TERMS + 1])
{
    const double a = s->rotation_rad[i];
    const double r = s->displacement_m[i];
    const double terms[] = {1.0, a > 0.0 ? 1.0 : 0.0, r > 0.0 ? 1.0 : 0.0, a, r, s->time_s[i]};
    for (size_t k = 0; k <= TERMS; k++) {
        row[k] = terms[k];
    }
}

/* Adds a row's part of HC3: its residual as if the row had not been used. */
static void add_moment(const struct svd *svd, const double *row, const double *value,
                       double meat[TERMS * TERMS])
{
    double q[TERMS] = {0.0};
    double leverage = 0.0;
    double residual = row[TERMS];
    for (size_t j = 0; j < TERMS; j++) {
        for (size_t k = 0; k < TERMS; k++) {
            q[j] += row[k] * svd->inverse[k * TERMS + j];
        }
        leverage += q[j] * q[j];
        residual -= row[j] * value[j];
    }
    residual /= 1.0 - leverage;
    for (size_t j = 0; j < TERMS; j++) {
        for (size_t k = 0; k < TERMS; k++) {
            meat[j * TERMS + k] += q[j] * q[k] * residual * residual;
        }
    }
}

static bool fit_moves(const struct moves_sample *s, struct moves_fit *fit)
{
    struct qr_accumulator qr;
    struct svd svd;
    double row[TERMS + 1];
    double meat[TERMS * TERMS] = {0.0};
    *fit = (struct moves_fit){0};
    qr_start(&qr, TERMS + 1);
    for (size_t i = 0; i < s->n; i++) {
        fill_row(s, i, row);
        qr_add(&qr, row);
        for (size_t k = 0; k < TERMS; k++) {
            fit->mean[k] += row[k];
        }
    }
    qr_flush(&qr);
    if (qr_solve(&qr, TERMS, SAME_MOVES_RANK, &svd, fit->value) != STATUS_OK ||
        svd.rank < TERMS) {
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        fill_row(s, i, row);
        add_moment(&svd, row, fit->value, meat);
    }
    square_sandwich(svd.inverse, meat, TERMS, fit->covariance);
    return true;
}

bool same_moves_difference(const struct moves_sample *a, const struct moves_sample *b,
                           double confidence, double *value, double *lo, double *hi)
{
    const size_t least = a->n < b->n ? a->n : b->n;
    struct moves_fit fit_a;
    struct moves_fit fit_b;
    if (least < SAME_MOVES_MIN || !fit_moves(a, &fit_a) || !fit_moves(b, &fit_b)) {
        return false;
    }
    double mean[TERMS];
    double difference = 0.0;
    double variance = 0.0;
    for (size_t k = 0; k < TERMS; k++) {
        mean[k] = (fit_a.mean[k] + fit_b.mean[k]) / (double)(a->n + b->n);
        difference += mean[k] * (fit_b.value[k] - fit_a.value[k]);
    }
    for (size_t k = 0; k < TERMS * TERMS; k++) {
        fit_a.covariance[k] += fit_b.covariance[k];
    }
    variance = square_form(mean, fit_a.covariance, TERMS, TERMS);
    const double half =
        gsl_cdf_tdist_Pinv(0.5 + confidence / 2.0, (double)(least - TERMS)) * sqrt(variance);
    *value = difference;
    *lo = difference - half;
    *hi = difference + half;
    return isfinite(half);
}
