#include "identification/dynamics/dynamics_check.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/data/simulation.h"
#include "identification/data/trajectory.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/dynamics/equation_parts.h"
#include "identification/dynamics/unmodelled_term.h"
#include "identification/simulation/output_error.h"

/* Medians use at most this many values, spread evenly over the recording. */
enum { SCRATCH = 16384 };
/* Smallest noise as a ratio of a velocity's root mean square: no recording is more accurate. */
static const double NOISE_MIN = 1e-4;
/* A fast response has ended within this many samples. */
enum { LAG_SAMPLES = 16 };
/* Longest autocorrelation of residuals that is considered, in samples. */
enum { MEMORY_LAGS = 256 };

static double mean_of(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += isnan(x[k]) ? 0.0 : x[k];
    }
    return n > 0 ? sum / (double)n : 0.0;
}

/* Adds the products of x with earlier y, for all lags up to `lags`, each run without its
 * first sample. */
static void add_products(const struct data_set *set, const struct lag_series *x,
                         const struct lag_series *y, size_t lags, double *sums)
{
    for (size_t run = 0; run < set->run_count; run++) {
        lag_products_add(x, y, set->run_start[run] + 1, set->run_start[run + 1], lags, sums);
    }
}

/* Sum of the products of x with itself at one lag. */
static double product_at(const struct data_set *set, const struct lag_series *x, size_t lag)
{
    double sum = 0.0;
    for (size_t run = 0; run < set->run_count; run++) {
        for (size_t k = set->run_start[run] + lag; k < set->run_start[run + 1]; k++) {
            const double product = (x->values[k] - x->mean) * (x->values[k - lag] - x->mean);
            sum += isnan(product) ? 0.0 : product;
        }
    }
    return sum;
}

/* Bartlett's factor: the variance of the correlation of two independent series, relative to
 * white ones. It is 1 + 2 sum of the products of their autocorrelations. The sum ends at the
 * lag where x is no longer autocorrelated. */
static double bartlett_factor(const struct data_set *set, const struct lag_series *x,
                              double x_power, const struct lag_series *y, double y_power)
{
    const size_t lags = set->n / 4 < MEMORY_LAGS ? set->n / 4 : MEMORY_LAGS;
    const double enough = 2.0 / sqrt((double)set->n);
    double sum = 0.0;
    for (size_t lag = 1; lag <= lags; lag++) {
        const double rho = product_at(set, x, lag) / x_power;
        if (!(rho > enough)) {
            break;
        }
        sum += rho * product_at(set, y, lag) / y_power;
    }
    return fmax(1.0 + 2.0 * sum, 1.0);
}

/* Tests whether earlier efforts predict the residuals, which a complete model excludes. Each
 * correlation is compared with its bound by chance. forced: unmeasured forces make the
 * residuals autocorrelated, so that Bartlett's factor widens the bound. */
static void test_inputs(const struct data_set *set, const double *residual, bool forced,
                        struct dynamics_axis_check *check)
{
    const struct lag_series left = {residual, mean_of(residual, set->n)};
    const double tests = (RESIDUAL_LAGS + 1) * (double)set->axes;
    const double white = gsl_cdf_ugaussian_Qinv(0.005 / tests) / sqrt((double)set->n);
    double power[1] = {0.0};
    double most = -1.0;
    add_products(set, &left, &left, 0, power);
    check->input_correlation_bound = white;
    for (size_t a = 0; a < set->axes; a++) {
        const struct lag_series tau = {set->tau[a], mean_of(set->tau[a], set->n)};
        double effort[1] = {0.0};
        double products[RESIDUAL_LAGS + 1] = {0.0};
        add_products(set, &tau, &tau, 0, effort);
        const double scale = sqrt(effort[0] * power[0]);
        if (!(scale > 0.0)) {
            continue;
        }
        add_products(set, &left, &tau, RESIDUAL_LAGS, products);
        const double bound =
            forced ? white * sqrt(bartlett_factor(set, &left, power[0], &tau, effort[0]))
                   : white;
        for (size_t lag = 0; lag <= RESIDUAL_LAGS; lag++) {
            const double correlation = fabs(products[lag] / scale);
            if (correlation / bound > most) {
                most = correlation / bound;
                check->input_correlation = correlation;
                check->input_correlation_bound = bound;
            }
        }
    }
}

