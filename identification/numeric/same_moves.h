/* identification/numeric/same_moves.h - by how much a time differs between two recordings of
 * different moves, if both had the same moves.
 *
 * Each recording is regressed on (1, [rotation > 0], [displacement > 0], rotation,
 * displacement). The difference is that at the mean of the moves of both. Errors are HC3
 * (MacKinnon and White, J. Econometrics 29, 1985), as replies of long moves scatter more. A
 * plain comparison of means takes shorter moves for a faster robot. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_SAME_MOVES_H
#define IDENTIFICATION_NUMERIC_SAME_MOVES_H

#include <stdbool.h>
#include <stddef.h>

/* Sizes of moves without signs, and the time of each. */
struct moves_sample {
    const double *rotation_rad, *displacement_m, *time_s; /* [n] finite */
    size_t n;
};

/* Finds b - a. False: too few moves, or moves that do not tell the five terms apart. */
bool same_moves_difference(const struct moves_sample *a, const struct moves_sample *b,
                           double confidence, double *value, double *lo, double *hi);

#endif
