/* service/job/simulate_jobs.c - POST /api/v1/teams/simulate: parses its query and simulates
 * a team as a job. */
#include "service/job/query_settings.h"
#include "service/job/upload_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/team/team_file.h"
#include "service/team/team_settings.h"
#include "service/team/team_simulate_report.h"

enum { RUNS = 10000, RUNS_MAX = 1000000 };
static const double HORIZON_S = 86400.0, HORIZON_MAX_S = 1e6;

/* The request; all zero is the default. */
struct simulate_request {
    double runs, seed, horizon_s;
    char team[TEAM_NAME_MAX];
    struct query_settings settings;
};

struct simulation {
    struct simulate_request simulate_request;
    const char *text; /* [bytes] owned by the worker */
    size_t bytes;
    struct job *job; /* set while it runs */
    struct team_file file;
    struct team_settings team;
    struct team_prediction *tp;
};

/* ---- the query ---- */

static const char *const parameters[] = {"runs", "seed", "horizon_s", "team", "set"};

static enum status parse_value(void *context, size_t i, const struct query_value *v)
{
    struct simulate_request *w = context;
    switch (i) {
    case 0:
        return query_number(v, 1, RUNS_MAX, true, &w->runs);
    case 1:
        return query_number(v, 0, QUERY_SEED_MAX, true, &w->seed);
    case 2:
        return query_number(v, 1, HORIZON_MAX_S, false, &w->horizon_s);
    case 3:
        return query_text(v, sizeof w->team, w->team);
    default:
        return query_settings_read(v, &w->settings);
    }
}

static enum status parse_request(const char *query, struct simulate_request *w, struct err *err)
{
    const struct query_reader reader = {parameters,   COUNT(parameters), QUERY_TEXT_MAX + 1,
                                        STATUS_E_ARG, parse_value,       w};
    *w = (struct simulate_request){.runs = RUNS, .seed = 1, .horizon_s = HORIZON_S};
    return query_read(query, &reader, err);
}

enum status simulate_jobs_check(void *worker, const char *query, struct err *err)
{
    (void)worker;
    struct simulate_request *w = malloc(sizeof *w);
    const enum status st =
        w ? parse_request(query, w, err) : err_no_memory(err, "simulate", "no memory");
    free(w);
    return st;
}

/* ---- the job ---- */

static enum status copy_first_error(const struct err_list *errors, enum status st,
                                    struct err *err)
{
    if (errors->count > 0) {
        *err = errors->items[0];
    }
    return st;
}

static enum status load_team(struct simulation *s, struct err *err)
{
    struct err_list errors = {0};
    enum status st = lab_file_parse_teams(s->text, s->bytes, "team.yaml", &s->file, &errors);
    if (st != STATUS_OK) {
        return copy_first_error(&errors, st, err);
    }
    char names[TEAM_SETTINGS_NAMES_MAX];
    const struct team_params *p =
        team_settings_choose(&s->file, s->simulate_request.team, names);
    if (!p) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "team", "the file has %s",
                       names[0] ? names : "no team");
    }
    st = team_settings_make(p, s->simulate_request.settings.texts,
                            s->simulate_request.settings.count, &s->team, &errors);
    if (st != STATUS_OK) {
        return copy_first_error(&errors, st, err);
    }
    s->tp = team_settings_predict(&s->team);
    if (!s->tp) {
        return err_no_memory(err, "simulate", "no memory");
    }
    team_settings_apply(&s->team, s->tp);
    return STATUS_OK;
}

static bool go_on(void *context, double share)
{
    const struct simulation *s = context;
    job_progress(s->job, share, "simulating");
    return job_go_on(s->job);
}

static enum status run_simulation(struct job *job, void *context, FILE *out, struct err *err)
{
    struct simulation *s = context;
    struct err_list errors = {0};
    struct team_runs runs;
    s->job = job;
    enum status st = load_team(s, err);
    if (st != STATUS_OK) {
        return st;
    }
    const struct team_runs_options options = {.runs = (size_t)s->simulate_request.runs,
                                              .seed = (uint64_t)s->simulate_request.seed,
                                              .threads = 1,
                                              .horizon_us =
                                                  lab_us(s->simulate_request.horizon_s),
                                              .go_on = go_on,
                                              .context = s};
    st = team_runs_make(s->tp, &options, &runs, &errors);
    if (st != STATUS_OK) {
        return copy_first_error(&errors, st, err);
    }
    const struct team_study study = {
        .tp = s->tp, .runs = &runs, .run_count = options.runs, .seed = options.seed};
    team_study_json(&study, out);
    team_runs_free(&runs);
    return STATUS_OK;
}

static void release_simulation(void *context)
{
    struct simulation *s = context;
    free(s->tp);
    team_settings_free(&s->team);
    team_file_free(&s->file);
    free(s);
}

enum status simulate_jobs_submit(void *worker, const char *query, char *text, size_t bytes,
                                 uint64_t *job, struct err *err)
{
    struct simulation *s = calloc(1, sizeof *s);
    struct job_order order = {.class = JOB_UPLOAD,
                              .run = run_simulation,
                              .release = release_simulation,
                              .context = s,
                              .text = text,
                              .what = "simulate"};
    if (!s) {
        return err_no_memory(err, "simulate", "no memory");
    }
    s->text = text;
    s->bytes = bytes;
    enum status st = parse_request(query, &s->simulate_request, err);
    if (st == STATUS_OK) {
        st = worker_submit(worker, &order, job, err);
    }
    if (st != STATUS_OK) {
        release_simulation(s);
    }
    return st;
}
