/* service/daemon/backfill.c - makes records that the store lacks again, from the journal.
 *
 * One attempt replays the journal through a second lab, from its beginning to the place of the
 * live lab when the attempt began. The records of that replay are stored as they appear.
 */
#include <sys/resource.h>

#include "service/daemon/daemon_parts.h"
#include "service/replay/replay.h"
#include "service/replay/rows.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"

enum {
    ROWS_AHEAD = 16384, /* rows that may wait for the store */
    WAIT_MS = 200,
    NICE = 10,
    AGAIN_US = 10 * 1000000 /* pause after a failed attempt */
};

/* An attempt in progress. */
struct attempt {
    struct daemon *d;
    struct replay *replay;
    uint32_t number;
    int64_t oldest_us; /* older rows are beyond the store's retention */
    int64_t from_us, to_us;
    uint64_t lines, unreadable;
};

static bool wait_for_room(struct daemon *d)
{
    struct store_queue_stats s;
    for (store_queue_stats(d->queue, &s); s.waiting_rows > ROWS_AHEAD || s.failing;
         store_queue_stats(d->queue, &s)) {
        if (atomic_load(&d->backfill.stop)) {
            return false;
        }
        const enum status status = store_queue_flush(d->queue, WAIT_MS);
        (void)status; /* the next round asks again */
    }
    return true;
}

static void push_row(struct attempt *a, struct store_row *row)
{
    row->again = a->number;
    if (row->t_us >= a->oldest_us && wait_for_room(a->d)) {
        const enum status status = store_queue_push(a->d->queue, row);
        /* the store counts a dropped row as missing, and another attempt follows */
        (void)status;
    }
}

static void add_fit_rows(struct attempt *a, const struct effect *effect)
{
    const struct lab *lab = a->replay->lab;
    const struct pair_params *p = lab_pair_params(lab, effect->pair);
    struct pair_fits fits;
    struct large_row r;
    if (effect->side < SIDE_COUNT) {
        row_of_dynamics_fit(&r, effect, lab_dynamics(lab, effect->pair), p->id);
        push_row(a, &r.row);
        return;
    }
    pair_fit_window(lab_pair(lab, effect->pair), p, &fits);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (row_of_travel_fit(&r, effect, s, &fits, p->id)) {
            push_row(a, &r.row);
        }
    }
}

static void add_effect_rows(void *context, const struct effect *effect)
{
    struct attempt *a = context;
    const char *pair = lab_name(&a->d->params, effect->pair);
    struct record_row r;
    if (effect->kind == EFFECT_CHANGE) {
        struct large_row change;
        row_of_change(&change, effect->change, pair);
        push_row(a, &change.row);
        return;
    }
    if (effect->kind == EFFECT_HISTORY) {
        if (effect->t_us >= a->oldest_us) {
            add_fit_rows(a, effect);
        }
        return;
    }
    if (effect->kind == EFFECT_ENTRY) {
        row_of_entry(&r, effect->entry, pair);
    } else if (effect->kind == EFFECT_ALARM) {
        row_of_alarm(&r, effect->alarm, pair);
    } else if (effect->kind == EFFECT_LOG) {
        row_of_event(&r, effect->event, effect->n, pair);
    } else {
        return;
    }
    push_row(a, &r.row);
}

static bool may_go_on(void *context, const char *stage, double share)
{
    const struct daemon *d = context;
    (void)stage;
    (void)share;
    return !atomic_load(&d->backfill.stop);
}

static void replay_one_line(struct attempt *a, const struct journal_line *line)
{
    struct err err = {0};
    const int64_t t_us = journal_line_us(line->text, line->bytes);
    /* The live lab received the same lines. */
    const enum status status = replay_line(a->replay, line, &err);
    a->unreadable += status != STATUS_OK;
    a->lines++;
    if (t_us != LAB_TIME_NONE) {
        a->from_us = a->from_us == LAB_TIME_NONE ? t_us : a->from_us;
        a->to_us = t_us;
    }
}

static void update_progress(const struct attempt *a)
{
    struct backfill *m = &a->d->backfill;
    const double whole = (double)(m->to_us - a->from_us);
    const double share = whole > 0.0 ? (double)(a->to_us - a->from_us) / whole : 0.0;
    atomic_store(&m->percent, (unsigned)(share > 0.0 && share < 1.0 ? 100.0 * share : 0.0));
}

/* Replays all lines before the mark, and the deadlines before it. */
static enum status run_journal(struct attempt *a, struct err *err)
{
    static const struct journal_position beginning = {0, 0};
    struct daemon *d = a->d;
    struct journal_reader *reader = NULL;
    struct journal_line line;
    enum status status =
        journal_reader_open_directory(d->file->journal.dir, beginning, &reader, err);
    if (status != STATUS_OK) {
        return status;
    }
    while (!atomic_load(&d->backfill.stop)) {
        struct err fault = {0};
        status = journal_reader_next(reader, &line, &fault);
        if (status == STATUS_E_EMPTY ||
            (status == STATUS_OK && !journal_is_before(line.start, d->backfill.to))) {
            break;
        }
        if (status == STATUS_OK) {
            replay_one_line(a, &line);
        } else {
            log_write(LOG_JOURNAL_FAULT, NULL, "%s: %s", fault.where, fault.text);
            a->unreadable++;
        }
        if (a->lines % 1024 == 0) {
            update_progress(a);
        }
    }
    journal_reader_close(reader);
    if (!atomic_load(&d->backfill.stop)) {
        const struct event tick = {
            .t_us = d->backfill.to_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
        const struct effects effects = {add_effect_rows, a};
        lab_step(a->replay->lab, &tick, &effects);
    }
    return STATUS_OK;
}

static enum status fill_store(struct attempt *a, struct err *err)
{
    struct daemon *d = a->d;
    const struct effects effects = {add_effect_rows, a};
    if (replay_create(d->file, &effects, &a->replay) != STATUS_OK) {
        return err_no_memory(err, "store", "no memory for a second lab that reads the journal");
    }
    a->replay->go_on = may_go_on;
    a->replay->context = d;
    a->replay->pause_us_max = LAB_TIME_MAX;
    enum status status = run_journal(a, err);
    replay_destroy(a->replay);
    while (status == STATUS_OK && store_queue_flush(d->queue, WAIT_MS) != STATUS_OK) {
        if (atomic_load(&d->backfill.stop)) {
            break;
        }
    }
    return atomic_load(&d->backfill.stop)
               ? err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "store", "the daemon stops")
               : status;
}

