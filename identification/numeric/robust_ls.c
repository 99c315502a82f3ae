#include "identification/numeric/robust_ls.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/column_space.h"
#include "identification/numeric/dot.h"
#include "identification/numeric/qr_accumulator.h"

/* Number of random starts for each unknown. Each start solves as many rows as there are
 * unknowns. */
enum { TRIALS = 20 };
/* Blocks below this size are reflected row by row, never condensed. */
enum { REFLECTED_ROWS = QR_BLOCK / 2 };
enum { LAD_ITERATIONS_MAX = 60, M_ITERATIONS_MAX = 50 };

/* Singular values below this share of the largest count as zero. Two angles that differ by a
 * millionth do not count as two angles. */
static const double RANK_TOLERANCE = 1e-6;
/* Squared length of a function's part outside the row space. Rounding leaves about 1e-20, a
 * missing move leaves 1e-2 or more. */
static const double NULL_TOLERANCE = 1e-8;
static const double HUBER_C = 1.345;
static const double TUKEY_C = 4.685;
/* Factor from the median of |z| to the standard deviation, for Gaussian noise. */
static const double MAD_TO_SD = 1.4826;
/* The LAD start may be inexact, the final iterations may not. */
static const double LAD_TOLERANCE = 1e-5;
static const double M_TOLERANCE = 1e-9;
/* A group of outliers at one end pulls least absolute deviations along. Another start
 * replaces LAD if most rows lie closer to it by this ratio. Chance alone never reaches it. */
static const double CLOSER_RATIO = 0.3;
/* Rows beyond this many standard deviations of the majority's scale are outliers for the
 * start. */
static const double NEAR_SD = 2.5;
/* Three quarters of a standard normal distribution lie within this value. */
static const double QUARTILE_SD = 1.1503;
/* Rows per unknown that are required for a majority to be meaningful. */
enum { MAJORITY_ROWS = 4 };
/* If the mean slope of psi is below this, the weights have rejected most of the data. */
static const double SLOPE_MIN = 0.2;

/* Work arrays of one run, each [n]. */
struct work {
    double *e; /* residuals of the present solution */
    double *w; /* weights */
    double *a; /* scratch for order statistics, and for one weighted column */
    /* Column space of the design. In this basis a weighted problem is badly conditioned only
     * if the weights differ widely, however similar the columns of the design are. */
    struct column_space space;
    size_t rank; /* rank of the design */
    double *q;   /* memory of space.q */
};

/* Computes the triangle of [sqrt(w) X, sqrt(w) y]; weights NULL: all are one. */
static void reduce_rows(const struct robust_ls_problem *problem, const double *weights,
                        struct qr_accumulator *qr)
{
    qr_start(qr, problem->p + 1);
    for (size_t i = 0; i < problem->n; i++) {
        const double root = weights ? sqrt(weights[i]) : 1.0;
        double row[ROBUST_LS_P_MAX + 1];
        for (size_t j = 0; j < problem->p; j++) {
            row[j] = root * problem->x[i * problem->p + j];
        }
        row[problem->p] = root * problem->y[i];
        qr_add(qr, row);
        if (i % REFLECTED_ROWS == REFLECTED_ROWS - 1) {
            qr_flush(qr); /* weights differ so much that condensing would lose digits */
        }
    }
    qr_flush(qr);
}

/* Weighted least squares through the triangle and its singular values. */
static enum status decompose_weighted(const struct robust_ls_problem *problem,
                                      const double *weights, struct robust_ls_plain *out)
{
    const size_t p = problem->p;
    struct qr_accumulator qr;
    reduce_rows(problem, weights, &qr);
    qr_lengths(&qr, p, out->norm);
    enum status st = qr_solve(&qr, p, RANK_TOLERANCE, &out->svd, out->beta);
    for (size_t j = 0; j < p && st == STATUS_OK; j++) {
        st = isfinite(out->beta[j]) ? STATUS_OK : STATUS_E_MATH;
    }
    return st;
}

