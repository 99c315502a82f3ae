/* service/evidence/split.h - one recording as two: before and after an entry, a change of
 * parameters or a time, or the commands of two versions of a robot's program. */
#ifndef SERVICE_EVIDENCE_SPLIT_H
#define SERVICE_EVIDENCE_SPLIT_H

#include "service/evidence/recording.h"

enum split_kind { SPLIT_NOT, SPLIT_ENTRY, SPLIT_CHANGE, SPLIT_VERSION, SPLIT_TIME };

struct split {
    enum split_kind kind;
    uint64_t n; /* the entry, or the change, that begins the second half */
    int64_t t_us;
    const char *version; /* borrowed */
    enum side side;      /* of the version; SIDE_COUNT: the only one that has it */
};

/* Parse entry:N, change:N, version:TEXT, real_version:TEXT, virtual_version:TEXT or a time.
 * False: the fault went to stderr. */
bool split_parse(const char *text, struct split *out);

/* Copy the halves. Fits belong to neither. By a version: its commands are the second half, and
 * those of the version before it the first; others are in neither. STATUS_E_EMPTY: the pair has
 * no such change or version, or no command in one half, or both robots have this version; *err
 * says what it has. STATUS_E_NOMEM. Free a and b in any case. */
MUST_USE enum status split_pair(const struct recorded_pair *whole, const char *id,
                                const struct split *split, struct recorded_pair *a,
                                struct recorded_pair *b, struct err *err);

#endif
