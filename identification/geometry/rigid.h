/* identification/geometry/rigid.h - rigid motions in space: a turn, then a shift. Pure.
 *
 * Rotation vectors have the axis as direction and the angle as length, at most pi; at pi their
 * sign is free, so that who compares turns compares matrices.
 */
#ifndef IDENTIFICATION_GEOMETRY_RIGID_H
#define IDENTIFICATION_GEOMETRY_RIGID_H

/* x -> turn x + at: where a frame stands, its axes as columns of turn. */
struct rigid {
    double turn[3][3];
    double at_m[3];
};

extern const struct rigid rigid_identity;

/* First b, then a: the frame b of a. */
struct rigid rigid_multiply(const struct rigid *a, const struct rigid *b);
struct rigid rigid_invert(const struct rigid *a);

/* The turn by a vector [3] (Rodrigues), and the vector of a turn, |v| <= pi. Near pi it is
 * taken from the symmetric part, its largest component > 0 where the sign is free. */
struct rigid rotation_exp(const double v_rad[3]);
void rotation_log(const struct rigid *a, double v_rad[3]);

/* By six numbers as UR robots write poses: x y z in m, rotation vector in rad. */
struct rigid rigid_from_pose(const double pose[6]);
void rigid_to_pose(const struct rigid *a, double pose[6]);

/* What leads from a to b, in the world's axes: shift in m, rotation vector in rad. */
void rigid_difference(const struct rigid *a, const struct rigid *b, double twist[6]);

#endif
