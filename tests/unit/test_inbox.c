/* needs: threads */
/* tests/unit/test_inbox.c - many threads, a small buffer, a failing disk: nothing lost, nothing
 * twice, in order. */
#include "tests/support/check.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "logger/storage/journal_reader.h"
#include "service/daemon/inbox.h"
#include "service/tool/lab_clock.h"
#include "tests/support/scratch.h"
#include "tests/support/wait.h"

static _Atomic int64_t clock_us = 1700000000000000;

static int64_t read_clock(void)
{
    return atomic_fetch_add(&clock_us, 1);
}

struct bench {
    char directory[64];
    struct journal *journal;
    struct inbox *inbox;
};

static _Atomic bool disk_full;
static _Atomic size_t disk_room = SIZE_MAX; /* bytes that go onto it */
static _Atomic unsigned writes;

static ssize_t write_unless_full(void *context, int fd, const void *bytes, size_t n)
{
    (void)context;
    const size_t room = atomic_load(&disk_room);
    if (atomic_load(&disk_full) || room == 0) {
        errno = ENOSPC;
        return -1;
    }
    const size_t fits = n < room ? n : room;
    atomic_fetch_sub(&disk_room, room < SIZE_MAX ? fits : 0);
    atomic_fetch_add(&writes, 1);
    return write(fd, bytes, fits);
}

static _Atomic bool sync_fails;
static _Atomic bool sync_waits,
    syncing; /* one sync takes until another thread read the clock */
enum { SYNC_US = 5000000 };

static int sync_unless_broken(void *context, int fd)
{
    (void)context;
    if (atomic_exchange(&sync_waits, false)) {
        const int64_t before_us = atomic_load(&clock_us);
        atomic_store(&syncing, true);
        for (int64_t end_us = 0;
             atomic_load(&clock_us) == before_us && wait_more(&end_us, 1000);) {
        }
        atomic_fetch_add(&clock_us, SYNC_US);
    }
    errno = EIO;
    return atomic_load(&sync_fails) ? -1 : fdatasync(fd);
}

static const struct journal_io disk = {.write = write_unless_full, .fsync = sync_unless_broken};

static struct bench set_up(void)
{
    struct bench b = {0};
    CU_ASSERT_FATAL(mkdtemp(scratch_template(b.directory, "inbox")) != NULL);
    struct journal_params params;
    journal_params_init(&params);
    params.directory = b.directory;
    params.rotate_bytes = 100000; /* sections go over several files */
    params.retry_us = 0;
    params.io = &disk;
    CU_ASSERT_FATAL(journal_open(&params, &b.journal, NULL) == STATUS_OK);
    return b;
}

static bool together, sync_each;

