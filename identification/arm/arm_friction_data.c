#include "identification/arm/arm_friction_data.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/numbers/constants.h"
#include "identification/arm/arm_thresholds.def"

enum { COLUMNS = 1 + 3 * ARM_JOINTS };

static const double HUGE_VALUE = 1e9;
static const double CUT_HZ = 10.0;
static const double CUT_RATIO_MAX = 0.2; /* highest cut-off as a ratio of the sampling rate */
/* length of the filter's edge in periods of the cut-off */
static const double EDGE_PERIODS = 4.0;
static const double ROOT_OF_2 = 1.41421356237309504880;

static bool is_row(const struct arm_friction_raw *raw, size_t i)
{
    bool fine = isfinite(raw->t_s[i]);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        fine = fine && fabs(raw->q_rad[j][i]) <= HUGE_VALUE &&
               fabs(raw->qd_radps[j][i]) <= HUGE_VALUE &&
               fabs(raw->current_a[j][i]) <= HUGE_VALUE;
    }
    return fine;
}

static void copy_row(struct arm_friction_set *set, const struct arm_friction_raw *raw, size_t i,
                     size_t at)
{
    set->t_s[at] = raw->t_s[i];
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        set->q_rad[j][at] = raw->q_rad[j][i];
        set->qd_radps[j][at] = raw->qd_radps[j][i];
        set->current_a[j][at] = raw->current_a[j][i];
    }
}

/* Typical time between rows; NAN if there are none. */
static enum status find_period(const struct arm_friction_raw *raw, double *period_s)
{
    size_t count = 0;
    gsl_vector *steps = gsl_vector_alloc(raw->n + 1);
    if (!steps) {
        return STATUS_E_NOMEM;
    }
    for (size_t r = 0; r < raw->part_count; r++) {
        for (size_t i = raw->part_start[r] + 1; i < raw->part_start[r + 1]; i++) {
            const double step = raw->t_s[i] - raw->t_s[i - 1];
            if (step > 0.0 && isfinite(step)) {
                steps->data[count++] = step;
            }
        }
    }
    *period_s = count > 0 ? gsl_stats_median(steps->data, 1, count) : (double)NAN;
    gsl_vector_free(steps);
    return STATUS_OK;
}

/* Ends a run at row n; drops it if it is too short. */
static void end_run(struct arm_friction_set *set, struct arm_friction_summary *summary,
                    size_t rows_min)
{
    const size_t start = set->run_start[set->run_count];
    const size_t length = set->n - start;
    if (length >= rows_min && set->run_count < ARM_FRICTION_RUNS_MAX) {
        summary->duration_s += set->t_s[set->n - 1] - set->t_s[start];
        set->run_start[++set->run_count] = set->n;
    } else {
        summary->short_rows += length;
        set->n = start;
    }
}

static void add_part(struct arm_friction_set *set, const struct arm_friction_raw *raw,
                     size_t part, double period_s, struct arm_friction_summary *summary)
{
    const size_t rows_min = (size_t)fmax(RUN_S_MIN / period_s, 4.0 * (double)set->edge);
    double last_s = -HUGE_VAL;
    for (size_t i = raw->part_start[part]; i < raw->part_start[part + 1]; i++) {
        if (!is_row(raw, i)) {
            summary->incomplete++;
            continue;
        }
        if (!(raw->t_s[i] > last_s)) {
            summary->back_rows++;
            continue;
        }
        if (raw->t_s[i] - last_s > GAP_PERIODS * period_s && isfinite(last_s)) {
            summary->gaps++;
            end_run(set, summary, rows_min);
        }
        last_s = raw->t_s[i];
        copy_row(set, raw, i, set->n++);
    }
    end_run(set, summary, rows_min);
}

static void list_rows(struct arm_friction_set *set)
{
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + set->edge; k + set->edge < set->run_start[r + 1];
             k++) {
            set->row_memory->data[set->used++] = k;
        }
    }
    set->row = set->row_memory->data;
}

static double find_unevenness(const struct arm_friction_set *set, double period_s)
{
    double squares = 0.0;
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t i = set->run_start[r] + 1; i < set->run_start[r + 1]; i++) {
            const double off = (set->t_s[i] - set->t_s[i - 1]) / period_s - 1.0;
            squares += off * off;
            count++;
        }
    }
    return count > 0 ? sqrt(squares / (double)count) : (double)NAN;
}

static void place_columns(struct arm_friction_set *set, size_t n)
{
    set->t_s = set->memory->data;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        set->q_rad[j] = set->t_s + (1 + 3 * j) * n;
        set->qd_radps[j] = set->q_rad[j] + n;
        set->current_a[j] = set->qd_radps[j] + n;
    }
}

