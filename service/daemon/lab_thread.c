#include "service/daemon/lab_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "logger/message/codecs.h"
#include "logger/storage/lock.h"
#include "service/cli/lab_clock.h"
#include "service/cli/log.h"
#include "service/daemon/priority.h"

enum {
    NAP_US = 5000,         /* telemetry is taken in at least this often, */
    AHEAD_US = 300,        /* and so long before a deadline, which need not wait for it then */
    VIEW_US = 50000,       /* snapshots come at most this often */
    HEALTH_US = 200000,    /* and at least this often; */
    VIEW_SHARE = 20,       /* but in a big lab they take one part in so many of the time, */
    VIEW_MAX_US = 2000000, /* unless that makes them older than this */
    LINES_BETWEEN_CHORES = 512
};

struct lab_thread {
    struct lab_thread_params params;
    pthread_t thread;
    _Atomic bool stop;
    struct effects effects;
    struct codec_set codecs;
    char *scratch; /* [MESSAGE_PAYLOAD_MAX + 1] for payloads with escapes */

    bool live;          /* the journal's tail is in */
    bool dirty;         /* stepped since the last snapshot */
    bool unsaved;       /* stepped since the last checkpoint */
    bool sampled;       /* this round saw lines that did not wake it */
    int64_t started_us; /* all on the monotonic clock */
    int64_t viewed_us;
    int64_t view_wait_us; /* until the next snapshot, by what the last one cost */
    int64_t saved_us;

    pthread_mutex_t lock;
    struct lab_thread_counts counts; /* written by the thread, under the lock at round's end */
    struct lab_thread_counts shown;  /* under the lock */
};

