/* The pose of an arm's tool, and all joint angles for it, against numbers of another program,
 * and against itself over random poses. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <jansson.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/geometry/arm_inverse.h"

static json_t *golden;
static struct arm_geometry ur5;

static void read_numbers(const json_t *object, const char *key, size_t n, double *out)
{
    const json_t *array = json_object_get(object, key);
    CU_ASSERT_EQUAL_FATAL(json_array_size(array), n);
    for (size_t i = 0; i < n; i++) {
        out[i] = json_number_value(json_array_get(array, i));
    }
}

static double read_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double find_determinant(const struct arm_slope *j)
{
    double a[36];
    size_t order[6];
    memcpy(a, j->d, sizeof a);
    gsl_matrix_view view = gsl_matrix_view_array(a, 6, 6);
    gsl_permutation p = {.size = 6, .data = order};
    int sign;
    CU_ASSERT_EQUAL_FATAL(gsl_linalg_LU_decomp(&view.matrix, &p, &sign), 0);
    return gsl_linalg_LU_det(&view.matrix, sign);
}

static double worst_difference(const struct rigid *a, const struct rigid *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        worst = fmax(worst, fabs(a->at_m[i] - b->at_m[i]));
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(a->turn[i][k] - b->turn[i][k]));
        }
    }
    return worst;
}

/* Goldens have twelve digits. */
static void check_forward(const char *name, const json_t *c, const double q[6])
{
    double position[3];
    double turn[9];
    double vector[3];
    read_numbers(c, "position_m", 3, position);
    read_numbers(c, "rotation", 9, turn);
    read_numbers(c, "rotvec_rad", 3, vector);
    const struct rigid tool = arm_forward(&ur5, q);
    double pose[6];
    rigid_to_pose(&tool, pose);
    const struct rigid again = rigid_from_pose(pose);
    CHECK(name, worst_difference(&again, &tool) < 1e-14);
    for (size_t i = 0; i < 3; i++) {
        CHECK_NEAR(name, tool.at_m[i], position[i], 0.0, 3e-11);
        CHECK_NEAR(name, fabs(pose[3 + i]), fabs(vector[i]), 0.0, 3e-11);
        for (size_t k = 0; k < 3; k++) {
            CHECK_NEAR(name, tool.turn[i][k], turn[3 * i + k], 0.0, 3e-11);
        }
    }
    const struct arm_slope j = arm_jacobian(&ur5, q);
    if (read_number(c, "sigma_min") > 1e-12) {
        CHECK_NEAR(name, find_determinant(&j), read_number(c, "det_j"), 1e-8, 1e-11);
    }
    CHECK_NEAR(name, arm_sigma_min(&j), read_number(c, "sigma_min"), 1e-6, 1e-9);
}

static void check_inverse(const char *name, const json_t *c, const double q[6])
{
    const struct rigid tool = arm_forward(&ur5, q);
    struct arm_solution found[ARM_BRANCHES];
    const size_t n = arm_inverse(&ur5, &tool, q[5], found);
    const json_t *want = json_object_get(c, "ik");
    CHECK_INT(name, n, json_array_size(want));
    for (size_t i = 0; i < n && i < json_array_size(want); i++) {
        double expected[6];
        const json_t *row = json_array_get(want, i);
        read_numbers(row, "q_rad", 6, expected);
        CHECK_INT(name, found[i].branch, json_integer_value(json_object_get(row, "branch")));
        const struct rigid there = arm_forward(&ur5, found[i].q);
        /* A stretched wrist loses its angle, 1e-9 at most. */
        CHECK_NEAR(name, worst_difference(&there, &tool), 0.0, 0.0, 3e-9);
        for (size_t k = 0; k < 6; k++) {
            /* Beside a singular pose angles are known to the square root of the rounding. */
            CHECK_NEAR(name, remainder(found[i].q[k] - expected[k], 2.0 * PI), 0.0, 0.0, 3e-7);
        }
    }
    struct arm_solution near;
    CHECK_INT(name, arm_inverse_near(&ur5, &tool, q, &near), ARM_REACHED);
    const struct rigid there = arm_forward(&ur5, near.q);
    CHECK_NEAR(name, worst_difference(&there, &tool), 0.0, 0.0, 3e-9);
}

