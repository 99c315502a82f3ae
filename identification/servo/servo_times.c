#include "identification/servo/servo_fit_parts.h"

#include <math.h>
#include <string.h>

#include "identification/numeric/dot.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/servo/servo_thresholds.def"

enum { TIMES = 10 };
static const double BLOCK_S = 1.0;      /* in which residuals may be alike */
static const double RANK = 1e-9;        /* a tenth without motion has no gain */
static const double DIFFERENCES = 10.0; /* of the Jacobian: smooths the encoder's steps */

/* One step of the gains of all tenths, together with the other terms. */
struct times {
    size_t others, n; /* terms other than the gain; with the gains */
    double step[NUMERIC_COLUMNS_MAX], variance[TIMES];
};

/* Writes the row of all columns; returns the weight of the row. */
static double set_times_row(const struct servo_problem *p, const struct servo_point *point,
                            size_t k, double *row)
{
    const struct servo_set *set = p->set;
    size_t n = 0;
    for (size_t j = 0; j < TERMS; j++) {
        if (point->free[j] && j != TERM_GAIN) {
            row[n++] = p->column[j][k];
        }
    }
    memset(row + n, 0, TIMES * sizeof *row);
    row[n + TIMES * k / set->n] = p->column[TERM_GAIN][k];
    row[n + TIMES] = set->position_rad[k] - p->shown[k];
    return p->weight[k];
}

/* Variances are those of white residuals, widened to that of sums over blocks. */
static void find_variances(const struct servo_problem *p, const struct servo_point *point,
                           const double *inverse, struct times *t)
{
    double began_s = -HUGE_VAL;
    double sum = 0.0;
    double sums = 0.0;
    double squares = 0.0;
    for (size_t k = 0; k < p->set->n; k++) {
        double row[NUMERIC_COLUMNS_MAX];
        if (!(set_times_row(p, point, k, row) > 0.0)) {
            continue;
        }
        if (fabs(p->set->t_s[k] - began_s) > BLOCK_S) {
            began_s = p->set->t_s[k];
            sums += sum * sum;
            sum = 0.0;
        }
        const double gain = p->column[TERM_GAIN][k];
        sum += gain * (row[t->n] - dot_product(row, t->step, t->n));
        squares += gain * gain;
    }
    for (size_t b = 0; b < TIMES; b++) {
        const double *of_gain = inverse + (t->others + b) * t->n;
        t->variance[b] = (sums + sum * sum) / squares * dot_product(of_gain, of_gain, t->n);
    }
}

static bool find_times(const struct servo_problem *p, const struct servo_point *point,
                       struct times *t)
{
    struct qr_accumulator triangle;
    struct svd svd;
    double lengths[NUMERIC_COLUMNS_MAX];
    t->others = 0;
    for (size_t j = 0; j < TERMS; j++) {
        t->others += point->free[j] && j != TERM_GAIN ? 1 : 0;
    }
    t->n = t->others + TIMES;
    qr_start(&triangle, t->n + 1);
    for (size_t k = 0; k < p->set->n; k++) {
        double row[NUMERIC_COLUMNS_MAX];
        if (set_times_row(p, point, k, row) > 0.0) {
            qr_add(&triangle, row);
        }
    }
    qr_flush(&triangle);
    qr_lengths(&triangle, t->n, lengths);
    if (qr_decompose(&triangle, t->n, lengths, RANK, &svd) != STATUS_OK || svd.rank < t->n) {
        return false; /* in one of the tenths nothing moves */
    }
    for (size_t i = 0; i < t->n; i++) {
        t->step[i] = 0.0;
        for (size_t j = 0; j < t->n; j++) {
            t->step[i] += svd.inverse[i * t->n + j] * triangle.r[j][t->n];
        }
    }
    find_variances(p, point, svd.inverse, t);
    return true;
}

enum status servo_judge_times(struct servo_problem *problem, const struct servo_point *point,
                              struct servo_fit *fit)
{
    struct servo_point here = *point;
    struct times t;
    size_t worst = TIMES;
    double z_max = PART_Z;
    double differs = 0.0;
    servo_point_evaluate(problem, &here);
    servo_search_differentiate(problem, point, DIFFERENCES);
    if (!find_times(problem, point, &t)) {
        return STATUS_OK;
    }
    const double *gain = t.step + t.others;
    for (size_t b = 0; b < TIMES; b++) {
        double weights = 0.0;
        double mean = 0.0;
        for (size_t i = 0; i < TIMES; i++) {
            weights += i != b ? 1.0 / t.variance[i] : 0.0;
            mean += i != b ? gain[i] / t.variance[i] : 0.0;
        }
        mean /= weights;
        const double z = fabs(gain[b] - mean) / sqrt(t.variance[b] + 1.0 / weights);
        if (fabs(gain[b] - mean) > PART_RATIO && z > z_max) {
            z_max = z;
            worst = b;
            differs = gain[b] - mean;
        }
    }
    if (worst < TIMES && !estimate_has_reason(&fit->estimate, REASON_CHANGES_WITH_TIME)) {
        estimate_reason(
            &fit->estimate, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
            "from %zu to %zu %% of the time the gain is %+.0f %% of that of the rest "
            "away",
            100 * worst / TIMES, 100 * (worst + 1) / TIMES, 100.0 * differs);
        estimate_advise(&fit->estimate, "record again: load, temperature or supply changed");
    }
    return STATUS_OK;
}
