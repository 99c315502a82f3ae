#include "identification/travel/forecast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "identification/numeric/dot.h"
#include "identification/numeric/share.h"
#include "identification/travel/forecast_parts.h"
#include "identification/travel/forecast_thresholds.def"

enum {
    UNIT = 64,      /* scores are stored in 1/64 of the spread */
    NO_END = 32767, /* a stored score: infinite, or beyond the range */
    NO_BOUND = INT16_MIN,
    START_ROUNDS = 15,
    START_FREE = 5 /* residuals that five terms can make small */
};

static_assert(sizeof(struct forecast_made) <= 64, "an open command stores at most 64 bytes");

/* ---- the fit ---- */

static double *at_triangle(double *m, size_t i, size_t j)
{
    return &m[i * (i + 1) / 2 + j];
}

/* Factors A + D. D makes it positive definite, also where a kind of move was never seen. The
 * diagonal holds inverses: a division costs as much as all of a row's products. */
static void factor_ridged(const double *a, double *root)
{
    for (size_t i = 0; i < TRAVEL_P; i++) {
        double *row = at_triangle(root, i, 0);
        for (size_t j = 0; j <= i; j++) {
            const double *other = at_triangle(root, j, 0);
            double sum = a[i * (i + 1) / 2 + j];
            sum += i == j ? RIDGE_RATIO * sum + RIDGE_LEAST : 0.0;
            for (size_t k = 0; k < j; k++) {
                sum -= row[k] * other[k];
            }
            row[j] = i == j ? 1.0 / sqrt(fmax(sum, RIDGE_LEAST * RIDGE_LEAST)) : sum * other[j];
        }
    }
}

/* Solves root z = x. */
static void solve_forward(const double *root, const double x[TRAVEL_P], double z[TRAVEL_P])
{
    for (size_t i = 0; i < TRAVEL_P; i++) {
        const double *row = &root[i * (i + 1) / 2];
        double sum = x[i];
        for (size_t k = 0; k < i; k++) {
            sum -= row[k] * z[k];
        }
        z[i] = sum * row[i];
    }
}

void forecast_solve(const struct forecast_fit *fit, struct forecast_solution *out)
{
    double z[TRAVEL_P];
    factor_ridged(fit->a, out->root);
    solve_forward(out->root, fit->b, z);
    for (size_t i = TRAVEL_P; i-- > 0;) {
        double sum = z[i];
        for (size_t k = i + 1; k < TRAVEL_P; k++) {
            sum -= out->root[k * (k + 1) / 2 + i] * out->beta[k];
        }
        out->beta[i] = sum * out->root[i * (i + 1) / 2 + i];
    }
}

double forecast_leverage(const struct forecast_solution *solution, const double x[TRAVEL_P])
{
    double z[TRAVEL_P];
    solve_forward(solution->root, x, z);
    return dot_product(z, z, TRAVEL_P);
}

static double clip_error(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

/* Adds weight x x' and weight x y, after the earlier ones are multiplied by keep. */
static void add_row(struct forecast_fit *fit, double keep, double weight,
                    const double x[TRAVEL_P], double y)
{
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t j = 0; j <= i; j++) {
            double *a = at_triangle(fit->a, i, j);
            *a = keep * *a + weight * (x[i] * x[j]);
        }
        fit->b[i] = keep * fit->b[i] + weight * (x[i] * y);
    }
}

void forecast_add_lap(struct forecast_fit *fit, const struct forecast_solution *solution,
                      const double x[TRAVEL_P], double lap_s, double limit_s)
{
    const double p = solution ? dot_product(x, solution->beta, TRAVEL_P) : 0.0;
    add_row(fit, FIT_KEEPS, 1.0, x, p + clip_error(lap_s - p, limit_s));
    fit->count++;
}

/* ---- the spread ---- */

