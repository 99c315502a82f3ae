#include "twin/map/grid.h"

#include <math.h>
#include <string.h>

static const double BRIDGE_M = 0.5;
static const double BRIDGE_SLANT = 0.34; /* sin 20 degrees, against the ray */
/* A ray does not clear the last cell before its end: noise scatters the ends of a wall over two
 * cells, and the near one would be cleared by rays that end in the far one. Then the mean of
 * the rest moves away, and poses with it. In cells. */
static const double CLEAR_MARGIN = 1.0;
static const double SPOT_UNITS = 250.0; /* to the side of a cell */
enum { SPOT_COUNT_MAX = 20 };

struct cell {
    ptrdiff_t x, y;
};

size_t grid_bytes(const struct grid_place *p)
{
    const bool good = p->cell_m >= 0.01 && p->cell_m <= 1.0 && isfinite(p->x_min_m) &&
                      isfinite(p->y_min_m) && p->width >= 1 && p->height >= 1 &&
                      p->width <= GRID_SIDE_MAX && p->height <= GRID_SIDE_MAX &&
                      p->width * p->height <= GRID_CELLS_MAX;
    return good ? p->width * p->height * (sizeof(uint16_t) + sizeof(struct grid_spot) + 2) : 0;
}

struct grid grid_in(const struct grid_place *place, void *memory)
{
    const size_t cells = place->width * place->height;
    struct grid g = {.place = *place, .odds = memory};
    g.spot = (struct grid_spot *)(g.odds + cells);
    g.stamp = (uint16_t *)(void *)(g.spot + cells);
    g.field = (uint8_t *)(g.stamp + cells);
    g.reach = (ptrdiff_t)ceil(3.0 * GRID_SIGMA_M / place->cell_m);
    return g;
}

enum status grid_init(struct grid *g, const struct grid_place *place, void *memory)
{
    const size_t bytes = grid_bytes(place);
    if (bytes == 0) {
        return STATUS_E_RANGE;
    }
    memset(memory, 0, bytes);
    *g = grid_in(place, memory);
    return STATUS_OK;
}

static bool is_inside(const struct grid *g, struct cell c)
{
    return c.x >= 0 && c.y >= 0 && (size_t)c.x < g->place.width &&
           (size_t)c.y < g->place.height;
}

static size_t index_of(const struct grid *g, struct cell c)
{
    return (size_t)c.y * g->place.width + (size_t)c.x;
}

/* In cells from the corner of the place, limited so that it fits a ptrdiff_t. */
static double to_cells(double at_m, double min_m, double cell_m)
{
    return fmin(fmax((at_m - min_m) / cell_m, -1e9), 1e9);
}

static struct cell cell_at(const struct grid *g, double x_m, double y_m)
{
    return (struct cell){(ptrdiff_t)floor(to_cells(x_m, g->place.x_min_m, g->place.cell_m)),
                         (ptrdiff_t)floor(to_cells(y_m, g->place.y_min_m, g->place.cell_m))};
}

/* ---- the likelihood field --------------------------------------------------------------- */

/* The largest likelihood that any occupied cell near this one gives its centre. */
static uint8_t find_likelihood(const struct grid *g, struct cell at)
{
    const double sigma = GRID_SIGMA_M / g->place.cell_m;
    double least = (double)INFINITY;
    for (ptrdiff_t dy = -g->reach; dy <= g->reach; dy++) {
        for (ptrdiff_t dx = -g->reach; dx <= g->reach; dx++) {
            const struct cell c = {at.x + dx, at.y + dy};
            if (is_inside(g, c) && g->odds[index_of(g, c)] >= GRID_OCCUPIED) {
                const struct grid_spot *spot = &g->spot[index_of(g, c)];
                const double x = (double)dx + spot->x / SPOT_UNITS;
                const double y = (double)dy + spot->y / SPOT_UNITS;
                least = fmin(least, x * x + y * y);
            }
        }
    }
    return (uint8_t)lround(255.0 * exp(-0.5 * least / (sigma * sigma)));
}

