/* tests/support/web_fixture.h - a lab for the HTTP server to show: two pairs with a history,
 * their records in a store, and a source that the test can upset. */
#ifndef TESTS_SUPPORT_WEB_FIXTURE_H
#define TESTS_SUPPORT_WEB_FIXTURE_H

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/labfile/lab_file.h"
#include "logger/message/record_json.h"
#include "logger/storage/store.h"
#include "service/job/plan_call.h"
#include "service/job/upload_jobs.h"
#include "tests/support/scratch.h"
#include "tests/support/web_team.h"
#include "twin/lab.h"
#include "web/http/metrics.h"
#include "web/server/server.h"

enum { FIXTURE_PAIRS = 3, FIXTURE_START_S = 1763617674, FIXTURE_UPLOAD_MAX = 300000 };

struct fixture {
    char directory[64], store_path[96];
    struct store *store;
    struct pair_params params[FIXTURE_PAIRS];
    struct pair_following_params following_params; /* of the first, when it follows */
    struct pair *pair[FIXTURE_PAIRS];
    const struct pair *view_pairs[FIXTURE_PAIRS];
    struct pair_dynamics *dynamics; /* of the first pair */
    const struct pair_dynamics *view_dynamics[FIXTURE_PAIRS];
    struct pair_following *following; /* of the first pair */
    const struct pair_following *view_following[FIXTURE_PAIRS];
    struct view view;
    atomic_int acquired; /* views out; must be 0 at the end */
    atomic_int given;    /* views ever */
    atomic_int slow_ms;  /* acquire waits for this: a slow handler */
    atomic_int command_status;
    atomic_int commands;
    pthread_mutex_t lock;
    char command_pair[EVENT_PAIR_MAX], command_payload[EVENT_RAW_MAX + 1];
    char request[256];  /* the last request about parameter sets */
    atomic_int uploads; /* claimed now */
    atomic_int uploads_max;
    atomic_int identify_status, refit_status;
    char wish[512], upload[256]; /* of the last one handed over, the latter cut */
    size_t upload_bytes;
    uint64_t entry_n, alarm_n; /* records stored */
    struct event_hub *events;  /* NULL: nothing is published */
    struct team_live *live;    /* a team */
    const struct team_live *live_teams[1];
};

static inline int64_t fixture_us(double s)
{
    return (FIXTURE_START_S + INT64_C(0)) * 1000000 + (int64_t)llround(s * 1e6);
}

/* ---- the source ---- */

static inline const struct view *fixture_acquire(void *context)
{
    struct fixture *f = context;
    const int ms = atomic_load(&f->slow_ms);
    if (ms > 0) {
        (void)usleep((useconds_t)(ms * 1000));
    }
    atomic_fetch_add(&f->acquired, 1);
    atomic_fetch_add(&f->given, 1);
    return &f->view;
}

static inline void fixture_release(void *context, const struct view *view)
{
    struct fixture *f = context;
    (void)view;
    atomic_fetch_sub(&f->acquired, 1);
}

static inline enum status fixture_command(void *context, const char *pair, const char *payload,
                                          size_t bytes, struct err *err)
{
    struct fixture *f = context;
    const enum status status = (enum status)atomic_load(&f->command_status);
    if (status != STATUS_OK) {
        return err_set(err, status, FAULT_NOT_ACCEPTED, "broker", "not now");
    }
    (void)pthread_mutex_lock(&f->lock);
    (void)snprintf(f->command_pair, sizeof f->command_pair, "%s", pair);
    (void)snprintf(f->command_payload, sizeof f->command_payload, "%.*s", (int)bytes, payload);
    (void)pthread_mutex_unlock(&f->lock);
    atomic_fetch_add(&f->commands, 1);
    return STATUS_OK;
}

static inline void fixture_metrics(void *context, struct metrics *metrics)
{
    (void)context;
    metrics_counter(metrics, "tandem_journal_lines_total", "Lines written.", 4711);
}

static inline int64_t fixture_now(void *context)
{
    (void)context;
    return fixture_us(1000);
}

static inline enum status fixture_request(void *context, const char *payload, size_t bytes,
                                          struct err *err)
{
    struct fixture *f = context;
    (void)err;
    (void)snprintf(f->request, sizeof f->request, "%.*s", (int)bytes, payload);
    if (strstr(f->request, "\"team\"")) {
        web_team_ask(f->live, fixture_us(1000) + (int64_t)f->live->version, payload, bytes);
    }
    return STATUS_OK;
}

