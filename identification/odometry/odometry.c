#include "identification/odometry/odometry.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/numbers/constants.h"
#include "identification/numeric/damped_search.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/numeric/robust_ls.h"
#include "identification/numeric/svd.h"
#include "identification/odometry/odometry_parts.h"
#include "identification/odometry/odometry_thresholds.def"

enum { ITERATIONS_MAX = 100, NEIGHBOURS = 3, WINDOW = 2 * NEIGHBOURS + 1, CLEAN_ROUNDS = 3 };
enum { REST = ODOMETRY_COLUMNS };

/* Search of the fit: Levenberg-Marquardt over whole paths (docs/model/odometry.md, eq. 7).
 * Each residual depends on the start pose of its run and on the common parameters. QR
 * reduces the rows of a run to a triangle as they come. Its upper three rows determine the
 * start pose, the rows below concern only the parameters. The spreads of position and
 * heading are unknown; the likelihood is maximised over them too, which gives the logarithms
 * in the cost. It assumes that residuals are small enough for a linear step; the start of
 * odometry_start.c sees to that. */

/* Gain in -2 log likelihood below which the search ends: a hundredth of a standard error. */
static const struct damped_rules rules = {
    .lambda = 1e-3, .ease = 0.1, .gain_enough = 1e-4, .loss_enough = 1e-4};
/* Largest relative change of the track in a step. */
static const double TRACK_STEP = 0.5;
/* Largest delay or advance of a sensor, s. */
static const double DELAY_S_MAX = 1.0;
/* Smallest noise of a measured pose: m, rad. */
static const double FLOOR = 1e-7;

struct sums {
    double position2, heading2; /* sums of squared residuals */
    double cost;
};

/* -2 log likelihood of n residuals of unknown spread, which is at least FLOOR. */
static double cost_of(double squares, double n)
{
    const double floor2 = FLOOR * FLOOR;
    const double mean2 = squares / n;
    return mean2 > floor2 ? n * log(mean2) : n * (log(floor2) + mean2 / floor2 - 1.0);
}

/* Sums squared residuals over all runs and forms the cost. The two spreads are profiled out:
 * their best values for given residuals are the mean squares. */
static struct sums measure_cost(const struct odometry_set *set,
                                const struct odometry_point *point)
{
    struct sums sums = {.position2 = 0.0};
    const double n = (double)set->poses;
    for (size_t r = 0; r < set->run_count; r++) {
        struct odometry_walk walk;
        odometry_walk_begin(&walk, set, r, point, false);
        do {
            double e[3];
            if (odometry_walk_residual(&walk, e)) {
                sums.position2 += e[0] * e[0] + e[1] * e[1];
                sums.heading2 += e[2] * e[2];
            }
        } while (odometry_walk_next(&walk));
    }
    const double m2 = set->heading_m * set->heading_m;
    sums.cost = m2 > 0.0 ? cost_of(sums.position2 + m2 * sums.heading2, 3.0 * n)
                         : cost_of(sums.position2, 2.0 * n) + cost_of(sums.heading2, n);
    return sums;
}

/* Weights of coordinates and heading: inverse spreads of the residuals, or the caller's
 * ratio. */
static void choose_weights(const struct odometry_set *set, const struct sums *sums,
                           struct odometry_system *system)
{
    const double n = (double)set->poses;
    const double m = set->heading_m;
    if (m > 0.0) {
        const double both2 = (sums->position2 + m * m * sums->heading2) / (3.0 * n);
        system->weight_p = 1.0 / fmax(sqrt(both2), FLOOR);
        system->weight_h = m * system->weight_p;
        return;
    }
    system->weight_p = 1.0 / fmax(sqrt(sums->position2 / (2.0 * n)), FLOOR);
    system->weight_h = 1.0 / fmax(sqrt(sums->heading2 / n), FLOOR);
}

static void add_residual(const struct odometry_walk *walk, const struct odometry_system *system,
                         const bool *held, struct qr_accumulator *triangle)
{
    double e[3];
    double row[ODOMETRY_COLUMNS + 1];
    if (!odometry_walk_residual(walk, e)) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        const double weight = i < 2 ? system->weight_p : system->weight_h;
        for (size_t j = 0; j < ODOMETRY_COLUMNS; j++) {
            const bool free = j < ODOMETRY_START || !held[j - ODOMETRY_START];
            row[j] = free ? weight * walk->sensor_by[i][j] : 0.0;
        }
        row[REST] = weight * e[i];
        qr_add(triangle, row);
    }
}

