/* twin/sim/robot/diffdrive_control.h - odometry and the heading controllers of the
 * differential-drive robot.
 *
 * The goal is the origin; a move begins at x = -displacement, y = 0. angle_rad is the yaw
 * relative to the direction from the start to the goal, counter-clockwise positive. Equations 1
 * to 12 of docs/model/diffdrive.md. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_CONTROL_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_CONTROL_H

#include "twin/sim/robot/diffdrive_plant.h"

/* Pose of the robot relative to its goal. */
struct diffdrive_pose {
    double angle_rad; /* not wrapped, so that a turn beyond half a circle is kept */
    double x_m, y_m;
};

/* Motion of the wheels in one step. */
struct diffdrive_motion {
    double left_m, right_m;
    double angle_rad;  /* counter-clockwise */
    double distance_m; /* forward */
};

struct diffdrive_controls {
    double left, right;
};

/* Inputs of a controller. */
struct diffdrive_sight {
    double error_rad;    /* heading error, see diffdrive_heading_error() */
    double previous_rad; /* one step before */
    double integral_rads;
    double top; /* present limit: control_max, or less near a goal */
    double period_s;
    struct diffdrive_motion moved; /* in the last step */
    struct diffdrive_controls now; /* present controls of the motors */
};

/* Equations 1 to 3. */
struct diffdrive_motion diffdrive_moved(const struct diffdrive_params *p, double counts_left,
                                        double counts_right);

/* Equations 4 and 5. share: the step's direction between the old heading (0) and the new one
 * (1); 1/2 is exact for an arc. */
struct diffdrive_pose diffdrive_advanced(const struct diffdrive_pose *from,
                                         const struct diffdrive_motion *moved, double share);

/* Equation 6: heading minus bearing of the goal, wrapped; > 0: turn right. Close to the goal
 * the bearing is meaningless, so a large error there counts as zero. */
double diffdrive_heading_error(const struct diffdrive_pose *pose);

/* Returns the remaining turn, not wrapped: the heading error while the goal is ahead, else the
 * angle alone. */
double diffdrive_remaining_turn(const struct diffdrive_params *p,
                                const struct diffdrive_pose *pose);

/* Equations 7 to 11, each limited to [control_min, top]. */
struct diffdrive_controls diffdrive_steer(const struct diffdrive_params *p,
                                          const struct diffdrive_sight *sight);

/* Adds one step to the integral of the heading error: only small errors count. */
double diffdrive_integrated(double integral_rads, double error_rad, double period_s);

/* Equation 12: the limit of the controls, reduced near the goal (pid) and near an obstacle. */
double diffdrive_top(const struct diffdrive_params *p, double x_m, double obstacle_m);

/* Returns the seconds for which the motors coast after they are switched off. */
double diffdrive_coast_s(const struct diffdrive_params *p, double period_s);

/* Returns the inherent seconds of a move beyond angle / angular speed and displacement / linear
 * speed: the motors' lag, the taper, the stop. Equation 13, simulated with an ideal robot in
 * some hundred steps. One period of it belongs to t0. */
double diffdrive_inherent_ta_s(const struct diffdrive_params *p, double period_s);
double diffdrive_inherent_tr_s(const struct diffdrive_params *p, double period_s);

#endif
