#include "identification/data/motion_time.h"

#include <math.h>

enum { PRODUCTS_MAX = 16384 };

/* An axis that moves less, in noises, has nothing to say. */
static const double SIGNAL_RATIO_MIN = 5.0;

/* Of one axis at one lag: the mean product of deviations, from every step-th sample. */
static double mean_product(const struct data_set *set, size_t axis, const double *mean,
                           size_t lag, size_t step)
{
    const double *y = set->nu[axis];
    double sum = 0.0;
    size_t n = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k + lag < set->run_start[r + 1]; k += step) {
            sum += (y[k] - mean[r]) * (y[k + lag] - mean[r]);
            n++;
        }
    }
    return n > 0 ? sum / (double)n : 0.0;
}

static size_t lags_until_half(const struct data_set *set, size_t axis, size_t most)
{
    double mean[DATA_RUNS_MAX];
    const size_t step = set->n / PRODUCTS_MAX + 1;
    for (size_t r = 0; r < set->run_count; r++) {
        double sum = 0.0;
        size_t n = 0;
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k += step) {
            sum += set->nu[axis][k];
            n++;
        }
        mean[r] = n > 0 ? sum / (double)n : 0.0;
    }
    const double noise = set->noise_sd[axis] * set->noise_sd[axis];
    const double signal = mean_product(set, axis, mean, 0, step) - noise;
    if (!(signal > SIGNAL_RATIO_MIN * SIGNAL_RATIO_MIN * noise)) {
        return most;
    }
    size_t lag = 1;
    while (lag < most && mean_product(set, axis, mean, lag, step) >= 0.5 * signal) {
        lag += lag / 4 > 0 ? lag / 4 : 1;
    }
    return lag;
}

double motion_time_s(const struct data_set *set, double most_s)
{
    const double periods = fmin(ceil(most_s / set->dt_s), (double)set->n);
    size_t least = periods > 1.0 ? (size_t)periods : 1;
    for (size_t a = 0; a < set->axes; a++) {
        least = lags_until_half(set, a, least);
    }
    return fmin((double)least * set->dt_s, most_s);
}
