/* A delay or a lag of the currents, and the noise of the speeds (docs/model/arm.md).
 */
#include <math.h>
#include <string.h>

#include "base/numbers/random.h"
#include "identification/arm/arm_friction_parts.h"
#include "identification/arm/arm_thresholds.def"
#include "identification/numeric/hac_covariance.h"

enum { P = ARM_FRICTION_COLUMNS_MAX };

/* Currents may come late by this grid of times; the best one is refined by a parabola. */
enum { GRID = 23, KINDS = 2 };
static const double STEP_S = 0.004;
static const double LAG_LEAST_S = 0.002;
/* Residuals are autocorrelated over this time. */
static const double REACH_S = 0.3;

/* Predicted current of the present values, and its rate: to first order, a current that is
 * late by d differs by -d times the rate. */
static void set_rate(struct arm_friction_work *w, double *rate)
{
    for (size_t k = 0; k < w->set->n; k++) {
        w->residual[k] = 0.0;
        for (size_t i = 0; i < w->p; i++) {
            w->residual[k] += w->beta[i] * w->x[i][k];
        }
    }
    arm_friction_rate(w->set, w->residual, rate);
}

static enum status solve_joint(struct arm_friction_work *w)
{
    return arm_friction_solve(w, 0, w->set->used);
}

/* Delay of one joint to first order, with its error; *known is false if the columns do not
 * determine it. */
static enum status find_delay(struct arm_friction_work *w, double *delay_s, double *se_s,
                              bool *known)
{
    double covariance[P * P];
    enum status st = solve_joint(w);
    *known = false;
    if (st != STATUS_OK || w->svd.rank < w->p) {
        return st;
    }
    set_rate(w, w->tried);
    for (size_t k = 0; k < w->set->n; k++) {
        w->tried[k] = -w->tried[k];
    }
    double *const before = w->x[w->p];
    w->x[w->p++] = w->tried;
    st = solve_joint(w);
    if (st == STATUS_OK && w->svd.rank == w->p) {
        const size_t at = w->p - 1;
        arm_friction_set_residuals(w);
        (void)arm_friction_find_covariance(w, 0, w->set->used,
                                           (size_t)(REACH_S * w->set->rate_hz), covariance);
        *delay_s = w->beta[at];
        *se_s = sqrt(covariance[at * w->p + at]);
        *known = isfinite(*se_s) && *se_s > 0.0;
    }
    w->x[--w->p] = before;
    return st;
}

/* Delay of all joints: weighted mean, with a wider error where they disagree. */
static enum status pool_delays(struct arm_friction_work *w, struct arm_friction_late *late)
{
    double delay_s[ARM_JOINTS];
    double weight[ARM_JOINTS] = {0.0};
    double sum = 0.0;
    double weights = 0.0;
    double q = 0.0;
    double count = 0.0;
    enum status st = STATUS_OK;
    for (size_t j = 0; j < ARM_JOINTS && st == STATUS_OK; j++) {
        double se_s = 0.0;
        bool known = false;
        arm_friction_fill_columns(w, j);
        st = find_delay(w, &delay_s[j], &se_s, &known);
        if (st == STATUS_OK && known) {
            weight[j] = 1.0 / (se_s * se_s);
            weights += weight[j];
            sum += weight[j] * delay_s[j];
            count += 1.0;
        }
    }
    if (st != STATUS_OK || !(weights > 0.0)) {
        return st;
    }
    late->found_s = sum / weights;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        q += weight[j] > 0.0 ? weight[j] * pow(delay_s[j] - late->found_s, 2.0) : 0.0;
    }
    late->se_s = sqrt(fmax(1.0, count > 1.0 ? q / (count - 1.0) : 1.0) / weights);
    return STATUS_OK;
}

/* ---- search ---- */

/* Sums of squares of each joint for each time, as a delay and as a lag. */
struct late_grid {
    double at_s[KINDS][GRID], squares[ARM_JOINTS][KINDS][GRID];
    double freedom[ARM_JOINTS]; /* rows that are independent */
};

static void make_grid(double sign, struct late_grid *grid)
{
    for (size_t i = 0; i < GRID; i++) {
        grid->at_s[0][i] = sign * STEP_S * (double)i;
        grid->at_s[1][i] = LAG_LEAST_S + STEP_S * (double)i;
    }
}

/* Correlation of neighbouring residuals. */
static double find_correlation(const struct arm_friction_work *w)
{
    double squares = 0.0;
    double products = 0.0;
    for (size_t at = 1; at < w->set->used; at++) {
        const double *residual = w->residual + w->set->row[at];
        if (arm_friction_goes_on(w->set, at, 1)) {
            squares += *residual * *residual;
            products += *residual * *(residual - 1);
        }
    }
    return squares > 0.0 ? fmin(fmax(products / squares, 0.0), 0.99) : 0.0;
}

