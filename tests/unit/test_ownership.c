/* The random runs of test_ownership_property do not show who waits how long, which alarm is
 * raised, and what is refused: this does. */
#include "tests/support/check.h"

#include "service/engine/ownership.h"

static const struct ownership_params params = {
    .renew_us = 300, .safe_us = 1000, .take_us = 1500, .follow_us = 50};

static struct ownership ownership;
static struct ownership_actions actions;
static int64_t now_us, own_n, tokens;
static struct fence_row row; /* what reads find */

static void send_event(enum ownership_event_kind kind, const struct fence_result *result)
{
    struct ownership_event event = {
        .kind = kind, .boot_us = now_us, .lab_us = now_us, .own_n = own_n, .follower_n = own_n};
    event.result = result ? *result : (struct fence_result){0};
    (void)snprintf(event.fresh.text, sizeof event.fresh.text, "%d", (int)++tokens);
    ownership_step(&ownership, &params, &event, &actions);
}

static void send_result(enum fence_answer answer, bool durable, bool same)
{
    send_event(OWNERSHIP_RESULT,
               &(struct fence_result){answer, .row = row, .durable = durable, .same = same});
}

static void start_follower(int64_t lines)
{
    now_us = 0;
    own_n = lines;
    row = (struct fence_row){.lease = {"other"}, .epoch = 3, .beat = 7, .n = 10};
    CHECK_INT("init", ownership_init(&ownership, &params, own_n), STATUS_OK);
}

/* Follows until it takes, or for `longest`. Returns the time that it took, or -1. */
static int64_t follow(int64_t longest_us, bool durable)
{
    for (const int64_t from_us = now_us; now_us - from_us <= longest_us; now_us += 50) {
        send_event(OWNERSHIP_TICK, NULL);
        if (actions.request.statement == FENCE_FOLLOW) {
            own_n = own_n < row.n ? row.n : own_n;
            send_result(FENCE_ROW, durable, true);
        }
        if (actions.request.statement == FENCE_TAKE) {
            return now_us - from_us;
        }
    }
    return -1;
}

static void own_partition(void)
{
    start_follower(10);
    CHECK_INT("own", follow(3000, true), 1500);
    row.lease = ownership.request.next;
    row.epoch++;
    send_result(FENCE_ROW, true, true);
    CHECK_INT("own", actions.request.statement, FENCE_FOLLOW);
    send_result(FENCE_ROW, true, true);
    CHECK_INT("own", actions.request.source, FENCE_TAKE_LINE);
    CHECK_INT("own", actions.open_mqtt, false);
    row.n++;
    own_n++;
    send_result(FENCE_ROW, true, true);
    CHECK_INT("own", ownership.state, OWNERSHIP_OWNING);
    CHECK_INT("own", actions.open_mqtt, true);
    CHECK_INT("own", actions.durable, 1);
}

static void test_ranges(void)
{
    static const struct ownership_params bad[] = {
        {0, 1000, 1500, 50}, {300, 300, 1500, 50}, {300, 1000, 1000, 50}, {300, 1000, 1500, 0}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT("range", ownership_init(&ownership, &bad[i], 0), STATUS_E_ARG);
    }
    CHECK_INT("range", ownership_init(&ownership, &params, -1), STATUS_E_ARG);
}

static void test_who_waits(void)
{
    start_follower(10);
    CHECK_INT("silent owner", follow(3000, true), 1500);
    start_follower(0);
    CHECK_INT("far behind", follow(3000, true), 1500);
    start_follower(10);
    row.released = true;
    CHECK_INT("released", follow(3000, true), 1000);
    start_follower(12);
    CHECK_INT("more lines than the database", follow(4000, true), 3000);
    CHECK_INT("it appends them", actions.request.refill, true);
    start_follower(10);
    CHECK_INT("no standby", follow(5000, false), -1);

    start_follower(10);
    CHECK_INT("back to a released row", follow(1400, true), -1);
    row = (struct fence_row){.lease = {"before"}, .epoch = 2, .n = 10, .released = true};
    CHECK_INT("back to a released row", follow(3000, true), 1000);

    start_follower(10);
    CHECK_INT("a pause", follow(1400, true), -1);
    now_us += 5000; /* the owner could not write either */
    CHECK_INT("a pause", follow(3000, true), 1500);

    start_follower(10);
    CHECK_INT("a failed read", follow(1400, true), -1);
    send_event(OWNERSHIP_TICK, NULL);
    send_result(FENCE_FAILED, false, false);
    now_us += 50;
    CHECK_INT("a failed read", follow(3000, true), 1500);
}

