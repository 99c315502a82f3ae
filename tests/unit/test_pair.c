#include "tests/support/lab_script.h"
#include "twin/pair/pair_machines.h"
#include "twin/report/pair_report.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)
#define DONE  REPLY_DONE

/* Input step by step, and the expected output. */
struct step {
    const char *row;
    enum { SEND, REAL, VIRT, TICK } what;
    const char *id;
    double t_s;
    enum reply_status status;
    const char *verdict; /* of the entry this step closes; NULL: none */
    const char *alarm;   /* code of the first alarm; NULL: none */
    double lag_s;        /* NAN: none */
};

static void run_steps(struct script *s, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct step *step = &steps[i];
        script_clear(s);
        if (step->what == SEND) {
            script_command(s, "r1", AT(step->t_s), step->id);
        } else if (step->what == TICK) {
            script_tick(s, AT(step->t_s));
        } else {
            script_reply(s, "r1", AT(step->t_s), step->what == REAL ? SIDE_REAL : SIDE_VIRTUAL,
                         step->id, step->status);
        }
        const struct script_effect *entry = script_find(s, EFFECT_ENTRY, 0);
        const struct script_effect *alarm = script_find(s, EFFECT_ALARM, 0);
        CHECK_TEXT(step->row, entry ? verdict_name(entry->entry.verdict) : "",
                   step->verdict ? step->verdict : "");
        if (entry) {
            const bool differ = alarm && alarm->alarm.type == ALARM_TYPE_INCONSISTENT;
            const bool both = entry->entry.lag_us != LAB_TIME_NONE;
            CHECK_TEXT(step->row, consistency_name(entry->entry.consistency),
                       differ ? "false"
                       : both ? "true"
                              : "unknown");
            CHECK_TEXT(step->row, entry->entry.differs, differ ? alarm->alarm.detail : "");
        }
        CHECK_TEXT(step->row, script_alarm(s, 0), step->alarm ? step->alarm : "");
        if (entry && entry->entry.lag_us != LAB_TIME_NONE) {
            CHECK_NEAR(step->row, lab_s(entry->entry.lag_us), step->lag_s, 0, 1e-9);
        }
    }
}

static void test_observe(void)
{
    static const struct step steps[] = {
        {"reply before any command", REAL, "c1", 0.1, DONE, NULL, "reply_unknown_id", 0},
        {"send 1", SEND, "c1", 1.0, DONE, NULL, NULL, 0},
        {"virtual first", VIRT, "c1", 1.3, DONE, NULL, NULL, 0},
        {"virtual twice", VIRT, "c1", 1.4, DONE, NULL, "reply_repeated", 0},
        {"wrong command", REAL, "c9", 1.4, DONE, NULL, "reply_unknown_id", 0},
        {"ahead", REAL, "c1", 1.5, DONE, "AHEAD", NULL, 0.2},
        {"after the entry", REAL, "c1", 1.6, DONE, NULL, "reply_repeated", 0},
        {"send 2", SEND, "c2", 2.0, DONE, NULL, NULL, 0},
        {"real first", REAL, "c2", 2.2, DONE, NULL, NULL, 0},
        {"gap equal to the tolerance", VIRT, "c2", 2.25, DONE, "SYNC", NULL, -0.05},
        {"send 3", SEND, "c3", 3.0, DONE, NULL, NULL, 0},
        {"real", REAL, "c3", 3.1, DONE, NULL, NULL, 0},
        {"behind", VIRT, "c3", 3.9, DONE, "BEHIND", NULL, -0.8},
        {"send 4", SEND, "c4", 4.0, DONE, NULL, NULL, 0},
        {"only real", REAL, "c4", 4.5, DONE, NULL, NULL, 0},
        {"at the deadline", TICK, "", 14.0, DONE, NULL, NULL, 0},
        {"past it", TICK, "", 14.1, DONE, "TIMEOUT", "no_reply", 0},
        {"late", VIRT, "c4", 14.2, DONE, NULL, "reply_after_close", 0},
        {"late again", VIRT, "c4", 14.3, DONE, NULL, "reply_repeated", 0},
        {"send 5", SEND, "c5", 20.0, DONE, NULL, NULL, 0},
        {"blocked", REAL, "c5", 20.5, REPLY_BLOCKED, NULL, NULL, 0},
        {"reports done, and late too", VIRT, "c5", 20.6, DONE, "BEHIND", "replies_differ",
         -0.1},
        {"send 6", SEND, "c6", 30.0, DONE, NULL, NULL, 0},
        {"send 7 meanwhile", SEND, "c7", 30.1, DONE, NULL, NULL, 0},
        {"7 before 6", REAL, "c7", 30.2, DONE, NULL, NULL, 0},
        {"6", REAL, "c6", 30.3, DONE, NULL, NULL, 0},
        {"7 closes", VIRT, "c7", 30.4, DONE, "BEHIND", NULL, -0.2},
        {"id in use", SEND, "c6", 30.5, DONE, NULL, "command_repeated", 0},
        {"6 closes", VIRT, "c6", 30.6, DONE, "BEHIND", NULL, -0.3},
        {"reply exactly at the deadline counts", SEND, "c8", 40.0, DONE, NULL, NULL, 0},
        {"real", REAL, "c8", 40.1, DONE, NULL, NULL, 0},
        {"virtual at 50.0", VIRT, "c8", 50.0, DONE, "BEHIND", NULL, -9.9},
    };
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    run_steps(&s, steps, COUNT(steps));
    CHECK_INT("none open", lab_pair(s.lab, 0)->outstanding, 0);
    CHECK_INT("machines", lab_pair(s.lab, 0)->logger_stats.faults, 0);
    script_close(&s);
}

