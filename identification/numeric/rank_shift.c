#include "identification/numeric/rank_shift.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include "identification/numeric/numeric_thresholds.def"

/* ---- order statistics of sums and differences of all pairs --------------------------------
 */

/* Two sorted samples; a and b are the same for Walsh's averages. */
struct all_pairs {
    const double *a, *b;
    size_t n_a, n_b;
    uint64_t (*count)(const struct all_pairs *pairs, double value); /* pairs up to value */
};

static uint64_t count_averages(const struct all_pairs *p, double value)
{
    uint64_t count = 0;
    size_t end = p->n_a;
    for (size_t i = 0; i < end; i++) {
        while (end > i && (p->a[i] + p->a[end - 1]) / 2.0 > value) {
            end--;
        }
        count += end - i;
    }
    return count;
}

static uint64_t count_differences(const struct all_pairs *p, double value)
{
    uint64_t count = 0;
    size_t end = 0;
    for (size_t i = 0; i < p->n_a; i++) {
        while (end < p->n_b && p->b[end] - p->a[i] <= value) {
            end++;
        }
        count += end;
    }
    return count;
}

/* The bits of doubles in the order of the numbers. */
static int64_t order_bits(double value)
{
    int64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of_bits(int64_t bits)
{
    double value = 0.0;
    bits = bits < 0 ? INT64_MIN - bits : bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Finds the k-th smallest, k from 1: the least number that at least k do not exceed. */
static double select_pair(const struct all_pairs *p, double low, double high, uint64_t k)
{
    int64_t from = order_bits(low);
    int64_t to = order_bits(high);
    while (from < to) {
        const int64_t middle = from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2);
        if (p->count(p, value_of_bits(middle)) >= k) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return value_of_bits(from);
}

/* Finds the median of `all` pairs, and the k-th from each end; k < 1: infinite. */
static void select_shift(const struct all_pairs *p, double low, double high, uint64_t all,
                         double k, struct rank_shift *out)
{
    const double upper = select_pair(p, low, high, all / 2 + 1);
    out->value = all % 2 > 0 ? upper : (select_pair(p, low, high, all / 2) + upper) / 2.0;
    out->lo = k < 1.0 ? -(double)INFINITY : select_pair(p, low, high, (uint64_t)k);
    out->hi = k < 1.0 ? (double)INFINITY : select_pair(p, low, high, all + 1 - (uint64_t)k);
}

/* ---- paired ------------------------------------------------------------------------------
 */

enum { EXACT_ROOM = 60 }; /* differences of the exact table, at most */

/* The largest k for which at most the share p of all signs gives a signed rank sum below k. */
static double find_exact_rank(size_t n, double p)
{
    enum { SUMS = EXACT_ROOM * (EXACT_ROOM + 1) / 2 + 1 };
    double ways[SUMS] = {1.0};
    double below = 0.0;
    size_t k = 0;
    for (size_t rank = 1; rank <= n; rank++) {
        for (size_t sum = SUMS - 1; sum >= rank; sum--) {
            ways[sum] += ways[sum - rank];
        }
    }
    const double all = ldexp(1.0, (int)n);
    while ((below + ways[k]) / all <= p) {
        below += ways[k];
        k++;
    }
    return (double)k;
}

/* Ranks, equal values in the mean of their places; sorted is filled as well. */
static void find_ranks(const double *values, size_t n, const struct rank_room *room)
{
    gsl_sort_index(room->order, values, 1, n);
    for (size_t i = 0, end = 0; i < n; i = end) {
        const double value = values[room->order[i]];
        while (end < n && !(values[room->order[end]] > value)) {
            end++;
        }
        for (size_t j = i; j < end; j++) {
            room->ranks[room->order[j]] = ((double)i + (double)end + 1.0) / 2.0;
            room->sorted[j] = value;
        }
    }
}

/* Long-run variance of the ranks in the order of time, against that of independent ones. */
static void find_inflation(const double *ranks, size_t n, struct rank_shift *out)
{
    const double mean = ((double)n + 1.0) / 2.0;
    const size_t lags = (size_t)(4.0 * pow((double)n / 100.0, 2.0 / 9.0));
    double squares = 0.0;
    double factor = 1.0;
    out->inflation = 1.0;
    out->neighbours = 0.0;
    for (size_t i = 0; i < n; i++) {
        squares += (ranks[i] - mean) * (ranks[i] - mean);
    }
    if (n < SERIAL_MIN || !(squares > 0.0)) {
        return;
    }
    for (size_t lag = 1; lag <= lags; lag++) {
        double products = 0.0;
        for (size_t i = lag; i < n; i++) {
            products += (ranks[i] - mean) * (ranks[i - lag] - mean);
        }
        out->neighbours = lag == 1 ? products / squares : out->neighbours;
        factor += 2.0 * (1.0 - (double)lag / (double)(lags + 1)) * products / squares;
    }
    /* The correlations are estimated with a bias towards zero: 2 lags / n. */
    out->inflation = fmax(1.0, factor * (1.0 + 2.0 * (double)lags / (double)n));
}

void rank_shift_paired(const double *differences, size_t n, double confidence,
                       const struct rank_room *room, struct rank_shift *out)
{
    const double tail = (1.0 - confidence) / 2.0;
    const double m = (double)n;
    find_ranks(differences, n, room);
    find_inflation(room->ranks, n, out);
    const double sd = sqrt(out->inflation * m * (m + 1.0) * (2.0 * m + 1.0) / 24.0);
    const bool exact = !(out->inflation > 1.0) && n <= SIGNED_RANK_EXACT_MAX && n <= EXACT_ROOM;
    const double k = exact ? find_exact_rank(n, tail)
                           : rint(m * (m + 1.0) / 4.0 + gsl_cdf_ugaussian_Pinv(tail) * sd);
    const struct all_pairs walsh = {room->sorted, room->sorted, n, n, count_averages};
    select_shift(&walsh, room->sorted[0], room->sorted[n - 1], (uint64_t)n * (n + 1) / 2, k,
                 out);
}

/* ---- independent samples -----------------------------------------------------------------
 */

void rank_shift_unpaired(const double *a, size_t n_a, const double *b, size_t n_b,
                         double confidence, struct rank_shift *out)
{
    const double n = (double)n_a;
    const double m = (double)n_b;
    const double z = gsl_cdf_ugaussian_Pinv((1.0 - confidence) / 2.0);
    const double k = rint(n * m / 2.0 + z * sqrt(n * m * (n + m + 1.0) / 12.0));
    const struct all_pairs pairs = {a, b, n_a, n_b, count_differences};
    out->inflation = 1.0;
    out->neighbours = 0.0;
    select_shift(&pairs, b[0] - a[n_a - 1], b[n_b - 1] - a[0], (uint64_t)n_a * n_b,
                 fmax(k, 1.0), out);
}

/* Mean and variance of the number of values of the other sample below each value. */
static void find_placements(const double *values, size_t n, const double *other, size_t n_other,
                            double *mean, double *variance)
{
    size_t below = 0;
    size_t up_to = 0;
    double squares = 0.0;
    *mean = 0.0;
    for (size_t i = 0; i < n; i++) {
        while (below < n_other && other[below] < values[i]) {
            below++;
        }
        while (up_to < n_other && other[up_to] <= values[i]) {
            up_to++;
        }
        const double placement = (double)(below + up_to) / 2.0;
        const double before = placement - *mean;
        *mean += before / (double)(i + 1);
        squares += before * (placement - *mean);
    }
    *variance = squares / (double)(n - 1);
}

void rank_superiority_find(const double *a, size_t n_a, const double *b, size_t n_b,
                           double confidence, struct rank_superiority *out)
{
    const double n = (double)n_a;
    const double m = (double)n_b;
    double mean_a = 0.0;
    double mean_b = 0.0;
    double var_a = 0.0;
    double var_b = 0.0;
    find_placements(a, n_a, b, n_b, &mean_a, &var_a);
    find_placements(b, n_b, a, n_a, &mean_b, &var_b);
    const double p = mean_b / n;
    const double part_a = var_a / (m * m) / n;
    const double part_b = var_b / (n * n) / m;
    const double variance = part_a + part_b;
    *out = (struct rank_superiority){p, p, p};
    if (variance > 0.0 && p > 0.0 && p < 1.0) {
        const double freedom =
            variance * variance / (part_a * part_a / (n - 1.0) + part_b * part_b / (m - 1.0));
        const double logit = log(p / (1.0 - p));
        const double half = gsl_cdf_tdist_Pinv(0.5 + confidence / 2.0, freedom) *
                            sqrt(variance) / (p * (1.0 - p));
        out->lo = 1.0 / (1.0 + exp(half - logit));
        out->hi = 1.0 / (1.0 + exp(-half - logit));
    }
}
