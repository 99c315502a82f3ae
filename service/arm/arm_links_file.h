/* service/arm/arm_links_file.h - reads the measured links of one arm from any of these files:
 *
 *     tandem identify --model arm_kinematics --json    its "corrections"
 *     delta_theta = [ … ]                              calibration.conf of a UR controller:
 *                                                      differences from the nominal table
 *     kinematics: {shoulder: {x: 0, … yaw: 0}, …}      joint origins as in a URDF, written by
 *                                                      ROS' ur_calibration
 *
 * Each becomes the corrections of (1) in identification/geometry/arm_geometry.h. All faults of
 * a file are reported at once, with line and column.
 */
#ifndef SERVICE_ARM_ARM_LINKS_FILE_H
#define SERVICE_ARM_ARM_LINKS_FILE_H

#include "config/options/option_file.h"
#include "identification/geometry/arm_geometry.h"

/* In: the nominal arm. Out: with the links of a file without faults. */
struct arm_links {
    struct arm_geometry arm;
};

/* Fills a struct arm_links. */
extern const struct option_file arm_links_file;

#endif
