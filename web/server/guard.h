/* web/server/guard.h - who may ask at all, before it matters what; and telling of those
 * refused. */
#ifndef WEB_SERVER_GUARD_H
#define WEB_SERVER_GUARD_H

#include "web/server/dispatch.h"

/* Would guard_admit() let it in? */
bool guard_is_fine(const struct web_input *input, const struct web_context *context);

/* False: *response holds the answer. */
bool guard_admit(const struct web_input *input, struct web_request *request,
                 struct web_response *response);

/* Count a refusal and tell the source. */
void guard_refused(const struct web_input *input, struct web_context *context,
                   enum web_refusal refusal, const char *path);

/* "host" … */
const char *guard_refusal_name(enum web_refusal refusal);

#endif
