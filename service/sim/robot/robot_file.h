/* service/sim/robot/robot_file.h - reads parameters of a simulated robot from YAML.
 *
 *     linear_speed_mps: 0.2        # of both robots of a pair
 *     controller: pid
 *     real: {gain_left_ratio: 1.04} # of the real one only; likewise virtual
 *
 * The robot kind's table has the keys, ranges and words. All faults of a file are reported at
 * once, with line and column.
 */
#ifndef SERVICE_SIM_ROBOT_ROBOT_FILE_H
#define SERVICE_SIM_ROBOT_ROBOT_FILE_H

#include "config/options/option_file.h"
#include "logger/message/event.h"
#include "twin/sim/robot/robot.h"

/* The kind is given. Values that are not in the file stay unchanged. */
struct robot_file {
    const struct robot_kind *kind;
    double values[SIDE_COUNT][ROBOT_PARAMETERS_MAX];
};

/* Fills a struct robot_file. */
extern const struct option_file robot_file;

#endif
