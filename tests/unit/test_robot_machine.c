/* A machine of a file drives the differential-drive robot: commands and replies, faults, ports.
 */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "config/machine/machine_file.h"
#include "twin/sim/robot/diffdrive.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

#define SHIPPED TANDEM_SOURCE_DIR "/config/machines/"

enum { REPLIES_MAX = 32 };

struct rig {
    struct machine_file *file;
    struct diffdrive robot;
    struct world world;
    size_t count;
    struct robot_reply replies[REPLIES_MAX];
};

static void store_reply(void *context, const struct robot_reply *reply)
{
    struct rig *r = context;
    CU_ASSERT_FATAL(r->count < REPLIES_MAX);
    r->replies[r->count++] = *reply;
}

static void start_robot(struct rig *r, const struct machine *machine)
{
    const struct robot_setup setup = {.world = &r->world,
                                      .machine = machine,
                                      .seed = 7,
                                      .start_us = 1000000,
                                      .period_us = diffdrive_kind.period_us};
    r->count = 0;
    diffdrive_kind.init(&r->robot, &setup);
}

static struct rig *create_rig(const char *path, const char *text)
{
    struct rig *r = calloc(1, sizeof *r);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    const enum status st =
        path ? machine_file_load(path, false, &r->file)
             : machine_file_parse(text, strlen(text), "test.yaml", false, &r->file);
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    if (machine_file_count(r->file, MACHINE_ERROR) > 0) {
        (void)machine_file_print_diagnostics(r->file, stdout);
    }
    CU_ASSERT_EQUAL_FATAL(machine_file_count(r->file, MACHINE_ERROR), 0);
    char reason[512] = "";
    CHECK(path ? path : text,
          robot_accepts_machine(&diffdrive_kind, r->file->machines[0], reason, sizeof reason));
    CHECK_TEXT(path ? path : text, reason, "");
    start_robot(r, r->file->machines[0]);
    return r;
}

static void free_rig(struct rig *r)
{
    machine_file_free(r->file);
    free(r);
}

static void command_robot(struct rig *r, const char *id, const char *op, double turn_rad,
                          double way_m)
{
    struct event_command command = {.rotation_rad = turn_rad, .displacement_m = way_m};
    (void)snprintf(command.id, sizeof command.id, "%s", id);
    (void)snprintf(command.op, sizeof command.op, "%s", op);
    robot_command(&diffdrive_kind, &r->robot, &command, store_reply, r);
}

/* Runs for this time, or until this number of replies; returns the seconds that it took. */
static double run_robot(struct rig *r, double most_s, size_t replies)
{
    int64_t steps = 0;
    while (lab_s(steps * diffdrive_kind.period_us) < most_s && r->count < replies) {
        diffdrive_kind.step(&r->robot, store_reply, r);
        steps++;
    }
    return lab_s(steps * diffdrive_kind.period_us);
}

static void check_reply(struct rig *r, const char *row, size_t i, const char *id,
                        enum reply_status status)
{
    CU_ASSERT_FATAL(i < r->count);
    CHECK_TEXT(row, r->replies[i].id, id);
    if (r->replies[i].status != status) {
        (void)printf("[%s] %s\n", row, r->replies[i].detail);
    }
    CHECK_INT(row, r->replies[i].status, status);
}

/* ---- both shipped ones drive: turns of both signs, more than a half turn, and no turn ---- */

static void drive_around(const char *name)
{
    static const struct {
        double turn_rad, way_m, tolerance_rad;
    } moves[] = {{0.0, 0.4, 0.06},
                 {1.2, 0.5, 0.2},
                 {-1.6, 0.3, 0.2},
                 {3.6, 0.25, 0.25},
                 {-0.5, 0.0, 0.2}};
    struct rig *r = create_rig(name, NULL);
    double want[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < COUNT(moves); i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%zu", i);
        const double *at = r->robot.plant.pose;
        const double psi_rad = at[2] + moves[i].turn_rad;
        want[0] = at[0] + moves[i].way_m * cos(psi_rad);
        want[1] = at[1] + moves[i].way_m * sin(psi_rad);
        command_robot(r, id, "go", moves[i].turn_rad, moves[i].way_m);
        const double took_s = run_robot(r, 30.0, i + 1);
        check_reply(r, id, i, id, REPLY_DONE);
        CHECK("not at once", took_s > 0.1);
        (void)run_robot(r, 1.0, REPLIES_MAX); /* it runs out */
        CHECK_NEAR(id, at[0], want[0], 0.0, 0.06);
        CHECK_NEAR(id, at[1], want[1], 0.0, 0.06);
        CHECK_NEAR(id, robot_wrap_rad(at[2] - psi_rad), 0.0, 0.0, moves[i].tolerance_rad);
    }
    CHECK_INT("no fault", r->robot.faults, 0);
    free_rig(r);
}

