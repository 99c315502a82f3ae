#include "service/job/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/numbers/lab_time.h"

/* The lab's own threads have priority on machines with few processors. */
enum { NICENESS = 10 };

struct job {
    struct worker *worker;
    uint64_t id;
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

/* Everything is under the lock except params and a running job's order, which do not change. */
struct worker {
    struct worker_params params;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool stop;
    uint64_t last_id;
    struct worker_counts counts;
    size_t job_count;
    struct job *jobs[]; /* [job_count] in the order of their numbers */
};

static int64_t now_us(const struct worker *w)
{
    return w->params.now_us(w->params.now_context);
}

ENUM_NAMES(job_state, JOB_STATE_COUNT, "queued", "running", "done", "failed", "cancelled");

ENUM_NAMES(job_class, JOB_CLASS_COUNT, "lab", "upload");

/* ---- jobs; all under the lock -------------------------------------------------------- */

static bool has_ended(const struct job *job)
{
    return job->state >= JOB_DONE;
}

/* Returns the waiting job that came first; NULL: none. */
static struct job *find_waiting(struct worker *w, enum job_class class)
{
    for (size_t i = 0; i < w->job_count; i++) {
        if (w->jobs[i]->order.class == class && w->jobs[i]->state == JOB_QUEUED) {
            return w->jobs[i];
        }
    }
    return NULL;
}

static struct job *find_next(struct worker *w)
{
    struct job *job = find_waiting(w, JOB_LAB);
    return job ? job : find_waiting(w, JOB_UPLOAD);
}

static void forget_job(struct worker *w, size_t i)
{
    free(w->jobs[i]->result);
    free(w->jobs[i]);
    w->job_count--;
    memmove(&w->jobs[i], &w->jobs[i + 1], (w->job_count - i) * sizeof w->jobs[0]);
}

/* Forgets the oldest finished job if there are too many or it is too old; returns whether one
 * was. */
static bool forget_one(struct worker *w, enum job_class class, int64_t t_us)
{
    size_t retained_count = 0;
    size_t oldest = 0;
    for (size_t i = 0; i < w->job_count; i++) {
        const struct job *job = w->jobs[i];
        if (has_ended(job) && job->order.class == class) {
            oldest =
                retained_count == 0 || job->ended_us < w->jobs[oldest]->ended_us ? i : oldest;
            retained_count++;
        }
    }
    if (retained_count == 0 || (retained_count <= w->params.retain_max[class] &&
                                t_us - w->jobs[oldest]->ended_us < w->params.retain_us)) {
        return false;
    }
    forget_job(w, oldest);
    return true;
}

static void forget_old(struct worker *w, int64_t t_us)
{
    for (enum job_class class = JOB_LAB; class < JOB_CLASS_COUNT; class ++) {
        while (forget_one(w, class, t_us)) {
            continue;
        }
    }
}

static struct job *find_job(struct worker *w, uint64_t id)
{
    for (size_t i = 0; i < w->job_count; i++) {
        if (w->jobs[i]->id == id) {
            return w->jobs[i];
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

/* ---- the thread ---------------------------------------------------------------------- */

/* Call without the lock. */
static void release_job(struct worker *w, const struct job_order *order)
{
    (order->release ? order->release : free)(order->context);
    if (order->text) {
        free(order->text);
        worker_release(w);
    }
}

/* Call without the lock. What the job writes is its result. */
static enum status run_job(struct job *job, const struct job_order *order, char **result,
                           size_t *bytes, struct err *err)
{
    FILE *out = open_memstream(result, bytes);
    enum status st = out ? order->run(job, order->context, out, err) : STATUS_E_NOMEM;
    if (out && fclose(out) != 0 && st == STATUS_OK) {
        st = err_no_memory(err, order->what, "no memory for the result");
    }
    if (st == STATUS_OK && *bytes > JOB_RESULT_MAX) {
        st = STATUS_E_FULL;
    }
    if (st != STATUS_OK || *bytes == 0) {
        free(*result);
        *result = NULL;
    }
    return st;
}

/* Call under the lock, which is released meanwhile. */
static void carry_out(struct worker *w, struct job *job)
{
    const struct job_order order = job->order;
    struct err err = {0};
    w->counts.waiting[order.class]--;
    w->counts.running[order.class]++;
    job->state = JOB_RUNNING;
    job->began_us = now_us(w);
    (void)pthread_mutex_unlock(&w->lock);
    char *result = NULL;
    size_t bytes = 0;
    const enum status st = run_job(job, &order, &result, &bytes, &err);
    release_job(w, &order);
    (void)pthread_mutex_lock(&w->lock);
    if (st == STATUS_OK) {
        job->progress = 1.0;
        job->result = result;
        job->result_bytes = bytes;
    } else {
        (void)err_set(&err, st, FAULT_FIT_FAILED, order.what, "%s", status_name(st));
        job->err = err;
    }
    w->counts.running[order.class]--;
    const int64_t began_us = job->began_us;
    end_job(w, job,
            st == STATUS_OK          ? JOB_DONE
            : job->cancel || w->stop ? JOB_CANCELLED
                                     : JOB_FAILED);
    w->counts.busy_us += now_us(w) - began_us;
}

static void *run_worker(void *context)
{
    struct worker *w = context;
    (void)setpriority(PRIO_PROCESS, 0, NICENESS); /* on Linux it applies to this thread only */
    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct job *job = find_next(w);
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
           (next = find_waiting(w, JOB_LAB)) != NULL) {
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

/* ---- any thread ---- */

bool worker_claim(void *worker)
{
    struct worker *w = worker;
    (void)pthread_mutex_lock(&w->lock);
    const bool room = w->counts.uploads < w->params.queue_max[JOB_UPLOAD];
    w->counts.uploads += room;
    (void)pthread_mutex_unlock(&w->lock);
    return room;
}

void worker_release(void *worker)
{
    struct worker *w = worker;
    (void)pthread_mutex_lock(&w->lock);
    w->counts.uploads--;
    (void)pthread_mutex_unlock(&w->lock);
}

/* Call under the lock. The job belongs to the worker on STATUS_OK only. */
static enum status enqueue_job(struct worker *w, struct job *job)
{
    const enum job_class class = job->order.class;
    const int64_t t_us = now_us(w);
    forget_old(w, t_us);
    if (w->stop || w->counts.waiting[class] >= w->params.queue_max[class]) {
        w->counts.refused[class]++;
        return w->stop ? STATUS_E_IO : STATUS_E_FULL;
    }
    w->last_id = t_us > 0 && (uint64_t)t_us > w->last_id ? (uint64_t)t_us : w->last_id + 1;
    job->id = w->last_id;
    job->queued_us = t_us;
    w->jobs[w->job_count++] = job;
    w->counts.submitted[class]++;
    w->counts.waiting[class]++;
    (void)pthread_cond_signal(&w->work);
    return STATUS_OK;
}

enum status worker_submit(struct worker *w, const struct job_order *order, uint64_t *id,
                          struct err *err)
{
    struct job *job = malloc(sizeof *job);
    if (!job) {
        return err_no_memory(err, order->what, "no memory");
    }
    *job = (struct job){
        .worker = w, .order = *order, .began_us = LAB_TIME_NONE, .ended_us = LAB_TIME_NONE};
    (void)pthread_mutex_lock(&w->lock);
    const enum status st = enqueue_job(w, job);
    *id = st == STATUS_OK ? job->id : *id;
    (void)pthread_mutex_unlock(&w->lock);
    if (st != STATUS_OK) {
        free(job);
        return err_set(err, st, st == STATUS_E_FULL ? FAULT_TOO_MANY : FAULT_NOT_RUNNING,
                       "upload", "%s",
                       st == STATUS_E_FULL ? "too many jobs wait" : "starting or stopping");
    }
    return STATUS_OK;
}

/* Call under the lock: a waiting job never begins. Returns its order, because the finished job
 * may be forgotten at once. */
static struct job_order drop_waiting(struct worker *w, struct job *job)
{
    const struct job_order order = job->order;
    w->counts.waiting[order.class]--;
    end_job(w, job, JOB_CANCELLED);
    return order;
}

enum status worker_cancel(void *worker, uint64_t id)
{
    struct worker *w = worker;
    struct job_order order = {.context = NULL};
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
            order = drop_waiting(w, job);
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
    release_job(w, &order);
    return st;
}

static void show_job(const struct job *job, web_show_job *show, void *context)
{
    const struct web_job shown = {.id = job->id,
                                  .kind = job_class_name(job->order.class),
                                  .model = job->order.what,
                                  .pair = job->order.pair,
                                  .file = job->order.file,
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

enum status worker_read(void *worker, uint64_t id, web_show_job *show, void *context)
{
    struct worker *w = worker;
    (void)pthread_mutex_lock(&w->lock);
    forget_old(w, now_us(w));
    const struct job *job = find_job(w, id);
    if (job) {
        show_job(job, show, context);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return job ? STATUS_OK : STATUS_E_EMPTY;
}

void worker_list(void *worker, web_show_job *show, void *context)
{
    struct worker *w = worker;
    (void)pthread_mutex_lock(&w->lock);
    forget_old(w, now_us(w));
    for (size_t i = w->job_count; i-- > 0;) {
        show_job(w->jobs[i], show, context);
    }
    (void)pthread_mutex_unlock(&w->lock);
}

const struct lab_file *worker_lab(const struct worker *w)
{
    return w->params.lab;
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
        .retain_max = {[JOB_LAB] = 32, [JOB_UPLOAD] = 32},
        .retain_us = INT64_C(3600) * 1000000,
    };
}

enum status worker_start(const struct worker_params *params, struct worker **out)
{
    size_t jobs = JOB_CLASS_COUNT; /* one job of each class may run */
    bool valid = params->retain_us > 0 && params->now_us != NULL;
    for (int class = 0; class < JOB_CLASS_COUNT; class ++) {
        valid = valid && params->queue_max[class] > 0 && params->retain_max[class] > 0;
        /* One more slot, for the moment between the end of a job and forgetting another. */
        jobs += params->queue_max[class] + params->retain_max[class] + 1;
    }
    if (!valid) {
        return STATUS_E_ARG;
    }
    struct worker *w = calloc(1, sizeof *w + jobs * sizeof w->jobs[0]);
    if (!w) {
        return STATUS_E_NOMEM;
    }
    w->params = *params;
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
        struct job_order order = {.context = NULL};
        (void)pthread_mutex_lock(&w->lock);
        struct job *job = find_next(w);
        any = job != NULL;
        order = job ? drop_waiting(w, job) : order;
        (void)pthread_mutex_unlock(&w->lock);
        release_job(w, &order);
    }
}

void worker_destroy(struct worker *w)
{
    if (!w) {
        return;
    }
    while (w->job_count > 0) {
        forget_job(w, w->job_count - 1);
    }
    (void)pthread_cond_destroy(&w->work);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}