/* Tries all times on one joint. The columns are made once, and retarded from a copy. */
static enum status try_joint(struct arm_friction_work *w, struct arm_friction_set *set,
                             size_t joint, gsl_matrix *columns, struct late_grid *grid)
{
    enum status st = STATUS_OK;
    *set = *w->set;
    set->delay_s = 0.0;
    set->lag_s = 0.0;
    w->set = set;
    arm_friction_fill_columns(w, joint);
    for (size_t i = 0; i < w->p; i++) {
        memcpy(gsl_matrix_ptr(columns, i, 0), w->x[i], set->n * sizeof(double));
    }
    for (size_t m = 0; m < KINDS * GRID && st == STATUS_OK; m++) {
        const size_t kind = m / GRID;
        *(kind == 0 ? &set->delay_s : &set->lag_s) = grid->at_s[kind][m % GRID];
        *(kind == 0 ? &set->lag_s : &set->delay_s) = 0.0;
        for (size_t i = 0; i < w->p; i++) {
            memcpy(w->x[i], gsl_matrix_const_ptr(columns, i, 0), set->n * sizeof(double));
            arm_friction_retard(set, w->x[i]);
        }
        st = solve_joint(w);
        if (st == STATUS_OK) {
            arm_friction_set_residuals(w);
            grid->squares[joint][kind][m % GRID] = w->rest_squares;
        }
    }
    const double rho = find_correlation(w);
    grid->freedom[joint] = (double)w->set->used * (1.0 - rho) / (1.0 + rho);
    return st;
}

/* -2 log likelihood of time i, up to a constant, with the rows that are independent. */
static double grid_cost(const struct late_grid *grid, size_t kind, size_t i)
{
    double cost = 0.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double squares = grid->squares[j][kind][i];
        cost += squares > 0.0 ? grid->freedom[j] * log(squares) : 0.0;
    }
    return cost;
}

/* Finds the best time of a kind, refined by a parabola, and its cost. */
static double find_least(const struct late_grid *grid, size_t kind, double *cost)
{
    size_t least = 0;
    for (size_t i = 1; i < GRID; i++) {
        least = grid_cost(grid, kind, i) < grid_cost(grid, kind, least) ? i : least;
    }
    *cost = grid_cost(grid, kind, least);
    if (least == 0 || least + 1 == GRID) {
        return grid->at_s[kind][least];
    }
    const double below = grid_cost(grid, kind, least - 1);
    const double above = grid_cost(grid, kind, least + 1);
    const double bend = below - 2.0 * *cost + above;
    const double off = bend > 0.0 ? 0.5 * (below - above) / bend : 0.0;
    *cost -= 0.125 * (below - above) * (below - above) / fmax(bend, 1e-300);
    return grid->at_s[kind][least] + off * (grid->at_s[kind][1] - grid->at_s[kind][0]);
}

static void choose_kind(const struct late_grid *grid, struct arm_friction_set *set,
                        struct arm_friction_late *late)
{
    double cost[KINDS] = {0.0};
    const double delay_s = find_least(grid, 0, &cost[0]);
    const double lag_s = late->found_s > 0.0 ? find_least(grid, 1, &cost[1]) : 0.0;
    const bool lag = late->found_s > 0.0 && cost[1] < cost[0];
    late->delay_s = lag ? 0.0 : delay_s;
    late->lag_s = lag ? lag_s : 0.0;
    late->other_s = lag ? delay_s : lag_s;
    late->at_end = fabs(lag ? lag_s : delay_s) >= fabs(grid->at_s[lag][GRID - 1]);
    late->chi2 = late->found_s > 0.0 ? fabs(cost[1] - cost[0]) : HUGE_VAL;
    set->delay_s = late->delay_s;
    set->lag_s = late->lag_s;
}

enum status arm_friction_find_late(struct arm_friction_set *set, struct arm_friction_late *late)
{
    struct arm_friction_work w;
    struct arm_friction_set tried;
    struct late_grid grid = {.freedom = {0.0}};
    *late = (struct arm_friction_late){.chi2 = HUGE_VAL};
    set->delay_s = 0.0;
    set->lag_s = 0.0;
    enum status st = arm_friction_open_work(&w, set);
    if (st != STATUS_OK) {
        return st;
    }
    st = pool_delays(&w, late);
    const double size_s = fabs(late->found_s);
    if (st == STATUS_OK && size_s > LATE_S_MIN && size_s > LATE_ERRORS * late->se_s) {
        gsl_matrix *columns = gsl_matrix_alloc(ARM_FRICTION_P_MAX, set->n);
        st = columns ? STATUS_OK : STATUS_E_NOMEM;
        make_grid(late->found_s > 0.0 ? 1.0 : -1.0, &grid);
        for (size_t j = 0; j < ARM_JOINTS && st == STATUS_OK; j++) {
            w.set = set;
            st = try_joint(&w, &tried, j, columns, &grid);
        }
        if (st == STATUS_OK) {
            choose_kind(&grid, set, late);
        }
        gsl_matrix_free(columns);
    }
    gsl_matrix_free(w.memory);
    return st;
}

