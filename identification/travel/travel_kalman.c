#include "identification/travel/travel_kalman.h"

#include <math.h>

#include "identification/travel/travel_thresholds.def"

/* Prior: delays of a tenth of a second, and nominal speeds. It is wide, because the nominal
 * speeds may be guesses. */
static const double PRIOR_DELAY_S = 0.1;
static const double PRIOR_DELAY_S_SD = 0.2;
static const double PRIOR_RATIO_SD = 0.4;
/* The fixed filter starts with an almost flat prior, which must not affect its innovations. */
static const double FIXED_PRIOR_FACTOR = 100.0;
/* Random walk of the delays per entry, s, at a walk ratio of 1. */
static const double WALK_DELAY_S = 1e-4;
/* The noise estimate adapts quickly over the first entries, then over about a hundred. */
static const double NOISE_GAIN_MIN = 0.01;
static const double NOISE_ENTRIES = 5.0;
/* The first moves replace a guess of the noise that is wrong by this factor (sd). */
static const double NOISE_GUESS_MAX = 2.0;
/* If |z| stays on one side of its median, the noise has changed, and the gain increases. */
static const double LEAN_GAIN = 0.1;
static const double RUSH = 9.0;
/* Half of a Gaussian distribution lies within this many sd. */
static const double MEDIAN_SD = 0.6744897501960817;
/* Range of the noise, s: no link is timed better, and no working one is worse. */
static const double NOISE_S_MIN = 1e-4;
static const double NOISE_S_MAX = 1e3;
/* Passes over the recorded moves at the start of the fixed filter. The last one has Huber's
 * weights, the earlier ones nearly those of absolute deviations. */
enum { START_PASSES = 8 };
static const double START_LIMIT = 0.1;
static const double FINAL_LIMIT = 2.0;
/* Largest step for which a change opens the wandering filter. It arrives within a few moves
 * anyway, and a single late reply must not move it far. */
static const double STEP_RATIO_MAX = 0.15;
static const double STEP_S_MAX = 0.5;

enum { RISE, FALL, SIDES };

static const enum travel_term test_terms[TRAVEL_TEST_COUNT] = {TRAVEL_INV_W, TRAVEL_INV_V,
                                                               TRAVEL_T0};

/* A fmax() without a function call, which each term of each move would cost. least must not
 * be NaN. */
static double at_least(double least, double value)
{
    return value > least ? value : least;
}

/* The covariance is in units of noise_s2. */
static void set_prior(const struct travel_kalman_params *p, double factor,
                      double beta[TRAVEL_P], double covariance[TRAVEL_P][TRAVEL_P],
                      double noise_s2)
{
    const double start[TRAVEL_P] = {PRIOR_DELAY_S, PRIOR_DELAY_S, PRIOR_DELAY_S,
                                    1.0 / p->nominal_w_radps, 1.0 / p->nominal_v_mps};
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const double sd = j < TRAVEL_INV_W ? PRIOR_DELAY_S_SD : PRIOR_RATIO_SD * start[j];
        for (size_t i = 0; i < TRAVEL_P; i++) {
            covariance[i][j] = 0.0;
        }
        beta[j] = start[j];
        covariance[j][j] = factor * sd * sd / noise_s2;
    }
}

void travel_kalman_reset(struct travel_kalman *k, const struct travel_kalman_params *p)
{
    const double noise_s2 = p->noise_s * p->noise_s;
    *k = (struct travel_kalman){.noise_s2 = noise_s2, .fixed_noise_s2 = noise_s2};
    set_prior(p, 1.0, k->beta, k->covariance, 1.0);
    set_prior(p, FIXED_PRIOR_FACTOR, k->fixed_beta, k->fixed_spread, noise_s2);
}

/* A measurement as seen by one filter. */
struct innovation {
    double nu_s;         /* lap - x beta */
    double variance;     /* variance of nu before the gate, in the unit of the covariance */
    double cx[TRAVEL_P]; /* covariance x */
};

static struct innovation find_innovation(const double beta[TRAVEL_P],
                                         double covariance[TRAVEL_P][TRAVEL_P],
                                         const double x[TRAVEL_P], double lap_s, double noise)
{
    struct innovation in = {.nu_s = lap_s, .variance = noise};
    for (size_t i = 0; i < TRAVEL_P; i++) {
        in.nu_s -= x[i] * beta[i];
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        for (size_t i = 0; i < TRAVEL_P; i++) { /* the covariance is symmetric */
            in.cx[i] += covariance[j][i] * x[j];
        }
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        in.variance += x[i] * in.cx[i];
    }
    return in;
}

