/* service/daemon/lab_thread.c - the thread that owns the lab: reads the journal back after a
 * start, then runs lab_step() for each message and each deadline. */
#include <stdlib.h>

#include "logger/storage/lock.h"
#include "service/daemon/daemon_parts.h"
#include "service/daemon/priority.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "web/http/rays.h"

enum {
    POLL_US = 5000, /* telemetry is processed at least this often, */
    /* and this long before a deadline, so that a sample need not wait for it */
    AHEAD_US = 300,
    SLICE_US = 500,          /* longest stretch of snapshot or checkpoint work */
    VIEW_US = 50000,         /* shortest interval of snapshots */
    HEALTH_US = 200000,      /* longest interval of snapshots; */
    VIEW_SHARE = 20,         /* in a big lab they use at most 1/VIEW_SHARE of the time, */
    VIEW_MAX_US = 2000000,   /* unless they would get older than this */
    FORGOTTEN_US = 60000000, /* interval of warnings about forgotten messages */
    SYNC_AGAIN_US = 100000,  /* retry delay after a failed sync */
    CATCH_UP_US = 250000,    /* longest wait of a reader for its lines */
    FROZEN_US = 1000000,     /* an oversleep of this length means that the process was frozen */
    LINES_BETWEEN_CHORES = 512,
    /* Lines are counted over this time, so that lines held up for some milliseconds do not look
     * like a flood. */
    COUNT_US = 100000,
    MANY_HZ = 10000, /* above this rate lines are processed in groups, */
    REST_US = 500    /* one group in this time */
};

static int64_t min_us(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void raise_max(int64_t *max, int64_t value)
{
    *max = value > *max ? value : *max;
}

static void step_lab(struct daemon *d, const struct event *event)
{
    const struct effects effects = {.emit = effect_executor_emit, .context = d};
    lab_step(d->lab, event, &effects);
}

/* Steps the end of a fit, with the worker's result if it ran here. */
static void step_fit(struct daemon *d, const struct event *event)
{
    const long pair = lab_find(d->lab, event->pair);
    struct event with = *event;
    struct dynamics_result *result = NULL;
    if (pair >= 0) {
        result = fits_pop(d->fits, (uint32_t)pair, event->side, event->fit.job);
        with.fit.result = result;
    }
    step_lab(d, &with);
    free(result);
}

/* Shows the ray of a lidar, if the reply is one. A ray decides nothing. */
static void show_ray(const struct daemon *d, const struct event *event)
{
    const long pair = event->reply.value_count > 1 ? lab_find(d->lab, event->pair) : -1;
    if (pair >= 0 && event->side < SIDE_COUNT) {
        rays_add(d->rays, (size_t)pair, event,
                 &lab_pair(d->lab, (size_t)pair)->side[event->side]);
    }
}

static void step_event(void *context, const struct event *event)
{
    struct daemon *d = context;
    d->thread.counts.events++;
    if (event->kind == EVENT_MALFORMED) {
        d->thread.counts.malformed++;
        log_write(LOG_MALFORMED, event->pair, "%s: %s", event->malformed.what,
                  event->malformed.detail);
    }
    if (event->kind == EVENT_START && d->events && !lab_stopped(d->lab)) {
        event_hub_pass(d->events, event->start.stream_number);
    }
    if (event->kind == EVENT_FIT) {
        step_fit(d, event);
    } else {
        step_lab(d, event);
    }
    if (event->kind == EVENT_REPLY && d->rays) {
        show_ray(d, event);
    }
}

/* Raises or lowers the priority. It is raised so that replies are decided, and slices of
 * snapshots end, before other threads run. Labs that follow need it always, because efforts are
 * due a hundred times a second. Other labs lower it under heavy load, so that the receiving
 * thread need not wait. */
static void set_priority(struct lab_thread *t)
{
    const bool wanted = t->follows || !t->many;
    if (t->live && wanted != t->raised) {
        t->raised = wanted;
        if (!wanted) {
            priority_lower();
        } else if (!priority_raise() && t->follows) {
            log_write(LOG_NOT_REAL_TIME, NULL, "CAP_SYS_NICE or RLIMIT_RTPRIO is needed");
        }
    }
}

/* After a power cut from here on, the journal must have the start of this run: record numbers
 * continue from there. Nobody waits for this thread at a start, so it waits for the sync. */
static void await_sync(struct daemon *d)
{
    while (journal_sync(d->journal, LAB_TIME_MAX) != STATUS_OK &&
           !atomic_load(&d->thread.stop)) {
        maintenance_beat(d);
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + SYNC_AGAIN_US);
    }
}

