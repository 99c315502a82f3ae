/* twin/map/grid.h - an occupancy grid: what a lidar's sweeps say of each cell of a flat place.
 *
 * Each cell has the log odds of being occupied, l = ln(p / (1 - p)), from 0 (nothing known).
 * A ray adds GRID_MISS to the cells that it crosses and GRID_HIT to the cell where it ended
 * (Thrun, Burgard, Fox: Probabilistic Robotics, 2005, section 9.2). Within one sweep a cell is
 * changed once, and hits come first: else many rays that graze a wall would erase it.
 *
 * Beside it lies the likelihood field of the map: exp(-d^2 / (2 GRID_SIGMA_M^2)), where d is
 * the distance from a cell's centre to where rays ended in the nearest occupied cell
 * (section 6.4). A sweep is matched on it (twin/map/scan_match.h).
 *
 * Pure; no memory of its own: grid_bytes() of it are given. One thread.
 */
#ifndef TWIN_MAP_GRID_H
#define TWIN_MAP_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

enum {
    GRID_SIDE_MAX = 2000,     /* cells along one side */
    GRID_CELLS_MAX = 1000000, /* 50 m x 50 m of 5 cm */
    GRID_RAYS_MAX = 720,      /* rays of a sweep */
    GRID_RANGE_MAX_M = 100    /* rays are cut there: it bounds the work of a sweep */
};

/* Log odds in units of 0.05, so that a byte has them: +0.85, -0.4, within +-4. */
enum {
    GRID_HIT = 17,
    GRID_BRIDGE = 12,
    GRID_MISS = -8,
    GRID_LIMIT = 80,
    GRID_OCCUPIED = 12,
    GRID_FREE = -28
};
/* A cell is occupied from p = 0.65, and free up to p = 0.196, as ROS's map_server has it:
 * log odds 0.62 and -1.41. */

#define GRID_SIGMA_M 0.05 /* of the likelihood field: cells and a lidar's noise together */

struct grid_place { /* a rectangle of cells; cell (0, 0) begins at (x_min_m, y_min_m) */
    double cell_m;  /* 0.01 .. 1 */
    double x_min_m, y_min_m;
    size_t width, height; /* cells along x and y, 1 .. GRID_SIDE_MAX */
};

struct plane_pose {
    double x_m, y_m, yaw_rad;
};

struct grid_ray {
    double angle_rad; /* from the robot's heading, counterclockwise */
    double range_m;   /* >= range_max_m of its sweep: nothing was seen that far */
};

struct grid_sweep {
    const struct grid_ray *rays;
    size_t count;       /* 0 .. GRID_RAYS_MAX */
    double range_max_m; /* > 0 */
};

/* The point of a cell where rays ended on average, so that a map is finer than its cells: else
 * all walls would move to the middle of theirs, and poses with them by up to half a cell. */
struct grid_spot {
    int8_t x, y;   /* from the cell's centre, 1/250 of its side */
    uint8_t count; /* rays, 20 at most: then it stays */
};

/* A rectangle of cells, its ends exclusive: outside of it no sweep has changed anything. */
struct grid_extent {
    uint16_t x_begin, y_begin, x_end, y_end;
};

/* The four arrays lie one behind the other in the given memory, odds first. What is not in odds
 * and spots is derived from them. */
struct grid {
    struct grid_place place;
    struct grid_extent extent;
    uint32_t sweeps;
    ptrdiff_t reach;        /* cells whose likelihood an occupied one changes, to each side */
    int8_t *odds;           /* [height][width] */
    struct grid_spot *spot; /* [height][width] */
    uint16_t *stamp; /* [height][width] the last sweep, modulo 2^16, that changed the cell */
    uint8_t *field;  /* [height][width] 255 exp(-d^2 / (2 sigma^2)) */
};

enum grid_state { GRID_STATE_UNKNOWN, GRID_STATE_FREE, GRID_STATE_OCCUPIED, GRID_STATE_COUNT };

static inline enum grid_state grid_state_of(int odds)
{
    return odds >= GRID_OCCUPIED ? GRID_STATE_OCCUPIED
           : odds <= GRID_FREE   ? GRID_STATE_FREE
                                 : GRID_STATE_UNKNOWN;
}

/* Bytes of memory of a grid; 0: its place has a wrong size. */
size_t grid_bytes(const struct grid_place *place);

/* Nothing is known yet. memory: grid_bytes(place), aligned for uint16_t. STATUS_E_RANGE:
 * grid_bytes() is 0. */
MUST_USE enum status grid_init(struct grid *grid, const struct grid_place *place, void *memory);

/* The grid in memory that holds one already; `sweeps` and `extent` are the caller's to set. */
struct grid grid_in(const struct grid_place *place, void *memory);

/* Derives the rest from odds and spots; all stamps are 0 already. */
void grid_restore(struct grid *grid);

/* Adds a sweep seen from `from`. Rays that are not finite or negative are left out; parts
 * outside of the place, too. Returns the number of rays that ended in the place. */
size_t grid_add(struct grid *grid, const struct plane_pose *from,
                const struct grid_sweep *sweep);

/* Is there a surface between the ends of two neighbouring rays, [2] m from the robot? They are
 * close, and the line through them is not nearly a ray, as it is past an edge. */
bool grid_is_surface(const double a_m[2], const double b_m[2]);

/* Likelihood 0 .. 1 at a point: of its cell's centre; 0 outside. */
double grid_likelihood_near(const struct grid *grid, double x_m, double y_m);

/* Likelihood at a point, cubic between the cells' centres: between two cells that a wall lies
 * between, linear would be flat, and poses would slide there. 0 within 2 cells of the border.
 */
double grid_likelihood(const struct grid *grid, double x_m, double y_m);

#endif