/* The Jacobian is not stored. Each run becomes a triangle whose lower part no longer depends
 * on the start pose. */
static void linearise_runs(const struct odometry_set *set, const struct odometry_point *point,
                           const struct sums *sums, struct odometry_system *system)
{
    struct qr_accumulator all;
    qr_start(&all, ODOMETRY_P + 1);
    choose_weights(set, sums, system);
    for (size_t r = 0; r < set->run_count; r++) {
        struct odometry_walk walk;
        struct qr_accumulator run;
        qr_start(&run, ODOMETRY_COLUMNS + 1);
        odometry_walk_begin(&walk, set, r, point, true);
        do {
            add_residual(&walk, system, point->held, &run);
        } while (odometry_walk_next(&walk));
        qr_flush(&run);
        for (size_t i = 0; i < ODOMETRY_START; i++) {
            memcpy(system->head[r][i], run.r[i], sizeof system->head[r][i]);
        }
        for (size_t i = ODOMETRY_START; i <= ODOMETRY_COLUMNS; i++) {
            qr_add(&all, run.r[i] + ODOMETRY_START);
        }
    }
    qr_flush(&all);
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        memcpy(system->r[i], all.r[i], sizeof system->r[i]);
    }
}

/* A search, with its present and its tried point. */
struct descent {
    const struct odometry_set *set;
    bool fixed; /* parameters are held: only start poses are fitted */
    struct odometry_system *system;
    struct odometry_point *here, there;
    struct sums at; /* sums at the present point */
    struct odometry_fit *fit;
};

/* The step of the parameters comes first; start poses follow from the upper rows of their
 * triangles. The step is shortened if the track, which divides, would change too much. */
static enum status propose_step(void *context, double lambda, double *length)
{
    struct descent *d = context;
    double step[ODOMETRY_P] = {0.0};
    d->there = *d->here;
    if (!d->fixed) {
        *length =
            damped_step(d->system->r[0], ODOMETRY_P + 1, ODOMETRY_P, lambda, NULL, NULL, step);
        const double most = TRACK_STEP * d->here->theta[ODOMETRY_TRACK];
        const double ratio = fmin(1.0, most / fmax(fabs(step[ODOMETRY_TRACK]), 1e-300));
        for (size_t j = 0; j < ODOMETRY_P; j++) {
            step[j] *= ratio;
            d->there.theta[j] += step[j];
        }
        d->there.theta[ODOMETRY_SENSOR_DELAY] =
            fmax(-DELAY_S_MAX, fmin(DELAY_S_MAX, d->there.theta[ODOMETRY_SENSOR_DELAY]));
    }
    for (size_t r = 0; r < d->set->run_count; r++) {
        double move[ODOMETRY_START];
        damped_follow(d->system->head[r][0], REST + 1, ODOMETRY_START, ODOMETRY_P, step, move);
        for (size_t i = 0; i < ODOMETRY_START; i++) {
            d->there.start[r][i] += move[i];
        }
    }
    return STATUS_OK;
}

static enum status try_step(void *context, double *gain)
{
    struct descent *d = context;
    const struct sums sums = measure_cost(d->set, &d->there);
    d->fit->iterations++;
    *gain = d->at.cost - sums.cost;
    if (*gain >= 0.0) {
        *d->here = d->there;
        d->at = sums;
        linearise_runs(d->set, d->here, &d->at, d->system);
    }
    return STATUS_OK;
}

/* Searches the minimum from a point; the system is that of the last point. */
static enum status search_minimum(const struct odometry_set *set, bool fixed,
                                  struct odometry_point *point, struct odometry_system *system,
                                  struct odometry_fit *fit)
{
    struct descent d = {
        .set = set, .fixed = fixed, .system = system, .here = point, .fit = fit};
    struct damped_search search = {
        .rules = rules, .context = &d, .propose = propose_step, .try_step = try_step};
    enum search_stop stop = SEARCH_LIMIT;
    size_t iterations = 0;
    d.at = measure_cost(set, point);
    if (!isfinite(d.at.cost)) {
        return STATUS_E_MATH;
    }
    linearise_runs(set, point, &d.at, system);
    const enum status st = damped_search_run(&search, ITERATIONS_MAX, &iterations, &stop);
    fit->converged = stop == SEARCH_CONVERGED;
    return st;
}

