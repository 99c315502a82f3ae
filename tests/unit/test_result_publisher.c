/* tests/unit/test_result_publisher.c - results of pairs are published from a snapshot that has
 * them, once for each change, the longest waiting first, within a share of a core. */
#include "tests/support/check.h"

#include "config/labfile/lab_file.h"
#include "logger/storage/lock.h"
#include "service/daemon/daemon_parts.h"
#include "service/tool/lab_clock.h"

enum { PAIRS = 600, MOVES = 24, RING_BYTES = 8 << 20, SAVED_US = 5000, ONE_US = 20000 };
enum { REST_US = 2000000 }; /* from one calibration of a pair to the next */

struct bench {
    struct daemon d;
    struct lab_file file;
    struct pair_params pairs[PAIRS];
    void *memory;
    struct event_cursor cursor;
    int64_t t_us;
};

static const struct event_filter all_events = {.types = ~0U};

static void ignore_effect(void *context, const struct effect *effect)
{
    (void)context;
    (void)effect;
}

static void step_lab(struct bench *b, struct event *e, int pair)
{
    const struct effects fx = {.emit = ignore_effect};
    b->t_us += 1000000;
    e->t_us = b->t_us;
    e->hash = (uint64_t)b->t_us;
    (void)snprintf(e->pair, sizeof e->pair, "r%d", pair);
    lab_step(b->d.lab, e, &fx);
}

/* A command, and both robots' replies. */
static void move_pair(struct bench *b, int pair, double rotation_rad)
{
    struct event e = {.kind = EVENT_COMMAND, .side = SIDE_COUNT};
    (void)snprintf(e.command.id, sizeof e.command.id, "c%lld", (long long)b->t_us);
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    e.command.rotation_rad = rotation_rad;
    e.command.source_us = LAB_TIME_NONE;
    step_lab(b, &e, pair);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        struct event reply = {.kind = EVENT_REPLY, .side = side};
        reply.reply.status = REPLY_DONE;
        reply.reply.source_us = LAB_TIME_NONE;
        reply.reply.source_start_us = LAB_TIME_NONE;
        step_lab(b, &reply, pair);
    }
}

/* No broker at this port: published messages wait in the client. */
static void make_client(struct bench *b)
{
    struct err err = {0};
    const struct mqtt_client_options options = {.port = 1, .client_id = "findings"};
    CU_ASSERT_FATAL(mqtt_client_create(&b->d.gateway.client, &options, &err) == STATUS_OK);
    atomic_store(&b->d.gateway.connects, true);
}

static struct bench *set_up(void)
{
    struct bench *b = calloc(1, sizeof *b);
    CU_ASSERT_FATAL(b != NULL);
    for (int i = 0; i < PAIRS; i++) {
        char id[EVENT_PAIR_MAX];
        (void)snprintf(id, sizeof id, "r%d", i + 1);
        lab_pair_defaults(&b->pairs[i], id);
    }
    struct daemon *d = &b->d;
    d->file = &b->file;
    (void)snprintf(b->file.broker.prefix, sizeof b->file.broker.prefix, "t/v1");
    d->params = (struct lab_params){.pair_count = PAIRS, .pairs = b->pairs};
    const size_t bytes = (lab_bytes(&d->params) + 63) / 64 * 64;
    b->memory = aligned_alloc(64, bytes);
    CU_ASSERT_FATAL(b->memory != NULL);
    memset(b->memory, 0, bytes);
    d->lab = lab_init(b->memory, &d->params);
    b->t_us = 1700000000000000;
    const struct event_hub_params hub = {
        .pairs = b->pairs, .pair_count = PAIRS, .bytes = RING_BYTES, .events = 4096};
    struct event_place place;
    CU_ASSERT_FATAL(snapshots_create(d->lab, "lab", "t/v1", b->t_us, &d->snapshots) ==
                    STATUS_OK);
    CU_ASSERT_FATAL(event_hub_create(&hub, &d->events) == STATUS_OK);
    CU_ASSERT_FATAL(result_publisher_open(d));
    event_hub_listen(d->events, &all_events, &b->cursor, &place);
    lock_init(&d->lock);
    make_client(b);
    return b;
}

