#include "twin/robots/diffdrive_params.h"

static const char *const controllers[] = {"onoff", "proportional", "inverse_map", "pd", "pid"};
static const char *const carries[] = {"nothing", "angle", "pose"};
static const char *const switches[] = {"off", "on"};

_Static_assert(COUNT(controllers) == DIFFDRIVE_CONTROLLER_COUNT, "a word for each controller");
_Static_assert(COUNT(carries) == DIFFDRIVE_CARRY_COUNT, "a word for each carry");

/* clang-format off */
const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT] = {
    {"angular_speed_radps", "rad/s", 3.125, 0.01, 50, "while turning", NULL},
    {"linear_speed_mps", "m/s", 0.25, 0.001, 10, "of a wheel at control_max, driving straight", NULL},
    {"t0_s", "s", 0, -5, 60, "of every move; the robot waits for what its own steps do not take", NULL},
    {"ta_s", "s", 0, -5, 60, "of every rotation, likewise", NULL},
    {"tr_s", "s", 0, -5, 60, "of every displacement, likewise (the taper takes some)", NULL},
    {"wheel_radius_m", "m", 0.033, 0.001, 1, "as the odometry believes it", NULL},
    {"track_m", "m", 0.16, 0.01, 5, "distance of the wheels, as the odometry believes it", NULL},
    {"encoder_counts", "", 1440, 4, 1e6, "per turn of a wheel", NULL},
    {"radius_m", "m", 0.1, 0, 5, "of the body, for collisions", NULL},
    {"wheel_radius_error_ratio", "", 0, -0.5, 0.5, "the true wheels are that much larger", NULL},
    {"track_error_ratio", "", 0, -0.5, 0.5, "the true track is that much wider", NULL},
    {"gain_left_ratio", "", 1, 0, 3, "of the left motor against its nominal speed", NULL},
    {"gain_right_ratio", "", 1, 0, 3, "of the right motor", NULL},
    {"ripple_ratio", "", 0.03, 0, 1, "standard deviation of a wheel's speed, relative", NULL},
    {"motor_lag_s", "s", 0.08, 0.001, 5, "time constant of the motors", NULL},
    {"dead_zone", "", 40, 0, 1000, "a motor stands still below this control", NULL},
    {"control_limit", "", 255, 1, 1e6, "a motor obeys no larger control", NULL},
    {"controller", "", DIFFDRIVE_PID, 0, DIFFDRIVE_CONTROLLER_COUNT - 1, "keeps the robot on its way", controllers},
    {"carry", "", DIFFDRIVE_CARRY_POSE, 0, DIFFDRIVE_CARRY_COUNT - 1,
     "what a move takes over from the one before", carries},
    {"control_min", "", 40, 1, 1000, "smallest control of a motor that is to move", NULL},
    {"control_max", "", 120, 1, 1000, "largest one", NULL},
    {"kp", "1/rad", 300, 0, 1e5, "control per heading error (pd, pid)", NULL},
    {"ki", "1/(rad s)", 300, 0, 1e5, "and per its integral (pid)", NULL},
    {"kd", "s/rad", 15, 0, 1e5, "and per its rate (pd, pid)", NULL},
    {"inverse_share", "", 0.5, 0, 2,
     "of the heading error that a step corrects by each wheel (inverse_map); 1/2 is exact", NULL},
    {"pd_base", "", 80, 0, 1000, "control without heading error (pd)", NULL},
    {"taper_m", "m", 0.08, 0, 10, "way before the goal over which a pid slows down", NULL},
    {"predictive_stop", "", 1, 0, 1, "switch off before the goal and coast to it", switches},
    {"angle_tolerance_rad", "rad", 0.017453292519943295, 1e-4, 1, "a rotation ends this close", NULL},
    {"distance_tolerance_m", "m", 0.01, 1e-4, 1, "a displacement ends this close", NULL},
    {"safe_distance_m", "m", 0.15, 0, 10,
     "the robot stops this far from an obstacle and slows down from twice of it", NULL},
    {"blocked_timeout_s", "s", 5, 0, 3600, "an obstacle may stay so long", NULL},
    {"resume_timeout_s", "s", 10, 0, 3600, "a sweep waits so long for resume", NULL},
    {"patience_ratio", "", 3, 1, 100, "a move may take so many times what it should, and 5 s", NULL},
    {"lidar_speed_radps", "rad/s", 5.2, 0.01, 100, "of the servo that turns the lidar", NULL},
    {"lidar_range_m", "m", 2, 0.05, 200, "and no further", NULL},
    {"lidar_noise_m", "m", 0.003, 0, 1, "standard deviation of a reading", NULL},
    {"lidar_ping_s", "s", 0.03, 0, 10, "one reading takes", NULL},
    {"lidar_loss_ratio", "", 0, 0, 1, "of readings that never come", NULL},
    {"scan_count", "", 7, 0, 361, "rays of a sweep", NULL},
    {"scan_span_rad", "rad", 3.141592653589793, 0, 6.283185307179586, "of a sweep, from left to right", NULL},
};
/* clang-format on */
