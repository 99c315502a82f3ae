/* short: TANDEM_WITHOUT=friction */
/* An arm's links from poses, and its friction from currents: true values are found, intervals
 * contain them, wrong frames and units are reported, too little data, and memory that runs
 * out. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/arm/arm_friction.h"
#include "identification/arm/arm_kinematics.h"
#include "identification/fit/reference.h"
#include "tests/support/gsl_memory.h"

enum { POSES = 100, SEEDS = 60, HELD_OUT = 500 };

static struct arm_pair pairs[HELD_OUT];
static struct arm_kinematics_fit fit;

/* A UR5's own table, as printed in issue 457 of UniversalRobots/Universal_Robots_ROS_Driver. */
static const struct arm_dh REAL[ARM_JOINTS] = {
    {-9.62699668632896e-06, 0.0888794492754001, 0.000279332356195598, 1.57033858830411},
    {-1.43707039992005, 574.241384579456, -0.0566854832098269, -0.000733893428160216},
    {2.02543119975016, -507.363402098168, -0.32646702272051, 0.00325607356326439},
    {-0.588254688694989, -66.7676839353205, 1.49388687216263e-05, 1.57040005185553},
    {4.13647390228702e-05, 0.0949734691141216, 2.23692592990586e-07, -1.57101000328584},
    {8.1737463495365e-06, 0.0825625014554953, 0.0, 0.0},
};

static double draw_normal(struct random_source *random)
{
    const double radius = sqrt(2.0 * random_exponential(random, 1.0));
    return radius * cos(random_between(random, 0.0, 2.0 * PI));
}

static struct arm_geometry find_arm(const char *name)
{
    struct arm_geometry arm;
    CU_ASSERT_FATAL(arm_geometry_find(name, &arm));
    return arm;
}

static struct arm_geometry find_real(void)
{
    struct arm_geometry arm = find_arm("ur5");
    size_t worst;
    CU_ASSERT_EQUAL_FATAL(arm_geometry_set_dh(&arm, REAL, &worst), STATUS_OK);
    return arm;
}

static struct arm_pairs draw_pairs(const struct arm_geometry *arm, size_t n, double noise_m,
                                   double noise_rad, uint64_t seed)
{
    struct random_source random = {.state = seed};
    for (size_t k = 0; k < n; k++) {
        double shake[3];
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            pairs[k].q_rad[j] = random_between(&random, -PI, PI);
        }
        for (size_t c = 0; c < 3; c++) {
            shake[c] = noise_rad * draw_normal(&random);
        }
        const struct rigid shaken = rotation_exp(shake);
        struct rigid at = arm_forward(arm, pairs[k].q_rad);
        at = rigid_multiply(&at, &shaken);
        rigid_to_pose(&at, pairs[k].pose);
        for (size_t c = 0; c < 3; c++) {
            pairs[k].pose[c] += noise_m * draw_normal(&random);
        }
    }
    return (struct arm_pairs){n, pairs};
}

static bool has_reason(const struct estimate *e, const char *text)
{
    for (size_t k = 0; k < e->reason_count; k++) {
        if (strstr(e->reasons[k], text)) {
            return true;
        }
    }
    (void)printf("no '%s'\n", text);
    return false;
}

/* How far the corrected arm is from the true one where nothing was measured. */
static struct arm_kinematics_check check_truth(const struct arm_geometry *truth)
{
    struct arm_geometry found = find_arm("ur5");
    struct arm_kinematics_check check;
    arm_geometry_correct(&found, fit.correction);
    const struct arm_pairs elsewhere = draw_pairs(truth, HELD_OUT, 0.0, 0.0, 99);
    arm_kinematics_compare(&found, &elsewhere, &check);
    return check;
}

