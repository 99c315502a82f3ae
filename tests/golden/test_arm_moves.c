/* Moves of an arm against those that another program computed: how long they take, where they
 * are meanwhile, which are refused and where; and what holds of any of them. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "twin/arm/arm_move.h"
#include "twin/arm/arm_request.h"

static json_t *joint_moves;
static json_t *line_moves;
static json_t *kinematics;
static struct arm_geometry ur5;

static const double WORK[6] = {0.3, -1.2, -1.7, -1.8, 1.5707963, 0.4};

static void read_numbers(const json_t *array, size_t n, double *out)
{
    CU_ASSERT_EQUAL_FATAL(json_array_size(array), n);
    for (size_t i = 0; i < n; i++) {
        out[i] = json_number_value(json_array_get(array, i));
    }
}

static double read_or(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return value ? json_number_value(value) : otherwise;
}

static double largest_difference(const double *a, const double *b, size_t n)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

/* The samples of the golden, whose times have nine digits; then the highest speed of a joint,
 * there seen at every second of our times. */
static void check_way(const char *name, const json_t *c, struct arm_move *m)
{
    size_t i;
    json_t *sample;
    double q[6];
    double qd[6];
    json_array_foreach(json_object_get(c, "samples"), i, sample) {
        double want[6];
        read_numbers(json_array_get(sample, 1), 6, want);
        CHECK(name, arm_move_at(m, &ur5, json_number_value(json_array_get(sample, 0)), q, qd));
        CHECK_NEAR(name, largest_difference(q, want, 6), 0.0, 0.0, 3e-8);
    }
    double peak = 0.0;
    memcpy(m->last_q, m->from_q, sizeof m->last_q);
    for (double t = 0.0; t <= m->duration_s + 0.004; t += 0.004) {
        CHECK(name, arm_move_at(m, &ur5, t, q, qd));
        for (size_t k = 0; k < 6; k++) {
            peak = fmax(peak, fabs(qd[k]));
        }
    }
    CHECK_NEAR(name, largest_difference(q, m->to_q, 6), 0.0, 0.0, 1e-12);
    CHECK_NEAR(name, peak, read_or(c, "peak_radps", read_or(c, "peak_joint_radps", -1.0)), 0.05,
               1e-6);
}

/* Reads the start and the limits: the rates of joints or of the tool go to *rates. */
static void read_start(const json_t *c, struct arm_rates *rates, double *v, double *a,
                       double q0[6])
{
    const json_t *args = json_object_get(c, "args");
    *v = read_or(args, "v", *v);
    *a = read_or(args, "a", *a);
    rates->time_s = read_or(args, "t", 0.0);
    read_numbers(json_object_get(c, "q0"), 6, q0);
}

/* Checks that the move was refused as in the golden file, or has the same duration and path. */
static void check_move(const char *name, const json_t *c, const struct arm_fault *f,
                       struct arm_move *m)
{
    const json_t *error = json_object_get(c, "error");
    CHECK_TEXT(name, arm_refusal_names[f->refusal],
               error ? json_string_value(error) : "accepted");
    if (f->refusal == ARM_ACCEPTED) {
        CHECK_NEAR(name, m->duration_s, read_or(c, "duration_s", -1.0), 1e-8, 1e-9);
        check_way(name, c, m);
    }
}

static void test_joint_moves(void)
{
    size_t i;
    json_t *c;
    json_array_foreach(joint_moves, i, c) {
        struct arm_rates rates = arm_rates_default;
        double q0[6];
        double q1[6];
        read_start(c, &rates, &rates.v_radps, &rates.a_radps2, q0);
        read_numbers(json_object_get(c, "q1"), 6, q1);
        struct arm_move m;
        const struct arm_fault f = arm_plan_joints(&ur5, q0, q1, &rates, &arm_bounds_none, &m);
        check_move(json_string_value(json_object_get(c, "name")), c, &f, &m);
    }
    CHECK_INT("all of them", i, 13);
}

