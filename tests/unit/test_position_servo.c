/* Position-commanded servos: rows, wrong columns and units, commands that determine nothing,
 * wrapped and joined recordings, changes, limits of the search. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "service/selftest/selftest_robots.h"
#include "tests/support/servo_file.h"

static struct servo_file file, other;

/* Records a servo of the self test. */
static void record_servo(const struct selftest_scenario *scenario, uint64_t seed)
{
    char *text = NULL;
    size_t bytes = 0;
    struct random_source draws = {.state = seed};
    FILE *to = open_memstream(&text, &bytes);
    selftest_write_servo(scenario, &draws, to);
    (void)fclose(to);
    file.n = 0;
    for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char *next = line;
        file.t_s[file.n] = strtod(next, &next);
        file.command_rad[file.n] = strtod(next + 1, &next);
        file.position_rad[file.n++] = strtod(next + 1, &next);
    }
    free(text);
}

static const struct selftest_scenario right = {.name = "as_modelled"};

static void check_truth(const char *row, const struct servo_fit *fit)
{
    const char *name = NULL;
    CHECK_INT(row, fit->estimate.verdict, ESTIMATE_PASS);
    for (size_t i = 0; i < SERVO_DELAY; i++) {
        const double truth = selftest_servo_truth(i, &name);
        CHECK_NEAR(row, fit->estimate.value[i], truth, 0.02, 0.0);
    }
    CHECK_NEAR(row, fit->estimate.value[SERVO_DELAY], 0.045, 0.0, 1e-3);
}

static void test_truth(void)
{
    record_servo(&right, 1);
    const struct servo_fit fit = servo_file_fit(&file);
    servo_print("right", &fit);
    check_truth("right", &fit);
    CHECK_INT("right", fit.estimate.rank, 5);
    /* A play that is not excluded would change other values. */
    const struct estimate *e = &fit.estimate;
    size_t wider = 0;
    for (size_t i = 0; i < SERVO_DELAY; i++) {
        CHECK("open", e->lo_open[i] <= e->lo[i] && e->hi_open[i] >= e->hi[i]);
        wider += e->lo_open[i] < e->lo[i] || e->hi_open[i] > e->hi[i] ? 1 : 0;
    }
    CHECK("open", wider > 2);
    /* the same in another unit */
    for (size_t k = 0; k < file.n; k++) {
        file.command_rad[k] *= 0.001;
        file.position_rad[k] *= 0.001;
    }
    const struct servo_fit small = servo_file_fit(&file);
    CHECK_NEAR("small", small.estimate.value[SERVO_NATURAL_FREQUENCY],
               fit.estimate.value[SERVO_NATURAL_FREQUENCY], 1e-3, 0.0);
    CHECK_NEAR("small", small.estimate.value[SERVO_DEAD_BAND],
               0.001 * fit.estimate.value[SERVO_DEAD_BAND], 1e-2, 0.0);
}

