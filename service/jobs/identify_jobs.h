/* service/jobs/identify_jobs.h - fits of uploaded recordings. */
#ifndef SERVICE_JOBS_IDENTIFY_JOBS_H
#define SERVICE_JOBS_IDENTIFY_JOBS_H

#include "service/jobs/uploads.h"

/* Any thread; as check_identify() and identify() of struct web_source. */
MUST_USE enum status identify_jobs_check(const char *query, struct err *err);
MUST_USE enum status identify_jobs_submit(struct uploads *uploads, const char *query,
                                          char *text, size_t bytes, uint64_t *job,
                                          struct err *err);

#endif
