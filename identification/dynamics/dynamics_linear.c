#include "identification/dynamics/dynamics_linear.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/simulation.h"
#include "identification/dynamics/row_source.h"
#include "identification/fit/null_space.h"
#include "identification/numeric/dot.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/local_polynomial.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/numeric/svd.h"

enum { P = DYNAMICS_P_MAX, AXES = MODEL_AXES_MAX };

static_assert((int)ROW_BLOCK == (int)HAC_MANY, "a block of moments is added at once");

/* Singular values below this share of the largest count as zero. */
static const double RANK_RATIO = 1e-9;
/* An axis whose residuals are below this share of its equations counts as exact. */
static const double EXACT_RATIO = 1e-9;
/* Instruments that differ by less than this share of every parameter count as equal. */
static const double NEAR_RATIO = 0.1;
/* Smallest half width of the window of a slope, in samples. */
enum { SLOPE_HALF_MIN = 2 };

struct fitter {
    const struct model *model;
    const struct data_set *set;
    const struct dynamics_options *options;
    struct dynamics_fit *fit;
    size_t p, axes;
    size_t times; /* number of equations per axis */
    bool active[AXES][P];
    double weight[AXES];
    struct qr_accumulator triangle[AXES];
    double norm[P]; /* norms of the columns of all weighted equations */
    double theta[P];
    double bread[P * P];
    struct svd svd;
};

/* Starts a triangle per axis with the columns that can be nonzero, and the right side. */
static void start_triangles(struct fitter *f, const struct row_source *rows)
{
    for (size_t a = 0; a < f->axes; a++) {
        const size_t first = rows->axis_start[a];
        const size_t end = rows->axis_start[a + 1];
        for (size_t e = first; e < end; e++) {
            f->active[a][rows->column[e]] = true;
        }
        qr_start(&f->triangle[a], end - first + 1);
    }
}

/* Adds every equation to the triangle of its axis. */
static void accumulate_rows(struct fitter *f, struct row_source *rows)
{
    const double *column[P + 1];
    start_triangles(f, rows);
    f->times = 0;
    while (row_source_next(rows)) {
        f->times += rows->count;
        for (size_t a = 0; a < f->axes; a++) {
            size_t n = 0;
            for (size_t e = rows->axis_start[a]; e < rows->axis_start[a + 1]; e++) {
                column[n++] = row_source_column(rows, e);
            }
            column[n] = row_source_rhs(rows, a);
            qr_add_columns(&f->triangle[a], column, rows->count);
        }
    }
    for (size_t a = 0; a < f->axes; a++) {
        qr_flush(&f->triangle[a]);
    }
}

/* Sum of squared residuals of an axis; with theta NULL, of its right sides. */
static double squares_of(const struct fitter *f, size_t a, const double *theta)
{
    double x[P + 1];
    size_t n = 0;
    for (size_t i = 0; i < f->p; i++) {
        if (f->active[a][i]) {
            x[n++] = theta ? -theta[i] : 0.0;
        }
    }
    x[n] = 1.0;
    return qr_squares(&f->triangle[a], x);
}

/* Degrees of freedom per axis. */
static double count_freedom(const struct fitter *f)
{
    const double all = (double)(f->times * f->axes);
    const double left = all - (double)f->p;
    return (left > 1.0 ? left : 1.0) / (double)f->axes;
}

/* Merges the axes' triangles, each with its weight. */
static void combine_axes(const struct fitter *f, struct qr_accumulator *all)
{
    qr_start(all, f->p + 1);
    for (size_t a = 0; a < f->axes; a++) {
        const struct qr_accumulator *t = &f->triangle[a];
        const double root = sqrt(f->weight[a]);
        for (size_t i = 0; i < t->columns; i++) {
            double row[P + 1] = {0.0};
            size_t n = 0;
            for (size_t c = 0; c < f->p; c++) {
                row[c] = f->active[a][c] ? root * t->r[i][n++] : 0.0;
            }
            row[f->p] = root * t->r[i][n];
            qr_add(all, row);
        }
    }
    qr_flush(all);
}

