/* twin/sim/robot/world.h - the flat world of simulated robots: obstacles, bounds, lidar ranges
 * and collisions.
 *
 * Circles and polygons are solid; a wall is a line without thickness. An obstacle may exist
 * only for some time (a passer-by), and it may be missing on the map that is used for plans.
 * All zero is an empty world without bounds. Plain data without pointers, so that it can be
 * copied; many robots share one world. docs/model/missions.md. Pure: no I/O, no clock, no
 * randomness; every query is O(vertices).
 */
#ifndef TWIN_SIM_ROBOT_WORLD_H
#define TWIN_SIM_ROBOT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/text/names.h"

enum { WORLD_OBSTACLES_MAX = 128, WORLD_POINTS_MAX = 512, WORLD_NAME_MAX = 32 };

enum world_shape {
    WORLD_CIRCLE,  /* one point and a radius */
    WORLD_POLYGON, /* three points or more, closed, solid; either sense of rotation */
    WORLD_WALL     /* two points or more, open */
};

struct world_point {
    double x_m, y_m;
};

struct world_obstacle {
    char name[WORLD_NAME_MAX];
    enum world_shape shape;
    bool unmapped;  /* exists, but is not on the map: plans ignore it */
    uint16_t first; /* its points are points[first .. first + count) of the world */
    uint16_t count;
    double radius_m;  /* of a circle */
    double appears_s; /* in the world's time */
    double leaves_s;  /* > appears_s: end of its existence; 0: it stays for ever */
};

struct world_bounds { /* limits of the world; zero size: none */
    double x_min_m, y_min_m, x_max_m, y_max_m;
};

struct world {
    struct world_bounds bounds;
    double t_s;       /* present time, for obstacles that come and go */
    bool mapped_only; /* the map instead of the world: mapped obstacles at all times */
    size_t obstacle_count;
    size_t point_count;
    struct world_obstacle obstacles[WORLD_OBSTACLES_MAX];
    struct world_point points[WORLD_POINTS_MAX];
};

/* Adds an obstacle: name, shape, unmapped, radius and times of *what; count and points are
 * arguments.
 *
 * STATUS_E_RANGE if a number is not finite, a circle has no radius or more than one point, a
 * polygon fewer than three or a wall fewer than two, or it leaves before it appears;
 * STATUS_E_FULL if the world has no room. *w is unchanged then. */
MUST_USE enum status world_add(struct world *w, const struct world_obstacle *what,
                               const struct world_point *points, size_t count);

/* Does obstacle i exist now (or on the map, see mapped_only)? */
bool world_is_present(const struct world *w, size_t i);

/* Returns the distance from (x, y) along heading to the nearest obstacle or bound; 0 within a
 * solid or outside the bounds; range_max_m if nothing is closer, or a number is not finite.
 * Exact: noise is added by the robot. */
double world_range(const struct world *w, double x_m, double y_m, double heading_rad,
                   double range_max_m);

/* Does a disc of this radius at (x, y) touch an obstacle or cross the bounds? A position that
 * is not finite counts as blocked. */
bool world_blocked(const struct world *w, double x_m, double y_m, double radius_m);

/* Checks the disc moved straight from one point to the other. */
bool world_blocked_way(const struct world *w, const struct world_point *from,
                       const struct world_point *to, double radius_m);

/* A circle that holds all of an obstacle: what is far from it needs no exact test. */
struct world_circle {
    struct world_point centre;
    double radius_m;
};
void world_circles(const struct world *w, struct world_circle circles[WORLD_OBSTACLES_MAX]);

/* world_blocked_way() for many ways: faster by the circles of world_circles(). Takes its work,
 * less than a nanosecond per unit, from *budget; blocked if that is not enough. */
bool world_blocked_way_fast(const struct world *w, const struct world_circle *circles,
                            const struct world_point *from, const struct world_point *to,
                            double radius_m, int64_t *budget);

/* Returns the distance from (x, y) to the nearest obstacle or bound; 0 in a solid or out of
 * bounds; INFINITY in an empty world. */
double world_clearance(const struct world *w, double x_m, double y_m);

ENUM_NAMES_DECLARED(world_shape); /* "circle" … */

#endif
