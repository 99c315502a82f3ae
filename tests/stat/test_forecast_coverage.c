/* short: TANDEM_RUNS=40 */
/* How often forecasts hold in labs of known truth (docs/forecast.md): 200 moves; noise normal,
 * Student or log-normal, 6 to 25 ms, in half of the labs larger for long moves; in half short
 * moves deviate from the law. A third has no drift, a third a jump of the speeds by 3 to 4 %, a
 * third speeds that walk. The virtual lap is the nominal one. TANDEM_RUNS: labs. */
#include "tests/support/campaign.h"

#include "identification/travel/forecast_sum.h"
#include "tests/support/travel_truth.h"
#include "twin/pair/lag_parts.h"

enum { MOVES = 200, FROM = 40, JUMP_MOVES = 15, POINTS_MAX = 400 * MOVES, SUMS = 4 };
enum drift { NO_DRIFT, JUMP, WALK, DRIFTS };

static const double NOMINAL[TRAVEL_P] = {0.06, 0.12, 0.16, 1.0 / 1.2, 1.0 / 0.5};
static const unsigned LENGTHS[SUMS] = {4, 8, 16, 32};

struct lab {
    double turn[MOVES], drive[MOVES], nominal_s[MOVES], lag_s[MOVES];
    enum drift drift;
    size_t jump;
};

static uint64_t state;
static struct lab lab;

/* ---- the labs ---- */

static double draw_between(double low, double high)
{
    return low + (high - low) * truth_uniform(&state);
}

static unsigned draw_below(unsigned n)
{
    return (unsigned)(truth_next(&state) >> 33) % n;
}

/* Noise of unit variance and zero mean. */
static double draw_noise(unsigned kind)
{
    static const double sd = 0.8;
    const double u = truth_normal(&state);
    if (kind == 1) { /* Student, 3 degrees of freedom */
        double chi2 = 0.0;
        for (int i = 0; i < 3; i++) {
            const double v = truth_normal(&state);
            chi2 += v * v;
        }
        return u / sqrt(chi2 / 3.0) / sqrt(3.0);
    }
    const double mean = exp(sd * sd / 2.0);
    return kind == 0 ? u : (exp(sd * u) - mean) / sqrt((mean * mean - 1.0) * mean * mean);
}

static double multiply_rows(const double x[TRAVEL_P], const double y[TRAVEL_P])
{
    double sum = 0.0;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        sum += x[j] * y[j];
    }
    return sum;
}

static double deviation_s(double turn, double drive)
{
    return (turn > 0.0 ? -0.06 * exp(-turn / 0.4) : 0.0) +
           (drive > 0.0 ? -0.06 * exp(-drive / 0.12) : 0.0) +
           (turn > 0.0 && drive > 0.0 ? 0.015 : 0.0);
}

static void draw_lab(double late)
{
    static const double offset_sd[TRAVEL_P] = {0.01, 0.01, 0.01, 0.006, 0.012};
    const unsigned kind = draw_below(3);
    const bool grows = draw_below(2) == 1;
    const bool deviates = draw_below(2) == 1;
    const double sd_s = draw_between(0.006, 0.025);
    double offset[TRAVEL_P];
    double step[2];
    double mean_s = 0.0;
    lab.drift = (enum drift)draw_below(DRIFTS);
    lab.jump = 50 + draw_below(100);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        offset[j] = offset_sd[j] * truth_normal(&state);
    }
    step[0] = draw_below(2) ? 0.03 : -0.03;
    step[1] = draw_below(2) ? 0.06 : -0.06;
    for (size_t k = 0; k < MOVES; k++) {
        double x[TRAVEL_P];
        const unsigned class = draw_below(3);
        lab.turn[k] = class == 1 ? 0.0 : draw_between(0.3, 3.0);
        lab.drive[k] = class == 0 ? 0.0 : draw_between(0.1, 1.0);
        travel_row(lab.turn[k], lab.drive[k], x);
        lab.nominal_s[k] = multiply_rows(x, NOMINAL);
        mean_s += lab.nominal_s[k] / MOVES;
    }
    for (size_t k = 0; k < MOVES; k++) {
        double x[TRAVEL_P];
        travel_row(lab.turn[k], lab.drive[k], x);
        for (size_t j = 0; j < 2; j++) {
            offset[TRAVEL_INV_W + j] += lab.drift == JUMP && k == lab.jump ? step[j] : 0.0;
            offset[TRAVEL_INV_W + j] +=
                lab.drift == WALK ? (j ? 0.006 : 0.003) * truth_normal(&state) : 0.0;
        }
        lab.lag_s[k] =
            multiply_rows(x, offset) +
            (deviates ? deviation_s(lab.turn[k], lab.drive[k]) : 0.0) +
            sd_s * (grows ? 0.35 + 0.65 * lab.nominal_s[k] / mean_s : 1.0) * draw_noise(kind) +
            (truth_uniform(&state) < late ? draw_between(0.3, 3.0) : 0.0);
    }
}

