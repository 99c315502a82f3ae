#include "service/jobs/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/lab_time.h"

/* The lab's own threads come first where processors are few. */
enum { NICENESS = 10 };

struct job {
    struct worker *worker;
    uint64_t id; /* 0: the slot is free */
    struct job_order order;
    enum job_state state;
    bool cancel;
    double progress;
    char stage[JOB_STAGE_MAX];
    int64_t queued_us, began_us, ended_us;
    struct err err;
    char *result;
    size_t result_bytes;
};

/* All of it under the lock but params, and a running job's order, which does not change. */
struct worker {
    struct worker_params params;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool stop;
    uint64_t last_id;
    struct worker_counts counts;
    size_t slot_count;
    struct job slots[];
};

static int64_t now_us(const struct worker *w)
{
    return w->params.now_us(w->params.now_context);
}

ENUM_NAMES(job_state, JOB_STATE_COUNT, "queued", "running", "done", "failed", "cancelled");

ENUM_NAMES(job_class, JOB_CLASS_COUNT, "lab", "upload");

/* ---- slots; all under the lock ---- */

static bool has_ended(const struct job *job)
{
    return job->id != 0 && job->state >= JOB_DONE;
}

static void forget_job(struct job *job)
{
    free(job->result);
    *job = (struct job){.worker = job->worker};
}

/* The one of this class that came or ended first, or NULL. */
static struct job *find_oldest(struct worker *w, enum job_class class, enum job_state state)
{
    struct job *oldest = NULL;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct job *job = &w->slots[i];
        if (job->id != 0 && job->order.class == class && job->state == state &&
            (!oldest || job->id < oldest->id)) {
            oldest = job;
        }
    }
    return oldest;
}

static void forget_class(struct worker *w, enum job_class class, int64_t t_us)
{
    for (;;) {
        size_t kept = 0;
        struct job *oldest = NULL;
        for (size_t i = 0; i < w->slot_count; i++) {
            struct job *job = &w->slots[i];
            if (has_ended(job) && job->order.class == class) {
                kept++;
                oldest = !oldest || job->ended_us < oldest->ended_us ||
                                 (job->ended_us == oldest->ended_us && job->id < oldest->id)
                             ? job
                             : oldest;
            }
        }
        if (!oldest || (kept <= w->params.keep_max[class] &&
                        t_us - oldest->ended_us < w->params.keep_us)) {
            return;
        }
        forget_job(oldest);
    }
}

static void forget_old(struct worker *w, int64_t t_us)
{
    for (int class = 0; class < JOB_CLASS_COUNT; class ++) {
        forget_class(w, (enum job_class) class, t_us);
    }
}

static struct job *find_job(struct worker *w, uint64_t id)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (id != 0 && w->slots[i].id == id) {
            return &w->slots[i];
        }
    }
    return NULL;
}

static void end_job(struct worker *w, struct job *job, enum job_state state)
{
    job->state = state;
    job->ended_us = now_us(w);
    w->counts.ended[job->order.class][state]++;
    forget_old(w, job->ended_us);
}

/* ---- the thread ---- */

static void release_job(const struct job_order *order)
{
    if (order->release) {
        order->release(order->context);
    }
}

static enum job_state judge_outcome(const struct job *job, enum status st)
{
    if (st == STATUS_OK) {
        return JOB_DONE;
    }
    return job->cancel || job->worker->stop ? JOB_CANCELLED : JOB_FAILED;
}

/* Under the lock, which is released meanwhile. */
static void carry_out(struct worker *w, struct job *job)
{
    const struct job_order order = job->order;
    struct err err = {0};
    w->counts.waiting[order.class]--;
    w->counts.running[order.class]++;
    job->state = JOB_RUNNING;
    job->began_us = now_us(w);
    (void)pthread_mutex_unlock(&w->lock);
    const enum status st = order.run(job, order.context, &err);
    release_job(&order);
    (void)pthread_mutex_lock(&w->lock);
    if (st == STATUS_OK) {
        job->progress = 1.0;
    } else {
        (void)err_set(&err, st, order.what, 0, 0, "%s", status_name(st));
        job->err = err;
    }
    w->counts.running[order.class]--;
    const int64_t began_us = job->began_us;
    end_job(w, job, judge_outcome(job, st));
    w->counts.busy_us += now_us(w) - began_us;
}

