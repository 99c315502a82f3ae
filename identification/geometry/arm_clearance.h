/* identification/geometry/arm_clearance.h - how far the arm is from itself and from the floor. Pure.
 *
 * Links are capsules, with the radii and offsets of the UR5's ROS description
 * (UniversalRobots/Universal_Robots_ROS2_Description). A bound that keeps a virtual arm out of
 * poses that a real one cannot take; not a safety function.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_CLEARANCE_H
#define IDENTIFICATION_GEOMETRY_ARM_CLEARANCE_H

#include "identification/geometry/arm_geometry.h"

/* Names of the two nearest parts; borrowed, static. */
struct arm_clearance {
    double distance_m; /* between surfaces, < 0: they overlap */
    const char *part, *other;
};

/* Of all pairs of parts that can meet, the nearest; of forearm and wrist and the plane
 * z = floor_m, too, unless that is -INFINITY. */
struct arm_clearance arm_clearance(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                                   double floor_m);

#endif
