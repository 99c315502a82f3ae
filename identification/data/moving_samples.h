/* identification/data/moving_samples.h - a data set without its rests.
 *
 * At rest dry friction is whatever balances the effort: such samples tell a regression nothing,
 * and their efforts look like errors (docs/model/joint.md). Pure: no I/O, no clock;
 * allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_MOVING_SAMPLES_H
#define IDENTIFICATION_DATA_MOVING_SAMPLES_H

#include "identification/data/data_set.h"

/* The pieces of the set between rests, each a run; a rest is three samples and more in a row
 * within three times the velocity's noise. *memory holds the columns and is for
 * gsl_vector_free(). STATUS_E_EMPTY, with nothing to free, where no piece of DATA_RUN_MIN
 * samples moves; STATUS_E_NOMEM. */
MUST_USE enum status moving_samples_copy(const struct data_set *set, struct data_set *moving,
                                         gsl_vector **memory);

#endif
