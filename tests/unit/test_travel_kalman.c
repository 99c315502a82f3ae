/* The gated filter: convergence, classes of moves, changes found, odd input. */
#include "tests/support/check.h"

#include <float.h>

#include "identification/travel/travel_kalman.h"
#include "tests/support/travel_truth.h"

static const struct travel_kalman_params PARAMS = {.walk_ratio = 0.003,
                                                   .gate_sd = 2.5,
                                                   .noise_s = 0.05,
                                                   .nominal_w_radps = 1.0,
                                                   .nominal_v_mps = 0.18,
                                                   .drift_ratio = 0.03,
                                                   .warmup = 12};

/* n moves of one mix; the truth of move i is `before` up to `change`, `after` from there. */
struct run {
    enum truth_mix mix;
    enum truth_noise noise;
    double sd_s;
    size_t n, change;
    struct truth before, after;
};

/* Returns the number of changes found; the first goes to *first, at move *at. */
static size_t run_moves(const struct run *run, struct travel_kalman *k,
                        struct travel_drift *first, size_t *at)
{
    uint64_t state = 17;
    size_t found = 0;
    travel_kalman_reset(k, &PARAMS);
    for (size_t i = 0; i < run->n; i++) {
        struct travel_move move = truth_command(&state, truth_kind(&state, run->mix));
        struct travel_drift drift;
        move.lap_s = truth_lap_s(i < run->change ? &run->before : &run->after, &move) +
                     truth_noise_s(&state, run->noise, run->sd_s);
        move.lap_s = fmax(move.lap_s, 1e-3);
        if (travel_kalman_step(k, &PARAMS, (int64_t)i * 1000000, &move, &drift)) {
            if (found++ == 0) {
                *first = drift;
                *at = i;
            }
        }
    }
    return found;
}

static void test_convergence(void)
{
    static const struct {
        const char *row;
        enum truth_mix mix;
        enum truth_noise noise;
        double sd_s, tolerance;
    } rows[] = {
        {"all, gauss", MIX_ALL, TRUTH_GAUSS, 0.05, 0.04},
        {"all, late", MIX_ALL, TRUTH_BLUETOOTH, 0.05, 0.04},
        {"turns", MIX_TURN, TRUTH_GAUSS, 0.05, 0.04},
        {"drives", MIX_DRIVE, TRUTH_GAUSS, 0.05, 0.02},
        {"both", MIX_BOTH, TRUTH_GAUSS, 0.05, 0.04},
        {"turns or drives", MIX_SINGLE, TRUTH_GAUSS, 0.05, 0.04},
        {"quiet", MIX_ALL, TRUTH_GAUSS, 0.001, 0.002},
        {"exact", MIX_ALL, TRUTH_GAUSS, 0.0, 1e-3},
        {"loud", MIX_ALL, TRUTH_GAUSS, 0.3, 0.15},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct run run = {rows[i].mix, rows[i].noise, rows[i].sd_s, 400,
                                400,         TRUTH,         TRUTH};
        struct travel_kalman k;
        struct travel_drift drift;
        size_t at = 0;
        CHECK_INT(rows[i].row, run_moves(&run, &k, &drift, &at), 0);
        CHECK_INT(rows[i].row, k.n, 400);
        if (rows[i].mix != MIX_DRIVE) {
            CHECK_NEAR(rows[i].row, 1.0 / k.beta[TRAVEL_INV_W], TRUTH.w_radps,
                       rows[i].tolerance, 0.0);
        } else {
            CHECK_NEAR(rows[i].row, k.beta[TRAVEL_INV_W], 1.0, 0.0, 0.0);
        }
        if (rows[i].mix != MIX_TURN) {
            CHECK_NEAR(rows[i].row, 1.0 / k.beta[TRAVEL_INV_V], TRUTH.v_mps, rows[i].tolerance,
                       0.0);
        }
        if (rows[i].noise == TRUTH_GAUSS && rows[i].sd_s > 0.0) {
            CHECK_NEAR(rows[i].row, sqrt(k.noise_s2), rows[i].sd_s, 0.6, 0.0);
        }
        for (size_t j = 0; j < TRAVEL_P; j++) {
            CHECK(rows[i].row, k.covariance[j][j] > 0.0 && isfinite(k.covariance[j][j]));
            CHECK_NEAR(rows[i].row, k.covariance[j][0], k.covariance[0][j], 0.0, 0.0);
        }
    }
}