double forecast_spread_at(const struct forecast_spread *s, double length_s)
{
    if (!(s->s0 > 0.0)) {
        return (double)INFINITY;
    }
    const double mean_length = s->s1 / s->s0;
    const double mean = s->t0 / s->s0;
    const double variance = s->s2 / s->s0 - mean_length * mean_length;
    const double covariance = s->t1 / s->s0 - mean_length * mean;
    const double slope = variance > 1e-9
                             ? fmax(0.0, covariance / (variance * (1.0 + SLOPE_PRIOR / s->s0)))
                             : 0.0;
    return fmax(fmax(mean + slope * (length_s - mean_length), SPREAD_RATIO_LEAST * mean),
                SPREAD_LEAST_S);
}

static void add_error(struct forecast_spread *s, double length_s, double size_s)
{
    s->s0 = SPREAD_KEEPS * s->s0 + 1.0;
    s->s1 = SPREAD_KEEPS * s->s1 + length_s;
    s->s2 = SPREAD_KEEPS * s->s2 + length_s * length_s;
    s->t0 = SPREAD_KEEPS * s->t0 + size_s;
    s->t1 = SPREAD_KEEPS * s->t1 + length_s * size_s;
}

/* ---- scores and their ranks ---- */

unsigned forecast_tail(enum forecast_level level)
{
    static const unsigned tails[FORECAST_LEVELS] = {400, 200, 100};
    return tails[level];
}

void forecast_init(struct forecast *f)
{
    memset(f, 0, sizeof *f);
    for (size_t q = 0; q < FORECAST_QUANTITIES; q++) {
        for (enum forecast_level l = FORECAST_80; l < FORECAST_LEVELS; l++) {
            f->alpha[q][l] = (uint16_t)forecast_tail(l);
        }
    }
}

static int16_t round_score(double score)
{
    return score < (double)NO_END / UNIT
               ? (int16_t)fmax(rint(score * UNIT), (double)(1 - NO_END))
               : (int16_t)NO_END;
}

size_t forecast_scores(const struct forecast *f, enum forecast_quantity q,
                       double scores[FORECAST_SCORES])
{
    size_t n = 0;
    for (size_t i = 0; i < f->scores[q]; i++) {
        if (f->score[q][i] != NO_END) {
            scores[n++] = (double)f->score[q][i] / UNIT;
        }
    }
    return n;
}

/* The sizes of the scores; those that are not there are -1, so that loops have one length. */
static void find_sizes(const struct forecast *f, enum forecast_quantity q,
                       int16_t sizes[FORECAST_SCORES])
{
    for (size_t i = 0; i < FORECAST_SCORES; i++) {
        const int16_t score = f->score[q][i];
        sizes[i] = (int16_t)(i < f->scores[q] ? abs(score) : -1);
    }
}

/* Returns the k-th largest, k >= 1, by bisection: its loops have one length and short numbers,
 * which processors compare many at a time. */
static int16_t find_largest(const int16_t sizes[FORECAST_SCORES], unsigned k)
{
    int16_t low = 0; /* at least k sizes reach it */
    int16_t high = 0;
    for (size_t i = 0; i < FORECAST_SCORES; i++) {
        high = sizes[i] > high ? sizes[i] : high;
    }
    while (low < high) {
        const int16_t middle = (int16_t)(high - (high - low) / 2);
        int16_t count = 0;
        for (size_t i = 0; i < FORECAST_SCORES; i++) {
            count = (int16_t)(count + (sizes[i] >= middle));
        }
        if ((unsigned)count >= k) {
            low = middle;
        } else {
            high = (int16_t)(middle - 1);
        }
    }
    return low;
}

/* Bound (6), coded as in struct forecast_made. */
static int16_t find_bound(const int16_t sizes[FORECAST_SCORES], unsigned n, unsigned alpha)
{
    if (n < SCORES_FEW) {
        return NO_BOUND;
    }
    const unsigned k = forecast_rank(alpha, n);
    const int16_t size = find_largest(sizes, k >= 1 ? k : 1);
    return k >= 1 || size == NO_END ? size : (int16_t)-size;
}

static double bound_of(int16_t code)
{
    return code == NO_BOUND ? (double)NAN
           : code == NO_END ? (double)INFINITY
           : code < 0       ? -BEYOND_RATIO * code / UNIT
                            : (double)code / UNIT;
}

