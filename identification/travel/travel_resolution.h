/* identification/travel/travel_resolution.h - what the numbers of a table of moves resolve:
 * steps of laps, and sizes that are only the noise of measuring.
 *
 * docs/model/travel_time.md, section 2. Pure.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_RESOLUTION_H
#define IDENTIFICATION_TRAVEL_TRAVEL_RESOLUTION_H

#include <stdbool.h>
#include <stddef.h>

/* A move of zero may arrive as 1e-17 after a conversion of units. */
#define TRAVEL_NO_MOVE 1e-6

/* Returns the largest step of which all laps are multiples; 0 if there is none, or if fewer
 * than four laps differ. Sorts laps [n]. */
double travel_find_step(double *laps_s, size_t n);

/* Are all laps equal, of three moves or more? Then they say nothing about the moves. */
bool travel_equal_laps(const double *laps_s, size_t n);

/* Returns how many residuals are larger than a limit, to either side. */
size_t travel_count_beyond(const double *residual_s, size_t n, double limit_s);

/* Returns the size up to which a move counts as none. It is TRAVEL_NO_MOVE if a tenth of the
 * sizes is zero, because sizes are then commanded. Otherwise it lies in the widest gap between
 * noise about zero and moves, if there is one. Sorts sizes [n], all >= 0. */
double travel_find_gap(double *sizes, size_t n);

#endif
