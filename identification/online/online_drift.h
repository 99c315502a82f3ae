/* identification/online/online_drift.h - the online filter's test for parameters that became
 * others.
 *
 * Sums of log likelihood ratios against the reference raise a suspicion; then the parameters
 * may move freely for a while, and where they come to rest confirms it or not
 * (docs/model/online.md).
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_DRIFT_H
#define IDENTIFICATION_ONLINE_ONLINE_DRIFT_H

#include "identification/online/online_state.h"

/* What a sample adds to the test of the parameters at their reference. */
struct online_evidence {
    double score[DYNAMICS_P_MAX], information[DYNAMICS_P_MAX];
};

/* Add what axis i says, measured e away from the prediction, with this variance in all; before
 * the filter learns from it. */
void online_drift_weigh(const struct online_filter *f, size_t i, double e, double variance,
                        struct online_evidence *out);

/* After a sample was taken in, h_s after the one before. True, with *drift set and the
 * reference moved, when a change is certain. */
bool online_drift_watch(struct online_filter *f, const struct online_params *p,
                        const struct online_evidence *evidence, double h_s,
                        struct online_drift *drift);

#endif