static void check_line(const char *name, const json_t *c, const struct arm_fault *f,
                       struct arm_move *m)
{
    check_move(name, c, f, m);
    if (f->refusal != ARM_ACCEPTED) {
        CHECK_NEAR(name, f->at, read_or(c, "where", -1.0), 0.0, 1e-9);
        return;
    }
    double end[6];
    read_numbers(json_object_get(c, "q_end"), 6, end);
    CHECK_NEAR(name, m->stretch, read_or(c, "stretch", -1.0), 1e-12, 0.0);
    CHECK_NEAR(name, m->length_m, read_or(c, "length_m", -1.0), 1e-5, 1e-11);
    CHECK_NEAR(name, m->angle_rad, read_or(c, "angle_rad", -1.0), 1e-5, 1e-10);
    CHECK_NEAR(name, largest_difference(m->to_q, end, 6), 0.0, 0.0, 3e-8);
}

static void test_line_moves(void)
{
    size_t i;
    json_t *c;
    json_array_foreach(line_moves, i, c) {
        struct arm_rates rates = arm_rates_default;
        double q0[6];
        double pose[6];
        read_start(c, &rates, &rates.v_mps, &rates.a_mps2, q0);
        read_numbers(json_object_get(c, "pose"), 6, pose);
        const struct rigid to = rigid_from_pose(pose);
        struct arm_move m;
        const struct arm_fault f = arm_plan_line(&ur5, q0, &to, &rates, &arm_bounds_none, &m);
        check_line(json_string_value(json_object_get(c, "name")), c, &f, &m);
    }
    CHECK_INT("all of them", i, 13);
}

/* ---- what holds of any ---- */

/* How far a point lies from the line, or from the circle, that the move promised. */
static double stray_m(const struct arm_move *m, const double at[3])
{
    double d[3];
    double along = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < 3; i++) {
        d[i] = at[i] - (m->path == ARM_ARC ? m->centre_m[i] : m->from.at_m[i]);
        along += d[i] * m->shift_m[i];
        size += m->shift_m[i] * m->shift_m[i];
    }
    if (m->path == ARM_ARC) {
        const double radius = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const double want = sqrt(m->out_m[0] * m->out_m[0] + m->out_m[1] * m->out_m[1] +
                                 m->out_m[2] * m->out_m[2]);
        return fabs(radius - want);
    }
    double off = 0.0;
    for (size_t i = 0; i < 3; i++) {
        const double e = d[i] - along / size * m->shift_m[i];
        off += e * e;
    }
    return sqrt(off);
}

/* At every period on the path the speeds are the reported ones, and no joint is faster than it
 * can be. */
static void check_tool_path(const char *name, struct arm_move *m)
{
    double q[6];
    double qd[6];
    double before[6];
    memcpy(before, m->from_q, sizeof before);
    for (double t = 0.0; t < m->duration_s; t += 0.008) {
        CHECK(name, arm_move_at(m, &ur5, t, q, qd));
        const struct rigid tool = arm_forward(&ur5, q);
        CHECK_NEAR(name, stray_m(m, tool.at_m), 0.0, 0.0, 1e-9);
        for (size_t k = 0; k < 6; k++) {
            CHECK(name, fabs(qd[k]) <= 1.02 * ur5.qd_max_radps[k]);
        }
        if (t > 0.0) {
            double mean[6];
            double middle[6];
            double half[6];
            struct arm_move again = *m;
            CHECK(name, arm_move_at(&again, &ur5, t - 0.004, middle, half));
            for (size_t k = 0; k < 6; k++) {
                mean[k] = (q[k] - before[k]) / 0.008;
            }
            CHECK_NEAR(name, largest_difference(mean, half, 6), 0.0, 0.0, 0.02);
        }
        memcpy(before, q, sizeof before);
    }
}

static void test_random_lines(void)
{
    struct random_source random = {.state = 11};
    int counts[ARM_REFUSAL_COUNT] = {0};
    for (int run = 0; run < 300; run++) {
        struct rigid to = arm_forward(&ur5, WORK);
        double turn[3];
        for (size_t i = 0; i < 3; i++) {
            to.at_m[i] += random_between(&random, -0.2, 0.2);
            turn[i] = random_between(&random, -0.4, 0.4);
        }
        const struct rigid step = rotation_exp(turn);
        to = rigid_multiply(&to, &step);
        struct arm_move m;
        const struct arm_fault f =
            arm_plan_line(&ur5, WORK, &to, &arm_rates_default, &arm_bounds_none, &m);
        counts[f.refusal]++;
        if (f.refusal == ARM_ACCEPTED) {
            check_tool_path("line", &m);
            const struct rigid there = arm_forward(&ur5, m.to_q);
            double left[6];
            rigid_difference(&there, &to, left);
            CHECK_NEAR("end", largest_difference(left, (double[6]){0.0}, 6), 0.0, 0.0, 1e-9);
        }
    }
    CHECK("most can be done", counts[ARM_ACCEPTED] > 270);
    CHECK_INT("none for another reason", counts[ARM_ACCEPTED] + counts[ARM_OUT_OF_REACH], 300);
}

