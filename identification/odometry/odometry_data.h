/* identification/odometry/odometry_data.h - recorded wheel angles and poses, cleaned for a fit.
 *
 * Incomplete, repeated and disordered rows are skipped and counted. The recording is cut where
 * the path between two rows is unknown. Rows that repeat the wheels' last reading get their
 * share of the way to the next. Headings are unwrapped. Wheels may be sampled more often than
 * poses. Pure except for GSL's allocations: no I/O, no clock.
 */
#ifndef IDENTIFICATION_ODOMETRY_ODOMETRY_DATA_H
#define IDENTIFICATION_ODOMETRY_ODOMETRY_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/err.h"
#include "base/errors/status.h"

/* Largest number of runs, each with its own start pose, and smallest number of poses in a
 * run. */
enum { ODOMETRY_RUNS_MAX = 64, ODOMETRY_RUN_MIN = 8 };

/* Recorded rows in their order. NaN marks a missing value. */
struct odometry_raw {
    size_t n;
    const double *t_s;                              /* [n] */
    const double *wheel_left_rad, *wheel_right_rad; /* [n] since any start */
    const double *x_m, *y_m, *theta_rad;            /* [n] pose of the sensor */
    size_t part_count;                              /* 1 .. ODOMETRY_RUNS_MAX */
    size_t part_start[ODOMETRY_RUNS_MAX + 1];
};

/* Rows in order. Their storage is `memory`. */
struct odometry_set {
    size_t n, poses;                    /* number of rows; of rows with a pose */
    const double *t_s;                  /* [n] */
    const double *left_rad, *right_rad; /* [n] angle since the previous row; 0 at a start */
    double *x_m, *y_m, *theta_rad;      /* [n] theta unwrapped; NaN: no pose */
    size_t run_count;                   /* 1 .. ODOMETRY_RUNS_MAX */
    size_t run_start[ODOMETRY_RUNS_MAX + 1];
    /* Weight of a radian of heading relative to a metre of a coordinate, in m; 0: from the
     * spread of the residuals. The user of the set chooses it. */
    double heading_m;
    gsl_vector *memory;
};

/* The data summary: what was found in the recording. */
struct odometry_summary {
    size_t rows, used, poses, runs;
    size_t incomplete;   /* rows without time or wheel angles */
    size_t held;         /* rows that repeat the wheels' last reading during motion */
    size_t pose_missing; /* rows with wheel angles only */
    size_t stale;        /* old poses: they stand still while the wheels turn */
    size_t duplicates;   /* rows with the time of the row before */
    size_t back_steps;   /* times at which time ran back */
    size_t back_rows;    /* rows skipped until time had caught up */
    size_t gaps;         /* longer than 2.5 periods */
    size_t cuts; /* places where the path is unknown: a gap in motion, a wheel that jumps */
    size_t wheel_jumps; /* faster than any wheel: a counter was reset */
    /* rows in pieces that are too short, or beyond the maximum number of pieces */
    size_t short_rows;
    double duration_s, rate_hz, gap_s_max;
    double turn_left_rad, turn_right_rad; /* sums of the measured heading's changes, >= 0 */
};

/* Makes a set. Returns STATUS_E_EMPTY (nothing usable), STATUS_E_RANGE (times that cannot be
 * seconds, headings that cannot be radians) or STATUS_E_NOMEM with err filled. *set is
 * written only on STATUS_OK, *summary always. The caller calls odometry_set_free(). Cost O(n
 * log n). */
MUST_USE enum status odometry_set_make(const struct odometry_raw *raw, struct odometry_set *set,
                                       struct odometry_summary *summary, struct err *err);

void odometry_set_free(struct odometry_set *set); /* NULL and zeroed ones are allowed */

#endif
