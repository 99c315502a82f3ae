#include "identification/simulation/channel_delays.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_vector.h>

#include "base/numbers/random.h"

/* Smaller changes, relative to the range of the command, share the common delay. */
static const double CHANGE_MIN = 0.05;
/* With more than one change in six rows, single delays cannot be separated. */
enum { DELAYS_MIN = 4, ROWS_PER_CHANGE = 6, ROUNDS = 4, DRAWS = 20 };
/* A response has ended after twelve lags: exp(-12) = 6e-6. */
static const double RESPONSE_LAGS = 12.0;
/* Longest gap before a change, in periods, that hides when it was sent. */
static const double GAP_PERIODS = 3.0;
/* Differences of gain and lag, relative. */
static const double DIFFERENCE = 1e-4;

enum { COMMON = 2 }; /* gain and lag */

/* Normal equations: a band of delays, because a change is forgotten after a while, with a
 * border of the common unknowns. */
struct equations {
    const struct channel_response *channel;
    struct channel_values values;
    size_t count, band; /* delays; those that overlap with one */
    gsl_vector *at;     /* [count] indices of their changes */
    gsl_matrix *normal; /* [count x band + 1], lower band */
    gsl_matrix *border; /* [count x COMMON], then solved */
    gsl_vector *right;  /* [count] */
    gsl_vector *unit;   /* [count] */
    gsl_matrix *slopes; /* [COMMON x n] of the residual by gain and lag */
    double corner[COMMON][COMMON], last[COMMON];
};

static double find_range(const struct channel_response *channel)
{
    double min = HUGE_VAL;
    double max = -HUGE_VAL;
    for (size_t j = 0; j < channel->change_count; j++) {
        min = fmin(min, channel->change_command[j]);
        max = fmax(max, channel->change_command[j]);
    }
    return max - min;
}

/* Selects the changes whose delays are fitted; at NULL: only counts them. */
static size_t select_changes(const struct channel_response *channel, double *at)
{
    const double least = CHANGE_MIN * find_range(channel);
    size_t count = 0;
    for (size_t r = 0; r < channel->set->run_count; r++) {
        for (size_t j = channel->run_change[r] + 1; j < channel->run_change[r + 1]; j++) {
            if (fabs(channel->change_command[j] - channel->change_command[j - 1]) > least) {
                if (at) {
                    at[count] = (double)j;
                }
                count++;
            }
        }
    }
    return count;
}

static size_t change_at(const struct equations *q, size_t j)
{
    return (size_t)gsl_vector_get(q->at, j);
}

/* Largest number of later changes that come before a response has ended. */
static size_t find_band(const struct equations *q)
{
    const double *t_s = q->channel->change_s;
    size_t band = 1;
    size_t last = 0;
    for (size_t j = 0; j < q->count; j++) {
        while (last + 1 < q->count &&
               t_s[change_at(q, last + 1)] <
                   t_s[change_at(q, j)] + RESPONSE_LAGS * q->values.lag_s) {
            last++;
        }
        band = last > j && last - j > band ? last - j : band;
    }
    return band < q->count ? band : q->count - 1;
}

static void free_equations(struct equations *q)
{
    gsl_vector_free(q->at);
    gsl_matrix_free(q->normal);
    gsl_matrix_free(q->border);
    gsl_vector_free(q->right);
    gsl_vector_free(q->unit);
    gsl_matrix_free(q->slopes);
}

static enum status alloc_equations(struct equations *q)
{
    q->at = gsl_vector_alloc(q->count);
    if (!q->at) {
        return STATUS_E_NOMEM;
    }
    (void)select_changes(q->channel, q->at->data);
    q->band = find_band(q);
    q->normal = gsl_matrix_alloc(q->count, q->band + 1);
    q->border = gsl_matrix_alloc(q->count, COMMON);
    q->right = gsl_vector_alloc(q->count);
    q->unit = gsl_vector_alloc(q->count);
    q->slopes = gsl_matrix_alloc(COMMON, q->channel->set->n);
    return q->normal && q->border && q->right && q->unit && q->slopes ? STATUS_OK
                                                                      : STATUS_E_NOMEM;
}