/* Kalman update. If the innovation, z standard deviations large, exceeds gate_sd, the
 * variance is increased until it equals gate_sd. */
static void update_terms(double beta[TRAVEL_P], double covariance[TRAVEL_P][TRAVEL_P],
                         const struct innovation *in, double z, double gate_sd)
{
    const double over = at_least(1.0, fabs(z) / gate_sd);
    const double variance = in->variance * over * over;
    for (size_t i = 0; i < TRAVEL_P; i++) {
        beta[i] += in->cx[i] * in->nu_s / variance;
        for (size_t j = 0; j <= i; j++) {
            const double c = covariance[i][j] - in->cx[i] * in->cx[j] / variance;
            covariance[i][j] = covariance[j][i] = i == j ? at_least(0.0, c) : c;
        }
    }
}

static void apply_random_walk(struct travel_kalman *k, const struct travel_kalman_params *p)
{
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const double unit = j == TRAVEL_INV_W   ? 1.0 / p->nominal_w_radps
                            : j == TRAVEL_INV_V ? 1.0 / p->nominal_v_mps
                                                : WALK_DELAY_S;
        k->covariance[j][j] += unit * unit * p->walk_ratio * p->walk_ratio;
    }
}

/* The noise follows the median of |z|, which is robust to outliers and long tails.
 * Innovations count by the share of noise in their variance, without the uncertainty of
 * beta. */
static void adapt_noise(struct travel_kalman *k, const struct innovation *seen, double z)
{
    const double share = k->noise_s2 / seen->variance;
    const double side = fabs(z) > MEDIAN_SD ? 1.0 : -1.0;
    k->noise_lean += LEAN_GAIN * share * (side - k->noise_lean);
    const double lean2 = k->noise_lean * k->noise_lean;
    const double gain = fmax(NOISE_GAIN_MIN * (1.0 + RUSH * lean2 * lean2),
                             1.0 / ((double)k->n + NOISE_ENTRIES));
    k->noise_s2 *= 1.0 + gain * share * side;
    k->noise_s2 = fmin(fmax(k->noise_s2, NOISE_S_MIN * NOISE_S_MIN), NOISE_S_MAX * NOISE_S_MAX);
}

/* The tests use the variance of the innovations themselves, cut at the gate, so that a long
 * tail does not look like a change. */
static void adapt_fixed_noise(struct travel_kalman *k, const struct innovation *retained,
                              double z, double gate_sd)
{
    const double entries = (double)(k->n - k->fixed_first);
    const double gain = fmax(NOISE_GAIN_MIN, 1.0 / (entries + NOISE_ENTRIES));
    const double share = 1.0 / retained->variance;
    k->fixed_noise_s2 *= 1.0 + gain * share * (fmin(z * z, gate_sd * gate_sd) - 1.0);
    k->fixed_noise_s2 = fmax(k->fixed_noise_s2, NOISE_S_MIN * NOISE_S_MIN);
}

/* Drift test (docs/model/travel_time.md): Page's cumulative sums of log likelihood ratios,
 * one per term and direction. They compare the innovations with terms that are held constant
 * ("fixed"). Each sum restarts at zero when it becomes negative. A sum beyond its limit
 * means that something has changed since its last restart. One change raises several sums,
 * so that the recorded moves decide which term it was: the change that leaves the smallest
 * residuals. It assumes that noise is independent from move to move. Reference: Page,
 * Biometrika 41, 1954. */

/* Log likelihood ratio of "the innovation is shifted by d sd" to "it is not", for an
 * innovation that is cut at the gate. */
static double evidence_for(double d, double z, double gate_sd)
{
    const double cut = at_least(-gate_sd, z);
    return d * ((cut < gate_sd ? cut : gate_sd) - 0.5 * d);
}

static double step_that_matters(const struct travel_kalman *k,
                                const struct travel_kalman_params *p, enum travel_term term)
{
    return term == TRAVEL_T0 ? DELAY_STEP_SD * sqrt(k->fixed_noise_s2)
                             : p->drift_ratio * fabs(k->fixed_beta[term]);
}

