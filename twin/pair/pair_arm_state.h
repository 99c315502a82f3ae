/* twin/pair/pair_arm_state.h - additional state of a pair of arms, private to twin/pair. It is
 * at the very end of the pair's memory (pair_memory.c).
 */
#ifndef TWIN_PAIR_PAIR_ARM_STATE_H
#define TWIN_PAIR_PAIR_ARM_STATE_H

#include "logger/message/event.h"
#include "twin/pair/pair.h"

/* The last sample of one arm's joints. */
struct arm_seen {
    int64_t t_us; /* lab time; LAB_TIME_NONE: no sample yet */
    double q[EVENT_AXES_MAX], qd[EVENT_AXES_MAX];
};

/* The move of one open command. */
struct arm_track {
    bool known;   /* it is a move with known start and end */
    bool line;    /* the tool moves on a straight line */
    uint8_t kind; /* enum profile_class */
    bool timed;   /* its duration was commanded, so it cannot be used for calibration */
    double speed, acceleration;            /* commanded rates divided by its size: 1/s, 1/s^2 */
    double from_m[SIDE_COUNT][3], to_m[3]; /* place of the tool */
    double gap_max_mm;                     /* NaN: not both were seen on the way */
    double path_error_mm[SIDE_COUNT];      /* NaN: not seen on the way, or not a line */
    bool ended[SIDE_COUNT];                /* and its end is known: */
    double end_q[SIDE_COUNT][EVENT_AXES_MAX];
};

/* Behind the pair's own state, for arms only. */
struct pair_arm {
    struct arm_seen seen[SIDE_COUNT];
    bool target_known; /* the end of the newest command is known */
    double target_q[EVENT_AXES_MAX];
    struct arm_track track[]; /* [outstanding_max], by slot of the command */
};

/* Returns NULL if the pair has no arm. */
struct pair_arm *pair_arm_find(struct pair *pair, const struct pair_params *p);
const struct pair_arm *pair_arm_look(const struct pair *pair, const struct pair_params *p);

#endif
