/* identification/data/motion_time.h - how fast a recorded motion changes. Pure, no allocation.
 */
#ifndef IDENTIFICATION_DATA_MOTION_TIME_H
#define IDENTIFICATION_DATA_MOTION_TIME_H

#include "identification/data/data_set.h"

/* The time (s) after which velocities have half forgotten themselves: where the autocorrelation
 * about the mean of each run, less the measurement's noise, first falls below a half; of the
 * fastest axis, and no more than most_s > 0. most_s where nothing moves beyond its noise. A lag
 * is looked at every quarter of itself, and some ten thousand products each: cheap on any
 * recording. */
double motion_time_s(const struct data_set *set, double most_s);

#endif
