/* identification/geometry/arm_clearance.h - distance of an arm's links from each other and the
 * floor.
 *
 * Links are capsules with the radii and offsets of the UR5's ROS description
 * (UniversalRobots/Universal_Robots_ROS2_Description). This bound keeps a virtual arm out of
 * poses that a real arm cannot reach. It is not a safety function. Pure.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_CLEARANCE_H
#define IDENTIFICATION_GEOMETRY_ARM_CLEARANCE_H

#include "identification/geometry/arm_geometry.h"

/* The smallest distance, with the names of the two parts (static strings). */
struct arm_clearance {
    double distance_m; /* distance of the surfaces, < 0: they overlap */
    const char *part, *other;
};

/* Returns the nearest of all pairs of parts that can collide. It includes forearm and wrist
 * against the plane z = floor_m, unless that is -INFINITY. */
struct arm_clearance arm_clearance(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                                   double floor_m);

#endif
