/* service/selftest/selftest_scenarios.h - tests whether the reports of `tandem identify` are
 * true.
 *
 * Some scenarios follow the model; others do not: a falling gain, a clipped command, laps in
 * milliseconds. Reports on the first kind must say PASS with intervals that contain the truth.
 * Reports on the second must not say PASS (docs/model/trust.md).
 */
#ifndef SERVICE_SELFTEST_SELFTEST_SCENARIOS_H
#define SERVICE_SELFTEST_SELFTEST_SCENARIOS_H

#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "service/selftest/selftest_recording.h"

enum { SELFTEST_P_MAX = 40 };

struct selftest_scenario_result {
    size_t runs, count; /* parameters */
    size_t verdicts[ESTIMATE_VERDICTS];
    size_t refused; /* recordings that could not be read or fitted */
    /* by parameter: judged runs whose 95 % interval contains the truth */
    size_t covered[SELFTEST_P_MAX];
    size_t named;  /* reports with the scenario's code, of those that must have it */
    size_t warned; /* PASS with the note of what is not excluded */
    /* verdicts that the claim forbids; CLAIM_HELD forbids none */
    size_t wrong;
    size_t wrong_most; /* largest count by chance, in 999 of 1000 self tests */
    bool well;
};

extern const struct selftest_scenario selftest_scenarios[];
extern const size_t selftest_scenario_count;

/* Do one more recording, by the seed and its number. A recording that is refused is no PASS.
 * STATUS_E_NOMEM with err. */
MUST_USE enum status selftest_scenario_run(const struct selftest_scenario *scenario,
                                           uint64_t seed,
                                           struct selftest_scenario_result *result,
                                           struct err *err);

/* Returns how many reports must have the scenario's code. */
size_t selftest_scenario_noticed(const struct selftest_scenario *scenario,
                                 const struct selftest_scenario_result *result);

/* Returns the number of reports whose intervals must contain the truth. */
size_t selftest_scenario_judged(const struct selftest_scenario *scenario,
                                const struct selftest_scenario_result *result);

/* Compare with chance: a wrong scenario may pass in 1 % of the recordings, a right one may fail
 * in 5 %, and intervals contain the truth in 93 to 97 %. If a wrong one may pass more often,
 * each PASS has the note of what is not excluded. */
void selftest_scenario_judge(const struct selftest_scenario *scenario,
                             struct selftest_scenario_result *result);

ENUM_NAMES_DECLARED(selftest_claim); /* "right" "held" "wrong" */

#endif
