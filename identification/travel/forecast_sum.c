#include "identification/travel/forecast_sum.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include "identification/numeric/dot.h"
#include "identification/travel/forecast_parts.h"
#include "identification/travel/forecast_thresholds.def"

/* A move with a value of the quantity. */
struct past_row {
    double x[TRAVEL_P], value_s, lap_s[FORECAST_SIDES];
    double spread_s; /* at its length, by the present fit */
};

/* A question about the sum of moves of one quantity. */
struct question {
    const struct forecast *forecast;
    enum forecast_quantity q;
    unsigned sides; /* bits: fits that it needs */
    struct forecast_solution present[FORECAST_SIDES];
    const struct forecast_solution *lengths; /* gives the length of a move */
    struct past_row row[FORECAST_WINDOW_MAX];
    size_t n;
};

static double spread_of(const struct question *ask, const double x[TRAVEL_P])
{
    return forecast_spread_at(&ask->forecast->spread[ask->q],
                              fmax(dot_product(x, ask->lengths->beta, TRAVEL_P), 0.0));
}

/* Returns the expected sum of moves with these summed rows. */
static double expect_sum(const struct question *ask,
                         const struct forecast_solution solution[FORECAST_SIDES],
                         const double x[TRAVEL_P])
{
    double sum = 0.0;
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        const double lap_s =
            ask->sides >> k & 1U ? dot_product(x, solution[k].beta, TRAVEL_P) : 0.0;
        sum += ask->q == FORECAST_LAG && k == FORECAST_VIRTUAL_LAP ? -lap_s : lap_s;
    }
    return sum;
}

static double largest_leverage(const struct question *ask,
                               const struct forecast_solution solution[FORECAST_SIDES],
                               const double x[TRAVEL_P])
{
    double h = 0.0;
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        h = ask->sides >> k & 1U ? fmax(h, forecast_leverage(&solution[k], x)) : h;
    }
    return h;
}

static void read_rows(struct question *ask, const struct forecast_past *past)
{
    for (size_t i = 0; i < past->n && ask->n < FORECAST_WINDOW_MAX; i++) {
        const struct forecast_move *move = &past->moves[i];
        struct past_row *row = &ask->row[ask->n];
        row->value_s = ask->q == FORECAST_LAG
                           ? move->lap_s[FORECAST_REAL_LAP] - move->lap_s[FORECAST_VIRTUAL_LAP]
                           : move->lap_s[ask->q];
        if (isnan(row->value_s)) {
            continue;
        }
        travel_row(move->turn, move->drive, row->x);
        memcpy(row->lap_s, move->lap_s, sizeof row->lap_s);
        row->spread_s = spread_of(ask, row->x);
        ask->n++;
    }
}

/* Returns the score of the sequence of count moves from row first on, by the fits of its
 * time. */
static double score_sequence(const struct question *ask, size_t first, size_t count,
                             const struct forecast_solution solution[FORECAST_SIDES])
{
    double x[TRAVEL_P] = {0};
    double value_s = 0.0;
    double variance = 0.0;
    for (size_t i = first; i < first + count; i++) {
        const struct past_row *row = &ask->row[i];
        for (size_t j = 0; j < TRAVEL_P; j++) {
            x[j] += row->x[j];
        }
        value_s += row->value_s;
        variance += row->spread_s * row->spread_s;
    }
    const double h = largest_leverage(ask, solution, x);
    const double error_s = fabs(value_s - expect_sum(ask, solution, x));
    return isfinite(error_s) ? error_s / sqrt(variance * (1.0 + h / (double)count))
                             : (double)INFINITY;
}

/* Runs the fits again over the window; scores: of each sequence. Returns their number. */
static size_t score_past(const struct question *ask, size_t count,
                         double scores[FORECAST_WINDOW_MAX])
{
    struct forecast_fit fit[FORECAST_SIDES] = {0};
    struct forecast_solution solution[FORECAST_SIDES];
    size_t m = 0;
    for (size_t i = 0; i + count <= ask->n; i++) {
        const struct past_row *row = &ask->row[i];
        for (size_t k = 0; k < FORECAST_SIDES; k++) {
            forecast_solve(&fit[k], &solution[k]);
        }
        if (i >= FORECAST_MOVES_MIN) {
            scores[m++] = score_sequence(ask, i, count, solution);
        }
        for (size_t k = 0; k < FORECAST_SIDES; k++) {
            if (!(ask->sides >> k & 1U) || !isfinite(row->lap_s[k])) {
                continue;
            }
            const bool any = fit[k].count > 0;
            const double h = any ? forecast_leverage(&solution[k], row->x) : 0.0;
            const double limit_s = fit[k].count >= FORECAST_MOVES_MIN
                                       ? CUT_SPREADS * row->spread_s * sqrt(1.0 + h)
                                       : (double)INFINITY;
            forecast_add_lap(&fit[k], any ? &solution[k] : NULL, row->x, row->lap_s[k],
                             limit_s);
        }
    }
    return m;
}