static void test_real_links(void)
{
    static const struct {
        const char *row;
        size_t n;
        double noise_m, noise_rad, mean_m, max_m;
    } rows[] = {{"30 exact poses", 30, 0.0, 0.0, 1e-8, 1e-7},
                {"100 poses, 0.05 mm", 100, 5e-5, 1e-4, 3e-5, 7e-5},
                {"100 poses, 0.5 mm", 100, 5e-4, 1e-3, 3e-4, 7e-4}};
    const struct arm_geometry nominal = find_arm("ur5");
    const struct arm_geometry real = find_real();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct arm_pairs some =
            draw_pairs(&real, rows[i].n, rows[i].noise_m, rows[i].noise_rad, 3 + i);
        CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
        CHECK_INT(rows[i].row, fit.estimate.verdict, ESTIMATE_PASS);
        CHECK_INT(rows[i].row, fit.estimate.rank, ARM_KINEMATICS_P);
        CHECK_NEAR(rows[i].row, fit.nominal.mean_m, 1.85e-3, 0.1, 0.0);
        const struct arm_kinematics_check far = check_truth(&real);
        (void)printf("%s: %.4f mm in the mean, at most %.4f mm\n", rows[i].row,
                     1e3 * far.mean_m, 1e3 * far.max_m);
        CHECK(rows[i].row, far.mean_m <= rows[i].mean_m && far.max_m <= rows[i].max_m);
    }
}

/* Over many recordings: parameters within their intervals, the tool as close as reported. */
static void test_links_intervals(void)
{
    const struct arm_geometry nominal = find_arm("ur5");
    double correction[ARM_CORRECTIONS] = {0.0};
    size_t held = 0;
    size_t passed = 0;
    double reported2 = 0.0;
    double far2 = 0.0;
    for (size_t i = 0; i < ARM_KINEMATICS_P; i++) {
        correction[arm_kinematics_place(i)] = 1e-3 * sin(1.0 + 1.7 * (double)i);
    }
    struct arm_geometry truth = nominal;
    arm_geometry_correct(&truth, correction);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct arm_pairs some = draw_pairs(&truth, 40, 5e-5, 1e-4, 1000 + seed);
        CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
        passed += fit.estimate.verdict == ESTIMATE_PASS;
        for (size_t i = 0; i < ARM_KINEMATICS_P; i++) {
            const double true_value = correction[arm_kinematics_place(i)];
            held += fit.estimate.lo[i] <= true_value && true_value <= fit.estimate.hi[i];
        }
        const double rms_m = check_truth(&truth).rms_m;
        far2 += rms_m * rms_m;
        reported2 += fit.tool_se_m * fit.tool_se_m;
    }
    /* 95 % of 1560 within chance (5 sd, parameters of one fit counted as independent). */
    CHECK_NEAR("held", (double)held / (SEEDS * ARM_KINEMATICS_P), 0.95, 0.0, 0.03);
    CHECK("passed", passed >= SEEDS - 5);
    CHECK_NEAR("the tool, as close as reported", sqrt(far2 / reported2), 1.0, 0.0, 0.1);
}

/* ---- recordings of something else ---- */

static void shift_tool(struct arm_pair *pair, double by_m)
{
    struct rigid at = rigid_from_pose(pair->pose);
    struct rigid tool = rigid_identity;
    tool.at_m[2] = by_m;
    at = rigid_multiply(&at, &tool);
    rigid_to_pose(&at, pair->pose);
}

static void move_base(struct arm_pair *pair, size_t axis, double by_rad)
{
    double v[3] = {0.0};
    v[axis] = by_rad;
    const struct rigid base = rotation_exp(v);
    struct rigid at = rigid_from_pose(pair->pose);
    at = rigid_multiply(&base, &at);
    rigid_to_pose(&at, pair->pose);
}

static void scale_numbers(double *numbers, size_t count, double by)
{
    for (size_t k = 0; k < count; k++) {
        numbers[k] *= by;
    }
}

static void swap_values(double *a, double *b)
{
    const double was = *a;
    *a = *b;
    *b = was;
}

enum wrong {
    MM,
    TENTHS,
    DEG,
    ROT_DEG,
    ROS,
    TOOL,
    SMALL_TOOL,
    LEANS,
    SWAP_Q,
    SWAP_P,
    BACK,
    AGO
};

static void spoil_pair(struct arm_pair *pair, enum wrong how)
{
    switch (how) {
    case MM:
        scale_numbers(pair->pose, 3, 1e3);
        break;
    case TENTHS:
        scale_numbers(pair->pose, 3, 1e4);
        break;
    case DEG:
        scale_numbers(pair->q_rad, ARM_JOINTS, 180.0 / PI);
        break;
    case ROT_DEG:
        scale_numbers(pair->pose + 3, 3, 180.0 / PI);
        break;
    case ROS:
        move_base(pair, 2, PI);
        break;
    case TOOL:
    case SMALL_TOOL:
        shift_tool(pair, how == TOOL ? 0.15 : 0.004);
        break;
    case LEANS:
        move_base(pair, 1, 5e-4);
        break;
    case SWAP_Q:
        swap_values(&pair->q_rad[3], &pair->q_rad[5]);
        break;
    case SWAP_P:
        swap_values(&pair->pose[1], &pair->pose[2]);
        break;
    case BACK:
        pair->q_rad[4] = -pair->q_rad[4];
        break;
    case AGO:
        memcpy(pair->q_rad, (pair - 1)->q_rad, sizeof pair->q_rad);
        break;
    }
}