static size_t count_outliers(const double *residual, size_t n, double *scratch)
{
    const size_t every = n / SCRATCH + 1;
    size_t used = 0;
    size_t outliers = 0;
    for (size_t k = 0; k < n && used < SCRATCH; k += every) {
        if (!isnan(residual[k])) {
            scratch[used++] = fabs(residual[k]);
        }
    }
    if (used == 0) {
        return 0;
    }
    gsl_sort(scratch, 1, used);
    const double sd = 1.4826 * gsl_stats_median_from_sorted_data(scratch, 1, used);
    for (size_t k = 0; k < n; k++) {
        outliers += fabs(residual[k]) > 4.0 * sd ? 1 : 0;
    }
    return outliers;
}

/* Replaces the computed velocities by the residuals measured - computed. */
static void subtract_computed(const struct data_set *set, double *const *nu)
{
    for (size_t a = 0; a < set->axes; a++) {
        for (size_t k = 0; k < set->n; k++) {
            nu[a][k] = set->nu[a][k] - nu[a][k];
        }
        for (size_t run = 0; run < set->run_count; run++) {
            nu[a][set->run_start[run]] = (double)NAN;
        }
    }
}

static double delay_of(const struct dynamics_fit *fit)
{
    return isfinite(fit->delay_s) ? fit->delay_s : 0.0;
}

/* One-step prediction with delayed efforts; nu is [axes][set->n], out. NaN where the effort
 * was given before the recording began. Returns false if the motion diverges. */
static bool step_late(const struct model *model, const struct dynamics_fit *fit,
                      const struct data_set *set, double *const *nu)
{
    const double delay_s = delay_of(fit);
    struct trajectory walk;
    struct trajectory_rules rules = {.model = model,
                                     .set = set,
                                     .with_biases = fit->bias_count > 0,
                                     .step_s =
                                         trajectory_step_s(model, fit->estimate.value, set)};
    bool well = true;
    for (size_t a = 0; a < set->axes; a++) {
        rules.limit[a] = INFINITY;
    }
    for (size_t run = 0; well && run < set->run_count; run++) {
        const size_t first = set->run_start[run];
        double now[MODEL_AXES_MAX];
        data_set_velocity(set, first, now);
        trajectory_begin(&walk, &rules, run, fit->estimate.value, delay_s, now);
        for (size_t k = first; well && k + 1 < set->run_start[run + 1]; k++) {
            data_set_velocity(set, k, walk.nu);
            well = trajectory_next(&walk);
            const bool known = set->t_s[k] >= set->t_s[first] + delay_s;
            for (size_t a = 0; a < set->axes; a++) {
                nu[a][k + 1] = known ? walk.nu[a] : (double)NAN;
            }
        }
    }
    return well;
}

/* Returns NaN if nothing moves. */
static double motion_s(const struct data_set *set)
{
    const double all_s = (double)set->n * set->dt_s;
    const double motion = motion_time_s(set, all_s);
    return motion < all_s ? motion : (double)NAN;
}

/* Values for a simulation: a damping that is negative but not significantly so becomes zero. */
static void possible_values(const struct model *model, const struct dynamics_fit *fit,
                            double *theta)
{
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const bool zero = i < model->parameter_count &&
                          model->parameters[i].sign == MODEL_NOT_NEGATIVE &&
                          fit->estimate.value[i] < 0.0 && fit->estimate.hi[i] >= 0.0;
        theta[i] = zero ? 0.0 : fit->estimate.value[i];
    }
}

