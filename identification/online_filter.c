#include "identification/online_filter.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    N = MODEL_AXES_MAX,
    P = DYNAMICS_P_MAX,
    SUBSTEPS_MAX = 32,
    OUTLIERS_MAX = 10 /* in a row: then it is the prediction that is off */
};

/* Innovations further off say no more than one at this distance. */
static const double SQUARE_MAX = 16.0;
/* Over how long noise and disturbance are learnt, and consistency is judged. */
static const double ADAPT_S = 60.0;
static const double JUDGE_SAMPLES = 100.0;
static const double CONSISTENT_MIN = 0.5;
/* How far from their start values noise and disturbance may be learnt, as variances. */
static const double ADAPT_MAX = 1e4;
/* A velocity this many times beyond the fastest measured one, and one, has run away. */
static const double RUN_AWAY_RATIO = 1e3;
/* Where a parameter that must be positive ends, as a share of its scale. */
static const double POSITIVE_MIN_RATIO = 1e-3;
/* A suspicion; what confirms it; what is no change at all. */
static const double SUM_MAX = 15.0;
static const double DRIFT_Z = 4.0;
static const double SAME_Z = 2.0;
static const double OUTLIER_SHARE_MAX = 0.1;
/* A value is known when its error is below this share of a change that matters. */
static const double KNOWN_RATIO = 0.2;
static const double RENEW_RATIO = 0.5;
static const double SETTLE_RATIO = 2.0;
/* A suspicion is looked at for so many times excitation_s, at most and at least, with
 * parameters free to move by so many times what matters. */
static const double LOOK_RATIO_MAX = 3.0;
static const double LOOK_RATIO_MIN = 0.5;
static const double OPEN_RATIO = 3.0;

struct online_params online_params_defaults(void)
{
    return (struct online_params){.biases = false,
                                  .adapt = true,
                                  .walk_ratio = 0.01,
                                  .gate_sd = 5.0,
                                  .gap_s = 1.0,
                                  .excitation_s = 30.0,
                                  .excitation_ratio = 1.0,
                                  .drift_ratio = 0.1};
}

const char *online_gate_name(enum online_gate gate)
{
    static const char *const names[ONLINE_GATE_COUNT] = {
        "used",         "not_excited", "waiting", "incomplete", "no_effort", "duplicate",
        "out_of_order", "stale",       "gap",     "saturated",  "outlier"};
    return (size_t)gate < COUNT(names) ? names[gate] : "?";
}

void online_filter_reset(struct online_filter *f, const struct model *model,
                         const struct online_params *p)
{
    memset(f, 0, sizeof *f);
    f->n = (uint8_t)model->axis_count;
    f->poses = (uint8_t)model_pose_count(model);
    f->p = (uint8_t)(model->parameter_count + (p->biases ? model->axis_count : 0));
}

void online_filter_cut(struct online_filter *f)
{
    f->placed = false;
    memset(f->offset, 0, sizeof f->offset);
    memset(f->sensitivity, 0, sizeof f->sensitivity);
}

void online_filter_pass_over(struct online_filter *f, enum online_gate gate)
{
    f->gate[gate]++;
}

void online_filter_hold(struct online_filter *f, const double *tau)
{
    memcpy(f->tau, tau, f->n * sizeof *tau);
}

double online_filter_se(const struct online_filter *f, size_t i)
{
    const size_t at = f->n + i;
    return f->running ? sqrt(f->covariance[at][at]) : nan("");
}

bool online_filter_consistent(const struct online_filter *f)
{
    const double seen = (double)(f->gate[ONLINE_USED] + f->gate[ONLINE_NOT_EXCITED]);
    bool well = f->running && seen >= JUDGE_SAMPLES;
    for (size_t i = 0; i < f->n; i++) {
        well = well && f->nis[i] > CONSISTENT_MIN && f->nis[i] < 2.0 &&
               fabs(f->correlation[i]) < 0.4;
    }
    return well;
}

