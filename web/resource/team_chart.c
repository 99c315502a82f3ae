/* web/resource/team_chart.c - the chart of a team: who did what when, as JSON, SVG or CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/record_json.h"
#include "twin/report/team_chart.h"
#include "twin/team/live/team_live_bars.h"
#include "web/http/csv.h"
#include "web/http/store_pool.h"
#include "web/resource/handlers.h"

enum { BARS_MAX = 5000, MARKS_MAX = 500 };

/* Bars from the store and those open now; owned. */
struct chart {
    struct bar bars[BARS_MAX];
    size_t bar_count;
    struct team_chart_mark marks[MARKS_MAX];
    size_t mark_count;
    bool cut; /* older bars were left out */
};

static void copy_name(char out[BAR_NAME_MAX], const json_t *object, const char *key)
{
    const char *name = json_string_value(json_object_get(object, key));
    (void)snprintf(out, BAR_NAME_MAX, "%s", name ? name : "");
}

static void read_forecast(struct bar *bar, const json_t *json)
{
    double from = 0.0, p05 = 0.0, p95 = 0.0;
    const json_t *const values[] = {json_object_get(json, "predicted_from"),
                                    json_object_get(json, "predicted_p05"),
                                    json_object_get(json, "predicted_p95")};
    bar->has_forecast = values[0];
    from = json_number_value(values[0]);
    p05 = json_number_value(values[1]);
    p95 = json_number_value(values[2]);
    bar->predicted_from_us = lab_us(from);
    bar->predicted_p05_us = lab_us(p05);
    bar->predicted_p95_us = lab_us(p95);
}

/* Parses a bar as bar_write_json() wrote it. */
static bool read_bar(void *context, const struct store_row *row)
{
    struct chart *chart = context;
    if (chart->bar_count == BARS_MAX) {
        chart->cut = true;
        return false;
    }
    struct bar *bar = &chart->bars[chart->bar_count];
    const size_t kind = names_value(&bar_kind_names, row->type);
    json_t *json = json_loadb(row->json, row->json_bytes, 0, NULL);
    if (json && kind < BAR_KIND_COUNT) {
        *bar = (struct bar){.kind = (enum bar_kind)kind, .to_us = row->t_us};
        const json_t *fence = json_object_get(json, "fence");
        const json_t *meeting = json_object_get(json, "meeting");
        copy_name(bar->robot, json, "robot");
        copy_name(bar->resource, json, "resource");
        copy_name(bar->task, json, meeting ? "meeting" : "task");
        copy_name(bar->arg, json, "arg");
        bar->number = (uint64_t)json_integer_value(fence ? fence : json_object_get(json, "n"));
        bar->from_us = lab_us(json_number_value(json_object_get(json, "from")));
        read_forecast(bar, json);
        chart->bar_count++;
    }
    json_decref(json);
    return true;
}

static void add_bar(void *context, const struct bar *bar)
{
    struct chart *chart = context;
    if (chart->bar_count < BARS_MAX) {
        chart->bars[chart->bar_count++] = *bar;
    }
}

/* Adds open bars and predicted ones. */
static void add_present(struct chart *chart, const struct web_request *request)
{
    const struct team_params *p = request->team_params;
    const struct team_live *live = request->team_live;
    const size_t first = chart->bar_count;
    team_bars_open(p, team_live_team(live, p), request->view->t_us, add_bar, chart);
    for (size_t k = first; k < chart->bar_count; k++) {
        team_live_predict_bar(live, p, &chart->bars[k]);
    }
    team_live_list_bars(live, p, add_bar, chart);
}

static bool read_alarm(void *context, const struct store_row *row)
{
    struct chart *chart = context;
    if (chart->mark_count == MARKS_MAX) {
        return false;
    }
    struct team_chart_mark *mark = &chart->marks[chart->mark_count++];
    json_t *json = json_loadb(row->json, row->json_bytes, 0, NULL);
    const char *detail = json_string_value(json_object_get(json, "detail"));
    mark->t_us = row->t_us;
    (void)snprintf(mark->text, sizeof mark->text, "%s", detail ? detail : row->type);
    json_decref(json);
    return true;
}

/* Reads all rows of a kind, newest first, until one is refused. */
static enum status read_rows(struct store_reader *reader, struct store_query wanted,
                             store_row_fn *read_row, struct chart *chart, struct err *err)
{
    char next[STORE_CURSOR_MAX] = "";
    char cursor[STORE_CURSOR_MAX];
    size_t before;
    enum status st;
    do {
        before = chart->bar_count + chart->mark_count;
        memcpy(cursor, next, sizeof cursor);
        wanted.cursor = cursor;
        st = store_query(reader, &wanted, read_row, chart, next, err);
    } while (st == STATUS_OK && next[0] && chart->bar_count + chart->mark_count > before);
    return st;
}

