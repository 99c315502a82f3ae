#include "identification/data/copied_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_permutation.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_sort_vector.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_thresholds.def"

/* Shortest block. */
enum { COPIED_MIN = 8 };
/* Values that differ by less than this share of their range may be equal as decimal numbers. */
static const double DECIMALS = 1e-6;
/* Values of normal noise differ by less than half a step in 1 of sd / step times this, the
 * root of 4 pi. */
static const double VALUES_PER_SD = 3.545;

double copied_step(double quantum, double range)
{
    return fmax(quantum, DECIMALS * range);
}

struct search {
    const struct copied_column *columns;
    size_t count, n;
    double *surprise; /* [n] sum over the rows before: - log of the chance of their values */
    double *mark; /* [n] hash of the block that begins at a row; infinite: it tells nothing */
};

static bool is_equal(const struct search *s, size_t a, size_t b)
{
    bool equal = true;
    for (size_t c = 0; c < s->count && equal; c++) {
        const double *x = s->columns[c].x;
        equal = memcmp(x + a, x + b, sizeof *x) == 0 || (isnan(x[a]) && isnan(x[b]));
    }
    return equal;
}

/* Returns the number of sorted values [m] below x, or up to it. */
static size_t count_below(const double *sorted, size_t m, double x, bool equal)
{
    size_t from = 0;
    while (m > 0) {
        const size_t half = m / 2;
        const double at = sorted[from + half];
        const bool below = at < x || (equal && at <= x);
        from += below ? half + 1 : 0;
        m = below ? m - half - 1 : half;
    }
    return from;
}

/* Keeps those of the sorted values [m] that are less of a surprise than one that occurs once.
 * Returns their number. */
static size_t keep_common(double *sorted, size_t m, double once)
{
    size_t kept = 0;
    for (size_t k = 0, end = 0; k < m; k = end) {
        while (end < m && !(sorted[end] > sorted[k])) {
            end++;
        }
        for (size_t i = k; i < end && log((double)m / (double)(end - k)) < once; i++) {
            sorted[kept++] = sorted[i];
        }
    }
    return kept;
}

/* Adds a column's part to the surprise of each row: the noise, or how often the value occurs,
 * makes it likely. A value that stays tells nothing. */
static void add_surprise(const struct search *s, const struct copied_column *column,
                         double *sorted)
{
    size_t m = 0;
    for (size_t k = 0; k < s->n; k++) {
        sorted[m] = column->x[k];
        m += isfinite(column->x[k]) ? 1 : 0;
    }
    gsl_sort(sorted, 1, m);
    const double range = m > 0 ? sorted[m - 1] - sorted[0] : 0.0;
    const double step = copied_step(column->quantum, range);
    const double of_noise = step > 0.0 ? log(VALUES_PER_SD * column->sd / step) : 0.0;
    const double once = fmin(of_noise, log((double)m));
    const size_t common = keep_common(sorted, m, once);
    for (size_t k = 1; k < s->n && of_noise > 0.0; k++) {
        const double x = column->x[k];
        if (isfinite(x) && fabs(x - column->x[k - 1]) > 0.0) {
            const size_t same =
                count_below(sorted, common, x, true) - count_below(sorted, common, x, false);
            s->surprise[k] += same > 0 ? log((double)m / (double)same) : once;
        }
    }
}

static uint64_t mix_bits(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

/* Marks the blocks that tell something; equal blocks have equal marks. */
static void mark_blocks(const struct search *s)
{
    for (size_t k = 0; k < s->n; k++) {
        s->mark[k] = HUGE_VAL;
        if (k + COPIED_MIN > s->n || !(s->surprise[k + COPIED_MIN - 1] > s->surprise[k])) {
            continue;
        }
        uint64_t hash = 0;
        for (size_t row = k; row < k + COPIED_MIN; row++) {
            for (size_t c = 0; c < s->count; c++) {
                const double x = s->columns[c].x[row];
                uint64_t bits = 0;
                memcpy(&bits, &x, sizeof bits);
                hash = mix_bits(hash, isnan(x) ? 1 : bits);
            }
        }
        s->mark[k] = (double)(hash >> 11);
    }
}

/* Adds the block at row `to` if it repeats that at `from`, and no longer block contains it. */
static void add_block(const struct search *s, size_t from, size_t to, struct copied_rows *out)
{
    size_t rows = 0;
    if (from > 0 && is_equal(s, from - 1, to - 1)) {
        return;
    }
    while (to + rows < s->n && is_equal(s, from + rows, to + rows)) {
        rows++;
    }
    const double told = rows > 0 ? s->surprise[to + rows - 1] - s->surprise[to - 1] : 0.0;
    if (rows < COPIED_MIN || told < 2.0 * log((double)s->n) + COPIED_SURPRISE) {
        return;
    }
    out->total += rows;
    if (rows > out->rows) {
        out->from = from;
        out->to = to;
        out->rows = rows;
    }
}

static void compare_blocks(const struct search *s, const gsl_permutation *order,
                           struct copied_rows *out)
{
    for (size_t i = 0, end = 0; i < s->n && s->mark[order->data[i]] < HUGE_VAL; i = end) {
        size_t first = order->data[i];
        for (end = i; end < s->n && !(s->mark[order->data[end]] > s->mark[order->data[i]]);
             end++) {
            first = order->data[end] < first ? order->data[end] : first;
        }
        for (size_t j = i; j < end; j++) {
            if (order->data[j] != first) {
                add_block(s, first, order->data[j], out);
            }
        }
    }
}

enum status copied_rows_find(const struct copied_column *columns, size_t count, size_t n,
                             struct copied_rows *out)
{
    *out = (struct copied_rows){.total = 0};
    if (n < 2 * COPIED_MIN) {
        return STATUS_OK;
    }
    gsl_vector *memory = gsl_vector_calloc(2 * n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    if (memory && order) {
        gsl_vector_view marks = gsl_vector_subvector(memory, n, n);
        const struct search s = {.columns = columns,
                                 .count = count,
                                 .n = n,
                                 .surprise = memory->data,
                                 .mark = marks.vector.data};
        for (size_t c = 0; c < count; c++) {
            add_surprise(&s, &columns[c], s.mark);
        }
        for (size_t k = 1; k < n; k++) {
            s.surprise[k] += s.surprise[k - 1];
        }
        mark_blocks(&s);
        gsl_sort_vector_index(order, &marks.vector);
        compare_blocks(&s, order, out);
    }
    const enum status st = memory && order ? STATUS_OK : STATUS_E_NOMEM;
    gsl_permutation_free(order);
    gsl_vector_free(memory);
    return st;
}