/* Adds to beta the step that is given in coordinates of Q. */
static void add_step(const struct robust_ls_problem *problem, const struct work *work,
                     const double *step, double *beta)
{
    for (size_t j = 0; j < problem->p; j++) {
        for (size_t k = 0; k < work->space.rank; k++) {
            beta[j] += work->space.turn[j][k] * step[k];
        }
    }
}

/* Moves beta from the solution with residuals work->e to that with the weights work->w. The
 * step solves Q'WQ step = Q'We, so it is as accurate as the residuals are. If the weights
 * make this singular, the weighted design itself is decomposed. *lost: its rank fell below
 * the design's. */
static enum status solve_weighted(const struct robust_ls_problem *problem, struct work *work,
                                  double *beta, bool *lost)
{
    double gram[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX];
    double step[ROBUST_LS_P_MAX];
    const size_t n = problem->n;
    for (size_t j = 0; j < work->space.rank; j++) {
        for (size_t i = 0; i < n; i++) {
            work->a[i] = work->w[i] * work->space.q[j * n + i];
        }
        step[j] = dot_product(work->a, work->e, n);
        for (size_t k = j; k < work->space.rank; k++) {
            gram[j][k] = dot_product(work->a, work->space.q + k * n, n);
        }
    }
    if (column_space_cholesky(gram, step, work->space.rank)) {
        add_step(problem, work, step, beta);
        *lost = false;
        return STATUS_OK;
    }
    struct robust_ls_plain at;
    const enum status st = decompose_weighted(problem, work->w, &at);
    if (st == STATUS_OK) {
        *lost = at.svd.rank < work->rank;
        memcpy(beta, at.beta, problem->p * sizeof *beta);
    }
    return st;
}

static void set_residuals(const struct robust_ls_problem *problem, const double *beta,
                          double *e)
{
    const size_t n = problem->n;
    const size_t p = problem->p;
    memcpy(e, problem->y, n * sizeof *e);
    for (size_t j = 0; j < p; j++) { /* the sums of different rows are independent */
        const double *x = problem->x + j;
        for (size_t i = 0; i < n; i++) {
            e[i] -= x[i * p] * beta[j];
        }
    }
}

/* Returns the k-th smallest |residual|, counted from 0. */
static double select_size(struct work *work, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        work->a[i] = fabs(work->e[i]);
    }
    return gsl_stats_select(work->a, 1, n, k);
}

/* Robust scale: the median of |e|, converted to a Gaussian standard deviation. The `rank`
 * smallest residuals are left out, because a fit makes that many of them small whatever the
 * noise is. */
static double mad_scale(struct work *work, size_t n, size_t rank, double floor)
{
    assert(n > rank);
    const size_t low = rank + (n - rank - 1) / 2;
    double median = select_size(work, n, low);
    if ((n - rank) % 2 == 0) {
        median = 0.5 * (median + gsl_stats_select(work->a, 1, n, low + 1));
    }
    return fmax(MAD_TO_SD * median, floor);
}

/* Index of the residual, sorted by size from 0 on, that bounds three quarters of the rows. */
static size_t majority_rank(size_t n, size_t rank)
{
    return rank + 3 * (n - rank - 1) / 4;
}

/* Returns the weight psi(z) / z of a residual, and the slope of psi in *slope. */
static double weigh_residual(enum robust_ls_method method, double z, double *slope)
{
    const double q2 = z / TUKEY_C * (z / TUKEY_C);
    const bool near = method == ROBUST_LS_TUKEY ? q2 < 1.0 : fabs(z) <= HUBER_C;
    if (method == ROBUST_LS_OLS || (method == ROBUST_LS_HUBER && near)) {
        *slope = 1.0;
        return 1.0;
    }
    if (method == ROBUST_LS_HUBER) {
        *slope = 0.0;
        return HUBER_C / fabs(z);
    }
    *slope = near ? (1.0 - q2) * (1.0 - 5.0 * q2) : 0.0;
    return near ? (1.0 - q2) * (1.0 - q2) : 0.0;
}

