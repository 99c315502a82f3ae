/* The travel-time fit: parameters that moves determine, the reports, and odd input. */
#include "tests/support/check.h"

#include <float.h>

#include <gsl/gsl_errno.h>

#include "identification/travel/travel_held_out.h"
#include "identification/travel/travel_time.h"
#include "tests/support/travel_truth.h"
#include "twin/report/fit_report.h"

enum { MOVES_MAX = 64 };

static const double RAD[3] = {0.5, 1.0, 2.0};
static const double METRE[3] = {0.2, 0.7, 1.5};

/* `angles` different turns, `lengths` different drives, both[] different moves that do both,
 * each four times, with small noise. */
static size_t make_session(struct travel_move *moves, size_t angles, size_t lengths,
                           size_t both)
{
    uint64_t state = 5;
    size_t n = 0;
    for (size_t repeat = 0; repeat < 4; repeat++) {
        for (size_t i = 0; i < angles; i++) {
            moves[n++] = (struct travel_move){.rotation_rad = i % 2 ? -RAD[i] : RAD[i]};
        }
        for (size_t i = 0; i < lengths; i++) {
            moves[n++] = (struct travel_move){.displacement_m = METRE[i]};
        }
        for (size_t i = 0; i < both; i++) {
            moves[n++] = (struct travel_move){.rotation_rad = RAD[i],
                                              .displacement_m = METRE[(2 * i + 1) % 3]};
        }
    }
    for (size_t i = 0; i < n; i++) {
        moves[i].lap_s = truth_lap_s(&TRUTH, &moves[i]) + 0.002 * truth_normal(&state);
    }
    return n;
}

static int has_reason(char texts[][ESTIMATE_TEXT_MAX], size_t count, const char *part)
{
    for (size_t k = 0; k < count; k++) {
        if (strstr(texts[k], part)) {
            return 1;
        }
    }
    return 0;
}

static double truth_of(const double coefficient[TRAVEL_P])
{
    const double beta[TRAVEL_P] = {TRUTH.t0_s, TRUTH.ta_s, TRUTH.tr_s, 1.0 / TRUTH.w_radps,
                                   1.0 / TRUTH.v_mps};
    double sum = 0.0;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        sum += coefficient[j] * beta[j];
    }
    return sum;
}

/* Every class of session: which terms stand alone (t0 ta tr w v), which sums are left, and the
 * moves that would help. */