static void test_wrong_frames(void)
{
    static const struct {
        const char *row;
        enum wrong how;
        enum estimate_verdict verdict;
        const char *text;
    } rows[] = {
        {"mm", MM, ESTIMATE_FAIL, "positions in millimetres"},
        {"tenths of mm", TENTHS, ESTIMATE_FAIL, "positions in tenths of a millimetre"},
        {"degrees", DEG, ESTIMATE_FAIL, "joint angles in degrees"},
        {"vectors in degrees", ROT_DEG, ESTIMATE_FAIL, "rotation vectors in degrees"},
        {"ROS", ROS, ESTIMATE_FAIL, "ROS' base_link for the base"},
        {"tool", TOOL, ESTIMATE_FAIL, "from the flange: a tool"},
        {"small tool", SMALL_TOOL, ESTIMATE_MARGINAL, "from the flange: a tool"},
        {"leans", LEANS, ESTIMATE_MARGINAL, "the base stands or leans otherwise"},
        {"exchanged joints", SWAP_Q, ESTIMATE_FAIL, "q4 and q6 exchanged"},
        {"exchanged y, z", SWAP_P, ESTIMATE_FAIL, "y and z exchanged"},
        {"a joint backwards", BACK, ESTIMATE_FAIL, "joint 5 counted backwards"},
        {"the row before", AGO, ESTIMATE_FAIL, "these are no poses of such an arm"},
    };
    const struct arm_geometry nominal = find_arm("ur5");
    const struct arm_geometry real = find_real();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct arm_pairs some = draw_pairs(&real, 60, 5e-5, 1e-4, 40 + i);
        for (size_t k = some.n; k-- > 1;) {
            spoil_pair(&pairs[k], rows[i].how);
        }
        CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
        CHECK_INT(rows[i].row, fit.estimate.verdict, rows[i].verdict);
        CHECK(rows[i].row, has_reason(&fit.estimate, rows[i].text));
        CHECK(rows[i].row, fit.estimate.advice_count > 0);
    }
    const struct arm_geometry other = find_arm("ur5e");
    const struct arm_pairs some = draw_pairs(&other, 60, 5e-5, 1e-4, 5);
    CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
    CHECK_INT("another arm", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("another arm", has_reason(&fit.estimate, "a ur5e"));
    CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&other, &some, true, &fit), STATUS_OK);
    CHECK_INT("as what it is", fit.estimate.verdict, ESTIMATE_PASS);
}