/* Robust fit (docs/model/travel_time.md, eq. 4 - 6). An M-estimate solves
 *
 *     sum psi((y - x beta) / s) x = 0
 *
 * by iterated least squares with the weights psi(z) / z. Huber's psi is convex, so that any
 * start converges, but distant rows keep a bounded influence. Tukey's biweight gives distant
 * rows no influence, but it has several solutions, so the start matters. It starts from
 * least absolute deviations (LAD). If three quarters of the rows lie far closer to a
 * solution through a few rows, it starts there instead (search_rows; as in S-estimates). The
 * scale s is a median, which fewer than half of the rows cannot move. If Tukey's weights
 * remove a whole column, Huber's weights replace them. Reference: Huber and Ronchetti,
 * Robust Statistics (2009), chapter 7. */

/* Least absolute deviations by iterated reweighting with 1 / |e|, from the present solution. */
static enum status fit_absolute(const struct robust_ls_problem *problem, struct work *work,
                                double *beta, size_t *iterations)
{
    double before = INFINITY;
    for (int round = 0; round < LAD_ITERATIONS_MAX; round++) {
        double sum = 0.0;
        bool lost;
        for (size_t i = 0; i < problem->n; i++) {
            const double size = fabs(work->e[i]);
            sum += size;
            work->w[i] = size > problem->floor ? problem->floor / size : 1.0;
        }
        if (!(before - sum > LAD_TOLERANCE * sum) && round > 1) {
            break;
        }
        before = sum;
        const enum status st = solve_weighted(problem, work, beta, &lost);
        if (st != STATUS_OK) {
            return st;
        }
        set_residuals(problem, beta, work->e);
        *iterations += 1;
    }
    return STATUS_OK;
}

/* Iterates weights and scale from the present residuals. *lost is set if the weights reject
 * so much that a column loses its rank. */
static enum status m_estimate(const struct robust_ls_problem *problem, struct work *work,
                              struct robust_ls_fit *fit, bool *lost)
{
    const size_t rank = fit->rank;
    *lost = false;
    fit->converged = false;
    for (int round = 0; round < M_ITERATIONS_MAX && !fit->converged; round++) {
        fit->sd = mad_scale(work, problem->n, rank, problem->floor);
        for (size_t i = 0; i < problem->n; i++) {
            double slope = 0.0;
            const double z = work->e[i] / fit->sd;
            work->w[i] = weigh_residual(fit->method, z, &slope);
        }
        double beta[ROBUST_LS_P_MAX];
        memcpy(beta, fit->beta, sizeof beta);
        const enum status st = solve_weighted(problem, work, beta, lost);
        if (st != STATUS_OK || *lost) {
            return st;
        }
        double step = 0.0;
        for (size_t j = 0; j < problem->p; j++) {
            /* The change is measured in units of y: how far this term moves a typical row. */
            step = fmax(step, fabs(beta[j] - fit->beta[j]) * fit->column_norm[j] /
                                  sqrt((double)problem->n));
            fit->beta[j] = beta[j];
        }
        set_residuals(problem, fit->beta, work->e);
        fit->iterations += 1;
        fit->converged = step <= M_TOLERANCE * fit->sd;
    }
    fit->sd = mad_scale(work, problem->n, rank, problem->floor);
    return STATUS_OK;
}

/* Variance of the noise of one row as it enters the covariance: s^2 E psi^2 / (E psi')^2,
 * times Huber's small-sample factor of M-estimates (Huber 1973). */
static double noise_variance(const struct robust_ls_fit *fit, const double *e)
{
    const double n = (double)fit->n;
    const double dof = n - (double)fit->rank;
    double psi2 = 0.0;
    double slope = 0.0;
    double slope2 = 0.0;

    if (!(dof > 0.0)) {
        return nan("");
    }
    if (fit->method == ROBUST_LS_OLS) {
        return fit->sd * fit->sd;
    }
    for (size_t i = 0; i < fit->n; i++) {
        const double z = e[i] / fit->sd;
        double d = 0.0;
        const double psi = z * weigh_residual(fit->method, z, &d);
        psi2 += psi * psi / dof;
        slope += d / n;
        slope2 += d * d / n;
    }
    const double spread = fmax(0.0, slope2 - slope * slope);
    slope = fmax(slope, SLOPE_MIN);
    const double k = 1.0 + (double)fit->rank / n * spread / (slope * slope);
    return fit->sd * fit->sd * psi2 / (slope * slope) * k * k;
}

