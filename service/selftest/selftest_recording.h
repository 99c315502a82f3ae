/* service/selftest/selftest_recording.h - recordings of robots whose truth is known, of a world
 * as the model has it or of another.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_RECORDING_H
#define SERVICE_SELFTEST_SELFTEST_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/numbers/random.h"
#include "identification/model/models.h"
#include "service/selftest/selftest_scenario.h"

/* The moves' robot: by enum travel_term, with speeds. */
extern const double selftest_moves_truth[];
/* The arm, by enum profile_term. */
extern const double selftest_arm_truth[];

/* Of one run; neighbours are far apart in what they give. */
struct random_source selftest_draws(uint64_t seed, size_t run);

/* A recording of the row's robot in this world, or NULL: as its model has it, with lost rows,
 * as a table or a journal. *text is to be freed. STATUS_E_NOMEM with err. */
MUST_USE enum status selftest_record(const struct model_row *row,
                                     const struct selftest_scenario *scenario, bool journal,
                                     struct random_source *draws, char **text, size_t *bytes,
                                     struct err *err);

#endif