static void make_inbox(struct bench *b, size_t buffer_bytes, bool journal_samples)
{
    const struct inbox_params params = {.buffer_bytes = buffer_bytes,
                                        .journal = b->journal,
                                        .directory = b->directory,
                                        .journal_samples = journal_samples,
                                        .samples_together = together,
                                        .sync_each = sync_each,
                                        .now_us = read_clock};
    CU_ASSERT_FATAL(inbox_create(&params, &b->inbox) == STATUS_OK);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void tear_down(struct bench *b)
{
    inbox_destroy(b->inbox);
    journal_close(b->journal);
    (void)nftw(b->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static enum status push_message(struct inbox *inbox, unsigned who, unsigned number,
                                enum inbox_kind kind)
{
    char payload[64];
    const int n = snprintf(payload, sizeof payload, "{\"n\":%u}", number);
    struct message m = {
        .qos = 1, .payload = payload, .stored_bytes = (size_t)n, .payload_bytes = (size_t)n};
    (void)snprintf(m.topic, sizeof m.topic, "t/%u", who);
    return inbox_add(inbox, &m, kind);
}

enum { WRITERS = 4 };

struct tally {
    unsigned next[WRITERS + 1]; /* number that must come next */
    unsigned gaps, repeats, backward, malformed, faults, lines, restored;
    int64_t last_us;
};

static char scratch[MESSAGE_PAYLOAD_MAX + 1];

static void count_line(struct tally *t, const char *text, size_t bytes)
{
    struct message m;
    if (message_parse(text, bytes, scratch, &m, NULL) != STATUS_OK) {
        t->malformed++;
        return;
    }
    char payload[64];
    (void)snprintf(payload, sizeof payload, "%.*s", (int)m.stored_bytes, m.payload);
    const unsigned long who = strtoul(m.topic + 2, NULL, 10);
    const unsigned long number = strtoul(payload + 5, NULL, 10);
    if (who > WRITERS) {
        t->malformed++;
        return;
    }
    t->gaps += number > t->next[who];
    t->repeats += number < t->next[who];
    t->next[who] = (unsigned)number + 1;
    t->backward += m.t_us < t->last_us;
    t->last_us = m.t_us;
    t->lines++;
}

static void run_round(struct inbox *inbox, struct tally *t)
{
    const int64_t now_us = inbox_begin(inbox);
    struct inbox_line line;
    struct err err = {0};
    enum inbox_next next = INBOX_NONE;
    while ((next = inbox_next(inbox, &line, &err)) != INBOX_NONE) {
        if (next == INBOX_FAULT) {
            t->faults++;
            continue;
        }
        t->restored += line.restored;
        count_line(t, line.text, line.bytes);
        t->backward += t->last_us > now_us; /* a line of this round from its future */
    }
}

struct writer {
    struct inbox *inbox;
    unsigned who, count, sleep_every;
    enum inbox_kind kind;
};

static void *write_many(void *context)
{
    const struct writer *w = context;
    for (unsigned i = 0; i < w->count; i++) {
        (void)push_message(w->inbox, w->who, i, w->kind);
        if (w->sleep_every && i % w->sleep_every == 0) {
            (void)usleep(300);
        }
    }
    return NULL;
}

static void test_overflow(void)
{
    enum { EACH = 20000 };
    struct bench b = set_up();
    make_inbox(&b, 4096, true);
    pthread_t threads[WRITERS];
    struct writer writers[WRITERS];
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] =
            (struct writer){b.inbox, i, EACH, 20 + 30 * i, i == 1 ? INBOX_SAMPLE : INBOX_EVENT};
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, write_many, &writers[i]) == 0);
    }
    struct tally t = {0};
    unsigned sleeps = 0;
    unsigned ahead = 0; /* rounds that claimed more than they had */
    for (unsigned idle = 0; t.lines < WRITERS * EACH && idle < 20;) {
        const unsigned before = t.lines;
        run_round(b.inbox, &t);
        ahead += inbox_reached(b.inbox) > t.lines;
        idle = t.lines > before ? 0 : idle + 1;
        const bool nap = sleeps % 2 == 0;
        sleeps += inbox_sleep(b.inbox, nap ? INBOX_POLLS : INBOX_SLEEPS,
                              lab_clock_monotonic_us() + (nap ? 5000 : 500000));
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_INT("all of each", t.next[i], EACH);
    }
    CHECK_INT("lines", t.lines, WRITERS * EACH);
    run_round(b.inbox, &t); /* the received part is reached when nothing follows */
    CHECK_INT("never ahead", ahead, 0);
    CHECK_INT("all is reached", inbox_reached(b.inbox), inbox_added_count(b.inbox));
    CHECK_INT("taken", inbox_added_count(b.inbox), WRITERS * EACH);
    CHECK_INT("gaps", t.gaps, 0);
    CHECK_INT("repeats", t.repeats, 0);
    CHECK_INT("order of time", t.backward, 0);
    CHECK_INT("malformed", t.malformed, 0);
    CHECK_INT("faults", t.faults, 0);
    struct inbox_counts counts;
    inbox_read_counts(b.inbox, &counts);
    CHECK("overflowed again and again", counts.overflows > 3);
    CHECK_INT("each led to one section", counts.sections, counts.overflows);
    CHECK_INT("lost", counts.lost, 0);
    CHECK_INT("events", counts.events, 3 * EACH);
    CHECK_INT("samples", counts.samples, EACH);
    const struct journal_position end = journal_end(b.journal);
    const struct journal_position at = inbox_position(b.inbox);
    CHECK("position is the journal's end", at.file == end.file && at.offset == end.offset);
    (void)printf("    %llu overflows, %u sleeps, %llu wakes\n",
                 (unsigned long long)counts.overflows, sleeps,
                 (unsigned long long)counts.wakes);
    tear_down(&b);
}

/* A line that the journal refuses is not accepted, and that is reported; order and numbers of
 * the rest stay. */
