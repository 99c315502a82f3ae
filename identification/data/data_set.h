/* identification/data/data_set.h - recorded motion: velocities, efforts and poses on an even
 * grid.
 *
 * All estimators read struct data_set. data_table_make() converts a recording into it and
 * reports what it found in a data summary (docs/model/identification.md, section 2). Units are
 * SI. Pure: no I/O, no clock.
 */
#ifndef IDENTIFICATION_DATA_DATA_SET_H
#define IDENTIFICATION_DATA_DATA_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "identification/data/linear_model.h"

enum { DATA_RUNS_MAX = 64, DATA_RUN_MIN = 8 };

/* Columns whose memory belongs to the caller. All values are finite. Within a run, samples
 * are dt_s apart, except for timer jitter. t_s has the exact times, which simulations use.
 * tau[i] acts from t_s[i] until the next sample (zero-order hold). */
struct data_set {
    size_t axes;                      /* number of columns of nu and tau, 1 .. MODEL_AXES_MAX */
    size_t n;                         /* samples of all runs */
    double dt_s;                      /* > 0 */
    const double *t_s;                /* [n] */
    const double *nu[MODEL_AXES_MAX]; /* [axes][n] */
    const double *tau[MODEL_AXES_MAX];   /* [axes][n] */
    const double *pose[MODEL_AXES_MAX];  /* [axes][n]; NULL: not recorded */
    size_t run_count;                    /* 1 .. DATA_RUNS_MAX */
    size_t run_start[DATA_RUNS_MAX + 1]; /* run r is run_start[r] .. run_start[r + 1] - 1 */
    size_t part_count;                   /* number of files or recordings; 0: one */
    size_t run_part[DATA_RUNS_MAX];      /* part of each run, 0 .. part_count - 1 */
    double noise_sd[MODEL_AXES_MAX];     /* noise of nu; 0: unknown */
    bool derived[MODEL_AXES_MAX];        /* nu is the slope of recorded positions */
    /* Set by data_view_delay(): the efforts as recorded. From sample k on, the effort of k -
     * late - 1 acts for the share late_share of the period, then that of k - late. NULL: the
     * efforts of tau act for whole periods. */
    const double *recorded[MODEL_AXES_MAX];
    ptrdiff_t late;
    double late_share; /* 0 .. 1 */
};

/* Recorded rows in their order. NaN marks a missing value. A velocity may be absent if the
 * pose was recorded; it is then derived (docs/model/identification.md, eq. 2a). */
struct data_raw {
    size_t axes, n;
    const double *t_s;                  /* [n] */
    const double *nu[MODEL_AXES_MAX];   /* [axes][n]; NULL: derived from the pose */
    const double *tau[MODEL_AXES_MAX];  /* [axes][n] */
    const double *pose[MODEL_AXES_MAX]; /* [axes][n]; NULL: not recorded */
    size_t part_count;                  /* number of files or recordings, 1 .. DATA_RUNS_MAX */
    size_t part_start[DATA_RUNS_MAX + 1];
};

struct data_channel {
    double min, max, mean, sd;
    double noise_sd;         /* from third differences; 0: unknown */
    double signal_ratio;     /* sd over noise_sd; NaN without noise_sd */
    double quantum;          /* smallest step between repeated values; 0: none seen */
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
    /* Window of the polynomial that gave the velocity, in samples; 0: recorded. */
    size_t derived_window[MODEL_AXES_MAX];
};

struct data_table {
    struct data_set set;
    gsl_vector *memory; /* memory of the set's columns */
};

/* Cleans a recording, cuts it into runs, resamples where needed, and derives velocities that
 * were not recorded. The caller calls data_table_free().
 *
 * Returns STATUS_E_EMPTY (no run has DATA_RUN_MIN samples), STATUS_E_RANGE (the periods
 * cannot be seconds) or STATUS_E_NOMEM with err filled. Outputs are written only on
 * STATUS_OK, except *summary, which then holds the findings so far. Cost O(n log n). */
MUST_USE enum status data_table_make(const struct data_raw *raw, struct data_table *table,
                                     struct data_summary *summary, struct err *err);

void data_table_free(struct data_table *table); /* NULL and zeroed ones are allowed */

/* Returns whether the set has the model's axes, and the pose if the model needs it. */
bool data_set_suits(const struct data_set *set, const struct model *model);

/* Copies the measured velocities of sample k to nu [axes]. */
void data_set_velocity(const struct data_set *set, size_t k, double *nu);

/* Copies the recorded pose of sample k to pose [axes] and returns it; NULL if the set has
 * none. */
const double *data_set_pose(const struct data_set *set, size_t k, double *pose);

#endif
