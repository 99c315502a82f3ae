/* Forecasts of a pair: the recorded commands of tests/golden/forecast through the lab, the same
 * bytes after a restart, link mode, another simulator, and limits of the answer. */
#include "tests/support/lab_script.h"

#include <jansson.h>

#include "identification/travel/forecast_sum.h"
#include "tests/support/saved_lab.h"
#include "twin/report/forecast_report.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

enum { SPACE_S = 100, TIMEOUT_S = 60 };

static json_t *load_commands(const char *name, json_t **file)
{
    char path[512];
    (void)snprintf(path, sizeof path,
                   TANDEM_SOURCE_DIR "/tests/golden/forecast/forecast_%s.json", name);
    *file = json_load_file(path, 0, NULL);
    json_t *commands = json_object_get(*file, "commands");
    CU_ASSERT_FATAL(json_array_size(commands) > 0);
    return commands;
}

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void send_go(struct script *s, int64_t t_us, const char *id, double turn, double drive)
{
    struct event e = script_event("r1", t_us, EVENT_COMMAND, SIDE_COUNT);
    (void)snprintf(e.command.id, sizeof e.command.id, "%s", id);
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    e.command.rotation_rad = turn;
    e.command.displacement_m = drive;
    e.command.source_us = LAB_TIME_NONE;
    e.command.raw = "{\"op\":\"go\"}";
    e.command.raw_bytes = strlen(e.command.raw);
    e.hash = hash_bytes(hash_text(id), &t_us, sizeof t_us);
    lab_step(s->lab, &e, &s->fx);
}

static void answer(struct script *s, int64_t t_us, enum side side, const char *id,
                   enum reply_status status, bool uncalibrated)
{
    struct event e = script_reply_event("r1", t_us, side, id, status);
    e.reply.uncalibrated = uncalibrated;
    lab_step(s->lab, &e, &s->fx);
}

/* Runs the k-th command of a file: a lap of null times out. */
static void run_command(struct script *s, const json_t *command, size_t k)
{
    static const char *const laps[SIDE_COUNT] = {"real_lap_s", "virtual_lap_s"};
    const int64_t t_us = AT((double)k * SPACE_S);
    const bool left_out = json_is_true(json_object_get(command, "left_out"));
    int64_t lap_us[SIDE_COUNT];
    bool cut[SIDE_COUNT];
    char id[16];
    (void)snprintf(id, sizeof id, "g%zu", k);
    send_go(s, t_us, id, number_at(command, "rotation_rad"),
            number_at(command, "displacement_m"));
    for (size_t i = 0; i < SIDE_COUNT; i++) {
        const json_t *lap = json_object_get(command, laps[i]);
        const json_t *ended = json_array_get(json_object_get(command, "ended"), i);
        lap_us[i] = json_is_null(lap) ? LAB_TIME_MAX : lab_us(json_number_value(lap));
        cut[i] = strcmp(json_string_value(ended), "cut") == 0;
    }
    const enum side first = lap_us[0] <= lap_us[1] ? SIDE_REAL : SIDE_VIRTUAL;
    const enum side order[SIDE_COUNT] = {first, first == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL};
    for (size_t i = 0; i < SIDE_COUNT; i++) {
        const enum side side = order[i];
        if (lap_us[side] < LAB_TIME_MAX) {
            answer(s, t_us + lap_us[side], side, id, cut[side] ? REPLY_HALTED : REPLY_DONE,
                   left_out);
        }
    }
    script_tick(s, t_us + AT(TIMEOUT_S + 1) - AT(0));
}

static void check_end(const char *row, int64_t got_us, const json_t *want)
{
    if (json_is_number(want)) {
        CHECK_NEAR(row, lab_s(got_us), json_number_value(want), 0.0, 1.01e-6);
    } else {
        CHECK_INT(row, got_us, LAB_TIME_NONE);
    }
}

static void check_entry(const char *row, const struct entry *e, const json_t *predicted)
{
    static const char *const names[ENTRY_FORECASTS] = {"real_lap", "lag"};
    for (size_t i = 0; i < ENTRY_FORECASTS; i++) {
        const json_t *want = json_object_get(predicted, names[i]);
        const json_t *within = json_object_get(json_object_get(want, "within_s"), "0.95");
        check_end(row, e->forecast[i].expected_us, json_object_get(want, "expected_s"));
        check_end(row, e->forecast[i].low_us, json_array_get(within, 0));
        check_end(row, e->forecast[i].high_us, json_array_get(within, 1));
    }
}