bool dynamics_check_has_start(const struct dynamics_fit *fit)
{
    return fit->method >= DYNAMICS_OUTPUT_ERROR && isfinite(fit->delay_s);
}

/* Residuals of a fit that was not simulated, from the first sample of each run. */
static bool walk_runs(const struct model *model, const struct dynamics_fit *fit,
                      const struct data_set *late, double *const *residual)
{
    double theta[DYNAMICS_P_MAX];
    possible_values(model, fit, theta);
    const bool well = simulation_run(model, theta, fit->bias_count, late, false, residual);
    if (well) {
        subtract_computed(late, residual);
    }
    return well;
}

/* Delays the efforts, unless the fit's simulation does so itself. Free *tau with
 * gsl_vector_free(). */
static enum status apply_delay(const struct dynamics_fit *fit, const struct data_set *set,
                               bool starts, struct data_set *late, gsl_vector **tau)
{
    *late = *set;
    *tau = NULL;
    if (isfinite(fit->delay_s) && !starts) {
        *tau = gsl_vector_alloc(set->axes * set->n);
        if (!*tau) {
            return STATUS_E_NOMEM;
        }
        data_view_delay(late, fit->delay_s, (*tau)->data);
    }
    return STATUS_OK;
}

/* late: the set with delayed efforts. starts: velocities at the start of each run are
 * fitted. */
