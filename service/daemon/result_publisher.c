/* service/daemon/result_publisher.c - publishes new travel times and dynamics of pairs. The
 * lab thread offers a pair with something new, the maintenance thread computes and sends it. */
#include <stdlib.h>

#include "logger/message/json_write.h"
#include "service/daemon/daemon_parts.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "twin/report/pair_dynamics_report.h"
#include "twin/report/pair_report.h"

enum {
    SHARE = 4,            /* at most 1/SHARE of a core, */
    SAVED_NS = 5000000,   /* and this much of unused time is saved up */
    BEHIND_US = 10000000, /* longer waits are logged */
    REST_US = 2000000     /* interval between calibrations of a pair */
};

/* A result of a pair that waits for publication. */
struct result_item {
    uint32_t pair;
    enum result_kind what;
    int64_t since_us; /* monotonic */
};

struct result_pair {
    _Atomic bool waits[RESULT_KIND_COUNT]; /* it is in the ring */
    bool missed[RESULT_KIND_COUNT];        /* used by the lab thread: it is among the missed */
    /* last calibration by the maintenance thread; monotonic */
    _Atomic int64_t fitted_us;
};

static uint64_t ring_size(const struct daemon *d)
{
    return (uint64_t)RESULT_KIND_COUNT * d->params.pair_count;
}

bool result_publisher_open(struct daemon *d)
{
    struct result_publisher *f = &d->result_publisher;
    f->item = calloc(ring_size(d), sizeof *f->item);
    f->missed = calloc(ring_size(d), sizeof *f->missed);
    f->carried = calloc(ring_size(d), sizeof *f->carried);
    f->pair = calloc(d->params.pair_count, sizeof *f->pair);
    return f->item && f->missed && f->carried && f->pair;
}

void result_publisher_free(struct daemon *d)
{
    free(d->result_publisher.item);
    free(d->result_publisher.missed);
    free(d->result_publisher.carried);
    free(d->result_publisher.pair);
}

/* ---- lab thread ---------------------------------------------------------------------- */

/* There is always room, because the ring never holds a pair's result twice. */
static void append_item(struct daemon *d, enum result_kind what, uint32_t pair)
{
    struct result_publisher *f = &d->result_publisher;
    atomic_store(&f->pair[pair].waits[what], true);
    f->item[f->added_count++ % ring_size(d)] =
        (struct result_item){pair, what, lab_clock_monotonic_us()};
}

/* A window of 128 moves hardly changes with a few of them, so a pair rests between
 * calibrations. */
static bool is_resting(const struct result_pair *p, enum result_kind what)
{
    return what == RESULT_TRAVEL_TIME &&
           lab_clock_monotonic_us() - atomic_load(&p->fitted_us) < REST_US;
}

void result_publisher_offer(struct daemon *d, enum result_kind what, uint32_t pair)
{
    struct result_publisher *f = &d->result_publisher;
    struct result_pair *p = &f->pair[pair];
    if (!atomic_load(&p->waits[what]) && !is_resting(p, what)) {
        append_item(d, what, pair);
    } else if (!p->missed[what]) {
        /* The maintenance thread may use the present snapshot, which lacks the change. */
        p->missed[what] = true;
        f->missed[f->missed_count++] = pair * RESULT_KIND_COUNT + what;
    }
}

void result_publisher_begin_snapshot(struct daemon *d)
{
    struct result_publisher *f = &d->result_publisher;
    uint32_t *const missed = f->missed;
    f->due = f->added_count;
    for (size_t k = 0; k < f->missed_count; k++) {
        f->pair[missed[k] / RESULT_KIND_COUNT].missed[missed[k] % RESULT_KIND_COUNT] = false;
    }
    f->missed = f->carried;
    f->carried = missed;
    f->carried_count = f->missed_count;
    f->missed_count = 0;
}

/* Results that still wait will use this snapshot or a newer one, because the maintenance thread
 * acquires a snapshot after it has cleared `waits`. Resting pairs are checked with the next
 * snapshot, which comes even if nothing happens. */
void result_publisher_end_snapshot(struct daemon *d)
{
    struct result_publisher *f = &d->result_publisher;
    uint64_t resting = 0;
    for (size_t k = 0; k < f->carried_count; k++) {
        const uint32_t pair = f->carried[k] / RESULT_KIND_COUNT;
        const enum result_kind what = (enum result_kind)(f->carried[k] % RESULT_KIND_COUNT);
        if (!atomic_load(&f->pair[pair].waits[what])) {
            resting += is_resting(&f->pair[pair], what);
            result_publisher_offer(d, what, pair);
        }
    }
    f->carried_count = 0;
    atomic_store(&f->resting, resting);
    atomic_store(&f->shown, f->due);
}

/* ---- maintenance thread -------------------------------------------------------------- */

