#include "web/stream/stream.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "logger/message/json_write.h"
#include "logger/storage/lock.h"
#include "twin/report/pair_report.h"
#include "web/http/body.h"
#include "web/http/monotonic_clock.h"
#include "web/stream/motion_history.h"
#include "web/stream/trails.h"

enum {
    TICK_MS = 200,     /* interval of checks of machines and sleeping connections */
    GATHER_US = 5000,  /* events within this time are sent together */
    REPLAY_ROWS = 100, /* rows read from the store at a time */
    BLOCK = 8192,      /* bytes of a response that are requested at a time */
    FRAME_MORE = 256,  /* bytes of a record beyond its JSON */
    HANG_UPS = 64,     /* disconnections handled at a time */
    TIMEOUT_S = 60     /* a listener that reads nothing for this time is disconnected */
};

enum phase {
    /* wait until the daemon has read its journal, because only then its records are complete */
    PHASE_WAIT,
    PHASE_REPLAY, /* sending records from the store */
    PHASE_LIVE
};

struct stream {
    struct streams *set;
    struct stream *next; /* next one with a connection; under the set's lock */
    struct MHD_Connection *connection;
    int socket;
    bool asleep; /* under the set's lock, like: */
    bool gone;   /* the client has disconnected; its place is free already */
    struct event_filter filter;
    /* Used by its server thread; by the set's thread while asleep. */
    enum phase phase;
    struct event_place place; /* what was received before live events */
    int kind, rows;           /* of records being replayed: kind and rows read last */
    struct event_cursor cursor;
    struct body pending; /* to be sent first */
    size_t sent;         /* bytes of it that were sent */
    int64_t sent_ms;     /* time of the last sending */
};

/* Marks of a pair's machines at the last check: both robots', and Tandem's. */
typedef uint64_t machine_marks[SIDE_COUNT + 1];

struct streams {
    struct streams_params params;
    pthread_t thread;
    pthread_mutex_t lock;
    struct stream *first;
    int hang_ups; /* epoll of all their sockets */
    bool stopping;
    struct MHD_Connection **awake; /* [params.clients_max + 1] connections to resume */
    machine_marks *seen;
    atomic_bool restored;
    struct streams_counts counts;
};

/* ---- output -------------------------------------------------------------------------- */

static void write_id(struct stream *s, const struct event_place *place)
{
    char id[EVENT_PLACE_MAX];
    event_place_write(place, id);
    body_format(&s->pending, "id: %s\n", id);
}

/* n 0: the number is unknown. */
static void write_missed(struct stream *s, const struct event_place *place, uint64_t n)
{
    write_id(s, place);
    if (n > 0) {
        body_format(&s->pending, "event: missed\ndata: {\"n\":%" PRIu64 "}\n\n", n);
    } else {
        body_text(&s->pending, "event: missed\ndata: {\"n\":null}\n\n");
    }
    atomic_fetch_add(&s->set->counts.missed, n > 0 ? n : 1);
}

/* Moves the listener to the present end of the stream. */
static void go_live(struct stream *s)
{
    struct event_place end;
    event_hub_listen(s->set->params.hub, &s->filter, &s->cursor, &end);
    s->phase = PHASE_LIVE;
    /* An id without data lets a client that is cut off before the first event resume from
     * here. */
    write_id(s, &end);
    body_text(&s->pending, "\n");
}

static void begin_stream(struct stream *s)
{
    struct event_place end;
    if (event_hub_is_foreign(s->set->params.hub, &s->place)) {
        event_hub_place(s->set->params.hub, &end);
        write_missed(s, &end, 0);
        go_live(s);
    } else if (event_hub_resume(s->set->params.hub, &s->filter, &s->place, &s->cursor)) {
        s->phase = PHASE_LIVE;
    } else {
        s->place.run_us = 0;
        s->place.live = 0;
        s->kind = 0;
        s->phase = PHASE_REPLAY;
    }
}

/* ---- records from the store ---------------------------------------------------------- */

static bool is_wanted(const struct stream *s, const char *id)
{
    const struct web_source *source = s->set->params.source;
    if (!s->filter.pairs) {
        return true;
    }
    const struct view *view = source->acquire(source->snapshots);
    const size_t pair = view_find_pair(view, id, strlen(id));
    const bool wanted = pair < view->pair_count && s->filter.pairs[pair];
    source->release(source->snapshots, view);
    return wanted;
}

static bool append_row(void *context, const struct store_row *row)
{
    struct stream *s = context;
    s->rows++;
    s->place.record[s->kind] = row->seq;
    if (!is_wanted(s, row->pair)) {
        return true;
    }
    const size_t size = row->json_bytes + FRAME_MORE;
    char *text = malloc(size);
    const size_t bytes = text ? event_frame(&s->place, (enum event_type)s->kind, row->json,
                                            row->json_bytes, text, size)
                              : 0;
    body_append(&s->pending, text, bytes);
    free(text);
    return true;
}

