#include "identification/data/column_steps.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/errors/status.h"
#include "identification/data/data_thresholds.def"

/* Fewer different values show no step. */
enum { VALUES_MIN = 4 };
/* Differences below this share of the range are rounding errors of decimal numbers. */
static const double ROUNDING = 1e-9;
/* Decimal numbers are off by up to this share of their range. */
static const double DECIMALS = 1e-6;
/* Smallest differences may be two or three steps. */
static const double PARTS_OF_STEP[] = {1.0, 0.5, 1.0 / 3.0};
static const double MOST = 0.99; /* share of the values that must lie on the grid */

/* Copies up to COLUMN_STEPS_ROOM values, spread evenly, and returns their number. */
static size_t copy_sample(const double *x, size_t n, double *to)
{
    const size_t every = n / COLUMN_STEPS_ROOM + 1;
    size_t count = 0;
    for (size_t k = 0; k < n && count < COLUMN_STEPS_ROOM; k += every) {
        to[count++] = x[k];
    }
    return count;
}

/* Replaces sorted values by the differences between distinct ones. Returns their number. */
static size_t find_differences(double *values, size_t n, double *smallest)
{
    const double range = values[n - 1] - values[0];
    double last = values[0];
    size_t count = 0;
    *smallest = INFINITY;
    for (size_t k = 1; k < n; k++) {
        const double difference = values[k] - last;
        if (difference > ROUNDING * range) {
            last = values[k];
            values[count++] = difference;
            *smallest = fmin(*smallest, difference);
        }
    }
    return count;
}

/* Refines a step by all differences, and returns the share of them that are multiples of it. */
static double fit_step(const double *differences, size_t n, double range, double *step)
{
    for (int round_number = 0; round_number < 2; round_number++) {
        double sum = 0.0;
        double steps = 0.0;
        for (size_t k = 0; k < n; k++) {
            sum += differences[k];
            steps += round(differences[k] / *step);
        }
        *step = sum / fmax(steps, 1.0);
    }
    const double tolerance = STEP_OFF_MAX + DECIMALS * range / *step;
    size_t whole = 0;
    for (size_t k = 0; k < n; k++) {
        const double ratio = differences[k] / *step;
        whole += fabs(ratio - round(ratio)) < tolerance ? 1 : 0;
    }
    return tolerance < STEP_TOLERANCE_MAX ? (double)whole / (double)n : 0.0;
}

static double find_step(const double *x, size_t n, double *scratch)
{
    double smallest;
    const size_t sampled = copy_sample(x, n, scratch);
    if (sampled < VALUES_MIN) {
        return 0.0;
    }
    gsl_sort(scratch, 1, sampled);
    const double range = scratch[sampled - 1] - scratch[0];
    const size_t count = find_differences(scratch, sampled, &smallest);
    for (size_t i = 0; i < COUNT(PARTS_OF_STEP) && count + 1 >= VALUES_MIN; i++) {
        double step = smallest * PARTS_OF_STEP[i];
        if (fit_step(scratch, count, range, &step) >= MOST) {
            return step;
        }
    }
    return 0.0;
}

/* A value that stays for some rows, between the values before and after it. */
struct hold {
    size_t rows;
    double before, value, after;
};

/* A coarse sensor of a slow robot also repeats its value, and then changes it by one step. */
static bool is_slow_motion(const struct hold *hold, double step)
{
    const double one = 1.5 * step;
    return step > 0.0 && (fabs(hold->after - hold->before) <= one ||
                          (fabs(hold->value - hold->before) <= one &&
                           fabs(hold->after - hold->value) <= one));
}

/* Describes how long values stay. Sums over all holds but the first and last, whose lengths
 * are not known. */
