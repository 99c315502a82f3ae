/* twin/models/odometry.h - a robot on two driven wheels: wheel rates to body velocity and back,
 * wheel angles to a pose, and where its pose sensor is (docs/model/odometry.md, eq. 1 - 3, 13).
 *
 * Axes: x forward, y to the left, angles counter-clockwise. A wheel angle grows when the robot
 * drives forward. Pure: no I/O, no clock, no state, no allocation.
 */
#ifndef TWIN_MODELS_ODOMETRY_H
#define TWIN_MODELS_ODOMETRY_H

#include "base/status.h"
#include "identification/odometry/odometry.h"

struct odometry_model {
    double radius_right_m, radius_left_m; /* not zero; below zero: counts backwards */
    double track_m;                       /* > 0 */
    double sensor_x_m, sensor_y_m;        /* from the middle of the axle */
    double sensor_alpha_rad;              /* the sensor's heading - the robot's */
};

/* From the parameters of a fit, in their order. Returns STATUS_E_RANGE when one is not finite,
 * a radius is zero or the track is not above zero; *model is written on STATUS_OK. */
MUST_USE enum status odometry_model_set(const double theta[ODOMETRY_P],
                                        struct odometry_model *model);

/* Forward (m/s) and turning (rad/s) velocity of the body from rates of the wheels (rad/s). */
void odometry_model_forward(const struct odometry_model *model, double right_radps,
                            double left_radps, double *v_mps, double *w_radps);

/* Rates of the wheels that give a velocity of the body. */
void odometry_model_inverse(const struct odometry_model *model, double v_mps, double w_radps,
                            double *right_radps, double *left_radps);

/* pose (x, y in m, theta in rad; in/out) after the wheels turned by so much, on an arc. */
void odometry_model_step(const struct odometry_model *model, double right_rad, double left_rad,
                         double pose[3]);

/* The sensor's pose from the robot's, and back. */
void odometry_model_sensor(const struct odometry_model *model, const double pose[3],
                           double sensor[3]);
void odometry_model_body(const struct odometry_model *model, const double sensor[3],
                         double pose[3]);

#endif