void online_filter_refer(struct online_filter *f, const double *theta, const double *se)
{
    memcpy(f->reference, theta, f->p * sizeof *theta);
    memcpy(f->reference_se, se, f->p * sizeof *se);
    memset(f->sum, 0, sizeof f->sum);
    memset(f->offset, 0, sizeof f->offset);
    f->opened = false;
}

/* ---- start --------------------------------------------------------------------------------
 */

bool online_filter_start(struct online_filter *f, const struct model *model,
                         const struct online_start *start)
{
    bool well = model_unphysical(model, start->theta) < 0;
    for (size_t j = 0; j < f->p; j++) {
        well =
            well && isfinite(start->theta[j]) && start->se[j] > 0.0 && isfinite(start->se[j]);
    }
    for (size_t i = 0; i < f->n; i++) {
        well = well && start->noise_sd[i] > 0.0 && start->walk_sd[i] > 0.0;
    }
    if (!well) {
        return false;
    }
    memset(f->covariance, 0, sizeof f->covariance);
    memset(f->information, 0, sizeof f->information);
    for (size_t j = 0; j < f->p; j++) {
        f->theta[j] = start->theta[j];
        f->scale[j] = fmax(fabs(start->theta[j]), start->se[j]);
        f->covariance[f->n + j][f->n + j] = start->se[j] * start->se[j];
    }
    for (size_t i = 0; i < f->n; i++) {
        f->noise_var[i] = f->noise_var_start[i] = start->noise_sd[i] * start->noise_sd[i];
        f->walk_var[i] = f->walk_var_start[i] = start->walk_sd[i] * start->walk_sd[i];
        f->nis[i] = 1.0;
        f->correlation[i] = 0.0;
        f->whitened[i] = 0.0;
    }
    f->running = true;
    f->learnt_s = 0.0;
    f->starts++;
    online_filter_refer(f, start->theta, start->se);
    online_filter_cut(f);
    return true;
}

/* ---- prediction ---------------------------------------------------------------------------
 */

/* What one sample period does. */
struct stretch {
    double h_s;
    double by_nu[N][N];    /* of the new velocities to the old ones */
    double by_theta[N][P]; /* and to the parameters */
};

/* What the velocities hear of their slope: exp(h slope) up to the third order; mean: the mean
 * of it over the stretch. */
static void exponential(size_t n, const double *slope, double h_s, double whole[N][N],
                        double mean[N][N])
{
    double power[N][N];
    double next[N][N];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            power[i][j] = i == j;
            whole[i][j] = i == j;
            mean[i][j] = i == j;
        }
    }
    for (int order = 1; order <= 3; order++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                double sum = 0.0;
                for (size_t k = 0; k < n; k++) {
                    sum += power[i][k] * slope[k * n + j];
                }
                next[i][j] = sum * h_s / order;
            }
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                power[i][j] = next[i][j];
                whole[i][j] += next[i][j];
                mean[i][j] += next[i][j] / (order + 1);
            }
        }
    }
}

