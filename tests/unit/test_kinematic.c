#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "twin/sim/robot/robot_kinds.h"

enum { PERIOD_US = 10000, QUEUE_MAX = 16, REPLIES_MAX = 32 };

/* Angular and linear speed, t0, ta, tr, noise. */
static const double params[] = {2.0, 0.5, 0.1, 0.02, 0.03, 0.0};

struct rig {
    max_align_t memory[8192 / sizeof(max_align_t)];
    struct robot_reply reply[REPLIES_MAX];
    size_t count;
    struct robot_sample now;
};

static struct rig rig;

static void store_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    CU_ASSERT_FATAL(rig.count < REPLIES_MAX);
    rig.reply[rig.count++] = *reply;
}

static void begin_rig(const double *parameters, int64_t start_us, int64_t period_us,
                      uint64_t seed)
{
    const struct robot_setup setup = {
        .parameters = parameters, .start_us = start_us, .period_us = period_us, .seed = seed};
    CU_ASSERT_FATAL(kinematic_kind.bytes <= sizeof rig.memory);
    kinematic_kind.init(rig.memory, &setup);
    rig.count = 0;
}

static bool send_command(const char *id, const char *op, double rotation_rad,
                         double displacement_m)
{
    struct event_command c = {.rotation_rad = rotation_rad, .displacement_m = displacement_m};
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    return kinematic_kind.command(rig.memory, &c);
}

static void advance_to(int64_t to_us)
{
    kinematic_kind.sample(rig.memory, &rig.now);
    while (rig.now.t_us < to_us) {
        kinematic_kind.step(rig.memory, store_reply, NULL);
        kinematic_kind.sample(rig.memory, &rig.now);
    }
}

/* One command is given, and answered between too_early_us and late_us. */
static void check_lap(const char *row, const char *op, const double move[2],
                      enum reply_status status, double want_s, const double *p, uint64_t seed)
{
    const int64_t start_us = 1700000000000000;
    const int64_t lap_us = lab_us(want_s);
    if (lap_us >= 10) {
        begin_rig(p, start_us, lap_us - 5, seed);
        CHECK(row, send_command("a", op, move[0], move[1]));
        advance_to(start_us + 1);
        CHECK_INT(row, rig.count, 0);
    }
    begin_rig(p, start_us, lap_us + 5, seed);
    CHECK(row, send_command("a", op, move[0], move[1]));
    advance_to(start_us + 1);
    CHECK_INT(row, rig.count, 1);
    CHECK_INT(row, rig.reply[0].status, status);
    CHECK_INT(row, rig.reply[0].start_us, start_us);
    CHECK_NEAR(row, lab_s(rig.reply[0].end_us - start_us), want_s, 0.0, 2e-6);
    CHECK_TEXT(row, rig.reply[0].id, "a");
    advance_to(start_us + 1000000);
    CHECK_INT(row, rig.count, 1);
}

static double value_of(const struct robot_reply *done, const char *name)
{
    for (size_t i = 0; i < done->value_count; i++) {
        if (strcmp(done->values[i].name, name) == 0) {
            return done->values[i].number;
        }
    }
    return nan("");
}

static void test_travel_time_model(void)
{
    static const struct {
        const char *row;
        const char *op;
        double move[2], want_s;
        enum reply_status status;
    } rows[] = {
        {"rotation", "go", {1.0, 0.0}, 0.1 + 0.02 + 0.5, REPLY_DONE},
        {"rotation back", "go", {-1.0, 0.0}, 0.1 + 0.02 + 0.5, REPLY_DONE},
        {"displacement", "go", {0.0, 2.0}, 0.1 + 0.03 + 4.0, REPLY_DONE},
        {"backwards", "go", {0.0, -2.0}, 0.1 + 0.03 + 4.0, REPLY_DONE},
        {"both", "go", {1.0, 2.0}, 0.1 + 0.02 + 0.5 + 0.03 + 4.0, REPLY_DONE},
        {"neither", "go", {0.0, 0.0}, 0.1, REPLY_DONE},
        {"lidar", "lidar", {0.0, 0.0}, 0.1, REPLY_DATA},
        {"halt at rest", "halt", {0.0, 0.0}, 0.0, REPLY_DONE},
        {"unknown", "dance", {1.0, 1.0}, 0.0, REPLY_IGNORED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_lap(rows[i].row, rows[i].op, rows[i].move, rows[i].status, rows[i].want_s, params,
                  0);
    }
}

/* Noise is drawn for each command and added to t0; the sum is cut at 0. */
static void test_noise(void)
{
    unsigned cut = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const double noisy[] = {2.0, 0.5, 0.1, 0.02, 0.03, 0.15};
        struct random_source same = {.state = seed};
        const double wait_s = 0.1 + 0.15 * random_normal(&same);
        cut += wait_s < 0.0;
        check_lap("noise", "go", (const double[]){1.0, 0.0}, REPLY_DONE,
                  fmax(wait_s, 0.0) + 0.02 + 0.5, noisy, seed);
    }
    CHECK("both", cut > 0 && cut < 20);
}