static void test_identifiability(void)
{
    static const struct {
        const char *row;
        size_t angles, lengths, both;
        size_t rank;
        const char *alone;
        const char *sums[3];
        const char *advice[3];
        enum estimate_verdict verdict;
    } rows[] = {
        {"all", 3, 3, 3, 5, "11111", {0}, {0}, ESTIMATE_PASS},
        {"turns only",
         3,
         0,
         0,
         2,
         "00010",
         {"t0_s + ta_s"},
         {"drive two straight moves of different length", "turn and drive in one move"},
         ESTIMATE_MARGINAL},
        {"drives only",
         0,
         3,
         0,
         2,
         "00001",
         {"t0_s + tr_s"},
         {"turn on the spot by two different angles", "turn and drive in one move"},
         ESTIMATE_MARGINAL},
        {"both only",
         0,
         0,
         3,
         3,
         "00011",
         {"t0_s + ta_s + tr_s"},
         {"turn on the spot, without driving", "drive a straight move, without turning"},
         ESTIMATE_MARGINAL},
        {"turns and drives",
         3,
         3,
         0,
         4,
         "00011",
         {"t0_s + ta_s", "t0_s + tr_s"},
         {"turn and drive in one move"},
         ESTIMATE_MARGINAL},
        {"turns and both",
         3,
         0,
         3,
         4,
         "00111",
         {"t0_s + ta_s"},
         {"drive a straight move, without turning"},
         ESTIMATE_MARGINAL},
        {"drives and both",
         0,
         3,
         3,
         4,
         "01011",
         {"t0_s + tr_s"},
         {"turn on the spot, without driving"},
         ESTIMATE_MARGINAL},
        {"one angle",
         1,
         0,
         0,
         1,
         "00000",
         {"t0_s + ta_s + 0.5 / angular_speed_radps"},
         {"drive two straight moves of different length", "turn on the spot by another angle",
          "turn and drive in one move"},
         ESTIMATE_FAIL},
        {"one length",
         0,
         1,
         0,
         1,
         "00000",
         {"t0_s + tr_s + 0.2 / linear_speed_mps"},
         {"turn on the spot by two different angles", "drive a straight move of another length",
          "turn and drive in one move"},
         ESTIMATE_FAIL},
        {"one of both",
         0,
         0,
         1,
         1,
         "00000",
         {"t0_s + ta_s + tr_s + 0.5 / angular_speed_radps + 0.7 / linear_speed_mps"},
         {"turn on the spot by two different angles",
          "drive two straight moves of different length"},
         ESTIMATE_FAIL},
        {"one angle, many lengths",
         1,
         3,
         0,
         3,
         "00001",
         {"t0_s + tr_s", "t0_s + ta_s + 0.5 / angular_speed_radps"},
         {"turn on the spot by another angle", "turn and drive in one move"},
         ESTIMATE_MARGINAL},
        {"many angles, one length",
         3,
         1,
         0,
         3,
         "00010",
         {"t0_s + ta_s", "t0_s + tr_s + 0.2 / linear_speed_mps"},
         {"drive a straight move of another length", "turn and drive in one move"},
         ESTIMATE_MARGINAL},
        {"one angle, one length",
         1,
         1,
         0,
         2,
         "00000",
         {"t0_s + ta_s + 0.5 / angular_speed_radps", "t0_s + tr_s + 0.2 / linear_speed_mps"},
         {"turn on the spot by another angle"},
         ESTIMATE_FAIL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[MOVES_MAX];
        const size_t n = make_session(moves, rows[i].angles, rows[i].lengths, rows[i].both);
        for (int method = TRAVEL_OLS; method < TRAVEL_METHOD_COUNT; method++) {
            struct travel_fit fit;
            CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, (enum travel_method)method, &fit),
                                  STATUS_OK);
            CHECK_INT(rows[i].row, fit.estimate.rank, rows[i].rank);
            CHECK_INT(rows[i].row, fit.estimate.verdict, rows[i].verdict);
            for (size_t j = 0; j < TRAVEL_P; j++) {
                CHECK_INT(rows[i].row, fit.estimate.identifiable[j], rows[i].alone[j] == '1');
                CHECK_INT(rows[i].row, isfinite(fit.beta[j]) != 0, rows[i].alone[j] == '1');
                CHECK_INT(rows[i].row, isfinite(fit.beta_se[j]) != 0, rows[i].alone[j] == '1');
            }
            size_t sums = 0;
            for (; sums < 3 && rows[i].sums[sums]; sums++) {
                CU_ASSERT_FATAL(sums < fit.estimate.combination_count);
                const struct estimate_combination *c = &fit.estimate.combinations[sums];
                CHECK_TEXT(rows[i].row, c->name, rows[i].sums[sums]);
                CHECK_NEAR(rows[i].row, c->value, truth_of(fit.coefficient[sums]), 0.0, 0.01);
                CHECK(rows[i].row, c->se > 0.0 && c->se < 0.01);
            }
            CHECK_INT(rows[i].row, fit.estimate.combination_count, sums);
            for (size_t k = 0; k < 3 && rows[i].advice[k]; k++) {
                CHECK(rows[i].advice[k],
                      has_reason(fit.estimate.advice, fit.estimate.advice_count,
                                 rows[i].advice[k]));
            }
            CHECK_INT(rows[i].row, fit.estimate.advice_count == 0, rows[i].rank == TRAVEL_P);
        }
    }
}

