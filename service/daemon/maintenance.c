/* service/daemon/maintenance.c - the thread for slow work: it syncs the journal, writes
 * checkpoints, fits calibrations and watches health. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <systemd/sd-daemon.h>

#include "base/text/text.h"
#include "logger/message/json_write.h"
#include "logger/storage/file_place.h"
#include "logger/storage/lock.h"
#include "service/daemon/daemon_parts.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "twin/report/team_live_report.h"

enum {
    ROUND_MS = 100,
    RESULTS_MS = 10,
    NICE = 5,
    GAP_US = 200000,
    SPACE_US = 1000000,
    STEP_US = 100000,    /* smaller steps are the kernel's slewing, or noise */
    CLOCK_US = 60000000, /* shortest interval of its warnings */
    UNSYNCED_US = 5000000
};

const char *const maintenance_disks[MAINTENANCE_DISKS] = {"journal", "store", "checkpoint"};

/* ---- health ---- */

static void set_health(struct daemon *d, bool *flag, char text[160], bool fine,
                       const char *reason)
{
    (void)pthread_mutex_lock(&d->lock);
    *flag = fine;
    (void)snprintf(text, 160, "%.159s", reason);
    (void)pthread_mutex_unlock(&d->lock);
}

/* Records in the journal how many of its lines are missing. This also tests whether it can be
 * written again although nothing arrives. */
static void record_gap(struct daemon *d)
{
    char payload[64];
    struct inbox_counts c;
    inbox_read_counts(d->inbox, &c);
    const int bytes = snprintf(
        payload, sizeof payload, "{\"missing\":%llu}",
        (unsigned long long)(c.not_journalled + c.samples_dropped + c.samples_thinned));
    const enum status status = inbox_offer(d->inbox, "gap", payload, (size_t)bytes);
    (void)status; /* a failure shows in journal_stats() */
}

/* The journal itself replaces removed files. A checkpoint may refer to a removed place, so the
 * lab's state is saved at once. */
static void report_removed_journal(struct daemon *d, const struct journal_stats *s)
{
    const struct journal_stats *seen = &d->maintenance.journal_seen;
    if (s->vanished != seen->vanished) {
        log_write(
            LOG_JOURNAL_REMOVED, NULL,
            "%s: the directory, or the file being written, was removed; a new file is begun",
            d->file->journal.dir);
        lab_alarm_raise(
            d, ALARM_JOURNAL_REMOVED,
            "the journal was removed under the running daemon: a new file is begun");
        atomic_store(&d->maintenance.save_now, true);
    }
    if (s->rewritten != seen->rewritten) {
        log_write(LOG_JOURNAL_REWRITTEN, NULL,
                  "what the file that was removed held is written again, under its name");
    }
    d->maintenance.journal_seen = *s;
}

int64_t maintenance_unsynced_us(struct daemon *d)
{
    struct journal_stats s;
    journal_stats(d->journal, &s);
    const int64_t age_us =
        s.unsynced_us == LAB_TIME_NONE ? 0 : inbox_now_us(d->inbox) - s.unsynced_us;
    return age_us > 0 ? age_us : 0;
}

void maintenance_check_synced(struct daemon *d, struct view_health *health)
{
    const int64_t age_us = maintenance_unsynced_us(d);
    const bool late = age_us > d->file->journal.fsync_us + UNSYNCED_US;
    if (late) {
        health->journal = false;
        (void)snprintf(health->journal_text, sizeof health->journal_text,
                       "not synced for %.0f s: a power cut would lose as much", lab_s(age_us));
    }
    if (late && !d->thread.unsynced) {
        log_write(LOG_JOURNAL_UNSYNCED, NULL, "for %.1f s; journal.fsync_s is %g",
                  lab_s(age_us), lab_s(d->file->journal.fsync_us));
        lab_alarm_raise(d, ALARM_JOURNAL_DOWN, "the journal %s", health->journal_text);
    }
    d->thread.unsynced = late;
}

