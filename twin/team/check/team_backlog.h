/* twin/team/check/team_backlog.h - teams that are still to be looked at, first come first
 * served.
 *
 * Of a team's block only the words are kept in which it differs from one that all are like.
 * Pure; the memory is the caller's.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_BACKLOG_H
#define TWIN_TEAM_CHECK_TEAM_BACKLOG_H

#include "twin/team/check/team_states.h"

struct team_backlog {
    struct checker_memory *memory; /* borrowed */
    const void *model;             /* the one that all are like; borrowed */
    size_t words;                  /* of eight bytes: of a block */
    size_t waiting;                /* so many */
    struct team_array packed;      /* uint64_t */
    size_t next;                   /* the words before are done with */
};

void team_backlog_free(struct team_backlog *b);

/* Behind the others: a head, which is kept as it is, and a block of b->words. */
MUST_USE bool team_backlog_add(struct team_backlog *b, const void *head, size_t head_words,
                               const void *block);

/* The first one, of which there is one. */
void team_backlog_pop(struct team_backlog *b, void *head, size_t head_words, void *block);

#endif