/* Distance of the middle element of a window from its median. */
static void off_neighbours(double window[3][WINDOW], double off[2])
{
    double from[3];
    for (size_t i = 0; i < 3; i++) {
        double values[WINDOW];
        memcpy(values, window[i], sizeof values);
        from[i] = window[i][NEIGHBOURS] - gsl_stats_median(values, 1, WINDOW);
    }
    off[0] = hypot(from[0], from[1]);
    off[1] = fabs(from[2]);
}

/* The last poses of a run. */
struct window {
    double e[3][WINDOW];
    size_t rows[WINDOW];
    size_t seen;
};

/* Adds a pose. Returns true if the window is full. */
static bool window_add(struct window *w, size_t row, const double e[3])
{
    for (size_t i = 0; i < 3; i++) {
        memmove(w->e[i], w->e[i] + 1, (WINDOW - 1) * sizeof w->e[i][0]);
        w->e[i][WINDOW - 1] = e[i];
    }
    memmove(w->rows, w->rows + 1, (WINDOW - 1) * sizeof w->rows[0]);
    w->rows[WINDOW - 1] = row;
    return ++w->seen >= WINDOW;
}

/* Finds jumps: residuals are smooth for any fit, except where a pose jumps. off is [2 x n],
 * NaN where a window is incomplete. */
static void find_jumps(const struct odometry_set *set, const struct odometry_point *point,
                       double *off)
{
    for (size_t i = 0; i < 2 * set->n; i++) {
        off[i] = nan("");
    }
    for (size_t r = 0; r < set->run_count; r++) {
        struct odometry_walk walk;
        struct window window = {.seen = 0};
        odometry_walk_begin(&walk, set, r, point, false);
        do {
            double e[3];
            double far[2];
            if (odometry_walk_residual(&walk, e) && window_add(&window, walk.row, e)) {
                off_neighbours(window.e, far);
                off[window.rows[NEIGHBOURS]] = far[0];
                off[set->n + window.rows[NEIGHBOURS]] = far[1];
            }
        } while (odometry_walk_next(&walk));
    }
}

static double limit_of(const double *off, size_t n, double *sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(off[i])) {
            sorted[count++] = off[i];
        }
    }
    return count > 0 ? fmax(OUTLIER_SD * 1.4826 * gsl_stats_select(sorted, 1, count, count / 2),
                            OUTLIER_MIN)
                     : HUGE_VAL;
}

/* Removes poses that jump; returns their number. scratch is [3 x n]. */
static size_t reject_jumps(struct odometry_set *set, const struct odometry_point *point,
                           double *scratch)
{
    const size_t n = set->n;
    size_t count = 0;
    find_jumps(set, point, scratch);
    const double limits[2] = {limit_of(scratch, n, scratch + 2 * n),
                              limit_of(scratch + n, n, scratch + 2 * n)};
    for (size_t k = 0; k < n; k++) {
        count += scratch[k] > limits[0] || scratch[n + k] > limits[1] ? 1 : 0;
    }
    if ((double)count > OUTLIER_RATIO_MAX * (double)set->poses) {
        return 0;
    }
    for (size_t k = 0; k < n; k++) {
        if (scratch[k] > limits[0] || scratch[n + k] > limits[1]) {
            set->x_m[k] = set->y_m[k] = set->theta_rad[k] = nan("");
        }
    }
    set->poses -= count;
    return count;
}

/* Covariance, rank and condition from the triangle. An empty row with the residual 1 sets
 * the scale of the inverse. */
static enum status invert_system(const struct odometry_system *system, struct robust_ls_fit *ls,
                                 double inverse[ODOMETRY_P][ODOMETRY_P])
{
    double x[(ODOMETRY_P + 1) * ODOMETRY_P] = {0.0};
    double y[ODOMETRY_P + 1] = {0.0};
    y[ODOMETRY_P] = 1.0;
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        memcpy(x + i * ODOMETRY_P, system->r[i], ODOMETRY_P * sizeof *x);
    }
    const struct robust_ls_problem problem = {
        .x = x, .y = y, .n = ODOMETRY_P + 1, .p = ODOMETRY_P, .floor = FLOOR};
    const enum status st = robust_ls_run(&problem, ROBUST_LS_OLS, NULL, NULL, ls);
    for (size_t i = 0; st == STATUS_OK && i < ODOMETRY_P; i++) {
        for (size_t j = 0; j < ODOMETRY_P; j++) {
            inverse[i][j] = ls->covariance[i][j] / (ls->sd * ls->sd);
        }
    }
    return st;
}