static void gather_moves(struct travel_kalman *k, const struct travel_kalman_params *p,
                         int64_t t_us, const double x[TRAVEL_P], const struct innovation *in)
{
    const double sd = sqrt(in->variance * k->fixed_noise_s2);
    for (size_t i = 0; i < TRAVEL_TEST_COUNT; i++) {
        struct travel_test *test = &k->test[i];
        const enum travel_term term = test_terms[i];
        if (!(x[term] > 0.0)) {
            continue;
        }
        const double d = fmin(x[term] * step_that_matters(k, p, term) / sd, SHIFT_SD_MAX);
        for (int side = RISE; side < SIDES; side++) {
            const double z = (side == RISE ? in->nu_s : -in->nu_s) / sd;
            if (!(test->sum[side] > 0.0)) {
                test->since_us[side] = t_us;
                test->reference[side] = k->fixed_beta[term];
            }
            test->sum[side] = at_least(0.0, test->sum[side] + evidence_for(d, z, p->gate_sd));
        }
    }
}

static void remember_move(struct travel_kalman *k, int64_t t_us, const struct travel_move *move,
                          double nu_s)
{
    struct travel_recent *seen = &k->recent[k->n % TRAVEL_RECENT_MAX];
    *seen = (struct travel_recent){.t_us = t_us,
                                   .rotation_rad = (float)move->rotation_rad,
                                   .displacement_m = (float)move->displacement_m,
                                   .lap_s = (float)move->lap_s,
                                   .nu_s = (float)nu_s};
    for (size_t i = 0; i < TRAVEL_TEST_COUNT; i++) {
        seen->value[i] = (float)k->fixed_beta[test_terms[i]];
    }
}

static const struct travel_recent *recent_at(const struct travel_kalman *k, uint64_t n,
                                             double x[TRAVEL_P])
{
    const struct travel_recent *seen = &k->recent[n % TRAVEL_RECENT_MAX];
    travel_row(seen->rotation_rad, seen->displacement_m, x);
    return seen;
}

/* Returns the oldest recorded move since `first`. */
static uint64_t oldest_retained(const struct travel_kalman *k, uint64_t first)
{
    const uint64_t retained = k->n > TRAVEL_RECENT_MAX ? k->n - TRAVEL_RECENT_MAX : 0;
    return first > retained ? first : retained;
}

/* Median residual of the recorded moves for beta; off_s[] receives each. As in robust_ls.c,
 * the smallest are left out: a fit makes as many of them small as it has terms. */
static double find_median_residual(const struct travel_kalman *k, uint64_t from,
                                   const double beta[TRAVEL_P], double off_s[TRAVEL_RECENT_MAX])
{
    double sorted[TRAVEL_RECENT_MAX] = {0.0};
    size_t count = 0;
    for (uint64_t n = from; n < k->n; n++) {
        double x[TRAVEL_P];
        double off = recent_at(k, n, x)->lap_s;
        for (size_t j = 0; j < TRAVEL_P; j++) {
            off -= x[j] * beta[j];
        }
        off_s[n - from] = fabs(off);
        size_t at = count++;
        for (; at > 0 && sorted[at - 1] > fabs(off); at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = fabs(off);
    }
    const size_t fitted = count > TRAVEL_P ? TRAVEL_P : 0;
    return sorted[fitted + (count - fitted) / 2];
}

/* Start of a filter. A filter cannot distinguish an outlier among its first moves. It
 * therefore starts from a robust fit of all recorded moves with the prior: iterated weights
 * from the previous residuals. Returns the noise. */
static double solve_start(const struct travel_kalman *k, const struct travel_kalman_params *p,
                          double prior_factor, double beta[TRAVEL_P],
                          double spread[TRAVEL_P][TRAVEL_P])
{
    const uint64_t from = oldest_retained(k, k->fixed_first);
    double off_s[TRAVEL_RECENT_MAX] = {0.0};
    double noise[TRAVEL_RECENT_MAX] = {0.0}; /* of each move, relative to that of all */
    double limit_s = INFINITY;
    double median_s = 0.0;

    for (int pass = 0; pass < START_PASSES; pass++) {
        bool changed = false;
        for (uint64_t n = from; n < k->n; n++) {
            const double is = fmax(1.0, off_s[n - from] / limit_s);
            changed = changed || fabs(is - noise[n - from]) > 0.0;
            noise[n - from] = is;
        }
        if (changed) {
            set_prior(p, prior_factor, beta, spread, p->noise_s * p->noise_s);
            for (uint64_t n = from; n < k->n; n++) {
                double x[TRAVEL_P];
                const double lap_s = recent_at(k, n, x)->lap_s;
                const struct innovation in =
                    find_innovation(beta, spread, x, lap_s, noise[n - from]);
                update_terms(beta, spread, &in, 0.0, p->gate_sd);
            }
            median_s = find_median_residual(k, from, beta, off_s);
        }
        limit_s =
            fmax(median_s * (pass + 2 < START_PASSES ? START_LIMIT : FINAL_LIMIT), NOISE_S_MIN);
    }
    return fmax(median_s / MEDIAN_SD, NOISE_S_MIN);
}

/* Called once after the first moves. Their joint fit replaces the filter's step-by-step
 * result, and also a wrong guess of the noise. */
static void start_wandering(struct travel_kalman *k, const struct travel_kalman_params *p)
{
    const double noise_s = solve_start(k, p, 1.0, k->beta, k->covariance);
    if (noise_s > NOISE_GUESS_MAX * p->noise_s || p->noise_s > NOISE_GUESS_MAX * noise_s) {
        k->noise_s2 = noise_s * noise_s;
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t j = 0; j < TRAVEL_P; j++) {
            k->covariance[i][j] *= k->noise_s2;
        }
    }
}

