#include "identification/dynamics/unmodelled_term.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_thresholds.def"
#include "identification/data/data_view.h"
#include "identification/data/moving_samples.h"
#include "identification/dynamics/dynamics_estimate_parts.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/fit/fit_thresholds.def"
#include "identification/numeric/local_polynomial.h"

static const double SMOOTH_S = 0.04;

enum { SLOPE_HALF = 2, LOAD = 0, DRAG, PLACE, TERMS };

struct sums {
    double n, effort, effort2, residual2;
    double term[TERMS], term2[TERMS], product[TERMS], residual;
    double moving, load,
        /* products of the direction: with itself, the load, and the residual */
        residual_moving;
    /* sums of the residuals in motion */
    double moved, moved_residual, moved_residual2, before, pairs;
};

struct weights {
    size_t half;
    double smooth[LOCAL_POLYNOMIAL_MAX], rate[LOCAL_POLYNOMIAL_MAX];
};

/* Effort and residual around sample k, with equal smoothing. */
static void smooth_residual(const struct model *model, const double *theta,
                            const struct data_set *set, const struct weights *w, size_t k,
                            double *effort, double *residual)
{
    *effort = 0.0;
    *residual = 0.0;
    for (size_t m = 0; m <= 2 * w->half; m++) {
        const size_t at = k - w->half + m;
        double memory[MODEL_AXES_MAX];
        double nu_dot = 0.0;
        double computed = 0.0;
        for (size_t j = 0; j <= 2 * SLOPE_HALF; j++) {
            nu_dot += w->rate[j] / set->dt_s * set->nu[0][at - SLOPE_HALF + j];
        }
        model->inverse(model, theta, data_set_pose(set, at, memory), &set->nu[0][at], &nu_dot,
                       &computed);
        *effort += w->smooth[m] * set->tau[0][at];
        *residual += w->smooth[m] * (set->tau[0][at] - computed);
    }
}

static void add_sums(struct sums *s, const struct data_set *set, size_t k, double effort,
                     double residual)
{
    const double nu = set->nu[0][k];
    const bool moves = fabs(nu) > MOVING_NOISE_RATIO * set->noise_sd[0];
    const double direction = !moves ? 0.0 : nu > 0.0 ? 1.0 : -1.0;
    const double term[TERMS] = {fabs(effort) * direction, nu * fabs(nu),
                                set->pose[0] ? set->pose[0][k] : 0.0};
    s->n += 1.0;
    s->effort += effort;
    s->effort2 += effort * effort;
    s->residual += residual;
    s->residual2 += residual * residual;
    s->moving += direction * direction;
    s->load += direction * term[LOAD];
    s->residual_moving += direction * residual;
    s->moved += moves ? 1.0 : 0.0;
    s->moved_residual += moves ? residual : 0.0;
    s->moved_residual2 += moves ? residual * residual : 0.0;
    s->pairs += moves ? residual * s->before : 0.0;
    s->before = moves ? residual : 0.0;
    for (size_t i = 0; i < TERMS; i++) {
        s->term[i] += term[i];
        s->term2[i] += term[i] * term[i];
        s->product[i] += term[i] * residual;
    }
}

/* Removes from the load its average part: friction of constant size, which the model has. */
static void set_load_apart(struct sums *s)
{
    const double usual = s->moving > 0.0 ? s->load / s->moving : 0.0;
    s->product[LOAD] -= usual * s->residual_moving;
    s->term2[LOAD] -= usual * s->load;
    s->term[LOAD] = 0.0;
}

/* Squared correlation of a term with the residuals. */
static double find_explained_share(const struct sums *s, size_t i)
{
    const double product = s->product[i] - s->term[i] * s->residual / s->n;
    const double term = s->term2[i] - s->term[i] * s->term[i] / s->n;
    const double residual = s->residual2 - s->residual * s->residual / s->n;
    return term > 0.0 && residual > 0.0 ? product * product / (term * residual) : 0.0;
}

