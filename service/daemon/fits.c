#include "service/daemon/fits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "logger/storage/lock.h"
#include "service/tool/json_file.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/report/fit_report.h"
#include "twin/report/pair_report.h"

/* The newest fit of one side of one pair. */
struct place {
    uint64_t worker_job;
    uint32_t job;
    struct dynamics_result *result;
};

struct fits {
    const struct lab *lab;
    struct worker *worker;
    struct inbox *inbox;
    _Atomic bool stopping;
    pthread_mutex_t lock;
    struct fits_counts counts;
    struct place (*place)[SIDE_COUNT]; /* [pair_count] */
};

/* One fit: the window and the destination of its result. The samples follow it in memory. */
struct errand {
    struct fits *fits;
    uint32_t pair;
    enum side side;
    uint32_t job;
    bool reported; /* its end is in the journal */
    struct dynamics_task task;
    struct job *worker_job;
    uint32_t asked;
};

enum status fits_create(const struct lab *lab, struct worker *worker, struct inbox *inbox,
                        struct fits **out)
{
    struct fits *f = calloc(1, sizeof *f);
    struct place(*place)[SIDE_COUNT] = calloc(lab_pair_count(lab), sizeof *place);
    if (!f || !place) {
        free(f);
        free(place);
        return STATUS_E_NOMEM;
    }
    *f = (struct fits){.lab = lab, .worker = worker, .inbox = inbox, .place = place};
    lock_init(&f->lock);
    *out = f;
    return STATUS_OK;
}

void fits_stop(struct fits *f)
{
    atomic_store(&f->stopping, true);
}

void fits_destroy(struct fits *f)
{
    if (!f) {
        return;
    }
    for (size_t i = 0; i < lab_pair_count(f->lab); i++) {
        free(f->place[i][SIDE_REAL].result);
        free(f->place[i][SIDE_VIRTUAL].result);
    }
    (void)pthread_mutex_destroy(&f->lock);
    free(f->place);
    free(f);
}

/* ---- results ------------------------------------------------------------------------- */

static void record_end(struct fits *f, uint32_t pair, enum side side, uint32_t job,
                       enum fit_outcome outcome, const char *why)
{
    char payload[512];
    char detail[104];
    (void)snprintf(detail, sizeof detail, "%s", why);
    const size_t bytes = JSON_FORMAT(
        payload, sizeof payload, JSON("pair", lab_pair_params(f->lab, pair)->id),
        JSON("side", side_name(side)), JSON("job", job),
        JSON("outcome", fit_outcome_name(outcome)), JSON_OPTIONAL("detail", detail));
    if (bytes > 0) {
        inbox_record(f->inbox, "fit", payload, bytes);
    }
}

static void report_end(struct errand *e, enum fit_outcome outcome, const char *why)
{
    e->reported = true;
    record_end(e->fits, e->pair, e->side, e->job, outcome, why);
}

/* Stores the result before the line that makes the lab look for it. */
static void store_result(struct errand *e, struct dynamics_result *result)
{
    struct fits *f = e->fits;
    (void)pthread_mutex_lock(&f->lock);
    struct place *place = &f->place[e->pair][e->side];
    struct dynamics_result *older = place->result;
    f->counts.forgotten += older ? 1 : 0;
    place->result = result;
    place->job = e->job;
    (void)pthread_mutex_unlock(&f->lock);
    free(older);
    report_end(e, FIT_DONE, "");
}

/* ---- on the worker ------------------------------------------------------------------- */

/* A search has no known length, so the reported share rises ever more slowly. */
static bool may_go_on(void *context, const char *stage)
{
    struct errand *e = context;
    const double share = 1.0 - 8.0 / (8.0 + (double)e->asked++);
    job_progress(e->worker_job, 0.95 * share, stage);
    return job_go_on(e->worker_job);
}

/* Writes a text for users who query the job; the lab reads the numbers. */
static void show_result(const struct errand *e, const struct dynamics_result *result, FILE *out)
{
    char buffer[2048];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, out);
    json_write_object(&w, NULL);
    dynamics_report_fit(&w, e->task.model, &result->fit);
    parameters_report_checks(&w, "checks", &result->checks);
    json_write_object(&w, "data");
    dynamics_report_summary(&w, e->task.model, &result->summary);
    json_write_close(&w);
    json_write_close(&w);
    (void)json_write_end(&w);
}

