#include "identification/dynamics/dynamics_compare.h"

#include <math.h>

#include <gsl/gsl_matrix.h>

#include "identification/data/trajectory.h"

/* Simulates velocities for one set of parameters, row a of nu for axis a. Returns false if
 * they diverge. */
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
                           const struct data_set *set, const struct reference_values *current,
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
        out->reference_rmse[a] = rms_between(other, set->nu[a], set->n);
    }
}

/* Appends the delay to the estimate's parameters, and to the reference in the same order. */
static void append_delay(const struct dynamics_fit *fit, const struct reference_values *current,
                         struct estimate *all, struct reference_values *given)
{
    const size_t p = fit->estimate.p;
    struct dynamics_derived delay;
    dynamics_derive_delay(fit, &delay);
    *all = fit->estimate;
    *given = *current;
    estimate_name(all, p, "delay_s", "");
    all->value[p] = delay.value;
    all->lo[p] = delay.lo - fit->delay_phase_s[0];
    all->hi[p] = delay.hi - fit->delay_phase_s[1];
    for (size_t i = 0; i < p; i++) {
        all->covariance[i][p] = all->covariance[p][i] = fit->delay_covariance[i];
    }
    all->covariance[p][p] = fit->delay_se_s * fit->delay_se_s;
    all->p = p + 1;
    /* Two delays agree where their intervals overlap: what remains is beyond the rows. */
    const double in_use_s =
        isfinite(current->delay_lo_s)
            ? fmin(fmax(delay.value, current->delay_lo_s), current->delay_hi_s)
            : current->delay_s;
    given->value[p] = in_use_s - fmin(fmax(in_use_s - delay.value, fit->delay_phase_s[0]),
                                      fit->delay_phase_s[1]);
    given->se[p] = 0.0;
}

void dynamics_compare_judge(struct dynamics_fit *fit, const struct model *model,
                            const struct reference_values *current,
                            const struct dynamics_comparison *comparison)
{
    struct estimate all;
    struct reference_values given;
    append_delay(fit, current, &all, &given);
    reference_judge(&fit->estimate, model->name, &all, &given, &comparison->values);
}

enum status dynamics_compare(const struct model *model, const struct dynamics_fit *fit,
                             const struct data_set *set, const struct reference_values *current,
                             struct dynamics_comparison *out)
{
    struct dynamics_comparison found = {.simulated = false};
    struct estimate all;
    struct reference_values given;
    gsl_matrix *ours = gsl_matrix_alloc(set->axes, set->n);
    gsl_matrix *theirs = ours ? gsl_matrix_alloc(set->axes, set->n) : NULL;
    append_delay(fit, current, &all, &given);
    reference_compare(&all, &given, &found.values);
    if (theirs) {
        measure_effect(model, fit, set, current, ours, theirs, &found);
        *out = found;
    }
    gsl_matrix_free(theirs);
    gsl_matrix_free(ours);
    return theirs ? STATUS_OK : STATUS_E_NOMEM;
}
