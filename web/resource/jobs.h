/* web/resource/jobs.h - jobs of the daemon as resources, and checks of uploads before they are
 * received. */
#ifndef WEB_RESOURCE_JOBS_H
#define WEB_RESOURCE_JOBS_H

#include "web/http/handler.h"

/* Answer that the job was accepted, with its address below path; false, with nothing written,
 * for an unknown job. */
bool jobs_answer_new(const struct web_request *request, struct web_response *response,
                     uint64_t job, const char *path);

/* Check an upload before its body: the media type must be a table's or a journal's, the request
 * must be possible, and there must be room, which request->upload->claimed then records.
 * content_type: NULL when absent. False: *response holds the answer. */
bool upload_admit(struct web_request *request, const char *content_type,
                  struct web_response *response);

#endif