static void test_pose(void)
{
    const struct robot_reply *done = &rig.reply[0];
    begin_rig(params, 0, 100000000, 0);
    (void)send_command("", "go", PI / 2.0, 2.0);
    (void)send_command("", "go", PI, 1.0);
    (void)send_command("", "lidar", 0.0, 0.0);
    advance_to(1);
    CHECK_INT("done", rig.count, 3);
    CHECK_NEAR("x", value_of(done, "x_m"), 0.0, 0.0, 1e-12);
    CHECK_NEAR("y", value_of(done, "y_m"), 2.0, 0.0, 1e-12);
    CHECK_NEAR("psi", value_of(done, "psi_rad"), 1.571, 0.0, 1e-12);
    CHECK_NEAR("back", value_of(&done[1], "y_m"), 1.0, 0.0, 1e-12);
    CHECK_NEAR("wrapped", value_of(&done[1], "psi_rad"), -1.571, 0.0, 1e-12);
    CHECK_INT("data", done[2].status, REPLY_DATA);
    CHECK_NEAR("ahead", value_of(&done[2], "ahead_m"), 51.0, 0.0, 1e-12);
    CHECK_NEAR("behind", value_of(&done[2], "behind_m"), 49.0, 0.0, 1e-12);
    CHECK_NEAR("left", value_of(&done[2], "left_m"), 50.0, 0.0, 1e-12);
    CHECK_NEAR("right", value_of(&done[2], "right_m"), 50.0, 0.0, 1e-12);
}

static void test_sample(void)
{
    /* 0.1 wait, 0.02 delay, 0.5 turning, 0.03 delay, 4.0 driving. */
    static const struct {
        const char *row;
        int64_t at_us;
        double u, r, x, psi;
    } rows[] = {
        {"at once", 0, 0, 0, 0, 0},
        {"waiting", 110000, 0, 0, 0, 0},
        {"turning", 370000, 0, 2, 0, 0.5},
        {"between", 630000, 0, 0, 0, 1.0},
        {"driving", 2650000, 0.5, 0, 1.0, 1.0},
        {"at the end", 4650000, 0, 0, 2.0, 1.0},
        {"long after", 9650000, 0, 0, 2.0, 1.0},
    };
    begin_rig(params, 0, PERIOD_US, 0);
    (void)send_command("", "go", 1.0, 2.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        advance_to(rows[i].at_us);
        CHECK_INT(rows[i].row, rig.now.t_us, rows[i].at_us);
        CHECK_NEAR(rows[i].row, rig.now.nu[0], rows[i].u, 0.0, 0.0);
        CHECK_NEAR(rows[i].row, rig.now.nu[2], rows[i].r, 0.0, 0.0);
        CHECK_NEAR(rows[i].row, rig.now.pose[0], rows[i].x * cos(1.0), 0.0, 1e-9);
        CHECK_NEAR(rows[i].row, rig.now.pose[1], rows[i].x * sin(1.0), 0.0, 1e-9);
        CHECK_NEAR(rows[i].row, rig.now.pose[2], rows[i].psi, 0.0, 1e-9);
    }
}

static void test_queue(void)
{
    char id[8];
    begin_rig(params, 0, 1000000000, 0);
    for (int i = 0; i < QUEUE_MAX; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        CHECK("queued", send_command(id, "go", 1.0, 0.0));
    }
    CHECK("full", !send_command("x", "go", 1.0, 0.0));
    advance_to(1);
    CHECK_INT("all", rig.count, QUEUE_MAX);
    int64_t last_us = 0;
    for (size_t i = 0; i < rig.count; i++) {
        (void)snprintf(id, sizeof id, "%zu", i);
        CHECK_TEXT("in order", rig.reply[i].id, id);
        CHECK_INT("one after the other", rig.reply[i].start_us, last_us);
        last_us = rig.reply[i].end_us;
    }
}

static void test_halt(void)
{
    static const struct {
        const char *id;
        enum reply_status status;
    } want[] = {{"a", REPLY_HALTED}, {"b", REPLY_HALTED}, {"h", REPLY_DONE}, {"c", REPLY_DONE}};
    begin_rig(params, 0, PERIOD_US, 0);
    (void)send_command("a", "go", 0.0, 2.0); /* 0.13 s, then 0.5 m/s */
    (void)send_command("b", "go", 1.0, 0.0);
    advance_to(2130000);
    (void)send_command("h", "halt", 0.0, 0.0);
    (void)send_command("c", "go", 0.0, 0.0);
    advance_to(2130000 + 200000);
    CHECK_INT("all", rig.count, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        CHECK_TEXT(want[i].id, rig.reply[i].id, want[i].id);
        CHECK_INT(want[i].id, rig.reply[i].status, want[i].status);
        CHECK_NEAR(want[i].id, value_of(&rig.reply[i], "x_m"), 1.0, 0.0, 1e-9);
        CHECK_INT(want[i].id, rig.reply[i].end_us, i < 3 ? 2130000 : 2230000);
    }
    CHECK_NEAR("stopped where it was", rig.now.pose[2], 0.0, 0.0, 0.0);
}

int main(void)
{
    (void)CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("kinematic", NULL, NULL);
    (void)CU_add_test(suite, "travel-time model", test_travel_time_model);
    (void)CU_add_test(suite, "noise", test_noise);
    (void)CU_add_test(suite, "pose", test_pose);
    (void)CU_add_test(suite, "sample", test_sample);
    (void)CU_add_test(suite, "queue", test_queue);
    (void)CU_add_test(suite, "halt", test_halt);
    return check_run();
}
