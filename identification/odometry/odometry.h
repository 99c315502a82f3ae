/* identification/odometry/odometry.h - wheel radii, track and sensor mounting of a two-wheeled
 * robot, from wheel angles and a measured pose.
 *
 *     minimise  2 n log(sum |p_measured - p|^2 / 2 n)
 *               + n log(sum (theta_measured - theta)^2 / n)    (docs/model/odometry.md, eq. 7)
 *
 * or, with the caller's weight, 3 n log of the sum of both (eq. 7a). It uses whole paths; the
 * unknowns are seven parameters and a start pose for every run. Linear least squares on pieces
 * of the path give the start (eq. 4 - 6), Levenberg-Marquardt the result. Error bars allow for
 * slip, which makes residuals grow along the path (eq. 9 - 12). Reference: Antonelli et al.,
 * IEEE Trans. Robotics 21, 2005. Deterministic, no I/O, no clock. Cold path: allocates through
 * GSL while it runs and frees all of it.
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
    ODOMETRY_RADIUS_RIGHT, /* m; negative: its encoder counts backwards */
    ODOMETRY_RADIUS_LEFT,  /* m */
    ODOMETRY_TRACK,        /* m, > 0, between the contact points of the wheels */
    ODOMETRY_SENSOR_X,     /* m, forward from the middle of the axle */
    ODOMETRY_SENSOR_Y,     /* m, to the left */
    ODOMETRY_SENSOR_ALPHA, /* rad, -pi .. pi, measured heading minus the robot's heading */
    ODOMETRY_SENSOR_DELAY, /* s: a pose stamped t shows the robot at t - delay */
    ODOMETRY_P
};

/* Combinations that the data may determine even if they do not determine the parameters. */
enum odometry_combination {
    ODOMETRY_MEAN_RADIUS,  /* m: (r_R + r_L) / 2, known from straight driving */
    ODOMETRY_RADIUS_RATIO, /* r_R / r_L */
    ODOMETRY_TURN_RIGHT,   /* r_R / b: turn per angle of the right wheel, known from turning */
    ODOMETRY_TURN_LEFT,    /* r_L / b */
    ODOMETRY_COMBINATIONS
};

/* Quantities on which the scale of the path, or the delay of the sensor, may depend. */
enum odometry_covariate {
    ODOMETRY_BY_TIME,
    ODOMETRY_BY_SIDE,    /* turns to the left or to the right */
    ODOMETRY_BY_SPEED,   /* of the middle of the axle */
    ODOMETRY_BY_TURNING, /* speed of a turn, to either side */
    ODOMETRY_BY_X,
    ODOMETRY_BY_Y,
    ODOMETRY_BY_COS, /* cosine and sine of the heading, and of twice the heading */
    ODOMETRY_BY_SIN,
    ODOMETRY_BY_COS2,
    ODOMETRY_BY_SIN2,
    ODOMETRY_BY_DELAY, /* the delay changes with time, the scale does not */
    ODOMETRY_BY_LENS,  /* the picture's scale goes with the squared distance from its middle */
    ODOMETRY_BY_SLANT_X, /* or with the place, as seen by a camera at a slant */
    ODOMETRY_BY_SLANT_Y,
    ODOMETRY_COVARIATES
};

/* Test of one of them. NaN: not tested, or it never varies. */
struct odometry_scale_test {
    /* Change by one standard deviation of the covariate: ratio of the length of ways (of the
     * delay: s), ratio of turns. By side: ratio of the way of the right and the left wheel. */
    double way, turn;
    double f, p; /* statistic of both, and its probability where nothing depends on it */
};

struct odometry_scale {
    /* Pieces of the path with their own start pose: for slip, and for the camera. */
    size_t segments, camera_segments;
    struct odometry_scale_test test[ODOMETRY_COVARIATES];
};

/* Quality of the prediction of a path from its start pose alone. Errors are measured -
 * model. */
struct odometry_check {
    size_t poses;
    double position_rmse_m; /* root mean square of a coordinate, x or y */
    double position_max_m;  /* largest distance */
    double heading_rmse_rad;
    double position_r2, heading_r2;     /* about the means of each run; NaN: no motion */
    double path_m;                      /* path of the middle of the axle */
    double start[ODOMETRY_RUNS_MAX][3]; /* x, y (m) and theta (rad) of the robot */
};

struct odometry_fit {
    size_t n;        /* number of poses used */
    size_t outliers; /* number of poses that jump away and back: left out */
    size_t runs, iterations;
    bool converged;
    /* All parameters and combinations; se includes slip and noise (eq. 12). */
    struct estimate estimate;
    /* White noise of the measured pose; slip as a random walk: sd after one metre of the
     * wheels. */
    double noise_m, noise_rad, slip_m, slip_rad;
    struct odometry_check own;
    struct odometry_scale scale;
};

/* Sets everything to unknown. */
void odometry_fit_start(struct odometry_fit *fit);

/* Fits. Poses that jump are removed from the set: they become NaN.
 *
 * Returns STATUS_E_NOMEM or STATUS_E_MATH with *fit unchanged, else STATUS_OK: parameters
 * that the data do not determine are an answer, with its verdict. Cost: several dozen
 * passes. */
MUST_USE enum status odometry_fit_run(struct odometry_set *set,
                                      const struct odometry_summary *summary,
                                      struct odometry_fit *fit);

/* Computes how well parameters predict paths that they have not seen: only the start poses
 * are fitted. theta is finite, with a track > 0; an unknown delay (NaN) counts as zero.
 * Returns STATUS_E_ARG if that is violated, STATUS_E_NOMEM or STATUS_E_MATH; *check is
 * written only on STATUS_OK. */
MUST_USE enum status odometry_check_run(const struct odometry_set *set,
                                        const double theta[ODOMETRY_P],
                                        struct odometry_check *check);

/* Lowers the verdict if the fit predicts other paths worse than its own. */
void odometry_judge_held_out(struct odometry_fit *fit, const struct odometry_check *held_out);

/* Adds a reason for each number that seems to have another unit. summary describes the
 * fitted rows. */
void odometry_judge_units(struct odometry_fit *fit, const struct odometry_summary *summary);

ENUM_NAMES_DECLARED(odometry_parameter);   /* "radius_right_m" … */
ENUM_NAMES_DECLARED(odometry_covariate);   /* "time" … */
ENUM_NAMES_DECLARED(odometry_combination); /* "mean_radius_m" … */

#endif