/* ---- a pair ---- */

static struct {
    struct forecast forecast;
    struct forecast_move moves[FORECAST_WINDOW_MAX];
    size_t n;
} pair;

static void start_pair(void)
{
    forecast_init(&pair.forecast);
    pair.n = 0;
}

static struct forecast_past past_of(void)
{
    return (struct forecast_past){&pair.forecast, pair.moves, pair.n};
}

static void close_move(const struct forecast_made *made, double turn, double drive,
                       double real_s, double virtual_s)
{
    const struct forecast_outcome outcome[FORECAST_SIDES] = {
        {FORECAST_DONE, real_s},
        {isnan(virtual_s) ? FORECAST_NOT_ASKED : FORECAST_DONE, virtual_s}};
    struct forecast_move move = {.turn = turn, .drive = drive};
    const unsigned started =
        forecast_learn(&pair.forecast, made, turn, drive, outcome, move.lap_s);
    if (pair.n == FORECAST_WINDOW_MAX) {
        memmove(pair.moves, pair.moves + 1, --pair.n * sizeof *pair.moves);
    }
    pair.moves[pair.n++] = move;
    forecast_start(&pair.forecast, started, pair.moves, pair.n);
}

/* ---- one move at a time, against plain ACI ---- */

struct share {
    size_t count, of;
};

static void add_share(struct share *s, bool yes)
{
    s->count += yes;
    s->of++;
}

static void show_share(const char *name, const struct share *s)
{
    campaign_count(name, s->count, s->of);
}

static double ratio_of(const struct share *s)
{
    return s->of > 0 ? (double)s->count / (double)s->of : 1.0;
}

/* Widths of a method, and by which factor each would just hold. */
struct widths {
    double half_s[POINTS_MAX], factor[POINTS_MAX], length_s[POINTS_MAX];
    bool held[POINTS_MAX];
    size_t n;
};

static struct widths mine, plain;

static void add_width(struct widths *w, double half_s, double error_s, double length_s)
{
    CU_ASSERT_FATAL(w->n < POINTS_MAX);
    w->half_s[w->n] = half_s;
    w->factor[w->n] = isfinite(half_s) ? error_s / half_s : 0.0;
    w->held[w->n] = error_s <= half_s;
    w->length_s[w->n++] = length_s;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double find_quantile(const double *values, size_t n, double p)
{
    static double sorted[POINTS_MAX];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare_numbers);
    return sorted[(size_t)(p * (double)(n - 1) + 0.5)];
}

/* The median half width if all widths were scaled so that 95 % hold. */
static double find_equal_width(const struct widths *w)
{
    return find_quantile(w->half_s, w->n, 0.5) * find_quantile(w->factor, w->n, 0.95);
}