void arm_friction_late_slopes(struct arm_friction_work *w, double *slope)
{
    struct qr_accumulator qr;
    double rhs[P];
    set_rate(w, w->tried);
    arm_friction_make_triangle(w, 0, w->set->used, true, &qr);
    for (size_t i = 0; i < w->p; i++) {
        rhs[i] = qr.r[i][w->p];
    }
    svd_solve(&w->svd, rhs, slope);
    arm_friction_set_residuals(w);
}

/* ---- noise of the speeds ---- */

/* DRY: the term of dry friction */
enum { DRAWS = 3, DRY = 2 };

/* Standard deviation of white noise, from second differences. */
static double find_noise(const struct arm_friction_set *set, const double *x)
{
    double squares = 0.0;
    double count = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + 2; k < set->run_start[r + 1]; k++) {
            const double bend = x[k] - 2.0 * x[k - 1] + x[k - 2];
            squares += bend * bend;
            count += 1.0;
        }
    }
    return count > 0.0 ? sqrt(squares / (6.0 * count)) : 0.0;
}

/* Values of all joints, [ARM_JOINTS][ARM_FRICTION_P_MAX]; NaN where the rank is short. Dry
 * friction is that of `quiet`, because its step at rest is not in proportion to an error. */
static enum status solve_all(const struct arm_friction_set *set,
                             const struct arm_friction_set *quiet,
                             double values[][ARM_FRICTION_P_MAX])
{
    struct arm_friction_work w;
    enum status st = arm_friction_open_work(&w, set);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t j = 0; j < ARM_JOINTS && st == STATUS_OK; j++) {
        arm_friction_fill_columns(&w, j);
        for (size_t k = 0; k < set->n; k++) {
            w.x[DRY][k] = arm_friction_dry_at(quiet, j, k);
        }
        arm_friction_smooth(set, w.x[DRY]);
        arm_friction_retard(set, w.x[DRY]);
        st = solve_joint(&w);
        for (size_t i = 0; i < w.p; i++) {
            values[j][i] = w.svd.rank < w.p ? (double)NAN : w.beta[i];
        }
    }
    gsl_matrix_free(w.memory);
    return st;
}

enum status arm_friction_solve_other(const struct arm_friction_set *set,
                                     const struct arm_friction_late *late,
                                     double other[][ARM_FRICTION_P_MAX])
{
    struct arm_friction_set swapped = *set;
    const bool lag = late->lag_s > 0.0;
    swapped.delay_s = lag ? late->other_s : 0.0;
    swapped.lag_s = lag ? 0.0 : late->other_s;
    return solve_all(&swapped, set, other);
}

enum status arm_friction_add_noise(const struct arm_friction_set *set,
                                   double noisy[][ARM_FRICTION_P_MAX])
{
    struct random_source draws = {.state = 1};
    struct arm_friction_set more = *set;
    enum status st = STATUS_OK;
    gsl_matrix *speeds = gsl_matrix_alloc(ARM_JOINTS, set->n);
    if (!speeds) {
        return STATUS_E_NOMEM;
    }
    memset(noisy, 0, ARM_JOINTS * sizeof noisy[0]);
    for (size_t draw = 0; draw < DRAWS && st == STATUS_OK; draw++) {
        double values[ARM_JOINTS][ARM_FRICTION_P_MAX] = {{0.0}};
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            const double sd = find_noise(set, set->qd_radps[j]);
            more.qd_radps[j] = gsl_matrix_ptr(speeds, j, 0);
            for (size_t k = 0; k < set->n; k++) {
                more.qd_radps[j][k] = set->qd_radps[j][k] + sd * random_normal(&draws);
            }
        }
        st = solve_all(&more, set, values);
        for (size_t i = 0; i < ARM_JOINTS * ARM_FRICTION_P_MAX; i++) {
            noisy[i / ARM_FRICTION_P_MAX][i % ARM_FRICTION_P_MAX] +=
                values[i / ARM_FRICTION_P_MAX][i % ARM_FRICTION_P_MAX] / DRAWS;
        }
    }
    gsl_matrix_free(speeds);
    return st;
}