/* Ridge: one more row per column, with zero as its right side. */
static void add_ridge(const struct fitter *f, struct qr_accumulator *all)
{
    for (size_t j = 0; f->options->ridge > 0.0 && j < f->p; j++) {
        double row[P + 1] = {0.0};
        row[j] = sqrt(f->options->ridge) * f->norm[j];
        qr_add(all, row);
    }
    qr_flush(all);
}

/* Weighted least squares: theta, bread = (G' W G)^+, and the norms of the columns. */
static enum status solve_squares(struct fitter *f)
{
    struct qr_accumulator all;
    double rhs[P];
    const size_t p = f->p;
    combine_axes(f, &all);
    qr_lengths(&all, p, f->norm);
    add_ridge(f, &all);
    const enum status st = qr_decompose(&all, p, f->norm, RANK_RATIO, &f->svd);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t k = 0; k < p; k++) {
        rhs[k] = all.r[k][p];
    }
    svd_solve(&f->svd, rhs, f->theta);
    square_multiply(f->svd.inverse, f->svd.inverse, true, p, f->bread);
    return STATUS_OK;
}

/* Weights of the axes: inverse residual standard deviations at theta. */
static void weigh_axes(struct fitter *f)
{
    for (size_t a = 0; a < f->axes && !f->options->pooled; a++) {
        /* Equations without a right side (an axis without effort) also need a scale. */
        double size = squares_of(f, a, NULL);
        const struct qr_accumulator *t = &f->triangle[a];
        for (size_t j = 0; j + 1 < t->columns; j++) {
            for (size_t i = 0; i <= j; i++) {
                size += t->r[i][j] * t->r[i][j];
            }
        }
        const double squares = fmax(squares_of(f, a, f->theta), EXACT_RATIO * size);
        f->weight[a] = squares > 0.0 ? count_freedom(f) / squares : 1.0;
    }
}

/* Describes how well each parameter's column is excited, from the equations alone. */
static void describe_columns(struct fitter *f)
{
    double squares[P] = {0.0};
    for (size_t a = 0; a < f->axes; a++) {
        const struct qr_accumulator *t = &f->triangle[a];
        size_t n = 0;
        for (size_t j = 0; j < f->p; j++) {
            for (size_t i = 0; f->active[a][j] && i <= n; i++) {
                squares[j] += t->r[i][n] * t->r[i][n];
            }
            n += f->active[a][j] ? 1 : 0;
        }
    }
    for (size_t j = 0; j < f->p; j++) {
        const double inflated = f->norm[j] * sqrt(f->bread[j * f->p + j]);
        f->fit->regressor_rms[j] = sqrt(squares[j] / (double)f->times);
        f->fit->independence_ratio[j] = inflated > 0.0 ? 1.0 / inflated : 0.0;
    }
}

/* Weights are computed only once. The equations of an axis without effort have no right side
 * and are fitted best by zero parameters, so that repeated weighting would shrink all
 * parameters to zero. Noisy derivatives start this in the first step, so such methods keep
 * equal weights. */
static enum status fit_squares(struct fitter *f)
{
    for (size_t a = 0; a < f->axes; a++) {
        f->weight[a] = 1.0;
    }
    enum status st = solve_squares(f);
    if (st == STATUS_OK && f->fit->method >= DYNAMICS_WEAK && !f->options->pooled) {
        weigh_axes(f);
        st = solve_squares(f);
    }
    if (st == STATUS_OK) {
        describe_columns(f);
    }
    return st;
}

/* Number of equations over which residuals are autocorrelated. */
static size_t reach_of(const struct fitter *f, const struct row_source *rows)
{
    const double reach_s = rows->window ? f->options->reach_s : f->options->hac_s;
    const double n = ceil(reach_s / (f->set->dt_s * (double)rows->stride));
    const size_t beyond = n < (double)f->times ? (size_t)n : f->times;
    return rows->window ? 2 * rows->half / rows->stride + 1 + beyond : beyond;
}

/* to += by * x for a whole block; entries after its end are computed too, which is faster
 * than a test. */
