/* web/resources/jobs.h - a job of the daemon as a resource. */
#ifndef WEB_RESOURCES_JOBS_H
#define WEB_RESOURCES_JOBS_H

#include "web/http/handler.h"

/* The job with its result as the response's body; false, and nothing written, when there is no
 * such job. */
bool jobs_write(const struct web_request *request, struct web_response *response, uint64_t job);

#endif
