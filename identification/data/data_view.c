#include "identification/data/data_view.h"

#include <math.h>
#include <string.h>

#include "identification/data/data_thresholds.def"

struct data_set data_view_first(const struct data_set *set, size_t n_max)
{
    struct data_set part = *set;
    part.run_count = 0;
    part.n = 0;
    for (size_t run = 0; run < set->run_count && part.n < n_max; run++) {
        const size_t length = set->run_start[run + 1] - set->run_start[run];
        const size_t room = n_max - part.n;
        const size_t used = length < room ? length : room;
        if (used < DATA_RUN_MIN) {
            break;
        }
        part.n += used;
        part.run_count++;
        part.run_start[part.run_count] = part.n;
    }
    return part;
}

/* Square of the change of an effort from the previous sample to sample k. */
static double squared_change(const struct data_set *set, size_t axis, size_t k)
{
    const double step = set->tau[axis][k] - set->tau[axis][k - 1];
    return step * step;
}

/* One over the sum of these squares, so that all efforts have the same weight; 0: it never
 * changes. */
static void find_scale(const struct data_set *set, double scale[MODEL_AXES_MAX])
{
    for (size_t a = 0; a < set->axes; a++) {
        double sum = 0.0;
        for (size_t run = 0; run < set->run_count; run++) {
            for (size_t k = set->run_start[run] + 1; k < set->run_start[run + 1]; k++) {
                sum += squared_change(set, a, k);
            }
        }
        scale[a] = sum > 0.0 ? 1.0 / sum : 0.0;
    }
}

static double busy_at(const struct data_set *set, const double *scale, size_t k)
{
    double sum = 0.0;
    for (size_t a = 0; a < set->axes; a++) {
        sum += scale[a] * squared_change(set, a, k);
    }
    return sum;
}

struct data_set data_view_piece(const struct data_set *set, size_t from, size_t n)
{
    struct data_set part = *set;
    part.n = n;
    part.t_s += from;
    part.gap_s = part.gap_s ? part.gap_s + from : NULL;
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        part.nu[a] = part.nu[a] ? part.nu[a] + from : NULL;
        part.tau[a] = part.tau[a] ? part.tau[a] + from : NULL;
        part.recorded[a] = part.recorded[a] ? part.recorded[a] + from : NULL;
        part.pose[a] = part.pose[a] ? part.pose[a] + from : NULL;
    }
    size_t run = 0;
    while (run + 1 < set->run_count && from >= set->run_start[run + 1]) {
        run++;
    }
    memcpy(part.run_commands[0], set->run_commands[run], sizeof part.run_commands[0]);
    part.run_count = part.part_count = 1;
    part.run_part[0] = 0;
    part.run_start[0] = 0;
    part.run_start[1] = n;
    return part;
}

struct data_set data_view_busiest(const struct data_set *set, size_t n_max, size_t *from)
{
    double scale[MODEL_AXES_MAX];
    double most = -1.0;
    size_t length = 0;
    find_scale(set, scale);
    *from = 0;
    for (size_t run = 0; run < set->run_count; run++) {
        const size_t first = set->run_start[run];
        const size_t end = set->run_start[run + 1];
        const size_t used = end - first < n_max ? end - first : n_max;
        double sum = 0.0;
        for (size_t k = first + 1; k < end; k++) {
            sum += busy_at(set, scale, k);
            if (k >= first + used) {
                sum -= busy_at(set, scale, k - used + 1);
            }
            if (k + 1 >= first + used && sum > most) {
                most = sum;
                length = used;
                *from = k + 1 - used;
            }
        }
    }
    return data_view_piece(set, *from, length);
}

/* Returns the sample `samples` before k, limited to first .. last. */
static size_t sample_before(size_t k, ptrdiff_t samples, size_t first, size_t last)
{
    const ptrdiff_t at = (ptrdiff_t)k - samples;
    return at < (ptrdiff_t)first ? first : at > (ptrdiff_t)last ? last : (size_t)at;
}

void data_view_delay(struct data_set *set, double delay_s, double *tau)
{
    const double periods = delay_s / set->dt_s;
    const double share = periods - floor(periods);
    const ptrdiff_t whole = (ptrdiff_t)floor(periods);
    const double before = set->recorded[0] ? (double)set->late + set->late_share : 0.0;
    for (size_t a = 0; a < set->axes; a++) {
        const double *acts = set->tau[a];
        double *late = tau + a * set->n;
        for (size_t run = 0; run < set->run_count; run++) {
            const size_t first = set->run_start[run];
            const size_t last = set->run_start[run + 1] - 1;
            for (size_t k = first; k <= last; k++) {
                late[k] = (1.0 - share) * acts[sample_before(k, whole, first, last)] +
                          share * acts[sample_before(k, whole + 1, first, last)];
            }
        }
        set->recorded[a] = set->recorded[a] ? set->recorded[a] : acts;
        set->tau[a] = late;
    }
    set->commands.count = 0;
    const double all = before + periods;
    set->late = (ptrdiff_t)floor(all);
    set->late_share = all - floor(all);
}

void data_view_effort(const struct data_set *set, size_t k, double *tau)
{
    for (size_t a = 0; a < set->axes; a++) {
        tau[a] = set->tau[a][k];
    }
}

void data_view_efforts(const struct data_set *set, size_t k, struct data_efforts *efforts)
{
    size_t run = 0;
    while (run + 1 < set->run_count && k >= set->run_start[run + 1]) {
        run++;
    }
    const size_t last = set->run_start[run + 1] - 1;
    if (!set->recorded[0]) {
        efforts->count = 1;
        efforts->share[0] = 1.0;
        data_view_effort(set, k, efforts->tau[0]);
        return;
    }
    efforts->count = 2; /* the older one acts first */
    efforts->share[0] = set->late_share;
    efforts->share[1] = 1.0 - set->late_share;
    for (size_t i = 0; i < 2; i++) {
        const size_t at =
            sample_before(k, set->late + 1 - (ptrdiff_t)i, set->run_start[run], last);
        for (size_t a = 0; a < set->axes; a++) {
            efforts->tau[i][a] = set->recorded[a][at];
        }
    }
}

enum { PRODUCTS_MAX = 16384 };

/* Mean product of deviations of one axis at one lag, from every step-th sample. */
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