static void test_without_ids(void)
{
    static const struct step steps[] = {
        {"reply before any command", REAL, "", 0.1, DONE, NULL, "reply_without_command", 0},
        {"first", SEND, "", 1.0, DONE, NULL, NULL, 0},
        {"real", REAL, "", 1.5, DONE, NULL, NULL, 0},
        {"real again", REAL, "", 1.6, DONE, NULL, "reply_without_command", 0},
        {"next before the virtual", SEND, "", 2.0, DONE, NULL, NULL, 0},
        {"virtual answers the first", VIRT, "", 2.2, DONE, "BEHIND", NULL, -0.7},
        {"real answers the second", REAL, "", 2.5, DONE, NULL, NULL, 0},
        {"virtual too", VIRT, "", 2.5, DONE, "SYNC", NULL, 0},
        {"third", SEND, "", 3.0, DONE, NULL, NULL, 0},
        {"real", REAL, "", 3.5, DONE, NULL, NULL, 0},
        {"times out", TICK, "", 14.0, DONE, "TIMEOUT", "no_reply", 0},
        {"late", VIRT, "", 14.1, DONE, NULL, "reply_after_close", 0},
        {"only once late", VIRT, "", 14.2, DONE, NULL, "reply_without_command", 0},
    };
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    run_steps(&s, steps, COUNT(steps));
    script_close(&s);
}

static void test_values(void)
{
    static struct script s;
    static const struct {
        const char *row;
        double real, virtual;
        bool named, is_text;
        bool consistent;
    } rows[] = {
        {"equal", 1.5, 1.5, true, false, true},
        {"within abs", 0.001, 0.02, true, false, true},
        {"a share of it is not within", 100.0, 104.0, true, false, false},
        {"beyond", 1.5, 1.7, true, false, false},
        {"one side does not report it", 1.5, 9.0, false, false, true},
        {"text equal", 7.0, 7.0, true, true, true},
        {"text differs", 7.0, 8.0, true, true, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        script_init(&s, 1);
        script_open(&s);
        script_command(&s, "r1", AT(1), "c");
        for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
            struct event e = script_reply_event("r1", AT(2), side, "c", DONE);
            const double value = side == SIDE_REAL ? rows[i].real : rows[i].virtual;
            e.reply.value_count = 1;
            const char *name = side == SIDE_REAL || rows[i].named ? "x_m" : "y_m";
            e.reply.values[0] = (struct event_value){
                .place = hash_text(name), .kind = rows[i].is_text ? VALUE_TEXT : VALUE_NUMBER};
            (void)snprintf(e.reply.values[0].name, EVENT_VALUE_NAME_MAX, "%s", name);
            if (rows[i].is_text) {
                e.reply.values[0].text = (uint64_t)value;
            } else {
                e.reply.values[0].number = value;
            }
            lab_step(s.lab, &e, &s.fx);
        }
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CU_ASSERT_FATAL(entry != NULL);
        CHECK_INT(rows[i].row, entry->entry.verdict, VERDICT_SYNC);
        CHECK_INT(rows[i].row, entry->entry.consistency,
                  rows[i].consistent ? CONSISTENT : INCONSISTENT);
        const struct pair_counts *counts = &lab_pair(s.lab, 0)->counts;
        CHECK_INT(rows[i].row, counts->consistency[entry->entry.consistency], 1);
        script_close(&s);
    }
}

