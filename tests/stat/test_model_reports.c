/* needs: full */
/* A built-in model written as a file fits the same recording to the same report but for its
 * name: values and errors of regressions to 1e-12, of simulations to 1e-8. And a
 * model-following experiment runs the same. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "config/model/model_file.h"
#include "service/identify/identify.h"
#include "service/selftest/selftest_recording.h"
#include "service/sim/experiment/experiment_file.h"
#include "service/sim/experiment/follow_study.h"

static const struct model_row *load_model_file(const char *name)
{
    const struct model_row *row = NULL;
    struct err_list errors = {0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/config/models/%s.yaml", TANDEM_SOURCE_DIR, name);
    CU_ASSERT_EQUAL_FATAL(model_file_register(path, &row, &errors), STATUS_OK);
    return row;
}

static json_t *report_of(const struct model_row *row, const char *method, const char *text,
                         size_t bytes)
{
    struct identify_request request = identify_request_defaults();
    const struct csv_source input = {.path = "recording", .text = text, .bytes = bytes};
    struct err err = {0};
    char *out = NULL;
    size_t size = 0;
    request.method = method;
    request.json = true;
    request.files = &input;
    request.file_count = 1;
    FILE *to = open_memstream(&out, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    const enum status st = identify_run(row, &request, to, &err);
    (void)fclose(to);
    if (st != STATUS_OK) {
        (void)printf("%s %s: %s\n", row->name, method, err.text);
    }
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    json_t *document = json_loads(out, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(document);
    free(out);
    return document;
}

/* Numbers that the rounding of a sum moves: tests of chance and sums that are zero but for it
 * have a tolerance in absolute terms. */
static void compare_values(const char *path, const json_t *got, const json_t *want,
                           double tolerance)
{
    char deeper[256];
    if (json_is_object(want) && json_is_object(got)) {
        const char *key = NULL;
        json_t *value = NULL;
        CHECK_INT(path, json_object_size(got), json_object_size(want));
        json_object_foreach((json_t *)(uintptr_t)want, key, value) {
            (void)snprintf(deeper, sizeof deeper, "%.200s.%.40s", path, key);
            /* The notes say what was tried: built-in models know terms that may be missing. */
            if (strcmp(deeper, ".model") != 0 && strncmp(deeper, ".note", 5) != 0) {
                compare_values(deeper, json_object_get(got, key), value, tolerance);
            }
        }
    } else if (json_is_array(want) && json_is_array(got)) {
        CHECK_INT(path, json_array_size(got), json_array_size(want));
        for (size_t i = 0; i < json_array_size(want); i++) {
            (void)snprintf(deeper, sizeof deeper, "%.200s.%zu", path, i);
            compare_values(deeper, json_array_get(got, i), json_array_get(want, i), tolerance);
        }
    } else if (json_is_real(want) && json_is_number(got)) {
        const bool is_estimate =
            strncmp(path, ".values", 7) == 0 || strncmp(path, ".se", 3) == 0;
        CHECK_NEAR(path, json_number_value(got), json_number_value(want),
                   is_estimate ? tolerance : 1e4 * tolerance, is_estimate ? 0.0 : tolerance);
    } else if (json_is_string(want)) {
        CHECK_TEXT(path, json_string_value(got), json_string_value(want));
    } else {
        CHECK(path, json_equal(got, want));
    }
}

static void test_reports(void)
{
    static const char *const names[] = {"usv3", "diffdrive", "first_order", "joint",
                                        "joint_load"};
    static const struct {
        const char *method;
        double tolerance;
    } methods[] = {{"ols_central", 1e-12}, {"ols_sg", 1e-12},      {"weak", 1e-12},
                   {"weak_iv", 1e-12},     {"output_error", 1e-8}, {"pem", 1e-8},
                   {"auto", 1e-8}};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct model_row *built_in = model_row_find(names[i]);
        const struct model_row *row = load_model_file(names[i]);
        struct random_source draws = selftest_draws(11, i);
        struct err err = {0};
        char *text = NULL;
        size_t bytes = 0;
        CU_ASSERT_EQUAL_FATAL(
            selftest_record(built_in, NULL, false, &draws, &text, &bytes, &err), STATUS_OK);
        /* auto tries all five widths of a joint by all methods, which takes long. */
        const size_t count = COUNT(methods) - (built_in->variants ? 1 : 0);
        for (size_t m = 0; m < count; m++) {
            (void)printf("%s %s\n", names[i], methods[m].method);
            json_t *want = report_of(built_in, methods[m].method, text, bytes);
            json_t *got = report_of(row, methods[m].method, text, bytes);
            CHECK_TEXT("model", json_string_value(json_object_get(got, "model")), row->name);
            compare_values("", got, want, methods[m].tolerance);
            json_decref(want);
            json_decref(got);
        }
        free(text);
    }
}