static void add_scaled(double *restrict to, double by, const double *restrict x)
{
    for (size_t k = 0; k < ROW_BLOCK; k++) {
        to[k] += by * x[k];
    }
}

/* Computes to += x y. */
static void add_product(double *restrict to, const double *restrict x, const double *restrict y)
{
    for (size_t k = 0; k < ROW_BLOCK; k++) {
        to[k] += x[k] * y[k];
    }
}

/* Computes the moments of a block of equations [p][ROW_BLOCK]: residuals times the rows of
 * the instruments. */
static void find_moments(const struct fitter *f, const struct row_source *rows,
                         const struct row_source *by, double (*g)[ROW_BLOCK])
{
    memset(g, 0, f->p * sizeof *g);
    for (size_t a = 0; a < f->axes; a++) {
        double left[ROW_BLOCK] = {0.0};
        add_scaled(left, f->weight[a], row_source_rhs(rows, a));
        for (size_t e = rows->axis_start[a]; e < rows->axis_start[a + 1]; e++) {
            add_scaled(left, -f->weight[a] * f->theta[rows->column[e]],
                       row_source_column(rows, e));
        }
        for (size_t e = by->axis_start[a]; e < by->axis_start[a + 1]; e++) {
            add_product(g[by->column[e]], row_source_column(by, e), left);
        }
    }
}

/* Computes the errors from the residuals; instruments NULL: the rows themselves. */
static void find_errors(struct fitter *f, struct row_source *rows,
                        struct row_source *instruments)
{
    struct hac_covariance m;
    double g[HAC_ROOM][ROW_BLOCK] = {{0.0}};
    double covariance[P * P];
    size_t last = 0;
    const size_t p = f->p;
    f->fit->hac_share = (double)reach_of(f, rows) / (double)f->times;
    hac_start(&m, p, reach_of(f, rows), instruments != NULL);
    row_source_rewind(rows);
    if (instruments) {
        row_source_rewind(instruments);
    }
    while (row_source_next(rows) && (!instruments || row_source_next(instruments))) {
        find_moments(f, rows, instruments ? instruments : rows, g);
        if (rows->run != last) {
            hac_break(&m);
            last = rows->run;
        }
        hac_add_many(&m, (const double(*)[ROW_BLOCK])g, rows->count);
    }
    hac_break(&m);
    square_sandwich(f->bread, m.plain, p, covariance);
    for (size_t i = 0; i < p && instruments; i++) {
        f->fit->estimate.se_white[i] = sqrt(covariance[i * p + i]);
    }
    square_sandwich(f->bread, m.robust, p, covariance);
    for (size_t i = 0; i < p; i++) {
        f->fit->se_hac[i] = sqrt(covariance[i * p + i]);
        for (size_t j = 0; j < p; j++) {
            f->fit->estimate.covariance[i][j] = covariance[i * p + j];
        }
    }
}

/* Leaves out parameters that the data do not determine. */
static void report_nulls(struct fitter *f)
{
    struct null_space space;
    struct null_parameters free_parameters = {.model = f->model};
    null_space_find(&space, f->svd.v, f->p, f->svd.rank);
    for (size_t i = 0; i < f->p; i++) {
        free_parameters.index[i] = i;
        free_parameters.length[i] = f->norm[i];
        free_parameters.value[i] = f->theta[i];
        for (size_t j = 0; j < f->p; j++) {
            free_parameters.covariance[i][j] = f->fit->estimate.covariance[i][j];
        }
    }
    null_space_report(&space, &free_parameters, f->fit);
    for (size_t i = 0; i < f->p; i++) {
        f->fit->estimate.value[i] = f->theta[i];
        if (!space.open[i]) {
            continue;
        }
        f->fit->estimate.value[i] = (double)NAN;
        f->fit->estimate.se_white[i] = (double)NAN;
        f->fit->se_hac[i] = (double)NAN;
        f->fit->independence_ratio[i] = 0.0;
        for (size_t j = 0; j < f->p; j++) {
            f->fit->estimate.covariance[i][j] = (double)NAN;
            f->fit->estimate.covariance[j][i] = (double)NAN;
        }
    }
}

