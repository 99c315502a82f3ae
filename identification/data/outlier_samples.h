/* identification/data/outlier_samples.h - samples that are no motion: a wrong number among
 * right ones. Cold path: allocates through GSL. */
#ifndef IDENTIFICATION_DATA_OUTLIER_SAMPLES_H
#define IDENTIFICATION_DATA_OUTLIER_SAMPLES_H

#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"

/* A copy of the set in *clean, with velocities of its own in *memory (to be freed). Three pairs
 * of neighbours say by their means what a sample should be; one that lies further from the
 * middle of the three than five times the noise and four times what they differ by is replaced
 * by it. A straight line is left alone, and so are runs of less than seven samples. outliers:
 * how many on each axis, out. Returns STATUS_E_NOMEM with nothing to free. */
MUST_USE enum status outlier_samples_replace(const struct data_set *set, struct data_set *clean,
                                             gsl_vector **memory,
                                             size_t outliers[MODEL_AXES_MAX]);

/* The same anew, once a simulation explains the velocities as well as their noise lets it, on
 * the axes where it does. residual [axes][n]: measured in set - simulated; NaN: not known, and
 * clean stays as it is there. clean, as it came from the call above, gets
 *
 *     simulated + s psi(residual / s) / mean psi',    s = 1.4826 median |residual|
 *
 * with Tukey's biweight psi, zero from 6 s on: a fit by least squares whose residuals these are
 * already is the robust fit, and what it says of its errors is true of that. outliers: how many
 * lie beyond, out. scratch [n]. */
void outlier_samples_refine(const struct data_set *set, double *const *residual,
                            double *scratch, gsl_vector *memory,
                            size_t outliers[MODEL_AXES_MAX]);

#endif