/* Sensitivities over the stretch, at the velocities in its middle. */
static void linearise(const struct online_filter *f, const struct model *model,
                      const double *nu_middle, const double *tau, struct stretch *s)
{
    const size_t n = f->n;
    double rate[N];
    double pushed[N];
    double effort[N];
    double slope[N * N];
    double mean[N][N];
    double mobility[N][N];
    double phi[N * MODEL_PARAMETERS_MAX];
    const size_t m = model->parameter_count;
    model->forward(f->theta, f->pose, nu_middle, tau, rate);
    model->slope(f->theta, f->pose, nu_middle, slope);
    model->rows(f->pose, nu_middle, rate, phi);
    exponential(n, slope, s->h_s, s->by_nu, mean);
    memcpy(effort, tau, sizeof effort);
    for (size_t j = 0; j < n; j++) {
        /* The rate is affine in the effort: unit steps give the inverse of the mass. */
        effort[j] += 1.0;
        model->forward(f->theta, f->pose, nu_middle, effort, pushed);
        effort[j] = tau[j];
        for (size_t i = 0; i < n; i++) {
            mobility[i][j] = pushed[i] - rate[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double through[N];
        for (size_t j = 0; j < n; j++) {
            through[j] = 0.0;
            for (size_t k = 0; k < n; k++) {
                through[j] -= s->h_s * mean[i][k] * mobility[k][j];
            }
        }
        for (size_t j = 0; j < m; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++) {
                sum += through[k] * phi[k * m + j];
            }
            s->by_theta[i][j] = sum;
        }
        for (size_t j = m; j < f->p; j++) {
            s->by_theta[i][j] = through[j - m];
        }
    }
}

/* Runge-Kutta follows well while a step is short against the time constants. */
static int substeps(const struct online_filter *f, const struct model *model, double h_s)
{
    double slope[N * N];
    double rate = 0.0;
    model->slope(f->theta, f->pose, f->nu, slope);
    for (size_t i = 0; i < f->n; i++) {
        rate = fmax(rate, fabs(slope[i * f->n + i]));
    }
    const double count = ceil(rate * h_s);
    return !(count > 1.0) ? 1 : count < SUBSTEPS_MAX ? (int)count : SUBSTEPS_MAX;
}

/* The velocities h_s later; the stretch's sensitivities. */
static void move(struct online_filter *f, const struct model *model, struct stretch *s)
{
    double middle[N] = {0.0};
    double tau[N] = {0.0};
    double pose[N];
    double before[N];
    const int steps = substeps(f, model, s->h_s);
    memcpy(before, f->nu, sizeof before);
    memcpy(pose, f->pose, sizeof pose);
    for (size_t i = 0; i < f->n; i++) {
        tau[i] = f->tau[i];
        tau[i] -= model->parameter_count < f->p ? f->theta[model->parameter_count + i] : 0.0;
    }
    for (int k = 0; k < steps; k++) {
        model_step(model, f->theta, f->nu, pose, tau, NULL, s->h_s / steps);
    }
    for (size_t i = 0; i < f->n; i++) {
        middle[i] = 0.5 * (before[i] + f->nu[i]);
    }
    linearise(f, model, middle, tau, s);
}

/* Velocities and parameters wander; a parameter that nobody sees stands still. */
static void wander(struct online_filter *f, const struct online_params *p, double h_s)
{
    for (size_t i = 0; i < f->n; i++) {
        f->covariance[i][i] += f->walk_var[i] * h_s;
    }
    for (size_t j = 0; j < f->p; j++) {
        const double step = p->walk_ratio * f->scale[j];
        f->covariance[f->n + j][f->n + j] += f->excited[j] ? step * step * h_s / 1000.0 : 0.0;
    }
}

/* F covariance F', F = [by_nu by_theta; 0 1]. */
static void spread(struct online_filter *f, const struct stretch *s)
{
    const size_t n = f->n;
    const size_t all = n + (size_t)f->p;
    double top[N][ONLINE_STATES_MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < all; c++) {
            top[i][c] = 0.0;
        }
        for (size_t k = 0; k < n; k++) {
            const double a = s->by_nu[i][k];
            for (size_t c = 0; c < all; c++) {
                top[i][c] += a * f->covariance[k][c];
            }
        }
        for (size_t k = 0; k < f->p; k++) {
            const double b = s->by_theta[i][k];
            for (size_t c = 0; c < all; c++) {
                top[i][c] += b * f->covariance[n + k][c];
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++) {
                sum += top[i][k] * s->by_nu[j][k];
            }
            for (size_t k = 0; k < f->p; k++) {
                sum += top[i][n + k] * s->by_theta[j][k];
            }
            f->covariance[i][j] = sum;
            f->covariance[j][i] = sum;
        }
        for (size_t c = n; c < all; c++) {
            f->covariance[i][c] = top[i][c];
            f->covariance[c][i] = top[i][c];
        }
    }
}

