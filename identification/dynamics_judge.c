/* What a fit of dynamics is worth, in words (docs/model/identification.md, section 6). */
#include "identification/dynamics_fit.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

/* A parameter whose standard error is beyond this share of its value is not identified. */
static const double SE_RATIO_MAX = 0.5;
/* Above this share nobody reads it as a share. */
static const double SE_RATIO_TOLD = 10.0;
/* Scaled columns this close to dependent make every error bar lean on the model's form. */
static const double CONDITION_MARGINAL = 300.0;

/* What a parameter multiplies, and on which axis. */
struct role {
    size_t axis;
    enum { INERTIA, MOTION, CURVE, PLACE, CONSTANT } with; /* CURVE: several axes at once */
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

/* Of a robot that is pushed at all. */
static bool is_left_alone(const struct data_set *set, size_t axis)
{
    bool any = false;
    for (size_t a = 0; set && a < set->axes; a++) {
        any = any || is_pushed(set, a);
    }
    return any && !is_pushed(set, axis);
}

static void advise_on(struct dynamics_fit *fit, const struct model *model,
                      const struct data_set *set, size_t i)
{
    char name[64];
    (void)dynamics_parameter_words(model, i, name, sizeof name);
    if (i >= model->parameter_count) {
        estimate_advise(&fit->estimate,
                        "%s is not determined: record longer, from rest to rest", name);
        return;
    }
    const struct role role = find_role(model, i);
    const struct model_axis *axis = &model->axes[role.axis];
    if (is_left_alone(set, role.axis)) {
        estimate_advise(&fit->estimate,
                        "%s is not excited and the %s is never pushed directly: run a zig-zag "
                        "at two speeds with hard turns",
                        name, axis->velocity_words);
    } else if (role.with == CONSTANT) {
        estimate_advise(&fit->estimate,
                        "%s is not determined: drive both ways for the same time", name);
    } else if (role.with == CURVE) {
        estimate_advise(&fit->estimate,
                        "%s is not excited: drive curves, tight and wide, slow and fast, to "
                        "both sides",
                        name);
    } else if (role.with == PLACE) {
        estimate_advise(&fit->estimate,
                        "%s is not excited: go through the whole range of positions, there "
                        "and back",
                        name);
    } else if (role.with == INERTIA) {
        estimate_advise(&fit->estimate,
                        "%s is not excited: let the %s step up and down every few seconds, so "
                        "that the %s keeps changing",
                        name, axis->effort_words, axis->velocity_words);
    } else {
        estimate_advise(&fit->estimate,
                        "%s is not excited: hold the %s steady at three speeds from slow to "
                        "the fastest, in both directions",
                        name, axis->velocity_words);
    }
}

/* The axis whose acceleration goes with parameter i and that answers its effort within a
 * sample, -1 if there is none. The parameter is anything about zero then, of either sign,
 * depending on when in the sample the answer was measured. */
static int answers_at_once(const struct dynamics_fit *fit, const struct model *model,
                           const struct data_set *set, size_t i)
{
    const double zero[MODEL_AXES_MAX] = {0.0};
    double alone[MODEL_PARAMETERS_MAX] = {0.0};
    alone[i] = 1.0;
    for (size_t a = 0; set && !model->needs_pose && a < model->axis_count; a++) {
        double one[MODEL_AXES_MAX] = {0.0};
        double share[MODEL_AXES_MAX];
        double inertia[MODEL_AXES_MAX];
        double drag[MODEL_AXES_MAX];
        one[a] = 1.0;
        model->inverse(model, alone, NULL, zero, one, share);
        model->inverse(model, fit->estimate.value, NULL, zero, one, inertia);
        model->inverse(model, fit->estimate.value, NULL, one, zero, drag);
        if (fabs(share[a]) > 0.0 && fabs(inertia[a]) < set->dt_s * drag[a]) {
            return (int)a;
        }
    }
    return -1;
}

static void judge_sign(struct dynamics_fit *fit, const struct model *model,
                       const struct data_set *set, size_t i)
{
    const struct model_parameter *parameter = &model->parameters[i];
    char name[128];
    (void)dynamics_parameter_both(model, i, name, sizeof name);
    if (parameter->sign == MODEL_ANY || !(fit->estimate.value[i] < 0.0)) {
        return;
    }
    const int quick = answers_at_once(fit, model, set, i);
    if (quick >= 0) {
        const struct model_axis *axis = &model->axes[quick];
        fit->estimate.identifiable[i] = false;
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                        "%s answers %s within a sample of %.3g s: %s is too small to be told",
                        axis->velocity, axis->effort, set->dt_s, name);
        estimate_advise(&fit->estimate,
                        "sample faster than every %.3g s to see how the %s follows the %s",
                        set->dt_s, axis->velocity_words, axis->effort_words);
        return;
    }
    const bool certain = fit->estimate.hi[i] < 0.0;
    estimate_reason(&fit->estimate, certain ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                    "%s is negative (%.4g %s)%s", name, fit->estimate.value[i], parameter->unit,
                    certain ? ", which no robot has: check signs, units and the model"
                            : ", within its error bar of zero");
}