static void watch_journal(struct daemon *d)
{
    struct journal_stats s;
    /* A failure shows in journal_stats(). */
    const enum status watched = journal_watch(d->journal);
    (void)watched;
    journal_stats(d->journal, &s);
    report_removed_journal(d, &s);
    const bool down = s.failing || s.sync_failing;
    set_health(d, &d->maintenance.health.journal, d->maintenance.health.journal_text, !down,
               down ? s.error : d->maintenance.space_text);
    if (down && !d->maintenance.journal_down) {
        log_write(LOG_JOURNAL_DOWN, NULL, "%s", s.error);
        lab_alarm_raise(d, ALARM_JOURNAL_DOWN, "%s", s.error);
    } else if (!down && d->maintenance.journal_down) {
        struct inbox_counts c;
        inbox_read_counts(d->inbox, &c);
        log_write(
            LOG_JOURNAL_UP, NULL,
            "%llu messages were not acknowledged meanwhile, the broker has them; %llu lines "
            "are missing for good so far",
            (unsigned long long)c.refused,
            (unsigned long long)(c.not_journalled + c.samples_dropped));
    }
    if (!down) {
        if (gateway_client(d)) {
            mqtt_client_resume(gateway_client(d));
        }
    }
    d->maintenance.journal_down = down;
    const int64_t mono_us = lab_clock_monotonic_us();
    /* The partition's thread tries again by itself, and this one must not wait for it. */
    if (s.failing && !standby_is_shared(d) && mono_us - d->maintenance.gap_us >= GAP_US) {
        d->maintenance.gap_us = mono_us;
        record_gap(d);
    }
}

/* Warns before the space is used up. Until then the daemon works and is ready. */
static void watch_space(struct daemon *d)
{
    struct maintenance *k = &d->maintenance;
    const int64_t mono_us = lab_clock_monotonic_us();
    const double min_bytes = d->file->journal.min_free_mb * 1e6;
    char journal[LAB_PATH_MAX + 2];
    (void)snprintf(journal, sizeof journal, "%s/.", d->file->journal.dir);
    const char *const paths[MAINTENANCE_DISKS] = {journal, d->file->store.file,
                                                  d->file->checkpoint.file};
    const char *least = NULL;
    uint64_t free_bytes = UINT64_MAX;
    if (mono_us < k->space_us) {
        return;
    }
    k->space_us = mono_us + SPACE_US;
    for (size_t i = 0; i < MAINTENANCE_DISKS; i++) {
        uint64_t bytes = 0;
        if (file_place_free_bytes(paths[i], &bytes)) {
            atomic_store(&k->free_bytes[i], bytes);
            least = bytes < free_bytes ? maintenance_disks[i] : least;
            free_bytes = bytes < free_bytes ? bytes : free_bytes;
        }
    }
    /* The end of the warning needs a little more space than its start, so that it does not
     * flicker. */
    const bool low = least && (double)free_bytes < (k->space_text[0] ? 1.1 : 1.0) * min_bytes;
    if (low) {
        const bool was_low = k->space_text[0] != '\0';
        (void)snprintf(
            k->space_text, sizeof k->space_text,
            "little space is left: %.0f MB where the %s is, journal.min_free_mb is %u",
            (double)free_bytes / 1e6, least, d->file->journal.min_free_mb);
        if (!was_low) {
            log_write(LOG_SPACE_LOW, NULL, "%s", k->space_text);
            lab_alarm_raise(d, ALARM_SPACE_LOW, "%s", k->space_text);
        }
    } else if (k->space_text[0]) {
        k->space_text[0] = '\0';
        log_write(LOG_SPACE_BACK, NULL, "%.0f MB at least", (double)free_bytes / 1e6);
    }
}

/* Lab time ignores steps of the wall clock until the next start (docs/operations.md). So users
 * are warned, at once and then once a minute at most. */
