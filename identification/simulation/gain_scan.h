/* identification/simulation/gain_scan.h - an episode in which efforts have another effect.
 *
 * Halves and thirds of a recording do not show a gain that falls for a while. The scan adds up
 * innovations along the sensitivity to the gain of an effort, block by block, and looks for
 * neighbouring blocks whose sum is far outside of what single blocks have. The scale is that of
 * the blocks' median, so that forces or coloured noise all the time are no episode. Pure.
 */
#ifndef IDENTIFICATION_SIMULATION_GAIN_SCAN_H
#define IDENTIFICATION_SIMULATION_GAIN_SCAN_H

#include <stddef.h>

#include <gsl/gsl_matrix.h>

enum { GAIN_SCAN_BLOCKS = 64 };

/* Sums of one effort: sensitivity times innovation, and squared sensitivity. */
struct gain_scan {
    double score[GAIN_SCAN_BLOCKS], squares[GAIN_SCAN_BLOCKS];
};

/* The episode that differs most. errors: in robust standard errors, 0: none was tested. */
struct gain_episode {
    double errors, change; /* ratio of the effect of the effort */
    double from, to;       /* as ratios of the recording */
};

/* Adds a sample [axes] to a block of the scan of each effort [axes]: whitened sensitivities, in
 * columns from `first` on at this distance, and innovations. */
void gain_scan_add(struct gain_scan *scan, size_t axes, size_t block, const gsl_matrix *rows,
                   size_t first, size_t distance, const double *z);

void gain_scan_find(const struct gain_scan *scan, struct gain_episode *episode);

#endif
