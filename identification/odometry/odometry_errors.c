/* Error bars of the odometry fit (docs/model/odometry.md, eq. 8 - 12).
 *
 * A slipping wheel displaces the robot for the rest of the path. Residuals are therefore a
 * random walk plus noise, not independent. The growth of the residuals' differences with travel
 * gives both variances (measure_noise). The covariance of the parameters is the sandwich of the
 * inverse information and the covariance of the gradient under this noise and slip
 * (run_moments). It assumes that the variance of slip is proportional to the travel of the
 * wheels.
 */
#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/numeric/svd.h"
#include "identification/odometry/odometry_parts.h"

enum { FIELDS = 7, BLOCKS_MIN = 8, C = ODOMETRY_COLUMNS };

static const double TINY = 1e-24;
/* Poses nearer than this in time share a reading of the wheels or an image. Their residuals
 * are autocorrelated, and their growth is not slip. */
static const double APART_S = 0.25;
/* Limit of this distance as a share of all poses, so that several lags remain. */
static const double APART_RATIO_MAX = 1.0 / 32.0;
/* A mean square is exceeded with this many of its standard errors. */
static const double CHANCE_SD = 1.5;

/* For every pose: residuals, position of the sensor, and travel of the wheels. */
struct trace {
    /* [poses] e_x e_y e_theta x y travel, mean of e_theta around the pose */
    double (*at)[FIELDS];
    size_t start[ODOMETRY_RUNS_MAX + 1];
};

static void record_trace(const struct odometry_set *set, const struct odometry_point *point,
                         struct trace *trace)
{
    size_t n = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        struct odometry_walk walk;
        trace->start[r] = n;
        odometry_walk_begin(&walk, set, r, point, false);
        do {
            double *at = trace->at[n];
            if (odometry_walk_residual(&walk, at)) {
                at[3] = walk.sensor[0];
                at[4] = walk.sensor[1];
                at[5] = walk.travel_m;
                n++;
            }
        } while (odometry_walk_next(&walk));
    }
    trace->start[set->run_count] = n;
}

/* Averages the heading's residual over `apart` poses to either side. A late reading of a
 * wheel moves a pose along its path, which is no error of the heading alone. */
static void smooth_heading(struct trace *trace, size_t runs, size_t apart)
{
    for (size_t r = 0; r < runs; r++) {
        const size_t from = trace->start[r];
        const size_t to = trace->start[r + 1];
        for (size_t k = from; k < to; k++) {
            const size_t first = k - from > apart ? k - apart : from;
            const size_t end = to - k > apart + 1 ? k + apart + 1 : to;
            double sum = 0.0;
            for (size_t i = first; i < end; i++) {
                sum += trace->at[i][2];
            }
            trace->at[k][6] = sum / (double)(end - first);
        }
    }
}

/* Change of the residuals over a lag (eq. 8): mean squares of a coordinate and of the
 * heading, mean travel, and the effect of the heading on the coordinates. */
struct change {
    double position2, heading2, travel_m;
    double reach2_m2;     /* mean square of the distance between the poses */
    double reach2_travel; /* mean of that times the travel */
    double count;
};

/* The displacement is compared after a rotation by the heading's residual at its start.
 * Otherwise an early error of the heading would count again in every later position. */
static struct change change_over(const struct trace *trace, size_t runs, size_t lag)
{
    struct change c = {.count = 0.0};
    for (size_t r = 0; r < runs; r++) {
        for (size_t k = trace->start[r] + lag; k < trace->start[r + 1]; k++) {
            const double *now = trace->at[k];
            const double *was = trace->at[k - lag];
            const double x = now[3] - was[3];
            const double y = now[4] - was[4];
            const double along = now[0] - was[0] + was[6] * y;
            const double across = now[1] - was[1] - was[6] * x;
            const double turn = now[2] - was[2];
            c.position2 += 0.5 * (along * along + across * across);
            c.heading2 += turn * turn;
            c.travel_m += now[5] - was[5];
            c.reach2_m2 += x * x + y * y;
            c.reach2_travel += (x * x + y * y) * (now[5] - was[5]);
            c.count += 1.0;
        }
    }
    if (c.count > 0.0) {
        c.position2 /= c.count;
        c.heading2 /= c.count;
        c.travel_m /= c.count;
        c.reach2_m2 /= c.count;
        c.reach2_travel /= c.count;
    }
    return c;
}

/* Variances of one measured coordinate and heading, and of slip per metre. */
struct variances {
    double position, heading, slip_position, slip_heading;
};

/* Fits a line V = at_once + growth * travel to the changes over many lags. Each lag has the
 * weight of its number of non-overlapping stretches, divided by V^2. If a lag grows faster
 * than the line beyond chance, its growth is used instead: slip is no ideal random walk, and
 * the error bars must hold for its long-term effect (eq. 9). */
struct growth {
    double w, t, v, tt, tv; /* weighted sums */
    double first_v, first_t;
    double least; /* smallest growth that the lags support */
};

