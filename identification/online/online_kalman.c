#include "identification/online/online_kalman.h"

#include <math.h>
#include <string.h>

enum { N = MODEL_AXES_MAX, P = DYNAMICS_P_MAX, SUBSTEPS_MAX = 32 };

/* Extended Kalman filter with the state (velocities, parameters). The velocities are
 * integrated by the model. Their transition is exp(h slope), and their sensitivity to the
 * parameters follows from the model's regressor, because the model is linear in its
 * parameters. Measured axes are processed one after the other, so that no matrix is
 * inverted. Only excited parameters are updated; this prevents covariance wind-up in quiet
 * phases. It assumes Gaussian noise and a motion that is nearly linear within a sample.
 * Reference: Jazwinski, Stochastic Processes and Filtering Theory (1970), chapter 8. */

/* Time constant with which noise and disturbance are adapted, s. */
static const double ADAPT_S = 60.0;
/* Mean square of whitened innovations below which they are too small. */
static const double CONSISTENT_MIN = 0.5;
/* Largest ratio of adapted variances of noise and disturbance to their start, or the
 * inverse. */
static const double ADAPT_MAX = 1e4;
/* Factor of the variance for a sample outside of the gate: twenty of them allow an innovation
 * twenty times as large. */
static const double WIDEN = 1.35;
/* Bound of a positive parameter as a share of its scale. */
static const double POSITIVE_MIN_RATIO = 1e-3;

/* Effect of one sample period. */
struct stretch {
    double h_s;
    double by_nu[N][N];    /* derivative of the new velocities by the old ones */
    double by_theta[N][P]; /* and by the parameters */
};

/* Transition of the velocities: whole = exp(h slope) up to the third order, and its mean
 * over the period. */