static void test_overflow(void)
{
    static struct script s;
    char id[16];
    script_init(&s, 1);
    script_open(&s);
    for (int k = 0; k < 16 + 1; k++) {
        (void)snprintf(id, sizeof id, "c%d", k);
        script_command(&s, "r1", AT(k * 0.001), id);
    }
    const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
    CHECK_INT("one entry at once", script_count(&s, EFFECT_ENTRY), 1);
    CHECK_TEXT("overflow", entry ? verdict_name(entry->entry.verdict) : "", "OVERFLOW");
    CHECK_TEXT("its id", entry ? entry->entry.id : "", "c16");
    CHECK_TEXT("alarm", script_alarm(&s, 0), "outstanding_full");
    script_reply(&s, "r1", AT(1), SIDE_REAL, "c16", DONE);
    CHECK_TEXT("its reply is named", script_alarm(&s, 1), "reply_to_refused");
    lab_finish(s.lab, &s.fx);
    CHECK_INT("one entry each", script_count(&s, EFFECT_ENTRY), 16 + 1);
    script_close(&s);
}

static void count_saved(void *context, size_t at, const void *bytes, size_t n)
{
    size_t *count = context;
    (void)at;
    (void)bytes;
    *count += n;
}

static size_t saved_bytes(const struct script *s, size_t part)
{
    size_t count = 0;
    struct lab_save save = {.write_part = count_saved, .context = &count};
    lab_save_part(s->lab, &save, part);
    return count;
}

/* A checkpoint holds the moves that there are, and what link mode has behind them. */
static void test_saved(void)
{
    static struct script s;
    script_init(&s, 2);
    s.params[1].mode = PAIR_LINK;
    script_open(&s);
    CHECK_INT("none", saved_bytes(&s, 0), sizeof(struct pair));
    script_command(&s, "r1", AT(0), "c1");
    script_reply(&s, "r1", AT(1), SIDE_REAL, "c1", DONE);
    script_reply(&s, "r1", AT(1), SIDE_VIRTUAL, "c1", DONE);
    CHECK_INT("one", saved_bytes(&s, 0), sizeof(struct pair) + sizeof(struct pair_move));
    CHECK("behind them",
          saved_bytes(&s, 1) >= sizeof(struct pair) + sizeof(struct pair_linked));
    script_close(&s);
}