/* Plain ACI: least squares of all data, absolute errors, step 0.02. */
static struct {
    double a[TRAVEL_P][TRAVEL_P], b[TRAVEL_P], error_s[MOVES], alpha;
    size_t n;
} rival;

static double predict_rival(const double x[TRAVEL_P])
{
    double a[TRAVEL_P][TRAVEL_P];
    double b[TRAVEL_P];
    memcpy(a, rival.a, sizeof a);
    memcpy(b, rival.b, sizeof b);
    for (size_t i = 0; i < TRAVEL_P; i++) {
        a[i][i] += 1e-3;
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t k = i + 1; k < TRAVEL_P; k++) {
            const double f = a[k][i] / a[i][i];
            for (size_t j = i; j < TRAVEL_P; j++) {
                a[k][j] -= f * a[i][j];
            }
            b[k] -= f * b[i];
        }
    }
    for (size_t i = TRAVEL_P; i-- > 0;) {
        for (size_t j = i + 1; j < TRAVEL_P; j++) {
            b[i] -= a[i][j] * b[j];
        }
        b[i] /= a[i][i];
    }
    return multiply_rows(x, b);
}

static void step_rival(size_t k)
{
    double x[TRAVEL_P];
    double sorted[MOVES];
    travel_row(lab.turn[k], lab.drive[k], x);
    const double error_s = fabs(lab.lag_s[k] - predict_rival(x));
    if (rival.n >= 9) {
        memcpy(sorted, rival.error_s, rival.n * sizeof *sorted);
        qsort(sorted, rival.n, sizeof *sorted, compare_numbers);
        const size_t rank = (size_t)(rival.alpha * (double)(rival.n + 1) + 1e-9);
        const double half_s = rank >= 1 ? sorted[rival.n - rank] : 1.3 * sorted[rival.n - 1];
        const double next = rival.alpha + 0.02 * (0.05 - (error_s > half_s));
        rival.alpha = fmin(fmax(next, 0.002), 0.3);
        if (k >= FROM) {
            add_width(&plain, half_s, error_s, lab.nominal_s[k]);
        }
    }
    if (k >= 10) {
        rival.error_s[rival.n++] = error_s;
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t j = 0; j < TRAVEL_P; j++) {
            rival.a[i][j] += x[i] * x[j];
        }
        rival.b[i] += x[i] * lab.lag_s[k];
    }
}

static struct {
    struct share held, held90, jump, yes_wrong, no_wrong;
    struct share sum[SUMS], calm[SUMS], team[DRIFTS];
    size_t low_labs, yes, asked;
} found;

static void check_sums(size_t k)
{
    const struct forecast_past past = past_of();
    for (size_t i = 0; i < SUMS && k >= 60; i++) {
        struct forecast_move moves[32];
        double sum_s = 0.0;
        if (k + LENGTHS[i] > MOVES) {
            continue;
        }
        for (size_t m = 0; m < LENGTHS[i]; m++) {
            moves[m] = (struct forecast_move){lab.turn[k + m], lab.drive[k + m], {0}};
            sum_s += lab.lag_s[k + m];
        }
        const struct forecast_sum sum =
            forecast_sum(&past, moves, LENGTHS[i], FORECAST_LAG, FORECAST_95);
        if (!isfinite(sum.high_s)) {
            continue;
        }
        const bool held = sum.low_s <= sum_s && sum_s <= sum.high_s;
        add_share(&found.sum[i], held);
        if (lab.drift == NO_DRIFT) {
            add_share(&found.calm[i], held);
        }
    }
}

