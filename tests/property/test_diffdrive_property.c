/* The differential-drive robot under random commands, also impossible ones, halts in every
 * state, obstacles that come and go, readings and resumes that get lost, parameters that change
 * while it moves: no machine ever meets a case it does not know, every command gets exactly one
 * reply, and every arc of both machines is taken. */
#include "tests/support/check.h"

#include "twin/sim/robot/diffdrive.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

enum { RUNS = 24, COMMANDS = 200, IDS_MAX = 2 * COMMANDS, BURST = 20 };

#define PERIOD_US   25000
#define STEPS_LIMIT 400000 /* of one run: a robot that never ends is a failure */

struct rig {
    struct diffdrive robot;
    struct world world;
    struct random_source random;
    unsigned sent;
    unsigned replies[IDS_MAX];
    unsigned strange; /* replies to nothing that was asked */
    unsigned by_status[REPLY_STATUS_COUNT];
};

static uint64_t arcs[DIFFDRIVE_MACHINES][DIFFDRIVE_ARCS_MAX];

static double draw_uniform(struct rig *r, double low, double high)
{
    return low + (high - low) * random_uniform(&r->random);
}

static bool draw_chance(struct rig *r, double chance)
{
    return random_uniform(&r->random) < chance;
}

static void record_reply(void *context, const struct robot_reply *reply)
{
    struct rig *r = context;
    char *end = NULL;
    const unsigned long id = strtoul(reply->id, &end, 10);
    if (!reply->id[0] || *end || id >= r->sent) {
        r->strange++;
        return;
    }
    r->replies[id]++;
    r->by_status[reply->status]++;
    CHECK("times", reply->start_us <= reply->end_us && reply->end_us == r->robot.now_us);
    CHECK("a reason", reply->status == REPLY_DONE || reply->status == REPLY_DATA ||
                          reply->status == REPLY_HALTED || reply->detail[0]);
    for (size_t i = 0; i < reply->value_count; i++) {
        CHECK("finite", isfinite(reply->values[i].number));
    }
}

static void send_command(struct rig *r, const char *op, double rotation_rad,
                         double displacement_m)
{
    struct event_command command = {.rotation_rad = rotation_rad,
                                    .displacement_m = displacement_m};
    CU_ASSERT_FATAL(r->sent < IDS_MAX);
    (void)snprintf(command.id, sizeof command.id, "%u", r->sent++);
    (void)snprintf(command.op, sizeof command.op, "%s", op);
    robot_command(&diffdrive_kind, &r->robot, &command, record_reply, r);
}

static void step_rig(struct rig *r)
{
    r->world.t_s += 1e-6 * PERIOD_US;
    diffdrive_kind.step(&r->robot, record_reply, r);
}

static uint8_t state_of(const struct rig *r)
{
    return r->robot.machine[DIFFDRIVE_MAIN].state;
}

static void set_parameter(struct rig *r, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX];
    CHECK_INT(name, robot_set(&diffdrive_kind, &r->robot, name, value, reason), STATUS_OK);
}

static void begin_rig(struct rig *r, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    r->random.state = seed;
    const struct robot_setup setup = {
        .world = &r->world, .seed = seed, .start_us = 1000000, .period_us = PERIOD_US};
    diffdrive_kind.init(&r->robot, &setup);
    set_parameter(r, "scan_count", floor(draw_uniform(r, 0.0, 5.0)));
    set_parameter(r, "resume_timeout_s", draw_uniform(r, 0.1, 2.0));
    set_parameter(r, "blocked_timeout_s", draw_uniform(r, 0.1, 2.0));
}

/* An obstacle ahead of the robot that leaves after a while. */
static void place_obstacle(struct rig *r, double way_m, double stay_s)
{
    const double *pose = r->robot.plant.pose;
    const double t_s = r->world.t_s;
    const struct world_point at = {pose[0] + way_m * cos(pose[2]),
                                   pose[1] + way_m * sin(pose[2])};
    const struct world_obstacle what = {
        .shape = WORLD_CIRCLE, .radius_m = 0.1, .leaves_s = t_s + stay_s};
    r->world = (struct world){.t_s = t_s};
    CHECK_INT("obstacle", world_add(&r->world, &what, &at, 1), STATUS_OK);
}

static void change_parameter(struct rig *r)
{
    static const struct {
        const char *name;
        double low, high;
    } choices[] = {
        {"t0_s", -0.3, 0.3},           {"ta_s", -0.3, 0.3},
        {"tr_s", -0.5, 1.0},           {"lidar_loss_ratio", -1, 1},
        {"gain_left_ratio", -1, 2},    {"gain_right_ratio", -1, 2},
        {"ripple_ratio", 0, 0.2},      {"predictive_stop", 0, 1.9},
        {"controller", 0, 4.9},        {"carry", 0, 2.9},
        {"scan_count", 0, 4.9},        {"linear_speed_mps", 0.1, 0.5},
        {"patience_ratio", 1, 2},      {"safe_distance_m", -0.1, 0.3},
        {"friction_mps", -0.05, 0.05},
    };
    const size_t n = COUNT(choices);
    const double draw = draw_uniform(r, 0.0, (double)n);
    const size_t i = (size_t)draw;
    const struct robot_parameter *row =
        &diffdrive_parameters[robot_parameter_find(&diffdrive_kind, choices[i].name)];
    double value = fmax(draw_uniform(r, choices[i].low, choices[i].high), row->min);
    if (row->choices || strcmp(row->name, "scan_count") == 0) {
        value = floor(value);
    }
    set_parameter(r, row->name, value);
}

