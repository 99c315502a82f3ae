/* twin/sim/robot/diffdrive_plant.h - the body of the differential-drive robot: motors, wheels,
 * encoders, and its true pose.
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

/* Errors that a move takes over from the previous one, to correct them. */
enum diffdrive_carry {
    DIFFDRIVE_CARRY_NOTHING,
    DIFFDRIVE_CARRY_ANGLE, /* remaining heading and distance */
    DIFFDRIVE_CARRY_POSE,  /* plus the sideways error */
    DIFFDRIVE_CARRY_COUNT
};

/* The parameters: a field and a row of diffdrive_parameters[] per row of diffdrive_params.def,
 * which has meaning, presets and ranges. */
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
    double ripple[DIFFDRIVE_WHEELS];      /* ripple of the speed, relative */
    double counts[DIFFDRIVE_WHEELS];      /* encoder counts since the start, with fractions */
    double read_counts[DIFFDRIVE_WHEELS]; /* whole counts already read */
    struct random_source random;
    uint32_t bumps; /* steps in which an obstacle held the body */
};

/* Simulates one period with these controls. An obstacle stops the body, not the wheels. */
void diffdrive_plant_step(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                          const struct world *world, const double control[DIFFDRIVE_WHEELS],
                          int64_t period_us);

/* Reads the whole encoder counts since the last reading. */
void diffdrive_plant_read(struct diffdrive_plant *plant, double counts[DIFFDRIVE_WHEELS]);

/* Computes the body's remaining motion if the motors are switched off now … */
void diffdrive_plant_coast(const struct diffdrive_plant *plant,
                           const struct diffdrive_params *p, double *turn_rad, double *way_m);
/* … and the encoder counts that it will give, with those not yet read. */
void diffdrive_plant_expect(const struct diffdrive_plant *plant,
                            const struct diffdrive_params *p, double counts[DIFFDRIVE_WHEELS]);

/* Returns the body velocity: forward and counter-clockwise. */
void diffdrive_plant_velocity(const struct diffdrive_plant *plant,
                              const struct diffdrive_params *p, double *forward_mps,
                              double *turn_radps);

/* Returns the velocity that the present controls lead to at nominal gains: ahead, sideways (0),
 * turn. */
void diffdrive_plant_commanded(const struct diffdrive_params *p,
                               const double control[DIFFDRIVE_WHEELS], double commanded[3]);

/* Returns the controls for this velocity: the inverse of diffdrive_plant_commanded(), within
 * the motors' limits. */
void diffdrive_plant_controls(const struct diffdrive_params *p, double forward_mps,
                              double turn_radps, double control[DIFFDRIVE_WHEELS]);

/* Returns the lidar's distance at this angle of its servo. */
double diffdrive_plant_ping(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                            const struct world *world, double yaw_rad);

#endif