/* Draws the next laps as a team's prediction does: does their sum lie within P05 .. P95? */
static void check_team(size_t k)
{
    enum { AHEAD = 8, RUNS = 400 };
    static uint64_t own_state = 7; /* the labs stay those of the other checks */
    const struct forecast_past past = past_of();
    struct forecast_law law;
    struct forecast_ahead ahead = {0};
    double spread_s[AHEAD];
    double sums_s[RUNS];
    double expected_s = 0.0;
    double took_s = 0.0;
    if (k + AHEAD > MOVES || !forecast_find_law(&pair.forecast, FORECAST_REAL_LAP, &law)) {
        return;
    }
    for (size_t i = 0; i < AHEAD; i++) {
        double x[TRAVEL_P];
        travel_row(lab.turn[k + i], lab.drive[k + i], x);
        expected_s += forecast_law_lap(&law, x, &spread_s[i]);
        forecast_add_ahead(&ahead, x, spread_s[i]);
        took_s += lab.nominal_s[k + i] + lab.lag_s[k + i];
    }
    const double sd = forecast_common_sd(&past, FORECAST_REAL_LAP, &law, &ahead);
    for (size_t run = 0; run < RUNS; run++) {
        const double common = sd * truth_normal(&own_state);
        sums_s[run] = expected_s;
        for (size_t i = 0; i < AHEAD; i++) {
            const size_t at = (size_t)(truth_uniform(&own_state) * (double)law.count);
            sums_s[run] += spread_s[i] * (law.score[at] + common);
        }
    }
    if (!isnan(sums_s[0])) {
        qsort(sums_s, RUNS, sizeof *sums_s, compare_numbers);
        add_share(&found.team[lab.drift],
                  sums_s[RUNS / 20] <= took_s && took_s <= sums_s[RUNS - RUNS / 20]);
    }
}

static void check_trust(size_t k)
{
    const struct forecast_past past = past_of();
    const struct forecast_move move = {lab.turn[k], lab.drive[k], {0}};
    const struct forecast_trust trust =
        forecast_trust(&past, &move, 1, 0.05, (double)NAN, FORECAST_95);
    const bool within = fabs(lab.lag_s[k]) <= 0.05;
    found.asked++;
    if (trust.answer == FORECAST_YES) {
        add_share(&found.yes_wrong, !within);
    } else if (trust.answer == FORECAST_NO) {
        add_share(&found.no_wrong, within);
    }
}

static void run_lab(size_t number)
{
    struct share own = {0};
    start_pair();
    memset(&rival, 0, sizeof rival);
    rival.alpha = 0.05;
    for (size_t k = 0; k < MOVES; k++) {
        struct forecast_made made = {0};
        const double lag_s = lab.lag_s[k];
        forecast_predict(&pair.forecast, lab.turn[k], lab.drive[k], ~0U, &made, NULL);
        const struct forecast_interval at95 =
            forecast_interval(&made, FORECAST_LAG, FORECAST_95);
        const struct forecast_interval at90 =
            forecast_interval(&made, FORECAST_LAG, FORECAST_90);
        if (k >= FROM && !isnan(at95.high_s)) {
            const bool held = lag_s >= at95.low_s && lag_s <= at95.high_s;
            add_share(&own, held);
            add_share(&found.held90, lag_s >= at90.low_s && lag_s <= at90.high_s);
            add_width(&mine, (at95.high_s - at95.low_s) / 2.0, fabs(lag_s - at95.expected_s),
                      lab.nominal_s[k]);
            if (lab.drift == JUMP && k >= lab.jump && k < lab.jump + JUMP_MOVES) {
                add_share(&found.jump, held);
            }
            check_trust(k);
        }
        if (k % 9 == number % 9) {
            check_sums(k);
        }
        if (k >= 80 && k % 15 == number % 15) {
            check_team(k);
        }
        step_rival(k);
        close_move(&made, lab.turn[k], lab.drive[k], lab.nominal_s[k] + lag_s,
                   lab.nominal_s[k]);
    }
    found.held.count += own.count;
    found.held.of += own.of;
    found.low_labs += ratio_of(&own) < 0.90;
}

static struct share find_longest(const struct widths *w)
{
    const double limit_s = find_quantile(w->length_s, w->n, 0.9);
    struct share out = {0};
    for (size_t i = 0; i < w->n; i++) {
        if (w->length_s[i] > limit_s) {
            add_share(&out, w->held[i]);
        }
    }
    return out;
}