static void watch_clock(struct daemon *d)
{
    struct maintenance *k = &d->maintenance;
    const int64_t mono_us = lab_clock_monotonic_us();
    int64_t stepped_us = 0;
    int64_t slept_us = 0;
    if (!lab_clock_compare(&stepped_us, &slept_us)) {
        return;
    }
    const int64_t ahead_us = lab_clock_now_us() + stepped_us - inbox_now_us(d->inbox);
    const int64_t step_us = stepped_us - k->stepped_us;
    const int64_t sleep_us = slept_us - k->slept_us;
    atomic_store(&k->wall_ahead_us, ahead_us);
    if (mono_us < k->clock_us) {
        return;
    }
    if (sleep_us >= STEP_US) {
        log_write(LOG_SUSPENDED, NULL, "for %.3f s", lab_s(sleep_us));
        lab_alarm_raise(d, ALARM_MACHINE_SUSPENDED, "the machine was suspended for %.3f s",
                        lab_s(sleep_us));
        k->slept_us = slept_us;
        k->clock_us = mono_us + CLOCK_US;
    }
    if (llabs(step_us) >= STEP_US) {
        log_write(LOG_CLOCK_STEPPED, NULL, "by %+.3f s; it is %+.3f s from lab time",
                  lab_s(step_us), lab_s(ahead_us));
        lab_alarm_raise(
            d, ALARM_CLOCK_STEPPED,
            "the machine's wall clock was set by %+.3f s; it is %+.3f s from lab time "
            "until the next start",
            lab_s(step_us), lab_s(ahead_us));
        k->stepped_us = stepped_us;
        k->clock_us = mono_us + CLOCK_US;
    }
}

/* Describes what is wrong with the store; "" when nothing is. */
static void describe_store(struct daemon *d, const struct store_queue_stats *s, char text[160])
{
    text[0] = '\0';
    if (s->failing) {
        (void)snprintf(text, 160, "%.159s", s->last_error.text);
    } else if (s->behind) {
        (void)snprintf(text, 160, "lacks records (%.80s); the journal makes them up: %u %%",
                       s->lack.text, atomic_load(&d->backfill.percent));
    }
}

static void report_store(struct daemon *d, const struct store_queue_stats *s)
{
    const struct store_queue_stats *seen = &d->maintenance.store_seen;
    if (s->reopened != seen->reopened && !d->engine) {
        log_write(LOG_STORE_REMOVED, NULL, "%s was removed or replaced: opened again",
                  d->store_name);
        lab_alarm_raise(d, ALARM_STORE_REMOVED,
                        "the store was removed or replaced under the running daemon");
    }
    if (s->behind && s->lacks != seen->lacks) {
        log_write(LOG_STORE_LACKS, NULL,
                  "%s: %s; missing records are made again from the journal", d->store_name,
                  s->lack.text);
        lab_alarm_raise(d, ALARM_STORE_LACKS, "the store lacks records: %s", s->lack.text);
    }
    if (s->upkeep_failures != seen->upkeep_failures) {
        log_write(LOG_STORE_UPKEEP, NULL, "%s: %s; %llu times so far", s->upkeep_error.where,
                  s->upkeep_error.text, (unsigned long long)s->upkeep_failures);
    }
    if (s->failing && !seen->failing) {
        log_write(LOG_STORE_DOWN, NULL, "%s: %s", s->last_error.where, s->last_error.text);
        lab_alarm_raise(d, ALARM_STORE_DOWN, "the store cannot be written: %s",
                        s->last_error.text);
    } else if (!s->failing && seen->failing) {
        log_write(LOG_STORE_UP, NULL, "%llu records committed so far",
                  (unsigned long long)s->committed);
    }
}

/* Reports rows that the database does not hold as they were made. */
static void report_left_out(struct daemon *d, const struct store_queue_stats *s)
{
    const struct store_queue_stats *seen = &d->maintenance.store_seen;
    if (s->differing != seen->differing) {
        log_write(LOG_STORE_DIFFERS, NULL, "%llu records so far",
                  (unsigned long long)s->differing);
        lab_alarm_raise(d, ALARM_STORE_DIFFERS,
                        "the store has %llu records with another content; they stay",
                        (unsigned long long)s->differing);
    }
    if (s->refused != seen->refused) {
        log_write(LOG_STORE_REFUSES, NULL, "%llu records so far: %s",
                  (unsigned long long)s->refused, s->refusal.text);
        lab_alarm_raise(d, ALARM_STORE_REFUSES, "a record was left out of the store: %s",
                        s->refusal.text);
    }
}

/* Reports what is wrong with the daemon's place in the database, at once and then once a
 * minute. The store of an idle lab writes nothing, so it cannot notice that the database is
 * gone: then the registration that failed counts as its failure. */
