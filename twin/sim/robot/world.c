#include "twin/sim/robot/world.h"

#include <math.h>

static double dot_product(struct world_point a, struct world_point b)
{
    return a.x_m * b.x_m + a.y_m * b.y_m;
}

/* > 0 if b is to the left of a. */
static double cross_product(struct world_point a, struct world_point b)
{
    return a.x_m * b.y_m - a.y_m * b.x_m;
}

static struct world_point point_minus(struct world_point a, struct world_point b)
{
    return (struct world_point){a.x_m - b.x_m, a.y_m - b.y_m};
}

static bool is_finite(struct world_point p)
{
    return isfinite(p.x_m) && isfinite(p.y_m);
}

/* --- construction --------------------------------------------------------------------- */

static bool is_well_formed(const struct world_obstacle *what, const struct world_point *points,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_finite(points[i])) {
            return false;
        }
    }
    if (!isfinite(what->appears_s) || !isfinite(what->leaves_s)) {
        return false;
    }
    if (fabs(what->leaves_s) > 0.0 && !(what->leaves_s > fmax(what->appears_s, 0.0))) {
        return false;
    }
    static const size_t least[] = {[WORLD_CIRCLE] = 1, [WORLD_POLYGON] = 3, [WORLD_WALL] = 2};
    return (size_t)what->shape < COUNT(least) && count >= least[what->shape] &&
           (what->shape != WORLD_CIRCLE ||
            (count == 1 && isfinite(what->radius_m) && what->radius_m > 0.0));
}

enum status world_add(struct world *w, const struct world_obstacle *what,
                      const struct world_point *points, size_t count)
{
    if (!is_well_formed(what, points, count)) {
        return STATUS_E_RANGE;
    }
    if (w->obstacle_count >= WORLD_OBSTACLES_MAX || count > WORLD_POINTS_MAX - w->point_count) {
        return STATUS_E_FULL;
    }
    struct world_obstacle *o = &w->obstacles[w->obstacle_count++];
    *o = *what;
    o->name[WORLD_NAME_MAX - 1] = '\0';
    o->first = (uint16_t)w->point_count;
    o->count = (uint16_t)count;
    for (size_t i = 0; i < count; i++) {
        w->points[w->point_count++] = points[i];
    }
    return STATUS_OK;
}

bool world_is_present(const struct world *w, size_t i)
{
    const struct world_obstacle *o = &w->obstacles[i];
    if (w->mapped_only) {
        return !o->unmapped;
    }
    return w->t_s >= o->appears_s && !(o->leaves_s > 0.0 && w->t_s >= o->leaves_s);
}

/* --- edges ---------------------------------------------------------------------------- */

struct edge {
    struct world_point a, b;
};

static size_t edge_count(const struct world_obstacle *o)
{
    return o->shape == WORLD_CIRCLE ? 0 : (size_t)o->count - (o->shape == WORLD_WALL ? 1U : 0U);
}

static struct edge edge_at(const struct world *w, const struct world_obstacle *o, size_t k)
{
    return (struct edge){w->points[o->first + k], w->points[o->first + (k + 1) % o->count]};
}

/* Even-odd rule: a half line to the right crosses the edges of a solid an odd number of
 * times. */
static bool is_inside(const struct world *w, const struct world_obstacle *o,
                      struct world_point p)
{
    bool inside = false;
    if (o->shape == WORLD_CIRCLE) {
        const struct world_point d = point_minus(p, w->points[o->first]);
        return dot_product(d, d) <= o->radius_m * o->radius_m;
    }
    if (o->shape == WORLD_WALL) {
        return false;
    }
    for (size_t k = 0; k < edge_count(o); k++) {
        const struct edge e = edge_at(w, o, k);
        const struct world_point along = point_minus(e.b, e.a);
        if ((e.a.y_m > p.y_m) != (e.b.y_m > p.y_m)) {
            const double x = e.a.x_m + (p.y_m - e.a.y_m) / along.y_m * along.x_m;
            inside = p.x_m < x ? !inside : inside;
        }
    }
    return inside;
}