/* Slopes of the residual by gain and lag, from differences. */
static void find_slopes(struct equations *q, const double *shifts, const double *residual)
{
    for (size_t c = 0; c < COMMON; c++) {
        struct channel_values moved = q->values;
        double *value = c == 0 ? &moved.gain : &moved.lag_s;
        const double step = DIFFERENCE * fabs(*value);
        double *slope = gsl_matrix_ptr(q->slopes, c, 0);
        *value += step;
        channel_residual(q->channel, &moved, shifts, slope);
        for (size_t k = 0; k < q->channel->set->n; k++) {
            slope[k] = (slope[k] - residual[k]) / step;
        }
    }
}

/* Change of the residual at t_s by a second of additional delay of change j: its impulse
 * response. 0 before it acts. */
static double delay_slope(const struct equations *q, const double *shifts, size_t j, double t_s)
{
    const struct channel_response *channel = q->channel;
    const size_t at = change_at(q, j);
    const double acts_s = channel->change_s[at] + q->values.delay_s + shifts[at];
    const double change = channel_shape_command(&q->values, channel->change_command[at]) -
                          channel_shape_command(&q->values, channel->change_command[at - 1]);
    return t_s > acts_s ? q->values.gain * change / q->values.lag_s *
                              exp(-(t_s - acts_s) / q->values.lag_s)
                        : 0.0;
}

/* Adds one sample to the equations; delays from..to - 1 act there. */
static void add_sample(struct equations *q, const double *shifts, const double *residual,
                       size_t k, size_t from, size_t to)
{
    const double t_s = q->channel->set->t_s[k];
    double common[COMMON];
    for (size_t c = 0; c < COMMON; c++) {
        common[c] = gsl_matrix_get(q->slopes, c, k);
        q->last[c] -= common[c] * residual[k];
        for (size_t d = 0; d <= c; d++) {
            q->corner[c][d] += common[c] * common[d];
        }
    }
    for (size_t j = from; j < to; j++) {
        const double slope = delay_slope(q, shifts, j, t_s);
        *gsl_vector_ptr(q->right, j) -= slope * residual[k];
        for (size_t c = 0; c < COMMON; c++) {
            *gsl_matrix_ptr(q->border, j, c) += slope * common[c];
        }
        for (size_t i = j; i < to && i - j <= q->band; i++) {
            *gsl_matrix_ptr(q->normal, j, i - j) +=
                slope * (i == j ? slope : delay_slope(q, shifts, i, t_s));
        }
    }
}

static void set_equations(struct equations *q, const double *shifts, const double *residual)
{
    const struct channel_response *channel = q->channel;
    const struct data_set *set = channel->set;
    size_t from = 0;
    gsl_matrix_set_zero(q->normal);
    gsl_matrix_set_zero(q->border);
    gsl_vector_set_zero(q->right);
    memset(q->corner, 0, sizeof q->corner);
    memset(q->last, 0, sizeof q->last);
    find_slopes(q, shifts, residual);
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            const double past_s = set->t_s[k] - q->values.delay_s;
            while (from < q->count && (change_at(q, from) < channel->run_change[r] ||
                                       channel->change_s[change_at(q, from)] <
                                           past_s - RESPONSE_LAGS * q->values.lag_s)) {
                from++;
            }
            size_t to = from;
            while (to < q->count && change_at(q, to) < channel->run_change[r + 1] &&
                   channel->change_s[change_at(q, to)] <= set->t_s[k] + q->values.lag_s) {
                to++;
            }
            if (channel_is_settled(channel, r, k)) {
                add_sample(q, shifts, residual, k, from, to);
            }
        }
    }
    /* a change that no sample shows stays */
    for (size_t j = 0; j < q->count; j++) {
        double *diagonal = gsl_matrix_ptr(q->normal, j, 0);
        *diagonal = *diagonal > 0.0 ? *diagonal * (1.0 + 1e-9) : 1.0;
    }
}