static void test_full_disk(void)
{
    struct bench b = set_up();
    make_inbox(&b, 8192, true);
    struct tally t = {0};
    unsigned number = 0;
    unsigned refused = 0;
    for (unsigned i = 0; i < 300; i++) {
        /* 100 on the disk (more than the buffer holds), 20 with the disk full, the rest on it.
         */
        atomic_store(&disk_full, i >= 100 && i < 120);
        const bool taken = push_message(b.inbox, 0, number, INBOX_EVENT) == STATUS_OK;
        CHECK_INT("taken", taken, i < 100 || i >= 120);
        if (!taken) { /* the client over HTTP gets an error: the broker has nothing of it */
            CHECK_INT("offer", inbox_offer(b.inbox, "request", "{}", 2), STATUS_E_IO);
        }
        number += taken;
        refused += !taken;
        if (i % 50 == 49) {
            run_round(b.inbox, &t);
        }
    }
    run_round(b.inbox, &t);
    struct inbox_counts counts;
    inbox_read_counts(b.inbox, &counts);
    CHECK_INT("those came", t.lines, 280);
    CHECK_INT("gaps", t.gaps, 0);
    CHECK_INT("repeats", t.repeats, 0);
    CHECK_INT("lost", counts.lost, 0);
    CHECK_INT("refused", counts.refused, refused);
    struct journal_stats stats;
    journal_stats(b.journal, &stats);
    CHECK_INT("the journal has what the lab has", stats.lines, 280);
    tear_down(&b);
}

/* The journal holds what the lab got, line by line, and in its places. */
static void check_journal(const struct bench *b, struct tally *t)
{
    struct journal_reader *reader = NULL;
    struct journal_line line;
    struct tally written = {0};
    CU_ASSERT_FATAL(journal_reader_open_directory(b->directory, (struct journal_position){0, 0},
                                                  &reader, NULL) == STATUS_OK);
    struct journal_position last = {0, 0};
    while (journal_reader_next(reader, &line, NULL) == STATUS_OK) {
        count_line(&written, line.text, line.bytes);
        last = line.after;
    }
    journal_reader_close(reader);
    CHECK_INT("as many", written.lines, t->lines);
    CHECK_INT("in order", written.backward, 0);
    for (unsigned who = 0; who < WRITERS; who++) {
        CHECK_INT("the same", written.next[who], t->next[who]);
    }
    const struct journal_position at = inbox_position(b->inbox);
    CHECK("the lab is after the last", at.file == last.file && at.offset == last.offset);
}

/* A run that cannot write its start has not begun: its own lines wait, all of them come later,
 * in order, though they are more than the buffer holds. A sample is dropped and counted. */
static void start_on_full_disk(bool journal_samples)
{
    struct bench b = set_up();
    make_inbox(&b, 4096, journal_samples);
    struct tally t = {0};
    atomic_store(&disk_full, true);
    CHECK_INT("sample", push_message(b.inbox, 1, 0, INBOX_SAMPLE),
              journal_samples ? STATUS_E_IO : STATUS_OK);
    for (unsigned i = 0; i < 100; i++) {
        CHECK_INT("own", push_message(b.inbox, 0, i, INBOX_OWN), STATUS_OK);
    }
    run_round(b.inbox, &t);
    CHECK_INT("the lab has none of them", t.lines, 0);
    CHECK("so it owes nothing", !inbox_owes(b.inbox));
    atomic_store(&disk_full, false);
    CHECK_INT("later", push_message(b.inbox, 0, 100, INBOX_EVENT), STATUS_OK);
    run_round(b.inbox, &t);
    run_round(b.inbox, &t);
    struct inbox_counts counts;
    inbox_read_counts(b.inbox, &counts);
    CHECK_INT("all came", t.lines, 101);
    CHECK_INT("none twice", t.repeats, 0);
    CHECK_INT("in order", t.gaps, 0);
    CHECK_INT("sample", counts.samples_dropped, 1);
    CHECK_INT("lost", counts.lost, 0);
    tear_down(&b);
}

static void test_start_on_full_disk(void)
{
    start_on_full_disk(false);
    start_on_full_disk(true);
}

/* In a run that has begun the lab gets own lines at once. Nothing may be stored, and no
 * checkpoint made, until the journal has them: before all others, with the time that they came
 * at, also when only some fit at first. What is beyond the bound neither has. */
