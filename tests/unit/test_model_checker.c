/* The model checker of teams, on teams with known terminal states. */
#include "tests/support/check.h"
#include "tests/support/team_build.h"

static const struct model_checker_options plain = {
    .together = 2, .states_max = 1000000, .bytes_max = 1 << 28};

/* One robot for each text. */
static void build_robots(struct team_build *b, enum team_locking locking,
                         const char *const *texts)
{
    build_team(b, locking, 5);
    for (size_t i = 0; texts[i]; i++) {
        build_sequence(b, texts[i]);
        (void)build_robot(b);
    }
}

#define ROBOTS(...)                                                                            \
    {                                                                                          \
        __VA_ARGS__, NULL                                                                      \
    }

/* Traps: nested Locks, a ring, claims of several, a meeting. */
static void test_traps(void)
{
    static const struct {
        const char *row;
        const char *const texts[6];
        enum team_locking locking;
        bool dead;
    } rows[] = {
        {"alone", ROBOTS("+A go +B go -AB"), TEAM_FREE, false},
        {"AB and BA", ROBOTS("+A go +B go -AB", "+B go +A go -AB"), TEAM_FREE, true},
        {"AB and AB", ROBOTS("+A go +B go -AB", "+A go +B go -AB"), TEAM_FREE, false},
        {"ring",
         ROBOTS("+A go +B go -AB", "+B go +C go -BC", "+C go +D go -CD", "+D go +E go -DE",
                "+E go +A go -AE"),
         TEAM_FREE, true},
        {"ring, ordered",
         ROBOTS("+A go +B go -AB", "+B go +C go -BC", "+C go +D go -CD", "+D go +E go -DE",
                "+A go +E go -AE"),
         TEAM_ORDERED, false},
        {"ring, at once",
         ROBOTS("+AB go go -AB", "+BC go go -BC", "+CD go go -CD", "+DE go go -DE",
                "+AE go go -AE"),
         TEAM_AT_ONCE, false},
        {"smallest trap", ROBOTS("+A go +B go -AB", "+AB go -AB"), TEAM_FREE, true},
        {"the same, ordered", ROBOTS("+A go +B go -AB", "+AB go -AB"), TEAM_ORDERED, false},
        {"mixed trap", ROBOTS("+A go +B go -AB", "+C go +D go -CD", "+BC go -BC", "+AD go -AD"),
         TEAM_FREE, true},
        {"mixed, ordered",
         ROBOTS("+A go +B go -AB", "+C go +D go -CD", "+BC go -BC", "+AD go -AD"), TEAM_ORDERED,
         false},
        {"meeting", ROBOTS("+A go meet2 -A", "+A go -A meet2"), TEAM_FREE, true},
        {"with a third robot that continues",
         ROBOTS("+A go +B go -AB", "+B go +A go -AB", "go repeat"), TEAM_FREE, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        build_robots(&b, rows[i].locking, rows[i].texts);
        const struct model_checker_result r = build_checker(&b, &plain);
        CHECK_INT(rows[i].row, r.stop, TEAM_STOP_COMPLETE);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_DEADLOCK] > 0, rows[i].dead);
        CHECK_INT(rows[i].row, r.deadlocks > 0, rows[i].dead);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_UNEXPLAINED], 0);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_BLOCKED], 0);
        CHECK_INT(rows[i].row, r.unsound + r.violations, 0);
    }
}

