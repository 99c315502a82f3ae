/* service/arm/arm_links_file.h - the links of one arm as they are, from what is at hand of
 * it:
 *
 *     tandem identify --model arm_kinematics --json    its "corrections"
 *     delta_theta = [ … ]                              calibration.conf of a UR controller:
 *                                                      what is added to the nominal table
 *     kinematics: {shoulder: {x: 0, … yaw: 0}, …}      what ROS' ur_calibration writes: origins
 * of the joints in a URDF
 *
 * each into the corrections of (1) in identification/geometry/arm_geometry.h. All faults of a file are
 * reported at once, with line and column.
 */
#ifndef SERVICE_ARM_ARM_LINKS_FILE_H
#define SERVICE_ARM_ARM_LINKS_FILE_H

#include "config/options/option_file.h"
#include "identification/geometry/arm_geometry.h"

/* The nominal arm is given; of a file that is fine its links are replaced. */
struct arm_links {
    struct arm_geometry arm;
};

/* Fills a struct arm_links. */
extern const struct option_file arm_links_file;

#endif
