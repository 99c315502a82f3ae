/* The traces of the real/virtual link and the smart logger that the seeds define: command at
 * cycle 0, replies R and V, time-out at 10 cycles. One cycle is one second here. */
#include "tests/support/lab_script.h"

#define CYCLE(k) ((int64_t)(k)*1000000 + 1000000000)

struct trace {
    const char *row;
    int real, virtual; /* cycle of the reply; -1: none; later than the time-out: late */
    enum reply_status real_status, virtual_status;
    bool real_absent;
    enum verdict verdict;
    int real_lap, virtual_lap; /* cycles; -1: none */
    int answered_at;           /* cycle of the reply to L1 */
    const char *answer;        /* piece of it */
    double d;                  /* D: cycles the virtual robot lagged */
    const char *alarm;         /* its code; "": none */
    enum side alarm_side;
};

#define DONE REPLY_DONE
#define NONE ""
static const struct trace traces[] = {
    {"a: virtual first", 7, 4, DONE, DONE, false, VERDICT_AHEAD, 7, 4, 7, "\"from\":\"real\"",
     0, NONE, SIDE_COUNT},
    {"b: real first", 3, 6, DONE, DONE, false, VERDICT_BEHIND, 3, 6, 3, "\"from\":\"real\"", 3,
     NONE, SIDE_COUNT},
    {"c: simultaneous", 5, 5, DONE, DONE, false, VERDICT_SYNC, 5, 5, 5, "\"from\":\"real\"", 0,
     NONE, SIDE_COUNT},
    {"d: inconsistent", 5, 3, REPLY_BLOCKED, DONE, false, VERDICT_AHEAD, 5, 3, 5,
     "\"status\":\"blocked\",\"who\":\"real\",\"consistent\":false,"
     "\"differs\":\"status: real blocked, virtual done\",\"from\":\"real\"}",
     0, "replies_differ", SIDE_COUNT},
    {"inconsistent, and L1 has its reply", 3, 5, DONE, REPLY_HALTED, false, VERDICT_BEHIND, 3,
     5, 3, "\"status\":\"done\",\"who\":\"real\",\"from\":\"real\"}", 2, "replies_differ",
     SIDE_COUNT},
    {"e: real silent", 12, 4, DONE, DONE, false, VERDICT_TIMEOUT, -1, 4, 10,
     "\"status\":\"error\"", 0, "no_reply", SIDE_REAL},
    {"f: twin silent", 3, -1, DONE, DONE, false, VERDICT_TIMEOUT, 3, -1, 3, "\"from\":\"real\"",
     7, "no_reply", SIDE_VIRTUAL},
    {"g: virtual only", -1, 4, DONE, DONE, true, VERDICT_VIRTUAL_ONLY, -1, 4, 4,
     "\"from\":\"virtual\"", 0, NONE, SIDE_COUNT},
    {"both silent", -1, -1, DONE, DONE, false, VERDICT_TIMEOUT, -1, -1, 10,
     "\"status\":\"error\"", 0, "no_reply", SIDE_REAL},
};

static int64_t lap_us(int cycles)
{
    return cycles < 0 ? LAB_TIME_NONE : (int64_t)cycles * 1000000;
}

static void play_trace(struct script *s, const struct trace *t)
{
    script_command(s, "r1", CYCLE(0), "c1");
    for (int k = 1; k <= 14; k++) {
        if (t->real == k) {
            script_reply(s, "r1", CYCLE(k), SIDE_REAL, "c1", t->real_status);
        }
        if (t->virtual == k) {
            script_reply(s, "r1", CYCLE(k), SIDE_VIRTUAL, "c1", t->virtual_status);
        }
    }
    script_tick(s, CYCLE(20));
}

/* L1 gets a notice of an inconsistency when it is found, with or without its reply. */
static void check_notice(const struct trace *t, const struct script *s)
{
    const struct script_effect *notice = script_find(s, EFFECT_NOTICE, 0);
    const struct script_effect *entry = script_find(s, EFFECT_ENTRY, 0);
    CHECK_INT(t->row, script_count(s, EFFECT_NOTICE), strcmp(t->alarm, "replies_differ") == 0);
    if (notice && entry) {
        char want[ENTRY_DIFFERS_MAX + 64];
        (void)snprintf(want, sizeof want, "\"consistent\":false,\"differs\":\"%s\"}",
                       entry->entry.differs);
        CHECK_INT(t->row, notice->t_us, CYCLE(t->real > t->virtual ? t->real : t->virtual));
        CHECK(t->row, strstr(notice->payload, "{\"id\":\"c1\",\"t\":") == notice->payload);
        CHECK(notice->payload, strstr(notice->payload, want) != NULL);
    }
}