/* Versions in the lab file are known to nobody who has only the journal. */
static void record_versions(const struct daemon *d)
{
    for (size_t i = 0; i < d->params.pair_count; i++) {
        const struct pair_params *p = &d->params.pairs[i];
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            char payload[512];
            if (!pair_version_is_recorded(lab_pair(d->lab, i), p, s)) {
                inbox_record(d->inbox, "version", payload,
                             JSON_FORMAT(payload, sizeof payload, JSON("pair", p->id),
                                         JSON("side", side_name(s)),
                                         JSON("version", p->version[s])));
            }
        }
    }
}

static void go_live(struct daemon *d)
{
    d->thread.live = true;
    d->thread.counts.restore_us = lab_clock_monotonic_us() - d->thread.started_us;
    (void)pthread_mutex_lock(&d->lock);
    d->maintenance.health.restored = true;
    (void)pthread_mutex_unlock(&d->lock);
    standby_go_live(d);
    effect_executor_go_live(d);
    record_versions(d);
    if (!standby_is_shared(d)) { /* else it followed, for any time */
        log_write(LOG_RESTORED, NULL, "%llu lines of the journal in %.3f s",
                  (unsigned long long)d->thread.counts.restored,
                  lab_s(d->thread.counts.restore_us));
    }
    set_priority(&d->thread);
}

/* A replay knows that the lab was here, so a line without an event fires deadlines, too. */
static void step_time(struct daemon *d, int64_t t_us)
{
    const struct event tick = {.t_us = t_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
    step_lab(d, &tick);
}

static void process_line(struct daemon *d, const struct inbox_line *line)
{
    struct lab_thread *t = &d->thread;
    struct message message;
    struct err err = {0};
    const bool starts = !t->live && !line->restored;
    const uint64_t events = t->counts.events;
    if (starts) {
        await_sync(d);
    }
    t->no_line = line->unwritten;
    t->counts.lines++;
    t->counts.restored += line->restored;
    const bool plain = codec_read_plain(&d->gateway.codecs, d->file->broker.prefix, line->text,
                                        line->bytes, step_event, d);
    const enum status status =
        plain ? STATUS_OK : message_parse(line->text, line->bytes, t->scratch, &message, &err);
    if (plain) {
        t->dirty = t->unsaved = true;
    } else if (status == STATUS_OK) {
        t->counts.other += codec_decode(&d->gateway.codecs, d->file->broker.prefix, &message,
                                        step_event, d) == 0;
        if (t->counts.events == events) {
            step_time(d, message.t_us);
        }
        t->dirty = true;
        t->unsaved = true;
    } else if (status != STATUS_E_EMPTY) {
        t->counts.skipped++;
        log_write(LOG_LINE_SKIPPED, NULL, "column %u: %s", err.column, err.text);
    }
    if (line->restored) {
        standby_note_restored(d);
    }
    /* The first line of this run is its start. Deadlines between the journal's last line and
     * the start fire with it, because the previous run may have carried them out already. */
    if (starts) {
        go_live(d);
    }
}

/* Only the lab thread changes `shown`, so it may read that without the lock. */
static bool is_awaited(const struct lab_thread *t)
{
    return atomic_load(&t->asked) > t->shown_lines;
}

/* Returns the interval of snapshots. While the journal is read back, few readers want to see
 * the progress.
 */
static int64_t view_pause_us(const struct lab_thread *t)
{
    const int64_t pause_us = is_awaited(t) ? 0 : t->dirty && t->live ? VIEW_US : HEALTH_US;
    return pause_us > t->view_wait_us ? pause_us : t->view_wait_us;
}

static void begin_view(struct daemon *d)
{
    struct lab_thread *t = &d->thread;
    t->viewing = true;
    t->view_lines = t->reached;
    t->view_worked_ns = 0;
    t->dirty = false;
    if (t->live) {
        result_publisher_begin_snapshot(d);
    }
}

/* The newest snapshot has everything that was there when it began. */
static void end_view(struct daemon *d)
{
    struct lab_thread *t = &d->thread;
    t->viewing = false;
    (void)pthread_mutex_lock(&d->lock);
    t->shown_lines = t->view_lines;
    t->late = t->late && is_awaited(t);
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&d->lock);
    if (t->live) {
        result_publisher_end_snapshot(d);
    }
    t->viewed_us = lab_clock_monotonic_us();
    t->view_wait_us = min_us(VIEW_SHARE * t->view_worked_ns / 1000, VIEW_MAX_US);
}

