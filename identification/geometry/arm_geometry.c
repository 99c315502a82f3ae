#include "identification/geometry/arm_geometry.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_linalg.h>

#include "base/numbers/constants.h"

#define FULL_TURN (2.0 * PI)

/* Below this singular value the joint speeds are damped, with a damping up to DAMPING_MAX. */
static const double SINGULAR_SIGMA = 0.05;
static const double DAMPING_MAX = 0.1;

/* Ranges of the joints: 360 deg and 180 deg/s, from the UR5 user manual 3.13. Speeds of
 * "paper": its Table 2 (seed 003). Links: kinematic data published by Universal Robots. */
#define TURNS                                                                                  \
    {                                                                                          \
        FULL_TURN, FULL_TURN, FULL_TURN, FULL_TURN, FULL_TURN, FULL_TURN                       \
    }
#define HALF_TURNS                                                                             \
    {                                                                                          \
        PI, PI, PI, PI, PI, PI                                                                 \
    }
/* clang-format off */
static const struct arm_geometry presets[] = {
    {.name = "ur5", .d1_m = 0.089159, .a2_m = -0.425, .a3_m = -0.39225, .d4_m = 0.10915,
     .d5_m = 0.09465, .d6_m = 0.0823, .q_max_rad = TURNS, .qd_max_radps = HALF_TURNS},
    {.name = "ur5e", .d1_m = 0.1625, .a2_m = -0.425, .a3_m = -0.3922, .d4_m = 0.1333,
     .d5_m = 0.0997, .d6_m = 0.0996, .q_max_rad = TURNS, .qd_max_radps = HALF_TURNS},
    {.name = "paper", .d1_m = 0.089159, .a2_m = -0.425, .a3_m = -0.39225, .d4_m = 0.10915,
     .d5_m = 0.09465, .d6_m = 0.0823, .q_max_rad = TURNS,
     .qd_max_radps = {10.0, 10.0, 10.0, 10.0, 10.0, 10.0}},
};
/* clang-format on */

/* ---- links ---- */

/* Computes Rz(theta) Tz(d) Tx(a) Rx(alpha). */
static struct rigid make_link(const struct arm_dh *dh)
{
    const double c = cos(dh->theta_rad);
    const double s = sin(dh->theta_rad);
    const double ca = cos(dh->alpha_rad);
    const double sa = sin(dh->alpha_rad);
    return (struct rigid){
        .turn = {{c, -s * ca, s * sa}, {s, c * ca, -c * sa}, {0.0, sa, ca}},
        .at_m = {dh->a_m * c, dh->a_m * s, dh->d_m},
    };
}

static void make_nominal_links(const struct arm_geometry *arm, struct rigid link[ARM_JOINTS])
{
    const struct arm_dh dh[ARM_JOINTS] = {
        {0.0, arm->d1_m, 0.0, PI / 2.0},  {0.0, 0.0, arm->a2_m, 0.0},
        {0.0, 0.0, arm->a3_m, 0.0},       {0.0, arm->d4_m, 0.0, PI / 2.0},
        {0.0, arm->d5_m, 0.0, -PI / 2.0}, {0.0, arm->d6_m, 0.0, 0.0},
    };
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        link[i] = make_link(&dh[i]);
    }
}

/* Returns a copy of a preset with its links computed. */
static struct arm_geometry complete_preset(const struct arm_geometry *preset)
{
    struct arm_geometry arm = *preset;
    arm.tool = rigid_identity;
    make_nominal_links(&arm, arm.link);
    return arm;
}

bool arm_geometry_find(const char *name, struct arm_geometry *out)
{
    for (size_t i = 0; i < COUNT(presets); i++) {
        if (strcmp(presets[i].name, name) == 0) {
            *out = complete_preset(&presets[i]);
            return true;
        }
    }
    return false;
}

const char *arm_geometry_name(size_t i)
{
    return i < COUNT(presets) ? presets[i].name : NULL;
}