/* Overlapping sequences count as m / block independent ones: Student's quantile over the
 * normal one. */
static double stretch_bound(enum forecast_level level, double freedom)
{
    const double p = 1.0 - 0.5 * forecast_tail(level) / FORECAST_LEVEL_UNITS;
    return gsl_cdf_tdist_Pinv(p, freedom) / gsl_cdf_ugaussian_Pinv(p);
}

static void begin_question(struct question *ask, const struct forecast *f,
                           enum forecast_quantity q)
{
    ask->forecast = f;
    ask->q = q;
    ask->n = 0;
    ask->sides = q == FORECAST_LAG ? (1U << FORECAST_SIDES) - 1 : 1U << q;
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        forecast_solve(&f->fit[k], &ask->present[k]);
    }
    const bool real = f->fit[FORECAST_REAL_LAP].count >= FORECAST_MOVES_MIN;
    ask->lengths = &ask->present[real ? FORECAST_REAL_LAP : FORECAST_VIRTUAL_LAP];
}

void forecast_add_ahead(struct forecast_ahead *ahead, const double x[TRAVEL_P], double spread_s)
{
    ahead->count++;
    ahead->spread_s += spread_s;
    ahead->spread2_s2 += spread_s * spread_s;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        ahead->x[j] += x[j];
    }
}

/* Past sequences of as many moves. Many moves are several sequences, whose errors add up. */
struct sequences {
    double score[FORECAST_WINDOW_MAX];
    size_t count;
    double times;          /* number of sequences in the moves */
    double stretch, wider; /* of a bound, and of a variance: by the leverage */
};

static void score_sequences(const struct question *ask, const struct forecast_ahead *ahead,
                            enum forecast_level level, struct sequences *out)
{
    double x[TRAVEL_P];
    const size_t block = ahead->count < SUM_MOVES_MAX ? ahead->count : SUM_MOVES_MAX;
    out->times = (double)ahead->count / (double)block;
    out->count = score_past(ask, block, out->score);
    out->stretch = stretch_bound(level, (double)out->count / (double)block + 1.0);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        x[j] = ahead->x[j] / out->times;
    }
    out->wider = 1.0 + largest_leverage(ask, ask->present, x) / (double)block;
}

struct forecast_sum forecast_sum(const struct forecast_past *past,
                                 const struct forecast_move *moves, size_t count,
                                 enum forecast_quantity q, enum forecast_level level)
{
    struct question ask;
    struct forecast_made made = {0};
    struct forecast_ahead ahead = {0};
    struct sequences known;
    struct forecast_sum out = {false, (double)NAN, (double)NAN, (double)NAN, 0};
    forecast_predict(past->forecast, moves[0].turn, moves[0].drive, ~0U, &made, NULL);
    if (!forecast_knows(&made, q)) {
        return out;
    }
    if (count == 1) {
        const struct forecast_interval one = forecast_interval(&made, q, level);
        return (struct forecast_sum){true, one.expected_s, one.low_s, one.high_s,
                                     past->forecast->scores[q]};
    }
    begin_question(&ask, past->forecast, q);
    read_rows(&ask, past);
    for (size_t i = 0; i < count; i++) {
        double x[TRAVEL_P];
        travel_row(moves[i].turn, moves[i].drive, x);
        forecast_add_ahead(&ahead, x, spread_of(&ask, x));
    }
    out.known = true;
    out.expected_s = expect_sum(&ask, ask.present, ahead.x);
    score_sequences(&ask, &ahead, level, &known);
    out.windows = known.count;
    if (out.windows < SCORES_FULL) {
        return out;
    }
    gsl_sort(known.score, 1, out.windows);
    const double bound =
        known.score[out.windows - forecast_rank(forecast_tail(level), out.windows)] *
        known.stretch;
    const double half_s =
        bound * sqrt(ahead.spread2_s2 / known.times * known.wider) * known.times;
    const double low_s = out.expected_s - half_s;
    out.low_s = q < FORECAST_LAG && low_s < 0.0 ? 0.0 : low_s; /* no lap is below */
    out.high_s = out.expected_s + half_s;
    return out;
}

