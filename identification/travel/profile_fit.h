/* identification/travel/profile_fit.h - commanded moves, and the result of a fit of their
 * times.
 *
 * It contains the law of the lap time, and the result that profile_time.h fills and
 * profile_judge.h judges. Plain data, pure.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_FIT_H
#define IDENTIFICATION_TRAVEL_PROFILE_FIT_H

#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"

enum profile_class {
    PROFILE_JOINTS, /* all joints move on one profile */
    PROFILE_LINES,  /* the tool moves on a line or an arc */
    PROFILE_CLASSES
};

/* Terms of one class. */
enum {
    PROFILE_T0,           /* delay, s */
    PROFILE_SPEED,        /* ratio to the commanded one */
    PROFILE_ACCELERATION, /* ratio to the commanded one */
    PROFILE_TERMS
};

/* Terms of all classes: by class, then as above. */
enum profile_term {
    PROFILE_JOINT_T0,
    PROFILE_JOINT_SPEED,
    PROFILE_JOINT_ACCELERATION,
    PROFILE_LINE_T0,
    PROFILE_LINE_SPEED,
    PROFILE_LINE_ACCELERATION,
    PROFILE_P
};

struct profile_move {
    enum profile_class kind;
    double speed;        /* 1/s: commanded speed divided by the size of the move; > 0 */
    double acceleration; /* 1/s^2: commanded acceleration divided by the size; > 0 */
    double lap_s;        /* > 0 */
};

/* Result for one class of moves. */
struct profile_law {
    size_t n, outliers; /* number of moves; of residuals beyond 4 residual_s_sd */
    size_t freedom;     /* number of moves with weight, minus the rank */
    /* t0, and the logarithms of both ratios; one of many solutions if the moves do not
     * determine them */
    double q[PROFILE_TERMS];
    double residual_s_sd;        /* NaN without moves */
    struct robust_ls_fit slopes; /* linearised fit of the last step, in q */
};

struct profile_fit {
    /* Entries by enum profile_term: "joint_t0_s", "joint_speed_ratio", ... NaN unless
     * identifiable. A class without moves has no terms. */
    struct estimate estimate;
    struct profile_law law[PROFILE_CLASSES];
    size_t n, refused, outliers;
    enum travel_method method; /* method used, never AUTO */
    double residual_s_sd, rmse_s, r2;
};

/* Returns the time from rest to rest over a size of one. */
double profile_duration_s(double speed, double acceleration);

/* Returns the lap time of a move by a law, with q as in struct profile_law. row, out: its
 * derivatives by q. */
double profile_lap_s(const double q[PROFILE_TERMS], const struct profile_move *move,
                     double row[PROFILE_TERMS]);

/* Sets everything to unknown. */
void profile_fit_start(struct profile_fit *fit);

/* Returns whether all numbers are finite, positive and of plausible size. */
bool profile_move_usable(const struct profile_move *move);

/* Returns the lap time of a move by the fit; NaN if the fitted moves do not determine it. */
double profile_time_predict(const struct profile_fit *fit, const struct profile_move *move);

ENUM_NAMES_DECLARED(profile_term); /* "joint_t0_s" ... */

#endif