void arm_geometry_correct(struct arm_geometry *arm, const double correction[6 * ARM_JOINTS])
{
    make_nominal_links(arm, arm->link);
    arm->corrected = false;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const struct rigid behind = rigid_from_pose(&correction[6 * i]);
        arm->link[i] = rigid_multiply(&arm->link[i], &behind);
        for (size_t k = 0; k < 6; k++) {
            arm->corrected |= fabs(correction[6 * i + k]) > 0.0;
        }
    }
}

void arm_geometry_corrections(const struct arm_geometry *arm, double correction[6 * ARM_JOINTS])
{
    struct rigid nominal[ARM_JOINTS];
    make_nominal_links(arm, nominal);
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const struct rigid back = rigid_invert(&nominal[i]);
        const struct rigid behind = rigid_multiply(&back, &arm->link[i]);
        rigid_to_pose(&behind, &correction[6 * i]);
    }
}

/* Finds the shift along and the rotation about the link's own z axis that bring it nearest
 * to the nominal link. Both commute with the next joint, so that their inverse can be
 * applied after that joint. */
static struct rigid find_slide(const struct rigid *link, const struct rigid *nominal)
{
    /* The rotation maximises trace(M Rz(h)) with M = nominal' link. */
    double m[2][2] = {{0.0}};
    double along = 0.0;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                m[i][j] += nominal->turn[k][i] * link->turn[k][j];
            }
        }
        along += link->turn[k][2] * (nominal->at_m[k] - link->at_m[k]);
    }
    return make_link(&(struct arm_dh){.theta_rad = atan2(m[0][1] - m[1][0], m[0][0] + m[1][1]),
                                      .d_m = along});
}

static double largest_of(const double v[3])
{
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

enum status arm_geometry_set_links(struct arm_geometry *arm,
                                   const struct rigid link[ARM_JOINTS], size_t *worst_link)
{
    struct arm_geometry result = *arm;
    struct rigid nominal[ARM_JOINTS];
    make_nominal_links(arm, nominal);
    struct rigid before = rigid_identity; /* inverse of the slide after the previous link */
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        result.link[i] = rigid_multiply(&before, &link[i]);
        if (i + 1 < ARM_JOINTS) {
            const struct rigid slide = find_slide(&result.link[i], &nominal[i]);
            result.link[i] = rigid_multiply(&result.link[i], &slide);
            before = rigid_invert(&slide);
        }
    }
    double correction[6 * ARM_JOINTS];
    arm_geometry_corrections(&result, correction);
    double worst = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double beyond = fmax(largest_of(&correction[6 * i]) / ARM_CORRECTION_MAX_M,
                                   largest_of(&correction[6 * i + 3]) / ARM_CORRECTION_MAX_RAD);
        if (!(beyond <= worst)) {
            worst = beyond;
            *worst_link = i + 1;
        }
    }
    if (!(worst <= 1.0)) {
        return STATUS_E_RANGE;
    }
    result.corrected = true;
    *arm = result;
    return STATUS_OK;
}

enum status arm_geometry_set_dh(struct arm_geometry *arm, const struct arm_dh dh[ARM_JOINTS],
                                size_t *worst_link)
{
    struct rigid link[ARM_JOINTS];
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        link[i] = make_link(&dh[i]);
    }
    return arm_geometry_set_links(arm, link, worst_link);
}

struct rigid arm_urdf_origin(const double xyz_m[3], const double rpy_rad[3])
{
    struct rigid origin = rigid_identity;
    memcpy(origin.at_m, xyz_m, sizeof(origin.at_m));
    for (int i = 2; i >= 0; i--) {
        double v[3] = {0.0};
        v[i] = rpy_rad[i];
        const struct rigid turn = rotation_exp(v);
        origin = rigid_multiply(&origin, &turn);
    }
    return origin;
}

/* ---- forward kinematics ---- */

/* Computes at Rz(q) link. */
static struct rigid go_over_link(const struct rigid *at, double q_rad, const struct rigid *link)
{
    const double c = cos(q_rad);
    const double s = sin(q_rad);
    struct rigid turned = *at;
    for (int i = 0; i < 3; i++) {
        turned.turn[i][0] = c * at->turn[i][0] + s * at->turn[i][1];
        turned.turn[i][1] = c * at->turn[i][1] - s * at->turn[i][0];
    }
    return rigid_multiply(&turned, link);
}

