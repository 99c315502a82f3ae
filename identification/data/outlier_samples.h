/* identification/data/outlier_samples.h - replacement of outliers in measured velocities. Cold
 * path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_OUTLIER_SAMPLES_H
#define IDENTIFICATION_DATA_OUTLIER_SAMPLES_H

#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"

/* Copies the set to *clean, with its own velocities in *memory (to be freed). Three pairs of
 * neighbours each predict a sample by their mean. A sample is replaced by the median of the
 * three if it differs from it by more than five times the noise plus four times their
 * spread. Straight lines and runs of less than seven samples stay unchanged. outliers:
 * number of replaced samples per axis, out. Returns STATUS_E_NOMEM with nothing to free. */
MUST_USE enum status outlier_samples_replace(const struct data_set *set, struct data_set *clean,
                                             gsl_vector **memory,
                                             size_t outliers[MODEL_AXES_MAX]);

/* Repeats the replacement after a simulation that explains the velocities to their noise, on
 * the axes where it does. residual [axes][n]: measured in set - simulated; NaN: unknown, and
 * clean is unchanged there. clean, from the call above, becomes
 *     simulated + s psi(residual / s) / mean psi',    s = 1.4826 median |residual|
 *
 * with Tukey's biweight psi, which is zero from 6 s on. If least squares reproduce these
 * residuals, that fit is the robust fit, and its standard errors hold for it. outliers:
 * number of residuals beyond 6 s, out. scratch [n]. */
void outlier_samples_refine(const struct data_set *set, double *const *residual,
                            double *scratch, gsl_vector *memory,
                            size_t outliers[MODEL_AXES_MAX]);

#endif
