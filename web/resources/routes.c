#include "web/http/routes.h"

#include "web/resources/handlers.h"

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

#define PROGRAM   GROUND_BIT(GROUND_PROGRAM)
#define VIEW      GROUND_BIT(GROUND_VIEW)
#define PAIR      GROUND_BIT(GROUND_PAIR)
#define MOVES     GROUND_BIT(GROUND_MOVES)
#define FOLLOWING GROUND_BIT(GROUND_FOLLOWING)
#define DYNAMICS  GROUND_BIT(GROUND_DYNAMICS)
#define STORED(x) GROUND_BIT(GROUND_##x)

/* clang-format off */
const struct web_route web_routes[] = {
    /* method      path                               body_max       needs_token    parameters         handler, rests_on */
    {ROUTE_GET,  "/",                                 0,             ROUTE_OPEN,    0,                 get_index, PROGRAM},
    {ROUTE_GET,  "/page/{file}",                      0,             ROUTE_OPEN,    0,                 get_page, PROGRAM},
    {ROUTE_GET,  "/healthz",                          0,             ROUTE_OPEN,    0,                 get_healthz, PROGRAM},
    {ROUTE_GET,  "/readyz",                           0,             ROUTE_OPEN,    0,                 get_readyz, VIEW},
    {ROUTE_GET,  "/metrics",                          0,             ROUTE_READING, 0,                 get_metrics, 0},
    {ROUTE_GET,  "/api/v1/status",                    0,             ROUTE_READING, 0,                 get_status, 0},
    {ROUTE_GET,  "/api/v1/openapi.json",              0,             ROUTE_READING, 0,                 get_openapi, PROGRAM},
    {ROUTE_GET,  "/api/v1/events",                    0,             ROUTE_READING, LISTEN,            get_events, 0},
    {ROUTE_GET,  "/api/v1/pairs",                     0,             ROUTE_READING, PAGE,              get_pairs, VIEW},
    {ROUTE_GET,  "/api/v1/pairs/{id}",                0,             ROUTE_READING, 0,                 get_pair, PAIR | FOLLOWING},
    {ROUTE_GET,  "/api/v1/pairs/{id}/entries",        0,             ROUTE_READING, HISTORY | VERDICT, get_entries, STORED(ENTRIES)},
    {ROUTE_GET,  "/api/v1/pairs/{id}/series",         0,             ROUTE_READING, SERIES,            get_series, STORED(ENTRIES)},
    {ROUTE_GET,  "/api/v1/pairs/{id}/alarms",         0,             ROUTE_READING, HISTORY | TYPE,    get_alarms, STORED(ALARMS)},
    {ROUTE_GET,  "/api/v1/pairs/{id}/log",            0,             ROUTE_READING, HISTORY,           get_log, STORED(LOG)},
    {ROUTE_GET,  "/api/v1/pairs/{id}/travel-time",    0,             ROUTE_READING, 0,                 get_travel_time, MOVES},
    {ROUTE_GET,  "/api/v1/pairs/{id}/tracked",        0,             ROUTE_READING, 0,                 get_tracked, PAIR},
    {ROUTE_GET,  "/api/v1/pairs/{id}/clock",          0,             ROUTE_READING, 0,                 get_clock, PAIR},
    {ROUTE_GET,  "/api/v1/pairs/{id}/machines",       0,             ROUTE_READING, 0,                 get_machines, 0},
    {ROUTE_GET,  "/api/v1/pairs/{id}/trajectory",     0,             ROUTE_READING, 0,                 get_trajectory, 0},
    {ROUTE_GET,  "/api/v1/pairs/{id}/parameters",     0,             ROUTE_READING, 0,                 get_parameters, PAIR},
    {ROUTE_GET,  "/api/v1/pairs/{id}/parameters/changes", 0,         ROUTE_READING, HISTORY,           get_changes, STORED(CHANGES)},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/propose",  256,      ROUTE_WRITING, 0,                 post_propose, 0},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/promote",  256,      ROUTE_WRITING, 0,                 post_promote, 0},
    {ROUTE_POST, "/api/v1/pairs/{id}/parameters/rollback", 256,      ROUTE_WRITING, 0,                 post_rollback, 0},
    {ROUTE_GET,  "/api/v1/pairs/{id}/following",      0,             ROUTE_READING, 0,                 get_following, FOLLOWING},
    {ROUTE_PUT,  "/api/v1/pairs/{id}/following",      256,           ROUTE_WRITING, 0,                 put_following, 0},
    {ROUTE_GET,  "/api/v1/pairs/{id}/fidelity",       0,             ROUTE_READING, 0,                 get_fidelity, FOLLOWING},
    {ROUTE_POST, "/api/v1/pairs/{id}/commands",       EVENT_RAW_MAX, ROUTE_WRITING, 0,                 post_command, 0},
    {ROUTE_GET,  "/api/v1/pairs/{id}/dynamics",       0,             ROUTE_READING, 0,                 get_dynamics, DYNAMICS},
    {ROUTE_POST, "/api/v1/pairs/{id}/identify",       256,           ROUTE_WRITING, 0,                 post_dynamics, 0},
    {ROUTE_POST, "/api/v1/identify",                  ROUTE_UPLOAD,  ROUTE_WRITING, WISH,              post_identify, 0},
    {ROUTE_GET,  "/api/v1/identify",                  0,             ROUTE_READING, 0,                 get_jobs, 0},
    {ROUTE_GET,  "/api/v1/identify/{job}",            0,             ROUTE_READING, 0,                 get_job, 0},
    {ROUTE_DELETE, "/api/v1/identify/{job}",          0,             ROUTE_WRITING, 0,                 delete_job, 0},
    {ROUTE_POST, "/api/v1/replay",                    ROUTE_UPLOAD,  ROUTE_WRITING, RECORDING,         post_replay, 0},
    {ROUTE_GET,  "/api/v1/replay/{job}",              0,             ROUTE_READING, 0,                 get_job, 0},
    {ROUTE_DELETE, "/api/v1/replay/{job}",            0,             ROUTE_WRITING, 0,                 delete_job, 0},
};
/* clang-format on */

const size_t web_route_count = COUNT(web_routes);
