#include "logger/message/team_forecast.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"

/* State of the parser. The lists are stored behind the event. */
struct reading {
    struct event event; /* must be first, because e points to it */
    struct team_forecast forecast;
};

static struct team_forecast *forecast_of(struct event *e)
{
    return &((struct reading *)(void *)e)->forecast;
}

/* ---- items of lists ---- */

static bool scan_name(struct json_scan *s, char *name, size_t size)
{
    struct json_text text;
    if (!json_scan_next_item(s) || !json_scan_text(s, &text)) {
        return !s->error && json_scan_fail(s, FAULT_TEXT_EXPECTED, "a name was expected");
    }
    const size_t bytes = json_text_copy(&text, name, size, false);
    return (bytes > 0 && bytes < size) ||
           json_scan_fail(s, FAULT_BAD_NAME, "a name that a team can have was expected");
}

static bool scan_whole(struct json_scan *s, double max, double *value)
{
    if (!json_scan_next_item(s) || !json_scan_number(s, value)) {
        return !s->error && json_scan_fail(s, FAULT_NOT_A_NUMBER, "a number was expected");
    }
    return (*value >= 1.0 && *value <= max) ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE, "a number of 1 or more was expected");
}

/* Parses seconds that are not below *least_us, and raises *least_us to them. */
static bool scan_time(struct json_scan *s, int64_t *least_us, int64_t *t_us)
{
    static const double LONGEST_S = 1e9;
    double value = 0.0;
    if (!json_scan_next_item(s) || !json_scan_number(s, &value)) {
        return !s->error && json_scan_fail(s, FAULT_NOT_A_NUMBER, "seconds were expected");
    }
    if (!(fabs(value) <= LONGEST_S) || lab_us(value) < *least_us) {
        return json_scan_fail(s, FAULT_WRONG_ORDER, "percentiles in their order were expected");
    }
    *t_us = *least_us = lab_us(value);
    return true;
}

static bool scan_range(struct json_scan *s, struct forecast_range *range)
{
    int64_t least_us = INT64_MIN;
    return scan_time(s, &least_us, &range->p05_us) && scan_time(s, &least_us, &range->p50_us) &&
           scan_time(s, &least_us, &range->p95_us);
}

static bool end_list(struct json_scan *s)
{
    return !json_scan_next_item(s)
               ? !s->error
               : json_scan_fail(s, FAULT_UNEXPECTED_VALUE, "no further item was expected");
}

static bool scan_job(struct json_scan *s, struct forecast_job *job)
{
    double number = 0.0;
    *job = (struct forecast_job){.number = 0};
    if (!json_scan_enter(s, JSON_KIND_ARRAY) || !scan_name(s, job->robot, sizeof job->robot) ||
        !scan_whole(s, 9e15, &number) || !scan_range(s, &job->end)) {
        return false;
    }
    job->number = (uint64_t)number;
    return end_list(s);
}

static bool scan_bar(struct json_scan *s, struct forecast_bar *bar)
{
    double n = 0.0;
    int64_t from_us = INT64_MIN, least_us = INT64_MIN;
    *bar = (struct forecast_bar){.n = 0};
    if (!json_scan_enter(s, JSON_KIND_ARRAY) || !scan_name(s, bar->robot, sizeof bar->robot) ||
        !scan_whole(s, UINT32_MAX, &n) || !scan_name(s, bar->task, sizeof bar->task) ||
        !scan_time(s, &from_us, &bar->from_us) || !scan_time(s, &least_us, &bar->p05_us) ||
        !scan_time(s, &least_us, &bar->p95_us)) {
        return false;
    }
    bar->n = (uint32_t)n;
    return end_list(s);
}

/* ---- members ---- */

static bool scan_end(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    f->known = true;
    return json_scan_enter(s, JSON_KIND_ARRAY) && scan_range(s, &f->end) && end_list(s);
}

static bool scan_jobs(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (f->job_count == TEAM_FORECAST_JOBS) {
            return json_scan_fail(s, FAULT_TOO_MANY, "at most 64 jobs were expected");
        }
        if (!scan_job(s, &f->jobs[f->job_count++])) {
            return false;
        }
    }
    return !s->error;
}

static bool scan_bars(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (f->bar_count == TEAM_FORECAST_BARS) {
            return json_scan_fail(s, FAULT_TOO_MANY, "at most 256 bars were expected");
        }
        if (!scan_bar(s, &f->bars[f->bar_count++])) {
            return false;
        }
    }
    return !s->error;
}

static bool scan_number(struct json_scan *s, struct event *e)
{
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    forecast_of(e)->number = value >= 1.0 && value < 9e15 ? (uint64_t)value : 0;
    return forecast_of(e)->number > 0 ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE, "a \"number\" of 1 or more was expected");
}