static void set_combinations(struct odometry_fit *fit, const struct robust_ls_fit *ls,
                             const struct odometry_point *point)
{
    const double *theta = point->theta;
    const double right = theta[ODOMETRY_RADIUS_RIGHT];
    const double left = theta[ODOMETRY_RADIUS_LEFT];
    const double track = theta[ODOMETRY_TRACK];
    const double values[ODOMETRY_COMBINATIONS] = {0.5 * (right + left), right / left,
                                                  right / track, left / track};
    const double gradients[ODOMETRY_COMBINATIONS][ODOMETRY_P] = {
        {0.5, 0.5},
        {1.0 / left, -right / (left * left)},
        {1.0 / track, 0.0, -right / (track * track)},
        {0.0, 1.0 / track, -left / (track * track)}};
    for (enum odometry_combination c = 0; c < ODOMETRY_COMBINATIONS; c++) {
        double gradient[ODOMETRY_P];
        memcpy(gradient, gradients[c], sizeof gradient);
        if (point->no_shift) {
            gradient[ODOMETRY_TRACK] = 0.0; /* the track scales all lengths */
        }
        const double variance =
            square_form(gradient, fit->estimate.covariance[0], ESTIMATE_P_MAX, ODOMETRY_P);
        const bool known = robust_ls_estimable(ls, gradient) &&
                           !(point->no_shift && c == ODOMETRY_MEAN_RADIUS);
        struct estimate_combination *combination = &fit->estimate.combinations[c];
        (void)snprintf(combination->name, sizeof combination->name, "%s",
                       odometry_combination_name(c));
        combination->value = known ? values[c] : nan("");
        combination->se = known ? sqrt(variance) : nan("");
    }
}

/* Marks parameters that do not occur in a null direction as known. */
static void set_known(struct odometry_fit *fit, const struct robust_ls_fit *ls,
                      const struct odometry_point *point)
{
    fit->estimate.combination_count = ODOMETRY_COMBINATIONS;
    fit->estimate.rank = ls->rank;
    fit->estimate.condition = ls->rank == ODOMETRY_P ? ls->condition : HUGE_VAL;
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        double unit[ODOMETRY_P] = {0.0};
        unit[i] = 1.0;
        /* Without travel, no length is determined, and positions turn with the sensor's
         * heading. */
        fit->estimate.identifiable[i] = robust_ls_estimable(ls, unit) && !point->no_shift;
        fit->estimate.value[i] = fit->estimate.identifiable[i] ? point->theta[i] : nan("");
    }
}

static enum status finish_fit(const struct odometry_set *set, struct odometry_point *point,
                              const struct odometry_system *system, struct odometry_fit *fit)
{
    double inverse[ODOMETRY_P][ODOMETRY_P];
    struct robust_ls_fit ls;
    enum status st = invert_system(system, &ls, inverse);
    st = st == STATUS_OK ? odometry_error_bars(set, point, system, inverse, fit) : st;
    if (st != STATUS_OK) {
        return st;
    }
    point->theta[ODOMETRY_SENSOR_ALPHA] =
        remainder(point->theta[ODOMETRY_SENSOR_ALPHA], 2.0 * PI);
    set_combinations(fit, &ls, point);
    set_known(fit, &ls, point);
    return STATUS_OK;
}

/* Squared residuals, and squared deviations from the mean of each run. */
struct scores {
    double squares[2], spread[2]; /* positions, headings */
    double mean[3], seen;         /* of the present run */
    double most2;
};

static void score_pose(const struct odometry_walk *walk, const double e[3], struct scores *s)
{
    const struct odometry_set *set = walk->set;
    const double at[3] = {set->x_m[walk->row], set->y_m[walk->row], set->theta_rad[walk->row]};
    const double off2 = e[0] * e[0] + e[1] * e[1];
    s->seen += 1.0;
    for (size_t i = 0; i < 3; i++) {
        const double from = at[i] - s->mean[i];
        s->mean[i] += from / s->seen;
        s->spread[i / 2] += from * (at[i] - s->mean[i]);
    }
    s->squares[0] += off2;
    s->squares[1] += e[2] * e[2];
    s->most2 = fmax(s->most2, off2);
}