/* The options set the number of entries and the memory. */
static void test_room(void)
{
    static struct script s;
    char id[16];
    script_init(&s, 2);
    CHECK("by default at most 32 KiB", pair_bytes(&s.params[0]) <= (size_t)32 * 1024);
    s.params[0].mode = PAIR_LINK;
    for (size_t i = 0; i < 2; i++) {
        s.params[i].outstanding_max = PAIR_OUTSTANDING_MAX;
        s.params[i].queue_max = PAIR_OUTSTANDING_MAX;
    }
    script_open(&s);
    for (int k = 0; k < PAIR_OUTSTANDING_MAX; k++) {
        (void)snprintf(id, sizeof id, "c%d", k);
        script_command(&s, "r1", AT(k * 0.001), id);
        script_command(&s, "r2", AT(k * 0.001), id);
    }
    CHECK_INT("open", lab_pair(s.lab, 0)->outstanding, PAIR_OUTSTANDING_MAX);
    CHECK_INT("open", lab_pair(s.lab, 1)->outstanding, PAIR_OUTSTANDING_MAX);
    CHECK_INT("sent", script_count(&s, EFFECT_COMMAND), 2);
    script_reply(&s, "r1", AT(1), SIDE_REAL, "c0", DONE);
    CHECK_TEXT("the next one, as it came", script_find(&s, EFFECT_COMMAND, 2)->payload,
               "{\"id\":\"c1\",\"op\":\"go\"}");
    script_reply(&s, "r2", AT(1), SIDE_REAL, "c63", DONE);
    script_reply(&s, "r2", AT(1), SIDE_VIRTUAL, "c63", DONE);
    CHECK_TEXT("the last one", script_find(&s, EFFECT_ENTRY, 0)->entry.id, "c63");
    script_command(&s, "r2", AT(2), "again");
    CHECK_INT("in its place", lab_pair(s.lab, 1)->outstanding, PAIR_OUTSTANDING_MAX);
    lab_finish(s.lab, &s.fx);
    CHECK_INT("entries", lab_pair(s.lab, 0)->counts.entries, PAIR_OUTSTANDING_MAX);
    CHECK_INT("entries", lab_pair(s.lab, 1)->counts.entries, PAIR_OUTSTANDING_MAX + 1);
    script_close(&s);
}

static void test_link_overflow(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    s.params[0].queue_max = 1;
    script_open(&s);
    script_command(&s, "r1", AT(0), "a");
    script_command(&s, "r1", AT(0.1), "b");
    script_clear(&s);
    script_command(&s, "r1", AT(0.2), "c");
    CHECK_INT("not sent", script_count(&s, EFFECT_COMMAND), 0);
    CHECK_INT("L1 gets a reply", script_count(&s, EFFECT_REPLY), 1);
    CHECK("error",
          strstr(script_find(&s, EFFECT_REPLY, 0)->payload, "\"status\":\"error\"") != NULL);
    CHECK_TEXT("entry", verdict_name(script_find(&s, EFFECT_ENTRY, 0)->entry.verdict),
               "OVERFLOW");
    script_close(&s);
}

/* Link mode, time-out 10 s: the virtual robot is the slower one, so that the command after it
 * is sent to the two at different times. The alarm of the last step is the one that is named.
 */