static void test_wrong(void)
{
    static const struct {
        const char *name;
        double position, offset, command;
        enum reason_code reason;
        enum estimate_verdict verdict;
    } rows[] = {
        {"mirrored", -1.0, 0.0, 1.0, REASON_WRONG_COLUMN, ESTIMATE_FAIL},
        {"degrees", 57.3, 0.0, 1.0, REASON_WRONG_UNIT, ESTIMATE_FAIL},
        {"command in degrees", 1.0, 0.0, 57.3, REASON_WRONG_UNIT, ESTIMATE_FAIL},
        {"both in degrees", 57.3, 0.0, 57.3, REASON_WRONG_UNIT, ESTIMATE_MARGINAL},
        {"scale", 0.93, 0.0, 1.0, REASON_UNMODELLED, ESTIMATE_MARGINAL},
        {"blocked", 0.0, 0.3, 1.0, REASON_NO_MOTION, ESTIMATE_FAIL},
        {"no command", 1.0, 0.0, 0.0, REASON_POOR_EXCITATION, ESTIMATE_FAIL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        record_servo(&right, 2);
        for (size_t k = 0; k < file.n; k++) {
            file.position_rad[k] = rows[i].offset + rows[i].position * file.position_rad[k];
            file.command_rad[k] *= rows[i].command;
        }
        const struct servo_fit fit = servo_file_fit(&file);
        servo_print(rows[i].name, &fit);
        CHECK_INT(rows[i].name, fit.estimate.verdict, rows[i].verdict);
        CHECK(rows[i].name, servo_has_reason(&fit, rows[i].reason));
    }
}

/* Something else moves the position: a little, and more than the servo. */
static void test_disturbed(void)
{
    for (int i = 0; i < 2; i++) {
        record_servo(&right, 11);
        for (size_t k = 0; k < file.n; k++) {
            file.position_rad[k] += (i == 0 ? 0.02 : 0.6) * sin(7.0 * file.t_s[k]);
        }
        const struct servo_fit fit = servo_file_fit(&file);
        servo_print("disturbed", &fit);
        CHECK_INT("disturbed", fit.estimate.verdict,
                  i == 0 ? ESTIMATE_MARGINAL : ESTIMATE_FAIL);
        CHECK("disturbed",
              servo_has_reason(&fit, i == 0 ? REASON_AUTOCORRELATED : REASON_POOR_FIT));
    }
}

/* Scenarios and the reason that each must have. */
static void test_scenarios(void)
{
    static const struct {
        struct selftest_scenario scenario;
        enum reason_code reason;
    } rows[] = {
        {{.name = "two values", .clip = 0.5}, REASON_POOR_EXCITATION},
        {{.name = "gentle", .gentle = 0.05}, REASON_POOR_EXCITATION},
        {{.name = "falls", .at_half = -0.2}, REASON_CHANGES_WITH_TIME},
        {{.name = "asymmetric", .backed = -0.15}, REASON_UNMODELLED},
        {{.name = "by load", .by_load = 0.1}, REASON_UNMODELLED},
        {{.name = "by place", .by_place = 0.3}, REASON_UNMODELLED},
        {{.name = "dips", .dips = -0.1}, REASON_CHANGES_WITH_TIME},
        {{.name = "behind a filter", .sensor_s = 0.05}, REASON_UNMODELLED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        record_servo(&rows[i].scenario, 3);
        const struct servo_fit fit = servo_file_fit(&file);
        servo_print(rows[i].scenario.name, &fit);
        CHECK_INT(rows[i].scenario.name, fit.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK(rows[i].scenario.name, servo_has_reason(&fit, rows[i].reason));
    }
}

/* A filter of a row is fitted and costs nothing; the values behind a longer one hold, too. */
static void test_filter(void)
{
    for (int rows = 1; rows < 3; rows++) {
        const struct selftest_scenario filtered = {.name = "filtered", .sensor_s = 0.02 * rows};
        record_servo(&filtered, 5);
        const struct servo_fit fit = servo_file_fit(&file);
        servo_print("filtered", &fit);
        CHECK_INT("filtered", fit.estimate.verdict,
                  rows == 1 ? ESTIMATE_PASS : ESTIMATE_MARGINAL);
        CHECK_NEAR("lag", fit.law.sensor_lag_s, filtered.sensor_s, 0.1, 0.0);
        CHECK_NEAR("behind it", fit.estimate.value[SERVO_NATURAL_FREQUENCY], 18.0, 0.05, 0.0);
    }
}

static void test_play(void)
{
    const struct selftest_scenario play = {.name = "play", .play_rad = 0.012};
    record_servo(&play, 4);
    const struct servo_fit fit = servo_file_fit(&file);
    servo_print("play", &fit);
    check_truth("play", &fit);
    CHECK_NEAR("play", fit.estimate.value[SERVO_PLAY], 0.012, 0.03, 0.0);
    CHECK("play is in the model", isnan(fit.estimate.lo_open[SERVO_DEAD_BAND]));
}

/* Replaces the positions by those of a law, in steps of an encoder. */
static void simulate_law(const struct servo_law *law)
{
    static double shown[SERVO_FILE_ROWS];
    struct servo_summary summary;
    struct servo_set set;
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&file, &set, &summary, NULL), STATUS_OK);
    (void)servo_simulate(&set, law, shown, NULL);
    for (size_t k = 0; k < file.n; k++) {
        file.position_rad[k] = round(shown[k] / 0.001534) * 0.001534;
    }
    servo_set_free(&set);
}

static void test_limits(void)
{
    struct servo_law law = {.stiffness = 324.0,
                            .damping = 39.6,
                            .dead_band_rad = 0.012,
                            .droop_rad = -0.02,
                            .scale = 1.0,
                            .delay_s = 0.045,
                            .error_max_rad = 0.15,
                            .speed_radps = HUGE_VAL,
                            .acceleration_radps2 = HUGE_VAL,
                            .substep_s = 1e-3};
    record_servo(&right, 9);
    simulate_law(&law);
    const struct servo_fit torque = servo_file_fit(&file);
    servo_print("torque", &torque);
    CHECK_INT("torque", torque.limit, SERVO_TORQUE_LIMIT);
    CHECK_NEAR("torque", torque.estimate.value[SERVO_SPEED_LIMIT], 0.15 * 324.0 / 39.6, 0.01,
               0.0);
    CHECK_NEAR("torque", torque.estimate.value[SERVO_NATURAL_FREQUENCY], 18.0, 0.01, 0.0);
    law.error_max_rad = HUGE_VAL;
    law.dead_band_rad = 0.0;
    law.delay_s = -0.01; /* commands that change between rows */
    simulate_law(&law);
    const struct servo_fit early = servo_file_fit(&file);
    CHECK_NEAR("early", early.estimate.value[SERVO_DELAY], -0.01, 0.0, 5e-4);
    CHECK_INT("early", early.estimate.verdict, ESTIMATE_PASS);
    CHECK("early", servo_has_reason(&early, REASON_NOT_DETERMINED)); /* friction or play */
}

static void test_held_out(void)
{
    const struct selftest_scenario weak = {.name = "weak", .off = -0.2};
    record_servo(&right, 5);
    struct servo_fit fit = servo_file_fit(&file);
    record_servo(&right, 6);
    struct servo_check check = servo_file_check(&file, &fit);
    servo_judge_held_out(&fit, &check);
    CHECK_INT("same", fit.estimate.verdict, ESTIMATE_PASS);
    record_servo(&weak, 6);
    check = servo_file_check(&file, &fit);
    servo_judge_held_out(&fit, &check);
    CHECK_INT("weak", fit.estimate.verdict, ESTIMATE_MARGINAL);
    for (size_t k = 0; k < file.n; k++) {
        file.position_rad[k] *= -1.0;
    }
    check = servo_file_check(&file, &fit);
    servo_judge_held_out(&fit, &check);
    CHECK_INT("mirrored", fit.estimate.verdict, ESTIMATE_FAIL);
}

/* Commands and positions in rows of their own, positions that wrap, lost rows. */
static void test_rows(void)
{
    struct servo_summary summary;
    struct servo_set set;
    record_servo(&right, 7);
    other.n = 0;
    for (size_t k = 0; k < file.n; k++) {
        const double turned = 3.0 + file.position_rad[k];
        other.t_s[other.n] = file.t_s[k];
        other.command_rad[other.n] = remainder(3.0 + file.command_rad[k], 2.0 * M_PI);
        other.position_rad[other.n++] = NAN;
        other.t_s[other.n] = file.t_s[k] + 0.001;
        other.command_rad[other.n] = NAN;
        other.position_rad[other.n++] = remainder(turned, 2.0 * M_PI);
    }
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&other, &set, &summary, NULL), STATUS_OK);
    CHECK_NEAR("joined", set.hold_s, 0.0, 0.0, 0.0);
    CHECK_INT("joined", summary.stale, 0);
    CHECK("wraps", summary.wraps > 0);
    servo_set_free(&set);
    const struct servo_fit fit = servo_file_fit(&other);
    servo_print("joined", &fit);
    CHECK_NEAR("joined", fit.estimate.value[SERVO_NATURAL_FREQUENCY], 18.0, 0.02, 0.0);
    CHECK_NEAR("joined", fit.estimate.value[SERVO_DELAY], 0.046, 0.0, 1e-3);
    for (size_t k = 500; k < file.n; k++) {
        file.t_s[k] += 0.04;
    }
    file.t_s[700] = file.t_s[699];
    file.t_s[800] = file.t_s[700];
    file.t_s[900] = NAN;
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&file, &set, &summary, NULL), STATUS_OK);
    CHECK_NEAR("rows", summary.step_rad, 2.0 * M_PI / 4096.0, 0.01, 0.0);
    CHECK_INT("rows", summary.gaps, 1);
    CHECK_INT("rows", summary.duplicates, 1);
    CHECK_INT("rows", summary.back_rows, 1);
    CHECK_INT("rows", summary.incomplete, 1);
    CHECK_INT("rows", set.run_count, 2);
    servo_set_free(&set);
}