/* Late replies say nothing of early ones: the low bound of a lap follows from the lowest score
 * (7). */
static int16_t find_low(const struct forecast *f, enum forecast_quantity q)
{
    int lowest = NO_END;
    for (size_t i = 0; i < f->scores[q]; i++) {
        lowest = f->score[q][i] < lowest ? f->score[q][i] : lowest;
    }
    return (int16_t)(f->scores[q] < SCORES_FULL || lowest == NO_END ? NO_END
                     : lowest < 0                                   ? -lowest
                                                                    : 0);
}

/* Bounds in spreads, below and above; NaN: none. */
static void find_bounds(const struct forecast_made *made, enum forecast_quantity q,
                        enum forecast_level level, double bounds[2])
{
    bounds[1] = bound_of(made->high[q][level]);
    bounds[0] = bounds[1];
    if (q < FORECAST_LAG && made->low[q] != NO_END) {
        bounds[0] = fmin(bounds[1], BEYOND_RATIO * made->low[q] / UNIT);
    }
}

/* ---- a forecast ---- */

static double expected_of(const struct forecast_made *made, enum forecast_quantity q)
{
    return q < FORECAST_LAG
               ? made->expected_s[q]
               : made->expected_s[FORECAST_REAL_LAP] - made->expected_s[FORECAST_VIRTUAL_LAP];
}

/* The fits of both sides, solved, and what they say of a move. */
struct solved {
    bool any[FORECAST_SIDES];
    struct forecast_solution side[FORECAST_SIDES];
    double lap_s[FORECAST_SIDES], leverage[FORECAST_QUANTITIES];
    double length_s;
};

static void solve_sides(const struct forecast *f, const double x[TRAVEL_P], uint32_t least,
                        struct solved *s)
{
    s->length_s = 0.0;
    for (size_t k = FORECAST_SIDES; k-- > 0;) {
        s->any[k] = f->fit[k].count >= least;
        s->lap_s[k] = s->leverage[k] = 0.0;
        if (s->any[k]) {
            forecast_solve(&f->fit[k], &s->side[k]);
            s->lap_s[k] = dot_product(x, s->side[k].beta, TRAVEL_P);
            s->leverage[k] = forecast_leverage(&s->side[k], x);
            s->length_s = fmax(s->lap_s[k], 0.0);
        }
    }
    s->leverage[FORECAST_LAG] =
        fmax(s->leverage[FORECAST_REAL_LAP], s->leverage[FORECAST_VIRTUAL_LAP]);
}

static void make_bounds(const struct forecast *f, enum forecast_quantity q,
                        struct forecast_made *made)
{
    int16_t sizes[FORECAST_SCORES];
    find_sizes(f, q, sizes);
    for (size_t l = 0; l < FORECAST_LEVELS; l++) {
        made->high[q][l] = find_bound(sizes, f->scores[q], f->alpha[q][l]);
    }
    if (q < FORECAST_LAG) {
        made->low[q] = find_low(f, q);
    }
    made->known = (uint8_t)(made->known | 1U << q);
    made->full = (uint8_t)(made->full | (unsigned)(f->scores[q] >= SCORES_FULL) << q);
}

void forecast_predict(const struct forecast *f, double turn, double drive, unsigned sides,
                      struct forecast_made *made, double *leverage)
{
    enum { BOTH = 1U << FORECAST_REAL_LAP | 1U << FORECAST_VIRTUAL_LAP };
    double x[TRAVEL_P];
    struct solved s;
    travel_row(turn, drive, x);
    solve_sides(f, x, FORECAST_MOVES_MIN, &s);
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const bool wanted =
            q < FORECAST_LAG ? (sides >> q & 1U) && s.any[q] : (made->known & BOTH) == BOTH;
        const double scale_s =
            forecast_spread_at(&f->spread[q], s.length_s) * sqrt(1.0 + s.leverage[q]);
        if (!wanted || !isfinite(scale_s)) {
            continue;
        }
        made->scale_s[q] = scale_s;
        if (q < FORECAST_LAG) {
            made->expected_s[q] = s.lap_s[q];
        }
        make_bounds(f, q, made);
    }
    if (leverage) {
        memcpy(leverage, s.leverage, sizeof s.leverage);
    }
}