static struct residual_summary summarise_residual(const struct sums *s)
{
    const double unknown = (double)NAN;
    const double mean = s->moved_residual / s->moved;
    const double variance = s->moved_residual2 / s->moved - mean * mean;
    return (struct residual_summary){
        .n = (size_t)s->moved,
        .mean = mean,
        .rmse = sqrt(s->moved_residual2 / s->moved),
        .mae = unknown,
        .r2 = unknown,
        .fit_percent = unknown,
        .correlation = variance > 0.0 ? (s->pairs / s->moved - mean * mean) / variance : 0.0,
        .runs_z = unknown,
        .ljung_box = unknown,
        .ljung_box_p = unknown};
}

void unmodelled_term_find(const struct model *model, const struct dynamics_fit *fit,
                          const struct data_set *set, struct unmodelled_term *missing)
{
    struct sums s;
    struct weights w;
    double ignored[LOCAL_POLYNOMIAL_MAX];
    memset(&s, 0, sizeof s);
    *missing =
        (struct unmodelled_term){.effort_r2 = (double)NAN, .steady = {.ratio = (double)NAN}};
    w.half = (size_t)fmin(fmax(round(SMOOTH_S / set->dt_s), 2.0), 50.0);
    bool known = true;
    for (size_t i = 0; i < model->parameter_count; i++) {
        known = known && isfinite(fit->estimate.value[i]);
    }
    if (!known || local_polynomial(w.half, 2, w.smooth, ignored) != STATUS_OK ||
        local_polynomial(SLOPE_HALF, 2, ignored, w.rate) != STATUS_OK) {
        return;
    }
    const size_t margin = w.half + SLOPE_HALF;
    for (size_t r = 0; r < set->run_count; r++) {
        /* Neighbours share samples, so one sample per half window suffices. */
        for (size_t k = set->run_start[r] + margin; k + margin < set->run_start[r + 1];
             k += w.half) {
            double effort = 0.0;
            double residual = 0.0;
            smooth_residual(model, fit->estimate.value, set, &w, k, &effort, &residual);
            add_sums(&s, set, k, effort, residual);
        }
    }
    if (s.n > 0.0 && s.effort2 - s.effort * s.effort / s.n > 0.0) {
        missing->effort_r2 = 1.0 - s.residual2 / (s.effort2 - s.effort * s.effort / s.n);
        missing->residual = summarise_residual(&s);
        set_load_apart(&s);
        missing->load_ratio = find_explained_share(&s, LOAD);
        missing->drag_ratio = find_explained_share(&s, DRAG);
        missing->place_ratio = find_explained_share(&s, PLACE);
    }
}

/* Largest effort of the term, relative to the root mean square of the efforts. */
static double find_size(const struct unmodelled_friction *term, const struct data_set *set)
{
    static const double still[MODEL_AXES_MAX];
    double most = 0.0;
    double squares = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        double nu[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        const double size = fabs(set->tau[0][k]);
        data_set_velocity(set, k, nu);
        model_regressor(term->model, data_set_pose(set, k, pose), nu, still, &size, phi);
        most = fmax(most, fabs(phi[term->at]));
        squares += size * size;
    }
    return fabs(term->value) * most / sqrt(squares / (double)set->n);
}

/* Decides by the fit that tests the term. A regression, unlike a simulation, may mistake
 * noise for a similar term, so its condition must be good. */
static bool is_there(const struct model_parameter *term, const struct dynamics_fit *test,
                     size_t i)
{
    const double se = fmax(sqrt(test->estimate.covariance[i][i]), test->se_hac[i]);
    const double z = test->estimate.value[i] / se;
    const double chance =
        term->sign == MODEL_ANY ? 2.0 * gsl_cdf_ugaussian_Q(fabs(z)) : gsl_cdf_ugaussian_Q(z);
    return chance < TERMS_CHANCE / MODEL_EXTENDED_MAX &&
           (test->method == DYNAMICS_OUTPUT_ERROR || test->estimate.condition <= CONDITION_MAX);
}