static void *run_worker(void *context)
{
    struct worker *w = context;
    (void)setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread alone, on Linux */
    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct job *job = find_oldest(w, JOB_LAB, JOB_QUEUED);
        job = job ? job : find_oldest(w, JOB_UPLOAD, JOB_QUEUED);
        if (job) {
            carry_out(w, job);
        } else {
            (void)pthread_cond_wait(&w->work, &w->lock);
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool job_go_on(struct job *job)
{
    struct worker *w = job->worker;
    (void)pthread_mutex_lock(&w->lock);
    struct job *next = NULL;
    while (job->order.class == JOB_UPLOAD && !w->stop &&
           (next = find_oldest(w, JOB_LAB, JOB_QUEUED)) != NULL) {
        w->counts.let_through++;
        carry_out(w, next);
    }
    const bool go_on = !w->stop && !job->cancel;
    (void)pthread_mutex_unlock(&w->lock);
    return go_on;
}

void job_progress(struct job *job, double share, const char *stage)
{
    (void)pthread_mutex_lock(&job->worker->lock);
    if (share > job->progress) {
        job->progress = share < 1.0 ? share : 1.0;
    }
    if (stage) {
        (void)snprintf(job->stage, sizeof job->stage, "%s", stage);
    }
    (void)pthread_mutex_unlock(&job->worker->lock);
}

enum status job_result(struct job *job, const char *text, size_t bytes)
{
    if (bytes > JOB_RESULT_MAX) {
        return STATUS_E_FULL;
    }
    char *copy = malloc(bytes + 1);
    if (!copy) {
        return STATUS_E_NOMEM;
    }
    memcpy(copy, text, bytes);
    (void)pthread_mutex_lock(&job->worker->lock);
    free(job->result);
    job->result = copy;
    job->result_bytes = bytes;
    (void)pthread_mutex_unlock(&job->worker->lock);
    return STATUS_OK;
}

/* ---- any thread ---- */

enum status worker_submit(struct worker *w, const struct job_order *order, uint64_t *id)
{
    const enum job_class class = order->class;
    (void)pthread_mutex_lock(&w->lock);
    const int64_t t_us = now_us(w);
    forget_old(w, t_us);
    if (w->stop || w->counts.waiting[class] >= w->params.queue_max[class]) {
        const enum status st = w->stop ? STATUS_E_IO : STATUS_E_FULL;
        w->counts.refused[class]++;
        (void)pthread_mutex_unlock(&w->lock);
        return st;
    }
    /* There is a slot for every job that may wait, run or be kept. */
    struct job *job = w->slots;
    while (job->id != 0) {
        job++;
    }
    w->last_id = t_us > 0 && (uint64_t)t_us > w->last_id ? (uint64_t)t_us : w->last_id + 1;
    *job = (struct job){.worker = w,
                        .id = w->last_id,
                        .order = *order,
                        .state = JOB_QUEUED,
                        .queued_us = t_us,
                        .began_us = LAB_TIME_NONE,
                        .ended_us = LAB_TIME_NONE};
    *id = job->id;
    w->counts.submitted[class]++;
    w->counts.waiting[class]++;
    (void)pthread_cond_signal(&w->work);
    (void)pthread_mutex_unlock(&w->lock);
    return STATUS_OK;
}

enum status worker_cancel(struct worker *w, uint64_t id)
{
    struct job_order order = {.release = NULL};
    enum status st = STATUS_OK;
    (void)pthread_mutex_lock(&w->lock);
    struct job *job = find_job(w, id);
    if (!job) {
        st = STATUS_E_EMPTY;
    } else if (has_ended(job)) {
        st = STATUS_E_STALE;
    } else {
        job->cancel = true;
        if (job->state == JOB_QUEUED) {
            order = job->order;
            w->counts.waiting[order.class]--;
            end_job(w, job, JOB_CANCELLED);
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
    release_job(&order);
    return st;
}

static void show_job(const struct job *job, web_show_job *show, void *context)
{
    const struct web_job shown = {.id = job->id,
                                  .kind = job_class_name(job->order.class),
                                  .model = job->order.what,
                                  .pair = job->order.pair,
                                  .state = job_state_name(job->state),
                                  .cancelling = job->cancel && job->state == JOB_RUNNING,
                                  .progress = job->progress,
                                  .stage = job->stage,
                                  .queued_us = job->queued_us,
                                  .began_us = job->began_us,
                                  .ended_us = job->ended_us,
                                  .err = job->state == JOB_FAILED ? &job->err : NULL,
                                  .result = job->result,
                                  .result_bytes = job->result_bytes};
    show(context, &shown);
}

enum status worker_read(struct worker *w, uint64_t id, web_show_job *show, void *context)
{
    (void)pthread_mutex_lock(&w->lock);
    forget_old(w, now_us(w));
    const struct job *job = find_job(w, id);
    if (job) {
        show_job(job, show, context);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return job ? STATUS_OK : STATUS_E_EMPTY;
}

void worker_list(struct worker *w, web_show_job *show, void *context)
{
    (void)pthread_mutex_lock(&w->lock);
    forget_old(w, now_us(w));
    uint64_t before = UINT64_MAX;
    for (;;) {
        const struct job *newest = NULL;
        for (size_t i = 0; i < w->slot_count; i++) {
            const struct job *job = &w->slots[i];
            if (job->id != 0 && job->id < before && (!newest || job->id > newest->id)) {
                newest = job;
            }
        }
        if (!newest) {
            break;
        }
        show_job(newest, show, context);
        before = newest->id;
    }
    (void)pthread_mutex_unlock(&w->lock);
}

void worker_read_counts(struct worker *w, struct worker_counts *out)
{
    (void)pthread_mutex_lock(&w->lock);
    *out = w->counts;
    (void)pthread_mutex_unlock(&w->lock);
}

/* ---- start and stop ---- */

void worker_params_init(struct worker_params *params)
{
    *params = (struct worker_params){
        .queue_max = {[JOB_LAB] = 32, [JOB_UPLOAD] = 8},
        .keep_max = {[JOB_LAB] = 32, [JOB_UPLOAD] = 32},
        .keep_us = INT64_C(3600) * 1000000,
    };
}

enum status worker_start(const struct worker_params *params, struct worker **out)
{
    size_t slots = JOB_CLASS_COUNT; /* one of each may run */
    bool valid = params->keep_us > 0 && params->now_us != NULL;
    for (int class = 0; class < JOB_CLASS_COUNT; class ++) {
        valid = valid && params->queue_max[class] > 0 && params->keep_max[class] > 0;
        /* One more, for the moment between an end and forgetting another. */
        slots += params->queue_max[class] + params->keep_max[class] + 1;
    }
    if (!valid) {
        return STATUS_E_ARG;
    }
    struct worker *w = calloc(1, sizeof *w + slots * sizeof w->slots[0]);
    if (!w) {
        return STATUS_E_NOMEM;
    }
    w->params = *params;
    w->slot_count = slots;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->work, NULL);
    if (pthread_create(&w->thread, NULL, run_worker, w) != 0) {
        (void)pthread_cond_destroy(&w->work);
        (void)pthread_mutex_destroy(&w->lock);
        free(w);
        return STATUS_E_IO;
    }
    *out = w;
    return STATUS_OK;
}

/* Under the lock. Takes a job that waits off the queue; false: there is none. Its order is
 * copied first: one that has ended may be forgotten at once. */
static bool drop_waiting(struct worker *w, struct job_order *order)
{
    struct job *job = find_oldest(w, JOB_LAB, JOB_QUEUED);
    job = job ? job : find_oldest(w, JOB_UPLOAD, JOB_QUEUED);
    if (job) {
        *order = job->order;
        w->counts.waiting[order->class]--;
        end_job(w, job, JOB_CANCELLED);
    }
    return job != NULL;
}

void worker_stop(struct worker *w)
{
    if (!w) {
        return;
    }
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_signal(&w->work);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    for (bool any = true; any;) {
        struct job_order order;
        (void)pthread_mutex_lock(&w->lock);
        any = drop_waiting(w, &order);
        (void)pthread_mutex_unlock(&w->lock);
        if (any) {
            release_job(&order);
        }
    }
}

void worker_destroy(struct worker *w)
{
    if (!w) {
        return;
    }
    for (size_t i = 0; i < w->slot_count; i++) {
        free(w->slots[i].result);
    }
    (void)pthread_cond_destroy(&w->work);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}
