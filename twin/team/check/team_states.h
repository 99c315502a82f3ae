/* twin/team/check/team_states.h - the set of known states of a team, and the transitions
 * between them, and the queue of those that still need exploration.
 *
 * A state is identified by its key (team_key()), compared byte by byte, and by its number in
 * the order of discovery. The caller provides the memory piece by piece. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_STATES_H
#define TWIN_TEAM_CHECK_TEAM_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

/* Works like realloc(): bytes 0 frees, otherwise NULL means out of memory. */
struct checker_memory {
    void *(*resize)(void *context, void *block, size_t bytes);
    void *context;
    size_t used, limit; /* bytes; allocation beyond limit is refused */
};

/* A growing array; all zero: empty. */
struct team_array {
    void *items;
    size_t count, room;
};

/* Makes room for `more` items of this size behind the existing ones. */
MUST_USE bool team_array_reserve(struct checker_memory *memory, struct team_array *array,
                                 size_t more, size_t item_bytes);
void team_array_free(struct checker_memory *memory, struct team_array *array,
                     size_t item_bytes);

#define TEAM_STATE_NONE UINT32_MAX

struct team_state {
    size_t key_at, first_edge;
    uint64_t served; /* robots that were granted something on a transition out of it */
    uint64_t bag;    /* events on the first transition into it */
    uint32_t parent; /* TEAM_STATE_NONE for the initial state */
    uint32_t key_bytes, edge_count;
    uint32_t alarmed; /* first struct team_alarmed, + 1; 0: none */
    bool closed;      /* all transitions out of it are known */
    bool spins;       /* its instant never ends */
};

/* Robots whose present wait was covered by an alarm, on one path to a state. Paths with more
 * alarms are not stored. */
struct team_alarmed {
    uint64_t dead, blocked;
    uint32_t next; /* index + 1; 0: none */
};

struct team_states {
    struct checker_memory *memory; /* borrowed */
    struct team_array states;      /* struct team_state */
    struct team_array keys;        /* bytes */
    struct team_array edges;       /* uint32_t: target state */
    struct team_array alarmed;     /* struct team_alarmed */
    struct team_array slots;       /* uint64_t; 0: empty, else tag and number + 1 */
};

void team_states_free(struct team_states *s);

static inline struct team_state *team_state_at(const struct team_states *s, uint32_t number)
{
    return (struct team_state *)s->states.items + number;
}

static inline const uint8_t *team_state_key(const struct team_states *s, uint32_t number)
{
    return (const uint8_t *)s->keys.items + team_state_at(s, number)->key_at;
}

static inline const uint32_t *team_state_edges(const struct team_states *s, uint32_t number)
{
    return (const uint32_t *)s->edges.items + team_state_at(s, number)->first_edge;
}

/* Finds the state with this key, or adds one that is all zero apart from its key.
 * STATUS_E_NOMEM, and STATUS_E_FULL at 2^32 - 2 states. */
MUST_USE enum status team_states_find(struct team_states *s, const uint8_t *key,
                                      size_t key_bytes, uint32_t *number, bool *is_new);

/* Adds the alarms of a path to the state; *news: no known path had as few alarms. */
MUST_USE bool team_states_add_alarmed(struct team_states *s, uint32_t number, uint64_t dead,
                                      uint64_t blocked, bool *changed);

/* Adds a transition out of `from`; all transitions of a state are added in sequence. */
MUST_USE bool team_states_connect(struct team_states *s, uint32_t from, uint32_t to);

/* ---- states that still need exploration ----
 *
 * A first-in first-out queue of team blocks, each stored as its differences from a model block
 * that all resemble. */
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
