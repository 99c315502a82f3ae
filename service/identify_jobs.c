#include "service/identify_jobs.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/identify.h"
#include "web/query.h"

struct identify_jobs {
    struct worker *worker;
    unsigned uploads_max;
    atomic_uint held;
};

/* One recording, and what is to be done with it: the context of its job. */
struct upload {
    struct identify_jobs *jobs;
    const struct identify_model *model;
    struct identify_request request;
    struct identify_input input;
    char *text;
    char name[QUERY_NAME_MAX], method[QUERY_WORD_MAX], side[QUERY_WORD_MAX],
        pair[QUERY_WORD_MAX];
    struct job *job; /* while it runs */
};

/* ---- from the request ---- */

static enum status refuse_model(const char *name, struct err *err)
{
    char names[ERR_TEXT_MAX] = "";
    size_t used = 0;
    for (size_t i = 0; i < identify_model_count && used < sizeof names; i++) {
        const int n =
            snprintf(names + used, sizeof names - used, " %s", identify_models[i]->name);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(err, STATUS_E_ARG, "model", 0, 0,
                   name[0] ? "there is no such model; there are%s" : "one is needed of%s",
                   names);
}

/* The request that the words make; texts are borrowed from what. */
static enum status read_wish(const struct web_identify *what,
                             const struct identify_model **model,
                             struct identify_request *request, struct err *err)
{
    *model = identify_find_model(what->model);
    if (!*model) {
        return refuse_model(what->model, err);
    }
    *request = (struct identify_request){.method = what->method[0] ? what->method : NULL,
                                         .side = what->side[0] ? what->side : "real",
                                         .pair = what->pair[0] ? what->pair : NULL,
                                         .biases = what->biases,
                                         .json = true};
    const enum status st = identify_take_columns(what->columns, request, err);
    return st == STATUS_OK ? identify_check(*model, request, err) : st;
}

enum status identify_jobs_check(const struct web_identify *what, struct err *err)
{
    const struct identify_model *model = NULL;
    struct identify_request request;
    return read_wish(what, &model, &request, err);
}

/* ---- the job ---- */

static bool go_on(void *context, const char *stage, double share)
{
    const struct upload *upload = context;
    job_progress(upload->job, share, stage);
    return job_go_on(upload->job);
}

static enum status run(struct job *job, void *context, struct err *err)
{
    struct upload *upload = context;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory for the result");
    }
    upload->job = job;
    enum status st = upload->model->run(upload->model, &upload->request, out, err);
    if (fclose(out) != 0 && st == STATUS_OK) {
        st = err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory for the result");
    }
    if (st == STATUS_OK) {
        st = job_result(job, text, bytes);
    }
    free(text);
    return st;
}

static void release(void *context)
{
    struct upload *upload = context;
    identify_jobs_release(upload->jobs);
    free(upload->text);
    free(upload);
}

/* ---- for the server ---- */

enum status identify_jobs_create(struct worker *worker, unsigned uploads_max,
                                 struct identify_jobs **out)
{
    struct identify_jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs) {
        return STATUS_E_NOMEM;
    }
    jobs->worker = worker;
    jobs->uploads_max = uploads_max;
    *out = jobs;
    return STATUS_OK;
}

void identify_jobs_destroy(struct identify_jobs *jobs)
{
    free(jobs);
}

bool identify_jobs_claim(struct identify_jobs *jobs)
{
    unsigned held = atomic_load(&jobs->held);
    while (held < jobs->uploads_max) {
        if (atomic_compare_exchange_weak(&jobs->held, &held, held + 1)) {
            return true;
        }
    }
    return false;
}

void identify_jobs_release(struct identify_jobs *jobs)
{
    atomic_fetch_sub(&jobs->held, 1);
}

unsigned identify_jobs_held(struct identify_jobs *jobs)
{
    return atomic_load(&jobs->held);
}

/* What is asked for, with texts of its own. */
static struct upload *make_upload(struct identify_jobs *jobs, const struct web_identify *what,
                                  enum status *st, struct err *err)
{
    struct upload *upload = calloc(1, sizeof *upload);
    if (!upload) {
        *st = err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory");
        return NULL;
    }
    (void)snprintf(upload->name, sizeof upload->name, "%s", what->name);
    (void)snprintf(upload->method, sizeof upload->method, "%s", what->method);
    (void)snprintf(upload->side, sizeof upload->side, "%s", what->side);
    (void)snprintf(upload->pair, sizeof upload->pair, "%s", what->pair);
    struct web_identify own = *what;
    own.method = upload->method;
    own.side = upload->side;
    own.pair = upload->pair;
    *st = read_wish(&own, &upload->model, &upload->request, err);
    if (*st != STATUS_OK) {
        free(upload);
        return NULL;
    }
    upload->jobs = jobs;
    upload->request.files = &upload->input;
    upload->request.file_count = 1;
    upload->request.go_on = go_on;
    upload->request.context = upload;
    return upload;
}

enum status identify_jobs_submit(struct identify_jobs *jobs, const struct web_identify *what,
                                 char *text, size_t bytes, uint64_t *job, struct err *err)
{
    enum status st = STATUS_OK;
    struct upload *upload = make_upload(jobs, what, &st, err);
    if (!upload) {
        return st;
    }
    upload->text = text;
    upload->input = (struct identify_input){.path = upload->name, .text = text, .bytes = bytes};
    struct job_order order = {
        .class = JOB_UPLOAD, .run = run, .release = release, .context = upload};
    (void)snprintf(order.what, sizeof order.what, "%s", upload->model->name);
    st = worker_submit(jobs->worker, &order, job);
    if (st != STATUS_OK) {
        free(upload);
        return err_set(err, st, "identify", 0, 0, "%s",
                       st == STATUS_E_FULL ? "too many jobs wait" : "starting or stopping");
    }
    return STATUS_OK;
}

enum status identify_jobs_cancel(struct identify_jobs *jobs, uint64_t job)
{
    return worker_cancel(jobs->worker, job);
}

/* The server's view of a job. */
struct shown {
    web_show_job *show;
    void *context;
};

static void show_job(void *context, const struct job_report *report)
{
    const struct shown *shown = context;
    const struct web_job job = {.id = report->id,
                                .kind = job_class_name(report->class),
                                .model = report->what,
                                .pair = report->pair,
                                .state = job_state_name(report->state),
                                .cancelling = report->cancelling,
                                .progress = report->progress,
                                .stage = report->stage,
                                .queued_us = report->queued_us,
                                .began_us = report->began_us,
                                .ended_us = report->ended_us,
                                .err = report->state == JOB_FAILED ? &report->err : NULL,
                                .result = report->result,
                                .result_bytes = report->result_bytes};
    shown->show(shown->context, &job);
}

enum status identify_jobs_read(struct identify_jobs *jobs, uint64_t job, web_show_job *show,
                               void *context)
{
    struct shown shown = {show, context};
    return worker_read(jobs->worker, job, show_job, &shown);
}

void identify_jobs_list(struct identify_jobs *jobs, web_show_job *show, void *context)
{
    struct shown shown = {show, context};
    worker_list(jobs->worker, show_job, &shown);
}
