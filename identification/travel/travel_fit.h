/* identification/travel/travel_fit.h - moves, and what a fit of travel times returns.
 *
 * The model's terms, one row of its design, and the result that travel_time.h fills and
 * travel_judge.h judges. Plain data, pure.
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
    TRAVEL_T0,    /* s, start-up of every command */
    TRAVEL_TA,    /* s, extra when it turns */
    TRAVEL_TR,    /* s, extra when it drives */
    TRAVEL_INV_W, /* s/rad; reported as angular_speed_radps = 1 / it */
    TRAVEL_INV_V, /* s/m; reported as linear_speed_mps = 1 / it */
    TRAVEL_P
};

enum travel_method {
    TRAVEL_OLS,
    TRAVEL_HUBER, /* 1.345, LAD start, MAD scale */
    TRAVEL_TUKEY, /* MM: LAD or majority start, MAD scale, biweight 4.685 */
    TRAVEL_AUTO,  /* OLS when the residuals look Gaussian, else TUKEY; says which */
    TRAVEL_METHOD_COUNT
};

/* What the moves of a machine can be: a joint only turns, a slide only drives. The model is
 * then lap = t0 + |rotation| / w, or t0 + |displacement| / v, and the other terms are not asked
 * for.
 */
enum travel_motion { TRAVEL_TURNS_AND_DRIVES, TRAVEL_TURNS, TRAVEL_DRIVES };

/* A rotation or displacement below 1e-6 (rad, m) counts as none. */
struct travel_move {
    double rotation_rad;   /* sign is not read */
    double displacement_m; /* sign is not read */
    double lap_s;
};

enum { TRAVEL_COMBINATION_MAX = 5 };

/* The law of a robot that accelerates, of rotation and displacement (docs/model/travel_time.md,
 * section 3):
 *
 *     lap = t0 + T(|rotation|; w, aw) + T(|displacement|; v, av)
 *     T(x; v, a) = x / v + v / a where x > v^2 / a, 2 sqrt(x / a) where it is shorter
 */
struct travel_accelerating {
    bool known;  /* it is the law by far: the moves are more likely so */
    double gain; /* twice the logarithm of how much more */
    double t0_s, t0_se_s;
    double speed[2], speed_se[2]; /* rad/s, m/s; NaN where no such move was made */
    double acceleration[2], acceleration_se[2]; /* rad/s^2, m/s^2 */
    double residual_s_sd;
};

struct travel_fit {
    /* By enum travel_term, in the terms people use: speeds, not their inverses. NaN unless
     * identifiable, but for t0_s: when all moves are of one class the delays show in their sum
     * only, which is t0_s then (it stands among the combinations too). An interval of 1/w that
     * reaches zero or below gives an open speed interval: hi is NaN (printed as null).
     * condition: of the column-scaled design restricted to what is identifiable. */
    struct estimate estimate;
    size_t n;       /* moves used */
    size_t refused; /* not finite, absurdly large, or lap not above zero */
    size_t freedom; /* moves that have weight, beyond the rank: what tells the errors */
    enum travel_method method; /* the one used, never AUTO */
    enum travel_motion motion;
    /* The linear model's own terms, with inverse speeds; NaN unless identifiable, errors also
     * when n is not above the rank. */
    double beta[TRAVEL_P], beta_se[TRAVEL_P];
    double beta_lo[TRAVEL_P], beta_hi[TRAVEL_P];          /* 95 % interval (Student) */
    double coefficient[TRAVEL_COMBINATION_MAX][TRAVEL_P]; /* of beta in each combination */
    /* The solution itself: what of beta, or of any move's row, the moves determine, and the
     * covariance of that. n is 0 without moves. */
    struct robust_ls_fit ls;
    double residual_s_sd;                    /* robust scale for HUBER and TUKEY */
    double rmse_s, r2;                       /* of all moves used */
    size_t outliers;                         /* residuals beyond 4 residual_s_sd */
    struct travel_accelerating accelerating; /* known where laps bend with the size of moves */
};

/* A fit with everything unknown. */
void travel_fit_start(struct travel_fit *fit, enum travel_motion motion);

/* Whether a move takes part: finite, not absurdly large, and a lap above zero. */
bool travel_move_usable(const struct travel_move *move);

/* Whether the model of this motion has the term. */
bool travel_motion_has(enum travel_motion motion, enum travel_term term);

/* The parts of lap = t0 + ...: one row of the design. */
void travel_row(double rotation_rad, double displacement_m, double row[TRAVEL_P]);
/* The same without what this motion does not have. */
void travel_motion_row(enum travel_motion motion, double rotation_rad, double displacement_m,
                       double row[TRAVEL_P]);

extern const struct names travel_method_names;
const char *travel_method_name(enum travel_method method); /* "ols" … */
/* "t0_s" "ta_s" "tr_s" "angular_speed_radps" "linear_speed_mps" */
extern const struct names travel_term_names;
const char *travel_term_name(enum travel_term term);

#endif