/* After this cell became occupied, or no longer is, or its spot moved. */
static void update_field(struct grid *g, struct cell at)
{
    for (ptrdiff_t dy = -g->reach; dy <= g->reach; dy++) {
        for (ptrdiff_t dx = -g->reach; dx <= g->reach; dx++) {
            const struct cell c = {at.x + dx, at.y + dy};
            if (is_inside(g, c)) {
                g->field[index_of(g, c)] = find_likelihood(g, c);
            }
        }
    }
}

void grid_restore(struct grid *g)
{
    for (size_t i = 0; i < g->place.width * g->place.height; i++) {
        if (g->odds[i] >= GRID_OCCUPIED) {
            update_field(g, (struct cell){(ptrdiff_t)(i % g->place.width),
                                          (ptrdiff_t)(i / g->place.width)});
        }
    }
}

/* ---- adding a sweep ---------------------------------------------------------------------- */

/* Takes the place where a ray ended into the mean of its cell. Returns whether it changed. */
static bool move_spot(struct grid_spot *spot, const double in_cell[2])
{
    if (spot->count >= SPOT_COUNT_MAX) {
        return false;
    }
    spot->count++;
    spot->x =
        (int8_t)lround(spot->x + (SPOT_UNITS * (in_cell[0] - 0.5) - spot->x) / spot->count);
    spot->y =
        (int8_t)lround(spot->y + (SPOT_UNITS * (in_cell[1] - 0.5) - spot->y) / spot->count);
    return true;
}

/* in_cell: where a ray ended, 0 .. 1 of the cell's side; NULL: it went through. */
static void change_cell(struct grid *g, struct cell at, int by, const double *in_cell)
{
    const size_t i = index_of(g, at);
    const uint16_t stamp = (uint16_t)g->sweeps;
    bool moved = false;
    if (g->stamp[i] == stamp) {
        return;
    }
    g->stamp[i] = stamp;
    const int before = g->odds[i];
    if (!in_cell && before == -GRID_LIMIT) {
        return; /* free for long: most cells of a map that is done */
    }
    const int after = before + by;
    g->odds[i] = (int8_t)(after > GRID_LIMIT    ? GRID_LIMIT
                          : after < -GRID_LIMIT ? -GRID_LIMIT
                                                : after);
    const bool occupied = g->odds[i] >= GRID_OCCUPIED;
    if (in_cell) {
        moved = move_spot(&g->spot[i], in_cell);
    } else if (!occupied) {
        g->spot[i].count = 0; /* what stood there has gone */
    }
    if ((before >= GRID_OCCUPIED) != occupied || (occupied && moved)) {
        update_field(g, at);
    }
}

/* A ray ended at this point, or a surface goes through it. Returns whether it is inside. */
static bool add_point(struct grid *g, double x_m, double y_m, int by)
{
    const double x = to_cells(x_m, g->place.x_min_m, g->place.cell_m);
    const double y = to_cells(y_m, g->place.y_min_m, g->place.cell_m);
    const struct cell c = {(ptrdiff_t)floor(x), (ptrdiff_t)floor(y)};
    const bool inside = is_inside(g, c);
    if (inside) {
        change_cell(g, c, by, (const double[2]){x - floor(x), y - floor(y)});
    }
    return inside;
}

/* Changes the cells from the robot up to, not including, the one where the ray ended, in the
 * order in which the ray crosses their borders (Amanatides and Woo, 1987). */
