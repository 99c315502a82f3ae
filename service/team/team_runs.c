#include "service/team/team_runs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Runs that a thread claims at a time. */
enum { BATCH = 16 };

/* Memory of one run, and a thread's results. */
struct bench {
    struct team_simulator *simulator;
    struct team_draw *draw;
    struct team_statistics *statistics;
};

struct work {
    const struct team_prediction *tp;
    const struct team_runs_options *options;
    int64_t *makespan_us; /* [runs] -1: not finished */
    atomic_size_t next, done;
    bool stopped; /* cancelled by the caller; written by the leader */
};

struct worker {
    struct work *work;
    struct bench bench;
    pthread_t thread;
    bool leads;
};

/* ---- one run ---- */

static const struct team_effects nobody = {NULL, NULL};

static void run_once(struct bench *b, const struct team_prediction *tp,
                     const struct team_runs_options *o, const struct team_effects *fx,
                     struct team_run *run)
{
    const struct team_scenario scenario = {.params = tp->params,
                                           .ask = team_draw_lap,
                                           .context = b->draw,
                                           .horizon_us = o->horizon_us,
                                           .activities_max = o->activities_max};
    team_simulate(b->simulator, &scenario, fx, run);
}

static void clear_bench(struct bench *b)
{
    free(b->simulator);
    free(b->draw);
    free(b->statistics);
    *b = (struct bench){0};
}

static bool set_bench(struct bench *b, const struct team_prediction *tp)
{
    const struct team_params *p = tp->params;
    *b = (struct bench){malloc(team_simulator_bytes(p)), malloc(team_draw_bytes(p)),
                        malloc(team_statistics_bytes(tp))};
    if (!b->simulator || !b->draw || !b->statistics) {
        clear_bench(b);
        return false;
    }
    b->simulator = team_simulator_init(b->simulator, p);
    b->draw = team_draw_init(b->draw, tp);
    b->statistics = team_statistics_init(b->statistics, tp, b->draw);
    return true;
}

/* ---- without randomness -------------------------------------------------------------- */

static void name_unknown(const struct team_prediction *tp, const struct team_draw *draw,
                         struct err_list *errors)
{
    const struct team_params *p = tp->params;
    const size_t kinds = tp->kind_count;
    for (size_t i = 0; i < p->robot_count * kinds; i++) {
        if (!draw->laps[i].unknown) {
            continue;
        }
        const struct team_activity a = tp->activity[i % kinds];
        const char *arg = team_name(p, a.arg);
        (void)err_list_add(
            errors, STATUS_E_EMPTY, FAULT_NO_DATA, p->robots[i / kinds].name, 0, 0,
            "the duration of %s%s%s is unknown: give nominal_s, or a journal with %s",
            p->tasks[a.task].name, arg[0] ? " " : "", arg,
            p->tasks[a.task].to_position
                ? "moves and the robot's position (--set ROBOT.at=POSITION)"
                : "six of them");
    }
}

enum status team_runs_expect(struct team_prediction *tp,
                             const struct team_runs_options *options,
                             const struct team_effects *fx, struct team_run *run, bool *guessed,
                             struct err_list *errors)
{
    struct bench b;
    if (!set_bench(&b, tp)) {
        return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, "team", 0, 0,
                            "out of memory");
    }
    const size_t before = errors->count + errors->more;
    do {
        team_draw_expect(b.draw);
        run_once(&b, tp, options, &nobody, run);
    } while (team_predict_finish(tp, b.draw));
    team_draw_expect(b.draw);
    run_once(&b, tp, options, fx, run);
    name_unknown(tp, b.draw, errors);
    *guessed = b.draw->guessed;
    clear_bench(&b);
    return errors->count + errors->more > before ? STATUS_E_EMPTY : STATUS_OK;
}

/* ---- with randomness ----------------------------------------------------------------- */

