/* A halt in link mode: it overtakes, and what waits behind the move that it ends is not sent.
 */
#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

/* A halt queued behind the move that it is meant to end would end nothing. */
static void test_link_halt(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    s.params[0].queue_max = 1;
    script_open(&s);
    script_command(&s, "r1", AT(0), "a");
    script_command(&s, "r1", AT(0.1), "b");
    script_clear(&s);
    script_command_op(&s, "r1", AT(0.2), "h", "halt");
    CHECK_INT("sent to both at once, full queues or not", script_count(&s, EFFECT_COMMAND), 2);
    CHECK("the halt", strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, "halt") != NULL);
    script_clear(&s);
    script_reply(&s, "r1", AT(0.3), SIDE_REAL, "h", REPLY_DONE);
    CHECK_INT("L1 gets a reply", script_count(&s, EFFECT_REPLY), 1);
    CHECK_INT("a is open still", script_count(&s, EFFECT_COMMAND), 0);
    script_clear(&s);
    script_reply(&s, "r1", AT(0.4), SIDE_REAL, "a", REPLY_HALTED);
    script_reply(&s, "r1", AT(0.5), SIDE_VIRTUAL, "a", REPLY_HALTED);
    script_reply(&s, "r1", AT(0.6), SIDE_VIRTUAL, "h", REPLY_DONE);
    CHECK_INT("both are closed", script_count(&s, EFFECT_ENTRY), 2);
    CHECK_INT("b is never sent", script_count(&s, EFFECT_COMMAND), 0);
    script_command(&s, "r1", AT(1), "c");
    CHECK_INT("the next one is", script_count(&s, EFFECT_COMMAND), 2);
    script_close(&s);
}

/* A command that waits when a halt comes would restart the robot: it is answered, and not
 * sent. */
static void test_link_halt_withdraws(void)
{
    static const struct {
        const char *name;
        bool absent[SIDE_COUNT];
        int answered; /* the side that is through with a, and at work on b, when the halt comes;
                         -1 */
        const char *verdict, *from;
    } rows[] = {
        {"b waits for both", {false, false}, -1, "HALTED", "tandem"},
        {"the virtual robot is at b", {false, false}, SIDE_VIRTUAL, "VIRTUAL_ONLY", "tandem"},
        {"the real robot is at b", {false, false}, SIDE_REAL, "REAL_ONLY", "real"},
        {"no real robot", {true, false}, -1, "HALTED", "tandem"},
        {"no virtual robot", {false, true}, -1, "HALTED", "tandem"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].mode = PAIR_LINK;
        for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
            s.params[0].expected[side] = rows[r].absent[side] ? PAIR_NEVER : PAIR_ALWAYS;
        }
        script_open(&s);
        script_command(&s, "r1", AT(0), "a");
        script_command(&s, "r1", AT(0.1), "b");
        if (rows[r].answered >= 0) {
            script_reply(&s, "r1", AT(0.15), (enum side)rows[r].answered, "a", REPLY_DONE);
        }
        script_clear(&s);
        script_command_op(&s, "r1", AT(0.2), "h", "halt");
        if (rows[r].answered >= 0) { /* b's machines wait for the robot that has it */
            script_reply(&s, "r1", AT(0.3), (enum side)rows[r].answered, "b", REPLY_HALTED);
        }
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CHECK_INT(rows[r].name, script_count(&s, EFFECT_ENTRY), 1);
        CHECK_TEXT(rows[r].name, entry ? verdict_name(entry->entry.verdict) : "",
                   rows[r].verdict);
        CHECK_TEXT(rows[r].name, entry ? entry->entry.id : "", "b");
        const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
        CHECK_INT(rows[r].name, script_count(&s, EFFECT_REPLY), 1);
        CHECK(rows[r].name, reply && strstr(reply->payload, "\"id\":\"b\""));
        CHECK(rows[r].name, reply && strstr(reply->payload, "\"status\":\"halted\""));
        CHECK(rows[r].name, reply && strstr(reply->payload, rows[r].from));
        for (size_t k = 0; k < script_count(&s, EFFECT_COMMAND); k++) {
            CHECK(rows[r].name, strstr(script_find(&s, EFFECT_COMMAND, k)->payload, "halt"));
        }
        script_close(&s);
    }
}

/* The virtual robot has answered b before the real one got it. */
static void test_link_halt_after_answer(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    script_open(&s);
    script_command(&s, "r1", AT(0), "a");
    script_command(&s, "r1", AT(0.1), "b");
    script_reply(&s, "r1", AT(0.2), SIDE_VIRTUAL, "a", REPLY_DONE);
    script_reply(&s, "r1", AT(0.3), SIDE_VIRTUAL, "b", REPLY_DONE);
    script_clear(&s);
    script_command_op(&s, "r1", AT(0.4), "h", "halt");
    CHECK_INT("an entry", script_count(&s, EFFECT_ENTRY), 1);
    const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
    CHECK("the real robot got nothing", reply && strstr(reply->payload, "\"from\":\"tandem\""));
    script_clear(&s);
    script_reply(&s, "r1", AT(0.5), SIDE_REAL, "b", REPLY_DONE);
    CHECK_TEXT("it was not asked", script_alarm(&s, 0), "reply_unasked");
    CHECK_INT("once", script_count(&s, EFFECT_ALARM), 1);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair_halt", NULL, NULL);
    CU_add_test(suite, "overtakes", test_link_halt);
    CU_add_test(suite, "withdraws", test_link_halt_withdraws);
    CU_add_test(suite, "after an answer", test_link_halt_after_answer);
    return check_run();
}
