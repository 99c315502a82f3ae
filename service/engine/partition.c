#include "service/engine/partition.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "logger/storage/lock.h"

enum { REPORT_US = 1000000, IDLE_US = 100000 };
enum { ROOM_BYTES = FENCE_BYTES_MAX + PARTITION_LINE_MAX };

struct partition {
    struct partition_params params;
    struct fence_journal *journal;
    pthread_t thread;
    bool runs;

    pthread_mutex_t lock;
    pthread_cond_t work;    /* wakes the thread */
    pthread_cond_t settled; /* lines became durable or were dropped, or the state changed */

    /* Under the lock. */
    struct ownership ownership;
    char *bytes; /* [PARTITION_QUEUE_BYTES] waiting lines, one behind the other */
    size_t used;
    size_t *lengths; /* [PARTITION_QUEUE_LINES] of those lines */
    size_t waiting;
    uint64_t generation;       /* of the queue: it grows when waiting lines are dropped */
    uint64_t appended, stored; /* lines of this generation */
    bool stop, hand_over, refused;
    struct partition_report report;

    /* Used by the thread only. */
    int64_t own_n;
    int64_t reported_us;
    struct postgresql_text batch[FENCE_LINES_MAX]; /* of the last WRITE */
    enum fence_source batch_source;
    char *room; /* [ROOM_BYTES] its lines, unless they wait in the queue */
};

static int64_t read_clock_us(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t boot_us(void)
{
    return read_clock_us(CLOCK_BOOTTIME);
}

/* A random UUID. Without random numbers there is no safe lease, and the next step tries again.
 */
static struct fence_lease make_lease(void)
{
    struct fence_lease lease = {""};
    unsigned char r[16];
    while (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r) {
    }
    (void)snprintf(lease.text, sizeof lease.text,
                   "%02x%02x%02x%02x-%02x%02x-4%01x%02x-a%01x%02x-%02x%02x%02x%02x%02x%02x",
                   r[0], r[1], r[2], r[3], r[4], r[5], r[6] & 15u, r[7], r[8] & 15u, r[9],
                   r[10], r[11], r[12], r[13], r[14], r[15]);
    return lease;
}

/* --- the queue -----------------------------------------------------------------------------
 */

/* Lock held. */
static bool takes_lines(const struct partition *e)
{
    const struct ownership *o = &e->ownership;
    return o->state == OWNERSHIP_OWNING ||
           (o->state == OWNERSHIP_ASKING && o->resume == OWNERSHIP_OWNING);
}

/* Lock held. The first `count` lines leave the queue. */
static void remove_lines(struct partition *e, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += e->lengths[i];
    }
    e->used -= bytes;
    e->waiting -= count;
    memmove(e->bytes, e->bytes + bytes, e->used);
    memmove(e->lengths, e->lengths + count, e->waiting * sizeof *e->lengths);
}

/* Lock held. */
static void drop_lines(struct partition *e)
{
    e->used = 0;
    e->waiting = 0;
    e->appended = 0;
    e->stored = 0;
    e->generation++;
}

enum status partition_append(struct partition *partition, const char *line, size_t bytes,
                             struct partition_ticket *ticket)
{
    if (bytes > PARTITION_LINE_MAX || !fence_journal_accepts(line, bytes)) {
        return STATUS_E_PARSE;
    }
    enum status status = STATUS_OK;
    lock_acquire(&partition->lock);
    if (!takes_lines(partition)) {
        status = STATUS_E_STALE;
    } else if (partition->waiting == PARTITION_QUEUE_LINES ||
               bytes > PARTITION_QUEUE_BYTES - partition->used) {
        status = STATUS_E_FULL;
        partition->report.refused++;
    } else {
        memcpy(partition->bytes + partition->used, line, bytes);
        partition->used += bytes;
        partition->lengths[partition->waiting++] = bytes;
        *ticket = (struct partition_ticket){partition->generation, ++partition->appended};
        (void)pthread_cond_signal(&partition->work);
    }
    lock_release(&partition->lock);
    return status;
}

enum status partition_wait(struct partition *partition, struct partition_ticket ticket,
                           int64_t limit_us)
{
    const int64_t until_us = read_clock_us(CLOCK_MONOTONIC) + limit_us;
    lock_acquire(&partition->lock);
    while (ticket.generation == partition->generation && ticket.number > partition->stored &&
           read_clock_us(CLOCK_MONOTONIC) < until_us) {
        lock_wait(&partition->settled, &partition->lock, until_us);
    }
    const enum status status = ticket.generation != partition->generation ? STATUS_E_STALE
                               : ticket.number > partition->stored        ? STATUS_E_EMPTY
                                                                          : STATUS_OK;
    lock_release(&partition->lock);
    return status;
}

