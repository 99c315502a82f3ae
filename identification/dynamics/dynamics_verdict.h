/* identification/dynamics/dynamics_verdict.h - what the data card and the checks say of a fit
 * of dynamics, in words (docs/model/identification.md, "Verdict"). Pure.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_VERDICT_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_VERDICT_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/fit/dynamics_fit.h"

/* Add to the verdict what the data card and the checks say. limits NULL: values and times are
 * taken as they are, whatever their size. held_out may be NULL. */
void dynamics_check_judge(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct model_limits *limits,
                          const struct dynamics_check *own,
                          const struct dynamics_check *held_out);

#endif
