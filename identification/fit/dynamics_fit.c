#include "identification/fit/dynamics_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identification/fit/fit_thresholds.def"
#include "identification/numeric/hac_covariance.h"

ENUM_NAMES(dynamics_method, DYNAMICS_METHOD_COUNT, "ols_central", "ols_sg", "weak", "weak_iv",
           "output_error", "pem");

ENUM_NAMES(dynamics_stop, DYNAMICS_STOP_STILL + 1, "direct", "converged", "stalled", "limit",
           "diverged", "cancelled", "still");

const char *dynamics_parameter_name(const struct model *model, size_t i, char *text,
                                    size_t text_bytes)
{
    if (i < model->parameter_count) {
        (void)snprintf(text, text_bytes, "%s", model->parameters[i].name);
    } else if (i < model->parameter_count + model->axis_count) {
        (void)snprintf(text, text_bytes, "%s_bias",
                       model_force_name(model, i - model->parameter_count));
    } else {
        (void)snprintf(text, text_bytes, "unknown");
    }
    return text;
}

const char *dynamics_parameter_words(const struct model *model, size_t i, char *text,
                                     size_t text_bytes)
{
    const bool bias = i >= model->parameter_count;
    (void)snprintf(text, text_bytes, "%s%s", bias ? "constant " : "",
                   bias ? model_force_words(model, i - model->parameter_count)
                        : model->parameters[i].words);
    return text;
}

const char *dynamics_parameter_both(const struct model *model, size_t i, char *text,
                                    size_t text_bytes)
{
    char words[64];
    char name[64];
    (void)dynamics_parameter_words(model, i, words, sizeof words);
    (void)dynamics_parameter_name(model, i, name, sizeof name);
    if (strcmp(words, name) == 0) {
        (void)snprintf(text, text_bytes, "%s", words);
    } else {
        (void)snprintf(text, text_bytes, "%s (%s)", words, name);
    }
    return text;
}

void dynamics_fit_start(struct dynamics_fit *fit, const struct model *model,
                        enum dynamics_method method, bool with_biases)
{
    memset(fit, 0, sizeof *fit);
    fit->method = method;
    fit->bias_count = with_biases ? model->axis_count : 0;
    estimate_start(&fit->estimate, model->parameter_count + fit->bias_count);
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const bool bias = i >= model->parameter_count;
        char name[ESTIMATE_NAME_MAX];
        char symbol[ESTIMATE_SYMBOL_MAX];
        (void)dynamics_parameter_name(model, i, name, sizeof name);
        (void)snprintf(symbol, sizeof symbol, "b%u",
                       bias ? (unsigned)(i - model->parameter_count + 1) % 100 : 0);
        estimate_name(&fit->estimate, i, name, bias ? symbol : model->parameters[i].symbol);
    }
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        fit->se_hac[i] = NAN;
        fit->delay_covariance[i] = NAN;
        fit->regressor_rms[i] = NAN;
        fit->independence_ratio[i] = NAN;
    }
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        fit->residual_sd[i] = NAN;
        fit->velocity_sd[i] = NAN;
        fit->force_sd[i] = NAN;
    }
    fit->window_s = NAN;
    fit->force_time_s = NAN;
    fit->noise_freedom = NAN;
    fit->delay_s = NAN;
    fit->delay_se_s = NAN;
    for (size_t r = 0; r < DATA_RUNS_MAX; r++) {
        for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
            fit->initial[r][i] = NAN;
        }
    }
}

/* ---- verdict on a fit of dynamics, as text (docs/model/identification.md, "Verdict") ---- */

/* Role of a parameter: the quantity that it multiplies, and its axis. */
struct role {
    size_t axis;
    /* CURVE: on several axes */
    enum { INERTIA, MOTION, CURVE, PLACE, CONSTANT, EFFORT } with;
};

static double column_at(const struct model *model, size_t axis, size_t i, double q, double nu,
                        double nu_dot)
{
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double velocity[MODEL_AXES_MAX] = {0.0};
    double acceleration[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX] = {0.0};
    pose[axis] = q;
    velocity[axis] = nu;
    acceleration[axis] = nu_dot;
    model->rows(model, pose, velocity, acceleration, phi);
    return phi[axis * model->parameter_count + i];
}

