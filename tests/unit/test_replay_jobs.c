/* needs: threads */
/* tests/unit/test_replay_jobs.c - with threads: uploaded journals and tables of moves through
 * the lab's code, the document, the refusals. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <unistd.h>

#include "service/job/upload_jobs.h"
#include "tests/support/wait.h"

static const char lab_text[] = "pairs:\n  r1: {}\n  r2: {probe_interval_s: 10}\n";

static struct lab_file lab;
static struct worker *worker;

static int64_t test_now(void *context)
{
    (void)context;
    return 1000000;
}

/* A job when it has ended. */
struct outcome {
    bool ended;
    char state[16], error[ERR_TEXT_MAX], where[ERR_WHERE_MAX];
    enum fault fault;
    unsigned line, column;
    json_t *result; /* owned */
};

static void copy_outcome(void *context, const struct web_job *job)
{
    struct outcome *o = context;
    o->ended = job->ended_us != LAB_TIME_NONE;
    (void)snprintf(o->state, sizeof o->state, "%s", job->state);
    if (job->err) {
        (void)snprintf(o->error, sizeof o->error, "%s", job->err->text);
        (void)snprintf(o->where, sizeof o->where, "%s", job->err->where);
        o->fault = job->err->fault;
        o->line = job->err->line;
        o->column = job->err->column;
    }
    if (o->ended && job->result) {
        o->result = json_loadb(job->result, job->result_bytes, 0, NULL);
    }
}

/* The outcome is to be given to json_decref(o.result). text is copied. */
static struct outcome replay_text(const char *text, size_t bytes, const char *pair)
{
    const struct web_replay what = {.name = "trial", .pair = pair};
    struct outcome o = {.ended = false};
    struct err err = {0};
    uint64_t job = 0;
    char *copy = malloc(bytes + 1);
    CU_ASSERT_FATAL(copy != NULL);
    memcpy(copy, text, bytes);
    CU_ASSERT_FATAL(worker_claim(worker));
    CU_ASSERT_FATAL(replay_jobs_submit(worker, &what, copy, bytes, &job, &err) == STATUS_OK);
    for (int64_t end_us = 0; !o.ended && wait_more(&end_us, 60000);) {
        CHECK_INT("read", worker_read(worker, job, copy_outcome, &o), STATUS_OK);
    }
    CHECK("ended", o.ended);
    return o;
}

static json_t *get_member(json_t *node, const char *a, const char *b, const char *c)
{
    node = json_object_get(node, a);
    node = b ? json_object_get(node, b) : node;
    return c ? json_object_get(node, c) : node;
}

/* ---- tables ---- */

static void test_table(void)
{
    static const char text[] =
        "pair,t,id,op,rotation_rad,displacement_m,real_lap_s,virtual_lap_s,real_status\n"
        "r1,100,a,go,0.5,0,1.25,1,done\n"
        "r2,100.5,b,go,0,0.2,0.5,0.75,blocked\n"
        "r1,110,c,go,0,1,2,,\n";
    struct outcome o = replay_text(text, sizeof text - 1, "");
    CHECK_TEXT("", o.state, "done");
    json_t *entries = get_member(o.result, "pairs", "r1", "entries");
    CHECK_INT("entries", json_array_size(entries), 2);
    json_t *entry = json_array_get(entries, 0);
    CHECK_NEAR("t", json_number_value(get_member(entry, "t", NULL, NULL)), 100.0, 0.0, 0.0);
    CHECK_NEAR("lag", json_number_value(get_member(entry, "lag_s", NULL, NULL)), 0.25, 0.0,
               1e-9);
    CHECK_TEXT("id", json_string_value(get_member(entry, "id", NULL, NULL)), "a");
    CHECK_TEXT("verdict", json_string_value(get_member(entry, "verdict", NULL, NULL)), "AHEAD");
    CHECK_TEXT("an empty lap is no reply",
               json_string_value(get_member(json_array_get(entries, 1), "verdict", NULL, NULL)),
               "TIMEOUT");
    CHECK_TEXT("status",
               json_string_value(
                   get_member(json_array_get(get_member(o.result, "pairs", "r2", "entries"), 0),
                              "real_status", NULL, NULL)),
               "blocked");
    CHECK_INT("lag over time", json_array_size(get_member(o.result, "pairs", "r1", "lag")), 1);
    json_decref(o.result);
}