static void run_labs(const char *row, double late)
{
    memset(&found, 0, sizeof found);
    mine.n = plain.n = 0;
    for (size_t i = 0; i < campaign.runs; i++) {
        draw_lab(late);
        run_lab(i);
    }
    const struct share longest = find_longest(&mine);
    campaign_row("moves", campaign.runs, "%s", row);
    show_share("held", &found.held);
    show_share("held_90", &found.held90);
    show_share("longest_tenth", &longest);
    show_share("after_jump", &found.jump);
    campaign_count("labs_below_90", found.low_labs, campaign.runs);
    campaign_value("half_width_ms", 1e3 * find_quantile(mine.half_s, mine.n, 0.5));
    campaign_value("equal_width_ms", 1e3 * find_equal_width(&mine));
    campaign_value("plain_equal_ms", 1e3 * find_equal_width(&plain));
    campaign_count("yes", found.yes_wrong.of, found.asked);
    show_share("yes_wrong", &found.yes_wrong);
    show_share("no_wrong", &found.no_wrong);
    campaign_end();
    campaign_row("missions", campaign.runs, "%s", row);
    for (size_t i = 0; i < SUMS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "held_%u", LENGTHS[i]);
        show_share(name, &found.sum[i]);
        (void)snprintf(name, sizeof name, "calm_%u", LENGTHS[i]);
        show_share(name, &found.calm[i]);
    }
    campaign_end();
}

/* Shares are of correlated draws: a short form wanders by more. */
static double allow_chance(void)
{
    return campaign.runs >= 200 ? 0.0 : 0.02;
}

static void test_labs(void)
{
    static const double sums[SUMS] = {0.91, 0.91, 0.88, 0.84};
    run_labs("no late replies", 0.0);
    const struct share longest = find_longest(&mine);
    CHECK("coverage", ratio_of(&found.held) >= 0.94 - allow_chance());
    CHECK("coverage", ratio_of(&found.held) <= 0.97 + allow_chance());
    CHECK("longest tenth", ratio_of(&longest) >= 0.93 - allow_chance());
    CHECK("no lab below 0.90", found.low_labs == 0);
    CHECK("after a jump", ratio_of(&found.jump) >= 0.83 - 2.0 * allow_chance());
    CHECK("narrower than plain ACI",
          find_equal_width(&mine) <= (0.88 + allow_chance()) * find_equal_width(&plain));
    struct share team = {0};
    for (enum drift d = NO_DRIFT; d < DRIFTS; d++) {
        team.count += found.team[d].count;
        team.of += found.team[d].of;
    }
    CHECK("laps of a team", ratio_of(&team) >= 0.85 - 2.0 * allow_chance());
    CHECK("and of robots that drift",
          ratio_of(&found.team[WALK]) >= 0.85 - 3.0 * allow_chance());
    CHECK("wrong yes", ratio_of(&found.yes_wrong) <= 0.03 + allow_chance());
    CHECK("wrong no",
          found.no_wrong.of == 0 || ratio_of(&found.no_wrong) <= 0.03 + allow_chance());
    for (size_t i = 0; i < SUMS; i++) {
        CHECK("missions", ratio_of(&found.sum[i]) >= sums[i] - 2.0 * allow_chance());
        CHECK("calm missions", ratio_of(&found.calm[i]) >= 0.93 - 2.0 * allow_chance());
    }
}

static void test_late(void)
{
    run_labs("5 % late replies", 0.05);
    CHECK("coverage", ratio_of(&found.held) >= 0.94 - allow_chance());
}

/* ---- open commands ---- */