static void watch_engine(struct daemon *d, struct store_queue_stats *s)
{
    struct err err = {0};
    const int64_t mono_us = lab_clock_monotonic_us();
    if (d->engine) {
        engine_session_pause(d->engine,
                             s->failing && s->last_error.fault == FAULT_STORE_REPLACED);
    }
    if (!d->engine || !engine_session_read_fault(d->engine, &err)) {
        d->maintenance.engine_us = 0;
        return;
    }
    if (mono_us >= d->maintenance.engine_us) {
        log_write(LOG_ENGINE, NULL, "%s: %s", err.where, err.text);
        d->maintenance.engine_us = mono_us + CLOCK_US;
    }
    if (err.code == STATUS_E_IO && !s->failing) {
        s->failing = true;
        s->last_error = err;
    }
}

static void watch_store(struct daemon *d)
{
    struct store_queue_stats s;
    char text[160];
    store_queue_look(d->queue);
    store_queue_stats(d->queue, &s);
    watch_engine(d, &s);
    describe_store(d, &s, text);
    set_health(d, &d->maintenance.health.store, d->maintenance.health.store_text,
               text[0] == '\0', text);
    report_store(d, &s);
    report_left_out(d, &s);
    backfill_update(d, &s);
    d->maintenance.store_seen = s;
}

/* Checks one connection. *text: why it is down. *news: a change to report. */
static bool watch_link(struct mqtt_client *client, struct maintenance_link *link, bool leaves,
                       struct mqtt_client_state *s, bool *link_changed)
{
    mqtt_client_read_state(client, s);
    const bool up = s->connected && s->subscribed;
    *link_changed =
        up ? !link->up : !leaves && (link->up || (!link->reported && s->error[0] != '\0'));
    if (!up && !s->error[0]) {
        (void)snprintf(s->error, sizeof s->error, "not connected yet");
    }
    link->reported = link->reported || (*link_changed && !up);
    link->up = up;
    return up;
}

static bool watch_telemetry(struct daemon *d, bool leaves, char reason[160])
{
    struct mqtt_client_state s;
    bool link_changed = false;
    const bool up =
        !d->gateway.telemetry ||
        watch_link(d->gateway.telemetry, &d->maintenance.telemetry, leaves, &s, &link_changed);
    if (link_changed && up) {
        log_write(LOG_TELEMETRY_UP, NULL, "subscribed, connection %llu",
                  (unsigned long long)s.connections);
    } else if (link_changed) {
        log_write(LOG_TELEMETRY_DOWN, NULL, "%s", s.error);
    }
    if (!up) {
        (void)snprintf(reason, 160, "telemetry: %.140s", s.error);
    }
    return up;
}

static void watch_broker(struct daemon *d)
{
    struct mqtt_client_state s;
    char reason[160] = "";
    bool link_changed = false;
    (void)pthread_mutex_lock(&d->lock);
    const bool leaves = d->maintenance.leaves_broker;
    (void)pthread_mutex_unlock(&d->lock);
    const bool in_place = standby_describe(d, reason);
    if (!gateway_client(d)) { /* the owner is connected */
        set_health(d, &d->maintenance.health.broker, d->maintenance.health.broker_text,
                   in_place && standby_is_shared(d), reason);
        return;
    }
    const bool all = watch_telemetry(d, leaves, reason) && in_place;
    const bool up =
        watch_link(gateway_client(d), &d->maintenance.main, leaves, &s, &link_changed);
    set_health(d, &d->maintenance.health.broker, d->maintenance.health.broker_text, up && all,
               up ? reason : s.error);
    if (link_changed && up) {
        log_write(LOG_BROKER_UP, NULL, "subscribed, connection %llu, %s",
                  (unsigned long long)s.connections,
                  s.resumed ? "the previous session" : "a new session");
    } else if (link_changed) {
        log_write(LOG_BROKER_DOWN, NULL, "%s", s.error);
    }
}

/* Records it in the journal, too, because the missing telemetry would be there: the line marks
 * the gap. */
