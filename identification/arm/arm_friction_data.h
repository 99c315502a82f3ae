/* identification/arm/arm_friction_data.h - angles, speeds and currents of an arm's joints,
 * cleaned for a fit.
 *
 * Rows are in order, in pieces without gaps, with the low-pass filter of the fit.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_DATA_H
#define IDENTIFICATION_ARM_ARM_FRICTION_DATA_H

#include <stddef.h>

#include <gsl/gsl_vector.h>
#include <gsl/gsl_vector_ulong.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "identification/geometry/arm_geometry.h"

enum { ARM_FRICTION_RUNS_MAX = 1024 };

/* Recorded values, [n] each; NaN: missing. Part r is rows part_start[r] .. part_start[r + 1]
 * - 1. Parts have unrelated times. */
struct arm_friction_raw {
    size_t n, part_count;
    const size_t *part_start; /* [part_count + 1] */
    const double *t_s;
    const double *q_rad[ARM_JOINTS], *qd_radps[ARM_JOINTS], *current_a[ARM_JOINTS];
};

struct arm_friction_summary {
    size_t rows, used;
    size_t incomplete; /* rows with a missing or non-finite number */
    size_t back_rows;  /* rows not later than the previous one */
    size_t gaps;
    size_t short_rows; /* rows in pieces that are too short for the filter */
    size_t runs;
    double duration_s, rate_hz;
    double uneven_ratio; /* sd of the time between rows, in periods */
};

/* Rows [n]; run r is rows run_start[r] .. run_start[r + 1] - 1. memory NULL: not made, or
 * freed. */
struct arm_friction_set {
    size_t n, run_count, run_start[ARM_FRICTION_RUNS_MAX + 1];
    size_t used;              /* rows away from the ends of their run, which the fit uses */
    const unsigned long *row; /* [used] */
    gsl_vector *memory;
    gsl_vector_ulong *row_memory;
    double *t_s, *q_rad[ARM_JOINTS], *qd_radps[ARM_JOINTS], *current_a[ARM_JOINTS];
    double rate_hz, cut_hz; /* sampling rate; cut-off of the low-pass filter */
    double delay_s, lag_s;  /* by which currents come late; 0: not */
    size_t edge;            /* samples at either end of a run that the filter distorts */
};

/* Returns whether the row in use before this one is its neighbour in the recording. */
static inline bool arm_friction_goes_on(const struct arm_friction_set *set, size_t at,
                                        size_t lag)
{
    return at >= lag && set->row[at - lag] + lag == set->row[at];
}

/* Makes a set. Returns STATUS_E_PARSE with err if there is no piece of several seconds with
 * increasing times in seconds, STATUS_E_NOMEM. *summary is always written. */
MUST_USE enum status arm_friction_set_make(const struct arm_friction_raw *raw,
                                           struct arm_friction_set *set,
                                           struct arm_friction_summary *summary,
                                           struct err *err);
void arm_friction_set_free(struct arm_friction_set *set);

/* Filters x [n] by a second-order Butterworth filter, forwards and backwards, run by run, so
 * that there is no delay. An equation remains valid if both of its sides are filtered. */
void arm_friction_smooth(const struct arm_friction_set *set, double *x);
/* Delays x [n] by set->delay_s, or lets it pass a lag of set->lag_s: what late currents show.
 */
void arm_friction_retard(const struct arm_friction_set *set, double *x);
/* Computes the rate of x [n] by central differences into out [n], run by run. */
void arm_friction_rate(const struct arm_friction_set *set, const double *x, double *out);

#endif
