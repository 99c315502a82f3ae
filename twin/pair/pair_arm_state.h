/* twin/pair/pair_arm_state.h - what a pair of arms remembers of its arms; for the files of
 * twin/pair alone. It lies at the very end of the pair's memory (pair_memory.c). */
#ifndef TWIN_PAIR_PAIR_ARM_STATE_H
#define TWIN_PAIR_PAIR_ARM_STATE_H

#include "logger/message/event.h"
#include "twin/pair/pair.h"

/* The last that was heard of one arm's joints. */
struct arm_seen {
    int64_t t_us; /* lab time; LAB_TIME_NONE: nothing yet */
    double q[EVENT_AXES_MAX], qd[EVENT_AXES_MAX];
};

/* The move of one open command. */
struct arm_track {
    bool known;                 /* it is a move, and from where to where is known */
    bool line;                  /* the tool goes straight */
    uint8_t kind;               /* enum profile_class */
    bool timed;                 /* its duration was commanded, so that its time tells nothing */
    double speed, acceleration; /* as commanded, over its size: 1/s, 1/s^2 */
    double from_m[SIDE_COUNT][3], to_m[3]; /* of the tool */
    double gap_max_mm;                     /* NaN: not both were seen on the way */
    double path_error_mm[SIDE_COUNT];      /* NaN: not seen on the way, or no line */
    bool ended[SIDE_COUNT];                /* and where is known: */
    double end_q[SIDE_COUNT][EVENT_AXES_MAX];
};

/* It stands behind the pair's own state, for arms alone. */
struct pair_arm {
    struct arm_seen seen[SIDE_COUNT];
    bool target_known; /* where the newest command ends */
    double target_q[EVENT_AXES_MAX];
    struct arm_track track[]; /* [outstanding_max], by place of the command */
};

/* NULL: no arm. */
struct pair_arm *pair_arm_find(struct pair *pair, const struct pair_params *p);
const struct pair_arm *pair_arm_look(const struct pair *pair, const struct pair_params *p);

#endif