static void report_thinned(struct daemon *d, const struct inbox_counts *now)
{
    if (now->samples_thinned == d->maintenance.seen.samples_thinned) {
        return;
    }
    log_write(LOG_SAMPLES_THINNED, NULL, "%llu so far",
              (unsigned long long)now->samples_thinned);
    if (d->file->journal.record == JOURNAL_ALL) {
        record_gap(d);
    }
}

static void watch_inbox(struct daemon *d)
{
    struct inbox_counts now;
    inbox_read_counts(d->inbox, &now);
    if (now.overflows != d->maintenance.seen.overflows) {
        log_write(LOG_OVERFLOW, NULL, "%llu times so far", (unsigned long long)now.overflows);
    }
    if (now.lost != d->maintenance.seen.lost) {
        log_write(LOG_LOST, NULL, "%llu messages so far", (unsigned long long)now.lost);
    }
    if (now.samples_dropped != d->maintenance.seen.samples_dropped) {
        log_write(LOG_SAMPLES_DROPPED, NULL, "%llu so far",
                  (unsigned long long)now.samples_dropped);
    }
    report_thinned(d, &now);
    d->maintenance.seen = now;
}

/* ---- messages to the supervisor ------------------------------------------------------ */

static void append_part(char text[MAINTENANCE_STATUS_MAX], const char *part, bool fine,
                        const char *reason)
{
    if (!fine) {
        text_append(text, MAINTENANCE_STATUS_MAX, "%s%s: %s", text[0] ? "; " : "", part,
                    reason);
    }
}

static void report_status(struct daemon *d)
{
    char text[MAINTENANCE_STATUS_MAX] = "";
    (void)pthread_mutex_lock(&d->lock);
    const bool leaves = d->maintenance.leaves_broker;
    append_part(text, "lab", d->maintenance.health.restored, "reading the journal");
    append_part(text, "broker", d->maintenance.health.broker,
                d->maintenance.health.broker_text);
    append_part(text, "journal", d->maintenance.health.journal,
                d->maintenance.health.journal_text);
    append_part(text, "store", d->maintenance.health.store, d->maintenance.health.store_text);
    (void)pthread_mutex_unlock(&d->lock);
    if (!text[0]) {
        (void)snprintf(text, sizeof text, "%zu pairs, all parts work", d->params.pair_count);
    }
    if (!leaves && strcmp(text, d->maintenance.status) != 0) {
        memcpy(d->maintenance.status, text, sizeof text);
        /* A line end would begin another message to the supervisor. */
        for (char *end = text; (end = strchr(end, '\n')) != NULL;) {
            *end = ' ';
        }
        (void)sd_notifyf(0, "STATUS=%s", text);
    }
}

static void feed_watchdog(struct daemon *d)
{
    const int64_t mono_us = lab_clock_monotonic_us();
    if (d->maintenance.alive_every_us > 0 &&
        mono_us - d->maintenance.alive_us >= d->maintenance.alive_every_us &&
        atomic_exchange(&d->maintenance.lab_beats, false)) {
        d->maintenance.alive_us = mono_us;
        (void)sd_notify(0, "WATCHDOG=1");
    }
}

void maintenance_beat(struct daemon *d)
{
    if (!atomic_load_explicit(&d->maintenance.lab_beats, memory_order_relaxed)) {
        atomic_store(&d->maintenance.lab_beats, true);
    }
}

/* ---- teams ---- */

/* Publishes the states of teams, retained: only the newest of each that changed. */
static void publish_teams(struct daemon *d)
{
    const struct view *view = snapshots_acquire(d->snapshots);
    for (size_t i = 0; view->health.restored && i < view->team_count; i++) {
        const uint64_t version = view->live_teams[i]->version;
        char *text =
            version != d->maintenance.teams_published[i] ? malloc(TEAM_LIVE_STATE_MAX) : NULL;
        struct json_writer w;
        char rest[MESSAGE_TOPIC_MAX];
        if (!text) {
            continue;
        }
        json_write_start(&w, text, TEAM_LIVE_STATE_MAX, NULL, NULL);
        team_live_report_state(&w, NULL, view->live_teams[i], &view->teams[i]);
        (void)snprintf(rest, sizeof rest, "%s/state", view->teams[i].name);
        if (json_write_end(&w) &&
            gateway_send(d, rest, text, w.used, GATEWAY_RETAINED) == STATUS_OK) {
            d->maintenance.teams_published[i] = version;
        }
        free(text);
    }
    snapshots_release(d->snapshots, view);
}

