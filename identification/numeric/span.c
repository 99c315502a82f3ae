#include "identification/numeric/span.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/numeric/dot.h"

static_assert((size_t)SPAN_ADDED_MAX <= (size_t)SPAN_P_MAX, "one solver for both");

/* column -= within those before, and the same of its turn. */
static void leave_span(struct span *span, double *column, double turn[SPAN_P_MAX])
{
    for (size_t k = 0; k < span->rank; k++) {
        const double *q = span->q + k * span->n;
        const double within = dot_product(q, column, span->n);
        for (size_t i = 0; i < span->n; i++) {
            column[i] -= within * q[i];
        }
        for (size_t j = 0; j < span->p; j++) {
            turn[j] -= within * span->turn[j][k];
        }
    }
}

void span_find(const double *x, const double *use, size_t n, size_t p, double *q,
               struct span *span)
{
    *span = (struct span){.n = n, .p = p, .q = q};
    for (size_t j = 0; j < p; j++) {
        double *column = q + span->rank * n;
        double turn[SPAN_P_MAX] = {0.0};
        for (size_t i = 0; i < n; i++) {
            column[i] = use && !(use[i] > 0.0) ? 0.0 : x[i * p + j];
        }
        const double before = sqrt(dot_product(column, column, n));
        turn[j] = 1.0;
        leave_span(span, column, turn);
        leave_span(span, column, turn);
        const double after = sqrt(dot_product(column, column, n));
        if (!(after > SPAN_TOLERANCE * before)) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            column[i] /= after;
        }
        for (size_t k = 0; k < p; k++) {
            span->turn[k][span->rank] = turn[k] / after;
        }
        span->rank++;
    }
}

void span_remove(const struct span *span, double *residual)
{
    for (size_t k = 0; k < span->rank; k++) {
        const double *q = span->q + k * span->n;
        const double within = dot_product(q, residual, span->n);
        for (size_t i = 0; i < span->n; i++) {
            residual[i] -= within * q[i];
        }
    }
}

bool span_cholesky(double m[][SPAN_P_MAX], double *b, size_t p)
{
    for (size_t j = 0; j < p; j++) {
        double pivot = m[j][j];
        for (size_t k = 0; k < j; k++) {
            pivot -= m[j][k] * m[j][k];
        }
        if (!(pivot > SPAN_TOLERANCE * SPAN_TOLERANCE * m[j][j])) {
            return false;
        }
        m[j][j] = sqrt(pivot);
        for (size_t i = j + 1; i < p; i++) {
            double sum = m[j][i]; /* the factor takes the lower half */
            for (size_t k = 0; k < j; k++) {
                sum -= m[i][k] * m[j][k];
            }
            m[i][j] = sum / m[j][j];
        }
        for (size_t k = 0; k < j; k++) {
            b[j] -= m[j][k] * b[k];
        }
        b[j] /= m[j][j];
    }
    for (size_t j = p; j-- > 0;) {
        for (size_t i = j + 1; i < p; i++) {
            b[j] -= m[i][j] * b[i];
        }
        b[j] /= m[j][j];
    }
    return true;
}

void span_add_row(const struct span *span, size_t i, const double *z, double e,
                  struct span_added *added)
{
    for (size_t j = 0; j < added->count; j++) {
        if (!(fabs(z[j]) > 0.0)) {
            continue; /* many moves only turn, or only drive */
        }
        for (size_t k = 0; k < span->rank; k++) {
            added->qz[j][k] += z[j] * span->q[k * span->n + i];
        }
        for (size_t k = j; k < added->count; k++) {
            added->zz[j][k] += z[j] * z[k];
        }
        added->ze[j] += z[j] * e;
    }
}

double span_gain(const struct span *span, const struct span_added *added, size_t *rank,
                 double *coefficient)
{
    /* Differences of sums lose digits: what is left of a column must stand out of that. */
    static const double LEFT = 1e-9;
    double s[SPAN_P_MAX][SPAN_P_MAX];
    double b[SPAN_ADDED_MAX] = {0.0};
    size_t kept[SPAN_ADDED_MAX];
    bool alike = false;
    *rank = 0;
    for (size_t j = 0; j < added->count; j++) {
        size_t at = *rank;
        kept[at] = j;
        b[at] = added->ze[j];
        for (size_t k = 0; k <= at; k++) {
            s[k][at] = added->zz[kept[k]][j] -
                       dot_product(added->qz[kept[k]], added->qz[j], span->rank);
        }
        /* Alone, then beside those kept: solved each time, there are six at most. */
        if (!(s[at][at] > LEFT * added->zz[j][j])) {
            continue;
        }
        double factor[SPAN_P_MAX][SPAN_P_MAX];
        double column[SPAN_ADDED_MAX];
        memcpy(factor, s, sizeof factor);
        double left = s[at][at];
        for (size_t k = 0; k < at; k++) {
            column[k] = s[k][at];
        }
        if (at > 0 && span_cholesky(factor, column, at)) {
            for (size_t k = 0; k < at; k++) {
                left -= column[k] * s[k][at];
            }
        }
        const bool own = left > LEFT * added->zz[j][j];
        alike = alike || !own;
        *rank += own ? 1 : 0;
    }
    double x[SPAN_ADDED_MAX];
    double gain = 0.0;
    memcpy(x, b, sizeof x);
    const bool solved = *rank > 0 && span_cholesky(s, x, *rank);
    for (size_t j = 0; coefficient && j < added->count; j++) {
        coefficient[j] = 0.0;
    }
    for (size_t k = 0; k < *rank && solved; k++) {
        gain += x[k] * b[k];
        if (coefficient && !alike) {
            coefficient[kept[k]] = x[k];
        }
    }
    *rank = solved ? *rank : 0;
    return gain;
}
