/* Promises of every robot kind, and the travel times of the differential-drive robot. */
#include "tests/support/check.h"

#include "twin/sim/robot/diffdrive.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

enum { MEMORY_MAX = 65536 };

static max_align_t memory[MEMORY_MAX / sizeof(max_align_t)];
static struct robot_reply last;
static unsigned replies;

static void record_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    last = *reply;
    replies++;
}

static void test_tables(void)
{
    CHECK("some", robot_kind_count > 0);
    for (size_t k = 0; k < robot_kind_count; k++) {
        const struct robot_kind *kind = robot_kinds[k];
        CHECK(kind->name, robot_kind_find(kind->name) == kind);
        CHECK(kind->name, kind->parameter_count <= ROBOT_PARAMETERS_MAX);
        CHECK(kind->name, kind->bytes <= MEMORY_MAX);
        CHECK(kind->name, kind->period_us > 0);
        for (size_t i = 0; i < kind->parameter_count; i++) {
            const struct robot_parameter *p = &kind->parameters[i];
            CHECK_INT(p->name, robot_parameter_find(kind, p->name), i); /* so it is unique */
            CHECK(p->name, robot_value_fits(p, p->preset));
            CHECK(p->name, robot_value_fits(p, p->min) && robot_value_fits(p, p->max));
            CHECK(p->name, p->help && p->help[0] && p->unit);
            for (int c = 0; p->choices && c <= (int)p->max; c++) {
                CHECK_INT(p->name, robot_choice_find(p, p->choices[c]), c);
            }
        }
    }
    CHECK("unknown", robot_kind_find("submarine") == NULL);
}

/* Every kind: it begins with its presets, restores each parameter, runs, samples finite
 * numbers, and answers an unknown command. */
static void test_life(void)
{
    for (size_t k = 0; k < robot_kind_count; k++) {
        const struct robot_kind *kind = robot_kinds[k];
        const struct robot_setup setup = {.seed = 7,
                                          .start_us = 5000000,
                                          .period_us = kind->period_us,
                                          .pose = {1, 2, 0.5},
                                          .pose_count =
                                              kind->pose_count > 0 ? kind->pose_count : 3};
        struct robot_sample sample;
        char reason[ROBOT_REASON_MAX] = "";
        kind->init(memory, &setup);
        for (size_t i = 0; i < kind->parameter_count; i++) {
            const struct robot_parameter *p = &kind->parameters[i];
            CHECK(p->name, robot_value_fits(p, robot_get_parameter(kind, memory, i)));
            CHECK_INT(p->name, robot_set(kind, memory, p->name, p->preset, reason), STATUS_OK);
            CHECK_INT(p->name, robot_set(kind, memory, p->name, p->max * 2 + 1, reason),
                      STATUS_E_RANGE);
            CHECK(p->name, strstr(reason, "was expected"));
            CHECK_INT(p->name, robot_set(kind, memory, p->name, nan(""), reason),
                      STATUS_E_RANGE);
        }
        CHECK_INT(kind->name, robot_set(kind, memory, "colour", 1, reason), STATUS_E_RANGE);
        CHECK(kind->name, strstr(reason, "no such parameter"));
        kind->sample(memory, &sample);
        CHECK_INT(kind->name, sample.t_us, 5000000);
        CHECK_NEAR(kind->name, sample.pose[0], 1.0, 0, 1e-12);
        const struct event_command fly = {.id = "f", .op = "fly"};
        replies = 0;
        robot_command(kind, memory, &fly, record_reply, NULL);
        for (int i = 0; i < 100; i++) {
            kind->step(memory, record_reply, NULL);
        }
        kind->sample(memory, &sample);
        CHECK_INT(kind->name, replies, 1);
        CHECK(kind->name, last.status == REPLY_ERROR || last.status == REPLY_IGNORED);
        CHECK_TEXT(kind->name, last.id, "f");
        CHECK(kind->name, last.detail[0]);
        CHECK_INT(kind->name, sample.t_us, 5000000 + 100 * kind->period_us);
        for (size_t i = 0; i < sample.pose_count; i++) {
            CHECK(kind->name, isfinite(sample.pose[i]));
        }
    }
}

