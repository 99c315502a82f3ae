#include "identification/dynamics/row_source.h"

#include <math.h>
#include <string.h>

#include "identification/data/data_view.h"
#include "identification/numeric/dot.h"

/* Window of the weak form, (1 - s^2)^4 for -1 <= s <= 1, its slope, and its integral from 0. */
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

/* Finds the entries of Phi [axes x parameters] that can be nonzero, by trial at odd points:
 * moving along all axes, or along one alone where one wheel rubs against the other. With
 * nu_dot, or without accelerations. */
static void find_active(const struct model *model, bool with_nu_dot, bool *active)
{
    double nu[MODEL_AXES_MAX];
    double nu_dot[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const size_t size = model->axis_count * model->parameter_count;
    memset(active, 0, size * sizeof *active);
    for (size_t i = 0; i < size && model->pattern; i++) {
        active[i] = model->pattern[i] & (with_nu_dot ? MODEL_ENTRY : MODEL_ENTRY_STILL);
    }
    for (size_t k = 0; k < 2 * (1 + model->axis_count) && !model->pattern; k++) {
        const int sign = k % 2 == 0 ? -1 : 1;
        for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
            pose[a] = 0.6 + 0.23 * (double)a;
            nu[a] = k / 2 == a || k / 2 == model->axis_count ? sign * (0.7 + 0.31 * (double)a)
                                                             : 0.0;
            nu_dot[a] = with_nu_dot ? sign * (1.1 + 0.17 * (double)a) : 0.0;
        }
        model->rows(model, pose, nu, nu_dot, phi);
        for (size_t i = 0; i < size; i++) {
            active[i] = active[i] || fabs(phi[i]) > 0.0;
        }
    }
}