/* Intervals with fixed b. Errors that are robust to correlated residuals rest on few stretches
 * of them when the correlation is let reach over a share b of the recording: the error is then
 * itself uncertain, and estimate / error is wider than a normal. With b held while the
 * recording grows it has a distribution of its own, tabled as a polynomial in b; Student's t
 * alone would know nothing of it, and intervals would be too short
 * (docs/model/identification.md, section 4). */

/* How much wider an interval is where its error itself was estimated from few stretches of
 * correlated residuals: 97.5 % point of t with Bartlett's weights over a share b of the rows,
 * over that with b = 0 (Kiefer and Vogelsang 2005, fixed b). */
static double widen_interval(double b)
{
    static const double by[] = {1.9659, 4.0603, 11.6626, 34.8269, -13.9506, 3.2669};
    double sum = 0.0;
    for (size_t i = COUNT(by); i-- > 0;) {
        sum = sum * b + by[i];
    }
    return sum / by[0];
}

/* Standard errors from an estimate to the ends of its 95 % interval. */
static double find_reach(const struct dynamics_fit *fit)
{
    const double freedom =
        fit->rows > fit->estimate.p ? (double)(fit->rows - fit->estimate.p) : 1.0;
    return gsl_cdf_tdist_Pinv(0.975, freedom) * widen_interval(fmin(fit->hac_share, 1.0));
}

void dynamics_derive(const struct dynamics_fit *fit, const struct model *model, size_t i,
                     struct dynamics_derived *derived)
{
    double gradient[MODEL_PARAMETERS_MAX];
    double variance = 0.0;
    derived->value = model_derive(model, i, fit->estimate.value, gradient);
    for (size_t a = 0; a < model->parameter_count; a++) {
        for (size_t b = 0; b < model->parameter_count; b++) {
            /* What has no part in it may be unknown. */
            if (fabs(gradient[a]) > 0.0 && fabs(gradient[b]) > 0.0) {
                variance += gradient[a] * fit->estimate.covariance[a][b] * gradient[b];
            } else if (isnan(gradient[a])) {
                variance = (double)NAN;
            }
        }
    }
    derived->se = variance >= 0.0 ? sqrt(variance) : (double)NAN;
    derived->lo = derived->value - find_reach(fit) * derived->se;
    derived->hi = derived->value + find_reach(fit) * derived->se;
}

void dynamics_derive_delay(const struct dynamics_fit *fit, struct dynamics_derived *derived)
{
    derived->value = fit->delay_s;
    derived->se = fit->delay_se_s;
    derived->lo = derived->value - find_reach(fit) * derived->se;
    derived->hi = derived->value + find_reach(fit) * derived->se;
}

bool dynamics_derive_late(const struct dynamics_fit *fit, const struct model *model, size_t i,
                          struct dynamics_derived *derived)
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
    derived->value += fit->delay_s;
    derived->se = variance >= 0.0 ? sqrt(variance) : (double)NAN;
    derived->lo = derived->value - find_reach(fit) * derived->se;
    derived->hi = derived->value + find_reach(fit) * derived->se;
    return true;
}