static void test_few_poses(void)
{
    const struct arm_geometry nominal = find_arm("ur5");
    const struct arm_geometry real = find_real();
    struct arm_pairs some = draw_pairs(&real, 60, 5e-5, 1e-4, 8);
    some.n = ARM_KINEMATICS_POSES_MIN - 1;
    CHECK_INT("too few", arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_E_EMPTY);
    some.n = 60;
    for (size_t k = 0; k < some.n; k++) {
        struct rigid at;
        for (size_t j = 1; j < ARM_JOINTS; j++) {
            pairs[k].q_rad[j] = pairs[0].q_rad[j];
        }
        at = arm_forward(&real, pairs[k].q_rad);
        rigid_to_pose(&at, pairs[k].pose);
    }
    CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
    CHECK_INT("one joint only", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("one joint only", fit.estimate.rank < ARM_KINEMATICS_P);
    CHECK("one joint only", has_reason(&fit.estimate, "corrections only"));
    CHECK("the report holds there", fit.own.max_m < 1e-5);
    /* One pose in thirty is nonsense: left out, the others as good. */
    some = draw_pairs(&real, 90, 5e-5, 1e-4, 9);
    for (size_t k = 5; k < some.n; k += 30) {
        pairs[k].pose[0] += 0.02;
    }
    CU_ASSERT_EQUAL_FATAL(arm_kinematics_fit_run(&nominal, &some, true, &fit), STATUS_OK);
    CHECK_INT("outliers", fit.outliers, 3);
    CHECK("outliers", check_truth(&real).mean_m < 4e-5);
}

/* ---- friction ---- */

enum { ROWS = 6000, COLUMNS = 1 + 3 * ARM_JOINTS };
static double columns[COLUMNS][ROWS];
static const size_t starts[] = {0, ROWS};
static struct arm_friction_fit friction;
static const double J = 0.3, FV = 0.5, FC = 0.4, O = 0.1;

static struct arm_friction_raw draw_joints(uint64_t seed)
{
    struct random_source random = {.state = seed};
    struct arm_friction_raw raw = {
        .n = ROWS, .part_count = 1, .part_start = starts, .t_s = columns[0]};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        double *q = columns[1 + 3 * j];
        double *qd = columns[2 + 3 * j];
        double *i = columns[3 + 3 * j];
        const double w[2] = {random_between(&random, 0.6, 1.1),
                             random_between(&random, 1.7, 2.4)};
        for (size_t k = 0; k < ROWS; k++) {
            const double t = columns[0][k] = 0.008 * (double)k;
            q[k] = sin(w[0] * t) + 0.4 * sin(w[1] * t);
            qd[k] = w[0] * cos(w[0] * t) + 0.4 * w[1] * cos(w[1] * t);
            i[k] = -J * (w[0] * w[0] * sin(w[0] * t) + 0.4 * w[1] * w[1] * sin(w[1] * t)) +
                   FV * qd[k] + FC * tanh(qd[k] / 0.01) + O + 0.1 * draw_normal(&random);
        }
        raw.q_rad[j] = q;
        raw.qd_radps[j] = qd;
        raw.current_a[j] = i;
    }
    return raw;
}

static enum status fit_joints(const struct arm_friction_raw *raw, struct err *err)
{
    struct arm_friction_set set;
    struct arm_friction_summary summary;
    const enum status made = arm_friction_set_make(raw, &set, &summary, err);
    if (made != STATUS_OK) {
        return made;
    }
    const enum status st = arm_friction_fit_run(&set, &summary, true, &friction);
    arm_friction_set_free(&set);
    return st;
}

static const double truth[] = {J, FV, FC, O};

/* Whether the parameters in use are contradicted: all joints, values (NULL: none) with their
 * errors; joint 3 has a viscous friction that is off by a share of it. */
static bool is_contradicted(const struct estimate *before, double off)
{
    struct reference_check extra[ARM_JOINTS];
    struct reference_comparison whole;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        extra[j].given = true;
        reference_start(&extra[j].values);
        for (size_t i = 0; i < friction.joint[j].estimate.p; i++) {
            const double known = i < COUNT(truth) ? truth[i] : 0.0;
            extra[j].values.value[i] = before ? before[j].value[i] : known;
            extra[j].values.se[i] = before ? before[j].se[i] : 0.0;
        }
        extra[j].values.value[1] *= j == 2 ? 1.0 + off : 1.0;
        reference_compare(&friction.joint[j].estimate, &extra[j].values, &extra[j].comparison);
    }
    reference_combine(extra, ARM_JOINTS, &whole);
    return whole.contradicts;
}

static void test_friction(void)
{
    static struct estimate before[ARM_JOINTS];
    size_t held = 0;
    size_t alarms[2] = {0};
    size_t found = 0;
    enum { RUNS = 40 };
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        const struct arm_friction_raw raw = draw_joints(50 + seed);
        CU_ASSERT_EQUAL_FATAL(fit_joints(&raw, NULL), STATUS_OK);
        CHECK_INT("pass", friction.whole.verdict, ESTIMATE_PASS);
        alarms[0] += is_contradicted(NULL, 0.0);
        alarms[1] += seed > 0 && is_contradicted(before, 0.0);
        found += is_contradicted(NULL, 0.05);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            before[j] = friction.joint[j].estimate;
        }
        for (size_t i = 0; i < COUNT(truth); i++) {
            const struct estimate *e = &friction.joint[5].estimate;
            held += e->lo[i] <= truth[i] && truth[i] <= e->hi[i];
            CHECK_NEAR(e->name[i], e->value[i], truth[i], 0.05, 0.0);
        }
    }
    CHECK("held", held >= (size_t)(0.88 * RUNS * COUNT(truth)));
    (void)printf("of %d: the truth contradicted %zu times, the recording before %zu times, a "
                 "joint 5 %% off %zu times\n",
                 RUNS, alarms[0], alarms[1], found);
    CHECK("the truth", alarms[0] <= 6);
    CHECK("the same arm again", alarms[1] <= 6);
    CHECK("one of 38 values", found == RUNS);
}