static void test_open(void)
{
    enum { SPREADS = 3 };
    for (int late = 0; late < 2; late++) {
        struct share held[SPREADS] = {{0}};
        struct share open_end[SPREADS] = {{0}};
        for (size_t i = 0; i < campaign.runs; i++) {
            draw_lab(late ? 0.05 : 0.0);
            start_pair();
            for (size_t k = 0; k < MOVES; k++) {
                struct forecast_made made = {0};
                const double lap_s = lab.nominal_s[k] + lab.lag_s[k];
                forecast_predict(&pair.forecast, lab.turn[k], lab.drive[k], ~0U, &made, NULL);
                for (size_t d = 0; d < SPREADS && k >= FROM; d++) {
                    int longer = 0;
                    const double elapsed_s = made.expected_s[0] + (double)d * made.scale_s[0];
                    if (lap_s > elapsed_s) {
                        const struct forecast_interval lap =
                            forecast_open(&pair.forecast, &made, FORECAST_REAL_LAP, FORECAST_95,
                                          elapsed_s, &longer);
                        add_share(&held[d], lap_s <= lap.high_s);
                        add_share(&open_end[d], isinf(lap.high_s));
                    }
                }
                close_move(&made, lab.turn[k], lab.drive[k], lap_s, lab.nominal_s[k]);
            }
        }
        campaign_row("open", campaign.runs, late ? "5 %% late replies" : "no late replies");
        for (size_t d = 0; d < SPREADS; d++) {
            char name[24];
            (void)snprintf(name, sizeof name, "held_after_%zu", d);
            show_share(name, &held[d]);
            (void)snprintf(name, sizeof name, "no_end_after_%zu", d);
            show_share(name, &open_end[d]);
            CHECK("open commands", ratio_of(&held[d]) >= 0.94 - allow_chance());
        }
        campaign_end();
    }
}

/* ---- another simulator ---- */

static void test_promotion(void)
{
    enum { AT = 100, FIRST = 10 };
    static const char *const policies[] = {"change known", "change unknown"};
    for (size_t policy = 0; policy < COUNT(policies); policy++) {
        struct share before = {0};
        struct share first = {0};
        size_t answered = 0;
        for (size_t i = 0; i < campaign.runs; i++) {
            double own[TRAVEL_P] = {0.02, 0.05, 0.08};
            double next[TRAVEL_P];
            double change[TRAVEL_P];
            own[TRAVEL_INV_W] = 1.0 / (1.2 * draw_between(0.7, 1.3));
            own[TRAVEL_INV_V] = 1.0 / (0.5 * draw_between(0.7, 1.3));
            const double real_sd_s = draw_between(0.008, 0.025);
            const double virtual_sd_s = draw_between(0.002, 0.008);
            for (size_t j = 0; j < TRAVEL_P; j++) {
                change[j] = NOMINAL[j] - own[j];
                next[j] = NOMINAL[j] * (1.0 + 0.01 * truth_normal(&state));
            }
            start_pair();
            for (size_t k = 0; k < AT + 30; k++) {
                struct forecast_made made = {0};
                double x[TRAVEL_P];
                const unsigned class = draw_below(3);
                const double turn = class == 1 ? 0.0 : draw_between(0.3, 3.0);
                const double drive = class == 0 ? 0.0 : draw_between(0.1, 1.0);
                travel_row(turn, drive, x);
                if (k == AT) {
                    forecast_change_virtual(&pair.forecast, policy == 0 ? change : NULL);
                    for (size_t m = 0; m < pair.n; m++) {
                        pair.moves[m].lap_s[FORECAST_VIRTUAL_LAP] = (double)NAN;
                    }
                }
                forecast_predict(&pair.forecast, turn, drive, ~0U, &made, NULL);
                const double real_s =
                    multiply_rows(x, NOMINAL) + real_sd_s * truth_normal(&state);
                const double virtual_s =
                    multiply_rows(x, k < AT ? own : next) + virtual_sd_s * truth_normal(&state);
                const double lag_s = real_s - virtual_s;
                const struct forecast_interval lag =
                    forecast_interval(&made, FORECAST_LAG, FORECAST_95);
                const bool held = lag_s >= lag.low_s && lag_s <= lag.high_s;
                if (k >= AT - 40 && k < AT) {
                    add_share(&before, held);
                } else if (k >= AT && !isnan(lag.high_s)) {
                    answered += k < AT + FIRST;
                    if (policy == 1 || k < AT + FIRST) {
                        add_share(&first, held);
                    }
                }
                close_move(&made, turn, drive, real_s, virtual_s);
            }
        }
        campaign_row("promotion", campaign.runs, "%s", policies[policy]);
        show_share("held_before", &before);
        campaign_count("answered_first_ten", answered, FIRST * campaign.runs);
        show_share("held_after", &first);
        campaign_end();
        CHECK("promotion", ratio_of(&first) >= 0.92 - allow_chance());
    }
}