static size_t judge_parameters(struct dynamics_fit *fit, const struct model *model,
                               const struct data_set *set)
{
    const double factor = find_reach(fit);
    size_t identified = 0;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const double se = sqrt(fit->estimate.covariance[i][i]);
        char name[128];
        (void)dynamics_parameter_both(model, i, name, sizeof name);
        fit->estimate.se[i] = se;
        fit->estimate.lo[i] = fit->estimate.value[i] - factor * se;
        fit->estimate.hi[i] = fit->estimate.value[i] + factor * se;
        const bool bias = i >= model->parameter_count;
        const bool constant = bias || find_role(model, i).with == CONSTANT;
        /* A bias may well be zero: its error is not to be measured by its value. */
        fit->estimate.identifiable[i] =
            isfinite(se) && isfinite(fit->estimate.value[i]) &&
            (constant || se <= SE_RATIO_MAX * fabs(fit->estimate.value[i]));
        if (fit->estimate.identifiable[i]) {
            identified += bias ? 0 : 1;
        } else if (isfinite(se) && se > SE_RATIO_TOLD * fabs(fit->estimate.value[i])) {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                            "%s is not identifiable: %.3g with a standard error of %.3g", name,
                            fit->estimate.value[i], se);
            advise_on(fit, model, set, i);
        } else if (isfinite(se) && isfinite(fit->estimate.value[i])) {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                            "%s is not identifiable: standard error %.0f %% of its value", name,
                            100.0 * se / fabs(fit->estimate.value[i]));
            advise_on(fit, model, set, i);
        } else {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                            "%s is not identifiable: the data do not determine it", name);
            advise_on(fit, model, set, i);
        }
        if (!bias) {
            judge_sign(fit, model, set, i);
        }
    }
    return identified;
}

/* Columns that tell nothing. */
static void judge_columns(struct dynamics_fit *fit, const struct model *model,
                          const struct data_set *set)
{
    bool pushed = false;
    bool moves = false;
    for (size_t a = 0; a < set->axes; a++) {
        const double start = set->n > 0 ? set->nu[a][0] : 0.0;
        const bool moved = !is_level(set->nu[a], set->n, start);
        pushed = pushed || is_pushed(set, a);
        moves = moves || moved;
        if (!moved) {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "%s is %.4g in every row",
                            model->axes[a].velocity, start);
            estimate_advise(
                &fit->estimate,
                "look whether the sensor of the %s was on, and the right column read",
                model->axes[a].velocity_words);
        }
    }
    if (!moves) {
        estimate_reason_first(&fit->estimate, ESTIMATE_FAIL,
                              "nothing changes its speed in this recording");
    }
    if (!pushed) {
        estimate_reason_first(&fit->estimate, ESTIMATE_FAIL,
                              "no effort acts in this recording: %s%s 0", model->axes[0].effort,
                              model->axis_count > 1 ? " and the others are" : " is");
        estimate_advise(&fit->estimate, "record the efforts, or name the columns they are in");
    }
}

void dynamics_judge(struct dynamics_fit *fit, const struct model *model,
                    const struct data_set *set)
{
    if (set) {
        judge_columns(fit, model, set);
    }
    if (fit->rows <= fit->estimate.p) {
        estimate_reason(&fit->estimate, ESTIMATE_FAIL, "%zu equations for %zu parameters",
                        fit->rows, fit->estimate.p);
        estimate_advise(&fit->estimate, "record longer");
    }
    const size_t identified = judge_parameters(fit, model, set);
    if (2 * identified < model->parameter_count) {
        estimate_reason(&fit->estimate, ESTIMATE_FAIL, "%zu of %zu parameters are identifiable",
                        identified, model->parameter_count);
    }
    for (size_t i = 0; i < fit->estimate.null_count; i++) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "the data leave free: %s",
                        fit->null_words[i]);
    }
    if (fit->estimate.rank >= fit->estimate.p &&
        !(fit->estimate.condition <= CONDITION_MARGINAL)) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                        "scaled condition number %.3g: some regressors are nearly alike",
                        fit->estimate.condition);
    }
}
