/* identification/data/data_view.h - other views of a data set: a part of it, its efforts late.
 *
 * Columns stay those of the set, whose memory they borrow. Pure: no I/O, no clock, no
 * allocation.
 */
#ifndef IDENTIFICATION_DATA_DATA_VIEW_H
#define IDENTIFICATION_DATA_DATA_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"

/* The first samples of a set, n_max at most; no run of them where the first one is shorter than
 * DATA_RUN_MIN. */
struct data_set data_view_first(const struct data_set *set, size_t n_max);

/* n samples of a single run, from a place in the set on. */
struct data_set data_view_piece(const struct data_set *set, size_t from, size_t n);

/* The piece of a single run, of n_max samples or as long as the run, over which efforts change
 * most, each effort by its own change over the whole set; the first of equals. from: where in
 * the set it begins, out. Cost O(n). */
struct data_set data_view_busiest(const struct data_set *set, size_t n_max, size_t *from);

/* Put efforts delay_s late, as they act: before the first one acts in a run it is held. A
 * period in which one effort follows another has the mean of both. tau [axes * set->n] is where
 * they are kept, out. */
void data_view_delay(struct data_set *set, double delay_s, double *tau);

/* The effort of sample k, into tau [axes]. */
void data_view_effort(const struct data_set *set, size_t k, double *tau);

/* Efforts that follow each other within a period, each for its share of it. */
struct data_efforts {
    size_t count; /* 1 or 2 */
    double share[2], tau[2][MODEL_AXES_MAX];
};

/* What acts from sample k to the next one, of which tau has the mean. */
void data_view_efforts(const struct data_set *set, size_t k, struct data_efforts *efforts);

/* The time (s) after which velocities have half forgotten themselves: where the autocorrelation
 * about the mean of each run, less the measurement's noise, first falls below a half; of the
 * fastest axis, and no more than most_s > 0. most_s where nothing moves beyond its noise. A lag
 * is looked at every quarter of itself, and some ten thousand products each: cheap on any
 * recording. */
double motion_time_s(const struct data_set *set, double most_s);

#endif