static void send_something(struct rig *r)
{
    const double turn_rad = draw_chance(r, 0.3) ? 0.0 : draw_uniform(r, -4.0, 4.0);
    const double way_m = draw_chance(r, 0.3) ? 0.0 : draw_uniform(r, 0.0, 0.8);
    const double draw = draw_uniform(r, 0.0, 1.0);
    if (draw < 0.40) {
        send_command(r, "go", turn_rad, way_m);
    } else if (draw < 0.55) {
        send_command(r, "lidar", 0.0, 0.0);
    } else if (draw < 0.80) {
        send_command(r, "resume", 0.0, 0.0);
    } else if (draw < 0.92) {
        send_command(r, "halt", 0.0, 0.0);
    } else if (draw < 0.96) {
        send_command(r, "fly", turn_rad, way_m);
    } else {
        send_command(r, "go", turn_rad, draw_chance(r, 0.5) ? -1.0 : 1e9);
    }
}

static bool is_idle(const struct rig *r)
{
    return state_of(r) == L0MAIN_LISTEN && r->robot.queue_count == 0;
}

/* Until nothing is in work: gains back to normal, so that moves end. */
static void finish_run(struct rig *r, const char *row)
{
    unsigned steps = 0;
    while (!is_idle(r) && ++steps < STEPS_LIMIT) {
        step_rig(r);
    }
    step_rig(r);
    CHECK(row, steps < STEPS_LIMIT);
    CHECK_INT(row, r->robot.faults, 0);
    CHECK_INT(row, r->strange, 0);
    unsigned wrong = 0;
    for (unsigned id = 0; id < r->sent; id++) {
        wrong += r->replies[id] != 1;
    }
    CHECK_INT(row, wrong, 0);
    for (size_t m = 0; m < DIFFDRIVE_MACHINES; m++) {
        for (size_t i = 0; i < DIFFDRIVE_ARCS_MAX; i++) {
            arcs[m][i] += r->robot.arcs[m][i];
        }
    }
}

static unsigned seed;

static void test_random_commands(void)
{
    static struct rig rig;
    unsigned by_status[REPLY_STATUS_COUNT] = {0};
    for (unsigned run = 0; run < RUNS; run++) {
        char row[32];
        (void)snprintf(row, sizeof row, "run %u", run);
        begin_rig(&rig, (uint64_t)seed << 32 | run);
        for (unsigned i = 0; i < COMMANDS; i++) {
            send_something(&rig);
            if (draw_chance(&rig, 0.2)) {
                place_obstacle(&rig, draw_uniform(&rig, 0.15, 0.6),
                               draw_uniform(&rig, 0.1, 6.0));
            }
            if (draw_chance(&rig, 0.15)) {
                change_parameter(&rig);
            }
            /* Often at once, sometimes long after all is over. */
            const double pause = draw_chance(&rig, 0.5) ? 4.0 : 300.0;
            for (int k = (int)draw_uniform(&rig, 0.0, pause); k > 0; k--) {
                step_rig(&rig);
            }
        }
        finish_run(&rig, row);
        for (size_t k = 0; k < REPLY_STATUS_COUNT; k++) {
            by_status[k] += rig.by_status[k];
        }
    }
    for (size_t k = 0; k < REPLY_STATUS_COUNT; k++) {
        (void)printf("%s %u  ", reply_status_name((enum reply_status)k), by_status[k]);
        CHECK(reply_status_name((enum reply_status)k), by_status[k] > 0);
    }
    (void)printf("\n");
}

/* Bring the robot into a state the way it comes there in real life. */
static void bring_to(struct rig *r, int state)
{
    begin_rig(r, seed + (uint64_t)state);
    set_parameter(r, "scan_count", state == L0MAIN_DONE ? 0.0 : 3.0);
    set_parameter(r, "resume_timeout_s", 5.0);
    set_parameter(r, "tr_s", state == L0MAIN_PAUSE ? 2.0 : 0.0);
    set_parameter(r, "t0_s", state == L0MAIN_START ? 1.0 : 0.0);
    if (state == L0MAIN_BLOCKED) {
        place_obstacle(r, 0.4, 30.0);
    }
    if (state >= L0MAIN_LIDAR) {
        send_command(r, "lidar", 0.0, 0.0);
    } else if (state != L0MAIN_LISTEN) {
        send_command(r, "go", state == L0MAIN_GO || state == L0MAIN_BLOCKED ? 0.0 : 1.5, 0.6);
    }
    for (int i = 0; i < 400 && state_of(r) != state; i++) {
        step_rig(r);
    }
    CHECK_INT(efsm_state_name(&l0main_table, (uint8_t)state), state_of(r), state);
}

