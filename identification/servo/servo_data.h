/* identification/servo/servo_data.h - recorded commands and positions of a position-commanded
 * servo, cleaned for a fit.
 *
 * A command holds until the next one. Rows may lack the position, as in a log that joins two
 * topics. Repeated and disordered rows are skipped and counted; gaps cut the recording.
 * Positions that wrap around are unwrapped. Pure except for GSL's allocations: no I/O, no
 * clock.
 */
#ifndef IDENTIFICATION_SERVO_SERVO_DATA_H
#define IDENTIFICATION_SERVO_SERVO_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/err.h"
#include "base/errors/status.h"

/* Largest number of runs, and smallest number of positions in a run. */
enum { SERVO_RUNS_MAX = 64, SERVO_RUN_MIN = 20 };

/* Recorded rows in their order. NaN marks a missing value. */
struct servo_raw {
    size_t n;
    const double *t_s, *command_rad, *position_rad; /* [n] */
    size_t part_count;                              /* 1 .. SERVO_RUNS_MAX */
    size_t part_start[SERVO_RUNS_MAX + 1];
};

/* Rows in order. Their storage is `memory`. */
struct servo_set {
    size_t n, positions;
    const double *t_s, *command_rad; /* [n] finite */
    const double *change_s;          /* [n] when the command of a row came into force: t_s */
    const double *position_rad;      /* [n] NaN: no position */
    size_t run_count;                /* 1 .. SERVO_RUNS_MAX; a run begins with a position */
    size_t run_start[SERVO_RUNS_MAX + 1];
    double period_s;    /* median time between positions */
    double hold_s;      /* time before a row in which its command may have changed; 0: none */
    double step_rad;    /* steps of the encoder; 0: none seen */
    double range_rad;   /* of the command */
    double position_sd; /* of the position about its mean, rad */
    size_t levels, magnitudes; /* distinct values of the command about its middle */
    gsl_vector *memory;
};

/* The data summary: what was found in the recording. */
struct servo_summary {
    size_t rows, used, positions, runs;
    size_t incomplete; /* rows without a time, or without anything else */
    size_t duplicates; /* rows with the time of the row before */
    size_t back_rows;  /* rows skipped until time had caught up */
    size_t gaps;       /* longer than 2.5 periods: the recording is cut there */
    size_t wraps;      /* jumps of the position by one turn */
    size_t short_rows; /* rows in pieces that are too short, or beyond SERVO_RUNS_MAX */
    double duration_s, rate_hz, gap_s_max;
    double command_min_rad, command_max_rad, position_min_rad, position_max_rad;
    double step_rad;  /* steps of the encoder; 0: none seen */
    size_t stale;     /* positions that repeat an older one */
    double hold_rows; /* rows for each new position, in motion; 0: about one */
};

/* Makes a set. Returns STATUS_E_EMPTY (nothing usable), STATUS_E_RANGE (times that cannot be
 * seconds) or STATUS_E_NOMEM with err filled. *set is written only on STATUS_OK, *summary
 * always. The caller calls servo_set_free(). Cost O(n log n). */
MUST_USE enum status servo_set_make(const struct servo_raw *raw, struct servo_set *set,
                                    struct servo_summary *summary, struct err *err);

void servo_set_free(struct servo_set *set); /* NULL and zeroed ones are allowed */

#endif
