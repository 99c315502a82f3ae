#include "identification/numeric/qr_accumulator.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "identification/numeric/dot.h"

/* Products of columns are formed only if their correlation matrix has an inverse with at
 * most this trace, and if the squares neither overflow nor underflow. */
static const double INVERSE_MAX = 1e6;
static const double SQUARES_MIN = 1e-200;
static const double SQUARES_MAX = 1e200;

void qr_start(struct qr_accumulator *t, size_t columns)
{
    t->columns = columns;
    t->waiting = 0;
    memset(t->r, 0, sizeof t->r);
}

/* Householder reflection: moves column j of the block into r[j][j]. */
static void reflect_column(struct qr_accumulator *t, size_t j)
{
    const size_t n = t->waiting;
    double *v = t->block[j];
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        squares += v[i] * v[i];
    }
    if (squares <= 0.0) {
        return;
    }
    const double alpha = t->r[j][j];
    const double beta = -copysign(sqrt(alpha * alpha + squares), alpha);
    const double lead = alpha - beta;
    const double scale = -lead / beta;
    t->r[j][j] = beta;
    const double unit = 1.0 / lead; /* |lead| is at least the length of v */
    for (size_t i = 0; i < n; i++) {
        v[i] *= unit;
    }
    for (size_t c = j + 1; c < t->columns; c++) {
        double *other = t->block[c];
        double share = t->r[j][c];
        for (size_t i = 0; i < n; i++) {
            share += v[i] * other[i];
        }
        share *= scale;
        t->r[j][c] -= share;
        for (size_t i = 0; i < n; i++) {
            other[i] -= share * v[i];
        }
    }
}

struct square {
    double at[NUMERIC_COLUMNS_MAX][NUMERIC_COLUMNS_MAX]; /* upper half */
};

/* The different columns of a block, and for each column the one that is equal to it. */
struct distinct {
    size_t count, column[NUMERIC_COLUMNS_MAX];
    double length[NUMERIC_COLUMNS_MAX];
    size_t by[NUMERIC_COLUMNS_MAX]; /* index into column[] */
    double sign[NUMERIC_COLUMNS_MAX];
};

/* Returns 1 if two columns of a full block are equal, -1 if one is the negative of the
 * other, else 0. */
static double compare_columns(const double *x, const double *y)
{
    bool plus = true;
    bool minus = true;
    for (size_t i = 0; i < QR_BLOCK && (plus || minus); i++) {
        plus = plus && fabs(x[i] - y[i]) <= 0.0;
        minus = minus && fabs(x[i] + y[i]) <= 0.0;
    }
    return plus ? 1.0 : minus ? -1.0 : 0.0;
}

/* Equal columns would make the products singular. A model has them if two parameters
 * multiply the same term, as in (d2 - d1) u v. */
static void group_columns(const struct qr_accumulator *t, struct distinct *distinct)
{
    distinct->count = 0;
    for (size_t j = 0; j < t->columns; j++) {
        size_t k = 0;
        double sign = 0.0;
        while (k < distinct->count && !(fabs(sign) > 0.0)) {
            sign = compare_columns(t->block[distinct->column[k++]], t->block[j]);
        }
        const bool seen = fabs(sign) > 0.0;
        distinct->by[j] = seen ? k - 1 : distinct->count;
        distinct->sign[j] = seen ? sign : 1.0;
        if (!seen) {
            distinct->column[distinct->count++] = j;
        }
    }
}

/* Computes the products of the different columns, each scaled to length one. A column of
 * zeros gets a one on the diagonal and is left alone. */
static bool correlate_columns(const struct qr_accumulator *t, struct distinct *distinct,
                              struct square *to)
{
    for (size_t j = 0; j < distinct->count; j++) {
        const double *x = t->block[distinct->column[j]];
        const double squares = dot_product(x, x, QR_BLOCK);
        if (squares > 0.0 && !(squares > SQUARES_MIN && squares < SQUARES_MAX)) {
            return false;
        }
        distinct->length[j] = sqrt(squares);
        to->at[j][j] = 1.0;
        for (size_t i = 0; i < j; i++) {
            const double both = distinct->length[i] * distinct->length[j];
            to->at[i][j] = both > 0.0
                               ? dot_product(t->block[distinct->column[i]], x, QR_BLOCK) / both
                               : 0.0;
        }
    }
    return true;
}

/* Cholesky factor in place. Returns false if columns are nearly parallel. */
static bool factor_cholesky(size_t n, struct square *m)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i <= j; i++) {
            double sum = m->at[i][j];
            for (size_t k = 0; k < i; k++) {
                sum -= m->at[k][i] * m->at[k][j];
            }
            if (i == j && !(sum * INVERSE_MAX > 1.0)) {
                return false;
            }
            m->at[i][j] = i == j ? sqrt(sum) : sum / m->at[i][i];
        }
    }
    return true;
}

