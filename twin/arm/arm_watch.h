/* twin/arm/arm_watch.h - moves of an arm recognised in the set points that it tells, sample by
 * sample: when they began and ended, along what, how fast. Pure.
 *
 * A move is what lies between two rests of the target speeds. Both ends are known to less than
 * a period: near rest the arm accelerates evenly, so that it began 2 d / v before the first
 * sample that moves, with d how far it has come and v how fast it is there, and ends likewise.
 * A move that is cut off by the next one shows as a speed that falls faster than any arm
 * brakes. Trapezoids as in arm_move.h, equation (1).
 */
#ifndef TWIN_ARM_ARM_WATCH_H
#define TWIN_ARM_ARM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "twin/arm/arm_move.h"

/* Samples of a move that are kept; of a longer one every second, then every fourth … */
enum { ARM_WATCH_SAMPLES = 4096 };

struct arm_watch_sample {
    double t_s;                  /* the robot's clock */
    double q_rad[ARM_JOINTS];    /* set points, */
    double qd_radps[ARM_JOINTS]; /* their speeds, */
    double pose[6];              /* and the tool there: m, rotation vector */
    double scaling;              /* of speeds; 1: none */
    bool stopped;                /* by a safety function */
};

enum arm_watched_end {
    ARM_WATCHED_DONE,
    ARM_WATCHED_CUT,    /* another move began while it moved */
    ARM_WATCHED_STOPPED /* by a safety function */
};

enum arm_watched_path { ARM_WATCHED_JOINTS, ARM_WATCHED_LINE, ARM_WATCHED_OTHER };

struct arm_watched {
    double t_start_s, t_end_s; /* the robot's clock */
    double from_q[ARM_JOINTS], to_q[ARM_JOINTS];
    double to_pose[6];
    double size_rad;            /* the largest turn of a joint */
    double length_m, angle_rad; /* of the tool, between both ends */
    enum arm_watched_end end;
    enum arm_watched_path path;
    double speed, acceleration; /* of the share of the path, 1/s and 1/s^2; > 0 */
    double scaling;             /* the one furthest from 1 */
    /* NULL: a move from rest to rest on a trapezoid, without any scaling of speeds, whose both
     * ends were seen. Else what it lacks, in words: it tells nothing of how long moves take. */
    const char *lacks;
};

struct arm_watch {        /* all zero: nothing was seen yet */
    double period_s;      /* between samples, > 0: set by the owner */
    uint64_t moves, gaps; /* recognised so far; samples that are missing, seen as gaps */
    bool known;           /* last is */
    bool moving, headless, gap, stopped;
    struct arm_watch_sample last;
    double start_s, scaling;
    size_t count, stride, skipped;
    struct {
        double t_s, q_rad[ARM_JOINTS], pose[6];
    } stored[ARM_WATCH_SAMPLES];
};

/* The next sample. True when a move ended with it: *out is it. */
bool arm_watch_step(struct arm_watch *w, const struct arm_watch_sample *sample,
                    struct arm_watched *out);

/* What comes next does not follow what was here: a move under way is forgotten. */
void arm_watch_forget(struct arm_watch *w);

#endif
