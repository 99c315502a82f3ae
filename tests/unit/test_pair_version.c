/* Versions of the robots' programs: in connection messages, entries, fits, the history of
 * parameters and the summary. */
#include "tests/support/lab_script.h"

#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"
#include "twin/report/pair_report.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)
#define DONE  REPLY_DONE

struct heard {
    struct script *script;
    char changes[1024]; /* "action by detail previous;" each */
    char json[8192];    /* the last change */
};

static void record_change(void *context, const struct effect *effect)
{
    struct heard *heard = context;
    if (effect->kind == EFFECT_CHANGE) {
        const struct parameter_change *c = effect->change;
        const size_t n = strlen(heard->changes);
        struct json_writer w;
        (void)snprintf(heard->changes + n, sizeof heard->changes - n, "%s %s %s|%s;",
                       parameter_action_name(c->action), c->by, c->detail,
                       c->previous_version ? c->previous_version : "");
        json_write_start(&w, heard->json, sizeof heard->json - 1, NULL, NULL);
        parameters_report_change(&w, NULL, c, "r1", "0");
        CHECK("the change is whole", json_write_end(&w));
        heard->json[w.used] = '\0';
    }
    script_emit(heard->script, effect);
}

static void open_lab(struct script *s, struct heard *heard)
{
    *heard = (struct heard){.script = s};
    s->fx = (struct effects){record_change, heard};
    script_open(s);
}

static void connect_robot(struct script *s, double t_s, enum side side, bool online,
                          const char *version)
{
    struct event e = script_event("r1", AT(t_s), EVENT_CONNECTION, side);
    e.connection = (struct event_connection){.online = online, .source_us = LAB_TIME_NONE};
    (void)snprintf(e.connection.version, sizeof e.connection.version, "%s", version);
    lab_step(s->lab, &e, &s->fx);
}

static void run_command(struct script *s, double t_s, const char *id)
{
    script_command(s, "r1", AT(t_s), id);
    script_reply(s, "r1", AT(t_s + 1.0), SIDE_REAL, id, DONE);
    script_reply(s, "r1", AT(t_s + 1.1), SIDE_VIRTUAL, id, DONE);
}

static void check_entry(const char *what, const struct script *s, size_t k, const char *real,
                        const char *virtual)
{
    const struct script_effect *e = script_find(s, EFFECT_ENTRY, k);
    CU_ASSERT_FATAL(e != NULL);
    CHECK_TEXT(what, e->entry.version[SIDE_REAL], real);
    CHECK_TEXT(what, e->entry.version[SIDE_VIRTUAL], virtual);
}

static const char *entry_json(const struct script *s, size_t k)
{
    static char text[RECORD_JSON_MAX + 1];
    struct json_writer w;
    json_write_start(&w, text, RECORD_JSON_MAX, NULL, NULL);
    entry_write_json(&w, NULL, &script_find(s, EFFECT_ENTRY, k)->entry, "r1");
    CHECK("the entry is whole", json_write_end(&w));
    text[w.used] = '\0';
    return text;
}

static const char *summary(const struct script *s)
{
    static char text[8192];
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    pair_report_summary(&w, NULL, lab_pair(s->lab, 0), NULL, &s->params[0]);
    CHECK("the summary is whole", json_write_end(&w));
    text[w.used] = '\0';
    return text;
}

static void test_entries(void)
{
    static struct script s;
    static struct heard heard;
    script_init(&s, 1);
    open_lab(&s, &heard);
    run_command(&s, 0, "a");
    check_entry("nobody says a version", &s, 0, "", "");
    CHECK("it is left out", !strstr(entry_json(&s, 0), "_version"));
    CHECK("and null in the pair", strstr(summary(&s), "\"version\":null"));
    connect_robot(&s, 2, SIDE_VIRTUAL, true, "1.0");
    run_command(&s, 3, "b");
    check_entry("that of the connection", &s, 1, "", "1.0");
    CHECK("in the entry", strstr(entry_json(&s, 1), "\"virtual_version\":\"1.0\""));
    CHECK("the real one's is left out", !strstr(entry_json(&s, 1), "real_version"));
    CHECK("in the pair", strstr(summary(&s), "\"version\":\"1.0\""));
    CHECK_TEXT("the first version is no change", heard.changes, "");
    connect_robot(&s, 5, SIDE_VIRTUAL, false, "");
    connect_robot(&s, 6, SIDE_VIRTUAL, true, "1.0");
    CHECK_TEXT("nor is a restart", heard.changes, "");
    connect_robot(&s, 7, SIDE_VIRTUAL, true, "1.1");
    CHECK_TEXT("another one is", heard.changes, "version_changed virtual 1.1, before 1.0|1.0;");
    CHECK("its record", strstr(heard.json, "\"virtual_version\":\"1.1\",\"previous_version\":"
                                           "\"1.0\",\"set\":null"));
    script_close(&s);
}