static bool has_bounds(const struct world *w)
{
    return w->bounds.x_max_m > w->bounds.x_min_m && w->bounds.y_max_m > w->bounds.y_min_m;
}

/* --- rays ----------------------------------------------------------------------------- */

static double ray_to_circle(struct world_point from, struct world_point direction,
                            struct world_point centre, double radius)
{
    const struct world_point d = point_minus(centre, from);
    const double along = dot_product(d, direction);
    const double aside = cross_product(direction, d);
    const double half2 = radius * radius - aside * aside;
    if (half2 < 0.0 || along < 0.0) {
        return HUGE_VAL;
    }
    return fmax(along - sqrt(half2), 0.0);
}

static double ray_to_edge(struct world_point from, struct world_point direction,
                          struct world_point a, struct world_point b)
{
    const struct world_point e = point_minus(b, a);
    const struct world_point d = point_minus(a, from);
    const double turn = cross_product(direction, e);
    if (!(fabs(turn) > 0.0)) { /* parallel: an edge seen end-on is hit at its nearer end */
        if (fabs(cross_product(direction, d)) > 0.0) {
            return HUGE_VAL;
        }
        const double to_a = dot_product(d, direction);
        const double to_b = dot_product(point_minus(b, from), direction);
        if (to_a < 0.0 && to_b < 0.0) {
            return HUGE_VAL;
        }
        return to_a < 0.0 || to_b < 0.0 ? 0.0 : fmin(to_a, to_b);
    }
    const double along = cross_product(d, e) / turn;
    const double share = cross_product(d, direction) / turn;
    return along >= 0.0 && share >= 0.0 && share <= 1.0 ? along : HUGE_VAL;
}

static double ray_to_obstacle(const struct world *w, const struct world_obstacle *o,
                              struct world_point from, struct world_point direction)
{
    double least = HUGE_VAL;
    if (is_inside(w, o, from)) {
        return 0.0;
    }
    if (o->shape == WORLD_CIRCLE) {
        return ray_to_circle(from, direction, w->points[o->first], o->radius_m);
    }
    for (size_t k = 0; k < edge_count(o); k++) {
        const struct edge e = edge_at(w, o, k);
        least = fmin(least, ray_to_edge(from, direction, e.a, e.b));
    }
    return least;
}

/* Returns the distance from inside along one axis to the bound ahead. */
static double ray_to_bound(double from, double direction, double min, double max)
{
    if (direction > 0.0) {
        return fmax((max - from) / direction, 0.0);
    }
    return direction < 0.0 ? fmax((min - from) / direction, 0.0) : HUGE_VAL;
}

static double ray_to_bounds(const struct world_bounds *b, struct world_point from,
                            struct world_point direction)
{
    if (from.x_m < b->x_min_m || from.x_m > b->x_max_m || from.y_m < b->y_min_m ||
        from.y_m > b->y_max_m) {
        return 0.0;
    }
    return fmin(ray_to_bound(from.x_m, direction.x_m, b->x_min_m, b->x_max_m),
                ray_to_bound(from.y_m, direction.y_m, b->y_min_m, b->y_max_m));
}

double world_range(const struct world *w, double x_m, double y_m, double heading_rad,
                   double range_max_m)
{
    const struct world_point from = {x_m, y_m};
    double least = range_max_m;
    if (!is_finite(from) || !isfinite(heading_rad)) {
        return range_max_m;
    }
    const struct world_point direction = {cos(heading_rad), sin(heading_rad)};
    if (has_bounds(w)) {
        least = fmin(least, ray_to_bounds(&w->bounds, from, direction));
    }
    for (size_t i = 0; i < w->obstacle_count; i++) {
        if (world_is_present(w, i)) {
            least = fmin(least, ray_to_obstacle(w, &w->obstacles[i], from, direction));
        }
    }
    return least;
}