/* A circle of 0.1 m about a point to the left closes; four sides of a square, too. */
static void test_circle(void)
{
    const struct rigid from = arm_forward(&ur5, WORK);
    struct arm_rates rates = arm_rates_default;
    rates.v_mps = 0.1;
    rates.a_mps2 = 0.5;
    struct rigid across = from;
    across.at_m[1] += 0.2;
    const double via[3] = {from.at_m[0] - 0.1, from.at_m[1] + 0.1, from.at_m[2]};
    struct arm_move m;
    struct arm_fault f =
        arm_plan_arc(&ur5, WORK, via, &across, 1.0, &rates, &arm_bounds_none, &m);
    CHECK_INT("circle", f.refusal, ARM_ACCEPTED);
    CHECK_NEAR("circle", m.duration_s, 6.4832, 1e-5, 0.0);
    CHECK_NEAR("it closes", largest_difference(m.to_q, WORK, 6), 0.0, 0.0, 1e-9);
    check_tool_path("circle", &m);
    f = arm_plan_arc(&ur5, WORK, via, &across, 0.0, &rates, &arm_bounds_none, &m);
    CHECK_INT("half of it", f.refusal, ARM_ACCEPTED);
    CHECK_NEAR("half of it", m.length_m, PI * 0.1, 1e-9, 0.0);
    check_tool_path("half of it", &m);
    const double far[3] = {from.at_m[0], from.at_m[1] + 0.1, from.at_m[2]};
    f = arm_plan_arc(&ur5, WORK, far, &across, 0.0, &rates, &arm_bounds_none, &m);
    CHECK_INT("no circle goes through a line", f.refusal, ARM_BAD_VALUE);
    CHECK("it says so", f.why != NULL);
    const double fast[3] = {via[0], via[1], via[2]};
    f = arm_plan_arc(&ur5, WORK, fast, &across, -1.0, &rates, &arm_bounds_none, &m);
    CHECK("another bad value", f.refusal == ARM_BAD_VALUE && !f.why);

    double q[6];
    memcpy(q, WORK, sizeof q);
    static const double sides[4][2] = {{0.15, 0.0}, {0.0, 0.15}, {-0.15, 0.0}, {0.0, -0.15}};
    for (size_t i = 0; i < 4; i++) {
        struct rigid to = arm_forward(&ur5, q);
        to.at_m[0] += sides[i][0];
        to.at_m[1] += sides[i][1];
        f = arm_plan_line(&ur5, q, &to, &rates, &arm_bounds_none, &m);
        CHECK_INT("side", f.refusal, ARM_ACCEPTED);
        memcpy(q, m.to_q, sizeof q);
    }
    CHECK_NEAR("the square closes", largest_difference(q, WORK, 6), 0.0, 0.0, 1e-9);
}

/* ---- bounds ---- */

