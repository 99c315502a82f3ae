/* web/resource/handlers.h - all handlers, declared from the table of routes; web/openapi.yaml
 * specifies their answers. */
#ifndef WEB_RESOURCE_HANDLERS_H
#define WEB_RESOURCE_HANDLERS_H

#include "web/http/handler.h"

/* Declared once for each of its routes, which C allows. */
#define ROUTE(method, path, body_max, token, parameters, handler) web_handler handler;
#include "web/resource/routes.def"
#undef ROUTE

/* Returns a part of the request's pair; or NULL after a problem document that says why, and
 * which key the lab file lacks. */
const void *find_part(const struct web_request *request, struct web_response *response,
                      const void *part, enum problem_kind problem, const char *why,
                      const char *key);

#endif
