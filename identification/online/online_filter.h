/* identification/online/online_filter.h - online estimation of dynamics, sample by sample.
 *
 * An extended Kalman filter estimates velocities and parameters together
 * (docs/model/online.md). Misleading samples are rejected and counted by reason. Parameters
 * that the motion does not excite stay constant. In parallel, likelihood-ratio tests at
 * reference values detect changes of a parameter.
 *
 * Plain data without pointers. Pure: no clock, no allocation, fixed cost (docs/benchmarks.md).
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_FILTER_H
#define IDENTIFICATION_ONLINE_ONLINE_FILTER_H

#include "identification/online/online_state.h"

/* Clears everything, including the counters. */
void online_filter_reset(struct online_filter *f, const struct model *model,
                         const struct online_params *p);

/* Starts the filter. The values are also the reference of the drift test. Returns false,
 * with the filter unchanged, if the values are not finite or not physical. */
bool online_filter_start(struct online_filter *f, const struct model *model,
                         const struct online_start *start);

/* Call it after the robot's clock was set or the robot restarted: the next sample has no
 * predecessor. */
void online_filter_cut(struct online_filter *f);

/* Sets the effort until the next sample, for a robot that acts late; it replaces that of the
 * last sample. */
void online_filter_hold(struct online_filter *f, const double *tau);

/* Processes one sample, counts it, and returns its fate. If a change is certain, sets *drift
 * and *drifted to true; otherwise *drifted is set to false. */
enum online_gate online_filter_step(struct online_filter *f, const struct model *model,
                                    const struct online_params *p,
                                    const struct online_sample *sample, bool *drifted,
                                    struct online_drift *drift);

/* Counts a sample that the caller rejected. */
void online_filter_pass_over(struct online_filter *f, enum online_gate gate);

/* Returns whether the innovations are white and have the expected size. False while there
 * are too few. */
bool online_filter_consistent(const struct online_filter *f);

#endif
