/* service/selftest/selftest.h - does identification find what was put in?
 *
 * Recordings of a robot with known parameters, noise, delay and lost rows are written as a
 * table or as a journal, and go the way every recording goes. Over many of them the estimates
 * have to scatter around the truth, and the 95 % intervals have to hold it, as often as chance
 * allows.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_H
#define SERVICE_SELFTEST_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/model/models.h"

/* One parameter over all runs; the last one is the delay. */
struct selftest_parameter {
    char name[64];
    double truth;
    size_t known;    /* runs that gave a value */
    size_t covered;  /* of them, the 95 % interval holds the truth */
    double mean, sd; /* of the estimates */
    double se;       /* their mean standard error */
    /* What chance allows in 999 of 1000 self tests of the model. */
    double bias_z; /* mean error in its own standard errors; Student */
    double bias_z_max;
    size_t covered_min;
    double scatter_ratio_max; /* of sd to se: 3, or what chance allows of few runs */
    bool well;
};

struct selftest_result {
    size_t runs, count;
    size_t verdicts[ESTIMATE_FAIL + 1]; /* of the reports, by enum estimate_verdict */
    bool well; /* every parameter is, and no report says FAIL of such good recordings */
    struct selftest_parameter parameter[DYNAMICS_P_MAX + 1];
    double square_sum[DYNAMICS_P_MAX + 1]; /* of deviations from the mean so far */
};

/* Begin with no run; of a model of motion. */
void selftest_start(const struct model_row *row, struct selftest_result *result);

/* One more run, which depends on seed and its number alone; even ones are tables, odd ones
 * journals. Cold path: allocates. STATUS_E_NOMEM, or what identification says, with err. */
MUST_USE enum status selftest_run(const struct model_row *row, uint64_t seed,
                                  struct selftest_result *result, struct err *err);

/* Hold all against what chance allows; runs >= 2. */
void selftest_judge(struct selftest_result *result);

#endif
