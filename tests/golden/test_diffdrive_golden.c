/* Odometry and controllers of the differential-drive robot, step by step, against values that
 * were computed independently. They use the heading at the end of each step. */
#include "tests/support/check.h"

#include "twin/sim/robot/diffdrive_control.h"
#include "twin/sim/robot/robot_kinds.h"

#define MM       1e-3
#define END      1.0 /* share: the step points along its final heading */
#define MAX_DIFF 1e-6

static const struct row {
    double counts_left, counts_right;
    double left_mm, right_mm, turn_rad, way_mm, angle_rad, x_mm, y_mm, distance_mm, error_rad;
    double p_left, p_right, pd_left, pd_right;
} rows[] = {
    {20, 20, 2.87979327, 2.87979327, 0, 2.87979327, 0.2, -497.177611, 20.5721266, 497.603044,
     0.241354231, 120, 83.1237898, 116.203135, 43.7968653},
    {22, 18, 3.16777259, 2.59181394, -0.00359974158, 2.87979327, 0.196400258, -494.353181,
     21.1340896, 494.804726, 0.239125236, 120, 83.4643552, 115.868696, 44.1313038},
    {25, 15, 3.59974158, 2.15984495, -0.00899935396, 2.87979327, 0.187400904, -491.523807,
     21.6706122, 492.001289, 0.231461003, 120, 84.6353637, 114.718844, 45.2811561},
    {25, 15, 3.59974158, 2.15984495, -0.00899935396, 2.87979327, 0.178401551, -488.68972,
     22.1816509, 489.192874, 0.223760467, 120, 85.8119189, 113.563762, 46.4362379},
    {24, 17, 3.45575192, 2.44782428, -0.00629954777, 2.9517881, 0.172102003, -485.781539,
     22.6871555, 486.311023, 0.218770476, 120, 86.5743335, 112.815372, 47.1846283},
    {22, 20, 3.16777259, 2.87979327, -0.00179987079, 3.02378293, 0.170302132, -482.801499,
     23.1996265, 483.358573, 0.2183173, 120, 86.6435736, 112.747577, 47.2524231},
    {20, 20, 2.87979327, 2.87979327, 0, 2.87979327, 0.170302132, -479.963366, 23.6876942,
     480.547542, 0.21961525, 120, 86.4452615, 112.942339, 47.0576606},
};

static void check_value(const char *name, const char *what, double got, double want)
{
    char row[64];
    (void)snprintf(row, sizeof row, "%s: %s", name, what);
    CHECK_NEAR(row, got, want, MAX_DIFF, MAX_DIFF);
}

static struct diffdrive_params preset_params(void)
{
    double values[ROBOT_PARAMETERS_MAX];
    struct diffdrive_params p;
    robot_presets(&diffdrive_kind, values);
    memcpy(&p, values, sizeof p);
    return p;
}

static void test_steps(void)
{
    struct diffdrive_params p = preset_params();
    struct diffdrive_pose pose = {.angle_rad = 0.2, .x_m = -0.5, .y_m = 0.02};
    double previous_rad = 0.0;
    p.wheel_radius_m = 0.033;
    p.track_m = 0.16;
    p.encoder_counts = 1440;
    p.kp = 150;
    p.kd = 0.001;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        char name[16];
        (void)snprintf(name, sizeof name, "step %zu", i);
        const struct diffdrive_motion moved =
            diffdrive_moved(&p, row->counts_left, row->counts_right);
        pose = diffdrive_advanced(&pose, &moved, END);
        const double error_rad = diffdrive_heading_error(&pose);
        struct diffdrive_sight sight = {.error_rad = error_rad,
                                        .previous_rad = i == 0 ? error_rad : previous_rad,
                                        .top = p.control_max,
                                        .period_s = 0.025,
                                        .moved = moved};
        check_value(name, "dL", moved.left_m / MM, row->left_mm);
        check_value(name, "dR", moved.right_m / MM, row->right_mm);
        check_value(name, "dA", moved.angle_rad, row->turn_rad);
        check_value(name, "dS", moved.distance_m / MM, row->way_mm);
        check_value(name, "A", pose.angle_rad, row->angle_rad);
        check_value(name, "X", pose.x_m / MM, row->x_mm);
        check_value(name, "Y", pose.y_m / MM, row->y_mm);
        check_value(name, "S", hypot(pose.x_m, pose.y_m) / MM, row->distance_mm);
        check_value(name, "eA", error_rad, row->error_rad);
        p.controller = DIFFDRIVE_PROPORTIONAL;
        struct diffdrive_controls u = diffdrive_steer(&p, &sight);
        check_value(name, "uL of P", u.left, row->p_left);
        check_value(name, "uR of P", u.right, row->p_right);
        p.controller = DIFFDRIVE_PD;
        u = diffdrive_steer(&p, &sight);
        check_value(name, "uL of PD", u.left, row->pd_left);
        check_value(name, "uR of PD", u.right, row->pd_right);
        previous_rad = error_rad;
    }
}

/* The sign of the heading error distinguishes the sides, which the printed formula did not. */
static void test_heading_error(void)
{
    static const struct {
        const char *name;
        struct diffdrive_pose pose;
        double want_rad;
    } cases[] = {
        {"straight on", {0.0, -0.1, 0.0}, 0.0},
        {"left of the way", {0.0, -0.1, 0.01}, 0.0996686524911620},
        {"right of the way", {0.0, -0.1, -0.01}, -0.0996686524911620},
        {"turned left", {0.2, -0.1, 0.0}, 0.2},
        {"half a turn is not two", {3.5, -0.1, 0.0}, 3.5 - 2.0 * 3.14159265358979323846},
        {"past the goal by a little", {0.0, 0.002, 0.0}, 0.0},
        {"at the goal", {0.1, 0.0, 0.0}, 0.0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK_NEAR(cases[i].name, diffdrive_heading_error(&cases[i].pose), cases[i].want_rad, 0,
                   1e-12);
    }
}

/* An ideal robot's inverse map corrects the whole error in one step. */
static void test_inverse_map(void)
{
    struct diffdrive_params p = preset_params();
    const double step_m = 0.005;
    const double error_rad = 0.01;
    p.controller = DIFFDRIVE_INVERSE_MAP;
    const struct diffdrive_sight sight = {.error_rad = error_rad,
                                          .previous_rad = error_rad,
                                          .top = p.control_max,
                                          .period_s = 0.025,
                                          .moved = {step_m, step_m, 0.0, step_m},
                                          .now = {80.0, 80.0}};
    const struct diffdrive_controls u = diffdrive_steer(&p, &sight);
    const double left_m = step_m * u.left / 80.0;
    const double right_m = step_m * u.right / 80.0;
    CHECK_NEAR("inverse", (right_m - left_m) / p.track_m, -error_rad, 1e-9, 0);
    /* A wheel that stood still does not divide by nothing. */
    const struct diffdrive_sight still = {
        .error_rad = 0.1, .top = p.control_max, .period_s = 0.025, .now = {80.0, 80.0}};
    CHECK("still", isfinite(diffdrive_steer(&p, &still).left));
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("diffdrive steps", NULL, NULL);
    CU_ADD_TEST(suite, test_steps);
    CU_ADD_TEST(suite, test_heading_error);
    CU_ADD_TEST(suite, test_inverse_map);
    return check_run();
}
