#include "identification/arm/arm_kinematics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "base/numbers/constants.h"
#include "identification/arm/arm_estimate.h"
#include "identification/arm/arm_kinematics_parts.h"
#include "identification/arm/arm_thresholds.def"
#include "identification/numeric/qr_accumulator.h"

enum { P = ARM_KINEMATICS_P, ROWS = 6, PARTS = 5, PASSES_MAX = 8, STEPS_MAX = 15, ROOM = 64 };

static const double RANK_RATIO = 1e-4;
static const double NULL_SHARE = 1e-4;
static const double STEP_ENOUGH = 1e-10; /* m and rad */
/* Rounding error of a pose. */
static const double NOISE_MIN_M = 1e-7;
static const double NOISE_MIN_RAD = 1e-7;

size_t arm_kinematics_place(size_t i)
{
    /* Corrections of a link: x, y, z, rx, ry, rz. */
    static const size_t sought[] = {0, 1, 3, 4};
    return i < 4 * (ARM_JOINTS - 1) ? 6 * (i / 4) + sought[i % 4]
                                    : 6 * (ARM_JOINTS - 1) + i - 4 * (ARM_JOINTS - 1);
}

void arm_kinematics_fit_start(struct arm_kinematics_fit *fit)
{
    static const char *const names[6] = {"x_m", "y_m", "z_m", "rx_rad", "ry_rad", "rz_rad"};
    static const char *const symbols[6] = {"x", "y", "z", "rx", "ry", "rz"};
    memset(fit, 0, sizeof *fit);
    fit->tool_m = (double)NAN;
    estimate_start(&fit->estimate, P);
    for (size_t i = 0; i < P; i++) {
        const size_t at = arm_kinematics_place(i);
        char name[ESTIMATE_NAME_MAX];
        char symbol[32];
        (void)snprintf(name, sizeof name, "link%zu_%s", at / 6 + 1, names[at % 6]);
        (void)snprintf(symbol, sizeof symbol, "%s%zu", symbols[at % 6], at / 6 + 1);
        estimate_name(&fit->estimate, i, name, symbol);
    }
}

/* Gauss-Newton search for the links' corrections x (docs/model/arm.md). A small motion after
 * link i moves the tool by a shift and a rotation about that link's frame, so the Jacobian
 * follows from the frames (find_slopes). Rows are weighted by the inverse noise of places
 * and rotations, which is estimated from the residuals and iterated. Distant poses are
 * rejected. Combinations that the poses do not determine are left at zero by the pseudo
 * inverse. It assumes that the corrections are small: millimetres and milliradians.
 * Reference: Mooring, Roth and Driels, Fundamentals of Manipulator Calibration (1991). */

/* ---- the search ---- */

struct work {
    const struct arm_geometry *nominal;
    const struct arm_pairs *pairs;
    double *weight;          /* [n] 1, or 0 if rejected */
    double *residual;        /* [n][ROWS] measured - model, weighted */
    struct arm_geometry arm; /* arm at the present point */
    double x[P];
    double weight_m, weight_rad; /* weight of a row: 1 / sd */
    struct svd svd;
    double squares_m, squares_rad; /* unweighted squared residuals */
    size_t used;
};

static void build_arm(struct work *w)
{
    double correction[ARM_CORRECTIONS] = {0.0};
    for (size_t i = 0; i < P; i++) {
        correction[arm_kinematics_place(i)] = w->x[i];
    }
    w->arm = *w->nominal;
    arm_geometry_correct(&w->arm, correction);
}

/* Residual of a pose in base axes: position, then rotation. */
static void find_residual(const struct arm_geometry *arm, const struct arm_pair *pair,
                          double residual[ROWS])
{
    const struct rigid there = arm_forward(arm, pair->q_rad);
    const struct rigid measured = rigid_from_pose(pair->pose);
    rigid_difference(&there, &measured, residual);
}

