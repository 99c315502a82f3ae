/* Repeated messages, from the line of the journal to the effect: identified by packet ids, by
 * ids, or by nothing. */
#include "tests/support/lab_script.h"
#include "tests/support/saved_lab.h"

#include "config/options/option_file.h"

static struct script s;

static void step_script(void *context, const struct event *event)
{
    const struct script *script = context;
    lab_step(script->lab, event, &script->fx);
}

/* A lab of one pair whose journal has these lines. */
static void step_message(double t_s, const char *topic, const char *more, const char *payload)
{
    static char scratch[MESSAGE_PAYLOAD_MAX + 1];
    char time[28];
    char line[512];
    struct message m;
    struct codec_set set;
    message_format_time(1000000000 + (int64_t)(t_s * 1e6), time);
    const int bytes = snprintf(
        line, sizeof line,
        "{\"tst\":\"%s\",\"topic\":\"tandem/v1/%s\",\"qos\":1,\"retain\":0%s,\"payload\":%s}",
        time, topic, more, payload);
    CU_ASSERT_EQUAL_FATAL(message_parse(line, (size_t)bytes, scratch, &m, NULL), STATUS_OK);
    lab_codecs(s.lab, &set);
    (void)codec_decode(&set, "tandem/v1", &m, step_script, &s);
}

static void start_lab(enum pair_mode mode)
{
    script_init(&s, 1);
    s.params[0].mode = mode;
    s.params[0].expected[SIDE_REAL] = PAIR_ALWAYS;
    s.params[0].expected[SIDE_VIRTUAL] = PAIR_ALWAYS;
    script_open(&s);
}

static void connect_at(double t_s, bool resumed)
{
    step_message(t_s, "$lab/session", "",
                 resumed ? "{\"resumed\":true,\"away_s\":0.5}"
                         : "{\"resumed\":false,\"away_s\":0}");
}

static void answer_at(double t_s, int mid, const char *payload)
{
    char more[16];
    (void)snprintf(more, sizeof more, ",\"mid\":%d", mid);
    step_message(t_s, "r1/real/reply", more, payload);
    (void)snprintf(more, sizeof more, ",\"mid\":%d", mid + 1);
    step_message(t_s + 0.001, "r1/virtual/reply", more, payload);
}

/* The next daemon, by its checkpoint. */
static void restart_lab(void)
{
    size_t bytes = 0;
    void *state = saved_lab(s.lab, &bytes);
    struct lab *later =
        lab_init(aligned_alloc(64, (lab_bytes(&s.lab_params) + 63) / 64 * 64), &s.lab_params);
    CU_ASSERT_EQUAL_FATAL(lab_load(later, state, bytes), STATUS_OK);
    free(state);
    free(s.lab);
    s.lab = later;
}

#define GO      "{\"op\":\"go\",\"rotation_rad\":1}"
#define GO_ID   "{\"id\":\"c1\",\"op\":\"go\",\"rotation_rad\":1}"
#define DONE    "{\"status\":\"done\"}"
#define DONE_ID "{\"id\":\"c1\",\"status\":\"done\"}"

