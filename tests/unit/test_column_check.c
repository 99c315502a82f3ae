/* Steps, repeats, turns, rates, levels and channels of columns, on both sides of limits. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "identification/data/column_rate.h"
#include "identification/data/column_steps.h"
#include "identification/data/data_set.h"
#include "identification/fit/column_check.h"
#include "identification/model/models.h"

enum { N = 1000, P = ESTIMATE_PASS, M = ESTIMATE_MARGINAL };

static double scratch[COLUMN_STEPS_ROOM + 4 * N];

/* ---- steps and repeats ---- */

/* Whole numbers, of which every second is off; `largest` is one more value. */
static double find_step(double off, double largest)
{
    double x[200];
    struct column_steps steps;
    for (size_t k = 0; k < 200; k++) {
        x[k] = (double)((7 * k) % 200) + ((7 * k) % 2 == 1 ? off : 0.0);
    }
    x[0] = largest;
    column_steps_find(x, 200, scratch, &steps);
    return steps.step;
}

static void test_steps(void)
{
    CHECK_NEAR("whole", find_step(0.0, 0.0), 1.0, 1e-9, 0.0);
    CHECK_NEAR("nearly", find_step(0.019, 0.0), 1.0, 0.01, 0.0);
    CHECK_NEAR("not quite", find_step(0.0215, 0.0), 0.0, 0.0, 0.0);
    CHECK_NEAR("fine", find_step(0.0, 79000.0), 1.0, 1e-3, 0.0);
    CHECK_NEAR("too fine", find_step(0.0, 81000.0), 0.0, 0.0, 0.0);
}

/* Values that stay `longer` rows in `share` of ten, else one row. They differ by many steps
 * of `unit`; 0: by random amounts. Returns how many rows they stay although they must change.
 */
static size_t find_stale(size_t share, size_t longer, double unit, double range)
{
    struct random_source draws = {.state = 5};
    struct column_steps steps;
    double x[N];
    double value = 0.0;
    size_t left = 0;
    for (size_t k = 0, hold = 0; k < N; k++) {
        if (left == 0) {
            left = hold++ % 10 < share ? longer : 1;
            const double next = random_between(&draws, -range / 2.0, range / 2.0);
            value =
                unit > 0.0 ? unit * round((next + copysign(5.0 * unit, next)) / unit) : next;
        }
        left--;
        x[k] = value;
    }
    column_steps_find(x, N, scratch, &steps);
    return steps.stale_rows;
}

static void test_repeats(void)
{
    CHECK_INT("REPEAT_RATIO_MIN", find_stale(7, 2, 1.0, 500.0), 2);
    CHECK_INT("REPEAT_RATIO_MIN", find_stale(6, 2, 1.0, 500.0), 0);
    CHECK_INT("STALE_ROWS_MIN", find_stale(4, 3, 1.0, 500.0), 0);
    CHECK_INT("hold of four", find_stale(10, 4, 0.0, 1.0), 4);
    CHECK_INT("FINE_REPEAT_RATIO", find_stale(3, 2, 0.0, 1.0), 2);
    CHECK_INT("FINE_REPEAT_RATIO", find_stale(1, 2, 0.0, 1.0), 0);
    CHECK_INT("FINE_STEPS_MIN", find_stale(4, 2, 1.0, 1200.0), 2);
    CHECK_INT("FINE_STEPS_MIN", find_stale(4, 2, 1.0, 900.0), 0);
}

/* An encoder at rest, and one that turns slowly, repeat their values too. */
static void test_encoder(void)
{
    struct column_steps steps;
    double x[N];
    for (size_t k = 0; k < N; k++) {
        x[k] = 0.01 * floor(20.0 * sin(0.01 * (double)k));
    }
    column_steps_find(x, N, scratch, &steps);
    CHECK_NEAR("step", steps.step, 0.01, 1e-6, 0.0);
    CHECK("repeats", steps.repeat_ratio > 0.8);
    CHECK_INT("new in each row", steps.stale_rows, 0);
}