/* Sensitivities and the reference's velocities go on as the state does. */
static void carry(struct online_filter *f, const struct stretch *s)
{
    double moved[N][P];
    double offset[N];
    for (size_t i = 0; i < f->n; i++) {
        offset[i] = 0.0;
        memcpy(moved[i], s->by_theta[i], f->p * sizeof moved[i][0]);
        for (size_t k = 0; k < f->n; k++) {
            const double a = s->by_nu[i][k];
            offset[i] += a * f->offset[k];
            for (size_t j = 0; j < f->p; j++) {
                moved[i][j] += a * f->sensitivity[k][j];
            }
        }
        for (size_t j = 0; j < f->p; j++) {
            offset[i] += s->by_theta[i][j] * (f->theta[j] - f->reference[j]);
        }
    }
    for (size_t i = 0; i < f->n; i++) {
        f->offset[i] = offset[i];
        memcpy(f->sensitivity[i], moved[i], f->p * sizeof moved[i][0]);
    }
}

/* ---- what a sample says -------------------------------------------------------------------
 */

/* What a sample adds to the test of the parameters at their reference. */
struct evidence {
    double score[P], information[P];
};

static void weigh(const struct online_filter *f, size_t i, double e, double variance,
                  struct evidence *out)
{
    double apart = e + f->offset[i];
    const double most = sqrt(SQUARE_MAX * variance);
    apart = fmin(fmax(apart, -most), most);
    for (size_t j = 0; j < f->p; j++) {
        const double y = f->sensitivity[i][j] / variance;
        out->score[j] += y * apart;
        out->information[j] += y * f->sensitivity[i][j];
    }
}

/* The state is seen to be e away at entry c, with this variance in all: velocities always
 * learn, parameters where learns says so. */
static void absorb(struct online_filter *f, size_t c, double e, double variance,
                   const bool *learns, double gain[ONLINE_STATES_MAX])
{
    const size_t n = f->n;
    const size_t all = n + (size_t)f->p;
    double seen[ONLINE_STATES_MAX];
    for (size_t k = 0; k < all; k++) {
        seen[k] = f->covariance[c][k];
        gain[k] = k < n || learns[k - n] ? seen[k] / variance : 0.0;
    }
    /* For any gain, the best one too; symmetric to the last bit, or the difference grows. */
    for (size_t r = 0; r < all; r++) {
        const double a = gain[r];
        const double b = seen[r] - a * variance;
        for (size_t k = 0; k <= r; k++) {
            const double x = f->covariance[r][k] - (a * seen[k] + b * gain[k]);
            f->covariance[r][k] = x;
            f->covariance[k][r] = x;
        }
    }
    for (size_t i = 0; i < n; i++) {
        f->nu[i] += gain[i] * e;
    }
    for (size_t j = 0; j < f->p; j++) {
        f->theta[j] += gain[n + j] * e;
    }
}

/* One axis of a sample; what the reference predicts learns alike, but for its parameters. */
static void learn_axis(struct online_filter *f, size_t i, double e, double variance)
{
    double gain[ONLINE_STATES_MAX];
    double row[P];
    const double offset = f->offset[i];
    memcpy(row, f->sensitivity[i], f->p * sizeof row[0]);
    absorb(f, i, e, variance, f->excited, gain);
    for (size_t a = 0; a < f->n; a++) {
        f->offset[a] -= gain[a] * offset;
        for (size_t j = 0; j < f->p; j++) {
            f->sensitivity[a][j] -= gain[a] * row[j];
        }
    }
}