/* Whoever follows the advice gets all five terms. */
static void test_advice_helps(void)
{
    static const size_t start[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {3, 0, 0},
                                      {0, 0, 3}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    for (size_t i = 0; i < COUNT(start); i++) {
        struct travel_move moves[2 * MOVES_MAX];
        struct travel_fit fit;
        size_t n = make_session(moves, start[i][0], start[i][1], start[i][2]);
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
        for (size_t k = 0; k < fit.estimate.advice_count; k++) {
            const int twice = strstr(fit.estimate.advice[k], "two ") ||
                              strstr(fit.estimate.advice[k], "twice");
            const int both = strstr(fit.estimate.advice[k], "turn and drive") != NULL;
            const int turn = strstr(fit.estimate.advice[k], "turn on the spot") != NULL;
            const int drive = strstr(fit.estimate.advice[k], "straight") != NULL;
            for (int m = 0; m < (twice ? 2 : 1) && (both || turn || drive); m++) {
                moves[n] = (struct travel_move){
                    .rotation_rad = both || turn ? 0.77 + 0.9 * m : 0.0,
                    .displacement_m = both || drive ? 0.31 + 0.5 * m : 0.0};
                moves[n].lap_s = truth_lap_s(&TRUTH, &moves[n]);
                n++;
            }
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
        CHECK_INT("advice", fit.estimate.rank, TRAVEL_P);
    }
}

/* Exact laps come back exactly, with error bars of nothing and no nonsense about signs. */
static void test_exact(void)
{
    struct travel_move moves[MOVES_MAX];
    const size_t n = make_session(moves, 3, 3, 3);
    for (size_t i = 0; i < n; i++) {
        moves[i].lap_s = truth_lap_s(&TRUTH, &moves[i]);
    }
    for (int method = TRAVEL_OLS; method < TRAVEL_METHOD_COUNT; method++) {
        struct travel_fit fit;
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, (enum travel_method)method, &fit), STATUS_OK);
        CHECK_NEAR("exact", fit.beta[TRAVEL_T0], TRUTH.t0_s, 1e-9, 0.0);
        CHECK_NEAR("exact", fit.estimate.value[TRAVEL_INV_W], TRUTH.w_radps, 1e-9, 0.0);
        CHECK_NEAR("exact", fit.estimate.value[TRAVEL_INV_V], TRUTH.v_mps, 1e-9, 0.0);
        CHECK_INT("exact", fit.outliers, 0);
        CHECK_INT("exact", fit.estimate.verdict, ESTIMATE_PASS);
        CHECK_NEAR("exact", travel_time_predict(&fit, -1.0, 0.4),
                   truth_lap_s(&TRUTH, &(struct travel_move){1.0, 0.4, 0.0}), 1e-9, 0.0);
        CHECK_NEAR("exact", travel_time_predict(&fit, 0.0, 0.0), TRUTH.t0_s, 1e-9, 0.0);
    }
}

static void test_few(void)
{
    struct travel_move moves[MOVES_MAX];
    (void)make_session(moves, 3, 3, 3);
    for (size_t n = 0; n <= 12; n++) {
        for (int method = TRAVEL_OLS; method < TRAVEL_METHOD_COUNT; method++) {
            struct travel_fit fit;
            CU_ASSERT_EQUAL_FATAL(
                fit_robot(n ? moves : NULL, n, (enum travel_method)method, &fit), STATUS_OK);
            CHECK_INT("few", fit.n, n);
            CHECK("few", fit.estimate.rank <= n);
            CHECK("few",
                  fit.estimate.rank == fit.n ? fit.estimate.verdict == ESTIMATE_FAIL : 1);
            CHECK("few",
                  fit.n < fit.estimate.rank + 5 ? fit.estimate.verdict != ESTIMATE_PASS : 1);
            CHECK("few",
                  fit.estimate.verdict == ESTIMATE_PASS || fit.estimate.reason_count > 0);
            CHECK("few", fit.method != TRAVEL_AUTO);
            for (size_t j = 0; j < TRAVEL_P; j++) {
                CHECK("few", fit.n > fit.estimate.rank || isnan(fit.beta_se[j]));
            }
        }
    }
}

static void test_refused(void)
{
    static const struct {
        const char *row;
        struct travel_move move;
        int usable;
    } rows[] = {
        {"good", {1.0, 0.5, 3.0}, 1},
        {"negative rotation", {-1.0, 0.5, 3.0}, 1},
        {"negative displacement", {1.0, -0.5, 3.0}, 1},
        {"nan lap", {1.0, 0.5, NAN}, 0},
        {"nan rotation", {NAN, 0.5, 3.0}, 0},
        {"nan displacement", {1.0, NAN, 3.0}, 0},
        {"infinite lap", {1.0, 0.5, INFINITY}, 0},
        {"infinite rotation", {-INFINITY, 0.5, 3.0}, 0},
        {"zero lap", {1.0, 0.5, 0.0}, 0},
        {"negative lap", {1.0, 0.5, -3.0}, 0},
        {"huge lap", {1.0, 0.5, 1e300}, 0},
        {"huge rotation", {1e300, 0.5, 3.0}, 0},
        {"huge displacement", {1.0, DBL_MAX, 3.0}, 0},
        {"large", {1e6, 1e9, 1e9}, 1},
    };
    struct travel_move moves[MOVES_MAX + COUNT(rows)];
    const size_t n = make_session(moves, 3, 3, 3);
    struct travel_fit clean;
    struct travel_fit fit;
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &clean), STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row, travel_move_usable(&rows[i].move), rows[i].usable);
        if (!rows[i].usable) {
            moves[n] = rows[i].move;
            CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n + 1, TRAVEL_OLS, &fit), STATUS_OK);
            CHECK_INT(rows[i].row, fit.refused, 1);
            CHECK_INT(rows[i].row, fit.n, n);
            CHECK(rows[i].row, truth_same(fit.beta, clean.beta, sizeof fit.beta));
            CHECK(rows[i].row, has_reason(fit.estimate.reasons, fit.estimate.reason_count,
                                          "1 of 37 moves were"));
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(&rows[i].move, 1, TRAVEL_TUKEY, &fit), STATUS_OK);
        CHECK_INT(rows[i].row, fit.estimate.verdict, ESTIMATE_FAIL);
    }
    /* The largest accepted numbers must not overflow either. */
    const struct travel_move large[] = {{1e6, 0.0, 1e9}, {5e5, 0.0, 4e8},    {0.0, 1e9, 1e9},
                                        {0.0, 1e8, 2e8}, {1e5, 1e9, 7e8},    {2e-6, 2e-6, 1e-9},
                                        {1e6, 1e9, 1e9}, {3e-6, 0.0, 1e-300}};
    for (int method = TRAVEL_OLS; method < TRAVEL_METHOD_COUNT; method++) {
        CHECK_INT("large", fit_robot(large, COUNT(large), (enum travel_method)method, &fit),
                  STATUS_OK);
    }
}

