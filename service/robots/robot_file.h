/* service/robots/robot_file.h - parameters of a simulated robot, from YAML.
 *
 *     linear_speed_mps: 0.2        # of both robots of a pair
 *     controller: pid
 *     real: {gain_left_ratio: 1.04} # of the real one only; likewise virtual
 *
 * Keys, ranges and words are the rows of the robot kind's table. All faults of a file are
 * reported at once, with line and column.
 */
#ifndef SERVICE_ROBOTS_ROBOT_FILE_H
#define SERVICE_ROBOTS_ROBOT_FILE_H

#include "config/err_list.h"
#include "logger/message/event.h"
#include "twin/robots/robot.h"

/* Read and check a parameter file. What is not in it stays as it is in values.
 *
 * Returns STATUS_E_IO, STATUS_E_PARSE or STATUS_E_NOMEM with at least one fault in *errors;
 * values are written only on STATUS_OK. Cold path: allocates. */
MUST_USE enum status robot_file_load(const char *path, const struct robot_kind *kind,
                                     double values[SIDE_COUNT][ROBOT_PARAMETERS_MAX],
                                     struct err_list *errors);

/* The same from memory; name stands for the path in the faults. */
MUST_USE enum status robot_file_parse(const char *text, size_t bytes, const char *name,
                                      const struct robot_kind *kind,
                                      double values[SIDE_COUNT][ROBOT_PARAMETERS_MAX],
                                      struct err_list *errors);

#endif
