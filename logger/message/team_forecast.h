/* logger/message/team_forecast.h - the prediction of a team's activities, as a line of the
 * daemon's journal.
 *
 * A replay reads the prediction from the line and need not compute it again. Pure.
 */
#ifndef LOGGER_MESSAGE_TEAM_FORECAST_H
#define LOGGER_MESSAGE_TEAM_FORECAST_H

#include "logger/message/event.h"
#include "logger/message/payload.h"

enum {
    TEAM_FORECAST_JOBS = 64,
    TEAM_FORECAST_BARS = 256,
    TEAM_FORECAST_TASK_MAX = 2 * EVENT_TEAM_NAME_MAX,
    TEAM_FORECAST_TEXT_MAX = 32 * 1024 /* bytes of the line's payload */
};

/* Percentiles, as times after t_us of the forecast. p05 == p95: a guess, not an interval. */
struct forecast_range {
    int64_t p05_us, p50_us, p95_us;
};

static inline bool forecast_has_interval(const struct forecast_range *r)
{
    return r->p05_us < r->p95_us;
}

/* Predicted begin (median) and end of a robot's activity. */
struct forecast_bar {
    char robot[EVENT_TEAM_NAME_MAX];
    char task[TEAM_FORECAST_TASK_MAX]; /* "Move IB" */
    uint32_t n;
    int64_t from_us, p05_us, p95_us;
};

/* Predicted end of a robot's present job. */
struct forecast_job {
    char robot[EVENT_TEAM_NAME_MAX];
    uint64_t number;
    struct forecast_range end;
};

struct team_forecast {
    uint64_t number; /* number among the team's forecasts, from 1 */
    int64_t t_us;    /* lab time of the state that it starts from */
    uint32_t runs;
    bool known; /* `end`: time until no robot works any more */
    struct forecast_range end;
    size_t job_count, bar_count;
    struct forecast_job jobs[TEAM_FORECAST_JOBS];
    struct forecast_bar bars[TEAM_FORECAST_BARS];
    char detail[96]; /* reason if there is no prediction; "" else */
};

/* The line's name behind "<prefix>/$lab/". */
#define TEAM_FORECAST_LINE "forecast"

/* Writes {"team","number","t","runs","end":[p05,p50,p95],"jobs":[[robot,number,p05,p50,p95]…],
 * "bars":[[robot,n,task,from,p05,p95]…],"detail"}; times are seconds after t, in whole
 * milliseconds. */
void team_forecast_write(struct json_writer *w, const char *team,
                         const struct team_forecast *forecast);
/* Decodes such a payload as EVENT_FORECAST of the team, or EVENT_MALFORMED. The forecast is
 * borrowed for the call of emit. Returns the number of events. */
size_t team_forecast_decode(const struct message *message, event_emit *emit, void *context);

#endif
