#include "base/hash.h"
#include "base/lab_time.h"
#include "logger/message/record_columns.h"
#include "web/http/csv.h"
#include "web/http/history.h"
#include "web/http/next_link.h"
#include "web/resources/handlers.h"

_Static_assert((int)STORE_CURSOR_MAX <= (int)CURSOR_PLACE_MAX, "a place fits a cursor");
_Static_assert((int)QUERY_LIMIT_MAX <= (int)STORE_PAGE_MAX, "a page is one query");

/* A list of records: where it is kept, what it is called, and its columns in CSV. */
struct list {
    enum store_kind kind;
    const struct record_table *records;
};

static const struct list ENTRIES = {STORE_ENTRIES, &record_entries};
static const struct list ALARMS = {STORE_ALARMS, &record_alarms};
static const struct list LOG = {STORE_LOG, &record_log};
static const struct list CHANGES = {STORE_CHANGES, &record_changes};

/* The page being written. */
struct page {
    const struct web_request *request;
    const struct list *list;
    struct web_response *response;
    struct json_writer *json;
};

static bool take_row(void *context, const struct store_row *row)
{
    struct page *page = context;
    if (page->request->csv) {
        csv_row(&page->response->body, page->list->records->columns,
                page->list->records->column_count, row->json, row->json_bytes);
    } else {
        json_write_raw(page->json, NULL, row->json, row->json_bytes);
    }
    return true;
}

/* A cursor belongs to one list, pair and selection. */
static uint64_t salt_of(const struct web_request *request, const struct list *list)
{
    const struct query *q = &request->query;
    const int64_t selection[] = {(int64_t)list->kind, q->since_us, q->until_us,
                                 (int64_t)q->oldest,  q->verdict,  q->type};
    return hash_bytes(hash_text(request->id), selection, sizeof selection);
}

static const char NO_CURSOR[] = "cursor: not one that this list handed out for this selection";

/* Fills the page and the place where the next one begins. */
static bool read_rows(struct page *page, const char *place, char next[STORE_CURSOR_MAX])
{
    const struct web_request *request = page->request;
    const struct query *q = &request->query;
    const struct store_query wanted = {
        .kind = page->list->kind,
        .pair = request->id,
        .type = q->verdict >= 0 ? verdict_name((enum verdict)q->verdict)
                : q->type >= 0  ? alarm_type_name((enum alarm_type)q->type)
                                : NULL,
        .since_us = q->since_us,
        .until_us = q->until_us,
        .newest_first = !q->oldest,
        .cursor = place,
        .limit = (int)q->limit};
    struct history *history = request->context->history;
    struct store_reader *reader = NULL;
    struct err err = {0};
    enum status status = history_take(history, &reader, &err);
    if (status == STATUS_OK) {
        status = store_query(reader, &wanted, take_row, page, next, &err);
        status = history_give(history, reader, status);
    }
    if (status != STATUS_OK) {
        web_problem_later(request, page->response, PROBLEM_NO_STORE, 1, err.text);
    }
    return status == STATUS_OK;
}

static void write_csv(struct page *page, const char *place, char next[STORE_CURSOR_MAX])
{
    struct web_response *response = page->response;
    response->media_type = CSV_MEDIA_TYPE;
    csv_header(&response->body, page->list->records->columns,
               page->list->records->column_count);
    (void)read_rows(page, place, next);
}

static void write_json(struct page *page, const char *place, uint64_t salt,
                       char next[STORE_CURSOR_MAX])
{
    struct web_writer w;
    char cursor[CURSOR_TEXT_MAX];
    page->json = web_write_start(&w, page->response);
    json_write_object(page->json, NULL);
    json_write_text(page->json, "pair", page->request->id);
    json_write_array(page->json, page->list->records->name);
    if (!read_rows(page, place, next)) {
        return;
    }
    if (next[0]) {
        cursor_write(next, salt, cursor);
    }
    json_write_close(page->json);
    json_write_text(page->json, "next_cursor", next[0] ? cursor : NULL);
    json_write_close(page->json);
    web_write_end(&w);
}

static void get_list(const struct web_request *request, const struct list *list,
                     struct web_response *response)
{
    const struct query *q = &request->query;
    const uint64_t salt = salt_of(request, list);
    struct page page = {.request = request, .list = list, .response = response};
    char place[CURSOR_PLACE_MAX] = "";
    char next[STORE_CURSOR_MAX] = "";
    if (q->cursor[0] && !cursor_read(q->cursor, salt, place)) {
        web_problem(request, response, PROBLEM_BAD_PARAMETER, "cursor", NO_CURSOR);
        return;
    }
    if (request->csv) {
        write_csv(&page, place, next);
    } else {
        write_json(&page, place, salt, next);
    }
    if (next[0]) {
        next_link(request, next, salt, response);
    }
}

void get_entries(const struct web_request *request, struct web_response *response)
{
    get_list(request, &ENTRIES, response);
}

void get_alarms(const struct web_request *request, struct web_response *response)
{
    get_list(request, &ALARMS, response);
}

void get_changes(const struct web_request *request, struct web_response *response)
{
    get_list(request, &CHANGES, response);
}

void get_log(const struct web_request *request, struct web_response *response)
{
    get_list(request, &LOG, response);
}
