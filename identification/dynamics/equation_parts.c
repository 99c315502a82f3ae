/* Each part of the recording gets its own estimate from its windows, by one Newton step from
 * the common estimate. Its errors allow for the autocorrelation of its residuals. Windows are
 * classified by the efforts that the motion requires: a classification by the measured efforts,
 * the right sides of the equations, would bias the estimates.
 */
#include "identification/dynamics/equation_parts.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_vector.h>

#include "identification/dynamics/dynamics_linear.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/dynamics/row_source.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/svd.h"

enum {
    HALVES = 0,
    THIRDS = HALVES + 2,
    RECORDINGS = THIRDS + 3,
    LEVELS = 3,
    OF_EFFORT = RECORDINGS + STABILITY_PARTS_MAX,
    ALL = OF_EFFORT + (LEVELS + 2) * MODEL_AXES_MAX,
    BINS,
    AT_ONCE = 4 + 2 * MODEL_AXES_MAX, /* largest number of parts that contain a window */
    SPAN_MAX = 64,
    LOAD_ROUNDS = 10, /* rounds after which the starting value hardly matters */
    P = DYNAMICS_P_MAX
};

static const double RANK_RATIO = 1e-9;
/* An effort has a direction if it exceeds this share of its largest value. */
static const double DIRECTED = 0.02;

struct bin {
    double g[P * P], v[P]; /* Z' Phi, and Z' times the residuals */
    size_t windows;
    bool known;
    struct svd svd;
    double theta[P];
    size_t last; /* last window that was added */
    struct hac_covariance errors;
};

struct windows {
    const struct model *model;
    const struct dynamics_fit *fit;
    const struct data_set *set;
    /* by: instruments; equal to rows unless there is friction by load */
    struct row_source rows, by;
    bool has_by;
    size_t p, axes, count;
    size_t span;                             /* number of windows that overlap one */
    double largest[MODEL_AXES_MAX];          /* largest effort that the motion requires */
    double weight[MODEL_AXES_MAX];           /* weight of an axis' equations */
    double before[MODEL_AXES_MAX][SPAN_MAX]; /* residuals of the previous windows */
    double products, squares; /* sums over pairs of neighbouring windows without overlap */
    struct bin *bins;         /* [BINS] */
};

/* One window with its equations. */
struct window {
    size_t at; /* index of the window */
    double phi[MODEL_AXES_MAX][P], z[MODEL_AXES_MAX][P];
    /* measured effort; effort required by the motion */
    double effort[MODEL_AXES_MAX], asked[MODEL_AXES_MAX];
    size_t bins[AT_ONCE], bin_count;
};

static void copy_entries(const struct row_source *rows, size_t axis, size_t k, double *to)
{
    memset(to, 0, P * sizeof *to);
    for (size_t e = rows->axis_start[axis]; e < rows->axis_start[axis + 1]; e++) {
        to[rows->column[e]] = row_source_column(rows, e)[k];
    }
}

static void choose_bins(const struct windows *w, size_t k, struct window *one)
{
    const struct data_set *set = w->set;
    const size_t middle = w->rows.at + k * w->rows.stride;
    one->bin_count = 0;
    one->bins[one->bin_count++] = ALL;
    one->bins[one->bin_count++] = HALVES + 2 * middle / set->n;
    one->bins[one->bin_count++] = THIRDS + 3 * middle / set->n;
    if (set->part_count > 1) {
        one->bins[one->bin_count++] = RECORDINGS + stability_recording(set, w->rows.run);
    }
    for (size_t a = 0; a < w->axes && w->largest[a] > 0.0; a++) {
        const double share = one->asked[a] / w->largest[a];
        const size_t first = OF_EFFORT + a * (LEVELS + 2);
        one->bins[one->bin_count++] = first + (size_t)fmin(LEVELS * fabs(share), LEVELS - 1);
        if (fabs(share) > DIRECTED) {
            one->bins[one->bin_count++] = first + LEVELS + (share > 0.0 ? 1 : 0);
        }
    }
}

typedef void see_window(struct windows *w, const struct window *one);

static void each_window(struct windows *w, see_window *see)
{
    struct window one = {.at = 0};
    row_source_rewind(&w->rows);
    if (w->has_by) {
        row_source_rewind(&w->by);
    }
    while (row_source_next(&w->rows) && (!w->has_by || row_source_next(&w->by))) {
        for (size_t k = 0; k < w->rows.count; k++) {
            for (size_t a = 0; a < w->axes; a++) {
                copy_entries(&w->rows, a, k, one.phi[a]);
                copy_entries(w->has_by ? &w->by : &w->rows, a, k, one.z[a]);
                one.effort[a] = row_source_rhs(&w->rows, a)[k];
                one.asked[a] = 0.0;
                for (size_t i = 0; i < w->p; i++) {
                    one.asked[a] += w->fit->estimate.value[i] * one.phi[a][i];
                }
            }
            choose_bins(w, k, &one);
            see(w, &one);
            one.at++;
        }
    }
    w->count = one.at;
}