/* A rotation of 1e-9 rad after a conversion is none. */
static void test_almost_zero(void)
{
    struct travel_move moves[MOVES_MAX];
    struct travel_fit fit;
    const size_t n = make_session(moves, 3, 3, 3);
    for (size_t i = 0; i < n; i++) {
        moves[i].rotation_rad += 1e-12;
        moves[i].displacement_m -= 1e-12;
    }
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("almost zero", fit.estimate.rank, 5);
    CHECK_NEAR("almost zero", fit.estimate.value[TRAVEL_INV_W], TRUTH.w_radps, 0.01, 0.0);
}

static void set_laps(struct travel_move *moves, size_t n, const struct truth *truth)
{
    uint64_t state = 9;
    for (size_t i = 0; i < n; i++) {
        moves[i].lap_s = truth_lap_s(truth, &moves[i]) + 0.002 * truth_normal(&state);
    }
}

/* Reasons of the judge about signs, spread, outliers and sizes. */
static void test_reasons(void)
{
    struct travel_move moves[MOVES_MAX];
    struct travel_fit fit;
    const size_t n = make_session(moves, 3, 3, 3);

    set_laps(moves, n, &(struct truth){3.0, 0.1, 0.1, -1.2, 0.2});
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("negative speed", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("negative speed", has_reason(fit.estimate.reasons, fit.estimate.reason_count,
                                       "unphysical sign: 1 / angular_speed_radps"));
    CHECK("negative speed", has_reason(fit.estimate.advice, fit.estimate.advice_count,
                                       "check that the rotation column"));
    CHECK("negative speed", fit.estimate.value[TRAVEL_INV_W] < 0.0 &&
                                fit.estimate.hi[TRAVEL_INV_W] < 0.0 &&
                                fit.estimate.lo[TRAVEL_INV_W] < fit.estimate.hi[TRAVEL_INV_W]);

    set_laps(moves, n, &(struct truth){0.3, -0.2, 0.1, 1.2, 0.2});
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("negative delay", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("negative delay",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "unphysical sign: ta_s"));

    /* A speed without a limit: the slope is nothing. */
    set_laps(moves, n, &(struct truth){0.3, 0.1, 0.1, 1e4, 0.2});
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK("no slope", fit.estimate.verdict != ESTIMATE_PASS);
    CHECK("no slope", fit.beta_lo[TRAVEL_INV_W] < 0.0 && isnan(fit.estimate.hi[TRAVEL_INV_W]));
    CHECK("no slope",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "angular_speed_radps"));

    uint64_t state = 4;
    for (size_t i = 0; i < n; i++) {
        moves[i].lap_s = 1.0 + truth_uniform(&state);
    }
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("no relation", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("no relation",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "poor fit"));

    set_laps(moves, n, &TRUTH);
    for (size_t i = 0; i < n; i += 6) {
        moves[i].lap_s += 2.0;
    }
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_AUTO, &fit), STATUS_OK);
    CHECK_INT("outliers", fit.method, TRAVEL_TUKEY);
    CHECK_INT("outliers", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK_INT("outliers", fit.outliers, 6);
    CHECK("outliers", has_reason(fit.estimate.reasons, fit.estimate.reason_count,
                                 "17 % of the laps are outliers"));
    CHECK_NEAR("outliers", fit.estimate.value[TRAVEL_INV_V], 0.2, 0.01, 0.0);
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK("outliers",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "deviate from a law"));
}

