/* service/selftest/selftest_recording.h - writes recordings with known truth, in the world of
 * the model or of another scenario.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_RECORDING_H
#define SERVICE_SELFTEST_SELFTEST_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/numbers/random.h"
#include "identification/model/models.h"
#include "service/selftest/selftest_robots.h"

/* Returns the truth of robots with this kind of data, which is not motion. */
selftest_truth *selftest_robot_truth(enum model_data data);

/* The random source of one run; neighbouring runs give unrelated numbers. */
struct random_source selftest_draws(uint64_t seed, size_t run);

/* Make a recording of the row's robot in this scenario. NULL: as its model says, with lost
 * rows, as a table or a journal. *text is to be freed. STATUS_E_NOMEM with err. */
MUST_USE enum status selftest_record(const struct model_row *row,
                                     const struct selftest_scenario *scenario, bool journal,
                                     struct random_source *draws, char **text, size_t *bytes,
                                     struct err *err);

#endif
