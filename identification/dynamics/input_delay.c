#include "identification/dynamics/input_delay.h"

#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/dynamics/dynamics_thresholds.def"

/* Step of the delay grid, as a share of the window's half width. A window's view changes
 * over a good part of its width, so that a grid of quarters misses no minimum. */
static const double GRID_SHARE = 0.25;
enum { GRID_MAX = 64, ITERATIONS_MAX = 40 };
/* Accuracy of the delay, and distance for difference quotients, as shares of a period. */
static const double NEAR_SHARE = 0.02;
static const double SLOPE_SHARE = 0.5;

struct delay_search {
    const struct model *model;
    const struct data_set *set;
    const struct dynamics_options *options;
    double *tau; /* [axes * n] */
    enum status status;
};

static enum status fit_delayed(const struct delay_search *l, double delay_s,
                               struct dynamics_fit *fit)
{
    struct data_set view = *l->set;
    data_view_delay(&view, delay_s, l->tau);
    return dynamics_linear_fit(l->model, &view, DYNAMICS_WEAK, l->options, fit);
}

/* Minus the log likelihood of one equation. */
static double cost_of(const struct delay_search *l, const struct dynamics_fit *fit)
{
    double cost = 0.0;
    for (size_t a = 0; a < l->set->axes; a++) {
        cost += log(fit->residual_sd[a]);
    }
    return isfinite(cost) ? cost : HUGE_VAL;
}

static double try_delay(double delay_s, void *context)
{
    struct delay_search *l = context;
    struct dynamics_fit fit;
    const enum status st = fit_delayed(l, delay_s, &fit);
    l->status = l->status == STATUS_OK ? st : l->status;
    return st == STATUS_OK ? cost_of(l, &fit) : HUGE_VAL;
}

/* Finds the smallest cost on a grid and its two neighbours. Returns false if it lies at an
 * end. */
static bool bracket_delay(struct delay_search *l, double step_s, double at_s[3], double cost[3])
{
    const double min_s = at_s[0];
    const size_t count = (size_t)fmin(ceil((at_s[2] - min_s) / step_s), GRID_MAX - 1);
    const double step = (at_s[2] - min_s) / (double)count;
    double tried[GRID_MAX];
    size_t least = 0;
    for (size_t k = 0; k <= count; k++) {
        tried[k] = try_delay(min_s + step * (double)k, l);
        least = tried[k] < tried[least] ? k : least;
    }
    if (least == 0 || least == count || !(tried[least] < HUGE_VAL)) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        at_s[i] = min_s + step * (double)(least + i - 1);
        cost[i] = tried[least + i - 1];
    }
    return isfinite(cost[0]) && isfinite(cost[2]);
}

/* Brent's search between the three points. Returns false without memory or without a
 * minimum. */
static bool search_delay(struct delay_search *l, const double at_s[3], const double cost[3],
                         double *delay_s)
{
    gsl_function function = {try_delay, l};
    gsl_min_fminimizer *search = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    if (!search) {
        l->status = STATUS_E_NOMEM;
        return false;
    }
    int st = gsl_min_fminimizer_set_with_values(search, &function, at_s[1], cost[1], at_s[0],
                                                cost[0], at_s[2], cost[2]);
    for (int k = 0; k < ITERATIONS_MAX && st == GSL_SUCCESS && l->status == STATUS_OK; k++) {
        st = gsl_min_fminimizer_iterate(search);
        if (gsl_min_fminimizer_x_upper(search) - gsl_min_fminimizer_x_lower(search) <
            NEAR_SHARE * l->set->dt_s) {
            break;
        }
    }
    *delay_s = gsl_min_fminimizer_x_minimum(search);
    gsl_min_fminimizer_free(search);
    return st == GSL_SUCCESS && l->status == STATUS_OK;
}

void input_delay_widen(const struct model *model, const struct data_set *set, double delay_s,
                       double variance, const double *slope, struct dynamics_fit *fit)
{
    fit->delay_s = delay_s;
    fit->delay_se_s = sqrt(variance);
    for (size_t i = 0; i < fit->estimate.p; i++) {
        fit->delay_covariance[i] = slope[i] * variance;
        for (size_t j = 0; j < fit->estimate.p; j++) {
            fit->estimate.covariance[i][j] += slope[i] * slope[j] * variance;
        }
        fit->se_hac[i] = sqrt(fit->estimate.covariance[i][i]);
    }
    dynamics_judge(fit, model, set);
}

