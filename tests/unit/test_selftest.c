/* short: TANDEM_RUNS=1 */
/* The self test passes correct results, and objects to wrong ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>

#include "service/identify/identify.h"
#include "service/selftest/selftest.h"
#include "service/selftest/selftest_scenarios.h"
#include "tests/support/check.h"

enum { RUNS = 8 };

static void run_recordings(const struct model_row *c, uint64_t seed,
                           struct selftest_result *result)
{
    struct err err = {0};
    for (size_t k = 0; k < RUNS; k++) {
        CU_ASSERT_EQUAL_FATAL(selftest_run(c, seed, result, &err), STATUS_OK);
    }
    selftest_judge(result);
}

static void test_right(void)
{
    static struct selftest_result result;
    static struct selftest_result again;
    const struct model_row *c = model_row_find("first_order");
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    selftest_start(c, &result);
    run_recordings(c, 3, &result);
    CHECK_INT("well", result.well, true);
    CHECK_INT("parameters", result.count, 3);
    CHECK_INT("verdicts", result.verdicts[ESTIMATE_PASS] + result.verdicts[ESTIMATE_MARGINAL],
              RUNS);
    CHECK_INT("delay", strcmp(result.parameter[2].name, "delay_s"), 0);
    for (size_t i = 0; i < result.count; i++) {
        const struct selftest_parameter *p = &result.parameter[i];
        CHECK_INT(p->name, p->known, RUNS);
        CHECK_NEAR(p->name, p->mean, p->truth, 0.05, 0.0);
        CHECK_INT(p->name, p->sd > 0.3 * p->se && p->sd < 3.0 * p->se, true);
    }
    selftest_start(c, &again);
    run_recordings(c, 3, &again);
    CHECK_INT("same seed", memcmp(&result, &again, sizeof result), 0);
    selftest_start(c, &again);
    run_recordings(c, 4, &again);
    CHECK_INT("other seed", fabs(result.parameter[0].mean - again.parameter[0].mean) > 0.0,
              true);
}

/* A truth that is not what was simulated, by 5 %: bias and intervals have to object. */
static void test_wrong(void)
{
    static struct selftest_result result;
    const struct model_row *c = model_row_find("first_order");
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    selftest_start(c, &result);
    result.parameter[0].truth *= 1.05;
    run_recordings(c, 3, &result);
    CHECK_INT("wrong", result.well, false);
    CHECK_INT("wrong", result.parameter[0].well, false);
    CHECK_INT("others", result.parameter[1].well && result.parameter[2].well, true);
}

/* No bias, but intervals that hold the truth too seldom. */
static void test_narrow(void)
{
    struct selftest_result result = {.runs = 100, .count = 1};
    result.parameter[0] = (struct selftest_parameter){
        .truth = 1.0, .mean = 1.0, .known = 100, .covered = 95, .se = 0.1};
    result.square_sum[0] = 1.0;
    selftest_judge(&result);
    CHECK_INT("95 of 100", result.well, true);
    CHECK_INT("limit", result.parameter[0].covered_min > 80, true);
    CHECK_INT("limit", result.parameter[0].covered_min < 92, true);
    result.parameter[0].covered = 80;
    selftest_judge(&result);
    CHECK_INT("80 of 100", result.well, false);
    result.parameter[0].covered = 95;
    result.verdicts[ESTIMATE_FAIL] = 1;
    selftest_judge(&result);
    CHECK_INT("a FAIL", result.well, false);
}

