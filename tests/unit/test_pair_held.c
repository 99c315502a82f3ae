/* Replies that were held back on purpose, and moves that must not calibrate. */
#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)((s)*1e6))

/* A robot that repeats its moves T late: clock 500 s behind, 4 s a move, telemetry at 10 Hz. */
static void run_moves(struct script *s, int moves, double held_s, bool uncalibrated)
{
    for (int k = 0; k < moves; k++) {
        char id[16];
        const double begins = 1000.0 + 20.0 * k;
        (void)snprintf(id, sizeof id, "u%d", k);
        for (int i = 0; i < 60; i++) {
            struct event m = script_event("r1", AT(begins - 8.0 + 0.1 * i) + 2000,
                                          EVENT_TELEMETRY, SIDE_REAL);
            m.telemetry.source_us = AT(begins - 508.0 + 0.1 * i);
            m.telemetry.seq = 60 * k + i;
            m.hash = (uint64_t)m.t_us;
            lab_step(s->lab, &m, &s->fx);
        }
        script_command(s, "r1", AT(begins), id);
        struct event real =
            script_reply_event("r1", AT(begins + 4.01), SIDE_REAL, id, REPLY_DONE);
        /* The move ended when the command was sent, 4 s before its reply. */
        real.reply.source_start_us = AT(begins - 504.0);
        real.reply.source_us = AT(begins - 500.0);
        real.reply.held_s = held_s;
        real.reply.uncalibrated = uncalibrated;
        struct event virtual = script_reply_event("r1", AT(begins + 4.02), SIDE_VIRTUAL, id,
                                                  REPLY_DONE);
        virtual.reply.source_start_us = AT(begins + 0.01);
        virtual.reply.source_us = AT(begins + 4.01);
        lab_step(s->lab, &real, &s->fx);
        lab_step(s->lab, &virtual, &s->fx);
    }
}

static void test_held(void)
{
    static const struct {
        double held_s;
        enum verdict verdict;
        double transport_s;
    } rows[] = {{4.0, VERDICT_SYNC, 0.008}, {0.0, VERDICT_SYNC, 4.008}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        script_open(&s);
        run_moves(&s, 12, rows[i].held_s, false);
        const struct script_effect *last = script_find(&s, EFFECT_ENTRY, 11);
        CU_ASSERT_PTR_NOT_NULL_FATAL(last);
        const struct entry *e = &last->entry;
        CHECK_INT("verdict", e->verdict, rows[i].verdict);
        CHECK_NEAR("motion", lab_s(e->motion_us[SIDE_REAL]), 4.0, 0.0, 1e-6);
        CHECK_NEAR("transport", lab_s(e->transport_us[SIDE_REAL]), rows[i].transport_s, 0.0,
                   0.02);
        CHECK_INT("calibrates", lab_pair(s.lab, 0)->side[SIDE_REAL].moves, 12);
        script_close(&s);
    }
}

static void test_uncalibrated(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    run_moves(&s, 5, 4.0, true);
    const struct pair *pair = lab_pair(s.lab, 0);
    CHECK_INT("real", pair->side[SIDE_REAL].moves, 0);
    CHECK_INT("left out", pair->side[SIDE_REAL].moves_excluded, 5);
    CHECK_INT("virtual", pair->side[SIDE_VIRTUAL].moves, 5);
    const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    CHECK_INT("still judged", entry->entry.verdict, VERDICT_SYNC);
    CHECK_INT("and compared", entry->entry.consistency, CONSISTENT);
    script_close(&s);
}

static void test_reason(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    struct event e = script_event("r1", AT(1), EVENT_CONNECTION, SIDE_REAL);
    e.connection.online = true;
    e.connection.source_us = LAB_TIME_NONE;
    lab_step(s.lab, &e, &s.fx);
    e.t_us = AT(2);
    e.connection.online = false;
    (void)snprintf(e.connection.reason, sizeof e.connection.reason, "protective stop");
    lab_step(s.lab, &e, &s.fx);
    const struct script_effect *alarm = script_find(&s, EFFECT_ALARM, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(alarm);
    CHECK_TEXT("code", alarm->alarm.code, "robot_offline");
    CHECK_INT("side", alarm->alarm.side, SIDE_REAL);
    CHECK("why", strstr(alarm->alarm.detail, "protective stop"));
    script_close(&s);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("pair_held", NULL, NULL);
    CU_ADD_TEST(suite, test_held);
    CU_ADD_TEST(suite, test_uncalibrated);
    CU_ADD_TEST(suite, test_reason);
    return check_run();
}
