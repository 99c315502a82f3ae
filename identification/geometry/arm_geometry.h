/* identification/geometry/arm_geometry.h - an arm of six turning joints as a chain of links:
 * where the tool stands, how it moves with the joints. Pure.
 *
 *     T(q) = Rz(q1) L1 Rz(q2) L2 ... Rz(q6) L6 tool                                      (1)
 *
 * A link L is nominally Tz(d) Tx(a) Rx(alpha) (Denavit and Hartenberg), and of a real arm that
 * times a small motion. Why not a table of a real arm's d, a, alpha: where two axes are nearly
 * parallel, as the second to fourth of such arms, their common normal lies anywhere, and a real
 * UR5's table has d2 = 574 m, d3 = -507 m. In (1) the same arm differs from the nominal one by
 * millimetres. Frames are those of UR controllers, whose x and y are the negative ones of ROS'
 * base_link.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_GEOMETRY_H
#define IDENTIFICATION_GEOMETRY_ARM_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/geometry/rigid.h"

enum { ARM_JOINTS = 6 };

/* Denavit and Hartenberg's numbers of one link, theta_rad added to the joint's angle. */
struct arm_dh {
    double theta_rad, d_m, a_m, alpha_rad;
};

struct arm_geometry {
    const char *name;
    /* Nominal, as closed-form solutions need it: a1 = a4 = a5 = a6 = d2 = d3 = 0,
     * alpha = pi/2 0 0 pi/2 -pi/2 0. */
    double d1_m, a2_m, a3_m, d4_m, d5_m, d6_m;
    struct rigid link[ARM_JOINTS]; /* L1 ... L6, corrections in them */
    bool corrected;                /* links differ from the nominal ones */
    struct rigid tool;             /* flange to tool centre point */
    double q_max_rad[ARM_JOINTS];  /* joints turn between -q_max and q_max, > 0 */
    double qd_max_radps[ARM_JOINTS];
};

/* By name: "ur5", "ur5e", and "paper", a UR5 whose joints turn at 10 rad/s (seed 003). False
 * when there is none of that name. */
bool arm_geometry_find(const char *name, struct arm_geometry *out);
/* Names, for messages: the i-th, or NULL. */
const char *arm_geometry_name(size_t i);

/* Six small motions behind the nominal links: shift in m, rotation vector in rad, [36]. */
void arm_geometry_correct(struct arm_geometry *arm, const double correction[6 * ARM_JOINTS]);
/* The same read back from the links. */
void arm_geometry_corrections(const struct arm_geometry *arm,
                              double correction[6 * ARM_JOINTS]);

/* Links of any table, calibrated or of a URDF file, as near to the nominal ones as they can be
 * written: frames may be turned about and shifted along their joint's axis without a change of
 * T(q). STATUS_E_RANGE when the chain is not that of this arm: a link differs by more than
 * ARM_CORRECTION_MAX_M or ARM_CORRECTION_MAX_RAD, told in *worst_link (from 1). */
#define ARM_CORRECTION_MAX_M   0.02
#define ARM_CORRECTION_MAX_RAD 0.1
MUST_USE enum status arm_geometry_set_dh(struct arm_geometry *arm,
                                         const struct arm_dh dh[ARM_JOINTS],
                                         size_t *worst_link);
MUST_USE enum status arm_geometry_set_links(struct arm_geometry *arm,
                                            const struct rigid link[ARM_JOINTS],
                                            size_t *worst_link);
/* A URDF joint's origin: x y z in m, roll pitch yaw in rad, that is Rz(yaw) Ry(pitch) Rx(roll).
 */
struct rigid arm_urdf_origin(const double xyz_m[3], const double rpy_rad[3]);

/* (1); frames [ARM_JOINTS + 1]: base, and behind each link, the last one without the tool. */
struct rigid arm_forward(const struct arm_geometry *arm, const double q[ARM_JOINTS]);
void arm_frames(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                struct rigid frames[ARM_JOINTS + 1]);

/* Rows: velocity of the tool centre point in m/s, then its turning in rad/s, both in the base's
 * axes; columns: joints. */
struct arm_slope {
    double d[6][ARM_JOINTS];
};

struct arm_slope arm_jacobian(const struct arm_geometry *arm, const double q[ARM_JOINTS]);

/* The tool's velocity and turning at speeds qd of the joints. */
void arm_twist(const struct arm_slope *j, const double qd[ARM_JOINTS], double twist[6]);

/* Smallest singular value of a Jacobian: below some 0.05 the tool cannot be moved in some
 * direction but by joints that race. NAN where it is none. */
double arm_sigma_min(const struct arm_slope *j);

/* Joint steps for a twist [6]: x = J' (J J' + l I)^-1 twist, l > 0 where J may be singular.
 * Zero when that has no solution. */
void arm_solve(const struct arm_slope *j, const double twist[6], double damping,
               double x[ARM_JOINTS]);

/* Joint speeds for a twist [6] by damped least squares (arm_solve), where
 * l = 0.1^2 (1 - (sigma_min / 0.05)^2) below sigma_min = 0.05 and 0 above: near a singularity
 * the tool goes astray rather than the joints (Nakamura and Hanafusa 1986). Returns
 * sigma_min. */
double arm_joint_speeds(const struct arm_slope *j, const double twist[6],
                        double qd[ARM_JOINTS]);

#endif
