/* identification/travel/travel_spread.c - speeds that differ from move to move
 * (docs/model/travel_time.md, section 3).
 *
 * Squared residuals then grow with the squared size of a move. The probability is that of
 * random orders of the residuals, so that it is exact whatever their distribution is. */
#include <math.h>

#include "base/numbers/random.h"
#include "identification/numeric/dot.h"
#include "identification/travel/travel_law_parts.h"
#include "identification/travel/travel_thresholds.def"

/* Random orders: as many as the work allows, and enough for LAW_CHANCE. */
enum { ORDERS_MAX = 1999, ORDERS_MIN = 200 };
static const double ORDERED_MAX = 2e7;
/* The search stops after this number of orders that are as unusual. The probability is then
 * known to a fifth, and far above LAW_CHANCE. */
enum { UNUSUAL_ENOUGH = 20 };
/* A move with full leverage would contain only its own noise. */
static const double LEVERAGE_MAX = 0.95;

/* Columns of the moves that count, with mean 0 and sd 1. */
struct spread_columns {
    size_t n;
    double *size[TRAVEL_SIZES]; /* squared sizes; zero if all are equal */
    double *square;             /* squared residuals */
};

/* Returns whether the values differ. */
static bool standardise_column(double *x, size_t n)
{
    double mean = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] -= mean;
    }
    const double sd = sqrt(dot_product(x, x, n) / (double)n);
    for (size_t i = 0; i < n; i++) {
        x[i] = sd > 0.0 ? x[i] / sd : 0.0;
    }
    return sd > 0.0;
}

static struct spread_columns fill_columns(struct law_rows *w)
{
    const size_t n = w->problem->n;
    struct spread_columns c = {.size = {w->x, w->x + n}, .square = w->y};
    for (size_t i = 0; i < n; i++) {
        double leverage = 0.0;
        for (size_t k = 0; k < w->space.rank; k++) {
            leverage += w->space.q[k * n + i] * w->space.q[k * n + i];
        }
        if (!(w->counts[i] > 0.0)) {
            continue;
        }
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            const double size = law_size(w->problem, i, k);
            c.size[k][c.n] = size * size;
        }
        c.square[c.n++] =
            w->residual[i] * w->residual[i] / (1.0 - fmin(leverage, LEVERAGE_MAX));
    }
    return c;
}

/* Returns n times the larger correlation; *k: its size. */
static double correlate_sizes(const struct spread_columns *c, size_t *k)
{
    const double turns = dot_product(c->size[0], c->square, c->n);
    const double drives = dot_product(c->size[1], c->square, c->n);
    *k = turns > drives ? 0 : 1;
    return fmax(turns, drives);
}

static void shuffle_column(double *x, size_t n, struct random_source *draws)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)(random_uniform(draws) * (double)i);
        const double moved = x[i - 1];
        x[i - 1] = x[j];
        x[j] = moved;
    }
}

/* Estimates the variation of speeds between moves: regression of squared residuals on squared
 * sizes. */
static enum status find_variation(struct law_rows *w, struct travel_law *law)
{
    struct robust_ls_fit fit;
    const struct robust_ls_problem spread = {
        .x = w->x, .y = w->y, .n = w->problem->n, .p = 1 + TRAVEL_SIZES, .floor = 1e-12};
    for (size_t i = 0; i < spread.n; i++) {
        const double counts = w->counts[i];
        w->x[i * spread.p] = counts;
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            const double size = law_size(w->problem, i, k);
            w->x[i * spread.p + 1 + k] = counts * size * size;
        }
        w->y[i] = counts * w->residual[i] * w->residual[i];
    }
    const enum status st = robust_ls_run(&spread, ROBUST_LS_OLS, NULL, NULL, &fit);
    for (size_t k = 0; k < TRAVEL_SIZES && st == STATUS_OK; k++) {
        law->variation[k] =
            w->inverse[k] > 0.0 ? sqrt(fmax(fit.beta[1 + k], 0.0)) / w->inverse[k] : 0.0;
    }
    return st;
}

void law_find_slower(struct law_rows *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    const size_t k = law->spread_size;
    struct travel_alternative side = {.tested = false};
    for (size_t i = 0; i < n; i++) {
        const double size = law_size(w->problem, i, k);
        const bool slower = size > 0.0 && w->counts[i] * w->residual[i] > 0.0;
        if (slower && law->slower_count < TRAVEL_SLOWER_MAX) {
            law->slower[law->slower_count] = i;
        }
        law->slower_count += slower;
        w->z[i] = w->signs ? w->signs[k * n + i] * size : 0.0;
    }
    law_test_column(w, &side);
    if (side.tested && w->inverse[k] > 0.0) {
        law->side_p = side.p;
        law->side = 2.0 * side.value / w->inverse[k];
    }
}

enum status law_find_spread(struct law_rows *w, struct travel_law *law)
{
    struct spread_columns c = fill_columns(w);
    struct random_source draws = random_stream(1, 0);
    const double limit = fmax(fmin(ORDERED_MAX / (double)c.n, ORDERS_MAX), ORDERS_MIN);
    bool varies = standardise_column(c.square, c.n);
    const bool turns = standardise_column(c.size[0], c.n);
    const bool drives = standardise_column(c.size[1], c.n);
    varies = varies && (turns || drives);
    const double found = correlate_sizes(&c, &law->spread_size);
    double unusual = 0.0;
    double orders = 0.0;
    size_t ignored;
    while (varies && orders < limit && unusual < UNUSUAL_ENOUGH) {
        shuffle_column(c.square, c.n, &draws);
        unusual += correlate_sizes(&c, &ignored) >= found - 1e-12 * fabs(found) ? 1.0 : 0.0;
        orders += 1.0;
    }
    law->spread_p = (1.0 + unusual) / (1.0 + orders);
    law->spread_r = found / (double)c.n;
    return law->spread_p < MAY_SPREAD_CHANCE ? find_variation(w, law) : STATUS_OK;
}