static void write_result(struct json_writer *w, const struct view *view, enum result_kind what,
                         size_t pair)
{
    const struct pair_params *p = &view->params[pair];
    struct pair_fits fits;
    JSON_OPEN(w, NULL, JSON("pair", p->id));
    if (what == RESULT_TRAVEL_TIME) {
        view->fits(view, pair, &fits);
        pair_report_travel_time(w, "travel_time", &fits);
    } else {
        pair_dynamics_report(w, "dynamics", view->dynamics[pair], p);
    }
    json_write_close(w);
}

/* Returns whether it was published. */
static bool send_result(struct daemon *d, const struct view *view, enum result_kind what,
                        size_t pair)
{
    static const struct {
        const char *topic;
        enum event_type event;
    } kinds[RESULT_KIND_COUNT] = {
        [RESULT_TRAVEL_TIME] = {"calibration", EVENT_TYPE_CALIBRATION},
        [RESULT_DYNAMICS] = {"calibration/dynamics", EVENT_TYPE_DYNAMICS},
    };
    char rest[MESSAGE_TOPIC_MAX];
    char *text = malloc(PAIR_DYNAMICS_REPORT_MAX);
    struct json_writer w;
    if (!text) {
        return false;
    }
    json_write_start(&w, text, PAIR_DYNAMICS_REPORT_MAX, NULL, NULL);
    write_result(&w, view, what, pair);
    bool done = json_write_end(&w);
    if (done && d->events) {
        event_hub_publish(d->events, kinds[what].event, (uint32_t)pair, 0, text, w.used);
    }
    (void)snprintf(rest, sizeof rest, "%s/%s", view->params[pair].id, kinds[what].topic);
    done = done && gateway_send(d, rest, text, w.used, GATEWAY_RETAINED) == STATUS_OK;
    free(text);
    return done;
}

/* Publishes the result that has waited longest. */
static void publish_first(struct daemon *d)
{
    struct result_publisher *f = &d->result_publisher;
    const int64_t began_ns = lab_clock_thread_ns();
    const struct result_item item = f->item[atomic_load(&f->consumed_count) % ring_size(d)];
    atomic_fetch_add(&f->consumed_count, 1);
    if (item.what == RESULT_TRAVEL_TIME) {
        atomic_store(&f->pair[item.pair].fitted_us, lab_clock_monotonic_us());
    }
    atomic_store(&f->pair[item.pair].waits[item.what], false);
    const struct view *view = snapshots_acquire(d->snapshots);
    const bool sent = send_result(d, view, item.what, item.pair);
    snapshots_release(d->snapshots, view);
    const int64_t used_ns = lab_clock_thread_ns() - began_ns;
    f->budget_ns -= used_ns;
    (void)pthread_mutex_lock(&d->lock);
    *(sent ? &f->counts.published : &f->counts.dropped) += 1;
    f->counts.worked_us += used_ns / 1000;
    (void)pthread_mutex_unlock(&d->lock);
}

static void report_waiting(struct daemon *d, uint64_t waiting, int64_t mono_us)
{
    struct result_publisher *f = &d->result_publisher;
    const int64_t waits_us =
        waiting > 0 ? mono_us - f->item[atomic_load(&f->consumed_count) % ring_size(d)].since_us
                    : 0;
    (void)pthread_mutex_lock(&d->lock);
    f->counts.waiting = waiting + atomic_load(&f->resting);
    f->counts.waits_us = waits_us;
    (void)pthread_mutex_unlock(&d->lock);
    if (waits_us > BEHIND_US && mono_us - f->reported_us > BEHIND_US) {
        f->reported_us = mono_us;
        log_write(LOG_CALIBRATIONS_BEHIND, NULL, "%llu wait, for %.0f s at most",
                  (unsigned long long)waiting, lab_s(waits_us));
    }
}

bool result_publisher_publish(struct daemon *d)
{
    struct result_publisher *f = &d->result_publisher;
    const int64_t mono_us = lab_clock_monotonic_us();
    const uint64_t shown = atomic_load(&f->shown);
    f->budget_ns += (mono_us - f->looked_us) * 1000 / SHARE;
    f->budget_ns = f->budget_ns < SAVED_NS ? f->budget_ns : SAVED_NS;
    f->looked_us = mono_us;
    while (atomic_load(&f->consumed_count) < shown && f->budget_ns > 0) {
        publish_first(d);
    }
    const uint64_t waiting = shown - atomic_load(&f->consumed_count);
    report_waiting(d, waiting, lab_clock_monotonic_us());
    return waiting > 0;
}

void result_publisher_read_counts(struct daemon *d, struct result_publisher_counts *out)
{
    (void)pthread_mutex_lock(&d->lock);
    *out = d->result_publisher.counts;
    (void)pthread_mutex_unlock(&d->lock);
}
