/* service/jobs/upload_jobs.h - what is done with uploaded recordings: fits, and journals and
 * tables of moves run through the lab's code. The functions of struct web_source of these
 * names: any thread, worker is a struct worker. */
#ifndef SERVICE_JOBS_UPLOAD_JOBS_H
#define SERVICE_JOBS_UPLOAD_JOBS_H

#include "service/jobs/worker.h"

MUST_USE enum status identify_jobs_check(void *worker, const char *query, struct err *err);
MUST_USE enum status identify_jobs_submit(void *worker, const char *query, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);

/* By the worker's lab file, whose pairs and their parameters are those of the replay. */
MUST_USE enum status replay_jobs_check(void *worker, const struct web_replay *what,
                                       struct err *err);
MUST_USE enum status replay_jobs_submit(void *worker, const struct web_replay *what, char *text,
                                        size_t bytes, uint64_t *job, struct err *err);

#endif