/* Copies theta, bread and weights to the fit. */
static void report_fit(struct fitter *f, struct row_source *rows,
                       struct row_source *instruments)
{
    struct dynamics_fit *fit = f->fit;
    double weighted = 0.0;
    fit->rows = f->times * f->axes;
    fit->n = f->set->n;
    fit->estimate.rank = f->svd.rank;
    fit->estimate.condition = f->svd.condition;
    for (size_t a = 0; a < f->axes; a++) {
        const double squares = squares_of(f, a, f->theta);
        weighted += f->weight[a] * squares;
        fit->residual_sd[a] = sqrt(squares / count_freedom(f));
    }
    for (size_t i = 0; i < f->p; i++) {
        fit->estimate.se_white[i] =
            sqrt(weighted / (count_freedom(f) * (double)f->axes) * f->bread[i * f->p + i]);
    }
    find_errors(f, rows, instruments);
    report_nulls(f);
}

/* Adds Z' W G and Z' W b of a block of equations. */
static void add_products(const struct fitter *f, const struct row_source *rows,
                         const struct row_source *instruments, double *zg, double *zb)
{
    for (size_t a = 0; a < f->axes; a++) {
        const size_t first = rows->axis_start[a];
        const size_t end = rows->axis_start[a + 1];
        for (size_t e = first; e < end; e++) {
            const double *z = row_source_column(instruments, e);
            const size_t i = rows->column[e];
            zb[i] += f->weight[a] * dot_product(z, row_source_rhs(rows, a), rows->count);
            for (size_t c = first; c < end; c++) {
                zg[i * f->p + rows->column[c]] +=
                    f->weight[a] * dot_product(z, row_source_column(rows, c), rows->count);
            }
        }
    }
}

/* Instrumental variables (docs/model/identification_theory.md, eq. 4). Least squares is biased
 * because the noise of the velocities also stands in Phi: E[Phi' e] is not zero. Rows Z are
 * built from the motion that the present model simulates under the recorded efforts. They are
 * independent of the noise and similar to Phi, so that
 *     theta = (Z' W Phi)^-1 Z' W tau
 * has no such bias. A simulation with the new theta improves Z, and a few rounds suffice.
 * The covariance is (Z' W Phi)^-1 Z' S Z (Phi' W Z)^-1, from `bread` and the moments of Z.
 * It assumes that the efforts do not depend on the noise (no feedback). Reference:
 * Söderström and Stoica, Instrumental Variable Methods (1983). */

/* One step of refined instruments: rows of the simulated motion replace the measured ones. */
static enum status solve_instruments(struct fitter *f, struct row_source *rows,
                                     struct row_source *instruments)
{
    double zg[P * P] = {0.0};
    double zb[P] = {0.0};
    const size_t p = f->p;
    row_source_rewind(rows);
    row_source_rewind(instruments);
    while (row_source_next(rows) && row_source_next(instruments)) {
        add_products(f, rows, instruments, zg, zb);
    }
    for (size_t i = 0; i < p; i++) {
        zg[i * p + i] += f->options->ridge * f->norm[i] * f->norm[i];
    }
    const enum status st = svd_find(zg, p, f->norm, f->norm, RANK_RATIO, &f->svd);
    if (st != STATUS_OK) {
        return st;
    }
    svd_solve(&f->svd, zb, f->theta);
    memcpy(f->bread, f->svd.inverse, sizeof f->bread);
    return STATUS_OK;
}

/* Length of the last step in standard errors. */
static double step_in_errors(const struct fitter *f, const double *before)
{
    double most = 0.0;
    for (size_t i = 0; i < f->p; i++) {
        const double step = fabs(f->theta[i] - before[i]) / f->fit->se_hac[i];
        most = fmax(most, step);
    }
    return most;
}

/* Returns whether the instruments of two estimates are equal: the results would differ by
 * less than a tenth of their error. */