/* Put entry j back to its bound, and what depends on it along. */
static void hold(struct online_filter *f, size_t j, double bound)
{
    const size_t at = f->n + j;
    const double share = (bound - f->theta[j]) / f->covariance[at][at];
    for (size_t i = 0; i < f->n; i++) {
        f->nu[i] += share * f->covariance[i][at];
    }
    for (size_t k = 0; k < f->p; k++) {
        if (f->excited[k]) {
            f->theta[k] += share * f->covariance[f->n + k][at];
        }
    }
    f->theta[j] = bound;
}

static void hold_all(struct online_filter *f, const struct model *model)
{
    /* Along the covariance first; what another one pushed out again is cut. */
    for (int round = 0; round < 2; round++) {
        for (size_t j = 0; j < model->parameter_count; j++) {
            const enum model_sign sign = model->parameters[j].sign;
            const double bound =
                sign == MODEL_POSITIVE ? POSITIVE_MIN_RATIO * f->scale[j] : 0.0;
            if (sign == MODEL_ANY || f->theta[j] >= bound) {
                continue;
            }
            if (round == 0) {
                hold(f, j, bound);
            } else {
                f->theta[j] = bound;
            }
        }
    }
}

/* Noise from how large innovations are, disturbance from whether they follow each other, and,
 * where it makes most of them, from whether they are far too small. */
static void adapt(struct online_filter *f, const struct online_params *p, size_t i, double e,
                  double variance, double h_s)
{
    const double z_cut = fmin(fmax(e / sqrt(variance), -4.0), 4.0);
    const double product = z_cut * f->whitened[i];
    f->nis[i] += (z_cut * z_cut - f->nis[i]) / JUDGE_SAMPLES;
    f->correlation[i] += (product - f->correlation[i]) / JUDGE_SAMPLES;
    f->whitened[i] = z_cut;
    if (!p->adapt) {
        return;
    }
    const double share = fmin(h_s / ADAPT_S, 0.02);
    const double of_walk = 1.0 - f->noise_var[i] / variance;
    const double too_small = f->nis[i] < CONSISTENT_MIN ? f->nis[i] - 1.0 : 0.0;
    const double noise = f->noise_var[i] * exp(share * (z_cut * z_cut - 1.0));
    const double walk = f->walk_var[i] * exp(share * (of_walk * too_small + 2.0 * product));
    const double noise_0 = f->noise_var_start[i];
    const double walk_0 = f->walk_var_start[i];
    f->noise_var[i] = fmin(fmax(noise, noise_0 / ADAPT_MAX), noise_0 * ADAPT_MAX);
    f->walk_var[i] = fmin(fmax(walk, walk_0 / ADAPT_MAX), walk_0 * ADAPT_MAX);
}

static bool is_outlier(const struct online_filter *f, const struct online_params *p,
                       const double *nu)
{
    for (size_t i = 0; i < f->n; i++) {
        const double e = nu[i] - f->nu[i];
        const double variance = f->covariance[i][i] + f->noise_var[i];
        if (!(e * e <= p->gate_sd * p->gate_sd * variance)) {
            return true;
        }
    }
    return false;
}

/* Which parameters the last excitation_s would tell by themselves. */
static bool note_excitation(struct online_filter *f, const struct online_params *p,
                            const struct evidence *evidence, double h_s)
{
    const double kept = exp(-h_s / p->excitation_s);
    bool any = false;
    for (size_t j = 0; j < f->p; j++) {
        f->information[j] = kept * f->information[j] + evidence->information[j];
        const double wanted = p->excitation_ratio * f->scale[j];
        f->excited[j] = f->information[j] * wanted * wanted >= 1.0;
        f->excited_s[j] += f->excited[j] ? h_s : 0.0;
        any = any || f->excited[j];
    }
    return any;
}

/* ---- drift --------------------------------------------------------------------------------
 */

static double matters(const struct online_filter *f, const struct online_params *p, size_t j)
{
    return p->drift_ratio * fmax(fabs(f->reference[j]), 1e-3 * f->scale[j]);
}

