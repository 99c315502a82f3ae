/* twin/map/scan_match.h - where a robot is on a map: a sweep of its lidar, put where it fits.
 *
 * A belief is a pose and its covariance. Odometry moves it and makes it less certain; a sweep
 * corrects it. Of the poses in a window around the belief the best has the largest
 *
 *   sum over the rays of likelihood(end of the ray)  -  d' P^-1 d / 2,   d: pose minus belief
 *
 * (likelihood field, Thrun et al., section 6.4; the second term is what odometry says). How the
 * sum falls around it is what the sweep says of the pose, H, in each direction. The new
 * covariance is C = (P^-1 + H)^-1, and the belief moves by C H d. So along a corridor without
 * features, where the sum does not fall, nothing is corrected, and the pose gets no surer.
 *
 * There is no closing of loops: errors that a map has taken in stay in it.
 *
 * Pure; one thread a call; no allocation.
 */
#ifndef TWIN_MAP_SCAN_MATCH_H
#define TWIN_MAP_SCAN_MATCH_H

#include "base/text/names.h"
#include "twin/map/grid.h"

struct pose_belief {
    struct plane_pose at;
    double cov[3][3]; /* x, y, yaw: m^2, m rad, rad^2; positive definite */
};

#define SCAN_OUTCOMES(X)                                                                       \
    X(SCAN_MATCHED, "matched")                                                                 \
    X(SCAN_FEW_RAYS, "few_rays")   /* too few rays saw anything */                             \
    X(SCAN_UNKNOWN, "unknown")     /* too few of them end where the map has something */       \
    X(SCAN_AT_BORDER, "at_border") /* best at the border of the window: it may be outside */   \
    X(SCAN_AMBIGUOUS, "ambiguous") /* it fits elsewhere in the window as well */

enum scan_outcome { SCAN_OUTCOMES(NAMES_VALUE) SCAN_OUTCOME_COUNT };
ENUM_NAMES_DECLARED(scan_outcome);

struct scan_match {
    enum scan_outcome outcome;
    double share; /* 0 .. 1: mean likelihood of the rays at the best pose */
    size_t rays;  /* that saw something */
};

/* How odometry errs: standard deviations as parts of what was moved. */
struct odometry_error {
    double drive_ratio; /* of the distance, along and across, e.g. 0.05 */
    double turn_ratio;  /* of the turn, e.g. 0.05 */
    double turn_radpm;  /* rad of turn for a metre driven, e.g. 0.05 */
};

/* A pose as certain as a start can be: 1 cm and 0.5 degrees. */
struct pose_belief pose_belief_at(const struct plane_pose *at);

/* Moves the belief as odometry went from one of its poses to another. */
void pose_belief_move(struct pose_belief *belief, const struct plane_pose *from,
                      const struct plane_pose *to, const struct odometry_error *error);

/* Corrects the belief by a sweep that was taken there. Unless SCAN_MATCHED it stays as it
 * is. */
struct scan_match scan_match(const struct grid *grid, struct pose_belief *belief,
                             const struct grid_sweep *sweep);

#endif
