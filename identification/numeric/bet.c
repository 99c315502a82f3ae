#include "identification/numeric/bet.h"

#include <math.h>

#include "identification/numeric/numeric_thresholds.def"

/* Returns its share of the capital. */
static double share_of(size_t j)
{
    return j == 0   ? BET_NEAR_SHARE
           : j == 1 ? 1.0 - BET_NEAR_SHARE - BET_FAR_SHARE
                    : BET_FAR_SHARE;
}

static double cut_value(double x, double clip)
{
    return fmin(fmax(x, -clip), clip);
}

/* log(exp(a) + exp(b)). */
static double add_logs(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* The capital of all three bets, less what correlation costs. */
static double mix_bets(const double *capital, const double *penalty, double inflation)
{
    double left[BETS];
    double most = -INFINITY;
    double sum = 0.0;
    for (size_t j = 0; j < BETS; j++) {
        left[j] = capital[j] - 0.5 * (inflation - 1.0) * penalty[j];
        most = fmax(most, left[j]);
    }
    for (size_t j = 0; j < BETS; j++) {
        sum += share_of(j) * exp(left[j] - most);
    }
    return most + log(sum);
}

void bet_start(struct bet *bet, double margin, double clip, int side, bool serial)
{
    *bet = (struct bet){
        .margin = margin, .clip = clip, .side = side, .serial = serial, .inflation = 1.0};
}

/* The variance of y begins as if some values had been seen that are a half of clip large. */
static double find_variance(const struct bet *b)
{
    const double n = (double)b->n;
    const double squares = b->n > 0 ? fmax(b->squares - b->sum * b->sum / n, 0.0) : 0.0;
    return (BET_PRIOR * (b->clip / 2.0) * (b->clip / 2.0) + squares) /
           (BET_PRIOR + fmax(n - 1.0, 0.0));
}

/* The variance of the mean against that of independent units, by the correlation of neighbours,
 * without its bias and half a standard error upwards. */
static double find_inflation(const struct bet *b)
{
    const double n = (double)b->n;
    const double mean = b->sum / n;
    const double squares = b->squares - n * mean * mean;
    if (!b->serial || b->n < BET_SERIAL_MIN || squares <= 1e-12 * b->clip * b->clip) {
        return 1.0;
    }
    double r = (b->products - mean * (2.0 * b->sum - b->first - b->previous) +
                (n - 1.0) * mean * mean) /
               squares;
    if (r <= 0.0) {
        return 1.0;
    }
    r = fmin(r + (1.0 + 3.0 * r) / n + BET_SERIAL_ADDED / sqrt(n), BET_SERIAL_MAX);
    return (1.0 + r) / (1.0 - r);
}

double bet_log_e(const struct bet *bet)
{
    return mix_bets(bet->log, bet->penalty, bet->inflation);
}

double bet_add(struct bet *bet, double x, struct bet_unit *unit)
{
    struct bet_unit made = {.x = x, .variance = find_variance(bet)};
    const double y = cut_value(bet->margin - x, bet->clip);
    for (size_t j = 0; j < BETS; j++) {
        const double rise = (j == 0 ? BET_NEAR : j == 1 ? 1.0 : BET_FAR) * bet->margin;
        made.lambda[j] = fmin(rise / (made.variance * bet->inflation + rise * rise),
                              BET_STAKE_MAX / bet->clip);
        bet->log[j] += log1p(bet->side * made.lambda[j] * y);
        bet->penalty[j] += made.lambda[j] * made.lambda[j] * made.variance;
    }
    bet->products += bet->n > 0 ? bet->previous * y : 0.0;
    bet->first = bet->n > 0 ? bet->first : y;
    bet->sum += y;
    bet->squares += y * y;
    bet->previous = y;
    bet->n++;
    made.inflation = bet->inflation = find_inflation(bet);
    if (unit) {
        *unit = made;
    }
    return bet_log_e(bet);
}

/* ---- what gets worse later --------------------------------------------------------------- */

size_t bet_late_max(size_t n)
{
    return n / BET_RESTART;
}

void bet_fail_start(struct bet_fail *fail, double margin, double clip, bool serial,
                    struct bet *late)
{
    *fail = (struct bet_fail){.late = late};
    bet_start(&fail->first, margin, clip, -1, serial);
}

void bet_fail_add(struct bet_fail *fail, double x)
{
    const struct bet *first = &fail->first;
    const double early = log(BET_FROM_START) + bet_add(&fail->first, x, NULL);
    double rest = 1.0;
    double best = -INFINITY;
    double log_e = early;
    if (first->n > 1 && (first->n - 1) % BET_RESTART == 0) {
        bet_start(&fail->late[fail->late_count++], first->margin, first->clip, -1,
                  first->serial);
    }
    fail->since = 1;
    for (size_t j = 0; j < fail->late_count; j++) {
        const double part = 1.0 / (double)((j + 1) * (j + 2));
        const double e = log((1.0 - BET_FROM_START) * part) + bet_add(&fail->late[j], x, NULL);
        rest -= part;
        log_e = add_logs(log_e, e);
        if (e > best) {
            best = e;
            fail->since = early >= e ? 1 : (j + 1) * BET_RESTART + 1;
        }
    }
    /* Bets that have not begun still have their capital. */
    fail->log_e = add_logs(log_e, log((1.0 - BET_FROM_START) * rest));
}

/* ---- the rise and its bounds ------------------------------------------------------------- */

static void find_range(const struct bet_unit *units, size_t n, double *low, double *high)
{
    *low = *high = units[0].x;
    for (size_t i = 1; i < n; i++) {
        *low = fmin(*low, units[i].x);
        *high = fmax(*high, units[i].x);
    }
}

double bet_rise(const struct bet_unit *units, size_t n, double clip)
{
    double low = 0.0;
    double high = 0.0;
    find_range(units, n, &low, &high);
    for (unsigned step = 0; step < 100; step++) {
        const double middle = (low + high) / 2.0;
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += cut_value(units[i].x - middle, clip);
        }
        if (sum > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2.0;
}

/* Does a bet against this rise, with the stakes as they were, reach 1 / alpha? */
static bool is_ruled_out(const struct bet_unit *units, size_t n, double clip, double alpha,
                         int side, double rise)
{
    const double wanted = log(1.0 / alpha);
    double capital[BETS] = {0.0};
    double penalty[BETS] = {0.0};
    for (size_t i = 0; i < n; i++) {
        const struct bet_unit *u = &units[i];
        const double y = cut_value(rise - u->x, clip);
        double most = -INFINITY;
        for (size_t j = 0; j < BETS; j++) {
            capital[j] += log1p(side * u->lambda[j] * y);
            penalty[j] += u->lambda[j] * u->lambda[j] * u->variance;
            most = fmax(most, capital[j]);
        }
        /* The mixture is below its largest part. */
        if (most >= wanted && mix_bets(capital, penalty, u->inflation) >= wanted) {
            return true;
        }
    }
    return false;
}

double bet_bound(const struct bet_unit *units, size_t n, double clip, double alpha, int side)
{
    double low = 0.0;
    double high = 0.0;
    if (n == 0) {
        return NAN;
    }
    find_range(units, n, &low, &high);
    double far = side > 0 ? high + clip : low - clip;
    double near = bet_rise(units, n, clip);
    if (!is_ruled_out(units, n, clip, alpha, side, far)) {
        return NAN;
    }
    if (is_ruled_out(units, n, clip, alpha, side, near)) {
        near = side > 0 ? low - clip : high + clip;
    }
    for (unsigned step = 0; step < 40; step++) {
        const double middle = (near + far) / 2.0;
        if (is_ruled_out(units, n, clip, alpha, side, middle)) {
            far = middle;
        } else {
            near = middle;
        }
    }
    return far;
}

size_t bet_more(const struct bet *bet, double rise, double alpha)
{
    const double d = bet->margin;
    const double variance = find_variance(bet) * bet->inflation;
    const double distance_left = d - rise;
    const double lambda = fmin(d / (variance + d * d), BET_STAKE_MAX / bet->clip);
    const double gain = lambda * distance_left -
                        0.5 * lambda * lambda * (variance + distance_left * distance_left);
    const double left = log(1.0 / alpha) - log(share_of(1)) -
                        (bet->log[1] - 0.5 * (bet->inflation - 1.0) * bet->penalty[1]);
    return gain > BET_GAIN_MIN ? (size_t)fmax(1.0, ceil(left / gain)) : 0;
}

double bet_merge(const double *log_e, size_t n, double alpha)
{
    /* A set with a hypothesis has a mean of at least 1 / alpha, whatever others are in it, if
     * it has so with all that are below 1 / alpha: each of them lowers the mean. */
    double wanted = 1.0 / alpha;
    for (size_t i = 0; i < n; i++) {
        const double e = exp(fmin(log_e[i], 700.0));
        wanted += e < 1.0 / alpha ? 1.0 / alpha - e : 0.0;
    }
    return log(wanted);
}