/* Largest ratio of robust errors to those for independent equations, at least 1. */
static double widest_ratio(const struct dynamics_fit *fit)
{
    double most = 1.0;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        most = fmax(most, fit->se_hac[i] / fit->estimate.se_white[i]);
    }
    return most;
}

/* Error of the delay from the curvature of the log likelihood, widened for autocorrelated
 * equations; and the slope of the estimates with the delay. */
static enum status find_errors(const struct delay_search *l, double delay_s,
                               struct dynamics_fit *fit, double *variance, double *slope,
                               bool *determined)
{
    struct dynamics_fit side[2];
    const double reach_s = SLOPE_SHARE * l->set->dt_s;
    for (size_t k = 0; k < 2; k++) {
        const enum status st =
            fit_delayed(l, delay_s + (k == 0 ? -reach_s : reach_s), &side[k]);
        if (st != STATUS_OK) {
            return st;
        }
    }
    const double bend = (cost_of(l, &side[0]) - 2.0 * cost_of(l, fit) + cost_of(l, &side[1])) /
                        (reach_s * reach_s);
    const double wide = widest_ratio(fit);
    *variance = wide * wide / (bend * (double)fit->rows);
    *determined = bend > 0.0 && isfinite(*variance);
    for (size_t i = 0; i < fit->estimate.p; i++) {
        slope[i] = (side[1].estimate.value[i] - side[0].estimate.value[i]) / (2.0 * reach_s);
        *determined = *determined && isfinite(slope[i]);
    }
    return STATUS_OK;
}

/* Applies a significant delay. Otherwise the values remain those without a delay, and the
 * errors include the effect of the best delay. */
static void apply_delay(const struct delay_search *l, const struct dynamics_fit *late,
                        double delay_s, double variance, const double *slope,
                        struct dynamics_fit *fit)
{
    if (delay_s * delay_s > CLEAR_ERRORS * CLEAR_ERRORS * variance) {
        *fit = *late;
        input_delay_widen(l->model, l->set, delay_s, variance, slope, fit);
        return;
    }
    input_delay_widen(l->model, l->set, 0.0, variance + delay_s * delay_s, slope, fit);
    estimate_reason(&fit->estimate, REASON_DELAY_ASSUMED, ESTIMATE_PASS,
                    "efforts are assumed to act at once: a delay of %.2g ms fits best, and "
                    "errors include its effect",
                    1e3 * delay_s);
}

static enum status find_delay(struct delay_search *l, double min_s, double max_s,
                              struct dynamics_fit *fit, bool *determined)
{
    double at_s[3] = {min_s, 0.0, fmin(max_s, 0.5 * fit->window_s)};
    double cost[3];
    double slope[DYNAMICS_P_MAX];
    double delay_s = 0.0;
    double variance = 0.0;
    struct dynamics_fit late;
    const double step_s = fmax(GRID_SHARE * 0.5 * fit->window_s, l->set->dt_s);
    *determined = bracket_delay(l, step_s, at_s, cost) && l->status == STATUS_OK &&
                  search_delay(l, at_s, cost, &delay_s);
    if (!*determined) {
        return l->status == STATUS_E_NOMEM ? l->status : STATUS_OK;
    }
    enum status st = fit_delayed(l, delay_s, &late);
    st = st == STATUS_OK ? find_errors(l, delay_s, &late, &variance, slope, determined) : st;
    if (st == STATUS_OK && *determined) {
        apply_delay(l, &late, delay_s, variance, slope, fit);
    }
    return st;
}

enum status input_delay_fit(const struct model *model, const struct data_set *set,
                            const struct dynamics_options *options, double min_s, double max_s,
                            struct dynamics_fit *fit)
{
    struct delay_search late = {.model = model, .set = set, .options = options};
    struct dynamics_fit out;
    bool determined = false;
    enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK, options, &out);
    gsl_vector *tau = st == STATUS_OK ? gsl_vector_alloc(set->axes * set->n) : NULL;
    if (st != STATUS_OK || !tau) {
        return st == STATUS_OK ? STATUS_E_NOMEM : st;
    }
    late.tau = tau->data;
    st = out.rows > out.estimate.p ? find_delay(&late, min_s, max_s, &out, &determined) : st;
    gsl_vector_free(tau);
    if (st == STATUS_OK) {
        *fit = out;
    }
    return st;
}