static void test_link_alarms(void)
{
    static const struct {
        const char *code;
        struct {
            enum { OPEN, ANSWER_REAL, ANSWER_VIRT, WAIT } what;
            const char *id;
            double t_s;
        } steps[7];
    } rows[] = {
        {"real_queue_full",
         {{OPEN, "a", 0}, {ANSWER_VIRT, "a", 1}, {OPEN, "b", 2}, {OPEN, "c", 3}}},
        {"virtual_queue_full",
         {{OPEN, "a", 0}, {ANSWER_REAL, "a", 1}, {OPEN, "b", 2}, {OPEN, "c", 3}}},
        {"reply_early",
         {{OPEN, "a", 0}, {ANSWER_REAL, "a", 1}, {OPEN, "b", 2}, {ANSWER_VIRT, "b", 3}}},
        {"reply_late",
         {{OPEN, "a", 0},
          {ANSWER_REAL, "a", 1},
          {OPEN, "b", 2},
          {ANSWER_VIRT, "a", 8},
          {WAIT, "", 13},
          {ANSWER_REAL, "b", 14}}},
        {"reply_unknown_id", {{OPEN, "a", 0}, {ANSWER_REAL, "z", 1}}},
        {"command_repeated", {{OPEN, "a", 0}, {OPEN, "a", 1}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].mode = PAIR_LINK;
        s.params[0].queue_max = 1;
        script_open(&s);
        for (size_t k = 0; k < COUNT(rows[i].steps) && rows[i].steps[k].id; k++) {
            const int64_t t_us = AT(rows[i].steps[k].t_s);
            const char *id = rows[i].steps[k].id;
            script_clear(&s);
            if (rows[i].steps[k].what == OPEN) {
                script_command(&s, "r1", t_us, id);
            } else if (rows[i].steps[k].what == WAIT) {
                script_tick(&s, t_us);
            } else {
                script_reply(&s, "r1", t_us,
                             rows[i].steps[k].what == ANSWER_REAL ? SIDE_REAL : SIDE_VIRTUAL,
                             id, DONE);
            }
        }
        CHECK_TEXT(rows[i].code, script_alarm(&s, 0), rows[i].code);
        script_close(&s);
    }
}

/* Reports of robots and codecs become alarms with the code of their cause. */
static void test_reported(void)
{
    static const char *const codes[FAULT_KIND_COUNT + 2] = {
        "robot_error", "emergency_stop", "mode_changed", "messages_missing", "contradiction"};
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    for (enum fault_kind kind = FAULT_ERROR; kind < FAULT_KIND_COUNT; kind++) {
        struct event e = script_event("r1", AT((int)kind), EVENT_FAULT, SIDE_REAL);
        e.fault.kind = kind;
        lab_step(s.lab, &e, &s.fx);
    }
    struct event e = script_event("r1", AT(4), EVENT_NOTE, SIDE_REAL);
    e.note.kind = NOTE_MISSING;
    lab_step(s.lab, &e, &s.fx);
    e.note.kind = NOTE_CONTRADICTION;
    lab_step(s.lab, &e, &s.fx);
    for (size_t i = 0; i < COUNT(codes); i++) {
        CHECK_TEXT(codes[i], script_alarm(&s, i), codes[i]);
    }
    script_close(&s);
}

/* L1 would wait for a reply to a command that no robot will ever get. */
static void test_link_malformed(void)
{
    for (int link = 0; link < 2; link++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].mode = link ? PAIR_LINK : PAIR_OBSERVE;
        script_open(&s);
        struct event e = script_event("r1", AT(0), EVENT_MALFORMED, SIDE_COUNT);
        e.malformed = (struct event_malformed){"command", "m", "did you mean \x01?",
                                               FAULT_UNEXPECTED_VALUE};
        memset(e.malformed.id + 1, '"', sizeof e.malformed.id - 2); /* all escaped */
        lab_step(s.lab, &e, &s.fx);
        CHECK_INT("alarm", script_count(&s, EFFECT_ALARM), 1);
        CHECK_TEXT("its code", script_alarm(&s, 0), "malformed_message");
        CHECK_INT("L1 gets a reply", script_count(&s, EFFECT_REPLY), link);
        const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
        CHECK("why", !reply || strstr(reply->payload,
                                      "\"status\":\"error\",\"code\":\"unexpected_value\","));
        (void)snprintf(e.malformed.what, sizeof e.malformed.what, "reply");
        lab_step(s.lab, &e, &s.fx);
        CHECK_INT("not of a robot's", script_count(&s, EFFECT_REPLY), link);
        (void)snprintf(e.malformed.what, sizeof e.malformed.what, "command");
        e.retained = true;
        lab_step(s.lab, &e, &s.fx);
        CHECK_INT("nor of an old one", script_count(&s, EFFECT_REPLY), link);
        script_close(&s);
    }
}

/* The machines of a pair as the API has them. */
static const char *machines_of(const struct script *s)
{
    static char text[1 << 16];
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    json_write_object(&w, NULL);
    pair_report_machines(&w, "machines", lab_pair(s->lab, 0), lab_following(s->lab, 0),
                         &s->params[0]);
    json_write_close(&w);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[w.used] = '\0';
    return text;
}

/* Nothing in it is older than the first event. */
static void check_times(const char *row, const char *text, double from_s, double to_s)
{
    for (const char *p = text; (p = strstr(p, "\"since\":")) != NULL; p++) {
        const double since_s = strtod(p + 8, NULL);
        CHECK(row, since_s >= from_s && since_s <= to_s);
    }
    for (const char *p = text; (p = strstr(p, "\"stay_s\":{")) != NULL; p++) {
        const char *end = strchr(p, '}');
        for (const char *at = p + 9; at < end; at = strpbrk(at + 1, ":}")) {
            CHECK(row, strtod(at + 1, NULL) <= 2.0 * (to_s - from_s)); /* of both sides */
        }
    }
}

