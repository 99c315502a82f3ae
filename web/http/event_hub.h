/* web/http/event_hub.h - one ring of the newest events, shared by all HTTP listeners, each with
 * its own cursor.
 *
 * Publishing copies the event into the ring and wakes the listeners; it never waits for one. A
 * listener that is too slow for the ring gets the number of missed events. Events are stored
 * as the text that is sent (Server-Sent Events):
 *
 *     id: 1763617674000000.17.5.2.0
 *     event: entry
 *     data: {"pair":"r1", …}
 *
 * Any thread.
 */
#ifndef WEB_HTTP_EVENT_HUB_H
#define WEB_HTTP_EVENT_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "twin/lab.h"

/* The first three are records: the store retains them. */
enum event_type {
    EVENT_TYPE_ENTRY,
    EVENT_TYPE_ALARM,
    EVENT_TYPE_CHANGE,
    EVENT_TYPE_CALIBRATION,
    EVENT_TYPE_DYNAMICS,
    EVENT_TYPE_FIDELITY,
    EVENT_TYPE_MACHINES,
    EVENT_TYPE_TEAM,
    EVENT_TYPE_MISSION,
    EVENT_TYPE_COUNT
};

enum {
    EVENT_RECORDS = 3,
    EVENT_PLACE_MAX = 110,             /* bytes of a place as text, with its NUL */
    EVENT_BYTES_MAX = 256 * 1024,      /* longest data of an event */
    EVENT_HUB_BYTES = 4 * 1024 * 1024, /* usual size of the ring */
    EVENT_HUB_EVENTS = 8192            /* usual limit of events in it */
};

/* "entry" … */
ENUM_NAMES_DECLARED(event_type);

/* A place in the stream: everything up to it was received. Its text is an event's id. */
struct event_place {
    int64_t run_us;                 /* lab time of the daemon's start */
    uint64_t live;                  /* events of that run */
    uint64_t record[EVENT_RECORDS]; /* in the store's order; see struct store_row */
};

void event_place_write(const struct event_place *place, char out[EVENT_PLACE_MAX]);
/* False, with *place untouched, for an invalid text. */
bool event_place_read(const char *text, struct event_place *place);

/* The events that a listener wants. */
struct event_filter {
    unsigned types;       /* set of 1 << enum event_type */
    unsigned char *pairs; /* [pair_count] owned, 1: wanted; NULL: all */
};

struct event_hub;

struct event_cursor {
    uint64_t next;    /* number of the next event to check */
    size_t sent;      /* bytes of it that were sent already */
    uint64_t matched; /* events before it that pass the filter */
    bool resuming;    /* records at or below skip[] were received already */
    uint64_t skip[EVENT_RECORDS];
};

struct event_hub_params {
    const struct pair_params *pairs; /* [pair_count] borrowed */
    size_t pair_count;
    int64_t run_us;
    size_t bytes;  /* size of the ring; at least twice the longest event */
    size_t events; /* largest number of events in it */
    /* The newest record of each kind in the store at the start, if known; otherwise no stream
     * can be resumed after a restart. */
    bool numbered;
    uint64_t record[EVENT_RECORDS];
};

struct event_hub_counts {
    uint64_t published[EVENT_TYPE_COUNT];
    uint64_t too_long; /* not published */
};

MUST_USE enum status event_hub_create(const struct event_hub_params *params,
                                      struct event_hub **out);
void event_hub_destroy(struct event_hub *hub); /* NULL allowed; nobody may be waiting */

/* The number of the next record of this kind in the store (struct store_row); 0: the store
 * chooses. One thread. */
uint64_t event_hub_number(struct event_hub *hub, enum event_type type);

/* Number the next record of each kind above this: the previous run may have published records
 * that the store never got. The same thread. */
void event_hub_pass(struct event_hub *hub, uint64_t number);

/* Does the place belong to another store, beyond this stream and its skipped numbers? */
bool event_hub_is_foreign(struct event_hub *hub, const struct event_place *place);

/* json[bytes]: one JSON value. pair: its index, pair_count for the lab itself. record: a
 * record's number in the store, 0 without one.
 */
void event_hub_publish(struct event_hub *hub, enum event_type type, size_t pair,
                       uint64_t record, const char *json, size_t bytes);

/* Wait until more than `seen` events were published, or for timeout_ms. Returns their
 * number. */
uint64_t event_hub_wait(struct event_hub *hub, uint64_t seen, int timeout_ms);
void event_hub_wake(struct event_hub *hub); /* wake all waiting threads */

/* Get the present end of the stream. */
void event_hub_place(struct event_hub *hub, struct event_place *place);

/* Set a cursor to the present end, and get that place. */
void event_hub_listen(struct event_hub *hub, const struct event_filter *filter,
                      struct event_cursor *cursor, struct event_place *place);

/* Set a cursor after this place. False when the ring no longer holds it: records must be read
 * from the store first; *cursor is untouched. */
bool event_hub_resume(struct event_hub *hub, const struct event_filter *filter,
                      const struct event_place *place, struct event_cursor *cursor);

/* Set a cursor for a listener that has read the store up to `record`: it continues with the
 * records after them, and with other events from now on. Returns how many records lie between
 * what was read and what the ring still has. */
uint64_t event_hub_join(struct event_hub *hub, const struct event_filter *filter,
                        const uint64_t record[EVENT_RECORDS], struct event_cursor *cursor);

enum event_next {
    EVENT_NEXT_NONE,   /* nothing new */
    EVENT_NEXT_TEXT,   /* send out[*bytes]; may be a part of an event */
    EVENT_NEXT_MISSED, /* *missed events are gone; *place: the place after them */
    EVENT_NEXT_BROKEN  /* an event that was sent in part is gone: disconnect */
};

/* Copy as much as fits into out[size], whole events where possible. */
enum event_next event_hub_next(struct event_hub *hub, const struct event_filter *filter,
                               struct event_cursor *cursor, char *out, size_t size,
                               size_t *bytes, uint64_t *missed, struct event_place *place);

/* Is there an event for this cursor? Moves it past filtered ones. */
bool event_hub_has(struct event_hub *hub, const struct event_filter *filter,
                   struct event_cursor *cursor);

/* Format a record from the store as publishing does. Returns its bytes, 0 when it does not
 * fit. */
size_t event_frame(const struct event_place *place, enum event_type type, const char *json,
                   size_t json_bytes, char *out, size_t size);

void event_hub_read_counts(struct event_hub *hub, struct event_hub_counts *out);

#endif