enum status arm_friction_set_make(const struct arm_friction_raw *raw,
                                  struct arm_friction_set *set,
                                  struct arm_friction_summary *summary, struct err *err)
{
    double period_s;
    memset(set, 0, sizeof *set);
    memset(summary, 0, sizeof *summary);
    summary->rows = raw->n;
    if (find_period(raw, &period_s) != STATUS_OK) {
        return err_no_memory(err, "data", "no memory");
    }
    if (isnan(period_s)) {
        return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "data",
                       "no two of %zu rows have times that go on", raw->n);
    }
    if (!(period_s >= DT_S_MIN && period_s <= DT_S_MAX)) {
        return err_set(err, STATUS_E_PARSE, FAULT_WRONG_UNIT, "data",
                       "rows are %.3g s apart; times must be in seconds, %g to %g s apart",
                       period_s, DT_S_MIN, DT_S_MAX);
    }
    set->memory = gsl_vector_alloc(COLUMNS * raw->n);
    set->row_memory = gsl_vector_ulong_alloc(raw->n);
    if (!set->memory || !set->row_memory) {
        arm_friction_set_free(set);
        return err_no_memory(err, "data", "no memory");
    }
    place_columns(set, raw->n);
    set->rate_hz = 1.0 / period_s;
    set->cut_hz = fmin(CUT_HZ, CUT_RATIO_MAX * set->rate_hz);
    set->edge = (size_t)ceil(EDGE_PERIODS * set->rate_hz / set->cut_hz);
    for (size_t r = 0; r < raw->part_count; r++) {
        add_part(set, raw, r, period_s, summary);
    }
    list_rows(set);
    summary->used = set->n;
    summary->runs = set->run_count;
    summary->rate_hz = set->rate_hz;
    summary->uneven_ratio = find_unevenness(set, period_s);
    if (set->run_count > 0) {
        return STATUS_OK;
    }
    arm_friction_set_free(set);
    return err_set(err, STATUS_E_PARSE, FAULT_TOO_FEW, "data",
                   "no %g s in a row with angles, speeds and currents of all joints: %zu rows, "
                   "%zu incomplete, %zu not later than the one before, %zu gaps",
                   RUN_S_MIN, summary->rows, summary->incomplete, summary->back_rows,
                   summary->gaps);
}

void arm_friction_set_free(struct arm_friction_set *set)
{
    gsl_vector_free(set->memory);
    gsl_vector_ulong_free(set->row_memory);
    memset(set, 0, sizeof *set);
}

/* ---- the low-pass filter ---- */

struct biquad {
    double b0, b1, b2, a1, a2;
};

/* Second-order Butterworth low pass by the bilinear transform. The tangent compensates its
 * distortion of frequencies, so that the gain at the cut-off is exactly 1 / sqrt(2). */
static struct biquad make_butterworth(double cut_hz, double rate_hz)
{
    const double k = tan(PI * cut_hz / rate_hz);
    const double norm = 1.0 / (1.0 + ROOT_OF_2 * k + k * k);
    const double b = k * k * norm;
    return (struct biquad){b, 2.0 * b, b, 2.0 * (k * k - 1.0) * norm,
                           (1.0 - ROOT_OF_2 * k + k * k) * norm};
}

/* Filters x[0] .. in steps of `step`, with x[0] as the constant past. */
static void run_biquad(const struct biquad *f, double *x, size_t n, ptrdiff_t step)
{
    double z2 = (f->b2 - f->a2) * x[0];
    double z1 = (f->b1 - f->a1) * x[0] + z2;
    for (size_t k = 0; k < n; k++, x += step) {
        const double in = *x;
        *x = f->b0 * in + z1;
        z1 = f->b1 * in - f->a1 * *x + z2;
        z2 = f->b2 * in - f->a2 * *x;
    }
}

/* The filter runs forwards and then backwards over each run. The second pass cancels the
 * delay of the first one, so columns stay aligned in time; the gain is the square of the
 * filter's. Both passes start from an assumed constant past. Rows near the ends of a run
 * depend on this assumption, so the fit leaves out `edge` rows there. */
void arm_friction_smooth(const struct arm_friction_set *set, double *x)
{
    const struct biquad filter = make_butterworth(set->cut_hz, set->rate_hz);
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t n = set->run_start[r + 1] - set->run_start[r];
        run_biquad(&filter, x + set->run_start[r], n, 1);
        run_biquad(&filter, x + set->run_start[r + 1] - 1, n, -1);
    }
}

/* Central differences have no delay, and their error is of second order in the period. */
void arm_friction_rate(const struct arm_friction_set *set, const double *x, double *out)
{
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t first = set->run_start[r];
        const size_t last = set->run_start[r + 1] - 1;
        for (size_t i = first; i <= last; i++) {
            const size_t a = i > first ? i - 1 : i;
            const size_t b = i < last ? i + 1 : i;
            out[i] = (x[b] - x[a]) / (set->t_s[b] - set->t_s[a]);
        }
    }
}

/* Values `rows` rows earlier; the ends of the run are held. */
static void delay_run(double *x, size_t n, double rows)
{
    const bool later = rows > 0.0;
    for (size_t i = 0; i < n; i++) {
        const size_t k = later ? n - 1 - i : i; /* what is still needed is not yet written */
        const double at = fmin(fmax((double)k - rows, 0.0), (double)(n - 1));
        const size_t below = (size_t)at < n - 1 ? (size_t)at : n - 2;
        x[k] = x[below] + (at - (double)below) * (x[below + 1] - x[below]);
    }
}

/* Exact for a line between two rows. */
static void lag_run(double *x, size_t n, double rows)
{
    const double left = exp(-1.0 / rows);
    const double mean = rows * (1.0 - left);
    double before = x[0];
    for (size_t k = 1; k < n; k++) {
        const double now = x[k];
        x[k] = left * x[k - 1] + (1.0 - mean) * now + (mean - left) * before;
        before = now;
    }
}

void arm_friction_retard(const struct arm_friction_set *set, double *x)
{
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t n = set->run_start[r + 1] - set->run_start[r];
        if (fabs(set->delay_s) > 0.0) {
            delay_run(x + set->run_start[r], n, set->delay_s * set->rate_hz);
        }
        if (set->lag_s > 0.0) {
            lag_run(x + set->run_start[r], n, set->lag_s * set->rate_hz);
        }
    }
}