/* ---- simulated laps ---- */

bool forecast_find_law(const struct forecast *f, enum forecast_quantity side,
                       struct forecast_law *law)
{
    struct question ask;
    double sum = 0.0;
    double squares = 0.0;
    begin_question(&ask, f, side);
    law->fit = ask.present[side];
    law->spread = f->spread[side];
    memcpy(law->length, ask.lengths->beta, sizeof law->length);
    law->count = forecast_scores(f, side, law->score);
    for (size_t i = 0; i < law->count; i++) {
        sum += law->score[i];
        squares += law->score[i] * law->score[i];
    }
    const double mean = sum / (double)law->count;
    law->variance = squares / (double)law->count - mean * mean;
    return law->count >= SCORES_FULL;
}

double forecast_law_lap(const struct forecast_law *law, const double x[TRAVEL_P],
                        double *spread_s)
{
    *spread_s =
        forecast_spread_at(&law->spread, fmax(dot_product(x, law->length, TRAVEL_P), 0.0));
    return forecast_leverage(&law->fit, x) <= LEVERAGE_MAX
               ? dot_product(x, law->fit.beta, TRAVEL_P)
               : (double)NAN;
}

double forecast_common_sd(const struct forecast_past *past, enum forecast_quantity side,
                          const struct forecast_law *law, const struct forecast_ahead *ahead)
{
    struct question ask;
    struct sequences known;
    double squares = 0.0;
    size_t finite = 0;
    if (ahead->count == 0) {
        return 0.0;
    }
    begin_question(&ask, past->forecast, side);
    read_rows(&ask, past);
    score_sequences(&ask, ahead, FORECAST_90, &known);
    for (size_t i = 0; i < known.count; i++) {
        const bool ended = isfinite(known.score[i]);
        squares += ended ? known.score[i] * known.score[i] : 0.0;
        finite += ended;
    }
    if (finite < SCORES_FULL) {
        return (double)NAN;
    }
    const double together =
        squares / (double)finite * known.wider * known.stretch * known.stretch * known.times;
    return sqrt(fmax(together - law->variance, 0.0) * ahead->spread2_s2) / ahead->spread_s;
}

/* ---- may the twin be trusted? ---- */

void forecast_range(const struct forecast_past *past, enum forecast_quantity q, bool drive,
                    double range[2])
{
    range[0] = range[1] = (double)NAN;
    for (size_t i = 0; i < past->n; i++) {
        const struct forecast_move *move = &past->moves[i];
        double x[TRAVEL_P];
        travel_row(move->turn, move->drive, x);
        const double size = x[drive ? TRAVEL_INV_V : TRAVEL_INV_W];
        const bool known =
            (q == FORECAST_VIRTUAL_LAP || !isnan(move->lap_s[FORECAST_REAL_LAP])) &&
            (q == FORECAST_REAL_LAP || !isnan(move->lap_s[FORECAST_VIRTUAL_LAP]));
        if (size > 0.0 && known) {
            range[0] = fmin(range[0], size); /* of a number and NaN it is the number */
            range[1] = fmax(range[1], size);
        }
    }
}

static bool is_outside(const struct forecast_past *past, enum forecast_quantity q, bool drive,
                       double size)
{
    double range[2];
    if (!(size > 0.0)) {
        return false;
    }
    forecast_range(past, q, drive, range);
    return !(size >= (1.0 - RANGE_RATIO) * range[0] && size <= (1.0 + RANGE_RATIO) * range[1]);
}

enum forecast_why forecast_beyond(const struct forecast_past *past, enum forecast_quantity q,
                                  const struct forecast_move *move, double leverage)
{
    double x[TRAVEL_P];
    travel_row(move->turn, move->drive, x);
    return is_outside(past, q, false, x[TRAVEL_INV_W])  ? FORECAST_NEW_ROTATION
           : is_outside(past, q, true, x[TRAVEL_INV_V]) ? FORECAST_NEW_DISPLACEMENT
           : leverage > LEVERAGE_MAX                    ? FORECAST_NEW_KIND
                                                        : FORECAST_WITHIN;
}