static void test_own_lines_wait(void)
{
    struct bench b = set_up();
    make_inbox(&b, 1 << 22, true);
    struct tally t = {0};
    CHECK_INT("begins", push_message(b.inbox, 0, 0, INBOX_OWN), STATUS_OK);
    atomic_store(&disk_full, true);
    unsigned number = 1;
    for (; number < 20000; number++) {
        CHECK_INT("own", push_message(b.inbox, 0, number, INBOX_OWN), STATUS_OK);
    }
    struct inbox_counts counts;
    inbox_read_counts(b.inbox, &counts);
    const unsigned retained = number - (unsigned)counts.not_journalled;
    CHECK("bounded", counts.not_journalled > 0 && retained > 1000);
    CHECK("owed", inbox_owes(b.inbox));
    run_round(b.inbox, &t);
    CHECK_INT("the lab has them", t.lines, retained);
    CHECK("no place", !inbox_is_placed(b.inbox));
    atomic_store(&disk_full, false);
    atomic_store(&disk_room, 10000);
    CHECK_INT("room for some", push_message(b.inbox, 0, number, INBOX_EVENT), STATUS_E_IO);
    run_round(b.inbox, &t);
    CHECK("still owed", inbox_owes(b.inbox) && !inbox_is_placed(b.inbox));
    atomic_store(&disk_room, SIZE_MAX);
    CHECK_INT("room", push_message(b.inbox, 0, retained, INBOX_EVENT), STATUS_OK);
    run_round(b.inbox, &t);
    CHECK("in its place", !inbox_owes(b.inbox) && inbox_is_placed(b.inbox));
    CHECK_INT("all of it once", t.lines, retained + 1);
    CHECK_INT("none twice", t.repeats, 0);
    CHECK_INT("in order", t.gaps, 0);
    check_journal(&b, &t);
    tear_down(&b);
}

/* sync_each: an event is applied when it is synced, else it is not acknowledged. */
static void test_sync_each(void)
{
    struct bench b = set_up();
    make_inbox(&b, 8192, true);
    struct tally t = {0};
    struct journal_stats stats;
    inbox_destroy(b.inbox);
    sync_each = true;
    make_inbox(&b, 8192, true);
    sync_each = false;
    for (unsigned i = 0; i < 3; i++) {
        CHECK_INT("taken", push_message(b.inbox, 0, i, INBOX_EVENT), STATUS_OK);
        journal_stats(b.journal, &stats);
        CHECK_INT("synced", stats.synced.offset, journal_end(b.journal).offset);
    }
    atomic_store(&sync_fails, true);
    CHECK_INT("not acknowledged", push_message(b.inbox, 0, 3, INBOX_EVENT), STATUS_E_IO);
    CHECK_INT("a sample is", push_message(b.inbox, 0, 4, INBOX_SAMPLE), STATUS_OK);
    atomic_store(&sync_fails, false);
    run_round(b.inbox, &t);
    tear_down(&b);
}

/* A message is stamped when it arrives, not when another thread has synced its line. */
static void test_stamp_at_arrival(void)
{
    struct bench b = set_up();
    sync_each = true;
    make_inbox(&b, 8192, true);
    sync_each = false;
    struct writer first = {b.inbox, 0, 1, 0, INBOX_EVENT};
    struct message second = {.topic = "t/1", .qos = 1, .payload = "{}", .stored_bytes = 2};
    second.payload_bytes = 2;
    pthread_t thread;
    const int64_t began_us = read_clock();
    atomic_store(&sync_waits, true);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, write_many, &first) == 0);
    for (int64_t end_us = 0; !atomic_load(&syncing) && wait_more(&end_us, 10000);) {
    }
    CHECK_INT("taken", inbox_add(b.inbox, &second, INBOX_EVENT), STATUS_OK);
    (void)pthread_join(thread, NULL);
    CHECK("stamped before the sync ended", second.t_us - began_us < SYNC_US);
    tear_down(&b);
}