static void test_drives(void)
{
    drive_around(SHIPPED "l0main.yaml");
    drive_around(SHIPPED "drive.yaml");
    drive_around(SHIPPED "drive.drawio");
}

/* ---- the shipped L0Main and the robot's own do the same ---- */

struct both {
    struct rig *file, *own;
    double apart_m, apart_rad, control; /* at most, from period to period */
};

static void command_both(struct both *b, const char *id, const char *op, double turn_rad,
                         double way_m)
{
    command_robot(b->file, id, op, turn_rad, way_m);
    command_robot(b->own, id, op, turn_rad, way_m);
}

static void run_both(struct both *b, double s)
{
    for (int64_t step = 0; lab_s(step * diffdrive_kind.period_us) < s; step++) {
        const double *one = b->file->robot.plant.pose;
        const double *other = b->own->robot.plant.pose;
        diffdrive_kind.step(&b->file->robot, store_reply, b->file);
        diffdrive_kind.step(&b->own->robot, store_reply, b->own);
        b->apart_m = fmax(b->apart_m, hypot(one[0] - other[0], one[1] - other[1]));
        b->apart_rad = fmax(b->apart_rad, fabs(robot_wrap_rad(one[2] - other[2])));
        for (size_t i = 0; i < 2; i++) {
            b->control =
                fmax(b->control, fabs(b->file->robot.control[i] - b->own->robot.control[i]));
        }
    }
}

/* Places a simulator at the real robot's pose: this far to its left. */
static void place_aside(struct both *b, double way_m)
{
    const double *at = b->own->robot.plant.pose;
    const double pose[3] = {at[0] - way_m * sin(at[2]), at[1] + way_m * cos(at[2]), at[2]};
    CHECK_INT("put", diffdrive_kind.place(&b->file->robot, pose), STATUS_OK);
    CHECK_INT("put", diffdrive_kind.place(&b->own->robot, pose), STATUS_OK);
    run_both(b, 1.0);
}

static void check_replies(const struct both *b)
{
    CHECK_INT("replies", b->file->count, b->own->count);
    for (size_t i = 0; i < b->file->count && i < b->own->count; i++) {
        const struct robot_reply *file = &b->file->replies[i];
        const struct robot_reply *own = &b->own->replies[i];
        CHECK_TEXT("of", file->id, own->id);
        CHECK_INT(own->id, file->status, own->status);
        CHECK_INT(own->id, file->end_us, own->end_us);
    }
}

/* Moves of all kinds after one another, so that what one leaves stays; some that are halted,
 * one after the robot was put near its goal, one after it was put elsewhere, one before a wall.
 */