/* The trace of the inverse bounds its norm. It is the sum of the squares of the inverse
 * factor. */
static bool inverts_well(size_t n, const struct square *m)
{
    struct square inverse;
    double squares = 0.0;
    for (size_t j = 0; j < n; j++) {
        inverse.at[j][j] = 1.0 / m->at[j][j];
        squares += inverse.at[j][j] * inverse.at[j][j];
        for (size_t i = j; i-- > 0;) {
            double sum = 0.0;
            for (size_t k = i + 1; k <= j; k++) {
                sum += m->at[i][k] * inverse.at[k][j];
            }
            inverse.at[i][j] = -sum * inverse.at[i][i];
            squares += inverse.at[i][j] * inverse.at[i][j];
        }
    }
    return squares <= INVERSE_MAX;
}

/* Replaces a full block by the few rows of its triangle, which has the same products.
 * Skipped if digits would be lost. This costs a third of reflecting each row: products of
 * columns are cheaper than reflections, and one triangle is reflected instead of QR_BLOCK
 * rows. */
static void condense_block(struct qr_accumulator *t)
{
    struct distinct distinct;
    struct square m;
    group_columns(t, &distinct);
    if (!correlate_columns(t, &distinct, &m) || !factor_cholesky(distinct.count, &m) ||
        !inverts_well(distinct.count, &m)) {
        return;
    }
    for (size_t j = 0; j < t->columns; j++) {
        const size_t c = distinct.by[j];
        assert(c < distinct.count);
        const double scale = distinct.sign[j] * distinct.length[c];
        for (size_t i = 0; i < distinct.count; i++) {
            t->block[j][i] = i <= c ? m.at[i][c] * scale : 0.0;
        }
    }
    t->waiting = distinct.count;
}

void qr_flush(struct qr_accumulator *t)
{
    if (t->waiting == QR_BLOCK) {
        condense_block(t);
    }
    for (size_t j = 0; j < t->columns; j++) {
        reflect_column(t, j);
    }
    t->waiting = 0;
}

void qr_add(struct qr_accumulator *t, const double *row)
{
    for (size_t c = 0; c < t->columns; c++) {
        t->block[c][t->waiting] = row[c];
    }
    if (++t->waiting == QR_BLOCK) {
        qr_flush(t);
    }
}

void qr_add_columns(struct qr_accumulator *t, const double *const *column, size_t n)
{
    for (size_t done = 0; done < n;) {
        const size_t room = QR_BLOCK - t->waiting;
        const size_t now = n - done < room ? n - done : room;
        for (size_t c = 0; c < t->columns; c++) {
            memcpy(t->block[c] + t->waiting, column[c] + done, now * sizeof **column);
        }
        t->waiting += now;
        done += now;
        if (t->waiting == QR_BLOCK) {
            qr_flush(t);
        }
    }
}

double qr_squares(const struct qr_accumulator *t, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->columns; i++) {
        double product = 0.0;
        for (size_t c = i; c < t->columns; c++) {
            product += t->r[i][c] * x[c];
        }
        sum += product * product;
    }
    return sum;
}

void qr_lengths(const struct qr_accumulator *t, size_t p, double *length)
{
    for (size_t j = 0; j < p; j++) {
        double squares = 0.0;
        for (size_t i = 0; i <= j; i++) {
            squares += t->r[i][j] * t->r[i][j];
        }
        length[j] = sqrt(squares);
    }
}

enum status qr_decompose(const struct qr_accumulator *t, size_t p, const double *length,
                         double rank_ratio, struct svd *svd)
{
    double r[SVD_ENTRIES_MAX] = {0.0}; /* gcc at -O2 does not see that p > 0 */
    for (size_t i = 0; i < p; i++) {
        memcpy(r + i * p + i, &t->r[i][i], (p - i) * sizeof *r);
    }
    return svd_find(r, p, NULL, length, rank_ratio, svd);
}

enum status qr_solve(const struct qr_accumulator *t, size_t p, double rank_ratio,
                     struct svd *svd, double *x)
{
    double length[NUMERIC_COLUMNS_MAX];
    double right[NUMERIC_COLUMNS_MAX];
    qr_lengths(t, p, length);
    const enum status st = qr_decompose(t, p, length, rank_ratio, svd);
    for (size_t i = 0; i < p && st == STATUS_OK; i++) {
        right[i] = t->r[i][p];
    }
    if (st == STATUS_OK) {
        svd_solve(svd, right, x);
    }
    return st;
}