/* --- statements ----------------------------------------------------------------------------
 */

/* Fills the batch with the lines of a WRITE, as many as fit into one statement. */
static void fill_batch(struct partition *e, struct fence_request *request)
{
    const struct partition_calls *calls = &e->params.calls;
    const char *next = e->bytes;
    size_t count = 0;
    size_t bytes = 0;
    e->batch_source = request->source;
    while (count < request->lines && (count == 0 || bytes <= FENCE_BYTES_MAX)) {
        struct postgresql_text *line = &e->batch[count];
        if (request->source == FENCE_WAITING) {
            *line = (struct postgresql_text){next, e->lengths[count]};
            next += line->bytes;
        } else {
            char *out = e->room + bytes;
            line->at = out;
            line->bytes =
                request->source == FENCE_TAKE_LINE
                    ? calls->format_take(calls->context, request->t_us, out)
                    : calls->read_own(calls->context, request->n + (int64_t)count + 1, out);
        }
        bytes += line->bytes;
        count++;
    }
    request->lines = count;
}

/* Is the newest line that both have the same? Line numbers from there must be without a gap. */
static bool is_same_journal(struct partition *e, const struct fence_result *result)
{
    const int64_t common_n = e->own_n < result->row.n ? e->own_n : result->row.n;
    const size_t count = fence_journal_count(e->journal);
    if (common_n == 0 && (count == 0 || result->row.n == 0)) {
        return true;
    }
    if (count == 0) {
        return false;
    }
    int64_t n;
    const struct postgresql_text line = fence_journal_line(e->journal, 0, &n);
    if (common_n == 0) {
        return n == 1;
    }
    const size_t bytes = e->params.calls.read_own(e->params.calls.context, common_n, e->room);
    return n == common_n && line.bytes == bytes && memcmp(line.at, e->room, bytes) == 0;
}

static void store_line(struct partition *e, struct postgresql_text line,
                       enum partition_origin origin)
{
    e->params.calls.store(e->params.calls.context, ++e->own_n, line, origin);
}

static void store_followed(struct partition *e)
{
    const size_t count = fence_journal_count(e->journal);
    for (size_t i = 0; i < count; i++) {
        int64_t n;
        const struct postgresql_text line = fence_journal_line(e->journal, i, &n);
        if (n == e->own_n + 1) {
            store_line(e, line, PARTITION_FOLLOWED);
        }
    }
}

static void run_request(struct partition *e, struct fence_request *request,
                        struct ownership_event *event)
{
    struct err err = {0};
    if (request->statement == FENCE_WRITE) {
        fill_batch(e, request);
        lock_acquire(&e->lock);
        ownership_shorten(&e->ownership, request->lines);
        lock_release(&e->lock);
    }
    if (request->statement == FENCE_FOLLOW && boot_us() - e->reported_us >= REPORT_US) {
        fence_journal_report(e->journal, e->own_n);
        e->reported_us = boot_us();
    }
    fence_journal_run(e->journal, request, e->batch, &event->result, &err);
    if (request->statement == FENCE_FOLLOW && event->result.answer == FENCE_ROW) {
        event->result.same = is_same_journal(e, &event->result);
        if (event->result.same && event->result.durable) {
            store_followed(e);
        }
    }
    event->kind = OWNERSHIP_RESULT;
    lock_acquire(&e->lock);
    e->report.failures += event->result.answer == FENCE_FAILED;
    memcpy(e->report.error, err.text, sizeof e->report.error);
    lock_release(&e->lock);
}

/* --- the thread ----------------------------------------------------------------------------
 */

static void store_durable(struct partition *e, size_t count)
{
    const bool is_take = e->batch_source == FENCE_TAKE_LINE;
    for (size_t i = 0; i < count; i++) {
        store_line(e, e->batch[i], is_take ? PARTITION_TAKEN : PARTITION_APPENDED);
    }
    lock_acquire(&e->lock);
    if (!is_take) {
        remove_lines(e, count);
        e->stored += count;
    }
    (void)pthread_cond_broadcast(&e->settled);
    lock_release(&e->lock);
}

/* Carries the actions out. Returns the event that follows. */
static struct ownership_event perform_actions(struct partition *e,
                                              struct ownership_actions *actions)
{
    const struct partition_calls *calls = &e->params.calls;
    struct ownership_event event = {.kind = OWNERSHIP_TICK};
    if (actions->alarm != OWNERSHIP_QUIET) {
        calls->raise_alarm(calls->context, actions->alarm);
    }
    if (actions->close_mqtt) {
        calls->connect(calls->context, false);
    }
    if (actions->open_mqtt) {
        calls->connect(calls->context, true);
    }
    if (actions->durable > 0) {
        store_durable(e, actions->durable);
    }
    if (actions->roll_back) {
        calls->roll_back(calls->context);
        event.kind = OWNERSHIP_ROLLED_BACK;
    } else if (actions->request.statement != FENCE_NONE) {
        run_request(e, &actions->request, &event);
    }
    return event;
}