/* --- distances ------------------------------------------------------------------------ */

static double point_to_edge(struct world_point p, struct world_point a, struct world_point b)
{
    const struct world_point e = point_minus(b, a);
    const struct world_point d = point_minus(p, a);
    const double length2 = dot_product(e, e);
    const double share =
        length2 > 0.0 ? fmin(fmax(dot_product(d, e) / length2, 0.0), 1.0) : 0.0;
    return hypot(d.x_m - share * e.x_m, d.y_m - share * e.y_m);
}

static bool do_cross(struct world_point a, struct world_point b, struct world_point c,
                     struct world_point d)
{
    const double of_c = cross_product(point_minus(b, a), point_minus(c, a));
    const double of_d = cross_product(point_minus(b, a), point_minus(d, a));
    const double of_a = cross_product(point_minus(d, c), point_minus(a, c));
    const double of_b = cross_product(point_minus(d, c), point_minus(b, c));
    return ((of_c > 0.0) != (of_d > 0.0)) && ((of_a > 0.0) != (of_b > 0.0));
}

/* Distance of two segments; collinear ones are covered by the distances of their ends. */
static double edge_to_edge(struct world_point a, struct world_point b, struct world_point c,
                           struct world_point d)
{
    if (do_cross(a, b, c, d)) {
        return 0.0;
    }
    return fmin(fmin(point_to_edge(a, c, d), point_to_edge(b, c, d)),
                fmin(point_to_edge(c, a, b), point_to_edge(d, a, b)));
}

/* Are the boxes around two edges farther apart than this? */
static bool is_apart(struct world_point a, struct world_point b, struct edge e, double far_m)
{
    return fmin(e.a.x_m, e.b.x_m) - fmax(a.x_m, b.x_m) > far_m ||
           fmin(a.x_m, b.x_m) - fmax(e.a.x_m, e.b.x_m) > far_m ||
           fmin(e.a.y_m, e.b.y_m) - fmax(a.y_m, b.y_m) > far_m ||
           fmin(a.y_m, b.y_m) - fmax(e.a.y_m, e.b.y_m) > far_m;
}

/* Distance from the segment a-b (a point if they are equal) to an obstacle, or anything above
 * far_m if it is above that. */
static double way_to_obstacle(const struct world *w, const struct world_obstacle *o,
                              struct world_point a, struct world_point b, double far_m)
{
    double least = HUGE_VAL;
    if (is_inside(w, o, a)) {
        return 0.0;
    }
    if (o->shape == WORLD_CIRCLE) {
        return fmax(point_to_edge(w->points[o->first], a, b) - o->radius_m, 0.0);
    }
    for (size_t k = 0; k < edge_count(o); k++) {
        const struct edge e = edge_at(w, o, k);
        least = is_apart(a, b, e, far_m) ? least : fmin(least, edge_to_edge(a, b, e.a, e.b));
    }
    return least;
}

static double point_to_bounds(const struct world_bounds *b, struct world_point p)
{
    const double x = fmin(p.x_m - b->x_min_m, b->x_max_m - p.x_m);
    const double y = fmin(p.y_m - b->y_min_m, b->y_max_m - p.y_m);
    return fmax(fmin(x, y), 0.0);
}

static double way_clearance(const struct world *w, struct world_point a, struct world_point b)
{
    double least = HUGE_VAL;
    if (has_bounds(w)) { /* bounds are convex, so the ends decide */
        least = fmin(point_to_bounds(&w->bounds, a), point_to_bounds(&w->bounds, b));
    }
    for (size_t i = 0; i < w->obstacle_count; i++) {
        if (world_is_present(w, i)) {
            least = fmin(least, way_to_obstacle(w, &w->obstacles[i], a, b, HUGE_VAL));
        }
    }
    return least;
}

