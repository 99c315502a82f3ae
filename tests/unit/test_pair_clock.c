/* Effects of the robots' clocks, their rate and the delays of messages on entries. */
#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)
#define DONE  REPLY_DONE

static void send_telemetry(struct script *s, int64_t t_us, int64_t source_us, int64_t seq,
                           const char *boot)
{
    struct event e = script_event("r1", t_us, EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry.source_us = source_us;
    e.telemetry.seq = seq;
    (void)snprintf(e.telemetry.boot, sizeof e.telemetry.boot, "%s", boot);
    lab_step(s->lab, &e, &s->fx);
}

static void test_telemetry(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    const struct pair_side *real = &lab_pair(s.lab, 0)->side[SIDE_REAL];
    send_telemetry(&s, AT(0), LAB_TIME_NONE, 5, "x");
    send_telemetry(&s, AT(1), LAB_TIME_NONE, 6, "x");
    send_telemetry(&s, AT(2), LAB_TIME_NONE, 10, "x");
    send_telemetry(&s, AT(3), LAB_TIME_NONE, 9, "x");
    CHECK_INT("gap", real->seq_missing, 3);
    CHECK_INT("no alarm", s.count, 0);
    send_telemetry(&s, AT(4), LAB_TIME_NONE, 0, "y");
    CHECK_TEXT("reboot", script_alarm(&s, 0), "boot_changed");
    CHECK_INT("seq restarts", real->seq_missing, 3);
    send_telemetry(&s, AT(5), LAB_TIME_NONE, 0, "y");
    CHECK_INT("the same boot is none", script_count(&s, EFFECT_ALARM), 1);
    script_close(&s);

    script_init(&s, 1);
    script_open(&s);
    send_telemetry(&s, AT(0), LAB_TIME_NONE, 500, "");
    send_telemetry(&s, AT(1), LAB_TIME_NONE, 0, "");
    CHECK_TEXT("without a boot mark", script_alarm(&s, 0), "seq_restarted");
    script_close(&s);
}

/* A robot whose clock is 5 s ahead and whose messages take 10 to 30 ms; its reply takes 200 ms.
 * The lag of 0.19 s is the network's, and the verdict is that of the robots. */
static void test_network_lag(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    for (int k = 0; k < 400; k++) {
        send_telemetry(&s, AT(k * 0.1 + 0.010 + 0.005 * (k % 5)), AT(k * 0.1 + 5.0), k, "x");
    }
    CHECK_INT("no alarm", s.count, 0);
    script_command(&s, "r1", AT(50), "c");
    script_reply(&s, "r1", AT(51.010), SIDE_VIRTUAL, "c", DONE);
    struct event e = script_reply_event("r1", AT(51.2), SIDE_REAL, "c", DONE);
    e.reply.source_us = AT(51.0 + 5.0);
    e.reply.source_start_us = AT(50.0 + 5.0);
    lab_step(s.lab, &e, &s.fx);
    const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    CHECK_NEAR("lag", lab_s(entry->entry.lag_us), 0.19, 0, 1e-9);
    CHECK_NEAR("motion", lab_s(entry->entry.motion_us[SIDE_REAL]), 1.0, 0, 1e-9);
    CHECK_NEAR("transport", lab_s(entry->entry.transport_us[SIDE_REAL]), 0.19, 0, 0.01);
    CHECK_TEXT("verdict", verdict_name(entry->entry.verdict), "SYNC");
    CHECK_NEAR("explained", lab_s(entry->entry.lag_uncertainty_us), 0.19, 0, 0.01);

    /* The same lag with a prompt reply is the robot's. */
    script_clear(&s);
    script_command(&s, "r1", AT(60), "d");
    script_reply(&s, "r1", AT(61.010), SIDE_VIRTUAL, "d", DONE);
    e = script_reply_event("r1", AT(61.2), SIDE_REAL, "d", DONE);
    e.reply.source_us = AT(61.19 + 5.0);
    lab_step(s.lab, &e, &s.fx);
    entry = script_find(&s, EFFECT_ENTRY, 0);
    CHECK_TEXT("verdict", entry ? verdict_name(entry->entry.verdict) : "", "AHEAD");
    script_close(&s);
}

/* A robot whose telemetry comes up to 0.5 s late, and whose reply has no send time. */
static void test_unresolved(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    for (int k = 0; k < 400; k++) {
        send_telemetry(&s, AT(k * 0.1 + 0.1 * (k % 5)), AT(k * 0.1 - 0.01 * (k % 5)), k, "x");
    }
    script_command(&s, "r1", AT(50), "c");
    script_reply(&s, "r1", AT(51.01), SIDE_VIRTUAL, "c", DONE);
    script_reply(&s, "r1", AT(51.2), SIDE_REAL, "c", DONE);
    const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    CHECK_TEXT("verdict", verdict_name(entry->entry.verdict), "UNRESOLVED");
    CHECK("hidden", entry->entry.lag_uncertainty_us > entry->entry.lag_us);
    script_close(&s);
}

/* The first move of two robots with unknown clocks. */
static void test_first_move(void)
{
    static const struct {
        const char *row;
        double lap_s[SIDE_COUNT], motion_s[SIDE_COUNT]; /* < 0: not reported */
        enum pair_clock clock;
        const char *verdict;
        double uncertainty_s; /* NaN: not known */
        double judged_s;      /* NaN: the lag of arrivals */
    } rows[] = {
        {"as the motions", {4.0, 3.8}, {3.98, 3.79}, PAIR_CLOCK_WALL, "AHEAD", 0.013885, 0.19},
        {"late by the network",
         {4.3, 4.0},
         {3.99, 3.99},
         PAIR_CLOCK_WALL,
         "SYNC",
         0.30399,
         0.0},
        {"the other way", {4.096, 4.0}, {3.9, 3.94}, PAIR_CLOCK_WALL, "SYNC", 0.13992, -0.04},
        {"no start reported", {4.0, 3.8}, {3.98, -1.0}, PAIR_CLOCK_WALL, "AHEAD", NAN, NAN},
        {"begins a second later",
         {4.0, 5.2},
         {3.9, 3.9},
         PAIR_CLOCK_WALL,
         "BEHIND",
         0.692965,
         NAN},
        {"longer than its lap", {4.0, 3.8}, {4.1, 3.7}, PAIR_CLOCK_WALL, "AHEAD", NAN, NAN},
        {"no time at all", {4.0, 3.8}, {0.0, 3.7}, PAIR_CLOCK_WALL, "AHEAD", NAN, NAN},
        {"simulated time", {4.0, 3.8}, {3.9, 3.9}, PAIR_CLOCK_SIMULATION, "AHEAD", NAN, NAN},
        {"in step", {4.0, 3.98}, {3.98, 3.97}, PAIR_CLOCK_WALL, "SYNC", 0.013975, NAN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].source_clock[SIDE_VIRTUAL] = rows[i].clock;
        script_open(&s);
        script_command(&s, "r1", AT(20), "c");
        for (int k = 0; k < SIDE_COUNT; k++) {
            const bool real = (rows[i].lap_s[SIDE_REAL] < rows[i].lap_s[SIDE_VIRTUAL]) == !k;
            const enum side side = real ? SIDE_REAL : SIDE_VIRTUAL;
            const int64_t t_us = AT(20 + rows[i].lap_s[side]);
            struct event e = script_reply_event("r1", t_us, side, "c", DONE);
            e.reply.source_us = real ? t_us + 5000000 : t_us - 100000000;
            if (rows[i].motion_s[side] >= 0.0) {
                e.reply.source_start_us =
                    e.reply.source_us - (int64_t)llround(1e6 * rows[i].motion_s[side]);
            }
            lab_step(s.lab, &e, &s.fx);
        }
        const struct script_effect *effect = script_find(&s, EFFECT_ENTRY, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(effect);
        const struct entry *entry = &effect->entry;
        CHECK_TEXT(rows[i].row, verdict_name(entry->verdict), rows[i].verdict);
        const int64_t judged_us = entry->judged_lag_us;
        CHECK_NEAR(rows[i].row, judged_us == LAB_TIME_NONE ? 99.0 : lab_s(judged_us),
                   isnan(rows[i].judged_s) ? 99.0 : rows[i].judged_s, 0, 0.2e-6);
        if (isnan(rows[i].uncertainty_s)) {
            CHECK_INT(rows[i].row, entry->lag_uncertainty_us, LAB_TIME_NONE);
        } else {
            CHECK_NEAR(rows[i].row, lab_s(entry->lag_uncertainty_us), rows[i].uncertainty_s, 0,
                       2e-6);
        }
        script_close(&s);
    }
}

static void test_clock_jump(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    for (int k = 0; k < 200; k++) {
        const double jump_s = k < 100 ? 0.0 : 3.0;
        send_telemetry(&s, AT(k * 0.1 + 0.01), AT(k * 0.1 + jump_s), k, "x");
    }
    CHECK_INT("one alarm", script_count(&s, EFFECT_ALARM), 1);
    CHECK_TEXT("jump", script_alarm(&s, 0), "clock_set");
    CHECK("size", strstr(script_find(&s, EFFECT_ALARM, 0)->alarm.detail, "+3.0") != NULL);
    script_close(&s);
}

/* A simulator at 0.8 of real time with the right model: late, with the reason. */
static void test_pace(void)
{
    static const struct {
        const char *row;
        double pace;
        double virtual_lap_s;
        bool simulation_clock; /* by t; else by an explicit sim_t */
        const char *verdict;
        bool explained;
    } rows[] = {
        {"slow simulator, right model", 0.8, 5.0, false, "BEHIND", true},
        {"the same reported by t", 0.8, 5.0, true, "BEHIND", true},
        {"slow simulator, wrong model", 0.8, 7.0, false, "BEHIND", false},
        {"fast simulator", 1.25, 3.2, false, "AHEAD", true},
        {"real time, wrong model", 1.0, 5.0, false, "BEHIND", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].source_clock[SIDE_VIRTUAL] =
            rows[i].simulation_clock ? PAIR_CLOCK_SIMULATION : PAIR_CLOCK_WALL;
        script_open(&s);
        for (int k = 0; k < 100; k++) {
            struct event e = script_event("r1", AT(k * 0.1), EVENT_TELEMETRY, SIDE_VIRTUAL);
            const int64_t sim_us = (int64_t)(k * 0.1e6 * rows[i].pace);
            e.telemetry.seq = k;
            e.telemetry.source_us = rows[i].simulation_clock ? sim_us : LAB_TIME_NONE;
            e.telemetry.has_sim = !rows[i].simulation_clock;
            e.telemetry.sim_us = sim_us;
            lab_step(s.lab, &e, &s.fx);
        }
        script_clear(&s);
        script_command(&s, "r1", AT(20), "c");
        script_reply(&s, "r1", AT(20 + fmin(4.0, rows[i].virtual_lap_s)),
                     rows[i].virtual_lap_s < 4.0 ? SIDE_VIRTUAL : SIDE_REAL, "c", DONE);
        script_reply(&s, "r1", AT(20 + fmax(4.0, rows[i].virtual_lap_s)),
                     rows[i].virtual_lap_s < 4.0 ? SIDE_REAL : SIDE_VIRTUAL, "c", DONE);
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
        CHECK_TEXT(rows[i].row, verdict_name(entry->entry.verdict), rows[i].verdict);
        CHECK_NEAR(rows[i].row, entry->entry.virtual_pace, rows[i].pace, 1e-6, 0);
        CHECK_INT(rows[i].row, entry->entry.explained_by_pace, rows[i].explained);
        CHECK_INT(rows[i].row, script_count(&s, EFFECT_ALARM), 0);
        script_close(&s);
    }
}

static const struct script_effect *find_alarm(const struct script *s, const char *code,
                                              size_t k)
{
    size_t n = 0;
    const struct script_effect *e = script_find(s, EFFECT_ALARM, n);
    while (e && (strcmp(e->alarm.code, code) != 0 || k-- > 0)) {
        e = script_find(s, EFFECT_ALARM, ++n);
    }
    return e;
}

/* Stamps in smaller units than seconds: one alarm, and the lap counts instead of the motion. */
static void test_unit_of_motion(void)
{
    static const struct {
        double lap_s, motion_s;
        const char *unit; /* NULL: seconds */
    } rows[] = {
        {2.2, 2.185, NULL},
        {2.2, 2185.0, "milliseconds"},
        {2.0, 59.0, NULL},
        {2.0, 61.0, "milliseconds"},
        {0.5, 29.0, NULL},
        {0.5, 31.0, "milliseconds"},
        {40.0, 900.0, NULL},
        {9.0, 400.0, "milliseconds"},
        {2.2, 2185000.0, "microseconds"},
        {2.2, 2185000000.0, "nanoseconds"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        static struct script s;
        const enum side side = i % 2 ? SIDE_REAL : SIDE_VIRTUAL;
        const double lap_s = rows[i / 2].lap_s;
        const char *unit = rows[i / 2].unit;
        struct travel_move moves[PAIR_WINDOW_MAX];
        int64_t t_us[2];
        char name[32];
        (void)snprintf(name, sizeof name, "%g s of %g s", rows[i / 2].motion_s, lap_s);
        script_init(&s, 1);
        s.params[0].timeout_us = 60000000;
        script_open(&s);
        for (int k = 0; k < 3; k++) {
            const double t_s = 100.0 * k, motion_s = k < 2 ? rows[i / 2].motion_s : 1.5;
            struct event e =
                script_reply_event("r1", AT(t_s + lap_s), side, k == 1 ? "b" : "a", DONE);
            e.reply.source_start_us = AT(1e4 * (k + 1));
            e.reply.source_us = AT(1e4 * (k + 1) + motion_s);
            script_command(&s, "r1", AT(t_s), e.reply.id);
            lab_step(s.lab, &e, &s.fx);
            script_reply(&s, "r1", AT(t_s + lap_s),
                         side == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL, e.reply.id, DONE);
        }
        const struct script_effect *alarm = find_alarm(&s, "motion_too_long", 0);
        CHECK_INT(name, alarm != NULL, unit != NULL);
        CHECK(name, !find_alarm(&s, "motion_too_long", 1));
        if (alarm && unit) {
            CHECK(name, strstr(alarm->alarm.detail, unit) != NULL);
            CHECK_INT(name, alarm->alarm.side, side);
        }
        const size_t n = pair_moves(lab_pair(s.lab, 0), &s.params[0], side, moves, t_us);
        CHECK_INT(name, n, 3);
        CHECK_NEAR(name, moves[0].lap_s, unit ? lap_s : rows[i / 2].motion_s, 1e-4, 0);
        script_close(&s);
    }
}

/* Messages that waited while nobody listened: their times are those of the delivery, and the
 * entry reports that instead of a verdict. */
static void test_absence(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    struct event away = script_event("", AT(10), EVENT_AWAY, SIDE_COUNT);
    away.away_us = 5000000;
    script_command(&s, "r1", AT(4), "a");
    lab_step(s.lab, &away, &s.fx);
    script_reply(&s, "r1", AT(10.001), SIDE_REAL, "a", DONE);
    struct event e = script_reply_event("r1", AT(10.002), SIDE_VIRTUAL, "a", DONE);
    e.reply.source_us = AT(1);
    e.reply.source_start_us = AT(0);
    lab_step(s.lab, &e, &s.fx);
    const struct entry *entry = &script_find(&s, EFFECT_ENTRY, 0)->entry;
    CHECK_TEXT("no verdict", verdict_name(entry->verdict), "UNRESOLVED");
    CHECK_INT("for so long", entry->interrupted_us, 5000000);
    CHECK_INT("uncertain by it", entry->lag_uncertainty_us, 5000000);
    CHECK_INT("no lap is learnt from",
              pair_moves(lab_pair(s.lab, 0), &s.params[0], SIDE_REAL, moves, t_us), 0);
    CHECK_INT("but the robot's own clock is",
              pair_moves(lab_pair(s.lab, 0), &s.params[0], SIDE_VIRTUAL, moves, t_us), 1);

    script_clear(&s);
    script_command(&s, "r1", AT(20), "b");
    script_reply(&s, "r1", AT(21), SIDE_REAL, "b", DONE);
    script_reply(&s, "r1", AT(21), SIDE_VIRTUAL, "b", DONE);
    entry = &script_find(&s, EFFECT_ENTRY, 0)->entry;
    CHECK_TEXT("later all is well", verdict_name(entry->verdict), "SYNC");
    CHECK_INT("later all is well", entry->interrupted_us, 0);

    /* A restart: the last message before it gives an upper bound. */
    script_clear(&s);
    const struct event start = script_event("", AT(81), EVENT_START, SIDE_COUNT);
    lab_step(s.lab, &start, &s.fx);
    away.t_us = AT(84); /* the broker was slow */
    away.away_us = 3000000;
    lab_step(s.lab, &away, &s.fx);
    script_command(&s, "r1", AT(84.1), "c");
    script_reply(&s, "r1", AT(84.1), SIDE_REAL, "c", DONE);
    script_reply(&s, "r1", AT(84.1), SIDE_VIRTUAL, "c", DONE);
    CHECK_INT("since the last message", script_find(&s, EFFECT_ENTRY, 0)->entry.interrupted_us,
              63000000);
    script_close(&s);
}

/* A command that the lab sent during an absence may have left at its end, however long the
 * robot takes then. */
static void test_sent_in_absence(void)
{
    static const struct {
        const char *row;
        enum pair_mode mode;
        enum event_kind kind;
        double away_s;
        const char *verdict;
        double interrupted_s;
    } rows[] = {
        {"sent meanwhile", PAIR_LINK, EVENT_AWAY, 4.5, "UNRESOLVED", 4.5},
        {"sent while there was no link", PAIR_LINK, EVENT_SESSION, 4.5, "UNRESOLVED", 4.5},
        {"sent before", PAIR_LINK, EVENT_AWAY, 3.5, "SYNC", 0},
        {"sent by others", PAIR_OBSERVE, EVENT_AWAY, 4.5, "SYNC", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].mode = rows[i].mode;
        s.params[0].timeout_us = 30000000;
        script_open(&s);
        struct event away = script_event("", AT(5), rows[i].kind, SIDE_COUNT);
        if (rows[i].kind == EVENT_AWAY) {
            away.away_us = lab_us(rows[i].away_s);
        } else {
            away.session = (struct event_session){.away_us = lab_us(rows[i].away_s),
                                                  .unsure_us = LAB_TIME_NONE};
        }
        script_command(&s, "r1", AT(1), "a");
        lab_step(s.lab, &away, &s.fx);
        script_reply(&s, "r1", AT(20), SIDE_REAL, "a", DONE);
        script_reply(&s, "r1", AT(20), SIDE_VIRTUAL, "a", DONE);
        const struct entry *entry = &script_find(&s, EFFECT_ENTRY, 0)->entry;
        CHECK_TEXT(rows[i].row, verdict_name(entry->verdict), rows[i].verdict);
        CHECK_INT(rows[i].row, entry->interrupted_us, lab_us(rows[i].interrupted_s));
        script_close(&s);
    }
}

/* Numbers that a run may have published and lost are not used again: also not by a deadline
 * that fires with the start. After a stop in good order nothing is skipped. */
static void test_number_gap(void)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        static struct script s;
        script_init(&s, 1);
        script_open(&s);
        script_command(&s, "r1", AT(1), "a");
        script_reply(&s, "r1", AT(2), SIDE_REAL, "a", DONE);
        script_reply(&s, "r1", AT(2), SIDE_VIRTUAL, "a", DONE);
        CHECK_INT("the first", script_find(&s, EFFECT_ENTRY, 0)->entry.n, 1);
        script_command(&s, "r1", AT(3), "b");
        script_clear(&s);
        const struct event stop = script_event("", AT(4), EVENT_STOP, SIDE_COUNT);
        struct event start = script_event("", AT(900), EVENT_START, SIDE_COUNT);
        start.start.number_gap = 1000;
        if (stopped) {
            lab_step(s.lab, &stop, &s.fx);
        }
        lab_step(s.lab, &start, &s.fx);
        CHECK_INT("entry", script_find(&s, EFFECT_ENTRY, 0)->entry.n, stopped ? 2 : 1002);
        CHECK_INT("alarm", script_find(&s, EFFECT_ALARM, 0)->alarm.n, stopped ? 1 : 1001);
        CHECK_INT("version", lab_pair(s.lab, 0)->parameters.last_version,
                  stopped ? 0 : PARAMETERS_SKIPPED);
        script_close(&s);
    }
}

/* A command that waited for its turn when the power failed may have been sent: the reply that
 * made room for it may be lost. After a stop in good order nothing is. */
static void test_withheld_command(void)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].mode = PAIR_LINK;
        script_open(&s);
        script_command(&s, "r1", AT(1), "a");
        script_command(&s, "r1", AT(2), "b");
        const struct event stop = script_event("", AT(3), EVENT_STOP, SIDE_COUNT);
        struct event start = script_event("", AT(4), EVENT_START, SIDE_COUNT);
        start.start.number_gap = 1000;
        if (stopped) {
            lab_step(s.lab, &stop, &s.fx);
        }
        lab_step(s.lab, &start, &s.fx);
        script_clear(&s);
        script_reply(&s, "r1", AT(5), SIDE_REAL, "a", DONE);
        script_reply(&s, "r1", AT(5), SIDE_VIRTUAL, "a", DONE);
        CHECK_INT("sent", script_count(&s, EFFECT_COMMAND), stopped ? 2 : 0);
        script_reply(&s, "r1", AT(6), SIDE_REAL, "b", DONE);
        script_reply(&s, "r1", AT(6), SIDE_VIRTUAL, "b", DONE);
        CHECK_INT("both have an entry", script_count(&s, EFFECT_ENTRY), 2);
        CHECK_TEXT("of unknown laps",
                   verdict_name(script_find(&s, EFFECT_ENTRY, 1)->entry.verdict), "UNRESOLVED");
        script_command(&s, "r1", AT(20), "c");
        CHECK_INT("the next one is sent", script_count(&s, EFFECT_COMMAND), stopped ? 4 : 2);
        script_close(&s);
    }
}