static void test_wrong_currents(void)
{
    struct err err = {0};
    struct arm_friction_raw raw = draw_joints(3);
    raw.current_a[1] = columns[3 + 3 * 3];
    raw.current_a[3] = columns[3 + 3 * 1];
    CU_ASSERT_EQUAL_FATAL(fit_joints(&raw, NULL), STATUS_OK);
    CHECK_INT("exchanged currents", friction.whole.verdict, ESTIMATE_FAIL);
    CHECK("exchanged currents", has_reason(&friction.whole, "due to the motion of joint 4"));
    raw = draw_joints(3);
    raw.qd_radps[1] = columns[2 + 3 * 3];
    CU_ASSERT_EQUAL_FATAL(fit_joints(&raw, NULL), STATUS_OK);
    CHECK("a speed of another joint",
          has_reason(&friction.whole, "is not the rate of the angle"));
    raw = draw_joints(3);
    scale_numbers(columns[2], ROWS, 180.0 / PI);
    CU_ASSERT_EQUAL_FATAL(fit_joints(&raw, NULL), STATUS_OK);
    CHECK("speed", has_reason(&friction.joint[0].estimate, "speeds in degrees per second"));
    raw = draw_joints(3);
    memset(columns[2], 0, sizeof columns[2]);
    for (size_t k = 0; k < ROWS; k++) {
        columns[1][k] = 0.3;
    }
    CU_ASSERT_EQUAL_FATAL(fit_joints(&raw, NULL), STATUS_OK);
    CHECK("still", has_reason(&friction.whole, "joint 1 does not move"));
    CHECK_INT("the others", friction.joint[1].estimate.verdict, ESTIMATE_PASS);
    raw = draw_joints(3);
    scale_numbers(columns[0], ROWS, 1e3);
    CHECK_INT("ms", fit_joints(&raw, &err), STATUS_E_PARSE);
    CHECK_TEXT("ms", fault_name(err.fault), "wrong_unit");
    raw = draw_joints(3);
    for (size_t k = 0; k < ROWS; k += 50) {
        columns[9][k] = (double)NAN;
    }
    CHECK_INT("holes", fit_joints(&raw, &err), STATUS_OK);
    raw.n = 0;
    raw.part_start = (const size_t[]){0, 0};
    CHECK_INT("nothing", fit_joints(&raw, &err), STATUS_E_EMPTY);
}

/* ---- memory ---- */

static void test_no_memory(void)
{
    const struct arm_geometry nominal = find_arm("ur5");
    const struct arm_pairs some = draw_pairs(&nominal, 20, 5e-5, 1e-4, 8);
    const struct arm_friction_raw raw = draw_joints(1);
    enum status st = STATUS_E_NOMEM;
    int tries = 0;
    for (; st != STATUS_OK && tries < 50; tries++) {
        allocations_left = tries;
        st = arm_kinematics_fit_run(&nominal, &some, true, &fit);
        allocations_left = -1;
        CHECK("links", st == STATUS_OK || st == STATUS_E_NOMEM);
    }
    CHECK("links", tries > 1);
    st = STATUS_E_NOMEM;
    for (tries = 0; st != STATUS_OK && tries < 50; tries++) {
        allocations_left = tries;
        st = fit_joints(&raw, NULL);
        allocations_left = -1;
        CHECK("friction", st == STATUS_OK || st == STATUS_E_NOMEM);
    }
    CHECK("friction", tries > 1);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("arm fits", NULL, NULL);
    CU_add_test(suite, "real links", test_real_links);
    CU_add_test(suite, "intervals of links", test_links_intervals);
    CU_add_test(suite, "wrong frames", test_wrong_frames);
    CU_add_test(suite, "few poses", test_few_poses);
    CU_add_test(suite, "friction", test_friction);
    CU_add_test(suite, "wrong currents", test_wrong_currents);
    CU_add_test(suite, "memory", test_no_memory);
    return check_run();
}
