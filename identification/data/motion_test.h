/* identification/data/motion_test.h - whether anything moves in a recording. Pure.
 *
 * A search by simulation in a recording of noise has no minimum and takes long, so this is
 * asked first (docs/model/identification.md, "Verdict").
 */
#ifndef IDENTIFICATION_DATA_MOTION_TEST_H
#define IDENTIFICATION_DATA_MOTION_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"

struct motion_test {
    /* Variance of the means over 8 rows, relative to a white signal with the same first
     * differences: 1 for white noise. */
    double slow_ratio;
    /* Largest correlation with an effort 0 to 20 rows earlier, in errors of no correlation. */
    double follows_errors;
};

/* Tests the velocity of one axis, or its position if the velocity was derived from it. */
void motion_test_find(const struct data_set *set, size_t axis, struct motion_test *test);

/* Returns whether an axis moves by more than its noise, or follows an effort. */
bool motion_test_moves(const struct data_set *set);

#endif
