/* Forecasts against numbers that another program computed: commands of five pairs with the
 * prediction before each, sums of moves, answers about trust, open commands, and the state.

 */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "identification/travel/forecast_sum.h"

static const double NEAR = 1e-9;
static const struct {
    const char *key;
    enum forecast_level level;
} levels[] = {{"0.8", FORECAST_80}, {"0.9", FORECAST_90}, {"0.95", FORECAST_95}};

/* A pair: its forecasts, and the moves of its window. */
static struct {
    struct forecast forecast;
    struct forecast_move moves[FORECAST_WINDOW_MAX];
    size_t n;
    struct forecast_made made;
    double leverage[FORECAST_QUANTITIES];
} pair;
static char row[64];

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* "inf", "-inf" and null. */
static double end_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) ? (double)INFINITY
           : text              ? (text[0] == '-' ? -(double)INFINITY : (double)INFINITY)
                               : json_number_value(value);
}

static void check_value(const char *what, double got, double want)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s %s", row, what);
    if (isinf(want)) {
        CHECK_INT(name, isinf(got) && (got > 0.0) == (want > 0.0), 1);
    } else {
        CHECK_NEAR(name, got, want, NEAR, NEAR);
    }
}

static struct forecast_past past_of(void)
{
    return (struct forecast_past){&pair.forecast, pair.moves, pair.n};
}

static void check_predicted(const json_t *predicted)
{
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const json_t *want = json_object_get(predicted, forecast_quantity_name(q));
        CHECK_INT(row, forecast_knows(&pair.made, q), want != NULL);
        if (!want) {
            continue;
        }
        const struct forecast_interval at95 = forecast_interval(&pair.made, q, FORECAST_95);
        check_value("expected_s", at95.expected_s, number_at(want, "expected_s"));
        check_value("scale_s", pair.made.scale_s[q], number_at(want, "scale_s"));
        check_value("h", pair.leverage[q], number_at(want, "h"));
        CHECK_TEXT(row, forecast_basis_name(at95.basis),
                   json_string_value(json_object_get(want, "basis")));
        CHECK_INT(row, pair.forecast.scores[q], number_at(want, "n"));
        for (size_t l = 0; l < COUNT(levels); l++) {
            const json_t *within =
                json_object_get(json_object_get(want, "within_s"), levels[l].key);
            const struct forecast_interval got =
                forecast_interval(&pair.made, q, levels[l].level);
            CHECK_INT(row, isnan(got.high_s), json_is_null(within));
            if (!json_is_null(within)) {
                check_value("low", got.low_s, end_of(json_array_get(within, 0)));
                check_value("high", got.high_s, end_of(json_array_get(within, 1)));
            }
        }
    }
}

static size_t read_moves(const json_t *list, struct forecast_move *moves, size_t times)
{
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n * times; i++) {
        const json_t *move = json_array_get(list, i % n);
        moves[i] = (struct forecast_move){.turn = json_number_value(json_array_get(move, 0)),
                                          .drive = json_number_value(json_array_get(move, 1))};
    }
    return n * times;
}

static void check_sums(const json_t *mission)
{
    static const struct {
        const char *key;
        enum forecast_quantity q;
        enum forecast_level level;
        size_t times;
    } sums[] = {{"real_lap", FORECAST_REAL_LAP, FORECAST_95, 1},
                {"lag", FORECAST_LAG, FORECAST_95, 1},
                {"real_lap_80", FORECAST_REAL_LAP, FORECAST_80, 1},
                {"long", FORECAST_REAL_LAP, FORECAST_95, 12}};
    const struct forecast_past past = past_of();
    for (size_t i = 0; i < COUNT(sums); i++) {
        struct forecast_move moves[FORECAST_SUM_MAX];
        const json_t *want = json_object_get(mission, sums[i].key);
        if (json_is_null(want)) {
            continue;
        }
        const size_t n = read_moves(json_object_get(mission, "moves"), moves, sums[i].times);
        const struct forecast_sum got = forecast_sum(&past, moves, n, sums[i].q, sums[i].level);
        check_value("sum", got.expected_s, number_at(want, "expected_s"));
        CHECK_INT(row, got.windows, number_at(want, "windows"));
        const json_t *half = json_object_get(want, "half_s");
        CHECK_INT(row, isfinite(got.high_s), json_is_number(half));
        if (json_is_number(half)) { /* the other program's quantile has an error of 3e-9 */
            CHECK_NEAR(row, got.high_s - got.expected_s, json_number_value(half), 1e-8, 0.0);
        }
    }
}

