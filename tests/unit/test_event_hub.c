/* needs: threads */
/* The ring of events: the events that a cursor gets and misses, the place where it resumes;
 * threads. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "web/http/event_hub.h"

enum { PAIRS = 3, BIG = 1 << 20 };

static struct pair_params params[PAIRS];
static struct event_place here;
static const struct event_filter ALL = {.types = (1u << EVENT_TYPE_COUNT) - 1};

static struct event_hub *make_hub(size_t bytes, size_t events)
{
    static const char *const ids[PAIRS] = {"r1", "r2", "r3"};
    struct event_hub *hub = NULL;
    for (size_t i = 0; i < PAIRS; i++) {
        (void)snprintf(params[i].id, sizeof params[i].id, "%s", ids[i]);
    }
    const struct event_hub_params p = {.pairs = params,
                                       .pair_count = PAIRS,
                                       .run_us = 1000,
                                       .bytes = bytes,
                                       .events = events,
                                       .numbered = true,
                                       .record = {10, 20, 30}};
    if (event_hub_create(&p, &hub) != STATUS_OK) {
        abort();
    }
    return hub;
}

static void publish_event(struct event_hub *hub, enum event_type type, size_t pair,
                          const char *json)
{
    const uint64_t record = (int)type < (int)EVENT_RECORDS ? event_hub_number(hub, type) : 0;
    event_hub_publish(hub, type, pair, record, json, strlen(json));
}

/* All events for a cursor, in pieces of at most `piece` bytes; "[missed n]" where it has missed
 * some, "[broken]" at the end of a stream that cannot continue. */
static const char *read_events(struct event_hub *hub, const struct event_filter *filter,
                               struct event_cursor *cursor, size_t piece)
{
    static char text[1 << 16];
    size_t used = 0;
    for (;;) {
        size_t bytes = 0;
        uint64_t missed = 0;
        struct event_place place;
        const enum event_next next =
            event_hub_next(hub, filter, cursor, text + used, piece, &bytes, &missed, &place);
        used += bytes;
        if (next == EVENT_NEXT_MISSED) {
            used += (size_t)snprintf(text + used, 64, "[missed %d]", (int)missed);
        }
        if (next == EVENT_NEXT_BROKEN) {
            used += (size_t)snprintf(text + used, 64, "[broken]");
        }
        if (next == EVENT_NEXT_NONE || next == EVENT_NEXT_BROKEN) {
            text[used] = '\0';
            return text;
        }
    }
}

static void test_frames(void)
{
    struct event_hub *hub = make_hub(BIG, 100);
    struct event_cursor c;
    event_hub_listen(hub, &ALL, &c, &here);
    CHECK("quiet", !event_hub_has(hub, &ALL, &c));
    CHECK_TEXT("nothing", read_events(hub, &ALL, &c, 1000), "");
    publish_event(hub, EVENT_TYPE_ENTRY, 0, "{\"pair\":\"r1\"}");
    publish_event(hub, EVENT_TYPE_FIDELITY, 1, "{\"t\":1}");
    publish_event(hub, EVENT_TYPE_MACHINES, 2, "{\n \"a\":\r\n1}");
    CHECK("news", event_hub_has(hub, &ALL, &c));
    CHECK_TEXT("three", read_events(hub, &ALL, &c, 1000),
               "id: 1000.1.11.20.30\nevent: entry\ndata: {\"pair\":\"r1\"}\n\n"
               "id: 1000.2.11.20.30\nevent: fidelity\n"
               "data: {\"pair\":\"r2\",\"fidelity\":{\"t\":1}}\n\n"
               "id: 1000.3.11.20.30\nevent: machines\ndata: {  \"a\":  1}\n\n");
    event_hub_destroy(hub);
}

