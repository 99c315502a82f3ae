#include "identification/row_source.h"

#include <math.h>
#include <string.h>

#include "identification/dot.h"
#include "identification/local_polynomial.h"

/* The weak form's window (1 - s^2)^4 for -1 <= s <= 1, its slope and its integral from 0. */
static double window_weight(double s)
{
    const double q = 1.0 - s * s;
    return q * q * q * q;
}

static double window_slope(double s)
{
    const double q = 1.0 - s * s;
    return -8.0 * s * q * q * q;
}

static double window_integral(double s)
{
    const double z = s * s;
    return s * (1.0 + z * (-4.0 / 3.0 + z * (6.0 / 5.0 + z * (-4.0 / 7.0 + z / 9.0))));
}

void row_source_find_active(const struct model *model, bool with_nu_dot, bool *active)
{
    double nu[MODEL_AXES_MAX];
    double nu_dot[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const size_t size = model->axis_count * model->parameter_count;
    memset(active, 0, size * sizeof *active);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
            pose[a] = 0.6 + 0.23 * (double)a;
            nu[a] = sign * (0.7 + 0.31 * (double)a);
            nu_dot[a] = with_nu_dot ? sign * (1.1 + 0.17 * (double)a) : 0.0;
        }
        model->rows(pose, nu, nu_dot, phi);
        for (size_t i = 0; i < size; i++) {
            active[i] = active[i] || fabs(phi[i]) > 0.0;
        }
    }
}

