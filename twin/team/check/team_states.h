/* twin/team/check/team_states.h - the states of a team that were seen, and the ways between
 * them.
 *
 * A state is known by its key (team_key()), compared byte by byte, and by its number,
 * in the order in which they were found. The memory comes from the caller, piece by piece.
 * Pure.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_STATES_H
#define TWIN_TEAM_CHECK_TEAM_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

/* As realloc(): bytes 0 frees, NULL else means that there is none. */
struct checker_memory {
    void *(*resize)(void *context, void *block, size_t bytes);
    void *context;
    size_t used, limit; /* bytes; more than limit is refused */
};

/* An array that grows; all zero: empty. */
struct team_array {
    void *items;
    size_t count, room;
};

/* Room for `more` items of this size behind those there are. */
MUST_USE bool team_array_reserve(struct checker_memory *memory, struct team_array *array,
                                 size_t more, size_t item_bytes);
void team_array_free(struct checker_memory *memory, struct team_array *array,
                     size_t item_bytes);

#define TEAM_STATE_NONE UINT32_MAX

struct team_state {
    size_t key_at, first_edge;
    uint64_t served; /* robots that got something on a way out of it */
    uint64_t bag;    /* what happened in its parent when it was found first */
    uint32_t parent; /* TEAM_STATE_NONE of the first one */
    uint32_t key_bytes, edge_count;
    uint32_t alarmed; /* the first of struct team_alarmed, + 1 */
    bool closed;      /* all ways out of it are known */
    bool spins;       /* it does not end within its instant */
};

/* What alarms said, on a way to a state, of robots and their present waits; of ways on which
 * more was said nothing is kept. */
struct team_alarmed {
    uint64_t dead, blocked;
    uint32_t next; /* + 1; 0: none */
};

struct team_states {
    struct checker_memory *memory; /* borrowed */
    struct team_array states;      /* struct team_state */
    struct team_array keys;        /* bytes */
    struct team_array edges;       /* uint32_t: the state it leads to */
    struct team_array alarmed;     /* struct team_alarmed */
    struct team_array slots;       /* uint64_t; 0: free, else tag and number + 1 */
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

/* The state of this key; a new one, all of it zero but its key, where there is none.
 * STATUS_E_NOMEM, and STATUS_E_FULL at 2^32 - 2 states. */
MUST_USE enum status team_states_find(struct team_states *s, const uint8_t *key,
                                      size_t key_bytes, uint32_t *number, bool *is_new);

/* So much was said on a way to it; *news: no way was known on which as little was. */
MUST_USE bool team_states_add_alarmed(struct team_states *s, uint32_t number, uint64_t dead,
                                      uint64_t blocked, bool *changed);

/* One more way out of `from`, whose ways are added one after the other. */
MUST_USE bool team_states_connect(struct team_states *s, uint32_t from, uint32_t to);

#endif