static void growth_add(struct growth *g, double v, double travel, double stretches)
{
    const double w = stretches / fmax(v * v, TINY);
    if (!(g->w > 0.0)) {
        g->first_v = v;
        g->first_t = travel;
    } else if (travel > g->first_t) {
        const double sure = fmax(1.0 - CHANCE_SD * sqrt(2.0 / stretches), 0.0);
        g->least = fmax(g->least, (sure * v - g->first_v) / (travel - g->first_t));
    }
    g->w += w;
    g->t += w * travel;
    g->v += w * v;
    g->tt += w * travel * travel;
    g->tv += w * travel * v;
}

/* Noise of one pose (half the intercept, because two poses enter) and growth. */
static void growth_solve(const struct growth *g, double *noise, double *slip)
{
    const double spread = g->w * g->tt - g->t * g->t;
    const double line = spread > 0.0 ? (g->w * g->tv - g->t * g->v) / spread : 0.0;
    *slip = fmax(fmax(line, g->least), 0.0);
    *noise = fmax(0.5 * (g->first_v - *slip * g->first_t), 0.0);
}

/* Number of poses in APART_S. */
static size_t poses_apart(const struct odometry_set *set)
{
    double all_s = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        all_s += set->t_s[set->run_start[r + 1] - 1] - set->t_s[set->run_start[r]];
    }
    return (size_t)fmax(1.0, fmin(APART_S / all_s, APART_RATIO_MAX) * (double)set->poses);
}

static struct variances measure_noise(const struct trace *trace, size_t runs, size_t apart)
{
    struct variances v = {.position = 0.0};
    struct growth heading = {.w = 0.0};
    struct growth position = {.w = 0.0};
    const size_t n = trace->start[runs];
    for (size_t lag = apart; BLOCKS_MIN * lag <= n; lag *= 2) {
        const struct change c = change_over(trace, runs, lag);
        if (c.count > 0.0) {
            growth_add(&heading, c.heading2, c.travel_m, c.count / (double)lag);
        }
    }
    growth_solve(&heading, &v.heading, &v.slip_heading);
    for (size_t lag = apart; BLOCKS_MIN * lag <= n; lag *= 2) {
        const struct change c = change_over(trace, runs, lag);
        /* Effect of the heading's noise, from which the direction was measured, and of slip
         * on the way. */
        const double swung = 0.5 * (v.heading / (double)(2 * apart + 1) * c.reach2_m2 +
                                    v.slip_heading * c.reach2_travel / 3.0);
        if (c.count > 0.0) {
            growth_add(&position, fmax(c.position2 - swung, 0.1 * c.position2), c.travel_m,
                       c.count / (double)lag);
        }
    }
    growth_solve(&position, &v.position, &v.slip_position);
    return v;
}

/* Sums over the poses from some row on: gradients of x and y, and the effect of a rotation
 * about the start of the run. */
struct moments {
    double x[C], y[C], turn[C];
};

static void add_pose(const struct odometry_walk *w, const struct odometry_system *system,
                     const double origin[2], double sign, struct moments *m)
{
    const double p2 = system->weight_p * system->weight_p;
    const double h2 = system->weight_h * system->weight_h;
    const double x = w->sensor[0] - origin[0];
    const double y = w->sensor[1] - origin[1];
    for (size_t j = 0; j < C; j++) {
        m->x[j] += sign * p2 * w->sensor_by[0][j];
        m->y[j] += sign * p2 * w->sensor_by[1][j];
        m->turn[j] += sign * (h2 * w->sensor_by[2][j] +
                              p2 * (x * w->sensor_by[1][j] - y * w->sensor_by[0][j]));
    }
}

static void add_square(double by, const double *g, double m[C][C])
{
    for (size_t i = 0; i < C; i++) {
        for (size_t j = 0; j < C; j++) {
            m[i][j] += by * g[i] * g[j];
        }
    }
}

/* Adds the noise of this pose, which affects one residual. */
static void add_noise(const struct odometry_walk *w, const struct odometry_system *system,
                      const struct variances *v, double m[C][C])
{
    const double p2 = system->weight_p * system->weight_p;
    const double h2 = system->weight_h * system->weight_h;
    add_square(p2 * p2 * v->position, w->sensor_by[0], m);
    add_square(p2 * p2 * v->position, w->sensor_by[1], m);
    add_square(h2 * h2 * v->heading, w->sensor_by[2], m);
}

/* Adds the slip of the last step, which affects all later residuals (eq. 10). */
static void add_slip(const struct odometry_walk *w, const double origin[2],
                     const struct variances *v, const struct moments *rest, double m[C][C])
{
    double turn[C];
    const double x = w->body[0] - origin[0];
    const double y = w->body[1] - origin[1];
    for (size_t j = 0; j < C; j++) {
        turn[j] = rest->turn[j] - x * rest->y[j] + y * rest->x[j];
    }
    add_square(v->slip_position * w->step_m, rest->x, m);
    add_square(v->slip_position * w->step_m, rest->y, m);
    add_square(v->slip_heading * w->step_m, turn, m);
}

