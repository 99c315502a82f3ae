#include "twin/mission/course.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"

/* A turn below this needs no arc: on 100 m of the next line it is a tenth of a millimetre. */
#define NO_TURN_RAD 1e-6
/* Rounding of lengths and distances that are equal. */
#define EQUAL_M 1e-9

/* Ways around discs that are tried for one leg, and for all: about 10 ms. */
enum { TRIES_MAX = 256, COURSE_TRIES_MAX = 4096, STOPS_MAX = 24, ARC_CHECKS = 16 };

/* A circle that the course touches: the disc with its clearance, or a way-point (radius 0). */
struct stop {
    struct world_point at;
    double radius_m;
    int side;    /* +1: around it counter-clockwise, -1: clockwise */
    size_t disc; /* its obstacle on the map */
};

/* A straight line between two stops, before turns at way-points cut its ends off. */
struct segment {
    struct world_point from, to;
    double heading_rad;
    struct stop end; /* of the line; radius 0: the way-point */
    size_t point;    /* the way-point that its leg leads to */
};

struct layout {
    const struct course_plan *plan;
    struct err *err;
    double tightest_m; /* U / r_max */
    size_t shift;      /* points before the first of the file */
    struct stop stops[STOPS_MAX];
    size_t stop_count, tries, all_tries;
    size_t blocking; /* the disc that was in the way last */
    size_t segment_count;
    struct segment segments[COURSE_PIECES_MAX / 2];
};

static double wrap_angle(double angle_rad)
{
    return remainder(angle_rad, 2.0 * PI);
}

static double distance_of(struct world_point a, struct world_point b)
{
    return hypot(b.x_m - a.x_m, b.y_m - a.y_m);
}

static double direction_of(struct world_point a, struct world_point b)
{
    return atan2(b.y_m - a.y_m, b.x_m - a.x_m);
}

static struct world_point point_ahead(struct world_point p, double heading_rad, double m)
{
    return (struct world_point){p.x_m + m * cos(heading_rad), p.y_m + m * sin(heading_rad)};
}

/* --- what the vessel can do ----------------------------------------------------------- */

/* Solves linear x + quadratic x^2 = effort for x >= 0. */
static double steady_rate(double linear, double quadratic, double effort)
{
    return 2.0 * effort / (linear + sqrt(linear * linear + 4.0 * quadratic * effort));
}

double course_turn_limit_radps(const struct usv3_vessel *vessel)
{
    double moment_nm = 0.0;
    for (size_t i = 0; i < vessel->thruster_count; i++) {
        const double y_m = vessel->thrusters[i].y_m;
        moment_nm += fmax(-y_m * vessel->thrust_n_min, -y_m * vessel->thrust_n_max);
    }
    return steady_rate(vessel->theta[7], vessel->theta[8], moment_nm);
}

double course_speed_limit_mps(const struct usv3_vessel *vessel)
{
    return steady_rate(vessel->theta[3], vessel->theta[4],
                       (double)vessel->thruster_count * vessel->thrust_n_max);
}

double course_usual_speed_mps(const struct usv3_vessel *vessel)
{
    static const double usual_mps[] = {0.8, 0.5}; /* by vessel */
    return usual_mps[vessel - usv3_vessels];
}

/* --- refusals ------------------------------------------------------------------------- */

static void describe_point(const struct layout *l, size_t point, char out[COURSE_PLACE_MAX])
{
    const struct world_point *p = &l->plan->points[point];
    if (point < l->shift) {
        (void)snprintf(out, COURSE_PLACE_MAX, "the start (%.2f, %.2f)", p->x_m, p->y_m);
    } else {
        (void)snprintf(out, COURSE_PLACE_MAX, "way-point %zu (%.2f, %.2f)",
                       point - l->shift + 1, p->x_m, p->y_m);
    }
}

static double disc_radius(const struct layout *l, size_t disc)
{
    return fmax(l->plan->map.obstacles[disc].radius_m + l->plan->clearance_m, l->tightest_m);
}

