/* identification/data/data_raw.h - recorded rows, and what is found in them. Plain data.
 */
#ifndef IDENTIFICATION_DATA_DATA_RAW_H
#define IDENTIFICATION_DATA_DATA_RAW_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/column_rate.h"
#include "identification/data/column_steps.h"
#include "identification/data/copied_rows.h"
#include "identification/data/linear_model.h"

enum { DATA_RUNS_MAX = 64, DATA_RUN_MIN = 8 };

/* Efforts that change between rows: each holds from its time on. tau then has their means from
 * row to row. */
struct data_commands {
    size_t count; /* 0: efforts change at rows only */
    const double *t_s, *tau[MODEL_AXES_MAX];
};

/* Recorded rows in their order. NaN marks a missing value. A velocity may be absent if the
 * pose was recorded; it is then derived (docs/model/identification.md, eq. 2a). */
struct data_raw {
    size_t axes, n;
    const double *t_s;                  /* [n] */
    const double *nu[MODEL_AXES_MAX];   /* [axes][n]; NULL: derived from the pose */
    const double *tau[MODEL_AXES_MAX];  /* [axes][n] */
    const double *pose[MODEL_AXES_MAX]; /* [axes][n]; NULL: not recorded */
    /* Positions that are only compared with the velocity; NULL: none. Values may be missing. */
    const double *position[MODEL_AXES_MAX];
    double pose_scale[MODEL_AXES_MAX]; /* SI units in one unit of the file; 0: 1 */
    struct data_commands commands;
    const double *commands_before; /* [n] number of commands up to the time of a row */
    size_t part_count;             /* number of files or recordings, 1 .. DATA_RUNS_MAX */
    size_t part_start[DATA_RUNS_MAX + 1];
};

struct data_channel {
    double min, max, mean, sd;
    double noise_sd;         /* from third differences; 0: unknown */
    double signal_ratio;     /* sd over noise_sd; NaN without noise_sd */
    double quantum;          /* step of which all values are multiples; 0: none */
    double repeat_ratio;     /* share of rows that repeat the one before */
    double hold_rows;        /* median number of rows that a value stays */
    double saturation_ratio; /* share of samples at the lowest or highest value */
};

/* The data summary: what was found in a recording. */
struct data_summary {
    size_t rows;       /* recorded */
    size_t used;       /* samples in the data set */
    size_t runs;       /* pieces without a gap */
    size_t incomplete; /* rows with a value missing or not finite */
    size_t duplicates; /* rows with the time of the row before */
    size_t back_steps; /* times at which time ran back */
    size_t back_rows;  /* rows skipped until time had caught up */
    size_t gaps;       /* longer than 2.5 periods */
    size_t bridged;    /* gaps up to 4 periods: interpolated, not cut */
    size_t missing;    /* number of rows that are missing between others */
    /* Number of efforts that changed while rows were missing, over at most 4 periods. If
     * there are at most 16, the recording is cut there. */
    size_t jumps;
    /* rows in pieces that are too short, or beyond the maximum number of pieces */
    size_t short_rows;
    bool resampled;    /* some samples were interpolated between rows */
    bool counted;      /* times are consecutive whole numbers, perhaps row numbers */
    double duration_s; /* total duration of the runs */
    double rate_hz;
    double dt_s;
    double jitter_ratio; /* robust sd of the sampling period over the period */
    double gap_s_max;
    struct data_channel nu[MODEL_AXES_MAX], tau[MODEL_AXES_MAX];
    struct data_channel pose[MODEL_AXES_MAX]; /* zero where none was recorded */
    /* Commands and measurements have rows of their own; rows that have both. */
    bool joined;
    size_t rows_with_both;
    double row_s; /* interval between rows at which a command changes; 0: it has its own time */
    /* Rows that a velocity stays although it must change; 0: each row is a new one. Rows that
     * were left out because all velocities do. */
    size_t stale_rows[MODEL_AXES_MAX], repeated;
    struct copied_rows copied;               /* of all files, one after the other */
    struct column_wrap wrap[MODEL_AXES_MAX]; /* of positions; the turn in the file's unit */
    struct column_rate rate[MODEL_AXES_MAX]; /* of positions and velocities */
    /* Window of the polynomial that gave the velocity, in samples; 0: recorded. */
    size_t derived_window[MODEL_AXES_MAX];
};

#endif
