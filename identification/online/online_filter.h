/* identification/online/online_filter.h - parameters of dynamics followed sample by sample.
 *
 * An extended Kalman filter of velocities and parameters together (docs/model/online.md). A
 * sample that would mislead it is passed over, and counted by its reason; a parameter that the
 * motion does not show stands still. Beside it runs a test of the parameters held at reference
 * values: sums of likelihood ratios, which tell when one of them became another.
 *
 * Plain data without pointers. Pure: no clock, no allocation, fixed cost (docs/benchmarks.md).
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_FILTER_H
#define IDENTIFICATION_ONLINE_ONLINE_FILTER_H

#include "identification/online/online_state.h"

/* Everything forgotten, counters too. */
void online_filter_reset(struct online_filter *f, const struct model *model,
                         const struct online_params *p);

/* Begin from here; the values are the reference against which drift is held. False, with the
 * filter as it was, when the values are not finite or not those of anything physical. */
bool online_filter_start(struct online_filter *f, const struct model *model,
                         const struct online_start *start);

/* The robot's clock was set, or it started anew: the next sample follows none. */
void online_filter_cut(struct online_filter *f);

/* What acts until the next sample is not what the last one told: a robot that answers late. */
void online_filter_hold(struct online_filter *f, const double *tau);

/* One sample. Returns what became of it; counts it. Sets *drift, and *drifted to true, when a
 * change is certain; *drifted is written always. */
enum online_gate online_filter_step(struct online_filter *f, const struct model *model,
                                    const struct online_params *p,
                                    const struct online_sample *sample, bool *drifted,
                                    struct online_drift *drift);

/* Count a sample that somebody else passed over. */
void online_filter_pass_over(struct online_filter *f, enum online_gate gate);

/* Are the innovations as large as they should be, and white? False while too few. */
bool online_filter_consistent(const struct online_filter *f);

#endif
