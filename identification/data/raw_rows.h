/* identification/data/raw_rows.h - recorded rows made ready for a data set: turns joined,
 * commands held, repeated velocities left out.
 *
 * Rows of an outer join have either commands or velocities. A row whose velocities repeat the
 * last ones to the bit is no measurement. In both cases only measured rows stay, and the
 * effort of each is the mean of the commands that are held until the next one
 * (docs/model/identification.md, "Columns"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_RAW_ROWS_H
#define IDENTIFICATION_DATA_RAW_ROWS_H

#include <gsl/gsl_vector.h>

#include "base/errors/status.h"
#include "identification/data/data_raw.h"

struct raw_rows {
    struct data_raw raw; /* columns of the caller, or in memory */
    gsl_vector *memory;
};

/* Prepares a recording of at least two rows, and describes its columns in the summary. The
 * caller calls raw_rows_free() on STATUS_OK. STATUS_E_NOMEM. */
MUST_USE enum status raw_rows_prepare(const struct data_raw *raw, struct raw_rows *rows,
                                      struct data_summary *summary);

/* Compares the measured values of all rows with each other, by the noise in the summary.
 * STATUS_E_NOMEM. */
MUST_USE enum status raw_rows_find_copies(const struct data_raw *raw,
                                          struct data_summary *summary);

void raw_rows_free(struct raw_rows *rows);

#endif
