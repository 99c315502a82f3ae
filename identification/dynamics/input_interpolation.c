#include "identification/dynamics/input_interpolation.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/fit/fit_thresholds.def"

NAMES(input_interpolation_names, INPUT_INTERPOLATION_COUNT, "zoh", "linear", "auto");

/* The mean of a row and the next one equals an effort that acts half a period earlier. */
static const double MEAN_PERIODS = -0.5;
/* Ratio of the model's width for this comparison: a wide turn-over of friction compensates
 * for a delay. */
static const double NARROW = 0.3;
/* Number of samples that suffices and is fast. */
enum { PART_SAMPLES = 2000 };
/* An effort that stays for this number of rows, on average, is held. */
enum { HELD_ROWS = 6 };

/* Comparison of a data set with held efforts and one with means, by one estimator. */
struct hold_contest {
    const struct model *model;
    const struct data_set *set[2]; /* held, means */
    const struct dynamics_options *options;
    struct dynamics_fit fit[2];
};

static enum status fit_both(struct hold_contest *c, enum dynamics_method method)
{
    enum status st = STATUS_OK;
    for (size_t k = 0; k < COUNT(c->fit) && st == STATUS_OK; k++) {
        st = dynamics_estimate(c->model, c->set[k], method, c->options, &c->fit[k]);
        if (st == STATUS_OK && c->fit[k].stop == DYNAMICS_STOP_CANCELLED) {
            st = STATUS_E_STALE;
        }
    }
    return st;
}

/* Ratio of the residuals of both, root mean square over all axes. */
static double residual_ratio(const struct hold_contest *c)
{
    double sum = 0.0;
    for (size_t a = 0; a < c->model->axis_count; a++) {
        const double ratio = c->fit[1].residual_sd[a] / c->fit[0].residual_sd[a];
        sum += ratio * ratio / (double)c->model->axis_count;
    }
    return sqrt(sum);
}

static bool explains_motion(const struct hold_contest *c)
{
    bool well = true;
    for (size_t k = 0; k < COUNT(c->fit); k++) {
        const struct data_set *set = c->set[k];
        well = well && c->fit[k].method == DYNAMICS_OUTPUT_ERROR &&
               c->fit[k].stop == DYNAMICS_STOP_CONVERGED;
        for (size_t a = 0; a < set->axes; a++) {
            const double left = c->fit[k].residual_sd[a];
            const double all = gsl_stats_variance(set->nu[a], 1, set->n);
            well = well && left * left <= (1.0 - R2_MARGINAL) * all;
        }
    }
    return well;
}

/* Do the efforts stay for several rows? */
static bool holds_efforts(const struct data_set *set)
{
    size_t changes = 0;
    for (size_t k = 1; k < set->n; k++) {
        bool changed = false;
        for (size_t a = 0; a < set->axes; a++) {
            changed = changed || fabs(set->tau[a][k] - set->tau[a][k - 1]) > 0.0;
        }
        changes += changed ? 1 : 0;
    }
    return changes * HELD_ROWS <= set->n;
}

/* Decides between two simulations that explain the motion. Acting half a period earlier
 * looks like a delay that is half a period shorter. If nothing else distinguishes them,
 * efforts are held, unless they would then act before they were given. */
static bool means_act(const struct hold_contest *c, size_t samples)
{
    const struct dynamics_fit *held = &c->fit[0];
    const double for_means =
        -2.0 * (double)(samples * c->model->axis_count) * log(residual_ratio(c));
    /* A lag, or held efforts that change between rows, make means fit better, but leave colour.
     */
    if ((c->model->channels || holds_efforts(c->set[0])) && c->fit[1].hac_share > 0.0) {
        return false;
    }
    return for_means > DECIDED ||
           (for_means > -DECIDED && held->delay_s < -SOONER_ERRORS * held->delay_se_s);
}

/* Compares the best simulation of each form, because a weak form confuses noise with late
 * efforts. For a joint that sticks, possibly with a controller, slow friction and a delay
 * both look late too, so they are excluded. */