/* Lists the entries by axis and unknown; an axis has its bias last. */
static void find_entries(struct row_source *rows)
{
    bool active[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const size_t n = rows->model->parameter_count;
    const size_t axes = rows->model->axis_count;
    size_t entry = 0;
    find_active(rows->model, true, active);
    for (size_t a = 0; a < axes; a++) {
        rows->axis_start[a] = entry;
        for (size_t i = 0; i < n; i++) {
            if (active[a * n + i]) {
                rows->own[rows->own_count++] = a * n + i;
                rows->place[entry] = a * n + i;
                rows->column[entry++] = i;
            }
        }
        if (rows->p > n) {
            rows->place[entry] = axes * n + axes + a;
            rows->column[entry++] = n + a;
        }
    }
    rows->axis_start[axes] = entry;
}

static double *at_place(const struct row_source *rows, size_t place)
{
    return rows->values->data + place * MODEL_STRIDE;
}

static double *rhs_of(const struct row_source *rows, size_t axis)
{
    return at_place(rows, rows->model->axis_count * rows->model->parameter_count + axis);
}

static void find_static(struct row_source *rows)
{
    bool active[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const size_t n = rows->model->parameter_count;
    const size_t axes = rows->model->axis_count;
    const unsigned char *pattern = rows->model->pattern;
    find_active(rows->model, false, active);
    for (size_t at = 0; at < axes * n; at++) {
        if (active[at]) {
            const bool by_cell = pattern && (pattern[at] & MODEL_ENTRY_EFFORT);
            rows->still[rows->static_count++] = (struct row_still){at, at, by_cell};
        }
    }
    for (size_t at = 0; at < 2 * axes && rows->model->known; at++) {
        rows->still[rows->static_count++] =
            (struct row_still){axes * n + at, axes * n + at % axes, at >= axes};
    }
}

/* The factor of a constant effort is constant. */
static void fill_biases(struct row_source *rows, double bias)
{
    const size_t axes = rows->model->axis_count;
    const size_t first = axes * rows->model->parameter_count + axes;
    for (size_t a = 0; a < axes && rows->p > rows->model->parameter_count; a++) {
        double *to = at_place(rows, first + a);
        for (size_t k = 0; k < ROW_BLOCK; k++) {
            to[k] = bias;
        }
    }
}

/* Number of samples in a column of the cache. */
static size_t cache_room(const struct row_source *rows)
{
    return 2 * (2 * rows->half + 1) + MODEL_BLOCK;
}

static enum status make_window(struct row_source *rows)
{
    const size_t n = 2 * rows->half + 1;
    const double half = (double)rows->half;
    const double dt_s = rows->set->dt_s;
    rows->window = gsl_vector_alloc(3 * n);
    rows->cache =
        gsl_vector_alloc(cache_room(rows) * (rows->static_count > 0 ? rows->static_count : 1));
    if (!rows->window || !rows->cache) {
        return STATUS_E_NOMEM;
    }
    /* Means over the window keep the unit of the effort. */
    const double area_s = 2.0 * window_integral(1.0) * half * dt_s;
    double *w = rows->window->data;
    double bias = 0.0;
    for (size_t m = 0; m < n; m++) {
        const double s = ((double)m - half) / half;
        w[m] = window_weight(s) * dt_s / area_s;
        w[n + m] = -window_slope(s) / half / area_s;
        w[2 * n + m] = m + 1 < n ? (window_integral(s + 1.0 / half) - window_integral(s)) *
                                       half * dt_s / area_s
                                 : 0.0;
        bias += w[2 * n + m];
    }
    fill_biases(rows, bias);
    return STATUS_OK;
}

/* Weights of a least-squares polynomial over the window: its value and slope at the middle. */
static enum status make_sg(struct row_source *rows, size_t order)
{
    const enum status st = local_polynomial(rows->half, order, rows->smooth, rows->slope);
    for (size_t k = 0; st == STATUS_OK && k <= 2 * rows->half; k++) {
        rows->slope[k] /= rows->set->dt_s;
    }
    return st;
}

/* Length of a row: Phi, then the known right side without and with an effort. */
enum { WHOLE_ROW = MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 2) };

static void fill_whole(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, const double *tau, double *row)
{
    const size_t behind = model->axis_count * model->parameter_count;
    model_regressor(model, pose, nu, nu_dot, tau, row);
    if (model->known) {
        model->known(model, pose, nu, nu_dot, tau, row + behind,
                     row + behind + model->axis_count);
    }
}

/* Inertia at rest, or at an odd point if the model's terms are undefined at rest. */
static void find_inertia(struct row_source *rows)
{
    const struct model *model = rows->model;
    const size_t axes = model->axis_count;
    const size_t known = model->known ? axes : 0;
    double at_odd[MODEL_AXES_MAX] = {0.0};
    double none[MODEL_AXES_MAX] = {0.0};
    double still[WHOLE_ROW];
    double moved[WHOLE_ROW];
    for (size_t a = 0; a < MODEL_AXES_MAX && model->pattern; a++) {
        at_odd[a] = 0.6 + 0.23 * (double)a;
    }
    fill_whole(model, at_odd, at_odd, none, at_odd, still);
    for (size_t j = 0; j < axes; j++) {
        double unit[MODEL_AXES_MAX] = {0.0};
        unit[j] = 1.0;
        fill_whole(model, at_odd, at_odd, unit, at_odd, moved);
        /* Known terms without an effort occupy the places of the right sides. */
        for (size_t at = 0; at < axes * model->parameter_count + known; at++) {
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
    for (size_t a = 0; a < set->axes; a++) {
        rows->load[a] = set->tau[a];
    }
    find_entries(rows);
    rows->values =
        gsl_vector_calloc(model->axis_count * (model->parameter_count + 2) * MODEL_STRIDE);
    if (!rows->values) {
        return STATUS_E_NOMEM;
    }
    fill_biases(rows, 1.0);
    if (method == DYNAMICS_OLS_SG) {
        rows->half = options->sg_window / 2;
        st = make_sg(rows, options->sg_order);
    } else if (method != DYNAMICS_OLS_CENTRAL) {
        /* Fewer than nine samples resolve the window badly. The upper limit is the length of
         * the data. */
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
    rows->count = 0;
    rows->cached_to = 0;
}

void row_source_end(struct row_source *rows)
{
    gsl_vector_free(rows->values);
    gsl_vector_free(rows->window);
    gsl_vector_free(rows->cache);
    rows->values = NULL;
    rows->window = NULL;
    rows->cache = NULL;
}

/* Effort around sample k: the mean of the values held before and after it. */
static double effort_at(const struct data_set *set, size_t axis, size_t k, size_t first)
{
    const double *tau = set->tau[axis];
    return 0.5 * (tau[k] + tau[k > first ? k - 1 : k]);
}

/* Size of that effort. Before the first sample of a run there is no effort; its weight is
 * small. */
static double effort_size(const struct row_source *rows, size_t axis, size_t k)
{
    const double *tau = rows->load[axis];
    return 0.5 * (fabs(tau[k]) + fabs(tau[k > 0 ? k - 1 : k]));
}

/* Smoothed pose at the middle of a window; NULL if there is none or it is not needed. */
static const double *smooth_pose(const struct row_source *rows, size_t k, double *pose)
{
    const struct data_set *set = rows->set;
    if (!rows->model->needs_pose) {
        return NULL;
    }
    if (rows->method == DYNAMICS_OLS_CENTRAL || !set->pose[0]) {
        return data_set_pose(set, k, pose);
    }
    for (size_t a = 0; a < set->axes; a++) {
        pose[a] = 0.0;
        for (size_t m = 0; m <= 2 * rows->half && set->pose[a]; m++) {
            pose[a] += rows->smooth[m] * set->pose[a][k - rows->half + m];
        }
    }
    return pose;
}

/* Velocities and their derivatives in a block; entries after its end are zero. */
struct motion {
    double nu[MODEL_AXES_MAX][MODEL_STRIDE], nu_dot[MODEL_AXES_MAX][MODEL_STRIDE];
};

/* Central differences. The effort is the mean of the values held before and after. */
static void difference_rows(const struct row_source *rows, struct motion *motion)
{
    const struct data_set *set = rows->set;
    const double per_two_steps = 0.5 / set->dt_s;
    for (size_t a = 0; a < set->axes; a++) {
        const double *y = set->nu[a] + rows->at;
        const double *tau = set->tau[a] + rows->at;
        double *rhs = rhs_of(rows, a);
        memcpy(motion->nu[a], y, rows->count * sizeof *y);
        for (size_t k = 0; k < rows->count; k++) {
            motion->nu_dot[a][k] = (y[k + 1] - y[(ptrdiff_t)k - 1]) * per_two_steps;
            rhs[k] = 0.5 * (tau[k] + tau[(ptrdiff_t)k - 1]);
        }
    }
}

/* The same with smoothed velocities and efforts. */
static void smooth_rows(const struct row_source *rows, struct motion *motion)
{
    const struct data_set *set = rows->set;
    const size_t first = set->run_start[rows->run];
    const size_t n = 2 * rows->half + 1;
    for (size_t a = 0; a < set->axes; a++) {
        double *rhs = rhs_of(rows, a);
        for (size_t k = 0; k < rows->count; k++) {
            const size_t from = rows->at + k - rows->half;
            motion->nu[a][k] = dot_product(rows->smooth, set->nu[a] + from, n);
            motion->nu_dot[a][k] = dot_product(rows->slope, set->nu[a] + from, n);
            rhs[k] = 0.0;
            for (size_t m = 0; m < n; m++) {
                rhs[k] += rows->smooth[m] * effort_at(set, a, from + m, first);
            }
        }
    }
}

/* Callback for the efforts around a sample, each with its weight: those of the periods
 * before and after it, for all samples in a smoothing window. */
typedef void see_effort(void *context, double weight, const double *tau);

static void each_effort(const struct row_source *rows, size_t at, see_effort *see,
                        void *context)
{
    const bool smooth = rows->method != DYNAMICS_OLS_CENTRAL;
    const size_t first = rows->set->run_start[rows->run];
    for (size_t m = 0; m <= (smooth ? 2 * rows->half : 0); m++) {
        const size_t k = smooth ? at - rows->half + m : at;
        const size_t cells[] = {k > first ? k - 1 : k, k};
        for (size_t c = 0; c < COUNT(cells); c++) {
            struct data_efforts acting;
            data_view_efforts(rows->set, cells[c], &acting);
            for (size_t e = 0; e < acting.count; e++) {
                see(context, 0.5 * (smooth ? rows->smooth[m] : 1.0) * acting.share[e],
                    acting.tau[e]);
            }
        }
    }
}

struct row_sum {
    const struct model *model;
    const double *pose, *nu, *nu_dot;
    double row[WHOLE_ROW];
};

static void add_effort(void *context, double weight, const double *tau)
{
    struct row_sum *sum = context;
    double row[WHOLE_ROW];
    const size_t n = sum->model->axis_count * (sum->model->parameter_count + 2);
    fill_whole(sum->model, sum->pose, sum->nu, sum->nu_dot, tau, row);
    for (size_t i = 0; i < n; i++) {
        sum->row[i] += weight * row[i];
    }
}

/* Rows and right sides of a block, for a model with known terms besides the efforts. */
static void fill_known_rows(struct row_source *rows, const struct motion *motion)
{
    const struct model *model = rows->model;
    const size_t axes = model->axis_count;
    const size_t behind = axes * model->parameter_count;
    for (size_t k = 0; k < rows->count; k++) {
        double nu[MODEL_AXES_MAX];
        double nu_dot[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        for (size_t a = 0; a < axes; a++) {
            nu[a] = motion->nu[a][k];
            nu_dot[a] = motion->nu_dot[a][k];
        }
        struct row_sum sum = {.model = model,
                              .pose = smooth_pose(rows, rows->at + k, pose),
                              .nu = nu,
                              .nu_dot = nu_dot};
        each_effort(rows, rows->at + k, add_effort, &sum);
        for (size_t i = 0; i < rows->own_count; i++) {
            at_place(rows, rows->own[i])[k] = sum.row[rows->own[i]];
        }
        for (size_t a = 0; a < axes; a++) {
            rhs_of(rows, a)[k] = sum.row[behind + a] + sum.row[behind + axes + a];
        }
    }
}

/* Rows of a block, one by one. */
static void fill_rows(struct row_source *rows, const struct motion *motion)
{
    for (size_t k = 0; k < rows->count; k++) {
        double nu[MODEL_AXES_MAX];
        double nu_dot[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        double size[MODEL_AXES_MAX];
        double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        for (size_t a = 0; a < rows->set->axes; a++) {
            nu[a] = motion->nu[a][k];
            nu_dot[a] = motion->nu_dot[a][k];
        }
        for (size_t a = 0; a < rows->set->axes; a++) {
            size[a] = rhs_of(rows, a)[k];
        }
        model_regressor(rows->model, smooth_pose(rows, rows->at + k, pose), nu, nu_dot, size,
                        phi);
        for (size_t i = 0; i < rows->own_count; i++) {
            at_place(rows, rows->own[i])[k] = phi[rows->own[i]];
        }
    }
}

/* Equations around each of the next samples, from derivatives. */
static void derivative_rows(struct row_source *rows)
{
    struct motion motion;
    if (rows->count < ROW_BLOCK) {
        memset(&motion, 0, sizeof motion);
    }
    if (rows->method == DYNAMICS_OLS_CENTRAL) {
        difference_rows(rows, &motion);
    } else {
        smooth_rows(rows, &motion);
    }
    if (rows->model->rows_many) {
        rows->model->rows_many(rows->model, (const double(*)[MODEL_STRIDE])motion.nu,
                               (const double(*)[MODEL_STRIDE])motion.nu_dot,
                               (double(*)[MODEL_STRIDE])rows->values->data);
    } else if (rows->model->known) {
        fill_known_rows(rows, &motion);
    } else {
        fill_rows(rows, &motion);
    }
}

/* Whole row of sample k under these efforts, without accelerations. */
static void still_row(const struct row_source *rows, size_t k, const double *tau, double *row)
{
    static const double none[MODEL_AXES_MAX];
    double nu[MODEL_AXES_MAX];
    double memory[MODEL_AXES_MAX];
    const double *pose = rows->model->needs_pose ? data_set_pose(rows->set, k, memory) : NULL;
    data_set_velocity(rows->set, k, nu);
    fill_whole(rows->model, pose, nu, none, tau, row);
}

/* Static rows of a model with known terms. Terms with an effort are averaged over its
 * period. */
static void still_rows(const struct row_source *rows, size_t k, size_t n,
                       double (*phi)[MODEL_STRIDE])
{
    const struct data_set *set = rows->set;
    for (size_t i = 0; i < n; i++) {
        struct data_efforts acting;
        size_t run = 0;
        while (k + i >= set->run_start[run + 1]) {
            run++;
        }
        const size_t next = k + i + 1 < set->run_start[run + 1] ? k + i + 1 : k + i;
        data_view_efforts(set, k + i, &acting);
        for (size_t s = 0; s < rows->static_count; s++) {
            phi[rows->still[s].from][i] = 0.0;
        }
        for (size_t e = 0; e < acting.count; e++) {
            double begin[WHOLE_ROW];
            double end[WHOLE_ROW];
            still_row(rows, k + i, acting.tau[e], begin);
            still_row(rows, next, acting.tau[e], end);
            for (size_t s = 0; s < rows->static_count; s++) {
                const size_t from = rows->still[s].from;
                phi[from][i] +=
                    acting.share[e] *
                    (rows->still[s].by_cell ? 0.5 * (begin[from] + end[from]) : begin[from]);
            }
        }
    }
}

/* Static rows (without accelerations) of n samples from the k-th on. */
static void static_rows(const struct row_source *rows, size_t k, size_t n,
                        double (*phi)[MODEL_STRIDE])
{
    static const double none[MODEL_AXES_MAX][MODEL_STRIDE];
    const struct data_set *set = rows->set;
    if (rows->model->rows_many) {
        double nu[MODEL_AXES_MAX][MODEL_STRIDE] = {{0.0}};
        for (size_t a = 0; a < set->axes; a++) {
            memcpy(nu[a], set->nu[a] + k, n * sizeof nu[a][0]);
        }
        rows->model->rows_many(rows->model, (const double(*)[MODEL_STRIDE])nu, none, phi);
        return;
    }
    if (rows->model->known) {
        still_rows(rows, k, n, phi);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double nu[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        double size[MODEL_AXES_MAX];
        double row[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        data_set_velocity(set, k + i, nu);
        for (size_t a = 0; a < set->axes; a++) {
            size[a] = effort_size(rows, a, k + i);
        }
        model_regressor(rows->model,
                        rows->model->needs_pose ? data_set_pose(set, k + i, pose) : NULL, nu,
                        none[0], size, row);
        for (size_t s = 0; s < rows->static_count; s++) {
            phi[rows->still[s].from][i] = row[rows->still[s].from];
        }
    }
}

/* Fills the cache with the static rows of samples first .. end - 1, at most a window, and
 * some more. Earlier rows are dropped if there is no room. */
static void fill_cache(struct row_source *rows, size_t first, size_t end)
{
    const size_t room = cache_room(rows);
    double *cache = rows->cache->data;
    if (rows->cached_to <= first) {
        rows->cached_from = rows->cached_to = first;
    }
    while (rows->cached_to < end) {
        double phi[WHOLE_ROW][MODEL_STRIDE];
        const size_t left = rows->set->n - rows->cached_to;
        const size_t n = left < MODEL_BLOCK ? left : MODEL_BLOCK;
        const bool full = rows->cached_to + n - rows->cached_from > room;
        const size_t retained = rows->cached_to - first;
        static_rows(rows, rows->cached_to, n, phi);
        for (size_t i = 0; i < rows->static_count; i++) {
            double *column = cache + i * room;
            if (full) {
                memmove(column, column + (first - rows->cached_from),
                        retained * sizeof *column);
            }
            memcpy(column + (full ? retained : rows->cached_to - rows->cached_from),
                   phi[rows->still[i].from], n * sizeof *column);
        }
        rows->cached_from = full ? first : rows->cached_from;
        rows->cached_to += n;
    }
}

/* The weak form (docs/model/identification_theory.md, eq. 3) multiplies the equation Phi theta
 * = tau by a smooth window w that is zero at both ends, and integrates over it. If nu_dot has a
 * constant factor, integration by parts moves the derivative to the window:
 *     integral w nu_dot = - integral w_dot nu
 * No measured velocity is ever differentiated, and the window averages the noise. Efforts
 * are held from sample to sample, so that their integrals are exact: the window is
 * integrated over each cell. The method assumes a constant inertia. Reference: modulating
 * functions, Preisig and Rippin, Comput. Chem. Eng. 17, 1993. */

/* Equations for the windows around the next samples: integrals of the static part, of nu_dot
 * by parts, and of the held efforts exactly. */
static void weak_rows(struct row_source *rows)
{
    const struct data_set *set = rows->set;
    const size_t n = 2 * rows->half + 1;
    const double *weight = rows->window->data;
    const double *slope = weight + n;
    const double *cell = slope + n;
    for (size_t i = 0; i < rows->inertia_count; i++) {
        memset(at_place(rows, rows->inertia[i].place), 0, rows->count * sizeof(double));
    }
    for (size_t i = 0; i < rows->static_count; i++) {
        memset(at_place(rows, rows->still[i].place), 0, rows->count * sizeof(double));
    }
    for (size_t k = 0; k < rows->count; k++) {
        const size_t first = rows->at + k * rows->stride - rows->half;
        double change[MODEL_AXES_MAX];
        fill_cache(rows, first, first + n);
        const double *column = rows->cache->data + (first - rows->cached_from);
        for (size_t i = 0; i < rows->static_count; i++) {
            const struct row_still *still = &rows->still[i];
            at_place(rows, still->place)[k] +=
                dot_product(still->by_cell ? cell : weight, column + cache_room(rows) * i, n);
        }
        for (size_t a = 0; a < set->axes; a++) {
            change[a] = dot_product(slope, set->nu[a] + first, n);
            if (!rows->model->known) {
                rhs_of(rows, a)[k] = dot_product(cell, set->tau[a] + first, n);
            }
        }
        for (size_t i = 0; i < rows->inertia_count; i++) {
            const struct row_inertia *inertia = &rows->inertia[i];
            at_place(rows, inertia->place)[k] += inertia->factor * change[inertia->axis];
        }
    }
}

/* Number of samples in the present run that still have an equation. */
static size_t count_remaining(const struct row_source *rows)
{
    const size_t last = rows->set->run_start[rows->run + 1];
    const size_t beyond = rows->at + rows->half;
    return beyond < last ? (last - 1 - beyond) / rows->stride + 1 : 0;
}

bool row_source_next(struct row_source *rows)
{
    const struct data_set *set = rows->set;
    rows->at += rows->count * rows->stride;
    while (rows->run < set->run_count && count_remaining(rows) == 0) {
        rows->run++;
        if (rows->run < set->run_count) {
            rows->at = set->run_start[rows->run] + rows->half;
        }
    }
    if (rows->run >= set->run_count) {
        rows->count = 0;
        return false;
    }
    const size_t left = count_remaining(rows);
    rows->count = left < ROW_BLOCK ? left : ROW_BLOCK;
    if (rows->window) {
        weak_rows(rows);
    } else {
        derivative_rows(rows);
    }
    return true;
}

const double *row_source_column(const struct row_source *rows, size_t entry)
{
    return at_place(rows, rows->place[entry]);
}

const double *row_source_rhs(const struct row_source *rows, size_t axis)
{
    return rhs_of(rows, axis);
}
