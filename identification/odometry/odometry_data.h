/* identification/odometry/odometry_data.h - wheel angles and a measured pose, made fit for use.
 *
 * Rows out of order, repeated and incomplete ones are passed over and counted; a recording is
 * cut where the path between two rows is unknown; rows that repeat the wheels' last reading
 * take their share of the way to the next; headings lose their jumps by a turn. Wheels may be
 * sampled more often than poses. Pure but for GSL's allocations: no I/O, no clock.
 */
#ifndef IDENTIFICATION_ODOMETRY_ODOMETRY_DATA_H
#define IDENTIFICATION_ODOMETRY_ODOMETRY_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/err.h"
#include "base/errors/status.h"

/* Poses of a run below which it is not used; as many start poses as runs are estimated. */
enum { ODOMETRY_RUNS_MAX = 64, ODOMETRY_RUN_MIN = 8 };

/* What was recorded: rows in the order of the recording. NaN marks what is missing. */
struct odometry_raw {
    size_t n;
    const double *t_s;                              /* [n] */
    const double *wheel_left_rad, *wheel_right_rad; /* [n] since any start */
    const double *x_m, *y_m, *theta_rad;            /* [n] of the sensor */
    size_t part_count;                              /* 1 .. ODOMETRY_RUNS_MAX */
    size_t part_start[ODOMETRY_RUNS_MAX + 1];
};

/* Rows in order. Memory belongs to `memory`. */
struct odometry_set {
    size_t n, poses;                    /* rows; of them, with a pose */
    const double *t_s;                  /* [n] */
    const double *left_rad, *right_rad; /* [n] turned since the row before; 0 at a start */
    double *x_m, *y_m, *theta_rad;      /* [n] theta unwrapped; NaN: no pose */
    size_t run_count;                   /* 1 .. ODOMETRY_RUNS_MAX */
    size_t run_start[ODOMETRY_RUNS_MAX + 1];
    /* What a radian of heading weighs beside a metre of a coordinate, in m; 0: what the spread
     * of the residuals says. For whoever uses the set to choose. */
    double heading_m;
    gsl_vector *memory;
};

/* The data card. */
struct odometry_summary {
    size_t rows, used, poses, runs;
    size_t incomplete;   /* rows without time or wheel angles */
    size_t held;         /* rows that repeat the wheels' last reading amid motion */
    size_t pose_missing; /* rows with wheel angles only */
    size_t stale;        /* a pose that stands still while the wheels turn: an old one */
    size_t duplicates;   /* rows with the time of the row before */
    size_t back_steps;   /* times at which time ran back */
    size_t back_rows;    /* rows passed over until time had caught up */
    size_t gaps;         /* longer than 2.5 periods */
    size_t cuts;         /* where the path is unknown: a gap in motion, a wheel that jumps */
    size_t wheel_jumps;  /* faster than any wheel: a counter that was reset */
    size_t short_rows;   /* rows in pieces too short, or too many, to be used */
    double duration_s, rate_hz, gap_s_max;
    double turn_left_rad, turn_right_rad; /* of the measured heading, >= 0 */
};

/* Returns STATUS_E_EMPTY (nothing usable), STATUS_E_RANGE (times that cannot be seconds,
 * headings that cannot be radians) or STATUS_E_NOMEM with err filled; *set is written only on
 * STATUS_OK, *card always. The caller ends with odometry_set_free(). Cost O(n log n). */
MUST_USE enum status odometry_set_make(const struct odometry_raw *raw, struct odometry_set *set,
                                       struct odometry_summary *summary, struct err *err);

void odometry_set_free(struct odometry_set *set); /* NULL and zeroed ones are allowed */

#endif