/* Makes a slice of a snapshot. */
static void publish_view(struct daemon *d, int64_t slice_us)
{
    const int64_t began_ns = lab_clock_thread_ns();
    struct lab_thread *t = &d->thread;
    if (!t->viewing) {
        begin_view(d);
    }
    (void)pthread_mutex_lock(&d->lock);
    struct view_health health = d->maintenance.health;
    t->shown = t->counts;
    t->shown_effect_counts = d->effect_executor.counts;
    (void)pthread_mutex_unlock(&d->lock);
    maintenance_check_synced(d, &health);
    const bool done =
        snapshots_publish_slice(d->snapshots, inbox_now_us(d->inbox), &health, slice_us);
    t->view_worked_ns += lab_clock_thread_ns() - began_ns;
    if (done) {
        end_view(d);
    }
}

static void report_forgotten(struct daemon *d, int64_t mono_us)
{
    struct lab_thread *t = &d->thread;
    const uint64_t forgotten = lab_counts(d->lab)->forgotten_early;
    if (forgotten > t->forgotten &&
        (t->forgotten == 0 || mono_us - t->forgotten_us > FORGOTTEN_US)) {
        log_write(LOG_FORGOTTEN_EARLY, NULL,
                  "%llu in all; broker.remember_messages is %u, too few for %.0f s",
                  (unsigned long long)forgotten, d->params.remember_max,
                  lab_s(d->params.remember_us));
        t->forgotten = forgotten;
        t->forgotten_us = mono_us;
    }
}

static bool is_checkpoint_due(const struct daemon *d, int64_t mono_us)
{
    const struct lab_thread *t = &d->thread;
    return (t->live || atomic_load(&d->standby.settled)) &&
           ((t->unsaved && mono_us - t->saved_us >= d->file->checkpoint.interval_us) ||
            atomic_load_explicit(&d->maintenance.save_now, memory_order_relaxed));
}

static bool begin_checkpoint(struct daemon *d, int64_t mono_us)
{
    struct lab_thread *t = &d->thread;
    if (!checkpoint_writer_begin(d)) {
        return false;
    }
    atomic_store(&d->maintenance.save_now, false);
    t->saved_us = mono_us;
    t->unsaved = false;
    return true;
}

/* Slices of a checkpoint and of a snapshot alternate. */
static void do_slice(struct daemon *d, int64_t mono_us)
{
    struct lab_thread *t = &d->thread;
    const bool snapshots = t->viewing || mono_us - t->viewed_us >= view_pause_us(t);
    const bool copies = checkpoint_writer_is_copying(d);
    const bool due = is_checkpoint_due(d, mono_us);
    if (!snapshots && !copies && !due) {
        return;
    }
    const int64_t began_ns = lab_clock_thread_ns();
    t->saves = copies && (!snapshots || !t->saves);
    if (due && begin_checkpoint(d, mono_us)) {
        t->saves = false;
    } else if (t->saves) {
        (void)checkpoint_writer_copy_slice(d, SLICE_US);
    } else if (snapshots) {
        publish_view(d, SLICE_US);
    }
    raise_max(&t->counts.chores_cpu_us_max, (lab_clock_thread_ns() - began_ns) / 1000);
}

/* Does slow work at the end of a round, and now and then within a long one. Nothing is decided
 * meanwhile. */