static bool read_chart(const struct web_request *request, struct web_response *response,
                       struct chart *chart)
{
    struct store_pool *pool = request->context->pool;
    struct store_reader *reader = NULL;
    struct err err = {0};
    struct store_query wanted = {.kind = STORE_BARS,
                                 .pair = request->id,
                                 .since_us = request->query.since_us,
                                 .until_us = request->query.until_us,
                                 .newest_first = true,
                                 .limit = STORE_PAGE_MAX};
    enum status st = store_pool_acquire(pool, &reader, &err);
    if (st == STATUS_OK) {
        st = read_rows(reader, wanted, read_bar, chart, &err);
        wanted.kind = STORE_ALARMS;
        st = st == STATUS_OK ? read_rows(reader, wanted, read_alarm, chart, &err) : st;
        st = store_pool_release(pool, reader, st);
    }
    return st == STATUS_OK ||
           web_problem_later(request, response, PROBLEM_NO_STORE, 1, &err, "");
}

/* ---- answers ------------------------------------------------------------------------------
 */

static void write_csv(const struct chart *chart, struct web_response *response)
{
    response->media_type = CSV_MEDIA_TYPE;
    csv_header(&response->body, record_bars.columns, record_bars.column_count);
    for (size_t i = 0; i < chart->bar_count; i++) {
        char text[1024];
        struct json_writer w;
        json_write_start(&w, text, sizeof text, NULL, NULL);
        bar_write_json(&w, NULL, &chart->bars[i]);
        csv_row(&response->body, record_bars.columns, record_bars.column_count, text, w.used);
    }
}

static void write_json(const struct chart *chart, const struct web_request *request,
                       struct web_response *response)
{
    struct json_writer *w = web_json(response);
    JSON_OPEN(w, NULL, JSON("team", request->id));
    JSON_LIST(w, "bars", size_t i = 0; i < chart->bar_count; i++) {
        bar_write_json(w, NULL, &chart->bars[i]);
    }
    JSON_LIST(w, "alarms", size_t i = 0; i < chart->mark_count; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON_SECONDS("t", chart->marks[i].t_us),
                          JSON("detail", chart->marks[i].text));
    }
    json_write_bool(w, "cut", chart->cut);
    json_write_close(w);
}

/* Returns the end of the prediction, but leaves two thirds of the picture to the past; sets
 * *now_us. */
static int64_t find_end(const struct chart *chart, int64_t from_us, int64_t now_us)
{
    static const int64_t LEAST_US = 10000000;
    const int64_t third_us = (now_us - from_us) / 2;
    const int64_t most_us = now_us + (third_us > LEAST_US ? third_us : LEAST_US);
    int64_t end_us = now_us;
    for (size_t i = 0; i < chart->bar_count; i++) {
        const struct bar *bar = &chart->bars[i];
        const int64_t to_us = bar->kind == BAR_AHEAD           ? bar->to_us
                              : bar->open && bar->has_forecast ? bar->predicted_p95_us
                                                               : now_us;
        end_us = to_us > end_us ? to_us : end_us;
    }
    return end_us < most_us ? end_us : most_us;
}

/* The chart starts at the first bar or the requested time, and ends at the requested time, or
 * with the prediction. */
static void write_svg(const struct chart *chart, const struct web_request *request,
                      struct web_response *response)
{
    const int64_t since_us = request->query.since_us, until_us = request->query.until_us;
    struct team_chart picture = {.p = request->team_params,
                                 .bars = chart->bars,
                                 .bar_count = chart->bar_count,
                                 .marks = chart->marks,
                                 .mark_count = chart->mark_count,
                                 .now_us = LAB_TIME_MAX,
                                 .to_us =
                                     until_us < LAB_TIME_MAX ? until_us : request->view->t_us};
    picture.from_us = picture.to_us;
    for (size_t i = 0; i < chart->bar_count; i++) {
        const int64_t from_us = chart->bars[i].from_us;
        picture.from_us = from_us < picture.from_us ? from_us : picture.from_us;
    }
    picture.from_us = picture.from_us > since_us ? picture.from_us : since_us;
    if (until_us == LAB_TIME_MAX) {
        picture.now_us = picture.to_us;
        picture.to_us = find_end(chart, picture.from_us, picture.now_us);
    }
    picture.to_us = picture.to_us > picture.from_us ? picture.to_us : picture.from_us + 1000000;
    response->media_type = "image/svg+xml";
    team_chart_write_svg(&picture, body_flush, &response->body);
}

void get_team_chart(const struct web_request *request, struct web_response *response)
{
    struct chart *chart = calloc(1, sizeof *chart);
    if (!chart) {
        web_problem_later(request, response, PROBLEM_NO_STORE, 1, NULL,
                          "there is no memory for it");
        return;
    }
    if (read_chart(request, response, chart)) {
        if (request->query.until_us > request->view->t_us) {
            add_present(chart, request);
        }
        if (request->query.format == QUERY_FORMAT_SVG) {
            write_svg(chart, request, response);
        } else if (request->query.format == QUERY_FORMAT_CSV) {
            write_csv(chart, response);
        } else {
            write_json(chart, request, response);
        }
    }
    free(chart);
}
