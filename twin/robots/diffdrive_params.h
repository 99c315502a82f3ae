/* twin/robots/diffdrive_params.h - what can be set about the differential-drive robot.
 *
 * All fields are doubles, in the order of diffdrive_parameters[], so that the table's index is
 * the field's. Meaning, presets and ranges stand in that table; equations in
 * docs/model/diffdrive.md. Pure.
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
    /* Travel times: what calibration finds and promotes. */
    double angular_speed_radps, linear_speed_mps, t0_s, ta_s, tr_s;
    /* Body. */
    double wheel_radius_m, track_m, encoder_counts, radius_m;
    double wheel_radius_error_ratio, track_error_ratio;
    double gain_left_ratio, gain_right_ratio, ripple_ratio;
    double motor_lag_s, dead_zone, control_limit;
    /* Control. */
    double controller, carry, control_min, control_max, kp, ki, kd, inverse_share, pd_base;
    double taper_m, predictive_stop, angle_tolerance_rad, distance_tolerance_m;
    double safe_distance_m, blocked_timeout_s, resume_timeout_s, patience_ratio;
    /* Lidar. */
    double lidar_speed_radps, lidar_range_m, lidar_noise_m, lidar_ping_s, lidar_loss_ratio;
    double scan_count, scan_span_rad;
};

enum { DIFFDRIVE_PARAMETER_COUNT = sizeof(struct diffdrive_params) / sizeof(double) };

extern const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT];

#endif