static void open_script(struct script *s)
{
    script_init(s, 1);
    s->params[0].timeout_us = AT(TIMEOUT_S) - AT(0);
    script_open(s);
}

/* With a restart from a checkpoint before command `restart`; SIZE_MAX: none. */
static void run_file(struct script *s, const char *name, size_t restart)
{
    json_t *file = NULL;
    const json_t *commands = load_commands(name, &file);
    open_script(s);
    for (size_t k = 0; k < json_array_size(commands); k++) {
        const json_t *command = json_array_get(commands, k);
        char row[64];
        (void)snprintf(row, sizeof row, "%s %zu", name, k);
        if (k == restart) {
            size_t bytes = 0;
            void *saved = saved_lab(s->lab, &bytes);
            script_close(s);
            script_open(s);
            CHECK(row, lab_load(s->lab, saved, bytes) == STATUS_OK);
            free(saved);
        }
        script_clear(s);
        run_command(s, command, k);
        const struct script_effect *entry = script_find(s, EFFECT_ENTRY, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
        check_entry(row, &entry->entry, json_object_get(command, "predicted"));
    }
    json_decref(file);
}

static void test_recorded(void)
{
    static const char *const names[] = {"steady", "slower", "cut"};
    for (size_t i = 0; i < COUNT(names); i++) {
        static struct script s;
        run_file(&s, names[i], SIZE_MAX);
        const struct forecast *f = &lab_pair(s.lab, 0)->forecast;
        const bool cut = strcmp(names[i], "cut") == 0;
        CHECK_INT(names[i], f->left_out, cut ? 1 : 0);
        CHECK_INT(names[i], f->cut_short, cut ? 2 : 0);
        CHECK_INT(names[i], f->timed_out, cut ? 6 : 0);
        script_close(&s);
    }
}

static void test_restart(void)
{
    static struct script plain;
    static struct script again;
    run_file(&plain, "cut", SIZE_MAX);
    run_file(&again, "cut", 75);
    const struct pair *a = lab_pair(plain.lab, 0);
    const struct pair *b = lab_pair(again.lab, 0);
    CHECK("same bytes", memcmp(&a->forecast, &b->forecast, sizeof a->forecast) == 0);
    CHECK("same window",
          memcmp(a->window, b->window, a->window_count * sizeof a->window[0]) == 0);
    script_close(&plain);
    script_close(&again);
}

static void test_memory(void)
{
    CHECK("2 KiB a pair", sizeof(struct forecast) + sizeof(struct lag_usual) +
                                  PAIR_WINDOW_MAX * 2 * sizeof(float) <=
                              2048);
    CHECK("64 bytes an open command", sizeof(struct forecast_made) <= 64);
}

/* ---- link mode ---- */

/* The virtual robot is slower, so its second command waits, and is predicted when it is sent.
 */
static void test_link(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    s.params[0].expected[SIDE_REAL] = s.params[0].expected[SIDE_VIRTUAL] = PAIR_ALWAYS;
    script_open(&s);
    for (int k = 0; k < 40; k++) {
        char id[2][16];
        const double t_s = 20.0 * k;
        (void)snprintf(id[0], sizeof id[0], "a%d", k);
        (void)snprintf(id[1], sizeof id[1], "b%d", k);
        send_go(&s, AT(t_s), id[0], 1.0, 0.0);
        send_go(&s, AT(t_s + 0.1), id[1], 1.0, 0.0);
        answer(&s, AT(t_s + 1.0), SIDE_REAL, id[0], REPLY_DONE, false);
        const struct pair *pair = lab_pair(s.lab, 0);
        for (int open = -1; k == 39 && pair_next_open(pair, &open);) {
            const struct pair_slot *slot = pair_look_slot(pair, open);
            const bool second = strcmp(slot->id, id[1]) == 0;
            CHECK("real", forecast_knows(&slot->forecast, FORECAST_REAL_LAP));
            CHECK_INT("virtual", forecast_knows(&slot->forecast, FORECAST_VIRTUAL_LAP),
                      !second);
            CHECK_INT("lag", forecast_knows(&slot->forecast, FORECAST_LAG), !second);
        }
        answer(&s, AT(t_s + 2.0), SIDE_REAL, id[1], REPLY_DONE, false);
        answer(&s, AT(t_s + 3.0), SIDE_VIRTUAL, id[0], REPLY_DONE, false);
        answer(&s, AT(t_s + 6.0), SIDE_VIRTUAL, id[1], REPLY_DONE, false);
    }
    const struct script_effect *last =
        script_find(&s, EFFECT_ENTRY, script_count(&s, EFFECT_ENTRY) - 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(last);
    CHECK_NEAR("lag", lab_s(last->entry.forecast[ENTRY_FORECAST_LAG].expected_us), -2.0, 0.0,
               0.1);
    script_close(&s);
}

/* Only a `go` with a size that can be has a forecast, and nothing else spoils those. */
static void test_other_commands(void)
{
    static struct script s;
    open_script(&s);
    for (int k = 0; k < 30; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%d", k);
        const double turn = k == 20 ? 1e300 : k == 21 ? 0.0 : 1.0;
        send_go(&s, AT(20.0 * k), id, turn, 0.0);
        answer(&s, AT(20.0 * k + 1.0), SIDE_REAL, id, REPLY_DONE, false);
        answer(&s, AT(20.0 * k + 1.2), SIDE_VIRTUAL, id, REPLY_DONE, false);
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, (size_t)k);
        CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
        CHECK_INT(id, entry->entry.forecast[0].expected_us != LAB_TIME_NONE,
                  k >= 12 && k != 20 && k != 21);
    }
    CHECK_INT("moves", lab_pair(s.lab, 0)->forecast.fit[SIDE_REAL].count, 28);
    script_close(&s);
}

/* ---- over MQTT ---- */

static const char *last_eta(const struct script *s, size_t count)
{
    const struct script_effect *e = script_find(s, EFFECT_ETA, count - 1);
    return e && script_count(s, EFFECT_ETA) == count ? e->payload : "another count";
}

static void run_published(enum pair_forecast_publish publish)
{
    static struct script s;
    const bool each = publish == PAIR_FORECAST_EACH;
    script_init(&s, 1);
    s.params[0].forecast_publish = publish;
    script_open(&s);
    for (int k = 0; k < 40; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "e%d", k);
        send_go(&s, AT(20.0 * k), id, 1.0, 0.0);
        answer(&s, AT(20.0 * k + 1.0 + 0.001 * (k % 3)), SIDE_REAL, id, REPLY_DONE, false);
        answer(&s, AT(20.0 * k + 1.2 + 0.001 * (k % 4)), SIDE_VIRTUAL, id, REPLY_DONE, false);
    }
    /* From the 13th command on: at the command, and when it has ended. */
    CHECK_INT("two a command", script_count(&s, EFFECT_ETA), each ? 2 * 28 : 0);
    script_clear(&s);
    send_go(&s, AT(1000), "z", 1.0, 0.0);
    CHECK_INT("at the command", script_count(&s, EFFECT_ETA), each);
    if (each) {
        CHECK("id",
              strstr(last_eta(&s, 1), "{\"id\":\"z\",\"t\":2000,\"real\":{\"due_t\":[2000."));
        CHECK("in time", strstr(last_eta(&s, 1), "\"late\":false}"));
    }
    script_tick(&s, AT(1005));
    CHECK("late", strstr(last_eta(&s, each ? 2 : 1), "\"late\":true}"));
    CHECK("before the tick", s.effect[s.count - 1].t_us < AT(1002));
    answer(&s, AT(1005.5), SIDE_REAL, "z", REPLY_DONE, false);
    answer(&s, AT(1005.6), SIDE_VIRTUAL, "z", REPLY_DONE, false);
    CHECK_TEXT("ended", last_eta(&s, each ? 3 : 2), "{}");
    script_close(&s);
}