static bool is_known(const struct online_filter *f, const struct online_params *p, size_t j,
                     double se)
{
    return se <= KNOWN_RATIO * matters(f, p, j);
}

/* A reference that is only a guess follows the filter; one that the filter knows much better by
 * now, and does not contradict, gives way to it. */
static void renew(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double se = online_filter_se(f, j);
        const double change = f->theta[j] - f->reference[j];
        const double sum = fmax(f->sum[j][0], f->sum[j][1]);
        const bool better = se < RENEW_RATIO * f->reference_se[j] &&
                            fabs(change) < 3.0 * f->reference_se[j] && sum < 0.2 * SUM_MAX;
        if (is_known(f, p, j, f->reference_se[j]) && !better) {
            continue;
        }
        /* Early on the filter is surer than it should be. */
        const double owned_se =
            f->learnt_s < SETTLE_RATIO * p->excitation_s ? f->reference_se[j] : se;
        for (size_t i = 0; i < f->n; i++) {
            f->offset[i] -= f->sensitivity[i][j] * change;
        }
        f->reference[j] = f->theta[j];
        f->reference_se[j] = owned_se;
    }
}

/* Sums of log likelihood ratios of a change that matters, for each parameter and direction. */
static bool suspect(struct online_filter *f, const struct online_params *p,
                    const struct evidence *evidence)
{
    double most = SUM_MAX;
    bool found = false;
    for (size_t j = 0; j < f->p; j++) {
        const double change = matters(f, p, j);
        const bool tells = f->excited[j] && is_known(f, p, j, f->reference_se[j]);
        for (int way = 0; way < 2 && tells; way++) {
            double *sum = &f->sum[j][way];
            if (*sum <= 0.0) {
                f->since_us[j][way] = f->lab_us;
            }
            *sum += (way == 0 ? change : -change) * evidence->score[j] -
                    0.5 * change * change * evidence->information[j];
            *sum = *sum > 0.0 ? *sum : 0.0;
            if (*sum > most) {
                most = *sum;
                found = true;
                f->suspect = (uint8_t)j;
                f->suspect_us = f->since_us[j][way];
            }
        }
    }
    return found;
}

/* Let the parameters move freely, to see where they go. */
static void open_up(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double sd = OPEN_RATIO * matters(f, p, j);
        double *variance = &f->covariance[f->n + j][f->n + j];
        *variance += sd * sd;
    }
    f->opened = true;
    f->opened_s = 0.0;
    f->opened_used = 0;
    f->opened_outliers = 0;
    f->openings++;
}

static bool is_settled(const struct online_filter *f, const struct online_params *p)
{
    const double look_s = f->opened_s / p->excitation_s;
    return look_s > LOOK_RATIO_MAX ||
           (look_s > LOOK_RATIO_MIN &&
            is_known(f, p, f->suspect, online_filter_se(f, f->suspect)));
}

/* How far entry j is from its reference, in standard errors. */
static double distance(const struct online_filter *f, size_t j)
{
    return fabs(f->theta[j] - f->reference[j]) /
           hypot(online_filter_se(f, j), f->reference_se[j]);
}

/* The parameter that is furthest from its reference; false when none is far enough. */
static bool confirm(const struct online_filter *f, const struct online_params *p,
                    struct online_drift *drift)
{
    double most = DRIFT_Z;
    bool found = false;
    /* Where much is far off, not a parameter is another one, but the model is wrong. */
    if (f->opened_outliers > OUTLIER_SHARE_MAX * f->opened_used) {
        return false;
    }
    for (size_t j = 0; j < f->p; j++) {
        const double z = distance(f, j);
        const double change = f->theta[j] - f->reference[j];
        if (is_known(f, p, j, f->reference_se[j]) && z >= most &&
            fabs(change) >= 0.5 * matters(f, p, j)) {
            most = z;
            found = true;
            *drift = (struct online_drift){.parameter = j,
                                           .since_us = f->suspect_us,
                                           .found_us = f->lab_us,
                                           .before = f->reference[j],
                                           .after = f->theta[j],
                                           .before_se = f->reference_se[j],
                                           .after_se = online_filter_se(f, j),
                                           .change_ratio = change / f->reference[j],
                                           .z = z};
        }
    }
    return found;
}