static int64_t min_us(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The end of a fit: with what the worker found, where it ran here. */
static void step_fit(struct lab_thread *t, const struct event *event)
{
    const long pair = lab_find(t->params.lab, event->pair);
    struct event with = *event;
    struct dynamics_result *result = NULL;
    if (pair >= 0) {
        result = fits_take(t->params.fits, (uint32_t)pair, event->side, event->fit.job);
        with.fit.result = result;
    }
    lab_step(t->params.lab, &with, &t->effects);
    fits_drop(result);
}

static void step_event(void *context, const struct event *event)
{
    struct lab_thread *t = context;
    t->counts.events++;
    if (event->kind == EVENT_MALFORMED) {
        t->counts.malformed++;
        log_write(LOG_MALFORMED, event->pair, "%s: %s", event->malformed.what,
                  event->malformed.detail);
    }
    if (event->kind == EVENT_FIT) {
        step_fit(t, event);
    } else {
        lab_step(t->params.lab, event, &t->effects);
    }
}

/* Efforts are due a hundred times a second. */
static void raise_if_following(const struct lab_thread *t)
{
    bool follows = false;
    for (size_t i = 0; i < lab_pair_count(t->params.lab); i++) {
        follows = follows || lab_following(t->params.lab, i);
    }
    if (follows && !priority_raise()) {
        log_write(LOG_NOT_REAL_TIME, NULL, "CAP_SYS_NICE or RLIMIT_RTPRIO is needed");
    }
}

static void go_live(struct lab_thread *t)
{
    t->live = true;
    t->counts.restore_us = lab_clock_monotonic_us() - t->started_us;
    keeper_set_restored(t->params.keeper);
    outbox_go_live(t->params.outbox);
    log_write(LOG_RESTORED, NULL, "%llu lines of the journal in %.3f s",
              (unsigned long long)t->counts.restored, lab_s(t->counts.restore_us));
    raise_if_following(t);
}

static void decode_line(struct lab_thread *t, const struct inbox_line *line)
{
    t->counts.lines++;
    t->counts.restored += line->restored;
    struct message message;
    struct err err = {0};
    const enum status status =
        message_parse(line->text, line->bytes, t->scratch, &message, &err);
    if (status != STATUS_OK) {
        if (status != STATUS_E_EMPTY) {
            t->counts.skipped++;
            log_write(LOG_LINE_SKIPPED, NULL, "column %u: %s", err.column, err.text);
        }
        return;
    }
    if (codec_decode(&t->codecs, t->params.prefix, &message, step_event, t) == 0) {
        t->counts.other++;
    }
    t->dirty = true;
    t->unsaved = true;
}

static void take_line(struct lab_thread *t, const struct inbox_line *line)
{
    decode_line(t, line);
    /* The first line of this run is its start. Deadlines between the journal's last line and
     * the start fire with it: the run before may have carried them out already. */
    if (!t->live && !line->restored) {
        go_live(t);
    }
}

static void show_counts(struct lab_thread *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->shown = t->counts;
    t->shown.outbox = *outbox_counts(t->params.outbox);
    (void)pthread_mutex_unlock(&t->lock);
}

static void publish_view(struct lab_thread *t, int64_t mono_us)
{
    struct view_health health;
    keeper_read_health(t->params.keeper, &health);
    views_publish(t->params.views, inbox_now_us(t->params.inbox), &health);
    t->viewed_us = lab_clock_monotonic_us();
    t->view_wait_us = min_us(VIEW_SHARE * (t->viewed_us - mono_us), VIEW_MAX_US);
    t->dirty = false;
}

/* Between rounds, and now and then within a long one. */
static void do_chores(struct lab_thread *t)
{
    keeper_beat(t->params.keeper);
    const int64_t mono_us = lab_clock_monotonic_us();
    const int64_t age_us = mono_us - t->viewed_us;
    if (age_us >= (t->dirty ? VIEW_US : HEALTH_US) && age_us >= t->view_wait_us) {
        publish_view(t, mono_us);
        show_counts(t);
    }
    if (t->live && t->unsaved && mono_us - t->saved_us >= t->params.checkpoint_us &&
        keeper_offer_checkpoint(t->params.keeper, t->params.lab,
                                inbox_position(t->params.inbox))) {
        t->saved_us = mono_us;
        t->unsaved = false;
    }
}

static void drain_inbox(struct lab_thread *t, const struct inbox_round *round)
{
    struct inbox_line line;
    struct err err = {0};
    unsigned lines = 0;
    enum inbox_next next = INBOX_NONE;
    while ((next = inbox_next(t->params.inbox, round, &line, &err)) != INBOX_NONE) {
        if (next == INBOX_FAULT) {
            t->counts.faults++;
            log_write(LOG_JOURNAL_FAULT, NULL, "%s: %s", err.where, err.text);
            err = (struct err){0};
            continue;
        }
        take_line(t, &line);
        if (++lines % LINES_BETWEEN_CHORES == 0) {
            do_chores(t);
        }
    }
    t->sampled = lines > 0;
}

static void count_round(struct lab_thread *t, int64_t took_us)
{
    unsigned class = 0;
    for (int64_t limit_us = 100; class < LAB_THREAD_TOOK - 1 && took_us > limit_us;
         limit_us *= 10) {
        class ++;
    }
    t->counts.rounds++;
    t->counts.took[class]++;
    if (took_us > t->counts.took_us_max) {
        t->counts.took_us_max = took_us;
    }
}

static void run_round(struct lab_thread *t)
{
    const int64_t began_us = lab_clock_monotonic_us();
    struct inbox_round round;
    inbox_begin(t->params.inbox, &round);
    drain_inbox(t, &round);
    if (t->live && lab_next_deadline(t->params.lab) < round.now_us) {
        const struct event tick = {
            .t_us = round.now_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
        t->counts.deadline_ticks++;
        t->dirty = true;
        t->unsaved = true;
        lab_step(t->params.lab, &tick, &t->effects);
    }
    count_round(t, lab_clock_monotonic_us() - began_us);
    do_chores(t);
}

/* How long until there is something to do though nothing comes. */
static int64_t time_to_sleep(const struct lab_thread *t)
{
    int64_t wait_us = t->sampled ? NAP_US : HEALTH_US;
    if (t->dirty) {
        const int64_t view_us = t->view_wait_us > VIEW_US ? t->view_wait_us : VIEW_US;
        wait_us = min_us(wait_us, t->viewed_us + view_us - lab_clock_monotonic_us());
    }
    const int64_t deadline_us = lab_next_deadline(t->params.lab);
    if (deadline_us != LAB_TIME_MAX) {
        /* Deadlines fire when the present is beyond them. */
        const int64_t left_us = deadline_us + 1 - inbox_now_us(t->params.inbox);
        const bool early = t->sampled && left_us > 2 * AHEAD_US;
        wait_us = min_us(wait_us, early ? left_us - AHEAD_US : left_us);
    }
    return wait_us > 0 ? wait_us : 0;
}

static void sleep_for(const struct lab_thread *t, int64_t wait_us)
{
    struct pollfd p = {.fd = t->params.wake_fd, .events = POLLIN};
    const struct timespec timeout = {wait_us / 1000000, wait_us % 1000000 * 1000};
    if (ppoll(&p, 1, &timeout, NULL) > 0) {
        uint64_t wakes = 0;
        const ssize_t got = read(t->params.wake_fd, &wakes, sizeof wakes);
        (void)got;
    }
}

static void *run_lab_thread(void *context)
{
    struct lab_thread *t = context;
    (void)pthread_setname_np(pthread_self(), "tandem-lab");
    for (;;) {
        /* Read before the round: what was put into the inbox before stop is in it. */
        const bool last = atomic_load(&t->stop);
        run_round(t);
        if (inbox_sleep(t->params.inbox, t->sampled)) {
            if (last) {
                break;
            }
            sleep_for(t, time_to_sleep(t));
        }
    }
    publish_view(t, lab_clock_monotonic_us());
    show_counts(t);
    return NULL;
}

enum status lab_thread_start(const struct lab_thread_params *params, struct lab_thread **out)
{
    struct lab_thread *t = calloc(1, sizeof *t);
    char *scratch = malloc(MESSAGE_PAYLOAD_MAX + 1);
    if (!t || !scratch) {
        free(t);
        free(scratch);
        return STATUS_E_NOMEM;
    }
    t->params = *params;
    t->scratch = scratch;
    t->effects = outbox_effects(params->outbox);
    lab_codecs(params->lab, &t->codecs);
    t->started_us = lab_clock_monotonic_us();
    t->saved_us = t->started_us;
    t->counts.restore_us = -1;
    t->shown = t->counts;
    lock_init(&t->lock);
    if (pthread_create(&t->thread, NULL, run_lab_thread, t) != 0) {
        (void)pthread_mutex_destroy(&t->lock);
        free(scratch);
        free(t);
        return STATUS_E_IO;
    }
    *out = t;
    return STATUS_OK;
}

void lab_thread_join(struct lab_thread *t)
{
    atomic_store(&t->stop, true);
    const uint64_t one = 1;
    const ssize_t written = write(t->params.wake_fd, &one, sizeof one);
    (void)written;
    (void)pthread_join(t->thread, NULL);
}

void lab_thread_destroy(struct lab_thread *t)
{
    if (t) {
        (void)pthread_mutex_destroy(&t->lock);
        free(t->scratch);
        free(t);
    }
}

void lab_thread_read_counts(struct lab_thread *t, struct lab_thread_counts *out)
{
    (void)pthread_mutex_lock(&t->lock);
    *out = t->shown;
    (void)pthread_mutex_unlock(&t->lock);
}