static void check_trust(const json_t *list)
{
    static const char *const whys[] = {"within",
                                       "few",
                                       "beyond:rotation",
                                       "beyond:displacement",
                                       "beyond:kind",
                                       "forecasts did not hold",
                                       "move",
                                       "total"};
    const struct forecast_past past = past_of();
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct forecast_move moves[FORECAST_SUM_MAX];
        const json_t *ask = json_object_get(json_array_get(list, i), "ask");
        const json_t *want = json_object_get(json_array_get(list, i), "answer");
        const json_t *bound = json_object_get(ask, "bound_s");
        const json_t *total = json_object_get(ask, "total_s");
        const size_t n = read_moves(json_object_get(ask, "moves"), moves, 1);
        if (n == 1 && !json_is_null(total)) {
            continue; /* the other program ranks sequences of one move; here it has one interval
                       */
        }
        const struct forecast_trust got = forecast_trust(
            &past, moves, n, json_is_null(bound) ? (double)NAN : json_number_value(bound),
            json_is_null(total) ? (double)NAN : json_number_value(total), FORECAST_95);
        CHECK_TEXT(row, forecast_answer_name(got.answer),
                   json_string_value(json_object_get(want, "answer")));
        CHECK_TEXT(row, whys[got.why], json_string_value(json_object_get(want, "why")));
        const json_t *move = json_object_get(want, "move");
        /* The other program names no move of a yes. */
        CHECK_INT(row, got.answer == FORECAST_YES ? FORECAST_SUM_MAX : got.move,
                  json_is_integer(move) ? json_integer_value(move) : FORECAST_SUM_MAX);
        const json_t *lag = json_object_get(want, "lag_s");
        if (lag) {
            check_value("lag low", got.low_s, end_of(json_array_get(lag, 0)));
            check_value("lag high", got.high_s, end_of(json_array_get(lag, 1)));
        }
    }
}

static void check_open(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *want = json_object_get(json_array_get(list, i), "answer");
        const json_t *within = json_object_get(want, "within_s");
        const json_t *longer = json_object_get(want, "longer");
        int count = 0;
        const struct forecast_interval got =
            forecast_open(&pair.forecast, &pair.made, FORECAST_REAL_LAP, FORECAST_95,
                          number_at(json_array_get(list, i), "elapsed_s"), &count);
        check_value("open low", got.low_s, end_of(json_array_get(within, 0)));
        check_value("open high", got.high_s, end_of(json_array_get(within, 1)));
        const long long longer_than =
            json_is_null(longer) ? -1 : json_integer_value(json_array_get(longer, 0));
        /* The second one has lasted as long as expected, to the last digit: a score of 0 may
         * count. */
        CHECK_INT(row, llabs(count - longer_than) <= (i == 1), 1);
    }
}

static enum forecast_end end_named(const char *name)
{
    static const char *const names[] = {"none", "done", "timeout", "cut"};
    size_t i = 0;
    while (i < COUNT(names) && strcmp(names[i], name) != 0) {
        i++;
    }
    return (enum forecast_end)i;
}

static void close_command(const json_t *command, double turn, double drive)
{
    static const char *const laps[] = {"real_lap_s", "virtual_lap_s"};
    struct forecast_outcome outcome[FORECAST_SIDES];
    struct forecast_move move = {.turn = turn, .drive = drive};
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        const json_t *lap = json_object_get(command, laps[k]);
        outcome[k].end =
            end_named(json_string_value(json_array_get(json_object_get(command, "ended"), k)));
        outcome[k].lap_s = json_is_null(lap) ? (double)NAN : json_number_value(lap);
    }
    if (json_is_true(json_object_get(command, "left_out"))) {
        pair.forecast.left_out++;
        return;
    }
    const unsigned started =
        forecast_learn(&pair.forecast, &pair.made, turn, drive, outcome, move.lap_s);
    if (!isnan(move.lap_s[0]) || !isnan(move.lap_s[1])) {
        if (pair.n == FORECAST_WINDOW_MAX) {
            memmove(pair.moves, pair.moves + 1, --pair.n * sizeof *pair.moves);
        }
        pair.moves[pair.n++] = move;
    }
    forecast_start(&pair.forecast, started, pair.moves, pair.n);
}

static void change_virtual(const json_t *change)
{
    double terms[TRAVEL_P];
    for (size_t j = 0; j < json_array_size(change); j++) {
        terms[j] = json_number_value(json_array_get(change, j));
    }
    forecast_change_virtual(&pair.forecast, json_is_array(change) ? terms : NULL);
    for (size_t i = 0; i < pair.n; i++) {
        pair.moves[i].lap_s[FORECAST_VIRTUAL_LAP] = (double)NAN;
    }
}

static void check_state(const json_t *after)
{
    const struct forecast *f = &pair.forecast;
    CHECK_INT(row, f->left_out, number_at(after, "left_out"));
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const json_t *held = json_array_get(json_object_get(after, "held"), q);
        const json_t *scores = json_array_get(json_object_get(after, "scores"), q);
        CHECK_INT(row, forecast_held(f, q), json_integer_value(json_array_get(held, 0)));
        CHECK_INT(row, f->judged[q], json_integer_value(json_array_get(held, 1)));
        const size_t n = json_array_size(scores);
        for (size_t i = 0; i < n; i++) {
            const size_t at = (f->next[q] + FORECAST_SCORES - n + i) % FORECAST_SCORES;
            CHECK_INT(row, f->score[q][at], json_integer_value(json_array_get(scores, i)));
        }
        for (size_t j = 0; q < FORECAST_LAG && j < TRAVEL_P; j++) {
            const json_t *beta = json_array_get(json_object_get(after, "beta"), q);
            double got[TRAVEL_P];
            forecast_terms(f, q, got);
            check_value("beta", got[j], json_number_value(json_array_get(beta, j)));
        }
    }
}