/* Table 7 of docs/model/following.md, one run. */
static void test_following(void)
{
    struct experiment_file file = {.runs = 0};
    struct err_list errors = {0};
    struct follow_study want = {0};
    struct follow_study got = {0};
    struct err err = {0};
    const struct model_row *row = load_model_file("usv3");
    CU_ASSERT_EQUAL_FATAL(option_file_load(&experiment_file,
                                           TANDEM_SOURCE_DIR "/config/experiments/table7.yaml",
                                           &file, &errors),
                          STATUS_OK);
    file.runs = 1;
    CU_ASSERT_EQUAL_FATAL(follow_study_run(&file, NULL, NULL, &want, &err), STATUS_OK);
    file.model = file.trial.model = file.trial.follower.model = row->model;
    file.trial.shadow.model = row->model;
    CU_ASSERT_EQUAL_FATAL(follow_study_run(&file, NULL, NULL, &got, &err), STATUS_OK);
    CU_ASSERT_FATAL(got.point_count == want.point_count && want.point_count > 1000);
    for (size_t k = 0; k < want.point_count; k++) {
        for (size_t i = 0; i < row->model->axis_count; i++) {
            CHECK_NEAR("velocity", got.points[k].actual[i], want.points[k].actual[i], 0.0,
                       1e-9);
        }
    }
    follow_study_free(&want);
    follow_study_free(&got);
}

/* A quadcopter's climb, w' = F(p) - 9.81 - 0.4 w, in closed form, as a table. */
static char *write_climb(uint64_t seed, double (*thrust)(double p), size_t *bytes)
{
    enum { ROWS = 2000 };
    const double dt_s = 0.02;
    struct random_source draws = random_stream(seed, 9);
    char *text = NULL;
    double w = 0.0;
    double p = 0.0;
    size_t until = 0;
    FILE *to = open_memstream(&text, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    (void)fputs("t,p,w\n", to);
    for (size_t k = 0; k < ROWS; k++) {
        double noise = -6.0;
        if (k >= until) {
            p = random_between(&draws, 0.2, 1.0);
            until = k + (size_t)random_between(&draws, 25.0, 100.0);
        }
        for (int i = 0; i < 12; i++) {
            noise += random_between(&draws, 0.0, 1.0);
        }
        (void)fprintf(to, "%.6f,%.9g,%.9g\n", dt_s * (double)k, p, w + 0.03 * noise);
        const double steady = (thrust(p) - 9.81) / 0.4;
        w = steady + (w - steady) * exp(-0.4 * dt_s);
    }
    (void)fclose(to);
    return text;
}

static double square_thrust(double p)
{
    return 6.0 * p + 14.0 * p * p;
}

static double cubic_thrust(double p)
{
    return 6.0 * p + 14.0 * p * p * p;
}

static double clipped_thrust(double p)
{
    return square_thrust(fmin(p, 0.8));
}

static double dead_thrust(double p)
{
    return p < 0.3 ? 0.0 : square_thrust(p);
}

/* A thrust curve is found where there is one; a model without the known term, or with another
 * curve, gives no PASS by any method. */
static void test_worlds(void)
{
    static const char head[] =
        "velocities: {w: m/s}\nefforts: {p: \"1\"}\nconstants: {g: 9.81}\n";
    static const struct {
        const char *row, *name, *rest;
        double (*thrust)(double p);
        bool right;
    } rows[] = {
        {"right", "right",
         "parameters: {c: {}, k: {}, s: {}}\n"
         "equations: [\"w' + g + c*w = k*p + s*p^2\"]\n",
         square_thrust, true},
        {"nothing of gravity", "fly",
         "parameters: {c: {}, k: {}, s: {}}\n"
         "equations: [\"w' + c*w = k*p + s*p^2\"]\n",
         square_thrust, false},
        {"another gravity", "moon",
         "parameters: {c: {}, k: {}, s: {}}\n"
         "equations: [\"w' + g/6 + c*w = k*p + s*p^2\"]\n",
         square_thrust, false},
        {"a straight curve", "line",
         "parameters: {c: {}, k: {}}\n"
         "equations: [\"w' + g + c*w = k*p\"]\n",
         square_thrust, false},
        {"a steeper one", "right", NULL, cubic_thrust, false},
        {"clipped", "right", NULL, clipped_thrust, false},
        {"dead at first", "right", NULL, dead_thrust, false},
    };
    static const char *const methods[] = {"weak_iv", "output_error", "pem", "auto"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char yaml[512];
        struct model_file *file = NULL;
        struct err_list errors = {0};
        size_t bytes = 0;
        char *text = write_climb(i, rows[i].thrust, &bytes);
        const int n = snprintf(yaml, sizeof yaml, "model: %s\n%s%s", rows[i].name, head,
                               rows[i].rest ? rows[i].rest : rows[0].rest);
        CU_ASSERT_EQUAL_FATAL(
            option_file_parse(&model_file, yaml, (size_t)n, "world", &file, &errors),
            STATUS_OK);
        for (size_t m = 0; m < COUNT(methods); m++) {
            char row[64];
            (void)snprintf(row, sizeof row, "%s by %s", rows[i].row, methods[m]);
            json_t *report = report_of(&file->row, methods[m], text, bytes);
            const char *verdict = json_string_value(json_object_get(report, "verdict"));
            (void)printf("%s: %s\n", row, verdict);
            CHECK(row, (strcmp(verdict, "PASS") == 0) == rows[i].right);
            json_decref(report);
        }
        model_file_free(file);
        free(text);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("model reports", NULL, NULL);
    CU_add_test(suite, "reports", test_reports);
    CU_add_test(suite, "following", test_following);
    CU_add_test(suite, "worlds", test_worlds);
    return check_run();
}
