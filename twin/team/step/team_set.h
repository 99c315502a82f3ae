/* twin/team/step/team_set.h - a set of a team's robots or resources, iterated in the order of
 * the file.
 *
 * Add, remove, test and clear cost a few instructions; iteration costs only the elements
 * present: without `used` a million tasks take 60 % longer (tests/bench/bench_team.c). All zero
 * is the empty set; an uninitialised set must be cleared first. Pure.
 */
#ifndef TWIN_TEAM_STEP_TEAM_SET_H
#define TWIN_TEAM_STEP_TEAM_SET_H

#include "twin/team/step/team_params.h"

enum {
    TEAM_SET_MAX = TEAM_ROBOTS_MAX > TEAM_RESOURCES_MAX ? TEAM_ROBOTS_MAX : TEAM_RESOURCES_MAX,
    TEAM_SET_WORDS = TEAM_SET_MAX / 64
};
_Static_assert(TEAM_SET_MAX % 64 == 0 && TEAM_SET_WORDS <= 64, "one word says which are used");

struct team_set {
    uint64_t used; /* bit k: word[k] is not 0; otherwise word[k] is undefined */
    uint64_t word[TEAM_SET_WORDS];
};

static inline void team_set_clear(struct team_set *set)
{
    set->used = 0;
}

static inline bool team_set_uses(const struct team_set *set, size_t k)
{
    return (set->used >> k & 1) != 0;
}

static inline void team_set_add(struct team_set *set, size_t i)
{
    const uint64_t bit = UINT64_C(1) << (i % 64);
    const size_t k = i / 64;
    const uint64_t used = -(set->used >> k & 1); /* no branch: mispredicted */
    set->word[k] = (set->word[k] & used) | bit;
    set->used |= UINT64_C(1) << k;
}

static inline void team_set_remove(struct team_set *set, size_t i)
{
    const size_t k = i / 64;
    if (team_set_uses(set, k)) {
        set->word[k] &= ~(UINT64_C(1) << (i % 64));
        set->used &= ~((uint64_t)(set->word[k] == 0) << k);
    }
}

static inline void team_set_assign(struct team_set *set, size_t i, bool in)
{
    if (in) {
        team_set_add(set, i);
    } else {
        team_set_remove(set, i);
    }
}

static inline bool team_set_has(const struct team_set *set, size_t i)
{
    return team_set_uses(set, i / 64) && (set->word[i / 64] >> (i % 64) & 1) != 0;
}

static inline bool team_set_any(const struct team_set *set)
{
    return set->used != 0;
}

/* Returns the first element from i on; TEAM_NONE: none. */
static inline uint16_t team_set_next(const struct team_set *set, size_t i)
{
    const size_t k = i / 64;
    if (k >= TEAM_SET_WORDS) {
        return TEAM_NONE;
    }
    const uint64_t rest = team_set_uses(set, k) ? set->word[k] & (~UINT64_C(0) << (i % 64)) : 0;
    if (rest != 0) {
        return (uint16_t)(64 * k + (size_t)__builtin_ctzll(rest));
    }
    const uint64_t more = k == 63 ? 0 : set->used & (~UINT64_C(0) << (k + 1));
    if (more == 0) {
        return TEAM_NONE;
    }
    const size_t at = (size_t)__builtin_ctzll(more);
    return (uint16_t)(64 * at + (size_t)__builtin_ctzll(set->word[at]));
}

/* Iterates the elements in order; elements added behind i are included. */
#define TEAM_EACH(i, set)                                                                      \
    for (uint16_t i = team_set_next((set), 0); i != TEAM_NONE;                                 \
         i = team_set_next((set), (size_t)i + 1))

/* Writes the elements to out[TEAM_SET_MAX]; returns their number. */
static inline size_t team_set_list(const struct team_set *set, uint16_t *out)
{
    size_t count = 0;
    TEAM_EACH(i, set)
    {
        out[count++] = i;
    }
    return count;
}

#endif
