/* Links of one arm in every file format: each format means the same arm, and every fault has
 * its place. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <unistd.h>

#include "base/numbers/random.h"
#include "service/arm/arm_links_file.h"
#include "tests/support/scratch.h"

/* Links of a real UR5, as printed in issue 179 of ros-industrial-attic/ur_modern_driver. */
static const char conf[] =
    "[mounting]  \n"
    "delta_theta = [ 2.07750978653505926e-05, 0.96821571555565844, -1.85685385014877657, "
    "0.888647901450376643, 5.66106814887767484e-05, -7.46310764096455082e-05]\n"
    "delta_a = [ 0.000393621049984383038, 0.184093300397451837, 0.14493953300732923, "
    "-6.43297403642304399e-05, 7.76709040084077299e-06, 0]\n"
    "delta_d = [ 4.00263097760228392e-05, 278.244144925623573, -183.695513914913732, "
    "-94.5471513669751289, 0.000304782681775556119, 0.000123737941387466743]\n"
    "delta_alpha = [ -0.000271624944216508624, 0.00125856505456124258, "
    "-0.00322052070697146503, 0.00065153016530383745, -0.00058700465721117645, 0]\n"
    "joint_checksum = [ 0xb3241580, 0xb10112f1]\n"
    "calibration_status = 2 # 0 == notInitialized";

/* The nominal UR5 as ROS has it, but for two links. */
static const char origins[] =
    "kinematics:\n"
    "  shoulder: {x: 0, y: 0, z: 0.089159, roll: 0, pitch: -0, yaw: 0.001}\n"
    "  upper_arm: {x: 0.0002, y: 0, z: 0, roll: 1.5717, pitch: 0, yaw: -2e-05}\n"
    "  forearm: {x: -0.4253, y: 0, z: 0, roll: 0.002, pitch: 0.001, yaw: 0}\n"
    "  wrist_1: {x: -0.39225, y: 0, z: 0.10915, roll: 0, pitch: 0, yaw: 0}\n"
    "  wrist_2: {x: 0, y: -0.09465, z: 0, roll: 1.570796326794897, pitch: 0, yaw: 0}\n"
    "  wrist_3: {x: 0, y: 0.0823, z: 0, roll: 1.570796326794897, pitch: 3.141592653589793, "
    "yaw: 3.141592653589793}\n"
    "  hash: calib_209549117540498681\n";

static const char found[] =
    "{\"model\": \"arm_kinematics\", \"verdict\": \"MARGINAL\", \"arm\": \"ur5\", "
    "\"null\": null, \"corrections\": [[0.001, 0, 0, 0, 0.002, 0], [0, 0, 0, 0, 0, 0], "
    "[0, -5e-4, 0, 2.7e-3, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], "
    "[0, 0, 1e-3, 0, 0, 1e-3]]}";

static struct arm_links links;
static struct arm_geometry ur5;

static enum status load_links(const char *text, struct err_list *errors)
{
    char path[SCRATCH_MAX];
    const int fd = mkstemp(scratch_template(path, "arm_links"));
    const size_t bytes = strlen(text);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes);
    (void)close(fd);
    memset(errors, 0, sizeof *errors);
    links.arm = ur5;
    const enum status st = option_file_load(&arm_links_file, path, &links, errors);
    (void)unlink(path);
    return st;
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

/* Whether the arm that was read equals the other one; returns the mean distance of the nominal
 * arm's tool from it. */
static double check_poses(const char *row, struct rigid (*stand)(const double q[ARM_JOINTS]))
{
    struct random_source random = {.state = 4};
    enum { POSES = 200 };
    double off_m = 0.0;
    for (int k = 0; k < POSES; k++) {
        double q[ARM_JOINTS];
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            q[j] = random_between(&random, -3.0, 3.0);
        }
        const struct rigid got = arm_forward(&links.arm, q);
        const struct rigid want = stand(q);
        const struct rigid nominal = arm_forward(&ur5, q);
        CHECK(row, worst_difference(&got, &want) < 1e-12);
        off_m += hypot(hypot(got.at_m[0] - nominal.at_m[0], got.at_m[1] - nominal.at_m[1]),
                       got.at_m[2] - nominal.at_m[2]) /
                 POSES;
    }
    return off_m;
}

static struct rigid place_frame(struct rigid at, double x, double y, double z, double roll,
                                double pitch, double yaw)
{
    const struct rigid step =
        arm_urdf_origin((double[]){x, y, z}, (double[]){roll, pitch, yaw});
    return rigid_multiply(&at, &step);
}