/* ---- repeated tasks, against the mean of earlier equal ones ---- */

static void test_tasks(void)
{
    enum { TASKS = 12, REPEATS = 160 };
    for (int late = 0; late < 2; late++) {
        double mine_s = 0.0;
        double mean_s = 0.0;
        size_t count = 0;
        for (size_t i = 0; i < campaign.runs; i++) {
            double beta[TRAVEL_P];
            double size[TASKS][2];
            double sum_s[TASKS] = {0};
            size_t times[TASKS] = {0};
            const double sd_s = draw_between(0.01, 0.03);
            memcpy(beta, NOMINAL, sizeof beta);
            for (size_t t = 0; t < TASKS; t++) {
                size[t][0] = t % 3 == 1 ? 0.0 : draw_between(0.3, 3.0);
                size[t][1] = t % 3 == 0 ? 0.0 : draw_between(0.1, 1.0);
            }
            start_pair();
            for (size_t k = 0; k < REPEATS; k++) {
                struct forecast_made made = {0};
                double x[TRAVEL_P];
                const size_t t = draw_below(TASKS);
                beta[TRAVEL_INV_W] *= 1.0 + 0.004 * truth_normal(&state);
                beta[TRAVEL_INV_V] *= 1.0 + 0.004 * truth_normal(&state);
                travel_row(size[t][0], size[t][1], x);
                const double lap_s =
                    multiply_rows(x, beta) + sd_s * truth_normal(&state) +
                    (truth_uniform(&state) < 0.05 * late ? draw_between(0.3, 3.0) : 0.0);
                forecast_predict(&pair.forecast, size[t][0], size[t][1], 1U, &made, NULL);
                if (k >= FROM && times[t] > 0) {
                    mine_s += fabs(lap_s - made.expected_s[0]);
                    mean_s += fabs(lap_s - sum_s[t] / (double)times[t]);
                    count++;
                }
                sum_s[t] += lap_s;
                times[t]++;
                close_move(&made, size[t][0], size[t][1], lap_s, (double)NAN);
            }
        }
        campaign_row("tasks", campaign.runs, late ? "5 %% late replies" : "no late replies");
        campaign_value("error_ms", 1e3 * mine_s / (double)count);
        campaign_value("mean_error_ms", 1e3 * mean_s / (double)count);
        campaign_end();
        CHECK("repeated tasks", mine_s <= (0.85 + allow_chance()) * mean_s);
    }
}

/* ---- parts of a lag ---- */