static void test_changes(void)
{
    static const struct {
        const char *row;
        enum truth_mix mix;
        enum truth_noise noise;
        double sd_s;
        struct truth after;
        enum travel_term term;
        double after_value;
        size_t within; /* moves */
    } rows[] = {
        {"w -12 %",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.056, .2},
         TRAVEL_INV_W,
         1.056,
         60},
        {"w +20 %",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.44, .2},
         TRAVEL_INV_W,
         1.44,
         60},
        {"w halved",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 0.6, .2},
         TRAVEL_INV_W,
         0.6,
         40},
        {"w -12 %, late",
         MIX_ALL,
         TRUTH_BLUETOOTH,
         .05,
         {.06, .12, .16, 1.056, .2},
         TRAVEL_INV_W,
         1.056,
         60},
        {"v -12 %",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.2, .176},
         TRAVEL_INV_V,
         .176,
         60},
        {"v +10 %",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.2, .22},
         TRAVEL_INV_V,
         .22,
         60},
        {"v -12 %, drives",
         MIX_DRIVE,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.2, .176},
         TRAVEL_INV_V,
         .176,
         60},
        {"w -12 %, turns",
         MIX_TURN,
         TRUTH_GAUSS,
         .05,
         {.06, .12, .16, 1.056, .2},
         TRAVEL_INV_W,
         1.056,
         60},
        {"w -12 %, both",
         MIX_BOTH,
         TRUTH_GAUSS,
         .02,
         {.06, .12, .16, 1.056, .2},
         TRAVEL_INV_W,
         1.056,
         60},
        {"w -6 %, exact",
         MIX_ALL,
         TRUTH_GAUSS,
         0.,
         {.06, .12, .16, 1.128, .2},
         TRAVEL_INV_W,
         1.128,
         60},
        {"link +0.2 s",
         MIX_ALL,
         TRUTH_GAUSS,
         .05,
         {.26, .12, .16, 1.2, .2},
         TRAVEL_T0,
         .26,
         60},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct run run = {rows[i].mix, rows[i].noise, rows[i].sd_s, 300,
                                200,         TRUTH,         rows[i].after};
        struct travel_kalman k;
        struct travel_drift drift = {.term = TRAVEL_P};
        size_t at = 0;
        CHECK(rows[i].row, run_moves(&run, &k, &drift, &at) >= 1);
        CHECK(rows[i].row, at >= 200 && at < 200 + rows[i].within);
        CHECK_INT(rows[i].row, drift.term, rows[i].term);
        CHECK_NEAR(rows[i].row, drift.after, rows[i].after_value, 0.04,
                   rows[i].term == TRAVEL_T0 ? 0.04 : 0.0);
        CHECK_NEAR(rows[i].row, (double)drift.since_us, 200e6, 0.0, 15e6);
        if (rows[i].term != TRAVEL_T0) {
            CHECK_NEAR(rows[i].row, drift.change_ratio, drift.after / drift.before - 1.0, 1e-9,
                       0.0);
        } else {
            CHECK(rows[i].row, isnan(drift.change_ratio));
        }
        CHECK(rows[i].row, k.drifts >= 1);
    }
}

