/* service/forecast/forecast_check.h - how many forecasts held on a recording.
 *
 * Before each move the next ones are predicted together, from what was known when it was sent.
 * Sequences follow the entries. It works on the effects of a replay and allocates.
 */
#ifndef SERVICE_FORECAST_FORECAST_CHECK_H
#define SERVICE_FORECAST_FORECAST_CHECK_H

#include "logger/message/json_write.h"
#include "twin/lab.h"
#include "twin/pair/effect.h"
#include "twin/report/forecast_report.h"

enum { FORECAST_CHECK_COUNTS = 8 };

struct forecast_checks;

/* counts: [count_count] lengths of sequences, each 1 .. FORECAST_SUM_MAX. pairs: of the lab
 * file, borrowed. NULL: no memory. */
struct forecast_checks *forecast_checks_create(const struct pair_params *pairs,
                                               size_t pair_count, const unsigned *counts,
                                               size_t count_count, enum forecast_level level);
void forecast_checks_destroy(struct forecast_checks *checks); /* NULL allowed */

/* Receives an effect of the replay; lab is the one that it comes from. */
void forecast_checks_receive(struct forecast_checks *checks, const struct lab *lab,
                             const struct effect *effect);

/* Was there memory for all? */
bool forecast_checks_whole(const struct forecast_checks *checks);

/* Writes {"checks":[…],"summary":[…]} of a pair. */
void forecast_checks_write(struct json_writer *w, const char *key,
                           const struct forecast_checks *checks, size_t pair);

#endif
