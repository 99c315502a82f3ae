/* A built-in model written as a file fits the same recording to the same report but for its
 * name: values and errors of regressions to 1e-12, of simulations to 1e-8. And a
 * model-following experiment runs the same. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "config/model_file.h"
#include "service/experiments/experiment_file.h"
#include "service/experiments/follow_study.h"
#include "service/identify/identify.h"
#include "service/identify/selftest_recording.h"

static const struct model_row *take_file(const char *name)
{
    const struct model_row *row = NULL;
    struct err_list errors = {0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/config/models/%s.yaml", TANDEM_SOURCE_DIR, name);
    CU_ASSERT_EQUAL_FATAL(model_file_take(path, &row, &errors), STATUS_OK);
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
        json_object_foreach((json_t *)(uintptr_t)want, key, value)
        {
            (void)snprintf(deeper, sizeof deeper, "%.200s.%.40s", path, key);
            if (strcmp(deeper, ".model") != 0) {
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
        const struct model_row *row = take_file(names[i]);
        struct random_source draws = selftest_draws(11, i);
        struct err err = {0};
        char *text = NULL;
        size_t bytes = 0;
        CU_ASSERT_EQUAL_FATAL(
            selftest_record(built_in, NULL, false, &draws, &text, &bytes, &err), STATUS_OK);
        /* auto tries all five widths of a joint by all methods, which takes its time. */
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
    const struct model_row *row = take_file("usv3");
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

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("model reports", NULL, NULL);
    CU_add_test(suite, "reports", test_reports);
    CU_add_test(suite, "following", test_following);
    return check_run();
}