static void do_chores(struct daemon *d)
{
    struct lab_thread *t = &d->thread;
    maintenance_beat(d);
    const int64_t mono_us = lab_clock_monotonic_us();
    do_slice(d, mono_us);
    report_forgotten(d, mono_us);
    if (t->live) {
        backfill_mark(d);
        effect_executor_publish_alarms(d);
    }
    raise_max(&t->counts.chores_us_max, lab_clock_monotonic_us() - mono_us);
}

/* Waking this thread for each of thousands of lines a second would cost more than processing
 * them. */
static void count_lines(struct daemon *d, unsigned lines)
{
    struct lab_thread *t = &d->thread;
    const int64_t mono_us = lab_clock_monotonic_us();
    t->lines += lines;
    if (mono_us - t->counted_us >= COUNT_US) {
        t->many = (int64_t)t->lines * 1000000 > (mono_us - t->counted_us) * MANY_HZ;
        t->counted_us = mono_us;
        t->lines = 0;
        set_priority(t);
    }
}

static void drain_inbox(struct daemon *d)
{
    struct inbox_line line;
    struct err err = {0};
    unsigned lines = 0;
    enum inbox_next next = INBOX_NONE;
    const bool live = d->thread.live;
    const int64_t began_ns = lab_clock_thread_ns();
    while ((next = inbox_next(d->inbox, &line, &err)) != INBOX_NONE) {
        if (next == INBOX_FAULT) {
            d->thread.counts.faults++;
            log_write(LOG_JOURNAL_FAULT, NULL, "%s: %s", err.where, err.text);
            err = (struct err){0};
            continue;
        }
        process_line(d, &line);
        if (++lines % LINES_BETWEEN_CHORES == 0) {
            do_chores(d);
        }
    }
    d->thread.sampled = lines > 0;
    count_lines(d, lines);
    if (live && lines > 0) {
        inbox_report_cost(d->inbox, lines, lab_clock_thread_ns() - began_ns);
    }
}

static void count_round(struct daemon *d, int64_t duration_us)
{
    unsigned class = 0;
    for (int64_t limit_us = 100; class < LAB_THREAD_DURATIONS - 1 && duration_us > limit_us;
         limit_us *= 10) {
        class ++;
    }
    d->thread.counts.durations[class]++;
    raise_max(&d->thread.counts.duration_us_max, duration_us);
}

/* The lab stands at the last durable line, so a deadline fires with a line of a later time: one
 * that is on its way, or one that is written for it. */
static void fire_by_line(struct daemon *d, int64_t now_us)
{
    const int64_t deadline_us = lab_next_deadline(d->lab);
    if (d->thread.live && deadline_us < now_us) {
        inbox_write_time(d->inbox, deadline_us);
    }
}

static void run_round(struct daemon *d)
{
    const int64_t began_us = lab_clock_monotonic_us();
    const int64_t now_us = inbox_begin(d->inbox);
    drain_inbox(d);
    d->thread.reached = inbox_reached(d->inbox);
    if (standby_is_shared(d)) {
        fire_by_line(d, now_us);
    } else if (d->thread.live && lab_next_deadline(d->lab) < now_us &&
               inbox_reach(d->inbox, now_us)) {
        d->thread.counts.deadline_steps++;
        d->thread.dirty = true;
        d->thread.unsaved = true;
        d->thread.no_line = true;
        step_time(d, now_us);
    }
    do_chores(d);
    count_round(d, lab_clock_monotonic_us() - began_us);
}

static enum inbox_pause choose_pause(const struct lab_thread *t)
{
    return !t->sampled ? INBOX_SLEEPS : t->many ? INBOX_RESTS : INBOX_POLLS;
}

/* Does the deadline wait for a line, which wakes this thread? */
static bool is_line_awaited(const struct daemon *d, int64_t deadline_us)
{
    return standby_is_shared(d) && (!d->thread.live || inbox_has_time(d->inbox, deadline_us));
}