/* Effect of a small motion after each link on the tool, [ROWS][P]. */
static void find_slopes(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                        double slope[ROWS][P])
{
    struct rigid frames[ARM_JOINTS + 1];
    arm_frames(arm, q, frames);
    const struct rigid tool = rigid_multiply(&frames[ARM_JOINTS], &arm->tool);
    for (size_t i = 0; i < P; i++) {
        const size_t at = arm_kinematics_place(i);
        const struct rigid *f = &frames[at / 6 + 1];
        const size_t axis = at % 3;
        const double e[3] = {f->turn[0][axis], f->turn[1][axis], f->turn[2][axis]};
        const double r[3] = {tool.at_m[0] - f->at_m[0], tool.at_m[1] - f->at_m[1],
                             tool.at_m[2] - f->at_m[2]};
        const bool turns = at % 6 >= 3;
        for (size_t k = 0; k < 3; k++) {
            const size_t k1 = (k + 1) % 3;
            const size_t k2 = (k + 2) % 3;
            slope[k][i] = turns ? e[k1] * r[k2] - e[k2] * r[k1] : e[k];
            slope[3 + k][i] = turns ? e[k] : 0.0;
        }
    }
}

/* Effect of one additional term on the tool, per unit. */
typedef void tried_term(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                        size_t which, double out[ROWS]);

/* Merges the rows of all poses except lo .. hi - 1 into a triangle. */
static void make_triangle(struct work *w, size_t lo, size_t hi, tried_term *term, size_t which,
                          struct qr_accumulator *qr)
{
    const size_t columns = P + 1 + (term ? 1 : 0);
    qr_start(qr, columns);
    w->squares_m = w->squares_rad = 0.0;
    w->used = 0;
    for (size_t n = 0; n < w->pairs->n; n++) {
        double slope[ROWS][P];
        double residual[ROWS];
        double more[ROWS] = {0.0};
        if (!(w->weight[n] > 0.0) || (n >= lo && n < hi)) {
            continue;
        }
        find_residual(&w->arm, &w->pairs->pair[n], residual);
        find_slopes(&w->arm, w->pairs->pair[n].q_rad, slope);
        if (term) {
            term(&w->arm, w->pairs->pair[n].q_rad, which, more);
        }
        for (size_t k = 0; k < ROWS; k++) {
            const double weight = k < 3 ? w->weight_m : w->weight_rad;
            double row[P + 2];
            for (size_t i = 0; i < P; i++) {
                row[i] = weight * slope[k][i];
            }
            row[P] = weight * more[k];
            row[columns - 1] = weight * residual[k];
            qr_add(qr, row);
            *(k < 3 ? &w->squares_m : &w->squares_rad) += residual[k] * residual[k];
        }
        w->used++;
    }
    qr_flush(qr);
}

/* Gauss-Newton from the present point, without the poses lo .. hi - 1. */
static enum status search_links(struct work *w, size_t lo, size_t hi, size_t *iterations,
                                bool *converged)
{
    struct qr_accumulator qr;
    double step[P];
    *converged = false;
    for (size_t k = 0; k < STEPS_MAX && !*converged; k++) {
        double far = 0.0;
        double largest = 0.0;
        build_arm(w);
        make_triangle(w, lo, hi, NULL, 0, &qr);
        const enum status st = qr_solve(&qr, P, RANK_RATIO, &w->svd, step);
        if (st != STATUS_OK) {
            return st;
        }
        for (size_t i = 0; i < P; i++) {
            w->x[i] += step[i];
            largest = fmax(largest, fabs(step[i]));
            far = fmax(far, fabs(w->x[i]));
        }
        (*iterations)++;
        *converged = largest < STEP_ENOUGH;
        if (!(far < FAR_OFF_RATIO)) {
            break;
        }
    }
    build_arm(w);
    make_triangle(w, lo, hi, NULL, 0, &qr);
    return STATUS_OK;
}

/* Estimates the noise of places and rotations from the residuals; returns true if the weights
 * hardly changed. The parameters absorb some of the noise: `share` divides the squares by the
 * degrees of freedom that are left, as if both kinds of rows lost the same part. Places and
 * rotations have different units, so weights of one would favour one of them by the choice of
 * units. Weighted by their own noise they contribute as their precision allows. */
static bool weigh_rows(struct work *w, struct arm_kinematics_fit *fit)
{
    const double rows = 6.0 * (double)w->used;
    const double free_rows = fmax(rows - (double)w->svd.rank, 1.0);
    const double share = rows / free_rows / (3.0 * (double)w->used);
    const double noise_m = fmax(sqrt(w->squares_m * share), NOISE_MIN_M);
    const double noise_rad = fmax(sqrt(w->squares_rad * share), NOISE_MIN_RAD);
    const bool same =
        fabs(log(noise_m * w->weight_m)) < 0.01 && fabs(log(noise_rad * w->weight_rad)) < 0.01;
    w->weight_m = 1.0 / noise_m;
    w->weight_rad = 1.0 / noise_rad;
    fit->noise_m = noise_m;
    fit->noise_rad = noise_rad;
    return same;
}