/* A deadline that passed while nobody listened is no proof that a robot did not answer. */
static void test_unwatched_deadline(void)
{
    static const struct {
        const char *row;
        double asked_s, away_s; /* with 30 s for the answer; recorded at 100 s */
        const char *verdict;
        double interrupted_s;
    } rows[] = {
        {"it passed meanwhile", 60, 20, "UNRESOLVED", 20},
        {"at the beginning of the absence", 50, 20, "UNRESOLVED", 20},
        {"it passed before", 49.9, 20, "TIMEOUT", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        s.params[0].timeout_us = 30000000;
        script_open(&s);
        struct event away = script_event("", AT(100), EVENT_AWAY, SIDE_COUNT);
        away.away_us = lab_us(rows[i].away_s);
        script_command(&s, "r1", AT(rows[i].asked_s), "a");
        lab_step(s.lab, &away, &s.fx);
        const struct entry *entry = &script_find(&s, EFFECT_ENTRY, 0)->entry;
        CHECK_TEXT(rows[i].row, verdict_name(entry->verdict), rows[i].verdict);
        CHECK_INT(rows[i].row, entry->interrupted_us, lab_us(rows[i].interrupted_s));
        CHECK(rows[i].row, entry->timed_out[SIDE_REAL] && entry->timed_out[SIDE_VIRTUAL]);
        /* The next one is watched again. */
        script_clear(&s);
        script_command(&s, "r1", AT(110), "b");
        script_tick(&s, AT(141));
        entry = &script_find(&s, EFFECT_ENTRY, 0)->entry;
        CHECK_TEXT(rows[i].row, verdict_name(entry->verdict), "TIMEOUT");
        CHECK_INT(rows[i].row, entry->interrupted_us, 0);
        script_close(&s);
    }
}

static void test_probes(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].probe_interval_us = 2000000;
    script_open(&s);
    script_tick(&s, AT(10));
    CHECK_INT("no robot was seen yet", s.count, 0);
    send_telemetry(&s, AT(10), LAB_TIME_NONE, 1, "x");
    script_tick(&s, AT(16.001));
    CHECK_INT("every 2 s", s.count, 3);
    CHECK_INT("at the deadline", s.effect[1].t_us, AT(14));
    CHECK_INT("number", s.effect[1].probe, 2);
    struct event e = script_event("r1", AT(16.020), EVENT_ECHO, SIDE_REAL);
    e.echo = (struct event_echo){3, AT(16), AT(116.01), AT(116.01)};
    lab_step(s.lab, &e, &s.fx);
    const struct clock_map *clock = &lab_pair(s.lab, 0)->side[SIDE_REAL].clock;
    CHECK_INT("round trip", clock->rtt_us, 20000);
    /* Reported in single precision, or not at all: the probe's number gives its send time. */
    script_tick(&s, AT(24.001)); /* probes 4 to 7, of 18, 20, 22 and 24 s */
    const int64_t reported[] = {LAB_TIME_NONE, AT(23), AT(300), AT(24.004)};
    for (size_t i = 0; i < COUNT(reported); i++) {
        e = script_event("r1", AT(24.005), EVENT_ECHO, SIDE_REAL);
        e.echo = (struct event_echo){7, reported[i], AT(124), AT(124) + (int64_t)i};
        lab_step(s.lab, &e, &s.fx);
        CHECK_INT("taken", clock->probes, 2 + i);
        CHECK_INT("whatever it reported", clock->rtt_us, 5000 - (int64_t)i);
    }
    CHECK_INT("none was refused", clock->refused, 0);
    /* A probe that was never sent, or is forgotten: only its own report is known. */
    e.echo = (struct event_echo){70, LAB_TIME_NONE, AT(124), AT(124)};
    lab_step(s.lab, &e, &s.fx);
    CHECK_INT("its send time is unknown", clock->refused, 1);
    e.echo = (struct event_echo){70, AT(24.004), AT(124), AT(124)};
    lab_step(s.lab, &e, &s.fx);
    CHECK_INT("as it reports", clock->rtt_us, 1000);
    e = script_event("", AT(25), EVENT_STOP, SIDE_COUNT);
    lab_step(s.lab, &e, &s.fx);
    CHECK("stopped", lab_next_deadline(s.lab) == LAB_TIME_MAX && lab_stopped(s.lab));
    script_close(&s);
}

