#include "identification/dynamics/effort_hold.h"

#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_linear.h"

NAMES(effort_hold_names, EFFORT_HOLD_COUNT, "zoh", "linear", "auto");

/* So much less, in root mean square, the means have to leave. */
static const double WORTH_RATIO = 0.98;
/* What acts half a period sooner than told is the mean of this row and the next. */
static const double MEAN_PERIODS = -0.5;

/* What linear leaves by what zoh leaves, into choice, where both can be fitted. */
static enum status compare_holds(const struct model *model, const struct data_set *held,
                                 const struct data_set *means,
                                 const struct dynamics_options *options,
                                 struct effort_choice *choice)
{
    struct dynamics_fit fit[2];
    enum status st = dynamics_linear_fit(model, held, DYNAMICS_WEAK, options, &fit[0]);
    st = st == STATUS_OK ? dynamics_linear_fit(model, means, DYNAMICS_WEAK, options, &fit[1])
                         : st;
    if (st == STATUS_OK && fit[0].residual_sd[0] > 0.0) {
        choice->compared = true;
        choice->left_ratio = fit[1].residual_sd[0] / fit[0].residual_sd[0];
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
    if (asked == EFFORT_HOLD_ZOH || (asked == EFFORT_HOLD_AUTO && !model->sticks)) {
        choice->hold = EFFORT_HOLD_ZOH;
        return STATUS_OK;
    }
    gsl_vector *tau = gsl_vector_alloc(means.axes * means.n);
    if (!tau) {
        return STATUS_E_NOMEM;
    }
    data_view_late(&means, MEAN_PERIODS * means.dt_s, tau->data);
    if (asked == EFFORT_HOLD_AUTO) {
        st = compare_holds(model, &table->set, &means, options, choice);
        choice->hold = choice->compared && choice->left_ratio < WORTH_RATIO ? EFFORT_HOLD_LINEAR
                                                                            : EFFORT_HOLD_ZOH;
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
                        "%.0f %% less of it than the held one (zoh)",
                        100.0 * (1.0 - choice->left_ratio));
    }
}
