/* identification/data/channel_match.h - which measured channel follows which command.
 *
 * Each channel is compared with each command behind one lag and one delay. Exchanged columns,
 * wrong signs and wheel speeds in place of speed and turn show before any model is fitted
 * (docs/model/identification.md, "Columns"). Pure: no I/O, no clock; allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_CHANNEL_MATCH_H
#define IDENTIFICATION_DATA_CHANNEL_MATCH_H

#include "identification/data/data_set.h"

enum channel_match_verdict {
    CHANNEL_MATCH_AS_NAMED,
    CHANNEL_MATCH_EXCHANGED,
    CHANNEL_MATCH_MIXED, /* each channel follows several commands */
    CHANNEL_MATCH_SIGN
};

struct channel_match {
    double r2[MODEL_AXES_MAX][MODEL_AXES_MAX]; /* of command i and channel j */
    double gain[MODEL_AXES_MAX][MODEL_AXES_MAX];
    size_t best[MODEL_AXES_MAX];          /* channel of each command in the best assignment */
    double named_r2, best_r2, mixture_r2; /* means over the channels */
};

/* Compares over the busiest 8192 samples of a run. Returns STATUS_OK or STATUS_E_NOMEM. */
MUST_USE enum status channel_match_find(const struct data_set *set, struct channel_match *out);

/* may_mix: the channels have no other reason to follow several commands. signed_gain: a
 * positive command moves its channel forwards. *axis, out: a channel with a wrong sign. */
enum channel_match_verdict channel_match_judge(const struct channel_match *match, size_t axes,
                                               bool may_mix, bool signed_gain, size_t *axis);

#endif