void arm_frames(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                struct rigid frames[ARM_JOINTS + 1])
{
    frames[0] = rigid_identity;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        frames[i + 1] = go_over_link(&frames[i], q[i], &arm->link[i]);
    }
}

struct rigid arm_forward(const struct arm_geometry *arm, const double q[ARM_JOINTS])
{
    struct rigid at = rigid_identity;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        at = go_over_link(&at, q[i], &arm->link[i]);
    }
    return rigid_multiply(&at, &arm->tool);
}

struct arm_slope arm_jacobian(const struct arm_geometry *arm, const double q[ARM_JOINTS])
{
    struct arm_slope j;
    struct rigid frames[ARM_JOINTS + 1];
    arm_frames(arm, q, frames);
    const struct rigid tool = rigid_multiply(&frames[ARM_JOINTS], &arm->tool);
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        /* Joint i rotates about the z axis of the frame before it. */
        const struct rigid *f = &frames[i];
        const double z[3] = {f->turn[0][2], f->turn[1][2], f->turn[2][2]};
        const double lever[3] = {tool.at_m[0] - f->at_m[0], tool.at_m[1] - f->at_m[1],
                                 tool.at_m[2] - f->at_m[2]};
        j.d[0][i] = z[1] * lever[2] - z[2] * lever[1];
        j.d[1][i] = z[2] * lever[0] - z[0] * lever[2];
        j.d[2][i] = z[0] * lever[1] - z[1] * lever[0];
        for (size_t k = 0; k < 3; k++) {
            j.d[3 + k][i] = z[k];
        }
    }
    return j;
}

/* ---- singular poses ---- */

void arm_twist(const struct arm_slope *j, const double qd[ARM_JOINTS], double twist[6])
{
    for (size_t i = 0; i < 6; i++) {
        twist[i] = 0.0;
        for (size_t k = 0; k < ARM_JOINTS; k++) {
            twist[i] += j->d[i][k] * qd[k];
        }
    }
}

double arm_sigma_min(const struct arm_slope *j)
{
    double a[36];
    double v[36];
    double s[6];
    memcpy(a, j->d, sizeof(a));
    gsl_matrix_view am = gsl_matrix_view_array(a, 6, 6);
    gsl_matrix_view vm = gsl_matrix_view_array(v, 6, 6);
    gsl_vector_view sv = gsl_vector_view_array(s, 6);
    return gsl_linalg_SV_decomp_jacobi(&am.matrix, &vm.matrix, &sv.vector) == 0 ? s[5]
                                                                                : (double)NAN;
}

void arm_solve(const struct arm_slope *j, const double twist[6], double damping,
               double x[ARM_JOINTS])
{
    double a[36];
    double y[6];
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            a[6 * i + k] = i == k ? damping : 0.0;
            for (size_t l = 0; l < 6; l++) {
                a[6 * i + k] += j->d[i][l] * j->d[k][l];
            }
        }
        y[i] = twist[i];
    }
    gsl_matrix_view am = gsl_matrix_view_array(a, 6, 6);
    gsl_vector_view yv = gsl_vector_view_array(y, 6);
    const bool solved = gsl_linalg_cholesky_decomp1(&am.matrix) == 0 &&
                        gsl_linalg_cholesky_svx(&am.matrix, &yv.vector) == 0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        x[i] = 0.0;
        for (size_t k = 0; solved && k < 6; k++) {
            x[i] += j->d[k][i] * y[k];
        }
    }
}

double arm_joint_speeds(const struct arm_slope *j, const double twist[6], double qd[ARM_JOINTS])
{
    const double sigma = arm_sigma_min(j);
    const double near = sigma / SINGULAR_SIGMA;
    const double damping = near < 1.0 ? DAMPING_MAX * DAMPING_MAX * (1.0 - near * near) : 0.0;
    arm_solve(j, twist, damping, qd);
    return sigma;
}