static void start_fixed(struct travel_kalman *k, const struct travel_kalman_params *p)
{
    const double noise_s =
        solve_start(k, p, FIXED_PRIOR_FACTOR, k->fixed_beta, k->fixed_spread);
    k->fixed_noise_s2 = noise_s * noise_s;
    k->fixed_ready = true;
    if (k->fixed_first == 0) {
        start_wandering(k, p);
    }
}

/* A possible explanation of the recorded moves: from move `first` on, a term has another
 * value. */
struct change {
    size_t test; /* TRAVEL_TEST_COUNT: none */
    uint64_t first;
    double value;
    double cost_s; /* sum of the absolute residuals over all recorded moves */
};

/* Value of a term in the moves since `first`, by least absolute deviations with all other
 * terms constant: the weighted median of the values of the single moves. NaN if too few
 * moves contain the term. */
static double value_since(const struct travel_kalman *k, size_t i, uint64_t first)
{
    double value[TRAVEL_RECENT_MAX];
    double weight[TRAVEL_RECENT_MAX];
    double x[TRAVEL_P];
    size_t count = 0;
    double half = 0.0;

    for (uint64_t n = first; n < k->n; n++) {
        const struct travel_recent *seen = recent_at(k, n, x);
        const double factor = x[test_terms[i]];
        if (!(factor > 0.0)) {
            continue;
        }
        const double v = (double)seen->value[i] + (double)seen->nu_s / factor;
        size_t at = count++;
        for (; at > 0 && value[at - 1] > v; at--) {
            value[at] = value[at - 1];
            weight[at] = weight[at - 1];
        }
        value[at] = v;
        weight[at] = factor;
        half += 0.5 * factor;
    }
    if (count < CHANGE_MOVES_MIN) {
        return nan("");
    }
    size_t middle = 0;
    double sum = weight[0];
    while (middle + 1 < count && sum < half) {
        sum += weight[++middle];
    }
    return value[middle];
}

static double cost_of(const struct travel_kalman *k, const struct change *change)
{
    double cost_s = 0.0;
    for (uint64_t n = oldest_retained(k, k->fixed_first); n < k->n; n++) {
        double x[TRAVEL_P];
        const struct travel_recent *seen = recent_at(k, n, x);
        const double explained_s =
            n < change->first ? 0.0
                              : x[test_terms[change->test]] *
                                    (change->value - (double)seen->value[change->test]);
        cost_s += fabs((double)seen->nu_s - explained_s);
    }
    return cost_s;
}

/* Finds the term, time and value of the change that leaves the smallest residuals. */
static struct change explain_drift(const struct travel_kalman *k)
{
    struct change best = {.test = TRAVEL_TEST_COUNT, .cost_s = INFINITY};
    for (size_t i = 0; i < TRAVEL_TEST_COUNT; i++) {
        for (uint64_t first = oldest_retained(k, k->fixed_first); first < k->n; first++) {
            struct change change = {i, first, value_since(k, i, first), 0.0};
            if (!(change.value > 0.0) && !(test_terms[i] == TRAVEL_T0 && change.value <= 0.0)) {
                continue;
            }
            change.cost_s = cost_of(k, &change);
            best = change.cost_s < best.cost_s ? change : best;
        }
    }
    return best;
}

