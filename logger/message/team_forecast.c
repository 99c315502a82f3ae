#include "logger/message/team_forecast.h"

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

/* ---- lists whose items have fixed meanings ---- */

enum form {
    FORM_NAME,  /* char[size], not empty */
    FORM_WHOLE, /* uint32_t or uint64_t, 1 .. max */
    FORM_TIME,  /* seconds, to int64_t us */
    FORM_LATER  /* the same, not before the item in front of it */
};

struct item {
    enum form form;
    size_t at, size;
    double max;
};

#define ITEM(form, whole, member)                                                              \
    (form), offsetof(struct whole, member), sizeof((struct whole *)0)->member
static const struct item range_items[] = {{ITEM(FORM_TIME, forecast_range, p05_us), 0.0},
                                          {ITEM(FORM_LATER, forecast_range, p50_us), 0.0},
                                          {ITEM(FORM_LATER, forecast_range, p95_us), 0.0}};
static const struct item job_items[] = {{ITEM(FORM_NAME, forecast_job, robot), 0.0},
                                        {ITEM(FORM_WHOLE, forecast_job, number), 9e15},
                                        {ITEM(FORM_TIME, forecast_job, end.p05_us), 0.0},
                                        {ITEM(FORM_LATER, forecast_job, end.p50_us), 0.0},
                                        {ITEM(FORM_LATER, forecast_job, end.p95_us), 0.0}};
static const struct item bar_items[] = {{ITEM(FORM_NAME, forecast_bar, robot), 0.0},
                                        {ITEM(FORM_WHOLE, forecast_bar, n), UINT32_MAX},
                                        {ITEM(FORM_NAME, forecast_bar, task), 0.0},
                                        {ITEM(FORM_TIME, forecast_bar, from_us), 0.0},
                                        {ITEM(FORM_TIME, forecast_bar, p05_us), 0.0},
                                        {ITEM(FORM_LATER, forecast_bar, p95_us), 0.0}};

static bool scan_name(struct json_scan *s, char *name, size_t size)
{
    struct json_text text;
    if (!json_scan_text(s, &text)) {
        return false;
    }
    const size_t bytes = json_text_copy(&text, name, size, false);
    return (bytes > 0 && bytes < size) ||
           json_scan_fail(s, FAULT_BAD_NAME, "a name that a team can have was expected");
}

static bool scan_whole(struct json_scan *s, const struct item *item, void *to)
{
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    if (!(value >= 1.0 && value <= item->max)) {
        return json_scan_fail(s, FAULT_OUT_OF_RANGE, "a number of 1 or more was expected");
    }
    const uint64_t whole = (uint64_t)value;
    const uint32_t narrow = (uint32_t)whole;
    memcpy(to, item->size == sizeof whole ? (const void *)&whole : &narrow, item->size);
    return true;
}

/* Parses seconds that are not below *least_us, and raises *least_us to them. */
static bool scan_time(struct json_scan *s, int64_t *least_us, void *to)
{
    static const double LONGEST_S = 1e9;
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    if (!(fabs(value) <= LONGEST_S) || lab_us(value) < *least_us) {
        return json_scan_fail(s, FAULT_WRONG_ORDER, "percentiles in their order were expected");
    }
    *least_us = lab_us(value);
    memcpy(to, least_us, sizeof *least_us);
    return true;
}

static bool scan_items(struct json_scan *s, const struct item *items, size_t count, void *out)
{
    int64_t least_us = INT64_MIN;
    bool fine = json_scan_enter(s, JSON_KIND_ARRAY);
    for (size_t k = 0; fine && k < count; k++) {
        const struct item *item = &items[k];
        void *to = (char *)out + item->at;
        least_us = item->form == FORM_LATER ? least_us : INT64_MIN;
        fine = json_scan_next_item(s) ||
               (!s->error &&
                json_scan_fail(s, FAULT_VALUE_EXPECTED, "one more item was expected"));
        fine = fine && (item->form == FORM_NAME    ? scan_name(s, to, item->size)
                        : item->form == FORM_WHOLE ? scan_whole(s, item, to)
                                                   : scan_time(s, &least_us, to));
    }
    return fine && (json_scan_next_item(s) ? json_scan_fail(s, FAULT_UNEXPECTED_VALUE,
                                                            "no further item was expected")
                                           : !s->error);
}