static double lap_s(struct diffdrive *d, double rotation_rad, double displacement_m)
{
    const struct event_command go = {
        .op = "go", .rotation_rad = rotation_rad, .displacement_m = displacement_m};
    replies = 0;
    for (int i = 0; i < 80; i++) { /* until it rests, and the lidar looks ahead */
        diffdrive_kind.step(d, record_reply, NULL);
    }
    robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
    for (int i = 0; i < 4000 && replies == 0; i++) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK_INT("done", last.status, REPLY_DONE);
    return lab_s(last.end_us - last.start_us);
}

/* A move takes the time of its travel-time parameters, if that is more than the robot's own
 * steps take: so it can get the fit of another robot's laps unchanged. */
static void test_travel_times(void)
{
    static const struct {
        const char *name;
        double rotation_rad, displacement_m;
    } cases[] = {
        {"turn left", 1.0, 0.0},     {"turn right", -2.5, 0.0}, {"more than a half", 4.0, 0.0},
        {"short way", 0.0, 0.3},     {"long way", 0.0, 1.5},    {"turn and go", 1.5, 0.6},
        {"right and go", -0.8, 1.0},
    };
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct robot_setup setup = {.seed = 3, .period_us = 25000};
    const double t0_s = 0.2;
    const double ta_s = 0.15;
    const double tr_s = 0.7;
    const double w = 1.1;
    const double v = 0.22;
    for (size_t i = 0; i < COUNT(cases); i++) {
        diffdrive_kind.init(d, &setup);
        d->params.ripple_ratio = 0.0;
        d->params.t0_s = t0_s;
        d->params.ta_s = ta_s;
        d->params.tr_s = tr_s;
        d->params.angular_speed_radps = w;
        d->params.linear_speed_mps = v;
        const double turn = fabs(cases[i].rotation_rad);
        const double want_s =
            t0_s + (turn > 0.0 ? ta_s + turn / w : 0.0) +
            (cases[i].displacement_m > 0.0 ? tr_s + cases[i].displacement_m / v : 0.0);
        CHECK_NEAR(cases[i].name, lap_s(d, cases[i].rotation_rad, cases[i].displacement_m),
                   want_s, 0.0, 0.05);
    }
}

/* Commands to the motors are in m/s and rad/s of the body: in steady motion they equal its
 * velocity. */
static void test_commanded_velocity(void)
{
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct robot_setup setup = {.seed = 3, .period_us = 25000};
    const struct event_command go = {.op = "go", .rotation_rad = 2.0, .displacement_m = 1.0};
    double off = 0.0;
    double fastest[3] = {0.0};
    struct robot_sample before = {.t_us = 0};
    diffdrive_kind.init(d, &setup);
    d->params.ripple_ratio = 0.0;
    replies = 0;
    robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
    for (int i = 0, even = 0; i < 1000; i++) {
        struct robot_sample s;
        diffdrive_kind.step(d, record_reply, NULL);
        diffdrive_kind.sample(d, &s);
        CHECK_INT("of the plane", s.nu_count == 3 && s.tau_count == 3, true);
        even = memcmp(s.tau, before.tau, sizeof s.tau) == 0 ? even + 1 : 0;
        for (size_t a = 0; a < 3; a++) {
            off = even > 20 ? fmax(off, fabs(s.nu[a] - s.tau[a])) : off;
            fastest[a] = fmax(fastest[a], fabs(s.tau[a]));
        }
        before = s;
    }
    CHECK_INT("moved", last.status, REPLY_DONE);
    CHECK_NEAR("its velocity", off, 0.0, 0.0, 0.01);
    CHECK("drove", fastest[0] > 0.1 && fastest[2] > 0.3);
    CHECK_NEAR("not sideways", fastest[1], 0.0, 0.0, 0.0);
}

/* A wheel with dry friction stays below its breakaway command, moves slower by it, and coasts
 * no farther than predicted. */
