/* identification/data/data_view.h - views of a data set: a part of it, or its efforts with a
 * delay.
 *
 * Columns are borrowed from the set. Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_DATA_DATA_VIEW_H
#define IDENTIFICATION_DATA_DATA_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"

/* Returns at most the first n_max samples of a set. It has no run if the first run becomes
 * shorter than DATA_RUN_MIN. */
struct data_set data_view_first(const struct data_set *set, size_t n_max);

/* Returns n samples of a single run, from index `from` on. */
struct data_set data_view_piece(const struct data_set *set, size_t from, size_t n);

/* Returns the piece of a single run, of at most n_max samples, over which the efforts change
 * most. Each effort is weighted by its change over the whole set; the first of equal pieces
 * wins. from, out: index of its first sample. Cost O(n). */
struct data_set data_view_busiest(const struct data_set *set, size_t n_max, size_t *from);

/* Delays the efforts by delay_s. Before the first effort of a run acts, its value is held. A
 * period in which one effort follows another gets the mean of both. tau [axes * set->n],
 * out, stores the result. */
void data_view_delay(struct data_set *set, double delay_s, double *tau);

/* Copies the effort of sample k to tau [axes]. */
void data_view_effort(const struct data_set *set, size_t k, double *tau);

/* Efforts that follow each other within a period, and the share of each. */
struct data_efforts {
    size_t count; /* 1 or 2 */
    double share[2], tau[2][MODEL_AXES_MAX];
};

/* Returns the efforts that act between sample k and the next; tau has their mean. */
void data_view_efforts(const struct data_set *set, size_t k, struct data_efforts *efforts);

/* Returns the correlation time of the motion (s): the lag at which the autocorrelation of a
 * velocity first falls below a half, about the mean of each run and without the measurement
 * noise. The fastest axis counts; the result is at most most_s > 0, and most_s if nothing
 * moves beyond its noise. Lags grow by a quarter, with about ten thousand products each, so
 * that the cost does not depend on the recording. */
double motion_time_s(const struct data_set *set, double most_s);

#endif
