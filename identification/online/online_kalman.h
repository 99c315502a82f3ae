/* identification/online/online_kalman.h - extended Kalman filter of the online filter.
 *
 * It predicts velocities and parameters over a sample period and updates them with one measured
 * axis after the other (docs/model/online.md). The online filter decides which samples are
 * used.
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_KALMAN_H
#define IDENTIFICATION_ONLINE_ONLINE_KALMAN_H

#include "identification/online/online_state.h"

/* Number of samples over which innovations are judged. */
enum { ONLINE_JUDGE_SAMPLES = 100 };

/* Predicts state and covariance h_s later under the present effort. Also propagates their
 * sensitivities and the reference's prediction. */
void online_kalman_predict(struct online_filter *f, const struct model *model,
                           const struct online_params *p, double h_s);

/* Updates the state with a deviation e of entry c and its total variance. Velocities are
 * always updated, parameters where learns[f->p] is true. Writes gain. */
void online_kalman_absorb(struct online_filter *f, size_t c, double e, double variance,
                          const bool *learns, double gain[ONLINE_STATES_MAX]);

/* Updates the state with the innovation e of axis i. Only excited parameters change. */
void online_kalman_learn(struct online_filter *f, size_t i, double e, double variance);

/* Adapts the variances: noise to the size of the innovations, and the disturbance to their
 * autocorrelation. If the disturbance causes most of the variance, far too small innovations
 * reduce it too. */
void online_kalman_adapt(struct online_filter *f, const struct online_params *p, size_t i,
                         double e, double variance, double h_s);

/* Raises the noise of an axis whose samples lie outside of the gate again and again: it is larger
 * than assumed. */
void online_kalman_widen(struct online_filter *f, size_t i);

/* Moves parameters of an impossible sign to their bounds. */
void online_kalman_hold(struct online_filter *f, const struct model *model);

/* Returns whether the last innovations are white and have the expected size. */
bool online_kalman_consistent(const struct online_filter *f);

#endif