static void see_size(struct windows *w, const struct window *one)
{
    for (size_t a = 0; a < w->axes; a++) {
        const double residual = one->effort[a] - one->asked[a];
        double *before = &w->before[a][one->at % w->span];
        w->largest[a] = fmax(w->largest[a], fabs(one->asked[a]));
        w->weight[a] += residual * residual;
        w->products += one->at >= w->span ? residual * *before : 0.0;
        w->squares += residual * residual;
        *before = residual;
    }
}

static void see_sums(struct windows *w, const struct window *one)
{
    for (size_t b = 0; b < one->bin_count; b++) {
        struct bin *bin = &w->bins[one->bins[b]];
        bin->windows++;
        for (size_t a = 0; a < w->axes; a++) {
            const double residual = w->weight[a] * (one->effort[a] - one->asked[a]);
            for (size_t i = 0; i < w->p; i++) {
                bin->v[i] += one->z[a][i] * residual;
                for (size_t j = 0; j < w->p; j++) {
                    bin->g[i * w->p + j] += w->weight[a] * one->z[a][i] * one->phi[a][j];
                }
            }
        }
    }
}

/* Adds the moments of a window at the estimate of each of its parts. */
static void see_errors(struct windows *w, const struct window *one)
{
    for (size_t b = 0; b < one->bin_count; b++) {
        struct bin *bin = &w->bins[one->bins[b]];
        double moment[P] = {0.0};
        if (!bin->known) {
            continue;
        }
        for (size_t a = 0; a < w->axes; a++) {
            double residual = one->effort[a];
            for (size_t i = 0; i < w->p; i++) {
                residual -= bin->theta[i] * one->phi[a][i];
            }
            for (size_t i = 0; i < w->p; i++) {
                moment[i] += w->weight[a] * one->z[a][i] * residual;
            }
        }
        if (one->at != bin->last + 1) {
            hac_break(&bin->errors);
        }
        bin->last = one->at;
        hac_add(&bin->errors, moment);
    }
}

/* Number of windows over which residuals are autocorrelated: the overlapping ones, and more
 * if the correlation reaches further. */
static size_t reach_of(const struct windows *w, size_t count)
{
    const double rho = w->squares > 0.0 ? w->products / w->squares : 0.0;
    return w->span * (1 + hac_lags(rho, count / w->span));
}

static double freedom_of(const struct windows *w, size_t count)
{
    return hac_freedom(fmin((double)reach_of(w, count) / (double)count, 1.0));
}

static void solve_bins(struct windows *w)
{
    const double least = WINDOWS_PER_PARAMETER * (double)(w->p * w->span);
    for (size_t b = 0; b < BINS; b++) {
        struct bin *bin = &w->bins[b];
        double length[P] = {0.0};
        double step[P];
        for (size_t i = 0; i < w->p; i++) {
            length[i] = sqrt(fabs(bin->g[i * w->p + i]));
        }
        /* Under one effort, friction and a constant effort are alike: such a part contradicts
         * nobody. */
        bin->known =
            (double)bin->windows >= least && freedom_of(w, bin->windows) >= FREEDOM_MIN &&
            svd_find(bin->g, w->p, length, length, RANK_RATIO, &bin->svd) == STATUS_OK &&
            bin->svd.rank == w->p && bin->svd.condition <= CONDITION_MAX * CONDITION_MAX;
        if (bin->known) {
            svd_solve(&bin->svd, bin->v, step);
            for (size_t i = 0; i < w->p; i++) {
                bin->theta[i] = w->fit->estimate.value[i] + step[i];
            }
            hac_start(&bin->errors, w->p, reach_of(w, bin->windows), false);
        }
    }
}

static void report_bin(const struct windows *w, size_t b, struct stability_part *part)
{
    struct bin *bin = &w->bins[b];
    double covariance[P * P];
    for (size_t i = 0; i < P; i++) {
        part->value[i] = part->se[i] = (double)NAN;
    }
    if (!bin->known) {
        return;
    }
    hac_break(&bin->errors);
    square_sandwich(bin->svd.inverse, bin->errors.robust, w->p, covariance);
    part->freedom = freedom_of(w, bin->windows);
    for (size_t i = 0; i < w->p; i++) {
        part->value[i] = bin->theta[i];
        part->se[i] = sqrt(covariance[i * w->p + i]);
    }
}

static void compare_bins(const struct windows *w, enum stability_cut cut, size_t axis,
                         size_t first, size_t count, struct stability *out)
{
    struct stability_part parts[STABILITY_PARTS_MAX];
    for (size_t b = 0; b < count; b++) {
        report_bin(w, first + b, &parts[b]);
    }
    stability_compare(w->fit, cut, axis, parts, count, out);
}

/* Compares the estimate from the whole set with the fit, relative to the errors of both.
 * Errors are as wide as their 95 % intervals. */
