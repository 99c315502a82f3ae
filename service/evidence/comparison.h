/* service/evidence/comparison.h - what differs between the same pair in two recordings: counts,
 * shares, times and fits, with intervals. Which statistics, and why: docs/compare.md. */
#ifndef SERVICE_EVIDENCE_COMPARISON_H
#define SERVICE_EVIDENCE_COMPARISON_H

#include "base/text/names.h"
#include "identification/numeric/rank_shift.h"
#include "identification/numeric/share.h"
#include "service/evidence/align.h"

/* The two recordings, as indices of the arrays [2] below. */
enum { IN_A, IN_B };

enum { ONLY_MAX = 20 };

/* clang-format off */
#define SHIFT_METHODS(X)                                                                       \
    X(SHIFT_UNKNOWN, "unknown")                                                                \
    X(SHIFT_SAME_RECORDING, "same_recording") /* the median; no interval */                    \
    X(SHIFT_PAIRED, "paired_hodges_lehmann")                                                   \
    X(SHIFT_SAME_MOVES, "same_moves")                                                          \
    X(SHIFT_UNPAIRED, "hodges_lehmann")
/* clang-format on */

enum shift_method { SHIFT_METHODS(NAMES_VALUE) SHIFT_METHOD_COUNT };
ENUM_NAMES_DECLARED(shift_method);

/* A time of the commands, B - A. */
struct compared_shift {
    enum shift_method method;
    size_t n[2];             /* commands with this time; matched ones are in n[IN_A] */
    struct rank_shift shift; /* without an interval lo and hi are NaN */
    struct share larger;     /* of matched commands, in B */
    struct rank_superiority superiority;
    size_t changed;  /* commands of one recording */
    bool equal;      /* both have the same times: nothing differs, known or not */
    const char *why; /* static: why it is unknown */
};

/* A term of a fit: b / a for speeds, else b - a. */
struct compared_term {
    char name[ESTIMATE_NAME_MAX];
    bool is_ratio, changed;
    double a, b, value, lo, hi, p;
};

struct comparison {
    struct alignment alignment;
    size_t commands[2];
    size_t only_count[2];
    uint32_t only[2][ONLY_MAX]; /* the first commands of one recording only */
    size_t verdicts[VERDICT_COUNT][2], inconsistent[2];
    size_t timeouts[3][2]; /* of the real side alone, the virtual, both */
    size_t changes[VERDICT_COUNT][VERDICT_COUNT];
    struct share_pairs sync; /* of matched commands */
    double sync_a, sync_b, sync_p;
    struct share sync_difference;
    struct compared_shift shift[TIME_COUNT];
    struct compared_term terms[SIDE_COUNT][RECORDED_TERMS_MAX];
    size_t term_count[SIDE_COUNT], fit_moves[SIDE_COUNT][2];
    uint64_t alarms[ALARM_TYPE_COUNT][2];
    const char *why; /* static: why there are counts only; or NULL */
};

/* Align, count, and compute all differences; intervals have this confidence. STATUS_E_NOMEM;
 * free *out on STATUS_OK. */
MUST_USE enum status comparison_make(const struct recorded_pair *a,
                                     const struct recorded_pair *b, enum alignment_rule request,
                                     double confidence, struct comparison *out);
/* Compute the differences again, with another confidence. STATUS_E_NOMEM. */
MUST_USE enum status comparison_estimate(const struct recorded_pair *a,
                                         const struct recorded_pair *b, double confidence,
                                         struct comparison *c);
void comparison_free(struct comparison *comparison);

/* Is the difference known, and is its interval without zero? One recording: does any command
 * differ? */
bool comparison_shift_differs(const struct compared_shift *shift);
/* May it differ, though nobody can tell? */
bool comparison_shift_is_unknown(const struct compared_shift *shift);
bool comparison_verdicts_differ(const struct comparison *c);
bool comparison_differs(const struct comparison *c);

#endif