/* However it is cut up, the same bytes come out. */
static void test_pieces(void)
{
    struct event_hub *hub = make_hub(BIG, 100);
    char whole[2000];
    struct event_cursor c;
    struct event_cursor begin;
    event_hub_listen(hub, &ALL, &begin, &here);
    for (int i = 0; i < 10; i++) {
        publish_event(hub, EVENT_TYPE_ALARM, 0, "{\"pair\":\"r1\",\"detail\":\"<script>\"}");
    }
    c = begin;
    (void)snprintf(whole, sizeof whole, "%s", read_events(hub, &ALL, &c, sizeof whole));
    for (size_t piece = 1; piece < 200; piece += 7) {
        c = begin;
        CHECK_TEXT("pieces", read_events(hub, &ALL, &c, piece), whole);
    }
    event_hub_destroy(hub);
}

static void test_filters(void)
{
    static unsigned char second[PAIRS] = {0, 1, 0};
    const struct event_filter filter = {.types = 1u << EVENT_TYPE_ALARM, .pairs = second};
    struct event_hub *hub = make_hub(BIG, 100);
    struct event_cursor c;
    event_hub_listen(hub, &filter, &c, &here);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        for (enum event_type type = EVENT_TYPE_ENTRY; type < EVENT_TYPE_COUNT; type++) {
            publish_event(hub, type, pair, "1");
        }
    }
    CHECK_TEXT("one", read_events(hub, &filter, &c, 1000),
               "id: 1000.11.12.22.31\nevent: alarm\ndata: 1\n\n");
    CHECK("no more", !event_hub_has(hub, &filter, &c));
    event_hub_destroy(hub);
}

/* Lost events are counted exactly, if they pass the filter. */
static void test_missed(void)
{
    const struct event_filter alarms = {.types = 1u << EVENT_TYPE_ALARM};
    struct event_hub *hub = make_hub(BIG, 8);
    struct event_cursor all;
    struct event_cursor some;
    event_hub_listen(hub, &ALL, &all, &here);
    event_hub_listen(hub, &alarms, &some, &here);
    for (int i = 0; i < 20; i++) {
        publish_event(hub, i % 4 == 0 ? EVENT_TYPE_ALARM : EVENT_TYPE_ENTRY, 0, "1");
    }
    CHECK("all", strstr(read_events(hub, &ALL, &all, 10000), "[missed 12]id: 1000.13."));
    /* Alarms are 0, 4, 8, 12, 16 of the twenty; the last eight are in the ring. */
    CHECK("alarms", strstr(read_events(hub, &alarms, &some, 10000), "[missed 3]id: 1000.13."));
    for (int i = 0; i < 30; i++) {
        publish_event(hub, EVENT_TYPE_ENTRY, 0, "1");
    }
    CHECK_TEXT("nothing for it", read_events(hub, &alarms, &some, 10000), "");
    publish_event(hub, EVENT_TYPE_ALARM, 0, "2");
    CHECK_TEXT("goes on", read_events(hub, &alarms, &some, 10000),
               "id: 1000.51.55.26.30\nevent: alarm\ndata: 2\n\n");
    event_hub_destroy(hub);
}

/* Bytes, not events, bound this one; and a text that lies across the end of the ring. */
static void test_bytes(void)
{
    struct event_hub *hub = make_hub(4096, 1000);
    struct event_cursor c;
    char json[900];
    unsigned received = 0;
    unsigned missed = 0;
    event_hub_listen(hub, &ALL, &c, &here);
    for (unsigned i = 0; i < 500; i++) {
        const size_t n = 1 + (i * 37) % (sizeof json - 1);
        memset(json, '0' + (int)(i % 10), n - 1);
        json[n - 1] = '\0';
        publish_event(hub, EVENT_TYPE_ENTRY, 0, json);
        if (i % 7 == 6) {
            const char *text = read_events(hub, &ALL, &c, 10000);
            const char *lost = strstr(text, "[missed ");
            missed += lost ? (unsigned)strtoul(lost + 8, NULL, 10) : 0;
            for (const char *p = text; (p = strstr(p, "event: entry\n")) != NULL; p++) {
                received++;
            }
        }
    }
    CHECK_INT("all accounted for", received + missed, 497);
    CHECK("some of both", received > 100 && missed > 50);
    char *huge = malloc(EVENT_BYTES_MAX + 2);
    memset(huge, '1', EVENT_BYTES_MAX + 1);
    huge[EVENT_BYTES_MAX + 1] = '\0';
    struct event_hub_counts counts;
    publish_event(hub, EVENT_TYPE_DYNAMICS, 0, huge);
    event_hub_read_counts(hub, &counts);
    CHECK_INT("too long", counts.too_long, 1);
    free(huge);
    event_hub_destroy(hub);
}