static void test_halt_in_every_state(void)
{
    static struct rig rig;
    for (int state = 0; state < L0MAIN_STATE_COUNT; state++) {
        const char *row = efsm_state_name(&l0main_table, (uint8_t)state);
        if (state == L0MAIN_RAY) {
            continue; /* passed within a period */
        }
        bring_to(&rig, state);
        send_command(&rig, "halt", 0.0, 0.0);
        step_rig(&rig);
        CHECK_INT(row, state_of(&rig), L0MAIN_LISTEN);
        CHECK_INT(row, rig.replies[rig.sent - 1], 1);
        CHECK_INT(row, rig.by_status[REPLY_IGNORED], state == L0MAIN_LISTEN);
        CHECK(row, !(fabs(rig.robot.main_out.left) > 0.0));
        finish_run(&rig, row);
    }
}

/* A command that does not fit the state is answered and changes nothing. */
static void test_unfit_in_every_state(void)
{
    static const char *const ops[] = {"go", "lidar", "resume", "fly"};
    static struct rig rig;
    for (int state = L0MAIN_START; state < L0MAIN_STATE_COUNT; state++) {
        for (size_t i = 0; i < COUNT(ops); i++) {
            const char *row = efsm_state_name(&l0main_table, (uint8_t)state);
            const bool fits = state == L0MAIN_RESUME && strcmp(ops[i], "resume") == 0;
            if (state == L0MAIN_RAY) {
                continue;
            }
            bring_to(&rig, state);
            send_command(&rig, ops[i], 0.0, 0.0);
            step_rig(&rig);
            CHECK_INT(row, rig.replies[rig.sent - 1], fits ? 0 : 1);
            CHECK_INT(row, rig.by_status[REPLY_IGNORED] + rig.by_status[REPLY_ERROR],
                      fits ? 0 : 1);
            finish_run(&rig, row);
        }
    }
}

static void test_burst(void)
{
    static struct rig rig;
    begin_rig(&rig, seed);
    for (int i = 0; i < BURST; i++) {
        send_command(&rig, "go", 0.5, 0.0);
    }
    CHECK_INT("no room", rig.by_status[REPLY_ERROR], BURST - DIFFDRIVE_QUEUE_MAX);
    finish_run(&rig, "burst");
    CHECK("taken", rig.by_status[REPLY_DONE] >= 1);
    CHECK_INT("the others", rig.by_status[REPLY_DONE] + rig.by_status[REPLY_IGNORED],
              DIFFDRIVE_QUEUE_MAX);
}

/* Two robots with the same seed and inputs stay the same. */
static void test_repeatable(void)
{
    static struct rig rigs[2];
    for (int i = 0; i < 2; i++) {
        begin_rig(&rigs[i], seed);
        for (int k = 0; k < 50; k++) {
            send_something(&rigs[i]);
            for (int n = 0; n < 30; n++) {
                step_rig(&rigs[i]);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR("pose", rigs[1].robot.plant.pose[i], rigs[0].robot.plant.pose[i], 0, 0);
    }
    for (size_t k = 0; k < L0MAIN_CELL_COUNT; k++) {
        CHECK_NEAR("cells", rigs[1].robot.machine[DIFFDRIVE_MAIN].cell[k],
                   rigs[0].robot.machine[DIFFDRIVE_MAIN].cell[k], 0, 0);
    }
}

/* Last: which arcs did all of the above take? */
static void test_coverage(void)
{
    static const struct efsm_table *const tables[DIFFDRIVE_MACHINES] = {&l0main_table,
                                                                        &l0lidar_table};
    for (size_t m = 0; m < DIFFDRIVE_MACHINES; m++) {
        const struct efsm_table *t = tables[m];
        size_t taken = 0;
        for (size_t i = 0; i < t->arc_count; i++) {
            char row[160];
            (void)snprintf(row, sizeof row, "%s -> %s: %s", t->states[t->arcs[i].from].name,
                           t->states[t->arcs[i].to].name, t->arcs[i].label);
            CHECK(row, arcs[m][i] > 0);
            (void)printf("%10llu  %s\n", (unsigned long long)arcs[m][i], row);
            taken += arcs[m][i] > 0;
        }
        (void)printf("%s: %zu of %zu arcs executed\n", t->name, taken, t->arc_count);
    }
}

int main(void)
{
    seed = check_seed(1);
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("diffdrive", NULL, NULL);
    CU_ADD_TEST(suite, test_random_commands);
    CU_ADD_TEST(suite, test_halt_in_every_state);
    CU_ADD_TEST(suite, test_unfit_in_every_state);
    CU_ADD_TEST(suite, test_burst);
    CU_ADD_TEST(suite, test_repeatable);
    CU_ADD_TEST(suite, test_coverage);
    return check_run();
}
