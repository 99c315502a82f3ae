#include "twin/models/odometry.h"

#include <math.h>

/* Below it the chord of an arc is the arc, to rounding. */
static const double STRAIGHT_RAD = 1e-8;

enum status odometry_model_set(const double theta[ODOMETRY_P], struct odometry_model *model)
{
    for (int i = 0; i <= ODOMETRY_SENSOR_ALPHA; i++) {
        if (!isfinite(theta[i])) {
            return STATUS_E_RANGE;
        }
    }
    if (!(fabs(theta[ODOMETRY_RADIUS_RIGHT]) > 0.0) ||
        !(fabs(theta[ODOMETRY_RADIUS_LEFT]) > 0.0) || !(theta[ODOMETRY_TRACK] > 0.0)) {
        return STATUS_E_RANGE;
    }
    *model = (struct odometry_model){.radius_right_m = theta[ODOMETRY_RADIUS_RIGHT],
                                     .radius_left_m = theta[ODOMETRY_RADIUS_LEFT],
                                     .track_m = theta[ODOMETRY_TRACK],
                                     .sensor_x_m = theta[ODOMETRY_SENSOR_X],
                                     .sensor_y_m = theta[ODOMETRY_SENSOR_Y],
                                     .sensor_alpha_rad = theta[ODOMETRY_SENSOR_ALPHA]};
    return STATUS_OK;
}

void odometry_model_forward(const struct odometry_model *model, double right_radps,
                            double left_radps, double *v_mps, double *w_radps)
{
    const double right_mps = model->radius_right_m * right_radps;
    const double left_mps = model->radius_left_m * left_radps;
    *v_mps = 0.5 * (right_mps + left_mps);
    *w_radps = (right_mps - left_mps) / model->track_m;
}

void odometry_model_inverse(const struct odometry_model *model, double v_mps, double w_radps,
                            double *right_radps, double *left_radps)
{
    const double apart_mps = 0.5 * model->track_m * w_radps;
    *right_radps = (v_mps + apart_mps) / model->radius_right_m;
    *left_radps = (v_mps - apart_mps) / model->radius_left_m;
}

void odometry_model_step(const struct odometry_model *model, double right_rad, double left_rad,
                         double pose[3])
{
    double advance_m = 0.0;
    double turn_rad = 0.0;
    odometry_model_forward(model, right_rad, left_rad, &advance_m, &turn_rad);
    const double half = 0.5 * turn_rad;
    const double chord_m = fabs(half) > STRAIGHT_RAD ? advance_m * sin(half) / half : advance_m;
    pose[0] += chord_m * cos(pose[2] + half);
    pose[1] += chord_m * sin(pose[2] + half);
    pose[2] += turn_rad;
}

void odometry_model_sensor(const struct odometry_model *model, const double pose[3],
                           double sensor[3])
{
    const double c = cos(pose[2]);
    const double s = sin(pose[2]);
    sensor[0] = pose[0] + c * model->sensor_x_m - s * model->sensor_y_m;
    sensor[1] = pose[1] + s * model->sensor_x_m + c * model->sensor_y_m;
    sensor[2] = pose[2] + model->sensor_alpha_rad;
}

void odometry_model_body(const struct odometry_model *model, const double sensor[3],
                         double pose[3])
{
    const double heading = sensor[2] - model->sensor_alpha_rad;
    const double c = cos(heading);
    const double s = sin(heading);
    pose[0] = sensor[0] - c * model->sensor_x_m + s * model->sensor_y_m;
    pose[1] = sensor[1] - s * model->sensor_x_m - c * model->sensor_y_m;
    pose[2] = heading;
}
