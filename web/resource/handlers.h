/* web/resource/handlers.h - all handlers, declared from the table of routes; web/openapi.yaml
 * specifies their answers. */
#ifndef WEB_RESOURCE_HANDLERS_H
#define WEB_RESOURCE_HANDLERS_H

#include "web/http/handler.h"

/* Declared once for each of its routes, which C allows. */
#define ROUTE(method, path, body_max, token, parameters, handler) web_handler handler;
#include "web/resource/routes.def"
#undef ROUTE

/* Returns the model of dynamics that a lab file would name for such a pair. */
const char *suggest_model(const struct pair_params *p);

#endif
