#include "identification/dynamics/dynamics_sensitivity.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/dynamics/dynamics_thresholds.def"

/* A longer recording is cut: its beginning suffices and is faster. */
enum { SAMPLES_MAX = 20000, SG_WINDOW_MIN = 5, SG_WINDOW_MAX = 101 };

static const double SCALE[SENSITIVITY_COUNT] = {0.5, 2.0};

/* Scales the window of a method; returns the whole window in seconds. */
static double scale_window(struct dynamics_options *options, enum dynamics_method method,
                           double scale, double dt_s)
{
    if (method == DYNAMICS_OLS_SG) {
        const double wanted = scale * (double)options->sg_window;
        size_t window = 2 * (size_t)(0.5 * wanted) + 1; /* odd */
        window = window < SG_WINDOW_MIN ? SG_WINDOW_MIN : window;
        window = window > SG_WINDOW_MAX ? SG_WINDOW_MAX : window;
        options->sg_window = window;
        options->sg_order = options->sg_order < window ? options->sg_order : window - 1;
        return (double)(window - 1) * dt_s;
    }
    options->half_width_s *= scale;
    return 2.0 * options->half_width_s;
}

static void compare_window(const struct dynamics_fit *own, const struct dynamics_fit *other,
                           size_t which, struct dynamics_sensitivity *out)
{
    for (size_t i = 0; i < own->estimate.p; i++) {
        const double shift = other->estimate.value[i] - own->estimate.value[i];
        const double reach = 0.5 * fmax(own->estimate.hi[i] - own->estimate.lo[i],
                                        other->estimate.hi[i] - other->estimate.lo[i]);
        out->shift[which][i] = shift / sqrt(own->estimate.covariance[i][i]);
        out->moved[i] =
            out->moved[i] || (fabs(shift) > WINDOW_REACH * reach &&
                              !(fabs(shift) <= SHIFT_MATTERS * fabs(own->estimate.value[i])));
    }
}

static bool may_go_on(const struct dynamics_options *options, enum dynamics_method method,
                      size_t fit)
{
    return !options->go_on || options->go_on(options->context, method, fit);
}

/* Computes the three fits; found->known is set if all succeeded. */
static enum status fit_thrice(const struct model *model, const struct data_set *part,
                              const struct dynamics_options *options,
                              struct dynamics_sensitivity *found)
{
    const struct dynamics_options chosen = dynamics_options_chosen(part, options);
    struct dynamics_options nominal = chosen;
    struct dynamics_fit own;
    found->window_s = scale_window(&nominal, found->method, 1.0, part->dt_s);
    enum status st = dynamics_linear_fit(model, part, found->method, &chosen, &own);
    for (size_t k = 0; k < SENSITIVITY_COUNT && st == STATUS_OK; k++) {
        struct dynamics_options changed = chosen;
        struct dynamics_fit other;
        if (!may_go_on(options, found->method, k + 1)) {
            return STATUS_OK;
        }
        found->other_s[k] = scale_window(&changed, found->method, SCALE[k], part->dt_s);
        st = dynamics_linear_fit(model, part, found->method, &changed, &other);
        if (st == STATUS_OK) {
            compare_window(&own, &other, k, found);
        }
    }
    found->known = st == STATUS_OK;
    return st;
}

enum status dynamics_sensitivity_run(const struct model *model, const struct data_set *set,
                                     enum dynamics_method method,
                                     const struct dynamics_options *options, double delay_s,
                                     struct dynamics_sensitivity *out)
{
    struct data_set part = data_view_first(set, SAMPLES_MAX);
    struct dynamics_sensitivity found = {.n = part.n};
    const bool late = isfinite(delay_s) && fabs(delay_s) > 0.0;
    found.method =
        method == DYNAMICS_OLS_SG || method == DYNAMICS_WEAK ? method : DYNAMICS_WEAK_IV;
    found.method = dynamics_linear_method(model, found.method);
    if (method == DYNAMICS_OLS_CENTRAL || part.run_count == 0 ||
        !may_go_on(options, found.method, 0)) {
        *out = (struct dynamics_sensitivity){.known = false};
        return STATUS_OK;
    }
    gsl_vector *tau = late ? gsl_vector_alloc(part.axes * part.n) : NULL;
    if (late && !tau) {
        return STATUS_E_NOMEM;
    }
    if (late) {
        data_view_delay(&part, delay_s, tau->data);
    }
    const enum status st = fit_thrice(model, &part, options, &found);
    gsl_vector_free(tau);
    if (st == STATUS_OK) {
        *out = found;
    }
    return st;
}

void dynamics_sensitivity_judge(struct dynamics_fit *fit, const struct model *model,
                                const struct dynamics_sensitivity *sensitivity)
{
    double worst = 0.0;
    size_t worst_i = 0;
    size_t worst_k = 0;
    size_t moved = 0;
    /* Methods that simulate have no window; the table then describes their start. */
    if (!sensitivity->known || fit->method != sensitivity->method) {
        return;
    }
    for (size_t i = 0; i < fit->estimate.p; i++) {
        if (!sensitivity->moved[i] || !fit->estimate.identifiable[i]) {
            continue;
        }
        moved++;
        for (size_t k = 0; k < SENSITIVITY_COUNT; k++) {
            if (fabs(sensitivity->shift[k][i]) > worst) {
                worst = fabs(sensitivity->shift[k][i]);
                worst_i = i;
                worst_k = k;
            }
        }
    }
    if (moved == 0) {
        return;
    }
    char name[128];
    estimate_reason(&fit->estimate, REASON_WINDOW_DEPENDENT, ESTIMATE_MARGINAL,
                    "%zu of %zu estimates lean on the filter: through %s of its window %s of "
                    "%s moves by %.1f standard errors",
                    moved, fit->estimate.p, worst_k == SENSITIVITY_HALF ? "half" : "double",
                    dynamics_parameter_both(model, worst_i, name, sizeof name),
                    dynamics_method_name(sensitivity->method), worst);
    estimate_advise(&fit->estimate, "sample faster or with less noise, and let efforts change "
                                    "less often than the robot can follow");
}