struct forecast_interval forecast_interval(const struct forecast_made *made,
                                           enum forecast_quantity q, enum forecast_level level)
{
    double bounds[2];
    struct forecast_interval out = {(double)NAN, (double)NAN, (double)NAN, FORECAST_BASIS_NONE};
    if (!forecast_knows(made, q)) {
        return out;
    }
    find_bounds(made, q, level, bounds);
    out.expected_s = expected_of(made, q);
    if (isnan(bounds[1])) {
        return out;
    }
    const double low_s = out.expected_s - bounds[0] * made->scale_s[q];
    out.low_s = q < FORECAST_LAG ? fmax(low_s, 0.0) : low_s;
    out.high_s = out.expected_s + bounds[1] * made->scale_s[q];
    out.basis = made->full >> q & 1U ? FORECAST_BASIS_RANKS : FORECAST_BASIS_FEW;
    return out;
}

/* Sorts the scores above z, largest first; returns their number. */
static size_t sort_above(const struct forecast *f, enum forecast_quantity q, double z,
                         int16_t above[FORECAST_SCORES])
{
    size_t n = 0;
    for (size_t i = 0; i < f->scores[q]; i++) {
        const int16_t score = f->score[q][i];
        if (!((double)score / UNIT > z)) {
            continue;
        }
        size_t at = n++;
        for (; at > 0 && above[at - 1] < score; at--) {
            above[at] = above[at - 1];
        }
        above[at] = score;
    }
    return n;
}

struct forecast_interval forecast_open(const struct forecast *f,
                                       const struct forecast_made *made,
                                       enum forecast_quantity q, enum forecast_level level,
                                       double elapsed_s, int *longer)
{
    struct forecast_interval out = forecast_interval(made, q, level);
    int16_t above[FORECAST_SCORES];
    *longer = -1;
    if (!(elapsed_s > out.low_s)) {
        return out;
    }
    const double scale_s = made->scale_s[q];
    const size_t n = sort_above(f, q, (elapsed_s - out.expected_s) / scale_s, above);
    const unsigned own = f->alpha[q][level];
    const unsigned tail = forecast_tail(level);
    const unsigned k = forecast_rank(own < tail ? own : tail, n);
    double bound = (double)INFINITY;
    if (k >= 1) {
        bound = above[k - 1] == NO_END ? bound : (double)above[k - 1] / UNIT;
    } else if (n >= SCORES_FEW && above[0] != NO_END) {
        bound = BEYOND_RATIO * above[0] / UNIT;
    }
    *longer = (int)n;
    out.low_s = elapsed_s;
    out.high_s = fmax(out.expected_s + bound * scale_s, elapsed_s);
    return out;
}

/* ---- learning ---- */

/* A command that was cut short has no lap, unless the forecast was wrong already. */
static double value_of(const struct forecast_made *made, enum forecast_quantity side,
                       const struct forecast_outcome *outcome)
{
    const bool late =
        outcome->lap_s > forecast_interval(made, side, FORECAST_95).high_s; /* NaN: no */
    switch (outcome->end) {
    case FORECAST_DONE:
        return outcome->lap_s;
    case FORECAST_TIMEOUT:
        return (double)INFINITY;
    case FORECAST_CUT:
        return late ? (double)INFINITY : (double)NAN;
    case FORECAST_NOT_ASKED:
    default:
        return (double)NAN;
    }
}

static double lag_of(const double lap_s[FORECAST_SIDES])
{
    const double real = lap_s[FORECAST_REAL_LAP];
    const double virtual = lap_s[FORECAST_VIRTUAL_LAP];
    return !isnan(real) && !isnan(virtual) && (isinf(real) || isinf(virtual)) ? (double)INFINITY
                                                                              : real - virtual;
}

