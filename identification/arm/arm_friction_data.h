/* identification/arm/arm_friction_data.h - angles, speeds and currents of an arm's joints, made
 * fit for use: rows in order, pieces without gaps, and the low pass that a fit sees them by.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_DATA_H
#define IDENTIFICATION_ARM_ARM_FRICTION_DATA_H

#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "identification/geometry/arm_geometry.h"

enum { ARM_FRICTION_RUNS_MAX = 1024 };

/* As recorded, [n] each; NaN: no value. Part r is the rows part_start[r] .. part_start[r + 1] -
 * 1; no time goes from one part to the next. */
struct arm_friction_raw {
    size_t n, part_count;
    const size_t *part_start; /* [part_count + 1] */
    const double *t_s;
    const double *q_rad[ARM_JOINTS], *qd_radps[ARM_JOINTS], *current_a[ARM_JOINTS];
};

struct arm_friction_summary {
    size_t rows, used;
    size_t incomplete; /* a number is missing, or is none */
    size_t back_rows;  /* no later than the row before */
    size_t gaps;
    size_t short_rows; /* in pieces too short for the filter */
    size_t runs;
    double duration_s, rate_hz;
    double uneven_ratio; /* sd of the time between rows, in periods */
};

/* Rows [n] of which run r is run_start[r] .. run_start[r + 1] - 1; memory NULL: never made, or
 * freed. */
struct arm_friction_set {
    size_t n, run_count, run_start[ARM_FRICTION_RUNS_MAX + 1];
    gsl_vector *memory;
    double *t_s, *q_rad[ARM_JOINTS], *qd_radps[ARM_JOINTS], *current_a[ARM_JOINTS];
    double rate_hz, cut_hz; /* of the low pass */
    size_t edge;            /* samples at either end of a run that the low pass bends */
};

/* Returns STATUS_E_PARSE with err when there is no piece of some seconds with times that go on
 * in seconds, STATUS_E_NOMEM; *card is written in any case. */
MUST_USE enum status arm_friction_set_make(const struct arm_friction_raw *raw,
                                           struct arm_friction_set *set,
                                           struct arm_friction_summary *summary,
                                           struct err *err);
void arm_friction_set_free(struct arm_friction_set *set);

/* x [n] through Butterworth's filter of second order forwards and back, run by run, so that
 * nothing comes late: what both sides of an equation go through leaves it true. */
void arm_friction_smooth(const struct arm_friction_set *set, double *x);
/* The rate of x [n] by central differences into out [n], run by run. */
void arm_friction_rate(const struct arm_friction_set *set, const double *x, double *out);

#endif
