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
#include "identification/data/data_raw.h"
#include "identification/data/linear_model.h"

/* Columns whose memory belongs to the caller. All values are finite. Within a run, samples
 * are dt_s apart, except for timer jitter. t_s has the exact times, which simulations use.
 * tau[i] acts from t_s[i] until the next sample (zero-order hold). */
struct data_set {
    size_t axes;                      /* number of columns of nu and tau, 1 .. MODEL_AXES_MAX */
    size_t n;                         /* samples of all runs */
    double dt_s;                      /* > 0 */
    const double *t_s;                /* [n] */
    const double *nu[MODEL_AXES_MAX]; /* [axes][n] */
    /* [n] time since the recorded row before; 0: a missing row, interpolated. NULL: all rows
     * are recorded. */
    const double *gap_s;
    const double *tau[MODEL_AXES_MAX];   /* [axes][n] */
    const double *pose[MODEL_AXES_MAX];  /* [axes][n]; NULL: not recorded */
    size_t run_count;                    /* 1 .. DATA_RUNS_MAX */
    size_t run_start[DATA_RUNS_MAX + 1]; /* run r is run_start[r] .. run_start[r + 1] - 1 */
    size_t part_count;                   /* number of files or recordings; 0: one */
    size_t run_part[DATA_RUNS_MAX];      /* part of each run, 0 .. part_count - 1 */
    double noise_sd[MODEL_AXES_MAX];     /* noise of nu; 0: unknown */
    /* A command changed this much before or after the time that its effort has: between two
     * rows, it is first seen at the second. */
    double phase_s[2];
    struct data_commands commands;
    size_t run_commands[DATA_RUNS_MAX][2]; /* of each run: its first one, and its end */
    double quantum[MODEL_AXES_MAX];        /* step of which nu has multiples; 0: none */
    bool derived[MODEL_AXES_MAX];          /* nu is the slope of recorded positions */
    /* Set by data_view_delay(): the efforts as recorded. From sample k on, the effort of k -
     * late - 1 acts for the share late_share of the period, then that of k - late. NULL: the
     * efforts of tau act for whole periods. */
    const double *recorded[MODEL_AXES_MAX];
    ptrdiff_t late;
    double late_share; /* 0 .. 1 */
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

/* Returns whether sample k was recorded, and is not interpolated. */
bool data_set_is_recorded(const struct data_set *set, size_t k);

/* Copies the measured velocities of sample k to nu [axes]. */
void data_set_velocity(const struct data_set *set, size_t k, double *nu);

/* Copies the recorded pose of sample k to pose [axes] and returns it; NULL if the set has
 * none. */
const double *data_set_pose(const struct data_set *set, size_t k, double *pose);

#endif
