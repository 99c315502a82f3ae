/* L2 and L1: missions in a simulated world, then random users and robots. Every arc of both
 * machines is taken, no machine ever stops in a fault, every mission ends exactly once, and no
 * command but a halt, or after a halt, is sent while one is open. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "twin/sim/robot/mission.h"

static struct mission mission;
static struct mission_plan plan;
static uint32_t l1_fired[MISSION_ARCS_MAX];
static uint32_t l2_fired[MISSION_ARCS_MAX];

/* Results for the checks. */
struct watch {
    unsigned commands, ends, errors, warnings, acks;
    struct event_command last;
    bool open; /* a command that has no reply yet */
    bool halted;
    enum l2_verdict verdict;
    char text[MISSION_TEXT_MAX]; /* of the last error */
};

static struct watch watch;

/* Is a mission in work? */
static bool is_busy(void)
{
    return mission.l2.state != L2_IDLE;
}

static void check_effect(void *context, const struct mission_effect *effect)
{
    struct watch *w = context;
    switch (effect->kind) {
    case MISSION_COMMAND:
        w->commands++;
        /* A halt may interrupt, and what is halted because it is late is not waited for. */
        CHECK("one at a time",
              !w->open || w->halted || strcmp(effect->command.op, "halt") == 0);
        w->halted = strcmp(effect->command.op, "halt") == 0;
        CHECK("finite", isfinite(effect->command.rotation_rad) &&
                            isfinite(effect->command.displacement_m));
        CHECK("no way round", fabs(effect->command.rotation_rad) <= PI + 1e-4);
        CHECK("forward", effect->command.displacement_m >= 0.0);
        CHECK("another id", strcmp(effect->command.id, w->last.id) != 0);
        w->last = effect->command;
        w->open = true;
        break;
    case MISSION_ANSWER:
        CHECK("finite", isfinite(effect->pose[0] + effect->pose[1] + effect->pose[2]));
        break;
    case MISSION_MESSAGE:
        w->errors += effect->level == MISSION_ERROR;
        w->warnings += effect->level == MISSION_WARNING;
        w->acks += effect->level == MISSION_ACK;
        CHECK("text", effect->text[0] != '\0');
        CHECK("layer", effect->layer == 1 || effect->layer == 2);
        if (effect->level == MISSION_ERROR) {
            (void)snprintf(w->text, sizeof w->text, "%s", effect->text);
        }
        break;
    case MISSION_EFFORT:
        CHECK("wheels get no efforts", false);
        break;
    case MISSION_STACK:
        break;
    case MISSION_END:
    default:
        w->ends++;
        w->verdict = effect->verdict;
        w->open = false;
        break;
    }
}

static void count_arcs(void)
{
    for (size_t i = 0; i < MISSION_ARCS_MAX; i++) {
        l1_fired[i] += mission.l1_arcs[i];
        l2_fired[i] += mission.l2_arcs[i];
    }
}

static void begin_mission(void)
{
    count_arcs();
    watch = (struct watch){0};
    mission_init(&mission, &plan, "m", 0);
}

static void make_plan(void)
{
    plan = (struct mission_plan){.clearance_m = 0.3,
                                 .obstacle_m = 0.2,
                                 .arrival_m = 0.01,
                                 .returns = MISSION_RETURN_ON_FAILURE,
                                 .patience_us = 60000000,
                                 .tries_max = 3,
                                 .routes_max = 4,
                                 .rays_max = 9};
}

static void add_step(enum l2_step kind, const struct world_point *points, size_t count)
{
    plan.steps[plan.step_count++] = (struct mission_step){
        .kind = kind, .first = (uint16_t)plan.point_count, .count = (uint16_t)count};
    for (size_t i = 0; i < count; i++) {
        plan.points[plan.point_count++] = points[i];
    }
}

/* --- a robot that follows its commands, in a scenario with obstacles -------------------- */

struct robot {
    const struct world *world; /* the truth */
    double pose[3];
    int rays;
    bool wordless; /* its replies have no pose */
};

static void add_value(struct event_reply *reply, const char *name, double value)
{
    struct event_value *v = &reply->values[reply->value_count++];
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    v->number = value;
}

