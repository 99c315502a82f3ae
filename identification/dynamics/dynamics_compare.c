#include "identification/dynamics/dynamics_compare.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_matrix.h>

#include "base/constants.h"
#include "identification/data/trajectory.h"
#include "identification/numeric/svd.h"

static const double CONTRADICTS_P = 0.05;
static const double RANK_RATIO = 1e-9;

void dynamics_current_start(struct dynamics_current *current)
{
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        current->value[i] = NAN;
        current->se[i] = 0.0;
    }
    current->delay_s = NAN;
}

/* Velocities by one set of parameters, row a of nu for axis a. False when they run away. */
static bool simulate_set(const struct model *model, const struct dynamics_fit *fit,
                         const double *theta, double delay_s, const struct data_set *set,
                         gsl_matrix *nu)
{
    struct trajectory walk;
    struct trajectory_rules rules = {.model = model,
                                     .set = set,
                                     .with_biases = fit->bias_count > 0,
                                     .step_s = trajectory_step_s(model, theta, set)};
    bool well = model_unphysical(model, theta) < 0;
    for (size_t a = 0; a < set->axes; a++) {
        rules.limit[a] = 1e6;
    }
    for (size_t run = 0; well && run < set->run_count; run++) {
        double start[MODEL_AXES_MAX];
        for (size_t a = 0; a < set->axes; a++) {
            const double fitted = fit->initial[run][a];
            start[a] = isfinite(fitted) ? fitted : set->nu[a][set->run_start[run]];
        }
        trajectory_begin(&walk, &rules, run, theta, delay_s, start);
        for (;;) {
            for (size_t a = 0; a < set->axes; a++) {
                gsl_matrix_set(nu, a, walk.at, walk.nu[a]);
            }
            if (walk.at + 1 == walk.end) {
                break;
            }
            well = trajectory_next(&walk);
            if (!well) {
                break;
            }
        }
    }
    return well;
}

static double rms_between(const double *x, const double *y, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return sqrt(sum / (double)n);
}

static void measure_effect(const struct model *model, const struct dynamics_fit *fit,
                           const struct data_set *set, const struct dynamics_current *current,
                           gsl_matrix *ours, gsl_matrix *theirs,
                           struct dynamics_comparison *out)
{
    double theta[DYNAMICS_P_MAX];
    const double delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        theta[i] = isfinite(current->value[i]) ? current->value[i] : fit->estimate.value[i];
    }
    out->simulated =
        simulate_set(model, fit, fit->estimate.value, delay_s, set, ours) &&
        simulate_set(model, fit, theta, isfinite(current->delay_s) ? current->delay_s : delay_s,
                     set, theirs);
    for (size_t a = 0; out->simulated && a < set->axes; a++) {
        const double *own = gsl_matrix_const_ptr(ours, a, 0);
        const double *other = gsl_matrix_const_ptr(theirs, a, 0);
        out->effect_rmse[a] = rms_between(own, other, set->n);
        out->fit_rmse[a] = rms_between(own, set->nu[a], set->n);
        out->current_rmse[a] = rms_between(other, set->nu[a], set->n);
    }
}

/* Given values against the fit's: places in the fit (its p: the delay), how far off, and over
 * how many standard errors the printed interval reaches. */
struct given_values {
    size_t count, at[DYNAMICS_P_MAX + 1];
    double off[DYNAMICS_P_MAX + 1], reach[DYNAMICS_P_MAX + 1], se[DYNAMICS_P_MAX + 1];
};

static void add_given(struct given_values *given, size_t at, double off, double reach,
                      double se)
{
    if (isfinite(off) && reach > 0.0 && isfinite(reach)) {
        given->at[given->count] = at;
        given->off[given->count] = off;
        given->reach[given->count] = reach;
        given->se[given->count++] = se;
    }
}