static void test_odd_input(void)
{
    struct travel_kalman k;
    struct travel_kalman before;
    struct travel_drift drift;
    static const struct travel_move refused[] = {
        {1.0, 0.5, NAN},  {NAN, 0.5, 3.0},   {1.0, INFINITY, 3.0}, {1.0, 0.5, 0.0},
        {1.0, 0.5, -1.0}, {1e300, 0.5, 3.0}, {1.0, 0.5, DBL_MAX},
    };
    travel_kalman_reset(&k, &PARAMS);
    before = k;
    for (size_t i = 0; i < COUNT(refused); i++) {
        CHECK("refused", !travel_kalman_step(&k, &PARAMS, 0, &refused[i], &drift));
        CHECK("refused", truth_same(&k, &before, sizeof k));
    }
    /* Wild but usable numbers never make the state wild. */
    uint64_t state = 23;
    for (size_t i = 0; i < 20000; i++) {
        struct travel_move move = {pow(10.0, -8.0 + 14.0 * truth_uniform(&state)),
                                   pow(10.0, -8.0 + 17.0 * truth_uniform(&state)),
                                   pow(10.0, -300.0 + 309.0 * truth_uniform(&state))};
        if (truth_uniform(&state) < 0.5) {
            move = truth_command(&state, truth_below(&state, 3));
            move.lap_s = truth_uniform(&state) < 0.1 ? 1e9 : truth_lap_s(&TRUTH, &move);
        }
        (void)travel_kalman_step(&k, &PARAMS, (int64_t)i, &move, &drift);
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        CHECK("wild",
              isfinite(k.beta[j]) && isfinite(k.covariance[j][j]) && k.covariance[j][j] >= 0.0);
    }
    CHECK("wild", isfinite(k.noise_s2) && k.noise_s2 > 0.0);
}

/* Always the same move, a million times: the covariance must not lose its shape. */
static void test_endurance(void)
{
    struct travel_kalman k;
    struct travel_drift drift;
    uint64_t state = 29;
    size_t found = 0;
    travel_kalman_reset(&k, &PARAMS);
    for (size_t i = 0; i < 300000; i++) {
        struct travel_move move = {1.5, 0.5, 0.0};
        move.lap_s = truth_lap_s(&TRUTH, &move) + 0.05 * truth_normal(&state);
        found += travel_kalman_step(&k, &PARAMS, (int64_t)i, &move, &drift);
    }
    CHECK("endurance", found <= 3);
    CHECK_NEAR("endurance",
               k.beta[TRAVEL_T0] + k.beta[TRAVEL_TA] + k.beta[TRAVEL_TR] +
                   1.5 * k.beta[TRAVEL_INV_W] + 0.5 * k.beta[TRAVEL_INV_V],
               truth_lap_s(&TRUTH, &(struct travel_move){1.5, 0.5, 0.0}), 0.03, 0.0);
    for (size_t i = 0; i < TRAVEL_P; i++) {
        CHECK("endurance", k.covariance[i][i] > 0.0 && k.fixed_spread[i][i] >= 0.0);
        for (size_t j = 0; j < i; j++) {
            CHECK("endurance", k.covariance[i][j] * k.covariance[i][j] <=
                                   1.0001 * k.covariance[i][i] * k.covariance[j][j]);
        }
    }
}

static void test_repeatable(void)
{
    const struct run run = {MIX_ALL, TRUTH_BLUETOOTH,    0.05, 300, 150,
                            TRUTH,   {.1, .1, .1, 1, .1}};
    struct travel_kalman a;
    struct travel_kalman b;
    struct travel_drift drift;
    size_t at = 0;
    memset(&a, 1, sizeof a);
    memset(&b, 2, sizeof b);
    (void)run_moves(&run, &a, &drift, &at);
    (void)run_moves(&run, &b, &drift, &at);
    CHECK("repeatable", truth_same(a.beta, b.beta, sizeof a.beta));
    CHECK("repeatable", truth_same(a.fixed_beta, b.fixed_beta, sizeof a.fixed_beta));
}

static void test_defaults(void)
{
    const struct travel_kalman_params p = travel_kalman_defaults(1.0, 0.18);
    CHECK_NEAR("defaults", p.gate_sd, PARAMS.gate_sd, 0.0, 0.0);
    CHECK_NEAR("defaults", p.walk_ratio, PARAMS.walk_ratio, 0.0, 0.0);
    CHECK_INT("defaults", p.warmup, PARAMS.warmup);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("travel_kalman", NULL, NULL);
    CU_add_test(suite, "settles", test_convergence);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "odd input", test_odd_input);
    CU_add_test(suite, "endurance", test_endurance);
    CU_add_test(suite, "repeatable", test_repeatable);
    CU_add_test(suite, "defaults", test_defaults);
    return check_run();
}