/* Copies what the plain design determines: rank, null directions and scaling. */
static void describe_design(const struct robust_ls_plain *plain, struct robust_ls_fit *fit)
{
    const struct svd *svd = &plain->svd;
    fit->rank = svd->rank;
    fit->condition = svd->rank > 0 ? svd->s[0] / svd->s[svd->rank - 1] : nan("");
    for (size_t i = 0; i < fit->p; i++) {
        fit->column_norm[i] = plain->norm[i];
        fit->beta[i] = plain->beta[i];
        for (size_t j = 0; j < fit->p; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = 0; k < svd->rank; k++) {
                sum -= svd->v[i * fit->p + k] * svd->v[j * fit->p + k];
            }
            fit->null_projection[i][j] = sum;
        }
    }
}

static void set_covariance(const struct robust_ls_plain *plain, double variance,
                           struct robust_ls_fit *fit)
{
    double gram[ROBUST_LS_P_MAX * ROBUST_LS_P_MAX];
    square_multiply(plain->svd.inverse, plain->svd.inverse, true, fit->p, gram);
    for (size_t i = 0; i < fit->p; i++) {
        for (size_t j = 0; j < fit->p; j++) {
            const bool full = plain->norm[i] * plain->norm[j] > 0.0;
            fit->covariance[i][j] = full ? variance * gram[i * fit->p + j] : 0.0;
        }
    }
}

static double plain_sd(const double *e, size_t n, size_t rank)
{
    double rss = 0.0;
    for (size_t i = 0; i < n; i++) {
        rss += e[i] * e[i];
    }
    return n > rank ? sqrt(rss / (double)(n - rank)) : nan("");
}

/* Picks pseudo-random rows, the same ones in every run (Lehmer's generator). */
static size_t pick_row(uint32_t *state, size_t n)
{
    *state = (uint32_t)((uint64_t)*state * 48271U % 2147483647U);
    return (size_t)((uint64_t)*state * n / 2147483647U);
}

/* Computes the step to the exact solution through as many random rows as there are unknowns
 * (Gauss-Jordan). Returns false if these rows are singular. */
static bool through_rows(const struct work *work, size_t n, uint32_t *state,
                         double step[ROBUST_LS_P_MAX])
{
    double m[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX + 1];
    const size_t rank = work->space.rank;
    double largest = 0.0;
    for (size_t k = 0; k < rank; k++) {
        const size_t i = pick_row(state, n);
        for (size_t j = 0; j < rank; j++) {
            m[k][j] = work->space.q[j * n + i];
        }
        m[k][rank] = work->e[i];
    }
    for (size_t j = 0; j < rank; j++) {
        size_t pivot = j;
        for (size_t k = j + 1; k < rank; k++) {
            pivot = fabs(m[k][j]) > fabs(m[pivot][j]) ? k : pivot;
        }
        largest = fmax(largest, fabs(m[pivot][j]));
        if (!(fabs(m[pivot][j]) > RANK_TOLERANCE * largest)) {
            return false;
        }
        const double by = m[pivot][j];
        for (size_t c = j; c <= rank; c++) {
            const double swapped = m[pivot][c] / by;
            m[pivot][c] = m[j][c];
            m[j][c] = swapped;
        }
        for (size_t k = 0; k < rank; k++) {
            const double factor = k == j ? 0.0 : m[k][j];
            for (size_t c = j; c <= rank; c++) {
                m[k][c] -= factor * m[j][c];
            }
        }
    }
    for (size_t k = 0; k < rank; k++) {
        step[k] = m[k][rank];
    }
    return true;
}