/* Covariance of the gradient of one run's squares (eq. 11). The first pass along the path
 * computes the sums, the second subtracts the poses already passed. */
static void run_moments(const struct odometry_set *set, const struct odometry_point *point,
                        const struct odometry_system *system, const struct variances *v,
                        size_t run, double m[C][C])
{
    const double *origin = point->start[run];
    struct odometry_walk walk;
    struct moments rest;
    memset(&rest, 0, sizeof rest);
    odometry_walk_begin(&walk, set, run, point, true);
    do {
        if (isfinite(set->x_m[walk.row])) {
            add_pose(&walk, system, origin, 1.0, &rest);
        }
    } while (odometry_walk_next(&walk));
    odometry_walk_begin(&walk, set, run, point, true);
    do {
        add_slip(&walk, origin, v, &rest, m); /* the first row has no step and adds nothing */
        if (isfinite(set->x_m[walk.row])) {
            add_pose(&walk, system, origin, -1.0, &rest);
            add_noise(&walk, system, v, m);
        }
    } while (odometry_walk_next(&walk));
}

/* Change of the start pose with the parameters: [start x parameters], from the head's
 * triangle. */
static void find_absorbed(const double head[ODOMETRY_START][C + 1],
                          double by[ODOMETRY_START][ODOMETRY_P])
{
    for (size_t j = 0; j < ODOMETRY_P; j++) {
        for (size_t i = ODOMETRY_START; i-- > 0;) {
            double rest = head[i][ODOMETRY_START + j];
            for (size_t k = i + 1; k < ODOMETRY_START; k++) {
                rest -= head[i][k] * by[k][j];
            }
            by[i][j] = fabs(head[i][i]) > 0.0 ? rest / head[i][i] : 0.0;
        }
    }
}

/* Adds T m T' with T = (-absorbed', 1). */
static void add_run(const double head[ODOMETRY_START][C + 1], double m[C][C],
                    double sum[ODOMETRY_P][ODOMETRY_P])
{
    double by[ODOMETRY_START][ODOMETRY_P];
    double half[ODOMETRY_P][C];
    find_absorbed(head, by);
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        for (size_t c = 0; c < C; c++) {
            half[i][c] = m[ODOMETRY_START + i][c];
            for (size_t k = 0; k < ODOMETRY_START; k++) {
                half[i][c] -= by[k][i] * m[k][c];
            }
        }
    }
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        for (size_t j = 0; j < ODOMETRY_P; j++) {
            sum[i][j] += half[i][ODOMETRY_START + j];
            for (size_t k = 0; k < ODOMETRY_START; k++) {
                sum[i][j] -= half[i][k] * by[k][j];
            }
        }
    }
}

enum status odometry_error_bars(const struct odometry_set *set,
                                const struct odometry_point *point,
                                const struct odometry_system *system,
                                double inverse[ODOMETRY_P][ODOMETRY_P],
                                struct odometry_fit *fit)
{
    gsl_vector *memory = gsl_vector_alloc(FIELDS * (set->poses + 1));
    double middle[ODOMETRY_P][ODOMETRY_P] = {{0.0}};
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    struct trace trace = {.at = (double(*)[FIELDS])memory->data};
    record_trace(set, point, &trace);
    const size_t apart = poses_apart(set);
    smooth_heading(&trace, set->run_count, apart);
    const struct variances v = measure_noise(&trace, set->run_count, apart);
    gsl_vector_free(memory);
    for (size_t r = 0; r < set->run_count; r++) {
        double m[C][C] = {{0.0}};
        run_moments(set, point, system, &v, r, m);
        add_run(system->head[r], m, middle);
    }
    /* Only poses with a reading of their own count. */
    const double counted = 3.0 * (double)(set->poses / apart);
    const double reach =
        estimate_reach(counted - (double)(ODOMETRY_P + ODOMETRY_START * set->run_count));
    double covariance[ODOMETRY_P][ODOMETRY_P];
    square_sandwich(inverse[0], middle[0], ODOMETRY_P, covariance[0]);
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        memcpy(fit->estimate.covariance[i], covariance[i], sizeof covariance[i]);
        fit->estimate.se_white[i] = sqrt(inverse[i][i]);
        fit->estimate.se[i] = sqrt(fmax(fit->estimate.covariance[i][i], TINY));
        fit->estimate.lo[i] = point->theta[i] - reach * fit->estimate.se[i];
        fit->estimate.hi[i] = point->theta[i] + reach * fit->estimate.se[i];
    }
    fit->noise_m = sqrt(v.position);
    fit->noise_rad = sqrt(v.heading);
    fit->slip_m = sqrt(v.slip_position);
    fit->slip_rad = sqrt(v.slip_heading);
    return STATUS_OK;
}