static void make_batch(struct work *w, struct bench *b, size_t first)
{
    const struct team_effects fx = {team_statistics_add_effect, b->statistics};
    for (size_t k = first; k < first + BATCH && k < w->options->runs; k++) {
        struct team_run run;
        team_draw_begin(b->draw, w->options->seed, k);
        team_statistics_begin(b->statistics);
        run_once(b, w->tp, w->options, &fx, &run);
        team_statistics_end(b->statistics, &run, team_simulator_team(b->simulator),
                            w->options->horizon_us);
        w->makespan_us[k] = run.end == TEAM_RUN_FINISHED ? run.makespan_us : -1;
    }
}

static size_t claim_batch(struct work *w)
{
    return atomic_fetch_add(&w->next, BATCH);
}

/* The caller's thread is the first worker, and reports the progress of all. */
static void *run_worker(void *context)
{
    struct worker *me = context;
    struct work *w = me->work;
    const struct team_runs_options *o = w->options;
    for (size_t first = claim_batch(w); first < o->runs; first = claim_batch(w)) {
        make_batch(w, &me->bench, first);
        const size_t done = atomic_fetch_add(&w->done, BATCH) + BATCH;
        if (me->leads && !o->go_on(o->context, (double)done / (double)o->runs)) {
            w->stopped = true;
            atomic_store(&w->next, o->runs);
        }
    }
    return NULL;
}

static enum status run_workers(struct work *w, struct worker *workers, size_t count,
                               struct err_list *errors)
{
    size_t started = 1;
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        workers[i].work = w;
        room = set_bench(&workers[i].bench, w->tp);
    }
    if (!room) {
        return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, "team", 0, 0,
                            "out of memory");
    }
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) == 0) {
        started++;
    }
    workers[0].leads = w->options->go_on != NULL;
    (void)run_worker(&workers[0]);
    for (size_t i = 1; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    for (size_t i = 1; i < count; i++) {
        team_statistics_add(workers[0].bench.statistics, workers[i].bench.statistics);
    }
    return STATUS_OK;
}

static void gather_makespans(const struct work *w, struct team_runs *out)
{
    size_t n = 0;
    for (size_t k = 0; k < w->options->runs; k++) {
        if (w->makespan_us[k] >= 0) {
            out->makespans_s[n++] = lab_s(w->makespan_us[k]);
        }
    }
    team_distribution_find(out->makespans_s, n, &out->makespan_s);
}

static enum status make_runs(struct work *w, struct team_runs *out, struct err_list *errors)
{
    const size_t count = w->options->threads;
    struct worker *workers = calloc(count, sizeof *workers);
    enum status status = STATUS_E_NOMEM;
    w->makespan_us = malloc((w->options->runs + 1) * sizeof *w->makespan_us);
    out->makespans_s = malloc((w->options->runs + 1) * sizeof *out->makespans_s);
    if (workers && w->makespan_us && out->makespans_s) {
        status = run_workers(w, workers, count, errors);
    } else {
        (void)err_list_add(errors, status, FAULT_NO_MEMORY, "team", 0, 0, "out of memory");
    }
    if (status == STATUS_OK && w->stopped) {
        status = err_list_add(errors, STATUS_E_STALE, FAULT_CANCELLED, "team", 0, 0,
                              "it was cancelled");
    }
    if (status == STATUS_OK) {
        gather_makespans(w, out);
        out->statistics = workers[0].bench.statistics;
        workers[0].bench.statistics = NULL;
    }
    for (size_t i = 0; workers && i < count; i++) {
        clear_bench(&workers[i].bench);
    }
    free(workers);
    free(w->makespan_us);
    return status;
}

enum status team_runs_make(struct team_prediction *tp, const struct team_runs_options *options,
                           struct team_runs *out, struct err_list *errors)
{
    struct team_runs runs = {0};
    struct work work = {.tp = tp, .options = options};
    bool guessed = false;
    enum status status =
        team_runs_expect(tp, options, &nobody, &runs.expected, &guessed, errors);
    if (status == STATUS_OK) {
        status = make_runs(&work, &runs, errors);
    }
    if (status != STATUS_OK) {
        team_runs_free(&runs);
        return status;
    }
    *out = runs;
    return STATUS_OK;
}

void team_runs_free(struct team_runs *runs)
{
    free(runs->makespans_s);
    free(runs->statistics);
    *runs = (struct team_runs){0};
}
