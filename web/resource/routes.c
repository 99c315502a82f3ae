/* web/resource/routes.c - the table of all routes, made from routes.def. */
#include "web/http/routes.h"

#include "web/resource/handlers.h"

#define PAGE    (QUERY_BIT(QUERY_LIMIT) | QUERY_BIT(QUERY_CURSOR) | QUERY_BIT(QUERY_FORMAT))
#define PAGED   (PAGE | QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_ORDER))
#define NAMED   QUERY_BIT(QUERY_NAME)
#define VERDICT QUERY_BIT(QUERY_VERDICT)
#define TYPE    QUERY_BIT(QUERY_TYPE)
#define TEAM    (QUERY_BIT(QUERY_TEAM) | QUERY_BIT(QUERY_JOB))
#define VERSION (QUERY_BIT(QUERY_REAL_VERSION) | QUERY_BIT(QUERY_VIRTUAL_VERSION))
#define ENTRIES (PAGED | VERDICT | TEAM | VERSION)
#define LISTEN                                                                                 \
    (QUERY_BIT(QUERY_EVENT_PAIRS) | QUERY_BIT(QUERY_EVENT_TYPES) |                             \
     QUERY_BIT(QUERY_LAST_EVENT_ID))
#define SERIES                                                                                 \
    (QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_POINTS) |               \
     QUERY_BIT(QUERY_FIELD))
#define SPAN   (QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL))
#define CHART (QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_CHART_FORMAT))
#define FRAGMENT                                                                               \
    (QUERY_BIT(QUERY_FRAGMENT_FORMAT) | QUERY_BIT(QUERY_NAME) | QUERY_BIT(QUERY_INERTIA) |     \
     QUERY_BIT(QUERY_TORQUE_PER_UNIT) | QUERY_BIT(QUERY_MASS) | QUERY_BIT(QUERY_YAW_INERTIA))
#define FORECAST                                                                               \
    (QUERY_BIT(QUERY_ROTATION) | QUERY_BIT(QUERY_DISPLACEMENT) | QUERY_BIT(QUERY_LEVEL) |      \
     QUERY_BIT(QUERY_OPEN))
#define RECORDING (QUERY_BIT(QUERY_NAME) | QUERY_BIT(QUERY_PAIR) | QUERY_BIT(QUERY_REFIT))

const struct web_route web_routes[] = {
#define ROUTE(method, path, body_max, token, parameters, handler)                              \
    {ROUTE_##method, path, body_max, ROUTE_##token, parameters, handler},
#include "web/resource/routes.def"
#undef ROUTE
};

const size_t web_route_count = COUNT(web_routes);