/* Each kind of end. */
static void test_ends(void)
{
    static const struct {
        const char *row;
        const char *const texts[4];
        uint32_t failures;
        enum team_end end; /* the worst there is */
    } rows[] = {
        {"finished", ROBOTS("+A go -A", "go"), 0, TEAM_END_FINISHED},
        {"endless", ROBOTS("+A go -A repeat", "+A go -A repeat"), 0, TEAM_END_ENDLESS},
        {"looks for parts that never come", ROBOTS("look go repeat"), 0, TEAM_END_ENDLESS},
        {"the same, with the place", ROBOTS("+A look go -A", "go +A go -A"), 0,
         TEAM_END_STARVED},
        {"no robot comes", ROBOTS("meet2", "go repeat"), 0, TEAM_END_BLOCKED},
        {"failed", ROBOTS("go", "go"), 2, TEAM_END_FAILED},
        {"behind a failure", ROBOTS("+A go -A", "go +A go -A"), 1, TEAM_END_BLOCKED},
        {"behind one who waits behind it", ROBOTS("+A go -A", "+B go +A -AB", "+B go -B"), 1,
         TEAM_END_BLOCKED},
        {"a partner fails before", ROBOTS("go meet2", "go meet2"), 1, TEAM_END_BLOCKED},
        {"a partner fails in it", ROBOTS("both2 go", "both2 go"), 1, TEAM_END_FAILED},
        {"a partner ends before", ROBOTS("meet2", "go"), 0, TEAM_END_BLOCKED},
        {"finished with it", ROBOTS("+A go", "go +A go -A"), 0, TEAM_END_BLOCKED},
        {"freed a resource that it has not", ROBOTS("+B go +A go -A -A", "go +B go -B"), 0,
         TEAM_END_BLOCKED},
        {"the same, twice", ROBOTS("+A go +B go +A", "go +B go -B"), 0, TEAM_END_BLOCKED},
        {"no time passes", ROBOTS("+A -A repeat"), 0, TEAM_END_LIVELOCK},
        {"handed on in no time", ROBOTS("+A -A repeat", "+A go -A repeat"), 0,
         TEAM_END_ENDLESS}, /* it waits whenever time passes, and is served each time */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        struct model_checker_options options = plain;
        options.failures = rows[i].failures;
        build_robots(&b, TEAM_FREE, rows[i].texts);
        const struct model_checker_result r = build_checker(&b, &options);
        enum team_end worst = 0;
        while (worst < TEAM_END_FINISHED && r.ends[worst] == 0) {
            worst++;
        }
        CHECK_TEXT(rows[i].row, team_end_name(worst), team_end_name(rows[i].end));
        CHECK_INT(rows[i].row, r.stop, TEAM_STOP_COMPLETE);
        CHECK_INT(rows[i].row, r.unsound + r.violations, 0);
    }
}

/* Units: one may pass those before it while a unit is left for each of them. */
static void test_units(void)
{
    static const struct {
        const char *row;
        const char *const texts[4];
        uint32_t capacity[3];
        bool dead;
    } rows[] = {
        {"one for each", ROBOTS("+A go +B go -AB", "+B go +A go -AB"), {2, 2, 1}, false},
        {"one for both", ROBOTS("+A go +B go -AB", "+B go +A go -AB"), {2, 1, 1}, false},
        {"three and two",
         ROBOTS("+A go +B go -AB", "+A go +B go -AB", "+B go +A go -AB"),
         {2, 1, 1},
         true},
        {"behind one that waits for ever, a unit left for it",
         ROBOTS("+C go +AB go -ACB", "+C go +A go -AC", "+B go +AC go -BAC"),
         {2, 1, 2},
         true},
        {"a unit free, reserved for an earlier one",
         ROBOTS("+A go +BC go -CAB", "+C go +AB go -CAB", "+AC go -AC"),
         {2, 1, 1},
         true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t failures = 0; failures <= 1; failures++) {
            struct team_build b;
            struct model_checker_options options = plain;
            options.failures = failures;
            build_robots(&b, TEAM_FREE, rows[i].texts);
            for (size_t k = 0; k < COUNT(rows[i].capacity); k++) {
                b.resources[k].capacity = rows[i].capacity[k];
            }
            const struct model_checker_result r = build_checker(&b, &options);
            CHECK_INT(rows[i].row, r.ends[TEAM_END_DEADLOCK] > 0, rows[i].dead);
            CHECK_INT(rows[i].row, r.ends[TEAM_END_UNEXPLAINED], 0);
            CHECK_INT(rows[i].row, r.unsound + r.violations, 0);
        }
    }
}