static struct world_point disc_centre(const struct layout *l, size_t disc)
{
    return l->plan->map.points[l->plan->map.obstacles[disc].first];
}

/* --- around discs --------------------------------------------------------------------- */

/* The line from one stop to the next touches both circles. */
static void join_stops(const struct stop *from, const struct stop *to, struct segment *out)
{
    const double offset = to->side * to->radius_m - from->side * from->radius_m;
    const double apart = distance_of(from->at, to->at);
    const double heading =
        direction_of(from->at, to->at) - asin(fmax(-1.0, fmin(offset / apart, 1.0)));
    *out = (struct segment){.heading_rad = wrap_angle(heading), .end = *to};
    out->from = point_ahead(from->at, heading - PI / 2.0, from->side * from->radius_m);
    out->to = point_ahead(to->at, heading - PI / 2.0, to->side * to->radius_m);
}

/* Circles that overlap cannot be passed on different sides. */
static bool can_join(const struct stop *from, const struct stop *to)
{
    const double offset = fabs(to->side * to->radius_m - from->side * from->radius_m);
    return distance_of(from->at, to->at) > offset + EQUAL_M;
}

/* A line as its begin, length and unit vector: a plan asks for distances from it so often that
 * angles would cost most of its time. */
struct ray {
    struct world_point from;
    double length_m, x, y;
};

static struct ray ray_between(struct world_point from, struct world_point to)
{
    const double length_m = distance_of(from, to);
    const double scale = length_m > 0.0 ? 1.0 / length_m : 0.0;
    return (struct ray){from, length_m, scale * (to.x_m - from.x_m),
                        scale * (to.y_m - from.y_m)};
}

/* Is the point nearer to the line than room_m? */
static bool is_near_ray(const struct ray *ray, struct world_point p, double room_m)
{
    const double x_m = p.x_m - ray->from.x_m, y_m = p.y_m - ray->from.y_m;
    const double along_m = x_m * ray->x + y_m * ray->y;
    const double foot_m = along_m < 0.0             ? 0.0
                          : along_m > ray->length_m ? ray->length_m
                                                    : along_m;
    const double dx_m = x_m - foot_m * ray->x, dy_m = y_m - foot_m * ray->y;
    return dx_m * dx_m + dy_m * dy_m < room_m * room_m;
}

/* Finds the disc that is in the way of the segment, the first along it. */
static bool find_disc(struct layout *l, const struct segment *segment, const struct stop *from,
                      const struct stop *to)
{
    const struct ray ray = ray_between(segment->from, segment->to);
    double nearest_m = (double)INFINITY;
    for (size_t i = 0; i < l->plan->map.obstacle_count; i++) {
        const bool own =
            (from->radius_m > 0.0 && from->disc == i) || (to->radius_m > 0.0 && to->disc == i);
        const struct world_point centre = disc_centre(l, i);
        if (!own && is_near_ray(&ray, centre, disc_radius(l, i) - EQUAL_M)) {
            const double ahead_m = distance_of(segment->from, centre);
            l->blocking = ahead_m < nearest_m ? i : l->blocking;
            nearest_m = fmin(ahead_m, nearest_m);
        }
    }
    return isfinite(nearest_m);
}

static bool lay_between(struct layout *l, size_t k);

/* The length of the lines and of the arcs between them, without turns at way-points. */
static double way_length(const struct layout *l)
{
    double length_m = 0.0;
    struct segment before = {.heading_rad = 0.0};
    for (size_t k = 0; k + 1 < l->stop_count; k++) {
        struct segment segment;
        join_stops(&l->stops[k], &l->stops[k + 1], &segment);
        length_m += distance_of(segment.from, segment.to);
        if (k > 0) {
            length_m += l->stops[k].radius_m *
                        fabs(wrap_angle(segment.heading_rad - before.heading_rad));
        }
        before = segment;
    }
    return length_m;
}

