/* identification/data/data_set.h - recorded motion: velocities, efforts, poses on an even grid.
 *
 * Estimators read struct data_set and nothing else. data_table_make() brings what was recorded
 * into that shape and says on a data card what it found on the way (docs/model/
 * identification.md, section 2). Units are SI. Pure: no I/O, no clock.
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

/* Plain columns; memory belongs to the caller. Inside a run samples are dt_s apart, but for
 * what a timer is late or early (t_s has their own times, at which methods that simulate take
 * them), and finite; tau[i] acts from t_s[i] until the next sample (zero-order hold). */
struct data_set {
    size_t axes;                         /* of nu and tau, 1 .. MODEL_AXES_MAX */
    size_t n;                            /* samples of all runs */
    double dt_s;                         /* > 0 */
    const double *t_s;                   /* [n] */
    const double *nu[MODEL_AXES_MAX];    /* [axes][n] */
    const double *tau[MODEL_AXES_MAX];   /* [axes][n] */
    const double *pose[MODEL_AXES_MAX];  /* [axes][n]; NULL: not recorded */
    size_t run_count;                    /* 1 .. DATA_RUNS_MAX */
    size_t run_start[DATA_RUNS_MAX + 1]; /* run r is run_start[r] .. run_start[r + 1] - 1 */
    size_t part_count;                   /* files or recordings; 0: of one */
    size_t run_part[DATA_RUNS_MAX];      /* which of them a run is of, 0 .. part_count - 1 */
    double noise_sd[MODEL_AXES_MAX];     /* of nu; 0 when it cannot be told */
    bool derived[MODEL_AXES_MAX];        /* nu is the slope of recorded positions */
    /* Of efforts that act late (data_view_delay()), as they were told: of sample k, the one of
     * k
     * - late acts for a share of the period that is not late_share, the one before it until
     * then. NULL: those of tau act for all of it. */
    const double *recorded[MODEL_AXES_MAX];
    ptrdiff_t late;
    double late_share; /* 0 .. 1 */
};

/* What was recorded: rows in the order of the recording. NaN marks what is missing. A velocity
 * may be absent where the pose is there: it is derived then (docs/model/identification.md,
 * eq. 2a). */
struct data_raw {
    size_t axes, n;
    const double *t_s;                  /* [n] */
    const double *nu[MODEL_AXES_MAX];   /* [axes][n]; NULL: derived from the pose */
    const double *tau[MODEL_AXES_MAX];  /* [axes][n] */
    const double *pose[MODEL_AXES_MAX]; /* [axes][n]; NULL: not recorded */
    size_t part_count;                  /* files or recordings, 1 .. DATA_RUNS_MAX */
    size_t part_start[DATA_RUNS_MAX + 1];
};

struct data_channel {
    double min, max, mean, sd;
    double noise_sd;         /* from third differences; 0 when it cannot be told */
    double signal_ratio;     /* sd over noise_sd; NaN without noise_sd */
    double quantum;          /* smallest step when values repeat themselves; 0: none seen */
    double saturation_ratio; /* share of samples at the lowest or highest value */
};

/* The data card. */
struct data_summary {
    size_t rows;       /* recorded */
    size_t used;       /* samples in the data set */
    size_t runs;       /* pieces without a gap */
    size_t incomplete; /* rows with a value missing or not finite */
    size_t duplicates; /* rows with the time of the row before */
    size_t back_steps; /* times at which time ran back */
    size_t back_rows;  /* rows passed over until time had caught up */
    size_t gaps;       /* longer than 2.5 periods */
    size_t bridged;    /* of them, up to 4 periods: interpolated over, not cut */
    size_t missing;    /* rows that should stand between others, single ones and in gaps */
    size_t jumps; /* times at which an effort changed over up to 4 periods without rows: cut
                   * there where there are at most 16 of them */
    size_t short_rows; /* rows in pieces too short, or too many, to be used */
    bool resampled;    /* some samples stand between rows */
    bool counted;      /* times are whole numbers, one after the other: of rows? */
    double duration_s; /* of the runs together */
    double rate_hz;
    double dt_s;
    double jitter_ratio; /* robust sd of the sampling period over the period */
    double gap_s_max;
    struct data_channel nu[MODEL_AXES_MAX], tau[MODEL_AXES_MAX];
    struct data_channel pose[MODEL_AXES_MAX]; /* zero where none was recorded */
    /* Samples of the polynomial that gave the velocity; 0: it was recorded. */
    size_t derived_window[MODEL_AXES_MAX];
};

struct data_table {
    struct data_set set;
    gsl_vector *memory; /* of the set's columns */
};

/* Clean, cut into runs, resample where needed, derive velocities that were not recorded. The
 * caller ends with data_table_free().
 *
 * Returns STATUS_E_EMPTY (no run of DATA_RUN_MIN samples is left), STATUS_E_RANGE (periods
 * that cannot be seconds) or STATUS_E_NOMEM with err filled; outputs but *card, which then says
 * what was found so far, are written only on STATUS_OK. Cost O(n log n). */
MUST_USE enum status data_table_make(const struct data_raw *raw, struct data_table *table,
                                     struct data_summary *summary, struct err *err);

void data_table_free(struct data_table *table); /* NULL and zeroed ones are allowed */

/* Whether the set has the model's axes, and the pose where the model needs it. */
bool data_set_suits(const struct data_set *set, const struct model *model);

/* The measured velocities of sample k into nu [axes]. */
void data_set_velocity(const struct data_set *set, size_t k, double *nu);

/* The recorded pose of sample k: pose [axes], filled, or NULL where the set has none. */
const double *data_set_pose(const struct data_set *set, size_t k, double *pose);

#endif