static struct column_wrap find_wrap(double turn, double step)
{
    struct column_wrap wrap;
    double x[N];
    for (size_t k = 0; k < N; k++) {
        x[k] = fmod(step * (double)k, turn) - 0.5 * turn;
    }
    column_wrap_find(x, N, scratch, &wrap);
    return wrap;
}

static void test_turns(void)
{
    static const double turns[] = {6.283185307, 360.0, 1.0, 400.0, 1024.0, 4096.0};
    struct column_wrap wrap;
    double x[N];
    for (size_t i = 0; i < COUNT(turns); i++) {
        wrap = find_wrap(turns[i], turns[i] / 99.5);
        CHECK_NEAR("turn", wrap.turn, turns[i], 1e-6, 0.0);
        CHECK_INT("jumps", wrap.count, 10);
        CHECK_INT("first", wrap.first, 100);
    }
    CHECK_NEAR("no turn", find_wrap(77.0, 0.8).turn, 0.0, 0.0, 0.0);
    CHECK_NEAR("less than half a turn", find_wrap(170.0, 1.7).turn, 0.0, 0.0, 0.0);
    for (size_t k = 0; k < N; k++) {
        x[k] = (k / 3) % 2 == 0 ? 0.0 : 360.0; /* two values are no turn */
    }
    column_wrap_find(x, N, scratch, &wrap);
    CHECK_NEAR("two values", wrap.turn, 0.0, 0.0, 0.0);
    /* The motion during the row of a jump may be a fiftieth of a turn, or eight usual steps. */
    for (size_t k = 0; k < N; k++) {
        x[k] = k < 500 ? 0.3 * (double)k : 0.3 * (double)k - 367.0;
    }
    column_wrap_find(x, N, scratch, &wrap);
    CHECK_NEAR("with motion", wrap.turn, 360.0, 0.0, 0.0);
    for (size_t k = 500; k < N; k++) {
        x[k] -= 1.0;
    }
    column_wrap_find(x, N, scratch, &wrap);
    CHECK_NEAR("too far", wrap.turn, 0.0, 0.0, 0.0);
    for (size_t k = 0; k < N; k++) {
        x[k] = fmod(2.0 * (double)k, 360.0);
        x[k] += k == 270 ? 7.0 : 0.0; /* an outlier of less than five steps */
    }
    column_wrap_find(x, N, scratch, &wrap);
    CHECK_INT("jumps", wrap.count, 5);
    column_unwrap(x, N, 360.0, x);
    CHECK_NEAR("unwrapped", x[N - 1], 2.0 * (N - 1), 1e-12, 0.0);
}

/* ---- rates ---- */

static int judge_rate(double factor, double se, double correlation)
{
    const struct column_rate rate = {factor, se, correlation, 10};
    return (int)column_rate_judge(&rate);
}

static void test_rate_limits(void)
{
    CHECK_INT("RATE_MOTION_MIN", judge_rate(2.0, 0.0, 0.11), COLUMN_RATE_NO_RATE);
    CHECK_INT("RATE_MOTION_MIN", judge_rate(2.0, 0.0, 0.09), COLUMN_RATE_OPEN);
    CHECK_INT("RATE_DECIDED_MIN", judge_rate(1.0, 0.0, 0.31), COLUMN_RATE_AGREES);
    CHECK_INT("RATE_DECIDED_MIN", judge_rate(1.0, 0.0, 0.29), COLUMN_RATE_NO_RATE);
    CHECK_INT("RATE_CORRELATION_MIN", judge_rate(2.0, 0.0, 0.81), COLUMN_RATE_FACTOR);
    CHECK_INT("RATE_CORRELATION_MIN", judge_rate(2.0, 0.0, 0.79), COLUMN_RATE_NO_RATE);
    CHECK_INT("RATE_OFF_RATIO", judge_rate(1.029, 0.0, 1.0), COLUMN_RATE_AGREES);
    CHECK_INT("RATE_OFF_RATIO", judge_rate(0.969, 0.0, 1.0), COLUMN_RATE_FACTOR);
    CHECK_INT("RATE_ERRORS", judge_rate(1.079, 0.01, 1.0), COLUMN_RATE_AGREES);
    CHECK_INT("RATE_ERRORS", judge_rate(1.081, 0.01, 1.0), COLUMN_RATE_FACTOR);
    CHECK_INT("sign", judge_rate(-1.0, 0.0, -1.0), COLUMN_RATE_FACTOR);
    CHECK("RATE_UNIT_RATIO", *column_rate_words(1000.0 * 1.049) != '\0');
    CHECK("RATE_UNIT_RATIO", *column_rate_words(1000.0 * 1.051) == '\0');
}