/* Sends the next rows of this kind; false when there are no more. */
static bool replay_some(struct stream *s)
{
    static const enum store_kind kinds[EVENT_RECORDS] = {STORE_ENTRIES, STORE_ALARMS,
                                                         STORE_CHANGES};
    struct store_pool *pool = s->set->params.pool;
    struct store_reader *reader = NULL;
    s->rows = 0;
    if (!(s->filter.types & 1u << s->kind) ||
        store_pool_acquire(pool, &reader, NULL) != STATUS_OK) {
        return false;
    }
    /* Rows of a store that cannot be read count as missed. */
    const enum status status = store_since(reader, kinds[s->kind], s->place.record[s->kind],
                                           REPLAY_ROWS, append_row, s, NULL);
    return store_pool_release(pool, reader, status) == STATUS_OK && s->rows == REPLAY_ROWS;
}

static void join_ring(struct stream *s)
{
    const uint64_t lost =
        event_hub_join(s->set->params.hub, &s->filter, s->place.record, &s->cursor);
    if (lost > 0) {
        write_missed(s, &s->place, lost);
    }
    s->phase = PHASE_LIVE;
}

static void replay_step(struct stream *s)
{
    if (!replay_some(s)) {
        s->kind++;
    }
    if (s->kind == EVENT_RECORDS) {
        join_ring(s);
    }
}

/* ---- the connection ---- */

static size_t copy_pending(struct stream *s, char *out, size_t size)
{
    const size_t left = s->pending.bytes - s->sent;
    const size_t n = left < size ? left : size;
    memcpy(out, s->pending.text + s->sent, n);
    s->sent += n;
    if (s->sent == s->pending.bytes) {
        body_clear(&s->pending);
        s->sent = 0;
    }
    s->sent_ms = monotonic_clock_ms();
    return n;
}

static bool heartbeat_is_due(const struct stream *s, int64_t at_ms)
{
    return at_ms - s->sent_ms >= s->set->params.heartbeat_ms;
}

/* Is there a reason to wake it? */
static bool has_output(struct stream *s, int64_t at_ms)
{
    return heartbeat_is_due(s, at_ms) ||
           (s->phase == PHASE_LIVE ? event_hub_has(s->set->params.hub, &s->filter, &s->cursor)
                                   : s->phase != PHASE_WAIT || atomic_load(&s->set->restored));
}

/* Frees the places of disconnected clients, because libmicrohttpd does not watch the socket of
 * a sleeping connection. A client that closed its sending side counts as disconnected, since a
 * listener has nothing else to send. Returns whether there was any. Under the set's lock. */
static bool count_out(struct streams *set)
{
    struct epoll_event events[HANG_UPS];
    int n = 0;
    bool any = false;
    do {
        n = epoll_wait(set->hang_ups, events, HANG_UPS, 0);
        for (int i = 0; i < n; i++) {
            struct stream *s = events[i].data.ptr;
            if (!s->gone) {
                s->gone = any = true;
                atomic_fetch_sub(&set->counts.clients, 1);
                if (set->params.left) {
                    set->params.left(set->params.context, s->connection);
                }
            }
        }
    } while (n == HANG_UPS);
    return any;
}

void streams_count_out(struct streams *set)
{
    if (set) {
        lock_acquire(&set->lock);
        const bool any = count_out(set);
        lock_release(&set->lock);
        if (any) {
            event_hub_wake(set->params.hub); /* their connections must be closed, too */
        }
    }
}

/* Sleeps if there is still no event. The check is under the lock that the waking thread uses,
 * so that no event is missed. */
static ssize_t fall_asleep(struct stream *s)
{
    ssize_t result = 0;
    lock_acquire(&s->set->lock);
    if (s->set->stopping) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (s->gone) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (!has_output(s, monotonic_clock_ms())) {
        s->asleep = true;
        MHD_suspend_connection(s->connection);
    }
    lock_release(&s->set->lock);
    return result;
}

/* Fills pending, or out. */
static ssize_t read_live(struct stream *s, char *out, size_t size)
{
    size_t bytes = 0;
    uint64_t missed = 0;
    struct event_place place;
    switch (event_hub_next(s->set->params.hub, &s->filter, &s->cursor, out, size, &bytes,
                           &missed, &place)) {
    case EVENT_NEXT_TEXT:
        s->sent_ms = monotonic_clock_ms();
        return (ssize_t)bytes;
    case EVENT_NEXT_MISSED:
        write_missed(s, &place, missed);
        break;
    case EVENT_NEXT_BROKEN:
        atomic_fetch_add(&s->set->counts.cut, 1);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    case EVENT_NEXT_NONE:
        break;
    }
    return 0;
}

