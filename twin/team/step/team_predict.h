/* twin/team/step/team_predict.h - how long the activities of a team take: what is known of it, and
 * draws from that.
 *
 * Each robot's moves have the law of its travel times (identification/travel/travel_fit.h), of
 * the rotation and way from where it stands to where it goes; an activity has a mean that was
 * measured, or a nominal one. What is not known of a law, its parameters, is drawn ONCE A RUN:
 * a speed that is 1 % wrong is so in all moves. Noise is drawn for each activity
 *
 *     lap = x . B + S z,  S^2 = s^2 f / chi2(f),  B = b + (S / s) C^1/2 z'
 *
 * with b, C, s, f the fit's solution, covariance, residual deviation and degrees of freedom; so
 * x . B + S z is Student's about its prediction, as a new move is (docs/model/teams_theory.md,
 * "Simulation"). Each robot draws from a stream of its own, so that what one of them does
 * differently changes no other one's chances. Pure; memory is the caller's.
 */
#ifndef TWIN_TEAM_STEP_TEAM_PREDICT_H
#define TWIN_TEAM_STEP_TEAM_PREDICT_H

#include "base/numbers/random.h"
#include "identification/travel/travel_fit.h"
#include "twin/team/step/team_legs.h"
#include "twin/team/step/team_simulate.h"

enum {
    /* Fewer degrees of freedom do not tell the errors: such a law is not used. */
    TEAM_LAW_FREEDOM_MIN = ESTIMATE_FREEDOM_MIN,
    /* From so many on they are as good as known. */
    TEAM_LAW_FREEDOM_KNOWN = 100000
};

/* Where the lap of an activity comes from; of an activity the first that there is. */
#define TEAM_LAWS(X)                                                                           \
    X(TEAM_LAW_MEASURED, "measured") /* laps of this very activity */                          \
    X(TEAM_LAW_FITTED, "fitted")     /* travel times of the robot's moves */                   \
    X(TEAM_LAW_NOMINAL, "nominal")   /* the file says so */                                    \
    X(TEAM_LAW_NONE, "none")

enum team_law_kind { TEAM_LAWS(NAMES_VALUE) TEAM_LAW_COUNT };

extern const struct names team_law_kind_names;
const char *team_law_kind_name(enum team_law_kind kind);

struct team_prediction;

size_t team_prediction_bytes(const struct team_params *p);
/* memory: so many bytes, aligned for any type; p is borrowed. Knows the nominal times. */
struct team_prediction *team_prediction_init(void *memory, const struct team_params *p);

const struct team_params *team_prediction_params(const struct team_prediction *tp);

/* An activity of a robot: its task, arg, or TEAM_NONE. */
struct team_activity {
    uint16_t robot, task, arg;
};

/* The kinds of activities that the team's steps have: task and arg, robot TEAM_NONE. */
size_t team_activity_count(const struct team_prediction *tp);
struct team_activity team_activity(const struct team_prediction *tp, size_t kind);
size_t team_activity_kind(const struct team_prediction *tp, const struct team_step *step);

/* This robot's moves take what a fit says; extra: beyond the laps fitted, of every move, with
 * its standard deviation. STATUS_E_EMPTY: the fit is of too few moves. */
struct team_extra {
    double mean_s, sd_s;
};
MUST_USE enum status team_predict_moves(struct team_prediction *tp, uint16_t robot,
                                        const struct travel_fit *fit, struct team_extra extra);
/* n laps of this activity were measured. like: of a move, that they were all made from the same
 * place, as they will be again; else what the fit says of the way counts more, where it says
 * anything. STATUS_E_EMPTY: too few; STATUS_E_RANGE: no step does it, or mean and standard
 * deviation are none. */
MUST_USE enum status team_predict_measured(struct team_prediction *tp,
                                           const struct team_activity *activity, size_t n,
                                           double mean_s, double sd_s, bool like);
/* Where a robot stands at the beginning; nobody knows else. */
void team_predict_pose(struct team_prediction *tp, uint16_t robot, const struct team_pose *at);
/* Its moves are so much faster than the law says, > 0; 1 else. */
void team_predict_speed(struct team_prediction *tp, uint16_t robot, double ratio);

/* ---- one run after the other ---- */

struct team_draw;

size_t team_draw_bytes(const struct team_prediction *tp);
/* Of no prediction of this team more. */
size_t team_draw_bytes_most(const struct team_params *p);
struct team_draw *team_draw_init(void *memory, const struct team_prediction *tp);
/* Everybody back at the beginning; parameters drawn for run `run` of this seed. */
void team_draw_begin(struct team_draw *draw, uint64_t seed, uint64_t run);
/* The same without chance: parameters as estimated, no noise. */
void team_draw_expect(struct team_draw *draw);
/* A team_ask_lap: context is the struct team_draw. False: nothing says how long this takes,
 * and team_draw_unknown() is which. */
bool team_draw_lap(void *context, const struct team_effect *start, struct team_lap *lap);
struct team_activity team_draw_unknown(const struct team_draw *draw);
/* Whence the last lap came. */
enum team_law_kind team_draw_law(const struct team_draw *draw);

#endif
