#include "identification/data/channel_match.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/data_thresholds.def"
#include "identification/data/data_view.h"
#include "identification/numeric/dot.h"
#include "identification/numeric/svd.h"

enum { SAMPLES_MAX = 8192, N = MODEL_AXES_MAX };

/* Grid of the search; a lag between two of them explains nearly as much. */
static const double lags_s[] = {0.05, 0.1, 0.2, 0.4, 0.8};
static const double delays_s[] = {0.0, 0.05, 0.1, 0.2, 0.4};
static const double RANK_RATIO = 1e-9;

struct comparison {
    const struct data_set *part;
    double *lagged[N];  /* commands behind a lag */
    double *delayed[N]; /* the same, delayed, about their means */
    double *channel[N]; /* measured, about their means */
    double squares[N];  /* of a channel */
    double mixture_r2[N];
};

static void subtract_mean(double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k];
    }
    for (size_t k = 0; k < n; k++) {
        x[k] -= sum / (double)n;
    }
}

static void lag_commands(const struct comparison *c, double lag_s)
{
    const double share = -expm1(-c->part->dt_s / lag_s);
    for (size_t i = 0; i < c->part->axes; i++) {
        const double *u = c->part->tau[i];
        double x = u[0];
        for (size_t k = 0; k < c->part->n; k++) {
            c->lagged[i][k] = x;
            x += (u[k] - x) * share;
        }
    }
}

static void delay_commands(const struct comparison *c, double delay_s)
{
    const size_t n = c->part->n;
    const double rows = round(delay_s / c->part->dt_s);
    const size_t late = rows < (double)n ? (size_t)rows : n;
    for (size_t i = 0; i < c->part->axes; i++) {
        for (size_t k = 0; k < n; k++) {
            c->delayed[i][k] = c->lagged[i][k >= late ? k - late : 0];
        }
        subtract_mean(c->delayed[i], n);
    }
}

/* Returns the share of a channel's squares that all commands together explain. */
static double explain_channel(const double *gram, const double *products, size_t n,
                              double squares)
{
    double length[N];
    double gains[N];
    struct svd svd;
    for (size_t i = 0; i < n; i++) {
        length[i] = sqrt(gram[i * n + i]);
    }
    if (!(squares > 0.0) || svd_find(gram, n, length, length, RANK_RATIO, &svd) != STATUS_OK) {
        return 0.0;
    }
    svd_solve(&svd, products, gains);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += gains[i] * products[i];
    }
    return sum / squares;
}

/* Compares at one lag and delay. */
static void compare_channels(struct comparison *c, struct channel_match *out)
{
    const size_t axes = c->part->axes;
    double gram[N * N];
    for (size_t i = 0; i < axes; i++) {
        for (size_t j = 0; j < axes; j++) {
            gram[i * axes + j] = dot_product(c->delayed[i], c->delayed[j], c->part->n);
        }
    }
    for (size_t j = 0; j < axes; j++) {
        double products[N];
        for (size_t i = 0; i < axes; i++) {
            products[i] = dot_product(c->delayed[i], c->channel[j], c->part->n);
            const double r2 = products[i] * products[i] / (gram[i * axes + i] * c->squares[j]);
            if (r2 > out->r2[i][j]) {
                out->r2[i][j] = r2;
                out->gain[i][j] = products[i] / gram[i * axes + i];
            }
        }
        c->mixture_r2[j] =
            fmax(c->mixture_r2[j], explain_channel(gram, products, axes, c->squares[j]));
    }
}

/* Finds the assignment of channels to commands i and later ones that explains most. */
static void assign_channels(struct channel_match *m, size_t axes, size_t i, unsigned taken,
                            double sum, size_t trial[N])
{
    if (i == axes) {
        if (sum > m->best_r2) {
            m->best_r2 = sum;
            memcpy(m->best, trial, axes * sizeof *trial);
        }
        return;
    }
    for (size_t j = 0; j < axes; j++) {
        if (!(taken >> j & 1U)) {
            trial[i] = j;
            assign_channels(m, axes, i + 1, taken | 1U << j, sum + m->r2[i][j], trial);
        }
    }
}

static void match_channels(struct comparison *c, struct channel_match *m)
{
    const size_t axes = c->part->axes;
    size_t trial[N];
    for (size_t lag = 0; lag < COUNT(lags_s); lag++) {
        lag_commands(c, lags_s[lag]);
        for (size_t late = 0; late < COUNT(delays_s); late++) {
            delay_commands(c, delays_s[late]);
            compare_channels(c, m);
        }
    }
    m->best_r2 = -1.0;
    assign_channels(m, axes, 0, 0, 0.0, trial);
    m->best_r2 /= (double)axes;
    for (size_t i = 0; i < axes; i++) {
        m->named_r2 += m->r2[i][i] / (double)axes;
        m->mixture_r2 += c->mixture_r2[i] / (double)axes;
    }
}

enum status channel_match_find(const struct data_set *set, struct channel_match *out)
{
    size_t from = 0;
    const struct data_set part = data_view_busiest(set, SAMPLES_MAX, &from);
    struct comparison c = {.part = &part};
    gsl_vector *memory = gsl_vector_alloc(3 * part.axes * part.n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    double *at = memory->data;
    memset(out, 0, sizeof *out);
    for (size_t a = 0; a < part.axes; a++, at += 3 * part.n) {
        c.lagged[a] = at;
        c.delayed[a] = at + part.n;
        c.channel[a] = at + 2 * part.n;
        memcpy(c.channel[a], part.nu[a], part.n * sizeof *at);
        subtract_mean(c.channel[a], part.n);
        c.squares[a] = dot_product(c.channel[a], c.channel[a], part.n);
    }
    match_channels(&c, out);
    gsl_vector_free(memory);
    return STATUS_OK;
}

enum channel_match_verdict channel_match_judge(const struct channel_match *m, size_t axes,
                                               bool may_mix, bool signed_gain, size_t *axis)
{
    bool named = true;
    for (size_t i = 0; i < axes; i++) {
        named = named && m->best[i] == i;
    }
    if (!named && m->best_r2 > MATCH_R2_MIN && m->best_r2 - m->named_r2 > MATCH_BETTER_MIN) {
        return CHANNEL_MATCH_EXCHANGED;
    }
    if (may_mix && m->mixture_r2 - m->best_r2 > MIXTURE_BETTER_MIN &&
        m->mixture_r2 > MIXTURE_R2_MIN) {
        return CHANNEL_MATCH_MIXED;
    }
    for (size_t i = 0; i < axes && signed_gain; i++) {
        if (m->gain[i][i] < 0.0 && m->r2[i][i] > MATCH_R2_MIN) {
            *axis = i;
            return CHANNEL_MATCH_SIGN;
        }
    }
    return CHANNEL_MATCH_AS_NAMED;
}