static bool is_near(const struct fitter *f, const double *before)
{
    bool near = true;
    for (size_t i = 0; i < f->p; i++) {
        near = near && fabs(f->theta[i] - before[i]) <= NEAR_RATIO * fabs(f->theta[i]);
    }
    return near;
}

static enum status iterate_instruments(struct fitter *f, struct row_source *rows,
                                       double *const *simulated)
{
    struct data_set set = *f->set;
    struct row_source instruments;
    double before[P] = {0.0};
    for (size_t a = 0; a < f->axes; a++) {
        set.nu[a] = simulated[a];
    }
    enum status st = row_source_start(&instruments, f->model, &set, DYNAMICS_WEAK, f->options);
    if (st != STATUS_OK) {
        return st;
    }
    const struct svd weak = f->svd;
    const double *start = f->options->iv_start;
    bool near = false;
    if (start) {
        memcpy(f->theta, start, f->p * sizeof *start);
    }
    for (size_t i = 0; st == STATUS_OK && i < f->options->iv_iterations && !near; i++) {
        if (!simulation_run(f->model, f->theta, f->fit->bias_count, f->set,
                            f->options->from_rest, simulated)) {
            f->fit->stop = DYNAMICS_STOP_DIVERGED;
            break;
        }
        memcpy(before, f->theta, sizeof before);
        if (i > 0 || start) { /* instruments do not shrink the estimate towards zero */
            weigh_axes(f);
        }
        st = solve_instruments(f, rows, &instruments);
        near = start && is_near(f, before);
        f->fit->iterations = i + 1;
    }
    if (st == STATUS_OK && f->fit->stop == DYNAMICS_STOP_DIVERGED) {
        f->svd = weak;
        st = fit_squares(f);
        if (st == STATUS_OK) {
            report_fit(f, rows, NULL);
        }
    } else if (st == STATUS_OK) {
        report_fit(f, rows, &instruments);
        f->fit->stop = near || step_in_errors(f, before) < 0.1 ? DYNAMICS_STOP_CONVERGED
                                                               : DYNAMICS_STOP_LIMIT;
        /* Reports the condition of the equations alone, without instruments. */
        f->fit->estimate.condition = weak.condition;
    }
    row_source_end(&instruments);
    return st;
}

/* Friction by load (docs/model/joint.md) multiplies the size of the effort. That effort also
 * balances disturbances, and a controller strengthens this, so least squares would explain
 * the effort by itself. The effort that the model without this friction computes from the
 * motion is independent of disturbances. Its size is therefore the instrument of the
 * measured size. Used in place of the measured size, it also gives a test for the existence
 * of this friction. That test is valid even for weak instruments (Anderson and Rubin 1949). */

/* Processes one run; slopes do not reach beyond it. */
static enum status ask_run(const struct model *model, const struct data_set *set, size_t run,
                           const double *theta, size_t half, double *const *load)
{
    const size_t begin = set->run_start[run];
    const size_t end = set->run_start[run + 1];
    const size_t reach = half < (end - begin - 1) / 2 ? half : (end - begin - 1) / 2;
    double ignored[LOCAL_POLYNOMIAL_MAX];
    double slope[LOCAL_POLYNOMIAL_MAX];
    const enum status st = local_polynomial(reach, 2, ignored, slope);
    for (size_t k = begin; st == STATUS_OK && k < end; k++) {
        const size_t least = k < begin + reach ? begin + reach : k;
        const size_t at = least + reach < end ? least : end - 1 - reach;
        double nu[AXES];
        double nu_dot[AXES];
        double pose[AXES];
        double size[AXES];
        double phi[AXES * MODEL_PARAMETERS_MAX];
        data_set_velocity(set, k, nu);
        for (size_t a = 0; a < set->axes; a++) {
            nu_dot[a] = dot_product(slope, set->nu[a] + at - reach, 2 * reach + 1) / set->dt_s;
            size[a] = load[a][k];
        }
        model_regressor(model, data_set_pose(set, k, pose), nu, nu_dot, size, phi);
        for (size_t a = 0; a < set->axes; a++) {
            load[a][k] =
                dot_product(&phi[a * model->parameter_count], theta, model->parameter_count);
        }
    }
    return st;
}

