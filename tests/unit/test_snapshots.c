/* needs: threads */
/* tests/unit/test_snapshots.c - readers in threads: snapshots do not change, share what has not
 * changed, and are freed. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "config/labfile/lab_file.h"
#include "service/daemon/snapshots.h"

enum { PAIRS = 520, READERS = 3 };

struct bench {
    struct pair_params pairs[PAIRS];
    struct pair_following_params following; /* of the last */
    struct lab_params params;
    void *memory;
    struct lab *lab;
    struct snapshots *snapshots;
    int64_t t_us;
};

static void ignore_effect(void *context, const struct effect *effect)
{
    (void)context;
    (void)effect;
}

static void set_up(struct bench *b)
{
    for (int i = 0; i < PAIRS; i++) {
        char id[EVENT_PAIR_MAX];
        (void)snprintf(id, sizeof id, "r%d", i + 1);
        lab_pair_defaults(&b->pairs[i], id);
    }
    /* The last one follows. */
    struct pair_following_params *const following = &b->following;
    lab_following_defaults(following);
    b->pairs[PAIRS - 1].following = following;
    (void)snprintf(following->model, sizeof following->model, "usv3");
    CU_ASSERT_FATAL(following_text_parse(following, NULL) == STATUS_OK);
    b->params = (struct lab_params){.pair_count = PAIRS, .pairs = b->pairs};
    const size_t bytes = (lab_bytes(&b->params) + 63) / 64 * 64;
    b->memory = aligned_alloc(64, bytes);
    if (!b->memory) {
        abort();
    }
    memset(b->memory, 0, bytes);
    b->lab = lab_init(b->memory, &b->params);
    b->t_us = 1700000000000000;
    CU_ASSERT_FATAL(snapshots_create(b->lab, "lab", "t/v1", b->t_us, &b->snapshots) ==
                    STATUS_OK);
}

static void tear_down(struct bench *b)
{
    snapshots_destroy(b->snapshots);
    free(b->memory);
}

/* A command to a pair, with its own content so that it is no redelivery. */
static void step_command(struct bench *b, int pair)
{
    const struct effects fx = {.emit = ignore_effect};
    struct event e = {.kind = EVENT_COMMAND, .side = SIDE_COUNT};
    b->t_us += 1000000;
    e.t_us = b->t_us;
    e.hash = (uint64_t)b->t_us;
    (void)snprintf(e.pair, sizeof e.pair, "r%d", pair);
    (void)snprintf(e.command.id, sizeof e.command.id, "c%lld", (long long)b->t_us);
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    e.command.rotation_rad = 1.0;
    e.command.source_us = LAB_TIME_NONE;
    lab_step(b->lab, &e, &fx);
}

static void publish_views(struct bench *b)
{
    const struct view_health health = {.restored = true};
    while (!snapshots_publish_slice(b->snapshots, b->t_us, &health, INT64_MAX)) {
    }
}

static void test_first(void)
{
    struct bench b;
    set_up(&b);
    const struct view *v = snapshots_acquire(b.snapshots);
    CHECK_INT("pairs", v->pair_count, PAIRS);
    CHECK_TEXT("id", v->params[1].id, "r2");
    CHECK_TEXT("lab", v->lab_name, "lab");
    CHECK_TEXT("prefix", v->prefix, "t/v1");
    CHECK("not restored", !v->health.restored);
    CHECK_INT("index", v->pairs[2]->index, 2);
    snapshots_release(b.snapshots, v);
    tear_down(&b);
}

/* A command, and both robots' replies two seconds later. */
static void move_pair(struct bench *b, int pair)
{
    const struct effects fx = {.emit = ignore_effect};
    step_command(b, pair);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        struct event e = {.kind = EVENT_REPLY, .side = side};
        b->t_us += 1000000;
        e.t_us = b->t_us;
        e.hash = (uint64_t)b->t_us;
        (void)snprintf(e.pair, sizeof e.pair, "r%d", pair);
        e.reply.status = REPLY_DONE;
        e.reply.source_us = LAB_TIME_NONE;
        e.reply.source_start_us = LAB_TIME_NONE;
        lab_step(b->lab, &e, &fx);
    }
}

static size_t fitted_moves(const struct view *v, size_t pair)
{
    static struct pair_fits fits;
    v->fits(v, pair, &fits);
    CHECK("known", fits.known[SIDE_REAL] && fits.known[SIDE_VIRTUAL]);
    return fits.fit[SIDE_REAL].n;
}

