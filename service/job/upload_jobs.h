/* service/job/upload_jobs.h - jobs for uploads: fits of recordings, replays of journals and
 * tables of moves, simulations of teams. They are the functions of these names in struct
 * web_source: any thread, worker is a struct worker. */
#ifndef SERVICE_JOB_UPLOAD_JOBS_H
#define SERVICE_JOB_UPLOAD_JOBS_H

#include "service/identify/identify_request.h"
#include "service/job/worker.h"
#include "web/http/query.h"

/* Decoded texts of a request. */
struct identify_words {
    size_t used;
    char text[QUERY_TEXT_MAX + 1];
};

/* Parse the query of POST /api/v1/identify, at most QUERY_TEXT_MAX bytes; the request's texts
 * are in words. STATUS_E_ARG: err->where is the faulty parameter as it came. Pure. */
MUST_USE enum status identify_query_read(const char *query, struct identify_words *words,
                                         struct identify_request *request, struct err *err);

MUST_USE enum status identify_jobs_check(void *worker, const char *query, struct err *err);
MUST_USE enum status identify_jobs_submit(void *worker, const char *query, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);

/* Replay uses the worker's lab file with its pairs and parameters. */
MUST_USE enum status replay_jobs_check(void *worker, const struct web_replay *what,
                                       struct err *err);
MUST_USE enum status replay_jobs_submit(void *worker, const struct web_replay *what, char *text,
                                        size_t bytes, uint64_t *job, struct err *err);

/* Simulate teams as the query of POST /api/v1/teams/simulate says. */
MUST_USE enum status simulate_jobs_check(void *worker, const char *query, struct err *err);
MUST_USE enum status simulate_jobs_submit(void *worker, const char *query, char *text,
                                          size_t bytes, uint64_t *job, struct err *err);

#endif