/* Sampled motion, with times and positions in other units. */
static struct column_rate find_rate(double time_factor, double position_factor, double noise)
{
    struct random_source draws = {.state = 3};
    struct column_rate rate;
    double t[N];
    double q[N];
    double v[N];
    for (size_t k = 0; k < N; k++) {
        const double at = 0.01 * (double)k;
        t[k] = time_factor * at;
        q[k] = position_factor * (sin(3.0 * at) + 0.3 * sin(11.0 * at));
        v[k] =
            3.0 * cos(3.0 * at) + 3.3 * cos(11.0 * at) + random_between(&draws, -noise, noise);
    }
    column_rate_find(t, q, v, N, scratch, &rate);
    return rate;
}

static void test_rates(void)
{
    const double wrong[][2] = {{1.0, 57.29578}, {10.0, 1.0}, {1000.0, 1.0}, {1.0, 0.5},
                               {1.0, -1.0},     {1.0, 1.06}, {1.0, 1000.0}};
    struct column_rate rate = find_rate(1.0, 1.0, 0.0);
    CHECK_INT("agrees", column_rate_judge(&rate), COLUMN_RATE_AGREES);
    rate = find_rate(1.0, 1.0, 2.0);
    CHECK_INT("noisy", column_rate_judge(&rate), COLUMN_RATE_AGREES);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        rate = find_rate(wrong[i][0], wrong[i][1], 0.1);
        CHECK_INT("factor", column_rate_judge(&rate), COLUMN_RATE_FACTOR);
        CHECK_NEAR("factor", rate.factor, wrong[i][1] / wrong[i][0], 0.01, 0.0);
    }
    rate = find_rate(1.0, 0.0, 0.1);
    CHECK_INT("nothing moves", column_rate_judge(&rate), COLUMN_RATE_OPEN);
}

/* ---- levels ---- */

static struct command_levels find_levels(double other, size_t count)
{
    struct command_levels levels;
    double u[N];
    for (size_t k = 0; k < N; k++) {
        u[k] = k < count ? other : 100.0;
    }
    command_levels_find(u, N, scratch, &levels);
    return levels;
}

static void test_levels(void)
{
    CHECK_INT("LEVEL_WIDTH_RATIO", find_levels(90.1, 500).levels, 1);
    CHECK_INT("LEVEL_WIDTH_RATIO", find_levels(89.9, 500).levels, 2);
    CHECK_INT("LEVEL_TIME_RATIO", find_levels(-50.0, 31).levels, 2);
    CHECK_INT("LEVEL_TIME_RATIO", find_levels(-50.0, 29).levels, 1);
    CHECK_INT("magnitudes", find_levels(-100.0, 500).magnitudes, 1);
    CHECK_INT("zero is none", find_levels(0.0, 500).magnitudes, 1);
    CHECK_INT("always zero", find_levels(0.0, N).levels, 0);
}

/* ---- channels ---- */