static struct role find_role(const struct model *model, size_t i)
{
    for (size_t a = 0; a < model->axis_count && model->pattern; a++) {
        if (model->pattern[a * model->parameter_count + i] & MODEL_ENTRY_EFFORT) {
            return (struct role){a, EFFORT};
        }
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        if (fabs(column_at(model, a, i, 0.0, 0.0, 1.0) -
                 column_at(model, a, i, 0.0, 0.0, 0.0)) > 0.0) {
            return (struct role){a, INERTIA};
        }
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        if (fabs(column_at(model, a, i, 0.0, 0.0, 0.0)) > 0.0) {
            return (struct role){a, CONSTANT};
        }
        if (fabs(column_at(model, a, i, 0.0, 0.7, 0.0)) > 0.0) {
            return (struct role){a, MOTION};
        }
        if (fabs(column_at(model, a, i, 0.7, 0.0, 0.0)) > 0.0) {
            return (struct role){a, PLACE};
        }
    }
    return (struct role){0, CURVE};
}

static bool is_level(const double *x, size_t n, double level)
{
    for (size_t k = 0; k < n; k++) {
        if (fabs(x[k] - level) > 0.0) {
            return false;
        }
    }
    return true;
}

static bool is_pushed(const struct data_set *set, size_t axis)
{
    return !is_level(set->tau[axis], set->n, 0.0);
}

/* Returns whether an axis has no effort, in a recording with efforts at all. */
static bool is_undriven(const struct data_set *set, size_t axis)
{
    bool any = false;
    for (size_t a = 0; set && a < set->axes; a++) {
        any = any || is_pushed(set, a);
    }
    return any && !is_pushed(set, axis);
}

static void advise_on(struct estimate *e, const struct model *model, const struct data_set *set,
                      size_t i)
{
    char name[64];
    (void)dynamics_parameter_words(model, i, name, sizeof name);
    if (i >= model->parameter_count) {
        estimate_advise(e, "%s is not determined: record longer, from rest to rest", name);
        return;
    }
    const struct role role = find_role(model, i);
    const struct model_axis *axis = &model->axes[role.axis];
    if (is_undriven(set, role.axis)) {
        estimate_advise(e,
                        "%s is not excited and the %s is never pushed directly: run a zig-zag "
                        "at two speeds with hard turns",
                        name, axis->velocity_words);
    } else if (role.with == EFFORT) {
        estimate_advise(e,
                        "%s is not excited: hold the %s steady at three values and more, from "
                        "the smallest to the largest",
                        name, axis->effort_words);
    } else if (role.with == CONSTANT) {
        estimate_advise(e, "%s is not determined: drive both ways for the same time", name);
    } else if (role.with == CURVE) {
        estimate_advise(
            e, "%s is not excited: drive curves, tight and wide, slow and fast, to both sides",
            name);
    } else if (role.with == PLACE) {
        estimate_advise(
            e, "%s is not excited: go through the whole range of positions, there and back",
            name);
    } else if (role.with == INERTIA) {
        estimate_advise(e,
                        "%s is not excited: let the %s step up and down every few seconds, so "
                        "that the %s keeps changing",
                        name, axis->effort_words, axis->velocity_words);
    } else {
        estimate_advise(e,
                        "%s is not excited: hold the %s steady at three speeds from slow to "
                        "the fastest, in both directions",
                        name, axis->velocity_words);
    }
}

/* Effort that an axis requires for this motion, beyond that at rest. */
static double demand_more(const struct model *model, const double *theta, const double *nu,
                          const double *nu_dot, size_t axis)
{
    static const double rest[MODEL_AXES_MAX];
    double moved[MODEL_AXES_MAX];
    double still[MODEL_AXES_MAX];
    model_demand(model, theta, NULL, nu, nu_dot, rest, moved);
    model_demand(model, theta, NULL, rest, rest, rest, still);
    return moved[axis] - still[axis];
}

/* Returns the axis whose acceleration parameter i multiplies, if that axis responds within
 * one sample; else -1. Such an inertia scatters about zero with either sign, depending on
 * the time within the sample at which the response was measured. */
static int answers_at_once(const struct estimate *e, const struct model *model,
                           const struct data_set *set, size_t i)
{
    const double zero[MODEL_AXES_MAX] = {0.0};
    const double none[MODEL_PARAMETERS_MAX] = {0.0};
    double alone[MODEL_PARAMETERS_MAX] = {0.0};
    alone[i] = 1.0;
    for (size_t a = 0; set && !model->needs_pose && a < model->axis_count; a++) {
        double one[MODEL_AXES_MAX] = {0.0};
        one[a] = 1.0;
        const double share =
            demand_more(model, alone, zero, one, a) - demand_more(model, none, zero, one, a);
        const double inertia = demand_more(model, e->value, zero, one, a);
        const double drag = demand_more(model, e->value, one, zero, a);
        if (fabs(share) > 0.0 && fabs(inertia) < set->dt_s * drag) {
            return (int)a;
        }
    }
    return -1;
}

