#include "service/daemon/keeper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "logger/storage/journal_checkpoint.h"
#include "logger/storage/lock.h"
#include "service/cli/lab_clock.h"
#include "service/cli/log.h"
#include "service/daemon/notify.h"
#include "twin/report/pair_dynamics_report.h"
#include "twin/report/pair_report.h"

enum { ROUND_MS = 100, GAP_US = 1000000, STATUS_MAX = 400 };

/* What a pair's calibration had become, to be published. */
struct finding {
    uint32_t pair;
    void *state; /* owned: a copy; of dynamics without samples */
};

struct finding_queue {
    struct finding items[KEEPER_FINDINGS_MAX]; /* [count], one a pair */
    size_t count;
};

struct keeper {
    struct keeper_params params;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is work, or the end was asked for */

    /* Under the lock. */
    bool leaves_broker;
    bool stop;
    int64_t stop_us; /* monotonic: give up the last checkpoint then */
    struct view_health health;
    struct keeper_counts counts;
    struct finding_queue findings[KEEPER_FINDING_COUNT];
    bool checkpoint_waits; /* the fields below belong to the thread while it is set */
    struct journal_checkpoint checkpoint;
    uint64_t checkpoint_pushed; /* rows that the store must have before */
    void *state;                /* [state_bytes] */

    _Atomic bool lab_beats; /* the lab thread has gone round since the watchdog was fed */

    /* The thread's. */
    int64_t alive_every_us, alive_us; /* feeding it: how often (0: never), when last */
    char status[STATUS_MAX];          /* as last told */
    bool journal_down, store_down, broker_up, broker_said;
    struct inbox_counts seen;
    int64_t gap_us; /* when it last tried to note a gap */
};

/* ---- health ---- */

static void set_health(struct keeper *k, bool *flag, char text[160], bool fine,
                       const char *reason)
{
    (void)pthread_mutex_lock(&k->lock);
    *flag = fine;
    (void)snprintf(text, 160, "%.159s", fine ? "" : reason);
    (void)pthread_mutex_unlock(&k->lock);
}

/* Say in the journal how many lines are missing. Also tries whether it can be written again
 * although nothing comes. */
static void note_gap(struct keeper *k, uint64_t lost_lines)
{
    char payload[64];
    const int bytes =
        snprintf(payload, sizeof payload, "{\"missing\":%llu}", (unsigned long long)lost_lines);
    inbox_note(k->params.inbox, "gap", payload, (size_t)bytes);
}

static void watch_journal(struct keeper *k)
{
    struct journal_stats s;
    journal_stats(k->params.journal, &s);
    const bool down = s.failing || s.sync_failing;
    set_health(k, &k->health.journal, k->health.journal_text, !down, s.error);
    if (down && !k->journal_down) {
        log_write(LOG_JOURNAL_DOWN, NULL, "%s", s.error);
    } else if (!down && k->journal_down) {
        log_write(LOG_JOURNAL_UP, NULL, "%llu lines are missing in it so far",
                  (unsigned long long)s.lost_lines);
        note_gap(k, s.lost_lines);
    }
    k->journal_down = down;
    const int64_t mono_us = lab_clock_monotonic_us();
    if (s.failing && mono_us - k->gap_us >= GAP_US) {
        k->gap_us = mono_us;
        note_gap(k, s.lost_lines);
    }
}

static void watch_store(struct keeper *k)
{
    struct store_queue_stats s;
    store_queue_stats(k->params.queue, &s);
    set_health(k, &k->health.store, k->health.store_text, !s.failing, s.last_error.text);
    if (s.failing && !k->store_down) {
        log_write(LOG_STORE_DOWN, NULL, "%s: %s", s.last_error.where, s.last_error.text);
    } else if (!s.failing && k->store_down) {
        log_write(LOG_STORE_UP, NULL, "%llu records committed so far",
                  (unsigned long long)s.committed);
    }
    k->store_down = s.failing;
}

static void watch_broker(struct keeper *k)
{
    struct mqtt_client_state s;
    gateway_read_state(k->params.gateway, &s);
    (void)pthread_mutex_lock(&k->lock);
    const bool leaves = k->leaves_broker;
    (void)pthread_mutex_unlock(&k->lock);
    const bool up = s.connected && s.subscribed;
    const char *reason = s.error[0] ? s.error : "not connected yet";
    set_health(k, &k->health.broker, k->health.broker_text, up, reason);
    if (up && !k->broker_up) {
        log_write(LOG_BROKER_UP, NULL, "subscribed, connection %llu",
                  (unsigned long long)s.connections);
    } else if (!up && !leaves && (k->broker_up || (!k->broker_said && s.error[0]))) {
        k->broker_said = true;
        log_write(LOG_BROKER_DOWN, NULL, "%s", reason);
    }
    k->broker_up = up;
}