/* Computes the residuals after a step into work->a. Returns false as soon as more than
 * `spare` residuals exceed `near`. */
static bool stays_near(struct work *work, size_t n, const double *step, double near,
                       size_t spare)
{
    size_t beyond = 0;
    for (size_t i = 0; i < n && beyond <= spare; i++) {
        double left = work->e[i];
        for (size_t k = 0; k < work->space.rank; k++) {
            left -= work->space.q[k * n + i] * step[k];
        }
        work->a[i] = fabs(left);
        beyond += !(work->a[i] < near);
    }
    return beyond <= spare;
}

/* Searches many solutions through few rows for the one with the smallest majority scale.
 * *least: the scale to beat, then the best one. best: the step to it from the present
 * solution. */
static bool search_rows(const struct robust_ls_problem *problem, struct work *work,
                        double best[ROBUST_LS_P_MAX], double *least)
{
    const size_t n = problem->n;
    const size_t most = majority_rank(n, work->space.rank);
    uint32_t state = 20221;
    bool found = false;
    for (size_t trial = 0; trial<TRIALS * work->space.rank && * least> problem->floor;
         trial++) {
        double step[ROBUST_LS_P_MAX];
        if (through_rows(work, n, &state, step) &&
            stays_near(work, n, step, *least * QUARTILE_SD, n - 1 - most)) {
            *least = fmax(gsl_stats_select(work->a, 1, n, most) / QUARTILE_SD, problem->floor);
            memcpy(best, step, work->space.rank * sizeof *best);
            found = true;
        }
    }
    return found;
}

/* A start that resists up to a quarter of outliers. It is used if the other rows lie far
 * closer to it than to the present solution. Least squares over the rows near it then refine
 * it. */
static enum status find_majority(const struct robust_ls_problem *problem, struct work *work,
                                 double *beta)
{
    double step[ROBUST_LS_P_MAX];
    /* Scale of the closest three quarters of the rows, as a Gaussian standard deviation. Half
     * of the rows would not suffice: with coarsely rounded values, half can lie exactly on a
     * wrong solution. */
    const double size =
        select_size(work, problem->n, majority_rank(problem->n, work->space.rank));
    double least = CLOSER_RATIO * fmax(size / QUARTILE_SD, problem->floor);
    if (!search_rows(problem, work, step, &least)) {
        return STATUS_OK;
    }
    add_step(problem, work, step, beta);
    set_residuals(problem, beta, work->e);
    for (size_t i = 0; i < problem->n; i++) {
        work->w[i] = fabs(work->e[i]) <= NEAR_SD * least ? 1.0 : 0.0;
    }
    double refined[ROBUST_LS_P_MAX];
    bool lost;
    memcpy(refined, beta, sizeof refined);
    const enum status st = solve_weighted(problem, work, refined, &lost);
    if (st == STATUS_OK && !lost) {
        memcpy(beta, refined, problem->p * sizeof *beta);
    }
    return st;
}

/* Robust part: a LAD or majority start, then iterated weights. Huber's weights never reject
 * a row completely, so they are the second attempt. */
static enum status fit_robust(const struct robust_ls_problem *problem, struct work *work,
                              struct robust_ls_fit *fit)
{
    double start[ROBUST_LS_P_MAX];
    bool lost = false;
    memcpy(start, fit->beta, sizeof start);
    enum status st = fit_absolute(problem, work, start, &fit->iterations);
    if (st == STATUS_OK && fit->method == ROBUST_LS_TUKEY &&
        problem->n >= MAJORITY_ROWS * fit->rank) {
        st = find_majority(problem, work, start);
    }
    for (int attempt = 0; attempt < 2 && st == STATUS_OK; attempt++) {
        memcpy(fit->beta, start, sizeof start);
        set_residuals(problem, fit->beta, work->e);
        st = m_estimate(problem, work, fit, &lost);
        if (!lost) {
            break;
        }
        fit->method = ROBUST_LS_HUBER;
    }
    return st;
}

