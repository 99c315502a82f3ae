/* web/stream/trails.h - where the robots have been: the last poses of both sides of a pair,
 * thinned.
 *
 * Fed from the snapshots, five times a second; a pose is kept when the robot has moved or
 * turned since the last one that was; of an arm, when its tool has. So a robot that stands does
 * not push its way out. In memory only: a restart forgets it. At most TRAIL_PAIRS_MAX pairs
 * have a trail, those that told a pose first: 29 kB each, 14 MB in all.
 */
#ifndef WEB_STREAM_TRAILS_H
#define WEB_STREAM_TRAILS_H

#include "logger/message/json_write.h"
#include "web/http/web.h"

enum { TRAIL_POINTS_MAX = 600, TRAIL_PAIRS_MAX = 500 };

struct trails;

/* Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status trails_create(struct trails **out);
void trails_destroy(struct trails *trails); /* NULL allowed */

/* Take the poses of a snapshot. One thread; allocates at first, and when a pair tells its first
 * one. */
void trails_look(struct trails *trails, const struct view *view);

/* "real": [[t, x_m, y_m, yaw_rad], …], oldest first, and "virtual"; of arms
 * [t, x_m, y_m, z_m] of the tool. Any thread. */
void trails_write(struct trails *trails, struct json_writer *json, size_t pair);

/* Which of a pose's numbers are x, y and the angle, by their count: 3 or more [x, y, …, yaw].
 * False: it is no pose in the plane. */
bool trail_pose(const double *pose, size_t count, double *x_m, double *y_m, double *yaw_rad);

#endif
