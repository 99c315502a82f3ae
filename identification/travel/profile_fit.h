/* identification/travel/profile_fit.h - moves with what was commanded of them, and what a fit
 * of their times returns.
 *
 * The law, and the result that profile_time.h fills and profile_judge.h judges. Plain data,
 * pure.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_FIT_H
#define IDENTIFICATION_TRAVEL_PROFILE_FIT_H

#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"

enum profile_class {
    PROFILE_JOINTS, /* all joints on one profile */
    PROFILE_LINES,  /* the tool on a line or an arc */
    PROFILE_CLASSES
};

/* Of one class. */
enum {
    PROFILE_T0,           /* s */
    PROFILE_SPEED,        /* ratio to the commanded one */
    PROFILE_ACCELERATION, /* likewise */
    PROFILE_TERMS
};

/* Of all: by class, then as above. */
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
    double speed;        /* 1/s: commanded, over the move's size; > 0 */
    double acceleration; /* 1/s^2; likewise */
    double lap_s;        /* > 0 */
};

/* One class of moves. */
struct profile_law {
    size_t n, outliers;          /* moves of it; residuals beyond 4 residual_s_sd */
    size_t freedom;              /* moves that have weight, beyond the rank */
    double q[PROFILE_TERMS];     /* t0, and the logarithms of both ratios; one of many where the
                                    moves do not determine them */
    double residual_s_sd;        /* NaN without moves */
    struct robust_ls_fit slopes; /* of the last step, in q */
};

struct profile_fit {
    /* By enum profile_term: "joint_t0_s" "joint_speed_ratio" ... NaN unless
     * identifiable. A class without moves is not asked for. */
    struct estimate estimate;
    struct profile_law law[PROFILE_CLASSES];
    size_t n, refused, outliers;
    enum travel_method method; /* the one used, never AUTO */
    double residual_s_sd, rmse_s, r2;
};

/* Time from rest to rest over a size of one. */
double profile_duration_s(double speed, double acceleration);

/* The lap that a law has for a move, q as in struct profile_law; row: its slopes in q. */
double profile_lap_s(const double q[PROFILE_TERMS], const struct profile_move *move,
                     double row[PROFILE_TERMS]);

/* Nothing is known. */
void profile_fit_start(struct profile_fit *fit);

/* Finite, sensible numbers above zero. */
bool profile_move_usable(const struct profile_move *move);

/* The lap that the fit has for a move; NaN where the moves fitted do not determine it. */
double profile_time_predict(const struct profile_fit *fit, const struct profile_move *move);

extern const struct names profile_term_names;
const char *profile_term_name(enum profile_term term); /* "joint_t0_s" ... */
extern const struct names profile_class_names;
const char *profile_class_name(enum profile_class kind); /* "joint", "line" */

#endif