/* Lab time is what it is since 1970; machines are not that old. */
static void test_machine_times(void)
{
    static struct script s;
    const double from_s = lab_s(AT(5));
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    script_open(&s);
    CHECK("before anything happens", strstr(machines_of(&s), "\"since\":null"));
    script_command(&s, "r1", AT(5), "a");
    check_times("a command", machines_of(&s), from_s, lab_s(AT(5)));
    script_reply(&s, "r1", AT(6), SIDE_REAL, "a", DONE);
    script_reply(&s, "r1", AT(7), SIDE_VIRTUAL, "a", DONE);
    script_command(&s, "r1", AT(9), "b");
    check_times("the next one", machines_of(&s), from_s, lab_s(AT(9)));
    CHECK_NEAR(
        "two sides were ready for a while",
        lab_s(pair_look_linked(lab_pair(s.lab, 0))->dispatch_stats.stay_us[DISPATCH_READY]),
        5.0, 0, 1e-9);
    script_close(&s);
}

static void connect_side(struct script *s, int64_t t_us, enum side side, bool online,
                         const char *boot, bool retained)
{
    struct event e = script_event("r1", t_us, EVENT_CONNECTION, side);
    e.connection.online = online;
    e.retained = retained;
    e.connection.source_us = LAB_TIME_NONE;
    (void)snprintf(e.connection.boot, sizeof e.connection.boot, "%s", boot);
    lab_step(s->lab, &e, &s->fx);
}

static void test_connection(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    script_open(&s);
    connect_side(&s, AT(0), SIDE_REAL, false, "", true);
    CHECK_INT("an old offline is no news", s.count, 0);
    script_command(&s, "r1", AT(1), "a");
    CHECK_INT("the absent one is not asked", script_count(&s, EFFECT_COMMAND), 1);
    script_reply(&s, "r1", AT(2), SIDE_VIRTUAL, "a", DONE);
    CHECK_TEXT("virtual only", verdict_name(script_find(&s, EFFECT_ENTRY, 0)->entry.verdict),
               "VIRTUAL_ONLY");
    script_clear(&s);
    connect_side(&s, AT(3), SIDE_REAL, true, "b1", false);
    connect_side(&s, AT(4), SIDE_REAL, true, "b1", false);
    CHECK_INT("online is no alarm", s.count, 0);
    connect_side(&s, AT(5), SIDE_REAL, true, "b2", false);
    CHECK_TEXT("reboot", script_alarm(&s, 0), "boot_changed");
    connect_side(&s, AT(6), SIDE_REAL, false, "", false);
    connect_side(&s, AT(6), SIDE_REAL, false, "", false);
    CHECK_TEXT("offline", script_alarm(&s, 1), "robot_offline");
    CHECK_INT("reported once", script_count(&s, EFFECT_ALARM), 2);
    script_close(&s);
}

/* Two robots at work ignore a second move, and speak of no ids: the first one's laps are those
 * of the work, the second one's of the refusal. */
static void test_ignored_without_id(void)
{
    static struct script s;
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    script_init(&s, 1);
    script_open(&s);
    script_command(&s, "r1", AT(1), "");
    script_command(&s, "r1", AT(2), "");
    script_reply(&s, "r1", AT(2.010), SIDE_REAL, "", REPLY_IGNORED);
    script_reply(&s, "r1", AT(2.011), SIDE_VIRTUAL, "", REPLY_IGNORED);
    script_reply(&s, "r1", AT(6.0), SIDE_REAL, "", DONE);
    script_reply(&s, "r1", AT(6.2), SIDE_VIRTUAL, "", DONE);
    const struct script_effect *ignored = script_find(&s, EFFECT_ENTRY, 0);
    const struct script_effect *done = script_find(&s, EFFECT_ENTRY, 1);
    CU_ASSERT_FATAL(ignored && done);
    CHECK_INT("the second", ignored->entry.t_us, AT(2));
    CHECK_INT("is the ignored one", ignored->entry.status[SIDE_REAL], REPLY_IGNORED);
    CHECK_NEAR("real lap", lab_s(done->entry.lap_us[SIDE_REAL]), 5.0, 0, 1e-9);
    CHECK_NEAR("virtual lap", lab_s(done->entry.lap_us[SIDE_VIRTUAL]), 5.2, 0, 1e-9);
    CHECK_INT("one move is learnt from",
              pair_moves(lab_pair(s.lab, 0), &s.params[0], SIDE_REAL, moves, t_us), 1);
    CHECK_INT("the one that was made", t_us[0], AT(1));
    CHECK_INT("no alarm", script_count(&s, EFFECT_ALARM), 0);
    script_close(&s);
}