/* Restarts the fixed filter with the moves since the change, and widens the covariance of
 * the wandering filter for the step. */
static void restart_filter(struct travel_kalman *k, enum travel_term term, double value,
                           uint64_t first)
{
    const double most = term == TRAVEL_T0 ? STEP_S_MAX : STEP_RATIO_MAX * fabs(value);
    const double off = fmin(fabs(value - k->beta[term]), most);
    k->covariance[term][term] += off * off;
    k->fixed_first = first;
    k->fixed_ready = false;
    for (size_t i = 0; i < TRAVEL_TEST_COUNT; i++) {
        k->test[i] = (struct travel_test){.sum = {0.0, 0.0}};
    }
}

/* Returns the test with the largest sum, and its side. */
static const struct travel_test *find_loudest(const struct travel_kalman *k, int *side)
{
    const struct travel_test *loud = &k->test[0];
    *side = RISE;
    for (size_t i = 0; i < TRAVEL_TEST_COUNT; i++) {
        for (int s = RISE; s < SIDES; s++) {
            if (k->test[i].sum[s] > loud->sum[*side]) {
                loud = &k->test[i];
                *side = s;
            }
        }
    }
    return loud;
}

/* Decides about a drift: a sum above the limit shows a change. */
static bool decide_drift(struct travel_kalman *k, const struct travel_kalman_params *p,
                         struct travel_drift *drift)
{
    int side = RISE;
    const struct travel_test *loud = find_loudest(k, &side);
    if (!(loud->sum[side] > ALARM_SUM)) {
        return false;
    }
    const struct change change = explain_drift(k);
    if (change.test == TRAVEL_TEST_COUNT) {
        restart_filter(k, TRAVEL_T0, k->beta[TRAVEL_T0], k->n);
        return false;
    }
    const enum travel_term term = test_terms[change.test];
    const double before = k->test[change.test].sum[side] > 0.0
                              ? k->test[change.test].reference[side]
                              : k->fixed_beta[term];
    const bool matters =
        fabs(change.value - before) >= ALARM_RATIO_MIN * step_that_matters(k, p, term);
    /* A slow change may have begun before the recorded moves. */
    const bool retained = change.first > oldest_retained(k, k->fixed_first);
    if (matters) {
        const bool speed = term != TRAVEL_T0;
        *drift = (struct travel_drift){
            .term = term,
            .since_us = retained ? k->recent[change.first % TRAVEL_RECENT_MAX].t_us
                                 : loud->since_us[side],
            .before = speed ? 1.0 / before : before,
            .after = speed ? 1.0 / change.value : change.value,
            .change_ratio = speed ? before / change.value - 1.0 : nan(""),
        };
        k->drifts++;
    }
    restart_filter(k, term, change.value, change.first);
    return matters;
}

bool travel_kalman_step(struct travel_kalman *k, const struct travel_kalman_params *p,
                        int64_t t_us, const struct travel_move *move,
                        struct travel_drift *drift)
{
    if (!travel_move_usable(move)) {
        return false;
    }
    double x[TRAVEL_P];
    travel_row(move->rotation_rad, move->displacement_m, x);

    apply_random_walk(k, p);
    const struct innovation seen =
        find_innovation(k->beta, k->covariance, x, move->lap_s, k->noise_s2);
    const struct innovation retained =
        find_innovation(k->fixed_beta, k->fixed_spread, x, move->lap_s, 1.0);
    const double z = seen.nu_s / sqrt(seen.variance);
    const double fixed_z = retained.nu_s / sqrt(retained.variance * k->fixed_noise_s2);
    remember_move(k, t_us, move, retained.nu_s);
    if (k->fixed_ready) {
        gather_moves(k, p, t_us, x, &retained);
        update_terms(k->fixed_beta, k->fixed_spread, &retained, fixed_z, p->gate_sd);
        adapt_fixed_noise(k, &retained, fixed_z, p->gate_sd);
    }
    update_terms(k->beta, k->covariance, &seen, z, p->gate_sd);
    adapt_noise(k, &seen, z);
    k->gated += fabs(z) > p->gate_sd;
    k->n++;
    const bool changed = k->fixed_ready && decide_drift(k, p, drift);
    const uint64_t enough = p->warmup > TRAVEL_P ? p->warmup : TRAVEL_P + 1;
    if (!k->fixed_ready && k->n - k->fixed_first >= enough) {
        start_fixed(k, p);
    }
    return changed;
}
