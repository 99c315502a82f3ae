/* identification/data/moving_samples.h - data set without the samples at rest.
 *
 * At rest, dry friction balances any effort. Such samples contain no information for a
 * regression, and their efforts look like errors (docs/model/joint.md). Pure: no I/O, no clock;
 * allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_MOVING_SAMPLES_H
#define IDENTIFICATION_DATA_MOVING_SAMPLES_H

#include "identification/data/data_set.h"

/* Copies the pieces of the set between rests, each as a run. A rest is at least three
 * samples in a row within three standard deviations of the velocity's noise. *memory holds
 * the columns; free it with gsl_vector_free(). Returns STATUS_E_EMPTY, with nothing to free,
 * if no piece of DATA_RUN_MIN samples moves; STATUS_E_NOMEM. */
MUST_USE enum status moving_samples_copy(const struct data_set *set, struct data_set *moving,
                                         gsl_vector **memory);

#endif
