/* service/replay/rows.h - formats records as rows of the store, identically live and in
 * replay. */
#ifndef SERVICE_REPLAY_ROWS_H
#define SERVICE_REPLAY_ROWS_H

#include "logger/message/bar.h"
#include "logger/message/record_json.h"
#include "logger/storage/store.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/pair/parameters.h"

struct pair_dynamics; /* twin/dynamics/pair_dynamics.h */

/* A row with the text that it borrows. */
struct record_row {
    struct store_row row;
    char json[RECORD_JSON_MAX];
};

/* pair: the pair's id, borrowed like the record itself. */
void row_of_entry(struct record_row *out, const struct entry *entry, const char *pair);
void row_of_alarm(struct record_row *out, const struct alarm *alarm, const char *pair);
/* Changes of parameter sets contain a whole fit, and fits of dynamics all correlations, so they
 * need a larger buffer. */
enum { LARGE_JSON_MAX = 48 * 1024 };

struct large_row {
    struct store_row row;
    char json[LARGE_JSON_MAX];
};

void row_of_change(struct large_row *out, const struct parameter_change *change,
                   const char *pair);

/* Name of the travel-time model among models of dynamics. */
#define ROW_TRAVEL_TIME "travel_time"

/* Format the row of an EFFECT_HISTORY for one side's travel times, with the fits of its window.
 * False when that side has none. */
bool row_of_travel_fit(struct large_row *out, const struct effect *effect, enum side side,
                       const struct pair_fits *fits, const char *pair);
/* Format the row for the dynamics of the effect's side. */
void row_of_dynamics_fit(struct large_row *out, const struct effect *effect,
                         const struct pair_dynamics *dynamics, const char *pair);
void row_of_event(struct record_row *out, const struct event *event, uint64_t n,
                  const char *pair);

/* team: its name; n: the bar's number in the team. */
void row_of_bar(struct record_row *out, const struct bar *bar, const char *team, uint64_t n);

#endif