/* Rejects poses far from the others; returns their number. The limit is a multiple of the
 * median, because a few wrong poses change the median little but the mean much. All poses are
 * judged each time, so a pose may return when the fit improves. */
static size_t reject_poses(struct work *w, double *scratch)
{
    size_t out = 0;
    for (size_t n = 0; n < w->pairs->n; n++) {
        double *residual = w->residual + ROWS * n;
        find_residual(&w->arm, &w->pairs->pair[n], residual);
        scratch[n] = hypot(hypot(residual[0], residual[1]), residual[2]) * w->weight_m +
                     hypot(hypot(residual[3], residual[4]), residual[5]) * w->weight_rad;
        w->weight[n] = scratch[n];
    }
    /* In standard deviations of the noise, which is at least the rounding error. */
    const double usual = fmax(gsl_stats_median(scratch, 1, w->pairs->n), 1.0);
    for (size_t n = 0; n < w->pairs->n; n++) {
        const bool far = w->weight[n] > OUTLIER_SD / 2.0 * usual;
        w->weight[n] = far ? 0.0 : 1.0;
        out += far ? 1 : 0;
    }
    return out;
}

/* ---- unmodelled terms ---- */

/* The base is tilted or shifted: x y rx ry. */
static void move_base(const struct arm_geometry *arm, const double q[ARM_JOINTS], size_t which,
                      double out[ROWS])
{
    const struct rigid tool = arm_forward(arm, q);
    const size_t axis = which % 2;
    if (which < 2) {
        out[axis] = 1.0;
        return;
    }
    out[3 + axis] = 1.0;
    out[(axis + 1) % 3] = -tool.at_m[(axis + 2) % 3];
    out[(axis + 2) % 3] = tool.at_m[(axis + 1) % 3];
}

/* A joint rotates further by a share of its angle, or of its sine or cosine. */
static void turn_joint(const struct arm_geometry *arm, const double q[ARM_JOINTS], size_t which,
                       double out[ROWS])
{
    const struct arm_slope slope = arm_jacobian(arm, q);
    const size_t joint = which % ARM_JOINTS;
    const double by = which < ARM_JOINTS       ? q[joint]
                      : which < 2 * ARM_JOINTS ? sin(q[joint])
                                               : cos(q[joint]);
    for (size_t k = 0; k < ROWS; k++) {
        out[k] = by * slope.d[k][joint];
    }
}

/* Joints 2 and 3 bend under the weight of the links behind them. */
static void sag_joint(const struct arm_geometry *arm, const double q[ARM_JOINTS], size_t which,
                      double out[ROWS])
{
    const struct arm_slope slope = arm_jacobian(arm, q);
    const double by = which == 0 ? cos(q[1]) : cos(q[1] + q[2]);
    const size_t joint = which == 2 ? 2 : 1;
    for (size_t k = 0; k < ROWS; k++) {
        out[k] = by * slope.d[k][joint];
    }
}

static const struct {
    const char *words;
    tried_term *term;
    size_t count;
} tried[] = {
    {"the base stands or leans otherwise than the poses' frame", move_base, 4},
    {"joint angles of another scale, or eccentric encoders", turn_joint, 3 * ARM_JOINTS},
    {"links give way under their weight", sag_joint, 3},
};

/* Finds the effect outside of the model that explains most of the residuals. Each term is
 * added as one more column of the linearized problem, at the solution. `gain` is the decrease
 * of the squares, `rest` the squares that remain. A term counts if its value exceeds
 * MISSING_T standard errors, and if it explains more than the share MISSING_SHARE. The first
 * limit rejects chance, the second one effects that are too small to matter. */
