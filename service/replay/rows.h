/* service/replay/rows.h - records as rows of the store, the same live and in replay. */
#ifndef SERVICE_REPLAY_ROWS_H
#define SERVICE_REPLAY_ROWS_H

#include "logger/message/record_json.h"
#include "logger/storage/store.h"
#include "twin/pair/parameters.h"

/* A row and the text it borrows. */
struct record_row {
    struct store_row row;
    char json[RECORD_JSON_MAX];
};

/* pair: the pair's id, borrowed like the record itself. */
void row_of_entry(struct record_row *out, const struct entry *entry, const char *pair);
void row_of_alarm(struct record_row *out, const struct alarm *alarm, const char *pair);
/* A change of parameter sets carries a whole fit, of dynamics with all its correlations: its
 * own, larger buffer. */
enum { CHANGE_JSON_MAX = 48 * 1024 };

struct change_row {
    struct store_row row;
    char json[CHANGE_JSON_MAX];
};

void row_of_change(struct change_row *out, const struct parameter_change *change,
                   const char *pair);
void row_of_event(struct record_row *out, const struct event *event, uint64_t n,
                  const char *pair);

#endif
