/* identification/geometry/rigid.h - rigid motions in space: a rotation, then a shift. Pure.
 *
 * The direction of a rotation vector is the axis, its length is the angle, at most pi. At pi
 * its sign is arbitrary, so compare rotations by their matrices.
 */
#ifndef IDENTIFICATION_GEOMETRY_RIGID_H
#define IDENTIFICATION_GEOMETRY_RIGID_H

/* x -> turn x + at: the pose of a frame, with its axes as columns of turn. */
struct rigid {
    double turn[3][3];
    double at_m[3];
};

extern const struct rigid rigid_identity;

/* Composes: first b, then a, which is frame b expressed in a. */
struct rigid rigid_multiply(const struct rigid *a, const struct rigid *b);
struct rigid rigid_invert(const struct rigid *a);

double rigid_length(const double v[3]);

/* Rotation by a vector [3] (Rodrigues), and the vector of a rotation, |v| <= pi. Near pi it
 * comes from the symmetric part; if the sign is arbitrary, its largest component is > 0. */
struct rigid rotation_exp(const double v_rad[3]);
void rotation_log(const struct rigid *a, double v_rad[3]);

/* Converts from and to poses of UR robots: x y z in m, rotation vector in rad. */
struct rigid rigid_from_pose(const double pose[6]);
void rigid_to_pose(const struct rigid *a, double pose[6]);

/* Computes the motion from a to b in world axes: shift in m, rotation vector in rad. */
void rigid_difference(const struct rigid *a, const struct rigid *b, double twist[6]);

#endif