/* Estimates about the truth, intervals that hold it, but errors that say another scatter. */
static void test_scatter(void)
{
    static const struct {
        const char *row;
        size_t runs;
        double sd, se;
        size_t covered;
        bool well;
    } rows[] = {
        {"as claimed", 100, 0.1, 0.1, 95, true},
        {"twice", 100, 0.2, 0.1, 95, true},
        {"nearly three times", 100, 0.299, 0.1, 95, true},
        {"beyond three times", 100, 0.301, 0.1, 95, false},
        {"ten times, and no interval holds", 100, 1.0, 0.1, 15, false},
        {"far below the claim", 100, 0.001, 0.1, 100, true},
        {"no errors", 100, 0.1, 0.0, 95, false},
        {"three times of two is chance", 2, 0.32, 0.1, 2, true},
        {"ten times of three is none", 3, 1.0, 0.1, 3, false},
        {"twenty", 20, 0.32, 0.1, 19, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct selftest_result result = {.runs = rows[i].runs, .count = 1};
        result.parameter[0] = (struct selftest_parameter){.truth = 1.0,
                                                          .mean = 1.0,
                                                          .known = rows[i].runs,
                                                          .covered = rows[i].covered,
                                                          .se = rows[i].se};
        result.square_sum[0] = rows[i].sd * rows[i].sd * (double)(rows[i].runs - 1);
        selftest_judge(&result);
        CHECK_INT(rows[i].row, result.well, rows[i].well);
    }
    struct selftest_result none = {.runs = 20, .count = 1};
    none.parameter[0].truth = 1.0;
    selftest_judge(&none);
    CHECK_INT("no estimate at all", none.well, false);
}

/* Every model of motion has a case, and rows to lose. */
static void test_cases(void)
{
    for (size_t i = 0; i < model_row_count; i++) {
        const struct model_row *row = model_rows[i];
        const struct model_trial *t = &row->trial;
        const bool moves = row->data == MODEL_OF_MOTION;
        CHECK_INT(row->name, t->samples > 0 && t->dt_s > 0.0 && t->delay_s > 0.0, moves);
        CHECK_INT(row->name, t->loss_ratio > 0.0, moves);
    }
}

/* Every scenario has an existing model and its own name, and changes only existing parts. */
static void test_worlds(void)
{
    for (size_t i = 0; i < selftest_scenario_count; i++) {
        const struct selftest_scenario *w = &selftest_scenarios[i];
        const struct model_row *row = model_row_find(w->model);
        CU_ASSERT_PTR_NOT_NULL_FATAL(row);
        for (size_t k = 0; k < COUNT(w->dragged) && w->dragged[k]; k++) {
            CHECK_INT(w->name, model_parameter_find(row->model, w->dragged[k]) >= 0, true);
        }
        for (size_t k = 0; k < i; k++) {
            CHECK_INT(w->name,
                      strcmp(w->name, selftest_scenarios[k].name) == 0 &&
                          strcmp(w->model, selftest_scenarios[k].model) == 0,
                      false);
        }
    }
}

/* Whether `tandem identify` of a recording of this scenario gives such a reason. */
static bool has_reason(const struct model_row *row, const struct selftest_scenario *scenario,
                       size_t run, const char *words)
{
    struct random_source draws = selftest_draws(5, run);
    struct csv_source own = {.path = "selftest"};
    struct identify_request request = identify_request_defaults();
    struct err err = {0};
    char *text = NULL;
    char *answer = NULL;
    size_t bytes = 0;
    CU_ASSERT_EQUAL_FATAL(
        selftest_record(row, scenario, false, &draws, &text, &own.bytes, &err), STATUS_OK);
    own.text = text;
    request.files = &own;
    request.file_count = 1;
    request.json = true;
    FILE *to = open_memstream(&answer, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    CU_ASSERT_EQUAL_FATAL(identify_run(row, &request, to, &err), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(fclose(to), 0);
    const bool reported = !strstr(answer, "\"verdict\":\"PASS\"") && strstr(answer, words);
    free(text);
    free(answer);
    return reported;
}

/* Each cause, simulated, is reported by its name. */
static void test_causes(void)
{
    static const struct {
        const char *model, *words;
        struct selftest_scenario scenario;
    } rows[] = {
        {"first_order", "is clipped at", {.name = "clipped", .clip = 0.6}},
        {"first_order", "is clipped at", {.name = "clipped a little", .clip = 0.8}},
        {"first_order", "dead band", {.name = "dead band", .dead = 0.1}},
        {"first_order", "it is asymmetric", {.name = "asymmetric", .backed = -0.15}},
        {"first_order", "the gain falls", {.name = "falls", .at_half = -0.2}},
        {"first_order", "the gain rises", {.name = "warms up", .warm = 0.15}},
        {"diffdrive", "is clipped at", {.name = "clipped", .clip = 0.6}},
        {"joint", "effect of an effort", {.name = "falls", .at_half = -0.2}},
        {"joint", "friction by load", {.name = "geared", .robot = "joint_geared"}},
        {"joint", "Stribeck", {.name = "breaks away", .falls = 0.1, .at_rest = 1.0}},
        {"travel_time", "columns exchanged", {.name = "exchanged", .exchanged = true}},
        {"travel_time", "moves of two kinds", {.name = "two robots", .mixed = -0.25}},
        {"travel_time", "the robot accelerates", {.name = "accelerates", .accelerates = 0.5}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t run = 0; run < check_runs(2, 2); run++) {
            CHECK_INT(rows[i].scenario.name,
                      has_reason(model_row_find(rows[i].model), &rows[i].scenario, run,
                                 rows[i].words),
                      true);
        }
    }
}

/* Gusts on a straight channel bend nothing, and do not follow its commands. */
static void test_gusts(void)
{
    const struct selftest_scenario gusts = {.name = "gusts", .gusts = 0.05};
    for (size_t run = 0; run < check_runs(6, 6); run++) {
        CHECK_INT("follows", has_reason(model_row_find("first_order"), &gusts, run, "follows"),
                  false);
    }
}

/* The figures of docs/model/trust.md, less what chance does. */
static void test_world_chance(void)
{
    static const struct {
        const char *row;
        enum selftest_claim claim;
        size_t pass, covered;
        bool well;
    } rows[] = {
        {"wrong, reported", CLAIM_WRONG, 0, 0, true},
        {"wrong, one in a hundred passes", CLAIM_WRONG, 10, 0, true},
        {"wrong, three in a hundred pass", CLAIM_WRONG, 30, 0, false},
        {"right", CLAIM_RIGHT, 960, 950, true},
        {"right, one of ten wrongly reported", CLAIM_RIGHT, 900, 950, false},
        {"right, narrow", CLAIM_RIGHT, 1000, 890, false},
        {"right, wide", CLAIM_RIGHT, 1000, 995, false},
        {"any verdict, held", CLAIM_HELD, 300, 940, true},
        {"any verdict, narrow", CLAIM_HELD, 300, 880, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct selftest_scenario scenario = {.claim = rows[i].claim};
        struct selftest_scenario_result result = {
            .runs = 1000,
            .count = 1,
            .verdicts = {rows[i].pass, 1000 - rows[i].pass},
            .covered = {rows[i].covered}};
        selftest_scenario_judge(&scenario, &result);
        CHECK_INT(rows[i].row, result.well, rows[i].well);
    }
}

/* A scenario with a code is not well if too few of the reports that it asks have the code. */
static void test_named(void)
{
    static const struct {
        enum selftest_claim claim;
        size_t pass, named;
        bool well;
    } rows[] = {{CLAIM_WRONG, 500, 425, true},
                {CLAIM_WRONG, 500, 370, false},
                {CLAIM_HELD, 500, 930, true},
                {CLAIM_HELD, 500, 890, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct selftest_scenario scenario = {
            .claim = rows[i].claim, .passes = 0.5, .code = "laps_bend"};
        struct selftest_scenario_result result = {
            .runs = 1000,
            .named = rows[i].named,
            .verdicts = {rows[i].pass, 1000 - rows[i].pass}};
        selftest_scenario_judge(&scenario, &result);
        CHECK_INT("named", result.well, rows[i].well);
    }
}

/* Robots that are no model of motion have writers of their own: what they write can be read. */
static void test_other_robots(void)
{
    size_t count = 0;
    for (size_t i = 0; i < selftest_scenario_count; i++) {
        const struct selftest_scenario *scenario = &selftest_scenarios[i];
        struct selftest_scenario_result result = {.runs = 0};
        struct err err = {0};
        if (strcmp(scenario->name, "as_modelled") == 0 &&
            model_row_find(scenario->model)->data != MODEL_OF_MOTION) {
            count++;
            CU_ASSERT_EQUAL_FATAL(selftest_scenario_run(scenario, 1, &result, &err), STATUS_OK);
            CHECK_INT(scenario->model, result.refused, 0);
            CHECK_INT(scenario->model, result.verdicts[ESTIMATE_FAIL], 0);
        }
    }
    CHECK_INT("kinds of data", count, MODEL_DATA_COUNT - 1);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("selftest", NULL, NULL);
    CU_add_test(suite, "right", test_right);
    CU_add_test(suite, "wrong", test_wrong);
    CU_add_test(suite, "narrow", test_narrow);
    CU_add_test(suite, "scatter", test_scatter);
    CU_add_test(suite, "cases", test_cases);
    CU_add_test(suite, "worlds", test_worlds);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "gusts", test_gusts);
    CU_add_test(suite, "chance of a scenario", test_world_chance);
    CU_add_test(suite, "named", test_named);
    CU_add_test(suite, "other robots", test_other_robots);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