static void judge_sign(struct estimate *e, const struct model *model,
                       const struct data_set *set, size_t i)
{
    const struct model_parameter *parameter = &model->parameters[i];
    char name[128];
    (void)dynamics_parameter_both(model, i, name, sizeof name);
    if (parameter->sign == MODEL_ANY || !(e->value[i] < 0.0)) {
        return;
    }
    const int quick = answers_at_once(e, model, set, i);
    if (quick >= 0) {
        const struct model_axis *axis = &model->axes[quick];
        e->identifiable[i] = false;
        estimate_reason(
            e, REASON_WITHIN_SAMPLE, ESTIMATE_MARGINAL,
            "%s responds to %s within a sample of %.3g s: %s is too small to be estimated",
            axis->velocity, axis->effort, set->dt_s, name);
        estimate_advise(e, "sample faster than every %.3g s to see how the %s follows the %s",
                        set->dt_s, axis->velocity_words, axis->effort_words);
        return;
    }
    const bool certain = e->hi[i] < 0.0;
    estimate_reason(e, REASON_BELOW_ZERO, certain ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                    "%s is negative (%.4g %s)%s", name, e->value[i], parameter->unit,
                    certain ? ", which no robot has: check signs, units and the model"
                            : ", within its error bar of zero");
}

/* Intervals with fixed b. Robust errors rest on few independent stretches of residuals if
 * the autocorrelation reaches over a share b of the recording. The error is then itself
 * uncertain, and estimate / error is wider than a normal variable. With b held while the
 * recording grows, the ratio has a limit distribution, tabulated as a polynomial in b.
 * Student's t alone would give intervals that are too short
 * (docs/model/identification_theory.md, "Errors"; Kiefer and Vogelsang, Econometric Theory
 * 21, 2005). */

/* Number of standard errors from an estimate to the ends of its 95 % interval. */
static double find_reach(const struct dynamics_fit *fit)
{
    return estimate_reach((double)fit->rows - (double)fit->estimate.p) *
           hac_widening(fmin(fit->hac_share, 1.0));
}

/* Sets a value and its interval from its variance; NaN if the variance is not positive. */
static void set_derived(const struct dynamics_fit *fit, double value, double variance,
                        struct dynamics_derived *derived)
{
    const double se = variance >= 0.0 ? sqrt(variance) : (double)NAN;
    const double reach = find_reach(fit) * se;
    *derived = (struct dynamics_derived){value, se, value - reach, value + reach};
}

double dynamics_covariance(const struct dynamics_fit *fit, size_t a, size_t b)
{
    const size_t p = fit->estimate.p;
    if (a >= p && b >= p) {
        return fit->delay_se_s * fit->delay_se_s;
    }
    return a >= p   ? fit->delay_covariance[b]
           : b >= p ? fit->delay_covariance[a]
                    : fit->estimate.covariance[a][b];
}

void dynamics_derive(const struct dynamics_fit *fit, const struct model *model, size_t i,
                     struct dynamics_derived *derived)
{
    double gradient[MODEL_PARAMETERS_MAX];
    double variance = 0.0;
    const double value = model_derive(model, i, fit->estimate.value, gradient);
    for (size_t a = 0; a < model->parameter_count; a++) {
        for (size_t b = 0; b < model->parameter_count; b++) {
            /* Parameters that do not contribute may be unknown. */
            if (fabs(gradient[a]) > 0.0 && fabs(gradient[b]) > 0.0) {
                variance += gradient[a] * fit->estimate.covariance[a][b] * gradient[b];
            } else if (isnan(gradient[a])) {
                variance = (double)NAN;
            }
        }
    }
    set_derived(fit, value, variance, derived);
}

enum { GAIN, TIME_S, RESPONSES };

/* Response of the model about a steady speed: nu_dot = slope nu + push tau. */
static void find_response(const struct model *model, const double *theta, size_t axis,
                          double speed, double response[RESPONSES])
{
    double pose[MODEL_AXES_MAX + 1] = {0.0};
    double nu[MODEL_AXES_MAX] = {0.0};
    double nu_dot[2][MODEL_AXES_MAX] = {{0.0}};
    double tau[MODEL_AXES_MAX] = {0.0};
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    nu[axis] = speed;
    model->inverse(model, theta, pose, nu, nu_dot[0], tau);
    model->slope(model, theta, pose, nu, tau, slope);
    const double more = fmax(1e-3 * fabs(tau[axis]), 1e-6);
    model->forward(model, theta, pose, nu, tau, nu_dot[0]);
    tau[axis] += more;
    model->forward(model, theta, pose, nu, tau, nu_dot[1]);
    const double rate = -slope[axis * model->axis_count + axis];
    response[TIME_S] = rate > 0.0 ? 1.0 / rate : (double)NAN;
    response[GAIN] = response[TIME_S] * (nu_dot[1][axis] - nu_dot[0][axis]) / more;
}

