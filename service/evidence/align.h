/* service/evidence/align.h - which command of one recording is which of another.
 *
 * The first rule that fits: times and ids are the same (one recording under two lab files); ids
 * are the same; the longest common sequence of equal commands; none. B against A gives the same
 * matches as A against B.
 */
#ifndef SERVICE_EVIDENCE_ALIGN_H
#define SERVICE_EVIDENCE_ALIGN_H

#include "base/text/names.h"
#include "service/evidence/recording.h"

/* clang-format off */
#define ALIGNMENT_RULES(X)                                                                     \
    X(ALIGNED_BY_RECORDING, "recording")                                                       \
    X(ALIGNED_BY_ID, "id")                                                                     \
    X(ALIGNED_BY_SEQUENCE, "sequence")                                                         \
    X(ALIGNED_NOT, "none")                                                                     \
    X(ALIGNED_AUTO, "auto") /* only as a request: the first that fits */
/* clang-format on */

enum alignment_rule { ALIGNMENT_RULES(NAMES_VALUE) ALIGNMENT_RULE_COUNT };
ENUM_NAMES_DECLARED(alignment_rule);

struct match {
    uint32_t a, b; /* indices of commands */
};

struct alignment {
    enum alignment_rule rule;
    struct match *matches; /* [count] in the order of a; by id, that of b may differ */
    size_t count;
    const char *why; /* static; NULL: nothing to say */
};

/* request: a rule, or ALIGNED_AUTO. STATUS_E_NOMEM; free *out on STATUS_OK. */
MUST_USE enum status align_find(const struct recorded_pair *a, const struct recorded_pair *b,
                                enum alignment_rule request, struct alignment *out);
void align_free(struct alignment *alignment);

/* Are both the same operation of the same sizes? */
bool align_is_same_command(const struct recorded_command *a, const struct recorded_command *b);
/* Are all commands of a recording the same? */
bool align_has_one_command(const struct recorded_pair *pair);

#endif