/* What did not change is what it was. */
static void close_up(struct online_filter *f)
{
    bool all[P];
    double gain[ONLINE_STATES_MAX];
    memset(all, true, sizeof all);
    for (size_t j = 0; j < f->p; j++) {
        const size_t c = f->n + j;
        if (distance(f, j) < SAME_Z) {
            const double variance =
                f->covariance[c][c] + f->reference_se[j] * f->reference_se[j];
            absorb(f, c, f->reference[j] - f->theta[j], variance, all, gain);
        }
    }
    f->opened = false;
}

static bool watch(struct online_filter *f, const struct online_params *p,
                  const struct evidence *evidence, double h_s, struct online_drift *drift)
{
    double se[P];
    if (!f->opened) {
        renew(f, p);
        if (suspect(f, p, evidence)) {
            open_up(f, p);
        }
        return false;
    }
    f->opened_s += h_s;
    f->opened_used++;
    if (!is_settled(f, p)) {
        return false;
    }
    const bool found = confirm(f, p, drift);
    close_up(f);
    memset(f->sum, 0, sizeof f->sum);
    if (found) {
        f->drifts++;
        f->last = *drift;
        for (size_t j = 0; j < f->p; j++) {
            se[j] = online_filter_se(f, j);
        }
        online_filter_refer(f, f->theta, se);
    }
    return found;
}

/* ---- the step -----------------------------------------------------------------------------
 */

/* Velocities as measured; what the parameters did to them is past. */
static void place(struct online_filter *f, const struct online_sample *s)
{
    const size_t all = f->n + (size_t)f->p;
    for (size_t i = 0; i < f->n; i++) {
        f->nu[i] = s->nu[i];
        f->whitened[i] = 0.0;
        for (size_t c = 0; c < all; c++) {
            f->covariance[i][c] = 0.0;
            f->covariance[c][i] = 0.0;
        }
        f->covariance[i][i] = f->noise_var[i];
    }
    memset(f->offset, 0, sizeof f->offset);
    memset(f->sensitivity, 0, sizeof f->sensitivity);
}

/* What acts from this sample on. */
static void keep(struct online_filter *f, const struct online_sample *s)
{
    f->t_us = s->t_us;
    f->lab_us = s->lab_us;
    f->placed = s->tau_count == f->n;
    memcpy(f->tau, s->tau, f->n * sizeof f->tau[0]);
    if (s->pose_count >= f->poses) {
        memcpy(f->pose, s->pose, f->poses * sizeof f->pose[0]);
    }
}

static bool is_complete(const struct online_filter *f, const struct model *model,
                        const struct online_sample *s)
{
    bool well = s->nu_count == f->n && (!model->needs_pose || s->pose_count >= f->poses);
    for (size_t i = 0; well && i < f->n; i++) {
        well = isfinite(s->nu[i]) && (s->tau_count != f->n || isfinite(s->tau[i]));
    }
    for (size_t i = 0; well && i < s->pose_count; i++) {
        well = isfinite(s->pose[i]);
    }
    return well;
}

/* Does a velocity repeat its largest or smallest value to the last bit? */
static bool is_stuck(struct online_filter *f, const struct online_sample *s)
{
    bool stuck = false;
    for (size_t i = 0; i < f->n; i++) {
        const double x = s->nu[i];
        const bool repeats = x <= f->measured[i] && x >= f->measured[i] && fabs(x) > 0.0;
        const bool at_end = x <= f->low[i] || x >= f->high[i];
        stuck = stuck || (repeats && at_end && f->low[i] < f->high[i]);
        f->measured[i] = x;
        f->low[i] = fmin(f->low[i], x);
        f->high[i] = fmax(f->high[i], x);
    }
    return stuck;
}

