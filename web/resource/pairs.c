/* web/resource/pairs.c - the list of pairs, and one pair at a glance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin/report/pair_report.h"
#include "web/http/csv.h"
#include "web/resource/handlers.h"

/* A cursor is an index, valid in this list of pairs only. */
static void write_cursor(const struct view *view, size_t from, char out[QUERY_CURSOR_MAX])
{
    (void)snprintf(out, QUERY_CURSOR_MAX, "%zu.%zu", from, view->pair_count);
}

/* Reads a cursor's index; false when it is not from this list. */
static bool read_cursor(const struct view *view, const char *cursor, size_t *from)
{
    char again[QUERY_CURSOR_MAX];
    *from = strtoul(cursor, NULL, 10);
    write_cursor(view, *from, again);
    return *from <= view->pair_count && strcmp(cursor, again) == 0;
}

static const char *const COLUMNS[] = {
    "id",
    "kind",
    "mode",
    "dynamics",
    "sync_tolerance_s",
    "outstanding",
    "commands",
    "replies",
    "entries",
    "alarms",
    "redelivered",
    "last_lag_s",
    "last_lag_uncertainty_s",
    "last_entry_t",
    "last_verdict",
    "verdicts",
    "recent_verdicts",
    "last_alarm",
    "following",
    "real",
    "virtual",
    "last_consistent",
    "consistency",
    "recent_consistency",
    "values_omitted",
    "ambiguous",
    "last_judged_lag_s",
};

static void write_pair(struct json_writer *w, const struct view *view, size_t i)
{
    pair_report_summary(w, NULL, view->pairs[i], view_following(view, i), &view->params[i]);
}

/* Returns the first requested pair from this one on; the number of pairs: none. */
static size_t find_named(const struct web_request *request, size_t from)
{
    const char *part = request->query.name;
    while (from < request->view->pair_count && part[0] &&
           !strcasestr(request->view->params[from].id, part)) {
        from++;
    }
    return from;
}

static void write_csv(const struct web_request *request, size_t from, size_t to,
                      struct web_response *response)
{
    response->media_type = CSV_MEDIA_TYPE;
    csv_header(&response->body, COLUMNS, COUNT(COLUMNS));
    for (size_t i = find_named(request, from); i < to; i = find_named(request, i + 1)) {
        struct body summary = {0};
        struct json_writer w;
        char buffer[1024];
        json_write_start(&w, buffer, sizeof buffer, body_flush, &summary);
        write_pair(&w, request->view, i);
        (void)json_write_end(&w);
        csv_row(&response->body, COLUMNS, COUNT(COLUMNS), summary.text, summary.bytes);
        body_clear(&summary);
    }
}

static void write_json(const struct web_request *request, size_t from, size_t to,
                       const char *next, struct web_response *response)
{
    const struct view *view = request->view;
    struct json_writer *json = web_json(response);
    JSON_OPEN(json, NULL, JSON_WHOLE("pair_count", view->pair_count));
    JSON_LIST(json, "pairs", size_t i = find_named(request, from); i < to;
              i = find_named(request, i + 1)) {
        write_pair(json, view, i);
    }
    json_write_text(json, "next_cursor", next[0] ? next : NULL);
    json_write_close(json);
}

void get_pairs(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    const struct query *q = &request->query;
    size_t from = 0;
    if (q->cursor[0] && !read_cursor(view, q->cursor, &from)) {
        web_problem(request, response, PROBLEM_BAD_PARAMETER, "cursor",
                    "cursor: not one that this list handed out");
        return;
    }
    size_t to = find_named(request, from);
    for (uint32_t k = 0; k < q->limit && to < view->pair_count; k++) {
        to = find_named(request, to + 1);
    }
    char next[QUERY_CURSOR_MAX] = "";
    if (to < view->pair_count) {
        write_cursor(view, to, next);
    }
    web_next_link(request, next, response);
    if (request->csv) {
        write_csv(request, from, to, response);
    } else {
        write_json(request, from, to, next, response);
    }
}

void get_pair(const struct web_request *request, struct web_response *response)
{
    struct json_writer *json = web_tagged_json(response);
    write_pair(json, request->view, request->pair);
}

void get_shared_pairs(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct json_writer *json = web_tagged_json(response);
    json_write_array(json, NULL);
    if (source->list_others) {
        source->list_others(source->context, json);
    }
    json_write_close(json);
}