static void test_golden(void)
{
    size_t i;
    json_t *c;
    CU_ASSERT_EQUAL_FATAL(json_array_size(json_object_get(golden, "cases")), 25);
    json_array_foreach(json_object_get(golden, "cases"), i, c) {
        double q[6];
        const char *name = json_string_value(json_object_get(c, "name"));
        read_numbers(c, "q_rad", 6, q);
        check_forward(name, c, q);
        check_inverse(name, c, q);
    }
}

static void test_unreachable(void)
{
    static const char *const words[ARM_REACH_COUNT] = {
        "reached", "too_far", "too_near", "too_near_base_axis", "joint_limit", "singular"};
    const double zero[6] = {0.0};
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(golden, "unreachable"), i, c) {
        double pose[6];
        read_numbers(c, "pose", 6, pose);
        const struct rigid tool = rigid_from_pose(pose);
        struct arm_solution s;
        const char *name = json_string_value(json_object_get(c, "name"));
        CHECK_TEXT(name, words[arm_inverse_near(&ur5, &tool, zero, &s)],
                   json_string_value(json_object_get(c, "reason")));
    }
    /* A forearm of 0.1 m folds back no nearer than 0.3 m. */
    struct arm_geometry stumpy = ur5;
    stumpy.a3_m = -0.1;
    arm_geometry_correct(&stumpy, (double[6 * ARM_JOINTS]){0.0});
    CHECK("nominal", !stumpy.corrected);
    const struct rigid inside = rigid_from_pose((double[]){0.15, 0.1, 0.1, 0.0, 0.0, 0.0});
    struct arm_solution s;
    CHECK_TEXT("inside", words[arm_inverse_near(&stumpy, &inside, zero, &s)], "too_near");
    struct arm_geometry stiff = ur5;
    stiff.q_max_rad[0] = 0.1;
    const struct rigid behind = arm_forward(&ur5, (double[]){1.5, -1.2, 1.5, -0.7, -1.1, 2.2});
    CHECK_TEXT("stiff", words[arm_inverse_near(&stiff, &behind, zero, &s)], "joint_limit");
}

/* ---- random poses ---- */

static void draw_joints(struct random_source *random, double range, double q[6])
{
    for (size_t i = 0; i < 6; i++) {
        q[i] = random_between(random, -range, range);
    }
}

/* The branch of any joint angles. */
static int find_branch(const struct arm_geometry *arm, const double q[6])
{
    const double q23 = q[1] + q[2];
    const double reach_m =
        arm->a2_m * cos(q[1]) + arm->a3_m * cos(q23) + arm->d5_m * sin(q23 + q[3]);
    return 4 * (reach_m > 0.0) + 2 * (sin(q[4]) < 0.0) + (sin(q[2]) < 0.0);
}

/* Every solution meets the pose, and the angles that made it are among them. */
static void check_all_solutions(const struct arm_geometry *arm, const double q[6],
                                double *worst, double *lost, int *counts)
{
    const struct rigid tool = arm_forward(arm, q);
    struct arm_solution found[ARM_BRANCHES];
    const size_t n = arm_inverse(arm, &tool, q[5], found);
    double nearest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct rigid there = arm_forward(arm, found[i].q);
        *worst = fmax(*worst, worst_difference(&there, &tool));
        double most = 0.0;
        for (size_t k = 0; k < 6; k++) {
            most = fmax(most, fabs(remainder(found[i].q[k] - q[k], 2.0 * PI)));
        }
        if (most < nearest) {
            nearest = most;
            CHECK_INT("its branch", find_branch(arm, found[i].q), found[i].branch);
        }
    }
    *lost = fmax(*lost, nearest);
    counts[n]++;
}