static void tear_down(struct bench *b)
{
    mqtt_client_destroy(b->d.gateway.client);
    result_publisher_free(&b->d);
    event_hub_destroy(b->d.events);
    snapshots_destroy(b->d.snapshots);
    (void)pthread_mutex_destroy(&b->d.lock);
    free(b->memory);
    free(b);
}

/* A snapshot from its beginning to its end. */
static void publish_snapshot(struct bench *b)
{
    const struct view_health health = {.restored = true};
    result_publisher_begin_snapshot(&b->d);
    while (!snapshots_publish_slice(b->d.snapshots, b->t_us, &health, INT64_MAX)) {
    }
    result_publisher_end_snapshot(&b->d);
}

/* Until nothing waits any more; false: it does after ten seconds. */
static bool publish_all(struct bench *b)
{
    const int64_t until_us = lab_clock_monotonic_us() + 10000000;
    while (result_publisher_publish(&b->d)) {
        if (lab_clock_monotonic_us() > until_us) {
            return false;
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + 1000);
    }
    return true;
}

/* The pairs of what was published since the last call, "r1 r7 ". */
static const char *read_published(struct bench *b)
{
    static char pairs[16 * PAIRS];
    static char text[1 << 16];
    enum event_next next = EVENT_NEXT_NONE;
    size_t used = 0;
    pairs[0] = '\0';
    do {
        size_t bytes = 0;
        uint64_t missed = 0;
        struct event_place place;
        next = event_hub_next(b->d.events, &all_events, &b->cursor, text, sizeof text - 1,
                              &bytes, &missed, &place);
        text[bytes] = '\0';
        for (const char *at = text; (at = strstr(at, "\"pair\":\"")) != NULL;) {
            at += strlen("\"pair\":\"");
            used += (size_t)snprintf(pairs + used, sizeof pairs - used, "%.*s ",
                                     (int)strcspn(at, "\""), at);
        }
    } while (next == EVENT_NEXT_TEXT);
    return pairs;
}

/* Returns the next publication, as time passes and snapshots come. */
static const char *read_next(struct bench *b)
{
    const int64_t until_us = lab_clock_monotonic_us() + 10 * REST_US;
    const char *pairs = "";
    while (!pairs[0] && lab_clock_monotonic_us() < until_us) {
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + 1000);
        publish_snapshot(b);
        CHECK("all", publish_all(b));
        pairs = read_published(b);
    }
    return pairs;
}

static void offer_fit(struct bench *b, int pair)
{
    result_publisher_offer(&b->d, RESULT_TRAVEL_TIME, (uint32_t)pair - 1);
}

static void test_waits_for_its_snapshot(void)
{
    struct bench *b = set_up();
    move_pair(b, 3, 1.0);
    offer_fit(b, 3);
    CHECK("nothing waits that could be made", !result_publisher_publish(&b->d));
    CHECK_TEXT("no snapshot has it", read_published(b), "");
    result_publisher_begin_snapshot(&b->d);
    move_pair(b, 5, 1.0);
    offer_fit(b, 5); /* after the snapshot began: the next one has it */
    const struct view_health health = {.restored = true};
    while (!snapshots_publish_slice(b->d.snapshots, b->t_us, &health, INT64_MAX)) {
    }
    result_publisher_end_snapshot(&b->d);
    CHECK("all", publish_all(b));
    CHECK_TEXT("what was there when it began", read_published(b), "r3 ");
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("the rest", read_published(b), "r5 ");
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("once", read_published(b), "");
    tear_down(b);
}

static void test_of_a_pair_one_waits(void)
{
    struct bench *b = set_up();
    for (int i = 0; i < 5; i++) {
        offer_fit(b, 9);
        offer_fit(b, 2);
    }
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("the longest waiting first", read_published(b), "r9 r2 ");
    /* Their news were in that snapshot, but they might have been computed before: once more,
     * then never. */
    publish_snapshot(b);
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    const char *again = read_published(b);
    CHECK("at most once more", strcmp(again, "") == 0 || strcmp(again, "r9 r2 ") == 0);
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("then never", read_published(b), "");
    tear_down(b);
}