double world_clearance(const struct world *w, double x_m, double y_m)
{
    const struct world_point p = {x_m, y_m};
    return way_clearance(w, p, p);
}

bool world_blocked_way(const struct world *w, const struct world_point *from,
                       const struct world_point *to, double radius_m)
{
    if (!is_finite(*from) || !is_finite(*to)) {
        return true;
    }
    const double clearance = way_clearance(w, *from, *to);
    /* Touching counts as blocked, so that radius 0 asks "is it free here?". */
    return !(clearance > 0.0) || clearance < radius_m;
}

/* ---- many ways ---- */

/* Work per obstacle that is passed by, per edge that is looked at, and per obstacle in reach.
 */
enum { WORK_PASSED = 8, WORK_EDGE = 20, WORK_NEAR = 100 };

/* Circles are this share larger, so that rounding hides nothing. */
#define CIRCLE_RATIO 1.000001

void world_circles(const struct world *w, struct world_circle circles[WORLD_OBSTACLES_MAX])
{
    for (size_t i = 0; i < w->obstacle_count; i++) {
        const struct world_obstacle *o = &w->obstacles[i];
        const struct world_point *p = &w->points[o->first];
        struct world_circle c = {p[0], o->shape == WORLD_CIRCLE ? o->radius_m : 0.0};
        for (size_t k = 1; k < o->count; k++) { /* grown to the next corner, as far as needed */
            const double off_m = hypot(p[k].x_m - c.centre.x_m, p[k].y_m - c.centre.y_m);
            if (off_m > c.radius_m) {
                const double share = 0.5 * (off_m - c.radius_m) / off_m;
                c.centre.x_m += share * (p[k].x_m - c.centre.x_m);
                c.centre.y_m += share * (p[k].y_m - c.centre.y_m);
                c.radius_m = 0.5 * (off_m + c.radius_m) * CIRCLE_RATIO;
            }
        }
        circles[i] = c;
    }
}

static bool is_passed(const struct world_circle *c, struct world_point a, struct world_point b,
                      double radius_m)
{
    const struct world_point e = point_minus(b, a);
    const struct world_point d = point_minus(c->centre, a);
    const double far_m = (c->radius_m + radius_m) * CIRCLE_RATIO;
    const double length2 = dot_product(e, e);
    const double along = dot_product(d, e);
    const double share = along <= 0.0 ? 0.0 : along >= length2 ? 1.0 : along / length2;
    const struct world_point off = {d.x_m - share * e.x_m, d.y_m - share * e.y_m};
    return dot_product(off, off) > far_m * far_m;
}

bool world_blocked_way_fast(const struct world *w, const struct world_circle *circles,
                            const struct world_point *from, const struct world_point *to,
                            double radius_m, int64_t *budget)
{
    double least = HUGE_VAL;
    if (!is_finite(*from) || !is_finite(*to) || *budget < 0) {
        return true;
    }
    if (has_bounds(w)) {
        least = fmin(point_to_bounds(&w->bounds, *from), point_to_bounds(&w->bounds, *to));
    }
    for (size_t i = 0; i < w->obstacle_count && least > 0.0 && least >= radius_m; i++) {
        *budget -= WORK_PASSED;
        if (world_is_present(w, i) && !is_passed(&circles[i], *from, *to, radius_m)) {
            *budget -= WORK_NEAR + WORK_EDGE * (int64_t)edge_count(&w->obstacles[i]);
            least = fmin(least,
                         way_to_obstacle(w, &w->obstacles[i], *from, *to, fmax(radius_m, 0.0)));
        }
    }
    return !(least > 0.0) || least < radius_m || *budget < 0;
}

bool world_blocked(const struct world *w, double x_m, double y_m, double radius_m)
{
    const struct world_point p = {x_m, y_m};
    return world_blocked_way(w, &p, &p, radius_m);
}

ENUM_NAMES(world_shape, WORLD_WALL + 1, "circle", "polygon", "wall");
