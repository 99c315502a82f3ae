/* Integrals of the joints' errors since a goal was set. */
#include "tests/support/check.h"

#include "identification/geometry/arm_indices.h"

static void test_sums(void)
{
    const double goal[6] = {1.0, -2.0, 0.0, 0.0, 0.0, 3.0};
    const double nowhere[6] = {0.0, NAN};
    struct arm_indices x = {0};
    double q[6] = {0.5, -1.75, 0.0, 0.0, 0.0, 3.0};
    arm_indices_step(&x, q, 0.008);
    CHECK("no goal", !x.begun && x.t_s <= 0.0);
    arm_indices_begin(&x, goal);
    for (int k = 0; k < 125; k++) {
        arm_indices_step(&x, q, 0.008);
    }
    arm_indices_step(&x, nowhere, 0.008);
    CHECK_NEAR("a second", x.t_s, 1.0, 1e-12, 0.0);
    CHECK_NEAR("ISE", x.ise[0], 0.25, 1e-12, 0.0);
    CHECK_NEAR("ISE", x.ise[1], 0.0625, 1e-12, 0.0);
    CHECK_NEAR("IAE", x.iae[0], 0.5, 1e-12, 0.0);
    CHECK_NEAR("IAE", x.iae[1], 0.25, 1e-12, 0.0);
    /* h Σ k h = (1 + h) / 2 */
    CHECK_NEAR("ITAE", x.itae[0], 0.5 * 0.504, 1e-12, 0.0);
    CHECK_NEAR("there", x.iae[5], 0.0, 0.0, 0.0);
    q[0] = 1.0;
    arm_indices_step(&x, q, 0.008);
    CHECK_NEAR("arrived", x.iae[0], 0.5, 1e-12, 0.0);
    arm_indices_begin(&x, goal);
    CHECK("anew", x.begun && x.t_s <= 0.0 && x.iae[1] <= 0.0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm_indices", NULL, NULL);
    CU_add_test(suite, "sums", test_sums);
    return check_run();
}