/* A pair that changes while it waits for a slow maintenance thread is computed once more, from
 * the snapshot that has the change. */
static void test_new_while_it_waits(void)
{
    struct bench *b = set_up();
    offer_fit(b, 4);
    publish_snapshot(b);
    offer_fit(b, 4);
    CHECK("all", publish_all(b));
    CHECK_TEXT("the old", read_published(b), "r4 ");
    CHECK_TEXT("and the new", read_next(b), "r4 ");
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("once", read_published(b), "");
    tear_down(b);
}

/* A pair that moves many times a second is not calibrated as often, but in the end. */
static void test_rests(void)
{
    struct bench *b = set_up();
    struct result_publisher_counts c;
    const int64_t began_us = lab_clock_monotonic_us();
    offer_fit(b, 4);
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    CHECK_TEXT("at once", read_published(b), "r4 ");
    for (int i = 0; i < 10; i++) {
        offer_fit(b, 4);
        offer_fit(b, 6);
        publish_snapshot(b);
        CHECK("all", publish_all(b));
    }
    result_publisher_read_counts(&b->d, &c);
    const bool soon = lab_clock_monotonic_us() - began_us < REST_US;
    CHECK("others do not wait for it", !soon || strcmp(read_published(b), "r6 ") == 0);
    CHECK("and it shows", !soon || c.waiting == 2);
    char both[64] = "";
    for (const char *next = "r"; next[0] && strlen(both) < strlen("r4 r6 ");) {
        next = read_next(b);
        CHECK("not before its time", lab_clock_monotonic_us() - began_us >= REST_US);
        (void)snprintf(both + strlen(both), sizeof both - strlen(both), "%s", next);
    }
    CHECK_TEXT("each once more", both, "r4 r6 ");
    result_publisher_read_counts(&b->d, &c);
    CHECK_INT("none waits", c.waiting, 0);
    tear_down(b);
}

static void test_share_of_a_core(void)
{
    struct bench *b = set_up();
    struct result_publisher_counts c;
    for (int i = 0; i < MOVES * PAIRS; i++) {
        move_pair(b, i % PAIRS + 1, 0.1 + 0.1 * (i / PAIRS % 7));
    }
    const int64_t began_us = lab_clock_monotonic_us();
    bool waited = result_publisher_publish(&b->d); /* from now on its time counts */
    for (int i = 1; i <= PAIRS; i++) {
        offer_fit(b, i);
    }
    publish_snapshot(b);
    waited = result_publisher_publish(&b->d) || waited;
    result_publisher_read_counts(&b->d, &c);
    CHECK("not all at once", waited && c.waiting > 0 && c.waiting < PAIRS);
    CHECK("all", publish_all(b));
    const int64_t took_us = lab_clock_monotonic_us() - began_us;
    result_publisher_read_counts(&b->d, &c);
    CHECK_INT("all went out", c.published, PAIRS);
    CHECK_INT("none waits", c.waiting, 0);
    CHECK("a quarter of a core", c.worked_us <= took_us / 4 + SAVED_US + ONE_US);
    CHECK_INT("nor was dropped", c.dropped, 0);
    tear_down(b);
}

static void test_client_that_reads_nothing(void)
{
    struct bench *b = set_up();
    struct result_publisher_counts c;
    mqtt_client_stop(b->d.gateway.client, 0);
    offer_fit(b, 1);
    publish_snapshot(b);
    CHECK("all", publish_all(b));
    result_publisher_read_counts(&b->d, &c);
    CHECK_INT("counted", c.dropped, 1);
    CHECK_INT("not as published", c.published, 0);
    tear_down(b);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("findings", NULL, NULL);
    CU_add_test(suite, "waits for its snapshot", test_waits_for_its_snapshot);
    CU_add_test(suite, "of a pair one waits", test_of_a_pair_one_waits);
    CU_add_test(suite, "new while it waits", test_new_while_it_waits);
    CU_add_test(suite, "rests", test_rests);
    CU_add_test(suite, "share of a core", test_share_of_a_core);
    CU_add_test(suite, "client that reads nothing", test_client_that_reads_nothing);
    return check_run();
}
