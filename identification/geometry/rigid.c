#include "identification/geometry/rigid.h"

#include <math.h>

/* Below these angles the series are exact to the last digit. */
static const double SMALL_SINE_RAD = 1e-5;
static const double SMALL_COSINE_RAD = 1e-4;
/* Below this cosine of the angle, the antisymmetric part is too small to give the axis. */
static const double NEARLY_HALF_TURN = -0.99;

const struct rigid rigid_identity = {.turn = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static void turn_vector(const struct rigid *a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a->turn[i][0] * v[0] + a->turn[i][1] * v[1] + a->turn[i][2] * v[2];
    }
}

struct rigid rigid_multiply(const struct rigid *a, const struct rigid *b)
{
    struct rigid c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.turn[i][j] = a->turn[i][0] * b->turn[0][j] + a->turn[i][1] * b->turn[1][j] +
                           a->turn[i][2] * b->turn[2][j];
        }
    }
    turn_vector(a, b->at_m, c.at_m);
    for (int i = 0; i < 3; i++) {
        c.at_m[i] += a->at_m[i];
    }
    return c;
}

struct rigid rigid_invert(const struct rigid *a)
{
    struct rigid b;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            b.turn[i][j] = a->turn[j][i];
        }
    }
    turn_vector(&b, a->at_m, b.at_m);
    for (int i = 0; i < 3; i++) {
        b.at_m[i] = -b.at_m[i];
    }
    return b;
}

double rigid_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Rodrigues: I + sin(t)/t K + (1 - cos t)/t^2 K^2, with K the matrix of the cross product
 * with v. */
struct rigid rotation_exp(const double v[3])
{
    struct rigid out = rigid_identity;
    const double t = rigid_length(v);
    const double a = t < SMALL_SINE_RAD ? 1.0 - t * t / 6.0 : sin(t) / t;
    const double b = t < SMALL_COSINE_RAD ? 0.5 - t * t / 24.0 : (1.0 - cos(t)) / (t * t);
    const double k[3][3] = {{0, -v[2], v[1]}, {v[2], 0, -v[0]}, {-v[1], v[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            /* K^2 = v v' - |v|^2 I. */
            out.turn[i][j] = a * k[i][j] + b * v[i] * v[j] + (i == j ? 1.0 - b * t * t : 0.0);
        }
    }
    return out;
}

/* Axis of nearly half a turn: the largest column of (R + R') / 2 - c I = (1 - c) n n'. */
static void find_half_turn_axis(const struct rigid *a, double c, const double w[3],
                                double axis[3])
{
    int k = 0;
    for (int i = 1; i < 3; i++) {
        k = a->turn[i][i] > a->turn[k][k] ? i : k;
    }
    for (int i = 0; i < 3; i++) {
        axis[i] = 0.5 * (a->turn[i][k] + a->turn[k][i]) - (i == k ? c : 0.0);
    }
    const double length = rigid_length(axis);
    const double along = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2];
    for (int i = 0; i < 3; i++) {
        axis[i] *= (along < 0.0 ? -1.0 : 1.0) / length;
    }
}

void rotation_log(const struct rigid *a, double v[3])
{
    /* The antisymmetric part gives sin(t) n, the trace gives cos(t). */
    const double w[3] = {0.5 * (a->turn[2][1] - a->turn[1][2]),
                         0.5 * (a->turn[0][2] - a->turn[2][0]),
                         0.5 * (a->turn[1][0] - a->turn[0][1])};
    const double s = rigid_length(w);
    const double c = 0.5 * (a->turn[0][0] + a->turn[1][1] + a->turn[2][2] - 1.0);
    const double t = atan2(s, c);
    if (c > NEARLY_HALF_TURN) {
        const double scale = t < SMALL_SINE_RAD ? 1.0 + t * t / 6.0 : t / s;
        for (int i = 0; i < 3; i++) {
            v[i] = w[i] * scale;
        }
        return;
    }
    find_half_turn_axis(a, c, w, v);
    for (int i = 0; i < 3; i++) {
        v[i] *= t;
    }
}

struct rigid rigid_from_pose(const double pose[6])
{
    struct rigid a = rotation_exp(&pose[3]);
    for (int i = 0; i < 3; i++) {
        a.at_m[i] = pose[i];
    }
    return a;
}

void rigid_to_pose(const struct rigid *a, double pose[6])
{
    for (int i = 0; i < 3; i++) {
        pose[i] = a->at_m[i];
    }
    rotation_log(a, &pose[3]);
}

void rigid_difference(const struct rigid *a, const struct rigid *b, double twist[6])
{
    const struct rigid back = rigid_invert(a);
    const struct rigid step = rigid_multiply(&back, b);
    double v[3];
    rotation_log(&step, v);
    turn_vector(a, v, &twist[3]);
    for (int i = 0; i < 3; i++) {
        twist[i] = b->at_m[i] - a->at_m[i];
    }
}