/* Samples go to the disk together, before the event behind them and before the lab has them. */
static void test_samples_together(void)
{
    enum { RUNS = 20, EACH = 50 };
    struct bench b = set_up();
    struct tally t = {0};
    struct journal_stats stats;
    together = true;
    make_inbox(&b, 1 << 20, true);
    atomic_store(&writes, 0);
    for (unsigned i = 0; i < RUNS * EACH; i++) {
        CHECK_INT("sample", push_message(b.inbox, 1, i, INBOX_SAMPLE), STATUS_OK);
        if (i % EACH == EACH / 2) {
            CHECK_INT("event", push_message(b.inbox, 0, i / EACH, INBOX_EVENT), STATUS_OK);
            journal_stats(b.journal, &stats);
            CHECK_INT("all before it", stats.lines, i + 1 + i / EACH + 1);
        } else if (i % EACH == EACH - 1) {
            run_round(b.inbox, &t);
            CHECK_INT("all of them", t.lines, i + 1 + i / EACH + 1);
            check_journal(&b, &t);
        }
    }
    CHECK("by few writes", atomic_load(&writes) <= 3 * RUNS);
    CHECK_INT("none lacks", t.gaps + t.repeats + t.malformed + t.faults, 0);
    together = false;
    tear_down(&b);
}

/* A disk that accepts a part of them: the lab gets those that are whole on it, and the rest is
 * counted. */
static void test_together_on_full_disk(void)
{
    enum { SAMPLES = 30, LINE = 110 };
    for (size_t room = 0; room < (size_t)SAMPLES * LINE; room += 37) {
        struct bench b = set_up();
        struct tally t = {0};
        struct inbox_counts counts;
        together = true;
        make_inbox(&b, 1 << 20, true);
        CHECK_INT("event", push_message(b.inbox, 0, 0, INBOX_EVENT), STATUS_OK);
        atomic_store(&disk_room, room);
        for (unsigned i = 0; i < SAMPLES; i++) {
            CHECK_INT("sample", push_message(b.inbox, 1, i, INBOX_SAMPLE), STATUS_OK);
        }
        const enum status status = push_message(b.inbox, 0, 1, INBOX_EVENT);
        atomic_store(&disk_room, SIZE_MAX);
        CHECK_INT("later", push_message(b.inbox, 2, 0, INBOX_SAMPLE), STATUS_OK);
        run_round(b.inbox, &t);
        inbox_read_counts(b.inbox, &counts);
        CHECK_INT("a sample is there or counted", t.next[1] + (unsigned)counts.samples_dropped,
                  SAMPLES);
        CHECK_INT("the event, too, or it is refused", t.next[0], status == STATUS_OK ? 2 : 1);
        CHECK_INT("and none that came later lacks", t.next[2], 1);
        CHECK_INT("whole", t.malformed + t.gaps + t.repeats + t.faults, 0);
        together = false;
        tear_down(&b);
    }
}

static void test_unjournalled_samples(void)
{
    struct bench b = set_up();
    make_inbox(&b, 4096, false);
    struct tally t = {0};
    for (unsigned i = 0; i < 200; i++) {
        (void)push_message(b.inbox, 1, i, INBOX_SAMPLE);
        if (i % 40 == 0) {
            (void)push_message(b.inbox, 0, i / 40, INBOX_EVENT);
        }
    }
    run_round(b.inbox, &t); /* what the buffer holds */
    run_round(b.inbox, &t); /* lines that only the journal has */
    struct inbox_counts counts;
    inbox_read_counts(b.inbox, &counts);
    struct journal_stats stats;
    journal_stats(b.journal, &stats);
    CHECK_INT("events in the journal", stats.lines, 5);
    CHECK_INT("events are whole", t.next[0], 5);
    CHECK("samples dropped", counts.samples_dropped > 0);
    CHECK_INT("and counted", t.lines + counts.samples_dropped, 205);
    CHECK_INT("no event lost", counts.lost, 0);
    tear_down(&b);
}

/* A line about the past comes after the lab's earlier actions. */
static void test_reach(void)
{
    for (int way = 0; way < 3; way++) {
        static const char *const rows[] = {"nothing is due", "something is", "a sample"};
        struct bench b = set_up();
        make_inbox(&b, 1 << 16, false);
        struct tally t = {0};
        (void)push_message(b.inbox, 0, 0, INBOX_EVENT);
        CHECK(rows[way], !inbox_reach(b.inbox, inbox_now_us(b.inbox)));
        run_round(b.inbox, &t);
        if (way == 1) {
            CHECK(rows[way], inbox_reach(b.inbox, inbox_begin(b.inbox)));
        } else if (way == 2) {
            (void)push_message(b.inbox, 1, 0, INBOX_SAMPLE);
        }
        CHECK_INT(rows[way], inbox_offer(b.inbox, "away", "{}", 2), STATUS_OK);
        CHECK_INT(rows[way], inbox_offer(b.inbox, "away", "{}", 2), STATUS_OK);
        struct journal_stats stats;
        journal_stats(b.journal, &stats);
        CHECK_INT(rows[way], stats.lines, way == 0 ? 3 : 4);
        tear_down(&b);
    }
}

