/* identification/dynamics/dynamics_options.h - what may be asked of a fit of dynamics. Plain
 * data.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_OPTIONS_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"

struct dynamics_options {
    bool biases;    /* also a constant effort per axis */
    bool pooled;    /* weak, weak_iv: equations of all axes weigh alike, N as much as N m, as
                     * they always do with derivatives; else each axis by the inverse of its
                     * residual variance */
    bool from_rest; /* runs begin at rest; else at what was measured first */
    bool robust;    /* dynamics_estimate(): samples far from what the others say are replaced
                     * first (outlier_samples.h), and counted */
    double half_width_s;  /* of the window of the weak form; 0: chosen, 2 at most */
    double stride_s;      /* from window to window; 0: a quarter of half_width_s */
    size_t sg_window;     /* samples, odd, 5 .. 101; 0: about half_width_s as chosen */
    size_t sg_order;      /* 1 .. 6, below sg_window; 4, less in windows below 9 */
    size_t iv_iterations; /* 1 .. 50; 3 */
    /* weak_iv: [p] values, all finite, that the first instruments are simulated with, and that
     * are so near the truth that they may stay the last. NULL: those of weak. */
    const double *iv_start;
    double hac_s; /* derivatives: reach of the correlation allowed for; 5 */
    /* Linear methods: added to the squared length of every column, as a share of it, which
     * draws estimates to zero and gives a value to what the data leave free. >= 0; 0: none. */
    double ridge;
    /* Methods that simulate: how late velocities may answer efforts; early by a period or 20
     * ms, if that is not more. 0: no delay is sought; NaN: chosen from sampling time and length
     * of the runs. */
    double delay_max_s;
    bool asked_load; /* weak: friction by load takes the size of what the motion asks for in
                      * place of the measured effort: to test whether there is any, not how much
                      */
    double reach_s;  /* weak form: the same, beyond the windows' own; >= 0; 0 */
    /* Asked before every iteration of the methods that simulate (stage: output_error, pem), and
     * within one every few thousand samples; false ends the fit where it stands, with the stop
     * CANCELLED. NULL: never asked. */
    bool (*go_on)(void *context, enum dynamics_method stage, size_t iteration);
    void *context;
};

struct dynamics_options dynamics_options_defaults(void);

/* What the recording asks for in place of what is to be chosen: windows three times as wide, to
 * either side, as the motion takes to half forget itself (data_view.h), from 4 samples to 2 s
 * and no more than an eighth of a run. */
struct dynamics_options dynamics_options_chosen(const struct data_set *set,
                                                const struct dynamics_options *options);

/* The same with windows that suit the model's motion (model->window_s), and with a reach of ten
 * of them. */
struct dynamics_options dynamics_options_for(const struct model *model);

#endif