static void test_friction(void)
{
    static const double friction_mps[] = {0.0, 0.02, 0.3};
    for (size_t i = 0; i < COUNT(friction_mps); i++) {
        struct diffdrive_plant plant = {.ripple = {0.0}};
        struct diffdrive *d = (struct diffdrive *)memory;
        const struct robot_setup setup = {.seed = 3, .period_us = 25000};
        double turn_rad = 0.0;
        double way_m = 0.0;
        diffdrive_kind.init(d, &setup);
        struct diffdrive_params p = d->params;
        p.ripple_ratio = 0.0;
        p.friction_mps = friction_mps[i];
        const double full[DIFFDRIVE_WHEELS] = {p.control_max, p.control_max};
        const double none[DIFFDRIVE_WHEELS] = {0.0, 0.0};
        diffdrive_plant_step(&plant, &p, NULL, full, 2000000);
        const double speed_mps = fmax(p.linear_speed_mps - friction_mps[i], 0.0);
        CHECK_NEAR("speed", plant.speed_mps[DIFFDRIVE_LEFT], speed_mps, 1e-6, 1e-9);
        diffdrive_plant_coast(&plant, &p, &turn_rad, &way_m);
        const double from_m = plant.pose[0];
        diffdrive_plant_step(&plant, &p, NULL, none, 5000000);
        CHECK_NEAR("coasts", plant.pose[0] - from_m, way_m, 0.02, 1e-6);
        CHECK("slower than without", way_m <= speed_mps * p.motor_lag_s + 1e-12);
        CHECK("at rest to the last digit",
              !(friction_mps[i] > 0.0) || !(fabs(plant.speed_mps[DIFFDRIVE_LEFT]) > 0.0));
    }
}

/* Whatever the kind: put elsewhere, it is there; not while it moves. */
static void test_placed(void)
{
    const double pose[3] = {3.0, -1.0, 2.5};
    for (size_t k = 0; k < robot_kind_count; k++) {
        const struct robot_kind *kind = robot_kinds[k];
        const struct robot_setup setup = {.seed = 7, .period_us = kind->period_us};
        const struct event_command go = {
            .id = "g", .op = "go", .rotation_rad = 1.0, .displacement_m = 0.2};
        struct robot_sample sample;
        if (!kind->place) {
            continue;
        }
        kind->init(memory, &setup);
        CHECK_INT(kind->name, kind->place(memory, pose), STATUS_OK);
        kind->sample(memory, &sample);
        for (size_t i = 0; i < 3; i++) {
            CHECK_NEAR(kind->name, sample.pose[i], pose[i], 0, 1e-12);
        }
        if (strstr(kind->operations, "go")) {
            robot_command(kind, memory, &go, record_reply, NULL);
            CHECK_INT(kind->name, kind->place(memory, pose), STATUS_E_STALE);
            kind->step(memory, record_reply, NULL);
            CHECK_INT(kind->name, kind->place(memory, pose), STATUS_E_STALE);
        }
    }
}

/* A robot placed elsewhere at the moment of its reply, while its motors run out, comes to rest
 * there, in truth and by its own estimate. The next move covers the remaining distance to its
 * goal. After a long distance, or a halt, nothing remains. */
static void test_placed_running_out(void)
{
    static const struct {
        const char *row;
        double off_m, off_rad, retained;
        bool halted;
    } rows[] = {{"near", 0.02, 0.03, 1.0, false},
                {"far", 1.0, 0.03, 0.0, false},
                {"turned", 0.02, -0.5, 0.0, false},
                {"halted", 0.02, 0.03, 0.0, true}};
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct robot_setup setup = {.seed = 3, .period_us = 25000};
    const struct event_command go = {.op = "go", .rotation_rad = 1.0, .displacement_m = 1.0};
    const struct event_command halt = {.op = "halt"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        diffdrive_kind.init(d, &setup);
        d->params.wheel_radius_error_ratio = 0.05; /* its estimate is wrong */
        replies = 0;
        robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
        for (int k = 0; replies == 0 || (rows[i].halted && replies < 2); k++) {
            if (rows[i].halted && k == 120) {
                robot_command(&diffdrive_kind, d, &halt, record_reply, NULL);
            }
            diffdrive_kind.step(d, record_reply, NULL);
        }
        const double pose[3] = {last.values[0].number + rows[i].off_m, last.values[1].number,
                                last.values[2].number + rows[i].off_rad};
        CHECK("it moves", fabs(d->plant.speed_mps[0]) > 0.01);
        CHECK_INT(rows[i].row, diffdrive_kind.place(d, pose), STATUS_OK);
        for (int k = 0; k < 80; k++) {
            diffdrive_kind.step(d, record_reply, NULL);
        }
        for (size_t a = 0; a < 3; a++) {
            CHECK_NEAR(rows[i].row, d->plant.pose[a], pose[a], 0, 1e-3);
            CHECK_NEAR(rows[i].row, d->odometry[a], pose[a], 0, 2e-3);
        }
        /* From the direction of its goal, which it had almost reached, to its new place. */
        const double *cell = d->machine[DIFFDRIVE_MAIN].cell;
        const double left_m = hypot(cell[L0MAIN_X], cell[L0MAIN_Y]);
        CHECK_NEAR(rows[i].row, left_m, rows[i].retained * 0.02, 0, 0.012);
        CHECK_NEAR(rows[i].row, cell[L0MAIN_ANGLE], rows[i].retained * 0.03, 0, 0.03);
    }
}

