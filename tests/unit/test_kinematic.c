#include "tests/support/check.h"

#include "base/constants.h"
#include "twin/robots/kinematic.h"

static const struct kinematic_params params = {.angular_speed_radps = 2.0,
                                               .linear_speed_mps = 0.5,
                                               .t0_s = 0.1,
                                               .ta_s = 0.02,
                                               .tr_s = 0.03};

static struct event_command command(const char *id, const char *op, double rotation_rad,
                                    double displacement_m)
{
    struct event_command c = {.rotation_rad = rotation_rad, .displacement_m = displacement_m};
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    return c;
}

static bool give(struct kinematic *k, int64_t now_us, const char *id, const char *op,
                 double rotation_rad, double displacement_m)
{
    const struct event_command c = command(id, op, rotation_rad, displacement_m);
    return kinematic_command(k, now_us, &c, 0.0);
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
        double rotation_rad, displacement_m, noise_s, want_s;
        enum reply_status status;
    } rows[] = {
        {"rotation", "go", 1.0, 0.0, 0.0, 0.1 + 0.02 + 0.5, REPLY_DONE},
        {"rotation back", "go", -1.0, 0.0, 0.0, 0.1 + 0.02 + 0.5, REPLY_DONE},
        {"displacement", "go", 0.0, 2.0, 0.0, 0.1 + 0.03 + 4.0, REPLY_DONE},
        {"backwards", "go", 0.0, -2.0, 0.0, 0.1 + 0.03 + 4.0, REPLY_DONE},
        {"both", "go", 1.0, 2.0, 0.0, 0.1 + 0.02 + 0.5 + 0.03 + 4.0, REPLY_DONE},
        {"neither", "go", 0.0, 0.0, 0.0, 0.1, REPLY_DONE},
        {"noise", "go", 1.0, 0.0, 0.05, 0.15 + 0.02 + 0.5, REPLY_DONE},
        {"noise is cut", "go", 1.0, 0.0, -3.0, 0.02 + 0.5, REPLY_DONE},
        {"lidar", "lidar", 0.0, 0.0, 0.0, 0.1, REPLY_DATA},
        {"halt at rest", "halt", 0.0, 0.0, 0.0, 0.0, REPLY_DONE},
        {"unknown", "dance", 1.0, 1.0, 0.0, 0.0, REPLY_IGNORED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct kinematic k;
        struct robot_reply done;
        const struct event_command c =
            command("a", rows[i].op, rows[i].rotation_rad, rows[i].displacement_m);
        const int64_t start_us = 1700000000000000;
        const int64_t end_us = start_us + lab_us(rows[i].want_s);
        k = (struct kinematic){.params = params};
        CHECK(rows[i].row, !k.busy);
        CHECK(rows[i].row, kinematic_command(&k, start_us, &c, rows[i].noise_s));
        CHECK_NEAR(rows[i].row, lab_s(k.end_us - start_us), rows[i].want_s, 0.0, 2e-6);
        CHECK(rows[i].row, end_us < start_us + 10 || !kinematic_step(&k, end_us - 5, &done));
        CHECK(rows[i].row, kinematic_step(&k, end_us + 5, &done));
        CHECK_INT(rows[i].row, done.status, rows[i].status);
        CHECK_INT(rows[i].row, done.start_us, start_us);
        CHECK_NEAR(rows[i].row, lab_s(done.end_us - start_us), rows[i].want_s, 0.0, 2e-6);
        CHECK_TEXT(rows[i].row, done.id, "a");
        CHECK(rows[i].row, !kinematic_step(&k, end_us + 1000000, &done));
    }
}

static void test_pose(void)
{
    struct kinematic k;
    struct robot_reply done;
    k = (struct kinematic){.params = params};
    (void)give(&k, 0, "", "go", PI / 2.0, 2.0);
    CHECK("done", kinematic_step(&k, 100000000, &done));
    CHECK_NEAR("x", value_of(&done, "x_m"), 0.0, 0.0, 1e-12);
    CHECK_NEAR("y", value_of(&done, "y_m"), 2.0, 0.0, 1e-12);
    CHECK_NEAR("psi", value_of(&done, "psi_rad"), 1.571, 0.0, 1e-12);
    (void)give(&k, 0, "", "go", PI, 1.0);
    CHECK("done", kinematic_step(&k, 100000000, &done));
    CHECK_NEAR("back", value_of(&done, "y_m"), 1.0, 0.0, 1e-12);
    CHECK_NEAR("wrapped", value_of(&done, "psi_rad"), -1.571, 0.0, 1e-12);
    (void)give(&k, 0, "", "lidar", 0.0, 0.0);
    CHECK("done", kinematic_step(&k, 100000000, &done));
    CHECK_INT("data", done.status, REPLY_DATA);
    CHECK_NEAR("ahead", value_of(&done, "ahead_m"), 51.0, 0.0, 1e-12);
    CHECK_NEAR("behind", value_of(&done, "behind_m"), 49.0, 0.0, 1e-12);
    CHECK_NEAR("left", value_of(&done, "left_m"), 50.0, 0.0, 1e-12);
    CHECK_NEAR("right", value_of(&done, "right_m"), 50.0, 0.0, 1e-12);
}