/* A controller's table, link by link. */
static struct rigid stand_by_table(const double q[ARM_JOINTS])
{
    static const double theta[] = {2.07750978653505926e-05, 0.96821571555565844,
                                   -1.85685385014877657,    0.888647901450376643,
                                   5.66106814887767484e-05, -7.46310764096455082e-05};
    static const double d[] = {0.089159 + 4.00263097760228392e-05,
                               278.244144925623573,
                               -183.695513914913732,
                               0.10915 - 94.5471513669751289,
                               0.09465 + 0.000304782681775556119,
                               0.0823 + 0.000123737941387466743};
    static const double a[] = {0.000393621049984383038,        -0.425 + 0.184093300397451837,
                               -0.39225 + 0.14493953300732923, -6.43297403642304399e-05,
                               7.76709040084077299e-06,        0.0};
    static const double quarter = 1.57079632679489661923;
    static const double alpha[] = {
        quarter - 0.000271624944216508624, 0.00125856505456124258,
        -0.00322052070697146503,           quarter + 0.00065153016530383745,
        -quarter - 0.00058700465721117645, 0.0};
    struct rigid at = rigid_identity;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        at = place_frame(at, 0.0, 0.0, d[i], 0.0, 0.0, q[i] + theta[i]);
        at = place_frame(at, a[i], 0.0, 0.0, alpha[i], 0.0, 0.0);
    }
    return at;
}

/* Origins before joints, as in a URDF. */
static struct rigid stand_by_origins(const double q[ARM_JOINTS])
{
    static const double pi = 3.141592653589793;
    static const double origin[ARM_JOINTS][6] = {
        {0, 0, 0.089159, 0, 0, 0.001},    {0.0002, 0, 0, 1.5717, 0, -2e-05},
        {-0.4253, 0, 0, 0.002, 0.001, 0}, {-0.39225, 0, 0.10915, 0, 0, 0},
        {0, -0.09465, 0, pi / 2, 0, 0},   {0, 0.0823, 0, pi / 2, pi, pi}};
    struct rigid at = rigid_identity;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double *o = origin[i];
        at = place_frame(at, o[0], o[1], o[2], o[3], o[4], o[5]);
        at = place_frame(at, 0.0, 0.0, 0.0, 0.0, 0.0, q[i]);
    }
    return at;
}

static struct rigid stand_by_corrections(const double q[ARM_JOINTS])
{
    double correction[6 * ARM_JOINTS] = {0.001, 0, 0, 0, 0.002};
    struct arm_geometry arm = ur5;
    correction[13] = -5e-4;
    correction[15] = 2.7e-3;
    correction[32] = correction[35] = 1e-3;
    arm_geometry_correct(&arm, correction);
    return arm_forward(&arm, q);
}

static void test_forms(void)
{
    struct err_list errors;
    CHECK_INT("corrections", load_links(found, &errors), STATUS_OK);
    CHECK("corrections", check_poses("corrections", stand_by_corrections) > 1e-3);
    CHECK_INT("origins", load_links(origins, &errors), STATUS_OK);
    CHECK("origins", check_poses("origins", stand_by_origins) > 1e-4);
    CHECK_INT("conf", load_links(conf, &errors), STATUS_OK);
    const double off_m = check_poses("conf", stand_by_table);
    (void)printf("a real UR5's tool is %.2f mm off nominal in the mean\n", 1e3 * off_m);
    /* the author writes "2-3 mm" */
    CHECK("conf", off_m > 1e-3 && off_m < 4e-3);
}

/* The text with the first `was` of it replaced. */
static const char *replace_text(const char *text, const char *was, const char *is)
{
    static char edited[2048];
    const char *at = strstr(text, was);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    (void)snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, is,
                   at + strlen(was));
    return edited;
}

static void test_faults(void)
{
    static const struct {
        const char *row, *text, *was, *is, *code;
        unsigned line;
    } cases[] = {
        {"nothing of it", "a: 1\n", "a", "b", "missing_key", 1},
        {"empty", "x", "x", "", "empty_file", 1},
        {"another arm", found, "\"ur5\"", "\"ur5e\"", "wrong_robot", 1},
        {"a fit that failed", found, "MARGINAL", "FAIL", "wrong_robot", 1},
        {"not known", found, "2.7e-3", "null", "not_a_number", 1},
        {"five numbers", found, "0.002, 0]", "0.002]", "numbers_expected", 1},
        {"five links", found, "[0, 0, 0, 0, 0, 0], ", "", "numbers_expected", 1},
        {"links in mm", found, "[0.001", "[1", "wrong_robot", 1},
        {"no d", conf, "delta_d", "delta_e", "missing_key", 2},
        {"no number", conf, "0.184093300397451837", "wide", "not_a_number", 3},
        {"another arm's table", conf, "0.14493953300732923", "0.24", "wrong_robot", 2},
        {"no wrist", origins, "wrist_2", "wrist", "missing_key", 2},
        {"no roll", origins, "roll: 0.002, ", "", "missing_key", 4},
        {"a base that leans", origins, "pitch: -0", "pitch: 0.01", "wrong_robot", 2},
        {"another arm's origins", origins, "-0.4253", "-0.612", "wrong_robot", 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err_list errors;
        const char *text = replace_text(cases[i].text, cases[i].was, cases[i].is);
        CHECK_INT(cases[i].row, load_links(text, &errors), STATUS_E_PARSE);
        CHECK_INT(cases[i].row, errors.count, 1);
        CHECK_TEXT(cases[i].row, fault_name(errors.items[0].fault), cases[i].code);
        CHECK_INT(cases[i].row, errors.items[0].line, cases[i].line);
        CHECK(cases[i].row, !links.arm.corrected);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (!arm_geometry_find("ur5", &ur5)) {
        return EXIT_FAILURE;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("links of an arm", NULL, NULL);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "faults", test_faults);
    return check_run();
}
