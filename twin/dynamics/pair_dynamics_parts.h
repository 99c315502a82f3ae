/* twin/dynamics/pair_dynamics_parts.h - private to the files of a pair's dynamics.
 *
 * pair_dynamics.c has the window and checks that telemetry fits the model, pair_dynamics_step.c
 * applies samples, runs fits and makes parameter sets of them, pair_dynamics_drift.c finds what
 * changed. Pure.
 */
#ifndef TWIN_DYNAMICS_PAIR_DYNAMICS_PARTS_H
#define TWIN_DYNAMICS_PAIR_DYNAMICS_PARTS_H

#include "twin/dynamics/pair_dynamics.h"

/* ---- pair_dynamics.c ---- */

/* Separates the next sample from the previous ones. */
void pair_dynamics_cut(struct dynamics_side *side);
/* Stores one sample with an effort, newer than the last, in the window. */
void pair_dynamics_store(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                         enum side side, const struct online_sample *sample);
void pair_dynamics_drop_before(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                               enum side side, int64_t t_us);
int64_t pair_dynamics_span_us(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                              enum side side);
/* Copies the window, oldest first, for a fit. */
void pair_dynamics_freeze(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                          enum side side);

/* Reads the run's telemetry on the model's axes; misfits are dropped and counted. Raises an
 * alarm once if too many samples do not fit. */
void pair_dynamics_check_shape(struct pair_dynamics *d, const struct pair_run *run,
                               struct online_sample *sample);

/* ---- pair_dynamics_drift.c ---- */

/* Makes a filter's estimates the reference: values with these standard errors, or with the
 * filter's own covariance if se is NULL. */
void pair_dynamics_refer_filter(const struct online_filter *f, const double *theta,
                                const double *se, struct dynamics_reference *out);

/* Handles a change against the reference that the filter found. */
void pair_dynamics_report_drift(struct pair_dynamics *d, const struct pair_run *run,
                                enum side side, const struct online_drift *drift,
                                const struct dynamics_reference *before);
/* Compares a fit that failed no check with the reference. */
void pair_dynamics_compare(struct pair_dynamics *d, const struct pair_run *run, enum side side);

#endif