enum status dynamics_linear_ask(const struct model *model, const struct data_set *set,
                                const double *theta, size_t p, size_t half, double *const *load)
{
    const size_t most = LOCAL_POLYNOMIAL_MAX / 2;
    const size_t reach = half < SLOPE_HALF_MIN ? SLOPE_HALF_MIN : half < most ? half : most;
    enum status st = STATUS_OK;
    for (size_t run = 0; st == STATUS_OK && run < set->run_count; run++) {
        st = ask_run(model, set, run, theta, reach, load);
    }
    for (size_t a = 0; st == STATUS_OK && a < set->axes && p > model->parameter_count; a++) {
        for (size_t k = 0; k < set->n; k++) {
            load[a][k] += theta[model->parameter_count + a];
        }
    }
    return st;
}

/* Fits *rows with loads from the motion, in *load. All loads are one first, which makes this
 * friction the usual dry friction. */
static enum status solve_without(struct fitter *f, struct row_source *rows, double *const *load)
{
    for (size_t a = 0; a < f->axes; a++) {
        rows->load[a] = load[a];
    }
    row_source_rewind(rows);
    accumulate_rows(f, rows);
    const enum status st = fit_squares(f);
    return st == STATUS_OK
               ? dynamics_linear_ask(f->model, f->set, f->theta, f->p, rows->half / 4, load)
               : st;
}

static enum status solve_load(struct fitter *f, struct row_source *rows, double *const *load)
{
    struct row_source asked;
    enum status st = row_source_start(&asked, f->model, f->set, DYNAMICS_WEAK, f->options);
    if (st != STATUS_OK) {
        return st;
    }
    struct row_source *left = f->options->asked_load ? &asked : rows;
    st = solve_without(f, &asked, load);
    row_source_rewind(left);
    accumulate_rows(f, left);
    st = st == STATUS_OK ? fit_squares(f) : st;
    /* condition of the equations, without instruments */
    const double condition = f->svd.condition;
    if (st == STATUS_OK && left == rows && f->svd.rank == f->p) {
        st = solve_instruments(f, rows, &asked);
    }
    if (st == STATUS_OK) {
        report_fit(f, left, left == rows && f->svd.rank == f->p ? &asked : NULL);
        f->fit->estimate.condition = condition;
    }
    row_source_end(&asked);
    return st;
}