/* Checks what the forecasts rest on, before their numbers count. */
static bool find_doubt(const struct forecast_past *past, const struct forecast_move *moves,
                       size_t count, enum forecast_level level, struct forecast_trust *out)
{
    const struct forecast *f = past->forecast;
    double leverage[FORECAST_QUANTITIES];
    double ci95[2];
    for (out->move = 0; out->move < count; out->move++) {
        struct forecast_made made = {0};
        forecast_predict(f, moves[out->move].turn, moves[out->move].drive, ~0U, &made,
                         leverage);
        const bool ranked =
            forecast_interval(&made, FORECAST_LAG, level).basis == FORECAST_BASIS_RANKS;
        out->why = ranked ? forecast_beyond(past, FORECAST_LAG, &moves[out->move],
                                            leverage[FORECAST_LAG])
                          : FORECAST_FEW_MOVES;
        if (out->why != FORECAST_WITHIN) {
            return true;
        }
    }
    out->move = FORECAST_SUM_MAX;
    if (f->judged[FORECAST_LAG] < GAUGE_MIN) {
        return false;
    }
    forecast_wilson(forecast_held(f, FORECAST_LAG), f->judged[FORECAST_LAG], ci95);
    out->why = ci95[1] < 0.95 ? FORECAST_NOT_HELD : FORECAST_WITHIN;
    return out->why == FORECAST_NOT_HELD;
}

/* Returns how an interval of the lag lies to +-bound_s. */
static enum forecast_answer judge_interval(double low_s, double high_s, double bound_s)
{
    return low_s > bound_s || high_s < -bound_s   ? FORECAST_NO
           : high_s > bound_s || low_s < -bound_s ? FORECAST_NOT_KNOWN
                                                  : FORECAST_YES;
}

/* The first move that is outside of the bound decides, else the worst that may be. */
static enum forecast_answer judge_moves(const struct forecast_past *past,
                                        const struct forecast_move *moves, size_t count,
                                        double bound_s, enum forecast_level level,
                                        struct forecast_trust *out)
{
    enum forecast_answer answer = FORECAST_YES;
    double worst_s = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct forecast_made made = {0};
        forecast_predict(past->forecast, moves[i].turn, moves[i].drive, ~0U, &made, NULL);
        const struct forecast_interval lag = forecast_interval(&made, FORECAST_LAG, level);
        const enum forecast_answer own = judge_interval(lag.low_s, lag.high_s, bound_s);
        const double reach_s = fmax(lag.high_s, -lag.low_s);
        if (own == FORECAST_NO || (own == FORECAST_NOT_KNOWN && answer == FORECAST_YES) ||
            (own == answer && (i == 0 || reach_s > worst_s))) {
            const enum forecast_why why = own == FORECAST_YES ? FORECAST_WITHIN : FORECAST_MOVE;
            *out = (struct forecast_trust){own, why, i, lag.low_s, lag.high_s};
            answer = own;
            worst_s = reach_s;
        }
        if (own == FORECAST_NO) {
            break;
        }
    }
    return answer;
}

struct forecast_trust forecast_trust(const struct forecast_past *past,
                                     const struct forecast_move *moves, size_t count,
                                     double bound_s, double total_s, enum forecast_level level)
{
    struct forecast_trust out = {FORECAST_NOT_KNOWN, FORECAST_WITHIN, FORECAST_SUM_MAX,
                                 (double)NAN, (double)NAN};
    if (find_doubt(past, moves, count, level, &out)) {
        return out;
    }
    out.answer =
        isnan(bound_s) ? FORECAST_YES : judge_moves(past, moves, count, bound_s, level, &out);
    if (isnan(total_s) || out.answer == FORECAST_NO) {
        return out;
    }
    const struct forecast_sum sum = forecast_sum(past, moves, count, FORECAST_LAG, level);
    if (!isfinite(sum.high_s - sum.low_s)) {
        return (struct forecast_trust){FORECAST_NOT_KNOWN, FORECAST_FEW_MOVES, FORECAST_SUM_MAX,
                                       (double)NAN, (double)NAN};
    }
    const enum forecast_answer own = judge_interval(sum.low_s, sum.high_s, total_s);
    if (own == FORECAST_NO || (own == FORECAST_NOT_KNOWN && out.answer == FORECAST_YES)) {
        return (struct forecast_trust){own, FORECAST_TOTAL, FORECAST_SUM_MAX, sum.low_s,
                                       sum.high_s};
    }
    return out;
}

ENUM_NAMES(forecast_answer, FORECAST_ANSWERS, "yes", "no", "not known");