static void apply_command(struct robot *robot, const struct event_command *command,
                          struct event_reply *reply)
{
    enum { RAYS = 5 };
    *reply = (struct event_reply){.status = REPLY_DONE};
    (void)snprintf(reply->id, sizeof reply->id, "%s", command->id);
    if (strcmp(command->op, "go") == 0) {
        robot->pose[2] = remainder(robot->pose[2] + command->rotation_rad, 2.0 * PI);
        const double ahead_m =
            world_range(robot->world, robot->pose[0], robot->pose[1], robot->pose[2], 99.0);
        const double safe_m = fmax(ahead_m - 0.1, 0.0);
        const double way_m = fmin(command->displacement_m, safe_m);
        robot->pose[0] += way_m * cos(robot->pose[2]);
        robot->pose[1] += way_m * sin(robot->pose[2]);
        if (way_m < command->displacement_m) {
            reply->status = REPLY_BLOCKED;
            add_value(reply, "range_m", ahead_m - way_m);
        }
    } else if (strcmp(command->op, "lidar") == 0 || strcmp(command->op, "resume") == 0) {
        robot->rays = strcmp(command->op, "lidar") == 0 ? 0 : robot->rays;
        reply->status = robot->rays++ < RAYS ? REPLY_DATA : REPLY_DONE;
        add_value(reply, "range_m", 1.0);
    }
    if (!robot->wordless) {
        add_value(reply, "x_m", robot->pose[0]);
        add_value(reply, "y_m", robot->pose[1]);
        add_value(reply, "psi_rad", robot->pose[2]);
    }
}

static void run_mission(struct robot *robot)
{
    int64_t t_us = 1000;
    mission_start(&mission, t_us, check_effect, &watch);
    for (int i = 0; i < 500 && is_busy(); i++) {
        struct event_reply reply;
        CHECK("a command is out", watch.open);
        apply_command(robot, &watch.last, &reply);
        watch.open = false;
        t_us += 1000000;
        mission_reply(&mission, &reply, t_us, check_effect, &watch);
    }
    CHECK_INT("ended once", watch.ends, 1);
    CHECK_INT("no fault", mission.fault_count, 0);
    CHECK("nothing awaited", mission_next_us(&mission) == LAB_TIME_MAX);
}

static void check_at(const char *row, const struct robot *robot, double x_m, double y_m)
{
    CHECK_NEAR(row, robot->pose[0], x_m, 0.0, 2e-3);
    CHECK_NEAR(row, robot->pose[1], y_m, 0.0, 2e-3);
}

static void test_path_and_sweep(void)
{
    static const struct world_point corners[] = {
        {1.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}};
    static struct world w;
    struct robot robot = {.world = &w};
    w = (struct world){0};
    make_plan();
    add_step(L2_STEP_PATH, corners, 4);
    add_step(L2_STEP_SWEEP, NULL, 0);
    begin_mission();
    run_mission(&robot);
    CHECK_INT("done", watch.verdict, L2_VERDICT_DONE);
    check_at("at the end of the path", &robot, 0.0, 1.0);
    CHECK_INT("three legs, since one was none, lidar and five resumes", watch.commands, 9);
    plan.returns = MISSION_RETURN_ALWAYS;
    robot = (struct robot){.world = &w, .wordless = true};
    begin_mission();
    run_mission(&robot);
    CHECK_INT("done", watch.verdict, L2_VERDICT_DONE);
    check_at("home", &robot, 0.0, 0.0);
    plan.step_count = 0;
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    CHECK_INT("nothing to do is done at once", watch.ends, 1);
    CHECK_INT("without a command", watch.commands, 0);
}

static void test_goal(void)
{
    static const struct world_point goal = {4.0, 0.0};
    static const struct world_point wall[] = {{2.0, -3.0}, {2.0, 1.0}};
    static const struct world_point crate[] = {{2.0, 1.6}};
    static struct world w;
    struct robot robot = {.world = &w};
    make_plan();
    add_step(L2_STEP_GOAL, &goal, 1);
    plan.returns = MISSION_RETURN_ALWAYS;
    CU_ASSERT_EQUAL_FATAL(
        world_add(&plan.map, &(struct world_obstacle){.shape = WORLD_WALL}, wall, 2),
        STATUS_OK);
    w = plan.map;
    begin_mission();
    run_mission(&robot);
    CHECK_INT("around the wall and back", watch.verdict, L2_VERDICT_DONE);
    check_at("home", &robot, 0.0, 0.0);
    CHECK_INT("nothing new", mission.obstacles_found, 0);
    /* Something that is on no map blocks the bend of the path. */
    CU_ASSERT_EQUAL_FATAL(
        world_add(
            &w,
            &(struct world_obstacle){.shape = WORLD_CIRCLE, .radius_m = 0.3, .unmapped = true},
            crate, 1),
        STATUS_OK);
    robot = (struct robot){.world = &w};
    begin_mission();
    run_mission(&robot);
    CHECK_INT("and around the crate", watch.verdict, L2_VERDICT_DONE);
    CHECK("it was found", mission.obstacles_found > 0);
    check_at("home", &robot, 0.0, 0.0);
}

