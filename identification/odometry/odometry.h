/* identification/odometry/odometry.h - wheel radii, track and sensor mounting of a robot on two
 * wheels, from its wheel angles and a measured pose.
 *
 *     minimise  2 n log(sum |p_measured - p|^2 / 2 n) + n log(sum (theta_measured - theta)^2 /
 * n) (docs/model/odometry.md, eq. 7)
 *
 * (or, with a weight of the caller's, 3 n log of the sum of both; eq. 7a) over whole paths: the
 * seven parameters and a start pose of every run. Linear least squares on pieces of the path
 * give the start (eq. 4 - 6), Levenberg-Marquardt the rest. Error bars know that slip makes
 * residuals grow along the path (eq. 9 - 12). Deterministic, no I/O, no clock. Cold path:
 * allocates through GSL while it runs, keeps nothing.
 */
#ifndef IDENTIFICATION_ODOMETRY_ODOMETRY_H
#define IDENTIFICATION_ODOMETRY_ODOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "identification/odometry/odometry_data.h"

enum odometry_parameter {
    ODOMETRY_RADIUS_RIGHT, /* m; below zero: its encoder counts backwards */
    ODOMETRY_RADIUS_LEFT,  /* m */
    ODOMETRY_TRACK,        /* m, > 0: between the wheels' points of contact */
    ODOMETRY_SENSOR_X,     /* m, from the middle of the axle, forward */
    ODOMETRY_SENSOR_Y,     /* m, to the left */
    ODOMETRY_SENSOR_ALPHA, /* rad, -pi .. pi: measured heading - the robot's */
    ODOMETRY_SENSOR_DELAY, /* s: a pose of time t is where the robot was at t - delay */
    ODOMETRY_P
};

/* What the data determine even where the parameters are not. */
enum odometry_combination {
    ODOMETRY_MEAN_RADIUS,  /* m: (r_R + r_L) / 2, from straight driving */
    ODOMETRY_RADIUS_RATIO, /* r_R / r_L */
    ODOMETRY_TURN_RIGHT,   /* r_R / b: turn per angle of the right wheel, from turning */
    ODOMETRY_TURN_LEFT,    /* r_L / b */
    ODOMETRY_COMBINATIONS
};

/* How well a path is foretold from its start pose alone. Errors are measured - model. */
struct odometry_check {
    size_t poses;
    double position_rmse_m; /* root mean square of a coordinate, x or y */
    double position_max_m;  /* distance */
    double heading_rmse_rad;
    double position_r2, heading_r2;     /* about the means of each run; NaN: nothing moved */
    double path_m;                      /* travelled by the middle of the axle */
    double start[ODOMETRY_RUNS_MAX][3]; /* x, y (m), theta (rad) of the robot */
};

struct odometry_fit {
    size_t n;        /* poses that took part */
    size_t outliers; /* poses that jump away and back: left out */
    size_t runs, iterations;
    bool converged;
    /* Of all parameters, and all combinations; se is of slip and of noise (eq. 12). */
    struct estimate estimate;
    /* White noise of the measured pose; slip, as a walk: sd after one metre of the wheels. */
    double noise_m, noise_rad, slip_m, slip_rad;
    struct odometry_check own;
};

/* A fit with everything unknown. */
void odometry_fit_start(struct odometry_fit *fit);

/* Fit. Poses that are found to jump are struck out of the set (they become NaN).
 *
 * Returns STATUS_E_NOMEM or STATUS_E_MATH with *fit untouched, else STATUS_OK: what the data
 * do not determine is an answer, with its verdict. Cost: some dozen passes. */
MUST_USE enum status odometry_fit_run(struct odometry_set *set,
                                      const struct odometry_summary *summary,
                                      struct odometry_fit *fit);

/* How well parameters foretell paths that took no part: start poses alone are fitted. theta is
 * finite, its track above zero; a delay that is not known (NaN) counts as none.
 * Returns STATUS_E_ARG when it is not, STATUS_E_NOMEM or STATUS_E_MATH; *check is written on
 * STATUS_OK. */
MUST_USE enum status odometry_check_run(const struct odometry_set *set,
                                        const double theta[ODOMETRY_P],
                                        struct odometry_check *check);

/* Lowers the verdict where the fit foretells other paths worse than its own. */
void odometry_judge_held_out(struct odometry_fit *fit, const struct odometry_check *held_out);

/* Numbers that look like another unit's: a reason for each. card of the rows that were fitted.
 */
void odometry_judge_units(struct odometry_fit *fit, const struct odometry_summary *summary);

extern const struct names odometry_parameter_names;
const char *odometry_parameter_name(enum odometry_parameter i); /* "radius_right_m" … */
extern const struct names odometry_combination_names;
const char *odometry_combination_name(enum odometry_combination i); /* "mean_radius_m" … */

#endif