/* Lock held. */
static void step_ownership(struct partition *e, struct ownership_event *event,
                           struct ownership_actions *actions)
{
    const enum ownership_state before = e->ownership.state;
    const int64_t success_us = e->ownership.success_us;
    event->boot_us = boot_us();
    event->waiting = e->waiting;
    event->own_n = e->own_n;
    event->fresh = make_lease();
    ownership_step(&e->ownership, &e->params.times, event, actions);
    const enum ownership_state state = e->ownership.state;
    if (actions->close_mqtt && state != OWNERSHIP_HANDING_OVER) {
        drop_lines(e);
    }
    if (e->ownership.success_us != success_us) {
        (void)pthread_cond_broadcast(&e->settled);
    }
    if (state != before) {
        e->report.takes += actions->open_mqtt;
        e->report.losses += state == OWNERSHIP_LOST && before != OWNERSHIP_HANDING_OVER;
        (void)pthread_cond_broadcast(&e->settled);
    }
    if (actions->alarm != OWNERSHIP_QUIET) {
        e->report.alarm = actions->alarm;
    }
}

/* Lock held. Waits until the next statement is due, or somebody wants something. */
static void wait_for_work(struct partition *e)
{
    const struct ownership *o = &e->ownership;
    const struct ownership_params *times = &e->params.times;
    int64_t due_us = o->started_us + times->follow_us;
    if (o->state == OWNERSHIP_OWNING) {
        due_us = o->success_us + times->renew_us;
    } else if (o->state == OWNERSHIP_STOPPED) {
        due_us = boot_us() + IDLE_US;
    }
    const int64_t until_us = read_clock_us(CLOCK_MONOTONIC) + due_us - boot_us();
    while (!e->stop && !(e->hand_over && o->state == OWNERSHIP_OWNING) &&
           !(e->waiting > 0 && o->state == OWNERSHIP_OWNING) &&
           read_clock_us(CLOCK_MONOTONIC) < until_us) {
        lock_wait(&e->work, &e->lock, until_us);
    }
}

/* Lock held; it is released meanwhile. Somebody wants to hand over. */
static void begin_hand_over(struct partition *e, struct ownership_event *event)
{
    lock_release(&e->lock);
    event->kind = OWNERSHIP_HAND_OVER;
    event->follower_n = fence_journal_follower(e->journal);
    lock_acquire(&e->lock);
    e->hand_over = false;
    e->refused = event->follower_n < 0;
    if (e->refused) {
        event->kind = OWNERSHIP_TICK;
        (void)pthread_cond_broadcast(&e->settled);
    }
}

static void *run_partition(void *context)
{
    struct partition *e = context;
    struct ownership_event event = {.kind = OWNERSHIP_TICK};
    struct ownership_actions actions;
    (void)pthread_setname_np(pthread_self(), "tandem-owner");
    lock_acquire(&e->lock);
    while (!e->stop) {
        if (event.kind == OWNERSHIP_TICK && e->hand_over &&
            e->ownership.state == OWNERSHIP_OWNING) {
            begin_hand_over(e, &event);
        }
        const bool asked = event.kind == OWNERSHIP_HAND_OVER;
        /* Whoever appends a line may hold a lock that this call needs. */
        lock_release(&e->lock);
        event.lab_us = e->params.calls.read_lab_us(e->params.calls.context);
        lock_acquire(&e->lock);
        step_ownership(e, &event, &actions);
        e->refused = e->refused || (asked && actions.alarm == OWNERSHIP_NO_FOLLOWER);
        lock_release(&e->lock);
        event = perform_actions(e, &actions);
        lock_acquire(&e->lock);
        e->report.own_n = e->own_n;
        if (event.kind == OWNERSHIP_TICK && actions.durable == 0) {
            wait_for_work(e);
        }
    }
    drop_lines(e);
    (void)pthread_cond_broadcast(&e->settled);
    lock_release(&e->lock);
    return NULL;
}

/* --- start and end -------------------------------------------------------------------------
 */

static void free_partition(struct partition *e)
{
    fence_journal_destroy(e->journal);
    (void)pthread_cond_destroy(&e->work);
    (void)pthread_cond_destroy(&e->settled);
    (void)pthread_mutex_destroy(&e->lock);
    free(e->bytes);
    free(e->lengths);
    free(e->room);
    free(e);
}