/* Inserts the disc behind stop k, to be passed on one side. */
static bool pass_disc(struct layout *l, size_t k, int side, size_t disc)
{
    if (l->stop_count == STOPS_MAX || ++l->tries > TRIES_MAX ||
        ++l->all_tries > COURSE_TRIES_MAX) {
        return false;
    }
    memmove(&l->stops[k + 2], &l->stops[k + 1], (l->stop_count - k - 1) * sizeof l->stops[0]);
    l->stops[k + 1] = (struct stop){.at = disc_centre(l, disc),
                                    .radius_m = disc_radius(l, disc),
                                    .side = side,
                                    .disc = disc};
    l->stop_count++;
    /* The line before the stop in front of it has another end now: that is laid again. */
    return lay_between(l, k > 0 ? k - 1 : 0);
}

/* Tries both sides, the one with less of the disc first, and takes the shorter way. */
static bool choose_side(struct layout *l, size_t k, int side, size_t disc)
{
    struct stop before[STOPS_MAX];
    struct stop first[STOPS_MAX];
    const size_t count = l->stop_count;
    memcpy(before, l->stops, sizeof before);
    const bool is_way = pass_disc(l, k, side, disc);
    const double length_m = is_way ? way_length(l) : (double)INFINITY;
    const size_t first_count = l->stop_count;
    memcpy(first, l->stops, sizeof first);
    memcpy(l->stops, before, sizeof before);
    l->stop_count = count;
    if (pass_disc(l, k, -side, disc) && way_length(l) < length_m) {
        return true;
    }
    memcpy(l->stops, is_way ? first : before, sizeof first);
    l->stop_count = is_way ? first_count : count;
    return is_way;
}

/* Each stop must be turned around in its own sense, and by less than half a turn. */
static bool turns_well(const struct layout *l, size_t k)
{
    struct segment in;
    struct segment out;
    if (k == 0 || k + 1 >= l->stop_count) {
        return true;
    }
    join_stops(&l->stops[k - 1], &l->stops[k], &in);
    join_stops(&l->stops[k], &l->stops[k + 1], &out);
    return wrap_angle(out.heading_rad - in.heading_rad) * l->stops[k].side > -NO_TURN_RAD;
}

/* Lays the lines from stop k to the last one; true: all are free. */
static bool lay_between(struct layout *l, size_t k)
{
    for (; k + 1 < l->stop_count; k++) {
        const struct stop *from = &l->stops[k];
        const struct stop *to = &l->stops[k + 1];
        struct segment segment;
        if (!can_join(from, to)) {
            return false;
        }
        join_stops(from, to, &segment);
        if (find_disc(l, &segment, from, to)) {
            const size_t disc = l->blocking;
            const struct world_point centre = disc_centre(l, disc);
            const double left = sin(direction_of(segment.from, centre) - segment.heading_rad);
            const int side = left > 0.0 ? 1 : -1; /* a disc to the left stays there */
            return choose_side(l, k, side, disc);
        }
        if (!turns_well(l, k)) {
            return false;
        }
    }
    return true;
}

