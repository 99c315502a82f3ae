/* service/jobs/uploads.h - recordings that came over HTTP, as jobs of the worker.
 *
 * A recording is held in memory from its first byte until its job has ended; how many there may
 * be at once is bounded, and so is the memory. What is done with one is the caller's:
 * service/jobs/identify_jobs.h, service/jobs/replay_jobs.h.
 */
#ifndef SERVICE_JOBS_UPLOADS_H
#define SERVICE_JOBS_UPLOADS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "service/jobs/worker.h"

struct uploads;

/* What is to be done with a recording. */
struct upload_work {
    char what[JOB_WHAT_MAX];   /* for lists: the model's name, "replay" */
    char pair[EVENT_PAIR_MAX]; /* "" where it is about none */
    /* On the worker's thread, as the run of a job_order; what is written to out is the result.
     */
    enum status (*run)(struct job *job, void *context, FILE *out, struct err *err);
    void *context; /* from malloc() */
};

/* worker is borrowed; uploads_max >= 1. Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status uploads_create(struct worker *worker, unsigned uploads_max,
                                    struct uploads **out);
/* When neither the server nor the worker runs any more. NULL is allowed. */
void uploads_destroy(struct uploads *uploads);

/* Any thread, as all below; as the functions of struct web_source. */
MUST_USE bool uploads_claim(struct uploads *uploads);
void uploads_release(struct uploads *uploads);

/* The recording text, from malloc(), its claim, and work->context are the worker's on STATUS_OK
 * only. STATUS_E_FULL: try later; STATUS_E_NOMEM; STATUS_E_IO: stopping. */
MUST_USE enum status uploads_submit(struct uploads *uploads, const struct upload_work *work,
                                    char *text, uint64_t *job, struct err *err);

/* Recordings in memory now, those on their way included. */
unsigned uploads_held(struct uploads *uploads);

#endif