/* Positions that are read in one of four rows. */
static void test_stale(void)
{
    struct servo_summary summary;
    struct servo_set set;
    record_servo(&right, 10);
    for (size_t k = 0; k < file.n; k++) {
        file.position_rad[k] = file.position_rad[k - k % 4];
    }
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&file, &set, &summary, NULL), STATUS_OK);
    CHECK_NEAR("stale", summary.hold_rows, 4.0, 0.05, 0.0);
    servo_set_free(&set);
    const struct servo_fit fit = servo_file_fit(&file);
    servo_print("stale", &fit);
    check_truth("stale", &fit);
    CHECK("stale", servo_has_reason(&fit, REASON_ROWS_UNUSABLE));
    CHECK("stale", isfinite(fit.estimate.lo[SERVO_DAMPING_RATIO]));
    record_servo(&right, 10);
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&file, &set, &summary, NULL), STATUS_OK);
    CHECK_INT("as it is", summary.stale, 0);
    servo_set_free(&set);
}

static void test_refusals(void)
{
    struct servo_summary summary;
    struct servo_set set;
    struct err err = {.code = STATUS_OK};
    record_servo(&right, 8);
    for (size_t k = 0; k < file.n; k++) {
        file.t_s[k] *= 1000.0;
    }
    CHECK_INT("ms", servo_file_set(&file, &set, &summary, &err), STATUS_E_RANGE);
    for (size_t k = 0; k < file.n; k++) {
        file.t_s[k] *= 1e-12;
    }
    CHECK_INT("ps", servo_file_set(&file, &set, &summary, &err), STATUS_E_RANGE);
    record_servo(&right, 8);
    file.n = SERVO_RUN_MIN - 1;
    CHECK_INT("few", servo_file_set(&file, &set, &summary, &err), STATUS_E_EMPTY);
    file.n = 0;
    CHECK_INT("none", servo_file_set(&file, &set, &summary, &err), STATUS_E_EMPTY);
    servo_set_free(NULL);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("position servo", NULL, NULL);
    CU_add_test(suite, "truth", test_truth);
    CU_add_test(suite, "wrong", test_wrong);
    CU_add_test(suite, "disturbed", test_disturbed);
    CU_add_test(suite, "scenarios", test_scenarios);
    CU_add_test(suite, "filter", test_filter);
    CU_add_test(suite, "play", test_play);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "held out", test_held_out);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "stale", test_stale);
    CU_add_test(suite, "refusals", test_refusals);
    return check_run();
}