void dynamics_derive_response(const struct dynamics_fit *fit, const struct model *model,
                              size_t axis, double speed, struct dynamics_derived *gain,
                              struct dynamics_derived *time_s)
{
    const size_t p = model->parameter_count;
    double theta[MODEL_PARAMETERS_MAX];
    double value[RESPONSES];
    double gradient[RESPONSES][MODEL_PARAMETERS_MAX];
    double variance[RESPONSES] = {0.0};
    memcpy(theta, fit->estimate.value, p * sizeof theta[0]);
    find_response(model, theta, axis, speed, value);
    for (size_t j = 0; j < p; j++) {
        const double at = theta[j];
        const double step = fmax(1e-5 * fabs(at), 1e-12);
        double below[RESPONSES];
        double above[RESPONSES];
        theta[j] = at - step;
        find_response(model, theta, axis, speed, below);
        theta[j] = at + step;
        find_response(model, theta, axis, speed, above);
        theta[j] = at;
        for (int k = 0; k < RESPONSES; k++) {
            gradient[k][j] = (above[k] - below[k]) / (2.0 * step);
        }
    }
    for (int k = 0; k < RESPONSES; k++) {
        for (size_t ab = 0; ab < p * p; ab++) {
            const double part = gradient[k][ab / p] * gradient[k][ab % p];
            /* Parameters that do not contribute may be unknown. */
            if (fabs(part) > 0.0 || isnan(part)) {
                variance[k] += part * fit->estimate.covariance[ab / p][ab % p];
            }
        }
    }
    set_derived(fit, value[GAIN], variance[GAIN], gain);
    set_derived(fit, value[TIME_S], variance[TIME_S], time_s);
}

void dynamics_derive_delay(const struct dynamics_fit *fit, struct dynamics_derived *derived)
{
    set_derived(fit, fit->delay_s, fit->delay_se_s * fit->delay_se_s, derived);
    derived->lo += fit->delay_phase_s[0];
    derived->hi += fit->delay_phase_s[1];
}

bool dynamics_derive_with_delay(const struct dynamics_fit *fit, const struct model *model,
                                size_t i, struct dynamics_derived *derived)
{
    double gradient[MODEL_PARAMETERS_MAX];
    double variance = fit->delay_se_s * fit->delay_se_s;
    if (!isfinite(fit->delay_s) || strcmp(model->derived[i].unit, "s") != 0) {
        return false;
    }
    dynamics_derive(fit, model, i, derived);
    (void)model_derive(model, i, fit->estimate.value, gradient);
    for (size_t a = 0; a < model->parameter_count; a++) {
        if (fabs(gradient[a]) > 0.0) {
            variance += 2.0 * gradient[a] * fit->delay_covariance[a];
        }
    }
    variance += derived->se * derived->se;
    set_derived(fit, derived->value + fit->delay_s, variance, derived);
    derived->lo += fit->delay_phase_s[0];
    derived->hi += fit->delay_phase_s[1];
    return true;
}

/* Returns whether a parameter that may be zero needs next to nothing of the efforts, wherever
 * in its interval it is: then it is known well enough. */
static bool is_negligible(const struct estimate *e, const struct model *model,
                          const struct data_set *set, size_t i)
{
    const double most = fmax(fabs(e->lo[i]), fabs(e->hi[i]));
    double needed[MODEL_AXES_MAX] = {0.0};
    double effort[MODEL_AXES_MAX] = {0.0};
    bool small = set && isfinite(most) && model->parameters[i].sign == MODEL_ANY;
    for (size_t k = 0; small && k < set->n; k++) {
        double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        double nu[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX] = {0.0};
        const double still[MODEL_AXES_MAX] = {0.0};
        data_set_velocity(set, k, nu);
        model->rows(model, data_set_pose(set, k, pose), nu, still, phi);
        for (size_t a = 0; a < set->axes; a++) {
            const double part = most * phi[a * model->parameter_count + i];
            needed[a] += part * part;
            effort[a] += set->tau[a][k] * set->tau[a][k];
        }
    }
    for (size_t a = 0; small && a < set->axes; a++) {
        small = needed[a] <= NEGLIGIBLE_EFFORT * NEGLIGIBLE_EFFORT * effort[a];
    }
    return small;
}

