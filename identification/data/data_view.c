#include "identification/data/data_view.h"

#include <math.h>

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

/* Square of the step of an effort to sample k from the one before. */
static double squared_change(const struct data_set *set, size_t axis, size_t k)
{
    const double step = set->tau[axis][k] - set->tau[axis][k - 1];
    return step * step;
}

/* One over the sum of these squares, by which each effort counts alike; 0: it never changes. */
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
    struct data_set part = *set;
    part.n = length;
    part.t_s += *from;
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        part.nu[a] = part.nu[a] ? part.nu[a] + *from : NULL;
        part.tau[a] = part.tau[a] ? part.tau[a] + *from : NULL;
        part.pose[a] = part.pose[a] ? part.pose[a] + *from : NULL;
    }
    part.run_count = 1;
    part.run_start[0] = 0;
    part.run_start[1] = length;
    return part;
}

/* The sample so many before k, inside first .. last. */
static size_t sample_before(size_t k, ptrdiff_t samples, size_t first, size_t last)
{
    const ptrdiff_t at = (ptrdiff_t)k - samples;
    return at < (ptrdiff_t)first ? first : at > (ptrdiff_t)last ? last : (size_t)at;
}

void data_view_late(struct data_set *set, double delay_s, double *tau)
{
    const double periods = delay_s / set->dt_s;
    const double share = periods - floor(periods);
    const ptrdiff_t whole = (ptrdiff_t)floor(periods);
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
        set->tau[a] = late;
    }
}