/* A head start lets one robot pass earlier requests for a time: both orders are explored. */
static void test_priorities(void)
{
    static const struct {
        const char *row;
        const char *const texts[5];
        uint32_t priority[4];
        bool dead;
    } rows[] = {
        {"the smallest trap, sooner than the head start, or later",
         ROBOTS("+A go +B go -AB", "+AB go -AB"),
         {1, 0},
         true},
        {"none passes", ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"), {0}, false},
        {"all alike",
         ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"),
         {2, 2, 2},
         false},
        {"the last one passes",
         ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"),
         {0, 0, 1},
         true},
        {"further than another",
         ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"),
         {0, 1, 3},
         true},
        {"it does not",
         ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"),
         {0, 1, 1},
         false},
        {"nor so", ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC"), {5, 9, 3}, false},
        {"four",
         ROBOTS("+A go -A", "+C +A go -AC", "go +A go +C go -AC", "go go +A go -A"),
         {0, 1, 2, 4000000000},
         true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        build_robots(&b, TEAM_FREE, rows[i].texts);
        b.p.head_start_us = 3000000;
        for (size_t k = 0; k < b.p.robot_count; k++) {
            b.robots[k].priority = rows[i].priority[k];
        }
        const struct model_checker_result r = build_checker(&b, &plain);
        CHECK_INT(rows[i].row, r.stop, TEAM_STOP_COMPLETE);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_DEADLOCK] > 0, rows[i].dead);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_FINISHED] > 0, true);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_UNEXPLAINED], 0);
        CHECK_INT(rows[i].row, r.unsound + r.violations, 0);
        b.p.head_start_us = 0;
        const struct model_checker_result none = build_checker(&b, &plain);
        CHECK_INT(rows[i].row, none.ends[TEAM_END_DEADLOCK] > 0, i == 0);
    }
}

/* The fate of a resource whose owner failed, or fell silent. */
static void test_policies(void)
{
    static const struct {
        const char *row;
        enum team_policy on_error, on_lost;
        int64_t delay_us, lease_us;
        uint32_t failures, losses;
        bool blocked;
    } rows[] = {
        {"fails, kept", TEAM_HOLD, TEAM_HOLD, 0, 0, 1, 0, true},
        {"fails, free", TEAM_RELEASE, TEAM_HOLD, 0, 0, 1, 0, false},
        {"fails, free after a delay", TEAM_RELEASE, TEAM_HOLD, 2000000, 0, 1, 0, false},
        {"silent, no lease", TEAM_HOLD, TEAM_RELEASE, 0, 0, 0, 1, false},
        {"silent, kept", TEAM_RELEASE, TEAM_HOLD, 0, 1000000, 0, 1, true},
        {"silent, free", TEAM_HOLD, TEAM_RELEASE, 0, 1000000, 0, 1, false},
        {"silent, free after a delay", TEAM_HOLD, TEAM_RELEASE, 2000000, 1000000, 0, 1, false},
        {"leases, no robot silent", TEAM_HOLD, TEAM_RELEASE, 0, 1000000, 0, 0, false},
        {"both", TEAM_RELEASE, TEAM_RELEASE, 2000000, 1000000, 2, 2, false},
    };
    static const char *const texts[] = ROBOTS("go +A go -A go", "+A go go -A", "+AB go -AB");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        struct model_checker_options options = plain;
        options.failures = rows[i].failures;
        options.losses = rows[i].losses;
        build_robots(&b, TEAM_ORDERED, texts);
        for (size_t k = 0; k < b.p.resource_count; k++) {
            b.resources[k].on_error = rows[i].on_error;
            b.resources[k].on_lost = rows[i].on_lost;
            b.resources[k].delay_us = rows[i].delay_us;
            b.resources[k].lease_us = rows[i].lease_us;
        }
        const struct model_checker_result r = build_checker(&b, &options);
        CHECK_INT(rows[i].row, r.stop, TEAM_STOP_COMPLETE);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_BLOCKED] > 0, rows[i].blocked);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_UNEXPLAINED], 0);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_STARVED], 0);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_FINISHED] > 0, true);
        CHECK_INT(rows[i].row, r.unsound + r.violations, 0);
    }
}

