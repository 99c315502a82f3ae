/* twin/arm/arm_watch.h - recognises moves of an arm in its reported set points, sample by
 * sample: begin, end, path and rates. Pure.
 *
 * A move is the motion between two rests of the target speeds. Both ends are known to less than
 * a period: near rest the arm accelerates uniformly, so it began 2 d / v before the first
 * moving sample, with d the distance so far and v the speed there, and it ends likewise. A move
 * that is cut off by the next one shows as a speed that falls faster than any arm brakes.
 * Trapezoids as in arm_move.h, equation (1).
 */
#ifndef TWIN_ARM_ARM_WATCH_H
#define TWIN_ARM_ARM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "twin/arm/arm_move.h"

/* Stored samples of a move; for longer moves every second, then every fourth sample is
 * stored … */
enum { ARM_WATCH_SAMPLES = 4096 };

struct arm_watch_sample {
    double t_s;                  /* the robot's clock */
    double q_rad[ARM_JOINTS];    /* set points, */
    double qd_radps[ARM_JOINTS]; /* their speeds, */
    double pose[6];              /* and the tool there: m, rotation vector */
    double scaling;              /* scaling of speeds; 1: none */
    bool stopped;                /* by a safety function */
};

enum arm_watched_end {
    ARM_WATCHED_DONE,
    ARM_WATCHED_CUT,    /* another move began during it */
    ARM_WATCHED_STOPPED /* by a safety function */
};

enum arm_watched_path { ARM_WATCHED_JOINTS, ARM_WATCHED_LINE, ARM_WATCHED_OTHER };

struct arm_watched {
    double t_start_s, t_end_s; /* the robot's clock */
    double from_q[ARM_JOINTS], to_q[ARM_JOINTS];
    double to_pose[6];
    double size_rad;            /* largest turn of a joint */
    double length_m, angle_rad; /* of the tool, from begin to end */
    enum arm_watched_end end;
    enum arm_watched_path path;
    double speed, acceleration; /* rates of the share of the path, 1/s and 1/s^2; > 0 */
    double scaling;             /* the value furthest from 1 */
    /* NULL: a move from rest to rest on a trapezoid, without speed scaling, with both ends
     * seen. Otherwise the reason why its duration is useless for calibration. */
    const char *lacks;
};

struct arm_watch {        /* All zero: no sample yet. */
    double period_s;      /* between samples, > 0: set by the owner */
    uint64_t moves, gaps; /* recognised so far; gaps: missing samples */
    bool known;           /* `last` is valid */
    bool moving, headless, gap, stopped;
    struct arm_watch_sample last;
    double start_s, scaling;
    size_t count, stride, skipped;
    struct {
        double t_s, q_rad[ARM_JOINTS], pose[6];
    } stored[ARM_WATCH_SAMPLES];
};

/* Adds the next sample. True if a move ended with it, which *out then is. */
bool arm_watch_step(struct arm_watch *w, const struct arm_watch_sample *sample,
                    struct arm_watched *out);

/* The next sample does not follow the previous ones: discards a move in progress. */
void arm_watch_forget(struct arm_watch *w);

#endif