static void test_parts(void)
{
    struct travel_move moves[MOVES_MAX];
    struct travel_fit good;
    struct travel_fit bad;
    const size_t n = make_session(moves, 3, 3, 3);
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &good), STATUS_OK);
    set_laps(moves, n, &(struct truth){3.0, 0.1, 0.1, -1.2, 0.2});
    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &bad), STATUS_OK);
    struct travel_fit whole = good;
    travel_time_check_part(&whole, "b.csv", &good);
    CHECK_INT("good part", whole.estimate.verdict, ESTIMATE_PASS);
    CHECK_INT("good part", whole.estimate.reason_count, good.estimate.reason_count);
    for (int i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "b.csv %d", i / 2);
        travel_time_check_part(&whole, name, &bad);
    }
    CHECK_INT("bad part", whole.estimate.verdict, ESTIMATE_FAIL);
    CHECK_INT("once each", whole.estimate.reason_count, good.estimate.reason_count + 10);
    CHECK("bad part", has_reason(whole.estimate.reasons, 2, "unphysical sign in b.csv"));
    CHECK_INT("bad part", whole.estimate.advice_count, 1);
}

/* A joint turns, a slide drives; the other kind of move is not required. */
static void test_motion(void)
{
    struct travel_move moves[MOVES_MAX];
    struct travel_fit fit;
    size_t n = make_session(moves, 3, 0, 0);
    for (size_t i = 0; i < n; i++) {
        moves[i].displacement_m = 7.0 + (double)i; /* not read */
    }
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, TRAVEL_TURNS, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("joint", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK_INT("joint", fit.estimate.rank, 2);
    CHECK_INT("joint", fit.estimate.combination_count, 0);
    CHECK_INT("joint", fit.estimate.advice_count, 0);
    CHECK("joint",
          fit.estimate.identifiable[TRAVEL_T0] && fit.estimate.identifiable[TRAVEL_INV_W]);
    CHECK("joint",
          !fit.estimate.identifiable[TRAVEL_TA] && !fit.estimate.identifiable[TRAVEL_INV_V]);
    CHECK_NEAR("joint", fit.beta[TRAVEL_T0], TRUTH.t0_s + TRUTH.ta_s, 0.0, 0.01);
    CHECK_NEAR("joint", fit.estimate.value[TRAVEL_INV_W], TRUTH.w_radps, 0.02, 0.0);
    CHECK_NEAR("joint", travel_time_predict(&fit, 2.0, 99.0),
               fit.beta[TRAVEL_T0] + 2.0 * fit.beta[TRAVEL_INV_W], 1e-12, 0.0);
    /* One angle: another one is asked for, and no drive. */
    n = make_session(moves, 1, 0, 0);
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, TRAVEL_TURNS, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("one angle", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("one angle", has_reason(fit.estimate.reasons, fit.estimate.reason_count,
                                  "t0_s, angular_speed_radps one"));
    CHECK("one angle", has_reason(fit.estimate.advice, fit.estimate.advice_count,
                                  "turn on the spot by another angle"));
    CHECK("one angle", !has_reason(fit.estimate.advice, fit.estimate.advice_count, "drive"));
    /* The same of a slide. */
    n = make_session(moves, 0, 3, 0);
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, TRAVEL_DRIVES, TRAVEL_AUTO, &fit),
                          STATUS_OK);
    CHECK_INT("slide", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK_NEAR("slide", fit.estimate.value[TRAVEL_INV_V], TRUTH.v_mps, 0.02, 0.0);
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, 0, TRAVEL_DRIVES, TRAVEL_AUTO, &fit),
                          STATUS_OK);
    CHECK_INT("nothing", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("nothing", has_reason(fit.estimate.advice, fit.estimate.advice_count,
                                "drive two straight moves"));
    CHECK("nothing", !has_reason(fit.estimate.advice, fit.estimate.advice_count, "turn"));
}