/* ---- ways ---- */

struct trace {
    size_t instants, moves;
    uint16_t cycle[8], cycle_count;
};

static void count_instant(void *context, const struct team *team, const struct team_move *moves,
                          size_t count)
{
    struct trace *trace = context;
    (void)team;
    (void)moves;
    trace->instants++;
    trace->moves += count;
}

static void handle_effect(void *context, const struct team_effect *effect)
{
    struct trace *trace = context;
    if (effect->kind == TEAM_ALARM && effect->alarm == TEAM_ALARM_DEADLOCK) {
        for (size_t i = 0; i < effect->cycle_count && i < COUNT(trace->cycle); i++) {
            trace->cycle[i] = effect->cycle[i].robot;
        }
        trace->cycle_count = (uint16_t)effect->cycle_count;
    }
}

/* The shortest way into a deadlock, gone again. */
static void test_way(void)
{
    static const struct {
        const char *row;
        const char *const texts[6];
        uint32_t together;
        size_t instants, moves, cycle;
    } rows[] = {
        {"one by one", ROBOTS("+A go +B go -AB", "+B go +A go -AB"), 1, 2, 2, 2},
        {"at once", ROBOTS("+A go +B go -AB", "+B go +A go -AB"), 2, 1, 2, 2},
        {"smallest trap", ROBOTS("+A go +B go -AB", "+AB go -AB"), 1, 1, 1, 2},
        {"ring",
         ROBOTS("+A go +B go -AB", "+B go +C go -BC", "+C go +D go -CD", "+D go +E go -DE",
                "+E go +A go -AE"),
         1, 5, 5, 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        struct model_checker_options options = plain;
        struct checker_memory memory = {build_resize, NULL, 0, 1 << 28};
        const struct model_checker_watch watch = {0};
        struct model_checker_result result;
        struct model_checker *x = NULL;
        struct trace trace = {0};
        const struct model_checker_observer guide = {
            count_instant, {handle_effect, &trace}, &trace};
        options.together = rows[i].together;
        options.first_deadlock = true;
        build_robots(&b, TEAM_FREE, rows[i].texts);
        CU_ASSERT_EQUAL_FATAL(model_checker_run(&b.p, &options, &memory, &watch, &x, &result),
                              STATUS_OK);
        CHECK_INT(rows[i].row, result.stop, TEAM_STOP_FOUND);
        CHECK(rows[i].row, model_checker_replay(x, result.deadlock, &guide) != NULL);
        CHECK_INT(rows[i].row, trace.instants, rows[i].instants);
        CHECK_INT(rows[i].row, trace.moves, rows[i].moves);
        CHECK_INT(rows[i].row, trace.cycle_count, rows[i].cycle);
        model_checker_free(x);
    }
}

/* ---- limits ---- */

static bool stop_at(void *context, size_t states, size_t open)
{
    (void)open;
    return states < *(const size_t *)context;
}

static void test_limits(void)
{
    static const char *const texts[] = ROBOTS("+A go -A go +B go -B go", "go go +A go go -A go",
                                              "go go go go go go", "+C go -C go go go");
    static const struct {
        const char *row;
        size_t states_max, bytes_max, asked;
        enum team_stop stop;
    } rows[] = {
        {"all", 1000000, 1 << 28, SIZE_MAX, TEAM_STOP_COMPLETE},
        {"states", 100, 1 << 28, SIZE_MAX, TEAM_STOP_STATES},
        {"memory", 1000000, 1 << 18, SIZE_MAX, TEAM_STOP_MEMORY},
        {"asked", 1000000, 1 << 28, 100, TEAM_STOP_ASKED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_build b;
        struct model_checker_options options = plain;
        struct checker_memory memory = {build_resize, NULL, 0, rows[i].bytes_max};
        size_t asked = rows[i].asked;
        const struct model_checker_watch watch = {stop_at, &asked};
        struct model_checker_result r;
        struct model_checker *x = NULL;
        options.states_max = rows[i].states_max;
        build_robots(&b, TEAM_ORDERED, texts);
        CU_ASSERT_EQUAL_FATAL(model_checker_run(&b.p, &options, &memory, &watch, &x, &r),
                              STATUS_OK);
        CHECK_TEXT(rows[i].row, team_stop_name(r.stop), team_stop_name(rows[i].stop));
        CHECK_INT(rows[i].row, r.ends[TEAM_END_UNEXPLAINED], 0);
        CHECK_INT(rows[i].row, r.ends[TEAM_END_FINISHED], i == 0);
        model_checker_free(x);
        CHECK_INT(rows[i].row, memory.used, 0);
    }
}

/* Resources and robots that are never used; jobs; robots that start later; parts. */
static void test_used(void)
{
    struct team_build b;
    struct checker_memory memory = {build_resize, NULL, 0, 1 << 28};
    const struct model_checker_watch watch = {0};
    struct model_checker_result r;
    struct model_checker *x = NULL;
    build_team(&b, TEAM_ORDERED, 1);
    build_sequence(&b, "take +A go -A repeat");
    build_robot(&b)->start_us = 5;
    build_sequence(&b, "+A go -A"); /* of jobs */
    build_robot(&b)->sequence = TEAM_NONE;
    build_sequence(&b, "go"); /* of no robot */
    build_robot(&b)->sequence = TEAM_NONE;
    b.robots[2].handles_all = false; /* nothing at all */
    build_parts(&b, 2);
    b.jobs[0] = (struct team_job){.part = 1, .sequence = 1, .home = TEAM_NONE};
    b.jobs[1] = (struct team_job){.part = 1, .sequence = 1, .home = 1};
    b.p.job_count = 2;
    CU_ASSERT_EQUAL_FATAL(model_checker_run(&b.p, &plain, &memory, &watch, &x, &r), STATUS_OK);
    CHECK_INT("ends", r.ends[TEAM_END_FINISHED], 1);
    CHECK_INT("stop", r.stop, TEAM_STOP_COMPLETE);
    CHECK("sequences", model_checker_used(x, MODEL_CHECKER_SEQUENCE, 0) &&
                           model_checker_used(x, MODEL_CHECKER_SEQUENCE, 1));
    CHECK("sequence of no robot", !model_checker_used(x, MODEL_CHECKER_SEQUENCE, 2));
    CHECK("robots", model_checker_used(x, MODEL_CHECKER_ROBOT, 0) &&
                        model_checker_used(x, MODEL_CHECKER_ROBOT, 1));
    CHECK("robot without work", !model_checker_used(x, MODEL_CHECKER_ROBOT, 2));
    CHECK("jobs", model_checker_used(x, MODEL_CHECKER_JOB, 0) &&
                      model_checker_used(x, MODEL_CHECKER_JOB, 1));
    model_checker_free(x);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team_explore", NULL, NULL);
    CU_add_test(suite, "traps", test_traps);
    CU_add_test(suite, "ends", test_ends);
    CU_add_test(suite, "units", test_units);
    CU_add_test(suite, "priorities", test_priorities);
    CU_add_test(suite, "policies", test_policies);
    CU_add_test(suite, "way", test_way);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "used", test_used);
    return check_run();
}
