#include "web/http/event_hub.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "web/http/monotonic_clock.h"

/* bytes of an event before its data */
enum { HEAD_MAX = EVENT_PLACE_MAX + EVENT_PAIR_MAX + 104 };

struct slot {
    uint64_t at; /* position of its text, counted from the start; modulo the ring's size */
    size_t bytes;
    uint32_t pair;
    uint8_t type;
    uint64_t record[EVENT_RECORDS]; /* the newest of each kind, this one included */
};

struct event_hub {
    struct event_hub_params params;
    pthread_mutex_t lock; /* held for a copy of one event at most */
    pthread_cond_t changed;
    char *text;        /* [params.bytes] */
    struct slot *slot; /* [params.events] */
    uint64_t first;    /* number of the oldest event in the ring; the very first is 1 */
    uint64_t newest;   /* number of the newest; first == newest + 1: the ring is empty */
    uint64_t at;       /* position of the next text */
    unsigned wakes;
    uint64_t record[EVENT_RECORDS];      /* newest of each kind */
    uint64_t gone[EVENT_RECORDS];        /* newest that has left the ring */
    uint64_t (*count)[EVENT_TYPE_COUNT]; /* [pair_count] events that left the ring */
    /* last numbers given out; used by the thread that publishes records */
    uint64_t numbered[EVENT_RECORDS];
    /* numbers up to here may have been published by an earlier run */
    uint64_t skipped[EVENT_RECORDS];
    struct event_hub_counts counts;
};

ENUM_NAMES(event_type, EVENT_TYPE_COUNT, "entry", "alarm", "change", "calibration", "dynamics",
           "fidelity", "machines", "team", "mission");

/* ---- places ---- */

void event_place_write(const struct event_place *p, char out[EVENT_PLACE_MAX])
{
    (void)snprintf(out, EVENT_PLACE_MAX,
                   "%" PRId64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, p->run_us,
                   p->live, p->record[0], p->record[1], p->record[2]);
}

bool event_place_read(const char *text, struct event_place *place)
{
    uint64_t number[2 + EVENT_RECORDS];
    for (size_t i = 0; i < COUNT(number); i++) {
        const size_t n = strspn(text, "0123456789");
        if (n == 0 || n > 18 || text[n] != (i + 1 < COUNT(number) ? '.' : '\0')) {
            return false;
        }
        number[i] = strtoull(text, NULL, 10);
        text += n + 1;
    }
    *place = (struct event_place){.run_us = (int64_t)number[0], .live = number[1]};
    memcpy(place->record, number + 2, sizeof place->record);
    return true;
}

/* ---- life ---- */

enum status event_hub_create(const struct event_hub_params *params, struct event_hub **out)
{
    struct event_hub *hub = calloc(1, sizeof *hub);
    if (!hub) {
        return STATUS_E_NOMEM;
    }
    hub->params = *params;
    hub->first = 1;
    memcpy(hub->record, params->record, sizeof hub->record);
    memcpy(hub->gone, params->record, sizeof hub->gone);
    memcpy(hub->numbered, params->record, sizeof hub->numbered);
    hub->text = malloc(params->bytes);
    hub->slot = calloc(params->events, sizeof *hub->slot);
    hub->count = calloc(params->pair_count + 1, sizeof *hub->count);
    lock_init(&hub->lock);
    lock_init_condition(&hub->changed);
    if (!hub->text || !hub->slot || !hub->count) {
        event_hub_destroy(hub);
        return STATUS_E_NOMEM;
    }
    *out = hub;
    return STATUS_OK;
}

void event_hub_destroy(struct event_hub *hub)
{
    if (hub) {
        (void)pthread_cond_destroy(&hub->changed);
        (void)pthread_mutex_destroy(&hub->lock);
        free(hub->text);
        free(hub->slot);
        free(hub->count);
        free(hub);
    }
}

uint64_t event_hub_number(struct event_hub *hub, enum event_type type)
{
    assert((int)type < (int)EVENT_RECORDS);
    return hub->params.numbered ? ++hub->numbered[type] : 0;
}

void event_hub_pass(struct event_hub *hub, uint64_t number)
{
    lock_acquire(&hub->lock);
    for (int type = 0; type < EVENT_RECORDS; type++) {
        if (hub->numbered[type] < number) {
            hub->numbered[type] = number;
        }
        hub->skipped[type] = hub->numbered[type];
    }
    lock_release(&hub->lock);
}

