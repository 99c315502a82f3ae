/* service/selftest/selftest_scenarios.h - is what `tandem identify` says of a recording true?
 *
 * Recordings of worlds that the model has, and of others: a gain that falls, a command that is
 * clipped, laps in milliseconds. Of the first the verdict has to be PASS and the intervals have
 * to hold the truth, of the others it must not be PASS (docs/model/trust.md).
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
    size_t refused;                 /* recordings that could not be read or fitted at all */
    size_t covered[SELFTEST_P_MAX]; /* by parameter: the 95 % interval holds the truth */
    size_t wrong;                   /* verdicts that the claim forbids; of CLAIM_HELD none is */
    size_t wrong_most;              /* that chance allows, in 999 of 1000 self tests */
    bool well;
};

extern const struct selftest_scenario selftest_scenarios[];
extern const size_t selftest_scenario_count;

/* One more recording, by the seed and its number. A recording that is refused is no PASS.
 * STATUS_E_NOMEM with err. */
MUST_USE enum status selftest_scenario_run(const struct selftest_scenario *scenario,
                                           uint64_t seed,
                                           struct selftest_scenario_result *result,
                                           struct err *err);

/* Against chance: a wrong world may pass in 1 % of the recordings, a right one not in 5 %, and
 * the intervals hold the truth in 93 to 97 %. */
void selftest_scenario_judge(const struct selftest_scenario *scenario,
                             struct selftest_scenario_result *result);

extern const struct names selftest_claim_names;
const char *selftest_claim_name(enum selftest_claim claim); /* "right" "held" "wrong" */

#endif