static void test_failures(void)
{
    static const struct world_point there = {4.0, 0.0};
    static const struct world_point box[] = {
        {3.0, -1.0}, {5.0, -1.0}, {5.0, 1.0}, {3.0, 1.0}, {3.0, -1.0}};
    static struct world w;
    struct robot robot = {.world = &w};
    make_plan();
    add_step(L2_STEP_PATH, &there, 1);
    w = (struct world){0};
    CU_ASSERT_EQUAL_FATAL(world_add(&w, &(struct world_obstacle){.shape = WORLD_WALL}, box, 5),
                          STATUS_OK);
    begin_mission();
    run_mission(&robot);
    CHECK_INT("a path is not the robot's to change", watch.verdict, L2_VERDICT_FAILED);
    check_at("it went home", &robot, 0.0, 0.0);
    plan.returns = MISSION_RETURN_NEVER;
    robot = (struct robot){.world = &w};
    begin_mission();
    run_mission(&robot);
    CHECK_INT("failed", watch.verdict, L2_VERDICT_FAILED);
    check_at("it stayed", &robot, 2.9, 0.0);
    CHECK("gave the reason", strstr(watch.text, "failed") != NULL);
    /* A goal within walls that the map knows: no way, nothing moves. */
    make_plan();
    plan.map = w;
    add_step(L2_STEP_GOAL, &there, 1);
    robot = (struct robot){.world = &w};
    begin_mission();
    run_mission(&robot);
    CHECK_INT("no way", watch.verdict, L2_VERDICT_FAILED);
    CHECK_INT("not moved", watch.commands, 0);
    plan.returns = MISSION_RETURN_NEVER;
    begin_mission();
    run_mission(&robot);
    CHECK_INT("no way", watch.verdict, L2_VERDICT_FAILED);
    /* Walls that it does not know: it tries so often, then goes home. */
    make_plan();
    add_step(L2_STEP_GOAL, &there, 1);
    begin_mission();
    run_mission(&robot);
    CHECK_INT("no way in reality", watch.verdict, L2_VERDICT_FAILED);
    CHECK("found", mission.obstacles_found >= 1);
    check_at("home", &robot, 0.0, 0.0);
}

static void reply_with(enum reply_status status, int64_t t_us)
{
    struct event_reply reply = {.status = status};
    (void)snprintf(reply.id, sizeof reply.id, "%s", watch.last.id);
    watch.open = false;
    mission_reply(&mission, &reply, t_us, check_effect, &watch);
}

static void test_messages(void)
{
    static const struct world_point there = {4.0, 0.0};
    make_plan();
    plan.returns = MISSION_RETURN_NEVER;
    add_step(L2_STEP_PATH, &there, 1);
    begin_mission();
    mission_quit(&mission, 0, check_effect, &watch);
    CHECK_INT("nothing to quit", watch.ends, 0);
    mission_start(&mission, 0, check_effect, &watch);
    mission_start(&mission, 0, check_effect, &watch);
    CHECK_INT("busy", watch.warnings, 1);
    reply_with(REPLY_IGNORED, 1);
    CHECK_INT("tried again", watch.warnings, 2);
    CHECK_INT("second go", watch.commands, 2);
    mission_tick(&mission, 60000000, check_effect, &watch);
    CHECK_INT("patient", watch.ends, 0);
    CHECK_INT("until", mission_next_us(&mission), 60000001);
    mission_tick(&mission, 60000001, check_effect, &watch);
    CHECK_INT("not for ever", watch.ends, 1);
    CHECK("halted in the end", watch.halted);
    CHECK_INT("failed", watch.verdict, L2_VERDICT_FAILED);
    /* Quit: halt, and wait for its answer. */
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    mission_quit(&mission, 1, check_effect, &watch);
    CHECK("halt", watch.halted);
    CHECK_INT("not yet", watch.ends, 0);
    struct event_reply stray = {.id = "m-1", .status = REPLY_HALTED};
    mission_reply(&mission, &stray, 2, check_effect, &watch);
    CHECK_INT("the go's own reply does not count", watch.ends, 0);
    CHECK_INT("but is counted", mission.stray_count, 1);
    reply_with(REPLY_DONE, 3);
    CHECK_INT("quit", watch.verdict, L2_VERDICT_QUIT);
    /* A reply without id belongs to the open command. */
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    struct event_reply nameless = {.status = REPLY_DONE};
    mission_reply(&mission, &nameless, 1, check_effect, &watch);
    CHECK_INT("done", watch.verdict, L2_VERDICT_DONE);
}

