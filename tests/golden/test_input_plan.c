/* Planned inputs against numbers that another program computed: the information of known inputs
 * about four models, and the choice among candidates. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "identification/model/models.h"
#include "identification/simulation/input_plan.h"

static const double NEAR = 2e-6;

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static json_t *load_golden(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path,
                   TANDEM_SOURCE_DIR "/tests/golden/forecast/planner_%s.json", name);
    json_t *file = json_load_file(path, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    return file;
}

/* A joint, or a channel without the constant effort, whose dry friction turns over in `width`.
 */
static struct model make_joint(double width)
{
    struct model joint = joint_models[0][3];
    joint.width = width;
    return joint;
}

static struct input_plan make_plan(const char *name, const json_t *golden)
{
    const struct model model = strcmp(name, "first_order") == 0 ? make_joint(0.02)
                               : strcmp(name, "joint") == 0     ? make_joint(0.03)
                                                                : *model_find(name);
    struct input_plan plan = {
        .model = model, .dt_s = number_at(golden, "dt_s"), .steps = 1, .effort_sum = 1.0};
    const json_t *theta = json_object_get(golden, "theta");
    const json_t *sd = json_object_get(golden, "noise_sd");
    plan.unknown_count = json_array_size(theta);
    for (size_t k = 0; k < plan.unknown_count; k++) {
        plan.theta[k] = json_number_value(json_array_get(theta, k));
        plan.unknown[k] = k;
    }
    for (size_t i = 0; i < model.axis_count; i++) {
        const double sd_i = json_is_array(sd) ? json_number_value(json_array_get(sd, i))
                                              : json_number_value(sd);
        plan.weight[i] = 1.0 / (sd_i * sd_i);
    }
    return plan;
}

/* The efforts of two thrusters in -1 .. 1, of two wheels' speeds, or of one motor. */
static void set_efforts(const char *name, size_t k, double *effort)
{
    const double a = k / 15 % 2 == 0 ? 1.0 : -1.0;
    const double b = k / 25 % 2 == 0 ? 0.8 : -0.4;
    effort[0] = a;
    if (strcmp(name, "usv3") == 0) {
        const double left = a >= 0.0 ? 90.0 * a : 85.0 * a;
        const double right = b >= 0.0 ? 90.0 * b : 85.0 * b;
        effort[0] = left + right;
        effort[1] = 0.0;
        effort[2] = 0.7 * (right - left);
    } else if (strcmp(name, "diffdrive") == 0) {
        effort[0] = 0.6 * a;
        effort[1] = 1.5 * b;
    }
}

static void test_information(void)
{
    json_t *file = load_golden("information");
    const char *name = NULL;
    json_t *golden = NULL;
    json_object_foreach(file, name, golden)
    {
        struct input_plan plan = make_plan(name, golden);
        const size_t samples = (size_t)number_at(golden, "samples");
        const json_t *last = json_object_get(golden, "last_state");
        const json_t *rows = json_object_get(golden, "information");
        const json_t *errors = json_object_get(golden, "se");
        double effort[MODEL_AXES_MAX];
        for (size_t k = 0; k < samples; k++) {
            set_efforts(name, k, effort);
            CU_ASSERT_TRUE_FATAL(input_plan_append(&plan, effort, 1, NULL));
        }
        const size_t n = plan.model.axis_count;
        for (size_t i = 0; i < json_array_size(last); i++) {
            const double got = i < n ? plan.here.nu[i] : plan.here.pose[i - n];
            CHECK_NEAR(name, got, json_number_value(json_array_get(last, i)), 1e-7, 1e-8);
        }
        for (size_t a = 0; a < plan.unknown_count; a++) {
            const json_t *row = json_array_get(rows, a);
            for (size_t b = 0; b < plan.unknown_count; b++) {
                CHECK_NEAR(name, plan.information.at[a][b],
                           json_number_value(json_array_get(row, b)), NEAR, 1e-9);
            }
        }
        CU_ASSERT_TRUE(input_matrix_invert(&plan.information, plan.unknown_count));
        for (size_t a = 0; a < plan.unknown_count; a++) {
            /* These are written with six digits. */
            CHECK_NEAR(name, sqrt(plan.information.at[a][a]),
                       json_number_value(json_array_get(errors, a)), 5e-6, 0.0);
        }
    }
    json_decref(file);
}

static void test_choice(void)
{
    json_t *golden = load_golden("choice");
    struct input_plan plan = make_plan("first_order", golden);
    const json_t *limits = json_object_get(golden, "limits");
    const json_t *candidates = json_object_get(golden, "candidates");
    const json_t *wanted = json_object_get(golden, "minus_logdet");
    const double prior = number_at(golden, "prior_relative_sd");
    double best = HUGE_VAL;
    size_t best_at = 0;
    plan.nu_max[0] = number_at(limits, "velocity");
    plan.pose_max[0] = number_at(limits, "position");
    plan.stop = (size_t)number_at(golden, "stop_samples");
    plan.segment = json_array_size(json_array_get(candidates, 0));
    plan.criterion = INPUT_PLAN_ALL;
    for (size_t k = 0; k < plan.unknown_count; k++) {
        plan.information.at[k][k] = 1.0 / pow(prior * plan.theta[k], 2.0);
    }
    for (size_t k = 0; k < 10; k++) {
        CU_ASSERT_TRUE_FATAL(input_plan_append(&plan, (const double[]){1.0}, 1, NULL));
    }
    for (size_t c = 0; c < json_array_size(candidates); c++) {
        double efforts[INPUT_PLAN_SEGMENT_MAX];
        for (size_t k = 0; k < plan.segment; k++) {
            efforts[k] = json_number_value(json_array_get(json_array_get(candidates, c), k));
        }
        const double cost = input_plan_cost(&plan, efforts);
        CHECK_NEAR("-log det", cost, json_number_value(json_array_get(wanted, c)), 0.0, NEAR);
        best_at = cost < best ? c : best_at;
        best = fmin(cost, best);
    }
    CHECK_INT("best", best_at, number_at(golden, "best"));
    /* The same candidates within narrower limits: those that go too far do not count. */
    plan.pose_max[0] = plan.here.pose[0] + 0.05;
    for (size_t c = 0; c < 2; c++) {
        double efforts[INPUT_PLAN_SEGMENT_MAX] = {0.0};
        for (size_t k = 0; k < plan.segment; k++) {
            efforts[k] = c == 0 ? 1.0 : -1.0;
        }
        CHECK_INT("within", input_plan_cost(&plan, efforts) < HUGE_VAL, c);
    }
    json_decref(golden);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("input plan, golden", NULL, NULL);
    CU_add_test(suite, "information", test_information);
    CU_add_test(suite, "choice", test_choice);
    return check_run();
}
