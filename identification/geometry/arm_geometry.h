/* identification/geometry/arm_geometry.h - kinematics of an arm with six rotating joints. Pure.
 *
 *     T(q) = Rz(q1) L1 Rz(q2) L2 ... Rz(q6) L6 tool                                      (1)
 *
 * A nominal link L is Tz(d) Tx(a) Rx(alpha) (Denavit and Hartenberg). A real link is the
 * nominal one times a small motion. A table of a real arm's d, a, alpha would not do: where
 * axes are nearly parallel, such as the second to fourth, their common normal is ill-defined. A
 * real UR5's table has d2 = 574 m and d3 = -507 m, but in (1) the same arm differs from the
 * nominal one by millimetres. Frames are those of UR controllers. Their x and y point opposite
 * to those of ROS' base_link.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_GEOMETRY_H
#define IDENTIFICATION_GEOMETRY_ARM_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/geometry/rigid.h"

enum { ARM_JOINTS = 6 };

/* Denavit-Hartenberg parameters of one link. theta_rad adds to the joint's angle. */
struct arm_dh {
    double theta_rad, d_m, a_m, alpha_rad;
};

struct arm_geometry {
    const char *name;
    /* Nominal parameters, as closed-form solutions need them: a1 = a4 = a5 = a6 = d2 = d3 =
     * 0, alpha = pi/2 0 0 pi/2 -pi/2 0. */
    double d1_m, a2_m, a3_m, d4_m, d5_m, d6_m;
    struct rigid link[ARM_JOINTS]; /* L1 ... L6, with corrections */
    bool corrected;                /* links differ from the nominal ones */
    struct rigid tool;             /* flange to tool centre point */
    double q_max_rad[ARM_JOINTS];  /* limits of the joint angles -q_max .. q_max, > 0 */
    double qd_max_radps[ARM_JOINTS];
};

/* Finds an arm by name: "ur5", "ur5e", or "paper", a UR5 whose joints turn at 10 rad/s (seed
 * 003). Returns false for an unknown name. */
bool arm_geometry_find(const char *name, struct arm_geometry *out);
/* Returns the i-th name, or NULL. */
const char *arm_geometry_name(size_t i);

/* Applies six small motions after the nominal links: shift in m, rotation vector in rad,
 * [36]. */
void arm_geometry_correct(struct arm_geometry *arm, const double correction[6 * ARM_JOINTS]);
/* Reads these corrections back from the links. */
void arm_geometry_corrections(const struct arm_geometry *arm,
                              double correction[6 * ARM_JOINTS]);

/* Converts links of any table, calibrated or from a URDF file, to links that are as near to
 * the nominal ones as possible. Frames can be rotated about and shifted along their joint's
 * axis without a change of T(q). Returns STATUS_E_RANGE if the chain differs from this arm:
 * *worst_link (from 1) deviates by more than ARM_CORRECTION_MAX_M or ARM_CORRECTION_MAX_RAD. */
#define ARM_CORRECTION_MAX_M   0.02
#define ARM_CORRECTION_MAX_RAD 0.1
MUST_USE enum status arm_geometry_set_dh(struct arm_geometry *arm,
                                         const struct arm_dh dh[ARM_JOINTS],
                                         size_t *worst_link);
MUST_USE enum status arm_geometry_set_links(struct arm_geometry *arm,
                                            const struct rigid link[ARM_JOINTS],
                                            size_t *worst_link);
/* Converts the origin of a URDF joint: x y z in m, and roll pitch yaw in rad, Rz(yaw)
 * Ry(pitch) Rx(roll). */
struct rigid arm_urdf_origin(const double xyz_m[3], const double rpy_rad[3]);

/* Equation (1). frames [ARM_JOINTS + 1]: the base, then the frame after each link, without
 * the tool. */
struct rigid arm_forward(const struct arm_geometry *arm, const double q[ARM_JOINTS]);
void arm_frames(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                struct rigid frames[ARM_JOINTS + 1]);

/* Rows: velocity of the tool centre point in m/s, then its angular velocity in rad/s, both
 * in base axes; columns: joints. */
struct arm_slope {
    double d[6][ARM_JOINTS];
};

struct arm_slope arm_jacobian(const struct arm_geometry *arm, const double q[ARM_JOINTS]);

/* Computes the tool's velocity and angular velocity from the joint speeds qd. */
void arm_twist(const struct arm_slope *j, const double qd[ARM_JOINTS], double twist[6]);

/* Returns the smallest singular value of a Jacobian. Below about 0.05, some motion of the
 * tool needs extreme joint speeds. NAN if it cannot be computed. */
double arm_sigma_min(const struct arm_slope *j);

/* Computes joint steps for a twist [6]: x = J' (J J' + l I)^-1 twist, with l > 0 if J may be
 * singular. Zero if the system has no solution. */
void arm_solve(const struct arm_slope *j, const double twist[6], double damping,
               double x[ARM_JOINTS]);

/* Computes joint speeds for a twist [6] by damped least squares (arm_solve). l = 0.1^2 (1 -
 * (sigma_min / 0.05)^2) below sigma_min = 0.05 and 0 above. Near a singularity the tool
 * leaves its path instead of the joints racing (Nakamura and Hanafusa 1986). Returns
 * sigma_min. */
double arm_joint_speeds(const struct arm_slope *j, const double twist[6],
                        double qd[ARM_JOINTS]);

#endif