static enum status fit_load(struct fitter *f, struct row_source *rows)
{
    double *load[AXES] = {NULL};
    gsl_vector *memory = gsl_vector_alloc(f->axes * f->set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    gsl_vector_set_all(memory, 1.0);
    for (size_t a = 0; a < f->axes; a++) {
        load[a] = memory->data + a * f->set->n;
    }
    const enum status st = solve_load(f, rows, load);
    gsl_vector_free(memory);
    return st;
}

static enum status fit_instruments(struct fitter *f, struct row_source *rows)
{
    double *simulated[AXES] = {NULL};
    if (f->svd.rank < f->p) {
        f->fit->stop = DYNAMICS_STOP_DIVERGED;
        report_fit(f, rows, NULL);
        return STATUS_OK;
    }
    gsl_vector *memory = gsl_vector_alloc(f->axes * f->set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < f->axes; a++) {
        simulated[a] = memory->data + a * f->set->n;
    }
    const enum status st = iterate_instruments(f, rows, simulated);
    gsl_vector_free(memory);
    return st;
}

static void judge_method(struct fitter *f)
{
    struct dynamics_fit *fit = f->fit;
    if (fit->method == DYNAMICS_OLS_CENTRAL || fit->method == DYNAMICS_OLS_SG) {
        estimate_reason(&fit->estimate, REASON_METHOD_BIASED, ESTIMATE_MARGINAL,
                        "%s uses derivatives of measured velocities, which bias it by more "
                        "than its error bars: for comparison only, see weak_iv",
                        dynamics_method_name(fit->method));
    }
    fit->ridge = f->options->ridge;
    if (fit->ridge > 0.0) {
        estimate_reason(&fit->estimate, REASON_METHOD_BIASED, ESTIMATE_MARGINAL,
                        "a ridge of %.3g draws estimates to zero, by up to the same share of "
                        "those that are well determined: error bars do not hold that bias",
                        fit->ridge);
    }
    if (fit->stop == DYNAMICS_STOP_DIVERGED) {
        estimate_reason(&fit->estimate, REASON_NOT_SIMULATED, ESTIMATE_MARGINAL,
                        "the model cannot be simulated with the values of the weak form, so "
                        "there are no instruments: values are those of weak");
    } else if (fit->stop == DYNAMICS_STOP_LIMIT) {
        estimate_reason(&fit->estimate, REASON_SEARCH_FAILED, ESTIMATE_MARGINAL,
                        "the instruments had not settled after %zu iterations",
                        fit->iterations);
    }
    dynamics_judge(fit, f->model, f->set);
}

static enum status run_linear(struct fitter *f, struct row_source *rows)
{
    accumulate_rows(f, rows);
    if (f->times * f->axes <= f->p) {
        f->fit->rows = f->times * f->axes;
        f->fit->n = f->set->n;
        judge_method(f);
        return STATUS_OK;
    }
    enum status st = fit_squares(f);
    if (st == STATUS_OK && f->fit->method == DYNAMICS_WEAK_IV) {
        st = fit_instruments(f, rows);
    } else if (st == STATUS_OK && f->fit->method == DYNAMICS_WEAK && f->model->by_effort) {
        st = fit_load(f, rows);
    } else if (st == STATUS_OK) {
        report_fit(f, rows, NULL);
    }
    if (st == STATUS_OK) {
        judge_method(f);
    }
    return st;
}

static bool options_fit(const struct dynamics_options *o, enum dynamics_method method)
{
    const bool window =
        o->sg_window == 0 || (o->sg_window >= 5 && o->sg_window <= ROW_SG_MAX &&
                              o->sg_window % 2 == 1 && o->sg_order < o->sg_window);
    return method <= DYNAMICS_WEAK_IV && o->half_width_s >= 0.0 && o->stride_s >= 0.0 &&
           window && o->sg_order >= 1 && o->sg_order <= 6 && o->iv_iterations >= 1 &&
           o->iv_iterations <= 50 && o->hac_s >= 0.0 && o->reach_s >= 0.0 && o->ridge >= 0.0 &&
           isfinite(o->ridge);
}

enum dynamics_method dynamics_linear_method(const struct model *model,
                                            enum dynamics_method asked)
{
    return model->varying_inertia && (asked == DYNAMICS_WEAK || asked == DYNAMICS_WEAK_IV)
               ? DYNAMICS_OLS_SG
               : asked;
}

enum status dynamics_linear_fit(const struct model *model, const struct data_set *set,
                                enum dynamics_method asked,
                                const struct dynamics_options *options,
                                struct dynamics_fit *fit)
{
    const enum dynamics_method method = dynamics_linear_method(model, asked);
    struct row_source rows;
    struct dynamics_fit out;
    struct fitter f;
    if (!options_fit(options, method) || !data_set_suits(set, model)) {
        return STATUS_E_ARG;
    }
    const struct dynamics_options chosen = dynamics_options_chosen(set, options);
    memset(&f, 0, sizeof f);
    dynamics_fit_start(&out, model, method, options->biases);
    f.model = model;
    f.set = set;
    f.options = &chosen;
    f.fit = &out;
    f.p = out.estimate.p;
    f.axes = model->axis_count;
    enum status st = row_source_start(&rows, model, set, method, &chosen);
    if (st != STATUS_OK) {
        return st;
    }
    out.window_s =
        method == DYNAMICS_OLS_CENTRAL ? out.window_s : 2.0 * (double)rows.half * set->dt_s;
    st = run_linear(&f, &rows);
    row_source_end(&rows);
    if (st == STATUS_OK) {
        *fit = out;
    }
    return st;
}