static void record_held(struct forecast *f, enum forecast_quantity q, bool held)
{
    const uint64_t last = (UINT64_C(1) << (FORECAST_HELD - 64)) - 1;
    f->held[q][1] = (f->held[q][1] << 1 | f->held[q][0] >> 63) & last;
    f->held[q][0] = f->held[q][0] << 1 | held;
    f->judged[q] = (uint8_t)(f->judged[q] < FORECAST_HELD ? f->judged[q] + 1 : FORECAST_HELD);
}

/* Adapts the share of misses: fewer after a miss, more after a hit. */
static void adapt_level(struct forecast *f, enum forecast_quantity q, enum forecast_level level,
                        bool held)
{
    const int tail = (int)forecast_tail(level);
    const int step = tail - (held ? 0 : FORECAST_LEVEL_UNITS);
    const int alpha = f->alpha[q][level] + ALPHA_STEP_PERCENT * step / 100;
    f->alpha[q][level] = (uint16_t)(alpha < ALPHA_LEAST  ? ALPHA_LEAST
                                    : alpha > ALPHA_MOST ? ALPHA_MOST
                                                         : alpha);
}

static void add_score(struct forecast *f, enum forecast_quantity q,
                      const struct forecast_made *made, double value_s)
{
    double bounds[2];
    const double score = (value_s - expected_of(made, q)) / made->scale_s[q];
    for (enum forecast_level l = FORECAST_80; l < FORECAST_LEVELS; l++) {
        find_bounds(made, q, l, bounds);
        if (isnan(bounds[1])) {
            continue;
        }
        const bool held = score >= -bounds[0] && score <= bounds[1];
        adapt_level(f, q, l, held);
        if (l == FORECAST_95) {
            record_held(f, q, held);
        }
    }
    f->score[q][f->next[q]] = round_score(score);
    f->next[q] = (uint8_t)((f->next[q] + 1) % FORECAST_SCORES);
    f->scores[q] =
        (uint8_t)(f->scores[q] < FORECAST_SCORES ? f->scores[q] + 1 : FORECAST_SCORES);
}

static void learn_spread(struct forecast *f, enum forecast_quantity q, const struct solved *s,
                         double value_s)
{
    const bool known = q < FORECAST_LAG
                           ? f->fit[q].count >= FORECAST_MOVES_MIN
                           : f->fit[FORECAST_REAL_LAP].count >= FORECAST_MOVES_MIN &&
                                 f->fit[FORECAST_VIRTUAL_LAP].count >= FORECAST_MOVES_MIN;
    const double expected_s =
        q < FORECAST_LAG ? s->lap_s[q]
                         : s->lap_s[FORECAST_REAL_LAP] - s->lap_s[FORECAST_VIRTUAL_LAP];
    if (known && isfinite(value_s)) {
        const double size_s = fabs(value_s - expected_s) / sqrt(1.0 + s->leverage[q]);
        const double most_s = CUT_SPREADS * forecast_spread_at(&f->spread[q], s->length_s);
        add_error(&f->spread[q], s->length_s, fmin(size_s, most_s));
    }
}

static void count_ends(struct forecast *f,
                       const struct forecast_outcome outcome[FORECAST_SIDES])
{
    bool cut = false;
    bool late = false;
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        cut = cut || outcome[k].end == FORECAST_CUT;
        late = late || outcome[k].end == FORECAST_TIMEOUT;
    }
    f->cut_short += cut;
    f->timed_out += late;
}