bool event_hub_is_foreign(struct event_hub *hub, const struct event_place *place)
{
    bool foreign = false;
    lock_acquire(&hub->lock);
    for (int type = 0; type < EVENT_RECORDS; type++) {
        foreign = foreign || (place->record[type] > hub->record[type] &&
                              place->record[type] > hub->skipped[type]);
    }
    lock_release(&hub->lock);
    return foreign;
}

/* ---- publishing ---------------------------------------------------------------------- */

static struct slot *slot_of(struct event_hub *hub, uint64_t number)
{
    return &hub->slot[number % hub->params.events];
}

static void drop_oldest(struct event_hub *hub)
{
    const struct slot *slot = slot_of(hub, hub->first);
    memcpy(hub->gone, slot->record, sizeof hub->gone);
    hub->count[slot->pair][slot->type]++;
    hub->first++;
}

/* Reserves contiguous bytes. */
static char *make_room(struct event_hub *hub, size_t bytes)
{
    const size_t size = hub->params.bytes;
    const size_t left = size - (size_t)(hub->at % size);
    if (bytes > left) {
        hub->at += left;
    }
    while (hub->first <= hub->newest &&
           (hub->at + bytes - slot_of(hub, hub->first)->at > size ||
            hub->newest + 1 - hub->first >= hub->params.events)) {
        drop_oldest(hub);
    }
    return hub->text + hub->at % size;
}

/* Is this the type of texts that do not name the pair? */
static bool is_wrapped(enum event_type type)
{
    return type == EVENT_TYPE_FIDELITY || type == EVENT_TYPE_MISSION;
}

/* Writes the place, the type, and a wrapper for types whose text does not name the pair:
 * {"pair":"r1","fidelity":…}. */
static size_t write_head(const struct event_place *place, enum event_type type,
                         const char *pair, char out[HEAD_MAX])
{
    char id[EVENT_PLACE_MAX];
    const char *name = event_type_name(type);
    event_place_write(place, id);
    const int n =
        is_wrapped(type)
            ? snprintf(out, HEAD_MAX, "id: %s\nevent: %s\ndata: {\"pair\":\"%s\",\"%s\":", id,
                       name, pair, name)
            : snprintf(out, HEAD_MAX, "id: %s\nevent: %s\ndata: ", id, name);
    return (size_t)n;
}

/* Writes the event after its head. A line end between values of a JSON text becomes a blank,
 * because it would end the data; inside values there is none. Returns the bytes. */
static size_t write_frame(char *to, const char *head, size_t head_bytes, enum event_type type,
                          const char *json, size_t bytes)
{
    char *const begin = to;
    memcpy(to, head, head_bytes);
    to += head_bytes;
    for (size_t i = 0; i < bytes; i++) {
        *to++ = json[i] == '\n' || json[i] == '\r' ? ' ' : json[i];
    }
    if (is_wrapped(type)) {
        *to++ = '}';
    }
    memcpy(to, "\n\n", 2);
    return (size_t)(to - begin) + 2;
}

size_t event_frame(const struct event_place *place, enum event_type type, const char *json,
                   size_t json_bytes, char *out, size_t size)
{
    char head[HEAD_MAX];
    const size_t head_bytes = write_head(place, type, "", head);
    return head_bytes + json_bytes + 2 > size
               ? 0
               : write_frame(out, head, head_bytes, type, json, json_bytes);
}

/* Call under the lock. */
static void add_event(struct event_hub *hub, enum event_type type, size_t pair, uint64_t record,
                      const char *json, size_t bytes)
{
    char head[HEAD_MAX];
    struct event_place place = {.run_us = hub->params.run_us, .live = hub->newest + 1};
    if ((int)type < (int)EVENT_RECORDS && record > hub->record[type]) {
        hub->record[type] = record;
    }
    memcpy(place.record, hub->record, sizeof place.record);
    const char *id = pair < hub->params.pair_count ? hub->params.pairs[pair].id : "";
    const size_t head_bytes = write_head(&place, type, id, head);
    char *to = make_room(hub, head_bytes + bytes + (is_wrapped(type) ? 3 : 2));
    struct slot slot = {.at = hub->at,
                        .bytes = write_frame(to, head, head_bytes, type, json, bytes),
                        .pair = (uint32_t)pair,
                        .type = (uint8_t)type};
    memcpy(slot.record, hub->record, sizeof slot.record);
    hub->newest++;
    *slot_of(hub, hub->newest) = slot;
    hub->at += slot.bytes;
    hub->counts.published[type]++;
}