/* A pair of known truth: a hundred usual commands, then one with a cause. */
static enum entry_explained run_cause(enum entry_explained cause, double latency, double noise)
{
    enum { USUAL = 100 };
    const double beta[TRAVEL_P] = {0.28, 0.0, 0.0,
                                   1.0 / (1.2 * exp(0.2 * truth_normal(&state))),
                                   1.0 / (0.5 * exp(0.2 * truth_normal(&state)))};
    const double sd_s = draw_between(0.008, 0.02) * noise;
    const double size = exp(0.5 * truth_normal(&state));
    struct lag_usual usual = {0};
    struct entry_parts parts = {0};
    start_pair();
    for (size_t k = 0; k <= USUAL; k++) {
        const unsigned class = draw_below(3);
        const double turn = class == 1 ? 0.0 : draw_between(0.3, 3.0);
        const double drive = class == 0 ? 0.0 : draw_between(0.1, 1.0);
        const bool last = k == USUAL;
        struct forecast_made made = {0};
        double x[TRAVEL_P];
        double transport_s[2] = {-0.004 * latency * log(draw_between(0.0, 1.0)),
                                 -0.002 * log(draw_between(0.0, 1.0))};
        double wait_s[2] = {0.01 - 0.003 * latency * log(draw_between(0.0, 1.0)),
                            0.005 - 0.002 * log(draw_between(0.0, 1.0))};
        travel_row(turn, drive, x);
        const double base_s = multiply_rows(x, beta);
        double motion_s[2] = {base_s + sd_s * truth_normal(&state),
                              base_s + 0.003 * noise * truth_normal(&state)};
        double pace = 1.0;
        transport_s[0] += last && cause == ENTRY_BY_TRANSPORT ? 0.12 * size + 0.05 : 0.0;
        wait_s[0] += last && cause == ENTRY_BY_WAITING ? 0.1 * size + 0.08 : 0.0;
        motion_s[0] += last && cause == ENTRY_BY_MOTION ? 0.15 * size + 0.15 : 0.0;
        pace += last && cause == ENTRY_BY_PACE
                    ? (draw_below(2) ? 1.0 : -1.0) * (0.03 + 0.06 * size)
                    : 0.0;
        motion_s[1] /= pace;
        forecast_predict(&pair.forecast, turn, drive, ~0U, &made, NULL);
        const struct forecast_interval lag =
            forecast_interval(&made, FORECAST_LAG, FORECAST_95);
        struct lag_measures m = {.pace = pace + 0.004 * truth_normal(&state),
                                 .low_s = lag.low_s,
                                 .high_s = lag.high_s,
                                 .tolerance_us = 50000};
        double lap_s[2];
        for (size_t s = 0; s < 2; s++) {
            lap_s[s] = wait_s[s] + motion_s[s] + transport_s[s];
            m.lap_us[s] = llround(1e6 * lap_s[s]);
            m.expected_s[s] = made.expected_s[s];
            m.transport_s[s] = transport_s[s];
            m.motion_s[s] = motion_s[s];
        }
        if (!isnan(lag.high_s)) {
            lag_parts_split(&usual, &m, &parts);
        }
        close_move(&made, turn, drive, lap_s[0], lap_s[1]);
    }
    return parts.explained;
}

static void test_parts(void)
{
    static const struct {
        const char *row;
        double latency, noise, right;
    } rows[] = {{"quiet", 1.0, 1.0, 0.95}, {"8 x latency, 2.5 x noise", 8.0, 2.5, 0.75}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct share right = {0};
        for (size_t k = 0; k < campaign.runs; k++) {
            const enum entry_explained cause = (enum entry_explained)(k % ENTRY_NOT_EXPLAINED);
            add_share(&right, run_cause(cause, rows[i].latency, rows[i].noise) == cause);
        }
        campaign_row("parts", campaign.runs, "%s", rows[i].row);
        show_share("right", &right);
        campaign_end();
        CHECK(rows[i].row, campaign_is_enough(right.count, right.of, rows[i].right));
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("forecast_coverage", 71, 200, POINTS_MAX / MOVES);
    state = UINT64_C(0x9E3779B97F4A7C15) * (campaign.seed + 1);
    CU_add_test(suite, "labs", test_labs);
    CU_add_test(suite, "late replies", test_late);
    CU_add_test(suite, "open commands", test_open);
    CU_add_test(suite, "promotion", test_promotion);
    CU_add_test(suite, "repeated tasks", test_tasks);
    CU_add_test(suite, "parts of a lag", test_parts);
    return check_run();
}
