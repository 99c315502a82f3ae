/* identification/odometry/odometry_parts.h - what the files of the odometry fit share: walking
 * along a path with its sensitivities, and the parts of the fit.
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
    bool held[ODOMETRY_P]; /* stays as it is: nothing in the data moves it */
    bool no_shift;         /* the robot never went anywhere: lengths have no scale */
};

/* The robot as one row of a run shows it, the sensor's delay before its time, and the pose that
 * the sensor would measure (eq. 1 - 3). */
struct odometry_walk {
    const struct odometry_set *set;
    const double *theta;
    size_t begin, row, end; /* of the run */
    size_t wheel;           /* last row at or before the time that is shown, or the first */
    double turned_rad[2];   /* right, left: from the first row to that one */
    double angle_rad[2], rate_radps[2]; /* right, left at the time that is shown */
    double body[3];                     /* x, y, theta */
    double sensor[3];                   /* x, y, theta */
    double step_m;   /* mean travel of both wheels' rims in the last step, >= 0 */
    double travel_m; /* the same since the start */
    double path_m;   /* of the middle of the axle since the start */
    double by[3][ODOMETRY_COLUMNS];        /* d(body) / d(column) */
    double sensor_by[3][ODOMETRY_COLUMNS]; /* d(sensor) / d(column) */
    bool sensitive;
};

void odometry_walk_begin(struct odometry_walk *walk, const struct odometry_set *set, size_t run,
                         const struct odometry_point *point, bool sensitive);
/* To the next row of the run; false at its end. */
bool odometry_walk_next(struct odometry_walk *walk);
/* measured - model at this row, false when there is no pose. */
bool odometry_walk_residual(const struct odometry_walk *walk, double e[3]);

/* All runs at a point: whitened with the residuals' spread, reduced to triangles. */
struct odometry_system {
    double weight_p, weight_h; /* 1 / spread of a coordinate, of the heading */
    /* Upper three rows of each run's triangle, [start | parameters | rest]. */
    double head[ODOMETRY_RUNS_MAX][ODOMETRY_START][ODOMETRY_COLUMNS + 1];
    double r[ODOMETRY_P][ODOMETRY_P + 1]; /* of the parameters alone, and the rest */
};

/* A linear start, and what is held for want of motion. STATUS_E_MATH when there are no pieces
 * to speak of, STATUS_E_NOMEM. */
MUST_USE enum status odometry_begin(const struct odometry_set *set,
                                    struct odometry_point *point);
/* Start poses from the first poses measured. */
void odometry_place(const struct odometry_set *set, struct odometry_point *point);

/* Covariance, noise and slip (eq. 8 - 12). inverse: of R'R, of least norm where the rank is
 * short. Returns STATUS_E_NOMEM. */
MUST_USE enum status odometry_error_bars(const struct odometry_set *set,
                                         const struct odometry_point *point,
                                         const struct odometry_system *system,
                                         double inverse[ODOMETRY_P][ODOMETRY_P],
                                         struct odometry_fit *fit);

void odometry_judge(struct odometry_fit *fit, const struct odometry_summary *summary);

#endif