static void watch_inbox(struct keeper *k)
{
    struct inbox_counts now;
    inbox_read_counts(k->params.inbox, &now);
    if (now.overflows != k->seen.overflows) {
        log_write(LOG_OVERFLOW, NULL, "%llu times so far", (unsigned long long)now.overflows);
    }
    if (now.lost != k->seen.lost) {
        log_write(LOG_LOST, NULL, "%llu messages so far", (unsigned long long)now.lost);
    }
    if (now.samples_dropped != k->seen.samples_dropped) {
        log_write(LOG_SAMPLES_DROPPED, NULL, "%llu so far",
                  (unsigned long long)now.samples_dropped);
    }
    k->seen = now;
}

/* ---- what the supervisor hears ---- */

static void append_part(char text[STATUS_MAX], const char *part, bool fine, const char *reason)
{
    const size_t used = strlen(text);
    if (!fine) {
        (void)snprintf(text + used, STATUS_MAX - used, "%s%s: %s", used > 0 ? "; " : "", part,
                       reason);
    }
}

static void tell_status(struct keeper *k)
{
    char text[STATUS_MAX] = "";
    (void)pthread_mutex_lock(&k->lock);
    const bool leaves = k->leaves_broker;
    append_part(text, "lab", k->health.restored, "reading the journal");
    append_part(text, "broker", k->health.broker, k->health.broker_text);
    append_part(text, "journal", k->health.journal, k->health.journal_text);
    append_part(text, "store", k->health.store, k->health.store_text);
    (void)pthread_mutex_unlock(&k->lock);
    if (!text[0]) {
        (void)snprintf(text, sizeof text, "%zu pairs, all parts work", k->params.pair_count);
    }
    if (!leaves && strcmp(text, k->status) != 0) {
        memcpy(k->status, text, sizeof text);
        notify_status("%s", text);
    }
}

static void feed_watchdog(struct keeper *k)
{
    const int64_t mono_us = lab_clock_monotonic_us();
    if (k->alive_every_us > 0 && mono_us - k->alive_us >= k->alive_every_us &&
        atomic_exchange(&k->lab_beats, false)) {
        k->alive_us = mono_us;
        notify_tell("WATCHDOG=1");
    }
}

void keeper_beat(struct keeper *k)
{
    if (!atomic_load_explicit(&k->lab_beats, memory_order_relaxed)) {
        atomic_store(&k->lab_beats, true);
    }
}

/* ---- checkpoints ---- */

static void write_checkpoint(struct keeper *k)
{
    const int64_t began_us = lab_clock_monotonic_us();
    struct err err = {0};
    enum status status = journal_sync(k->params.journal, LAB_TIME_MAX);
    if (status == STATUS_OK) {
        status =
            journal_checkpoint_write(k->params.checkpoint_path, &k->checkpoint, NULL, &err);
    } else {
        (void)err_set(&err, status, "journal", 0, 0, "not synced");
    }
    const int64_t took_us = lab_clock_monotonic_us() - began_us;
    if (status == STATUS_OK) {
        inbox_keep_from(k->params.inbox, k->checkpoint.position);
        log_write(LOG_CHECKPOINT, NULL, "%zu bytes in %.3f s", k->checkpoint.bytes,
                  lab_s(took_us));
    } else {
        log_write(LOG_CHECKPOINT_FAILED, NULL, "%s: %s", err.where, err.text);
    }
    (void)pthread_mutex_lock(&k->lock);
    k->checkpoint_waits = false;
    if (status == STATUS_OK) {
        k->counts.checkpoints++;
        k->counts.checkpoint_bytes = k->checkpoint.bytes;
        k->counts.checkpoint_took_us = took_us;
        k->counts.checkpoint_t_us = k->checkpoint.t_us;
    } else {
        k->counts.checkpoints_failed++;
    }
    (void)pthread_mutex_unlock(&k->lock);
}

