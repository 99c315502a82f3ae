/* Odometry: conversion of rows, sensitivities, parameters that paths leave open, wrong columns
 * and units, poses that jump, wrong calls and memory that runs out. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/odometry/odometry_parts.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/odometry_truth.h"

static struct odometry_record record;
static const struct odometry_scenario quiet = {
    .noise_m = 5e-4, .noise_rad = 5e-4, .slip_m = 2e-4, .slip_rad = 2e-4, .dt_s = 0.0625};
static const double origin[3] = {1.0, -2.0, 0.7};

static void simulate_legs(const struct odometry_leg *legs, size_t count,
                          const struct odometry_scenario *world)
{
    uint64_t state = 11;
    record.n = 0;
    odometry_drive(&record, legs, count, world, origin, &state);
}

static void drive_path(const struct odometry_scenario *world)
{
    simulate_legs(odometry_path, COUNT(odometry_path), world);
}

static enum status make_set(struct odometry_set *set, struct odometry_summary *summary,
                            struct err *err)
{
    const struct odometry_raw raw = odometry_record_raw(&record);
    return odometry_set_make(&raw, set, summary, err);
}

static struct odometry_fit fit_record(struct odometry_summary *summary)
{
    struct odometry_set set;
    struct odometry_fit fit;
    CU_ASSERT_EQUAL_FATAL(make_set(&set, summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, summary, &fit), STATUS_OK);
    odometry_set_free(&set);
    return fit;
}

static bool has_reason(const struct odometry_fit *fit, const char *text)
{
    for (size_t k = 0; k < fit->estimate.reason_count; k++) {
        if (strstr(fit->estimate.reasons[k], text)) {
            return true;
        }
    }
    for (size_t k = 0; k < fit->estimate.advice_count; k++) {
        if (strstr(fit->estimate.advice[k], text)) {
            return true;
        }
    }
    (void)printf("no '%s'\n", text);
    return false;
}

static void check_truth(const char *row, const struct odometry_fit *fit, double tolerance)
{
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        CHECK_NEAR(row, fit->estimate.value[i], odometry_truth[i], 0.0, tolerance);
        CHECK(row, fit->estimate.identifiable[i]);
        CHECK(row, fit->estimate.lo[i] < fit->estimate.value[i] &&
                       fit->estimate.value[i] < fit->estimate.hi[i]);
    }
}

/* Rows that are not as they should be, counted. */
static void test_summary(void)
{
    struct odometry_summary summary;
    struct odometry_set set;
    drive_path(&quiet);
    const size_t n = record.n;
    record.t[100] = record.t[99];         /* repeated */
    record.t[201] = record.t[199] - 0.5;  /* back, */
    record.t[202] = record.t[199] - 0.25; /* and not yet there */
    record.left[300] = nan("");           /* no wheel */
    record.left[350] = record.left[349];  /* not read again */
    record.right[350] = record.right[349];
    record.x[400] = record.theta[401] = nan(""); /* no pose */
    record.x[500] = record.x[499];               /* the last one again */
    record.y[500] = record.y[499];
    record.theta[500] = record.theta[499];
    CU_ASSERT_EQUAL_FATAL(make_set(&set, &summary, NULL), STATUS_OK);
    CHECK_INT("card", summary.rows, n);
    CHECK_INT("card", summary.duplicates, 1);
    CHECK_INT("card", summary.back_steps, 1);
    CHECK_INT("card", summary.back_rows, 2);
    CHECK_INT("card", summary.incomplete, 1);
    CHECK_INT("card", summary.held, 1);
    CHECK_INT("card", summary.pose_missing, 2);
    CHECK_INT("card", summary.stale, 1);
    CHECK_INT("card", summary.used, n - 4);
    CHECK_INT("card", summary.poses, n - 7);
    CHECK_INT("card", summary.runs, 1);
    CHECK_INT("card", summary.cuts, 0);
    CHECK_NEAR("card", summary.rate_hz, 16.0, 1e-9, 0.0);
    CHECK_INT("card", set.poses, summary.poses);
    for (size_t k = 1; k < set.n; k++) {
        CHECK("heading", !(fabs(set.theta_rad[k] - set.theta_rad[k - 1]) > 1.0));
    }
    odometry_set_free(&set);
    odometry_set_free(&set);
    odometry_set_free(NULL);
}