/* Those that there is no room for are counted: that the others agree does not hold for them. */
static void test_values_left_out(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        struct event e = script_event("r1", AT(2 + (double)side), EVENT_REPLY, side);
        (void)snprintf(e.reply.id, sizeof e.reply.id, "c");
        e.reply.status = DONE;
        e.reply.source_us = e.reply.source_start_us = LAB_TIME_NONE;
        e.reply.values_omitted = 5;
        e.reply.value_count = PAIR_VALUES_MAX + 3;
        for (size_t k = 0; k < e.reply.value_count; k++) {
            e.reply.values[k] = (struct event_value){.place = k + 1, .kind = VALUE_NUMBER};
        }
        if (side == SIDE_REAL) {
            script_command(&s, "r1", AT(1), "c");
        }
        lab_step(s.lab, &e, &s.fx);
    }
    CHECK_INT("entry", script_count(&s, EFFECT_ENTRY), 1);
    CHECK_INT("of both", lab_pair(s.lab, 0)->counts.values_omitted, 5 + 3 + 5);
    script_close(&s);
}

static void test_alarm_rate(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    struct event e = script_event("r1", AT(0), EVENT_MALFORMED, SIDE_COUNT);
    for (int k = 0; k < 1000; k++) {
        e.t_us = AT(k * 0.001);
        lab_step(s.lab, &e, &s.fx);
    }
    CHECK_INT("all are counted", lab_pair(s.lab, 0)->counts.alarm[ALARM_TYPE_MALFORMED], 1000);
    CHECK_INT("a burst is recorded", s.count, 20);
    e.t_us = AT(100);
    lab_step(s.lab, &e, &s.fx);
    CHECK_INT("and how many were left out", s.effect[20].alarm.suppressed, 980);
    script_close(&s);
}

static void test_calibration(void)
{
    static struct script s;
    char id[16];
    script_init(&s, 1);
    s.params[0].window = 20;
    script_open(&s);
    for (int k = 0; k < 60; k++) {
        (void)snprintf(id, sizeof id, "c%d", k);
        script_command(&s, "r1", AT(k * 20), id);
        script_reply(&s, "r1", AT(k * 20 + 4), SIDE_REAL, id, DONE);
        if (k % 10 != 9) { /* every tenth times out on the virtual side */
            script_reply(&s, "r1", AT(k * 20 + 5), SIDE_VIRTUAL, id,
                         k % 10 == 8 ? REPLY_ERROR : DONE);
        }
    }
    script_tick(&s, AT(2000));
    const struct pair *pair = lab_pair(s.lab, 0);
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    CHECK_INT("real moves", pair->side[SIDE_REAL].moves, 60);
    CHECK_INT("virtual moves", pair->side[SIDE_VIRTUAL].moves, 48);
    CHECK_INT("excluded and counted", pair->side[SIDE_VIRTUAL].moves_excluded, 12);
    CHECK_INT("window", pair_moves(pair, &s.params[0], SIDE_REAL, moves, t_us), 20);
    CHECK_NEAR("lap", moves[19].lap_s, 4.0, 1e-6, 0);
    CHECK_INT("window", pair_moves(pair, &s.params[0], SIDE_VIRTUAL, moves, t_us), 16);
    CHECK_INT("published every 5", script_count(&s, EFFECT_CALIBRATION), 12);
    CHECK_INT("and for the history", script_count(&s, EFFECT_HISTORY), 12);
    script_close(&s);
}