static void write_items(struct json_writer *w, const char *key, const struct item *items,
                        size_t count, const void *from)
{
    JSON_LIST(w, key, size_t k = 0; k < count; k++) {
        const void *at = (const char *)from + items[k].at;
        int64_t whole = 0;
        uint32_t narrow = 0;
        if (items[k].form == FORM_NAME) {
            json_write_text(w, NULL, at);
        } else if (items[k].size == sizeof narrow) {
            memcpy(&narrow, at, sizeof narrow);
            json_write_int(w, NULL, narrow);
        } else {
            memcpy(&whole, at, sizeof whole);
            if (items[k].form == FORM_WHOLE) {
                json_write_int(w, NULL, whole);
            } else {
                json_write_seconds(w, NULL, (whole + (whole < 0 ? -500 : 500)) / 1000 * 1000);
            }
        }
    }
}

/* ---- members ---- */

static bool scan_end(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    f->known = true;
    return scan_items(s, range_items, COUNT(range_items), &f->end);
}

static bool scan_jobs(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    bool fine = json_scan_enter(s, JSON_KIND_ARRAY);
    while (fine && json_scan_next_item(s)) {
        fine = f->job_count < TEAM_FORECAST_JOBS
                   ? scan_items(s, job_items, COUNT(job_items), &f->jobs[f->job_count++])
                   : json_scan_fail(s, FAULT_TOO_MANY, "at most 64 jobs were expected");
    }
    return fine && !s->error;
}

static bool scan_bars(struct json_scan *s, struct event *e)
{
    struct team_forecast *f = forecast_of(e);
    bool fine = json_scan_enter(s, JSON_KIND_ARRAY);
    while (fine && json_scan_next_item(s)) {
        fine = f->bar_count < TEAM_FORECAST_BARS
                   ? scan_items(s, bar_items, COUNT(bar_items), &f->bars[f->bar_count++])
                   : json_scan_fail(s, FAULT_TOO_MANY, "at most 256 bars were expected");
    }
    return fine && !s->error;
}

static bool finish_reading(struct json_scan *s, struct event *e,
                           const struct payload_seen *seen)
{
    (void)seen;
    const struct team_forecast *f = forecast_of(e);
    e->forecast = f;
    return f->t_us != LAB_TIME_NONE ||
           json_scan_fail(s, FAULT_TIME_EXPECTED, "a lab time was expected");
}

/* ---- the line ---- */

#define IN_FORECAST(member)                                                                    \
    .at = offsetof(struct reading, forecast.member),                                           \
    .size = sizeof((struct team_forecast *)0)->member
/* clang-format off */
static const struct payload_member members[] = {
    {.name = "team", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"team\" of at most 31 bytes was expected"},
    {.name = "number", .required = true, .type = PAYLOAD_WHOLE, IN_FORECAST(number), .min = 1.0, .max = 9e15,
     .expected = "a \"number\" of 1 or more was expected"},
    {.name = "t", .required = true, .type = PAYLOAD_STAMP, IN_FORECAST(t_us)},
    {.name = "runs", .type = PAYLOAD_WHOLE, IN_FORECAST(runs), .max = UINT32_MAX,
     .expected = "\"runs\" of 0 or more were expected"},
    {.name = "end", .type = PAYLOAD_OTHER, .scan = scan_end},
    {.name = "jobs", .type = PAYLOAD_OTHER, .scan = scan_jobs},
    {.name = "bars", .type = PAYLOAD_OTHER, .scan = scan_bars},
    {.name = "detail", .type = PAYLOAD_WORD, IN_FORECAST(detail),
     .expected = "a \"detail\" of at most 95 bytes was expected"},
};
/* clang-format on */

size_t team_forecast_decode(const struct message *message, event_emit *emit, void *context)
{
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

void team_forecast_write(struct json_writer *w, const char *team, const struct team_forecast *f)
{
    JSON_OPEN(w, NULL, JSON("team", team), JSON("number", f->number),
              JSON_SECONDS("t", f->t_us), JSON("runs", f->runs));
    if (f->known) {
        write_items(w, "end", range_items, COUNT(range_items), &f->end);
    }
    JSON_LIST(w, "jobs", size_t k = 0; k < f->job_count; k++) {
        write_items(w, NULL, job_items, COUNT(job_items), &f->jobs[k]);
    }
    JSON_LIST(w, "bars", size_t k = 0; k < f->bar_count; k++) {
        write_items(w, NULL, bar_items, COUNT(bar_items), &f->bars[k]);
    }
    if (f->detail[0]) {
        json_write_text(w, "detail", f->detail);
    }
    json_write_close(w);
}
