#include "identification/travel/travel_resolution.h"

#include <math.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "identification/travel/travel_thresholds.def"

enum { STEP_ROUNDS = 12, STEP_LAPS_MIN = 4, GAP_MOVES_MIN = 4 };

/* A lap is a multiple of a step to this ratio of the step: laps are printed with rounding. */
static const double WHOLE = 1e-4;
/* Laps that differ by less are equal, s. */
static const double SAME_S = 1e-9;
/* Laps without steps have remainders as small as this ratio of their mean distance. */
static const double CHANCE_RATIO = 1e-3;
/* Ratio of the moves in each group. */
static const double GROUP_RATIO = 0.1;

/* Returns the smallest remainder of a lap, 0 if all are multiples of the step. */
static double find_remainder(const double *laps_s, size_t n, double step)
{
    double least = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double steps = laps_s[i] / step;
        const double off = fabs(steps - round(steps));
        if (off > WHOLE && (!(least > 0.0) || off * step < least)) {
            least = off * step;
        }
    }
    return least;
}

double travel_find_step(double *laps_s, size_t n)
{
    gsl_sort(laps_s, 1, n);
    size_t distinct = 1;
    double step = INFINITY;
    for (size_t i = 1; i < n; i++) {
        const double more = laps_s[i] - laps_s[i - 1];
        distinct += more > SAME_S;
        step = more > SAME_S ? fmin(step, more) : step;
    }
    if (n < 1 || distinct < STEP_LAPS_MIN) {
        return 0.0;
    }
    const double least = CHANCE_RATIO * (laps_s[n - 1] - laps_s[0]) / (double)distinct;
    for (int round = 0; round < STEP_ROUNDS; round++) {
        const double remainder = find_remainder(laps_s, n, step);
        if (!(remainder > 0.0)) {
            return step;
        }
        if (remainder < least) {
            return 0.0;
        }
        step = remainder;
    }
    return 0.0;
}

bool travel_equal_laps(const double *laps_s, size_t n)
{
    size_t equal = 0;
    while (equal < n && !(fabs(laps_s[equal] - laps_s[0]) > SAME_S)) {
        equal++;
    }
    return n > 2 && equal == n;
}

size_t travel_count_beyond(const double *residual_s, size_t n, double limit_s)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += fabs(residual_s[i]) > limit_s;
    }
    return count;
}

double travel_find_gap(double *sizes, size_t n)
{
    gsl_sort(sizes, 1, n);
    size_t none = 0;
    while (none < n && !(sizes[none] > TRAVEL_NO_MOVE)) {
        none++;
    }
    const double *moves = sizes + none;
    const size_t count = n - none;
    const double group = GROUP_RATIO * (double)n;
    double widest = GAP_RATIO_MIN;
    double at = TRAVEL_NO_MOVE;
    double squares = 0.0;
    for (size_t k = 1; k + 1 < count && count >= GAP_MOVES_MIN && (double)none < group; k++) {
        squares += moves[k - 1] * moves[k - 1];
        const double noise = sqrt(squares / (double)k);
        const bool grouped = (double)(none + k) >= group && (double)(count - k) >= group &&
                             moves[k] > GAP_LEAST_RATIO * noise &&
                             moves[0] < GAP_NOISE_RATIO * noise &&
                             gsl_stats_median_from_sorted_data(moves + k, 1, count - k) >
                                 GAP_MEDIAN_RATIO * noise;
        if (grouped && moves[k] > widest * moves[k - 1]) {
            widest = moves[k] / moves[k - 1];
            at = sqrt(moves[k] * moves[k - 1]);
        }
    }
    return at;
}
