#include "twin/sim/robot/diffdrive_control.h"

#include <math.h>

#include "base/numbers/constants.h"

enum { INHERENT_STEPS_MAX = 4000 };

#define PAPER_SPAN                                                                             \
    (PI / 6.0)              /* heading error at which a proportional robot turns on the spot */
#define NEAR_GOAL_M   0.015 /* closer to the goal its bearing is meaningless */
#define NEAR_ERROR    0.5   /* rad: larger errors there are ignored */
#define INTEGRAL_SPAN 0.3   /* rad: larger errors are not integrated */
#define INTEGRAL_MAX  0.5   /* rad s */
#define SETTLING      5.0   /* lags: a motor then runs at full speed */
#define STILL_M       1e-9  /* a wheel that moved less was at rest */

static double limit_between(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

struct diffdrive_motion diffdrive_moved(const struct diffdrive_params *p, double counts_left,
                                        double counts_right)
{
    const double count_m = 2.0 * PI * p->wheel_radius_m / p->encoder_counts;
    const double left_m = counts_left * count_m;
    const double right_m = counts_right * count_m;
    return (struct diffdrive_motion){.left_m = left_m,
                                     .right_m = right_m,
                                     .angle_rad = (right_m - left_m) / p->track_m,
                                     .distance_m = (left_m + right_m) / 2.0};
}

struct diffdrive_pose diffdrive_advanced(const struct diffdrive_pose *from,
                                         const struct diffdrive_motion *moved, double share)
{
    const double along = from->angle_rad + share * moved->angle_rad;
    return (struct diffdrive_pose){.angle_rad = from->angle_rad + moved->angle_rad,
                                   .x_m = from->x_m + moved->distance_m * cos(along),
                                   .y_m = from->y_m + moved->distance_m * sin(along)};
}

double diffdrive_heading_error(const struct diffdrive_pose *pose)
{
    const double error = robot_wrap_rad(pose->angle_rad + atan2(pose->y_m, -pose->x_m));
    const bool is_near = hypot(pose->x_m, pose->y_m) < NEAR_GOAL_M;
    return is_near && fabs(error) > NEAR_ERROR ? 0.0 : error;
}

double diffdrive_remaining_turn(const struct diffdrive_params *p,
                                const struct diffdrive_pose *pose)
{
    const bool carries = (int)p->carry == DIFFDRIVE_CARRY_POSE;
    if (carries && pose->x_m < -NEAR_GOAL_M) {
        return pose->angle_rad + atan2(pose->y_m, -pose->x_m);
    }
    return pose->angle_rad;
}

/* Computes the control of one wheel for the distance that the error requires, proportional to
 * its motion at the present control. For a wheel at rest the nominal speed is used. */
static double invert_map(const struct diffdrive_params *p, double way_m, double moved_m,
                         double control, double period_s)
{
    const double nominal = p->control_max / (p->linear_speed_mps * period_s);
    const double per_m = fabs(moved_m) > STILL_M ? control / moved_m : nominal;
    return way_m * per_m;
}

struct diffdrive_controls diffdrive_steer(const struct diffdrive_params *p,
                                          const struct diffdrive_sight *sight)
{
    const double e = sight->error_rad;
    const double rate = robot_wrap_rad(e - sight->previous_rad) / sight->period_s;
    double left = sight->top;
    double right = sight->top;
    switch ((enum diffdrive_controller)p->controller) {
    case DIFFDRIVE_PROPORTIONAL: {
        const double k = (p->control_max - p->control_min) / PAPER_SPAN;
        left -= k * (fabs(e) - e) / 2.0;
        right -= k * (fabs(e) + e) / 2.0;
        break;
    }
    case DIFFDRIVE_INVERSE_MAP: {
        const double turn_m = p->inverse_share * p->track_m * e;
        const double way_m = sight->moved.distance_m;
        left = invert_map(p, way_m + turn_m, sight->moved.left_m, sight->now.left,
                          sight->period_s);
        right = invert_map(p, way_m - turn_m, sight->moved.right_m, sight->now.right,
                           sight->period_s);
        break;
    }
    case DIFFDRIVE_PD: {
        const double u = p->kp * e + p->kd * rate;
        left = p->pd_base + u;
        right = p->pd_base - u;
        break;
    }
    case DIFFDRIVE_PID: {
        const double u = p->kp * e + p->ki * sight->integral_rads + p->kd * rate;
        left -= fmax(-u, 0.0);
        right -= fmax(u, 0.0);
        break;
    }
    case DIFFDRIVE_ONOFF:
    case DIFFDRIVE_CONTROLLER_COUNT:
    default:
        break;
    }
    return (struct diffdrive_controls){limit_between(left, p->control_min, sight->top),
                                       limit_between(right, p->control_min, sight->top)};
}

double diffdrive_integrated(double integral_rads, double error_rad, double period_s)
{
    if (!(fabs(error_rad) < INTEGRAL_SPAN)) {
        return integral_rads;
    }
    return limit_between(integral_rads + error_rad * period_s, -INTEGRAL_MAX, INTEGRAL_MAX);
}

/* Decreases from control_max to control_min as share falls from 1 to 0. */
static double taper_control(const struct diffdrive_params *p, double share)
{
    return p->control_min + (p->control_max - p->control_min) * limit_between(share, 0.0, 1.0);
}

double diffdrive_top(const struct diffdrive_params *p, double x_m, double obstacle_m)
{
    double top = p->control_max;
    if ((int)p->controller == DIFFDRIVE_PID && p->taper_m > 0.0) {
        top = taper_control(p, (-x_m - p->distance_tolerance_m) / p->taper_m);
    }
    if (p->safe_distance_m > 0.0) {
        top =
            fmin(top, taper_control(p, (obstacle_m - p->safe_distance_m) / p->safe_distance_m));
    }
    return fmax(top, p->control_min);
}

/* Advances a speed that follows its aim with the motors' lag by one period. Returns the
 * distance. */
static double follow_aim(double *speed, double aim, double lag_s, double period_s)
{
    const double decay = exp(-period_s / lag_s);
    const double travelled = aim * period_s + (*speed - aim) * lag_s * (1.0 - decay);
    *speed = aim + (*speed - aim) * decay;
    return travelled;
}

double diffdrive_coast_s(const struct diffdrive_params *p, double period_s)
{
    return p->predictive_stop > 0.0 ? p->motor_lag_s + period_s / 2.0 : 0.0;
}

/* Returns the seconds that an ideal robot needs for the whole distance, except for rest, beyond
 * those at full speed. */
static double time_beyond(const struct diffdrive_params *p, double period_s, double full,
                          double whole, double rest, bool tapers)
{
    double left = whole;
    double speed = 0.0;
    double lead = 0.0;
    int steps = 0;
    while (left - lead > rest && steps < INHERENT_STEPS_MAX) {
        const double aim =
            tapers ? full * diffdrive_top(p, -left, p->lidar_range_m) / p->control_max : full;
        const double travelled = follow_aim(&speed, aim, p->motor_lag_s, period_s);
        left -= travelled;
        lead = travelled / period_s * diffdrive_coast_s(p, period_s);
        steps++;
    }
    /* The end falls at random within a period, so half a period is the mean. */
    return fmax((steps - 0.5) * period_s - whole / full, 0.0);
}

double diffdrive_inherent_ta_s(const struct diffdrive_params *p, double period_s)
{
    const double full_radps = p->angular_speed_radps;
    return time_beyond(p, period_s, full_radps, full_radps * p->motor_lag_s * SETTLING + 1.0,
                       p->angle_tolerance_rad, false);
}

double diffdrive_inherent_tr_s(const struct diffdrive_params *p, double period_s)
{
    const double full_mps = p->linear_speed_mps;
    const double settled_m = full_mps * p->motor_lag_s * SETTLING;
    return time_beyond(p, period_s, full_mps, settled_m + p->taper_m + p->distance_tolerance_m,
                       p->predictive_stop > 0.0 ? 0.0 : p->distance_tolerance_m, true);
}