static enum status prepare_partition(struct partition *e, struct err *err)
{
    if (ownership_init(&e->ownership, &e->params.times, e->own_n) != STATUS_OK) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "engine",
                       "renew_s, safe_s and take_s must grow in this order");
    }
    if (!e->bytes || !e->lengths || !e->room) {
        return err_no_memory(err, "engine", "the queue of waiting lines");
    }
    enum status status = fence_journal_create(&e->params.journal, &e->journal, err);
    if (status == STATUS_OK) {
        status = fence_journal_prepare(e->journal, err);
    }
    if (status == STATUS_OK) {
        e->runs = pthread_create(&e->thread, NULL, run_partition, e) == 0;
        status = e->runs ? STATUS_OK
                         : err_set(err, STATUS_E_IO, FAULT_NO_MEMORY, "engine",
                                   "the thread of the partition does not start");
    }
    return status;
}

enum status partition_start(const struct partition_params *params, struct partition **out,
                            struct err *err)
{
    struct partition *e = calloc(1, sizeof *e);
    if (!e) {
        return err_no_memory(err, "engine", "the partition");
    }
    e->params = *params;
    e->own_n = params->own_n;
    e->report.own_n = params->own_n;
    e->bytes = malloc(PARTITION_QUEUE_BYTES);
    e->lengths = calloc(PARTITION_QUEUE_LINES, sizeof *e->lengths);
    e->room = malloc(ROOM_BYTES);
    e->reported_us = boot_us() - REPORT_US;
    lock_init(&e->lock);
    lock_init_condition(&e->work);
    lock_init_condition(&e->settled);
    const enum status status = prepare_partition(e, err);
    if (status == STATUS_OK) {
        *out = e;
    } else {
        free_partition(e);
    }
    return status;
}

void partition_stop(struct partition *partition)
{
    if (partition) {
        lock_acquire(&partition->lock);
        partition->stop = true;
        (void)pthread_cond_signal(&partition->work);
        lock_release(&partition->lock);
        (void)pthread_join(partition->thread, NULL);
        free_partition(partition);
    }
}

/* --- questions -----------------------------------------------------------------------------
 */

enum status partition_await_send(struct partition *partition, int64_t limit_us)
{
    const int64_t until_us = read_clock_us(CLOCK_MONOTONIC) + limit_us;
    enum status status = STATUS_E_EMPTY;
    lock_acquire(&partition->lock);
    for (bool again = true; status == STATUS_E_EMPTY && again;) {
        const struct ownership *o = &partition->ownership;
        again = read_clock_us(CLOCK_MONOTONIC) < until_us;
        if (ownership_may_send(o, &partition->params.times, boot_us(), LAB_TIME_NONE)) {
            status = STATUS_OK;
        } else if (!takes_lines(partition)) {
            status = STATUS_E_STALE;
        } else if (again) {
            lock_wait(&partition->settled, &partition->lock, until_us);
        }
    }
    lock_release(&partition->lock);
    return status;
}

bool partition_may_connect(struct partition *partition)
{
    lock_acquire(&partition->lock);
    const bool may =
        ownership_may_connect(&partition->ownership, &partition->params.times, boot_us());
    lock_release(&partition->lock);
    return may;
}

enum status partition_hand_over(struct partition *partition, int64_t limit_us)
{
    const int64_t until_us = read_clock_us(CLOCK_MONOTONIC) + limit_us;
    lock_acquire(&partition->lock);
    enum status status = takes_lines(partition) ? STATUS_E_IO : STATUS_E_STALE;
    partition->hand_over = status == STATUS_E_IO;
    partition->refused = false;
    (void)pthread_cond_signal(&partition->work);
    while (status == STATUS_E_IO && read_clock_us(CLOCK_MONOTONIC) < until_us) {
        lock_wait(&partition->settled, &partition->lock, until_us);
        status = partition->refused                                  ? STATUS_E_EMPTY
                 : partition->ownership.state == OWNERSHIP_FOLLOWING ? STATUS_OK
                                                                     : STATUS_E_IO;
    }
    partition->hand_over = false;
    lock_release(&partition->lock);
    return status;
}

void partition_get_report(struct partition *partition, struct partition_report *out)
{
    lock_acquire(&partition->lock);
    *out = partition->report;
    out->state = partition->ownership.state;
    out->epoch = partition->ownership.epoch;
    out->n = partition->ownership.n;
    out->waiting = partition->waiting;
    out->durable = partition->ownership.durable;
    out->success_age_us = boot_us() - partition->ownership.success_us;
    lock_release(&partition->lock);
}
