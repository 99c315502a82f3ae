/* identification/dynamics/dynamics_verdict.h - verdict on a fit of dynamics, from the data
 * summary and the checks (docs/model/identification.md, "Verdict"). Pure.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_VERDICT_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_VERDICT_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/fit/dynamics_fit.h"

/* Adds the findings of the data summary and of the checks to the verdict. limits NULL:
 * values and times are not checked for plausibility. held_out may be NULL. */
void dynamics_check_judge(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct model_limits *limits,
                          const struct dynamics_check *own,
                          const struct dynamics_check *held_out);

/* Adds to a PASS what was tried, and the smallest change that would have been seen. */
void dynamics_note_tried(struct dynamics_fit *fit, const struct model *model,
                         const struct dynamics_check *own, bool held_out);

#endif