/* A gap in the path begins another path, and the fit is the same. */
static void test_cuts(void)
{
    struct odometry_summary summary;
    drive_path(&quiet);
    for (size_t k = 300; k < record.n; k++) {
        record.left[k] -= 40.0; /* a counter that starts again */
        record.right[k] += 25.0;
    }
    for (size_t k = 600; k < record.n; k++) {
        record.t[k] += 30.0; /* time without rows, and a turn in it */
        record.left[k] += 9.0;
    }
    for (size_t k = 640; k < 645; k++) {
        record.t[k] += 1e-4; /* a little uneven */
    }
    const struct odometry_fit fit = fit_record(&summary);
    CHECK_INT("cuts", summary.cuts, 2);
    CHECK_INT("cuts", summary.wheel_jumps, 1);
    CHECK_INT("cuts", summary.gaps, 1);
    CHECK_INT("cuts", fit.runs, 3);
    CHECK("cuts", has_reason(&fit, "cut 2 times"));
    check_truth("cuts", &fit, 0.004);
    /* Pieces too short to be used. */
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.left[k] += 50.0 * floor((double)k / 7.0);
    }
    struct odometry_set set;
    struct err err = {.code = STATUS_OK};
    CHECK_INT("short", make_set(&set, &summary, &err), STATUS_E_EMPTY);
    CHECK_INT("short", summary.short_rows, record.n);
    CHECK_TEXT("short", fault_name(err.fault), "too_few");
}

static void test_refusals(void)
{
    struct odometry_summary summary;
    struct odometry_set set;
    struct err err = {.code = STATUS_OK};
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.theta[k] *= 57.29577951308232;
    }
    CHECK_INT("degrees", make_set(&set, &summary, &err), STATUS_E_RANGE);
    CHECK_TEXT("degrees", fault_name(err.fault), "wrong_unit");
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.t[k] *= 1e6;
    }
    err = (struct err){.code = STATUS_OK};
    CHECK_INT("microseconds", make_set(&set, &summary, &err), STATUS_E_RANGE);
    CHECK_TEXT("microseconds", fault_name(err.fault), "wrong_unit");
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.y[k] = nan("");
    }
    err = (struct err){.code = STATUS_OK};
    CHECK_INT("no pose", make_set(&set, &summary, &err), STATUS_E_EMPTY);
    record.n = 1;
    err = (struct err){.code = STATUS_OK};
    CHECK_INT("one row", make_set(&set, &summary, &err), STATUS_E_EMPTY);
    CHECK_TEXT("one row", fault_name(err.fault), "too_few");
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.t[k] = 3.0;
    }
    err = (struct err){.code = STATUS_OK};
    CHECK_INT("time stops", make_set(&set, &summary, &err), STATUS_E_EMPTY);
    CHECK_INT("time stops", summary.duplicates, record.n - 1);
}

static void walk_to(const struct odometry_set *set, const double x[ODOMETRY_COLUMNS],
                    bool sensitive, struct odometry_walk *walk, struct odometry_point *point)
{
    memcpy(point->start[0], x, sizeof point->start[0]);
    memcpy(point->theta, x + ODOMETRY_START, sizeof point->theta);
    odometry_walk_begin(walk, set, 0, point, sensitive);
    while (walk->row < 500) {
        odometry_walk_next(walk);
    }
}

static void test_sensitivities(void)
{
    struct odometry_summary summary;
    struct odometry_set set;
    struct odometry_point point;
    struct odometry_walk walk;
    struct odometry_walk up;
    struct odometry_walk down;
    double x[ODOMETRY_COLUMNS] = {1.0, -2.0, 0.7};
    drive_path(&quiet);
    CU_ASSERT_EQUAL_FATAL(make_set(&set, &summary, NULL), STATUS_OK);
    memcpy(x + ODOMETRY_START, odometry_truth, sizeof odometry_truth);
    walk_to(&set, x, true, &walk, &point);
    for (size_t j = 0; j < ODOMETRY_COLUMNS; j++) {
        const double was = x[j];
        const double h = 1e-6;
        x[j] = was + h;
        walk_to(&set, x, false, &up, &point);
        x[j] = was - h;
        walk_to(&set, x, false, &down, &point);
        x[j] = was;
        for (size_t i = 0; i < 3; i++) {
            const double difference = (up.sensor[i] - down.sensor[i]) / (2.0 * h);
            CHECK_NEAR("sensitivity", walk.sensor_by[i][j], difference, 1e-5, 1e-6);
        }
    }
    odometry_set_free(&set);
}