static bool scan_runs(struct json_scan *s, struct event *e)
{
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    const bool fine = value >= 0.0 && value <= UINT32_MAX;
    forecast_of(e)->runs = fine ? (uint32_t)value : 0;
    return fine || json_scan_fail(s, FAULT_OUT_OF_RANGE, "\"runs\" of 0 or more were expected");
}

static bool scan_t(struct json_scan *s, struct event *e)
{
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    forecast_of(e)->t_us = fabs(value) < 9e12 ? lab_us(value) : LAB_TIME_NONE;
    return fabs(value) < 9e12 ||
           json_scan_fail(s, FAULT_TIME_EXPECTED, "a lab time was expected");
}

static bool scan_detail(struct json_scan *s, struct event *e)
{
    struct json_text text;
    struct team_forecast *f = forecast_of(e);
    return json_scan_text(s, &text) &&
           (json_text_copy(&text, f->detail, sizeof f->detail, false) < sizeof f->detail ||
            json_scan_fail(s, FAULT_TOO_LONG, "a \"detail\" of at most 95 bytes was expected"));
}

static bool finish_reading(struct json_scan *s, struct event *e,
                           const struct payload_seen *seen)
{
    (void)s;
    (void)seen;
    e->forecast = forecast_of(e);
    return true;
}

/* ---- the line ---- */

size_t team_forecast_decode(const struct message *message, event_emit *emit, void *context)
{
    static const struct payload_member members[] = {
        {.name = "team",
         .required = true,
         .type = PAYLOAD_WORD,
         PAYLOAD_IN(pair),
         .expected = "a \"team\" of at most 31 bytes was expected"},
        {.name = "number", .required = true, .type = PAYLOAD_OTHER, .scan = scan_number},
        {.name = "t", .required = true, .type = PAYLOAD_OTHER, .scan = scan_t},
        {.name = "runs", .type = PAYLOAD_OTHER, .scan = scan_runs},
        {.name = "end", .type = PAYLOAD_OTHER, .scan = scan_end},
        {.name = "jobs", .type = PAYLOAD_OTHER, .scan = scan_jobs},
        {.name = "bars", .type = PAYLOAD_OTHER, .scan = scan_bars},
        {.name = "detail", .type = PAYLOAD_OTHER, .scan = scan_detail},
    };
    static const struct payload_kind kind = {.what = TEAM_FORECAST_LINE,
                                             .kind = EVENT_FORECAST,
                                             .members = members,
                                             .count = COUNT(members),
                                             .missing =
                                                 "\"team\", \"number\" and \"t\" were expected",
                                             .check = finish_reading};
    struct reading r = {.event = {.pair = "$lab"}};
    return payload_decode(&kind, SIDE_COUNT, message, &r.event, emit, context);
}

static void write_ms(struct json_writer *w, int64_t t_us)
{
    json_write_seconds(w, NULL, (t_us + (t_us < 0 ? -500 : 500)) / 1000 * 1000);
}

static void write_range(struct json_writer *w, const struct forecast_range *range)
{
    write_ms(w, range->p05_us);
    write_ms(w, range->p50_us);
    write_ms(w, range->p95_us);
}

static void write_lists(struct json_writer *w, const struct team_forecast *f)
{
    json_write_array(w, "jobs");
    for (size_t k = 0; k < f->job_count; k++) {
        json_write_array(w, NULL);
        JSON_WRITE(w, JSON(NULL, f->jobs[k].robot), JSON(NULL, f->jobs[k].number));
        write_range(w, &f->jobs[k].end);
        json_write_close(w);
    }
    json_write_close(w);
    json_write_array(w, "bars");
    for (size_t k = 0; k < f->bar_count; k++) {
        const struct forecast_bar *bar = &f->bars[k];
        json_write_array(w, NULL);
        JSON_WRITE(w, JSON(NULL, bar->robot), JSON(NULL, bar->n), JSON(NULL, bar->task));
        write_ms(w, bar->from_us);
        write_ms(w, bar->p05_us);
        write_ms(w, bar->p95_us);
        json_write_close(w);
    }
    json_write_close(w);
}

void team_forecast_write(struct json_writer *w, const char *team, const struct team_forecast *f)
{
    JSON_OPEN(w, NULL, JSON("team", team), JSON("number", f->number),
              JSON_SECONDS("t", f->t_us), JSON("runs", f->runs));
    if (f->known) {
        json_write_array(w, "end");
        write_range(w, &f->end);
        json_write_close(w);
    }
    write_lists(w, f);
    if (f->detail[0]) {
        json_write_text(w, "detail", f->detail);
    }
    json_write_close(w);
}