/* A wall ahead: the robot slows down, stops before it, gives up, and never touches it. */
static void test_wall(void)
{
    static struct world world;
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct world_point wall[] = {{1.0, -1.0}, {1.0, 1.0}};
    const struct world_obstacle what = {.shape = WORLD_WALL};
    const struct robot_setup setup = {.world = &world, .seed = 3, .period_us = 25000};
    const struct event_command go = {.id = "g", .op = "go", .displacement_m = 2.0};
    world = (struct world){.t_s = 0.0};
    CHECK_INT("wall", world_add(&world, &what, wall, COUNT(wall)), STATUS_OK);
    diffdrive_kind.init(d, &setup);
    replies = 0;
    robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
    for (int i = 0; i < 1000 && replies == 0; i++) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK_INT("wall", last.status, REPLY_BLOCKED);
    CHECK_INT("wall", d->plant.bumps, 0);
    CHECK_NEAR("wall", d->plant.pose[0], 1.0 - d->params.safe_distance_m, 0, 0.02);
    CHECK_TEXT("wall", last.values[last.value_count - 1].name, "range_m");
    CHECK_NEAR("wall", last.values[0].number, d->plant.pose[0], 0, 0.005);
    /* Without its lidar's care it drives against the wall, and stays on this side of it. */
    d->params.safe_distance_m = 0.0;
    replies = 0;
    robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
    for (int i = 0; i < 1000 && replies == 0; i++) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK("bump", d->plant.bumps > 0);
    CHECK("bump", d->plant.pose[0] <= 1.0 - d->params.radius_m);
}

/* A robot inside a wall would never get out of it: it is not placed there. */
static void test_place_in_wall(void)
{
    static struct world world;
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct world_point wall[] = {{1.0, -1.0}, {1.0, 1.0}};
    const struct world_obstacle what = {.shape = WORLD_WALL};
    const struct robot_setup setup = {.world = &world, .seed = 3, .period_us = 25000};
    world = (struct world){.t_s = 0.0};
    CHECK_INT("wall", world_add(&world, &what, wall, COUNT(wall)), STATUS_OK);
    diffdrive_kind.init(d, &setup);
    CHECK_INT("in it", diffdrive_kind.place(d, (const double[]){0.95, 0, 0}), STATUS_E_RANGE);
    CHECK_NEAR("it stays", d->plant.pose[0], 0.0, 0, 1e-12);
    CHECK_INT("before it", diffdrive_kind.place(d, (const double[]){0.8, 0, 0}), STATUS_OK);
}

/* Under a velocity command, it approaches the velocity with its motors' lag, on its track, for
 * as long as an effort counts; a command in progress has priority, and a later one begins where
 * the robot is. */