static enum status run_fit(struct job *job, void *context, FILE *out, struct err *err)
{
    struct errand *e = context;
    struct dynamics_result *result = malloc(sizeof *result);
    e->worker_job = job;
    e->task.go_on = may_go_on;
    e->task.context = e;
    struct event_fit end = {.outcome = FIT_FAILED, .detail = "no memory for the result"};
    const enum status status = result ? dynamics_task_end(&e->task, result, &end, err)
                                      : err_no_memory(err, "fit", "%s", end.detail);
    if (status == STATUS_OK) {
        show_result(e, result, out);
        store_result(e, result);
        return status;
    }
    free(result);
    if (end.outcome == FIT_CANCELLED && atomic_load(&e->fits->stopping)) {
        e->reported = true; /* the next start begins it again */
    } else {
        report_end(e, end.outcome, end.detail);
    }
    return status;
}

static void release_errand(void *context)
{
    struct errand *e = context;
    if (!e->reported && !atomic_load(&e->fits->stopping)) {
        report_end(e, FIT_CANCELLED, "");
    }
    free(e);
}

/* ---- on the lab thread --------------------------------------------------------------- */

/* Copies the frozen window; NULL: no memory. */
static struct errand *make_errand(struct fits *f, uint32_t pair, enum side side)
{
    const struct pair_dynamics *d = lab_dynamics(f->lab, pair);
    struct dynamics_task task;
    pair_dynamics_task(d, &lab_pair_params(f->lab, pair)->dynamics, side, &task);
    const size_t times = task.n * sizeof task.t_us[0];
    const size_t values = task.n * 3 * task.model->axis_count * sizeof task.values[0];
    struct errand *e = malloc(sizeof *e + times + values);
    if (e) {
        *e = (struct errand){
            .fits = f, .pair = pair, .side = side, .job = d->side[side].job, .task = task};
        char *at = (char *)(e + 1);
        memcpy(at, task.t_us, times);
        memcpy(at + times, task.values, values);
        e->task.t_us = (const void *)at;
        e->task.values = (const void *)(at + times);
    }
    return e;
}

void fits_begin(struct fits *f, uint32_t pair, enum side side)
{
    struct job_order order = {.class = JOB_LAB, .run = run_fit, .release = release_errand};
    struct errand *e = make_errand(f, pair, side);
    uint64_t id = 0;
    enum status status = STATUS_E_NOMEM;
    if (e) {
        order.context = e;
        (void)snprintf(order.what, sizeof order.what, "%s", e->task.model->name);
        (void)snprintf(order.pair, sizeof order.pair, "%s", lab_pair_params(f->lab, pair)->id);
        status = worker_submit(f->worker, &order, &id, NULL);
    }
    (void)pthread_mutex_lock(&f->lock);
    f->counts.begun += status == STATUS_OK ? 1 : 0;
    f->counts.refused += status != STATUS_OK ? 1 : 0;
    f->place[pair][side].worker_job = status == STATUS_OK ? id : 0;
    (void)pthread_mutex_unlock(&f->lock);
    if (status == STATUS_OK) {
        return;
    }
    if (!atomic_load(&f->stopping)) {
        record_end(f, pair, side, lab_dynamics(f->lab, pair)->side[side].job, FIT_FAILED,
                   status == STATUS_E_FULL    ? "too many fits wait already"
                   : status == STATUS_E_NOMEM ? "no memory for a copy of the window"
                                              : "the worker has stopped");
    }
    free(e);
}

void fits_go_live(struct fits *f)
{
    for (size_t i = 0; i < lab_pair_count(f->lab); i++) {
        const struct pair_dynamics *d = lab_dynamics(f->lab, i);
        for (enum side s = SIDE_REAL; d && s < SIDE_COUNT; s++) {
            if (d->side[s].running) {
                fits_begin(f, (uint32_t)i, s);
            }
        }
    }
}

struct dynamics_result *fits_pop(struct fits *f, uint32_t pair, enum side side, uint32_t job)
{
    struct dynamics_result *result = NULL;
    (void)pthread_mutex_lock(&f->lock);
    struct place *place = &f->place[pair][side];
    if (place->result && place->job == job) {
        result = place->result;
        place->result = NULL;
        f->counts.found++;
    }
    (void)pthread_mutex_unlock(&f->lock);
    return result;
}

uint64_t fits_job(struct fits *f, uint32_t pair, enum side side)
{
    (void)pthread_mutex_lock(&f->lock);
    const uint64_t id = f->place[pair][side].worker_job;
    (void)pthread_mutex_unlock(&f->lock);
    return id;
}

void fits_read_counts(struct fits *f, struct fits_counts *out)
{
    (void)pthread_mutex_lock(&f->lock);
    *out = f->counts;
    (void)pthread_mutex_unlock(&f->lock);
}