static void test_random(void)
{
    struct random_source random = {.state = 7};
    double worst = 0.0;
    double lost = 0.0;
    int counts[ARM_BRANCHES + 1] = {0};
    enum { RUNS = 100000 };
    for (int i = 0; i < RUNS; i++) {
        double q[6];
        draw_joints(&random, PI, q);
        check_all_solutions(&ur5, q, &worst, &lost, counts);
    }
    printf("worst pose %.1e, worst angle %.1e, solutions 8: %d, 6: %d, 4: %d, 2: %d\n", worst,
           lost, counts[8], counts[6], counts[4], counts[2]);
    CHECK("poses", worst < 1e-12);
    CHECK("angles", lost < 1e-8);
    CHECK_INT("solutions come in pairs", counts[8] + counts[6] + counts[4] + counts[2], RUNS);
    CHECK_NEAR("eight", counts[8], 0.7706 * RUNS, 0.01, 0.0);
}

/* The columns of the Jacobian are what a small turn of each joint does. */
static void test_jacobian(void)
{
    struct random_source random = {.state = 8};
    for (int run = 0; run < 200; run++) {
        double q[6];
        draw_joints(&random, 2.0 * PI, q);
        struct arm_geometry arm = ur5;
        arm.tool = rigid_from_pose((double[]){0.03, -0.02, 0.15, 0.2, 0.1, -0.3});
        const struct arm_slope j = arm_jacobian(&arm, q);
        for (size_t i = 0; i < 6; i++) {
            double twist[6];
            double ahead[6];
            double back[6];
            memcpy(ahead, q, sizeof ahead);
            memcpy(back, q, sizeof back);
            ahead[i] += 1e-5;
            back[i] -= 1e-5;
            const struct rigid a = arm_forward(&arm, back);
            const struct rigid b = arm_forward(&arm, ahead);
            rigid_difference(&a, &b, twist);
            for (size_t k = 0; k < 6; k++) {
                CHECK_NEAR("column", twist[k] / 2e-5, j.d[k][i], 0.0, 1e-9);
            }
        }
    }
}

/* ---- a real arm ---- */

/* A UR5's own table, as printed in issue 457 of UniversalRobots/Universal_Robots_ROS_Driver. */
static const struct arm_dh REAL[ARM_JOINTS] = {
    {-9.62699668632896e-06, 0.0888794492754001, 0.000279332356195598, 1.57033858830411},
    {-1.43707039992005, 574.241384579456, -0.0566854832098269, -0.000733893428160216},
    {2.02543119975016, -507.363402098168, -0.32646702272051, 0.00325607356326439},
    {-0.588254688694989, -66.7676839353205, 1.49388687216263e-05, 1.57040005185553},
    {4.13647390228702e-05, 0.0949734691141216, 2.23692592990586e-07, -1.57101000328584},
    {8.1737463495365e-06, 0.0825625014554953, 0.0, 0.0},
};

/* Links as the table has them, hundreds of metres apart. */
static struct rigid go_by_table(const double q[6])
{
    struct rigid at = rigid_identity;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double c = cos(q[i] + REAL[i].theta_rad);
        const double s = sin(q[i] + REAL[i].theta_rad);
        const double ca = cos(REAL[i].alpha_rad);
        const double sa = sin(REAL[i].alpha_rad);
        const struct rigid link = {
            .turn = {{c, -s * ca, s * sa}, {s, c * ca, -c * sa}, {0, sa, ca}},
            .at_m = {REAL[i].a_m * c, REAL[i].a_m * s, REAL[i].d_m}};
        at = rigid_multiply(&at, &link);
    }
    return at;
}

