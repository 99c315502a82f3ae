/* identification/travel/next_move.h - which move to command next, and when to stop.
 *
 * A move is chosen by how much its lap tells about what is wanted: speeds and delays to given
 * widths, or the time of a mission. Every third move has a middle size, because laps that bend
 * with the size of a move show only there. A plan holds the moves, fits them, and stops when
 * the widths are reached and the law of travel times holds (docs/forecast.md). Numbers in
 * brackets are those of the equations there. Pure: no clock, no I/O; fits allocate through GSL.
 */
#ifndef IDENTIFICATION_TRAVEL_NEXT_MOVE_H
#define IDENTIFICATION_TRAVEL_NEXT_MOVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/names.h"
#include "identification/travel/travel_fit.h"

enum { NEXT_MOVE_LEFT_MAX = 1000, MOVE_PLAN_MAX = 2000 /* moves of a plan */ };

/* A goal or a mission, and the moves that are possible. */
struct next_move_aim {
    /* Half widths of 95 % intervals: of speeds, as a ratio, and of delays (NaN: any). */
    double speed_ratio, delay_s;
    bool mission; /* instead, the time of a mission is wanted to half_s: */
    double mission_row[TRAVEL_P], half_s; /* the sum of its rows, travel_row() */
    double turn_rad[2], drive_m[2];       /* least and largest size, above zero */
    bool bounded;                         /* moves must end in the room: */
    double room_m[2][2];                  /* its corners with the least, the largest x and y */
};

/* The knowledge so far. */
struct next_move_known {
    double information[TRAVEL_P * TRAVEL_P]; /* sum of x x' of the usable moves */
    double lap_s_sd, beta[TRAVEL_P];         /* of the fit, or first guesses */
    size_t n;                                /* usable moves */
};

enum next_move_state { NEXT_MOVE_FOUND, NEXT_MOVE_REACHED, NEXT_MOVE_NO_ROOM };

/* clang-format off */
#define NEXT_MOVE_WHYS(X)                                                                      \
    X(NEXT_MOVE_GOAL, "goal") /* it tells most about what is not known well enough */          \
    X(NEXT_MOVE_MISSION, "mission") /* it tells most a second about the mission's time */      \
    X(NEXT_MOVE_MIDDLE, "middle") /* it shows whether laps bend */                             \
    X(NEXT_MOVE_ROOM, "room") /* it turns towards the middle of the room */
/* clang-format on */

enum next_move_why { NEXT_MOVE_WHYS(NAMES_VALUE) NEXT_MOVE_WHY_COUNT };

struct next_move {
    double rotation_rad, displacement_m;
    enum next_move_why why;
    double gain; /* only larger or smaller is meant; 0 for middle and room */
    double se[TRAVEL_P], se_after[TRAVEL_P]; /* of beta; after: with this move */
};

/* Sets the aim to know the speeds, with moves of 0.3 to 3 rad and 0.1 to 1 m. */
void next_move_aim_start(struct next_move_aim *aim, double speed_ratio);

/* Begins without moves: first guesses, with these speeds. */
void next_move_start(struct next_move_known *known, double angular_radps, double linear_mps);

void next_move_add(struct next_move_known *known, double rotation_rad, double displacement_m);

/* Takes over what a fit knows: the spread of laps, and the terms known to half of themselves.
 */
void next_move_learn(struct next_move_known *known, const struct travel_fit *fit);

/* Finds the next move. counter: moves planned so far. pose: x, y, heading; only with a room.
 * If none is found, only out->se is set. */
enum next_move_state next_move_find(const struct next_move_aim *aim,
                                    const struct next_move_known *known, const double pose[3],
                                    size_t counter, struct next_move *out);

/* Returns how many moves are still needed, the room aside, if the guesses are right;
 * NEXT_MOVE_LEFT_MAX: that many or more. */
size_t next_move_left(const struct next_move_aim *aim, const struct next_move_known *known,
                      size_t counter);

/* Half width of the 95 % interval of a term with this standard error: of a delay in s, of a
 * speed as a ratio. */
double next_move_width(const struct next_move_known *known, enum travel_term term, double se);

ENUM_NAMES_DECLARED(next_move_why);

/* Finds how many more moves that is: of 200 robots a plan, 95 % needed as many
 * (docs/forecast.md). False: not known before the fit of 13 moves. */
bool next_move_left_range(const struct next_move_known *known, size_t left, size_t range[2]);

/* ---- a plan ---- */

enum move_plan_stop {
    MOVE_PLAN_GOES_ON,
    MOVE_PLAN_REACHED,
    MOVE_PLAN_LAW,     /* the moves do not follow the law: values would describe no robot */
    MOVE_PLAN_NO_ROOM, /* no move ends in the room */
    MOVE_PLAN_FULL,    /* MOVE_PLAN_MAX moves do not suffice */
    MOVE_PLAN_FAILED   /* the fit failed: memory */
};

struct move_plan {
    struct next_move_aim aim;
    struct next_move_known known;
    size_t counter;    /* planned moves */
    size_t n, earlier; /* usable moves; those at the beginning of another run */
    size_t left_out;   /* earlier ones that break the law: the robot has changed since */
    size_t checked;    /* moves of this run at the last check of the law */
    struct travel_fit fit;
    char reason[ESTIMATE_TEXT_MAX]; /* why the law does not hold */
    struct travel_move moves[MOVE_PLAN_MAX];
};

/* Begins a plan, with first guesses of the speeds; the aim is copied. */
void move_plan_start(struct move_plan *plan, const struct next_move_aim *aim,
                     double angular_radps, double linear_mps);

/* Adds a move that was done; earlier ones, of another run, come first. */
void move_plan_add(struct move_plan *plan, const struct travel_move *move, bool earlier);

/* Leaves out the earlier moves, of the time before a change. The values learnt from them remain
 * first guesses. */
void move_plan_forget_earlier(struct move_plan *plan);

/* Fits the moves so far, and finds the next one or why there is none. */
enum move_plan_stop move_plan_next(struct move_plan *plan, const double pose[3],
                                   struct next_move *out);

#endif
