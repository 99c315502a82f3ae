/* tests/support/odometry_truth.h - a robot on two wheels that slips, under a camera, with known
 * parameters. */
#ifndef TESTS_SUPPORT_ODOMETRY_TRUTH_H
#define TESTS_SUPPORT_ODOMETRY_TRUTH_H

#include <stdint.h>
#include <string.h>

#include "identification/odometry/odometry.h"

enum { ODOMETRY_TRUTH_MAX = 4096, ODOMETRY_TRUTH_FINE = 10 };

static const double odometry_truth[ODOMETRY_P] = {0.081, 0.0795, 0.412, -0.11,
                                                  0.035, 0.21,   0.05};

/* Legs of a drive, one after another: rates of the wheels at the end of a leg are those of the
 * next one's start. */
struct odometry_leg {
    double speed_mps, turn_radps, duration_s;
};

struct odometry_scenario {
    double noise_m, noise_rad;
    double slip_m, slip_rad; /* sd after one metre of the wheels */
    double dt_s;
    double hold_s; /* wheels are read as often, rows repeat what was read last; 0: each row */
};

struct odometry_record {
    size_t n;
    double t[ODOMETRY_TRUTH_MAX], left[ODOMETRY_TRUTH_MAX], right[ODOMETRY_TRUTH_MAX];
    double x[ODOMETRY_TRUTH_MAX], y[ODOMETRY_TRUTH_MAX], theta[ODOMETRY_TRUTH_MAX];
};

static inline double odometry_uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double odometry_normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(odometry_uniform(state)));
    return radius * cos(6.283185307179586 * odometry_uniform(state));
}

/* Poses are seen late, by the truth's delay. Drives legs and records at world->dt_s; integrated
 * ten times finer than recorded. The heading is recorded between -pi and pi. Appends; start is
 * the robot's pose. */
static inline void odometry_drive(struct odometry_record *record,
                                  const struct odometry_leg *legs, size_t count,
                                  const struct odometry_scenario *world, const double start[3],
                                  uint64_t *state)
{
    const double *p = odometry_truth;
    const double h = world->dt_s / ODOMETRY_TRUTH_FINE;
    double pose[3] = {start[0], start[1], start[2]};
    double past[ODOMETRY_TRUTH_FINE * ODOMETRY_TRUTH_FINE][3]; /* poses, a ring */
    const size_t ring = COUNT(past);
    const size_t lag = (size_t)lround(p[6] / h); /* below the ring's length */
    size_t step = lag;
    for (size_t i = 0; i < ring; i++) {
        memcpy(past[i], pose, sizeof past[i]);
    }
    double angle[2] = {0.3, -1.2}; /* right, left */
    double read[2] = {angle[0], angle[1]};
    const size_t hold = (size_t)fmax(1.0, round(world->hold_s / h));
    double v = 0.0;
    double w = 0.0;
    for (size_t leg = 0; leg < count; leg++) {
        const size_t samples = (size_t)lround(legs[leg].duration_s / world->dt_s);
        for (size_t k = 0; k < samples && record->n < ODOMETRY_TRUTH_MAX; k++) {
            const size_t i = record->n++;
            const double *seen = past[(step - lag) % ring];
            const double c = cos(seen[2]);
            const double s = sin(seen[2]);
            record->t[i] = (double)i * world->dt_s;
            record->right[i] = read[0];
            record->left[i] = read[1];
            record->x[i] =
                seen[0] + c * p[3] - s * p[4] + world->noise_m * odometry_normal(state);
            record->y[i] =
                seen[1] + s * p[3] + c * p[4] + world->noise_m * odometry_normal(state);
            record->theta[i] = remainder(
                seen[2] + p[5] + world->noise_rad * odometry_normal(state), 6.283185307179586);
            for (int fine = 0; fine < ODOMETRY_TRUTH_FINE; fine++) {
                v += (legs[leg].speed_mps - v) * h / 0.3;
                w += (legs[leg].turn_radps - w) * h / 0.3;
                const double rim[2] = {h * (v + 0.5 * p[2] * w), h * (v - 0.5 * p[2] * w)};
                const double root = sqrt(0.5 * (fabs(rim[0]) + fabs(rim[1])));
                const double middle = pose[2] + 0.5 * h * w;
                pose[0] += h * v * cos(middle) + world->slip_m * root * odometry_normal(state);
                pose[1] += h * v * sin(middle) + world->slip_m * root * odometry_normal(state);
                pose[2] += h * w + world->slip_rad * root * odometry_normal(state);
                angle[0] += rim[0] / p[0];
                angle[1] += rim[1] / p[1];
                memcpy(past[++step % ring], pose, sizeof pose);
                if ((step - lag) % hold == 0) {
                    memcpy(read, angle, sizeof read);
                }
            }
        }
    }
}

static inline struct odometry_raw odometry_record_raw(const struct odometry_record *record)
{
    return (struct odometry_raw){.n = record->n,
                                 .t_s = record->t,
                                 .wheel_left_rad = record->left,
                                 .wheel_right_rad = record->right,
                                 .x_m = record->x,
                                 .y_m = record->y,
                                 .theta_rad = record->theta,
                                 .part_count = 1,
                                 .part_start = {0, record->n}};
}

/* A path that shows everything: straight, curves to both sides, a turn on the spot. 68 s. */
static const struct odometry_leg odometry_path[] = {
    {0.0, 0.0, 2.0},  {0.3, 0.0, 8.0},  {0.3, 0.5, 13.0}, {0.3, 0.0, 6.0}, {0.3, -0.5, 13.0},
    {0.0, -0.6, 6.0}, {0.25, 0.0, 8.0}, {0.0, 0.6, 6.0},  {0.3, 0.3, 6.0},
};

#endif
