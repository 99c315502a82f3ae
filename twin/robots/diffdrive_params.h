/* twin/robots/diffdrive_params.h - what can be set about the differential-drive robot.
 *
 * A field and a row of diffdrive_parameters[] for each row of diffdrive_params.def, where
 * meaning, presets and ranges stand; equations in docs/model/diffdrive.md. Pure.
 */
#ifndef TWIN_ROBOTS_DIFFDRIVE_PARAMS_H
#define TWIN_ROBOTS_DIFFDRIVE_PARAMS_H

#include "twin/robots/robot.h"

enum diffdrive_controller {
    DIFFDRIVE_ONOFF,
    DIFFDRIVE_PROPORTIONAL,
    DIFFDRIVE_INVERSE_MAP,
    DIFFDRIVE_PD,
    DIFFDRIVE_PID,
    DIFFDRIVE_CONTROLLER_COUNT
};

/* What a move takes over from the one before it. */
enum diffdrive_carry {
    DIFFDRIVE_CARRY_NOTHING,
    DIFFDRIVE_CARRY_ANGLE, /* heading and distance that were left */
    DIFFDRIVE_CARRY_POSE,  /* and the sideways error */
    DIFFDRIVE_CARRY_COUNT
};

struct diffdrive_params {
#define PARAMETER(name, ...) double name;
#include "twin/robots/diffdrive_params.def"
#undef PARAMETER
};

enum { DIFFDRIVE_PARAMETER_COUNT = sizeof(struct diffdrive_params) / sizeof(double) };

extern const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT];

#endif
