/* twin/team/check/team_backlog.h - a first-in first-out queue of team blocks that still need
 * exploration.
 *
 * A block is stored as its differences from a model block that all resemble. Pure; the memory
 * is the caller's.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_BACKLOG_H
#define TWIN_TEAM_CHECK_TEAM_BACKLOG_H

#include "twin/team/check/team_states.h"

struct team_backlog {
    struct checker_memory *memory; /* borrowed */
    const void *model;             /* block that all resemble; borrowed */
    size_t words;                  /* words of eight bytes per block */
    size_t waiting;                /* number of queued blocks */
    struct team_array packed;      /* uint64_t */
    size_t next;                   /* words before this one are processed */
};

void team_backlog_free(struct team_backlog *b);

/* Appends a head, which is stored unchanged, and a block of b->words. */
MUST_USE bool team_backlog_add(struct team_backlog *b, const void *head, size_t head_words,
                               const void *block);

/* Removes the first one; there must be one. */
void team_backlog_pop(struct team_backlog *b, void *head, size_t head_words, void *block);

#endif
