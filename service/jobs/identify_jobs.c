#include "service/jobs/upload_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/identify/identify.h"
#include "service/jobs/identify_query.h"

/* What is to be done with one recording, and the texts of the request. */
struct fit {
    const struct model_row *row;
    struct identify_request request;
    struct csv_source input;
    struct identify_words words;
    struct job *job; /* while it runs */
};

/* ---- from the request ---- */

static enum status refuse_model(const char *name, struct err *err)
{
    char names[ERR_TEXT_MAX] = "";
    size_t used = 0;
    for (size_t i = 0; i < model_row_count && used < sizeof names; i++) {
        const int n = snprintf(names + used, sizeof names - used, " %s", model_rows[i]->name);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(err, STATUS_E_ARG, "model", 0, 0,
                   name ? "there is no such model; there are%s" : "one is needed of%s", names);
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
    /* A text without it would name a file, of the daemon's machine. */
    if (request->current && !strchr(request->current, '=')) {
        return err_set(err, STATUS_E_ARG, "current", 0, 0,
                       "name=value,name=value was expected");
    }
    st = request->column_words ? identify_take_columns(request->column_words, request, err)
                               : STATUS_OK;
    return st == STATUS_OK ? identify_check(fit->row, request, err) : st;
}

/* What is asked for, with texts of its own; NULL: see *st. */
static struct fit *make_fit(const char *query, enum status *st, struct err *err)
{
    struct fit *fit = calloc(1, sizeof *fit);
    *st = fit ? read_fit(query, fit, err)
              : err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory");
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

enum status identify_jobs_submit(void *worker, const char *query, char *text, size_t bytes,
                                 uint64_t *job, struct err *err)
{
    enum status st = STATUS_OK;
    struct fit *fit = make_fit(query, &st, err);
    if (!fit) {
        return st;
    }
    struct identify_request *request = &fit->request;
    fit->input = (struct csv_source){
        .path = request->name ? request->name : "upload.csv", .text = text, .bytes = bytes};
    request->files = &fit->input;
    request->file_count = 1;
    request->go_on = report_progress;
    request->context = fit;
    struct job_order order = {
        .class = JOB_UPLOAD, .run = run_fit, .context = fit, .text = text};
    (void)snprintf(order.what, sizeof order.what, "%s", fit->row->name);
    st = worker_submit(worker, &order, job, err);
    if (st != STATUS_OK) {
        free(fit);
    }
    return st;
}