static inline size_t fixture_machines(void *context, size_t pair, enum side side,
                                      char out[WEB_MACHINES_MAX])
{
    static const char text[] = "{\"l0main\":{\"state\":\"LISTEN\"}}";
    (void)context;
    if (pair > 0 || side != SIDE_REAL) {
        return 0;
    }
    memcpy(out, text, sizeof text - 1);
    return sizeof text - 1;
}

static inline const char *fixture_map(void *context, size_t pair, size_t *bytes)
{
    static const char text[] =
        "{\"bounds_m\":[-3,-2,3,2],\"obstacles\":[{\"name\":\"pillar\",\"shape\":\"circle\","
        "\"points_m\":[[1.2,0.1]],\"radius_m\":0.25,\"mapped\":true,\"appears_s\":0,"
        "\"leaves_s\":0}]}";
    (void)context;
    *bytes = pair == 0 ? sizeof text - 1 : 0;
    return pair == 0 ? text : NULL;
}

static inline const char *fixture_picture(void *context, const char *machine, size_t *bytes)
{
    static const char text[] = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    (void)context;
    *bytes = sizeof text - 1;
    return strcmp(machine, "Counter") == 0 ? text : NULL;
}

static const char fixture_capture[] = "r1-57-1795154400";

static inline void fixture_list_captures(void *context, struct json_writer *w)
{
    (void)context;
    JSON_WRITE_OBJECT(w, NULL, JSON("id", fixture_capture), JSON("pair", "r1"),
                      JSON_WHOLE("n", 57), JSON("trigger", "timeout"), JSON("t", 2.5),
                      JSON("from", 1.5), JSON("until", 3.5), JSON_WHOLE("bytes", 5),
                      JSON_BOOL("open", false), JSON_BOOL("complete", true));
}

static inline enum status fixture_read_capture(void *context, const char *id, bool mcap,
                                               struct body *out)
{
    (void)context;
    body_text(out, mcap ? "mcap" : "lines");
    return strcmp(id, fixture_capture) == 0 ? STATUS_OK : STATUS_E_EMPTY;
}

static inline enum status fixture_remove_capture(void *context, const char *id)
{
    (void)context;
    return strcmp(id, fixture_capture) == 0 ? STATUS_OK : STATUS_E_EMPTY;
}

static inline enum status fixture_refit(void *context, size_t pair, enum side side,
                                        uint64_t *job, struct err *err)
{
    struct fixture *f = context;
    const enum status status = (enum status)atomic_load(&f->refit_status);
    (void)snprintf(f->request, sizeof f->request, "%zu %s", pair, side_name(side));
    *job = 77;
    return status == STATUS_OK ? status
                               : err_set(err, status, FAULT_NOT_ACCEPTED, "lab", "not now");
}

/* ---- jobs: 42 is done, 43 failed, 44 runs, 45 waits, 77 is the one just handed over ---- */

static inline enum status fixture_check_identify(void *context, const char *query,
                                                 struct err *err)
{
    (void)context;
    return identify_jobs_check(NULL, query, err);
}

static inline enum status fixture_check_simulate(void *context, const char *query,
                                                 struct err *err)
{
    (void)context;
    return simulate_jobs_check(NULL, query, err);
}

static inline bool fixture_claim_upload(void *context)
{
    struct fixture *f = context;
    if (atomic_fetch_add(&f->uploads, 1) < atomic_load(&f->uploads_max)) {
        return true;
    }
    atomic_fetch_sub(&f->uploads, 1);
    return false;
}

static inline void fixture_release_upload(void *context)
{
    struct fixture *f = context;
    atomic_fetch_sub(&f->uploads, 1);
}

/* Like in the daemon, the text belongs to the job. */
static inline enum status fixture_submit(struct fixture *f, const char *wish, char *text,
                                         size_t bytes, uint64_t *job, struct err *err)
{
    const enum status status = (enum status)atomic_load(&f->identify_status);
    if (status != STATUS_OK) {
        return err_set(err, status, FAULT_NOT_ACCEPTED, "identify", "not now");
    }
    (void)pthread_mutex_lock(&f->lock);
    (void)snprintf(f->wish, sizeof f->wish, "%s", wish);
    (void)snprintf(f->upload, sizeof f->upload, "%.*s", (int)(bytes < 200 ? bytes : 200), text);
    f->upload_bytes = bytes;
    (void)pthread_mutex_unlock(&f->lock);
    free(text);
    fixture_release_upload(f);
    *job = 77;
    return STATUS_OK;
}

static inline enum status fixture_identify(void *context, const char *query, char *text,
                                           size_t bytes, uint64_t *job, struct err *err)
{
    return fixture_submit(context, query, text, bytes, job, err);
}

