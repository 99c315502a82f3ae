/* Moves: what their numbers resolve, effects that the law lacks, and held-out moves. */
#include "tests/support/check.h"

#include "identification/travel/travel_held_out.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_resolution.h"
#include "tests/support/travel_truth.h"

enum { MOVES_MAX = 400 };

static bool notes_have(const struct estimate *e, const char *part)
{
    bool has = false;
    for (size_t i = estimate_first_note(e); i < e->reason_count; i++) {
        has = has || strstr(e->reasons[i], part);
    }
    return has;
}

/* Moves of the law with Gaussian noise. */
static void draw_moves(uint64_t *state, double sd_s, struct travel_move *moves, size_t n)
{
    truth_moves(state, MIX_ALL, TRUTH_GAUSS, sd_s, moves, n);
}

static void test_gap(void)
{
    static const struct {
        const char *row;
        double sizes[12];
        double gap;
    } rows[] = {
        {"zeros", {0, 0, 0.01, 0.02, 0.5, 0.7, 0.9, 1, 1.1, 1.2, 1.3, 1.4}, 1e-6},
        {"no gap", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}, 1e-6},
        {"noise", {0.001, 0.01, 0.02, 0.03, 0.5, 0.7, 0.9, 1, 1.1, 1.2, 1.3, 1.4}, 0.122},
        {"equal short moves", {0.02, 0.02, 0.02, 0.02, 1, 1, 1, 1, 1, 1, 1, 1}, 1e-6},
        {"short moves alike", {0.015, 0.018, 0.02, 0.021, 1, 1, 1, 1, 1, 1, 1, 1}, 1e-6},
        {"close", {0.001, 0.01, 0.02, 0.03, 0.04, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 0.141},
        {"no wide gap", {0.01, 0.07, 0.08, 0.09, 0.28, 1.2, 1.3, 1.4, 1.5, 2, 2, 2}, 0.58},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double sizes[12];
        memcpy(sizes, rows[i].sizes, sizeof sizes);
        CHECK_NEAR(rows[i].row, travel_find_gap(sizes, COUNT(sizes)), rows[i].gap, 0.02, 0.0);
    }
}

/* Each limit of a gap, just inside and just outside: three values of noise, the least move, and
 * six equal ones. */
