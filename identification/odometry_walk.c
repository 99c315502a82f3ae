#include <math.h>
#include <string.h>

#include "identification/odometry_parts.h"

/* sin(h) / h and its derivative. */
static void chord(double h, double *s, double *slope)
{
    if (fabs(h) < 1e-4) {
        *s = 1.0 - h * h / 6.0;
        *slope = -h / 3.0;
        return;
    }
    *s = sin(h) / h;
    *slope = (cos(h) - *s) / h;
}

/* Where the sensor is (eq. 3). */
static void look(struct odometry_walk *w)
{
    const double c = cos(w->body[2]);
    const double s = sin(w->body[2]);
    const double forward = w->theta[ODOMETRY_SENSOR_X];
    const double left = w->theta[ODOMETRY_SENSOR_Y];
    w->sensor[0] = w->body[0] + c * forward - s * left;
    w->sensor[1] = w->body[1] + s * forward + c * left;
    w->sensor[2] = w->body[2] + w->theta[ODOMETRY_SENSOR_ALPHA];
    if (!w->sensitive) {
        return;
    }
    for (size_t j = 0; j < ODOMETRY_COLUMNS; j++) {
        w->sensor_by[0][j] = w->by[0][j] - (s * forward + c * left) * w->by[2][j];
        w->sensor_by[1][j] = w->by[1][j] + (c * forward - s * left) * w->by[2][j];
        w->sensor_by[2][j] = w->by[2][j];
    }
    w->sensor_by[0][ODOMETRY_START + ODOMETRY_SENSOR_X] = c;
    w->sensor_by[1][ODOMETRY_START + ODOMETRY_SENSOR_X] = s;
    w->sensor_by[0][ODOMETRY_START + ODOMETRY_SENSOR_Y] = -s;
    w->sensor_by[1][ODOMETRY_START + ODOMETRY_SENSOR_Y] = c;
    w->sensor_by[2][ODOMETRY_START + ODOMETRY_SENSOR_ALPHA] = 1.0;
}

void odometry_walk_begin(struct odometry_walk *walk, const struct odometry_set *set, size_t run,
                         const struct odometry_point *point, bool sensitive)
{
    *walk = (struct odometry_walk){.set = set,
                                   .theta = point->theta,
                                   .row = set->run_start[run],
                                   .end = set->run_start[run + 1],
                                   .sensitive = sensitive};
    for (size_t i = 0; i < 3; i++) {
        walk->body[i] = point->start[run][i];
        walk->by[i][i] = 1.0;
    }
    look(walk);
}

bool odometry_walk_next(struct odometry_walk *w)
{
    enum { R = ODOMETRY_START + ODOMETRY_RADIUS_RIGHT };
    enum { L = ODOMETRY_START + ODOMETRY_RADIUS_LEFT };
    enum { B = ODOMETRY_START + ODOMETRY_TRACK };
    if (w->row + 1 == w->end) {
        return false;
    }
    w->row++;
    const double right = w->set->right_rad[w->row];
    const double left = w->set->left_rad[w->row];
    const double rim_right = w->theta[ODOMETRY_RADIUS_RIGHT] * right;
    const double rim_left = w->theta[ODOMETRY_RADIUS_LEFT] * left;
    const double track = w->theta[ODOMETRY_TRACK];
    const double turn = (rim_right - rim_left) / track;
    const double advance = 0.5 * (rim_right + rim_left);
    double s = 1.0;
    double slope = 0.0;
    chord(0.5 * turn, &s, &slope);
    const double middle = w->body[2] + 0.5 * turn;
    const double c_middle = cos(middle);
    const double s_middle = sin(middle);

    w->step_m = 0.5 * (fabs(rim_right) + fabs(rim_left));
    w->travel_m += w->step_m;
    w->path_m += fabs(advance * s);
    if (w->sensitive) {
        const double turn_by[ODOMETRY_COLUMNS] = {
            [R] = right / track, [L] = -left / track, [B] = -turn / track};
        const double advance_by[ODOMETRY_COLUMNS] = {[R] = 0.5 * right, [L] = 0.5 * left};
        for (size_t j = 0; j < ODOMETRY_COLUMNS; j++) {
            const double along = advance_by[j] * s + 0.5 * advance * slope * turn_by[j];
            const double across = advance * s * (w->by[2][j] + 0.5 * turn_by[j]);
            w->by[0][j] += along * c_middle - across * s_middle;
            w->by[1][j] += along * s_middle + across * c_middle;
            w->by[2][j] += turn_by[j];
        }
    }
    w->body[0] += advance * s * c_middle;
    w->body[1] += advance * s * s_middle;
    w->body[2] += turn;
    look(w);
    return true;
}

bool odometry_walk_residual(const struct odometry_walk *w, double e[3])
{
    if (!isfinite(w->set->x_m[w->row])) {
        return false;
    }
    e[0] = w->set->x_m[w->row] - w->sensor[0];
    e[1] = w->set->y_m[w->row] - w->sensor[1];
    e[2] = w->set->theta_rad[w->row] - w->sensor[2];
    return true;
}