static inline enum status fixture_check_replay(void *context, const struct web_replay *what,
                                               struct err *err)
{
    (void)context;
    return strcmp(what->pair, "nobody") != 0 ? STATUS_OK
                                             : err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME,
                                                       "pair", "the lab has no pair 'nobody'");
}

static inline enum status fixture_replay(void *context, const struct web_replay *what,
                                         char *text, size_t bytes, uint64_t *job,
                                         struct err *err)
{
    char wish[256];
    (void)snprintf(wish, sizeof wish, "replay %s %s", what->name, what->pair);
    return fixture_submit(context, wish, text, bytes, job, err);
}

static inline void fixture_show_job(uint64_t id, web_show_job *show, void *context)
{
    static const char result[] = "{\"model\":\"usv3\",\"n\":1500}\n";
    static const char *const states[] = {"done", "failed", "running", "queued"};
    const struct err err = {STATUS_E_PARSE, FAULT_NOT_A_NUMBER,      2, 9,
                            "trial.csv",    "'fast' is not a number"};
    const size_t k = id == 77 ? 3 : (size_t)id - 42;
    const struct web_job job = {.id = id,
                                .kind = k == 2 ? "lab" : "upload",
                                .model = "usv3",
                                .pair = k == 2 ? "r1" : "",
                                .state = states[k],
                                .cancelling = k == 2,
                                .progress = 1.0 - 0.25 * (double)k,
                                .stage = k == 3 ? "" : "output_error",
                                .queued_us = fixture_us(1),
                                .began_us = k == 3 ? LAB_TIME_NONE : fixture_us(2),
                                .ended_us = k < 2 ? fixture_us(3) : LAB_TIME_NONE,
                                .err = k == 1 ? &err : NULL,
                                .result = k == 0 ? result : NULL,
                                .result_bytes = k == 0 ? sizeof result - 1 : 0};
    show(context, &job);
}

static inline enum status fixture_read_job(void *context, uint64_t id, web_show_job *show,
                                           void *show_context)
{
    (void)context;
    if (id != 77 && (id < 42 || id > 45)) {
        return STATUS_E_EMPTY;
    }
    fixture_show_job(id, show, show_context);
    return STATUS_OK;
}

static inline void fixture_list_jobs(void *context, web_show_job *show, void *show_context)
{
    (void)context;
    for (uint64_t id = 45; id >= 42; id--) {
        fixture_show_job(id, show, show_context);
    }
}

static inline enum status fixture_cancel_job(void *context, uint64_t id)
{
    (void)context;
    return id == 42 || id == 43   ? STATUS_E_STALE
           : id == 44 || id == 45 ? STATUS_OK
                                  : STATUS_E_EMPTY;
}

static inline struct web_source fixture_source(struct fixture *f)
{
    return (struct web_source){.context = f,
                               .version = "0",
                               .lab = "pairs: {r1: {}}\n",
                               .snapshots = f,
                               .acquire = fixture_acquire,
                               .release = fixture_release,
                               .command = fixture_command,
                               .request = fixture_request,
                               .machines = fixture_machines,
                               .map = fixture_map,
                               .plan = plan_call_write,
                               .picture = fixture_picture,
                               .list_captures = fixture_list_captures,
                               .read_capture = fixture_read_capture,
                               .remove_capture = fixture_remove_capture,
                               .refit = fixture_refit,
                               .jobs = f,
                               .check_identify = fixture_check_identify,
                               .claim_upload = fixture_claim_upload,
                               .release_upload = fixture_release_upload,
                               .identify = fixture_identify,
                               .check_simulate = fixture_check_simulate,
                               .simulate = fixture_identify,
                               .check_replay = fixture_check_replay,
                               .replay = fixture_replay,
                               .cancel_job = fixture_cancel_job,
                               .read_job = fixture_read_job,
                               .list_jobs = fixture_list_jobs,
                               .metrics = fixture_metrics,
                               .now = fixture_now,
                               .events = f->events};
}

/* ---- the history ---- */

static inline void fixture_add(struct fixture *f, const struct store_row *row)
{
    bool is_new = false;
    if (store_begin(f->store, NULL) != STATUS_OK ||
        store_add(f->store, row, &is_new, NULL) != STATUS_OK ||
        store_commit(f->store, NULL) != STATUS_OK) {
        abort();
    }
}

