/* identification/travel/travel_fit.h - moves, and the result of a fit of travel times.
 *
 * It contains the model's terms, one row of its design, and the result that travel_time.h fills
 * and travel_judge.h judges. Plain data, pure.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_FIT_H
#define IDENTIFICATION_TRAVEL_TRAVEL_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "identification/numeric/robust_ls.h"

/* Order of beta and of every array of TRAVEL_P below. */
enum travel_term {
    TRAVEL_T0,    /* s, delay of every command */
    TRAVEL_TA,    /* s, additional delay of a turn */
    TRAVEL_TR,    /* s, additional delay of a drive */
    TRAVEL_INV_W, /* s/rad; reported as angular_speed_radps = 1 / it */
    TRAVEL_INV_V, /* s/m; reported as linear_speed_mps = 1 / it */
    TRAVEL_P
};

enum travel_method {
    TRAVEL_OLS,
    TRAVEL_HUBER, /* 1.345, LAD start, MAD scale */
    TRAVEL_TUKEY, /* MM: LAD or majority start, MAD scale, biweight 4.685 */
    TRAVEL_AUTO,  /* OLS if the residuals look Gaussian, otherwise TUKEY; a reason says which */
    TRAVEL_METHOD_COUNT
};

/* Moves that a machine can make: a joint only turns, a slide only drives. The model is then
 * lap = t0 + |rotation| / w, or t0 + |displacement| / v, without the other terms. */
enum travel_motion { TRAVEL_TURNS_AND_DRIVES, TRAVEL_TURNS, TRAVEL_DRIVES };

/* A rotation or displacement below 1e-6 (rad, m), or the noise of measuring, counts as none. */
struct travel_move {
    double rotation_rad;   /* the sign is ignored */
    double displacement_m; /* the sign is ignored */
    double lap_s;
};

enum { TRAVEL_COMBINATION_MAX = 5 };

/* Law of a robot that accelerates, for rotation and displacement (docs/model/travel_time.md,
 * section 3):
 *
 *     lap = t0 + T(|rotation|; w, aw) + T(|displacement|; v, av)
 *     T(x; v, a) = x / v + v / a where x > v^2 / a, 2 sqrt(x / a) where it is shorter */
struct travel_accelerating {
    bool known;  /* the moves are far more likely under this law */
    double gain; /* twice the log likelihood ratio in its favour */
    double t0_s, t0_se_s;
    double speed[2], speed_se[2];               /* rad/s, m/s; NaN without such moves */
    double acceleration[2], acceleration_se[2]; /* rad/s^2, m/s^2 */
    double residual_s_sd;
};

/* Effects that the law lacks. Short moves are those below the lower quartile, or the median. */
enum travel_effect {
    TRAVEL_SHORT_TURNS,
    TRAVEL_SHORT_TURNS_HALF,
    TRAVEL_SHORT_DRIVES,
    TRAVEL_SHORT_DRIVES_HALF,
    TRAVEL_LAPS_WITH_TIME,
    TRAVEL_TURNS_WITH_TIME,
    TRAVEL_DRIVES_WITH_TIME,
    TRAVEL_EFFECTS
};

/* The largest effect that the moves do not exclude (travel_law.h). */
struct travel_not_excluded {
    enum travel_effect effect; /* TRAVEL_EFFECTS: not tested */
    double below;              /* rad or m; 0: not of short moves */
    double lap_s, lap_ratio;   /* most that it changes a lap by, beyond the terms of the law */
};

struct travel_fit {
    /* Entries by enum travel_term, with speeds instead of their inverses. NaN unless
     * identifiable, except t0_s: if all moves are of one class, only the sum of the delays is
     * known, and t0_s is that sum (it is also a combination). An interval of 1/w that reaches
     * zero or below gives an open interval of the speed: hi is NaN (printed as null).
     * condition: of the column-scaled design, restricted to what is identifiable. */
    struct estimate estimate;
    size_t n;       /* moves used */
    size_t refused; /* not finite, too large, or lap <= 0 */
    size_t freedom; /* number of moves with weight, minus the rank: the basis of the errors */
    enum travel_method method; /* method used, never AUTO */
    enum travel_motion motion;
    /* Terms of the linear model, with inverse speeds; NaN unless identifiable. Errors are
     * also NaN if n does not exceed the rank. */
    double beta[TRAVEL_P], beta_se[TRAVEL_P];
    double beta_lo[TRAVEL_P], beta_hi[TRAVEL_P];          /* 95 % interval (Student) */
    double coefficient[TRAVEL_COMBINATION_MAX][TRAVEL_P]; /* of beta in each combination */
    /* The solution itself: which parts of beta, or rows of moves, are determined, and their
     * covariance. n is 0 without moves. */
    struct robust_ls_fit ls;
    double least_rad, least_m;               /* sizes up to which a move counts as none */
    double lap_step_s;                       /* laps come in such steps; 0: none that matter */
    double residual_s_sd;                    /* robust scale for HUBER and TUKEY */
    double near_s_sd;                        /* sd of the residuals without those far out */
    double residual_s_p05, residual_s_p95;   /* quantiles of the residuals of all moves */
    double rmse_s, r2;                       /* over all moves used */
    size_t outliers;                         /* number of residuals beyond 4 residual_s_sd */
    struct travel_accelerating accelerating; /* known if laps bend with the size of moves */
    struct travel_not_excluded not_excluded;
    /* Shift of beta by one standard error of each effect that was not found. */
    double open_shift[TRAVEL_EFFECTS][TRAVEL_P];
};

/* Sets everything to unknown. */
void travel_fit_start(struct travel_fit *fit, enum travel_motion motion);

/* Returns whether a move is used: finite, of plausible size, with a lap above zero. */
bool travel_move_usable(const struct travel_move *move);

/* Returns whether the model of this motion has the term. */
bool travel_motion_has(enum travel_motion motion, enum travel_term term);

/* Computes the terms of lap = t0 + ..., one row of the design. */
void travel_row(double rotation_rad, double displacement_m, double row[TRAVEL_P]);
/* The same, with zero for terms that this motion does not have. */
void travel_motion_row(enum travel_motion motion, double rotation_rad, double displacement_m,
                       double row[TRAVEL_P]);
/* The same for a move in the table of the fit: sizes that count as none are zero. */
void travel_fit_row(const struct travel_fit *fit, const struct travel_move *move,
                    double row[TRAVEL_P]);

ENUM_NAMES_DECLARED(travel_effect); /* "short_turns" … */
ENUM_NAMES_DECLARED(travel_method); /* "ols" … */
/* "t0_s" "ta_s" "tr_s" "angular_speed_radps" "linear_speed_mps" */
ENUM_NAMES_DECLARED(travel_term);

#endif