static void test_smart_log(void)
{
    static const char text[] = "# T[s],rotation[deg],displacement[mm],lap1[s],lap2[s],state\n"
                               "1,90,0,1.0,1.5,AHEAD\n"
                               "9,0,450,2.0,2.5,BEHIND\n";
    struct outcome o = replay_text(text, sizeof text - 1, "r2");
    json_t *entries = get_member(o.result, "pairs", "r2", "entries");
    CHECK_INT("only this pair", json_object_size(get_member(o.result, "pairs", NULL, NULL)), 1);
    CHECK_NEAR(
        "rad",
        json_number_value(get_member(json_array_get(entries, 0), "rotation_rad", NULL, NULL)),
        1.5707963267948966, 0.0, 1e-12);
    CHECK_NEAR("ahead: lap1 is the virtual robot's",
               json_number_value(get_member(json_array_get(entries, 0), "lag_s", NULL, NULL)),
               0.5, 0.0, 1e-9);
    CHECK_NEAR("behind: lap1 is the real robot's",
               json_number_value(get_member(json_array_get(entries, 1), "lag_s", NULL, NULL)),
               -0.5, 0.0, 1e-9);
    json_decref(o.result);
}

/* A pause of days, in which probes are due: what comes after it is as without. */
static void test_pause(void)
{
    static const char text[] = "t,rotation_rad,real_lap_s,virtual_lap_s\n"
                               "0,1,1,1\n"
                               "2000000,1,2,1.5\n";
    struct outcome o = replay_text(text, sizeof text - 1, "r2");
    json_t *entries = get_member(o.result, "pairs", "r2", "entries");
    CHECK_INT("both", json_array_size(entries), 2);
    CHECK_NEAR("lag",
               json_number_value(get_member(json_array_get(entries, 1), "lag_s", NULL, NULL)),
               0.5, 0.0, 1e-9);
    json_decref(o.result);
}

/* A long recording: the newest records, and a lag series that hides no peak. */
static void test_extract(void)
{
    enum { MOVES = 5000, PEAK = 1234 };
    char *text = malloc((size_t)MOVES * 64 + 64);
    CU_ASSERT_FATAL(text != NULL);
    size_t n =
        (size_t)sprintf(text, "t,rotation_rad,displacement_m,real_lap_s,virtual_lap_s\n");
    for (int i = 0; i < MOVES; i++) {
        n += (size_t)sprintf(text + n, "%d,0.5,0,%g,1\n", 100 + 10 * i,
                             i == PEAK ? 7.5 : 1.0 + 0.001 * (i % 7));
    }
    struct outcome o = replay_text(text, n, "r1");
    json_t *entries = get_member(o.result, "pairs", "r1", "entries");
    json_t *lag = get_member(o.result, "pairs", "r1", "lag");
    CHECK_INT("newest", json_array_size(entries), 2000);
    CHECK_INT("the last one",
              json_integer_value(get_member(json_array_get(entries, 1999), "n", NULL, NULL)),
              MOVES);
    json_int_t counted = 0;
    const char *verdict = NULL;
    json_t *count = NULL;
    json_object_foreach(get_member(o.result, "pairs", "r1", "counts"), verdict, count) {
        counted += json_integer_value(count);
    }
    CHECK_INT("counted", counted, MOVES);
    CHECK("few points", json_array_size(lag) > 1500 && json_array_size(lag) <= 2002);
    double greatest = 0.0;
    double before = 0.0;
    bool ascending = true;
    for (size_t i = 0; i < json_array_size(lag); i++) {
        const double t = json_number_value(json_array_get(json_array_get(lag, i), 0));
        const double s = json_number_value(json_array_get(json_array_get(lag, i), 1));
        ascending = ascending && t > before;
        before = t;
        greatest = s > greatest ? s : greatest;
    }
    CHECK("by time", ascending);
    CHECK_NEAR("peak", greatest, 6.5, 0.0, 1e-9);
    json_decref(o.result);
    free(text);
}

/* A recording of other pairs only has nothing to show, and that is reported. */
static void test_others(void)
{
    static const char text[] =
        "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"tandem/v1/r9/command\",\"qos\":0,"
        "\"retain\":0,\"payload\":{\"op\":\"go\",\"rotation_rad\":1}}\n";
    struct outcome o = replay_text(text, sizeof text - 1, "");
    CHECK_TEXT("", o.state, "done");
    CHECK_INT("none of this lab", json_object_size(get_member(o.result, "pairs", NULL, NULL)),
              0);
    CHECK_INT("counted",
              json_integer_value(get_member(o.result, "journal", "unknown_pair", NULL)), 1);
    json_decref(o.result);
}