static void test_gap_limits(void)
{
    static const struct {
        const char *row;
        double noise[3], least, median;
        bool is_gap;
    } rows[] = {
        /* rms 0.835 */
        {"GAP_LEAST_RATIO", {0.1, 0.8, 1.2}, 2.15, 10.0, true},
        {"GAP_LEAST_RATIO", {0.1, 0.8, 1.2}, 2.05, 10.0, false},
        {"GAP_MEDIAN_RATIO", {0.1, 0.8, 1.2}, 3.0, 8.5, true},
        {"GAP_MEDIAN_RATIO", {0.1, 0.8, 1.2}, 3.0, 8.2, false},
        {"GAP_NOISE_RATIO", {0.66, 1.0, 1.2}, 5.0, 20.0, true},
        {"GAP_NOISE_RATIO", {0.75, 1.0, 1.2}, 5.0, 20.0, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double sizes[10];
        memcpy(sizes, rows[i].noise, sizeof rows[i].noise);
        sizes[3] = rows[i].least;
        for (size_t k = 4; k < COUNT(sizes); k++) {
            sizes[k] = rows[i].median;
        }
        const double gap = travel_find_gap(sizes, COUNT(sizes));
        CHECK_INT(rows[i].row, gap > rows[i].noise[2] && gap < rows[i].least, rows[i].is_gap);
    }
}

/* Sizes that grow by a fifth each, with one larger step in the middle. */
static void test_gap_ratio(void)
{
    static const double steps[] = {1.28, 1.32};
    for (size_t i = 0; i < COUNT(steps); i++) {
        double sizes[40];
        double size = 0.02;
        for (size_t k = 0; k < COUNT(sizes); k++) {
            sizes[k] = size;
            size *= k == 19 ? steps[i] : 1.2;
        }
        CHECK_INT("GAP_RATIO_MIN", travel_find_gap(sizes, COUNT(sizes)) > TRAVEL_NO_MOVE,
                  steps[i] > 1.3);
    }
}

static void test_step(void)
{
    static const struct {
        double step_s;
        bool is_found;
    } rows[] = {{1.0, true}, {0.5, true}, {0.1, true}, {1.0 / 3.0, true}, {0.0, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t state = 5 + i;
        double laps_s[60];
        for (size_t k = 0; k < COUNT(laps_s); k++) {
            const double lap_s = 1.0 + 9.0 * truth_uniform(&state);
            laps_s[k] =
                rows[i].is_found ? rows[i].step_s * round(lap_s / rows[i].step_s) : lap_s;
        }
        CHECK_NEAR("step", travel_find_step(laps_s, COUNT(laps_s)), rows[i].step_s, 1e-6, 0.0);
    }
    double few[] = {1.0, 2.0, 3.0, 3.0, 2.0, 1.0};
    CHECK_NEAR("too few laps differ", travel_find_step(few, COUNT(few)), 0.0, 0.0, 0.0);
}

/* Steps are reported if they are not far below the noise. */
static void test_step_matters(void)
{
    static const struct {
        double sd_s;
        bool is_reported;
    } rows[] = {{0.06, true}, {0.15, false}, {0.0, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[60];
        struct travel_fit fit;
        uint64_t state = 3;
        draw_moves(&state, rows[i].sd_s, moves, COUNT(moves));
        for (size_t k = 0; k < COUNT(moves); k++) {
            moves[k].lap_s = rows[i].sd_s > 0.0 ? round(100.0 * moves[k].lap_s) / 100.0
                                                : 1.0 + 0.5 * (double)(k % 5);
            moves[k].rotation_rad =
                rows[i].sd_s > 0.0 ? moves[k].rotation_rad : 0.1 + (double)(k % 5);
            moves[k].displacement_m = rows[i].sd_s > 0.0 ? moves[k].displacement_m : 0.0;
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT("STEP_SD_MIN", fit.lap_step_s > 0.0, rows[i].is_reported);
        CHECK_INT("STEP_SD_MIN", notes_have(&fit.estimate, "in steps of"), rows[i].is_reported);
    }
}

/* Delays of several stages: their skewness is 2 / sqrt(stages). Few are evenly spread. */
static void test_skewness(void)
{
    static const struct {
        const char *row;
        size_t n, stages;
        bool is_noted;
    } rows[] = {{"SKEWNESS_MAX", 400, 2, true},
                {"SKEWNESS_MAX", 400, 7, false},
                {"SKEWED_MIN", 30, 1, true},
                {"SKEWED_MIN", 16, 1, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[MOVES_MAX];
        struct travel_fit fit;
        uint64_t state = 11;
        draw_moves(&state, 0.0, moves, rows[i].n);
        for (size_t k = 0; k < rows[i].n; k++) {
            double product = rows[i].stages > 1
                                 ? 1.0
                                 : ((double)(7 * k % rows[i].n) + 0.5) / (double)rows[i].n;
            for (size_t stage = 0; stage < rows[i].stages && rows[i].stages > 1; stage++) {
                product *= truth_uniform(&state);
            }
            moves[k].lap_s -= 0.1 * log(product);
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, rows[i].n, TRAVEL_OLS, &fit), STATUS_OK);
        CHECK_INT(rows[i].row, notes_have(&fit.estimate, "the delay varies"), rows[i].is_noted);
        CHECK(rows[i].row, fit.residual_s_p05 < 0.0 && fit.residual_s_p95 > 0.0);
    }
}

/* One lap lies far out, or not; or there are too few moves to see it. */
static void test_far(void)
{
    static const struct {
        const char *row;
        size_t n;
        double off_sd;
        enum travel_method method;
    } rows[] = {{"FAR_MEDIANS", 40, 8.0, TRAVEL_TUKEY},
                {"FAR_MEDIANS", 40, 4.5, TRAVEL_OLS},
                {"ROBUST_DOF_MIN", 13, 400.0, TRAVEL_TUKEY},
                {"ROBUST_DOF_MIN", 12, 400.0, TRAVEL_OLS}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[MOVES_MAX];
        struct travel_fit fit;
        uint64_t state = 1;
        draw_moves(&state, 0.0, moves, rows[i].n);
        for (size_t k = 0; k < rows[i].n; k++) {
            moves[k].lap_s += k % 2 == 0 ? 0.05 : -0.05;
        }
        moves[7].lap_s += 0.05 * 1.4826 * rows[i].off_sd;
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, rows[i].n, TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT(rows[i].row, fit.method, rows[i].method);
    }
}

/* An effect needs chance and size; a direction needs chance. */
static void test_effect_limits(void)
{
    static const struct {
        const char *row;
        double p, found_s;
        bool is_found;
    } rows[] = {{"EFFECT_CHANCE", 0.0014, 1.0, true},
                {"EFFECT_CHANCE", 0.00145, 1.0, false},
                {"OFF_SHARE", 0.0001, 0.31, true},
                {"OFF_SHARE", 0.0001, 0.29, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_law law = {.tested = false};
        law.alternative[TRAVEL_SHORT_DRIVES] = (struct travel_alternative){
            .tested = true, .p = rows[i].p, .found_s = rows[i].found_s};
        CHECK_INT(rows[i].row, travel_law_effect(&law, 1.0),
                  rows[i].is_found ? TRAVEL_SHORT_DRIVES : TRAVEL_EFFECTS);
    }
}

/* Commands that wait for a part of the last move are noticed; others that wait as long are a
 * queue. */
static void test_waits(void)
{
    static const struct {
        const char *row;
        double p, sd;
        bool waits;
    } rows[] = {{"WAIT_CHANCE", 0.0049, 0.5, true},
                {"WAIT_CHANCE", 0.0051, 0.5, false},
                {"OFF_SHARE", 0.0001, 0.31, true},
                {"OFF_SHARE", 0.0001, 0.29, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct travel_law law = {.after_p = rows[i].p, .after_sd = rows[i].sd};
        CHECK_INT(rows[i].row, travel_law_waits(&law), rows[i].waits);
    }
    for (size_t queue = 0; queue < 2; queue++) {
        struct travel_move moves[80];
        struct travel_fit fit;
        uint64_t state = 4;
        double last_s = 0.0;
        draw_moves(&state, 0.03, moves, COUNT(moves));
        for (size_t k = 0; k < COUNT(moves); k++) {
            moves[k].lap_s += 0.3 * (queue ? 2.0 : last_s) * truth_uniform(&state);
            last_s = moves[k].lap_s;
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT("waits", fit.estimate.verdict, queue ? ESTIMATE_PASS : ESTIMATE_MARGINAL);
        CHECK_INT("waits", estimate_has_reason(&fit.estimate, REASON_DELAY_VARIES), !queue);
    }
}

/* An open interval reaches further to the side of an effect that is seen, though it is not
 * found. */
static void test_seen(void)
{
    static const struct {
        const char *row;
        double creep_s;
        bool is_seen;
    } rows[] = {{"SEEN_CHANCE", 0.07, false}, {"SEEN_CHANCE", 0.08, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[40];
        struct travel_fit fit;
        uint64_t state = 6;
        draw_moves(&state, 0.03, moves, COUNT(moves));
        for (size_t k = 0; k < COUNT(moves); k++) {
            const double size = moves[k].displacement_m;
            moves[k].lap_s += size > 0.0 ? rows[i].creep_s * exp(-size / 0.15) : 0.0;
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        const struct estimate *e = &fit.estimate;
        const double value = fit.beta[TRAVEL_INV_V];
        const double below = value - 1.0 / e->hi_open[TRAVEL_INV_V];
        const double above = 1.0 / e->lo_open[TRAVEL_INV_V] - value;
        CHECK_INT(rows[i].row, fit.estimate.verdict, ESTIMATE_PASS);
        CHECK_INT(rows[i].row, above > 1.2 * below, rows[i].is_seen);
    }
}

/* Turns to one side are slower: the side and the moves are named. */
static void test_side(void)
{
    static const struct {
        double slower;
        bool is_found, is_side;
    } rows[] = {{0.0, false, false}, {0.15, true, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[80];
        struct travel_fit fit;
        uint64_t state = 21;
        draw_moves(&state, 0.02, moves, COUNT(moves));
        for (size_t k = 0; k < COUNT(moves); k++) {
            const double turn = fmax(-moves[k].rotation_rad, 0.0);
            moves[k].lap_s += rows[i].slower * turn / TRUTH.w_radps;
        }
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, COUNT(moves), TRAVEL_AUTO, &fit), STATUS_OK);
        CHECK_INT("spread", fit.estimate.verdict != ESTIMATE_PASS, rows[i].is_found);
        CHECK_INT("side", notes_have(&fit.estimate, "turns in the negative direction take"),
                  rows[i].is_side);
        CHECK_INT("moves", notes_have(&fit.estimate, "slower turns: moves "), rows[i].is_found);
    }
    static const double chances[] = {0.0099, 0.0101};
    for (size_t i = 0; i < COUNT(chances); i++) {
        static const struct travel_law_words words = {
            .moves = {"turns", "drives"}, .changed = {"w", "v"}, .is_inverse = true};
        struct estimate e;
        const struct travel_law law = {.tested = true,
                                       .step_p = 1.0,
                                       .kinds_ratio = 1.0,
                                       .spread_p = 0.001,
                                       .variation = {0.1, 0.0},
                                       .side_p = chances[i]};
        estimate_start(&e, 1);
        travel_judge_changes(&e, &law, TRAVEL_EFFECTS, 40, &words);
        CHECK_INT("SIDE_CHANCE", notes_have(&e, "direction"), chances[i] < 0.01);
    }
}

/* Every other move is that of a robot a quarter slower: seen from 20 degrees of freedom on. */
static void test_kinds(void)
{
    for (size_t n = 24; n <= 25; n++) {
        struct travel_move moves[25];
        struct travel_fit fit;
        uint64_t state = 9;
        draw_moves(&state, 0.001, moves, n);
        for (size_t k = 0; k < n; k++) {
            moves[k].lap_s *= k / 3 % 2 == 0 ? 1.0 : 1.25;
        }
        bool has = false;
        CU_ASSERT_EQUAL_FATAL(fit_robot(moves, n, TRAVEL_OLS, &fit), STATUS_OK);
        for (size_t i = 0; i < fit.estimate.reason_count; i++) {
            has = has || strstr(fit.estimate.reasons[i], "moves of two kinds");
        }
        CHECK_INT("KINDS_DOF_MIN", has, n == 25);
    }
}

static void test_verdict_limits(void)
{
    static const struct {
        const char *row;
        struct travel_f_test test;
        enum estimate_verdict verdict;
    } rows[] = {
        {"as expected", {1, 1.0, 0.5, 1.0, 0.5, 0.5, 1.0}, ESTIMATE_PASS},
        {"OTHER_CHANCE", {1, 1.0, 0.5, 4.0, 0.0101, 0.0101, 1.0}, ESTIMATE_PASS},
        {"OTHER_CHANCE", {1, 1.0, 0.5, 4.0, 0.0099, 0.0099, 1.0}, ESTIMATE_MARGINAL},
        {"OTHER_CHANCE_FAIL", {1, 1.0, 0.5, 4.0, 0.0001, 0.0011, 1.0}, ESTIMATE_MARGINAL},
        {"OTHER_CHANCE_FAIL", {1, 1.0, 0.5, 4.0, 0.0001, 0.0009, 1.0}, ESTIMATE_FAIL},
        {"OFF_SHARE", {1, 1.0, 0.5, 4.0, 0.0001, 0.0001, 0.29}, ESTIMATE_PASS},
        {"OFF_SHARE", {1, 1.0, 0.5, 4.0, 0.0001, 0.0001, 0.31}, ESTIMATE_FAIL},
        {"noisier", {1, 2.0, 0.0009, 1.0, 0.5, 0.5, 1.0}, ESTIMATE_MARGINAL},
        {"noisier", {1, 2.0, 0.0011, 1.0, 0.5, 0.5, 1.0}, ESTIMATE_PASS},
        {"HELD_OUT_MARGINAL", {1, 1.5, 0.0001, 1.0, 0.5, 0.5, 1.0}, ESTIMATE_PASS},
        {"HELD_OUT_MARGINAL", {1, 1.6, 0.0001, 1.0, 0.5, 0.5, 1.0}, ESTIMATE_MARGINAL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row, travel_f_test_verdict(&rows[i].test), rows[i].verdict);
    }
}

/* Held-out moves of the same robot pass, of a robot 10 % slower they do not, whether replies
 * are late or not, and whatever the unit of time is. */
static void test_held_out(void)
{
    static const struct {
        const char *row;
        size_t n;
        double slower;
        enum truth_noise noise;
        size_t least, most; /* of 40 that are PASS */
    } rows[] = {{"same", 40, 0.0, TRUTH_GAUSS, 37, 40},
                {"same, few", 15, 0.0, TRUTH_GAUSS, 37, 40},
                {"same, late replies", 60, 0.0, TRUTH_BLUETOOTH, 35, 40},
                {"slower", 40, 0.1, TRUTH_GAUSS, 0, 0},
                {"slower, few", 15, 0.1, TRUTH_GAUSS, 0, 2},
                {"slower, late replies", 60, 0.1, TRUTH_BLUETOOTH, 0, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t passed = 0;
        uint64_t state = 31 + i;
        for (size_t run = 0; run < 40; run++) {
            struct travel_move moves[2][MOVES_MAX];
            struct travel_fit fit[2];
            struct travel_f_test test;
            truth_moves(&state, MIX_ALL, rows[i].noise, 0.05, moves[0], rows[i].n);
            truth_moves(&state, MIX_ALL, rows[i].noise, 0.05, moves[1], rows[i].n);
            for (size_t k = 0; k < rows[i].n; k++) {
                const struct travel_move *m = &moves[1][k];
                moves[1][k].lap_s += rows[i].slower * (fabs(m->rotation_rad) / TRUTH.w_radps +
                                                       fabs(m->displacement_m) / TRUTH.v_mps);
            }
            for (size_t k = 0; k < 2; k++) {
                CU_ASSERT_EQUAL_FATAL(fit_robot(moves[k], rows[i].n, TRAVEL_AUTO, &fit[k]),
                                      STATUS_OK);
            }
            CU_ASSERT_EQUAL_FATAL(travel_f_test(&fit[0], &fit[1], moves[1], rows[i].n, &test),
                                  STATUS_OK);
            passed += travel_f_test_verdict(&test) == ESTIMATE_PASS;
        }
        CHECK(rows[i].row, passed >= rows[i].least && passed <= rows[i].most);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("moves", NULL, NULL);
    CU_add_test(suite, "gap", test_gap);
    CU_add_test(suite, "limits of a gap", test_gap_limits);
    CU_add_test(suite, "ratio of a gap", test_gap_ratio);
    CU_add_test(suite, "step", test_step);
    CU_add_test(suite, "step matters", test_step_matters);
    CU_add_test(suite, "skewness", test_skewness);
    CU_add_test(suite, "far", test_far);
    CU_add_test(suite, "limits of effects", test_effect_limits);
    CU_add_test(suite, "waits", test_waits);
    CU_add_test(suite, "seen", test_seen);
    CU_add_test(suite, "side", test_side);
    CU_add_test(suite, "kinds", test_kinds);
    CU_add_test(suite, "limits of a verdict", test_verdict_limits);
    CU_add_test(suite, "held out", test_held_out);
    return check_run();
}