static void test_truth(void)
{
    struct odometry_summary summary;
    const struct odometry_scenario exact = {.dt_s = 0.02};
    drive_path(&exact);
    struct odometry_fit fit = fit_record(&summary);
    CHECK("exact", fit.converged);
    /* The arc of a row is not quite the way, where speeds change. */
    check_truth("exact", &fit, 2e-4);
    drive_path(&quiet);
    fit = fit_record(&summary);
    check_truth("quiet", &fit, 0.002);
    CHECK_INT("quiet", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK_INT("quiet", fit.estimate.rank, ODOMETRY_P);
    CHECK_NEAR("quiet", fit.estimate.combinations[ODOMETRY_MEAN_RADIUS].value, 0.08025, 2e-3,
               0.0);
    CHECK_NEAR("quiet", fit.estimate.combinations[ODOMETRY_TURN_LEFT].value, 0.0795 / 0.412,
               2e-3, 0.0);
    CHECK_NEAR("quiet", fit.own.start[0][0], origin[0], 0.0, 0.01);
    CHECK_NEAR("quiet", fit.own.start[0][2], origin[2], 0.0, 0.01);
    /* The same again, to the byte. */
    const struct odometry_fit again = fit_record(&summary);
    CHECK_INT("again", memcmp(&fit, &again, sizeof fit), 0);
    /* Wheels sampled four times as often as poses. */
    for (size_t k = 0; k < record.n; k++) {
        record.x[k] = k % 4 == 1 ? record.x[k] : nan("");
    }
    fit = fit_record(&summary);
    CHECK_INT("few poses", fit.n, record.n / 4);
    check_truth("few poses", &fit, 0.004);
}

/* Headings with any given weight: the true values all the same, by another estimate. */
static void test_weight(void)
{
    struct odometry_set set;
    struct odometry_summary summary;
    struct odometry_fit fit[3];
    static const double heading_m[COUNT(fit)] = {0.0, 0.1, 2.0};
    drive_path(&quiet);
    for (size_t i = 0; i < COUNT(fit); i++) {
        CU_ASSERT_EQUAL_FATAL(make_set(&set, &summary, NULL), STATUS_OK);
        set.heading_m = heading_m[i];
        CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fit[i]), STATUS_OK);
        CHECK("weight", fit[i].converged);
        check_truth("weight", &fit[i], 0.004);
        odometry_set_free(&set);
    }
    CHECK("light headings fit worse",
          fit[1].own.heading_rmse_rad > fit[2].own.heading_rmse_rad);
    CHECK("heavy ones at the cost of places",
          fit[1].own.position_rmse_m < fit[2].own.position_rmse_m);
}

/* Poses on a grid of a centimetre and a degree. */
static void test_quantised(void)
{
    struct odometry_summary summary;
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.x[k] = 0.01 * round(record.x[k] / 0.01);
        record.y[k] = 0.01 * round(record.y[k] / 0.01);
        record.theta[k] = 0.0175 * round(record.theta[k] / 0.0175);
    }
    const struct odometry_fit fit = fit_record(&summary);
    CHECK("quantised", summary.stale > 0);
    check_truth("quantised", &fit, 0.01);
    CHECK_INT("quantised", fit.estimate.verdict, ESTIMATE_PASS);
}

static void test_jumps(void)
{
    struct odometry_summary summary;
    drive_path(&quiet);
    for (size_t k = 50; k < record.n; k += 40) {
        record.x[k] += 3.0;
        record.y[k] -= k % 80 < 40 ? 50.0 : 0.0;
    }
    record.theta[333] += 0.5;
    const struct odometry_fit fit = fit_record(&summary);
    CHECK_INT("jumps", fit.outliers, 1 + (record.n - 50 + 39) / 40);
    CHECK("jumps", has_reason(&fit, "jump away and back"));
    check_truth("jumps", &fit, 0.003);
}

