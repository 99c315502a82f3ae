#include "web/routes.h"

#include "web/handlers.h"

#define PAGE (QUERY_BIT(QUERY_LIMIT) | QUERY_BIT(QUERY_CURSOR) | QUERY_BIT(QUERY_FORMAT))
#define HISTORY                                                                                \
    (PAGE | QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_ORDER))
#define VERDICT QUERY_BIT(QUERY_VERDICT)
#define TYPE    QUERY_BIT(QUERY_TYPE)
#define LISTEN                                                                                 \
    (QUERY_BIT(QUERY_EVENT_PAIRS) | QUERY_BIT(QUERY_EVENT_TYPES) |                             \
     QUERY_BIT(QUERY_LAST_EVENT_ID))
#define SERIES                                                                                 \
    (QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_POINTS) |               \
     QUERY_BIT(QUERY_FIELD))
#define WISH                                                                                   \
    (QUERY_BIT(QUERY_MODEL) | QUERY_BIT(QUERY_METHOD) | QUERY_BIT(QUERY_SIDE) |                \
     QUERY_BIT(QUERY_COLUMNS) | QUERY_BIT(QUERY_BIASES) | QUERY_BIT(QUERY_NAME) |              \
     QUERY_BIT(QUERY_PAIR) | QUERY_BIT(QUERY_ROBUST) | QUERY_BIT(QUERY_RIDGE) |                \
     QUERY_BIT(QUERY_DELAY_MAX) | QUERY_BIT(QUERY_CURRENT))
#define RECORDING (QUERY_BIT(QUERY_NAME) | QUERY_BIT(QUERY_PAIR))

/* clang-format off */
const struct web_route web_routes[] = {
    /* method      path                               body_max       needs_token    parameters         handler */
    {ROUTE_GET,  "/",                                 0,             ROUTE_OPEN,    0,                 get_index},
    {ROUTE_GET,  "/page/{file}",                      0,             ROUTE_OPEN,    0,                 get_page},
    {ROUTE_GET,  "/healthz",                          0,             ROUTE_OPEN,    0,                 get_healthz},
    {ROUTE_GET,  "/readyz",                           0,             ROUTE_OPEN,    0,                 get_readyz},
    {ROUTE_GET,  "/metrics",                          0,             ROUTE_READING, 0,                 get_metrics},
    {ROUTE_GET,  "/api/v1/status",                    0,             ROUTE_READING, 0,                 get_status},
    {ROUTE_GET,  "/api/v1/openapi.json",              0,             ROUTE_READING, 0,                 get_openapi},
    {ROUTE_GET,  "/api/v1/events",                    0,             ROUTE_READING, LISTEN,            get_events},
    {ROUTE_GET,  "/api/v1/pairs",                     0,             ROUTE_READING, PAGE,              get_pairs},
    {ROUTE_GET,  "/api/v1/pairs/{id}",                0,             ROUTE_READING, 0,                 get_pair},
    {ROUTE_GET,  "/api/v1/pairs/{id}/entries",        0,             ROUTE_READING, HISTORY | VERDICT, get_entries},
    {ROUTE_GET,  "/api/v1/pairs/{id}/series",         0,             ROUTE_READING, SERIES,            get_series},
    {ROUTE_GET,  "/api/v1/pairs/{id}/alarms",         0,             ROUTE_READING, HISTORY | TYPE,    get_alarms},
    {ROUTE_GET,  "/api/v1/pairs/{id}/log",            0,             ROUTE_READING, HISTORY,           get_log},
    {ROUTE_GET,  "/api/v1/pairs/{id}/travel-time",    0,             ROUTE_READING, 0,                 get_travel_time},
    {ROUTE_GET,  "/api/v1/pairs/{id}/tracked",        0,             ROUTE_READING, 0,                 get_tracked},
    {ROUTE_GET,  "/api/v1/pairs/{id}/clock",          0,             ROUTE_READING, 0,                 get_clock},
    {ROUTE_GET,  "/api/v1/pairs/{id}/machines",       0,             ROUTE_READING, 0,                 get_machines},
    {ROUTE_GET,  "/api/v1/pairs/{id}/trajectory",     0,             ROUTE_READING, 0,                 get_trajectory},
    {ROUTE_GET,  "/api/v1/pairs/{id}/parameters",     0,             ROUTE_READING, 0,                 get_parameters},
    {ROUTE_GET,  "/api/v1/pairs/{id}/parameters/changes", 0,         ROUTE_READING, HISTORY,           get_changes},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/propose",  256,      ROUTE_WRITING, 0,                 post_propose},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/promote",  256,      ROUTE_WRITING, 0,                 post_promote},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/rollback", 256,      ROUTE_WRITING, 0,                 post_rollback},
    {ROUTE_GET,  "/api/v1/pairs/{id}/following",      0,             ROUTE_READING, 0,                 get_following},
    {ROUTE_PUT,  "/api/v1/pairs/{id}/following",      256,           ROUTE_WRITING, 0,                 put_following},
    {ROUTE_GET,  "/api/v1/pairs/{id}/fidelity",       0,             ROUTE_READING, 0,                 get_fidelity},
    {ROUTE_POST, "/api/v1/pairs/{id}/commands",       EVENT_RAW_MAX, ROUTE_WRITING, 0,                 post_command},
    {ROUTE_GET,  "/api/v1/pairs/{id}/dynamics",       0,             ROUTE_READING, 0,                 get_dynamics},
    {ROUTE_POST, "/api/v1/pairs/{id}/identify",       256,           ROUTE_WRITING, 0,                 post_dynamics},
    {ROUTE_POST, "/api/v1/identify",                  ROUTE_UPLOAD,  ROUTE_WRITING, WISH,              post_identify},
    {ROUTE_GET,  "/api/v1/identify",                  0,             ROUTE_READING, 0,                 get_jobs},
    {ROUTE_GET,  "/api/v1/identify/{job}",            0,             ROUTE_READING, 0,                 get_job},
    {ROUTE_DELETE, "/api/v1/identify/{job}",          0,             ROUTE_WRITING, 0,                 delete_job},
    {ROUTE_POST, "/api/v1/replay",                    ROUTE_UPLOAD,  ROUTE_WRITING, RECORDING,         post_replay},
    {ROUTE_GET,  "/api/v1/replay/{job}",              0,             ROUTE_READING, 0,                 get_job},
    {ROUTE_DELETE, "/api/v1/replay/{job}",            0,             ROUTE_WRITING, 0,                 delete_job},
};
/* clang-format on */

const size_t web_route_count = COUNT(web_routes);
