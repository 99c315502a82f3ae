#include "twin/sim/robot/diffdrive_plant.h"

#include <math.h>

#include "base/numbers/constants.h"
#include "twin/sim/robot/world.h"

#define SUBSTEP_US     1000 /* far below any motor's lag */
#define RIPPLE_DECAY   0.98 /* decay of the ripple per millisecond: 50 ms time constant */
#define STILL_MPS      1e-12
#define CONTROL_MARGIN 1e-9 /* a control at the edge of the dead zone moves the motor */

static const char *const controllers[] = {"onoff", "proportional", "inverse_map", "pd", "pid"};
static const char *const carries[] = {"nothing", "angle", "pose"};
static const char *const switches[] = {"off", "on"};

_Static_assert(COUNT(controllers) == DIFFDRIVE_CONTROLLER_COUNT, "a word for each controller");
_Static_assert(COUNT(carries) == DIFFDRIVE_CARRY_COUNT, "a word for each carry");

const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT] = {
#define PARAMETER(name, ...) {#name, __VA_ARGS__},
#include "twin/sim/robot/diffdrive_params.def"
#undef PARAMETER
};

/* Returns the speed of a wheel at control_max. Turning on the spot has its own scale, because
 * wheels slip. */
static double full_mps(const struct diffdrive_params *p, bool spins)
{
    return spins ? p->angular_speed_radps * p->track_m / 2.0 : p->linear_speed_mps;
}

/* Returns the steady speed of a motor. */
static double aim_mps(const struct diffdrive_params *p, double control, double gain_ratio,
                      bool spins)
{
    if (!(fabs(control) >= p->dead_zone - CONTROL_MARGIN)) {
        return 0.0;
    }
    const double u = fmin(fmax(control, -p->control_limit), p->control_limit);
    return full_mps(p, spins) * u / p->control_max * gain_ratio;
}

void diffdrive_plant_commanded(const struct diffdrive_params *p,
                               const double control[DIFFDRIVE_WHEELS], double commanded[3])
{
    const bool spins = control[DIFFDRIVE_LEFT] * control[DIFFDRIVE_RIGHT] < 0.0;
    const double left_mps = aim_mps(p, control[DIFFDRIVE_LEFT], 1.0, spins);
    const double right_mps = aim_mps(p, control[DIFFDRIVE_RIGHT], 1.0, spins);
    commanded[0] = (left_mps + right_mps) / 2.0;
    commanded[1] = 0.0;
    commanded[2] = (right_mps - left_mps) / p->track_m;
}

void diffdrive_plant_controls(const struct diffdrive_params *p, double forward_mps,
                              double turn_radps, double control[DIFFDRIVE_WHEELS])
{
    const double aside_mps = turn_radps * p->track_m / 2.0;
    const bool spins = fabs(aside_mps) > fabs(forward_mps);
    const double scale = p->control_max / full_mps(p, spins);
    control[DIFFDRIVE_LEFT] = (forward_mps - aside_mps) * scale;
    control[DIFFDRIVE_RIGHT] = (forward_mps + aside_mps) * scale;
}

/* Coulomb friction as an impulse: it reduces the speed by its limit over h_s, but never below
 * rest. */
static double brake_mps(const struct diffdrive_params *p, double speed_mps, double h_s)
{
    return copysign(fmax(fabs(speed_mps) - h_s * p->friction_mps / p->motor_lag_s, 0.0),
                    speed_mps);
}

/* Returns the coasting distance of a wheel. */
static double coast_m(const struct diffdrive_params *p, double speed_mps)
{
    const double slowed_mps = p->friction_mps > 0.0
                                  ? p->friction_mps * log1p(fabs(speed_mps) / p->friction_mps)
                                  : 0.0;
    return copysign(fabs(speed_mps) - slowed_mps, speed_mps) * p->motor_lag_s;
}

static double true_track_m(const struct diffdrive_params *p)
{
    return p->track_m * (1.0 + p->track_error_ratio);
}

static double true_count_m(const struct diffdrive_params *p)
{
    return 2.0 * PI * p->wheel_radius_m * (1.0 + p->wheel_radius_error_ratio) /
           p->encoder_counts;
}

static void move_body(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                      double left_m, double right_m)
{
    const double way_m = (left_m + right_m) / 2.0;
    const double turn_rad = (right_m - left_m) / true_track_m(p);
    const double along_rad = plant->pose[2] + turn_rad / 2.0;
    plant->pose[0] += way_m * cos(along_rad);
    plant->pose[1] += way_m * sin(along_rad);
    plant->pose[2] = robot_wrap_rad(plant->pose[2] + turn_rad);
}

/* Holds the body in place if it would now be in an obstacle. If an obstacle has appeared around
 * it, it may leave. */
