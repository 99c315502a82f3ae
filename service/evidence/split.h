/* service/evidence/split.h - one recording as two: before and after an entry, a change of
 * parameters, the first entry with a version, or a time. */
#ifndef SERVICE_EVIDENCE_SPLIT_H
#define SERVICE_EVIDENCE_SPLIT_H

#include "service/evidence/recording.h"

enum split_kind { SPLIT_NOT, SPLIT_ENTRY, SPLIT_CHANGE, SPLIT_VERSION, SPLIT_TIME };

struct split {
    enum split_kind kind;
    uint64_t n; /* the entry, or the change, that begins the second half */
    int64_t t_us;
    const char *version; /* borrowed; of the real or the virtual robot */
};

/* Parse entry:N, change:N, version:TEXT or a time. False: the fault went to stderr. */
bool split_parse(const char *text, struct split *out);

/* Copy the halves. Fits belong to neither. STATUS_E_EMPTY: the pair has no such change or
 * version, or no command in one half; *err says what it has. STATUS_E_NOMEM. Free a and b in
 * any case. */
MUST_USE enum status split_pair(const struct recorded_pair *whole, const char *id,
                                const struct split *split, struct recorded_pair *a,
                                struct recorded_pair *b, struct err *err);

#endif
