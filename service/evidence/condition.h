/* service/evidence/condition.h - conditions that a comparison must prove: "abs_lag_s>0.01". */
#ifndef SERVICE_EVIDENCE_CONDITION_H
#define SERVICE_EVIDENCE_CONDITION_H

#include "base/text/names.h"
#include "service/evidence/comparison.h"

enum condition_kind {
    CONDITION_TIME,
    CONDITION_SYNC,
    CONDITION_VERDICT,
    CONDITION_ALARM,
    CONDITION_TERM
};

struct condition {
    const char *text; /* borrowed */
    bool needed;      /* --need: it must be proved; --fail-if: it must not */
    bool above;
    double limit;
    enum condition_kind kind;
    unsigned at; /* enum compared_time, verdict, alarm_type or side */
    char term[ESTIMATE_NAME_MAX];
};

/* Parse NAME<NUMBER or NAME>NUMBER. False: the fault went to stderr. */
bool condition_parse(const char *text, bool needed, struct condition *out);

/* clang-format off */
#define CONDITION_RESULTS(X)                                                                   \
    X(CONDITION_OK, "ok")                                                                      \
    X(CONDITION_FAILED, "fail")                                                                \
    X(CONDITION_OPEN, "cannot tell")
/* clang-format on */

enum condition_result { CONDITION_RESULTS(NAMES_VALUE) CONDITION_RESULT_COUNT };
ENUM_NAMES_DECLARED(condition_result);

/* The whole interval must lie on one side of the limit; counts have no interval. */
enum condition_result condition_judge(const struct condition *condition,
                                      const struct comparison *c);

#endif