static int judge_match(double named, double best, double mixture, double gain)
{
    struct channel_match match = {.best = {1, 0},
                                  .named_r2 = named,
                                  .best_r2 = best,
                                  .mixture_r2 = mixture,
                                  .r2 = {{named, best}, {best, named}},
                                  .gain = {{gain, 1.0}, {1.0, gain}}};
    size_t axis = 0;
    if (!(best > named)) {
        match.best[0] = 0;
        match.best[1] = 1;
    }
    return (int)channel_match_judge(&match, 2, true, true, &axis);
}

static void test_match_limits(void)
{
    CHECK_INT("MATCH_R2_MIN", judge_match(0.1, 0.51, 0.5, 1.0), CHANNEL_MATCH_EXCHANGED);
    CHECK_INT("MATCH_R2_MIN", judge_match(0.1, 0.49, 0.5, 1.0), CHANNEL_MATCH_AS_NAMED);
    CHECK_INT("MATCH_BETTER_MIN", judge_match(0.59, 0.9, 0.9, 1.0), CHANNEL_MATCH_EXCHANGED);
    CHECK_INT("MATCH_BETTER_MIN", judge_match(0.61, 0.9, 0.9, 1.0), CHANNEL_MATCH_AS_NAMED);
    CHECK_INT("MIXTURE_BETTER_MIN", judge_match(0.6, 0.6, 0.86, 1.0), CHANNEL_MATCH_MIXED);
    CHECK_INT("MIXTURE_BETTER_MIN", judge_match(0.6, 0.6, 0.84, 1.0), CHANNEL_MATCH_AS_NAMED);
    CHECK_INT("MIXTURE_R2_MIN", judge_match(0.5, 0.5, 0.81, 1.0), CHANNEL_MATCH_MIXED);
    CHECK_INT("MIXTURE_R2_MIN", judge_match(0.5, 0.5, 0.79, 1.0), CHANNEL_MATCH_AS_NAMED);
    CHECK_INT("sign", judge_match(0.51, 0.51, 0.6, -1.0), CHANNEL_MATCH_SIGN);
    CHECK_INT("sign", judge_match(0.49, 0.49, 0.6, -1.0), CHANNEL_MATCH_AS_NAMED);
}

/* ---- verdicts ---- */

static struct column_check check;
static struct data_summary summary;

static int judge_columns(void)
{
    struct dynamics_fit fit;
    dynamics_fit_start(&fit, model_find("joint"), DYNAMICS_OUTPUT_ERROR, false);
    column_check_judge(&check, model_find("joint"), &summary, &fit);
    return (int)fit.estimate.verdict;
}

static size_t count_notes(void)
{
    struct dynamics_fit fit;
    dynamics_fit_start(&fit, model_find("joint"), DYNAMICS_OUTPUT_ERROR, false);
    fit.residual_sd[0] = 1.0;
    estimate_set(&fit.estimate, 0, 5.0, 1.0, HUGE_VAL);
    column_check_judge(&check, model_find("joint"), &summary, &fit);
    /* steps of 1.01 add a variance of 0.085 */
    CHECK_NEAR("errors", fit.estimate.se[0], summary.nu[0].quantum > 1.0 ? 1.0416 : 1.0, 1e-3,
               0.0);
    return fit.estimate.reason_count - estimate_first_note(&fit.estimate);
}

static void test_verdicts(void)
{
    check = (struct column_check){.levels = {{3, 2, {0.0}}}};
    summary = (struct data_summary){.nu = {{.signal_ratio = 100.0, .noise_sd = 1.0}}};
    CHECK_INT("right", judge_columns(), P);
    check.levels[0] = (struct command_levels){2, 2, {0.0}};
    CHECK_INT("LEVELS_MIN", judge_columns(), M);
    check.levels[0] = (struct command_levels){3, 1, {0.0}};
    CHECK_INT("MAGNITUDES_MIN", judge_columns(), M);
    check.levels[0] = (struct command_levels){0, 0, {0.0}};
    CHECK_INT("no effort", judge_columns(), P);
    summary.rate[0] = (struct column_rate){3.0, 0.1, 0.5, 10};
    summary.nu[0].signal_ratio = 2.1;
    CHECK_INT("RATE_SIGNAL_MIN", judge_columns(), M);
    summary.nu[0].signal_ratio = 1.9;
    CHECK_INT("RATE_SIGNAL_MIN", judge_columns(), P);
    CHECK_INT("no note", count_notes(), 0);
    summary.nu[0].quantum = 0.99;
    CHECK_INT("STEP_NOISE_RATIO", count_notes(), 0);
    summary.nu[0].quantum = 1.01;
    CHECK_INT("STEP_NOISE_RATIO", count_notes(), 1);
}

