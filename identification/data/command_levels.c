#include "identification/data/command_levels.h"

#include <math.h>

#include <gsl/gsl_sort.h>

#include "identification/data/data_thresholds.def"

/* Counts groups of sorted values that span at most `near` and are at least `least` values.
 * shown: NULL, or the means of the first ones. */
static size_t count_groups(const double *values, size_t n, double near, double least,
                           double *shown)
{
    size_t groups = 0;
    size_t first = 0;
    while (first < n) {
        size_t end = first + 1; /* a value that is not finite is a group of its own */
        double sum = values[first];
        while (end < n && values[end] <= values[first] + near) {
            sum += values[end++];
        }
        if ((double)(end - first) >= least) {
            if (shown && groups < COMMAND_LEVELS_SHOWN) {
                shown[groups] = sum / (double)(end - first);
            }
            groups++;
        }
        first = end;
    }
    return groups;
}

void command_levels_find(const double *u, size_t n, double *scratch, struct command_levels *out)
{
    const size_t every = n / COMMAND_LEVELS_ROOM + 1;
    double largest = 0.0;
    size_t count = 0;
    *out = (struct command_levels){.levels = 0};
    for (size_t k = 0; k < n && count < COMMAND_LEVELS_ROOM; k += every) {
        scratch[count] = u[k];
        largest = fmax(largest, fabs(scratch[count++]));
    }
    if (!(largest > 0.0)) {
        return;
    }
    const double near = LEVEL_WIDTH_RATIO * largest;
    const double least = LEVEL_TIME_RATIO * (double)count;
    gsl_sort(scratch, 1, count);
    out->levels = count_groups(scratch, count, near, least, out->shown);
    size_t sized = 0;
    for (size_t k = 0; k < count; k++) {
        if (fabs(scratch[k]) > near) {
            scratch[sized++] = fabs(scratch[k]);
        }
    }
    gsl_sort(scratch, 1, sized);
    out->magnitudes = count_groups(scratch, sized, near, least, NULL);
}
