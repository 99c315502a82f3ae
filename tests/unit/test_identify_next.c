/* Commands for the next recording, by `tandem identify --next`: the file, the limits that a
 * robot keeps that is driven by it, the member of the document, and what is refused. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <unistd.h>

#include "base/numbers/random.h"
#include "service/identify/identify.h"
#include "tests/support/scratch.h"

enum { ROWS = 600, TEXT_MAX = 40000, LINES_MAX = 2000 };

static const double theta[] = {0.05, 0.2, 0.15, 0.03};
static const double DT_S = 0.01;
static const struct model *const joint = &joint_models[0][3];

static char recording[TEXT_MAX], folder[SCRATCH_MAX], plan_path[SCRATCH_MAX + 16];

/* Writes a joint's recording: effort steps, or one effort throughout. */
static void record_joint(bool varies)
{
    struct random_source random = random_stream(7, 0);
    double nu = 0.0;
    double effort = 0.8;
    size_t used = (size_t)snprintf(recording, sizeof recording, "t_s,effort,velocity\n");
    for (size_t k = 0; k < ROWS; k++) {
        if (varies && k % 40 == 0) {
            effort = random_between(&random, -1.0, 1.0);
        }
        used += (size_t)snprintf(recording + used, sizeof recording - used, "%.2f,%.4f,%.5f\n",
                                 (double)k * DT_S, effort, nu + 0.02 * random_normal(&random));
        CU_ASSERT_FATAL(used < sizeof recording);
        model_step_pushed(joint, theta, &nu, NULL, &effort, NULL, DT_S);
    }
}

static struct identify_request next_request(void)
{
    static struct csv_source source;
    struct identify_request request = identify_request_defaults();
    source =
        (struct csv_source){.path = "joint.csv", .text = recording, .bytes = strlen(recording)};
    request.model = "joint";
    request.files = &source;
    request.file_count = 1;
    request.json = true;
    request.next.path = plan_path;
    request.next.seconds = 1.5;
    return request;
}

static enum status run_joint(const struct identify_request *request, json_t **document,
                             struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    const struct model_row *row = model_row_find("joint");
    FILE *out = open_memstream(&text, &bytes);
    CU_ASSERT_FATAL(row && out);
    enum status st = identify_check(row, request, err);
    st = st == STATUS_OK ? identify_run(row, request, out, err) : st;
    CHECK_INT("written", fclose(out), 0);
    *document = json_loads(text, 0, NULL);
    free(text);
    return st;
}

/* Drives the true joint by the file, and finds its largest velocity and angle. */
static size_t drive_plan(double *effort, double *largest_nu, double *largest_pose)
{
    char line[128];
    size_t n = 0;
    double nu = 0.0;
    double pose = 0.0;
    FILE *in = fopen(plan_path, "r");
    *largest_nu = *largest_pose = 0.0;
    CU_ASSERT_FATAL(in && fgets(line, sizeof line, in));
    CHECK_TEXT("header", line, "t_s,effort\n");
    while (n < LINES_MAX && fgets(line, sizeof line, in)) {
        char *rest = NULL;
        CHECK_NEAR("t_s", strtod(line, &rest), (double)n * DT_S, 0.0, 1e-9);
        effort[n] = strtod(rest + 1, NULL);
        model_step_pushed(joint, theta, &nu, &pose, &effort[n], NULL, DT_S);
        *largest_nu = fmax(*largest_nu, fabs(nu));
        *largest_pose = fmax(*largest_pose, fabs(pose));
        n++;
    }
    (void)fclose(in);
    return n;
}

static void test_plan(void)
{
    static double effort[LINES_MAX];
    struct identify_request request = next_request();
    struct err err = {0};
    json_t *document = NULL;
    double nu = 0.0;
    double pose = 0.0;
    const char *name = NULL;
    json_t *before = NULL;
    record_joint(true);
    request.files = next_request().files;
    request.next.limits = "speed=2,position=0.8,effort=0.9";
    request.next.slew_per_s = 20.0;
    CHECK_INT(err.text, run_joint(&request, &document, &err), STATUS_OK);
    const json_t *next = json_object_get(document, "next");
    CU_ASSERT_PTR_NOT_NULL_FATAL(next);
    CHECK_TEXT("next", json_string_value(json_object_get(next, "criterion")), "mission");
    CHECK_NEAR("next", json_number_value(json_object_get(next, "seconds")), 1.5, 0.1, 0.0);
    const double share = json_number_value(json_object_get(next, "feasible_share"));
    CHECK("next", share > 0.1 && share < 1.0);
    CHECK_INT("next", json_object_size(json_object_get(next, "before")) >= 4, 1);
    json_object_foreach(json_object_get(next, "before"), name, before)
    {
        const json_t *after = json_object_get(json_object_get(next, "after"), name);
        CHECK(name, json_number_value(after) < json_number_value(before));
    }
    const size_t n = drive_plan(effort, &nu, &pose);
    CHECK("limits", n > 150 && nu > 1.0 && nu <= 2.0 && pose > 0.2 && pose <= 0.8);
    for (size_t k = 0; k < n; k++) {
        const double change = fabs(effort[k] - (k > 0 ? effort[k - 1] : 0.0));
        CHECK("slew", change <= 20.0 * 1.8 * DT_S + 1e-8 && fabs(effort[k]) <= 0.9 + 1e-8);
    }
    CHECK_NEAR("ends at rest", effort[n - 1], 0.0, 0.0, 0.0);
    json_decref(document);
}