/* A command, 4 to 6 with its replies, and an equal one later: is it a repetition? */
static void test_observe(void)
{
    enum { NEW, AGAIN, AMBIGUOUS };
    static const struct {
        const char *row, *command, *first, *second;
        double after_s;
        int connects; /* meanwhile; 2: with a new session, 3: some time before */
        int found;
    } rows[] = {
        /* A journal without packet ids is read as ever. */
        {"old: alike", GO, "", "", 5, 0, NEW},
        {"old: DUP", GO, "", ",\"dup\":1", 5, 0, AGAIN},
        {"old: DUP, hours later", GO, "", ",\"dup\":1", 7200, 0, AGAIN},
        {"old: the id again", GO_ID, "", "", 29, 0, AGAIN},
        {"old: the id later", GO_ID, "", "", 31, 0, NEW},
        /* Without ids: by packet ids. */
        {"alike", GO, ",\"mid\":4", ",\"mid\":7", 5, 1, NEW},
        {"the acknowledgement was lost", GO, ",\"mid\":4", ",\"dup\":1,\"mid\":4", 5, 1, AGAIN},
        {"hours before", GO, ",\"mid\":4", ",\"dup\":1,\"mid\":4", 9000, 1, AGAIN},
        {"alike, hours later", GO, ",\"mid\":4", ",\"dup\":1,\"mid\":7", 9000, 1, NEW},
        {"alike, lost at first", GO, ",\"mid\":4", ",\"dup\":1,\"mid\":7", 5, 1, NEW},
        {"of another session", GO, ",\"mid\":4", ",\"mid\":4", 5, 2, NEW},
        {"of another session, lost", GO, ",\"mid\":4", ",\"dup\":1,\"mid\":4", 5, 2, NEW},
        {"of a restored broker", GO, ",\"mid\":4", ",\"mid\":4", 60, 1, AMBIGUOUS},
        {"no packet id before", GO, "", ",\"dup\":1,\"mid\":4", 5, 1, AMBIGUOUS},
        {"behind all that had waited", GO, ",\"mid\":4", ",\"mid\":4", 60, 3, NEW},
        {"a restored broker counts on", GO, ",\"mid\":4", ",\"mid\":3", 60, 1, NEW},
        /* With ids. */
        {"id: sent again", GO_ID, ",\"mid\":4", ",\"mid\":7", 29, 0, AGAIN},
        {"id: a new command", GO_ID, ",\"mid\":4", ",\"mid\":7", 31, 0, NEW},
        {"id: of a restored broker", GO_ID, ",\"mid\":4", ",\"mid\":4", 800, 1, AGAIN},
        {"id: older than the memory", GO_ID, ",\"mid\":4", ",\"mid\":4", 1000, 1, NEW},
        {"id: hours before", GO_ID, ",\"mid\":4", ",\"dup\":1,\"mid\":4", 9000, 1, AGAIN},
        {"id: of another session", GO_ID, ",\"mid\":4", ",\"dup\":1,\"mid\":4", 9000, 2, NEW},
        {"id: sent again once the broker was back", GO_ID, ",\"mid\":4", ",\"mid\":2", 60, 1,
         AGAIN},
        {"id: no packet id before", GO_ID, "", ",\"dup\":1,\"mid\":4", 5, 1, AGAIN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool old = rows[i].second[0] == '\0' || !strstr(rows[i].second, "mid");
        const char *done = strstr(rows[i].command, "c1") ? DONE_ID : DONE;
        start_lab(PAIR_OBSERVE);
        if (!old) {
            connect_at(0, false);
            step_message(0.1, "r1/command", ",\"mid\":1", "{\"op\":\"other\"}");
            answer_at(0.2, 2, DONE);
        }
        step_message(1, "r1/command", rows[i].first, rows[i].command);
        step_message(1.2, "r1/real/reply", old ? "" : ",\"mid\":5", done);
        step_message(1.3, "r1/virtual/reply", old ? "" : ",\"mid\":6", done);
        if (rows[i].connects) {
            connect_at(1 + rows[i].after_s - (rows[i].connects == 3 ? 1.5 : 0.1),
                       rows[i].connects != 2);
        }
        const uint64_t commands = lab_pair(s.lab, 0)->counts.commands;
        step_message(1 + rows[i].after_s, "r1/command", rows[i].second, rows[i].command);
        const struct lab_counts *counts = lab_counts(s.lab);
        CHECK_INT(rows[i].row, counts->redelivered, rows[i].found == AGAIN);
        CHECK_INT(rows[i].row, counts->ambiguous, rows[i].found == AMBIGUOUS);
        CHECK_INT(rows[i].row, lab_pair(s.lab, 0)->counts.commands - commands,
                  rows[i].found != AGAIN);
        script_clear(&s);
        lab_finish(s.lab, &s.fx);
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CHECK_INT(rows[i].row, entry != NULL, rows[i].found != AGAIN);
        CHECK_TEXT(rows[i].row,
                   entry_ambiguity_name(entry ? entry->entry.ambiguous : ENTRY_SURE),
                   rows[i].found == AMBIGUOUS ? "command" : "sure");
        script_close(&s);
    }
}

/* A broker that uses the lowest free number gives no information by it. */
static void test_lowest_free(void)
{
    start_lab(PAIR_OBSERVE);
    connect_at(0, false);
    for (int k = 0; k < 3; k++) {
        step_message(1 + k, "r1/command", ",\"mid\":1", GO);
        step_message(1.2 + k, "r1/real/reply", ",\"mid\":1", DONE);
        step_message(1.3 + k, "r1/virtual/reply", ",\"mid\":1", DONE);
    }
    CHECK_INT("all are new", lab_pair(s.lab, 0)->counts.entries, 3);
    connect_at(9, true);
    step_message(9.1, "r1/command", ",\"dup\":1,\"mid\":1", GO);
    CHECK_INT("nothing identifies it", lab_counts(s.lab)->ambiguous, 1);
    CHECK_INT("it is followed", lab_pair(s.lab, 0)->outstanding, 1);
    script_close(&s);
}

static const char *last_reply(void)
{
    const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
    return reply ? reply->payload : "";
}

/* In link mode no command with a known id is sent to a robot again. */
static void test_link(void)
{
    start_lab(PAIR_LINK);
    connect_at(0, false);
    step_message(1, "r1/command", ",\"mid\":1", GO_ID);
    CHECK_INT("both get it", script_count(&s, EFFECT_COMMAND), 2);
    script_clear(&s);
    step_message(1.5, "r1/command", ",\"mid\":2", GO_ID);
    CHECK_INT("while it is open: nothing", s.count, 0);
    step_message(2, "r1/command", ",\"mid\":3", "{\"id\":\"c1\",\"op\":\"halt\"}");
    CHECK_INT("nor another one", script_count(&s, EFFECT_COMMAND), 0);
    answer_at(3, 4, "{\"id\":\"c1\",\"status\":\"blocked\"}");
    script_clear(&s);
    step_message(60, "r1/command", ",\"mid\":6", GO_ID);
    CHECK_INT("not sent", script_count(&s, EFFECT_COMMAND), 0);
    CHECK("what became of it", strstr(last_reply(), "\"status\":\"blocked\"") != NULL);
    CHECK("of it", strstr(last_reply(), "\"id\":\"c1\"") != NULL);
    CHECK("the sender", strstr(last_reply(), "\"from\":\"real\"") != NULL);
    script_clear(&s);
    step_message(800, "r1/command", ",\"mid\":7",
                 "{\"id\":\"c1\",\"op\":\"go\",\"rotation_rad\":2}");
    CHECK_INT("another one under its id", script_count(&s, EFFECT_COMMAND), 0);
    CHECK("is refused", strstr(last_reply(), "\"status\":\"error\"") != NULL);
    CHECK_TEXT("and reported", script_alarm(&s, 0), "command_id_reused");

    restart_lab();
    script_clear(&s);
    connect_at(810, true);
    step_message(811, "r1/command", ",\"mid\":1", GO_ID);
    CHECK_INT("nor by the next daemon", script_count(&s, EFFECT_COMMAND), 0);
    CHECK_INT("which answers, too", script_count(&s, EFFECT_REPLY), 1);
    script_clear(&s);
    step_message(902, "r1/command", ",\"mid\":8", GO_ID);
    CHECK_INT("in the end it is forgotten", script_count(&s, EFFECT_COMMAND), 2);
    script_close(&s);
}

/* One that was refused has come all the same. */
static void test_link_seq(void)
{
    start_lab(PAIR_LINK);
    connect_at(0, false);
    step_message(1, "r1/command", ",\"mid\":1", "{\"id\":\"c1\",\"op\":\"go\",\"seq\":1}");
    answer_at(2, 2, "{\"id\":\"c1\",\"status\":\"done\"}");
    step_message(3, "r1/command", ",\"mid\":4", "{\"id\":\"c1\",\"op\":\"halt\",\"seq\":2}");
    script_clear(&s);
    step_message(4, "r1/command", ",\"mid\":5", "{\"id\":\"c2\",\"op\":\"go\",\"seq\":3}");
    CHECK_INT("goes on", script_count(&s, EFFECT_COMMAND), 2);
    CHECK_INT("none is missing", script_count(&s, EFFECT_ALARM), 0);
    script_close(&s);
}

/* Commands without an answer, and those without an id. */
static void test_link_ends(void)
{
    start_lab(PAIR_LINK);
    s.params[0].outstanding_max = 1;
    script_close(&s);
    script_open(&s);
    connect_at(0, false);
    step_message(1, "r1/command", ",\"mid\":1", GO_ID);
    step_message(1.1, "r1/command", ",\"mid\":2",
                 "{\"id\":\"c2\",\"op\":\"go\"}"); /* one too many */
    script_tick(&s, 1000000000 + 30000000);
    script_clear(&s);
    step_message(60, "r1/command", ",\"mid\":3", GO_ID);
    CHECK("no answer", strstr(last_reply(), "the real robot did not answer") != NULL);
    CHECK("is an error", strstr(last_reply(), "\"status\":\"error\"") != NULL);
    script_clear(&s);
    step_message(61, "r1/command", ",\"mid\":4", "{\"id\":\"c2\",\"op\":\"go\"}");
    CHECK("refused", strstr(last_reply(), "\"status\":\"error\"") != NULL);
    CHECK("which", strstr(last_reply(), "\"id\":\"c2\"") != NULL);
    step_message(62, "r1/command", ",\"mid\":5", GO);
    answer_at(63, 6, DONE);
    connect_at(100.9, true);
    script_clear(&s);
    step_message(101, "r1/command", ",\"mid\":5", GO);
    CHECK_INT("in doubt no robot gets it", script_count(&s, EFFECT_COMMAND), 0);
    CHECK_TEXT("people are", script_alarm(&s, 0), "command_ambiguous");
    CHECK_TEXT("the entry reports it",
               entry_ambiguity_name(script_find(&s, EFFECT_ENTRY, 0)->entry.ambiguous),
               "command");
    CHECK("and L1 knows", strstr(last_reply(), "\"status\":\"error\"") != NULL);
    script_close(&s);
}

/* The newest ones fill the room. An early loss is counted. */
static void test_bound(void)
{
    char payload[64];
    script_init(&s, 1);
    s.lab_params.remember_max = DELIVERY_MIN;
    s.lab_params.remember_us = 60000000;
    script_open(&s);
    for (int k = 0; k < DELIVERY_MIN + 10; k++) {
        (void)snprintf(payload, sizeof payload, "{\"id\":\"c%d\",\"op\":\"go\"}", k);
        step_message(0.01 * k, "r1/command", "", payload);
    }
    CHECK_INT("too early", lab_counts(s.lab)->forgotten_early, 10);
    restart_lab();
    step_message(41.2, "r1/command", "", payload);
    CHECK_INT("the newest is known", lab_counts(s.lab)->redelivered, 1);
    step_message(41.3, "r1/command", ",\"dup\":1", "{\"id\":\"c10\",\"op\":\"go\"}");
    CHECK_INT("and the oldest that has room", lab_counts(s.lab)->redelivered, 2);
    step_message(41.4, "r1/command", ",\"dup\":1", "{\"id\":\"c9\",\"op\":\"go\"}");
    CHECK_INT("but not the one before", lab_counts(s.lab)->redelivered, 2);
    CHECK_INT("which replaces the next", lab_counts(s.lab)->forgotten_early, 11);
    step_message(200, "r1/command", "", GO_ID);
    CHECK_INT("this one's time was over", lab_counts(s.lab)->forgotten_early, 11);
    script_close(&s);
}

/* The memory covers what the shipped broker has not saved when it is killed. */
static void test_shipped_broker(void)
{
    static struct lab_file lab;
    char line[256];
    unsigned interval = 1800; /* mosquitto's own */
    bool on_changes = false;
    option_defaults(&lab_options, &lab);
    FILE *in = fopen(TANDEM_SOURCE_DIR "/config/mosquitto.conf", "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (fgets(line, sizeof line, in)) {
        (void)sscanf(line, "autosave_interval %u",
                     &interval); // NOLINT(cert-err34-c): a number or not
        on_changes = on_changes || strncmp(line, "autosave_on_changes true", 24) == 0;
    }
    (void)fclose(in);
    CHECK("it saves", interval > 0);
    CHECK_INT("15 minutes", lab.broker.remember_us, INT64_C(900000000));
    CHECK("remembered for longer", on_changes
                                       ? interval < lab.broker.remember_messages
                                       : interval * INT64_C(1000000) < lab.broker.remember_us);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("delivery", NULL, NULL);
    CU_add_test(suite, "observe", test_observe);
    CU_add_test(suite, "lowest free", test_lowest_free);
    CU_add_test(suite, "link", test_link);
    CU_add_test(suite, "link: seq", test_link_seq);
    CU_add_test(suite, "link: ends", test_link_ends);
    CU_add_test(suite, "bound", test_bound);
    CU_add_test(suite, "shipped broker", test_shipped_broker);
    return check_run();
}
