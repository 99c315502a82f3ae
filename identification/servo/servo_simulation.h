/* identification/servo/servo_simulation.h - motion of a position-commanded servo.
 *
 * Between changes of the command, stick and slip, the equations (docs/model/position_servo.md,
 * eq. 2) are linear and solved exactly. Terms that are not linear use short substeps. Pure.
 */
#ifndef IDENTIFICATION_SERVO_SERVO_SIMULATION_H
#define IDENTIFICATION_SERVO_SERVO_SIMULATION_H

#include <stdint.h>

#include "identification/servo/servo_data.h"

enum { SERVO_PLACES = 4 };

/* Constants of one servo. Angles that divide a torque by the stiffness are in rad. */
struct servo_law {
    double stiffness; /* wn^2, 1/s^2, > 0 */
    double damping;   /* 2 zeta wn, 1/s, > 0 */
    double dead_band_rad;
    double droop_rad, droop_sin_rad, droop_cos_rad;
    double scale; /* position for each unit of command */
    double delay_s;
    double play_rad;
    double error_max_rad;                    /* torque limit; infinite: none */
    double speed_radps, acceleration_radps2; /* profile of the set point; infinite: none */
    double substep_s;                        /* longest step where a limit acts */
    /* Dry friction that is not constant: by the error, near rest, and by sin and cos of q and
     * of 3 q. */
    double friction_load, friction_rest_rad, friction_place_rad[SERVO_PLACES];
    double sensor_lag_s; /* of the measured position */
};

/* Returns the dead band at a position, a velocity and an error. */
double servo_law_dead_band(const struct servo_law *law, double q_rad, double w_radps,
                           double error_rad);

/* Motor, and the set point of a profile. */
struct servo_motion {
    double q_rad, w_radps;           /* motor */
    double shown_rad;                /* position behind the play */
    double seen_rad;                 /* the same behind the sensor's lag */
    double set_point_rad, set_radps; /* set point and its speed */
};

/* Sets the servo at rest at a position. */
void servo_motion_place(struct servo_motion *motion, double position_rad);

/* Moves on for h_s while the command is constant. The delay is the caller's. */
void servo_motion_advance(struct servo_motion *motion, const struct servo_law *law,
                          double command_rad, double h_s);

/* Simulates all runs from their first position. position_rad [n] and velocity_radps [n] (NULL:
 * not wanted) get those at every row. Returns the number of steps. */
uint64_t servo_simulate(const struct servo_set *set, const struct servo_law *law,
                        double *position_rad, double *velocity_radps);

#endif