static ssize_t read_stream(void *cls, uint64_t position, char *out, size_t size)
{
    struct stream *s = cls;
    (void)position;
    if (s->pending.failed) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (s->pending.bytes == 0) {
        if (s->phase == PHASE_WAIT && atomic_load(&s->set->restored)) {
            begin_stream(s);
        } else if (s->phase == PHASE_REPLAY) {
            replay_step(s);
        }
        const ssize_t n =
            s->phase == PHASE_LIVE && s->pending.bytes == 0 ? read_live(s, out, size) : 0;
        if (n != 0) {
            return n;
        }
        if (s->pending.bytes == 0 && heartbeat_is_due(s, monotonic_clock_ms())) {
            body_text(&s->pending, ":\n\n");
        }
    }
    return s->pending.bytes > 0 ? (ssize_t)copy_pending(s, out, size) : fall_asleep(s);
}

static void end_stream(void *cls)
{
    struct stream *s = cls;
    lock_acquire(&s->set->lock);
    struct stream **at = &s->set->first;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    (void)epoll_ctl(s->set->hang_ups, EPOLL_CTL_DEL, s->socket, NULL);
    lock_release(&s->set->lock);
    stream_close(s);
}

struct MHD_Response *stream_response(struct stream *s, struct MHD_Connection *connection)
{
    struct streams *set = s->set;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, s, end_stream);
    if (!response) {
        return NULL;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct epoll_event hung_up = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = s};
    s->connection = connection;
    s->socket = info ? info->connect_fd : -1;
    (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                    (unsigned)TIMEOUT_S);
    lock_acquire(&set->lock);
    s->next = set->first;
    set->first = s;
    (void)epoll_ctl(set->hang_ups, EPOLL_CTL_ADD, s->socket, &hung_up);
    lock_release(&set->lock);
    return response;
}

static bool claim_place(struct streams *set)
{
    lock_acquire(&set->lock);
    if (atomic_load(&set->counts.clients) >= set->params.clients_max && count_out(set)) {
        event_hub_wake(set->params.hub);
    }
    const bool free_one = atomic_load(&set->counts.clients) < set->params.clients_max;
    atomic_fetch_add(&set->counts.clients, free_one ? 1 : 0);
    lock_release(&set->lock);
    return free_one;
}

struct stream *stream_open(struct streams *set, const struct event_filter *filter,
                           const struct event_place *place)
{
    const bool placed = claim_place(set);
    struct stream *s = placed ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        atomic_fetch_sub(&set->counts.clients, placed ? 1 : 0);
        atomic_fetch_add(&set->counts.refused, 1);
        free(filter->pairs);
        return NULL;
    }
    s->set = set;
    s->filter = *filter;
    s->sent_ms = monotonic_clock_ms();
    /* The client decides when to reconnect; this is a suggestion. */
    body_text(&s->pending, "retry: 2000\n");
    if (place) {
        s->place = *place;
        body_text(&s->pending, "\n");
    } else {
        go_live(s);
    }
    atomic_fetch_add(&set->counts.opened, 1);
    return s;
}

void stream_close(struct stream *s)
{
    if (s) {
        if (!s->gone) {
            atomic_fetch_sub(&s->set->counts.clients, 1);
        }
        body_clear(&s->pending);
        free(s->filter.pairs);
        free(s);
    }
}

/* ---- all of them ---- */

/* Chooses the connections to wake; only this thread wakes them, so they stay in place. More may
 * be left, because disconnected ones are not part of clients_max. *stopping waits until they
 * have been woken, too. */
static size_t choose_awake(struct streams *set, bool *stopping)
{
    const size_t most = set->params.clients_max + 1; /* as many as there is room for */
    const int64_t at_ms = monotonic_clock_ms();
    size_t n = 0;
    lock_acquire(&set->lock);
    (void)count_out(set);
    for (struct stream *s = set->first; s && n < most; s = s->next) {
        if (s->asleep && (set->stopping || s->gone || has_output(s, at_ms))) {
            s->asleep = false;
            set->awake[n++] = s->connection;
        }
    }
    *stopping = set->stopping && n < most;
    lock_release(&set->lock);
    return n;
}

/* ---- state machines: Tandem's own from snapshots, the robots' from their messages ---- */

/* Counts transitions of Tandem's machines. */
static uint64_t count_transitions(const struct view *view, size_t i)
{
    const struct pair_following *following = view_following(view, i);
    uint64_t sum = view->pairs[i]->trace.count;
    for (size_t k = 0; following && k < COUNT(following->f.stats.visits); k++) {
        sum += following->f.stats.visits[k];
    }
    return sum;
}

