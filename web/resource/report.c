/* web/resource/report.c - the report of a pair as a file, made of the store and the snapshot.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin/page/report_page.h"
#include "web/http/store_pool.h"
#include "web/resource/handlers.h"

enum { REPORT_ROWS_MAX = 100000 };

static const char POLICY[] = "default-src 'none'; style-src 'unsafe-inline'";

/* The store while a report is made of it. */
struct source {
    const struct web_request *request;
    struct store_reader *reader;
    struct err err;
};

/* A list while it is read. */
struct walk {
    report_row_fn *row; /* NULL: rows are counted only */
    void *context;
    uint64_t count;
    bool stopped;
};

static bool walk_row(void *context, const struct store_row *row)
{
    struct walk *walk = context;
    walk->stopped = ++walk->count > REPORT_ROWS_MAX ||
                    (walk->row && !walk->row(walk->context, row->json, row->json_bytes));
    return !walk->stopped;
}

/* Walks over a list, oldest first, page by page. */
static enum status walk_list(struct source *source, enum store_kind kind, struct walk *walk)
{
    char next[STORE_CURSOR_MAX] = "";
    char cursor[STORE_CURSOR_MAX];
    const struct query *q = &source->request->query;
    struct store_query wanted = {.kind = kind,
                                 .pair = source->request->id,
                                 .since_us = q->since_us,
                                 .until_us = q->until_us,
                                 .moving = q->moving,
                                 .limit = STORE_PAGE_MAX,
                                 .cursor = cursor};
    enum status status = STATUS_OK;
    do {
        memcpy(cursor, next, sizeof cursor);
        status = store_query(source->reader, &wanted, walk_row, walk, next, &source->err);
    } while (status == STATUS_OK && next[0] && !walk->stopped);
    return status;
}

static enum status each_record(void *context, enum report_list list, report_row_fn *row,
                               void *row_context)
{
    static const enum store_kind kinds[] = {[REPORT_ENTRIES] = STORE_ENTRIES,
                                            [REPORT_ALARMS] = STORE_ALARMS,
                                            [REPORT_CHANGES] = STORE_CHANGES};
    struct walk walk = {.row = row, .context = row_context};
    return walk_list(context, kinds[list], &walk);
}

static void end_page(const struct svg_text *h, const struct web_request *request)
{
    const struct web_source *web = request->context->source;
    const struct pair *pair = request->shown;
    char command[96 + EVENT_PAIR_MAX];
    (void)snprintf(command, sizeof command,
                   "tandem report -c LAB.yaml JOURNAL... --pair %s -o report.html",
                   request->id);
    const struct report_count left_out[] = {
        {"malformed messages, or lines that are none",
         pair->counts.alarm[ALARM_TYPE_MALFORMED]},
        {"messages delivered again: passed over", pair->counts.redelivered},
        {"commands that may not belong to their replies", pair->counts.ambiguous},
        {"values of replies beyond those compared", pair->counts.values_omitted}};
    report_page_end(
        h,
        &(struct report_origin){
            .version = web->version ? web->version : "",
            .command = command,
            .note = "The entries, alarms and changes are those of the daemon's store, of the "
                    "time that was asked for; the journal of the same time gives the same "
                    "ones.",
            .left_out = left_out,
            .left_out_count = COUNT(left_out),
            .lab = web->lab ? web->lab : "not available"});
}

static enum status write_page(struct source *source, struct web_response *response,
                              uint64_t entries)
{
    const struct web_request *request = source->request;
    const struct view *view = request->view;
    const struct svg_text h = {body_flush, &response->body};
    struct report_scan *scan = calloc(1, sizeof *scan);
    struct pair_fits fits;
    const struct report_pair pair = {.p = request->params,
                                     .pair = request->shown,
                                     .fits = &fits,
                                     .dynamics =
                                         view->dynamics ? view->dynamics[request->pair] : NULL,
                                     .following = request->following,
                                     .entries = entries,
                                     .state = "the daemon's present state",
                                     .each = each_record,
                                     .context = source};
    if (!scan) {
        return err_no_memory(&source->err, "report", "out of memory");
    }
    view->fits(view, request->pair, &fits);
    report_page_begin(&h, request->context->source->version, view->lab_name);
    const enum status status = report_page_pair(&h, &pair, scan);
    if (status == STATUS_OK) {
        end_page(&h, request);
    }
    free(scan);
    return status;
}

void get_report(const struct web_request *request, struct web_response *response)
{
    struct source source = {.request = request};
    struct walk counted = {.row = NULL};
    struct store_pool *pool = request->context->pool;
    enum status status = store_pool_acquire(pool, &source.reader, &source.err);
    if (status == STATUS_OK) {
        store_reader_hold(source.reader, true); /* all lists are of one moment */
        status = walk_list(&source, STORE_ENTRIES, &counted);
        if (status == STATUS_OK && counted.count <= REPORT_ROWS_MAX) {
            status = write_page(&source, response, counted.count);
        }
        store_reader_hold(source.reader, false);
        status = store_pool_release(pool, source.reader, status);
    }
    if (status != STATUS_OK) {
        body_clear(&response->body);
        web_problem_later(request, response, PROBLEM_NO_STORE, 1, &source.err, "");
    } else if (counted.count > REPORT_ROWS_MAX) {
        web_problem(request, response, PROBLEM_BAD_PARAMETER, "since",
                    "more than 100 000 entries: give since and until");
    } else {
        response->media_type = "text/html; charset=utf-8";
        response->policy = POLICY;
        (void)snprintf(response->file_name, sizeof response->file_name, "%s-report.html",
                       request->id);
    }
}