void event_hub_publish(struct event_hub *hub, enum event_type type, size_t pair,
                       uint64_t record, const char *json, size_t bytes)
{
    assert(pair <= hub->params.pair_count);
    assert((unsigned)type < EVENT_TYPE_COUNT);
    lock_acquire(&hub->lock);
    if (bytes > EVENT_BYTES_MAX || bytes + 2 * HEAD_MAX > hub->params.bytes / 2) {
        hub->counts.too_long++;
    } else {
        add_event(hub, type, pair, record, json, bytes);
        (void)pthread_cond_broadcast(&hub->changed);
    }
    lock_release(&hub->lock);
}

/* ---- waiting ---- */

uint64_t event_hub_wait(struct event_hub *hub, uint64_t seen, int timeout_ms)
{
    const int64_t until_ms = monotonic_clock_ms() + timeout_ms;
    lock_acquire(&hub->lock);
    const unsigned wakes = hub->wakes;
    while (hub->newest <= seen && hub->wakes == wakes && monotonic_clock_ms() < until_ms) {
        lock_wait(&hub->changed, &hub->lock, until_ms * 1000);
    }
    const uint64_t newest = hub->newest;
    lock_release(&hub->lock);
    return newest;
}

void event_hub_wake(struct event_hub *hub)
{
    lock_acquire(&hub->lock);
    hub->wakes++;
    (void)pthread_cond_broadcast(&hub->changed);
    lock_release(&hub->lock);
}

/* ---- reading ------------------------------------------------------------------------- */

static bool matches_type(const struct event_hub *hub, const struct event_filter *filter,
                         enum event_type type, size_t pair)
{
    const bool of_pair = pair < hub->params.pair_count;
    return (filter->types & 1u << type) && (!filter->pairs || (of_pair && filter->pairs[pair]));
}

static bool matches_slot(const struct event_hub *hub, const struct event_filter *filter,
                         const struct slot *slot)
{
    return matches_type(hub, filter, (enum event_type)slot->type, slot->pair);
}

/* Counts the events for this filter among those that left the ring. */
static uint64_t count_gone(const struct event_hub *hub, const struct event_filter *filter)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= hub->params.pair_count; i++) {
        for (int type = 0; type < EVENT_TYPE_COUNT; type++) {
            if (matches_type(hub, filter, (enum event_type)type, i)) {
                sum += hub->count[i][type];
            }
        }
    }
    return sum;
}

/* Sets a cursor to this event. Call under the lock. */
static void set_cursor(struct event_hub *hub, const struct event_filter *filter, uint64_t next,
                       struct event_cursor *cursor)
{
    *cursor = (struct event_cursor){.next = next, .matched = count_gone(hub, filter)};
    for (uint64_t k = hub->first; k < next; k++) {
        cursor->matched += matches_slot(hub, filter, slot_of(hub, k)) ? 1 : 0;
    }
}

static void end_place(const struct event_hub *hub, struct event_place *place)
{
    *place = (struct event_place){.run_us = hub->params.run_us, .live = hub->newest};
    memcpy(place->record, hub->record, sizeof place->record);
}

void event_hub_place(struct event_hub *hub, struct event_place *place)
{
    lock_acquire(&hub->lock);
    end_place(hub, place);
    lock_release(&hub->lock);
}

void event_hub_listen(struct event_hub *hub, const struct event_filter *filter,
                      struct event_cursor *cursor, struct event_place *place)
{
    lock_acquire(&hub->lock);
    set_cursor(hub, filter, hub->newest + 1, cursor);
    end_place(hub, place);
    lock_release(&hub->lock);
}

bool event_hub_resume(struct event_hub *hub, const struct event_filter *filter,
                      const struct event_place *place, struct event_cursor *cursor)
{
    lock_acquire(&hub->lock);
    const bool here = place->run_us == hub->params.run_us && place->live + 1 >= hub->first &&
                      place->live <= hub->newest;
    if (here) {
        set_cursor(hub, filter, place->live + 1, cursor);
    }
    lock_release(&hub->lock);
    return here;
}