/* A time that results depend on is in the journal, in a line of its own if no other line is
 * later: a deadline at the time of a line fires behind it, and a sample that is not journalled
 * has no line. */
static void test_write_time(void)
{
    struct bench b = set_up();
    make_inbox(&b, 1 << 16, false);
    struct journal_stats stats;
    (void)push_message(b.inbox, 1, 0, INBOX_EVENT);
    const int64_t event_us = inbox_now_us(b.inbox) - 1;
    inbox_write_time(b.inbox, event_us - 1);
    journal_stats(b.journal, &stats);
    CHECK_INT("the event has it", stats.lines, 1);
    (void)push_message(b.inbox, 1, 1, INBOX_SAMPLE);
    inbox_write_time(b.inbox, event_us);
    journal_stats(b.journal, &stats);
    CHECK_INT("a line of its own", stats.lines, 2);
    inbox_write_time(b.inbox, event_us);
    journal_stats(b.journal, &stats);
    CHECK_INT("once", stats.lines, 2);

    struct inbox_line line;
    unsigned unwritten = 0;
    unsigned times = 0;
    unsigned lines = 0;
    (void)inbox_begin(b.inbox);
    while (inbox_next(b.inbox, &line, NULL) == INBOX_LINE) {
        struct message m;
        CHECK("a message",
              message_parse(line.text, line.bytes, scratch, &m, NULL) == STATUS_OK);
        times += strstr(m.topic, "/$lab/time") != NULL && m.t_us > event_us;
        unwritten += line.unwritten;
        lines++;
    }
    CHECK_INT("the lab gets it, too", times, 1);
    CHECK_INT("all of them", lines, 3);
    CHECK_INT("the sample is marked", unwritten, 1);
    tear_down(&b);
}

/* More samples than can be processed soon: samples are left out, before the journal, and
 * nothing else. */
static void test_thinned(void)
{
    enum { COST_NS = 10000, BEHIND_US = 4000, FIT = BEHIND_US * 1000 / COST_NS, MORE = 50 };
    struct bench b = set_up();
    const struct inbox_params params = {.buffer_bytes = 1 << 20,
                                        .journal = b.journal,
                                        .directory = b.directory,
                                        .journal_samples = true,
                                        .now_us = read_clock,
                                        .behind_us = BEHIND_US};
    CU_ASSERT_FATAL(inbox_create(&params, &b.inbox) == STATUS_OK);
    struct tally t = {0};
    struct inbox_counts counts;
    for (unsigned i = 0; i < 2 * FIT; i++) {
        CHECK_INT("before the cost is known", push_message(b.inbox, 1, i, INBOX_SAMPLE),
                  STATUS_OK);
    }
    run_round(b.inbox, &t);
    CHECK_INT("all", t.lines, 2 * FIT);
    inbox_report_cost(b.inbox, 100000, (int64_t)100000 * COST_NS);
    for (unsigned i = 0; i < FIT + MORE; i++) {
        CHECK_INT("no error", push_message(b.inbox, 1, 2 * FIT + i, INBOX_SAMPLE), STATUS_OK);
    }
    for (unsigned i = 0; i < MORE; i++) {
        CHECK_INT("events", push_message(b.inbox, 0, i, INBOX_EVENT), STATUS_OK);
        CHECK_INT("its own", push_message(b.inbox, 2, i, INBOX_OWN), STATUS_OK);
    }
    struct journal_stats stats;
    journal_stats(b.journal, &stats);
    CHECK_INT("not in the journal either", stats.lines, 3 * FIT + 2 * MORE);
    run_round(b.inbox, &t);
    inbox_read_counts(b.inbox, &counts);
    CHECK_INT("left out", counts.samples_thinned, MORE);
    CHECK_INT("the others came", t.lines, 3 * FIT + 2 * MORE);
    CHECK_INT("events whole", t.next[0], MORE);
    CHECK_INT("its own whole", t.next[2], MORE);
    CHECK_INT("none is lost or dropped", counts.lost + counts.samples_dropped, 0);
    (void)push_message(b.inbox, 1, 3 * FIT + MORE, INBOX_SAMPLE);
    run_round(b.inbox, &t);
    CHECK_INT("and again when there is room", t.lines, 3 * FIT + 2 * MORE + 1);
    tear_down(&b);
}

