/* twin/team/check/team_explore_parts.h - what the files of team_explore share. Not for its users.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_EXPLORE_PARTS_H
#define TWIN_TEAM_CHECK_TEAM_EXPLORE_PARTS_H

#include "twin/team/check/team_backlog.h"
#include "twin/team/check/team_explore.h"
#include "twin/team/check/team_states.h"
#include "twin/team/check/team_untimed.h"

/* A state beside what the team itself knows. */
struct team_explore_place {
    int64_t now_us;
    uint64_t dead, blocked; /* robots of whom alarms said so, of their present wait */
    uint64_t excused;       /* those of them who may be served all the same */
    uint32_t state, failures, losses, started;
};

/* What one instant brought. */
struct team_explore_outcome {
    struct team_explore_place *place;
    uint64_t served, fence;
    bool deadlock, spins, granted;
};

struct team_explore {
    struct team_untimed untimed;
    struct team_explore_options options;
    struct team_explore_memory *memory;
    struct team_states states;
    struct team_backlog backlog; /* places and teams to go on from */
    size_t team_words;           /* of a team's block, as far as it says something */
    struct team_array block;     /* the team at work, and what is below */
    struct team_array moves;     /* struct team_move: what can happen in the present state */
    struct team_array used;      /* bool: sequences, then jobs */
    struct team_array way;       /* uint64_t: bags, while one is walked */
    int64_t times_us[TEAM_TIMES_MAX]; /* when the next instant can be */
    size_t time_count;
    bool inexact; /* not every order of head starts could be told apart */
    uint64_t used_robots;
    int64_t starts_us[TEAM_EXPLORE_ROBOTS_MAX]; /* in order, each once */
    uint32_t start_count;
    struct team *team;
    uint64_t *origin, *model; /* within block, as the team itself */
    uint8_t *key;             /* the same */
    struct team_explore_outcome outcome;
    const struct team_effects *also; /* who else hears what happens; NULL: nobody */
    struct team_explore_result *result;
};

static inline uint64_t team_robot_bit(uint16_t robot)
{
    return robot < TEAM_EXPLORE_ROBOTS_MAX ? UINT64_C(1) << robot : 0;
}

/* ---- team_explore_instant.c: what can happen, and what comes of it ---- */
/* All that can happen next to x->team, one by one, into x->moves, and when into x->times. */
void team_explore_list(struct team_explore *x, const struct team_explore_place *place);
/* An instant at t_us in which all of this happens to x->team, which is at this place. */
void team_explore_make(struct team_explore *x, struct team_explore_place *place, int64_t t_us,
                       const struct team_move *moves, size_t count);
/* x->team as it begins: those who start first have started. */
void team_explore_begin(struct team_explore *x, struct team_explore_place *place);
/* The moves in x->moves that a bag stands for, and when; their number. */
size_t team_explore_open(const struct team_explore *x, uint64_t bag,
                         struct team_move moves[TEAM_TOGETHER_MAX], int64_t *t_us);

/* ---- team_explore_ends.c: where it ends ---- */
/* For team_ends_find(): what kind of end these states are, into x->result. */
void team_explore_take_end(void *context, const uint32_t *states, size_t count);

#endif