static void test_published(void)
{
    run_published(PAIR_FORECAST_EACH);
    run_published(PAIR_FORECAST_LATE);
}

/* ---- the end of a queue ---- */

/* A late command has no known end, so both have none, whatever is known of the second one. */
static void test_queue(void)
{
    static struct script s;
    static struct json_writer w;
    char text[4096];
    script_init(&s, 1);
    script_open(&s);
    for (int k = 0; k < 40; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "q%d", k);
        send_go(&s, AT(20.0 * k), id, 1.0, 0.0);
        answer(&s, AT(20.0 * k + 1.0 + 0.001 * (k % 3)), SIDE_REAL, id, REPLY_DONE, false);
        answer(&s, AT(20.0 * k + 1.2 + 0.001 * (k % 4)), SIDE_VIRTUAL, id, REPLY_DONE, false);
    }
    for (int late = 0; late < 2; late++) {
        const double t_s = 1000.0 + 20.0 * late;
        if (late) {
            answer(&s, AT(t_s - 10.0), SIDE_REAL, "only", REPLY_DONE, false);
            answer(&s, AT(t_s - 9.9), SIDE_VIRTUAL, "only", REPLY_DONE, false);
            send_go(&s, AT(t_s), "late", 1.0, 0.0);
        }
        send_go(&s, AT(t_s + 4.9), late ? "new" : "only", 1.0, 0.0);
        json_write_start(&w, text, sizeof text, NULL, NULL);
        forecast_report_open(&w, NULL, lab_pair(s.lab, 0), &s.params[0], AT(t_s + 5.0));
        CHECK("whole", json_write_end(&w));
        json_t *document = json_loadb(text, w.used, 0, NULL);
        const json_t *queue = json_object_get(document, "queue");
        const json_t *end = json_array_get(json_object_get(queue, "done_t"), 1);
        CHECK_INT("open", number_at(queue, "moves"), late ? 2 : 1);
        CHECK_INT("end", json_is_number(end), !late);
        json_decref(document);
    }
    script_close(&s);
}