unsigned forecast_learn(struct forecast *f, const struct forecast_made *made, double turn,
                        double drive, const struct forecast_outcome outcome[FORECAST_SIDES],
                        double lap_s[FORECAST_SIDES])
{
    double x[TRAVEL_P];
    double limit_s[FORECAST_SIDES];
    double value_s[FORECAST_QUANTITIES];
    struct solved s;
    unsigned started = 0;
    travel_row(turn, drive, x);
    solve_sides(f, x, 1, &s);
    count_ends(f, outcome);
    for (enum forecast_quantity k = FORECAST_REAL_LAP; k < FORECAST_LAG; k++) {
        value_s[k] = lap_s[k] = value_of(made, k, &outcome[k]);
    }
    value_s[FORECAST_LAG] = lag_of(lap_s);
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        if (forecast_knows(made, q) && !isnan(value_s[q])) {
            add_score(f, q, made, value_s[q]);
        }
        learn_spread(f, q, &s, value_s[q]);
    }
    for (size_t k = 0; k < FORECAST_SIDES; k++) {
        limit_s[k] = f->fit[k].count < FORECAST_MOVES_MIN
                         ? (double)INFINITY
                         : CUT_SPREADS * forecast_spread_at(&f->spread[k], s.length_s) *
                               sqrt(1.0 + s.leverage[k]);
        if (isfinite(lap_s[k])) {
            forecast_add_lap(&f->fit[k], s.any[k] ? &s.side[k] : NULL, x, lap_s[k], limit_s[k]);
            started |= (unsigned)(f->fit[k].count == FORECAST_MOVES_MIN) << k;
        }
    }
    return started;
}

/* ---- the start ---- */

/* The last twelve moves with a value, oldest first. */
struct start {
    double x[FORECAST_MOVES_MIN][TRAVEL_P];
    double y_s[FORECAST_MOVES_MIN];
};

/* Finds the moves with a lap of each of these sides (bits); false: there are too few. */
static bool find_start(const struct forecast_move *moves, size_t n, unsigned sides,
                       struct start *start)
{
    size_t found = 0;
    for (size_t i = n; i-- > 0 && found < FORECAST_MOVES_MIN;) {
        double y_s = 0.0;
        for (size_t k = 0; k < FORECAST_SIDES; k++) {
            y_s += !(sides >> k & 1U)                          ? 0.0
                   : k == FORECAST_VIRTUAL_LAP && (sides & 1U) ? -moves[i].lap_s[k]
                                                               : moves[i].lap_s[k];
        }
        if (isfinite(y_s)) {
            found++;
            travel_row(moves[i].turn, moves[i].drive, start->x[FORECAST_MOVES_MIN - found]);
            start->y_s[FORECAST_MOVES_MIN - found] = y_s;
        }
    }
    return found == FORECAST_MOVES_MIN;
}

/* Returns the mean size of the errors, from the median of those that the terms leave free. */
static double find_scale(const double e_s[FORECAST_MOVES_MIN])
{
    enum { FREE = FORECAST_MOVES_MIN - START_FREE };
    double size_s[FORECAST_MOVES_MIN];
    for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
        size_s[i] = fabs(e_s[i]);
    }
    gsl_sort(size_s, 1, FORECAST_MOVES_MIN);
    return MEAN_PER_MEDIAN * size_s[START_FREE + FREE / 2];
}

static void start_spread(struct forecast_spread *spread, const struct start *start,
                         const double e_s[FORECAST_MOVES_MIN], const double beta[TRAVEL_P])
{
    static const double free_ratio =
        (double)FORECAST_MOVES_MIN / (FORECAST_MOVES_MIN - START_FREE);
    const double most_s = CUT_SPREADS * find_scale(e_s);
    memset(spread, 0, sizeof *spread);
    for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
        add_error(spread, fmax(dot_product(start->x[i], beta, TRAVEL_P), 0.0),
                  fmin(fabs(e_s[i]), most_s) * sqrt(free_ratio));
    }
}

/* Least absolute deviations, by weights (3a), then one weighted fit with clipped residuals. */
static void start_side(struct forecast *f, enum forecast_quantity side,
                       const struct start *start)
{
    struct forecast_solution solution;
    double e_s[FORECAST_MOVES_MIN];
    for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
        e_s[i] = 1.0; /* equal weights at first */
    }
    for (size_t round = 0; round < START_ROUNDS; round++) {
        struct forecast_fit weighted = {0};
        for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
            add_row(&weighted, 1.0, 1.0 / fmax(fabs(e_s[i]), SPREAD_LEAST_S), start->x[i],
                    start->y_s[i]);
        }
        forecast_solve(&weighted, &solution);
        for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
            e_s[i] = start->y_s[i] - dot_product(start->x[i], solution.beta, TRAVEL_P);
        }
    }
    const double most_s = CUT_SPREADS * find_scale(e_s);
    f->fit[side] = (struct forecast_fit){.count = FORECAST_MOVES_MIN};
    for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
        add_row(&f->fit[side], FIT_KEEPS, 1.0, start->x[i],
                dot_product(start->x[i], solution.beta, TRAVEL_P) + clip_error(e_s[i], most_s));
    }
    start_spread(&f->spread[side], start, e_s, solution.beta);
}