/* Long moves that are several in one: plain least squares follows them, and reports it. */
static void test_composites(void)
{
    struct travel_move moves[MOVES_MAX];
    struct travel_fit fit;
    size_t n = make_session(moves, 3, 0, 0);
    for (size_t i = 0; i < 4; i++) {
        moves[n++] = (struct travel_move){.rotation_rad = 4.0 + 0.5 * (double)i,
                                          .lap_s = 6.0 + 0.9 * (double)i};
    }
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, TRAVEL_TURNS, TRAVEL_AUTO, &fit),
                          STATUS_OK);
    CHECK_INT("composites", fit.method, TRAVEL_TUKEY);
    CHECK_INT("composites", fit.outliers, 4);
    CHECK_INT("composites", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK_NEAR("composites", fit.estimate.value[TRAVEL_INV_W], TRUTH.w_radps, 0.02, 0.0);
    CHECK("composites",
          has_reason(fit.estimate.advice, fit.estimate.advice_count, "several moves in one"));
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, TRAVEL_TURNS, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("followed", fit.method, TRAVEL_OLS);
    CHECK("followed",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "4 of 16 moves deviate"));
    CHECK("followed", has_reason(fit.estimate.advice, fit.estimate.advice_count,
                                 "use method tukey or auto"));
}

/* Corners alone show no bend, and the report names the moves that would. */
static void test_middle(void)
{
    static const double turns[] = {0.4, 3.0, 1.7};
    static const double drives[] = {0.1, 1.5, 0.8};
    static const char *const wanted[] = {"make turns of middle size too, of about 1.7 rad",
                                         "make drives of middle size too, of about 0.8 m"};
    for (size_t sizes = 2; sizes <= 3; sizes++) {
        struct travel_move moves[48];
        struct travel_fit fit;
        uint64_t state = 3;
        for (size_t i = 0; i < COUNT(moves); i++) {
            moves[i] = (struct travel_move){
                .rotation_rad = i % 3 == 1 ? 0.0 : turns[truth_below(&state, sizes)],
                .displacement_m = i % 3 == 0 ? 0.0 : drives[truth_below(&state, sizes)]};
        }
        set_laps(moves, COUNT(moves), &TRUTH);
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT("middle", fit.estimate.verdict, ESTIMATE_PASS);
        for (size_t k = 0; k < COUNT(wanted); k++) {
            CHECK_INT(wanted[k],
                      has_reason(fit.estimate.advice, fit.estimate.advice_count, wanted[k]),
                      sizes == 2);
        }
    }
}

/* Returns the duration of a move from rest to rest. */
static double accelerated_s(double size, double speed, double acceleration)
{
    return !(size > 0.0)                         ? 0.0
           : size > speed * speed / acceleration ? size / speed + speed / acceleration
                                                 : 2.0 * sqrt(size / acceleration);
}

/* Short moves reveal a robot that accelerates; plain laws treat them as outliers. The same with
 * late replies among them, and with different starts of turns and of drives. */
static void test_accelerates(void)
{
    static const struct {
        const char *row;
        double v, a, w, aw, noise_s, delay_s, late;
    } rows[] = {
        {"quiet", 0.4, 0.5, 1.2, 2.0, 0.01, 0.0, 0.0},
        {"very quiet", 0.4, 0.5, 1.2, 2.0, 0.005, 0.0, 0.0},
        {"noisy", 0.5, 0.5, 1.2, 2.0, 0.03, 0.0, 0.0},
        {"late replies", 0.4, 0.5, 1.2, 2.0, 0.01, 0.0, 0.05},
        {"quick", 1.0, 3.0, 2.0, 4.0, 0.01, 0.0, 0.0},
        {"slow to start", 1.0, 0.3, 2.0, 0.8, 0.02, 0.0, 0.0},
        {"delays", 0.4, 0.5, 1.2, 2.0, 0.01, 0.15, 0.0},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct travel_move moves[60];
            struct travel_fit fit;
            uint64_t state = 77 * seed;
            for (size_t i = 0; i < COUNT(moves); i++) {
                const double turn = i % 3 == 1 ? 0.0 : 0.1 + 3.0 * truth_uniform(&state);
                const double drive = i % 3 == 0 ? 0.0 : 0.05 + 1.4 * truth_uniform(&state);
                moves[i] = (struct travel_move){turn, drive, 0.2};
                moves[i].lap_s += accelerated_s(turn, rows[r].w, rows[r].aw) +
                                  accelerated_s(drive, rows[r].v, rows[r].a) +
                                  (i % 3 == 2 ? 2.0 : 1.0) * rows[r].delay_s +
                                  rows[r].noise_s * truth_normal(&state);
                moves[i].lap_s += truth_uniform(&state) < rows[r].late ? 1.5 : 0.0;
            }
            CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
            CHECK(rows[r].row, fit.estimate.verdict != ESTIMATE_PASS);
            CHECK(rows[r].row,
                  has_reason(fit.estimate.reasons, fit.estimate.reason_count, "bend"));
            /* With many moves at full speed, and no other source of delay: */
            if (fit.accelerating.known && rows[r].v * rows[r].v < 0.7 * rows[r].a &&
                !(rows[r].delay_s > 0.0)) {
                CHECK_NEAR(rows[r].row, fit.accelerating.speed[1], rows[r].v, 0.0, 0.15);
            }
        }
    }
}