/* Half an event is out, then it is gone: nothing that follows could be right. */
static void test_broken(void)
{
    struct event_hub *hub = make_hub(BIG, 4);
    struct event_cursor c;
    size_t bytes = 0;
    uint64_t missed = 0;
    struct event_place place;
    char out[16];
    event_hub_listen(hub, &ALL, &c, &here);
    publish_event(hub, EVENT_TYPE_ENTRY, 0, "1");
    CHECK_INT("a part", event_hub_next(hub, &ALL, &c, out, sizeof out, &bytes, &missed, &place),
              EVENT_NEXT_TEXT);
    for (int i = 0; i < 9; i++) {
        publish_event(hub, EVENT_TYPE_ENTRY, 0, "1");
    }
    CHECK_TEXT("broken", read_events(hub, &ALL, &c, 100), "[broken]");
    event_hub_destroy(hub);
}

static void test_places(void)
{
    static const char *const wrong[] = {
        "",           "1",         "1.2.3.4",    "1.2.3.4.5.6", "1.2.3.",
        "1.2.3.4.-5", "a.2.3.4.5", "1.2.3.4.5 ", "1..3.4.5",    "1.2.3.4.1234567890123456789"};
    struct event_place place = {.run_us = 7};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        CHECK(wrong[i], !event_place_read(wrong[i], &place));
    }
    CHECK_INT("untouched", place.run_us, 7);
    char text[EVENT_PLACE_MAX];
    CHECK("right", event_place_read("1763617674000000.17.5.2.0", &place));
    event_place_write(&place, text);
    CHECK_TEXT("there and back", text, "1763617674000000.17.5.2.0");
}

static void test_resume(void)
{
    struct event_hub *hub = make_hub(BIG, 8);
    struct event_cursor c;
    struct event_place place = {.run_us = 1000, .live = 3};
    for (int i = 0; i < 5; i++) {
        publish_event(hub, i == 3 ? EVENT_TYPE_CALIBRATION : EVENT_TYPE_ENTRY, 0, "1");
    }
    CHECK("in the ring", event_hub_resume(hub, &ALL, &place, &c));
    CHECK_TEXT("from there", read_events(hub, &ALL, &c, 1000),
               "id: 1000.4.13.20.30\nevent: calibration\ndata: 1\n\n"
               "id: 1000.5.14.20.30\nevent: entry\ndata: 1\n\n");
    place.live = 6;
    CHECK("not yet", !event_hub_resume(hub, &ALL, &place, &c));
    place = (struct event_place){.run_us = 999, .live = 3};
    CHECK("another run", !event_hub_resume(hub, &ALL, &place, &c));
    /* The store was read up to entry 12; 13 and 14 are in the ring. */
    const uint64_t record[EVENT_RECORDS] = {12, 20, 30};
    CHECK_INT("nothing lost", event_hub_join(hub, &ALL, record, &c), 0);
    CHECK_TEXT("the rest", read_events(hub, &ALL, &c, 1000),
               "id: 1000.3.13.20.30\nevent: entry\ndata: 1\n\n"
               "id: 1000.4.13.20.30\nevent: calibration\ndata: 1\n\n"
               "id: 1000.5.14.20.30\nevent: entry\ndata: 1\n\n");
    for (int i = 0; i < 10; i++) {
        publish_event(hub, EVENT_TYPE_ENTRY, 0, "1");
    }
    /* 15 to 24 came, the ring has 17 to 24. */
    CHECK_INT("lost", event_hub_join(hub, &ALL, record, &c), 4);
    place = (struct event_place){.run_us = 1000, .live = 3};
    CHECK("fallen out", !event_hub_resume(hub, &ALL, &place, &c));
    event_hub_destroy(hub);
}