/* Returns when work is due even if nothing arrives, on the monotonic clock. */
static int64_t next_work_us(const struct daemon *d)
{
    const struct lab_thread *t = &d->thread;
    const int64_t mono_us = lab_clock_monotonic_us();
    int64_t wait_us = t->sampled ? POLL_US : HEALTH_US;
    if (choose_pause(t) == INBOX_RESTS) {
        wait_us = REST_US;
    }
    if (t->viewing || checkpoint_writer_is_copying(d)) {
        wait_us = is_awaited(t) ? 0 : SLICE_US; /* the lab gets half of the time */
    } else if (t->dirty || is_awaited(t)) {
        wait_us = min_us(wait_us, t->viewed_us + view_pause_us(t) - mono_us);
    }
    const int64_t deadline_us = lab_next_deadline(d->lab);
    if (deadline_us != LAB_TIME_MAX && !is_line_awaited(d, deadline_us)) {
        /* Deadlines fire when the present is past them. */
        const int64_t left_us = deadline_us + 1 - inbox_now_us(d->inbox);
        const bool early = t->sampled && left_us > 2 * AHEAD_US;
        wait_us = min_us(wait_us, early ? left_us - AHEAD_US : left_us);
    }
    return mono_us + wait_us;
}

/* Returns whether no work is there. A process that was stopped, or whose machine slept, wakes
 * up late; that is recorded before the missed deadlines fire. */
static bool sleep_round(struct daemon *d, bool last)
{
    const int64_t until_us = last ? 0 : next_work_us(d);
    const int64_t planned_us = until_us - lab_clock_monotonic_us();
    const int64_t began_us = lab_clock_now_us();
    const bool idle = inbox_sleep(d->inbox, choose_pause(&d->thread), until_us);
    const int64_t slept_us = lab_clock_now_us() - began_us;
    if (d->thread.live && !last && slept_us > FROZEN_US && slept_us - planned_us > FROZEN_US) {
        gateway_record_frozen(d, slept_us);
    }
    return idle;
}

/* The own journal is processed; a follower is up to date with what it has read. */
static void end_restoring(struct daemon *d)
{
    if (!atomic_exchange(&d->standby.settled, true)) {
        (void)pthread_mutex_lock(&d->lock);
        d->maintenance.health.restored = true;
        (void)pthread_mutex_unlock(&d->lock);
    }
}

static void *run_lab_thread(void *context)
{
    struct daemon *d = context;
    (void)pthread_setname_np(pthread_self(), "tandem-lab");
    for (bool last = false, idle = false; !(last && idle);) {
        /* Read before the round, so that everything put into the inbox before stop is in it. */
        last = atomic_load(&d->thread.stop);
        run_round(d);
        idle = sleep_round(d, last);
        if (idle && standby_is_shared(d)) {
            end_restoring(d);
        }
    }
    do {
        publish_view(d, INT64_MAX); /* one that was begun, and then the last one */
    } while (d->thread.shown_lines < d->thread.reached || d->thread.dirty);
    return NULL;
}

void lab_thread_catch_up(struct daemon *d)
{
    struct lab_thread *t = &d->thread;
    const int64_t until_us = lab_clock_monotonic_us() + CATCH_UP_US;
    const uint64_t added = inbox_added_count(d->inbox);
    (void)pthread_mutex_lock(&d->lock);
    if (t->shown_lines < added && !t->late && d->maintenance.health.restored) {
        uint64_t asked = atomic_load(&t->asked);
        while (asked < added && !atomic_compare_exchange_weak(&t->asked, &asked, added)) {
        }
        inbox_wake(d->inbox);
        while (t->shown_lines < added && lab_clock_monotonic_us() < until_us) {
            lock_wait(&t->changed, &d->lock, until_us);
        }
        t->late = t->shown_lines < added;
    }
    (void)pthread_mutex_unlock(&d->lock);
}

enum status lab_thread_start(struct daemon *d)
{
    struct lab_thread *t = &d->thread;
    t->scratch = malloc(MESSAGE_PAYLOAD_MAX + 1);
    if (!t->scratch) {
        return STATUS_E_NOMEM;
    }
    t->started_us = lab_clock_monotonic_us();
    t->saved_us = t->started_us;
    t->counts.restore_us = -1;
    t->shown = t->counts;
    t->runs = pthread_create(&t->thread, NULL, run_lab_thread, d) == 0;
    return t->runs ? STATUS_OK : STATUS_E_IO;
}

void lab_thread_stop(struct daemon *d)
{
    atomic_store(&d->thread.stop, true);
    inbox_wake(d->inbox);
    (void)pthread_join(d->thread.thread, NULL);
}