static void report_backfill(const struct attempt *a, uint64_t made, int64_t duration_us)
{
    char from[28] = "";
    char to[28] = "";
    if (a->lines == 0 || a->from_us == LAB_TIME_NONE) {
        log_write(LOG_STORE_BACKFILLED, NULL,
                  "the journal is empty: the store's missing records cannot be rebuilt");
        return;
    }
    message_format_time(a->from_us, from);
    message_format_time(a->to_us, to);
    log_write(LOG_STORE_BACKFILLED, NULL,
              "%llu records rebuilt from the journal, %s to %s, %llu lines in %.3f s; what is "
              "older than the journal cannot be rebuilt",
              (unsigned long long)made, from, to, (unsigned long long)a->lines,
              lab_s(duration_us));
}

static void *run_backfill(void *context)
{
    struct daemon *d = context;
    struct backfill *m = &d->backfill;
    struct store_queue_stats before;
    struct store_queue_stats after;
    struct err err = {0};
    const int64_t began_us = lab_clock_monotonic_us();
    (void)pthread_setname_np(pthread_self(), "tandem-backfill");
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
    struct attempt a = {.d = d,
                        .number = ++m->attempts,
                        .oldest_us = INT64_MIN,
                        .from_us = LAB_TIME_NONE,
                        .to_us = LAB_TIME_NONE};
    if (d->file->store.retain_days > 0) {
        a.oldest_us = m->to_us - lab_us(d->file->store.retain_days * 86400.0);
    }
    store_queue_stats(d->queue, &before);
    const enum status status = fill_store(&a, &err);
    store_queue_stats(d->queue, &after);
    if (status == STATUS_OK) {
        report_backfill(&a, after.made_again - before.made_again,
                        lab_clock_monotonic_us() - began_us);
        store_queue_backfilled(d->queue, m->missed);
    } else if (!atomic_load(&m->stop)) {
        log_write(LOG_STORE_LACKS, NULL, "cannot be rebuilt now: %s", err.text);
    }
    (void)pthread_mutex_lock(&d->lock);
    m->phase = BACKFILL_DONE;
    m->not_before_us = lab_clock_monotonic_us() + (status == STATUS_OK ? 0 : (int64_t)AGAIN_US);
    m->records += after.made_again - before.made_again;
    (void)pthread_mutex_unlock(&d->lock);
    return NULL;
}

void backfill_mark(struct daemon *d)
{
    struct backfill *m = &d->backfill;
    if (!atomic_load_explicit(&m->asks, memory_order_relaxed) || !inbox_is_placed(d->inbox)) {
        return;
    }
    (void)pthread_mutex_lock(&d->lock);
    if (m->phase == BACKFILL_WAITS) {
        m->to = inbox_position(d->inbox);
        m->to_us = lab_time(d->lab);
        m->phase = BACKFILL_MARKED;
    }
    atomic_store(&m->asks, false);
    (void)pthread_mutex_unlock(&d->lock);
}

/* Lock held. Asks the lab thread for a mark if the store lacks anything. */
static void ask_for_mark(struct daemon *d, const struct store_queue_stats *s)
{
    struct backfill *m = &d->backfill;
    if (s->behind && !s->failing && standby_is_live(d) && d->maintenance.health.restored &&
        lab_clock_monotonic_us() >= m->not_before_us) {
        m->missed = s->missed;
        m->phase = BACKFILL_WAITS;
        atomic_store(&m->percent, 0);
        atomic_store(&m->asks, true);
    }
}

void backfill_update(struct daemon *d, const struct store_queue_stats *s)
{
    struct backfill *m = &d->backfill;
    (void)pthread_mutex_lock(&d->lock);
    const enum backfill_phase phase = m->phase;
    if (phase == BACKFILL_IDLE) {
        ask_for_mark(d, s);
    }
    (void)pthread_mutex_unlock(&d->lock);
    if (phase == BACKFILL_MARKED) {
        /* Retention must not delete the journal's files while they are read. */
        inbox_retain_from(d->inbox, (struct journal_position){0, 0});
        (void)pthread_mutex_lock(&d->lock);
        m->runs = pthread_create(&m->thread, NULL, run_backfill, d) == 0;
        m->phase = m->runs ? BACKFILL_RUNS : BACKFILL_IDLE;
        (void)pthread_mutex_unlock(&d->lock);
    } else if (phase == BACKFILL_DONE) {
        (void)pthread_join(m->thread, NULL);
        m->runs = false;
        (void)pthread_mutex_lock(&d->lock);
        m->phase = BACKFILL_IDLE;
        (void)pthread_mutex_unlock(&d->lock);
        /* Files retained for the attempt may be deleted, and the next checkpoint must know the
         * complete store. */
        atomic_store(&d->maintenance.save_now, true);
    }
}

void backfill_stop(struct daemon *d)
{
    atomic_store(&d->backfill.stop, true);
    if (d->backfill.runs) {
        (void)pthread_join(d->backfill.thread, NULL);
        d->backfill.runs = false;
    }
}