/* Parameters that a path cannot show are not reported. */
static void test_open(void)
{
    static const struct odometry_leg straight[] = {{0.0, 0.0, 2.0}, {0.3, 0.0, 30.0}};
    static const struct odometry_leg spot[] = {
        {0.0, 0.0, 2.0}, {0.0, 0.6, 20.0}, {0.0, -0.6, 20.0}};
    static const struct odometry_leg rest[] = {{0.0, 0.0, 30.0}};
    static const struct odometry_leg left[] = {{0.3, 0.0, 10.0}, {0.3, 0.5, 40.0}};
    struct odometry_summary summary;
    simulate_legs(straight, COUNT(straight), &quiet);
    struct odometry_fit fit = fit_record(&summary);
    CHECK_INT("straight", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("straight", !fit.estimate.identifiable[ODOMETRY_TRACK]);
    CHECK("straight", !fit.estimate.identifiable[ODOMETRY_SENSOR_X]);
    CHECK("straight", fit.estimate.identifiable[ODOMETRY_SENSOR_ALPHA]);
    CHECK("straight", has_reason(&fit, "drive a closed circle in both directions"));
    CHECK_NEAR("straight", fit.estimate.combinations[ODOMETRY_MEAN_RADIUS].value, 0.08025, 5e-3,
               0.0);
    simulate_legs(spot, COUNT(spot), &quiet);
    fit = fit_record(&summary);
    CHECK_INT("spot", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("spot", !fit.estimate.identifiable[ODOMETRY_RADIUS_RIGHT]);
    CHECK("spot", !fit.estimate.identifiable[ODOMETRY_SENSOR_ALPHA]);
    CHECK("spot", has_reason(&fit, "drive several metres"));
    simulate_legs(rest, COUNT(rest), &quiet);
    fit = fit_record(&summary);
    CHECK_INT("rest", fit.estimate.verdict, ESTIMATE_FAIL);
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        CHECK("rest", !fit.estimate.identifiable[i]);
    }
    simulate_legs(left, COUNT(left), &quiet);
    fit = fit_record(&summary);
    CHECK_INT("left only", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("left only", has_reason(&fit, "it turns to the left only"));
    CHECK("left only", has_reason(&fit, "in the other direction too"));
}

/* Wrong columns and units. */
static void test_wrong(void)
{
    struct odometry_summary summary;
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.left[k] = -record.left[k];
    }
    struct odometry_fit fit = fit_record(&summary);
    CHECK_INT("mirrored", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("mirrored", has_reason(&fit, "the left wheel is below zero"));
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        const double left = record.left[k];
        record.left[k] = record.right[k];
        record.right[k] = left;
    }
    fit = fit_record(&summary);
    CHECK_INT("exchanged", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("exchanged", has_reason(&fit, "left and right wheel are exchanged"));
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.x[k] *= 1000.0;
        record.y[k] *= 1000.0;
    }
    fit = fit_record(&summary);
    CHECK("mm", !has_reason(&fit, "units?"));
    odometry_judge_units(&fit, &summary);
    CHECK("mm", has_reason(&fit, "looks like millimetres"));
    CHECK_INT("mm", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("mm", has_reason(&fit, "units?"));
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.left[k] *= 57.29577951308232;
        record.right[k] *= 57.29577951308232;
    }
    fit = fit_record(&summary);
    CHECK("degrees", !has_reason(&fit, "units?"));
    odometry_judge_units(&fit, &summary);
    CHECK("degrees", has_reason(&fit, "looks like degrees"));
    CHECK_INT("degrees", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("degrees", has_reason(&fit, "units?"));
    drive_path(&quiet);
    fit = fit_record(&summary);
    odometry_judge_units(&fit, &summary);
    CHECK_INT("right", fit.estimate.verdict, ESTIMATE_PASS);
    for (size_t k = 0; k < record.n; k++) {
        record.left[k] /= 6.283185307179586;
        record.right[k] /= 6.283185307179586;
    }
    fit = fit_record(&summary);
    odometry_judge_units(&fit, &summary);
    CHECK_INT("revolutions", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("revolutions", has_reason(&fit, "look like revolutions, a factor of 2 pi"));
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.theta[k] = -record.theta[k];
    }
    fit = fit_record(&summary);
    CHECK_INT("clockwise", fit.estimate.verdict, ESTIMATE_FAIL);
    drive_path(&quiet);
    for (size_t k = 0; k < record.n; k++) {
        record.left[k] *= 1.3;
    }
    fit = fit_record(&summary);
    CHECK_INT("unequal", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("unequal", has_reason(&fit, "the wheels differ"));
}

/* Changes of a robot or its recording, and the expected report: the cause, and the advice. */
static void test_causes(void)
{
    static const struct odometry_leg left[] = {{0.3, 0.0, 10.0}, {0.3, 0.5, 40.0}};
    static const struct odometry_scenario slips = {
        .noise_m = 5e-4, .noise_rad = 5e-4, .slip_m = 0.1, .slip_rad = 0.5, .dt_s = 0.0625};
    static const struct {
        const char *row;
        double wheels, left, poses, heading, times; /* numbers as they are, times this */
        const struct odometry_scenario *world;
        size_t jump_every; /* poses that jump away and back */
        bool one_way;
        enum estimate_verdict verdict;
        const char *reason, *advice;
    } rows[] = {
        {"nothing", 1, 1, 1, 1, 1, &quiet, 0, false, ESTIMATE_PASS, "", ""},
        {"counts backwards", 1, -1, 1, 1, 1, &quiet, 0, false, ESTIMATE_FAIL,
         "it counts backwards", "change the sign of the wheel"},
        {"ticks per turn", 1, 1.3, 1, 1, 1, &quiet, 0, false, ESTIMATE_MARGINAL,
         "the wheels differ by", "the same ticks per turn"},
        {"revolutions", 1 / 6.2831853, 1, 1, 1, 1, &quiet, 0, false, ESTIMATE_MARGINAL,
         "a factor of 2 pi", "check the units"},
        {"wheels in degrees", 57.29578, 1, 1, 1, 1, &quiet, 0, false, ESTIMATE_FAIL,
         "looks like degrees", "check the units"},
        {"millimetres", 1, 1, 1000, 1, 1, &quiet, 0, false, ESTIMATE_FAIL,
         "looks like millimetres", "check the units"},
        {"milliseconds", 1, 1, 1, 1, 1000, &quiet, 0, false, ESTIMATE_MARGINAL,
         "looks like milliseconds", "check the units"},
        {"clockwise", 1, 1, 1, -1, 1, &quiet, 0, false, ESTIMATE_FAIL, "", "exchanged columns"},
        {"slip", 1, 1, 1, 1, 1, &slips, 0, false, ESTIMATE_MARGINAL, "", ""},
        {"one way round", 1, 1, 1, 1, 1, &quiet, 0, true, ESTIMATE_MARGINAL,
         "it turns to the left only", "in the other direction too"},
        {"jumps", 1, 1, 1, 1, 1, &quiet, 20, false, ESTIMATE_MARGINAL, "jump away and back",
         "look why the measured pose jumps"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct odometry_summary summary;
        simulate_legs(rows[i].one_way ? left : odometry_path,
                      rows[i].one_way ? COUNT(left) : COUNT(odometry_path), rows[i].world);
        for (size_t k = 0; k < record.n; k++) {
            record.left[k] *= rows[i].wheels * rows[i].left;
            record.right[k] *= rows[i].wheels;
            record.x[k] *= rows[i].poses;
            record.y[k] *= rows[i].poses;
            record.theta[k] *= rows[i].heading;
            record.t[k] *= rows[i].times;
            record.x[k] += rows[i].jump_every > 0 && k % rows[i].jump_every == 7 ? 3.0 : 0.0;
        }
        struct odometry_fit fit = fit_record(&summary);
        odometry_judge_units(&fit, &summary);
        estimate_advise_worst(&fit.estimate);
        CHECK_TEXT(rows[i].row, estimate_verdict_name(fit.estimate.verdict),
                   estimate_verdict_name(rows[i].verdict));
        CHECK(rows[i].row, !rows[i].reason[0] || has_reason(&fit, rows[i].reason));
        CHECK(rows[i].row, !rows[i].advice[0] || has_reason(&fit, rows[i].advice));
        CHECK(rows[i].row,
              (fit.estimate.advice_count > 0) == (rows[i].verdict != ESTIMATE_PASS));
    }
}

static void test_held_out(void)
{
    struct odometry_summary summary;
    struct odometry_set set;
    struct odometry_check check;
    drive_path(&quiet);
    struct odometry_fit fit = fit_record(&summary);
    CU_ASSERT_EQUAL_FATAL(make_set(&set, &summary, NULL), STATUS_OK);
    CHECK_INT("own", odometry_check_run(&set, fit.estimate.value, &check), STATUS_OK);
    CHECK_NEAR("own", check.position_rmse_m, fit.own.position_rmse_m, 0.01, 0.0);
    CHECK("own", check.position_r2 > 0.9999 && check.heading_r2 > 0.9999);
    odometry_judge_held_out(&fit, &check);
    CHECK_INT("own", fit.estimate.verdict, ESTIMATE_PASS);
    double theta[ODOMETRY_P];
    memcpy(theta, fit.estimate.value, sizeof theta);
    theta[ODOMETRY_RADIUS_LEFT] *= 1.05;
    CHECK_INT("other", odometry_check_run(&set, theta, &check), STATUS_OK);
    CHECK("other", check.position_rmse_m > 0.1);
    odometry_judge_held_out(&fit, &check);
    CHECK_INT("other", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("other", has_reason(&fit, "held-out paths are predicted"));
    theta[ODOMETRY_TRACK] = 0.0;
    CHECK_INT("no track", odometry_check_run(&set, theta, &check), STATUS_E_ARG);
    theta[ODOMETRY_TRACK] = nan("");
    CHECK_INT("no track", odometry_check_run(&set, theta, &check), STATUS_E_ARG);
    odometry_set_free(&set);
}

/* Every allocation fails once; nothing is written then. */
static void test_memory(void)
{
    struct odometry_summary summary;
    struct odometry_set set = {.n = 77};
    struct odometry_check check = {.poses = 77};
    struct odometry_fit fit = {.n = 77};
    long count = 0;
    drive_path(&quiet);
    enum status st = STATUS_E_NOMEM;
    for (; st != STATUS_OK && count < 100; count++) {
        struct err err = {.code = STATUS_OK};
        allocations_left = count;
        st = make_set(&set, &summary, &err);
        allocations_left = -1;
        CHECK("set", st == STATUS_OK || (st == STATUS_E_NOMEM && set.n == 77));
        CHECK_INT("set", err.code, st);
    }
    CHECK_INT("set", count, 3);
    st = STATUS_E_NOMEM;
    for (count = 0; st != STATUS_OK && count < 2000; count++) {
        allocations_left = count;
        st = odometry_fit_run(&set, &summary, &fit);
        allocations_left = -1;
        CHECK("fit", st == STATUS_OK || (st == STATUS_E_NOMEM && fit.n == 77));
    }
    CHECK("fit", st == STATUS_OK && count > 5);
    allocations_left = 0;
    CHECK_INT("check", odometry_check_run(&set, fit.estimate.value, &check), STATUS_OK);
    allocations_left = -1;
    odometry_set_free(&set);
}

static void test_names(void)
{
    CHECK_TEXT("name", odometry_parameter_name(ODOMETRY_TRACK), "track_m");
    CHECK_TEXT("name", odometry_parameter_name(ODOMETRY_P), "unknown");
    CHECK_TEXT("name", odometry_combination_name(ODOMETRY_MEAN_RADIUS), "mean_radius_m");
    CHECK_TEXT("name", odometry_combination_name(ODOMETRY_COMBINATIONS), "unknown");
    CHECK_TEXT("name", estimate_verdict_name(ESTIMATE_FAIL), "FAIL");
    CHECK_TEXT("name", estimate_verdict_name((enum estimate_verdict)9), "unknown");
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("odometry", NULL, NULL);
    CU_add_test(suite, "card", test_summary);
    CU_add_test(suite, "cuts", test_cuts);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "sensitivities", test_sensitivities);
    CU_add_test(suite, "truth", test_truth);
    CU_add_test(suite, "weight", test_weight);
    CU_add_test(suite, "quantised", test_quantised);
    CU_add_test(suite, "jumps", test_jumps);
    CU_add_test(suite, "open", test_open);
    CU_add_test(suite, "wrong", test_wrong);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "held out", test_held_out);
    CU_add_test(suite, "memory", test_memory);
    CU_add_test(suite, "names", test_names);
    return check_run();
}