static void find_holds(const double *x, size_t n, double *scratch, struct column_steps *out)
{
    struct hold hold = {.rows = 0};
    size_t changes = 0;
    size_t held = 0;
    size_t rows = 0;
    size_t own_holds = 0;
    size_t own_rows = 0;
    size_t longer = 0; /* holds of more than one row */
    double least = n > 0 ? x[0] : 0.0;
    double most = least;
    double *const own = scratch + COLUMN_STEPS_ROOM / 2;
    for (size_t k = 1; k < n; k++) {
        hold.rows++;
        least = fmin(least, x[k]);
        most = fmax(most, x[k]);
        if (!(fabs(x[k] - x[k - 1]) > 0.0)) {
            continue;
        }
        hold.after = x[k];
        hold.value = x[k - 1];
        if (changes > 0 && held < COLUMN_STEPS_ROOM / 2) {
            scratch[held++] = (double)hold.rows;
            rows += hold.rows;
            if (!is_slow_motion(&hold, out->step)) {
                own[own_holds++] = (double)hold.rows;
                own_rows += hold.rows;
                longer += hold.rows > 1 ? 1 : 0;
            }
        }
        changes++;
        hold = (struct hold){.before = x[k - 1]};
    }
    if (changes < VALUES_MIN) {
        return;
    }
    out->repeat_ratio = 1.0 - (double)(held + 1) / (double)(rows + 1);
    out->hold_rows = gsl_stats_median(scratch, 1, held);
    const bool fine = !(out->step * FINE_STEPS_MIN > most - least);
    if (own_holds < VALUES_MIN || 2 * own_holds < held) {
        return;
    }
    const double own_median = gsl_stats_median(own, 1, own_holds);
    const double repeats = 1.0 - (double)own_holds / (double)own_rows;
    if (own_median >= STALE_ROWS_MIN && repeats >= REPEAT_RATIO_MIN) {
        out->stale_rows = (size_t)own_median;
    } else if (fine && (double)longer >= FINE_REPEAT_RATIO * (double)own_holds) {
        out->stale_rows = (size_t)STALE_ROWS_MIN;
    }
}

void column_steps_find(const double *x, size_t n, double *scratch, struct column_steps *out)
{
    *out = (struct column_steps){.step = n > 0 ? find_step(x, n, scratch) : 0.0};
    if (n > 0) {
        find_holds(x, n, scratch, out);
    }
}

/* Returns whether all jumps are one turn and the values stay within it. */
static bool is_turn(const double *x, size_t n, double turn, double usual, double range,
                    double jump_min)
{
    const double tolerance = fmax(WRAP_USUAL_RATIO * usual, WRAP_OFF_RATIO * turn);
    bool all = 0.5 * turn <= range && range <= (1.0 + WRAP_OFF_RATIO) * turn;
    for (size_t k = 1; k < n && all; k++) {
        const double jump = fabs(x[k] - x[k - 1]);
        all = !(jump > jump_min) || fabs(jump - turn) <= tolerance;
    }
    return all;
}

void column_wrap_find(const double *x, size_t n, double *scratch, struct column_wrap *out)
{
    static const double turns[] = {
        6.283185307179586, 360.0,       1.0, 100.0, 400.0, 1024.0, 2048.0, 4096.0,
        65536.0,           4294967296.0};
    const size_t every = n / COLUMN_STEPS_ROOM + 1;
    double least = INFINITY;
    double most = -INFINITY;
    size_t sampled = 0;
    *out = (struct column_wrap){.turn = 0.0};
    for (size_t k = 0; k < n; k++) {
        least = fmin(least, x[k]);
        most = fmax(most, x[k]);
        if (k > 0 && k % every == 0 && sampled < COLUMN_STEPS_ROOM) {
            scratch[sampled++] = fabs(x[k] - x[k - 1]);
        }
    }
    if (sampled == 0) {
        return;
    }
    gsl_sort(scratch, 1, sampled);
    const double usual = gsl_stats_quantile_from_sorted_data(scratch, 1, sampled, USUAL_SHARE);
    const double jump_min = fmax(WRAP_JUMP_RATIO * usual, WRAP_RANGE_RATIO * (most - least));
    size_t first = 0;
    size_t count = 0;
    for (size_t k = 1; k < n; k++) {
        if (fabs(x[k] - x[k - 1]) > jump_min) {
            first = count++ == 0 ? k : first;
        }
    }
    for (size_t i = 0; i < COUNT(turns) && count > 0 && !(out->turn > 0.0); i++) {
        if (is_turn(x, n, turns[i], usual, most - least, jump_min)) {
            *out = (struct column_wrap){turns[i], first, count};
        }
    }
}

void column_unwrap(const double *from, size_t n, double turn, double *x)
{
    double add = 0.0;
    double before = n > 0 ? from[0] : 0.0;
    for (size_t k = 0; k < n; k++) {
        const double step = from[k] - before;
        add -= fabs(step) > 0.5 * turn ? copysign(turn, step) : 0.0;
        before = from[k];
        x[k] = before + add;
    }
}
