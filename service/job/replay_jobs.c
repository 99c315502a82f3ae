/* service/job/replay_jobs.c - POST /api/v1/replay: replays an uploaded journal or table of
 * moves as a job. */
#include "service/job/upload_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "logger/storage/journal_reader.h"
#include "service/replay/replay_moves.h"
#include "service/replay/replay_run.h"
#include "web/http/query.h"

enum { GO_ON_EVERY = 64 };

/* Bounds of what a page shows and JOB_RESULT_MAX can hold: an entry has up to 1 kB, a change of
 * parameter sets up to 48 kB. */
static const struct replay_extract extract = {
    .entries_max = 2000, .alarms_max = 1000, .changes_max = 20, .lag_points_max = 2000};

struct replay_job {
    struct lab_file file; /* the wanted pairs of the lab file; owns nothing */
    char name[QUERY_NAME_MAX], pair[EVENT_PAIR_MAX];
    const char *text; /* [bytes] */
    size_t bytes;
    bool refit;
    struct job *job; /* set while it runs */
    struct replay_run run;
    struct err fault; /* fault of the first line that is no message */
};

enum status replay_jobs_check(void *worker, const struct web_replay *what, struct err *err)
{
    const struct lab_file *file = worker_lab(worker);
    return !what->pair[0] || lab_find_params(file->pairs, file->pair_count, what->pair)
               ? STATUS_OK
               : err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "pair",
                         "the lab has no pair '%s'; /api/v1/pairs lists them", what->pair);
}

/* ---- the job ---- */

static bool go_on(void *context, const char *stage, double share)
{
    const struct replay_job *j = context;
    job_progress(j->job, share, stage);
    return job_go_on(j->job);
}

static enum status replay_one_line(struct replay_job *j, const struct journal_line *line,
                                   double share, struct err *why)
{
    struct replay *replay = j->run.replay;
    struct err err = {0};
    const enum status st =
        replay_pause(replay, journal_line_us(line->text, line->bytes), share, &err);
    if (st != STATUS_OK) {
        return err_set_at(why, st, err.fault, j->name, (unsigned)line->number, 0, "%s",
                          err.text);
    }
    if (replay_line(j->run.replay, line, &err) != STATUS_OK && j->fault.text[0] == '\0') {
        (void)err_set_at(&j->fault, STATUS_E_PARSE, err.fault, j->name, (unsigned)line->number,
                         err.column, "%s", err.text);
    }
    return STATUS_OK;
}

static enum status run_journal(struct replay_job *j, struct err *err)
{
    struct journal_line line = {.path = j->name};
    size_t at = 0;
    while (at < j->bytes) {
        const char *end = memchr(j->text + at, '\n', j->bytes - at);
        line.text = j->text + at;
        line.bytes = end ? (size_t)(end - line.text) : j->bytes - at;
        line.torn = !end;
        line.overlong = line.bytes > MESSAGE_LINE_MAX;
        line.number++;
        at += line.bytes + (end ? 1 : 0);
        const double share = 0.9 * (double)at / (double)j->bytes;
        const enum status st = replay_one_line(j, &line, share, err);
        if (st != STATUS_OK) {
            return st;
        }
        if (line.number % GO_ON_EVERY == 0 &&
            !replay_may_go_on(j->run.replay, "replaying", share)) {
            return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, j->name, "cancelled");
        }
    }
    if (j->run.replay->counts.events == 0 && j->fault.text[0]) {
        *err = j->fault;
        return STATUS_E_PARSE;
    }
    return j->run.replay->counts.events == 0 ? replay_judge(j->run.replay, j->name, err)
                                             : STATUS_OK;
}

static enum status run_moves(struct replay_job *j, struct err *err)
{
    struct replay_moves moves = {
        .source = {.path = j->name, .text = j->text, .bytes = j->bytes}, .pair = j->pair};
    return replay_moves(j->run.replay, &j->file, &moves, err);
}

/* A journal's lines are JSON objects, and no table begins like that. */
static bool is_journal(const struct replay_job *j)
{
    size_t i = utf8_mark(j->text, j->bytes);
    while (i < j->bytes && strchr(" \t\r\n", j->text[i])) {
        i++;
    }
    return i < j->bytes && j->text[i] == '{';
}

static enum status replay_and_write(struct replay_job *j, FILE *out, struct err *err)
{
    struct replay_run *run = &j->run;
    enum status st = is_journal(j) ? run_journal(j, err) : run_moves(j, err);
    if (st != STATUS_OK) {
        return st;
    }
    replay_end(run->replay);
    if (!replay_may_go_on(run->replay, "writing", 0.9)) {
        return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, j->name, "cancelled");
    }
    st = run->spool_status;
    if (st == STATUS_OK) {
        replay_document(run, &extract, out);
    } else {
        *err = run->err;
    }
    return st;
}

static enum status run_replay(struct job *job, void *context, FILE *out, struct err *err)
{
    struct replay_job *j = context;
    const struct effects effects = {replay_write_effect, &j->run};
    j->job = job;
    j->run.file = &j->file;
    enum status st = replay_open_spool(&j->run);
    if (st != STATUS_OK) {
        *err = j->run.err;
    } else if (replay_create(&j->file, &effects, &j->run.replay) != STATUS_OK) {
        st = err_no_memory(err, j->name, "no memory for another lab");
    }
    if (st == STATUS_OK) {
        j->run.replay->refit = j->refit;
        j->run.replay->go_on = go_on;
        j->run.replay->context = j;
        st = replay_and_write(j, out, err);
    }
    replay_run_free(&j->run);
    j->run = (struct replay_run){.file = NULL};
    return st;
}

enum status replay_jobs_submit(void *worker, const struct web_replay *what, char *text,
                               size_t bytes, uint64_t *job, struct err *err)
{
    struct job_order order = {
        .class = JOB_UPLOAD, .what = "replay", .run = run_replay, .text = text};
    enum status st = replay_jobs_check(worker, what, err);
    if (st != STATUS_OK) {
        return st;
    }
    struct replay_job *j = calloc(1, sizeof *j);
    if (!j) {
        return err_no_memory(err, "replay", "no memory");
    }
    j->file = *worker_lab(worker);
    if (what->pair[0]) {
        /* A table of moves for one pair needs only that pair's parameters. */
        j->file.pairs +=
            lab_find_params(j->file.pairs, j->file.pair_count, what->pair) - j->file.pairs;
        j->file.pair_count = 1;
    }
    (void)snprintf(j->name, sizeof j->name, "%s", what->name);
    (void)snprintf(j->pair, sizeof j->pair, "%s", what->pair);
    (void)snprintf(order.pair, sizeof order.pair, "%s", what->pair);
    (void)snprintf(order.file, sizeof order.file, "%s", what->name);
    j->text = text;
    j->bytes = bytes;
    j->refit = what->refit;
    order.context = j;
    st = worker_submit(worker, &order, job, err);
    if (st != STATUS_OK) {
        free(j);
    }
    return st;
}
