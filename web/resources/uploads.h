/* web/resources/uploads.h - an uploaded recording, before it is there. */
#ifndef WEB_RESOURCES_UPLOADS_H
#define WEB_RESOURCES_UPLOADS_H

#include "web/http/handler.h"

/* May the recording come? Its media type is that of a table or a journal, what is asked for can
 * be done, and there is room for it, which request->upload->claimed then says. content_type:
 * NULL when absent. False: *response holds the answer. */
bool upload_admit(struct web_request *request, const char *content_type,
                  struct web_response *response);

#endif