static enum status find_residuals(const struct model *model, const struct dynamics_fit *fit,
                                  const struct data_set *set, const struct data_set *late,
                                  bool starts, double *const *residual, bool *simulated)
{
    struct search_report report;
    *simulated = false;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        if (!isfinite(fit->estimate.value[i])) {
            return STATUS_OK;
        }
    }
    if (!starts) {
        *simulated = walk_runs(model, fit, late, residual);
        return STATUS_OK;
    }
    const enum status st = output_error_validate(
        model, set, fit->estimate.value, fit->bias_count > 0, delay_of(fit), residual, &report);
    for (size_t a = 0; st == STATUS_OK && a < set->axes; a++) {
        *simulated = (a == 0 || *simulated) && report.axis[a].n > 0;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

enum status dynamics_check_residuals(const struct model *model, const struct dynamics_fit *fit,
                                     const struct data_set *set, double *const *residual,
                                     bool *simulated)
{
    const bool starts = dynamics_check_has_start(fit);
    struct data_set late;
    gsl_vector *tau;
    enum status st = apply_delay(fit, set, starts, &late, &tau);
    st = st == STATUS_OK ? find_residuals(model, fit, set, &late, starts, residual, simulated)
                         : st;
    gsl_vector_free(tau);
    return st;
}

static enum status score_fit(const struct model *model, const struct dynamics_fit *fit,
                             const struct data_set *set, const struct data_set *late,
                             bool starts, double *const *nu, double *scratch,
                             struct dynamics_check *check)
{
    double theta[DYNAMICS_P_MAX];
    const enum status st = find_residuals(model, fit, set, late, starts, nu, &check->simulated);
    if (st != STATUS_OK || !check->simulated) {
        return st;
    }
    for (size_t a = 0; a < set->axes; a++) {
        struct dynamics_axis_check *axis = &check->axis[a];
        residual_summarise(nu[a], set->nu[a], set->run_start, set->run_count, &axis->run);
        test_inputs(set, nu[a], fit->method == DYNAMICS_PEM, axis);
        axis->outliers = count_outliers(nu[a], set->n, scratch);
    }
    possible_values(model, fit, theta);
    check->simulated = starts ? step_late(model, fit, set, nu)
                              : simulation_one_step(model, theta, fit->bias_count, late, nu);
    if (!check->simulated) {
        return st;
    }
    subtract_computed(set, nu);
    for (size_t a = 0; a < set->axes; a++) {
        residual_summarise(nu[a], set->nu[a], set->run_start, set->run_count,
                           &check->axis[a].one_step);
    }
    return st;
}

/* Derivative of the required effort with respect to *by, at the velocities nu and under
 * these efforts. */
static double derive_demand(const struct model *model, const double *theta, double *nu,
                            double *nu_dot, const double *tau, double *by, size_t axis)
{
    const double pose[MODEL_AXES_MAX] = {0.0};
    const double at = *by;
    const double step = 1e-3 * fmax(fabs(at), 1e-3);
    double up[MODEL_AXES_MAX];
    double down[MODEL_AXES_MAX];
    *by = at + step;
    model_demand(model, theta, pose, nu, nu_dot, tau, up);
    *by = at - step;
    model_demand(model, theta, pose, nu, nu_dot, tau, down);
    *by = at;
    return (up[axis] - down[axis]) / (2.0 * step);
}

/* Inertia of an axis from the parameters, some of which may be unknown. */
static double find_inertia(const struct model *model, const double *theta, const double *tau,
                           size_t axis)
{
    double nu[MODEL_AXES_MAX] = {0.0};
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    double alone[MODEL_PARAMETERS_MAX] = {0.0};
    const double known =
        model->known ? derive_demand(model, alone, nu, nu_dot, tau, &nu_dot[axis], axis) : 0.0;
    double sum = known;
    for (size_t i = 0; i < model->parameter_count; i++) {
        alone[i] = 1.0;
        const double share =
            derive_demand(model, alone, nu, nu_dot, tau, &nu_dot[axis], axis) - known;
        sum += fabs(share) > 0.0 ? share * theta[i] : 0.0;
        alone[i] = 0.0;
    }
    return sum;
}

/* Force of sample k's effort on an axis. */
static double force_at(const struct model *model, const double *theta,
                       const struct data_set *set, size_t k, size_t axis)
{
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    double force[MODEL_AXES_MAX];
    if (!model->rows_under) {
        return set->tau[axis][k];
    }
    data_set_velocity(set, k, nu);
    data_view_effort(set, k, tau);
    model_force(model, theta, data_set_pose(set, k, pose), nu, tau, force);
    return force[axis];
}

static double force_rms(const struct model *model, const double *theta,
                        const struct data_set *set, size_t axis)
{
    double squares = 0.0;
    for (size_t k = 0; k < set->n && model->rows_under; k++) {
        const double force = force_at(model, theta, set, k, axis);
        squares += force * force;
    }
    return model->rows_under ? sqrt(squares / (double)set->n) : (double)NAN;
}

/* Root of the sum of squares of all changes of an axis' force. */
static double sum_changes(const struct model *model, const double *theta,
                          const struct data_set *set, size_t axis)
{
    double squares = 0.0;
    for (size_t run = 0; run < set->run_count; run++) {
        const size_t first = set->run_start[run];
        double before = force_at(model, theta, set, first, axis);
        for (size_t k = first + 1; k < set->run_start[run + 1]; k++) {
            const double now = force_at(model, theta, set, k, axis);
            squares += (now - before) * (now - before);
            before = now;
        }
    }
    return sqrt(squares);
}

/* Number of samples at which a response is visibly in progress: more than `seen` after its
 * beginning and before its end. after_s: time from its beginning to the first sample. time_s
 * > 0. */
static size_t count_under_way(double time_s, double dt_s, double after_s, double seen)
{
    size_t count = 0;
    for (size_t k = 0; k < LAG_SAMPLES; k++) {
        const double left = exp(-(after_s + (double)k * dt_s) / time_s);
        count += left > seen && 1.0 - left > seen ? 1 : 0;
    }
    return count;
}

static struct dynamics_lag find_lag(const struct model *model, const struct dynamics_fit *fit,
                                    const struct data_set *set, size_t axis)
{
    double nu[MODEL_AXES_MAX] = {0.0};
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    for (size_t k = 0; k < set->n; k++) {
        nu[axis] += set->nu[axis][k] * set->nu[axis][k] / (double)set->n;
    }
    nu[axis] = sqrt(nu[axis]);
    const struct estimate *e = &fit->estimate;
    double tau[MODEL_AXES_MAX];
    for (size_t a = 0; a < set->axes; a++) {
        tau[a] = mean_of(set->tau[a], set->n);
    }
    const double drag = derive_demand(model, e->value, nu, nu_dot, tau, &nu[axis], axis);
    const double time_s = find_inertia(model, e->value, tau, axis) / drag;
    const double noise = hypot(set->noise_sd[axis], NOISE_MIN * nu[axis]);
    const double seen = SEEN_ERRORS * noise * drag / sum_changes(model, e->value, set, axis);
    const bool late = isfinite(fit->delay_s);
    const double periods = late ? fit->delay_s / set->dt_s : 0.0;
    const double after_s = set->dt_s * (floor(periods) + 1.0 - periods);
    const bool quick = drag > 0.0 && fabs(time_s) < set->dt_s;
    const bool ended =
        fit->stop == DYNAMICS_STOP_DIRECT || fit->stop == DYNAMICS_STOP_CONVERGED;
    const bool seen_enough =
        quick && time_s > 0.0 &&
        count_under_way(time_s, set->dt_s, after_s, seen) >= (late ? 2 : 1);
    return (struct dynamics_lag){
        .time_s = drag > 0.0 ? time_s : (double)NAN,
        .untold =
            quick && !(ended && find_inertia(model, e->lo, tau, axis) > 0.0 && seen_enough)};
}

static enum status check_fit(const struct model *model, const struct dynamics_fit *fit,
                             const struct data_set *set, bool starts,
                             struct dynamics_check *check)
{
    struct dynamics_check out;
    double *nu[MODEL_AXES_MAX] = {NULL};
    memset(&out, 0, sizeof out);
    gsl_vector *memory = gsl_vector_alloc(set->axes * set->n + SCRATCH);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        nu[a] = memory->data + a * set->n;
    }
    out.motion_s = motion_s(set);
    for (size_t a = 0; a < set->axes; a++) {
        out.lag[a] = find_lag(model, fit, set, a);
        out.force_rms[a] = force_rms(model, fit->estimate.value, set, a);
    }
    out.effort_r2 = (double)NAN;
    struct data_set late;
    gsl_vector *tau;
    enum status st = apply_delay(fit, set, starts, &late, &tau);
    if (st == STATUS_OK && model->sticks) {
        struct unmodelled_term missing;
        unmodelled_term_find(model, fit, &late, &missing);
        out.effort_r2 = missing.effort_r2;
        out.effort_residual = missing.residual;
    }
    if (st == STATUS_OK) {
        double *scratch = memory->data + set->axes * set->n;
        st = score_fit(model, fit, set, &late, starts, nu, scratch, &out);
    }
    if (st == STATUS_OK && out.simulated) {
        double sd[MODEL_AXES_MAX];
        for (size_t a = 0; a < set->axes; a++) {
            sd[a] = fit->method == DYNAMICS_OUTPUT_ERROR ? fit->residual_sd[a]
                                                         : out.axis[a].run.rmse;
        }
        st = stability_find(model, fit, sd, set, &out.stability);
    }
    if (st == STATUS_OK && fit->method == DYNAMICS_WEAK) {
        st = equation_parts_find(model, fit, &late, &out.stability);
    }
    gsl_vector_free(tau);
    gsl_vector_free(memory);
    if (st == STATUS_OK) {
        *check = out;
    }
    return st;
}

