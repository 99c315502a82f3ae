#include "service/jobs/identify_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/identify/identify.h"
#include "web/http/query.h"

/* What is to be done with one recording, and the texts of the request. */
struct fit {
    const struct model_row *model;
    struct identify_request request;
    struct identify_input input;
    char name[QUERY_NAME_MAX], method[QUERY_WORD_MAX], side[QUERY_WORD_MAX],
        pair[QUERY_WORD_MAX], current[QUERY_COLUMNS_MAX];
    double delay_max_s;
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
                   name[0] ? "there is no such model; there are%s" : "one is needed of%s",
                   names);
}

/* The request that the words make; texts are borrowed from what. */
static enum status read_wish(const struct web_identify *what, const struct model_row **model,
                             struct identify_request *request, struct err *err)
{
    *model = model_row_find(what->model);
    if (!*model) {
        return refuse_model(what->model, err);
    }
    *request = (struct identify_request){
        .method = what->method[0] ? what->method : NULL,
        .side = what->side[0] ? what->side : "real",
        .pair = what->pair[0] ? what->pair : NULL,
        .biases = what->biases,
        .robust = what->robust,
        .ridge = what->ridge,
        .delay_max_s = what->delay_max_s >= 0.0 ? &what->delay_max_s : NULL,
        .current = what->current[0] ? what->current : NULL,
        .json = true};
    /* A text without it would name a file, of the daemon's machine. */
    if (request->current && !strchr(request->current, '=')) {
        return err_set(err, STATUS_E_ARG, "current", 0, 0,
                       "name=value,name=value was expected");
    }
    const enum status st = identify_take_columns(what->columns, request, err);
    return st == STATUS_OK ? identify_check(*model, request, err) : st;
}

enum status identify_jobs_check(const struct web_identify *what, struct err *err)
{
    const struct model_row *model = NULL;
    struct identify_request request;
    return read_wish(what, &model, &request, err);
}

/* ---- the job ---- */

static bool go_on(void *context, const char *stage, double share)
{
    const struct fit *fit = context;
    job_progress(fit->job, share, stage);
    return job_go_on(fit->job);
}

static enum status run(struct job *job, void *context, FILE *out, struct err *err)
{
    struct fit *fit = context;
    fit->job = job;
    return identify_run(fit->model, &fit->request, out, err);
}

/* What is asked for, with texts of its own. */
static struct fit *make_fit(const struct web_identify *what, enum status *st, struct err *err)
{
    struct fit *fit = calloc(1, sizeof *fit);
    if (!fit) {
        *st = err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory");
        return NULL;
    }
    (void)snprintf(fit->name, sizeof fit->name, "%s", what->name);
    (void)snprintf(fit->method, sizeof fit->method, "%s", what->method);
    (void)snprintf(fit->side, sizeof fit->side, "%s", what->side);
    (void)snprintf(fit->pair, sizeof fit->pair, "%s", what->pair);
    (void)snprintf(fit->current, sizeof fit->current, "%s", what->current);
    struct web_identify own = *what;
    own.method = fit->method;
    own.side = fit->side;
    own.pair = fit->pair;
    own.current = fit->current;
    *st = read_wish(&own, &fit->model, &fit->request, err);
    if (*st != STATUS_OK) {
        free(fit);
        return NULL;
    }
    fit->delay_max_s = what->delay_max_s;
    if (fit->request.delay_max_s) {
        fit->request.delay_max_s = &fit->delay_max_s;
    }
    fit->request.files = &fit->input;
    fit->request.file_count = 1;
    fit->request.go_on = go_on;
    fit->request.context = fit;
    return fit;
}

enum status identify_jobs_submit(struct uploads *uploads, const struct web_identify *what,
                                 char *text, size_t bytes, uint64_t *job, struct err *err)
{
    enum status st = STATUS_OK;
    struct fit *fit = make_fit(what, &st, err);
    if (!fit) {
        return st;
    }
    fit->input = (struct identify_input){.path = fit->name, .text = text, .bytes = bytes};
    struct upload_work work = {.run = run, .context = fit};
    (void)snprintf(work.what, sizeof work.what, "%s", fit->model->name);
    st = uploads_submit(uploads, &work, text, job, err);
    if (st != STATUS_OK) {
        free(fit);
    }
    return st;
}