/* Fits for the history come every 20 s in the beginning, and once an hour in the end. */
static void test_history(void)
{
    static struct script s;
    static const struct {
        const char *row;
        int until_s, every_s; /* moves */
        double fits, more_or_less;
    } rows[] = {
        /* Gaps of 20 s until they are a 64th of the time, which is after 1280 s; then
         * 64 ln(t / 1280). */
        {"20 minutes", 1280, 1, 64, 2},
        {"an hour", 3600, 1, 66, 4},
        {"a day", 86400, 10, 203, 8},
        {"two more days", 3 * 86400, 10, 63 + 8, 4},
    };
    double before = 0.0;
    int t_s = 0;
    script_init(&s, 1);
    s.params[0].publish_every = 1;
    script_open(&s);
    const struct pair *pair = lab_pair(s.lab, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (; t_s < rows[i].until_s; t_s += rows[i].every_s) {
            char id[16];
            (void)snprintf(id, sizeof id, "c%d", t_s);
            script_command(&s, "r1", AT(t_s), id);
            script_reply(&s, "r1", AT(t_s + 0.4), SIDE_REAL, id, DONE);
            script_reply(&s, "r1", AT(t_s + 0.5), SIDE_VIRTUAL, id, DONE);
        }
        const double fits = (double)pair->history / 2.0; /* numbered for both sides */
        CHECK_NEAR(rows[i].row, fits - before, rows[i].fits, 0, rows[i].more_or_less);
        before = fits;
    }
    script_close(&s);
}

/* A robot that says that its move waits does not time out; a silent one does. */
static void test_pause(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    struct event e = script_event("r1", AT(0), EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry.source_us = LAB_TIME_NONE;
    e.telemetry.seq = -1;
    script_command(&s, "r1", AT(1), "c1");
    script_reply(&s, "r1", AT(2), SIDE_VIRTUAL, "c1", REPLY_DONE);
    for (int second = 0; second < 30; second++) {
        e.t_us = AT(second);
        e.telemetry.paused = second >= 5 && second < 25;
        lab_step(s.lab, &e, &s.fx);
    }
    CHECK_INT("19 s do not count", lab_pair(s.lab, 0)->outstanding, 1);
    script_tick(&s, AT(29.999));
    CHECK_INT("until 1 + 10 + 19 s", lab_pair(s.lab, 0)->outstanding, 1);
    script_tick(&s, AT(30.001));
    CHECK_INT("then it times out", lab_pair(s.lab, 0)->counts.verdict[VERDICT_TIMEOUT], 1);

    script_command(&s, "r1", AT(40), "c2");
    e.telemetry.paused = 1;
    e.t_us = AT(41);
    lab_step(s.lab, &e, &s.fx);
    e.t_us = AT(48);
    lab_step(s.lab, &e, &s.fx);
    script_tick(&s, AT(51.999));
    CHECK_INT("a gap counts 2 s", lab_pair(s.lab, 0)->counts.verdict[VERDICT_TIMEOUT], 1);
    script_tick(&s, AT(52.001));
    CHECK_INT("no more", lab_pair(s.lab, 0)->counts.verdict[VERDICT_TIMEOUT], 2);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair", NULL, NULL);
    CU_add_test(suite, "observe", test_observe);
    CU_add_test(suite, "history", test_history);
    CU_add_test(suite, "without ids", test_without_ids);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "overflow", test_overflow);
    CU_add_test(suite, "saved", test_saved);
    CU_add_test(suite, "room", test_room);
    CU_add_test(suite, "link overflow", test_link_overflow);
    CU_add_test(suite, "link malformed", test_link_malformed);
    CU_add_test(suite, "link alarms", test_link_alarms);
    CU_add_test(suite, "reported", test_reported);
    CU_add_test(suite, "machine times", test_machine_times);
    CU_add_test(suite, "connection", test_connection);
    CU_add_test(suite, "ignored without id", test_ignored_without_id);
    CU_add_test(suite, "values left out", test_values_left_out);
    CU_add_test(suite, "alarm rate", test_alarm_rate);
    CU_add_test(suite, "calibration", test_calibration);
    CU_add_test(suite, "a pause", test_pause);
    return check_run();
}