static void describe_check(const struct odometry_set *set, const struct odometry_point *point,
                           struct odometry_check *check)
{
    struct scores s = {.seen = 0.0};
    *check = (struct odometry_check){.poses = set->poses};
    memcpy(check->start, point->start, sizeof check->start);
    for (size_t r = 0; r < set->run_count; r++) {
        struct odometry_walk walk;
        s.seen = 0.0;
        memset(s.mean, 0, sizeof s.mean);
        odometry_walk_begin(&walk, set, r, point, false);
        do {
            double e[3];
            if (odometry_walk_residual(&walk, e)) {
                score_pose(&walk, e, &s);
            }
        } while (odometry_walk_next(&walk));
        check->path_m += walk.path_m;
    }
    check->position_rmse_m = sqrt(s.squares[0] / (2.0 * (double)set->poses));
    check->position_max_m = sqrt(s.most2);
    check->heading_rmse_rad = sqrt(s.squares[1] / (double)set->poses);
    check->position_r2 = s.spread[0] > 0.0 ? 1.0 - s.squares[0] / s.spread[0] : nan("");
    check->heading_r2 = s.spread[1] > 0.0 ? 1.0 - s.squares[1] / s.spread[1] : nan("");
}

static enum status run_odometry(struct odometry_set *set, double *scratch,
                                struct odometry_fit *fit)
{
    struct odometry_point point = {.no_shift = false};
    struct odometry_system system;
    enum status st = odometry_begin(set, &point);
    st = st == STATUS_OK ? search_minimum(set, false, &point, &system, fit) : st;
    for (int round = 0; st == STATUS_OK && round < CLEAN_ROUNDS; round++) {
        const size_t struck = reject_jumps(set, &point, scratch);
        fit->outliers += struck;
        if (struck == 0) {
            break;
        }
        st = search_minimum(set, false, &point, &system, fit);
    }
    if (st != STATUS_OK) {
        return st;
    }
    fit->n = set->poses;
    fit->runs = set->run_count;
    describe_check(set, &point, &fit->own);
    st = finish_fit(set, &point, &system, fit);
    return st == STATUS_OK && fit->estimate.rank == ODOMETRY_P
               ? odometry_scale_find(set, &point, fit)
               : st;
}

void odometry_fit_start(struct odometry_fit *fit)
{
    static const char *const symbols[ODOMETRY_P] = {"r_R", "r_L", "b",  "x_s",
                                                    "y_s", "a_s", "d_s"};
    *fit = (struct odometry_fit){.n = 0};
    estimate_start(&fit->estimate, ODOMETRY_P);
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        estimate_name(&fit->estimate, i, odometry_parameter_name(i), symbols[i]);
    }
    for (enum odometry_covariate by = 0; by < ODOMETRY_COVARIATES; by++) {
        fit->scale.test[by] = (struct odometry_scale_test){NAN, NAN, NAN, NAN};
    }
}

enum status odometry_fit_run(struct odometry_set *set, const struct odometry_summary *summary,
                             struct odometry_fit *fit)
{
    assert(set && summary && fit);
    struct odometry_fit out;
    odometry_fit_start(&out);
    gsl_vector *scratch = gsl_vector_alloc(3 * set->n);
    const enum status st = scratch ? run_odometry(set, scratch->data, &out) : STATUS_E_NOMEM;
    gsl_vector_free(scratch);
    if (st == STATUS_OK) {
        odometry_judge(&out, summary);
        *fit = out;
    }
    return st;
}

enum status odometry_check_run(const struct odometry_set *set, const double theta[ODOMETRY_P],
                               struct odometry_check *check)
{
    assert(set && theta && check);
    struct odometry_point point = {.no_shift = false};
    struct odometry_system system;
    struct odometry_fit fit = {.n = 0};
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        const bool none = i == ODOMETRY_SENSOR_DELAY && isnan(theta[i]);
        if (!isfinite(theta[i]) && !none) {
            return STATUS_E_ARG;
        }
        point.theta[i] = none ? 0.0 : theta[i];
    }
    if (!(theta[ODOMETRY_TRACK] > 0.0)) {
        return STATUS_E_ARG;
    }
    odometry_place(set, &point);
    const enum status st = search_minimum(set, true, &point, &system, &fit);
    if (st == STATUS_OK) {
        describe_check(set, &point, check);
    }
    return st;
}