static void expand_exponential(size_t n, const double *slope, double h_s, double whole[N][N],
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

/* Computes the sensitivities over the period at its mean velocities. */
static void linearise_stretch(const struct online_filter *f, const struct model *model,
                              const double *nu_middle, const double *tau, const double *force,
                              struct stretch *s)
{
    const size_t n = f->n;
    double rate[N];
    double slope[N * N];
    double mean[N][N];
    double mobility[N * N];
    double phi[N * MODEL_PARAMETERS_MAX];
    const size_t m = model->parameter_count;
    model_accelerate(model, f->theta, f->pose, nu_middle, tau, force, rate);
    model->slope(model, f->theta, f->pose, nu_middle, tau, slope);
    model_regressor(model, f->pose, nu_middle, rate, tau, phi);
    model_mobility(model, f->theta, f->pose, nu_middle, mobility);
    model_hold_back(model, f->theta, nu_middle, tau, phi, mobility);
    expand_exponential(n, slope, s->h_s, s->by_nu, mean);
    for (size_t i = 0; i < n; i++) {
        double through[N];
        for (size_t j = 0; j < n; j++) {
            through[j] = 0.0;
            for (size_t k = 0; k < n; k++) {
                through[j] -= s->h_s * mean[i][k] * mobility[k * n + j];
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

/* Number of Runge-Kutta steps, so that a step is at most one time constant. */
static int count_substeps(const struct online_filter *f, const struct model *model, double h_s)
{
    double slope[N * N];
    double rate = 0.0;
    model->slope(model, f->theta, f->pose, f->nu, model->rows_under ? f->tau : NULL, slope);
    for (size_t i = 0; i < f->n; i++) {
        rate = fmax(rate, fabs(slope[i * f->n + i]));
    }
    const double count = ceil(rate * h_s);
    return !(count > 1.0) ? 1 : count < SUBSTEPS_MAX ? (int)count : SUBSTEPS_MAX;
}

/* Integrates the velocities over the period and computes its sensitivities. */
static void move_state(struct online_filter *f, const struct model *model, struct stretch *s)
{
    double middle[N] = {0.0};
    double tau[N] = {0.0};
    double force[N] = {0.0};
    double pose[N];
    double before[N];
    const int steps = count_substeps(f, model, s->h_s);
    memcpy(before, f->nu, sizeof before);
    memcpy(pose, f->pose, sizeof pose);
    for (size_t i = 0; i < f->n; i++) {
        const double bias =
            model->parameter_count < f->p ? f->theta[model->parameter_count + i] : 0.0;
        tau[i] = f->tau[i] - (model->rows_under ? 0.0 : bias);
        force[i] = model->rows_under ? -bias : 0.0;
    }
    for (int k = 0; k < steps; k++) {
        model_step_pushed(model, f->theta, f->nu, pose, tau, force, s->h_s / steps);
    }
    for (size_t i = 0; i < f->n; i++) {
        middle[i] = 0.5 * (before[i] + f->nu[i]);
    }
    linearise_stretch(f, model, middle, tau, force, s);
}

/* Adds the random walk of velocities and parameters. A parameter without excitation does not
 * walk. */
static void wander_state(struct online_filter *f, const struct online_params *p, double h_s)
{
    for (size_t i = 0; i < f->n; i++) {
        f->covariance[i][i] += f->walk_var[i] * h_s;
    }
    for (size_t j = 0; j < f->p; j++) {
        const double step = p->walk_ratio * f->scale[j];
        f->covariance[f->n + j][f->n + j] += f->excited[j] ? step * step * h_s / 1000.0 : 0.0;
    }
}

/* Computes F covariance F' with F = [by_nu by_theta; 0 1]. */
static void spread_covariance(struct online_filter *f, const struct stretch *s)
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

/* Propagates the sensitivities, and the difference to the prediction by the reference. */
static void carry_sensitivities(struct online_filter *f, const struct stretch *s)
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

void online_kalman_predict(struct online_filter *f, const struct model *model,
                           const struct online_params *p, double h_s)
{
    struct stretch stretch = {.h_s = h_s};
    move_state(f, model, &stretch);
    spread_covariance(f, &stretch);
    wander_state(f, p, h_s);
    carry_sensitivities(f, &stretch);
}

void online_kalman_absorb(struct online_filter *f, size_t c, double e, double variance,
                          const bool *learns, double gain[ONLINE_STATES_MAX])
{
    const size_t n = f->n;
    const size_t all = n + (size_t)f->p;
    double seen[ONLINE_STATES_MAX];
    for (size_t k = 0; k < all; k++) {
        seen[k] = f->covariance[c][k];
        gain[k] = k < n || learns[k - n] ? seen[k] / variance : 0.0;
    }
    /* This form holds for any gain, not only the optimal one. Exact symmetry prevents
     * growing errors. */
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

/* The prediction by the reference is updated with the same gain, but its parameters are
 * constant. */
void online_kalman_learn(struct online_filter *f, size_t i, double e, double variance)
{
    double gain[ONLINE_STATES_MAX];
    double row[P];
    const double offset = f->offset[i];
    memcpy(row, f->sensitivity[i], f->p * sizeof row[0]);
    online_kalman_absorb(f, i, e, variance, f->excited, gain);
    for (size_t a = 0; a < f->n; a++) {
        f->offset[a] -= gain[a] * offset;
        for (size_t j = 0; j < f->p; j++) {
            f->sensitivity[a][j] -= gain[a] * row[j];
        }
    }
}

/* Moves entry j to its bound, and correlated entries along with it. */
static void hold_entry(struct online_filter *f, size_t j, double bound)
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

void online_kalman_hold(struct online_filter *f, const struct model *model)
{
    /* The first round moves along the covariance; the second cuts what another entry pushed
     * out again. */
    for (int round = 0; round < 2; round++) {
        for (size_t j = 0; j < model->parameter_count; j++) {
            const enum model_sign sign = model->parameters[j].sign;
            const double bound =
                sign == MODEL_POSITIVE ? POSITIVE_MIN_RATIO * f->scale[j] : 0.0;
            if (sign == MODEL_ANY || f->theta[j] >= bound) {
                continue;
            }
            if (round == 0) {
                hold_entry(f, j, bound);
            } else {
                f->theta[j] = bound;
            }
        }
    }
}

/* Adapts by stochastic approximation. Mean squares of innovations above 1 raise the noise.
 * Positive products of neighbours mean that the state lags behind the motion, and raise the
 * disturbance. Innovations are limited, so that outliers do not count more than 4 sd. */
void online_kalman_adapt(struct online_filter *f, const struct online_params *p, size_t i,
                         double e, double variance, double h_s)
{
    const double z_cut = fmin(fmax(e / sqrt(variance), -4.0), 4.0);
    const double product = z_cut * f->whitened[i];
    f->nis[i] += (z_cut * z_cut - f->nis[i]) / ONLINE_JUDGE_SAMPLES;
    f->correlation[i] += (product - f->correlation[i]) / ONLINE_JUDGE_SAMPLES;
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

void online_kalman_widen(struct online_filter *f, size_t i)
{
    f->noise_var[i] = fmin(f->noise_var[i] * WIDEN, f->noise_var_start[i] * ADAPT_MAX);
}

bool online_kalman_consistent(const struct online_filter *f)
{
    bool well = true;
    for (size_t i = 0; i < f->n; i++) {
        well = well && f->nis[i] > CONSISTENT_MIN && f->nis[i] < 2.0 &&
               fabs(f->correlation[i]) < 0.4;
    }
    return well;
}