/* Lays the leg to a way-point. */
static enum status lay_leg(struct layout *l, size_t point)
{
    const struct world_point *points = l->plan->points;
    char from[COURSE_PLACE_MAX];
    char to[COURSE_PLACE_MAX];
    describe_point(l, point - 1, from);
    describe_point(l, point, to);
    if (distance_of(points[point - 1], points[point]) < EQUAL_M) {
        return err_set(l->err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, to,
                       "is the same place as %s: leave one out", from);
    }
    l->stop_count = 2;
    l->tries = 0;
    l->stops[0] = (struct stop){.at = points[point - 1]};
    l->stops[1] = (struct stop){.at = points[point]};
    const bool is_free = lay_between(l, 0);
    if (l->all_tries > COURSE_TRIES_MAX) {
        return err_set(l->err, STATUS_E_FULL, FAULT_TOO_MANY, to,
                       "the course passes too many discs to be laid in time: fewer of them, or "
                       "fewer way-points, were expected");
    }
    if (!is_free) {
        return err_set(l->err, STATUS_E_RANGE, FAULT_IN_OBSTACLE, to,
                       "%s leaves no way from %s: a lower clearance_m than %g m or another "
                       "way-point before it may",
                       l->plan->map.obstacles[l->blocking].name, from, l->plan->clearance_m);
    }
    for (size_t k = 0; k + 1 < l->stop_count; k++) {
        if (l->segment_count == COUNT(l->segments)) {
            return err_set(l->err, STATUS_E_FULL, FAULT_TOO_MANY, to,
                           "the course has too many pieces: at most %d lines were expected",
                           (int)COUNT(l->segments));
        }
        struct segment *segment = &l->segments[l->segment_count++];
        join_stops(&l->stops[k], &l->stops[k + 1], segment);
        segment->point = point;
    }
    return STATUS_OK;
}

/* --- turns at way-points -------------------------------------------------------------- */

static enum status check_turn(const struct layout *l, size_t point, double turn_rad,
                              double radius_m)
{
    const struct course_plan *plan = l->plan;
    const double degrees = fabs(turn_rad) / RAD_PER_DEG;
    char place[COURSE_PLACE_MAX];
    if (radius_m >= l->tightest_m) {
        return STATUS_OK;
    }
    describe_point(l, point, place);
    return err_set(l->err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, place,
                   "a turn of %.0f deg has a radius of %.2f m, but %s at %g m/s turns no "
                   "tighter than %.2f m: a turn of at most %.0f deg was expected, or a lower "
                   "speed_mps, or a larger turn_in_m than %g",
                   degrees, radius_m, plan->vessel->name, plan->speed_mps, l->tightest_m,
                   floor(2.0 * atan(plan->turn_in_m / l->tightest_m) / RAD_PER_DEG),
                   plan->turn_in_m);
}

/* Turns in at the way-point between two segments: cuts both ends off and returns the arc. */
static enum status add_turn(struct layout *l, struct segment *in, struct segment *out,
                            struct course_piece *arc)
{
    const double turn_rad = wrap_angle(out->heading_rad - in->heading_rad);
    const double turn_in_m = l->plan->turn_in_m;
    const double radius_m = turn_in_m / tan(fabs(turn_rad) / 2.0);
    const int side = turn_rad > 0.0 ? 1 : -1;
    if (fabs(turn_rad) < NO_TURN_RAD) {
        *arc = (struct course_piece){0};
        return STATUS_OK;
    }
    in->to = point_ahead(in->to, in->heading_rad, -turn_in_m);
    out->from = point_ahead(out->from, out->heading_rad, turn_in_m);
    *arc = (struct course_piece){
        .turn = side,
        .at = point_ahead(in->to, in->heading_rad + side * PI / 2.0, radius_m),
        .heading_rad = in->heading_rad,
        .length_m = radius_m * fabs(turn_rad),
        .radius_m = radius_m,
        .point = in->point};
    return check_turn(l, in->point, turn_rad, radius_m);
}

/* The arc around a disc, between the lines that touch it. */
static struct course_piece disc_arc(const struct segment *in, const struct segment *out)
{
    const double turn_rad = wrap_angle(out->heading_rad - in->heading_rad);
    return (struct course_piece){.turn = fabs(turn_rad) < NO_TURN_RAD ? 0 : in->end.side,
                                 .at = in->end.at,
                                 .heading_rad = in->heading_rad,
                                 .length_m = in->end.radius_m * fabs(turn_rad),
                                 .radius_m = in->end.radius_m,
                                 .point = in->point};
}

struct world_point course_point(const struct course_piece *p, double along_m)
{
    if (p->turn == 0) {
        return point_ahead(p->at, p->heading_rad, along_m);
    }
    const double heading = p->heading_rad + p->turn * along_m / p->radius_m;
    return point_ahead(p->at, heading - p->turn * PI / 2.0, p->radius_m);
}

