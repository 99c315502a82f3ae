/* service/evidence/gate.h - may this candidate replace the reference? Pass, fail or undecided,
 * valid after every command (docs/compare.md).
 */
#ifndef SERVICE_EVIDENCE_GATE_H
#define SERVICE_EVIDENCE_GATE_H

#include "base/text/names.h"
#include "identification/numeric/bet.h"
#include "service/evidence/align.h"

/* clang-format off */
#define GATE_METRICS(X)                                                                        \
    X(GATE_ABS_LAG, "abs_lag_s")                                                               \
    X(GATE_SYNC, "sync_share")                                                                 \
    X(GATE_TIMEOUT, "timeout_share")                                                           \
    X(GATE_INCONSISTENT, "inconsistent_share")

#define GATE_OUTCOMES(X)                                                                       \
    X(GATE_PASS, "pass")                                                                       \
    X(GATE_FAIL, "fail")                                                                       \
    X(GATE_UNDECIDED, "undecided")
/* clang-format on */

enum gate_metric { GATE_METRICS(NAMES_VALUE) GATE_METRIC_COUNT };
enum gate_outcome { GATE_OUTCOMES(NAMES_VALUE) GATE_OUTCOME_COUNT };
ENUM_NAMES_DECLARED(gate_metric);
ENUM_NAMES_DECLARED(gate_outcome);

enum gate_blocks { GATE_COMMANDS, GATE_BLOCKS_OF, GATE_BLOCKS_BY_PAUSE };

struct gate_options {
    double margin[GATE_METRIC_COUNT];
    bool needed[GATE_METRIC_COUNT];
    double alpha, clip;
    enum gate_blocks blocks;
    const char *block_text; /* as it was given */
    size_t block_of;        /* commands */
    double gap_s;
};

/* A metric of a pair. */
struct gate_test {
    double margin, clip;
    size_t n, left_out;  /* units; commands without a value */
    double rise, lo, hi; /* NaN: unknown */
    size_t clipped;
    double inflation, log_e_pass, log_e_fail;
    size_t pass_at, fail_at, worse_since, more; /* 0: none */
    enum gate_outcome outcome;
    double *fail_path; /* [n] log_e after each unit */
    uint32_t *since;   /* [n] */
};

struct gate_pair {
    enum alignment_rule rule;
    size_t commands[2], matched;
    bool compared;
    char why[160]; /* "" if it is compared */
    struct gate_test test[GATE_METRIC_COUNT];
    double real_rise; /* of the real robot's laps */
    bool real_changed;
};

/* Test one pair. STATUS_E_NOMEM; free *out on STATUS_OK. */
MUST_USE enum status gate_pair_test(const struct recorded_pair *a,
                                    const struct recorded_pair *b,
                                    const struct gate_options *options, struct gate_pair *out);
void gate_pair_free(struct gate_pair *pair);

struct gate_result {
    enum gate_outcome outcome;
    size_t usable; /* pairs that are compared; 0: there is no outcome */
};

/* Decide over all pairs; sets fail_at, worse_since, outcome and more of each test. log_e: room
 * for [count * GATE_METRIC_COUNT] numbers. */
struct gate_result gate_decide(struct gate_pair *pairs, size_t count,
                               const struct gate_options *options, double *log_e);

/* Does this test fail the candidate? Not if the real robot explains it. */
bool gate_is_blamed(const struct gate_pair *pair, enum gate_metric metric);

#endif