static void test_restore(void)
{
    struct bench b = set_up();
    make_inbox(&b, 4096, true);
    struct tally first = {0};
    for (unsigned i = 0; i < 50; i++) {
        (void)push_message(b.inbox, 0, i, INBOX_EVENT);
        if (i == 19) {
            run_round(b.inbox, &first);
        }
    }
    /* The state after a crash: the lab knows 20, the journal 50. */
    const struct journal_position from = inbox_position(b.inbox);
    inbox_destroy(b.inbox);
    make_inbox(&b, 4096, true);
    inbox_restore(b.inbox, from, journal_end(b.journal));
    (void)push_message(b.inbox, 0, 50, INBOX_EVENT);
    struct tally t = {.next[0] = 20};
    run_round(b.inbox, &t);
    CHECK_INT("restored", t.restored, 30);
    CHECK_INT("then live", t.lines, 31);
    CHECK_INT("gaps", t.gaps + t.repeats + t.faults, 0);
    tear_down(&b);
}

static void test_section_gone(void)
{
    struct bench b = set_up();
    make_inbox(&b, 4096, true);
    inbox_restore(b.inbox, (struct journal_position){1, 17}, (struct journal_position){1, 99});
    (void)push_message(b.inbox, 0, 0, INBOX_EVENT);
    struct tally t = {0};
    run_round(b.inbox, &t);
    CHECK_INT("said", t.faults, 1);
    CHECK_INT("and went on", t.lines, 1);
    tear_down(&b);
}

static void test_wakes(void)
{
    static const struct {
        const char *name;
        enum inbox_pause pause;
        enum inbox_kind kind;
        unsigned count;
        unsigned wakes;
    } rows[] = {{"event wakes a sleeper", INBOX_SLEEPS, INBOX_EVENT, 1, 1},
                {"once", INBOX_SLEEPS, INBOX_EVENT, 5, 1},
                {"sample wakes a sleeper", INBOX_SLEEPS, INBOX_SAMPLE, 3, 1},
                {"event ends a nap", INBOX_POLLS, INBOX_EVENT, 1, 1},
                {"sample does not", INBOX_POLLS, INBOX_SAMPLE, 5, 0},
                {"unless they fill the buffer", INBOX_POLLS, INBOX_SAMPLE, 30, 1},
                {"event does not end a rest", INBOX_RESTS, INBOX_EVENT, 5, 0},
                {"unless they fill the buffer", INBOX_RESTS, INBOX_EVENT, 30, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench b = set_up();
        make_inbox(&b, 8192, true);
        struct inbox_line line;
        (void)inbox_begin(b.inbox);
        CHECK("nothing", inbox_next(b.inbox, &line, NULL) == INBOX_NONE);
        CHECK("may sleep", inbox_sleep(b.inbox, rows[i].pause, 0));
        for (unsigned k = 0; k < rows[i].count; k++) {
            (void)push_message(b.inbox, 0, k, rows[i].kind);
        }
        struct inbox_counts counts;
        inbox_read_counts(b.inbox, &counts);
        CHECK_INT(rows[i].name, counts.wakes, rows[i].wakes);
        CHECK("may not sleep now", !inbox_sleep(b.inbox, rows[i].pause, 0));
        tear_down(&b);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("inbox", NULL, NULL);
    CU_add_test(suite, "overflow", test_overflow);
    CU_add_test(suite, "full disk", test_full_disk);
    CU_add_test(suite, "start on a full disk", test_start_on_full_disk);
    CU_add_test(suite, "own lines wait", test_own_lines_wait);
    CU_add_test(suite, "sync each", test_sync_each);
    CU_add_test(suite, "samples together", test_samples_together);
    CU_add_test(suite, "together on a full disk", test_together_on_full_disk);
    CU_add_test(suite, "unjournalled samples", test_unjournalled_samples);
    CU_add_test(suite, "reach", test_reach);
    CU_add_test(suite, "write time", test_write_time);
    CU_add_test(suite, "stamp at arrival", test_stamp_at_arrival);
    CU_add_test(suite, "thinned", test_thinned);
    CU_add_test(suite, "restore", test_restore);
    CU_add_test(suite, "section gone", test_section_gone);
    CU_add_test(suite, "wakes", test_wakes);
    return check_run();
}
