/* Both vessels on their course in the current and wind of seed 002, Table 8, trials 1 to 4:
 * from 20 m behind each turn the distance from the course has a root mean square of at most
 * 0.10 m, and is never above 0.30 m. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "twin/mission/course_drive.h"
#include "twin/sim/robot/robot_kinds.h"

enum { PERIOD_US = 10000, STEPS_A_SAMPLE = 10, SAMPLES_MAX = 20000 };

static const struct {
    const char *row;
    double current_n, current_deg, wind_n, wind_deg;
} trials[] = {
    {"trial 1", 1.20, 10, 0.85, -5},
    {"trial 2", 6.80, 110, 6.20, 70},
    {"trial 3", 2.70, 80, 2.40, 40},
    {"trial 4", 6.20, -70, 4.90, -120},
};

static const struct {
    const char *name;
    double speed_mps;
} vessels[] = {{"wamv", 0.8}, {"iacquabot", 0.5}};

static struct course_plan plan_of(size_t vessel)
{
    struct course_plan plan = {
        .vessel = usv3_vessel_find(vessels[vessel].name),
        .speed_mps = vessels[vessel].speed_mps,
        .lookahead_m = 6,
        .turn_in_m = 4,
        .clearance_m = 2,
        .point_count = 6,
        .points = {{0, 0}, {60, 0}, {60, 50}, {10, 50}, {-20, 20}, {-20, -30}}};
    const struct world_obstacle buoy = {.name = "buoy", .shape = WORLD_CIRCLE, .radius_m = 3};
    CU_ASSERT_FATAL(world_add(&plan.map, &buoy, &(struct world_point){35, 51}, 1) == STATUS_OK);
    return plan;
}

static void set_vessel(const struct robot_kind *kind, void *memory, size_t vessel, size_t trial,
                       double noise)
{
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"vessel", (double)vessel},
        {"actuation", 1.0}, /* allocated: as far as the thrusters can */
        {"current_force_n", trials[trial].current_n},
        {"current_direction_rad", trials[trial].current_deg * RAD_PER_DEG},
        {"wind_force_n", trials[trial].wind_n},
        {"wind_direction_rad", trials[trial].wind_deg * RAD_PER_DEG},
        {"noise_u_mps", 0.03 * noise},
        {"noise_v_mps", 0.0125 * noise},
        {"noise_r_radps", 0.009 * noise},
    };
    for (size_t i = 0; i < COUNT(values); i++) {
        char reason[ROBOT_REASON_MAX];
        CHECK_INT(values[i].name,
                  robot_set(kind, memory, values[i].name, values[i].value, reason), STATUS_OK);
    }
}

static void ignore_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    (void)reply;
}

static struct course_drive drive_course(size_t vessel, size_t trial, double noise)
{
    static struct course course;
    struct err err = {0};
    const struct course_plan plan = plan_of(vessel);
    const struct course_limits limits = {.off_m = 5, .patience_s = 60};
    const struct robot_kind *kind = robot_kind_find("usv3");
    const struct robot_setup setup = {.seed = 11, .period_us = PERIOD_US};
    struct course_drive drive;
    double nearest_m = (double)INFINITY;
    void *memory = malloc(kind->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    kind->init(memory, &setup);
    set_vessel(kind, memory, vessel, trial, noise);
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    course_drive_init(&drive, &plan, &course, &limits);
    for (int i = 0; i < SAMPLES_MAX && drive.state < COURSE_DONE; i++) {
        struct robot_sample s = {0};
        struct course_sample sample = {0};
        double tau[USV3_AXES];
        kind->sample(memory, &s);
        sample.t_s = (double)s.t_us * 1e-6;
        memcpy(sample.nu, s.nu, sizeof sample.nu);
        memcpy(sample.pose, s.pose, sizeof sample.pose);
        nearest_m = fmin(nearest_m, hypot(s.pose[0] - 35, s.pose[1] - 51));
        course_drive_step(&drive, &sample, tau);
        CHECK_INT("effort", kind->effort(memory, tau, USV3_AXES), STATUS_OK);
        for (int k = 0; k < STEPS_A_SAMPLE; k++) {
            kind->step(memory, ignore_reply, NULL);
        }
    }
    (void)printf("%s, %s%s: %.0f m in %.0f s, rms %.4f m, largest %.3f m, in turns %.2f m, "
                 "%.2f m from the buoy's centre\n",
                 vessels[vessel].name, trials[trial].row, noise > 0.0 ? ", noise" : "",
                 course.length_m, drive.t_s, course_drive_rms_m(&drive), drive.off_m,
                 drive.largest_m, nearest_m);
    CHECK("passes the buoy", nearest_m > 3.0);
    free(memory);
    return drive;
}

static void check_trial(size_t vessel, size_t trial, double noise)
{
    const struct course_drive drive = drive_course(vessel, trial, noise);
    CHECK_INT(trials[trial].row, drive.state, COURSE_DONE);
    CHECK(trials[trial].row, course_drive_rms_m(&drive) <= 0.10);
    CHECK(trials[trial].row, drive.off_m <= 0.30);
    CHECK("samples that count", drive.settled_count > 500);
}

static void test_table8(void)
{
    for (size_t vessel = 0; vessel < COUNT(vessels); vessel++) {
        for (size_t trial = 0; trial < COUNT(trials); trial++) {
            check_trial(vessel, trial, 0.0);
        }
    }
}

/* The noise of the paper's recordings on what the vessel reports. */
static void test_noise(void)
{
    check_trial(0, 1, 1.0);
    check_trial(1, 1, 1.0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("course", NULL, NULL);
    CU_add_test(suite, "table 8", test_table8);
    CU_add_test(suite, "noise", test_noise);
    return check_run();
}