/* The file has the levels of its end, at each state. */
static void check_levels(const json_t *after)
{
    for (size_t q = 0; q < FORECAST_QUANTITIES; q++) {
        const json_t *alpha = json_array_get(json_object_get(after, "alpha"), q);
        for (size_t l = 0; l < FORECAST_LEVELS; l++) {
            check_value("alpha", (double)pair.forecast.alpha[q][l] / FORECAST_LEVEL_UNITS,
                        json_number_value(json_array_get(alpha, l)));
        }
    }
}

static void check_pair(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path,
                   TANDEM_SOURCE_DIR "/tests/golden/forecast/forecast_%s.json", name);
    json_t *file = json_load_file(path, 0, NULL);
    const json_t *commands = json_object_get(file, "commands");
    CU_ASSERT_FATAL(json_array_size(commands) > 0);
    pair.n = 0;
    forecast_init(&pair.forecast);
    for (size_t i = 0; i < json_array_size(commands); i++) {
        const json_t *command = json_array_get(commands, i);
        const double turn = number_at(command, "rotation_rad");
        const double drive = number_at(command, "displacement_m");
        (void)snprintf(row, sizeof row, "%s %zu", name, i);
        if (json_object_get(command, "virtual_changed")) {
            change_virtual(json_object_get(command, "virtual_changed"));
        }
        pair.made = (struct forecast_made){0};
        forecast_predict(&pair.forecast, turn, drive, ~0U, &pair.made, pair.leverage);
        check_predicted(json_object_get(command, "predicted"));
        if (json_object_get(command, "mission")) {
            check_sums(json_object_get(command, "mission"));
            check_trust(json_object_get(command, "trust"));
            check_open(json_object_get(command, "under_way"));
        }
        close_command(command, turn, drive);
        if (json_object_get(command, "after")) {
            check_state(json_object_get(command, "after"));
        }
    }
    check_levels(json_object_get(json_array_get(commands, 36), "after"));
    json_decref(file);
}

static void test_steady(void)
{
    check_pair("steady");
}

static void test_slower(void)
{
    check_pair("slower");
}

static void test_promoted(void)
{
    check_pair("promoted");
}

static void test_cut(void)
{
    check_pair("cut");
}

static void test_alone(void)
{
    check_pair("alone");
}

/* Bounds of given scores: a fit that knows its laps exactly and a spread of one second. */
static void test_ranks(void)
{
    json_t *file =
        json_load_file(TANDEM_SOURCE_DIR "/tests/golden/forecast/ranks.json", 0, NULL);
    CU_ASSERT_FATAL(json_array_size(file) > 0);
    for (size_t i = 0; i < json_array_size(file); i++) {
        const json_t *want = json_array_get(file, i);
        const json_t *sizes = json_object_get(want, "sizes");
        const json_t *bound = json_object_get(want, "bound");
        struct forecast_made made = {0};
        struct forecast f;
        forecast_init(&f);
        f.fit[0].count = FORECAST_MOVES_MIN;
        f.fit[0].a[0] = 1e6;
        f.spread[0] = (struct forecast_spread){.s0 = 1.0, .t0 = 1.0};
        f.scores[0] = (uint8_t)json_array_size(sizes);
        f.alpha[0][FORECAST_95] =
            (uint16_t)lround(number_at(want, "alpha") * FORECAST_LEVEL_UNITS);
        for (size_t k = 0; k < json_array_size(sizes); k++) {
            f.score[0][k] = (int16_t)json_integer_value(json_array_get(sizes, k));
        }
        (void)snprintf(row, sizeof row, "ranks %zu", i);
        forecast_predict(&f, 0.0, 0.0, 1U << FORECAST_REAL_LAP, &made, NULL);
        const struct forecast_interval got =
            forecast_interval(&made, FORECAST_REAL_LAP, FORECAST_95);
        CHECK_INT(row, isnan(got.high_s), json_is_null(bound));
        if (!json_is_null(bound)) {
            check_value("bound", (got.high_s - got.expected_s) / made.scale_s[0],
                        end_of(bound));
        }
    }
    json_decref(file);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("forecast", NULL, NULL);
    CU_add_test(suite, "steady", test_steady);
    CU_add_test(suite, "slower", test_slower);
    CU_add_test(suite, "promoted", test_promoted);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "alone", test_alone);
    CU_add_test(suite, "ranks", test_ranks);
    return check_run();
}
