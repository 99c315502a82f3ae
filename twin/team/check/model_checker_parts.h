/* twin/team/check/model_checker_parts.h - private to the files of model_checker. */
#ifndef TWIN_TEAM_CHECK_MODEL_CHECKER_PARTS_H
#define TWIN_TEAM_CHECK_MODEL_CHECKER_PARTS_H

#include "twin/team/check/model_checker.h"
#include "twin/team/check/team_states.h"
#include "twin/team/check/team_untimed.h"

/* State of the exploration that the team itself does not know. */
struct model_checker_place {
    int64_t now_us;
    uint64_t dead, blocked; /* robots whose present wait an alarm called endless */
    uint64_t excused;       /* those of them who may be served nevertheless */
    uint32_t state, failures, losses, started;
};

/* Result of one instant. */
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
    struct team_backlog backlog; /* places and teams still to explore */
    size_t team_words;           /* used words of a team's block */
    struct team_array block;     /* memory of the present team and the pointers below */
    struct team_array moves;     /* struct team_move: possible events in the present state */
    struct team_array used;      /* bool: used sequences, then jobs */
    struct team_array path;      /* uint64_t: bags of a replayed path */
    int64_t times_us[TEAM_TIMES_MAX]; /* possible times of the next instant */
    size_t time_count;
    bool inexact; /* some orders of head starts could not be distinguished */
    uint64_t used_robots;
    int64_t starts_us[MODEL_CHECKER_ROBOTS_MAX]; /* in order, each once */
    uint32_t start_count;
    struct team *team;
    uint64_t *origin, *model; /* in block, like the team itself */
    uint8_t *key;             /* the same */
    struct model_checker_outcome outcome;
    const struct team_effects *also; /* second receiver of effects; may be NULL */
    struct model_checker_result *result;
};

static inline uint64_t team_robot_bit(uint16_t robot)
{
    return robot < MODEL_CHECKER_ROBOTS_MAX ? UINT64_C(1) << robot : 0;
}

/* ---- model_checker_instant.c: what can happen, and what comes of it ---- */
/* Lists all possible next events of x->team into x->moves, and their times into x->times_us. */
void model_checker_list_moves(struct model_checker *x, const struct model_checker_place *place);
/* Applies an instant at t_us with all these events to x->team at this place. */
void model_checker_apply_moves(struct model_checker *x, struct model_checker_place *place,
                               int64_t t_us, const struct team_move *moves, size_t count);
/* Puts x->team into its initial state: the earliest robots have started. */
void model_checker_begin(struct model_checker *x, struct model_checker_place *place);
/* Decodes a bag into moves and their time; returns the number of moves. */
size_t model_checker_unpack_bag(const struct model_checker *x, uint64_t bag,
                                struct team_move moves[TEAM_TOGETHER_MAX], int64_t *t_us);

/* ---- model_checker_ends.c: where it ends ---- */
/* Classifies these terminal states into x->result; a callback of terminal_states_find(). */
void model_checker_add_end(void *context, const uint32_t *states, size_t count);

#endif