static bool is_within_bounds(const struct robust_ls_problem *problem)
{
    return problem->n >= 1 && problem->p >= 1 && problem->p <= ROBUST_LS_P_MAX &&
           problem->floor > 0.0;
}

enum status robust_ls_solve(const struct robust_ls_problem *problem,
                            struct robust_ls_plain *plain)
{
    return is_within_bounds(problem) ? decompose_weighted(problem, NULL, plain) : STATUS_E_ARG;
}

static enum status run_method(const struct robust_ls_problem *problem,
                              enum robust_ls_method method, struct work *work,
                              struct robust_ls_fit *fit)
{
    struct robust_ls_plain solved;
    const struct robust_ls_plain *plain = problem->plain ? problem->plain : &solved;
    *fit = (struct robust_ls_fit){
        .n = problem->n, .p = problem->p, .method = method, .iterations = 1, .converged = true};

    enum status st = problem->plain ? STATUS_OK : robust_ls_solve(problem, &solved);
    if (st != STATUS_OK) {
        return st;
    }
    describe_design(plain, fit);
    set_residuals(problem, fit->beta, work->e);
    fit->sd = plain_sd(work->e, fit->n, fit->rank);
    /* With one parameter per row, there are no residuals to weight. */
    if (fit->n == fit->rank) {
        fit->method = ROBUST_LS_OLS;
    }
    if (fit->method != ROBUST_LS_OLS) {
        work->rank = fit->rank;
        column_space_find(problem->x, NULL, problem->n, problem->p, work->q, &work->space);
        st = fit_robust(problem, work, fit);
    }
    if (st == STATUS_OK) {
        set_covariance(plain, noise_variance(fit, work->e), fit);
    }
    return st;
}

enum status robust_ls_run(const struct robust_ls_problem *problem, enum robust_ls_method method,
                          double *residual, double *weight, struct robust_ls_fit *fit)
{
    assert(problem && fit);
    if (!is_within_bounds(problem)) {
        return STATUS_E_ARG;
    }
    struct robust_ls_fit out;
    const size_t columns = method == ROBUST_LS_OLS ? 3 : 3 + problem->p;
    gsl_vector *memory = gsl_vector_alloc(columns * problem->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    double *const e = memory->data;
    struct work work = {
        .e = e, .w = e + problem->n, .a = e + 2 * problem->n, .q = e + 3 * problem->n};
    const enum status st = run_method(problem, method, &work, &out);
    if (st == STATUS_OK) {
        for (size_t i = 0; residual && i < problem->n; i++) {
            residual[i] = work.e[i];
        }
        for (size_t i = 0; weight && i < problem->n; i++) {
            double slope = 0.0;
            weight[i] = weigh_residual(out.method, work.e[i] / out.sd, &slope);
        }
        *fit = out;
    }
    gsl_vector_free(memory);
    return st;
}

bool robust_ls_estimable(const struct robust_ls_fit *fit, const double *c)
{
    /* In scaled coordinates c becomes c / norm. An empty column is never estimable. */
    double scaled[ROBUST_LS_P_MAX] = {0.0};
    double length2 = 0.0;
    for (size_t j = 0; j < fit->p; j++) {
        if (c[j] < 0.0 || c[j] > 0.0) {
            if (!(fit->column_norm[j] > 0.0)) {
                return false;
            }
            scaled[j] = c[j] / fit->column_norm[j];
        }
        length2 += scaled[j] * scaled[j];
    }
    return square_form(scaled, fit->null_projection[0], ROBUST_LS_P_MAX, fit->p) <=
           NULL_TOLERANCE * length2;
}

double robust_ls_value(const struct robust_ls_fit *fit, const double *c)
{
    return dot_product(c, fit->beta, fit->p);
}

double robust_ls_se(const struct robust_ls_fit *fit, const double *c)
{
    return sqrt(square_form(c, fit->covariance[0], ROBUST_LS_P_MAX, fit->p));
}
