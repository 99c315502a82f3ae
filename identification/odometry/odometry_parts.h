/* identification/odometry/odometry_parts.h - internals of the odometry fit: simulated path with
 * sensitivities, and the steps of the fit.
 *
 * Private to odometry*.c. Pure: no I/O, no clock.
 */
#ifndef IDENTIFICATION_ODOMETRY_ODOMETRY_PARTS_H
#define IDENTIFICATION_ODOMETRY_ODOMETRY_PARTS_H

#include "identification/odometry/odometry.h"

/* Columns of a run: its start pose, then the parameters. */
enum { ODOMETRY_START = 3, ODOMETRY_COLUMNS = ODOMETRY_START + ODOMETRY_P };

struct odometry_point {
    double theta[ODOMETRY_P];
    double start[ODOMETRY_RUNS_MAX][ODOMETRY_START];
    bool held[ODOMETRY_P]; /* fixed, because the data do not determine it */
    bool no_shift;         /* the robot did not travel: lengths have no scale */
};

/* State of the robot at one row of a run, one sensor delay before the row's time, and the
 * pose that the sensor would measure (eq. 1 - 3). */
struct odometry_walk {
    const struct odometry_set *set;
    const double *theta;
    size_t begin, row, end;             /* rows of the run */
    size_t wheel;                       /* last row at or before the shown time, or the first */
    double turned_rad[2];               /* right, left: angle from the first row to `wheel` */
    double angle_rad[2], rate_radps[2]; /* right, left at the shown time */
    double body[3];                     /* x, y, theta */
    double sensor[3];                   /* x, y, theta */
    double step_m;   /* mean travel of both wheels' rims in the last step, >= 0 */
    double travel_m; /* sum of step_m since the start */
    double path_m;   /* path of the middle of the axle since the start */
    double by[3][ODOMETRY_COLUMNS];        /* d(body) / d(column) */
    double sensor_by[3][ODOMETRY_COLUMNS]; /* d(sensor) / d(column) */
    bool sensitive;
};

void odometry_walk_begin(struct odometry_walk *walk, const struct odometry_set *set, size_t run,
                         const struct odometry_point *point, bool sensitive);
/* Moves to the next row of the run; false at its end. */
bool odometry_walk_next(struct odometry_walk *walk);
/* Computes measured - model at this row; false if it has no pose. */
bool odometry_walk_residual(const struct odometry_walk *walk, double e[3]);

/* All runs at a point: weighted by the residuals' spread, reduced to triangles. */
struct odometry_system {
    double weight_p, weight_h; /* 1 / spread of a coordinate, of the heading */
    /* Upper three rows of each run's triangle, [start | parameters | rest]. */
    double head[ODOMETRY_RUNS_MAX][ODOMETRY_START][ODOMETRY_COLUMNS + 1];
    double r[ODOMETRY_P][ODOMETRY_P + 1]; /* triangle of the parameters alone, and the rest */
};

/* Computes a start by linear least squares, and fixes parameters that the motion does not
 * determine. Returns STATUS_E_MATH if there are too few pieces, STATUS_E_NOMEM. */
MUST_USE enum status odometry_begin(const struct odometry_set *set,
                                    struct odometry_point *point);
/* Sets the start poses from the first measured poses. */
void odometry_place(const struct odometry_set *set, struct odometry_point *point);

/* Computes covariance, noise and slip (eq. 8 - 12). inverse: of R'R, of minimum norm if the
 * rank is short. Returns STATUS_E_NOMEM. */
MUST_USE enum status odometry_error_bars(const struct odometry_set *set,
                                         const struct odometry_point *point,
                                         const struct odometry_system *system,
                                         double inverse[ODOMETRY_P][ODOMETRY_P],
                                         struct odometry_fit *fit);

/* Tests whether the scale of the path or the delay varies (eq. 14 - 16): fit->scale. Returns
 * STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status odometry_scale_find(const struct odometry_set *set,
                                         const struct odometry_point *point,
                                         struct odometry_fit *fit);

void odometry_judge(struct odometry_fit *fit, const struct odometry_summary *summary);

#endif