static void test_effort(void)
{
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct robot_setup setup = {.seed = 3, .period_us = 25000};
    const struct event_command go = {.id = "g", .op = "go", .displacement_m = 0.5};
    static const double efforts[][3] = {{0.1, 0.0, 0.5}, {0.02, 0.0, -1.0}, {-0.1, 0.0, 0.0}};
    diffdrive_kind.init(d, &setup);
    d->params.dead_zone = 0.0;
    d->params.ripple_ratio = 0.0;
    d->params.angular_speed_radps = 2.0; /* slips on the spot: another scale there */
    for (size_t i = 0; i < COUNT(efforts); i++) {
        struct robot_sample sample;
        CHECK_INT("three", diffdrive_kind.effort(d, efforts[i], 3), STATUS_OK);
        for (int k = 0; k < 19; k++) {
            diffdrive_kind.step(d, record_reply, NULL);
        }
        diffdrive_kind.sample(d, &sample);
        CHECK_NEAR("reported, ahead", sample.tau[0], efforts[i][0], 0, 1e-12);
        CHECK_NEAR("reported, turn", sample.tau[2], efforts[i][2], 0, 1e-12);
        CHECK_NEAR("ahead", sample.nu[0], efforts[i][0], 0, 1e-3);
        CHECK_NEAR("turn", sample.nu[2], efforts[i][2], 0, 0.01);
    }
    for (int k = 0; k < 80; k++) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK_NEAR("it counts for so long", d->plant.speed_mps[0], 0.0, 0, 1e-6);
    const double from_m[] = {d->plant.pose[0], d->plant.pose[1]};
    replies = 0;
    robot_command(&diffdrive_kind, d, &go, record_reply, NULL);
    for (int k = 0; k < 400 && replies == 0; k++) {
        CHECK_INT("two", diffdrive_kind.effort(d, efforts[1], 2), STATUS_OK);
        diffdrive_kind.step(d, record_reply, NULL);
    }
    d->effort_until_us = 0;
    for (int k = 0; k < 80; k++) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK_INT("the command's way", last.status, REPLY_DONE);
    CHECK_NEAR("and no other",
               hypot(d->plant.pose[0] - from_m[0], d->plant.pose[1] - from_m[1]), 0.5, 0, 0.02);
    CHECK_INT("one", diffdrive_kind.effort(d, efforts[0], 1), STATUS_E_RANGE);
    CHECK_INT("no number", diffdrive_kind.effort(d, (const double[]){NAN, 0.0}, 2),
              STATUS_E_RANGE);
}

/* One sweep: each ray is the answer to one command; the lidar looks ahead again at the end. */
static void test_sweep(void)
{
    static struct world world;
    struct diffdrive *d = (struct diffdrive *)memory;
    const struct world_point at = {0.0, 1.0}; /* to the left */
    const struct world_obstacle post = {.shape = WORLD_CIRCLE, .radius_m = 0.5};
    const struct robot_setup setup = {.world = &world, .seed = 3, .period_us = 25000};
    world = (struct world){.t_s = 0.0};
    CHECK_INT("post", world_add(&world, &post, &at, 1), STATUS_OK);
    diffdrive_kind.init(d, &setup);
    d->params.scan_count = 3;
    d->params.lidar_noise_m = 0.0;
    static const struct {
        const char *op;
        enum reply_status status;
        double angle_rad, range_m;
    } script[] = {{"lidar", REPLY_DATA, 1.571, 0.5},
                  {"resume", REPLY_DATA, 0.0, 2.0},
                  {"resume", REPLY_DATA, -1.571, 2.0},
                  {"resume", REPLY_DONE, 0.0, 0.0},
                  {"resume", REPLY_IGNORED, 0.0, 0.0}};
    for (size_t i = 0; i < COUNT(script); i++) {
        struct event_command command = {.rotation_rad = 0.0};
        (void)snprintf(command.op, sizeof command.op, "%s", script[i].op);
        replies = 0;
        robot_command(&diffdrive_kind, d, &command, record_reply, NULL);
        for (int k = 0; k < 200; k++) {
            diffdrive_kind.step(d, record_reply, NULL);
        }
        CHECK_INT(script[i].op, replies, 1);
        CHECK_INT(script[i].op, last.status, script[i].status);
        if (last.status == REPLY_DATA) {
            CHECK_NEAR(script[i].op, last.values[0].number, script[i].angle_rad, 0, 1e-9);
            CHECK_NEAR(script[i].op, last.values[1].number, script[i].range_m, 0, 1e-3);
        }
    }
    CHECK("ahead", d->lidar_out.ahead);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("robot", NULL, NULL);
    CU_ADD_TEST(suite, test_tables);
    CU_ADD_TEST(suite, test_life);
    CU_ADD_TEST(suite, test_travel_times);
    CU_ADD_TEST(suite, test_commanded_velocity);
    CU_ADD_TEST(suite, test_placed);
    CU_ADD_TEST(suite, test_friction);
    CU_ADD_TEST(suite, test_placed_running_out);
    CU_ADD_TEST(suite, test_wall);
    CU_ADD_TEST(suite, test_place_in_wall);
    CU_ADD_TEST(suite, test_effort);
    CU_ADD_TEST(suite, test_sweep);
    return check_run();
}