/* ---- joined logs ---- */

/* A log with velocities in all rows, and a command in `commanded` of a hundred. */
static void join_rows(size_t commanded, struct data_summary *found)
{
    static double t[N];
    static double nu[N];
    static double tau[N];
    struct data_table table;
    const struct data_raw raw = {.axes = 1,
                                 .n = N,
                                 .t_s = t,
                                 .nu = {nu},
                                 .tau = {tau},
                                 .part_count = 1,
                                 .part_start = {0, N}};
    for (size_t k = 0; k < N; k++) {
        t[k] = 0.01 * (double)k;
        nu[k] = sin(0.1 * (double)k);
        tau[k] = (37 * k) % 100 < commanded ? (double)(k / 50) : (double)NAN;
    }
    CHECK_INT("made", data_table_make(&raw, &table, found, NULL), STATUS_OK);
    data_table_free(&table);
}

static void test_join(void)
{
    struct data_summary found;
    join_rows(49, &found);
    CHECK("JOINED_RATIO_MAX", found.joined);
    CHECK_INT("commands hold", found.incomplete, 0);
    join_rows(51, &found);
    CHECK("JOINED_RATIO_MAX", !found.joined);
    CHECK_INT("rows without a command", found.incomplete, 490);
}

/* Commands with times of their own: the effort of a row is their mean until the next one. */
static void test_own_times(void)
{
    double t[60];
    double nu[60];
    double tau[60];
    const struct data_raw raw = {.axes = 1,
                                 .n = 60,
                                 .t_s = t,
                                 .nu = {nu},
                                 .tau = {tau},
                                 .part_count = 1,
                                 .part_start = {0, 60}};
    struct data_table table;
    struct data_summary found;
    for (size_t k = 0; k < 20; k++) { /* a command, 0.25 later a velocity, 0.5 later nothing */
        for (size_t i = 0; i < 3; i++) {
            t[3 * k + i] = (double)k + 0.25 * (double)i;
            nu[3 * k + i] = i == 1 ? 0.1 * (double)(k * k) : (double)NAN;
            tau[3 * k + i] = i == 0 ? (double)k : (double)NAN;
        }
    }
    CHECK_INT("made", data_table_make(&raw, &table, &found, NULL), STATUS_OK);
    CHECK_INT("measured", table.set.n, 20);
    CHECK_NEAR("mean", table.set.tau[0][4], 0.75 * 4.0 + 0.25 * 5.0, 1e-12, 0.0);
    CHECK_NEAR("last", table.set.tau[0][19], 19.0, 1e-12, 0.0);
    CHECK_NEAR("own time", table.set.phase_s[1], 0.0, 0.0, 0.0);
    data_table_free(&table);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("column_check", NULL, NULL);
    CU_add_test(suite, "steps", test_steps);
    CU_add_test(suite, "repeats", test_repeats);
    CU_add_test(suite, "encoder", test_encoder);
    CU_add_test(suite, "turns", test_turns);
    CU_add_test(suite, "rate limits", test_rate_limits);
    CU_add_test(suite, "rates", test_rates);
    CU_add_test(suite, "levels", test_levels);
    CU_add_test(suite, "match limits", test_match_limits);
    CU_add_test(suite, "verdicts", test_verdicts);
    CU_add_test(suite, "join", test_join);
    CU_add_test(suite, "own times", test_own_times);
    return check_run();
}