static void test_same_as_own(void)
{
    static const struct {
        double turn_rad, way_m, halt_s;
    } moves[] = {{0.0, 0.5, 0.0},  {1.2, 0.4, 0.0},   {-1.6, 0.3, 0.0}, {0.05, 0.6, 0.0},
                 {0.0, 0.04, 0.0}, {2.9, 0.5, 0.0},   {0.3, 0.0, 0.0},  {0.0, 0.8, 1.5},
                 {-0.7, 0.4, 0.3}, {-2.2, 0.35, 0.0}, {0.0, 0.2, 0.0}};
    static const struct world_obstacle wall = {
        .name = "pole", .shape = WORLD_CIRCLE, .radius_m = 0.2};
    struct both b = {.file = create_rig(SHIPPED "l0main.yaml", NULL),
                     .own = create_rig(SHIPPED "l0main.yaml", NULL)};
    start_robot(b.own, NULL);
    for (size_t i = 0; i < COUNT(moves); i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "g%zu", i);
        command_both(&b, id, "go", moves[i].turn_rad, moves[i].way_m);
        run_both(&b, moves[i].halt_s > 0.0 ? moves[i].halt_s : 6.0);
        if (moves[i].halt_s > 0.0) {
            command_both(&b, "h", "halt", 0.0, 0.0);
            run_both(&b, 1.0);
        }
    }
    const double *at = b.own->robot.plant.pose;
    const struct world_point before = {at[0] + 0.7 * cos(at[2]), at[1] + 0.7 * sin(at[2])};
    CHECK_INT("wall", world_add(&b.own->world, &wall, &before, 1), STATUS_OK);
    CHECK_INT("wall", world_add(&b.file->world, &wall, &before, 1), STATUS_OK);
    command_both(&b, "w", "go", 0.0, 1.0);
    run_both(&b, 12.0);
    command_both(&b, "end", "go", 3.0, 0.0);
    run_both(&b, 5.0);
    CHECK("together", b.apart_m < 1e-9 && b.apart_rad < 1e-9 && b.control < 1e-6);
    place_aside(&b, 0.03);
    command_both(&b, "p0", "go", 0.0, 0.3);
    run_both(&b, 6.0);
    place_aside(&b, 0.6);
    command_both(&b, "p1", "go", 0.4, 0.3);
    run_both(&b, 6.0);
    check_replies(&b);
    /* Put elsewhere, its own knows where it will come to rest, the other one where it has. */
    CHECK("put", b.apart_m < 1e-3 && b.apart_rad < 2e-3 && b.control < 3.0);
    free_rig(b.file);
    free_rig(b.own);
}

/* ---- commands that end otherwise ---- */

static void test_halt(void)
{
    struct rig *r = create_rig(SHIPPED "l0main.yaml", NULL);
    command_robot(r, "h0", "halt", 0.0, 0.0);
    (void)run_robot(r, 1.0, 1);
    check_reply(r, "nothing to halt", 0, "h0", REPLY_IGNORED);
    command_robot(r, "g1", "go", 0.0, 3.0);
    (void)run_robot(r, 1.0, 2);
    command_robot(r, "g2", "go", 0.0, 1.0);
    (void)run_robot(r, 1.0, 2);
    check_reply(r, "not for now", 1, "g2", REPLY_IGNORED);
    CHECK_TEXT("not for now", r->replies[1].detail, "go is not for now: the robot is in GO");
    command_robot(r, "h1", "halt", 0.0, 0.0);
    (void)run_robot(r, 1.0, 4);
    check_reply(r, "halted", 2, "g1", REPLY_HALTED);
    check_reply(r, "halted", 3, "h1", REPLY_DONE);
    (void)run_robot(r, 1.0, REPLIES_MAX);
    CHECK("it rests", fabs(r->robot.control[0]) + fabs(r->robot.control[1]) < 1e-9);
    command_robot(r, "w1", "dance", 0.0, 0.0);
    (void)run_robot(r, 1.0, 5);
    check_reply(r, "no such command", 4, "w1", REPLY_ERROR);
    CHECK_INT("no fault", r->robot.faults, 0);
    free_rig(r);
}

static void test_sweep(void)
{
    struct rig *r = create_rig(SHIPPED "l0main.yaml", NULL);
    command_robot(r, "s0", "lidar", 0.0, 0.0);
    for (size_t ray = 0; ray < 7; ray++) {
        char id[16];
        (void)snprintf(id, sizeof id, "s%zu", ray);
        (void)run_robot(r, 5.0, ray + 1);
        check_reply(r, id, ray, id, REPLY_DATA);
        CHECK_NEAR(id, r->replies[ray].values[0].number, PI * (0.5 - (double)ray / 6.0), 0.0,
                   0.002);
        (void)snprintf(id, sizeof id, "s%zu", ray + 1);
        command_robot(r, id, "resume", 0.0, 0.0);
    }
    (void)run_robot(r, 5.0, 8);
    check_reply(r, "the end", 7, "s7", REPLY_DONE);
    CHECK_INT("no fault", r->robot.faults, 0);
    free_rig(r);
}