static size_t judge_parameters(struct dynamics_fit *fit, const struct model *model,
                               const struct data_set *set)
{
    struct estimate *e = &fit->estimate;
    const double factor = find_reach(fit);
    size_t identified = 0;
    for (size_t i = 0; i < e->p; i++) {
        const double se = sqrt(e->covariance[i][i]);
        const double size = fabs(e->value[i]);
        const bool bias = i >= model->parameter_count;
        char name[128];
        (void)dynamics_parameter_both(model, i, name, sizeof name);
        e->se[i] = se;
        e->lo[i] = e->value[i] - factor * se;
        e->hi[i] = e->value[i] + factor * se;
        /* A bias may well be zero, so that its error is not judged relative to its value. */
        const bool constant = bias || find_role(model, i).with == CONSTANT;
        e->identifiable[i] =
            isfinite(se) && isfinite(size) &&
            (constant || se <= SE_RATIO_MAX * size || is_negligible(e, model, set, i));
        identified += e->identifiable[i] && !bias ? 1 : 0;
        if (!e->identifiable[i]) {
            char why[64] = "the data do not determine it";
            if (isfinite(se) && isfinite(size)) {
                (void)snprintf(why, sizeof why, "%.3g with a standard error of %.3g",
                               e->value[i], se);
            }
            estimate_reason(e, REASON_NOT_DETERMINED, ESTIMATE_MARGINAL,
                            "%s is not identifiable: %s", name, why);
            advise_on(e, model, set, i);
        }
        if (!bias) {
            judge_sign(e, model, set, i);
        }
    }
    return identified;
}

void dynamics_judge_columns(struct dynamics_fit *fit, const struct model *model,
                            const struct data_set *set)
{
    struct estimate *e = &fit->estimate;
    bool pushed = false;
    bool moves = false;
    for (size_t a = 0; a < set->axes; a++) {
        const double start = set->n > 0 ? set->nu[a][0] : 0.0;
        const bool moved = !is_level(set->nu[a], set->n, start);
        pushed = pushed || is_pushed(set, a);
        moves = moves || moved;
        if (!moved) {
            estimate_reason(e, REASON_NO_MOTION, ESTIMATE_MARGINAL, "%s is %.4g in every row",
                            model->axes[a].velocity, start);
            estimate_advise(
                e, "look whether the sensor of the %s was on, and the right column read",
                model->axes[a].velocity_words);
        }
    }
    if (!moves) {
        estimate_reason_first(e, REASON_NO_MOTION, ESTIMATE_FAIL,
                              "nothing changes its speed in this recording");
    }
    if (!pushed) {
        estimate_reason_first(e, REASON_NO_EFFORT, ESTIMATE_FAIL,
                              "no effort acts in this recording: %s%s 0", model->axes[0].effort,
                              model->axis_count > 1 ? " and the others are" : " is");
        estimate_advise(e, "record the efforts, or name the columns they are in");
    }
}

void dynamics_judge(struct dynamics_fit *fit, const struct model *model,
                    const struct data_set *set)
{
    struct estimate *e = &fit->estimate;
    if (set) {
        dynamics_judge_columns(fit, model, set);
    }
    if (fit->rows <= e->p) {
        estimate_reason(e, REASON_TOO_FEW, ESTIMATE_FAIL, "%zu equations for %zu parameters",
                        fit->rows, e->p);
        estimate_advise(e, "record longer");
    }
    const size_t identified = judge_parameters(fit, model, set);
    if (2 * identified < model->parameter_count) {
        estimate_reason(e, REASON_NOT_DETERMINED, ESTIMATE_FAIL,
                        "%zu of %zu parameters are identifiable", identified,
                        model->parameter_count);
    }
    for (size_t i = 0; i < e->null_count; i++) {
        estimate_reason(e, REASON_NOT_DETERMINED, ESTIMATE_MARGINAL,
                        "the data do not determine: %s", fit->null_words[i]);
    }
    if (e->rank >= e->p && !(e->condition <= CONDITION_MARGINAL)) {
        estimate_reason(e, REASON_NEARLY_ALIKE, ESTIMATE_MARGINAL,
                        "scaled condition number %.3g: some regressors are nearly alike",
                        e->condition);
    }
}
