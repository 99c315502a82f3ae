#include "identification/numeric/column_space.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/numeric/dot.h"

static_assert((size_t)COLUMN_SPACE_ADDED_MAX <= (size_t)COLUMN_SPACE_P_MAX,
              "one solver for both");

/* Removes from column its part in the space of the earlier columns. turn records the same
 * combination, so that Q = X turn holds. */
static void project_out(struct column_space *space, double *column,
                        double turn[COLUMN_SPACE_P_MAX])
{
    for (size_t k = 0; k < space->rank; k++) {
        const double *q = space->q + k * space->n;
        const double within = dot_product(q, column, space->n);
        for (size_t i = 0; i < space->n; i++) {
            column[i] -= within * q[i];
        }
        for (size_t j = 0; j < space->p; j++) {
            turn[j] -= within * space->turn[j][k];
        }
    }
    /* Each column is projected twice ("twice is enough", Parlett, The Symmetric Eigenvalue
     * Problem): one pass of Gram and Schmidt loses orthogonality when columns are nearly
     * parallel. */
}

void column_space_find(const double *x, const double *use, size_t n, size_t p, double *q,
                       struct column_space *space)
{
    *space = (struct column_space){.n = n, .p = p, .q = q};
    for (size_t j = 0; j < p; j++) {
        double *column = q + space->rank * n;
        double turn[COLUMN_SPACE_P_MAX] = {0.0};
        for (size_t i = 0; i < n; i++) {
            column[i] = use && !(use[i] > 0.0) ? 0.0 : x[i * p + j];
        }
        const double before = sqrt(dot_product(column, column, n));
        turn[j] = 1.0;
        project_out(space, column, turn);
        project_out(space, column, turn);
        const double after = sqrt(dot_product(column, column, n));
        if (!(after > COLUMN_SPACE_TOLERANCE * before)) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            column[i] /= after;
        }
        for (size_t k = 0; k < p; k++) {
            space->turn[k][space->rank] = turn[k] / after;
        }
        space->rank++;
    }
}

bool column_space_cholesky(double m[][COLUMN_SPACE_P_MAX], double *b, size_t p)
{
    for (size_t j = 0; j < p; j++) {
        double pivot = m[j][j];
        for (size_t k = 0; k < j; k++) {
            pivot -= m[j][k] * m[j][k];
        }
        if (!(pivot > COLUMN_SPACE_TOLERANCE * COLUMN_SPACE_TOLERANCE * m[j][j])) {
            return false;
        }
        m[j][j] = sqrt(pivot);
        for (size_t i = j + 1; i < p; i++) {
            double sum = m[j][i]; /* the factor is written to the lower half */
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

void column_space_add_row(const struct column_space *space, size_t i, const double *z, double e,
                          struct column_space_added *added)
{
    for (size_t j = 0; j < added->count; j++) {
        if (!(fabs(z[j]) > 0.0)) {
            continue; /* most moves only turn or only drive, so that most z are zero */
        }
        for (size_t k = 0; k < space->rank; k++) {
            added->qz[j][k] += z[j] * space->q[k * space->n + i];
        }
        for (size_t k = j; k < added->count; k++) {
            added->zz[j][k] += z[j] * z[k];
        }
        added->ze[j] += z[j] * e;
    }
}

double column_space_gain(const struct column_space *space,
                         const struct column_space_added *added, size_t *rank,
                         double *coefficient)
{
    /* A difference of sums loses digits. A column counts only if its rest exceeds the
     * rounding error. */
    static const double LEFT = 1e-9;
    double s[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX];
    double b[COLUMN_SPACE_ADDED_MAX] = {0.0};
    size_t chosen[COLUMN_SPACE_ADDED_MAX];
    bool alike = false;
    *rank = 0;
    for (size_t j = 0; j < added->count; j++) {
        size_t at = *rank;
        chosen[at] = j;
        b[at] = added->ze[j];
        for (size_t k = 0; k <= at; k++) {
            s[k][at] = added->zz[chosen[k]][j] -
                       dot_product(added->qz[chosen[k]], added->qz[j], space->rank);
        }
        /* The column must have a part outside the design, then outside the columns accepted
         * so far. The system is solved afresh for each column because there are at most six. */
        if (!(s[at][at] > LEFT * added->zz[j][j])) {
            continue;
        }
        double factor[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX];
        double column[COLUMN_SPACE_ADDED_MAX];
        memcpy(factor, s, sizeof factor);
        double left = s[at][at];
        for (size_t k = 0; k < at; k++) {
            column[k] = s[k][at];
        }
        if (at > 0 && column_space_cholesky(factor, column, at)) {
            for (size_t k = 0; k < at; k++) {
                left -= column[k] * s[k][at];
            }
        }
        const bool own = left > LEFT * added->zz[j][j];
        alike = alike || !own;
        *rank += own ? 1 : 0;
    }
    double x[COLUMN_SPACE_ADDED_MAX];
    double gain = 0.0;
    memcpy(x, b, sizeof x);
    const bool solved = *rank > 0 && column_space_cholesky(s, x, *rank);
    for (size_t j = 0; coefficient && j < added->count; j++) {
        coefficient[j] = 0.0;
    }
    for (size_t k = 0; k < *rank && solved; k++) {
        gain += x[k] * b[k];
        if (coefficient && !alike) {
            coefficient[chosen[k]] = x[k];
        }
    }
    *rank = solved ? *rank : 0;
    return gain;
}