/* After a run that was killed: published events that the store never got keep their numbers,
 * and a client that received them can resume. */
static void test_skip(void)
{
    struct event_hub *hub = make_hub(BIG, 8);
    const struct event_place received = {.run_us = 999, .record = {17, 20, 30}};
    CHECK("of another store", event_hub_is_foreign(hub, &received));
    const uint64_t next = event_hub_number(hub, EVENT_TYPE_ENTRY);
    event_hub_pass(hub, next + 100);
    CHECK("of the run before", !event_hub_is_foreign(hub, &received));
    CHECK_INT("higher", event_hub_number(hub, EVENT_TYPE_ENTRY), next + 101);
    event_hub_pass(hub, next);
    CHECK_INT("never lower", event_hub_number(hub, EVENT_TYPE_ENTRY), next + 102);
    event_hub_destroy(hub);
}

/* ---- threads: every event is received or counted as missed, in order ---- */

enum { WRITERS = 2, READERS = 3, EACH = 20000 };
static struct event_hub *shared;
static atomic_int writing;

static void *write_many(void *context)
{
    const size_t pair = *(const size_t *)context;
    for (int i = 0; i < EACH; i++) {
        event_hub_publish(shared, EVENT_TYPE_FIDELITY, pair, 0, "{\"x\":0.5}", 9);
    }
    atomic_fetch_sub(&writing, 1);
    event_hub_wake(shared);
    return NULL;
}

static void *read_many(void *context)
{
    uint64_t *sum = context;
    struct event_cursor c;
    struct event_place place;
    char out[4096];
    uint64_t seen = 0;
    uint64_t last = 0;
    bool more = true;
    event_hub_listen(shared, &ALL, &c, &place);
    c.next = 1; /* from the very first */
    c.matched = 0;
    while (more) {
        size_t bytes = 0;
        uint64_t missed = 0;
        const bool over = atomic_load(&writing) == 0;
        const enum event_next next =
            event_hub_next(shared, &ALL, &c, out, sizeof out - 1, &bytes, &missed, &place);
        *sum += missed;
        out[bytes] = '\0';
        for (const char *p = out; (p = strstr(p, "id: 1000.")) != NULL; p++) {
            const uint64_t number = strtoull(p + 9, NULL, 10);
            *sum += number > last ? 0 : EACH; /* out of order: the sum cannot be right */
            last = number;
            (*sum)++;
        }
        if (next == EVENT_NEXT_NONE) {
            more = !over;
            seen = more ? event_hub_wait(shared, seen, 100) : seen;
        }
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t writer[WRITERS];
    pthread_t reader[READERS];
    size_t pair[WRITERS] = {0, 1};
    uint64_t sum[READERS] = {0};
    shared = make_hub(BIG / 16, 256);
    atomic_store(&writing, WRITERS);
    for (int i = 0; i < READERS; i++) {
        (void)pthread_create(&reader[i], NULL, read_many, &sum[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        (void)pthread_create(&writer[i], NULL, write_many, &pair[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        (void)pthread_join(writer[i], NULL);
    }
    for (int i = 0; i < READERS; i++) {
        (void)pthread_join(reader[i], NULL);
        CHECK_INT("all", sum[i], WRITERS * EACH);
    }
    event_hub_destroy(shared);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("event_hub", NULL, NULL);
    CU_add_test(suite, "frames", test_frames);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "filters", test_filters);
    CU_add_test(suite, "missed", test_missed);
    CU_add_test(suite, "bytes", test_bytes);
    CU_add_test(suite, "broken", test_broken);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "resume", test_resume);
    CU_add_test(suite, "skip", test_skip);
    CU_add_test(suite, "threads", test_threads);
    return check_run();
}
