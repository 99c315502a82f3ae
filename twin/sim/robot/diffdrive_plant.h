/* twin/sim/robot/diffdrive_plant.h - the body of the differential-drive robot: motors, wheels,
 * encoders, and where it really is.
 *
 * Equations 14 to 18 of docs/model/diffdrive.md. Plain data. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_PLANT_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_PLANT_H

#include "twin/sim/robot/robot.h"

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

/* What can be set: a field and a row of diffdrive_parameters[] for each row of
 * diffdrive_params.def, where meaning, presets and ranges stand. */
struct diffdrive_params {
#define PARAMETER(name, ...) double name;
#include "twin/sim/robot/diffdrive_params.def"
#undef PARAMETER
};

enum { DIFFDRIVE_PARAMETER_COUNT = sizeof(struct diffdrive_params) / sizeof(double) };

extern const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT];

enum { DIFFDRIVE_LEFT, DIFFDRIVE_RIGHT, DIFFDRIVE_WHEELS };

struct diffdrive_plant {
    double pose[3]; /* x_m, y_m, psi_rad in the world: the truth */
    double speed_mps[DIFFDRIVE_WHEELS];
    double ripple[DIFFDRIVE_WHEELS];      /* of the speed, relative */
    double counts[DIFFDRIVE_WHEELS];      /* of the encoders since the start, not yet whole */
    double read_counts[DIFFDRIVE_WHEELS]; /* whole counts that were read before */
    struct random_source random;
    uint32_t bumps; /* steps in which an obstacle held the body */
};

/* One period with these controls. An obstacle stops the body, not the wheels. */
void diffdrive_plant_step(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                          const struct world *world, const double control[DIFFDRIVE_WHEELS],
                          int64_t period_us);

/* Whole encoder counts since the last reading. */
void diffdrive_plant_read(struct diffdrive_plant *plant, double counts[DIFFDRIVE_WHEELS]);

/* What the body will yet do when the motors are left alone from now on … */
void diffdrive_plant_coast(const struct diffdrive_plant *plant,
                           const struct diffdrive_params *p, double *turn_rad, double *way_m);
/* … and the encoder counts that will be read of it, with those that were not read yet. */
void diffdrive_plant_expect(const struct diffdrive_plant *plant,
                            const struct diffdrive_params *p, double counts[DIFFDRIVE_WHEELS]);

/* Body velocity: forward and counter-clockwise. */
void diffdrive_plant_velocity(const struct diffdrive_plant *plant,
                              const struct diffdrive_params *p, double *forward_mps,
                              double *turn_radps);

/* What the motors are told, as the velocity that they tend to at nominal gains: ahead, sideways
 * (0), turn. */
void diffdrive_plant_commanded(const struct diffdrive_params *p,
                               const double control[DIFFDRIVE_WHEELS], double commanded[3]);

/* The controls that tell the motors this velocity: diffdrive_plant_commanded() the other way
 * round, within what motors obey. */
void diffdrive_plant_controls(const struct diffdrive_params *p, double forward_mps,
                              double turn_radps, double control[DIFFDRIVE_WHEELS]);

/* What the lidar reads at this angle of its servo. */
double diffdrive_plant_ping(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                            const struct world *world, double yaw_rad);

#endif
