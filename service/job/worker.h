/* service/job/worker.h - the thread for work that takes seconds: one job at a time, from a
 * bounded queue.
 *
 * A job is a function with its context. It reports progress, calls job_go_on() to learn whether
 * to continue, and may leave a text as its result. A recording that came over HTTP is in memory
 * from its first byte until its job has ended. Their number is bounded, and so is the memory.
 *
 * Jobs of the lab run before uploaded ones. When one arrives while an uploaded job runs, that
 * job's next job_go_on() runs it before it returns. So a job of the lab waits for other jobs of
 * the lab and for one step of an uploaded one, never for its end.
 *
 * Finished jobs are retained for queries, bounded by number and time. Each class has its own
 * bounds, so that neither displaces the other.
 */
#ifndef SERVICE_JOB_WORKER_H
#define SERVICE_JOB_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errors/err.h"
#include "base/text/names.h"
#include "config/labfile/lab_file.h"
#include "logger/message/event.h"
#include "web/http/web.h"

enum job_class { JOB_LAB, JOB_UPLOAD, JOB_CLASS_COUNT };

enum job_state {
    JOB_QUEUED,
    JOB_RUNNING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATE_COUNT
};

enum { JOB_WHAT_MAX = 64, JOB_FILE_MAX = 128, JOB_STAGE_MAX = 64, JOB_RESULT_MAX = 4 << 20 };

struct job;

/* A job's work. */
struct job_order {
    enum job_class class;
    char what[JOB_WHAT_MAX];   /* for lists and the log: the model's name */
    char pair[EVENT_PAIR_MAX]; /* "" if it concerns no pair */
    char file[JOB_FILE_MAX];   /* name of the uploaded file; "": none */
    /* Runs on the worker's thread. After job_go_on() returned false it must return soon, with
     * any status but STATUS_OK. On failure *err says why. The text written to out is the
     * result, at most JOB_RESULT_MAX bytes. */
    enum status (*run)(struct job *job, void *context, FILE *out, struct err *err);
    /* Releases the context: once, after run or instead of it, on any thread and without the
     * worker's lock. NULL: free(). */
    void (*release)(void *context);
    void *context;
    /* an uploaded recording from malloc(), freed with its job and its claim; NULL: none */
    char *text;
};

struct worker_params {
    /* Waiting jobs; >= 1. It also bounds the recordings in memory. */
    size_t queue_max[JOB_CLASS_COUNT];
    size_t retain_max[JOB_CLASS_COUNT]; /* finished jobs retained; >= 1 */
    int64_t retain_us;                  /* > 0, how long they are retained */
    int64_t (*now_us)(void *context);   /* lab time, any thread */
    void *now_context;
    const struct lab_file *lab; /* for the jobs, borrowed; may be NULL */
};

struct worker_counts {
    uint64_t submitted[JOB_CLASS_COUNT];
    uint64_t refused[JOB_CLASS_COUNT]; /* the queue was full */
    uint64_t ended[JOB_CLASS_COUNT][JOB_STATE_COUNT];
    size_t waiting[JOB_CLASS_COUNT];
    size_t running[JOB_CLASS_COUNT];
    size_t uploads;       /* recordings in memory, those in transfer included */
    uint64_t let_through; /* jobs of the lab run within an uploaded one */
    int64_t busy_us;      /* time spent on finished jobs */
};

struct worker;

/* Defaults: 32 jobs of the lab and 8 uploaded ones may wait, and 32 finished ones of each are
 * retained for an hour. The caller must set the clock. */
void worker_params_init(struct worker_params *params);

/* Cold path: allocates. STATUS_E_ARG, STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status worker_start(const struct worker_params *params, struct worker **out);

/* Cancel every job, drop waiting ones and refuse new ones. Returns when the thread has ended,
 * after one step of the running job. NULL is allowed. */
void worker_stop(struct worker *worker);
void worker_destroy(struct worker *worker); /* call after worker_stop(); NULL is allowed */

/* Any thread. The job's number is unique over restarts, as lab time is. Context and text belong
 * to the worker on STATUS_OK only. STATUS_E_FULL: try later; STATUS_E_IO: the worker has
 * stopped; STATUS_E_NOMEM. */
MUST_USE enum status worker_submit(struct worker *worker, const struct job_order *order,
                                   uint64_t *id, struct err *err);

/* any thread, as the functions of these names in struct web_source; its `jobs` is the worker */

MUST_USE bool worker_claim(void *worker);
void worker_release(void *worker);

/* Cancel a waiting job at once, a running one soon. STATUS_E_EMPTY: no such job;
 * STATUS_E_STALE: it has ended already. */
MUST_USE enum status worker_cancel(void *worker, uint64_t id);

/* Show one job (STATUS_E_EMPTY: no such job), or all, newest first. show is called under the
 * worker's lock and must not call the worker. */
MUST_USE enum status worker_read(void *worker, uint64_t id, web_show_job *show, void *context);
void worker_list(void *worker, web_show_job *show, void *context);

const struct lab_file *worker_lab(const struct worker *worker);
void worker_read_counts(struct worker *worker, struct worker_counts *out); /* any thread */

/* ---- within run ---------------------------------------------------------------------- */

/* May the job continue? A job must ask several times a second. The call may take as long as a
 * job of the lab. */
MUST_USE bool job_go_on(struct job *job);
/* stage: NULL leaves it unchanged. */
void job_progress(struct job *job, double share, const char *stage);

ENUM_NAMES_DECLARED(job_state); /* "queued" … */
ENUM_NAMES_DECLARED(job_class); /* "lab", "upload" */

#endif
