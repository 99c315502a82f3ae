/* twin/dynamics/pair_dynamics_parts.h - what the files of a pair's dynamics share; nobody else
 * includes it.
 *
 * pair_dynamics.c keeps the window and sees whether telemetry fits the model,
 * pair_dynamics_step.c takes samples, starts fits, takes their ends and makes parameter sets of
 * them, pair_dynamics_drift.c tells what changed. Pure.
 */
#ifndef TWIN_DYNAMICS_PAIR_DYNAMICS_PARTS_H
#define TWIN_DYNAMICS_PAIR_DYNAMICS_PARTS_H

#include "twin/dynamics/pair_dynamics.h"

/* ---- pair_dynamics.c ---- */

/* What comes next follows no sample. */
void pair_dynamics_cut(struct dynamics_side *side);
/* One sample with an effort, younger than the one before, into the window. */
void pair_dynamics_store(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                         enum side side, const struct online_sample *sample);
void pair_dynamics_drop_before(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                               enum side side, int64_t t_us);
int64_t pair_dynamics_span_us(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                              enum side side);
/* Copy the window, oldest first, for a fit. */
void pair_dynamics_freeze(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                          enum side side);

/* The numbers of the run's telemetry on the model's axes; those that do not fit are left out,
 * and remembered. An alarm, once, where samples keep not fitting. */
void pair_dynamics_check_shape(struct pair_dynamics *d, const struct pair_run *run,
                               struct online_sample *sample);

/* ---- pair_dynamics_drift.c ---- */

/* What a filter knows, to be held against: values with these standard errors, or, where se is
 * NULL, with its own covariance. */
void pair_dynamics_refer_filter(const struct online_filter *f, const double *theta,
                                const double *se, struct dynamics_reference *out);

/* The filter found a change of what it was held against before. */
void pair_dynamics_report_drift(struct pair_dynamics *d, const struct pair_run *run,
                                enum side side, const struct online_drift *drift,
                                const struct dynamics_reference *before);
/* A fit has ended that failed no check: held against those before. */
void pair_dynamics_compare(struct pair_dynamics *d, const struct pair_run *run, enum side side);

#endif