static inline void fixture_emit(void *context, const struct effect *effect)
{
    struct fixture *f = context;
    char text[RECORD_JSON_MAX];
    struct json_writer w;
    struct store_row row = {.json = text, .pair = f->params[effect->pair].id};
    json_write_start(&w, text, sizeof text, NULL, NULL);
    if (effect->kind == EFFECT_ENTRY) {
        const struct entry *e = effect->entry;
        entry_write_json(&w, NULL, e, row.pair);
        row.kind = STORE_ENTRIES;
        row.n = e->n;
        row.t_us = e->t_us;
        row.id = e->id;
        row.type = verdict_name(e->verdict);
        row.lag_s = e->lag_us == LAB_TIME_NONE ? nan("") : lab_s(e->lag_us);
        row.inconsistent = e->consistency == INCONSISTENT;
        f->entry_n++;
    } else if (effect->kind == EFFECT_ALARM) {
        const struct alarm *a = effect->alarm;
        alarm_write_json(&w, NULL, a, row.pair);
        row.kind = STORE_ALARMS;
        row.n = a->n;
        row.t_us = a->t_us;
        row.id = a->id;
        row.type = alarm_type_name(a->type);
        row.lag_s = nan("");
        f->alarm_n++;
    } else if (effect->kind == EFFECT_LOG) {
        row.kind = STORE_LOG;
        row.n = effect->n;
        event_write_json(&w, NULL, effect->event, row.n);
        row.t_us = effect->t_us;
        row.id = "";
        row.type = event_kind_name(effect->event->kind);
        row.lag_s = nan("");
    } else {
        return;
    }
    if (!json_write_end(&w)) {
        abort();
    }
    row.json_bytes = w.used;
    fixture_add(f, &row);
}

static inline void fixture_step(struct fixture *f, size_t pair, struct event *event, double s)
{
    const struct effects fx = {fixture_emit, f};
    const struct pair_parts parts = {.pair = f->pair[pair]};
    event->t_us = fixture_us(s);
    (void)snprintf(event->pair, sizeof event->pair, "%s", f->params[pair].id);
    while (f->pair[pair]->deadline_us < event->t_us) {
        pair_fire(&parts, &f->params[pair], &fx);
    }
    pair_step(&parts, &f->params[pair], event, &fx);
}

/* Command k at k * 10 s and its two replies; every tenth time the virtual robot is silent,
 * every seventh the real one answers twice, every eleventh they report different x. */
static inline void fixture_move(struct fixture *f, size_t pair, int k)
{
    const double t = 10.0 * k;
    const double turn = k % 3 == 0 ? 0.0 : 0.2 * (1 + k % 5);
    const double drive = k % 3 == 1 ? 0.0 : 0.1 * (1 + k % 7);
    struct event e = {.kind = EVENT_COMMAND, .side = SIDE_COUNT};
    (void)snprintf(e.command.id, sizeof e.command.id, "c%d", k);
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    e.command.rotation_rad = turn;
    e.command.displacement_m = drive;
    e.command.source_us = LAB_TIME_NONE;
    fixture_step(f, pair, &e, t);
    for (int side = 0; side < SIDE_COUNT; side++) {
        const double scale = side == SIDE_REAL ? 1.0 : 0.9;
        const double lap =
            0.3 + scale * (turn / 1.2 + drive / 0.4) + 0.002 * ((7 * k + 3 * side) % 5);
        if (side == SIDE_VIRTUAL && k % 10 == 9) {
            continue;
        }
        struct event r = {.kind = EVENT_REPLY, .side = (enum side)side};
        const bool contrary = side == SIDE_VIRTUAL && k % 11 == 10;
        (void)snprintf(r.reply.id, sizeof r.reply.id, "c%d", k);
        r.reply.status = REPLY_DONE;
        r.reply.value_count = 1;
        r.reply.values[0] =
            (struct event_value){.name = "x_m", .place = 1, .number = contrary ? 1.0 : 0.0};
        r.reply.source_us = fixture_us(t + lap) - 250000 - side;
        r.reply.source_start_us = LAB_TIME_NONE;
        fixture_step(f, pair, &r, t + lap);
        if (side == SIDE_REAL && k % 7 == 6) {
            fixture_step(f, pair, &r, t + lap);
        }
    }
}

