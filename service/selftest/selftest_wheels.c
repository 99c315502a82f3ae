#include "service/selftest/selftest_robots.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/odometry/odometry.h"

enum { ROWS = 1800, FINE = 10, SHOWN = 256 };

static const double PERIOD_S = 0.05;
static const double SPEED_MPS = 0.35, TURN_RADPS = 1.0, ARENA_M = 1.0;
static const double FOLLOWS_S = 0.15; /* time constant of its speeds */
static const double NOISE_M = 3e-3, NOISE_RAD = 4e-3;
static const double SLIP = 9e-4; /* m, rad after one metre */
static const double truth[ODOMETRY_P] = {0.0365, 0.0361, 0.238, 0.045, 0.02, 0.017, 0.06};

double selftest_wheels_truth(size_t i, const char **name)
{
    *name = i < ODOMETRY_P ? odometry_parameter_name((enum odometry_parameter)i) : NULL;
    return i < ODOMETRY_P ? truth[i] : 0.0;
}

/* The robot drives from place to place; it turns on the spot when the place is not ahead. */
struct drive {
    double place[2], speed_mps; /* where it drives, and how fast */
    double v, w;
    double pose[3];
    double angle[2];        /* right, left */
    double shown[SHOWN][3]; /* last poses, a ring */
    size_t steps;
};

static void steer_robot(struct drive *d, double h_s, struct random_source *draws)
{
    const double x = d->place[0] - d->pose[0];
    const double y = d->place[1] - d->pose[1];
    const double off = remainder(atan2(y, x) - d->pose[2], 2.0 * PI);
    if (!(d->speed_mps > 0.0) || hypot(x, y) < 0.1) {
        d->place[0] = random_between(draws, -ARENA_M, ARENA_M);
        d->place[1] = random_between(draws, -ARENA_M, ARENA_M);
        d->speed_mps = random_between(draws, 0.3, 1.0) * SPEED_MPS;
    }
    const double v = fabs(off) < 0.7 ? d->speed_mps : 0.0;
    const double w = fmax(-TURN_RADPS, fmin(TURN_RADPS, 2.0 * off));
    d->v += (v - d->v) * h_s / FOLLOWS_S;
    d->w += (w - d->w) * h_s / FOLLOWS_S;
}

/* Moves the wheels as driven, and the robot as far as they hold. */
static void move_robot(struct drive *d, const struct selftest_scenario *w, bool late,
                       double h_s, struct random_source *draws)
{
    const double rim[2] = {h_s * (d->v + 0.5 * truth[ODOMETRY_TRACK] * d->w),
                           h_s * (d->v - 0.5 * truth[ODOMETRY_TRACK] * d->w)};
    const double grip = 1.0 - w->slips * fabs(d->v) / SPEED_MPS;
    const double right =
        grip * rim[0] * (late ? 1.0 + w->at_half : 1.0) * (d->w > 0.05 ? 1.0 - w->drags : 1.0);
    const double left = grip * rim[1];
    const double root = SLIP * sqrt(0.5 * (fabs(right) + fabs(left)));
    const double turn =
        (right - left) / truth[ODOMETRY_TRACK] + root * selftest_draw_normal(draws);
    const double middle = d->pose[2] + 0.5 * turn;
    d->angle[0] += rim[0] / truth[ODOMETRY_RADIUS_RIGHT];
    d->angle[1] += rim[1] / truth[ODOMETRY_RADIUS_LEFT];
    d->pose[0] += 0.5 * (right + left) * cos(middle) + root * selftest_draw_normal(draws);
    d->pose[1] += 0.5 * (right + left) * sin(middle) + root * selftest_draw_normal(draws);
    d->pose[2] += turn;
    memcpy(d->shown[++d->steps % SHOWN], d->pose, sizeof d->pose);
}

/* Measures the pose of the camera's mark, with the camera's faults. */
static void measure_pose(const struct drive *d, const struct selftest_scenario *w, double share,
                         struct random_source *draws, double seen[3])
{
    const double late_s = truth[ODOMETRY_SENSOR_DELAY] + w->clock_s * share;
    const size_t late = (size_t)fmin(round(late_s / (PERIOD_S / FINE)), (double)d->steps);
    const double *at = d->shown[(d->steps - late) % SHOWN];
    const double c = cos(at[2]);
    const double s = sin(at[2]);
    double x = at[0] + c * truth[ODOMETRY_SENSOR_X] - s * truth[ODOMETRY_SENSOR_Y];
    double y = at[1] + s * truth[ODOMETRY_SENSOR_X] + c * truth[ODOMETRY_SENSOR_Y];
    const double scale = 1.0 - w->distorts * (x * x + y * y);
    x *= scale;
    y *= scale;
    seen[0] = x * (1.0 + w->stretched) * (1.0 + 0.5 * w->tilted * x) +
              NOISE_M * selftest_draw_normal(draws);
    seen[1] = y * (1.0 + w->tilted * x) + NOISE_M * selftest_draw_normal(draws);
    seen[2] = remainder(at[2] + truth[ODOMETRY_SENSOR_ALPHA] +
                            NOISE_RAD * selftest_draw_normal(draws),
                        2.0 * PI);
}

static double read_ticks(const struct selftest_scenario *w, double rad)
{
    const double tick = w->ticks > 0.0 ? 2.0 * PI / w->ticks : 0.0;
    return tick > 0.0 ? tick * floor(rad / tick) : rad;
}

void selftest_write_wheels(const struct selftest_scenario *scenario,
                           struct random_source *draws, FILE *to)
{
    const size_t every = scenario->rare > 1.0 ? (size_t)scenario->rare : 1;
    struct drive d = {.speed_mps = 0.0};
    double seen[3] = {0.0};
    (void)fputs("t_s,wheel_right_rad,wheel_left_rad,x_m,y_m,theta_rad\n", to);
    for (size_t k = 0; k < ROWS; k++) {
        const double share = (double)k / (ROWS - 1.0);
        for (size_t i = 0; i < FINE; i++) {
            steer_robot(&d, PERIOD_S / FINE, draws);
            move_robot(&d, scenario, share >= 0.5, PERIOD_S / FINE, draws);
        }
        if (k % every == 0) {
            measure_pose(&d, scenario, share, draws, seen);
        }
        (void)fprintf(to, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", (double)k * PERIOD_S,
                      read_ticks(scenario, d.angle[0]), read_ticks(scenario, d.angle[1]),
                      seen[0], seen[1], seen[2]);
    }
}
