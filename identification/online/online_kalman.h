/* identification/online/online_kalman.h - the extended Kalman filter inside the online filter.
 *
 * Velocities and parameters go on by one sample period, and learn from one measured axis after
 * the other (docs/model/online.md). What becomes of a sample, the online filter decides.
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_KALMAN_H
#define IDENTIFICATION_ONLINE_ONLINE_KALMAN_H

#include "identification/online/online_state.h"

/* Over how many samples innovations are judged. */
enum { ONLINE_JUDGE_SAMPLES = 100 };

/* State and covariance h_s later, under the effort that acts; and, at the same velocities,
 * their sensitivities and what the reference would have done. */
void online_kalman_predict(struct online_filter *f, const struct model *model,
                           const struct online_params *p, double h_s);

/* The state is seen to be e away at entry c, with this variance in all: velocities always
 * learn, parameters where learns[f->p] says so. gain is written. */
void online_kalman_absorb(struct online_filter *f, size_t c, double e, double variance,
                          const bool *learns, double gain[ONLINE_STATES_MAX]);

/* Axis i was measured e away from the prediction: the parameters that are excited learn. */
void online_kalman_learn(struct online_filter *f, size_t i, double e, double variance);

/* Noise from how large innovations are, disturbance from whether they follow each other, and,
 * where it makes most of them, from whether they are far too small. */
void online_kalman_adapt(struct online_filter *f, const struct online_params *p, size_t i,
                         double e, double variance, double h_s);

/* Parameters whose sign cannot be are put back to their bounds. */
void online_kalman_hold(struct online_filter *f, const struct model *model);

/* Are the last innovations as large as they should be, and white? */
bool online_kalman_consistent(const struct online_filter *f);

#endif