bool keeper_offer_checkpoint(struct keeper *k, const struct lab *lab,
                             struct journal_position position)
{
    (void)pthread_mutex_lock(&k->lock);
    const bool waits = k->checkpoint_waits;
    (void)pthread_mutex_unlock(&k->lock);
    if (waits) {
        return false;
    }
    /* Nobody else touches these while checkpoint_waits is not set. */
    size_t bytes = 0;
    const void *state = lab_state(lab, &bytes);
    memcpy(k->state, state, bytes);
    k->checkpoint = (struct journal_checkpoint){.version = CHECKPOINT_VERSION,
                                                .fingerprint = k->params.fingerprint,
                                                .position = position,
                                                .t_us = lab_time(lab),
                                                .bytes = bytes,
                                                .payload = k->state};
    struct store_queue_stats stats;
    store_queue_stats(k->params.queue, &stats);
    k->checkpoint_pushed = stats.pushed; /* this thread alone pushes */
    (void)pthread_mutex_lock(&k->lock);
    k->checkpoint_waits = true;
    (void)pthread_cond_signal(&k->changed);
    (void)pthread_mutex_unlock(&k->lock);
    return true;
}

/* ---- what was found, for all who listen ---- */

static void write_travel_time(struct json_writer *w, const void *state,
                              const struct pair_params *p)
{
    struct pair_fits fits;
    pair_fit_window(state, p, &fits);
    pair_report_travel_time(w, "travel_time", &fits);
}

static void write_dynamics(struct json_writer *w, const void *state,
                           const struct pair_params *p)
{
    pair_dynamics_report(w, "dynamics", state, p);
}

static const struct {
    const char *topic;
    enum event_type event;
    size_t bytes; /* of the state that is copied */
    void (*write)(struct json_writer *w, const void *state, const struct pair_params *p);
} findings[KEEPER_FINDING_COUNT] = {
    [KEEPER_TRAVEL_TIME] = {"calibration", EVENT_TYPE_CALIBRATION, sizeof(struct pair),
                            write_travel_time},
    [KEEPER_DYNAMICS] = {"calibration/dynamics", EVENT_TYPE_DYNAMICS,
                         sizeof(struct pair_dynamics), write_dynamics},
};

/* Returns whether it went out. */
static bool publish_finding(struct keeper *k, enum keeper_finding what, const struct finding *f)
{
    const struct pair_params *p = &k->params.pairs[f->pair];
    char *text = malloc(PAIR_DYNAMICS_REPORT_MAX);
    struct json_writer w;
    if (!text) {
        return false;
    }
    json_write_start(&w, text, PAIR_DYNAMICS_REPORT_MAX, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "pair", p->id);
    findings[what].write(&w, f->state, p);
    json_write_close(&w);
    bool done = json_write_end(&w);
    if (done && k->params.events) {
        event_hub_publish(k->params.events, findings[what].event, f->pair, 0, text, w.used);
    }
    done = done && gateway_publish(k->params.gateway, p->id, findings[what].topic, text, w.used,
                                   1, true) == STATUS_OK;
    free(text);
    return done;
}

static void publish_findings(struct keeper *k, enum keeper_finding what)
{
    struct finding_queue *q = &k->findings[what];
    (void)pthread_mutex_lock(&k->lock);
    while (q->count > 0) {
        const struct finding f = q->items[0];
        q->count--;
        memmove(q->items, q->items + 1, q->count * sizeof f);
        (void)pthread_mutex_unlock(&k->lock);
        const bool done = publish_finding(k, what, &f);
        free(f.state);
        (void)pthread_mutex_lock(&k->lock);
        k->counts.calibrations += done;
        k->counts.calibrations_dropped += !done;
    }
    (void)pthread_mutex_unlock(&k->lock);
}

/* Lock held. Takes f over in place of an older one of its pair; returns the state that is not
 * needed. */
static void *queue_finding(struct keeper *k, struct finding_queue *q, struct finding f)
{
    size_t i = 0;
    while (i < q->count && q->items[i].pair != f.pair) {
        i++;
    }
    if (!f.state || i == KEEPER_FINDINGS_MAX) {
        k->counts.calibrations_dropped++;
        return f.state;
    }
    void *older = i < q->count ? q->items[i].state : NULL;
    q->count += i == q->count;
    q->items[i] = f;
    return older;
}

void keeper_offer(struct keeper *k, enum keeper_finding what, uint32_t pair, const void *state)
{
    const struct finding f = {pair, malloc(findings[what].bytes)};
    if (f.state) {
        memcpy(f.state, state, findings[what].bytes);
    }
    (void)pthread_mutex_lock(&k->lock);
    void *unneeded = queue_finding(k, &k->findings[what], f);
    (void)pthread_cond_signal(&k->changed);
    (void)pthread_mutex_unlock(&k->lock);
    free(unneeded);
}

/* ---- the thread ---- */