/* More pairs are requested than fits are cached. */
static void test_many_fits(void)
{
    struct bench b;
    set_up(&b);
    for (int i = 0; i < PAIRS; i++) {
        move_pair(&b, i + 1);
        if (i % 2 != 0) {
            move_pair(&b, i + 1);
        }
    }
    move_pair(&b, PAIRS - 512); /* the last one's entry is cached where this one's is */
    publish_views(&b);
    const struct view *v = snapshots_acquire(b.snapshots);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT("last", fitted_moves(v, PAIRS - 1), 2);
        CHECK_INT("the other", fitted_moves(v, PAIRS - 513), 3);
        CHECK_INT("first", fitted_moves(v, 0), 1);
    }
    snapshots_release(b.snapshots, v);
    tear_down(&b);
}

/* Fits belong to each view's own moves, asked once or again. */
static void test_fits(void)
{
    struct bench b;
    set_up(&b);
    move_pair(&b, 1);
    publish_views(&b);
    const struct view *old = snapshots_acquire(b.snapshots);
    CHECK_INT("one move", fitted_moves(old, 0), 1);
    CHECK_INT("and again", fitted_moves(old, 0), 1);
    CHECK_INT("none", fitted_moves(old, 1), 0);
    step_command(&b, 1);
    publish_views(&b);
    const struct view *now = snapshots_acquire(b.snapshots);
    CHECK("another state", now->pairs[0] != old->pairs[0]);
    CHECK_INT("of the same moves", fitted_moves(now, 0), 1);
    snapshots_release(b.snapshots, now);
    move_pair(&b, 1);
    publish_views(&b);
    now = snapshots_acquire(b.snapshots);
    CHECK_INT("two moves", fitted_moves(now, 0), 2);
    CHECK_INT("the old view's", fitted_moves(old, 0), 1);
    snapshots_release(b.snapshots, now);
    snapshots_release(b.snapshots, old);
    tear_down(&b);
}

static void test_sharing(void)
{
    struct bench b;
    set_up(&b);
    const struct view *old = snapshots_acquire(b.snapshots);
    step_command(&b, 2);
    CHECK_INT("unchanged before publication", old->pairs[1]->counts.commands, 0);
    publish_views(&b);
    const struct view *now = snapshots_acquire(b.snapshots);
    CHECK_INT("old one stays", old->pairs[1]->counts.commands, 0);
    CHECK_INT("new one shows it", now->pairs[1]->counts.commands, 1);
    CHECK_INT("time", now->t_us, b.t_us);
    CHECK("health", now->health.restored);
    CHECK_INT("counts", now->counts.events[EVENT_COMMAND], 1);
    CHECK("others are shared",
          now->pairs[0] == old->pairs[0] && now->pairs[2] == old->pairs[2]);
    CHECK("the changed one is not", now->pairs[1] != old->pairs[1]);
    struct snapshots_counts counts;
    snapshots_read_counts(b.snapshots, &counts);
    CHECK_INT("copied at first, and one", counts.copied, PAIRS + 1);
    /* Released in another order: pairs live as long as a reader uses them. */
    snapshots_release(b.snapshots, old);
    publish_views(&b);
    CHECK_INT("still there", now->pairs[1]->counts.commands, 1);
    snapshots_release(b.snapshots, now);
    tear_down(&b);
}

/* Made in slices: what has changed in between is in this snapshot or the next one. */
static void test_slices(void)
{
    struct bench b;
    set_up(&b);
    const struct view_health health = {.restored = true};
    const struct view *old = snapshots_acquire(b.snapshots);
    int slices = 1;
    for (; !snapshots_publish_slice(b.snapshots, b.t_us, &health, 0); slices++) {
        const struct view *now = snapshots_acquire(b.snapshots);
        CHECK("not before it is whole", now == old);
        snapshots_release(b.snapshots, now);
        step_command(&b, 1);
        step_command(&b, PAIRS);
    }
    CHECK("some", slices > 2);
    snapshots_release(b.snapshots, old);
    const struct view *now = snapshots_acquire(b.snapshots);
    const uint64_t before = now->pairs[0]->counts.commands;
    CHECK("was acquired before", before < (uint64_t)slices - 1);
    CHECK_INT("was acquired later", now->pairs[PAIRS - 1]->counts.commands, slices - 1);
    publish_views(&b);
    CHECK_INT("it stays", now->pairs[0]->counts.commands, before);
    snapshots_release(b.snapshots, now);
    now = snapshots_acquire(b.snapshots);
    CHECK_INT("has come", now->pairs[0]->counts.commands, slices - 1);
    struct snapshots_counts counts;
    snapshots_read_counts(b.snapshots, &counts);
    CHECK_INT("no more than changed", counts.copied, PAIRS + 3);
    snapshots_release(b.snapshots, now);
    /* One that is left at its beginning. */
    (void)snapshots_publish_slice(b.snapshots, b.t_us, &health, 0);
    tear_down(&b);
}