static void find_moved(const struct windows *w, struct stability *out)
{
    const struct estimate *e = &w->fit->estimate;
    const double normal = gsl_cdf_ugaussian_Pinv(0.975);
    struct stability_part all;
    size_t known = 0;
    report_bin(w, ALL, &all);
    out->moved_statistic = out->moved_p = (double)NAN;
    for (size_t i = 0; i < w->p; i++) {
        const double wide = gsl_cdf_tdist_Pinv(0.975, all.freedom) / normal;
        const double moved = all.value[i] - e->value[i];
        const double z = moved / hypot(wide * all.se[i], 0.5 * (e->hi[i] - e->lo[i]) / normal);
        out->moved[i] = moved;
        out->moved_se[i] = wide * all.se[i];
        known += isfinite(z) ? 1 : 0;
        if (isfinite(z) && !(z * z <= out->moved_statistic)) {
            out->moved_statistic = z * z;
        }
    }
    out->moved_df = 1.0;
    if (known > 0) {
        out->moved_p = fmin(1.0, (double)known * gsl_cdf_chisq_Q(out->moved_statistic, 1.0));
    }
}

static void compare_all(const struct windows *w, struct stability *stability)
{
    struct stability out = *stability;
    out.tested = true;
    out.count = out.recording_count = 0;
    memset(out.in_time, 0, sizeof out.in_time);
    memset(out.recordings, 0, sizeof out.recordings);
    compare_bins(w, STABILITY_HALVES, 0, HALVES, 2, &out);
    compare_bins(w, STABILITY_THIRDS, 0, THIRDS, 3, &out);
    compare_bins(w, STABILITY_RECORDINGS, 0, RECORDINGS, STABILITY_PARTS_MAX, &out);
    for (size_t a = 0; a < w->axes; a++) {
        compare_bins(w, STABILITY_LEVEL, a, OF_EFFORT + a * (LEVELS + 2), LEVELS, &out);
    }
    for (size_t a = 0; a < w->axes; a++) {
        compare_bins(w, STABILITY_DIRECTION, a, OF_EFFORT + a * (LEVELS + 2) + LEVELS, 2, &out);
    }
    find_moved(w, &out);
    *stability = out;
}

static void run_windows(struct windows *w, struct stability *stability)
{
    w->span = 2 * w->rows.half / w->rows.stride;
    w->span = w->span < 1 ? 1 : w->span > SPAN_MAX ? SPAN_MAX : w->span;
    each_window(w, see_size);
    for (size_t a = 0; a < w->axes; a++) {
        w->weight[a] = w->weight[a] > 0.0 ? (double)w->count / w->weight[a] : 1.0;
    }
    each_window(w, see_sums);
    solve_bins(w);
    each_window(w, see_errors);
    compare_all(w, stability);
}

/* Starts the equations with the instruments of the fit: the size of the efforts that the
 * motion requires. */
static enum status start_rows(struct windows *w, const struct dynamics_options *options,
                              double *memory)
{
    enum status st = row_source_start(&w->rows, w->model, w->set, DYNAMICS_WEAK, options);
    if (st != STATUS_OK || !w->model->by_effort) {
        return st;
    }
    double *load[MODEL_AXES_MAX] = {NULL};
    st = row_source_start(&w->by, w->model, w->set, DYNAMICS_WEAK, options);
    w->has_by = st == STATUS_OK;
    for (size_t a = 0; a < w->axes && st == STATUS_OK; a++) {
        load[a] = memory + a * w->set->n;
        memcpy(load[a], w->set->tau[a], w->set->n * sizeof *load[a]);
        w->by.load[a] = load[a];
    }
    for (size_t i = 0; i < LOAD_ROUNDS && st == STATUS_OK; i++) {
        st = dynamics_linear_ask(w->model, w->set, w->fit->estimate.value, w->p,
                                 w->rows.half / 4, load);
    }
    return st;
}

enum status equation_parts_find(const struct model *model, const struct dynamics_fit *fit,
                                const struct data_set *set, struct stability *stability)
{
    struct windows w = {.model = model,
                        .fit = fit,
                        .set = set,
                        .p = fit->estimate.p,
                        .axes = model->axis_count};
    struct dynamics_options options = dynamics_options_for(model);
    options.biases = fit->bias_count > 0;
    options.half_width_s = isfinite(fit->window_s) ? 0.5 * fit->window_s : 0.0;
    options.stride_s = 0.0;
    options = dynamics_options_chosen(set, &options);
    for (size_t i = 0; i < w.p; i++) {
        if (!isfinite(fit->estimate.value[i])) {
            return STATUS_OK;
        }
    }
    const size_t of_bins = BINS * sizeof *w.bins / sizeof(double) + 1;
    gsl_vector *memory = gsl_vector_calloc(of_bins + w.axes * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    w.bins = (struct bin *)(void *)memory->data;
    const enum status st = start_rows(&w, &options, memory->data + of_bins);
    if (st == STATUS_OK) {
        run_windows(&w, stability);
    }
    row_source_end(&w.rows);
    row_source_end(&w.by);
    gsl_vector_free(memory);
    return st;
}
