/* Moves of robots that do not follow the law of travel times, or hardly, against numbers that
 * another program computed: values, both intervals, every effect, the spread, steps and gaps.
 */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "identification/travel/travel_law.h"
#include "tests/support/moves_file.h"
#include "tests/support/travel_truth.h"

static json_t *expected;
static struct moves_file file = {.lap = "lap_s",
                                 .rotation = "rotation_rad",
                                 .displacement = "displacement_m",
                                 .rotation_factor = 1.0,
                                 .displacement_factor = 1.0};

static double number_at(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static void read_case(const char *name)
{
    char path[512];
    struct err err = {.code = STATUS_OK};
    file.count = 0;
    (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/travel/%s.csv", name);
    CU_ASSERT_TRUE_FATAL(moves_file_read(&file, path, &err) && err.code == STATUS_OK);
}

/* Intervals of the terms, 1/w and 1/v included; wider by the ratio. */
static void check_intervals(const char *name, const json_t *row, const struct travel_fit *fit)
{
    static const char *const keys[TRAVEL_P] = {"t0_s", "ta_s", "tr_s", "1/w", "1/v"};
    const struct estimate *e = &fit->estimate;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const bool inverse = j >= TRAVEL_INV_W;
        const json_t *open = json_object_get(json_object_get(row, "ci95"), keys[j]);
        const json_t *plain = json_object_get(json_object_get(row, "ci95_plain"), keys[j]);
        const double half = (json_number_value(json_array_get(plain, 1)) -
                             json_number_value(json_array_get(plain, 0))) /
                                2.0 +
                            (j == TRAVEL_T0 ? fit->lap_step_s / 2.0 : 0.0);
        const double lo = json_number_value(json_array_get(open, 0));
        const double hi = json_number_value(json_array_get(open, 1));
        CHECK_NEAR(name, fit->beta[j], number_at(json_object_get(row, "values"), keys[j]), 1e-4,
                   1e-5);
        CHECK_NEAR(name, (fit->beta_hi[j] - fit->beta_lo[j]) / 2.0, half, 0.01, 0.0);
        CHECK_NEAR(name, inverse ? 1.0 / e->hi_open[j] : e->lo_open[j], lo, 0.0,
                   0.01 * (hi - lo));
        CHECK_NEAR(name, inverse ? 1.0 / e->lo_open[j] : e->hi_open[j], hi, 0.0,
                   0.01 * (hi - lo));
    }
}

static void check_effects(const char *name, const json_t *row, const struct travel_law *law)
{
    static const char *const keys[TRAVEL_EFFECTS] = {
        "short_turns_quarter", "short_turns_half", "short_drives_quarter", "short_drives_half",
        "laps_with_time",      "turns_with_time",  "drives_with_time"};
    for (size_t k = 0; k < TRAVEL_EFFECTS; k++) {
        const json_t *want = json_object_get(json_object_get(row, "alternatives"), keys[k]);
        const struct travel_alternative *a = &law->alternative[k];
        CHECK(name, a->tested);
        CHECK_NEAR(keys[k], a->value, number_at(want, "size"), 0.01, 0.0);
        CHECK_NEAR(keys[k], a->se, number_at(want, "se"), 0.01, 0.0);
        CHECK_NEAR(keys[k], a->p, number_at(want, "p"), 0.01, 0.0);
        CHECK_NEAR(keys[k], a->limit, number_at(want, "limit"), 0.01, 0.0);
        CHECK_NEAR(keys[k], a->limit_s, number_at(want, "lap_s"), 0.01, 0.0);
        CHECK_NEAR(keys[k], a->limit_ratio, number_at(want, "lap"), 0.01, 0.0);
    }
    const json_t *spread = json_object_get(row, "spread");
    CHECK_NEAR(name, law->spread_r, number_at(spread, "r"), 0.01, 0.0);
    CHECK_TEXT(name, law->spread_size == 0 ? "turns" : "drives",
               json_string_value(json_object_get(spread, "which")));
}

static void test_law(const char *name, const json_t *row, const struct travel_fit *fit)
{
    static double x[MOVES_FILE_MAX * TRAVEL_P];
    static double y[MOVES_FILE_MAX];
    static double residual[MOVES_FILE_MAX];
    struct travel_law law;
    struct travel_accelerating accelerating;
    size_t n = 0;
    for (size_t i = 0; i < file.count; i++) {
        const struct travel_move *m = &file.moves[i];
        if (travel_move_usable(m)) {
            travel_fit_row(fit, m, x + n * TRAVEL_P);
            residual[n] =
                m->lap_s - travel_time_predict(fit, m->rotation_rad, m->displacement_m);
            y[n++] = m->lap_s;
        }
    }
    const struct robust_ls_problem problem = {
        .x = x, .y = y, .n = n, .p = TRAVEL_P, .floor = 1e-4};
    CU_ASSERT_EQUAL_FATAL(
        travel_law_test(&problem, residual, fit->residual_s_sd, NULL, &law, &accelerating),
        STATUS_OK);
    check_effects(name, row, &law);
}

static void test_cases(void)
{
    const char *name;
    json_t *row;
    json_object_foreach(expected, name, row) {
        struct travel_fit fit;
        read_case(name);
        CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT(name, fit.method, TRAVEL_OLS);
        CHECK_NEAR(name, fit.residual_s_sd, number_at(row, "sd_s"), 0.01, 0.0);
        CHECK_NEAR(name, fit.lap_step_s, number_at(row, "step_s"), 1e-6, 1e-12);
        CHECK_NEAR(name, fit.least_rad, number_at(row, "turns_above"), 0.01, 0.0);
        CHECK_NEAR(name, fit.least_m, number_at(row, "drives_above"), 0.01, 0.0);
        test_law(name, row, &fit);
        /* There errors follow each move's residual, and are larger. */
        if (strcmp(name, "two_floors_10pct") != 0) {
            check_intervals(name, row, &fit);
        }
    }
}

static bool notes_have(const struct estimate *e, const char *part)
{
    bool has = false;
    for (size_t i = estimate_first_note(e); i < e->reason_count; i++) {
        has = has || strstr(e->reasons[i], part);
    }
    return has;
}

/* Each case has its verdict, its first reason and its note. */
static void test_reports(void)
{
    static const struct {
        const char *name, *note;
        bool passes;
        enum reason_code first;
    } rows[] = {
        {"accelerates_20_moves", "not excluded", true, REASON_METHOD_CHOSEN},
        {"creeps_to_goal", "not excluded", false, REASON_LAPS_BEND},
        {"two_floors_10pct", "slower drives", false, REASON_PARTS_DIFFER},
        {"laps_whole_seconds_round", "steps of 1 s", true, REASON_METHOD_CHOSEN},
        {"laps_whole_seconds_up", "steps of 1 s", true, REASON_METHOD_CHOSEN},
        {"late_by_queue", "the delay varies", true, REASON_METHOD_CHOSEN},
        {"measured_moves", "count as none", true, REASON_METHOD_CHOSEN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_fit fit;
        read_case(rows[i].name);
        CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT(rows[i].name, fit.estimate.verdict == ESTIMATE_PASS, rows[i].passes);
        CHECK(rows[i].name, rows[i].passes || fit.estimate.reason_codes[0] == rows[i].first);
        CHECK(rows[i].name, notes_have(&fit.estimate, rows[i].note));
        CHECK(rows[i].name, fit.not_excluded.lap_s > 0.0);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    expected = json_load_file(TANDEM_SOURCE_DIR "/tests/golden/travel/expected.json", 0, NULL);
    if (!expected || CU_initialize_registry() != CUE_SUCCESS) {
        (void)fprintf(stderr, "cannot read the golden files\n");
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("travel cases", NULL, NULL);
    CU_add_test(suite, "cases", test_cases);
    CU_add_test(suite, "reports", test_reports);
    const int code = check_run();
    json_decref(expected);
    return code;
}