/* Inverse of the 2 x 2 matrix that is left for the common unknowns. */
static bool reduce_corner(struct equations *q, const gsl_matrix *solved,
                          double inverse[COMMON][COMMON])
{
    double left[COMMON][COMMON];
    for (size_t c = 0; c < COMMON; c++) {
        for (size_t d = 0; d < COMMON; d++) {
            left[c][d] = c >= d ? q->corner[c][d] : q->corner[d][c];
            for (size_t j = 0; j < q->count; j++) {
                left[c][d] -= gsl_matrix_get(q->border, j, c) * gsl_matrix_get(solved, j, d);
            }
        }
    }
    const double det = left[0][0] * left[1][1] - left[0][1] * left[1][0];
    inverse[0][0] = left[1][1] / det;
    inverse[1][1] = left[0][0] / det;
    inverse[0][1] = -left[0][1] / det;
    inverse[1][0] = -left[1][0] / det;
    return det > 0.0;
}

/* Solves the equations. step [count], variance [count] (NULL: not wanted, per unit of
 * residual variance) and common, out. */
static bool solve_equations(struct equations *q, double *step, double *variance,
                            double common[COMMON])
{
    double inverse[COMMON][COMMON];
    double rest[COMMON];
    gsl_matrix *solved = gsl_matrix_alloc(q->count, COMMON);
    if (!solved || gsl_linalg_cholesky_band_decomp(q->normal) != GSL_SUCCESS) {
        gsl_matrix_free(solved);
        return false;
    }
    for (size_t c = 0; c < COMMON; c++) {
        gsl_vector_view column = gsl_matrix_column(solved, c);
        (void)gsl_matrix_get_col(q->unit, q->border, c);
        (void)gsl_linalg_cholesky_band_svx(q->normal, q->unit);
        (void)gsl_vector_memcpy(&column.vector, q->unit);
    }
    bool well = reduce_corner(q, solved, inverse);
    (void)gsl_linalg_cholesky_band_svx(q->normal, q->right);
    for (size_t c = 0; c < COMMON; c++) {
        rest[c] = q->last[c];
        for (size_t j = 0; j < q->count; j++) {
            rest[c] -= gsl_matrix_get(q->border, j, c) * gsl_vector_get(q->right, j);
        }
    }
    for (size_t c = 0; c < COMMON; c++) {
        common[c] = inverse[c][0] * rest[0] + inverse[c][1] * rest[1];
        well = well && isfinite(common[c]);
    }
    for (size_t j = 0; j < q->count && well; j++) {
        const double z[COMMON] = {gsl_matrix_get(solved, j, 0), gsl_matrix_get(solved, j, 1)};
        step[j] = gsl_vector_get(q->right, j) - z[0] * common[0] - z[1] * common[1];
        if (variance) {
            gsl_vector_set_basis(q->unit, j);
            (void)gsl_linalg_cholesky_band_svx(q->normal, q->unit);
            variance[j] = gsl_vector_get(q->unit, j) + z[0] * z[0] * inverse[0][0] +
                          2.0 * z[0] * z[1] * inverse[0][1] + z[1] * z[1] * inverse[1][1];
        }
    }
    gsl_matrix_free(solved);
    return well;
}

/* Spread of the delays beyond their errors. */
static double find_spread(const struct equations *q, const double *shifts,
                          const double *variance, double noise2)
{
    double weight = 0.0;
    double weight2 = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    for (size_t j = 0; j < q->count; j++) {
        const double shift = shifts[change_at(q, j)];
        const double w = 1.0 / fmax(variance[j] * noise2, 1e-12);
        weight += w;
        weight2 += w * w;
        sum += w * shift;
        squares += w * shift * shift;
    }
    const double excess = squares - sum * sum / weight - (double)(q->count - 1);
    return sqrt(fmax(0.0, excess / (weight - weight2 / weight)));
}

