/* The pose of an arm's tool and its Jacobian against Orocos KDL, over random joint angles. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "tests/support/scratch.h"
#include "identification/geometry/arm_geometry.h"

enum { POSES = 2000, NUMBERS = 48 };

static double worst_m, worst_turn, worst_slope;

/* Compares with one line of KDL's: the pose, 3 x 4, then the Jacobian, 6 x 6. */
static void compare_arm(const struct arm_geometry *arm, const double q[6],
                        const double kdl[NUMBERS])
{
    const struct rigid tool = arm_forward(arm, q);
    const struct arm_slope slope = arm_jacobian(arm, q);
    for (size_t i = 0; i < 3; i++) {
        worst_m = fmax(worst_m, fabs(tool.at_m[i] - kdl[4 * i + 3]));
        for (size_t k = 0; k < 3; k++) {
            worst_turn = fmax(worst_turn, fabs(tool.turn[i][k] - kdl[4 * i + k]));
        }
    }
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            worst_slope = fmax(worst_slope, fabs(slope.d[i][k] - kdl[12 + 6 * i + k]));
        }
    }
}

static bool read_line(FILE *answers, double kdl[NUMBERS])
{
    for (size_t i = 0; i < NUMBERS; i++) {
        if (fscanf(answers, "%lf", &kdl[i]) != 1) {
            return false;
        }
    }
    return true;
}

static void ask_kdl(const char *path, const struct arm_geometry arms[2], double (*q)[6])
{
    char command[1024];
    double kdl[NUMBERS];
    size_t count = 0;
    (void)snprintf(command, sizeof command,
                   "python3 " TANDEM_SOURCE_DIR "/tests/golden/arm_pykdl.py <%s", path);
    FILE *answers = popen(command, "r"); // NOLINT(cert-env33-c)
    CU_ASSERT_FATAL(answers != NULL);
    while (count < POSES && read_line(answers, kdl)) {
        compare_arm(&arms[count % 2], q[count], kdl);
        count++;
    }
    const int status = pclose(answers);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        (void)printf("SKIPPED: no PyKDL (Debian: python3-pykdl)\n");
        return;
    }
    CHECK_INT("poses", count, POSES);
    (void)printf("%zu poses: %.1e m, %.1e of a turn, %.1e of a Jacobian\n", count, worst_m,
                 worst_turn, worst_slope);
    CHECK("position", worst_m <= 1e-12);
    CHECK("turn", worst_turn <= 1e-12);
    CHECK("Jacobian", worst_slope <= 1e-12);
}

static void test_against_kdl(void)
{
    struct arm_geometry arms[2];
    static double q[POSES][6];
    struct random_source random = {.state = 16};
    char path[SCRATCH_MAX];
    const int fd = mkstemp(scratch_template(path, "arm_pykdl"));
    CU_ASSERT_FATAL(fd >= 0);
    FILE *file = fdopen(fd, "w");
    CU_ASSERT_FATAL(file != NULL && arm_geometry_find("ur5", &arms[0]) &&
                    arm_geometry_find("ur5e", &arms[1]));
    for (size_t i = 0; i < POSES; i++) {
        const struct arm_geometry *a = &arms[i % 2];
        (void)fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g", a->d1_m, a->a2_m, a->a3_m,
                      a->d4_m, a->d5_m, a->d6_m);
        for (size_t k = 0; k < 6; k++) {
            q[i][k] = random_between(&random, -2.0 * PI, 2.0 * PI);
            (void)fprintf(file, " %.17g", q[i][k]);
        }
        (void)fputc('\n', file);
    }
    (void)fclose(file);
    ask_kdl(path, arms, q);
    (void)unlink(path);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm pykdl", NULL, NULL);
    CU_add_test(suite, "against kdl", test_against_kdl);
    return check_run();
}
