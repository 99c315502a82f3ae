/* twin/team/check/model_checker_parts.h - what the files of model_checker share. Not for its
 * users.
 */
#ifndef TWIN_TEAM_CHECK_MODEL_CHECKER_PARTS_H
#define TWIN_TEAM_CHECK_MODEL_CHECKER_PARTS_H

#include "twin/team/check/model_checker.h"
#include "twin/team/check/team_backlog.h"
#include "twin/team/check/team_states.h"
#include "twin/team/check/team_untimed.h"

/* A state beside what the team itself knows. */
struct model_checker_place {
    int64_t now_us;
    uint64_t dead, blocked; /* robots of whom alarms said so, of their present wait */
    uint64_t excused;       /* those of them who may be served all the same */
    uint32_t state, failures, losses, started;
};

/* What one instant brought. */
struct model_checker_outcome {
    struct model_checker_place *place;
    uint64_t served, fence;
    bool deadlock, spins, granted;
};

struct model_checker {
    struct team_untimed untimed;
    struct model_checker_options options;
    struct checker_memory *memory;
    struct team_states states;
    struct team_backlog backlog; /* places and teams to go on from */
    size_t team_words;           /* of a team's block, as far as it says something */
    struct team_array block;     /* the team at work, and what is below */
    struct team_array moves;     /* struct team_move: what can happen in the present state */
    struct team_array used;      /* bool: sequences, then jobs */
    struct team_array path;      /* uint64_t: bags, while one is walked */
    int64_t times_us[TEAM_TIMES_MAX]; /* when the next instant can be */
    size_t time_count;
    bool inexact; /* not every order of head starts could be told apart */
    uint64_t used_robots;
    int64_t starts_us[MODEL_CHECKER_ROBOTS_MAX]; /* in order, each once */
    uint32_t start_count;
    struct team *team;
    uint64_t *origin, *model; /* within block, as the team itself */
    uint8_t *key;             /* the same */
    struct model_checker_outcome outcome;
    const struct team_effects *also; /* who else hears what happens; NULL: nobody */
    struct model_checker_result *result;
};

static inline uint64_t team_robot_bit(uint16_t robot)
{
    return robot < MODEL_CHECKER_ROBOTS_MAX ? UINT64_C(1) << robot : 0;
}

/* ---- model_checker_instant.c: what can happen, and what comes of it ---- */
/* All that can happen next to x->team, one by one, into x->moves, and when into x->times. */
void model_checker_list_moves(struct model_checker *x, const struct model_checker_place *place);
/* An instant at t_us in which all of this happens to x->team, which is at this place. */
void model_checker_apply_moves(struct model_checker *x, struct model_checker_place *place,
                               int64_t t_us, const struct team_move *moves, size_t count);
/* x->team as it begins: those who start first have started. */
void model_checker_begin(struct model_checker *x, struct model_checker_place *place);
/* The moves in x->moves that a bag stands for, and when; their number. */
size_t model_checker_unpack_bag(const struct model_checker *x, uint64_t bag,
                                struct team_move moves[TEAM_TOGETHER_MAX], int64_t *t_us);

/* ---- model_checker_ends.c: where it ends ---- */
/* For terminal_states_find(): what kind of end these states are, into x->result. */
void model_checker_add_end(void *context, const uint32_t *states, size_t count);

#endif