static void start_lag(struct forecast *f, const struct start *start)
{
    double e_s[FORECAST_MOVES_MIN];
    double beta[FORECAST_SIDES][TRAVEL_P];
    forecast_terms(f, FORECAST_REAL_LAP, beta[0]);
    forecast_terms(f, FORECAST_VIRTUAL_LAP, beta[1]);
    for (size_t i = 0; i < FORECAST_MOVES_MIN; i++) {
        e_s[i] = start->y_s[i] - (dot_product(start->x[i], beta[0], TRAVEL_P) -
                                  dot_product(start->x[i], beta[1], TRAVEL_P));
    }
    start_spread(&f->spread[FORECAST_LAG], start, e_s, beta[0]);
}

void forecast_start(struct forecast *f, unsigned sides, const struct forecast_move *moves,
                    size_t n)
{
    struct start start;
    for (enum forecast_quantity k = FORECAST_REAL_LAP; k < FORECAST_LAG; k++) {
        if (!(sides >> k & 1U) || !find_start(moves, n, 1U << k, &start)) {
            continue;
        }
        start_side(f, k, &start);
        if (f->fit[FORECAST_REAL_LAP].count >= FORECAST_MOVES_MIN &&
            f->fit[FORECAST_VIRTUAL_LAP].count >= FORECAST_MOVES_MIN &&
            find_start(moves, n, (1U << FORECAST_SIDES) - 1, &start)) {
            start_lag(f, &start);
        }
    }
}

/* ---- changes, and what is read ---- */

void forecast_change_virtual(struct forecast *f, const double change[TRAVEL_P])
{
    struct forecast_fit *fit = &f->fit[FORECAST_VIRTUAL_LAP];
    double beta[TRAVEL_P];
    if (!change || fit->count < FORECAST_MOVES_MIN) {
        *fit = (struct forecast_fit){0};
        return;
    }
    forecast_terms(f, FORECAST_VIRTUAL_LAP, beta);
    for (size_t i = 0; i < FORECAST_TRIANGLE; i++) {
        fit->a[i] *= CHANGE_KEEPS;
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        fit->b[i] = 0.0;
        for (size_t j = 0; j < TRAVEL_P; j++) {
            const double a = *at_triangle(fit->a, i > j ? i : j, i > j ? j : i);
            fit->b[i] += a * (beta[j] + change[j]);
        }
    }
}

void forecast_terms(const struct forecast *f, enum forecast_quantity side,
                    double beta[TRAVEL_P])
{
    struct forecast_solution solution;
    forecast_solve(&f->fit[side], &solution);
    memcpy(beta, solution.beta, sizeof solution.beta);
}

unsigned forecast_held(const struct forecast *f, enum forecast_quantity q)
{
    return (unsigned)(__builtin_popcountll(f->held[q][0]) +
                      __builtin_popcountll(f->held[q][1]));
}

void forecast_wilson(unsigned held, unsigned of, double ci95[2])
{
    const struct share share = share_find(held, of, 0.95);
    ci95[0] = fmax(share.lo, 0.0);
    ci95[1] = fmin(share.hi, 1.0);
}

ENUM_NAMES(forecast_quantity, FORECAST_QUANTITIES, "real_lap", "virtual_lap", "lag");

ENUM_NAMES(forecast_level, FORECAST_LEVELS, "0.8", "0.9", "0.95");

ENUM_NAMES(forecast_basis, FORECAST_BASES, "none", "few", "ranks");