/* A snapshot without readers is updated in place, its growing number of moves too. */
static void test_renewed(void)
{
    struct bench b;
    set_up(&b);
    const struct view *v = snapshots_acquire(b.snapshots);
    snapshots_release(b.snapshots, v);
    for (int i = 0; i < 60; i++) {
        move_pair(&b, 2);
        step_command(&b, 3);
        publish_views(&b);
        CHECK("no other one", snapshots_acquire(b.snapshots) == v);
        CHECK_INT("as now", v->pairs[1]->window_count, i + 1);
        CHECK_INT("open", v->pairs[2]->outstanding, lab_pair(b.lab, 2)->outstanding);
        CHECK_INT("of now", v->t_us, b.t_us);
        CHECK_INT("all of it", v->counts.events[EVENT_COMMAND], 2 * (i + 1));
        snapshots_release(b.snapshots, v);
    }
    tear_down(&b);
}

/* The open commands of a pair are those of the view. */
static void test_commands(void)
{
    struct bench b;
    set_up(&b);
    step_command(&b, 2);
    step_command(&b, 2);
    publish_views(&b);
    const struct view *v = snapshots_acquire(b.snapshots);
    const int64_t first_us = b.t_us - 1000000;
    CHECK_INT("open", v->pairs[1]->outstanding, 2);
    for (int i = 0; i < 20; i++) {
        move_pair(&b, 2);
    }
    int k = -1;
    for (int n = 0; pair_next_open(v->pairs[1], &k); n++) {
        CHECK_INT("its place", pair_look_slot(v->pairs[1], k)->place, k);
        CHECK_INT("of then", pair_look_slot(v->pairs[1], k)->t_us, first_us + n * 1000000);
    }
    CHECK_INT("two", k, 1);
    snapshots_release(b.snapshots, v);
    tear_down(&b);
}

static void test_following(void)
{
    const struct effects fx = {.emit = ignore_effect};
    struct event e = {.kind = EVENT_TELEMETRY, .side = SIDE_REAL};
    struct bench b;
    set_up(&b);
    const struct view *old = snapshots_acquire(b.snapshots);
    CHECK("of others there is none", !old->following[0] && !old->following[1]);
    step_command(&b, 1);
    publish_views(&b);
    const struct view *now = snapshots_acquire(b.snapshots);
    CHECK("shared while nothing comes", now->following[PAIRS - 1] == old->following[PAIRS - 1]);
    snapshots_release(b.snapshots, now);
    e.t_us = b.t_us + 1;
    e.telemetry = (struct event_telemetry){.source_us = LAB_TIME_NONE, .nu_count = 3};
    (void)snprintf(e.pair, sizeof e.pair, "r%d", PAIRS);
    lab_step(b.lab, &e, &fx);
    publish_views(&b);
    now = snapshots_acquire(b.snapshots);
    CHECK("the old one stays", old->following[PAIRS - 1]->stepped_us == LAB_TIME_NONE);
    CHECK_INT("the new one has it", now->following[PAIRS - 1]->stepped_us, e.t_us);
    snapshots_release(b.snapshots, old);
    snapshots_release(b.snapshots, now);
    tear_down(&b);
}

struct reader {
    struct snapshots *snapshots;
    _Atomic bool *stop;
    uint64_t seen, wrong;
};

static void *read_on(void *context)
{
    struct reader *r = context;
    uint64_t last = 0;
    int64_t last_us = 0;
    while (!atomic_load(r->stop)) {
        const struct view *v = snapshots_acquire(r->snapshots);
        uint64_t commands = 0;
        for (size_t i = 0; i < v->pair_count; i++) {
            commands += v->pairs[i]->counts.commands;
        }
        /* One snapshot belongs together, and none is older than the one before. */
        r->wrong += commands != v->counts.events[EVENT_COMMAND];
        r->wrong += commands < last || v->t_us < last_us;
        last = commands;
        last_us = v->t_us;
        r->seen++;
        snapshots_release(r->snapshots, v);
    }
    return NULL;
}

static void test_readers(void)
{
    struct bench b;
    set_up(&b);
    _Atomic bool stop = false;
    pthread_t threads[READERS];
    struct reader readers[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.snapshots = b.snapshots, .stop = &stop};
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, read_on, &readers[i]) == 0);
    }
    for (int i = 0; i < 3000; i++) {
        step_command(&b, 1 + i % PAIRS);
        if (i % 3 != 0) {
            publish_views(&b);
        }
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_INT("consistent", readers[i].wrong, 0);
        CHECK("read something", readers[i].seen > 0);
    }
    tear_down(&b);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("views", NULL, NULL);
    CU_add_test(suite, "first", test_first);
    CU_add_test(suite, "sharing", test_sharing);
    CU_add_test(suite, "fits", test_fits);
    CU_add_test(suite, "many fits", test_many_fits);
    CU_add_test(suite, "slices", test_slices);
    CU_add_test(suite, "renewed", test_renewed);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "following", test_following);
    CU_add_test(suite, "readers", test_readers);
    return check_run();
}