/* Publishes {"pair", "side", "machines"}; with SIDE_COUNT Tandem's own, not
 * published[bytes]. */
static void publish_machines(const struct view *view, size_t i, enum side side,
                             const char *published, size_t bytes, struct event_hub *hub)
{
    char buffer[1024];
    struct body body = {0};
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, body_flush, &body);
    JSON_OPEN(&w, NULL, JSON("pair", view->params[i].id),
              JSON("side", side == SIDE_COUNT ? NULL : side_name(side)));
    if (side == SIDE_COUNT) {
        pair_report_machines(&w, "machines", view->pairs[i], view_following(view, i),
                             &view->params[i]);
    } else {
        json_write_raw(&w, "machines", published, bytes);
    }
    json_write_close(&w);
    if (json_write_end(&w) && !body.failed) {
        event_hub_publish(hub, EVENT_TYPE_MACHINES, i, 0, body.text, body.bytes);
    }
    body_clear(&body);
}

/* Publishes the machines that changed since the last check; the first check publishes nothing.
 * A state that lasts shorter than the interval makes no event, but is in the machine's trace.
 * *seen: NULL at first, then [pair_count] to be freed. */
static void look_at_machines(machine_marks **seen, const struct view *view,
                             const struct web_source *source, struct event_hub *hub)
{
    const bool begun = *seen != NULL;
    if (!begun) {
        *seen = calloc(view->pair_count, sizeof **seen);
    }
    for (size_t i = 0; *seen && i < view->pair_count; i++) {
        for (int side = 0; side <= SIDE_COUNT; side++) {
            char text[WEB_MACHINES_MAX];
            const size_t bytes =
                side < SIDE_COUNT ? source->machines(source->context, i, (enum side)side, text)
                                  : 0;
            const uint64_t mark = side < SIDE_COUNT ? hash_bytes(HASH_START, text, bytes)
                                                    : count_transitions(view, i);
            if (begun && mark != (*seen)[i][side]) {
                publish_machines(view, i, (enum side)side, text, bytes, hub);
            }
            (*seen)[i][side] = mark;
        }
    }
}

/* ---- all of them ---- */

static void look_around(struct streams *set)
{
    const struct web_source *source = set->params.source;
    const struct view *view = source->acquire(source->snapshots);
    atomic_store(&set->restored, view->health.restored);
    look_at_machines(&set->seen, view, source, set->params.hub);
    if (set->params.trails) {
        trails_look(set->params.trails, view);
    }
    if (set->params.motions) {
        motion_history_look(set->params.motions, view);
    }
    source->release(source->snapshots, view);
}

static void *run_streams(void *context)
{
    struct streams *set = context;
    const struct timespec gather = {.tv_nsec = GATHER_US * 1000L};
    uint64_t seen = 0;
    int64_t looked_ms = 0;
    bool stopping = false;
    (void)pthread_setname_np(pthread_self(), "tandem-events");
    while (!stopping) {
        seen = event_hub_wait(set->params.hub, seen, TICK_MS);
        (void)nanosleep(&gather, NULL);
        const int64_t at_ms = monotonic_clock_ms();
        if (at_ms - looked_ms >= TICK_MS) {
            looked_ms = at_ms;
            look_around(set);
        }
        const size_t n = choose_awake(set, &stopping);
        for (size_t i = 0; i < n; i++) {
            MHD_resume_connection(set->awake[i]);
        }
    }
    return NULL;
}

enum status streams_start(const struct streams_params *params, struct streams **out)
{
    struct streams *set = calloc(1, sizeof *set);
    if (!set) {
        return STATUS_E_NOMEM;
    }
    set->params = *params;
    set->hang_ups = epoll_create1(EPOLL_CLOEXEC);
    set->awake = calloc(params->clients_max + 1, sizeof(void *));
    (void)pthread_mutex_init(&set->lock, NULL);
    if (set->hang_ups < 0 || !set->awake ||
        pthread_create(&set->thread, NULL, run_streams, set) != 0) {
        streams_destroy(set);
        return STATUS_E_NOMEM;
    }
    *out = set;
    return STATUS_OK;
}

void streams_stop(struct streams *set)
{
    if (set) {
        lock_acquire(&set->lock);
        set->stopping = true;
        lock_release(&set->lock);
        event_hub_wake(set->params.hub);
        (void)pthread_join(set->thread, NULL);
    }
}

void streams_destroy(struct streams *set)
{
    if (set) {
        if (set->hang_ups >= 0) {
            (void)close(set->hang_ups);
        }
        free(set->seen);
        (void)pthread_mutex_destroy(&set->lock);
        free(set->awake);
        free(set);
    }
}

const struct streams_counts *streams_counts(const struct streams *set)
{
    return &set->counts;
}
