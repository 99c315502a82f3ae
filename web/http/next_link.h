/* web/http/next_link.h - the Link header that leads to a list's next page (RFC 8288). */
#ifndef WEB_HTTP_NEXT_LINK_H
#define WEB_HTTP_NEXT_LINK_H

#include "web/http/handler.h"

/* Same path and selection, from this place on (web/http/cursor.h). Written to response->link.
 */
void next_link(const struct web_request *request, const char *place, uint64_t salt,
               struct web_response *response);

#endif