/* A program is replaced while a command is open. */
static void test_open_command(void)
{
    static struct script s;
    static struct heard heard;
    script_init(&s, 1);
    open_lab(&s, &heard);
    connect_robot(&s, 0, SIDE_REAL, true, "2.0");
    connect_robot(&s, 0, SIDE_VIRTUAL, true, "1.0");
    script_command(&s, "r1", AT(1), "a");
    script_reply(&s, "r1", AT(2), SIDE_VIRTUAL, "a", DONE);
    connect_robot(&s, 3, SIDE_VIRTUAL, true, "1.1");
    connect_robot(&s, 3, SIDE_REAL, true, "2.1");
    script_reply(&s, "r1", AT(4), SIDE_REAL, "a", DONE);
    check_entry("the program that replied", &s, 0, "2.1", "1.0");
    script_command(&s, "r1", AT(5), "b");
    connect_robot(&s, 6, SIDE_VIRTUAL, true, "1.2");
    script_tick(&s, AT(30));
    check_entry("that was sent the command, without a reply", &s, 1, "2.1", "1.1");
    script_close(&s);
}

static void test_lab_file(void)
{
    static struct script s;
    static struct heard heard;
    script_init(&s, 1);
    (void)snprintf(s.params[0].version[SIDE_VIRTUAL], EVENT_VERSION_MAX, "lab 1");
    open_lab(&s, &heard);
    run_command(&s, 0, "a");
    check_entry("the lab file's", &s, 0, "", "lab 1");
    connect_robot(&s, 2, SIDE_VIRTUAL, true, "1.0");
    run_command(&s, 3, "b");
    check_entry("the connection goes before", &s, 1, "", "1.0");
    connect_robot(&s, 5, SIDE_VIRTUAL, true, "");
    run_command(&s, 6, "c");
    check_entry("it says none: the lab file's again", &s, 2, "", "lab 1");
    CHECK_TEXT("both are changes", heard.changes,
               "version_changed virtual 1.0, before lab 1|lab 1;"
               "version_changed virtual lab 1, before 1.0|1.0;");
    script_close(&s);
}

static void state_version(struct script *s, double t_s, const char *version)
{
    struct event e = script_event("r1", AT(t_s), EVENT_VERSION, SIDE_VIRTUAL);
    (void)snprintf(e.connection.version, sizeof e.connection.version, "%s", version);
    lab_step(s->lab, &e, &s->fx);
}

/* The lab file has another version after a restart: the journal's line says so. */
static void test_stated(void)
{
    static struct script s;
    static struct heard heard;
    const struct pair_params *p = &s.params[0];
    script_init(&s, 1);
    (void)snprintf(s.params[0].version[SIDE_VIRTUAL], EVENT_VERSION_MAX, "2");
    open_lab(&s, &heard);
    CHECK("not yet", !pair_version_is_recorded(lab_pair(s.lab, 0), p, SIDE_VIRTUAL));
    CHECK("an unknown one is", pair_version_is_recorded(lab_pair(s.lab, 0), p, SIDE_REAL));
    state_version(&s, 0, "1");
    run_command(&s, 1, "a");
    check_entry("that of the line, not of the lab file of today", &s, 0, "", "1");
    script_command(&s, "r1", AT(3), "b");
    state_version(&s, 4, "2");
    CHECK("now it is", pair_version_is_recorded(lab_pair(s.lab, 0), p, SIDE_VIRTUAL));
    CHECK_TEXT("a change", heard.changes, "version_changed virtual 2, before 1|1;");
    CHECK("it is no message of the robot", !lab_pair(s.lab, 0)->side[SIDE_VIRTUAL].known);
    script_reply(&s, "r1", AT(5), SIDE_REAL, "b", DONE);
    script_tick(&s, AT(30));
    check_entry("sent before, without a reply", &s, 1, "", "1");
    state_version(&s, 31, "2");
    connect_robot(&s, 32, SIDE_VIRTUAL, true, "2");
    state_version(&s, 33, "3");
    CHECK_TEXT("the robot's own word goes before", heard.changes,
               "version_changed virtual 2, before 1|1;");
    connect_robot(&s, 34, SIDE_VIRTUAL, true, "");
    state_version(&s, 35, "");
    CHECK_TEXT("withdrawn", heard.changes,
               "version_changed virtual 2, before 1|1;version_changed virtual 3, before 2|2;"
               "version_changed virtual unknown, before 3|3;");
    state_version(&s, 36, "4");
    CHECK("the first known one is no change", !strstr(heard.changes, "before unknown"));
    script_close(&s);
}