/* The first pair's virtual robot would follow, were it asked to. */
static inline void fixture_follow(struct fixture *f)
{
    struct pair_following_params *p = &f->following_params;
    const double nu[3] = {0.5, 0.0, 0.1};
    struct following_params setup;
    lab_following_defaults(p);
    f->params[0].following = p;
    (void)snprintf(p->model, sizeof p->model, "usv3");
    (void)snprintf(p->real, sizeof p->real, "iacquabot");
    (void)snprintf(p->simulated, sizeof p->simulated, "wamv");
    f->following = calloc(1, pair_following_bytes(p));
    if (!f->following || following_text_parse(p, NULL) != STATUS_OK) {
        abort();
    }
    pair_following_init(f->following, p);
    pair_following_setup(f->following, p, &setup);
    for (int k = 0; k < 100; k++) {
        const int64_t t_us = fixture_us(0.05 * k);
        (void)following_real(&f->following->f, &setup, t_us, t_us, nu, NULL, NULL);
        (void)following_simulated(&f->following->f, &setup, t_us, t_us, nu, NULL);
        f->following->stepped_us = t_us;
    }
    f->view_following[0] = f->following;
}

static inline void fixture_fits(const struct view *view, size_t pair, struct pair_fits *out)
{
    pair_fit_window(view->pairs[pair], &view->params[pair], out);
}

static inline void fixture_open(struct fixture *f, int moves)
{
    static const char *const ids[FIXTURE_PAIRS] = {"r1", "r2", "quiet"};
    *f = (struct fixture){.uploads_max = 2};
    (void)pthread_mutex_init(&f->lock, NULL);
    if (!mkdtemp(scratch_template(f->directory, "web"))) {
        abort();
    }
    (void)snprintf(f->store_path, sizeof f->store_path, "%s/store.db", f->directory);
    const struct store_params params = {.path = f->store_path, .busy_timeout_ms = 2000};
    if (store_open(&params, &f->store, NULL) != STATUS_OK) {
        abort();
    }
    for (size_t i = 0; i < FIXTURE_PAIRS; i++) {
        lab_pair_defaults(&f->params[i], ids[i]);
        f->params[i].mode = i == 1 ? PAIR_LINK : PAIR_OBSERVE;
        f->params[i].record = i == 1 ? PAIR_ALL : PAIR_SMART;
        f->params[i].timeout_us = INT64_C(8000000);
        f->pair[i] = malloc(pair_bytes(&f->params[i]) +
                            f->params[i].outstanding_max * pair_place_bytes(&f->params[i]));
        pair_init(f->pair[i], &f->params[i], (uint32_t)i);
        f->view_pairs[i] = f->pair[i];
    }
    fixture_follow(f);
    for (int k = 0; k < moves; k++) {
        fixture_move(f, 0, k);
        fixture_move(f, 1, k);
    }
    (void)snprintf(f->params[0].dynamics.model, sizeof f->params[0].dynamics.model, "usv3");
    f->params[0].dynamics.sides = DYNAMICS_SIDES_REAL;
    f->dynamics = malloc(pair_dynamics_bytes(&f->params[0].dynamics));
    pair_dynamics_init(f->dynamics, &f->params[0].dynamics);
    f->view_dynamics[0] = f->dynamics;
    f->live = web_team_make();
    f->live_teams[0] = f->live;
    f->view = (struct view){
        .team_count = 1,
        .teams = &web_team_params,
        .live_teams = f->live_teams,
        .dynamics = f->view_dynamics,
        .t_us = fixture_us(999),
        .started_us = fixture_us(-100),
        .lab_name = "test \"lab\"",
        .prefix = "tandem/v1",
        .pair_count = FIXTURE_PAIRS,
        .params = f->params,
        .pairs = f->view_pairs,
        .following = f->view_following,
        .fits = fixture_fits,
        .health = {.restored = true, .broker = true, .journal = true, .store = true}};
    f->view.counts.events[EVENT_COMMAND] = 42;
}

static inline void fixture_close(struct fixture *f)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    store_close(f->store);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s%s", f->store_path, endings[i]);
        (void)unlink(path);
    }
    (void)rmdir(f->directory);
    free(f->live);
    free(f->following);
    for (size_t i = 0; i < FIXTURE_PAIRS; i++) {
        free(f->pair[i]);
    }
    free(f->dynamics);
    (void)pthread_mutex_destroy(&f->lock);
}

static inline struct web *fixture_serve(struct fixture *f, const char *token, unsigned threads)
{
    const struct web_source source = fixture_source(f);
    const struct web_options options = {.bind = "127.0.0.1",
                                        .token = token,
                                        .threads = threads,
                                        .connections_max = 256,
                                        .upload_bytes_max = FIXTURE_UPLOAD_MAX,
                                        .store = {.path = f->store_path}};
    struct web *web = NULL;
    struct err err = {0};
    if (web_start(&options, &source, &web, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        abort();
    }
    return web;
}

#endif