/* Standard deviation of a uniform phase within the row before each change. */
static double find_row_s(const struct equations *q)
{
    double squares = 0.0;
    const struct data_set *set = q->channel->set;
    size_t k = 0;
    for (size_t j = 0; j < q->count; j++) {
        while (k + 1 < set->n && set->t_s[k] < q->channel->change_s[change_at(q, j)]) {
            k++;
        }
        const double gap_s = k > 0 ? set->t_s[k] - set->t_s[k - 1] : set->dt_s;
        squares += pow(fmin(gap_s, GAP_PERIODS * set->dt_s), 2.0) / 12.0;
    }
    return sqrt(squares / (double)q->count);
}

static bool move_shifts(struct equations *q, double *shifts, double *step, double *variance,
                        const double *residual)
{
    double common[COMMON];
    set_equations(q, shifts, residual);
    if (!solve_equations(q, step, variance, common)) {
        return false;
    }
    const double lag_s = q->values.lag_s;
    for (size_t j = 0; j < q->count; j++) {
        double *shift = &shifts[change_at(q, j)];
        *shift = fmin(fmax(*shift + step[j], -q->values.delay_s - 0.5 * lag_s),
                      2.0 * lag_s + 2.0 * q->channel->set->dt_s);
    }
    q->values.gain += common[0];
    q->values.lag_s = fmax(0.2 * lag_s, lag_s + common[1]);
    return true;
}

enum status channel_delays_fit(const struct channel_response *channel,
                               const struct channel_values *values, double *shifts,
                               double *residual, struct channel_delays *delays)
{
    struct equations q = {.channel = channel, .values = *values};
    const size_t n = channel->set->n;
    *delays = (struct channel_delays){.squares = HUGE_VAL};
    memset(shifts, 0, channel->change_count * sizeof *shifts);
    channel_residual(channel, values, shifts, residual);
    q.count = select_changes(channel, NULL);
    if (q.count < DELAYS_MIN || q.count * ROWS_PER_CHANGE > n) {
        return STATUS_OK;
    }
    gsl_vector *room = gsl_vector_alloc(2 * q.count);
    enum status st = room ? alloc_equations(&q) : STATUS_E_NOMEM;
    bool well = st == STATUS_OK;
    for (int round = 0; round < ROUNDS && well; round++) {
        well = move_shifts(&q, shifts, room->data, room->data + q.count, residual);
        channel_residual(channel, &q.values, shifts, residual);
    }
    if (well) {
        double squares = 0.0;
        for (size_t k = 0; k < n; k++) {
            squares += residual[k] * residual[k];
        }
        const double freedom = fmax(1.0, (double)n - (double)(q.count + COMMON));
        delays->count = q.count;
        delays->squares = squares;
        delays->values = q.values;
        delays->spread_s = find_spread(&q, shifts, room->data + q.count, squares / freedom);
        delays->row_s = find_row_s(&q);
    }
    free_equations(&q);
    gsl_vector_free(room);
    return st;
}

double channel_phase_residual(const struct channel_response *channel,
                              const struct channel_values *values, double *scratch)
{
    struct random_source draws = {.state = 1};
    const struct data_set *set = channel->set;
    double *shifts = scratch + 2 * set->n;
    double rms[DRAWS];
    channel_residual(channel, values, NULL, scratch);
    for (size_t d = 0; d < DRAWS; d++) {
        size_t k = 0;
        double squares = 0.0;
        for (size_t j = 0; j < channel->change_count; j++) {
            while (k + 1 < set->n && set->t_s[k] < channel->change_s[j]) {
                k++;
            }
            const double gap_s = k > 0 ? set->t_s[k] - set->t_s[k - 1] : set->dt_s;
            shifts[j] =
                random_between(&draws, -0.5, 0.5) * fmin(gap_s, GAP_PERIODS * set->dt_s);
        }
        channel_residual(channel, values, shifts, scratch + set->n);
        for (size_t i = 0; i < set->n; i++) {
            const double moved = scratch[set->n + i] - scratch[i];
            squares += moved * moved;
        }
        rms[d] = sqrt(squares / (double)set->n);
    }
    gsl_sort(rms, 1, DRAWS);
    return rms[(DRAWS * 95) / 100 - 1];
}