/* ---- the thread ---- */

/* Waits until the next round and meanwhile publishes results of pairs, a few at a time, because
 * all at once would occupy a core for a quarter of the round. Returns whether the end was
 * requested, and whether a checkpoint waits. */
static bool wait_round(struct daemon *d, bool *checkpoint)
{
    const int64_t until_us = lab_clock_monotonic_us() + ROUND_MS * INT64_C(1000);
    bool stop = false;
    for (int64_t now_us = 0; !stop && now_us < until_us;) {
        const bool more = result_publisher_publish(d);
        checkpoint_writer_write_copied(d);
        now_us = lab_clock_monotonic_us();
        const int64_t soon_us = now_us + RESULTS_MS * INT64_C(1000);
        (void)pthread_mutex_lock(&d->lock);
        if (!d->maintenance.stop) {
            lock_wait(&d->maintenance.changed, &d->lock,
                      more && soon_us < until_us ? soon_us : until_us);
        }
        stop = d->maintenance.stop;
        *checkpoint = d->checkpoint_writer.waits;
        (void)pthread_mutex_unlock(&d->lock);
        now_us = lab_clock_monotonic_us();
    }
    return stop;
}

static void *run_maintenance(void *context)
{
    struct daemon *d = context;
    (void)pthread_setname_np(pthread_self(), "tandem-maintain");
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
    for (;;) {
        bool checkpoint = false;
        const bool stop = wait_round(d, &checkpoint);
        pending_fits_store(d);
        if (checkpoint) {
            checkpoint_writer_count_rows(d);
        }
        publish_teams(d);
        /* A failure shows in journal_stats(). */
        const enum status synced = journal_sync(d->journal, inbox_now_us(d->inbox));
        (void)synced;
        watch_space(d);
        watch_journal(d);
        watch_store(d);
        watch_broker(d);
        watch_inbox(d);
        watch_clock(d);
        capturer_work(d->capturer, inbox_now_us(d->inbox),
                      d->maintenance.space_text[0] == '\0');
        report_status(d);
        feed_watchdog(d);
        if (checkpoint && store_queue_covers(d->queue, d->checkpoint_writer.pushed)) {
            checkpoint_writer_commit(d);
        } else if (stop) {
            if (!checkpoint || lab_clock_monotonic_us() >= d->maintenance.stop_us) {
                break;
            }
            lab_clock_sleep_until_us(lab_clock_monotonic_us() + 2000);
        }
    }
    return NULL;
}

enum status maintenance_start(struct daemon *d)
{
    struct maintenance *k = &d->maintenance;
    d->pending_fits.fit = calloc(d->params.pair_count, sizeof *d->pending_fits.fit);
    if (!d->pending_fits.fit) {
        return STATUS_E_NOMEM;
    }
    k->health.journal = true;
    struct store_queue_stats stats;
    store_queue_stats(d->queue, &stats);
    describe_store(d, &stats, k->health.store_text);
    k->health.store = k->health.store_text[0] == '\0';
    /* Half of the supervisor's timeout. */
    uint64_t allowed_us = 0;
    k->alive_every_us = sd_watchdog_enabled(0, &allowed_us) > 0 ? (int64_t)(allowed_us / 2) : 0;
    (void)snprintf(k->health.broker_text, sizeof k->health.broker_text, "not connected yet");
    k->runs = pthread_create(&k->thread, NULL, run_maintenance, d) == 0;
    return k->runs ? STATUS_OK : STATUS_E_IO;
}

bool maintenance_stop(struct daemon *d, int timeout_ms)
{
    (void)pthread_mutex_lock(&d->lock);
    d->maintenance.stop = true;
    d->maintenance.stop_us = lab_clock_monotonic_us() + timeout_ms * INT64_C(1000);
    (void)pthread_cond_signal(&d->maintenance.changed);
    (void)pthread_mutex_unlock(&d->lock);
    (void)pthread_join(d->maintenance.thread, NULL);
    return !d->checkpoint_writer.waits && d->checkpoint_writer.saved;
}