static void test_blocked(void)
{
    static const char *const files[] = {SHIPPED "l0main.yaml", SHIPPED "drive.yaml"};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rig *r = create_rig(files[i], NULL);
        const struct world_obstacle wall = {
            .name = "pole", .shape = WORLD_CIRCLE, .radius_m = 0.2};
        const struct world_point at = {1.0, 0.0};
        CHECK_INT(files[i], world_add(&r->world, &wall, &at, 1), STATUS_OK);
        command_robot(r, "g1", "go", 0.0, 2.0);
        (void)run_robot(r, 30.0, 1);
        check_reply(r, files[i], 0, "g1", REPLY_BLOCKED);
        CHECK("before it", r->robot.plant.pose[0] < 0.75 && r->robot.plant.pose[0] > 0.3);
        free_rig(r);
    }
}

/* ---- faults and ends ---- */

#define DRIVES                                                                                 \
    "machine: M\ninputs: {go: truth, halt: truth, distance: number, dx: number}\n"             \
    "variables: {D: number}\noutputs: {L: 0, R: 0, done: false, halted: false}\n"              \
    "initial: LISTEN\nstates:\n"

/* A machine that does not know what to do when it is halted. */
static const char forgets_halt[] =
    DRIVES "  LISTEN:\n    arcs:\n    - {when: go, do: [\"D+ = distance\"], to: GO}\n"
           "    - {when: \"!go\", to: LISTEN}\n"
           "  GO:\n    outputs: [\"L = 1\", \"R = 1\"]\n    arcs:\n"
           "    - {when: D > 0 && !after(1), do: [\"D+ = D - dx/if(halt, 0*D, 1)\"], to: GO}\n"
           "    - {when: D > 0 && after(1), do: [\"D+ = -1\"], pop: 1, to: LISTEN}\n"
           "    - {when: \"!(D > 0)\", to: SAYS}\n"
           "  SAYS:\n    outputs: [\"done = true\"]\n    arcs:\n    - {to: LISTEN}\n";

static void test_fault(void)
{
    struct rig *r = create_rig(NULL, forgets_halt);
    struct robot_machine machines[ROBOT_MACHINES_MAX];
    command_robot(r, "g1", "go", 0.0, 0.1);
    (void)run_robot(r, 5.0, 1);
    check_reply(r, "short", 0, "g1", REPLY_DONE);
    command_robot(r, "g2", "go", 0.0, 5.0);
    (void)run_robot(r, 5.0, 2);
    check_reply(r, "fault", 1, "g2", REPLY_ERROR);
    CHECK("in words",
          strstr(r->replies[1].detail, "M: STACK_EMPTY in GO at ") == r->replies[1].detail);
    (void)run_robot(r, 2.0, REPLIES_MAX);
    CHECK("it rests", fabs(r->robot.control[0]) + fabs(r->robot.control[1]) < 1e-9);
    CHECK_INT("machines", diffdrive_kind.machines(&r->robot, machines), 2);
    CHECK_TEXT("it shows", efsm_state_name(machines[0].table, machines[0].m->state),
               "__STACK_EMPTY__");
    CHECK_INT("counted", machines[0].stats->faults, 1);
    CHECK_INT("the lidar goes on", efsm_is_active(machines[1].table, machines[1].m), true);
    command_robot(r, "g3", "go", 0.0, 0.1);
    (void)run_robot(r, 5.0, 3);
    check_reply(r, "restarts", 2, "g3", REPLY_DONE);
    free_rig(r);
}

static void test_end(void)
{
    struct rig *r = create_rig(
        NULL, DRIVES "  LISTEN:\n    arcs:\n    - {when: go && dx < 1, to: END}\n"
                     "    - {when: \"!(go && dx < 1)\", do: [\"D+ = distance\"], to: LISTEN}\n"
                     "  END: {final: true, outputs: [\"L = 1\"]}\n");
    /* Without a go there is no distance. */
    (void)run_robot(r, 0.1, REPLIES_MAX);
    struct robot_machine machines[ROBOT_MACHINES_MAX];
    (void)diffdrive_kind.machines(&r->robot, machines);
    CHECK_TEXT("no go yet", efsm_state_name(machines[0].table, machines[0].m->state),
               "__UNDEFINED__");
    command_robot(r, "g1", "go", 0.0, 1.0);
    (void)run_robot(r, 1.0, 1);
    check_reply(r, "ends", 0, "g1", REPLY_ERROR);
    CHECK_TEXT("ends", r->replies[0].detail, "M ended in END without an answer");
    (void)run_robot(r, 1.0, REPLIES_MAX);
    CHECK("it rests", fabs(r->robot.control[0]) < 1e-9);
    free_rig(r);
}

