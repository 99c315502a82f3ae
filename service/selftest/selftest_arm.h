/* service/selftest/selftest_arm.h - writes recordings of an arm with known friction or known
 * links.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_ARM_H
#define SERVICE_SELFTEST_SELFTEST_ARM_H

#include <stdio.h>

#include "base/numbers/random.h"
#include "service/selftest/selftest_scenario.h"

/* Write moves of six joints: angles, speeds, currents. */
void selftest_write_joints(const struct selftest_scenario *scenario,
                           struct random_source *draws, FILE *to);
/* Write joint angles and the poses of the tool. */
void selftest_write_poses(const struct selftest_scenario *scenario, struct random_source *draws,
                          FILE *to);

/* The truth of the i-th parameter; its name in *name, NULL after the last one. */
double selftest_joints_truth(size_t i, const char **name);
double selftest_poses_truth(size_t i, const char **name);

#endif
