#include "identification/dynamics/effort_hold.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_estimate.h"

NAMES(effort_hold_names, EFFORT_HOLD_COUNT, "zoh", "linear", "auto");

/* So much less the means have to leave, in root mean square: of a weak form, and of a
 * simulation, in which nothing but noise is left beside. */
static const double WEAK_RATIO = 0.98;
static const double SIMULATED_RATIO = 0.998;
/* What acts half a period sooner than told is the mean of this row and the next. */
static const double MEAN_PERIODS = -0.5;
/* Friction that turns over within this share of the model's width: a wide turn-over makes up
 * for a part of what is late. */
static const double NARROW = 0.3;
/* A simulation that explains less of the velocity strays for other reasons. */
static const double R2_MIN = 0.7;
/* Enough to tell, and soon done. */
enum { PART_SAMPLES = 2000 };

/* What is told of a set held as told and of means, by one estimator. */
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
    }
    return st;
}

/* Of both, over all axes. */
static double left_ratio(const struct hold_contest *c)
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
            well = well && left * left <= (1.0 - R2_MIN) * all;
        }
    }
    return well;
}

/* Joints in the loop of a controller: a weak form does not tell late efforts from friction that
 * turns over, a simulation without a delay does. False where it explains too little. */
static enum status compare_simulated(const struct model *model, const struct data_set *held,
                                     const struct data_set *means,
                                     const struct dynamics_options *options,
                                     struct effort_choice *choice)
{
    size_t from = 0;
    const struct data_set part = data_view_busiest(held, PART_SAMPLES, &from);
    struct data_set same = part;
    struct model narrow = *model;
    struct dynamics_options plain = *options;
    struct hold_contest c = {&narrow, {&part, &same}, &plain, {{.n = 0}, {.n = 0}}};
    narrow.width *= NARROW;
    plain.delay_max_s = 0.0;
    plain.from_rest = options->from_rest && from == 0;
    for (size_t a = 0; a < part.axes; a++) {
        same.tau[a] = means->tau[a] + from;
    }
    const enum status st = fit_both(&c, DYNAMICS_OUTPUT_ERROR);
    if (st == STATUS_OK && explains_motion(&c)) {
        choice->compared = true;
        choice->left_ratio = left_ratio(&c);
        choice->hold =
            choice->left_ratio < SIMULATED_RATIO ? EFFORT_HOLD_LINEAR : EFFORT_HOLD_ZOH;
    }
    return st;
}

/* What the means leave by what held efforts leave, where both can be fitted. */
static enum status compare_holds(const struct model *model, const struct data_set *held,
                                 const struct data_set *means,
                                 const struct dynamics_options *options,
                                 struct effort_choice *choice)
{
    struct hold_contest c = {model, {held, means}, options, {{.n = 0}, {.n = 0}}};
    enum status st =
        model->sticks ? compare_simulated(model, held, means, options, choice) : STATUS_OK;
    if (st == STATUS_E_NOMEM || choice->compared) {
        return st;
    }
    st = fit_both(&c, DYNAMICS_WEAK);
    const double ratio = st == STATUS_OK ? left_ratio(&c) : (double)NAN;
    if (isfinite(ratio)) {
        choice->compared = true;
        choice->left_ratio = ratio;
        choice->hold = ratio < WEAK_RATIO ? EFFORT_HOLD_LINEAR : EFFORT_HOLD_ZOH;
    }
    return st == STATUS_E_NOMEM ? st : STATUS_OK;
}

enum status effort_hold_take(const struct model *model, struct data_table *table,
                             const struct dynamics_options *options, enum effort_hold asked,
                             struct effort_choice *choice)
{
    struct data_set means = table->set;
    enum status st = STATUS_OK;
    *choice = (struct effort_choice){.hold = asked};
    if (asked == EFFORT_HOLD_ZOH) {
        return STATUS_OK;
    }
    gsl_vector *tau = gsl_vector_alloc(means.axes * means.n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    data_view_late(&means, MEAN_PERIODS * means.dt_s, tau->data);
    memset(means.told, 0, sizeof means.told); /* their mean is what acts */
    if (asked == EFFORT_HOLD_AUTO) {
        choice->hold = EFFORT_HOLD_ZOH;
        st = compare_holds(model, &table->set, &means, options, choice);
    }
    for (size_t a = 0; a < means.axes && st == STATUS_OK && choice->hold == EFFORT_HOLD_LINEAR;
         a++) {
        const ptrdiff_t at = table->set.tau[a] - table->memory->data;
        memcpy(table->memory->data + at, means.tau[a], means.n * sizeof(double));
    }
    gsl_vector_free(tau);
    return st;
}

void effort_hold_tell(struct dynamics_fit *fit, const struct effort_choice *choice)
{
    if (choice->compared && choice->hold == EFFORT_HOLD_LINEAR) {
        estimate_reason(&fit->estimate, ESTIMATE_PASS,
                        "between two rows the effort acts as their mean (linear): that leaves "
                        "%.2g %% less unexplained than the held one (zoh)",
                        100.0 * (1.0 - choice->left_ratio));
    }
}