static void find_unmodelled(struct work *w, struct arm_kinematics_fit *fit)
{
    struct qr_accumulator qr;
    double best = MISSING_SHARE;
    if (!(fit->noise_m > NOISE_MIN_M || fit->noise_rad > NOISE_MIN_RAD)) {
        return; /* only rounding errors remain */
    }
    for (size_t k = 0; k < COUNT(tried); k++) {
        for (size_t which = 0; which < tried[k].count; which++) {
            make_triangle(w, 0, 0, tried[k].term, which, &qr);
            const double gain = qr.r[P][P + 1] * qr.r[P][P + 1];
            const double rest = qr.r[P + 1][P + 1] * qr.r[P + 1][P + 1];
            const double freedom = 6.0 * (double)w->used - (double)P - 1.0;
            const double share = gain / (gain + rest);
            if (freedom > 0.0 && gain > MISSING_T * MISSING_T * rest / freedom &&
                share > best) {
                best = share;
                fit->missing = tried[k].words;
                fit->missing_m = fit->noise_m * sqrt(gain / (3.0 * (double)w->used));
            }
        }
    }
}

/* ---- results ---- */

static void add_check(struct arm_kinematics_check *check, const double residual[ROWS])
{
    const double off_m = hypot(hypot(residual[0], residual[1]), residual[2]);
    const double off_rad = hypot(hypot(residual[3], residual[4]), residual[5]);
    check->n++;
    check->mean_m += off_m;
    check->rms_m += off_m * off_m;
    check->max_m = fmax(check->max_m, off_m);
    check->rms_rad += off_rad * off_rad;
    check->max_rad = fmax(check->max_rad, off_rad);
}

static void end_check(struct arm_kinematics_check *check)
{
    const double n = (double)check->n;
    check->mean_m /= n;
    check->rms_m = sqrt(check->rms_m / n);
    check->rms_rad = sqrt(check->rms_rad / n);
}

void arm_kinematics_compare(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                            struct arm_kinematics_check *check)
{
    memset(check, 0, sizeof *check);
    for (size_t n = 0; n < pairs->n; n++) {
        double residual[ROWS];
        find_residual(arm, &pairs->pair[n], residual);
        add_check(check, residual);
    }
    end_check(check);
}

/* Cross-validation: predicts each fifth by a fit to the others. */
static enum status cross_validate(const struct work *w, struct arm_kinematics_check *check)
{
    struct work part = *w;
    enum status st = STATUS_OK;
    memset(check, 0, sizeof *check);
    for (size_t k = 0; k < PARTS && st == STATUS_OK; k++) {
        const size_t lo = w->pairs->n * k / PARTS;
        const size_t hi = w->pairs->n * (k + 1) / PARTS;
        size_t iterations = 0;
        bool converged;
        memcpy(part.x, w->x, sizeof part.x);
        st = search_links(&part, lo, hi, &iterations, &converged);
        for (size_t n = lo; n < hi && st == STATUS_OK; n++) {
            double residual[ROWS];
            find_residual(&part.arm, &w->pairs->pair[n], residual);
            if (w->weight[n] > 0.0) {
                add_check(check, residual);
            }
        }
    }
    end_check(check);
    return st;
}

/* Correlation of residuals with the previous row, over all coordinates. */
static double find_neighbours(const struct work *w)
{
    double products = 0.0;
    double squares = 0.0;
    for (size_t n = 1; n < w->pairs->n; n++) {
        for (size_t k = 0; k < ROWS; k++) {
            const double weight = k < 3 ? w->weight_m : w->weight_rad;
            const double now = weight * w->residual[ROWS * n + k];
            const double before = weight * w->residual[ROWS * (n - 1) + k];
            if (w->weight[n] > 0.0 && w->weight[n - 1] > 0.0) {
                products += now * before;
                squares += now * now;
            }
        }
    }
    return squares > 0.0 ? products / squares : 0.0;
}

/* Variance of the tool's position at some joint angles. */
static double find_tool_variance(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                                 const double covariance[P * P])
{
    double slope[ROWS][P];
    double sum = 0.0;
    find_slopes(arm, q, slope);
    for (size_t k = 0; k < 3; k++) {
        sum += square_form(slope[k], covariance, P, P);
    }
    return sum;
}