/* ---- each command is answered once, whatever comes when ---- */

enum { MANY = 400 };

static void count_reply(void *context, const struct robot_reply *reply)
{
    unsigned *counts = context;
    const long number = strtol(reply->id + 1, NULL, 10);
    CU_ASSERT_FATAL(number >= 0 && number < MANY);
    counts[number]++;
}

static void test_each_once(void)
{
    static const char *const words[] = {"go", "go", "go", "halt", "lidar", "resume", "dance"};
    const char *const files[] = {SHIPPED "l0main.yaml", SHIPPED "drive.yaml", NULL};
    for (size_t f = 0; f < COUNT(files); f++) {
        struct rig *r = create_rig(files[f], forgets_halt);
        struct random_source random = {.state = 5 + f};
        unsigned counts[MANY] = {0};
        size_t sent = 0;
        for (int64_t step = 0; step < 40000; step++) {
            if (sent < MANY && random_uniform(&random) < 0.015) {
                struct event_command command = {.rotation_rad = random_normal(&random),
                                                .displacement_m =
                                                    fabs(random_normal(&random)) / 4.0};
                const size_t word = (size_t)(random_uniform(&random) * COUNT(words));
                (void)snprintf(command.id, sizeof command.id, "c%zu", sent++);
                (void)snprintf(command.op, sizeof command.op, "%s", words[word]);
                robot_command(&diffdrive_kind, &r->robot, &command, count_reply, counts);
            }
            diffdrive_kind.step(&r->robot, count_reply, counts);
        }
        CHECK_INT("all sent", sent, MANY);
        for (size_t i = 0; i < MANY; i++) {
            CHECK_INT(files[f] ? files[f] : "forgets", counts[i], 1);
        }
        CHECK("faults", f == 2 ? r->robot.faults > 0 : r->robot.faults == 0);
        free_rig(r);
    }
}

/* ---- ports ---- */

static void test_ports(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"machine: M\ninputs: {battery: number}\noutputs: {L: 0}\ninitial: A\nstates:\n  A:\n  "
         "  arcs:\n"
         "    - {when: battery > 1, to: A}\n    - {when: '!(battery > 1)', to: A}\n",
         "E-PORT  M reads battery, which a diffdrive robot does not provide; it provides go "
         "lidar "
         "resume "
         "halt angle distance period obstacle u ahead x y theta dx dtheta"},
        {"machine: M\ninputs: {go: number}\noutputs: {L: 0}\ninitial: A\nstates:\n  A:\n    "
         "arcs:\n"
         "    - {when: go > 1, to: A}\n    - {when: '!(go > 1)', to: A}\n",
         "E-PORT  M: go is a truth of a diffdrive robot"},
        {"machine: M\ninputs: {go: truth}\noutputs: {left: 0}\ninitial: A\nstates:\n  A:\n    "
         "arcs:\n"
         "    - {when: go, to: A}\n    - {when: '!go', to: A}\n",
         "E-PORT  M has no output that a diffdrive robot accepts; it accepts L R P g done data "
         "blocked "
         "halted error warn"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct machine_file *file = NULL;
        char reason[512] = "";
        CU_ASSERT_EQUAL_FATAL(
            machine_file_parse(rows[i].text, strlen(rows[i].text), "t.yaml", false, &file),
            STATUS_OK);
        CHECK("refused", !robot_accepts_machine(&diffdrive_kind, file->machines[0], reason,
                                                sizeof reason));
        CHECK_TEXT("why", reason, rows[i].reason);
        CHECK("other kinds", !robot_accepts_machine(&kinematic_kind, file->machines[0], reason,
                                                    sizeof reason));
        CHECK_TEXT("other kinds", reason, "a kinematic robot has no ports for a machine");
        machine_file_free(file);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("robots driven by machines of files", NULL, NULL);
    CU_ADD_TEST(suite, test_drives);
    CU_ADD_TEST(suite, test_same_as_own);
    CU_ADD_TEST(suite, test_halt);
    CU_ADD_TEST(suite, test_sweep);
    CU_ADD_TEST(suite, test_blocked);
    CU_ADD_TEST(suite, test_fault);
    CU_ADD_TEST(suite, test_end);
    CU_ADD_TEST(suite, test_each_once);
    CU_ADD_TEST(suite, test_ports);
    return check_run();
}