/* Compares the parameters with and without the term. */
static void compare_friction(const struct model *model, const struct dynamics_fit *fit,
                             const struct dynamics_fit *plain, const struct dynamics_fit *rich,
                             const struct dynamics_fit *test, struct unmodelled_friction *out)
{
    for (size_t i = 0; i < out->model->parameter_count; i++) {
        const int at = model_parameter_find(model, out->model->parameters[i].name);
        if (at < 0) {
            out->at = i;
            out->value = rich->estimate.value[i];
            out->se = sqrt(rich->estimate.covariance[i][i]);
            out->there = is_there(&out->model->parameters[i], test, i);
            continue;
        }
        const double shift = plain->estimate.value[at] - rich->estimate.value[i];
        const double reach = 2.0 * fabs(shift) / (fit->estimate.hi[at] - fit->estimate.lo[at]);
        const double share = shift / fabs(rich->estimate.value[i]);
        if (model->parameters[at].sign != MODEL_ANY && fabs(share) > SHIFT_MATTERS &&
            reach > out->reach) {
            out->moved = (size_t)at;
            out->shift = share;
            out->reach = reach;
        }
    }
}

/* Simulates the model with the term, with a delay and without windows, so that fast effects
 * are visible. *holds is set if the residuals show neither sticking nor a controller. */
static enum status simulate_friction(const struct data_set *set,
                                     const struct dynamics_options *options,
                                     struct unmodelled_friction *found,
                                     struct dynamics_fit *fit, bool *holds)
{
    struct dynamics_fit start;
    struct search_report report;
    const struct estimate_job job = {found->model, set, options};
    *holds = false;
    if (set->n > ESTIMATE_SAMPLES_MAX) {
        return STATUS_OK;
    }
    const enum status st = estimate_by_simulation(&job, &start, fit, &report);
    *holds = st == STATUS_OK && estimate_is_whole(fit) && !report.delay_at_bound &&
             estimate_is_at_home(found->model, fit, &report);
    return st;
}

/* Data shared by the fits of one model with one more term. */
struct trial {
    const struct model *model;
    const struct dynamics_fit *fit;
    const struct data_set *set, *late; /* late: set with the delay of the fit */
    const struct dynamics_options *options;
    struct dynamics_fit plain; /* fit of the model itself by weak */
};

/* Tests a term by simulation if that holds; otherwise (the joint sticks or is controlled) by
 * weak. */
static enum status try_friction(const struct trial *trial, struct unmodelled_friction *found)
{
    struct unmodelled_term with;
    struct dynamics_fit rich;
    struct dynamics_fit test;
    struct dynamics_options as_asked = *trial->options;
    bool holds = false;
    as_asked.asked_load = true;
    enum status st = simulate_friction(trial->set, trial->options, found, &rich, &holds);
    if (holds) {
        compare_friction(trial->model, trial->fit, trial->fit, &rich, &rich, found);
    } else if (st != STATUS_E_NOMEM) {
        st = dynamics_linear_fit(found->model, trial->late, DYNAMICS_WEAK, trial->options,
                                 &rich);
        st = st == STATUS_OK ? dynamics_linear_fit(found->model, trial->late, DYNAMICS_WEAK,
                                                   &as_asked, &test)
                             : st;
        if (st == STATUS_OK) {
            compare_friction(trial->model, trial->fit, &trial->plain, &rich, &test, found);
        }
    }
    if (st == STATUS_OK) {
        unmodelled_term_find(found->model, &rich, trial->late, &with);
        found->effort_r2 = with.effort_r2;
        found->size = find_size(found, trial->late);
    }
    return st;
}

/* Tries all terms. Regressions leave out rests, unless nothing else remains. */
static enum status try_terms(struct trial *trial, struct unmodelled_term *missing)
{
    struct data_set moving;
    gsl_vector *columns = NULL;
    enum status st = moving_samples_copy(trial->late, &moving, &columns);
    if (st == STATUS_OK) {
        trial->late = &moving;
    }
    st = st == STATUS_E_NOMEM ? st
                              : dynamics_linear_fit(trial->model, trial->late, DYNAMICS_WEAK,
                                                    trial->options, &trial->plain);
    for (size_t k = 0; k < COUNT(trial->model->extended) && st == STATUS_OK; k++) {
        struct unmodelled_friction found = {.model = trial->model->extended[k]};
        if (!found.model || !data_set_suits(trial->set, found.model)) {
            continue;
        }
        st = try_friction(trial, &found);
        if (st == STATUS_OK) {
            missing->friction[k] = found;
        }
    }
    gsl_vector_free(columns);
    return st;
}

