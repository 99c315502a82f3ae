/* web/http/rays.h - where rays of the robots' lidars ended: the newest of both sides of a pair.
 *
 * A ray is a reply with the values `angle_rad` and `range_m`. It is stored with the robot's
 * newest pose, for display only. At most RAY_PAIRS_MAX pairs have rays, those that sent one
 * first: 12 kB each, 6 MB in all. They are in memory only and lost at a restart.
 */
#ifndef WEB_HTTP_RAYS_H
#define WEB_HTTP_RAYS_H

#include "logger/message/json_write.h"
#include "twin/lab.h"

enum { RAYS_MAX = 180, RAY_PAIRS_MAX = 500 };

struct rays;

/* Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status rays_create(size_t pair_count, struct rays **out);
void rays_destroy(struct rays *rays); /* NULL allowed */

/* Add the ray of a reply to this pair, if it is one and its robot, `state`, has a pose in the
 * plane. One thread; allocates for a pair's first ray. */
void rays_add(struct rays *rays, size_t pair, const struct event *event,
              const struct pair_side *state);

/* Write "rays": {"real": [[t, angle_rad, range_m, x_m, y_m, yaw_rad], …], "virtual": …}, oldest
 * first. Any thread; NULL: there are none. */
void rays_write(struct rays *rays, struct json_writer *json, size_t pair);

#endif