enum status dynamics_check_run(const struct model *model, const struct dynamics_fit *fit,
                               const struct data_set *set, struct dynamics_check *check)
{
    return check_fit(model, fit, set, dynamics_check_has_start(fit), check);
}

enum status dynamics_check_part(const struct model *model, const struct dynamics_fit *fit,
                                const struct data_set *set, struct dynamics_check *check)
{
    return check_fit(model, fit, set, dynamics_check_has_start(fit) || !model->sticks, check);
}

/* Delays that are tried over the range, and the steps that refine the best. */
enum { DELAY_TRIALS = 9, REFINEMENTS = 3 };

struct delay_trial {
    const struct model *model;
    const struct data_set *set;
    struct dynamics_fit moved;
    double *residual[MODEL_AXES_MAX];
    double reach_s;
    enum status status;
};

/* Sum of squared residuals with a delay; each axis by its own residual. */
static double find_cost(struct delay_trial *t, double delay_s)
{
    bool simulated = false;
    double cost = 0.0;
    t->moved.delay_s = delay_s;
    if (t->status == STATUS_OK) {
        t->status =
            dynamics_check_residuals(t->model, &t->moved, t->set, t->residual, &simulated);
    }
    for (size_t a = 0; a < t->set->axes && simulated; a++) {
        const double sd = t->moved.residual_sd[a] > 0.0 ? t->moved.residual_sd[a] : 1.0;
        for (size_t k = 0; k < t->set->n; k++) {
            const double e = isnan(t->residual[a][k]) ? 0.0 : t->residual[a][k] / sd;
            cost += e * e;
        }
    }
    return simulated ? cost : HUGE_VAL;
}