/* Another mission or criterion gives other commands; the same request gives the same. */
static void test_criteria(void)
{
    static double effort[4][LINES_MAX];
    char mission[SCRATCH_MAX + 16];
    const struct {
        const char *criterion, *mission;
    } rows[] = {{NULL, NULL}, {"all", NULL}, {NULL, mission}, {"mission", NULL}};
    (void)snprintf(mission, sizeof mission, "%s/mission.csv", folder);
    FILE *to = fopen(mission, "w");
    CU_ASSERT_FATAL(to && fputs("t_s,effort\n0,0.25\n2,0.3\n4,0\n", to) > 0 && fclose(to) == 0);
    record_joint(true);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct identify_request request = next_request();
        struct err err = {0};
        json_t *document = NULL;
        double ignored = 0.0;
        request.next.criterion = rows[i].criterion;
        request.next.mission = rows[i].mission;
        request.next.force = true;
        request.next.seconds = 0.5;
        CHECK_INT(err.text, run_joint(&request, &document, &err), STATUS_OK);
        (void)drive_plan(effort[i], &ignored, &ignored);
        json_decref(document);
    }
    CHECK("all", memcmp(effort[0], effort[1], sizeof *effort) != 0);
    CHECK("mission", memcmp(effort[0], effort[2], sizeof *effort) != 0);
    CHECK("again", memcmp(effort[0], effort[3], sizeof *effort) == 0);
}

static void test_refused(void)
{
    const struct {
        const char *limits, *mission, *criterion, *path;
        bool varies, repeat;
        enum status status;
        const char *text;
    } rows[] = {
        {"spin=1", NULL, NULL, plan_path, true, false, STATUS_E_ARG,
         "--limits: joint has no 'spin', but speed, position, velocity, effort"},
        {"speed=0", NULL, NULL, plan_path, true, false, STATUS_E_ARG, "it must be above 0"},
        {"speed", NULL, NULL, plan_path, true, false, STATUS_E_ARG,
         "cannot be read at 'speed'"},
        {NULL, "m.csv", "all", plan_path, true, false, STATUS_E_ARG, "exclude each other"},
        {NULL, NULL, NULL, plan_path, true, true, STATUS_E_ARG, "--repeat makes none"},
        {"speed=1,velocity=2", NULL, NULL, plan_path, true, false, STATUS_E_ARG,
         "--limits: velocity has a limit before 'velocity=2'"},
        {"speed=1", NULL, NULL, NULL, true, false, STATUS_E_ARG, "--limits needs --next"},
        {NULL, "/nonexistent/m.csv", NULL, plan_path, true, false, STATUS_E_IO, "cannot open"},
        {NULL, NULL, NULL, "/nonexistent/p.csv", true, false, STATUS_E_IO, "cannot be written"},
        {NULL, NULL, NULL, plan_path, false, false, STATUS_E_MATH,
         "nothing to plan with: the verdict is FAIL"},
        {NULL, NULL, NULL, folder, true, false, STATUS_E_IO, "exists; --force replaces it"},
    };
    (void)unlink(plan_path);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        json_t *document = NULL;
        record_joint(rows[i].varies);
        struct identify_request request = next_request();
        request.next.limits = rows[i].limits;
        request.next.mission = rows[i].mission;
        request.next.criterion = rows[i].criterion;
        request.next.path = rows[i].path;
        request.repeat = rows[i].repeat;
        CHECK_INT(rows[i].text, run_joint(&request, &document, &err), rows[i].status);
        CHECK(err.text, strstr(err.text, rows[i].text) != NULL);
        CHECK_INT("no file", access(plan_path, F_OK), -1);
        json_decref(document);
    }
}

/* A recording, also under another name, stays; a mission with a gap ends at once. */
static void test_files(void)
{
    char input[SCRATCH_MAX + 16];
    char other[SCRATCH_MAX + 16];
    (void)snprintf(input, sizeof input, "%s/input.csv", folder);
    (void)snprintf(other, sizeof other, "%s/other.csv", folder);
    for (size_t gap = 0; gap < 2; gap++) {
        struct err err = {0};
        json_t *document = NULL;
        FILE *to = fopen(input, "w");
        CU_ASSERT_FATAL(to && fputs("t_s,effort\n0,0.2\n1e9,0.3\n", to) > 0 && fclose(to) == 0);
        CHECK("linked", gap == 1 || link(input, other) == 0);
        record_joint(true);
        struct identify_request request = next_request();
        request.next.force = true;
        request.next.path = gap == 1 ? plan_path : other;
        request.next.mission = input;
        CHECK_INT(err.text, run_joint(&request, &document, &err),
                  gap == 1 ? STATUS_E_PARSE : STATUS_E_IO);
        CHECK(err.text, strstr(err.text, gap == 1 ? "a mission may last 1000 s"
                                                  : "is read by this command") != NULL);
        json_decref(document);
    }
    (void)unlink(input);
    (void)unlink(other);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS ||
        !mkdtemp(scratch_template(folder, "identify_next"))) {
        return EXIT_FAILURE;
    }
    (void)snprintf(plan_path, sizeof plan_path, "%s/plan.csv", folder);
    CU_pSuite suite = CU_add_suite("next input", NULL, NULL);
    CU_add_test(suite, "a plan", test_plan);
    CU_add_test(suite, "criteria", test_criteria);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "files", test_files);
    const int code = check_run();
    char mission[SCRATCH_MAX + 16];
    (void)snprintf(mission, sizeof mission, "%s/mission.csv", folder);
    (void)unlink(mission);
    (void)unlink(plan_path);
    (void)rmdir(folder);
    return code;
}
