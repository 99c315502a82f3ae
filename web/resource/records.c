/* web/resource/records.c - lists from the store, page by page: entries, alarms, changes,
 * fits and the log, as JSON or CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "logger/message/record_json.h"
#include "web/http/csv.h"
#include "web/http/routes.h"
#include "web/http/store_pool.h"
#include "web/resource/fits_between.h"
#include "web/resource/handlers.h"

_Static_assert((int)STORE_CURSOR_MAX == (int)QUERY_CURSOR_MAX, "a cursor is the store's");
_Static_assert((int)QUERY_LIMIT_MAX <= (int)STORE_PAGE_MAX, "a page is one query");

/* The lists of records, by the last word of their path: their kind in the store, and their CSV
 * columns. */
static const struct list {
    enum store_kind kind;
    const struct record_table *records;
} LISTS[] = {{STORE_ENTRIES, &record_entries},
             {STORE_ALARMS, &record_alarms},
             {STORE_LOG, &record_log},
             {STORE_CHANGES, &record_changes},
             {STORE_FITS, &record_fits}};

/* A page while it is written. */
struct page {
    const struct web_request *request;
    const struct list *list;
    struct web_response *response;
    struct json_writer *json;     /* NULL: CSV */
    struct fits_between *between; /* of fits in JSON; else NULL */
};

static const struct list *list_of(const struct web_request *request)
{
    const struct list *list = LISTS;
    while (strcmp(list->records->name, route_last_word(request->route)) != 0) {
        list++;
    }
    return list;
}

/* Returns the owner of the records: the pair, or the lab itself; NULL: all pairs. */
static const char *owner_of(const struct web_request *request)
{
    return route_names(request->route, "{id}")       ? request->id
           : list_of(request)->kind == STORE_ENTRIES ? NULL
                                                     : "$lab";
}

static bool write_row(void *context, const struct store_row *row)
{
    struct page *page = context;
    if (page->json) {
        json_write_raw(page->json, NULL, row->json, row->json_bytes);
        if (page->between) {
            fits_between_add(page->between, row->json, row->json_bytes);
        }
    } else {
        csv_row(&page->response->body, page->list->records->columns,
                page->list->records->column_count, row->json, row->json_bytes);
    }
    return true;
}

/* Selects the requested verdicts or alarm types: one by its index, several as a list. */
static void select_types(const struct query *q, char list[QUERY_COLUMNS_MAX],
                         struct store_query *wanted)
{
    const struct names *names = q->verdicts ? &entry_filter_names : &alarm_filter_names;
    uint64_t set = q->verdicts ? q->verdicts : q->types;
    list[0] = '\0';
    if (q->verdicts >> ENTRY_FILTER_INCONSISTENT & 1) {
        wanted->inconsistent = true;
        set &= ~(UINT64_C(1) << ENTRY_FILTER_INCONSISTENT);
    } else if (set != 0 && (set & (set - 1)) == 0) {
        wanted->type = names_text(names, (size_t)__builtin_ctzll(set));
        return;
    }
    for (size_t k = 0; k < names->count; k++) {
        if (set >> k & 1) {
            text_append(list, QUERY_COLUMNS_MAX, "%s%s,", list[0] ? "" : ",",
                        names_text(names, k));
        }
    }
    wanted->types = list[0] ? list : NULL;
}

static const char *select_text(const char *text)
{
    return text[0] ? text : NULL;
}

/* Fills the page and gets the cursor of the next one. False after a problem document. */
static bool read_rows(struct page *page, char next[STORE_CURSOR_MAX])
{
    const struct web_request *request = page->request;
    const struct query *q = &request->query;
    char types[QUERY_COLUMNS_MAX];
    struct store_query wanted = {
        .kind = page->list->kind,
        .pair = owner_of(request),
        .moving = q->moving,
        .team = select_text(q->team),
        .job = select_text(q->job),
        .version = {select_text(q->version[SIDE_REAL]), select_text(q->version[SIDE_VIRTUAL])},
        .since_us = q->since_us,
        .until_us = q->until_us,
        .newest_first = !q->oldest,
        .cursor = q->cursor,
        .limit = (int)q->limit};
    struct store_pool *pool = request->context->pool;
    struct store_reader *reader = NULL;
    struct err err = {0};
    select_types(q, types, &wanted);
    enum status status = store_pool_acquire(pool, &reader, &err);
    if (status == STATUS_OK) {
        status = store_query(reader, &wanted, write_row, page, next, &err);
        status = store_pool_release(pool, reader, status);
    }
    if (status != STATUS_OK && strcmp(err.where, "cursor") == 0) {
        web_problem(request, page->response, PROBLEM_BAD_PARAMETER, "cursor",
                    "cursor: not one that this list handed out for this selection");
    } else if (status != STATUS_OK) {
        web_problem_later(request, page->response, PROBLEM_NO_STORE, 1, &err, "");
    }
    return status == STATUS_OK;
}

static void write_page(struct page *page)
{
    const struct web_request *request = page->request;
    char next[STORE_CURSOR_MAX] = "";
    if (page->json) {
        JSON_OPEN(page->json, NULL, JSON("pair", owner_of(request)));
        json_write_array(page->json, page->list->records->name);
    }
    if (!read_rows(page, next)) {
        return;
    }
    if (page->json) {
        json_write_close(page->json);
        json_write_text(page->json, "next_cursor", next[0] ? next : NULL);
        if (page->between) {
            fits_between_write(page->json, page->between);
        }
        json_write_close(page->json);
    }
    web_next_link(request, next, page->response);
}

void get_records(const struct web_request *request, struct web_response *response)
{
    struct page page = {.request = request, .list = list_of(request), .response = response};
    const struct record_table *records = page.list->records;
    if (request->csv) {
        response->media_type = CSV_MEDIA_TYPE;
        csv_header(&response->body, records->columns, records->column_count);
    } else {
        page.json = web_json(response);
        page.between = page.list->kind == STORE_FITS ? fits_between_create() : NULL;
    }
    write_page(&page);
    free(page.between);
}