static bool strays_short(const struct travel_move *move, size_t i)
{
    (void)i;
    return move->displacement_m < 0.25;
}

static bool strays_large(const struct travel_move *move, size_t i)
{
    (void)i;
    return fabs(move->rotation_rad) > 2.7;
}

static bool strays_late(const struct travel_move *move, size_t i)
{
    (void)move;
    return i >= MOVES_MAX - 6;
}

static bool strays_anywhere(const struct travel_move *move, size_t i)
{
    (void)move;
    return i % 11 == 3;
}

/* Outliers that share a cause are none; the same number anywhere is what outliers are. */
static void test_kind_aside(void)
{
    static const struct {
        const char *row, *words;
        bool (*strays)(const struct travel_move *move, size_t i);
        bool grows;
    } rows[] = {
        {"short", "they are shorter drives", strays_short, false},
        {"large", "they are larger rotations", strays_large, false},
        {"late", "they are late in the table", strays_late, false},
        {"slowed", "drives are the later the larger they are", strays_anywhere, true},
        {"anywhere", NULL, strays_anywhere, false},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        struct travel_move moves[MOVES_MAX];
        struct travel_fit fit;
        uint64_t state = 6;
        truth_moves(&state, MIX_BOTH, TRUTH_GAUSS, 0.01, moves, COUNT(moves));
        size_t strayed = 0;
        for (size_t i = 0; i < COUNT(moves); i++) {
            if (strayed < 6 && rows[r].strays(&moves[i], i)) {
                moves[i].lap_s += rows[r].grows ? 0.5 * moves[i].displacement_m : 0.5;
                strayed++;
            }
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT(rows[r].row,
                  has_reason(fit.estimate.reasons, fit.estimate.reason_count,
                             rows[r].words ? rows[r].words : "share a cause"),
                  rows[r].words != NULL);
    }
}

static void test_names(void)
{
    for (int i = 0; i < TRAVEL_METHOD_COUNT; i++) {
        CHECK_INT("names",
                  names_value(&travel_method_names, travel_method_name((enum travel_method)i)),
                  i);
    }
    CHECK_INT("names", names_value(&travel_method_names, "lad"), TRAVEL_METHOD_COUNT);
    CHECK_TEXT("names", estimate_verdict_name(ESTIMATE_FAIL), "FAIL");
    CHECK_TEXT("names", travel_term_name(TRAVEL_INV_V), "linear_speed_mps");
}

#define NOTHING                                                                                \
    "{\"t0_s\":null,\"ta_s\":null,\"tr_s\":null,\"angular_speed_radps\":null,"                 \
    "\"linear_speed_mps\":null}"
#define ROW "[null,null,null,null,null]"

static void write_report(struct json_writer *w, const char *key, const struct travel_fit *fit)
{
    json_write_object(w, key);
    travel_report_members(w, fit);
    json_write_close(w);
}

static void test_report(void)
{
    char text[TRAVEL_REPORT_MAX];
    struct travel_fit fit;
    struct json_writer w;
    struct travel_move moves[MOVES_MAX];
    const size_t n = make_session(moves, 3, 0, 0);

    CU_ASSERT_EQUAL_FATAL(fit_robot(NULL, 0, TRAVEL_AUTO, &fit), STATUS_OK);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    write_report(&w, NULL, &fit);
    CHECK("report", json_write_end(&w));
    text[w.used] = '\0';
    CHECK_TEXT(
        "report", text,
        "{\"n\":0,\"method\":\"ols\",\"parameters\":[\"t0_s\",\"ta_s\",\"tr_s\","
        "\"angular_speed_radps\",\"linear_speed_mps\"],\"values\":" NOTHING ",\"se\":" NOTHING
        ",\"se_white\":" NOTHING ",\"relative_se\":" NOTHING
        ",\"ci95\":{\"t0_s\":[null,null],\"ta_s\":[null,null],\"tr_s\":[null,null],"
        "\"angular_speed_radps\":[null,null],\"linear_speed_mps\":[null,null]},"
        "\"ci95_open\":null,\"identifiable\":[],\"correlation\":[" ROW "," ROW "," ROW "," ROW
        "," ROW "],\"rank\":0,\"condition\":null,\"null_directions\":[],\"combinations\":[],"
        "\"verdict\":\"FAIL\",\"reasons\":[\"no usable move\",\"these moves do not determine "
        "t0_s, ta_s, tr_s, angular_speed_radps, linear_speed_mps\"],"
        "\"reason_codes\":[\"too_few\",\"not_determined\"],\"notes\":[],"
        "\"note_codes\":[],\"advice\":[\"turn on the "
        "spot by two different angles\",\"drive two straight moves of different "
        "length\",\"turn and drive in one move\"],"
        "\"rmse_s\":null,\"r2\":null,\"residual_s_sd\":null,\"outliers\":0,\"refused\":0,"
        "\"residual_s_p05\":null,\"residual_s_p95\":null,\"lap_step_s\":0,"
        "\"least_rotation_rad\":0.000001,\"least_displacement_m\":0.000001,"
        "\"with_accelerations\":null,\"not_excluded\":null}");

    CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    write_report(&w, "real", &fit);
    json_write_close(&w);
    CHECK("report", json_write_end(&w));
    text[w.used] = '\0';
    CHECK("report", strstr(text, "\"identifiable\":[\"angular_speed_radps\"]") != NULL);
    CHECK("report",
          strstr(text, "\"combinations\":[{\"name\":\"t0_s + ta_s\",\"value\":") != NULL);
    CHECK("report", strstr(text, "\"linear_speed_mps\":null") != NULL);
    /* The longest one fits. */
    for (size_t k = 0; k < ESTIMATE_TEXTS_MAX; k++) {
        memset(fit.estimate.reasons[k], '"', ESTIMATE_TEXT_MAX - 1);
        memset(fit.estimate.advice[k], '\n', ESTIMATE_TEXT_MAX - 1);
    }
    fit.estimate.reason_count = fit.estimate.advice_count = ESTIMATE_TEXTS_MAX;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    write_report(&w, NULL, &fit);
    CHECK("report", json_write_end(&w));
}

/* Few moves that happen to fit say nothing about their errors. */
static void test_few_moves(void)
{
    static const struct {
        const char *row;
        size_t moves, far;
        size_t freedom;
    } rows[] = {{"as many as terms", 2, 0, 0},
                {"four left", 6, 0, 4},
                {"five left", 7, 0, 5},
                {"twelve left", 14, 0, 12},
                {"one of them left out", 14, 1, 11}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct travel_move moves[16];
        struct travel_fit fit;
        uint64_t state = 7;
        for (size_t i = 0; i < rows[k].moves; i++) {
            moves[i] = (struct travel_move){0.3 + 0.4 * (double)i, 0.0, 0.0};
            moves[i].lap_s = 0.2 + moves[i].rotation_rad / 2.4 + 0.01 * truth_uniform(&state) +
                             (i < rows[k].far ? 20.0 : 0.0);
        }
        const enum travel_method method = rows[k].far ? TRAVEL_TUKEY : TRAVEL_OLS;
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, rows[k].moves, method, &fit), STATUS_OK);
        struct estimate *e = &fit.estimate;
        const bool reported = rows[k].freedom >= ESTIMATE_FREEDOM_MIN;
        CHECK_INT(rows[k].row, fit.freedom, rows[k].freedom);
        CHECK_NEAR(rows[k].row, e->value[TRAVEL_INV_W], 2.4, 0.05, 0);
        CHECK_INT(rows[k].row, isfinite(e->lo[TRAVEL_INV_W]), reported);
        CHECK_INT(rows[k].row, isfinite(e->hi[TRAVEL_INV_W]), reported);
        CHECK_INT(rows[k].row, isfinite(e->lo[TRAVEL_T0]), reported);
        CHECK_INT(rows[k].row, has_reason(e->reasons, e->reason_count, "too few moves"),
                  !reported);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("travel_fit", NULL, NULL);
    CU_add_test(suite, "identifiability", test_identifiability);
    CU_add_test(suite, "advice helps", test_advice_helps);
    CU_add_test(suite, "exact", test_exact);
    CU_add_test(suite, "few", test_few);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "almost zero", test_almost_zero);
    CU_add_test(suite, "reasons", test_reasons);
    CU_add_test(suite, "parts", test_parts);
    CU_add_test(suite, "motion", test_motion);
    CU_add_test(suite, "composites", test_composites);
    CU_add_test(suite, "middle", test_middle);
    CU_add_test(suite, "accelerates", test_accelerates);
    CU_add_test(suite, "kind aside", test_kind_aside);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "report", test_report);
    CU_add_test(suite, "few moves", test_few_moves);
    return check_run();
}