static void check_trace(const struct trace *t)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    s.params[0].timeout_us = 10000000;
    s.params[0].link_cycle_us = 1000000;
    s.params[0].expected[SIDE_REAL] = t->real_absent ? PAIR_NEVER : PAIR_ALWAYS;
    script_open(&s);
    play_trace(&s, t);

    CHECK_INT(t->row, script_count(&s, EFFECT_ENTRY), 1);
    const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
    if (entry) {
        CHECK_TEXT(t->row, verdict_name(entry->entry.verdict), verdict_name(t->verdict));
        CHECK_INT(t->row, entry->entry.lap_us[SIDE_REAL], lap_us(t->real_lap));
        CHECK_INT(t->row, entry->entry.lap_us[SIDE_VIRTUAL], lap_us(t->virtual_lap));
        CHECK_INT(t->row, entry->entry.t_us, CYCLE(0));
    }
    CHECK_INT(t->row, script_count(&s, EFFECT_REPLY), 1);
    const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
    if (reply) {
        CHECK_INT(t->row, reply->t_us, CYCLE(t->answered_at));
        if (!strstr(reply->payload, t->answer)) {
            CHECK_TEXT(t->row, reply->payload, t->answer);
        }
    }
    /* The command was broadcast, except to a robot that is not there. */
    CHECK_INT(t->row, script_count(&s, EFFECT_COMMAND), t->real_absent ? 1 : 2);
    CHECK_NEAR(t->row, lab_pair(s.lab, 0)->link_lag_cycles, t->d, 0, 0);
    const struct script_effect *alarm = script_find(&s, EFFECT_ALARM, 0);
    CHECK_TEXT(t->row, script_alarm(&s, 0), t->alarm);
    if (alarm) {
        CHECK_INT(t->row, alarm->alarm.side, t->alarm_side);
    }
    check_notice(t, &s);
    script_close(&s);
}

static void test_traces(void)
{
    for (size_t i = 0; i < COUNT(traces); i++) {
        check_trace(&traces[i]);
    }
}

/* Trace e continues: the real robot's reply at cycle 12 finds its command closed. */
static void test_late_reply(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    script_open(&s);
    play_trace(&s, &traces[5]);
    const struct script_effect *late = script_find(&s, EFFECT_ALARM, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(late);
    CHECK_TEXT("late", late->alarm.code, "reply_after_close");
    CHECK_INT("late", late->t_us, CYCLE(12));
    CHECK_INT("alarms", script_count(&s, EFFECT_ALARM), 2);
    script_close(&s);
}

/* h: a command that comes while the robots are busy waits, and is not dropped. */
static void test_busy(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    script_open(&s);
    script_command(&s, "r1", CYCLE(0), "c1");
    script_command(&s, "r1", CYCLE(2), "c2");
    CHECK_INT("only the first is sent", script_count(&s, EFFECT_COMMAND), 2);
    script_reply(&s, "r1", CYCLE(4), SIDE_REAL, "c1", REPLY_DONE);
    CHECK_INT("the real robot gets the next", script_count(&s, EFFECT_COMMAND), 3);
    CHECK_INT("side", script_find(&s, EFFECT_COMMAND, 2)->side, SIDE_REAL);
    script_reply(&s, "r1", CYCLE(5), SIDE_VIRTUAL, "c1", REPLY_DONE);
    CHECK_INT("and the virtual one", script_count(&s, EFFECT_COMMAND), 4);
    script_reply(&s, "r1", CYCLE(6), SIDE_REAL, "c2", REPLY_DONE);
    script_reply(&s, "r1", CYCLE(7), SIDE_VIRTUAL, "c2", REPLY_DONE);
    const struct script_effect *second = script_find(&s, EFFECT_ENTRY, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CHECK_TEXT("id", second->entry.id, "c2");
    CHECK_INT("lap from its sending", second->entry.lap_us[SIDE_REAL], 2000000);
    CHECK_INT("wait", second->entry.wait_us[SIDE_REAL], 2000000);
    CHECK_INT("wait", second->entry.wait_us[SIDE_VIRTUAL], 3000000);
    CHECK_INT("both done", script_count(&s, EFFECT_REPLY), 2);
    CHECK_INT("no alarm", script_count(&s, EFFECT_ALARM), 0);
    CHECK_INT("nothing left", lab_pair(s.lab, 0)->outstanding, 0);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("link and smart logger", NULL, NULL);
    CU_add_test(suite, "traces", test_traces);
    CU_add_test(suite, "late reply", test_late_reply);
    CU_add_test(suite, "busy", test_busy);
    return check_run();
}