/* Finds the best delay within reach of the fitted one: the best of a grid, then the vertex of
 * parabolas through it and its neighbours. */
static double find_delay(struct delay_trial *t, double fitted_s)
{
    double step_s = 2.0 * t->reach_s / (DELAY_TRIALS - 1);
    double best_s = fitted_s;
    double least = HUGE_VAL;
    for (int i = 0; i < DELAY_TRIALS; i++) {
        const double at_s = fitted_s - t->reach_s + step_s * i;
        const double cost = find_cost(t, at_s);
        if (cost < least) {
            least = cost;
            best_s = at_s;
        }
    }
    for (int i = 0; i < REFINEMENTS; i++, step_s *= 0.5) {
        const double below = find_cost(t, best_s - step_s);
        const double above = find_cost(t, best_s + step_s);
        const double bend = below + above - 2.0 * least;
        const double vertex_s =
            bend > 0.0 ? best_s + 0.5 * step_s * (below - above) / bend : best_s;
        const double at_s = fmin(fmax(vertex_s, fitted_s - t->reach_s), fitted_s + t->reach_s);
        const double cost = find_cost(t, at_s);
        if (cost < least) {
            least = cost;
            best_s = at_s;
        }
    }
    return best_s;
}

enum status dynamics_check_held_out(const struct model *model, struct dynamics_fit *fit,
                                    const struct data_set *set, struct dynamics_check *check)
{
    const double own_s = fit->delay_phase_s[1] - fit->delay_phase_s[0];
    const double theirs_s = set->phase_s[1] - set->phase_s[0];
    struct delay_trial t = {
        .model = model, .set = set, .moved = *fit, .reach_s = fmax(own_s, theirs_s)};
    if (!isfinite(fit->delay_s) || !(t.reach_s > 0.0)) {
        return dynamics_check_run(model, fit, set, check);
    }
    gsl_vector *memory = gsl_vector_alloc(set->axes * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        t.residual[a] = memory->data + a * set->n;
    }
    const double best_s = find_delay(&t, fit->delay_s);
    gsl_vector_free(memory);
    t.moved.delay_s = best_s;
    const enum status st =
        t.status == STATUS_OK ? dynamics_check_run(model, &t.moved, set, check) : t.status;
    if (st == STATUS_OK && fabs(best_s - fit->delay_s) > 2.0 * fit->delay_se_s) {
        estimate_note(
            &fit->estimate, REASON_HELD_OUT,
            "the held-out commands act %.3g s %s between their rows, which are %.3g s "
            "apart",
            fabs(best_s - fit->delay_s), best_s > fit->delay_s ? "later" : "earlier",
            t.reach_s);
    }
    return st;
}
