#include "identification/numeric/qr_accumulator.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "identification/numeric/dot.h"

/* Products of columns are formed where the inverse of their correlation, by its trace, is at
 * most this large, and where their squares neither overflow nor vanish. */
static const double INVERSE_MAX = 1e6;
static const double SQUARES_MIN = 1e-200;
static const double SQUARES_MAX = 1e200;

void qr_start(struct qr_accumulator *t, size_t columns)
{
    t->columns = columns;
    t->waiting = 0;
    memset(t->r, 0, sizeof t->r);
}

/* Reflects column j of the block into r[j][j]. */
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
    double at[NUMERIC_COLUMNS_MAX][NUMERIC_COLUMNS_MAX]; /* upper */
};

/* Columns of a block that are not the same, and which of them stands for each column. */
struct distinct {
    size_t count, column[NUMERIC_COLUMNS_MAX];
    double length[NUMERIC_COLUMNS_MAX];
    size_t by[NUMERIC_COLUMNS_MAX]; /* of column[] */
    double sign[NUMERIC_COLUMNS_MAX];
};

/* 1 when two columns of a full block are the same, -1 when all their signs differ, else 0. */
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

/* A model may multiply two parameters by the same, as (d2 - d1) u v does. */
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

/* Products of different columns, each scaled to length one; a column of zeros is left alone
 * with a one on the diagonal. */
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

/* Cholesky's factor in place; false when columns are as good as parallel. */
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

/* Whether the inverse of what was factored is small: its trace is the squares of the factor's
 * inverse. */
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

/* Replaces a full block by the few rows of its own triangle; not where that would cost digits.
 */
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