enum status unmodelled_term_try(const struct model *model, const struct dynamics_fit *fit,
                                const struct data_set *set,
                                const struct dynamics_options *options,
                                struct unmodelled_term *missing)
{
    struct data_set late = *set;
    struct trial trial = {
        .model = model, .fit = fit, .set = set, .late = &late, .options = options};
    gsl_vector *tau = gsl_vector_alloc(set->axes * set->n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    if (isfinite(fit->delay_s)) {
        data_view_delay(&late, fit->delay_s, tau->data);
    }
    enum status st = effort_residual_find(model, fit, &late, &missing->steady);
    st = st == STATUS_OK ? try_terms(&trial, missing) : st;
    gsl_vector_free(tau);
    return st == STATUS_E_NOMEM ? st : STATUS_OK;
}

/* Returns whether the term makes an interval wrong, or is an effort large enough to matter
 * to users of the model. */
static bool makes_difference(const struct unmodelled_friction *one)
{
    return one->reach > REACH_MAX || fabs(one->shift) > SHIFT_MAX || one->size > CONSTANT_RATIO;
}

/* Ranks terms: one that matters comes first, then the one that explains most of the efforts.
 * A missing term looks like other terms too. */
static bool explains_more(const struct unmodelled_friction *one,
                          const struct unmodelled_friction *other)
{
    return makes_difference(one) != makes_difference(other) ? makes_difference(one)
                                                            : one->effort_r2 > other->effort_r2;
}

/* Returns whether a term is a reason. */
static bool judge_friction(struct estimate *e, const struct model *model,
                           const struct unmodelled_term *missing)
{
    const struct unmodelled_friction *most = NULL;
    for (size_t k = 0; k < COUNT(missing->friction); k++) {
        const struct unmodelled_friction *one = &missing->friction[k];
        if (one->model && one->there && (!most || explains_more(one, most))) {
            most = one;
        }
    }
    if (!most) {
        return false;
    }
    const struct model_parameter *term = &most->model->parameters[most->at];
    const char *what = most->reach > REACH_MAX ? "without it" : "at that";
    char shift[160] = "no parameter is off by much of its interval";
    if (most->reach > 0.0) {
        (void)snprintf(shift, sizeof shift, "%s %s (%s) is off by %+.2g %%", what,
                       model->parameters[most->moved].words,
                       model->parameters[most->moved].name, 100.0 * most->shift);
    }
    estimate_reason(e, REASON_UNMODELLED,
                    makes_difference(most) ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                    "the efforts hold %s (%s %.3g +- %.2g), which the model does not have: %s",
                    term->words, term->name, most->value, most->se, shift);
    estimate_advise(e, "fit --model %s, which has %s", most->model->name, term->words);
    return makes_difference(most);
}

void unmodelled_term_judge(struct dynamics_fit *fit, const struct model *model,
                           const struct unmodelled_term *missing)
{
    struct estimate *e = &fit->estimate;
    const char *effort = model->axes[0].effort;
    if (!judge_friction(e, model, missing)) {
        effort_residual_judge(fit, model, &missing->steady);
    }
    if (!(missing->effort_r2 < R2_GOOD)) {
        return;
    }
    estimate_reason(e, REASON_POOR_FIT,
                    missing->effort_r2 < R2_MARGINAL ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                    "the model explains %.0f %% of the variance of %s",
                    fmax(0.0, 100.0 * missing->effort_r2), effort);
    const struct {
        double ratio;
        const char *what;
    } terms[] = {
        {missing->load_ratio, "friction grows with the load"},
        {missing->drag_ratio, "friction is not in proportion to the velocity"},
        {missing->place_ratio, "it depends on the position: a load, a spring, an uneven track"},
    };
    for (size_t i = 0; i < COUNT(terms); i++) {
        if (terms[i].ratio >= SHARE_MIN) {
            estimate_advise(e,
                            "%s: %.0f %% of the residuals' variance of the %s is due to that",
                            terms[i].what, 100.0 * terms[i].ratio, model->axes[0].effort_words);
        }
    }
}
