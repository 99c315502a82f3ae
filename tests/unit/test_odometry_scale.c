/* short: TANDEM_RUNS=2 */
/* Odometry: a scale or a delay that depends on something is found and named, on the robots of
 * the self test; limits of the tests. TANDEM_RUNS: recordings of each robot, default 6. */
#include "tests/support/check.h"

#include <jansson.h>

#include "identification/odometry/odometry_parts.h"
#include "service/identify/identify.h"
#include "service/selftest/selftest_recording.h"
#include "service/selftest/selftest_scenarios.h"
#include "tests/support/odometry_truth.h"

static const struct selftest_scenario *find_scenario(const char *name)
{
    for (size_t i = 0; i < selftest_scenario_count; i++) {
        if (strcmp(selftest_scenarios[i].model, "odometry") == 0 &&
            strcmp(selftest_scenarios[i].name, name) == 0) {
            return &selftest_scenarios[i];
        }
    }
    CU_FAIL_FATAL("no such scenario");
    return NULL;
}

/* Identifies a recording of the scenario; the document is to be freed. */
static json_t *identify_scenario(const char *name, size_t run)
{
    const struct model_row *row = model_row_find("odometry");
    struct random_source draws = selftest_draws(7, run);
    struct csv_source file = {.path = "wheels"};
    struct identify_request request = identify_request_defaults();
    char *table = NULL;
    char *text = NULL;
    size_t bytes = 0;
    CU_ASSERT_EQUAL_FATAL(
        selftest_record(row, find_scenario(name), false, &draws, &table, &file.bytes, NULL),
        STATUS_OK);
    FILE *to = open_memstream(&text, &bytes);
    file.text = table;
    request.files = &file;
    request.file_count = 1;
    request.json = true;
    CU_ASSERT_EQUAL_FATAL(identify_run(row, &request, to, NULL), STATUS_OK);
    (void)fclose(to);
    json_t *fit = json_loadb(text, bytes, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fit);
    free(table);
    free(text);
    return fit;
}

/* Returns the covariate with the smallest probability. */
static enum odometry_covariate find_least(const json_t *fit)
{
    const json_t *tests = json_object_get(json_object_get(fit, "scale"), "tests");
    enum odometry_covariate least = 0;
    double p[ODOMETRY_COVARIATES];
    for (enum odometry_covariate by = 0; by < ODOMETRY_COVARIATES; by++) {
        p[by] = json_number_value(
            json_object_get(json_object_get(tests, odometry_covariate_name(by)), "p"));
        least = p[by] < p[least] ? by : least;
    }
    return least;
}

static void test_causes(void)
{
    static const struct {
        const char *scenario, *code; /* NULL: PASS */
        enum odometry_covariate least[2];
    } rows[] = {
        {"as_modelled", NULL, {0}},
        {"ticks_1024", NULL, {0}},
        {"stretched", "unmodelled", {ODOMETRY_BY_COS2, ODOMETRY_BY_SIN2}},
        {"drags", "unmodelled", {ODOMETRY_BY_SIDE, ODOMETRY_BY_SIDE}},
        {"slips", "unmodelled", {ODOMETRY_BY_SPEED, ODOMETRY_BY_SPEED}},
        {"two_clocks", "changes_with_time", {ODOMETRY_BY_DELAY, ODOMETRY_BY_DELAY}},
        {"tilted", "unmodelled", {ODOMETRY_BY_SLANT_X, ODOMETRY_BY_SLANT_X}},
    };
    const size_t runs = check_runs(6, 1000);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t run = 0; run < runs; run++) {
            json_t *fit = identify_scenario(rows[i].scenario, run);
            const char *verdict = json_string_value(json_object_get(fit, "verdict"));
            CHECK_TEXT(rows[i].scenario, verdict, rows[i].code ? "MARGINAL" : "PASS");
            if (rows[i].code) {
                const enum odometry_covariate least = find_least(fit);
                CHECK(rows[i].scenario, least == rows[i].least[0] || least == rows[i].least[1]);
                CHECK_TEXT(
                    rows[i].scenario,
                    json_string_value(json_array_get(json_object_get(fit, "reason_codes"), 0)),
                    rows[i].code);
            }
            json_decref(fit);
        }
    }
}

