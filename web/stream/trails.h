/* web/stream/trails.h - trails of the robots: the last poses of both sides of a pair, thinned.
 *
 * Snapshots provide poses five times a second. A pose is stored when the robot, or an arm's
 * tool, has moved or turned since the last stored one, so a standing robot does not displace
 * its trail. The newest pose of a robot in the plane replaces the previous one until that is
 * half a second away from the one before, so a trail covers at least ten minutes. Trails are in
 * memory only and lost at a restart. At most TRAIL_PAIRS_MAX pairs have one, those that sent a
 * pose first: 58 kB each, 29 MB in all.
 */
#ifndef WEB_STREAM_TRAILS_H
#define WEB_STREAM_TRAILS_H

#include "logger/message/json_write.h"
#include "web/stream/pair_rings.h"

enum { TRAIL_POINTS_MAX = 1200, TRAIL_PAIRS_MAX = 500 };

/* Cold path: allocates, to be freed with pair_rings_destroy(). STATUS_E_NOMEM. */
MUST_USE enum status trails_create(struct pair_rings **out);

/* Add the poses of a snapshot. One thread; allocates at first, and for a pair's first pose. */
void trails_look(struct pair_rings *trails, const struct view *view);

/* Write "real": [[t, x_m, y_m, yaw_rad], …], oldest first, and "virtual"; for arms [t, x_m,
 * y_m, z_m] of the tool. Any thread. */
void trails_write(struct pair_rings *trails, struct json_writer *json, size_t pair);

/* Get x, y and the angle from a pose of 3 or more numbers [x, y, …, yaw]. False: it is no pose
 * in the plane. */
bool trail_pose(const double *pose, size_t count, double *x_m, double *y_m, double *yaw_rad);

#endif
