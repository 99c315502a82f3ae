#include "identification/geometry/arm_clearance.h"

#include <math.h>
#include <string.h>

/* Upper arm and forearm are offset from the frames' origins along the shoulder's axis. */
static const double UPPER_ASIDE_M = 0.13585;
static const double FORE_ASIDE_M = 0.0165;

enum part { COLUMN, UPPER, FORE, WRIST_1, WRIST_2, WRIST_3, PART_COUNT };

static const char *const names[PART_COUNT] = {"column", "upper", "fore", "w1", "w2", "w3"};
static const double radius_m[PART_COUNT] = {0.06, 0.054, 0.04, 0.045, 0.045, 0.045};

/* Pairs of parts that no joint keeps apart. */
static const enum part pairs[][2] = {
    {COLUMN, FORE},   {COLUMN, WRIST_1}, {COLUMN, WRIST_2}, {COLUMN, WRIST_3},
    {UPPER, WRIST_1}, {UPPER, WRIST_2},  {UPPER, WRIST_3},  {FORE, WRIST_3},
};

struct segment {
    double from[3], to[3];
};

static struct segment make_segment(const struct rigid frames[ARM_JOINTS + 1], size_t i,
                                   double from_aside_m, double to_aside_m)
{
    struct segment s;
    for (size_t k = 0; k < 3; k++) {
        const double z = frames[1].turn[k][2];
        s.from[k] = frames[i].at_m[k] + from_aside_m * z;
        s.to[k] = frames[i + 1].at_m[k] + to_aside_m * z;
    }
    return s;
}

static double dot_product(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double clamp_share(double x)
{
    return fmin(fmax(x, 0.0), 1.0);
}

/* Distance of the segments a + s u and b + t v, s and t in [0, 1]: that of the lines if
 * their nearest points lie inside, else that of an end and the other segment (C. Ericson,
 * Real-Time Collision Detection, 5.1.9). */
static double segment_distance_m(const struct segment *a, const struct segment *b)
{
    double u[3];
    double v[3];
    double w[3];
    for (size_t k = 0; k < 3; k++) {
        u[k] = a->to[k] - a->from[k];
        v[k] = b->to[k] - b->from[k];
        w[k] = a->from[k] - b->from[k];
    }
    const double uu = dot_product(u, u);
    const double vv = dot_product(v, v);
    const double uv = dot_product(u, v);
    const double uw = dot_product(u, w);
    const double vw = dot_product(v, w);
    const double area = uu * vv - uv * uv;
    double s = area > 0.0 ? clamp_share((uv * vw - vv * uw) / area) : 0.0;
    double t = vv > 0.0 ? (uv * s + vw) / vv : 0.0;
    if (t < 0.0 || t > 1.0) {
        t = clamp_share(t);
        s = uu > 0.0 ? clamp_share((uv * t - uw) / uu) : 0.0;
    }
    double apart[3];
    for (size_t k = 0; k < 3; k++) {
        apart[k] = w[k] + s * u[k] - t * v[k];
    }
    return sqrt(dot_product(apart, apart));
}

struct arm_clearance arm_clearance(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                                   double floor_m)
{
    struct rigid frames[ARM_JOINTS + 1];
    arm_frames(arm, q, frames);
    const struct segment parts[PART_COUNT] = {
        make_segment(frames, 0, 0.0, 0.0),
        make_segment(frames, 1, UPPER_ASIDE_M, UPPER_ASIDE_M),
        make_segment(frames, 2, FORE_ASIDE_M, FORE_ASIDE_M),
        make_segment(frames, 3, FORE_ASIDE_M, 0.0),
        make_segment(frames, 4, 0.0, 0.0),
        make_segment(frames, 5, 0.0, 0.0),
    };
    struct arm_clearance nearest = {.distance_m = INFINITY};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const enum part a = pairs[i][0];
        const enum part b = pairs[i][1];
        const double m = segment_distance_m(&parts[a], &parts[b]) - radius_m[a] - radius_m[b];
        if (m < nearest.distance_m) {
            nearest = (struct arm_clearance){m, names[a], names[b]};
        }
    }
    for (size_t i = FORE; i < PART_COUNT; i++) {
        const double m = fmin(parts[i].from[2], parts[i].to[2]) - floor_m - radius_m[i];
        if (m < nearest.distance_m) {
            nearest = (struct arm_clearance){m, names[i], "floor"};
        }
    }
    return nearest;
}
