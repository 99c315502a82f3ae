/* service/replay/rows.h - records as rows of the store, the same live and in replay. */
#ifndef SERVICE_REPLAY_ROWS_H
#define SERVICE_REPLAY_ROWS_H

#include "logger/message/bar.h"
#include "logger/message/record_json.h"
#include "logger/storage/store.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/pair/parameters.h"

struct pair_dynamics; /* twin/dynamics/pair_dynamics.h */

/* A row and the text it borrows. */
struct record_row {
    struct store_row row;
    char json[RECORD_JSON_MAX];
};

/* pair: the pair's id, borrowed like the record itself. */
void row_of_entry(struct record_row *out, const struct entry *entry, const char *pair);
void row_of_alarm(struct record_row *out, const struct alarm *alarm, const char *pair);
/* A change of parameter sets carries a whole fit, of dynamics with all its correlations: a
 * larger buffer. */
enum { LARGE_JSON_MAX = 48 * 1024 };

struct large_row {
    struct store_row row;
    char json[LARGE_JSON_MAX];
};

void row_of_change(struct large_row *out, const struct parameter_change *change,
                   const char *pair);

/* The model of travel times, among those of dynamics. */
#define ROW_TRAVEL_TIME "travel_time"

/* The rows of an EFFECT_HISTORY: that of one side's travel times, with the fits of the window
 * as it was; false when that side has none. */
bool row_of_travel_fit(struct large_row *out, const struct effect *effect, enum side side,
                       const struct pair_fits *fits, const char *pair);
/* That of the dynamics of the effect's side. */
void row_of_dynamics_fit(struct large_row *out, const struct effect *effect,
                         const struct pair_dynamics *dynamics, const char *pair);
void row_of_event(struct record_row *out, const struct event *event, uint64_t n,
                  const char *pair);

/* team: its name; n: the bar's number in it. */
void row_of_bar(struct record_row *out, const struct bar *bar, const char *team, uint64_t n);

#endif