/* ---- refusals ---- */

static void test_faults(void)
{
    static const struct {
        const char *row, *text, *pair, *code, *words;
        unsigned line, column;
    } rows[] = {
        {"no laps", "t,rotation_rad,displacement_m\n0,1,0\n", "r1", "missing_column",
         "real_lap_s", 1, 0},
        {"no move", "real_lap_s,virtual_lap_s\n1,1\n", "r1", "missing_column", "rotation_rad",
         1, 0},
        {"whose", "rotation_rad,real_lap_s\n1,1\n", "", "missing_column", "", 0, 0},
        {"unknown pair", "pair,rotation_rad,real_lap_s\nr9,1,1\n", "", "unknown_name", "", 2,
         1},
        {"no number", "rotation_rad,real_lap_s\n1,fast\n", "r1", "not_a_number", "fast", 2, 3},
        {"negative lap", "rotation_rad,real_lap_s\n1,-1\n", "r1", "time_expected", "", 2, 3},
        {"status", "rotation_rad,real_lap_s,real_status\n1,1,fine\n", "r1", "unknown_value", "",
         2, 5},
        {"no message", "{\"a\":1}\n", "", "missing_key", "", 1, 0},
        {"not ours",
         "{\"tst\":\"2026-11-20T05:55:55.000000Z\",\"topic\":\"x/y\",\"qos\":0,\"retain\":0,"
         "\"payloadlen\":2,\"payload\":{}}\n",
         "", "no_data", "'tandem/v1/'", 0, 0},
        {"far ahead", "t,rotation_rad,real_lap_s\n0,1,1\n9e10,1,1\n", "r1", "time_jump", " 31 ",
         0, 0},
        {"a wrong stamp",
         "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"tandem/v1/r1/command\",\"qos\":0,"
         "\"retain\":0,\"payload\":{\"op\":\"go\",\"rotation_rad\":1}}\n"
         "{\"tst\":\"9026-11-20T05:55:55Z\",\"topic\":\"tandem/v1/r1/command\",\"qos\":0,"
         "\"retain\":0,\"payload\":{\"op\":\"go\",\"rotation_rad\":1}}\n",
         "", "time_jump", " 31 ", 2, 0},
        {"binary", "\x01\xff\xfe", "r1", "missing_column", "", 1, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct outcome o = replay_text(rows[i].text, strlen(rows[i].text), rows[i].pair);
        CHECK_TEXT(rows[i].row, o.state, "failed");
        CHECK(rows[i].row, strstr(o.error, rows[i].words) != NULL && o.error[0]);
        CHECK_TEXT(rows[i].row, fault_name(o.fault), rows[i].code);
        CHECK_INT(rows[i].row, o.line, rows[i].line);
        CHECK(rows[i].row, rows[i].column == 0 || o.column == rows[i].column);
        CHECK(rows[i].row, o.result == NULL);
    }
    const struct web_replay nobody = {.name = "trial", .pair = "r9"};
    struct err err = {0};
    CHECK_INT("pair", replay_jobs_check(worker, &nobody, &err), STATUS_E_ARG);
    CHECK_TEXT("pair", err.where, "pair");
    struct worker_counts counts;
    worker_read_counts(worker, &counts);
    CHECK_INT("claims given back", counts.uploads, 0);
}

int main(void)
{
    struct worker_params params;
    struct err_list errors = {0};
    (void)gsl_set_error_handler_off();
    worker_params_init(&params);
    params.now_us = test_now;
    params.queue_max[JOB_UPLOAD] = 1;
    params.lab = &lab;
    if (lab_file_parse(lab_text, sizeof lab_text - 1, "lab.yaml", &lab, &errors) != STATUS_OK ||
        worker_start(&params, &worker) != STATUS_OK) {
        return 1;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("replay_jobs", NULL, NULL);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "smart log", test_smart_log);
    CU_add_test(suite, "pause", test_pause);
    CU_add_test(suite, "extract", test_extract);
    CU_add_test(suite, "others", test_others);
    CU_add_test(suite, "faults", test_faults);
    const int result = check_run();
    worker_stop(worker);
    worker_destroy(worker);
    lab_file_free(&lab);
    return result;
}
