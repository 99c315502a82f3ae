/* identification/data/simulation.h - simulation of a model under recorded efforts. Pure.
 */
#ifndef IDENTIFICATION_DATA_SIMULATION_H
#define IDENTIFICATION_DATA_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

/* Simulates every run from its first measured velocity, or from rest; nu is [axes][set->n],
 * out. theta: the model's parameters, then bias_count constant efforts that the model adds.
 * Dynamics that depend on the pose use the recorded one at every sample. Returns false, with
 * nu undefined, if a needed pose was not recorded, if the parameters are not physical, or if
 * the motion diverges. */
bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu);

/* One-step prediction: starts each sample from the previous measured velocity. */
bool simulation_one_step(const struct model *model, const double *theta, size_t bias_count,
                         const struct data_set *set, double *const *nu);

#endif