/* Both robots' replies to the k-th move, after some milliseconds; set_s: error of the real
 * clock.
 */
static void make_stamped_move(struct script *s, int k, double late_s, double set_s)
{
    const double t_s = 10.0 * k;
    char id[16];
    (void)snprintf(id, sizeof id, "m%d", k);
    script_command(s, "r1", AT(t_s), id);
    for (int i = 0; i < SIDE_COUNT; i++) {
        const enum side side = i == 0 ? SIDE_VIRTUAL : SIDE_REAL;
        const double delay_s = 0.004 + 0.001 * (k * (side == SIDE_REAL ? 3 : 5) % 7);
        const double end_s = t_s + (side == SIDE_REAL ? 1.1 + late_s : 1.05);
        const double error_s = side == SIDE_REAL ? set_s : 0.0;
        struct event e = script_reply_event("r1", AT(end_s + delay_s), side, id, DONE);
        e.reply.source_us = AT(end_s + error_s);
        e.reply.source_start_us = AT(t_s + 0.1 + error_s);
        lab_step(s->lab, &e, &s->fx);
    }
}

/* After a clock was set back, a reply seems to have been under way for as long: that is no part
 * of a lag. */
static void test_clock_set_back(void)
{
    static const struct {
        const char *row;
        double set_s, late_s;
        bool is_part;
        enum entry_explained explained;
    } rows[] = {{"nothing", 0.0, 0.0, true, ENTRY_UNDECIDED},
                {"a longer move", 0.0, 0.8, true, ENTRY_BY_MOTION},
                {"set back", -5000.0, 0.0, false, ENTRY_UNDECIDED},
                {"set back in a longer move", -5000.0, 0.8, false, ENTRY_BY_CLOCK}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        script_open(&s);
        for (int k = 0; k < 40; k++) {
            make_stamped_move(&s, k, 0.0, 0.0);
        }
        script_clear(&s);
        make_stamped_move(&s, 40, rows[i].late_s, rows[i].set_s);
        const struct script_effect *last = script_find(&s, EFFECT_ENTRY, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(last);
        const struct entry *e = &last->entry;
        CHECK_INT(rows[i].row, e->transport_us[SIDE_REAL] != LAB_TIME_NONE, rows[i].is_part);
        CHECK(rows[i].row, e->parts.known);
        CHECK_TEXT(rows[i].row, entry_explained_name(e->parts.explained),
                   entry_explained_name(rows[i].explained));
        for (size_t k = 0; k < ENTRY_PARTS; k++) {
            CHECK(rows[i].row,
                  e->parts.part_us[k] == LAB_TIME_NONE || llabs(e->parts.part_us[k]) < 2000000);
        }
        CHECK_INT(rows[i].row, lab_pair(s.lab, 0)->unmeasured, 0);
        script_close(&s);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair clock", NULL, NULL);
    CU_add_test(suite, "telemetry", test_telemetry);
    CU_add_test(suite, "network lag", test_network_lag);
    CU_add_test(suite, "unresolved", test_unresolved);
    CU_add_test(suite, "first move", test_first_move);
    CU_add_test(suite, "clock jump", test_clock_jump);
    CU_add_test(suite, "clock set back", test_clock_set_back);
    CU_add_test(suite, "pace", test_pace);
    CU_add_test(suite, "unit of motion", test_unit_of_motion);
    CU_add_test(suite, "absence", test_absence);
    CU_add_test(suite, "sent in an absence", test_sent_in_absence);
    CU_add_test(suite, "unwatched deadline", test_unwatched_deadline);
    CU_add_test(suite, "number gap", test_number_gap);
    CU_add_test(suite, "withheld command", test_withheld_command);
    CU_add_test(suite, "probes", test_probes);
    return check_run();
}
