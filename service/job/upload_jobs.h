/* service/job/upload_jobs.h - what is done with uploaded recordings: fits, journals and
 * tables of moves run through the lab's code, teams simulated. The functions of struct web_source of these
 * names: any thread, worker is a struct worker. */
#ifndef SERVICE_JOB_UPLOAD_JOBS_H
#define SERVICE_JOB_UPLOAD_JOBS_H

#include "service/identify/identify_request.h"
#include "service/job/worker.h"
#include "web/http/query.h"

/* Texts of a request, decoded. */
struct identify_words {
    size_t used;
    char text[QUERY_TEXT_MAX + 1];
};

/* Read what stands behind the '?' of POST /api/v1/identify, at most QUERY_TEXT_MAX bytes; the
 * request's texts are in words. STATUS_E_ARG: err->where is the parameter at fault, as it came.
 * Pure. */
MUST_USE enum status identify_query_read(const char *query, struct identify_words *words,
                                         struct identify_request *request, struct err *err);

MUST_USE enum status identify_jobs_check(void *worker, const char *query, struct err *err);
MUST_USE enum status identify_jobs_submit(void *worker, const char *query, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);

/* By the worker's lab file, whose pairs and their parameters are those of the replay. */
MUST_USE enum status replay_jobs_check(void *worker, const struct web_replay *what,
                                       struct err *err);
MUST_USE enum status replay_jobs_submit(void *worker, const struct web_replay *what, char *text,
                                        size_t bytes, uint64_t *job, struct err *err);

/* Teams to be simulated, by what stands behind the '?' of POST /api/v1/teams/simulate. */
MUST_USE enum status simulate_jobs_check(void *worker, const char *query, struct err *err);
MUST_USE enum status simulate_jobs_submit(void *worker, const char *query, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);

#endif