static void test_sample(void)
{
    /* 0.1 wait, 0.02 delay, 0.5 turning, 0.03 delay, 4.0 driving. */
    static const struct {
        const char *row;
        int64_t at_us;
        double u, r, x, psi;
    } rows[] = {
        {"waiting", 110000, 0, 0, 0, 0},         {"turning", 370000, 0, 2, 0, 0.5},
        {"between", 630000, 0, 0, 0, 1.0},       {"driving", 2650000, 0.5, 0, 1.0, 1.0},
        {"at the end", 4650000, 0, 0, 2.0, 1.0}, {"long after", 9650000, 0, 0, 2.0, 1.0},
        {"before it began", -1000, 0, 0, 0, 0},
    };
    struct kinematic k;
    double nu[KINEMATIC_AXES];
    double pose[KINEMATIC_AXES];
    k = (struct kinematic){.params = params};
    (void)give(&k, 0, "", "go", 1.0, 2.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        kinematic_sample(&k, rows[i].at_us, nu, pose);
        CHECK_NEAR(rows[i].row, nu[0], rows[i].u, 0.0, 0.0);
        CHECK_NEAR(rows[i].row, nu[2], rows[i].r, 0.0, 0.0);
        CHECK_NEAR(rows[i].row, pose[0], rows[i].x * cos(1.0), 0.0, 1e-9);
        CHECK_NEAR(rows[i].row, pose[1], rows[i].x * sin(1.0), 0.0, 1e-9);
        CHECK_NEAR(rows[i].row, pose[2], rows[i].psi, 0.0, 1e-9);
    }
}

static void test_queue(void)
{
    struct kinematic k;
    struct robot_reply done;
    char id[8];
    k = (struct kinematic){.params = params};
    for (int i = 0; i < KINEMATIC_QUEUE_MAX; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        CHECK("queued", give(&k, 0, id, "go", 1.0, 0.0));
    }
    CHECK("full", !give(&k, 0, "x", "go", 1.0, 0.0));
    CHECK_INT("counted", k.refused, 1);
    int64_t last_us = 0;
    for (int i = 0; i < KINEMATIC_QUEUE_MAX; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        CHECK("done", kinematic_step(&k, 1000000000, &done));
        CHECK_TEXT("in order", done.id, id);
        CHECK_INT("one after the other", done.start_us, last_us);
        last_us = done.end_us;
    }
    CHECK("empty", !kinematic_step(&k, 1000000000, &done));
}

static void test_halt(void)
{
    struct kinematic k;
    struct robot_reply done;
    static const struct {
        const char *id;
        enum reply_status status;
    } want[] = {{"a", REPLY_HALTED}, {"b", REPLY_HALTED}, {"h", REPLY_DONE}, {"c", REPLY_DONE}};
    k = (struct kinematic){.params = params};
    (void)give(&k, 0, "a", "go", 0.0, 2.0); /* 0.13 s, then 0.5 m/s */
    (void)give(&k, 0, "b", "go", 1.0, 0.0);
    (void)give(&k, 2130000, "h", "halt", 0.0, 0.0);
    (void)give(&k, 2130000, "c", "go", 0.0, 0.0);
    for (size_t i = 0; i < COUNT(want); i++) {
        CHECK(want[i].id, kinematic_step(&k, 2130000 + 200000, &done));
        CHECK_TEXT(want[i].id, done.id, want[i].id);
        CHECK_INT(want[i].id, done.status, want[i].status);
        CHECK_NEAR(want[i].id, value_of(&done, "x_m"), 1.0, 0.0, 1e-9);
        CHECK_INT(want[i].id, done.end_us, i < 3 ? 2130000 : 2230000);
    }
    CHECK_NEAR("stopped where it was", k.psi_rad, 0.0, 0.0, 0.0);
}

int main(void)
{
    (void)CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("kinematic", NULL, NULL);
    (void)CU_add_test(suite, "travel-time model", test_travel_time_model);
    (void)CU_add_test(suite, "pose", test_pose);
    (void)CU_add_test(suite, "sample", test_sample);
    (void)CU_add_test(suite, "queue", test_queue);
    (void)CU_add_test(suite, "halt", test_halt);
    return check_run();
}