/* An arc may come nearer to a disc than the lines that it joins, and its middle is nearest to
 * the bounds. */
static enum status check_arc(const struct layout *l, const struct course_piece *arc)
{
    char place[COURSE_PLACE_MAX];
    for (int k = 0; arc->turn != 0 && k <= ARC_CHECKS; k++) {
        const struct world_point p = course_point(arc, arc->length_m * k / ARC_CHECKS);
        const double room_m = l->plan->clearance_m * 0.99;
        if (world_blocked(&l->plan->map, p.x_m, p.y_m, room_m)) {
            describe_point(l, arc->point, place);
            return err_set(l->err, STATUS_E_RANGE, FAULT_IN_OBSTACLE, place,
                           "the course turns at (%.2f, %.2f), nearer than clearance_m %g m to "
                           "an obstacle or the bounds: move the way-point away from it",
                           p.x_m, p.y_m, l->plan->clearance_m);
        }
    }
    return STATUS_OK;
}

static enum status add_pieces(struct layout *l, struct course *out)
{
    struct course_piece arc = {0};
    for (size_t i = 0; i < l->segment_count; i++) {
        struct segment *segment = &l->segments[i];
        struct course_piece next = {0};
        enum status status = STATUS_OK;
        if (i + 1 < l->segment_count) {
            if (segment->end.radius_m > 0.0) {
                next = disc_arc(segment, &l->segments[i + 1]);
            } else {
                status = add_turn(l, segment, &l->segments[i + 1], &next);
            }
        }
        if (status == STATUS_OK) {
            status = check_arc(l, &next);
        }
        const double length_m =
            (segment->to.x_m - segment->from.x_m) * cos(segment->heading_rad) +
            (segment->to.y_m - segment->from.y_m) * sin(segment->heading_rad);
        if (status == STATUS_OK && length_m < -EQUAL_M) {
            char place[COURSE_PLACE_MAX];
            describe_point(l, segment->point, place);
            status =
                err_set(l->err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, place,
                        "the line to it is %.2f m too short for the turns at its ends, "
                        "which begin and end turn_in_m %g m away: move it, or turn in later",
                        -length_m, l->plan->turn_in_m);
        }
        if (status != STATUS_OK) {
            return status;
        }
        out->pieces[out->count++] = (struct course_piece){.at = segment->from,
                                                          .heading_rad = segment->heading_rad,
                                                          .length_m = fmax(length_m, 0.0),
                                                          .point = segment->point};
        out->length_m += out->pieces[out->count - 1].length_m;
        arc = next;
        if (arc.turn != 0) {
            out->pieces[out->count++] = arc;
            out->length_m += arc.length_m;
        }
    }
    return STATUS_OK;
}

/* --- checks --------------------------------------------------------------------------- */

static enum status check_map(const struct layout *l)
{
    const struct world *map = &l->plan->map;
    for (size_t i = 0; i < map->obstacle_count; i++) {
        if (map->obstacles[i].shape != WORLD_CIRCLE) {
            return err_set(l->err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, map->obstacles[i].name,
                           "is a %s, but a course goes around circles only: give a circle that "
                           "holds it",
                           world_shape_name(map->obstacles[i].shape));
        }
    }
    return STATUS_OK;
}

