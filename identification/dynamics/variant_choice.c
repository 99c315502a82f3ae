#include "identification/dynamics/variant_choice.h"

#include <math.h>
#include <stdio.h>

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_thresholds.def"

/* Number of independent samples: autocorrelated residuals count as fewer. */
static double count_alone(const struct dynamics_fit *fit, size_t axes)
{
    const double times = (double)fit->rows / (double)axes;
    return fit->hac_share > 0.0 ? fmin(times, 1.0 / fit->hac_share) : times;
}

/* Minus the log likelihood per sample; HUGE_VAL if there is no fit. */
static double cost_of(const struct dynamics_fit *fit, size_t axes)
{
    double cost = 0.0;
    for (size_t a = 0; a < axes; a++) {
        cost += log(fit->residual_sd[a]);
    }
    return fit->stop == DYNAMICS_STOP_DIVERGED || !isfinite(cost) ? HUGE_VAL : cost;
}

struct contest {
    double cost[VARIANT_CHOICE_MAX], value[VARIANT_CHOICE_MAX][DYNAMICS_P_MAX];
};

/* Finds, among the variants that fit equally well, the one that would move a parameter
 * furthest. */
static void compare_values(const struct contest *c, const struct dynamics_fit *fit, size_t axes,
                           struct variant_choice *v)
{
    const struct estimate *e = &fit->estimate;
    const double loss_max = 0.5 * CHI2_95 / count_alone(fit, axes);
    v->other = v->chosen;
    v->reach = 0.0;
    for (size_t k = 0; k < v->count; k++) {
        for (size_t i = 0; i < e->p; i++) {
            const double reach =
                2.0 * fabs(c->value[k][i] - e->value[i]) / (e->hi[i] - e->lo[i]);
            const bool alike = k != v->chosen && c->cost[k] - c->cost[v->chosen] < loss_max;
            if (alike && (v->other == v->chosen || reach > v->reach)) {
                v->other = k;
                v->moved = i;
                v->value = c->value[k][i];
                v->reach = reach;
            }
        }
    }
}

enum status variant_choice_select(const struct variant_list *list, const struct data_set *set,
                                  const struct dynamics_options *options,
                                  struct dynamics_fit *fit, struct variant_choice *choice)
{
    struct contest c;
    const enum dynamics_method method = fit->method;
    const size_t axes = list->variants[0].model->axis_count;
    const size_t chosen = choice->chosen;
    struct variant_choice v = {.count = list->count, .chosen = chosen};
    struct dynamics_fit best = *fit;
    for (size_t k = 0; k < v.count; k++) {
        struct dynamics_fit tried = *fit;
        const enum status st = k == chosen ? STATUS_OK
                                           : dynamics_estimate(list->variants[k].model, set,
                                                               method, options, &tried);
        if (st != STATUS_OK && st != STATUS_E_MATH) {
            return st;
        }
        if (tried.stop == DYNAMICS_STOP_CANCELLED) {
            *fit = tried;
            return STATUS_OK;
        }
        const bool fits = st == STATUS_OK && tried.method == method;
        c.cost[k] = fits ? cost_of(&tried, axes) : HUGE_VAL;
        for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
            c.value[k][i] = tried.estimate.value[i];
        }
    }
    for (size_t k = 0; k < v.count; k++) {
        v.chosen = c.cost[k] < c.cost[v.chosen] ? k : v.chosen;
    }
    if (v.chosen != chosen) {
        const enum status st =
            dynamics_estimate(list->variants[v.chosen].model, set, method, options, &best);
        if (st != STATUS_OK) {
            return st;
        }
    }
    compare_values(&c, &best, axes, &v);
    *fit = best;
    *choice = v;
    return STATUS_OK;
}

void variant_choice_judge(const struct variant_list *list, const struct variant_choice *v,
                          struct dynamics_fit *fit)
{
    const double width = list->variants[v->chosen].model->width;
    const double other = list->variants[v->other].model->width;
    char name[128];
    if (v->other == v->chosen) {
        const bool last = v->chosen == 0 || v->chosen + 1 == v->count;
        estimate_reason(&fit->estimate, REASON_VARIANT_CHOSEN, ESTIMATE_PASS,
                        "%s is %g, of %zu values: all others have larger residuals%s",
                        list->name, width, v->count,
                        last ? "; it is the outermost of them" : "");
        if (last) {
            estimate_advise(&fit->estimate, "let variants of %s go on beyond %g", list->name,
                            width);
        }
        return;
    }
    (void)dynamics_parameter_both(list->variants[0].model, v->moved, name, sizeof name);
    if (v->reach > REACH_MAX) {
        estimate_reason(&fit->estimate, REASON_VARIANT_UNDECIDED, ESTIMATE_MARGINAL,
                        "%s of %g and of %g fit equally well, and with the latter %s would be "
                        "%.4g: the data do not decide",
                        list->name, width, other, name, v->value);
        estimate_advise(
            &fit->estimate,
            "record motion in which %s of %g and of %g differ, or set it under constants",
            list->name, width, other);
    } else {
        estimate_reason(&fit->estimate, REASON_VARIANT_CHOSEN, ESTIMATE_PASS,
                        "%s of %g and of %g fit alike, which makes no difference to values",
                        list->name, width, other);
    }
}
