/* twin/team/step/team_predict.h - laws of the durations of a team's activities, and random
 * draws from them.
 *
 * Each robot's moves follow the law of its travel times (identification/travel/travel_fit.h),
 * for the turn and distance from its pose to the target. An activity has a measured or nominal
 * mean. The unknown part of a law, its parameters, is drawn ONCE PER RUN: a speed that is 1 %
 * wrong is wrong in all moves. Noise is drawn per activity.
 *
 *   lap = x . B + S z,  S^2 = s^2 f / chi2(f),  B = b + (S / s) C^1/2 z'
 *
 * A pair that has moved often enough gives its forecasts instead: past scores at random, and a
 * common error (identification/travel/forecast_sum.h).
 *
 * b, C, s, f are the fit's solution, covariance, residual deviation and degrees of freedom. So
 * x . B + S z follows Student's distribution about its prediction, as a new move does
 * (docs/model/teams_theory.md, "Simulation"). Each robot draws from its own random stream, so
 * that a change of one robot does not change the luck of others. Pure; memory is the caller's.
 */
#ifndef TWIN_TEAM_STEP_TEAM_PREDICT_H
#define TWIN_TEAM_STEP_TEAM_PREDICT_H

#include "base/numbers/random.h"
#include "base/text/names.h"
#include "identification/travel/forecast_sum.h"
#include "identification/travel/travel_fit.h"
#include "twin/team/step/team_simulate.h"

enum {
    /* With fewer degrees of freedom the errors are unknown: such a law is not used. */
    TEAM_LAW_FREEDOM_MIN = ESTIMATE_FREEDOM_MIN,
    /* From this number on they are treated as known. */
    TEAM_LAW_FREEDOM_KNOWN = 100000
};

/* ---- the moves to a position: turn, then distance, then a turn to its heading, if any ---- */

enum { TEAM_LEGS_MAX = 2 };

/* A robot's pose; NAN: unknown. */
struct team_pose {
    double x_m, y_m, heading_rad;
};

/* One command: counter-clockwise, then forward. */
struct team_leg {
    double rotation_rad, displacement_m;
};

/* Computes the legs from *pose to a position, and updates *pose. Returns their number, 0 if the
 * robot is there already. Unknown parts of the pose become NAN in a leg. */
size_t team_legs(struct team_pose *pose, const struct team_position *to,
                 struct team_leg legs[TEAM_LEGS_MAX]);

/* ---- laws ---- */

/* Source of an activity's duration; the first available one is used. */
#define TEAM_LAWS(X)                                                                           \
    X(TEAM_LAW_MEASURED, "measured") /* measured laps of this very activity */                 \
    X(TEAM_LAW_FITTED, "fitted")     /* forecasts or a fit of its pair's laps */               \
    X(TEAM_LAW_NOMINAL, "nominal")   /* the value in the file */                               \
    X(TEAM_LAW_NONE, "none")

enum team_law_kind { TEAM_LAWS(NAMES_VALUE) TEAM_LAW_COUNT };

ENUM_NAMES_DECLARED(team_law_kind);

/* An activity of a robot: its task and arg, or TEAM_NONE. */
struct team_activity {
    uint16_t robot, task, arg;
};

struct team_activity_law;
struct team_move_law;

/* The laws of a team: params, kind_count and activity are to read, functions change it. */
struct team_prediction {
    const struct team_params *params;
    size_t kind_count;               /* kinds of activities of the team's steps */
    struct team_activity *activity;  /* [kinds] task and arg; robot TEAM_NONE */
    struct team_activity_law *law;   /* [robots x kinds] */
    struct team_move_law *moves;     /* [robots] */
    struct team_pose *start;         /* [robots] */
    double *speed;                   /* [robots] */
    const struct team_position **to; /* [robots x kinds] NULL: no move */
    uint16_t *kind_of;               /* [steps] */
};

size_t team_prediction_bytes(const struct team_params *p);
/* memory: team_prediction_bytes(), aligned for any type; p is borrowed. Starts with the nominal
 * times. */
struct team_prediction *team_prediction_init(void *memory, const struct team_params *p);

size_t team_activity_kind(const struct team_prediction *tp, const struct team_step *step);

/* A fit gives the duration of this robot's moves. STATUS_E_EMPTY: it has too few moves. */
MUST_USE enum status team_predict_moves(struct team_prediction *tp, uint16_t robot,
                                        const struct travel_fit *fit);
/* The same by the forecasts of its pair's laps on this side, from 19 scores on. */
void team_predict_forecasts(struct team_prediction *tp, uint16_t robot,
                            const struct forecast_past *past, enum forecast_quantity side);
/* n laps of this activity were measured. like: the laps of a move all began at the same pose,
 * as future ones will; otherwise a fit has precedence if it covers the motion. STATUS_E_EMPTY:
 * too few; STATUS_E_RANGE: no step has it, or mean or standard deviation is invalid. */
MUST_USE enum status team_predict_measured(struct team_prediction *tp,
                                           const struct team_activity *activity, size_t n,
                                           double mean_s, double sd_s, bool like);
/* Sets a robot's initial pose; it is unknown otherwise. */
void team_predict_pose(struct team_prediction *tp, uint16_t robot, const struct team_pose *at);
/* Scales the speed of its moves against the law, > 0; default 1. */
void team_predict_speed(struct team_prediction *tp, uint16_t robot, double ratio);

/* ---- one run after the other ---- */

struct team_drawn_robot;

struct team_drawn_lap {
    double mean_s, sd_s;
    bool unknown; /* the run asked for it, and no law has it */
};

struct team_draw {
    const struct team_prediction *tp;
    bool expect;  /* no noise */
    bool guessed; /* this run used a duration of the file, which nobody measured */
    struct team_activity
        unknown;            /* the run's first one that no law has; robot TEAM_NONE: none */
    enum team_law_kind law; /* of the last lap, */
    int64_t lap_us;         /* and its duration */
    struct team_drawn_robot *robot; /* [robots] */
    struct team_drawn_lap *laps;    /* [robots x kinds] */
};

size_t team_draw_bytes(const struct team_params *p);
struct team_draw *team_draw_init(void *memory, const struct team_prediction *tp);
/* Resets all poses, and draws the parameters for run `run` of this seed. */
void team_draw_begin(struct team_draw *draw, uint64_t seed, uint64_t run);
/* Does the same without chance: estimated parameters, no noise, and one second for each
 * activity whose duration is unknown. */
void team_draw_expect(struct team_draw *draw);
/* Call it after a run without chance, which shows the moves ahead: finds how large the error is
 * that the moves of a robot have in common. True: for some robot there are too few sequences of
 * as many moves, so its forecasts give way, and the run must be repeated. */
MUST_USE bool team_predict_finish(struct team_prediction *tp, const struct team_draw *draw);
/* A team_ask_lap; context is the struct team_draw. False: the duration is unknown. */
bool team_draw_lap(void *context, const struct team_effect *start, struct team_lap *lap);
#endif