static bool ran_away(const struct online_filter *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const double most = fmax(f->high[i], -f->low[i]);
        if (!(fabs(f->nu[i]) <= RUN_AWAY_RATIO * (1.0 + most))) {
            return true;
        }
    }
    for (size_t c = 0; c < f->n + (size_t)f->p; c++) {
        if (!(f->covariance[c][c] >= 0.0) || !isfinite(f->covariance[c][c])) {
            return true;
        }
    }
    return false;
}

/* Prediction and sample brought together. */
static enum online_gate take_in(struct online_filter *f, const struct model *model,
                                const struct online_params *p, const struct online_sample *s,
                                bool *drifted, struct online_drift *drift)
{
    struct stretch stretch = {.h_s = (double)(s->t_us - f->t_us) * 1e-6};
    struct evidence evidence = {0};
    move(f, model, &stretch);
    spread(f, &stretch);
    wander(f, p, stretch.h_s);
    carry(f, &stretch);
    if (is_outlier(f, p, s->nu)) {
        f->opened_outliers++;
        if (++f->outliers_in_a_row >= OUTLIERS_MAX) {
            place(f, s);
            f->outliers_in_a_row = 0;
        }
        return ONLINE_OUTLIER;
    }
    f->outliers_in_a_row = 0;
    for (size_t i = 0; i < f->n; i++) {
        const double e = s->nu[i] - f->nu[i];
        const double variance = f->covariance[i][i] + f->noise_var[i];
        weigh(f, i, e, variance, &evidence);
        learn_axis(f, i, e, variance);
        adapt(f, p, i, e, variance, stretch.h_s);
    }
    hold_all(f, model);
    const bool excited = note_excitation(f, p, &evidence, stretch.h_s);
    f->lab_us = s->lab_us;
    *drifted = watch(f, p, &evidence, stretch.h_s, drift);
    f->learnt_s += excited ? stretch.h_s : 0.0;
    return excited ? ONLINE_USED : ONLINE_NOT_EXCITED;
}

static enum online_gate judge(struct online_filter *f, const struct model *model,
                              const struct online_params *p, const struct online_sample *s,
                              bool *drifted, struct online_drift *drift)
{
    if (!is_complete(f, model, s)) {
        return ONLINE_INCOMPLETE;
    }
    if (!f->running) {
        return ONLINE_WAITING;
    }
    if (f->placed && s->t_us <= f->t_us) {
        return s->t_us == f->t_us ? ONLINE_DUPLICATE : ONLINE_OUT_OF_ORDER;
    }
    const bool stuck = is_stuck(f, s);
    const bool follows = f->placed && (double)(s->t_us - f->t_us) * 1e-6 <= p->gap_s && !stuck;
    enum online_gate gate = stuck ? ONLINE_SATURATED : ONLINE_GAP;
    if (follows) {
        gate = take_in(f, model, p, s, drifted, drift);
    } else {
        place(f, s);
    }
    keep(f, s);
    if (stuck) {
        f->placed = false;
    }
    if (ran_away(f)) {
        f->running = false;
        f->run_aways++;
        *drifted = false;
    }
    return s->tau_count == f->n ? gate : ONLINE_NO_EFFORT;
}

enum online_gate online_filter_step(struct online_filter *f, const struct model *model,
                                    const struct online_params *p,
                                    const struct online_sample *sample, bool *drifted,
                                    struct online_drift *drift)
{
    assert(f->n == model->axis_count);
    *drifted = false;
    const enum online_gate gate = judge(f, model, p, sample, drifted, drift);
    f->gate[gate]++;
    return gate;
}