static void test_alarms(void)
{
    start_follower(10);
    send_event(OWNERSHIP_TICK, NULL);
    send_result(FENCE_ROW, true, false);
    CHECK_INT("differ", actions.alarm, OWNERSHIP_LINES_DIFFER);
    CHECK_INT("differ", ownership.state, OWNERSHIP_STOPPED);

    own_partition();
    now_us += 400;
    send_event(OWNERSHIP_TICK, NULL);
    CHECK_INT("beat", actions.request.statement, FENCE_WRITE);
    send_result(FENCE_ROW, false, true);
    CHECK_INT("no standby", actions.alarm, OWNERSHIP_NOT_DURABLE);
    CHECK_INT("no standby", actions.request.statement, FENCE_ASK);
    CHECK("may send", ownership_may_send(&ownership, &params, now_us, LAB_TIME_NONE));
    now_us += 1000;
    CHECK("safe_us later", !ownership_may_send(&ownership, &params, now_us, LAB_TIME_NONE));

    /* The owner asks, and each answer leads elsewhere. */
    static const struct {
        const char *name;
        enum fence_answer answer;
        int64_t epoch, n;
        enum ownership_alarm alarm;
        enum ownership_state state;
    } answers[] = {
        {"mine", FENCE_ROW, 4, 11, OWNERSHIP_QUIET, OWNERSHIP_OWNING},
        {"a higher epoch", FENCE_NO_ROW, 5, 11, OWNERSHIP_TAKEN_FROM_US, OWNERSHIP_LOST},
        {"the same epoch", FENCE_NO_ROW, 4, 11, OWNERSHIP_WENT_BACK, OWNERSHIP_LOST},
        {"fewer lines", FENCE_ROW, 4, 9, OWNERSHIP_WENT_BACK, OWNERSHIP_LOST},
        {"lines of nobody", FENCE_ROW, 4, 12, OWNERSHIP_LINES_DIFFER, OWNERSHIP_STOPPED},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        own_partition();
        now_us += 400;
        send_event(OWNERSHIP_TICK, NULL);
        send_result(FENCE_FAILED, false, false);
        CHECK_INT(answers[i].name, actions.request.statement, FENCE_ASK);
        row.epoch = answers[i].epoch;
        row.n = answers[i].n;
        send_result(answers[i].answer, true, true);
        CHECK_INT(answers[i].name, actions.alarm, answers[i].alarm);
        CHECK_INT(answers[i].name, ownership.state, answers[i].state);
        CHECK_INT(answers[i].name, actions.close_mqtt, answers[i].state != OWNERSHIP_OWNING);
    }
}

/* Lines in doubt count as stored only if they are those that were written. */
static void test_doubt(void)
{
    for (int same = 0; same < 2; same++) {
        own_partition();
        struct ownership_event event = {
            .boot_us = now_us, .lab_us = now_us, .own_n = own_n, .waiting = 2};
        ownership_step(&ownership, &params, &event, &actions);
        CHECK_INT("written", actions.request.lines, 2);
        send_result(FENCE_FAILED, false, false);
        CHECK_INT("in doubt", actions.request.lines, 2);
        row.n += 2;
        send_result(FENCE_ROW, true, same != 0);
        CHECK_INT("stored", actions.durable, same ? 2 : 0);
        CHECK_INT("stored", ownership.state, same ? OWNERSHIP_OWNING : OWNERSHIP_STOPPED);
    }
}

static void test_hand_over(void)
{
    own_partition();
    own_n = 11 - FENCE_LINES_MAX - 1;
    send_event(OWNERSHIP_HAND_OVER, NULL);
    CHECK_INT("nobody near", actions.alarm, OWNERSHIP_NO_FOLLOWER);
    CHECK_INT("nobody near", ownership.state, OWNERSHIP_OWNING);

    own_partition();
    send_event(OWNERSHIP_HAND_OVER, NULL);
    CHECK_INT("yield", actions.close_mqtt, true);
    CHECK_INT("yield", actions.request.statement, FENCE_YIELD);
    CHECK("nothing after it", !ownership_may_send(&ownership, &params, now_us, LAB_TIME_NONE));
    row.released = true;
    send_result(FENCE_ROW, true, true);
    CHECK_INT("yield", ownership.state, OWNERSHIP_LOST);
    send_event(OWNERSHIP_ROLLED_BACK, NULL);
    send_result(FENCE_ROW, true, true);
    CHECK_INT("others come first", follow(1400, true), -1);
    CHECK("but somebody must", follow(1400, true) >= 0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ownership", NULL, NULL);
    CU_add_test(suite, "ranges", test_ranges);
    CU_add_test(suite, "who waits", test_who_waits);
    CU_add_test(suite, "alarms", test_alarms);
    CU_add_test(suite, "doubt", test_doubt);
    CU_add_test(suite, "hand over", test_hand_over);
    return check_run();
}