static void clear_ray(struct grid *g, const double from[2], const double to[2])
{
    ptrdiff_t at[2], step[2];
    double next[2], each[2]; /* as a part of the ray */
    size_t left = 0;
    for (int k = 0; k < 2; k++) {
        const double length = to[k] - from[k];
        at[k] = (ptrdiff_t)floor(from[k]);
        step[k] = length < 0.0 ? -1 : 1;
        each[k] = fabs(1.0 / length); /* infinite along the other axis */
        const double border =
            length < 0.0 ? from[k] - floor(from[k]) : floor(from[k]) + 1.0 - from[k];
        next[k] = isinf(each[k]) ? each[k] : border * each[k];
        left += (size_t)fabs(floor(to[k]) - floor(from[k]));
    }
    /* Without branches and in registers: which border is next cannot be predicted. */
    struct cell c = {at[0], at[1]};
    double next_x = next[0], next_y = next[1];
    for (; left > 0; left--) {
        if (is_inside(g, c)) {
            change_cell(g, c, GRID_MISS, NULL);
        }
        const bool along_x = next_x < next_y;
        c.x += along_x ? step[0] : 0;
        c.y += along_x ? 0 : step[1];
        next_x += along_x ? each[0] : 0.0;
        next_y += along_x ? 0.0 : each[1];
    }
}

static bool is_ray(const struct grid_ray *ray)
{
    return isfinite(ray->angle_rad) && isfinite(ray->range_m) && ray->range_m >= 0.0;
}

/* The point where a ray ends, seen or not, m. */
static void end_of(const struct plane_pose *from, const struct grid_ray *ray,
                   double range_max_m, double margin_m, double end_m[2])
{
    const double most_m = fmin(range_max_m, GRID_RANGE_MAX_M);
    const double range_m = fmax(0.0, fmin(ray->range_m, most_m) - margin_m);
    end_m[0] = from->x_m + range_m * cos(from->yaw_rad + ray->angle_rad);
    end_m[1] = from->y_m + range_m * sin(from->yaw_rad + ray->angle_rad);
}

bool grid_is_surface(const double a_m[2], const double b_m[2])
{
    const double x = b_m[0] - a_m[0], y = b_m[1] - a_m[1], gap = hypot(x, y);
    return gap <= BRIDGE_M &&
           fabs(a_m[0] * y - a_m[1] * x) >= BRIDGE_SLANT * gap * hypot(a_m[0], a_m[1]);
}

/* The surface between the ends of two neighbouring rays, at steps of half a cell. */
static void fill_between(struct grid *g, const double a_m[2], const double b_m[2])
{
    const double gap_m = hypot(b_m[0] - a_m[0], b_m[1] - a_m[1]);
    const int steps = (int)(2.0 * gap_m / g->place.cell_m);
    for (int k = 1; k < steps; k++) {
        const double part = (double)k / steps;
        (void)add_point(g, a_m[0] + part * (b_m[0] - a_m[0]), a_m[1] + part * (b_m[1] - a_m[1]),
                        GRID_BRIDGE);
    }
}

static uint16_t limit_cell(double cells, size_t side)
{
    return (uint16_t)fmin(fmax(cells, 0.0), (double)side);
}

/* Widens the extent to this point, with the cells next to it. */
static void extend_to(struct grid *g, const double at_m[2])
{
    const struct grid_place *p = &g->place;
    const double x = floor(to_cells(at_m[0], p->x_min_m, p->cell_m));
    const double y = floor(to_cells(at_m[1], p->y_min_m, p->cell_m));
    const struct grid_extent e = {limit_cell(x - 1.0, p->width), limit_cell(y - 1.0, p->height),
                                  limit_cell(x + 2.0, p->width),
                                  limit_cell(y + 2.0, p->height)};
    struct grid_extent *all = &g->extent;
    const bool none = all->x_end == 0;
    all->x_begin = none || e.x_begin < all->x_begin ? e.x_begin : all->x_begin;
    all->y_begin = none || e.y_begin < all->y_begin ? e.y_begin : all->y_begin;
    all->x_end = none || e.x_end > all->x_end ? e.x_end : all->x_end;
    all->y_end = none || e.y_end > all->y_end ? e.y_end : all->y_end;
}