static void test_clearance(void)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(kinematics, "cases"), i, c) {
        double q[6];
        const char *name = json_string_value(json_object_get(c, "name"));
        read_numbers(json_object_get(c, "q_rad"), 6, q);
        const struct arm_clearance got = arm_clearance(&ur5, q, -(double)INFINITY);
        char pair[32];
        (void)snprintf(pair, sizeof pair, "%s-%s", got.part, got.other);
        CHECK_NEAR(name, got.distance_m, read_or(c, "clearance_m", -9.0), 1e-7, 1e-9);
        CHECK_TEXT(name, pair, json_string_value(json_object_get(c, "clearance_pair")));
    }
    /* A joint move through the floor is refused where it meets it. */
    struct arm_bounds bounds = arm_bounds_none;
    bounds.floor_m = 0.0;
    const double up[6] = {0.0, -PI / 2.0, 0.0, -PI / 2.0, 0.0, 0.0};
    const double down[6] = {0.0, 0.3, 0.0, -PI / 2.0, 0.0, 0.0};
    struct arm_move m = {.duration_s = -1.0};
    const struct arm_fault f = arm_plan_joints(&ur5, up, down, &arm_rates_default, &bounds, &m);
    CHECK_INT("floor", f.refusal, ARM_COLLISION);
    CHECK_TEXT("floor", f.other, "floor");
    CHECK("on the way", f.at > 0.5 && f.at < 1.0);
    CHECK_NEAR("it begins above", f.begins_m, 0.0, 0.0, 0.0);
    /* A refusal says by how much the arm is below the floor already. */
    char detail[ARM_DETAIL_MAX];
    struct arm_bounds high = arm_bounds_none;
    high.floor_m = 1.0;
    const struct arm_fault below =
        arm_plan_joints(&ur5, up, down, &arm_rates_default, &high, &m);
    arm_fault_text(&below, NULL, detail);
    CHECK(detail, strstr(detail, "too near to floor; the move begins 0.") &&
                      strstr(detail, " m too near"));
    CHECK_NEAR("nothing was written", m.duration_s, -1.0, 0.0, 0.0);
    CHECK_INT("without a floor",
              arm_plan_joints(&ur5, up, down, &arm_rates_default, &arm_bounds_none, &m).refusal,
              ARM_ACCEPTED);
}

/* A real arm stops where a virtual one slows down: the caller chooses. */
static void test_limits(void)
{
    const double q0[6] = {0.2, -1.3, -1.6, -1.6, 0.06, 0.3};
    struct rigid to = arm_forward(&ur5, q0);
    to.at_m[0] += 0.1;
    struct arm_rates rates = arm_rates_default;
    rates.v_mps = 2.0;
    rates.a_mps2 = 40.0;
    struct arm_move m;
    struct arm_fault f = arm_plan_line(&ur5, q0, &to, &rates, &arm_bounds_none, &m);
    CHECK_INT("slower", f.refusal, ARM_ACCEPTED);
    CHECK("slower", m.stretch > 1.1);
    check_tool_path("slower", &m);
    struct arm_bounds bounds = arm_bounds_none;
    bounds.hold_speed = true;
    f = arm_plan_line(&ur5, q0, &to, &rates, &bounds, &m);
    CHECK_INT("refused", f.refusal, ARM_TOO_FAST);
    rates = arm_rates_default;
    rates.time_s = 0.1;
    to = arm_forward(&ur5, WORK);
    to.at_m[1] += 0.2;
    f = arm_plan_line(&ur5, WORK, &to, &rates, &arm_bounds_none, &m);
    CHECK_INT("in no time", f.refusal, ARM_TOO_FAST);
    rates.v_mps = 0.0;
    CHECK_INT("no speed", arm_plan_line(&ur5, WORK, &to, &rates, &arm_bounds_none, &m).refusal,
              ARM_BAD_VALUE);
    double wrong[6];
    memcpy(wrong, WORK, sizeof wrong);
    wrong[3] = (double)NAN;
    CHECK_INT(
        "no number",
        arm_plan_joints(&ur5, WORK, wrong, &arm_rates_default, &arm_bounds_none, &m).refusal,
        ARM_BAD_VALUE);
}

static json_t *read_golden(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/tests/golden/arm/%s", TANDEM_SOURCE_DIR, name);
    return json_load_file(path, 0, NULL);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    joint_moves = read_golden("movej.json");
    line_moves = read_golden("movel.json");
    kinematics = read_golden("fk_ik.json");
    if (!joint_moves || !line_moves || !kinematics || !arm_geometry_find("ur5", &ur5) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        (void)fprintf(stderr, "cannot read the golden files\n");
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("arm moves", NULL, NULL);
    CU_add_test(suite, "joints", test_joint_moves);
    CU_add_test(suite, "lines", test_line_moves);
    CU_add_test(suite, "random lines", test_random_lines);
    CU_add_test(suite, "circle", test_circle);
    CU_add_test(suite, "clearance", test_clearance);
    CU_add_test(suite, "limits", test_limits);
    const int code = check_run();
    json_decref(joint_moves);
    json_decref(line_moves);
    json_decref(kinematics);
    return code;
}