/* ---- limits of the answer ---- */

static struct forecast_move moves[FORECAST_WINDOW_MAX];

/* Sixty moves with a lag of 0.1 s and noise of some milliseconds. */
static void fill_forecast(struct forecast *f)
{
    forecast_init(f);
    for (size_t k = 0; k < 60; k++) {
        struct forecast_made made = {0};
        struct forecast_move *move = &moves[k];
        *move = (struct forecast_move){.turn = k % 3 == 1 ? 0.0 : 0.5 + 0.1 * (double)(k % 7),
                                       .drive = k % 3 == 0 ? 0.0 : 0.2 + 0.1 * (double)(k % 5)};
        const double lap_s = 0.1 + move->turn + 2.0 * move->drive;
        const struct forecast_outcome outcome[FORECAST_SIDES] = {
            {FORECAST_DONE, lap_s + 0.1 + 0.002 * (double)(k * 37 % 11)},
            {FORECAST_DONE, lap_s + 0.001 * (double)(k * 23 % 7)}};
        forecast_predict(f, move->turn, move->drive, ~0U, &made, NULL);
        const unsigned started =
            forecast_learn(f, &made, move->turn, move->drive, outcome, move->lap_s);
        forecast_start(f, started, moves, k + 1);
    }
}

static void test_limits(void)
{
    static const struct {
        const char *row;
        unsigned judged, held;
        double turn, drive, bound_s;
        enum forecast_answer answer;
        enum forecast_why why;
    } rows[] = {
        {"within", 40, 40, 0.8, 0.3, 0.5, FORECAST_YES, FORECAST_WITHIN},
        {"beyond", 40, 40, 0.8, 0.3, 0.01, FORECAST_NO, FORECAST_MOVE},
        {"partly", 40, 40, 0.8, 0.3, 0.11, FORECAST_NOT_KNOWN, FORECAST_MOVE},
        {"gauge", 20, 15, 0.8, 0.3, 0.5, FORECAST_NOT_KNOWN, FORECAST_NOT_HELD},
        {"gauge of few", 19, 14, 0.8, 0.3, 0.5, FORECAST_YES, FORECAST_WITHIN},
        {"just inside", 40, 40, 1.20, 0.3, 0.5, FORECAST_YES, FORECAST_WITHIN},
        {"just outside", 40, 40, 1.22, 0.3, 0.5, FORECAST_NOT_KNOWN, FORECAST_NEW_ROTATION},
        {"short", 40, 40, 0.8, 0.17, 0.5, FORECAST_NOT_KNOWN, FORECAST_NEW_DISPLACEMENT},
    };
    struct forecast f;
    fill_forecast(&f);
    const struct forecast_past past = {&f, moves, 60};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct forecast_move move = {rows[i].turn, rows[i].drive, {0}};
        f.judged[FORECAST_LAG] = (uint8_t)rows[i].judged;
        f.held[FORECAST_LAG][0] = (UINT64_C(1) << rows[i].held) - 1;
        f.held[FORECAST_LAG][1] = 0;
        const struct forecast_trust got =
            forecast_trust(&past, &move, 1, rows[i].bound_s, (double)NAN, FORECAST_95);
        CHECK_TEXT(rows[i].row, forecast_answer_name(got.answer),
                   forecast_answer_name(rows[i].answer));
        CHECK_INT(rows[i].row, got.why, rows[i].why);
    }
}

