/* tests/support/team_live_forecast.h - forecasts of a rig's team (team_live_rig.h), made as the
 * daemon makes them and given back as a line of the journal. */
#ifndef TESTS_SUPPORT_TEAM_LIVE_FORECAST_H
#define TESTS_SUPPORT_TEAM_LIVE_FORECAST_H

#include "tests/support/team_live_rig.h"

#include "twin/team/live/team_live_predict.h"

enum { FORECAST_AFTER_US = 30000 };

/* Two robots and one place; jobs for whoever is free. */
static const char FORECAST_TEAM[] =
    "{\"team\": {\"resources\": {\"IB\": {}}, \"sequences\": {\"j\": [[\"lock\", [\"IB\"]], "
    "[\"do\", \"Move\", \"IB\"], [\"do\", \"Pick\"], [\"unlock\", [\"IB\"]], [\"do\", "
    "\"Move\", "
    "\"OB\"], [\"do\", \"Place\"]]}, \"robots\": {\"R1\": {\"handles\": [\"a\"]}, \"R2\": "
    "{\"handles\": [\"a\"]}}, \"jobs\": []}}";

/* The forecast that is wanted now, if one is; at_us: when its line comes, 0: soon. */
static inline bool rig_forecast(struct rig *rig, int64_t at_us)
{
    static struct team_forecast forecast;
    static char text[RIG_PAYLOAD];
    const struct team_live *live = lab_team(rig->lab, 0);
    const int64_t now_us = lab_time(rig->lab);
    struct json_writer w;
    if (live->forecast.asked <= rig->forecast_number) {
        return false;
    }
    rig->forecast_number = live->forecast.asked;
    void *memory = malloc(team_live_predict_bytes(&rig->spec.p));
    CU_ASSERT_FATAL(memory != NULL);
    team_live_predict(memory, live, &rig->spec.p, now_us, NULL, NULL, &forecast);
    free(memory);
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    team_forecast_write(&w, rig->spec.p.name, &forecast);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[w.used] = '\0';
    rig_queue(rig, at_us > 0 ? at_us : now_us + FORECAST_AFTER_US, "$lab/forecast", text);
    return true;
}

/* Go on until nothing happens any more, with a forecast whenever one is wanted. */
static inline void rig_run_forecasts(struct rig *rig)
{
    while (rig_go_on(rig)) {
        (void)rig_forecast(rig, 0);
    }
}

/* count jobs at once. */
static inline void rig_send_jobs(struct rig *rig, int64_t t_us, size_t count)
{
    static unsigned number;
    char text[160];
    for (size_t k = 0; k < count; k++) {
        (void)snprintf(
            text, sizeof text,
            "{\"team\":\"cell\",\"op\":\"job\",\"id\":\"j%u\",\"part\":\"a\",\"seq\":"
            "\"j\"}",
            ++number);
        rig_queue(rig, t_us, "$lab/request", text);
    }
}

#endif
