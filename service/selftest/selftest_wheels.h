/* service/selftest/selftest_wheels.h - writes recordings of a robot on two wheels under a
 * camera, with known radii, track and mounting.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_WHEELS_H
#define SERVICE_SELFTEST_SELFTEST_WHEELS_H

#include <stdio.h>

#include "base/numbers/random.h"
#include "service/selftest/selftest_scenario.h"

/* Write angles of the wheels and poses. */
void selftest_write_wheels(const struct selftest_scenario *scenario,
                           struct random_source *draws, FILE *to);

/* The truth of the i-th parameter; its name in *name, NULL after the last one. */
double selftest_wheels_truth(size_t i, const char **name);

#endif