/* One move has one interval, whichever question asks for it; a sum of several is wider. */
static void test_one_move(void)
{
    struct forecast f;
    fill_forecast(&f);
    const struct forecast_past past = {&f, moves, 60};
    const struct forecast_move two[2] = {{0.8, 0.3, {0}}, {0.8, 0.3, {0}}};
    struct forecast_made made = {0};
    forecast_predict(&f, 0.8, 0.3, ~0U, &made, NULL);
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const struct forecast_interval one = forecast_interval(&made, q, FORECAST_90);
        const struct forecast_sum sum = forecast_sum(&past, two, 1, q, FORECAST_90);
        CHECK_NEAR("expected", sum.expected_s, one.expected_s, 0.0, 0.0);
        CHECK_NEAR("low", sum.low_s, one.low_s, 0.0, 0.0);
        CHECK_NEAR("high", sum.high_s, one.high_s, 0.0, 0.0);
        const struct forecast_sum both = forecast_sum(&past, two, 2, q, FORECAST_90);
        CHECK("several", both.high_s - both.low_s > one.high_s - one.low_s);
    }
    const struct forecast_trust bound =
        forecast_trust(&past, two, 1, 0.11, (double)NAN, FORECAST_95);
    const struct forecast_trust total =
        forecast_trust(&past, two, 1, (double)NAN, 0.11, FORECAST_95);
    CHECK_INT("answer", total.answer, bound.answer);
    CHECK_NEAR("its lag", total.high_s, bound.high_s, 0.0, 0.0);
}

/* The gauge counts the last hundred. */
static void test_gauge(void)
{
    struct forecast f;
    fill_forecast(&f);
    const struct forecast_outcome outcome[FORECAST_SIDES] = {{FORECAST_DONE, 1.3},
                                                             {FORECAST_DONE, 1.2}};
    for (int k = 0; k < 300; k++) {
        struct forecast_made made = {0};
        double lap_s[FORECAST_SIDES];
        forecast_predict(&f, 1.0, 0.0, ~0U, &made, NULL);
        (void)forecast_learn(&f, &made, 1.0, 0.0, outcome, lap_s);
    }
    CHECK_INT("of", f.judged[FORECAST_REAL_LAP], 100);
    CHECK_INT("held", forecast_held(&f, FORECAST_REAL_LAP), 100);
    for (int k = 0; k < 3; k++) { /* a lap of zero noise has a spread of 0.1 ms at least */
        struct forecast_made made = {0};
        double lap_s[FORECAST_SIDES];
        const struct forecast_outcome late[FORECAST_SIDES] = {{FORECAST_TIMEOUT, (double)NAN},
                                                              {FORECAST_DONE, 1.2}};
        forecast_predict(&f, 1.0, 0.0, ~0U, &made, NULL);
        CHECK("scale", made.scale_s[FORECAST_REAL_LAP] >= 1e-4);
        (void)forecast_learn(&f, &made, 1.0, 0.0, late, lap_s);
        CHECK("infinite", isinf(lap_s[0]));
    }
    CHECK_INT("held", forecast_held(&f, FORECAST_REAL_LAP), 97);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("forecast", NULL, NULL);
    CU_add_test(suite, "recorded commands", test_recorded);
    CU_add_test(suite, "restart", test_restart);
    CU_add_test(suite, "memory", test_memory);
    CU_add_test(suite, "link mode", test_link);
    CU_add_test(suite, "other commands", test_other_commands);
    CU_add_test(suite, "over MQTT", test_published);
    CU_add_test(suite, "end of a queue", test_queue);
    CU_add_test(suite, "limits of the answer", test_limits);
    CU_add_test(suite, "one move", test_one_move);
    CU_add_test(suite, "gauge", test_gauge);
    return check_run();
}
