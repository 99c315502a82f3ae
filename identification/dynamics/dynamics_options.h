/* identification/dynamics/dynamics_options.h - options of a fit of dynamics. Plain data.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_OPTIONS_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/data/trajectory.h"
#include "identification/fit/dynamics_fit.h"

struct dynamics_options {
    bool biases; /* also fit a constant effort per axis */
    /* weak, weak_iv: equal weights for the equations of all axes, N as much as N m;
     * derivatives always use them. Otherwise each axis has its inverse residual variance as
     * weight. */
    bool pooled;
    bool from_rest; /* runs begin at rest; otherwise at the first measured velocity */
    /* dynamics_estimate(): outliers are replaced first (outlier_samples.h), and counted */
    bool robust;
    double half_width_s;  /* half width of the weak form's window; 0: chosen, at most 2 */
    double stride_s;      /* distance of windows; 0: a quarter of half_width_s */
    size_t sg_window;     /* samples, odd, 5 .. 101; 0: about half_width_s as chosen */
    size_t sg_order;      /* 1 .. 6, below sg_window; default 4, less for windows below 9 */
    size_t iv_iterations; /* 1 .. 50; default 3 */
    /* weak_iv: [p] finite values for the simulation of the first instruments. They must be
     * near the truth, because these instruments may also be the last. NULL: values of weak. */
    const double *iv_start;
    /* derivatives: reach of the autocorrelation that errors allow for; default 5 */
    double hac_s;
    /* Linear methods: share of each column's squared length that is added to it. It shrinks
     * estimates towards zero and gives values to parameters that the data do not determine.
     * >= 0; 0: none. */
    double ridge;
    /* Methods that simulate: largest delay of velocities after efforts, s. The delay may
     * also be negative by 1.5 periods or 20 ms, if that is not more. 0: no delay; NaN: chosen
     * from sampling time and length of the runs. */
    double delay_max_s;
    /* weak: friction by load uses the effort that the motion requires instead of the
     * measured effort. It tests whether there is such friction, not how much. */
    bool asked_load;
    bool skip_causes; /* no search for effects that explain coloured residuals */
    double reach_s; /* weak form: additional reach of the autocorrelation, s; >= 0; default 0 */
    /* Integration steps that all simulations of this call may take together. NULL: no limit. */
    struct step_budget *budget;
    /* Called before every iteration of the methods that simulate (stage: output_error, pem),
     * and every few thousand samples within one. False stops the fit with
     * DYNAMICS_STOP_CANCELLED. NULL: not called. */
    bool (*go_on)(void *context, enum dynamics_method stage, size_t iteration);
    void *context;
};

/* Returns a budget of integration steps for all simulations of a fit of this recording. */
struct step_budget dynamics_options_budget(const struct data_set *set);

struct dynamics_options dynamics_options_defaults(void);

/* Fills in the values that are chosen from the recording. Windows reach three times the
 * motion's correlation time to either side (data_view.h), from 4 samples to 2 s, and at most
 * an eighth of a run. */
struct dynamics_options dynamics_options_chosen(const struct data_set *set,
                                                const struct dynamics_options *options);

/* Options with windows that suit the model's motion (model->window_s), and with a reach of
 * ten windows. */
struct dynamics_options dynamics_options_for(const struct model *model);

#endif