static void test_real_arm(void)
{
    struct arm_geometry arm = ur5;
    size_t worst_link = 0;
    CU_ASSERT_EQUAL_FATAL(arm_geometry_set_dh(&arm, REAL, &worst_link), STATUS_OK);
    double correction[6 * ARM_JOINTS];
    arm_geometry_corrections(&arm, correction);
    for (size_t i = 0; i < 6 * ARM_JOINTS; i++) {
        CHECK("millimetres and milliradians", fabs(correction[i]) < 0.006);
    }
    struct arm_geometry again = ur5;
    arm_geometry_correct(&again, correction);
    struct random_source random = {.state = 9};
    double off_mm = 0.0;
    int met = 0;
    int reported = 0;
    enum { RUNS = 3000 };
    for (int i = 0; i < RUNS; i++) {
        double q[6];
        draw_joints(&random, PI, q);
        const struct rigid want = go_by_table(q);
        const struct rigid got = arm_forward(&arm, q);
        const struct rigid same = arm_forward(&again, q);
        const struct rigid plain = arm_forward(&ur5, q);
        /* The table's own sums have an error of 574 m times the rounding. */
        CHECK("as the table", worst_difference(&got, &want) < 1e-12);
        CHECK("by its corrections", worst_difference(&got, &same) < 1e-13);
        double twist[6];
        rigid_difference(&plain, &got, twist);
        off_mm += 1e3 * sqrt(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]);
        struct arm_solution s;
        const enum arm_reach reach = arm_inverse_near(&arm, &want, q, &s);
        if (reach != ARM_REACHED) {
            reported++;
            continue;
        }
        const struct rigid there = arm_forward(&arm, s.q);
        met += worst_difference(&there, &want) < 1e-9;
    }
    printf("off nominal %.2f mm; solved %d of %d\n", off_mm / RUNS, met, RUNS);
    CHECK_NEAR("mean distance from nominal, mm", off_mm / RUNS, 1.81, 0.03, 0.0);
    /* 1.1 % of poses have no nominal solution to begin from. */
    CHECK("solved", met >= 0.975 * RUNS);
    CHECK_INT("the rest is reported", met + reported, RUNS);
    struct arm_geometry other = ur5;
    struct arm_dh wrong[ARM_JOINTS];
    memcpy(wrong, REAL, sizeof wrong);
    wrong[2].a_m += 0.2;
    CHECK_INT("another arm", arm_geometry_set_dh(&other, wrong, &worst_link), STATUS_E_RANGE);
    CHECK_INT("its links", worst_link, 3);
    CHECK("it is as it was", !other.corrected);
}

/* A URDF joint's origin is Rz(yaw) Ry(pitch) Rx(roll). */
static void test_urdf(void)
{
    const struct rigid origin =
        arm_urdf_origin((double[]){1.0, 2.0, 3.0}, (double[]){0.0, 0.0, PI / 2.0});
    CHECK_NEAR("x of a quarter turn", origin.turn[1][0], 1.0, 0.0, 1e-15);
    const struct rigid both =
        arm_urdf_origin((double[]){0.0, 0.0, 0.0}, (double[]){PI / 2.0, 0.0, PI / 2.0});
    /* z: by the roll to -y, by the yaw to x. */
    CHECK_NEAR("z of both", both.turn[0][2], 1.0, 0.0, 1e-15);
    CHECK_NEAR("shift", origin.at_m[2], 3.0, 0.0, 0.0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    golden = json_load_file(TANDEM_SOURCE_DIR "/tests/golden/arm/fk_ik.json", 0, NULL);
    if (!golden || !arm_geometry_find("ur5", &ur5) || CU_initialize_registry() != CUE_SUCCESS) {
        (void)fprintf(stderr, "cannot read the golden file\n");
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("arm kinematics", NULL, NULL);
    CU_add_test(suite, "golden", test_golden);
    CU_add_test(suite, "unreachable", test_unreachable);
    CU_add_test(suite, "random", test_random);
    CU_add_test(suite, "jacobian", test_jacobian);
    CU_add_test(suite, "a real arm", test_real_arm);
    CU_add_test(suite, "urdf", test_urdf);
    const int code = check_run();
    json_decref(golden);
    return code;
}
