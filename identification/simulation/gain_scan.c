#include "identification/simulation/gain_scan.h"

#include <math.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

/* Longest episode, and fewest blocks with an effort that give a scale. */
enum { LONGEST = GAIN_SCAN_BLOCKS / 4, BLOCKS_MIN = GAIN_SCAN_BLOCKS / 2 };
static const double SD_PER_MEDIAN = 1.4826;

/* Returns the robust standard deviation of a block's sum, for squares of 1; 0: too few. */
static double find_scale(const struct gain_scan *scan)
{
    double size[GAIN_SCAN_BLOCKS];
    size_t count = 0;
    for (size_t b = 0; b < GAIN_SCAN_BLOCKS; b++) {
        if (scan->squares[b] > 0.0) {
            size[count++] = fabs(scan->score[b]) / sqrt(scan->squares[b]);
        }
    }
    if (count < BLOCKS_MIN) {
        return 0.0;
    }
    gsl_sort(size, 1, count);
    return SD_PER_MEDIAN * gsl_stats_median_from_sorted_data(size, 1, count);
}

void gain_scan_add(struct gain_scan *scan, size_t axes, size_t block, const gsl_matrix *rows,
                   size_t first, size_t distance, const double *z)
{
    for (size_t effort = 0; effort < axes; effort++) {
        for (size_t a = 0; a < axes; a++) {
            const double x = gsl_matrix_get(rows, a, first + effort * distance);
            scan[effort].score[block] += x * z[a];
            scan[effort].squares[block] += x * x;
        }
    }
}

void gain_scan_find(const struct gain_scan *scan, struct gain_episode *episode)
{
    const double scale = find_scale(scan);
    *episode = (struct gain_episode){.errors = 0.0};
    for (size_t from = 0; from < GAIN_SCAN_BLOCKS && scale > 0.0; from++) {
        double score = 0.0;
        double squares = 0.0;
        for (size_t to = from; to < GAIN_SCAN_BLOCKS && to < from + LONGEST; to++) {
            score += scan->score[to];
            squares += scan->squares[to];
            const double errors = squares > 0.0 ? fabs(score) / sqrt(squares) / scale : 0.0;
            if (errors > episode->errors) {
                *episode = (struct gain_episode){errors, score / squares,
                                                 (double)from / GAIN_SCAN_BLOCKS,
                                                 (double)(to + 1) / GAIN_SCAN_BLOCKS};
            }
        }
    }
}