uint64_t event_hub_join(struct event_hub *hub, const struct event_filter *filter,
                        const uint64_t record[EVENT_RECORDS], struct event_cursor *cursor)
{
    uint64_t lost = 0;
    lock_acquire(&hub->lock);
    /* Only records in the ring can be unread, so start with the first of them. */
    uint64_t next = hub->first;
    bool old = true;
    while (old && next <= hub->newest) {
        const struct slot *slot = slot_of(hub, next);
        old = slot->type >= EVENT_RECORDS || slot->record[slot->type] <= record[slot->type];
        next += old ? 1 : 0;
    }
    set_cursor(hub, filter, next, cursor);
    cursor->resuming = true;
    memcpy(cursor->skip, record, sizeof cursor->skip);
    for (int kind = 0; kind < EVENT_RECORDS; kind++) {
        if (filter->types & 1u << kind && hub->gone[kind] > record[kind]) {
            lost += hub->gone[kind] - record[kind];
        }
    }
    lock_release(&hub->lock);
    return lost;
}

static bool was_delivered(const struct event_cursor *cursor, const struct slot *slot)
{
    return cursor->resuming && slot->type < EVENT_RECORDS &&
           slot->record[slot->type] <= cursor->skip[slot->type];
}

/* Skips events that the filter leaves out. Call under the lock, with the cursor within the
 * ring. */
static void skip_unwanted(struct event_hub *hub, const struct event_filter *filter,
                          struct event_cursor *cursor)
{
    while (cursor->sent == 0 && cursor->next <= hub->newest) {
        const struct slot *slot = slot_of(hub, cursor->next);
        const bool wanted = matches_slot(hub, filter, slot);
        if (wanted && !was_delivered(cursor, slot)) {
            return;
        }
        cursor->matched += wanted ? 1 : 0;
        cursor->next++;
    }
}

/* Returns what the cursor has lost; it continues with the oldest event. */
static uint64_t catch_up(struct event_hub *hub, const struct event_filter *filter,
                         struct event_cursor *cursor, struct event_place *place)
{
    const uint64_t gone = count_gone(hub, filter);
    const uint64_t missed = gone > cursor->matched ? gone - cursor->matched : 0;
    cursor->next = hub->first;
    cursor->matched = gone;
    *place = (struct event_place){.run_us = hub->params.run_us, .live = hub->first - 1};
    memcpy(place->record, hub->gone, sizeof place->record);
    return missed;
}

static size_t copy_events(struct event_hub *hub, const struct event_filter *filter,
                          struct event_cursor *cursor, char *out, size_t size)
{
    size_t used = 0;
    for (;;) {
        skip_unwanted(hub, filter, cursor);
        if (cursor->next > hub->newest) {
            return used;
        }
        const struct slot *slot = slot_of(hub, cursor->next);
        const size_t left = slot->bytes - cursor->sent;
        /* A long event begins a piece of its own and may then be cut. */
        if (left > size - used && used > 0) {
            return used;
        }
        const size_t n = left < size - used ? left : size - used;
        memcpy(out + used, hub->text + slot->at % hub->params.bytes + cursor->sent, n);
        used += n;
        cursor->sent += n;
        if (cursor->sent < slot->bytes) {
            return used;
        }
        cursor->sent = 0;
        cursor->matched++;
        cursor->next++;
    }
}

enum event_next event_hub_next(struct event_hub *hub, const struct event_filter *filter,
                               struct event_cursor *cursor, char *out, size_t size,
                               size_t *bytes, uint64_t *missed, struct event_place *place)
{
    enum event_next next = EVENT_NEXT_NONE;
    *bytes = 0;
    *missed = 0;
    lock_acquire(&hub->lock);
    if (cursor->next < hub->first) {
        if (cursor->sent > 0) {
            next = EVENT_NEXT_BROKEN;
        } else {
            *missed = catch_up(hub, filter, cursor, place);
            next = *missed > 0 ? EVENT_NEXT_MISSED : EVENT_NEXT_NONE;
        }
    }
    if (next == EVENT_NEXT_NONE) {
        *bytes = copy_events(hub, filter, cursor, out, size);
        next = *bytes > 0 ? EVENT_NEXT_TEXT : EVENT_NEXT_NONE;
    }
    lock_release(&hub->lock);
    return next;
}

bool event_hub_has(struct event_hub *hub, const struct event_filter *filter,
                   struct event_cursor *cursor)
{
    lock_acquire(&hub->lock);
    if (cursor->next >= hub->first) {
        skip_unwanted(hub, filter, cursor);
    }
    const bool has = cursor->next <= hub->newest;
    lock_release(&hub->lock);
    return has;
}

void event_hub_read_counts(struct event_hub *hub, struct event_hub_counts *out)
{
    lock_acquire(&hub->lock);
    *out = hub->counts;
    lock_release(&hub->lock);
}