/* Segments of five seconds; fewer than ten say nothing. Those of the camera last three. */
static void test_segments(void)
{
    static const struct {
        size_t rows, segments, of_camera;
    } rows[] = {{720, 9, 0}, {800, 10, 17}, {830, 10, 17}, {850, 11, 18}};
    static const struct odometry_scenario quiet = {
        .noise_m = 5e-4, .noise_rad = 5e-4, .slip_m = 2e-4, .slip_rad = 2e-4, .dt_s = 0.0625};
    static struct odometry_record record;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct odometry_set set;
        struct odometry_summary summary;
        struct odometry_fit fit;
        uint64_t state = 5;
        record.n = 0;
        odometry_drive(&record, odometry_path, COUNT(odometry_path), &quiet,
                       (const double[3]){0.0}, &state);
        record.n = rows[i].rows;
        const struct odometry_raw raw = odometry_record_raw(&record);
        CU_ASSERT_EQUAL_FATAL(odometry_set_make(&raw, &set, &summary, NULL), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fit), STATUS_OK);
        odometry_set_free(&set);
        CHECK_INT("segments", fit.scale.segments, rows[i].segments);
        CHECK_INT("of the camera", fit.scale.camera_segments, rows[i].of_camera);
        for (enum odometry_covariate by = 0; by < ODOMETRY_COVARIATES; by++) {
            CHECK(odometry_covariate_name(by),
                  isfinite(fit.scale.test[by].p) == (rows[i].segments >= 10));
        }
        CHECK_INT("verdict", fit.estimate.verdict, ESTIMATE_PASS);
    }
}

/* Just inside and just outside of each limit. */
static void test_limits(void)
{
    static const struct {
        enum odometry_covariate by;
        struct odometry_scale_test test;
        enum estimate_verdict verdict;
    } rows[] = {
        {ODOMETRY_BY_SPEED, {0.02, 0.0, 9.0, 0.01 / 14.0 * 0.99}, ESTIMATE_MARGINAL},
        {ODOMETRY_BY_SPEED, {0.02, 0.0, 9.0, 0.01 / 14.0 * 1.01}, ESTIMATE_PASS},
        {ODOMETRY_BY_X, {0.0, -0.00301, 9.0, 1e-9}, ESTIMATE_MARGINAL},
        {ODOMETRY_BY_LENS, {0.0, 0.00501, 9.0, 1e-9}, ESTIMATE_MARGINAL},
        {ODOMETRY_BY_SLANT_Y, {0.00499, 0.00499, 9.0, 1e-9}, ESTIMATE_PASS},
        {ODOMETRY_BY_X, {0.00299, -0.00299, 9.0, 1e-9}, ESTIMATE_PASS},
        {ODOMETRY_BY_DELAY, {-0.00501, 0.0, 9.0, 1e-9}, ESTIMATE_MARGINAL},
        {ODOMETRY_BY_DELAY, {0.00499, 0.0, 9.0, 1e-9}, ESTIMATE_PASS},
        {ODOMETRY_BY_DELAY, {NAN, NAN, NAN, NAN}, ESTIMATE_PASS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct odometry_summary path = {
            .rows = 1000, .turn_left_rad = 9.0, .turn_right_rad = 9.0};
        struct odometry_fit fit;
        odometry_fit_start(&fit);
        fit.converged = true;
        fit.own.position_r2 = fit.own.heading_r2 = 0.99;
        for (size_t k = 0; k < ODOMETRY_P; k++) {
            estimate_set(&fit.estimate, k, 1.0, 1e-3, HUGE_VAL);
            fit.estimate.identifiable[k] = true;
        }
        fit.scale.test[rows[i].by] = rows[i].test;
        odometry_judge(&fit, &path);
        CHECK_INT(odometry_covariate_name(rows[i].by), fit.estimate.verdict, rows[i].verdict);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("odometry_scale", NULL, NULL);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "segments", test_segments);
    CU_add_test(suite, "limits", test_limits);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