/* A fit names a version only if all its moves are of that version. */
static void test_fits(void)
{
    static struct script s;
    static struct heard heard;
    static struct pair_fits fits;
    script_init(&s, 1);
    s.params[0].window = 20;
    open_lab(&s, &heard);
    connect_robot(&s, 0, SIDE_VIRTUAL, true, "1.0");
    for (int k = 0; k < 20; k++) {
        run_command(&s, 1 + 2 * k, "");
    }
    pair_fit_window(lab_pair(s.lab, 0), &s.params[0], &fits);
    CHECK("both fits", fits.known[SIDE_REAL] && fits.known[SIDE_VIRTUAL]);
    CHECK_TEXT("one version", fits.version[SIDE_VIRTUAL], "1.0");
    CHECK_TEXT("unknown", fits.version[SIDE_REAL], "");
    connect_robot(&s, 50, SIDE_VIRTUAL, true, "1.1");
    run_command(&s, 51, "");
    pair_fit_window(lab_pair(s.lab, 0), &s.params[0], &fits);
    CHECK_TEXT("moves of two versions", fits.version[SIDE_VIRTUAL], "");
    for (int k = 0; k < 20; k++) {
        run_command(&s, 60 + 2 * k, "");
    }
    pair_fit_window(lab_pair(s.lab, 0), &s.params[0], &fits);
    CHECK_TEXT("the new one alone", fits.version[SIDE_VIRTUAL], "1.1");
    script_close(&s);
}

static void test_messages(void)
{
#define SIXTEEN "0123456789abcdef"
#define LONGEST SIXTEEN SIXTEEN SIXTEEN SIXTEEN
    static const struct {
        const char *version;
        enum event_kind kind;
        const char *got;
    } rows[] = {
        {"\"1.4.0\"", EVENT_CONNECTION, "1.4.0"},
        {"\"\"", EVENT_CONNECTION, ""},
        {"\"\\u00e9\\n\"", EVENT_CONNECTION, "\u00e9\n"},
        {"\"" LONGEST "\"", EVENT_CONNECTION, LONGEST},
        {"\"" LONGEST "x\"", EVENT_MALFORMED, ""},
        {"\"" SIXTEEN SIXTEEN SIXTEEN "0123456789abcde\u00e9\"", EVENT_MALFORMED, ""},
        {"1.4", EVENT_MALFORMED, ""},
        {"null", EVENT_MALFORMED, ""},
        {"[\"1.4\"]", EVENT_MALFORMED, ""},
        {"\"a\\u0000\"", EVENT_MALFORMED, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char payload[256];
        struct event event = {0};
        const int n = snprintf(payload, sizeof payload, "{\"state\":\"online\",\"version\":%s}",
                               rows[i].version);
        struct message m = {
            .payload = payload, .stored_bytes = (size_t)n, .payload_bytes = (size_t)n};
        (void)snprintf(m.topic, sizeof m.topic, "p/r1/real/connection");
        CHECK_INT(rows[i].version, codec_native.decode("p", &m, codec_copy_event, &event), 1);
        CHECK_INT(rows[i].version, event.kind, rows[i].kind);
        if (event.kind == EVENT_CONNECTION) {
            CHECK_TEXT(rows[i].version, event.connection.version, rows[i].got);
        }
    }
}

/* The daemon's own line. */
static void test_lines(void)
{
    static const struct {
        const char *side;
        enum event_kind kind;
    } rows[] = {{"virtual", EVENT_VERSION}, {"both", EVENT_MALFORMED}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char payload[128];
        struct event event = {0};
        const int n =
            snprintf(payload, sizeof payload,
                     "{\"pair\":\"r1\",\"side\":\"%s\",\"version\":\"2\"}", rows[i].side);
        struct message m = {
            .payload = payload, .stored_bytes = (size_t)n, .payload_bytes = (size_t)n};
        (void)snprintf(m.topic, sizeof m.topic, "p/$lab/version");
        CHECK_INT(rows[i].side, codec_decode(NULL, "p", &m, codec_copy_event, &event), 1);
        CHECK_INT(rows[i].side, event.kind, rows[i].kind);
        if (event.kind == EVENT_VERSION) {
            CHECK_TEXT("pair", event.pair, "r1");
            CHECK_INT("side", event.side, SIDE_VIRTUAL);
            CHECK_TEXT("version", event.connection.version, "2");
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair version", NULL, NULL);
    CU_add_test(suite, "entries", test_entries);
    CU_add_test(suite, "open command", test_open_command);
    CU_add_test(suite, "lab file", test_lab_file);
    CU_add_test(suite, "stated", test_stated);
    CU_add_test(suite, "fits", test_fits);
    CU_add_test(suite, "messages", test_messages);
    CU_add_test(suite, "lines", test_lines);
    return check_run();
}