/* Late is not blocked, even if the leg before was: no other way is tried. */
static void test_late_after_blocked(void)
{
    static const struct world_point there = {4.0, 0.0};
    make_plan();
    plan.returns = MISSION_RETURN_NEVER;
    add_step(L2_STEP_GOAL, &there, 1);
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    reply_with(REPLY_BLOCKED, 1);
    CHECK_INT("another way", watch.commands, 2);
    CHECK("not at an end", is_busy());
    mission_tick(&mission, mission_next_us(&mission), check_effect, &watch);
    CHECK_INT("halted, and no third way", watch.commands, 3);
    CHECK_INT("failed", watch.verdict, L2_VERDICT_FAILED);
}

/* Nobody knows where the robot is: it is asked first, and paths count from there. */
static void test_unknown_start(void)
{
    static const struct world_point there = {2.0, 3.0};
    static struct world w;
    struct robot robot = {.world = &w, .pose = {2.0, 1.0, -1.0}};
    w = (struct world){0};
    make_plan();
    plan.locates = true;
    plan.returns = MISSION_RETURN_ALWAYS;
    add_step(L2_STEP_PATH, &there, 1);
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    CHECK_TEXT("asks", watch.last.op, "go");
    CHECK_NEAR("without a turn", watch.last.rotation_rad, 0.0, 0.0, 0.0);
    CHECK_NEAR("or a way", watch.last.displacement_m, 0.0, 0.0, 0.0);
    mission_quit(&mission, 0, check_effect, &watch);
    begin_mission();
    run_mission(&robot);
    CHECK_INT("done", watch.verdict, L2_VERDICT_DONE);
    check_at("home is where it began", &robot, 2.0, 1.0);
    CHECK_INT("asked, went, came back", watch.commands, 3);
    robot = (struct robot){.world = &w, .pose = {2.0, 1.0, -1.0}, .wordless = true};
    begin_mission();
    run_mission(&robot);
    CHECK_INT("one that does not say is believed at the origin", watch.verdict,
              L2_VERDICT_DONE);
}

/* The limit of rays holds, and a robot that sends all at once ignores the resume. */
static void test_sweeps(void)
{
    make_plan();
    plan.returns = MISSION_RETURN_NEVER;
    add_step(L2_STEP_SWEEP, NULL, 0);
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    reply_with(REPLY_DATA, 1);
    reply_with(REPLY_IGNORED, 2);
    CHECK_INT("one answer is enough", watch.verdict, L2_VERDICT_DONE);
    CHECK_INT("with a warning", watch.warnings, 1);
    begin_mission();
    mission_start(&mission, 0, check_effect, &watch);
    for (int i = 0; i < 9; i++) {
        reply_with(REPLY_DATA, i);
    }
    CHECK_INT("endless", watch.verdict, L2_VERDICT_FAILED);
    CHECK("halted", watch.halted);
}

/* --- anything may happen ---------------------------------------------------------------- */

static void random_plan(void)
{
    static const struct world_point wall[] = {{1.0, -2.0}, {1.0, 2.0}};
    make_plan();
    plan.returns = (enum mission_return)(rand() % 3);
    plan.routes_max = (unsigned)(1 + rand() % 3);
    plan.tries_max = (unsigned)(1 + rand() % 3);
    plan.rays_max = (unsigned)(1 + rand() % 6);
    plan.locates = rand() % 2;
    if (rand() % 2) {
        CU_ASSERT_EQUAL_FATAL(
            world_add(&plan.map, &(struct world_obstacle){.shape = WORLD_WALL}, wall, 2),
            STATUS_OK);
    }
    const int steps = rand() % 5;
    for (int i = 0; i < steps; i++) {
        struct world_point points[4];
        const size_t count = (size_t)(1 + rand() % 4);
        for (size_t k = 0; k < count; k++) {
            points[k] = (struct world_point){rand() % 5 - 2.0, rand() % 5 - 2.0};
        }
        const enum l2_step kind = (enum l2_step)(L2_STEP_PATH + rand() % 3);
        add_step(kind, points, kind == L2_STEP_PATH ? count : kind == L2_STEP_GOAL ? 1 : 0);
    }
}

static void random_reply(int64_t t_us)
{
    struct event_reply reply = {
        .status = rand() % 2 ? REPLY_DONE : (enum reply_status)(rand() % REPLY_STATUS_COUNT)};
    (void)snprintf(reply.id, sizeof reply.id, "%s", rand() % 9 ? watch.last.id : "stranger");
    if (rand() % 2) {
        add_value(&reply, "x_m", rand() % 5 - 2.0);
        add_value(&reply, "y_m", rand() % 5 - 2.0);
        add_value(&reply, "psi_rad", rand() % 7 - 3.0);
    }
    if (rand() % 2) {
        add_value(&reply, "range_m", 0.2);
    }
    if (strcmp(reply.id, watch.last.id) == 0) {
        watch.open = false;
    }
    mission_reply(&mission, &reply, t_us, check_effect, &watch);
}

