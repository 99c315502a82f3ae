/* identification/dynamics_check.h - a fit of dynamics held against recordings.
 *
 * One step ahead nearly every model looks well; simulated over the whole recording is what
 * counts (docs/model/identification.md, section 5). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_CHECK_H
#define IDENTIFICATION_DYNAMICS_CHECK_H

#include <stdbool.h>

#include "identification/data_set.h"
#include "identification/dynamics_fit.h"
#include "identification/simulation.h"
#include "twin/base/status.h"

struct dynamics_check {
    bool simulated; /* else the model could not be, and nothing below is valid */
    struct simulation_score run[MODEL_AXES_MAX];      /* from the first sample of each run */
    struct simulation_score one_step[MODEL_AXES_MAX]; /* from each sample to the next */
    struct residual_report residual[MODEL_AXES_MAX];  /* of run */
};

/* Simulate the fit on a set. Returns STATUS_E_NOMEM with *check untouched, else STATUS_OK. */
MUST_USE enum status dynamics_check_run(const struct model *model,
                                        const struct dynamics_fit *fit,
                                        const struct data_set *set,
                                        struct dynamics_check *check);

/* Speeds beyond these are in another unit. */
struct dynamics_limits {
    double nu_max[MODEL_AXES_MAX]; /* 0: any */
};

/* Add to the verdict what the data card and the checks say; held_out may be NULL. */
void dynamics_check_judge(struct dynamics_fit *fit, const struct model *model,
                          const struct data_card *card, const struct dynamics_limits *limits,
                          const struct dynamics_check *own,
                          const struct dynamics_check *held_out);

#endif
