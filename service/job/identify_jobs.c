/* service/job/identify_jobs.c - POST /api/v1/identify: parses its query and fits the
 * uploaded recording as a job. */
#include "service/job/upload_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "service/identify/identify.h"
#include "service/identify/identify_request.h"

/* ---- the query, parsed by the table of service/identify/identify_request.h ----------- */

enum { VALUE_MAX = 1024 };

struct query_target {
    struct identify_words *words;
    struct identify_request *request;
};

static enum status parse_text(const struct query_value *v, size_t longest,
                              struct identify_words *words, const char **text)
{
    const size_t room = sizeof words->text - words->used;
    char *const copy = words->text + words->used;
    const enum status status = query_text(v, longest < room ? longest + 1 : room, copy);
    if (status == STATUS_OK) {
        *text = copy;
        words->used += strlen(copy) + 1;
    }
    return status;
}

static enum status parse_value(void *context, size_t i, const struct query_value *v)
{
    const struct query_target *target = context;
    const struct identify_option *option = &identify_options[i];
    const struct argument *argument = &option->argument;
    void *at = identify_option_value(option, target->request);
    if (argument->kind == ARGUMENT_REAL) {
        return query_number(v, argument->min, argument->max, false, at);
    }
    if (argument->kind != ARGUMENT_FLAG) {
        return parse_text(v, option->longest, target->words, at);
    }
    *(bool *)at = strcmp(v->text, "true") == 0;
    return *(bool *)at || strcmp(v->text, "false") == 0
               ? STATUS_OK
               : query_refuse(v, FAULT_BOOLEAN_EXPECTED, "must be true or false");
}

enum status identify_query_read(const char *query, struct identify_words *words,
                                struct identify_request *request, struct err *err)
{
    struct query_target target = {words, request};
    const char *names[IDENTIFY_OPTIONS_MAX] = {NULL};
    const struct query_reader reader = {names,        identify_option_count, VALUE_MAX,
                                        STATUS_E_ARG, parse_value,           &target};
    for (size_t i = 0; i < identify_option_count; i++) {
        names[i] = identify_options[i].query;
    }
    words->used = 0;
    *request = identify_request_defaults();
    enum status st = query_read(query, &reader, err);
    const char *const file[] = {request->name, request->held_out_name};
    static const char *const option[] = {"name", "held_out_name"};
    for (size_t i = 0; st == STATUS_OK && i < COUNT(file); i++) {
        if (file[i] && strchr(file[i], '/')) {
            st = err_set(err, STATUS_E_ARG, FAULT_BAD_NAME, option[i],
                         "must be a file's name without folders");
        }
    }
    return st;
}

/* A fit of one recording, with the texts of the request. */
struct fit {
    const struct model_row *row;
    struct identify_request request;
    struct csv_source input;
    struct identify_words words;
    struct job *job; /* set while it runs */
};

/* ---- from the request ---------------------------------------------------------------- */

static enum status refuse_model(const char *name, struct err *err)
{
    char names[ERR_TEXT_MAX] = "";
    char guess[EDIT_GUESS_MAX];
    for (size_t i = 0; model_row_at(i); i++) {
        text_append(names, sizeof names, " %s", model_row_at(i)->name);
    }
    return name ? err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "model",
                          "there is no such model%s; there are%s", model_row_guess(name, guess),
                          names)
                : err_set(err, STATUS_E_ARG, FAULT_MISSING_VALUE, "model", "one is needed of%s",
                          names);
}

static enum status read_fit(const char *query, struct fit *fit, struct err *err)
{
    struct identify_request *request = &fit->request;
    enum status st = identify_query_read(query, &fit->words, request, err);
    if (st != STATUS_OK) {
        return st;
    }
    fit->row = request->model ? model_row_find(request->model) : NULL;
    if (!fit->row) {
        return refuse_model(request->model, err);
    }
    request->json = true;
    /* A text without '=' would name a file on the daemon's machine. */
    if (request->reference && !strchr(request->reference, '=')) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_FORMAT, "reference",
                       "name=value,name=value was expected");
    }
    st = request->column_words
             ? column_map_read(request->column_words, false, &request->columns, err)
             : STATUS_OK;
    return st == STATUS_OK ? identify_check(fit->row, request, err) : st;
}

/* Makes a fit with its own copies of texts; NULL: see *st. */
static struct fit *make_fit(const char *query, enum status *st, struct err *err)
{
    struct fit *fit = calloc(1, sizeof *fit);
    *st = fit ? read_fit(query, fit, err) : err_no_memory(err, "identify", "no memory");
    if (*st != STATUS_OK) {
        free(fit);
        return NULL;
    }
    return fit;
}

enum status identify_jobs_check(void *worker, const char *query, struct err *err)
{
    (void)worker;
    enum status st = STATUS_OK;
    free(make_fit(query, &st, err));
    return st;
}

/* ---- the job ---- */

static bool report_progress(void *context, const char *stage, double share)
{
    const struct fit *fit = context;
    job_progress(fit->job, share, stage);
    return job_go_on(fit->job);
}

static enum status run_fit(struct job *job, void *context, FILE *out, struct err *err)
{
    struct fit *fit = context;
    fit->job = job;
    return identify_run(fit->row, &fit->request, out, err);
}

/* The body is the recording, and behind it the held-out one, if any. */
static enum status split_body(struct identify_request *request, const char *text, size_t bytes,
                              struct csv_source *own, struct err *err)
{
    const size_t held_out = (size_t)request->held_out_bytes;
    if (held_out >= bytes) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "held_out_bytes",
                       "must be less than the %zu bytes of the body", bytes);
    }
    *own = (struct csv_source){.path = request->name ? request->name : "upload.csv",
                               .text = text,
                               .bytes = bytes - held_out};
    if (held_out > 0) {
        request->validate[0] = (struct csv_source){
            .path = request->held_out_name ? request->held_out_name : "held_out.csv",
            .text = text + own->bytes,
            .bytes = held_out};
        request->validate_count = 1;
    }
    return STATUS_OK;
}

enum status identify_jobs_submit(void *worker, const char *query, char *text, size_t bytes,
                                 uint64_t *job, struct err *err)
{
    enum status st = STATUS_OK;
    struct fit *fit = make_fit(query, &st, err);
    if (!fit) {
        return st;
    }
    struct identify_request *request = &fit->request;
    st = split_body(request, text, bytes, &fit->input, err);
    if (st != STATUS_OK) {
        free(fit);
        return st;
    }
    request->files = &fit->input;
    request->file_count = 1;
    request->caller = (struct identify_caller){NULL, report_progress, fit};
    struct job_order order = {
        .class = JOB_UPLOAD, .run = run_fit, .context = fit, .text = text};
    (void)snprintf(order.what, sizeof order.what, "%s", fit->row->name);
    (void)snprintf(order.file, sizeof order.file, "%s", fit->input.path);
    st = worker_submit(worker, &order, job, err);
    if (st != STATUS_OK) {
        free(fit);
    }
    return st;
}