static enum status compare_simulated(const struct model *model, const struct data_set *held,
                                     const struct data_set *means,
                                     const struct dynamics_options *options,
                                     struct interpolation_choice *choice)
{
    size_t from = 0;
    const struct data_set part = data_view_busiest(held, PART_SAMPLES, &from);
    struct data_set same = part;
    struct model narrow = *model;
    struct dynamics_options plain = *options;
    struct hold_contest c = {&narrow, {&part, &same}, &plain, {{.n = 0}, {.n = 0}}};
    if (model->sticks) {
        narrow.width *= NARROW;
        plain.delay_max_s = 0.0;
    }
    plain.from_rest = options->from_rest && from == 0;
    plain.skip_causes = true;
    for (size_t a = 0; a < part.axes; a++) {
        same.tau[a] = means->tau[a] + from;
    }
    const enum status st = fit_both(&c, DYNAMICS_OUTPUT_ERROR);
    if (st == STATUS_OK && explains_motion(&c)) {
        choice->compared = true;
        choice->residual_ratio = residual_ratio(&c);
        choice->hold =
            means_act(&c, part.n) ? INPUT_INTERPOLATION_LINEAR : INPUT_INTERPOLATION_ZOH;
    }
    return st;
}

/* Computes the ratio of the residuals with means to those with held efforts, if both can be
 * fitted. */
static enum status compare_holds(const struct model *model, const struct data_set *held,
                                 const struct data_set *means,
                                 const struct dynamics_options *options,
                                 struct interpolation_choice *choice)
{
    struct hold_contest c = {model, {held, means}, options, {{.n = 0}, {.n = 0}}};
    enum status st = compare_simulated(model, held, means, options, choice);
    if (st == STATUS_E_NOMEM || st == STATUS_E_STALE || choice->compared) {
        return st;
    }
    st = fit_both(&c, DYNAMICS_WEAK);
    const double ratio = st == STATUS_OK ? residual_ratio(&c) : (double)NAN;
    if (isfinite(ratio)) {
        choice->compared = true;
        choice->residual_ratio = ratio;
        choice->hold =
            ratio < WEAK_RATIO ? INPUT_INTERPOLATION_LINEAR : INPUT_INTERPOLATION_ZOH;
    }
    return st == STATUS_E_NOMEM ? st : STATUS_OK;
}

enum status input_interpolation_choose(const struct model *model, struct data_table *table,
                                       const struct dynamics_options *options,
                                       enum input_interpolation asked,
                                       struct interpolation_choice *choice)
{
    struct data_set means = table->set;
    enum status st = STATUS_OK;
    *choice = (struct interpolation_choice){.hold = asked};
    /* Commands with times of their own are known between rows. */
    const bool known = asked == INPUT_INTERPOLATION_AUTO && table->set.commands.count > 0;
    if (asked == INPUT_INTERPOLATION_ZOH || known) {
        choice->hold = INPUT_INTERPOLATION_ZOH;
        return STATUS_OK;
    }
    gsl_vector *tau = gsl_vector_alloc(means.axes * means.n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    data_view_delay(&means, MEAN_PERIODS * means.dt_s, tau->data);
    memset(means.recorded, 0, sizeof means.recorded); /* the mean acts over the whole period */
    if (asked == INPUT_INTERPOLATION_AUTO) {
        choice->hold = INPUT_INTERPOLATION_ZOH;
        st = compare_holds(model, &table->set, &means, options, choice);
    }
    const bool chosen = st == STATUS_OK && choice->hold == INPUT_INTERPOLATION_LINEAR;
    table->set.commands.count = chosen ? 0 : table->set.commands.count;
    for (size_t i = 0; i < 2 && chosen; i++) {
        table->set.phase_s[i] +=
            MEAN_PERIODS * table->set.phase_s[1]; /* half a row either way */
    }
    for (size_t a = 0; a < means.axes && chosen; a++) {
        const ptrdiff_t at = table->set.tau[a] - table->memory->data;
        memcpy(table->memory->data + at, means.tau[a], means.n * sizeof(double));
    }
    gsl_vector_free(tau);
    return st;
}

void input_interpolation_report(struct dynamics_fit *fit,
                                const struct interpolation_choice *choice)
{
    if (choice->compared && choice->hold == INPUT_INTERPOLATION_LINEAR) {
        estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "between two rows the effort acts as their mean (linear): residuals "
                        "are %.2g %% smaller than with a held effort (zoh)",
                        100.0 * (1.0 - choice->residual_ratio));
    }
}
