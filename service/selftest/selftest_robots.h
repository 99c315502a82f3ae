/* service/selftest/selftest_robots.h - robots of the self test that are no model of motion:
 * their recordings, and their true parameters.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_ROBOTS_H
#define SERVICE_SELFTEST_SELFTEST_ROBOTS_H

#include <math.h>
#include <stdio.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "service/selftest/selftest_scenario.h"

/* Draws a normal number, mean 0 and variance 1. */
static inline double selftest_draw_normal(struct random_source *n)
{
    const double radius = sqrt(2.0 * random_exponential(n, 1.0));
    return radius * cos(random_between(n, 0.0, 2.0 * PI));
}

/* Write a table in this scenario. */
typedef void selftest_write(const struct selftest_scenario *scenario,
                            struct random_source *draws, FILE *to);
/* The truth of the i-th parameter; its name in *name, NULL after the last one. */
typedef double selftest_truth(size_t i, const char **name);

selftest_write selftest_write_joints; /* moves of six joints: angles, speeds, currents */
selftest_truth selftest_joints_truth;
selftest_write selftest_write_poses; /* joint angles and the poses of the tool */
selftest_truth selftest_poses_truth;
selftest_write selftest_write_servo; /* time, command and position */
selftest_truth selftest_servo_truth;
selftest_write selftest_write_wheels; /* angles of two wheels, and poses under a camera */
selftest_truth selftest_wheels_truth;

#endif