static void hold_before_obstacle(struct diffdrive_plant *plant,
                                 const struct diffdrive_params *p, const struct world *world,
                                 double from_x_m, double from_y_m)
{
    const bool moved = fabs(plant->pose[0] - from_x_m) + fabs(plant->pose[1] - from_y_m) > 0.0;
    if (!world || !moved ||
        !world_blocked(world, plant->pose[0], plant->pose[1], p->radius_m) ||
        world_blocked(world, from_x_m, from_y_m, p->radius_m)) {
        return;
    }
    plant->pose[0] = from_x_m;
    plant->pose[1] = from_y_m;
    plant->bumps++;
}

void diffdrive_plant_step(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                          const struct world *world, const double control[DIFFDRIVE_WHEELS],
                          int64_t period_us)
{
    const bool spins = control[DIFFDRIVE_LEFT] * control[DIFFDRIVE_RIGHT] < 0.0;
    const double aims_mps[DIFFDRIVE_WHEELS] = {
        aim_mps(p, control[DIFFDRIVE_LEFT], p->gain_left_ratio, spins),
        aim_mps(p, control[DIFFDRIVE_RIGHT], p->gain_right_ratio, spins)};
    const int64_t steps = (period_us + SUBSTEP_US - 1) / SUBSTEP_US;
    const double h_s = (double)period_us * 1e-6 / (double)steps;
    const double decay = pow(RIPPLE_DECAY, h_s * 1e3);
    const double fresh = p->ripple_ratio * sqrt(1.0 - decay * decay);
    const double count_m = true_count_m(p);
    const double from_x_m = plant->pose[0];
    const double from_y_m = plant->pose[1];
    for (int64_t k = 0; k < steps; k++) {
        double way_m[DIFFDRIVE_WHEELS];
        for (int i = 0; i < DIFFDRIVE_WHEELS; i++) {
            plant->ripple[i] *= decay;
            if (fresh > 0.0) {
                plant->ripple[i] += fresh * random_normal(&plant->random);
            }
            const double target_mps = aims_mps[i] * (1.0 + plant->ripple[i]);
            const double freely_mps =
                plant->speed_mps[i] + h_s * (target_mps - plant->speed_mps[i]) / p->motor_lag_s;
            plant->speed_mps[i] = brake_mps(p, freely_mps, h_s);
            /* Denormal numbers cost time, so a wheel at rest is set to exactly zero. */
            if (!(fabs(plant->speed_mps[i]) > STILL_MPS) && !(fabs(aims_mps[i]) > 0.0)) {
                plant->speed_mps[i] = 0.0;
            }
            way_m[i] = plant->speed_mps[i] * h_s;
            plant->counts[i] += way_m[i] / count_m;
        }
        move_body(plant, p, way_m[DIFFDRIVE_LEFT], way_m[DIFFDRIVE_RIGHT]);
    }
    hold_before_obstacle(plant, p, world, from_x_m, from_y_m);
}

void diffdrive_plant_read(struct diffdrive_plant *plant, double counts[DIFFDRIVE_WHEELS])
{
    for (int i = 0; i < DIFFDRIVE_WHEELS; i++) {
        const double whole = floor(plant->counts[i]);
        counts[i] = whole - plant->read_counts[i];
        plant->read_counts[i] = whole;
    }
}

void diffdrive_plant_velocity(const struct diffdrive_plant *plant,
                              const struct diffdrive_params *p, double *forward_mps,
                              double *turn_radps)
{
    const double left_mps = plant->speed_mps[DIFFDRIVE_LEFT];
    const double right_mps = plant->speed_mps[DIFFDRIVE_RIGHT];
    *forward_mps = (left_mps + right_mps) / 2.0;
    *turn_radps = (right_mps - left_mps) / true_track_m(p);
}

void diffdrive_plant_coast(const struct diffdrive_plant *plant,
                           const struct diffdrive_params *p, double *turn_rad, double *way_m)
{
    const double left_m = coast_m(p, plant->speed_mps[DIFFDRIVE_LEFT]);
    const double right_m = coast_m(p, plant->speed_mps[DIFFDRIVE_RIGHT]);
    *way_m = (left_m + right_m) / 2.0;
    *turn_rad = (right_m - left_m) / true_track_m(p);
}

void diffdrive_plant_expect(const struct diffdrive_plant *plant,
                            const struct diffdrive_params *p, double counts[DIFFDRIVE_WHEELS])
{
    for (int i = 0; i < DIFFDRIVE_WHEELS; i++) {
        counts[i] = plant->counts[i] - plant->read_counts[i] +
                    coast_m(p, plant->speed_mps[i]) / true_count_m(p);
    }
}

double diffdrive_plant_ping(struct diffdrive_plant *plant, const struct diffdrive_params *p,
                            const struct world *world, double yaw_rad)
{
    if (!world) {
        return p->lidar_range_m;
    }
    const double noise_m = p->lidar_noise_m * random_normal(&plant->random);
    const double range_m = world_range(world, plant->pose[0], plant->pose[1],
                                       plant->pose[2] + yaw_rad, p->lidar_range_m);
    return range_m < p->lidar_range_m ? fmin(fmax(range_m + noise_m, 0.0), p->lidar_range_m)
                                      : p->lidar_range_m;
}
