#include "identification/data/derived_velocity.h"

#include <math.h>
#include <stdbool.h>

#include "identification/data/data_thresholds.def"

enum { ORDER = 3, CANDIDATES = 10, LOOKS = 16384 };

static const size_t halves[CANDIDATES] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48};

/* The candidate windows, and the sum of the squared differences of each pair's velocities. */
struct trial {
    size_t count;
    struct derived_velocity of[CANDIDATES];
    double squares[CANDIDATES][CANDIDATES];
    size_t looks;
};

double derived_velocity_at(const struct derived_runs *runs,
                           const struct derived_velocity *derived, size_t k)
{
    const double *x = runs->position + k - derived->half;
    double sum = 0.0;
    for (size_t m = 0; m <= 2 * derived->half; m++) {
        sum += derived->slope[m] * x[m];
    }
    return sum;
}

static enum status set_window(const struct derived_runs *runs, size_t half,
                              struct derived_velocity *derived)
{
    double value[LOCAL_POLYNOMIAL_MAX];
    double squares = 0.0;
    const enum status st = local_polynomial(half, ORDER, value, derived->slope);
    derived->half = half;
    for (size_t m = 0; st == STATUS_OK && m <= 2 * half; m++) {
        derived->slope[m] /= runs->dt_s;
        squares += derived->slope[m] * derived->slope[m];
    }
    derived->noise_sd = runs->noise_sd * sqrt(squares);
    return st;
}

/* Variance of the difference of two windows' velocities due to noise of the positions. */
static double variance_of_difference(const struct derived_runs *runs,
                                     const struct derived_velocity *wide,
                                     const struct derived_velocity *narrow)
{
    double squares = 0.0;
    for (size_t m = 0; m <= 2 * wide->half; m++) {
        const bool inside = m + narrow->half >= wide->half && m <= wide->half + narrow->half;
        const double other = inside ? narrow->slope[m + narrow->half - wide->half] : 0.0;
        squares += (wide->slope[m] - other) * (wide->slope[m] - other);
    }
    return runs->noise_sd * runs->noise_sd * squares;
}

static void look_at(const struct derived_runs *runs, struct trial *trial, size_t k)
{
    double velocity[CANDIDATES];
    for (size_t i = 0; i < trial->count; i++) {
        velocity[i] = derived_velocity_at(runs, &trial->of[i], k);
        for (size_t j = 0; j < i; j++) {
            const double difference = velocity[i] - velocity[j];
            trial->squares[i][j] += difference * difference;
        }
    }
    trial->looks++;
}

/* Compares the windows at samples that are spread evenly over the runs. */
static void sample_trial(const struct derived_runs *runs, struct trial *trial)
{
    const size_t reach = trial->of[trial->count - 1].half;
    const size_t every = runs->start[runs->count] / LOOKS + 1;
    for (size_t r = 0; r < runs->count; r++) {
        for (size_t k = runs->start[r] + reach; k + reach < runs->start[r + 1]; k += every) {
            look_at(runs, trial, k);
        }
    }
}

/* Returns whether a window agrees with all narrower ones, as in Lepski's method of choosing
 * a bandwidth. */
static bool agrees_with_narrower(const struct derived_runs *runs, const struct trial *trial,
                                 size_t i)
{
    for (size_t j = 0; j < i; j++) {
        const double noise = variance_of_difference(runs, &trial->of[i], &trial->of[j]);
        if (!(trial->squares[i][j] <= DIFFERENCE_MAX * noise * (double)trial->looks)) {
            return false;
        }
    }
    return true;
}

enum status derived_velocity_choose(const struct derived_runs *runs, size_t half_max,
                                    struct derived_velocity *derived)
{
    struct trial trial = {.count = 0};
    size_t best = 0;
    for (size_t i = 0; i < COUNT(halves) && (i == 0 || halves[i] <= half_max); i++) {
        const enum status st = set_window(runs, halves[i], &trial.of[i]);
        if (st != STATUS_OK) {
            return st;
        }
        trial.count++;
    }
    sample_trial(runs, &trial);
    while (best + 1 < trial.count && trial.looks > 0 &&
           agrees_with_narrower(runs, &trial, best + 1)) {
        best++;
    }
    *derived = trial.of[best];
    return STATUS_OK;
}
