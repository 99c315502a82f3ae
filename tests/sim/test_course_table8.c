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

/* A run of a vessel. */
struct drive_case {
    size_t vessel, trial;
    double noise; /* share of the paper's */
    enum course_actuation actuation;
};

static void set_vessel(const struct robot_kind *kind, void *memory, const struct drive_case *c)
{
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"vessel", (double)c->vessel},
        {"actuation", (double)c->actuation}, /* both are limited as the thrusters are */
        {"current_force_n", trials[c->trial].current_n},
        {"current_direction_rad", trials[c->trial].current_deg * RAD_PER_DEG},
        {"wind_force_n", trials[c->trial].wind_n},
        {"wind_direction_rad", trials[c->trial].wind_deg * RAD_PER_DEG},
        {"noise_u_mps", 0.03 * c->noise},
        {"noise_v_mps", 0.0125 * c->noise},
        {"noise_r_radps", 0.009 * c->noise},
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

static void apply_effort(const struct robot_kind *kind, void *memory,
                         const struct drive_case *c, const struct course_drive *drive,
                         const double tau[USV3_AXES])
{
    const bool thrusts = c->actuation == COURSE_THRUSTERS;
    CHECK_INT("effort",
              kind->effort(memory, thrusts ? drive->thrust_n : tau,
                           thrusts ? drive->vessel->thruster_count : (size_t)USV3_AXES),
              STATUS_OK);
}

static struct course_drive drive_course(const struct drive_case *c)
{
    static struct course course;
    struct err err = {0};
    const struct course_plan plan = plan_of(c->vessel);
    const struct course_limits limits = {.off_m = 5, .patience_s = 60};
    const struct robot_kind *kind = robot_kind_find("usv3");
    const struct robot_setup setup = {.seed = 11, .period_us = PERIOD_US};
    struct course_drive drive;
    double nearest_m = (double)INFINITY;
    void *memory = malloc(kind->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    kind->init(memory, &setup);
    set_vessel(kind, memory, c);
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
        CHECK("a new effort", course_drive_step(&drive, &sample, tau));
        apply_effort(kind, memory, c, &drive, tau);
        for (int k = 0; k < STEPS_A_SAMPLE; k++) {
            kind->step(memory, ignore_reply, NULL);
        }
    }
    (void)printf("%s, %s%s%s: %.0f m in %.0f s, rms %.4f m, largest %.3f m, in turns %.2f m, "
                 "%.2f m from the buoy's centre\n",
                 vessels[c->vessel].name, trials[c->trial].row, c->noise > 0.0 ? ", noise" : "",
                 c->actuation == COURSE_THRUSTERS ? ", thrusters" : "", course.length_m,
                 drive.t_s, course_drive_rms_m(&drive), drive.off_m, drive.largest_m,
                 nearest_m);
    CHECK("passes the buoy", nearest_m > 3.0);
    free(memory);
    return drive;
}

static void check_trial(const struct drive_case *c)
{
    const struct course_drive drive = drive_course(c);
    CHECK_INT(trials[c->trial].row, drive.state, COURSE_DONE);
    CHECK(trials[c->trial].row, course_drive_rms_m(&drive) <= 0.10);
    CHECK(trials[c->trial].row, drive.off_m <= 0.30);
    CHECK("samples that count", drive.settled_count > 500);
}

static void test_table8(void)
{
    for (struct drive_case c = {.actuation = COURSE_ALLOCATED}; c.actuation <= COURSE_THRUSTERS;
         c.actuation++) {
        for (c.vessel = 0; c.vessel < COUNT(vessels); c.vessel++) {
            for (c.trial = 0; c.trial < COUNT(trials); c.trial++) {
                check_trial(&c);
            }
        }
    }
}

/* The noise of the paper's recordings on what the vessel reports. */
static void test_noise(void)
{
    check_trial(&(struct drive_case){0, 1, 1.0, COURSE_ALLOCATED});
    check_trial(&(struct drive_case){1, 1, 1.0, COURSE_ALLOCATED});
    check_trial(&(struct drive_case){1, 1, 1.0, COURSE_THRUSTERS});
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("course", NULL, NULL);
    CU_add_test(suite, "table 8", test_table8);
    CU_add_test(suite, "noise", test_noise);
    return check_run();
}