static enum status check_points(const struct layout *l)
{
    const struct world_bounds *b = &l->plan->map.bounds;
    const bool bounded = b->x_max_m > b->x_min_m;
    char place[COURSE_PLACE_MAX];
    for (size_t i = 0; i < l->plan->point_count; i++) {
        const struct world_point *p = &l->plan->points[i];
        const double margin_m = l->plan->clearance_m;
        describe_point(l, i, place);
        for (size_t k = 0; k < l->plan->map.obstacle_count; k++) {
            const double apart_m = distance_of(disc_centre(l, k), *p);
            if (apart_m < disc_radius(l, k)) {
                return err_set(l->err, STATUS_E_RANGE, FAULT_IN_OBSTACLE, place,
                               "lies in the disc that the course must leave free around %s: "
                               "%.2f m from its centre, at least %.2f m were expected",
                               l->plan->map.obstacles[k].name, apart_m, disc_radius(l, k));
            }
        }
        if (bounded && !(p->x_m >= b->x_min_m + margin_m && p->x_m <= b->x_max_m - margin_m &&
                         p->y_m >= b->y_min_m + margin_m && p->y_m <= b->y_max_m - margin_m)) {
            return err_set(l->err, STATUS_E_RANGE, FAULT_IN_OBSTACLE, place,
                           "lies out of the map's bounds, or nearer than clearance_m %g m to "
                           "them",
                           margin_m);
        }
    }
    return STATUS_OK;
}

enum status course_make(const struct course_plan *plan, struct course *out, struct err *err)
{
    struct layout l = {.plan = plan,
                       .err = err,
                       .tightest_m = plan->speed_mps / course_turn_limit_radps(plan->vessel),
                       .shift = plan->has_start ? 1 : 0};
    memset(out, 0, sizeof *out);
    out->point_count = plan->point_count;
    if (plan->speed_mps >= course_speed_limit_mps(plan->vessel)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "speed_mps",
                       "%g m/s is too fast for %s: below its top speed %.2f m/s was expected",
                       plan->speed_mps, plan->vessel->name,
                       course_speed_limit_mps(plan->vessel));
    }
    enum status status = check_map(&l);
    if (status == STATUS_OK) {
        status = check_points(&l);
    }
    for (size_t i = 1; i < plan->point_count && status == STATUS_OK; i++) {
        status = lay_leg(&l, i);
    }
    return status == STATUS_OK ? add_pieces(&l, out) : status;
}

/* --- on the course -------------------------------------------------------------------- */

static void place_on_piece(const struct course_piece *p, const struct world_point *vessel,
                           struct course_place *place)
{
    const double dx = vessel->x_m - p->at.x_m;
    const double dy = vessel->y_m - p->at.y_m;
    if (p->turn == 0) {
        place->along_m = dx * cos(p->heading_rad) + dy * sin(p->heading_rad);
        place->across_m = dy * cos(p->heading_rad) - dx * sin(p->heading_rad);
        place->heading_rad = p->heading_rad;
        place->curvature_1pm = 0.0;
        return;
    }
    const double begin_rad = p->heading_rad - p->turn * PI / 2.0;
    const double turned_rad = p->turn * wrap_angle(atan2(dy, dx) - begin_rad);
    place->along_m = turned_rad * p->radius_m;
    place->across_m = p->turn * (p->radius_m - hypot(dx, dy));
    place->heading_rad = wrap_angle(p->heading_rad + p->turn * turned_rad);
    place->curvature_1pm = p->turn / p->radius_m;
}

void course_find(const struct course *course, const struct world_point *vessel, double off_m,
                 struct course_place *place)
{
    place_on_piece(&course->pieces[place->piece], vessel, place);
    while (place->along_m >= course->pieces[place->piece].length_m &&
           fabs(place->across_m) <= off_m && place->piece + 1 < course->count) {
        place->piece++;
        place_on_piece(&course->pieces[place->piece], vessel, place);
    }
    place->ended = place->along_m >= course->pieces[place->piece].length_m;
}

double course_curvature_ahead(const struct course *course, const struct course_place *place,
                              double ahead_m)
{
    size_t k = place->piece;
    double along_m = place->along_m + ahead_m;
    while (along_m > course->pieces[k].length_m && k + 1 < course->count) {
        along_m -= course->pieces[k].length_m;
        k++;
    }
    const struct course_piece *p = &course->pieces[k];
    return p->turn == 0 || along_m > p->length_m ? 0.0 : p->turn / p->radius_m;
}
