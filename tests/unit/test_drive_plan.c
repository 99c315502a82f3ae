/* Options of `tandem drive --plan`, the robot's pose and alarms, and why a plan ends. */
#include "tests/support/check.h"

#include <unistd.h>

#include "service/forecast/drive_plan.h"
#include "tests/support/scratch.h"

static struct drive_plan plan;

static struct next_move_aim default_aim(void)
{
    struct next_move_aim aim;
    next_move_aim_start(&aim, (double)NAN);
    return aim;
}

static void test_options(void)
{
    static const struct {
        const char *row;
        bool plan;
        const char *goal, *mission, *room;
        double within_s;
        bool fine;
        double ratio, delay_s; /* wanted */
    } rows[] = {
        {"nothing", false, NULL, NULL, NULL, NAN, true, 0.02, NAN},
        {"plan", true, NULL, NULL, NULL, NAN, true, 0.02, NAN},
        {"goal", true, "5%", NULL, NULL, NAN, true, 0.05, NAN},
        {"delay in ms", true, "0.5%,delay=20ms", NULL, NULL, NAN, true, 0.005, 0.02},
        {"delay in s", true, "50%,delay=0.2s", NULL, NULL, NAN, true, 0.5, 0.2},
        {"goal without plan", false, "5%", NULL, NULL, NAN, false, 0, 0},
        {"no percent", true, "0.02", NULL, NULL, NAN, false, 0, 0},
        {"too small", true, "0.09%", NULL, NULL, NAN, false, 0, 0},
        {"too large", true, "51%", NULL, NULL, NAN, false, 0, 0},
        {"not a number", true, "nan%", NULL, NULL, NAN, false, 0, 0},
        {"delay without unit", true, "2%,delay=20", NULL, NULL, NAN, false, 0, 0},
        {"delay of 0", true, "2%,delay=0ms", NULL, NULL, NAN, false, 0, 0},
        {"another word", true, "2%,lag=20ms", NULL, NULL, NAN, false, 0, 0},
        {"goal and mission", true, "2%", "m.yaml", NULL, 1.0, false, 0, 0},
        {"within alone", true, NULL, NULL, NULL, 1.0, false, 0, 0},
        {"mission alone", true, NULL, "m.yaml", NULL, NAN, false, 0, 0},
        {"no such mission", true, NULL, "no-such-mission.yaml", NULL, 1.0, false, 0, 0},
        {"three numbers", true, NULL, NULL, "0,0,1", NAN, false, 0, 0},
        {"five numbers", true, NULL, NULL, "0,0,1,1,1", NAN, false, 0, 0},
        {"a small room", true, NULL, NULL, "0,0,0.05,0.05", NAN, false, 0, 0},
        {"a room", true, NULL, NULL, "1,-1,-1,1", NAN, true, 0.02, NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct next_move_aim aim = default_aim();
        const struct drive_plan_options options = {rows[i].plan, rows[i].goal, rows[i].mission,
                                                   rows[i].room, rows[i].within_s};
        CHECK_INT(rows[i].row, drive_plan_read(&options, &aim), rows[i].fine);
        if (rows[i].fine) {
            CHECK_NEAR(rows[i].row, aim.speed_ratio, rows[i].ratio, 1e-12, 0);
            CHECK_INT(rows[i].row, isnan(aim.delay_s), isnan(rows[i].delay_s));
            CHECK(rows[i].row,
                  isnan(aim.delay_s) || fabs(aim.delay_s - rows[i].delay_s) < 1e-12);
            CHECK_INT(rows[i].row, aim.bounded, rows[i].room != NULL);
            CHECK(rows[i].row,
                  !aim.bounded || (aim.room_m[0][0] < 0.0 && aim.room_m[1][0] > 0));
        }
    }
}

/* Three drives of a metre, with a quarter turn before the second and the third. */
static void test_mission(void)
{
    char path[SCRATCH_MAX];
    const int fd = mkstemp(scratch_template(path, "mission"));
    FILE *file = fdopen(fd, "w");
    struct next_move_aim aim = default_aim();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    (void)fputs("pair: r1\nsteps: [{path_m: [[1, 0], [1, 1], [0, 1]]}]\n", file);
    (void)fclose(file);
    CHECK("mission",
          drive_plan_read(&(struct drive_plan_options){true, NULL, path, NULL, 0.2}, &aim));
    CHECK_NEAR("commands", aim.mission_row[TRAVEL_T0], 3, 0, 0);
    CHECK_NEAR("turn", aim.mission_row[TRAVEL_INV_W], 3.1416, 1e-4, 0);
    CHECK_NEAR("drive", aim.mission_row[TRAVEL_INV_V], 3, 1e-9, 0);
    CHECK_NEAR("within", aim.half_s, 0.2, 0, 0);
    (void)unlink(path);
}

static void start_plan(bool bounded)
{
    struct next_move_aim aim = default_aim();
    aim.speed_ratio = 0.02;
    aim.bounded = bounded;
    aim.room_m[0][0] = aim.room_m[0][1] = -1.0;
    aim.room_m[1][0] = aim.room_m[1][1] = 1.0;
    memset(&plan, 0, sizeof plan);
    plan.rest_us = LAB_TIME_NONE;
    move_plan_start(&plan.moves, &aim, 1.0, 0.2);
}

static void test_pose(void)
{
    struct event event = {.kind = EVENT_TELEMETRY, .side = SIDE_VIRTUAL};
    event.telemetry.pose_count = 3;
    event.telemetry.pose[0] = 0.5;
    start_plan(true);
    drive_plan_receive_pose(&plan, &event, DRIVE_STANDS);
    CHECK("the virtual robot's", !plan.has_pose);
    event.side = SIDE_REAL;
    drive_plan_receive_pose(&plan, &event, DRIVE_MOVES);
    CHECK("while it moves", !plan.has_pose && !drive_plan_stands_inside(&plan));
    drive_plan_receive_pose(&plan, &event, DRIVE_STANDS);
    CHECK("at rest", plan.has_pose && drive_plan_stands_inside(&plan));
    event.telemetry.pose[1] = -1.5;
    drive_plan_receive_pose(&plan, &event, DRIVE_STANDS);
    CHECK("outside", !drive_plan_stands_inside(&plan));
}

/* After a time-out the robot still moves, across the heading of -pi, and comes to rest. */
static void test_rest(void)
{
    static const struct {
        double t_s, x_m, psi_rad;
        bool rests;
    } rows[] = {{0.0, 0.0, 3.14, false},   {0.4, 0.1, 3.14, false}, {0.8, 0.2, -3.14, false},
                {1.2, 0.205, 3.14, false}, {0.5, 0.3, 3.14, false}, {1.0, 0.304, -3.14, true}};
    struct event event = {.kind = EVENT_TELEMETRY, .side = SIDE_REAL};
    event.telemetry.pose_count = 3;
    start_plan(true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        event.t_us = lab_us(rows[i].t_s);
        event.telemetry.pose[0] = rows[i].x_m;
        event.telemetry.pose[2] = rows[i].psi_rad;
        drive_plan_receive_pose(&plan, &event, DRIVE_UNSURE);
        CHECK_INT("rests", plan.has_pose, rows[i].rests);
    }
    CHECK_NEAR("where", plan.pose[0], 0.304, 1e-12, 0);
}

/* ---- moves of a daemon ---- */

static double find_lap(double turn_rad, double drive_m, double slower, size_t i)
{
    static const double noise_s[] = {0.004, -0.006, 0.001, 0.005, -0.003, -0.001, 0.002};
    return 0.15 + slower * (fabs(turn_rad) / 1.0 + fabs(drive_m) / 0.2) + noise_s[i % 7];
}

static void add_earlier(size_t from, size_t to, double slower)
{
    for (size_t i = from; i < to; i++) {
        const double turn_rad = i % 3 == 1 ? 0.0 : 0.3 + 0.37 * (double)(i * 5 % 8);
        const double drive_m = i % 3 == 0 ? 0.0 : 0.1 + 0.12 * (double)(i * 3 % 8);
        const struct travel_move move = {turn_rad, drive_m,
                                         find_lap(turn_rad, drive_m, slower, i)};
        move_plan_add(&plan.moves, &move, true);
    }
}

/* A plan ends with the values of the robot of now, whatever moves the daemon has. */
static void test_earlier(void)
{
    static const struct {
        const char *row;
        double slower[2]; /* the robot's laps in the first and the second half of its moves */
        double goal;
        size_t left_out; /* wanted */
    } rows[] = {{"the same robot", {1.3, 1.3}, 0.001, 0},
                {"the robot changed since", {1.0, 1.0}, 0.001, 48},
                {"the robot changed meanwhile", {1.0, 1.3}, 0.02, 48}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct event_command command;
        size_t n = 0;
        start_plan(false);
        plan.moves.aim.speed_ratio = rows[k].goal;
        add_earlier(0, 24, rows[k].slower[0]);
        add_earlier(24, 48, rows[k].slower[1]);
        for (; drive_plan_choose(&plan, &command) && n < 200; n++) {
            drive_plan_learn(&plan, &command, DRIVE_DONE,
                             find_lap(command.rotation_rad, command.displacement_m, 1.3, n));
        }
        CHECK_TEXT(rows[k].row, drive_stop_name(plan.stop), "reached");
        CHECK_INT(rows[k].row, plan.moves.left_out, rows[k].left_out);
        CHECK_INT(rows[k].row, plan.moves.n, n + 48 - rows[k].left_out);
        CHECK_NEAR(rows[k].row, plan.moves.fit.beta[TRAVEL_INV_W], 1.3, 0.03, 0);
        CHECK_NEAR(rows[k].row, plan.moves.fit.beta[TRAVEL_INV_V], 6.5, 0.03, 0);
    }
}

static void learn_outcome(enum drive_outcome outcome)
{
    const struct event_command command = {.rotation_rad = 1.0};
    drive_plan_learn(&plan, &command, outcome, 1.1);
}

static void test_stops(void)
{
    static const char alarm[] = "{\"type\":\"drift\",\"side\":\"%s\",\"detail\":"
                                "\"slower\\u001b[2J\"}";
    struct event_command command;
    char text[80];
    start_plan(true);
    CHECK("no pose", !drive_plan_choose(&plan, &command) && plan.stop == DRIVE_NO_POSE);
    start_plan(false);
    learn_outcome(DRIVE_NOT_DONE);
    learn_outcome(DRIVE_UNUSABLE);
    learn_outcome(DRIVE_NOT_DONE);
    CHECK("not in a row", drive_plan_choose(&plan, &command));
    CHECK_TEXT("go", command.op, "go");
    CHECK_INT("unusable", plan.moves.n, 0);
    learn_outcome(DRIVE_NOT_DONE);
    CHECK("in a row", !drive_plan_choose(&plan, &command) && plan.stop == DRIVE_BLOCKED);
    learn_outcome(DRIVE_DONE);
    CHECK_INT("usable", plan.moves.n, 1);
    for (size_t i = 0; i < 2; i++) {
        const int bytes = snprintf(text, sizeof text, alarm, i == 0 ? "virtual" : "real");
        drive_plan_receive_alarm(&plan, text, (size_t)bytes);
        CHECK_INT("drift", drive_plan_choose(&plan, &command), i == 0);
    }
    CHECK("drift", plan.stop == DRIVE_DRIFT && strcmp(plan.drift, "slower?[2J") == 0);
    start_plan(false);
    plan.another = true;
    CHECK("another driver", !drive_plan_choose(&plan, &command) && plan.stop == DRIVE_ANOTHER);
}

/* A drift that began before the plan is that of the daemon's moves. */
static void test_drift(void)
{
    static const struct {
        const char *row, *since;
        int64_t begun_us;
        bool goes_on;
    } rows[] = {{"before the first entry", "999.5", 0, true},
                {"before the plan", "999.5", 1000000000, true},
                {"with the plan's first moves", "1000", 1000000000, true},
                {"in the plan", "1000.1", 1000000000, false},
                {"unknown", "null", 1000000000, false}};
    struct event_command command;
    char text[120];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start_plan(false);
        add_earlier(0, 24, 1.3);
        learn_outcome(DRIVE_DONE);
        plan.begun_us = rows[i].begun_us;
        const int bytes =
            snprintf(text, sizeof text,
                     "{\"type\":\"drift\",\"side\":\"real\",\"detail\":\"slower\","
                     "\"since_t\":%s}",
                     rows[i].since);
        drive_plan_receive_alarm(&plan, text, (size_t)bytes);
        CHECK_INT(rows[i].row, drive_plan_choose(&plan, &command), rows[i].goes_on);
        CHECK_INT(rows[i].row, plan.moves.left_out, rows[i].goes_on ? 24 : 0);
        CHECK_INT(rows[i].row, plan.moves.n, rows[i].goes_on ? 1 : 25);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("drive plan", NULL, NULL);
    (void)CU_add_test(suite, "options", test_options);
    (void)CU_add_test(suite, "mission", test_mission);
    (void)CU_add_test(suite, "pose", test_pose);
    (void)CU_add_test(suite, "rest", test_rest);
    (void)CU_add_test(suite, "earlier moves", test_earlier);
    (void)CU_add_test(suite, "stops", test_stops);
    (void)CU_add_test(suite, "drift", test_drift);
    return check_run();
}
