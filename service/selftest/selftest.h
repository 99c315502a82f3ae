/* service/selftest/selftest.h - tests whether identification finds known parameters.
 *
 * Recordings of a simulated robot with known parameters, noise, delay and lost rows are written
 * as a table or a journal, and read like every recording. Over many of them the estimates must
 * scatter around the truth, and the 95 % intervals must contain it, within what chance allows.
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
    size_t covered;  /* of these, runs whose 95 % interval contains the truth */
    double mean, sd; /* mean and standard deviation of the estimates */
    double se;       /* their mean standard error */
    /* Limits that hold in 999 of 1000 self tests of the model. */
    double bias_z; /* mean error in its own standard errors; Student's t */
    double bias_z_max;
    size_t covered_min;
    /* largest ratio of sd to se: 3, or what chance allows for few runs */
    double scatter_ratio_max;
    bool well;
};

struct selftest_result {
    size_t runs, count;
    size_t verdicts[ESTIMATE_FAIL + 1]; /* counts of reports, by enum estimate_verdict */
    bool well;                          /* every parameter is well, and no report says FAIL */
    struct selftest_parameter parameter[DYNAMICS_P_MAX + 1];
    double square_sum[DYNAMICS_P_MAX + 1]; /* sums of squared deviations from the mean so far */
};

/* Begin without runs, for a model of motion. */
void selftest_start(const struct model_row *row, struct selftest_result *result);

/* Do one run, which depends only on seed and its number; even ones are tables, odd ones
 * journals. Cold path: allocates. STATUS_E_NOMEM, or an error of identification, with err. */
MUST_USE enum status selftest_run(const struct model_row *row, uint64_t seed,
                                  struct selftest_result *result, struct err *err);

/* Compare all results with what chance allows; runs >= 2. */
void selftest_judge(struct selftest_result *result);

#endif