static void fill_estimate(const struct work *w, struct arm_kinematics_fit *fit)
{
    double covariance[P * P];
    double squares = 0.0;
    /* The rows are weighted by the noise, so that the covariance needs no factor. */
    square_multiply(w->svd.inverse, w->svd.inverse, true, P, covariance);
    const struct arm_solved solved = {.svd = &w->svd,
                                      .value = w->x,
                                      .covariance = covariance,
                                      .freedom = 6.0 * (double)w->used - (double)w->svd.rank,
                                      .null_share = NULL_SHARE,
                                      .white_variance = 1.0};
    arm_estimate_fill(&fit->estimate, &solved);
    for (size_t i = 0; i < P; i++) {
        fit->correction[arm_kinematics_place(i)] = w->x[i];
    }
    for (size_t n = 0; n < w->pairs->n; n++) {
        squares += find_tool_variance(&w->arm, w->pairs->pair[n].q_rad, covariance);
    }
    fit->tool_se_m = sqrt(squares / (double)w->pairs->n);
    squares = 0.0;
    for (size_t n = 1; n <= ROOM; n++) {
        double q[ARM_JOINTS];
        for (size_t k = 0; k < ARM_JOINTS; k++) {
            /* Multiples of irrational numbers fill the space evenly. */
            q[k] = PI * (2.0 * fmod((double)n * sqrt((double)(4 * k + 2)), 1.0) - 1.0);
        }
        squares += find_tool_variance(&w->arm, q, covariance);
    }
    fit->room_se_m = sqrt(squares / ROOM);
}

/* Alternates the search for the links, the rejection of outliers and the estimate of the
 * noise, until the weights are constant. */
static enum status fit_pairs(struct work *w, double *scratch, struct arm_kinematics_fit *fit)
{
    enum status st = STATUS_OK;
    bool settled = false;
    w->weight_m = 1.0;
    w->weight_rad = 0.5;
    for (size_t n = 0; n < w->pairs->n; n++) {
        w->weight[n] = 1.0;
    }
    for (size_t pass = 0; pass < PASSES_MAX && !settled && st == STATUS_OK; pass++) {
        const size_t outliers = fit->outliers;
        st = search_links(w, 0, 0, &fit->iterations, &fit->converged);
        settled = weigh_rows(w, fit);
        if (st == STATUS_OK && fit->converged) {
            fit->outliers = reject_poses(w, scratch);
        }
        settled = !fit->converged || (settled && fit->outliers == outliers);
    }
    if (st == STATUS_OK) {
        st = search_links(w, 0, 0, &fit->iterations, &fit->converged);
    }
    if (st != STATUS_OK || !fit->converged) {
        return st;
    }
    for (size_t n = 0; n < w->pairs->n; n++) {
        find_residual(&w->arm, &w->pairs->pair[n], w->residual + ROWS * n);
    }
    if (fit->noise_m > NOISE_MIN_M || fit->noise_rad > NOISE_MIN_RAD) {
        fit->neighbour_rho = find_neighbours(w);
    }
    fill_estimate(w, fit);
    for (size_t n = 0; n < w->pairs->n; n++) {
        if (w->weight[n] > 0.0) {
            add_check(&fit->own, w->residual + ROWS * n);
        }
    }
    end_check(&fit->own);
    find_unmodelled(w, fit);
    return cross_validate(w, &fit->crossed);
}

enum status arm_kinematics_fit_run(const struct arm_geometry *arm,
                                   const struct arm_pairs *pairs, bool doubt_units,
                                   struct arm_kinematics_fit *fit)
{
    struct work w = {.nominal = arm, .pairs = pairs};
    arm_kinematics_fit_start(fit);
    fit->n = pairs->n;
    if (pairs->n < ARM_KINEMATICS_POSES_MIN) {
        return STATUS_E_EMPTY;
    }
    gsl_vector *memory = gsl_vector_alloc((ROWS + 2) * pairs->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    w.weight = memory->data;
    w.residual = w.weight + 2 * pairs->n;
    arm_kinematics_compare(arm, pairs, &fit->nominal);
    arm_kinematics_explain(arm, pairs, fit);
    const enum status st = fit_pairs(&w, w.weight + pairs->n, fit);
    gsl_vector_free(memory);
    if (st == STATUS_OK) {
        arm_kinematics_judge(fit, doubt_units);
    }
    return st;
}

void arm_kinematics_hold_out(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                             struct arm_kinematics_fit *fit)
{
    struct arm_geometry corrected = *arm;
    arm_geometry_correct(&corrected, fit->correction);
    arm_kinematics_compare(&corrected, pairs, &fit->held_out);
    fit->is_held_out = true;
    arm_kinematics_judge_held_out(fit);
}
