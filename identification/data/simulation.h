/* identification/data/simulation.h - what a model makes of recorded efforts. Pure. */
#ifndef IDENTIFICATION_DATA_SIMULATION_H
#define IDENTIFICATION_DATA_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

/* Velocities at the samples of every run, each run from its own first sample, or from rest; nu
 * is [axes][set->n], out. theta: the model's parameters, then bias_count constant efforts that
 * the model adds. Dynamics that depend on the pose take the recorded one at every sample. False
 * when the model needs a pose that was not recorded, when the parameters are not physical or
 * the motion runs away; nu then holds no result. */
bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu);

/* The same from sample to sample: each one from the measured one before it. */
bool simulation_one_step(const struct model *model, const double *theta, size_t bias_count,
                         const struct data_set *set, double *const *nu);

#endif
