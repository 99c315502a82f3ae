/* web/resource/jobs.h - a job of the daemon as a resource, and an uploaded recording
 * before it is there. */
#ifndef WEB_RESOURCE_JOBS_H
#define WEB_RESOURCE_JOBS_H

#include "web/http/handler.h"

/* Answer that the job has been taken, and where below path it is found; false, and nothing
 * written, when there is no such job. */
bool jobs_answer_new(const struct web_request *request, struct web_response *response,
                     uint64_t job, const char *path);

/* May the recording come? Its media type is that of a table or a journal, what is asked for can
 * be done, and there is room for it, which request->upload->claimed then says. content_type:
 * NULL when absent. False: *response holds the answer. */
bool upload_admit(struct web_request *request, const char *content_type,
                  struct web_response *response);

#endif