/* What the loop has to know, read at once. */
struct orders {
    bool stop, checkpoint;
    int64_t stop_us;
};

static struct orders wait_for_orders(struct keeper *k)
{
    const int64_t until_us = lab_clock_monotonic_us() + ROUND_MS * INT64_C(1000);
    (void)pthread_mutex_lock(&k->lock);
    if (!k->stop && k->findings[KEEPER_TRAVEL_TIME].count == 0 &&
        k->findings[KEEPER_DYNAMICS].count == 0) {
        lock_wait(&k->changed, &k->lock, until_us);
    }
    const struct orders orders = {k->stop, k->checkpoint_waits, k->stop_us};
    (void)pthread_mutex_unlock(&k->lock);
    return orders;
}

static void watch_all(struct keeper *k)
{
    watch_journal(k);
    watch_store(k);
    watch_broker(k);
    watch_inbox(k);
}

static void *run_keeper(void *context)
{
    struct keeper *k = context;
    (void)pthread_setname_np(pthread_self(), "tandem-keeper");
    for (;;) {
        const struct orders orders = wait_for_orders(k);
        publish_findings(k, KEEPER_TRAVEL_TIME);
        publish_findings(k, KEEPER_DYNAMICS);
        /* Its failure shows in journal_stats(). */
        const enum status synced =
            journal_sync(k->params.journal, inbox_now_us(k->params.inbox));
        (void)synced;
        watch_all(k);
        tell_status(k);
        feed_watchdog(k);
        if (orders.checkpoint && store_queue_covers(k->params.queue, k->checkpoint_pushed)) {
            write_checkpoint(k);
        } else if (orders.stop) {
            if (!orders.checkpoint || lab_clock_monotonic_us() >= orders.stop_us) {
                break;
            }
            lab_clock_sleep_until_us(lab_clock_monotonic_us() + 2000);
        }
    }
    return NULL;
}

enum status keeper_start(const struct keeper_params *params, struct keeper **out)
{
    struct keeper *k = calloc(1, sizeof *k);
    void *state = malloc(params->state_bytes);
    if (!k || !state) {
        free(k);
        free(state);
        return STATUS_E_NOMEM;
    }
    k->params = *params;
    k->state = state;
    k->counts.checkpoint_t_us = LAB_TIME_NONE;
    k->health.journal = true;
    k->health.store = true;
    k->alive_every_us = notify_alive_us();
    (void)snprintf(k->health.broker_text, sizeof k->health.broker_text, "not connected yet");
    lock_init(&k->lock);
    lock_init_condition(&k->changed);
    if (pthread_create(&k->thread, NULL, run_keeper, k) != 0) {
        k->params.state_bytes = 0;
        keeper_destroy(k);
        return STATUS_E_IO;
    }
    *out = k;
    return STATUS_OK;
}

bool keeper_stop(struct keeper *k, int timeout_ms)
{
    (void)pthread_mutex_lock(&k->lock);
    k->stop = true;
    k->stop_us = lab_clock_monotonic_us() + timeout_ms * INT64_C(1000);
    (void)pthread_cond_signal(&k->changed);
    (void)pthread_mutex_unlock(&k->lock);
    (void)pthread_join(k->thread, NULL);
    return !k->checkpoint_waits && k->counts.checkpoints > 0;
}

void keeper_destroy(struct keeper *k)
{
    if (!k) {
        return;
    }
    for (int what = 0; what < KEEPER_FINDING_COUNT; what++) {
        for (size_t i = 0; i < k->findings[what].count; i++) {
            free(k->findings[what].items[i].state);
        }
    }
    (void)pthread_cond_destroy(&k->changed);
    (void)pthread_mutex_destroy(&k->lock);
    free(k->state);
    free(k);
}

void keeper_leave_broker(struct keeper *k)
{
    (void)pthread_mutex_lock(&k->lock);
    k->leaves_broker = true;
    (void)pthread_mutex_unlock(&k->lock);
}

void keeper_set_restored(struct keeper *k)
{
    (void)pthread_mutex_lock(&k->lock);
    k->health.restored = true;
    (void)pthread_mutex_unlock(&k->lock);
}

void keeper_read_health(struct keeper *k, struct view_health *out)
{
    (void)pthread_mutex_lock(&k->lock);
    *out = k->health;
    (void)pthread_mutex_unlock(&k->lock);
}

void keeper_read_counts(struct keeper *k, struct keeper_counts *out)
{
    (void)pthread_mutex_lock(&k->lock);
    *out = k->counts;
    (void)pthread_mutex_unlock(&k->lock);
}