static void random_life(void)
{
    int64_t t_us = 0;
    unsigned started = 0;
    random_plan();
    begin_mission();
    for (int i = 0; i < 60; i++) {
        const bool busy = is_busy();
        t_us += rand() % 20000000;
        switch (rand() % 12) {
        case 0:
            mission_quit(&mission, t_us, check_effect, &watch);
            break;
        case 1:
            mission_start(&mission, t_us, check_effect, &watch);
            started += !busy;
            break;
        case 2:
        case 3:
            mission_tick(&mission, t_us, check_effect, &watch);
            break;
        case 4:
            t_us = mission_next_us(&mission) < LAB_TIME_MAX ? mission_next_us(&mission) : t_us;
            mission_tick(&mission, t_us, check_effect, &watch);
            break;
        default:
            if (busy) {
                random_reply(t_us);
            } else {
                mission_start(&mission, t_us, check_effect, &watch);
                started++;
            }
            break;
        }
        CHECK_INT("each mission ends once", started, watch.ends + (is_busy() ? 1U : 0U));
        CHECK("someone is waited for or nothing is in work",
              !is_busy() || mission_next_us(&mission) < LAB_TIME_MAX);
    }
    CHECK_INT("no fault", mission.fault_count, 0);
}

static void test_random_lives(void)
{
    srand(check_seed(5));
    for (int i = 0; i < 3000; i++) {
        random_life();
    }
}

/* L1 alone: requests that L2 never makes. */
static void drive_l1(struct efsm *m, enum l1_event event, int64_t t_us)
{
    struct l1_in in = {.event = event,
                       .leg_count = 1.0,
                       .patience_us = 10.0,
                       .tries_max = 2.0,
                       .rays_max = 3.0};
    for (int i = 0; i < 20; i++) {
        efsm_plan(&l1_table, m, &in, t_us);
        efsm_update(&l1_table, m, t_us, 0, NULL, NULL);
        CHECK("active", efsm_is_active(&l1_table, m));
        l1_fired[m->fired_arc]++;
        in.event = L1_EVENT_NONE;
        if (m->blocked) {
            break;
        }
    }
}

static void test_l1_alone(void)
{
    struct efsm m;
    for (int event = 0; event < L1_EVENT_COUNT; event++) {
        for (int next = 0; next < L1_EVENT_COUNT; next++) {
            for (int last = 0; last < L1_EVENT_COUNT; last++) {
                efsm_reset(&l1_table, &m, 0);
                drive_l1(&m, (enum l1_event)event, 0);
                drive_l1(&m, (enum l1_event)next, 1);
                drive_l1(&m, (enum l1_event)last, 2);
                drive_l1(&m, L1_EVENT_NONE, 100);
            }
        }
    }
}

static void show_coverage(const struct efsm_table *table, const uint32_t *taken)
{
    size_t count = 0;
    CU_ASSERT_FATAL(table->arc_count <= MISSION_ARCS_MAX);
    for (size_t i = 0; i < table->arc_count; i++) {
        count += taken[i] > 0;
        if (taken[i] == 0) {
            (void)printf("not executed: %s: %s to %s: %s\n", table->name,
                         efsm_state_name(table, table->arcs[i].from),
                         table->arcs[i].to == EFSM_POP
                             ? "top"
                             : efsm_state_name(table, table->arcs[i].to),
                         table->arcs[i].label);
        }
    }
    (void)printf("%s: %zu of %zu arcs executed\n", table->name, count, table->arc_count);
    CHECK_INT(table->name, count, table->arc_count);
}

static void test_arc_coverage(void)
{
    count_arcs();
    show_coverage(&l1_table, l1_fired);
    show_coverage(&l2_table, l2_fired);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mission", NULL, NULL);
    CU_add_test(suite, "path and sweep", test_path_and_sweep);
    CU_add_test(suite, "goal", test_goal);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "messages", test_messages);
    CU_add_test(suite, "late after blocked", test_late_after_blocked);
    CU_add_test(suite, "unknown start", test_unknown_start);
    CU_add_test(suite, "sweeps", test_sweeps);
    CU_add_test(suite, "random lives", test_random_lives);
    CU_add_test(suite, "L1 alone", test_l1_alone);
    CU_add_test(suite, "arc coverage", test_arc_coverage);
    return check_run();
}
