/* service/identify_jobs.h - recordings that came over HTTP, as jobs of the worker.
 *
 * A recording is held in memory from its first byte until its job has ended; how many there may
 * be at once is bounded, and so is the memory.
 */
#ifndef SERVICE_IDENTIFY_JOBS_H
#define SERVICE_IDENTIFY_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/worker.h"
#include "web/web.h"

struct identify_jobs;

/* worker is borrowed; uploads_max >= 1. Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status identify_jobs_create(struct worker *worker, unsigned uploads_max,
                                          struct identify_jobs **out);
/* When neither the server nor the worker runs any more. NULL is allowed. */
void identify_jobs_destroy(struct identify_jobs *jobs);

/* Any thread, as all below; as the functions of struct web_source. */
MUST_USE enum status identify_jobs_check(const struct web_identify *what, struct err *err);
MUST_USE bool identify_jobs_claim(struct identify_jobs *jobs);
void identify_jobs_release(struct identify_jobs *jobs);
MUST_USE enum status identify_jobs_submit(struct identify_jobs *jobs,
                                          const struct web_identify *what, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);
MUST_USE enum status identify_jobs_cancel(struct identify_jobs *jobs, uint64_t job);
MUST_USE enum status identify_jobs_read(struct identify_jobs *jobs, uint64_t job,
                                        web_show_job *show, void *context);
void identify_jobs_list(struct identify_jobs *jobs, web_show_job *show, void *context);

/* Recordings in memory now, those on their way included. */
unsigned identify_jobs_held(struct identify_jobs *jobs);

#endif