/* Errors count as wide as the printed intervals, were these of a normal error. */
static void test_given(const struct dynamics_fit *fit, const struct given_values *given,
                       struct dynamics_comparison *out)
{
    const size_t n = given->count;
    double m[SVD_ENTRIES_MAX];
    double length[NUMERIC_COLUMNS_MAX];
    struct svd svd;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const double c = dynamics_covariance(fit, given->at[i], given->at[j]);
            const double known = i == j ? given->se[i] * given->se[i] : 0.0;
            m[i * n + j] = ((isfinite(c) ? c : 0.0) + known) * given->reach[i] *
                           given->reach[j] / (NORMAL_95 * NORMAL_95);
        }
        length[i] = sqrt(m[i * n + i]);
    }
    if (n > 0 && svd_find(m, n, length, length, RANK_RATIO, &svd) == STATUS_OK) {
        out->statistic = square_form(given->off, svd.inverse, n, n);
        out->df = (double)svd.rank;
        out->p = gsl_cdf_chisq_Q(fmax(out->statistic, 0.0), out->df);
        out->contradicts = out->p < CONTRADICTS_P;
    }
}

static void compare_values(const struct dynamics_fit *fit,
                           const struct dynamics_current *current,
                           struct dynamics_comparison *out)
{
    const struct estimate *e = &fit->estimate;
    struct given_values given = {.count = 0};
    struct dynamics_derived delay;
    out->statistic = out->df = out->p = (double)NAN;
    for (size_t i = 0; i < e->p; i++) {
        const double off = e->value[i] - current->value[i];
        const double se = sqrt(e->covariance[i][i]);
        const double reach = (off > 0.0 ? e->value[i] - e->lo[i] : e->hi[i] - e->value[i]) / se;
        out->z[i] = off / hypot(se, current->se[i]);
        out->contradicted[i] = fabs(out->z[i]) > reach;
        add_given(&given, i, off, reach, current->se[i]);
    }
    dynamics_derive_delay(fit, &delay);
    const double reach = (delay.hi - delay.value) / fit->delay_se_s;
    out->delay_z = (fit->delay_s - current->delay_s) / fit->delay_se_s;
    out->delay_contradicted = fabs(out->delay_z) > reach;
    add_given(&given, e->p, fit->delay_s - current->delay_s, reach, 0.0);
    test_given(fit, &given, out);
}

/* "; surge mass (surge_mass_kg) 120, not 125.4 to 131.9" */
static void name_given(const char *name, double value, double lo, double hi, char *text,
                       size_t bytes, size_t *used)
{
    const int n = snprintf(text + *used, bytes - *used, "%s %s %.4g, not %.4g to %.4g",
                           *used > 0 ? ";" : ":", name, value, lo, hi);
    *used += n > 0 && (size_t)n < bytes - *used ? (size_t)n : 0;
    text[*used] = '\0';
}

void dynamics_compare_judge(struct dynamics_fit *fit, const struct model *model,
                            const struct dynamics_current *current,
                            const struct dynamics_comparison *comparison)
{
    struct estimate *e = &fit->estimate;
    struct dynamics_derived delay;
    char text[ESTIMATE_TEXT_MAX - 64] = "";
    size_t used = 0;
    if (!comparison->contradicts) {
        return;
    }
    for (size_t i = 0; i < e->p; i++) {
        if (comparison->contradicted[i]) {
            name_given(e->name[i], current->value[i], e->lo[i], e->hi[i], text, sizeof text,
                       &used);
        }
    }
    if (comparison->delay_contradicted) {
        dynamics_derive_delay(fit, &delay);
        name_given("delay_s", current->delay_s, delay.lo, delay.hi, text, sizeof text, &used);
    }
    estimate_reason(e, ESTIMATE_PASS, "the recording contradicts the parameters in use%s",
                    used > 0 ? text : ", all of them together");
    estimate_advise(e,
                    "use the values of this fit for %s, or look for what has changed since "
                    "those in use were found (load, battery, floor, water)",
                    model->name);
}

enum status dynamics_compare(const struct model *model, const struct dynamics_fit *fit,
                             const struct data_set *set, const struct dynamics_current *current,
                             struct dynamics_comparison *out)
{
    struct dynamics_comparison found = {.simulated = false};
    gsl_matrix *ours = gsl_matrix_alloc(set->axes, set->n);
    gsl_matrix *theirs = ours ? gsl_matrix_alloc(set->axes, set->n) : NULL;
    compare_values(fit, current, &found);
    if (theirs) {
        measure_effect(model, fit, set, current, ours, theirs, &found);
        *out = found;
    }
    gsl_matrix_free(theirs);
    gsl_matrix_free(ours);
    return theirs ? STATUS_OK : STATUS_E_NOMEM;
}
