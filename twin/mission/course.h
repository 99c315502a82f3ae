/* twin/mission/course.h - the course of a vessel: way-points joined by straight lines, with an
 * arc at each turn and around each disc in the way.
 *
 * The turn at a way-point begins `turn_in_m` before it, so its radius is
 *
 *   R = turn_in / tan(|turn| / 2)                     (docs/model/course.md, eq. 1)
 *
 * and a turn tighter than U / r_max is refused: speed U, and r_max the fastest turn that the
 * vessel's thrusters hold. A disc is passed on the tangents of the circle with its radius and
 * the clearance around it, on the shorter free side. Metres, radians; the course runs to the
 * left of a circle that it goes around counter-clockwise. Plain data; pure.
 */
#ifndef TWIN_MISSION_COURSE_H
#define TWIN_MISSION_COURSE_H

#include "base/errors/err.h"
#include "identification/model/usv3.h"
#include "twin/sim/robot/world.h"

enum { COURSE_POINTS_MAX = 64, COURSE_PIECES_MAX = 512, COURSE_PLACE_MAX = 64 };

struct course_plan {
    const struct usv3_vessel *vessel; /* borrowed, static */
    struct world map;                 /* circles only; bounds count, too */
    double speed_mps;                 /* > 0, below the vessel's top speed */
    double lookahead_m;               /* > 0: distance of the line of sight */
    double turn_in_m;                 /* > 0: a turn begins this far before its way-point */
    double clearance_m;               /* >= 0: distance of the course from discs and bounds */
    size_t point_count;
    struct world_point points[COURSE_POINTS_MAX];
    bool has_start; /* points[0] is the start, not a way-point of the file */
};

/* A line, or an arc on which the course turns. */
struct course_piece {
    int turn;              /* of an arc: +1 counter-clockwise, -1 clockwise; of a line: 0 */
    struct world_point at; /* a line's begin, an arc's centre */
    double heading_rad;    /* the direction of the course at its begin */
    double length_m;
    double radius_m; /* of an arc */
    size_t point;    /* the way-point that it leads to, or turns at; the first is 0 */
};

struct course {
    size_t count; /* lines and arcs in turn; arcs of no turn are left out */
    struct course_piece pieces[COURSE_PIECES_MAX];
    double length_m;
    size_t point_count; /* way-points, with the start */
};

/* A place of the vessel on the course. */
struct course_place {
    size_t piece;
    double along_m;       /* from the begin of the piece */
    double across_m;      /* to the left of the course > 0 */
    double heading_rad;   /* of the course there */
    double curvature_1pm; /* > 0: it turns to the left */
    bool ended;           /* abeam of the last way-point, or past it */
};

/* Returns the fastest steady turn of the vessel, rad/s, and its top speed, m/s. */
double course_turn_limit_radps(const struct usv3_vessel *vessel);
double course_speed_limit_mps(const struct usv3_vessel *vessel);
/* Returns the speed for which its course is proven (docs/model/course.md). */
double course_usual_speed_mps(const struct usv3_vessel *vessel);

/* Lays the course through the points, in which points[0] is the start. STATUS_E_RANGE with err:
 * which way-point, what is wrong, and what would be right. A single point has no pieces. */
MUST_USE enum status course_make(const struct course_plan *plan, struct course *out,
                                 struct err *err);

/* Returns the point of a piece so far from its begin. */
struct world_point course_point(const struct course_piece *piece, double along_m);

/* Finds the vessel's place from that of the step before: a vessel never goes back by a piece,
 * and passes none further than off_m from it. *place, in/out; all zero at the begin. */
void course_find(const struct course *course, const struct world_point *vessel, double off_m,
                 struct course_place *place);

/* Returns the curvature of the course `ahead_m` further on, 1/m. */
double course_curvature_ahead(const struct course *course, const struct course_place *place,
                              double ahead_m);

#endif