static void find_static(struct row_source *rows)
{
    bool active[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    row_source_find_active(rows->model, false, active);
    rows->static_count = 0;
    for (size_t i = 0; i < rows->model->axis_count * rows->model->parameter_count; i++) {
        if (active[i]) {
            rows->static_at[rows->static_count++] = i;
        }
    }
}

static enum status make_window(struct row_source *rows)
{
    const size_t n = 2 * rows->half + 1;
    const double half = (double)rows->half;
    const double dt_s = rows->set->dt_s;
    rows->window = gsl_vector_alloc(3 * n);
    rows->cache = gsl_vector_alloc(2 * n * (rows->static_count > 0 ? rows->static_count : 1));
    if (!rows->window || !rows->cache) {
        return STATUS_E_NOMEM;
    }
    /* The mean over the window, so that equations keep the unit of the effort. */
    const double area_s = 2.0 * window_integral(1.0) * half * dt_s;
    double *w = rows->window->data;
    for (size_t m = 0; m < n; m++) {
        const double s = ((double)m - half) / half;
        w[m] = window_weight(s) * dt_s / area_s;
        w[n + m] = -window_slope(s) / half / area_s;
        w[2 * n + m] = m + 1 < n ? (window_integral(s + 1.0 / half) - window_integral(s)) *
                                       half * dt_s / area_s
                                 : 0.0;
        rows->bias += w[2 * n + m];
    }
    return STATUS_OK;
}

/* Least squares polynomial over the window: weights of its value and slope at the middle. */
static enum status make_sg(struct row_source *rows, size_t order)
{
    const enum status st = local_polynomial(rows->half, order, rows->smooth, rows->slope);
    for (size_t k = 0; st == STATUS_OK && k <= 2 * rows->half; k++) {
        rows->slope[k] /= rows->set->dt_s;
    }
    return st;
}

static void find_inertia(struct row_source *rows)
{
    const struct model *model = rows->model;
    const double zero[MODEL_AXES_MAX] = {0.0};
    double still[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double moved[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    model->rows(zero, zero, zero, still);
    for (size_t j = 0; j < model->axis_count; j++) {
        double unit[MODEL_AXES_MAX] = {0.0};
        unit[j] = 1.0;
        model->rows(zero, zero, unit, moved);
        for (size_t at = 0; at < model->axis_count * model->parameter_count; at++) {
            const double factor = moved[at] - still[at];
            if (fabs(factor) > 0.0) {
                rows->inertia[rows->inertia_count++] = (struct row_inertia){at, j, factor};
            }
        }
    }
}

static size_t samples_of(double s, double dt_s, size_t least, size_t most)
{
    const double n = round(s / dt_s);
    if (!(n > (double)least)) {
        return least;
    }
    return n < (double)most ? (size_t)n : most;
}

enum status row_source_start(struct row_source *rows, const struct model *model,
                             const struct data_set *set, enum dynamics_method method,
                             const struct dynamics_options *options)
{
    enum status st = STATUS_OK;
    memset(rows, 0, sizeof *rows);
    rows->model = model;
    rows->set = set;
    rows->method = method;
    rows->p = model->parameter_count + (options->biases ? model->axis_count : 0);
    rows->half = 1;
    rows->stride = 1;
    if (method == DYNAMICS_OLS_SG) {
        rows->half = options->sg_window / 2;
        st = make_sg(rows, options->sg_order);
    } else if (method != DYNAMICS_OLS_CENTRAL) {
        /* A window of fewer than nine samples sees the grid, a longer one than the data
         * nothing. */
        rows->half = samples_of(options->half_width_s, set->dt_s, 4, set->n > 8 ? set->n : 8);
        rows->stride = samples_of(options->stride_s, set->dt_s, 1, rows->half);
        find_inertia(rows);
        find_static(rows);
        st = make_window(rows);
    }
    if (st != STATUS_OK) {
        row_source_end(rows);
        return st;
    }
    row_source_rewind(rows);
    return STATUS_OK;
}

void row_source_rewind(struct row_source *rows)
{
    rows->run = 0;
    rows->at = rows->set->run_start[0] + rows->half;
    rows->cached_to = 0;
}

void row_source_end(struct row_source *rows)
{
    gsl_vector_free(rows->window);
    gsl_vector_free(rows->cache);
    rows->window = NULL;
    rows->cache = NULL;
}

/* Effort around sample k: the mean of what was held before and after it. */
static double effort_at(const struct data_set *set, size_t axis, size_t k, size_t first)
{
    const double *tau = set->tau[axis];
    return 0.5 * (tau[k] + tau[k > first ? k - 1 : k]);
}

/* Rows without the columns of biases, in place to rows with them. */
static void spread_rows(const struct row_source *rows, double bias, double *phi)
{
    const size_t n = rows->model->parameter_count;
    for (size_t a = rows->p > n ? rows->model->axis_count : 0; a-- > 0;) {
        memmove(phi + a * rows->p, phi + a * n, n * sizeof *phi);
        for (size_t i = n; i < rows->p; i++) {
            phi[a * rows->p + i] = i - n == a ? bias : 0.0;
        }
    }
}

/* The pose at the middle of a window, smoothed as the velocities are; NULL where there is none
 * or nobody looks at it. */
static const double *smooth_pose(const struct row_source *rows, size_t k, double *pose)
{
    const struct data_set *set = rows->set;
    if (!rows->model->needs_pose) {
        return NULL;
    }
    if (rows->method == DYNAMICS_OLS_CENTRAL || !set->pose[0]) {
        return data_set_pose(set, k, 0.0, pose);
    }
    for (size_t a = 0; a < set->axes; a++) {
        pose[a] = 0.0;
        for (size_t m = 0; m <= 2 * rows->half && set->pose[a]; m++) {
            pose[a] += rows->smooth[m] * set->pose[a][k - rows->half + m];
        }
    }
    return pose;
}

/* Velocity, its derivative and the effort by central differences. */
static void difference(const struct row_source *rows, size_t first, double *nu, double *nu_dot,
                       double *rhs)
{
    const struct data_set *set = rows->set;
    const double per_two_steps = 0.5 / set->dt_s;
    const size_t k = rows->at;
    const size_t before = k > first ? k - 1 : k;
    for (size_t a = 0; a < set->axes; a++) {
        const double *y = set->nu[a];
        const double *tau = set->tau[a];
        nu[a] = y[k];
        nu_dot[a] = (y[k + 1] - y[before]) * per_two_steps;
        rhs[a] = 0.5 * (tau[k] + tau[before]);
    }
}

/* The same, smoothed. */
static void smooth(const struct row_source *rows, size_t first, double *nu, double *nu_dot,
                   double *rhs)
{
    const struct data_set *set = rows->set;
    const size_t n = 2 * rows->half + 1;
    const size_t from = rows->at - rows->half;
    for (size_t a = 0; a < set->axes; a++) {
        nu[a] = dot(rows->smooth, set->nu[a] + from, n);
        nu_dot[a] = dot(rows->slope, set->nu[a] + from, n);
        rhs[a] = 0.0;
        for (size_t m = 0; m < n; m++) {
            rhs[a] += rows->smooth[m] * effort_at(set, a, from + m, first);
        }
    }
}

static void derivative_rows(const struct row_source *rows, size_t first, double *phi,
                            double *rhs)
{
    double nu[MODEL_AXES_MAX];
    double nu_dot[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    if (rows->method == DYNAMICS_OLS_CENTRAL) {
        difference(rows, first, nu, nu_dot, rhs);
    } else {
        smooth(rows, first, nu, nu_dot, rhs);
    }
    rows->model->rows(smooth_pose(rows, rows->at, pose), nu, nu_dot, phi);
    spread_rows(rows, 1.0, phi);
}

/* The static part of the rows of samples first to end - 1, a window at most. What lies before
 * is given up when there is no room. */
static void fill_cache(struct row_source *rows, size_t first, size_t end)
{
    const struct data_set *set = rows->set;
    const size_t room = 2 * (2 * rows->half + 1);
    const double zero[MODEL_AXES_MAX] = {0.0};
    double *cache = rows->cache->data;
    if (rows->cached_to <= first) {
        rows->cached_from = rows->cached_to = first;
    }
    if (end - rows->cached_from > room) {
        for (size_t i = 0; i < rows->static_count; i++) {
            memmove(cache + i * room, cache + i * room + (first - rows->cached_from),
                    (rows->cached_to - first) * sizeof *cache);
        }
        rows->cached_from = first;
    }
    for (size_t k = rows->cached_to; k < end; k++) {
        double nu[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        for (size_t a = 0; a < set->axes; a++) {
            nu[a] = set->nu[a][k];
        }
        rows->model->rows(rows->model->needs_pose ? data_set_pose(set, k, 0.0, pose) : NULL, nu,
                          zero, phi);
        for (size_t i = 0; i < rows->static_count; i++) {
            cache[i * room + (k - rows->cached_from)] = phi[rows->static_at[i]];
        }
    }
    rows->cached_to = end;
}

/* Integrals over the window: of the static part as it is, of nu_dot by parts, of the effort
 * exactly for one that is held. */
static void weak_rows(struct row_source *rows, double *phi, double *rhs)
{
    const struct data_set *set = rows->set;
    const size_t n = 2 * rows->half + 1;
    const size_t first = rows->at - rows->half;
    const double *weight = rows->window->data;
    const double *slope = weight + n;
    const double *cell = slope + n;
    double change[MODEL_AXES_MAX];

    fill_cache(rows, first, first + n);
    memset(phi, 0, set->axes * rows->model->parameter_count * sizeof *phi);
    const double *column = rows->cache->data + (first - rows->cached_from);
    for (size_t i = 0; i < rows->static_count; i++) {
        phi[rows->static_at[i]] = dot(weight, column + 2 * n * i, n);
    }
    for (size_t a = 0; a < set->axes; a++) {
        change[a] = dot(slope, set->nu[a] + first, n);
        rhs[a] = dot(cell, set->tau[a] + first, n);
    }
    for (size_t i = 0; i < rows->inertia_count; i++) {
        const struct row_inertia *inertia = &rows->inertia[i];
        phi[inertia->at] += inertia->factor * change[inertia->axis];
    }
    spread_rows(rows, rows->bias, phi);
}

bool row_source_next(struct row_source *rows, double *phi, double *rhs, size_t *run)
{
    const struct data_set *set = rows->set;
    while (rows->run < set->run_count &&
           rows->at + rows->half >= set->run_start[rows->run + 1]) {
        rows->run++;
        if (rows->run < set->run_count) {
            rows->at = set->run_start[rows->run] + rows->half;
        }
    }
    if (rows->run >= set->run_count) {
        return false;
    }
    if (rows->window) {
        weak_rows(rows, phi, rhs);
    } else {
        derivative_rows(rows, set->run_start[rows->run], phi, rhs);
    }
    *run = rows->run;
    rows->at += rows->stride;
    return true;
}
