/* identification/odometry/odometry_walk.c - dead reckoning along a run: the pose that the
 * wheels' angles give, and its derivatives by the parameters. */
#include <math.h>
#include <string.h>

#include "identification/odometry/odometry_parts.h"

/* Computes sin(h) / h and its derivative. */
static void chord_ratio(double h, double *s, double *slope)
{
    if (fabs(h) < 1e-4) {
        *s = 1.0 - h * h / 6.0;
        *slope = -h / 3.0;
        return;
    }
    *s = sin(h) / h;
    *slope = (cos(h) - *s) / h;
}

/* Rate of a wheel at a row: slope of the chord between its neighbours. */
static double rate_at(const struct odometry_walk *w, const double *step_rad, size_t k)
{
    const double *t_s = w->set->t_s;
    const bool before = k > w->begin;
    const bool behind = k + 1 < w->end;
    const double turned = (before ? step_rad[k] : 0.0) + (behind ? step_rad[k + 1] : 0.0);
    return turned / (t_s[behind ? k + 1 : k] - t_s[before ? k - 1 : k]);
}

/* Angle and rate of a wheel at a time. A cubic between the rows makes the rate continuous;
 * otherwise the sum of squares would have kinks in the delay. Beyond the ends of the run,
 * the rate is constant. */
static void read_wheel(struct odometry_walk *w, const double *step_rad, double t_s, size_t i)
{
    const size_t k = w->wheel;
    const double from_s = t_s - w->set->t_s[k];
    const double rate = rate_at(w, step_rad, k);
    w->rate_radps[i] = rate;
    w->angle_rad[i] = w->turned_rad[i] + rate * from_s;
    if (from_s <= 0.0 || k + 1 == w->end) {
        return;
    }
    const double h = w->set->t_s[k + 1] - w->set->t_s[k];
    const double u = from_s / h;
    const double chord_radps = step_rad[k + 1] / h;
    const double bend = chord_radps - rate;
    const double twist = rate + rate_at(w, step_rad, k + 1) - 2.0 * chord_radps;
    w->angle_rad[i] += h * u * u * (bend - (1.0 - u) * twist);
    w->rate_radps[i] += u * (2.0 * bend - (2.0 - 3.0 * u) * twist);
}

/* Sets the wheels' angles and rates at the time that the pose of this row shows. */
static void read_wheels(struct odometry_walk *w)
{
    const struct odometry_set *set = w->set;
    const double t_s = set->t_s[w->row] - w->theta[ODOMETRY_SENSOR_DELAY];
    while (w->wheel + 1 < w->end && set->t_s[w->wheel + 1] <= t_s) {
        w->wheel++;
        w->turned_rad[0] += set->right_rad[w->wheel];
        w->turned_rad[1] += set->left_rad[w->wheel];
    }
    read_wheel(w, set->right_rad, t_s, 0);
    read_wheel(w, set->left_rad, t_s, 1);
}

/* Computes the pose of the sensor (eq. 3). */
static void look_through_sensor(struct odometry_walk *w)
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
                                   .begin = set->run_start[run],
                                   .row = set->run_start[run],
                                   .wheel = set->run_start[run],
                                   .end = set->run_start[run + 1],
                                   .sensitive = sensitive};
    for (size_t i = 0; i < 3; i++) {
        walk->body[i] = point->start[run][i];
        walk->by[i][i] = 1.0;
    }
    read_wheels(walk);
    look_through_sensor(walk);
}

/* Moves along an arc: the wheels' angles are exact, so that the chord is advance * sin(h) /
 * h with half the turn h. The sensitivities are the exact derivatives of this step. The
 * delay shifts the time at which the wheels are read, so its derivative contains their
 * rates. */
bool odometry_walk_next(struct odometry_walk *w)
{
    enum { R = ODOMETRY_START + ODOMETRY_RADIUS_RIGHT };
    enum { L = ODOMETRY_START + ODOMETRY_RADIUS_LEFT };
    enum { B = ODOMETRY_START + ODOMETRY_TRACK };
    enum { T = ODOMETRY_START + ODOMETRY_SENSOR_DELAY };
    if (w->row + 1 == w->end) {
        return false;
    }
    const double angle[2] = {w->angle_rad[0], w->angle_rad[1]};
    const double rate[2] = {w->rate_radps[0], w->rate_radps[1]};
    w->row++;
    read_wheels(w);
    const double right = w->angle_rad[0] - angle[0];
    const double left = w->angle_rad[1] - angle[1];
    const double rim_right = w->theta[ODOMETRY_RADIUS_RIGHT] * right;
    const double rim_left = w->theta[ODOMETRY_RADIUS_LEFT] * left;
    const double track = w->theta[ODOMETRY_TRACK];
    const double turn = (rim_right - rim_left) / track;
    const double advance = 0.5 * (rim_right + rim_left);
    double s = 1.0;
    double slope = 0.0;
    chord_ratio(0.5 * turn, &s, &slope);
    const double middle = w->body[2] + 0.5 * turn;
    const double c_middle = cos(middle);
    const double s_middle = sin(middle);

    w->step_m = 0.5 * (fabs(rim_right) + fabs(rim_left));
    w->travel_m += w->step_m;
    w->path_m += fabs(advance * s);
    if (w->sensitive) {
        const double faster_right =
            w->theta[ODOMETRY_RADIUS_RIGHT] * (w->rate_radps[0] - rate[0]);
        const double faster_left =
            w->theta[ODOMETRY_RADIUS_LEFT] * (w->rate_radps[1] - rate[1]);
        const double turn_by[ODOMETRY_COLUMNS] = {[R] = right / track,
                                                  [L] = -left / track,
                                                  [B] = -turn / track,
                                                  [T] = (faster_left - faster_right) / track};
        const double advance_by[ODOMETRY_COLUMNS] = {
            [R] = 0.5 * right, [L] = 0.5 * left, [T] = -0.5 * (faster_right + faster_left)};
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
    look_through_sensor(w);
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