size_t grid_add(struct grid *g, const struct plane_pose *from, const struct grid_sweep *sweep)
{
    const struct grid_place *p = &g->place;
    size_t ended = 0;
    /* A stamp of 65 536 sweeps ago would be taken for this sweep's. Stamp 0 is no sweep's. */
    if ((uint16_t)++g->sweeps == 0) {
        g->sweeps++;
        memset(g->stamp, 0, p->width * p->height * sizeof g->stamp[0]);
    }
    extend_to(g, (const double[]){from->x_m, from->y_m});
    for (int pass = 0; pass < 3; pass++) { /* hits, what is between them, what was crossed */
        double last_m[2] = {(double)NAN, 0.0};
        for (size_t i = 0; i < sweep->count; i++) {
            double end_m[2];
            if (!is_ray(&sweep->rays[i])) {
                continue;
            }
            const double margin_m = pass == 2 ? CLEAR_MARGIN * p->cell_m : 0.0;
            end_of(from, &sweep->rays[i], sweep->range_max_m, margin_m, end_m);
            const bool seen = sweep->rays[i].range_m < sweep->range_max_m;
            if (pass == 1) {
                const double a_m[2] = {last_m[0] - from->x_m, last_m[1] - from->y_m};
                const double b_m[2] = {end_m[0] - from->x_m, end_m[1] - from->y_m};
                if (seen && grid_is_surface(a_m, b_m)) {
                    fill_between(g, last_m, end_m);
                }
                last_m[0] = seen ? end_m[0] : (double)NAN;
                last_m[1] = end_m[1];
            } else if (pass == 2) {
                const double a[2] = {to_cells(from->x_m, p->x_min_m, p->cell_m),
                                     to_cells(from->y_m, p->y_min_m, p->cell_m)};
                const double b[2] = {to_cells(end_m[0], p->x_min_m, p->cell_m),
                                     to_cells(end_m[1], p->y_min_m, p->cell_m)};
                clear_ray(g, a, b);
            } else {
                extend_to(g, end_m);
                ended += seen && add_point(g, end_m[0], end_m[1], GRID_HIT);
            }
        }
    }
    return ended;
}

/* ---- reading ----------------------------------------------------------------------------- */

double grid_likelihood_near(const struct grid *g, double x_m, double y_m)
{
    const struct cell c = cell_at(g, x_m, y_m);
    return is_inside(g, c) ? g->field[index_of(g, c)] / 255.0 : 0.0;
}

/* Weights of four points in a row for a point at u, 0 .. 1, between the middle two (cubic
 * convolution, Keys 1981, a = -1/2). */
static void cubic_weights(double u, double w[4])
{
    w[0] = u * (u * (1.0 - 0.5 * u) - 0.5);
    w[1] = u * u * (1.5 * u - 2.5) + 1.0;
    w[2] = u * (u * (2.0 - 1.5 * u) + 0.5);
    w[3] = u * u * (0.5 * u - 0.5);
}

double grid_likelihood(const struct grid *g, double x_m, double y_m)
{
    const double x = to_cells(x_m, g->place.x_min_m, g->place.cell_m) - 1.5;
    const double y = to_cells(y_m, g->place.y_min_m, g->place.cell_m) - 1.5;
    const struct cell c = {(ptrdiff_t)floor(x), (ptrdiff_t)floor(y)};
    double wx[4], wy[4], sum = 0.0;
    if (!is_inside(g, c) || !is_inside(g, (struct cell){c.x + 3, c.y + 3})) {
        return 0.0;
    }
    cubic_weights(x - (double)c.x, wx);
    cubic_weights(y - (double)c.y, wy);
    const uint8_t *row = &g->field[index_of(g, c)];
    for (int k = 0; k < 4; k++, row += g->place.width) {
        sum += wy[k] * (wx[0] * row[0] + wx[1] * row[1] + wx[2] * row[2] + wx[3] * row[3]);
    }
    return fmax(0.0, sum / 255.0);
}
