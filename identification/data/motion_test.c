#include "identification/data/motion_test.h"

#include <math.h>

#include "identification/data/data_thresholds.def"

/* Fewer means do not show that nothing moves. */
enum { MEAN_ROWS = 8, MEANS_MIN = 4, LAGS = 20 };

/* Variance of the noise if it is white: half the mean square of the first differences. */
static double white_variance(const struct data_set *set, const double *x)
{
    double squares = 0.0;
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + 1; k < set->run_start[r + 1]; k++) {
            squares += (x[k] - x[k - 1]) * (x[k] - x[k - 1]);
            count++;
        }
    }
    return count > 0 ? 0.5 * squares / (double)count : 0.0;
}

static double mean_variance(const struct data_set *set, const double *x)
{
    double mean = 0.0;
    double squares = 0.0;
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k + MEAN_ROWS <= set->run_start[r + 1];
             k += MEAN_ROWS) {
            double sum = 0.0;
            for (size_t i = 0; i < MEAN_ROWS; i++) {
                sum += x[k + i] / MEAN_ROWS;
            }
            count++;
            const double step = sum - mean;
            mean += step / (double)count;
            squares += step * (sum - mean);
        }
    }
    return count >= MEANS_MIN ? squares / (double)(count - 1) : HUGE_VAL;
}

/* Correlation of x with an effort `lag` rows earlier, in errors of no correlation. */
static double find_correlation(const struct data_set *set, const double *x,
                               const double *effort, size_t lag)
{
    double sum_x = 0.0;
    double sum_e = 0.0;
    double xx = 0.0;
    double ee = 0.0;
    double xe = 0.0;
    double n = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + lag; k < set->run_start[r + 1]; k++) {
            const double a = x[k] - x[0];
            const double b = effort[k - lag] - effort[0];
            sum_x += a;
            sum_e += b;
            xx += a * a;
            ee += b * b;
            xe += a * b;
            n += 1.0;
        }
    }
    const double spread = (xx - sum_x * sum_x / n) * (ee - sum_e * sum_e / n);
    return spread > 0.0 ? fabs(xe - sum_x * sum_e / n) / sqrt(spread) * sqrt(n) : 0.0;
}

void motion_test_find(const struct data_set *set, size_t axis, struct motion_test *test)
{
    const double *x = set->derived[axis] && set->pose[axis] ? set->pose[axis] : set->nu[axis];
    const double white = white_variance(set, x) / MEAN_ROWS;
    const double means = mean_variance(set, x);
    *test = (struct motion_test){.slow_ratio = white > 0.0   ? means / white
                                               : means > 0.0 ? HUGE_VAL
                                                             : 0.0};
    for (size_t a = 0; a < set->axes; a++) {
        for (size_t lag = 0; lag <= LAGS; lag++) {
            test->follows_errors =
                fmax(test->follows_errors, find_correlation(set, x, set->tau[a], lag));
        }
    }
}

bool motion_test_moves(const struct data_set *set)
{
    bool moves = false;
    for (size_t a = 0; a < set->axes && !moves; a++) {
        struct motion_test test;
        motion_test_find(set, a, &test);
        moves = test.slow_ratio >= MOVES_RATIO || test.follows_errors >= MOVES_ERRORS;
    }
    return moves;
}
