#include "identification/odometry/odometry_data.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "identification/odometry/odometry_thresholds.def"

enum { COLUMNS = 6 };

static const double TURN_RAD = 6.28318530717958647692;
static const double HUGE_VALUE = 1e9;

struct maker {
    const struct odometry_raw *raw;
    double *t, *left, *right, *x, *y, *theta; /* [raw->n] each, in memory */
    struct odometry_summary summary;
    size_t row_count;
    size_t run_count, run_start[ODOMETRY_RUNS_MAX + 1];
    double jump_rad; /* largest step of the recorded heading */
};

static bool is_sane(double value)
{
    return fabs(value) <= HUGE_VALUE; /* false for NaN */
}

/* Checks that time and wheel angles exist and that time increases. */
static bool check_time(struct maker *m, size_t i, double *last_s, bool *behind)
{
    const struct odometry_raw *raw = m->raw;
    if (!is_sane(raw->wheel_left_rad[i]) || !is_sane(raw->wheel_right_rad[i]) ||
        !isfinite(raw->t_s[i])) {
        m->summary.incomplete++;
        return false;
    }
    if (raw->t_s[i] > *last_s) {
        *last_s = raw->t_s[i];
        *behind = false;
        return true;
    }
    if (raw->t_s[i] < *last_s) {
        m->summary.back_steps += *behind ? 0 : 1;
        m->summary.back_rows++;
        *behind = true;
    } else {
        m->summary.duplicates++;
    }
    return false;
}

/* Copies the rows of a part that are in order to the front, with their angles. */
static void collect_rows(struct maker *m, size_t part)
{
    const struct odometry_raw *raw = m->raw;
    double last_s = -HUGE_VAL;
    bool behind = false;
    for (size_t i = raw->part_start[part]; i < raw->part_start[part + 1]; i++) {
        if (check_time(m, i, &last_s, &behind)) {
            const bool pose =
                is_sane(raw->x_m[i]) && is_sane(raw->y_m[i]) && is_sane(raw->theta_rad[i]);
            const size_t k = m->row_count++;
            m->t[k] = raw->t_s[i];
            m->left[k] = raw->wheel_left_rad[i];
            m->right[k] = raw->wheel_right_rad[i];
            m->x[k] = pose ? raw->x_m[i] : nan("");
            m->y[k] = pose ? raw->y_m[i] : nan("");
            m->theta[k] = pose ? raw->theta_rad[i] : nan("");
            m->summary.pose_missing += pose ? 0 : 1;
        }
    }
}

/* Returns whether both wheels repeat the previous row exactly. */
static bool repeats_time(const struct maker *m, size_t k)
{
    return !(fabs(m->left[k] - m->left[k - 1]) > 0.0) &&
           !(fabs(m->right[k] - m->right[k - 1]) > 0.0);
}

/* Distributes the way to the next reading over rows that repeat a reading while the wheels
 * turn. */
static void spread_readings(struct maker *m, size_t from, size_t to)
{
    size_t read = from; /* row of the last reading */
    for (size_t k = from + 1; k < to; k++) {
        if (repeats_time(m, k)) {
            continue;
        }
        const double lasted_s = m->t[k] - m->t[read];
        for (size_t i = read + 1; i < k && lasted_s <= HOLD_S_MAX; i++) {
            const double share = (m->t[i] - m->t[read]) / lasted_s;
            m->left[i] += share * (m->left[k] - m->left[read]);
            m->right[i] += share * (m->right[k] - m->right[read]);
            m->summary.held++;
        }
        read = k;
    }
}

/* Ends a run that began at `from` in the output. Removes its rows if it is too short. */
static size_t end_run(struct maker *m, size_t from, size_t to)
{
    size_t poses = 0;
    for (size_t k = from; k < to; k++) {
        poses += isfinite(m->x[k]) ? 1 : 0;
    }
    if (poses < ODOMETRY_RUN_MIN || m->run_count == ODOMETRY_RUNS_MAX) {
        m->summary.short_rows += to - from;
        return from;
    }
    m->summary.poses += poses;
    m->summary.duration_s += m->t[to - 1] - m->t[from];
    m->run_start[m->run_count++] = from;
    m->run_start[m->run_count] = to;
    return to;
}

/* Returns whether the path from the last row to this one is unknown. */
static bool is_cut(struct maker *m, double dt_s, double left, double right, double usual_s)
{
    const double most = fmax(fabs(left), fabs(right));
    const bool gap = dt_s > GAP_PERIODS * usual_s;
    const bool jump = most > WHEEL_RADPS_MAX * dt_s + 1.0;
    m->summary.gaps += gap ? 1 : 0;
    m->summary.gap_s_max = gap ? fmax(m->summary.gap_s_max, dt_s) : m->summary.gap_s_max;
    m->summary.wheel_jumps += jump ? 1 : 0;
    const bool far = most > BRIDGE_RAD || fabs(right - left) > BRIDGE_APART_RAD;
    const bool cut = jump || (gap && far);
    m->summary.cuts += cut ? 1 : 0;
    return cut;
}

/* Reference for a pose: the last one that counted, and the motion of the wheels since. */
struct last_pose {
    bool there;
    double x, y, theta, unwrapped;
    double moved_rad;
};

static void unwrap_pose(struct maker *m, size_t k, struct last_pose *last)
{
    const double theta = m->theta[k];
    if (!isfinite(theta)) {
        return;
    }
    if (last->there && last->moved_rad > MOVED_RAD && !(fabs(m->x[k] - last->x) > 0.0) &&
        !(fabs(m->y[k] - last->y) > 0.0) && !(fabs(theta - last->theta) > 0.0)) {
        m->summary.stale++;
        m->x[k] = m->y[k] = m->theta[k] = nan("");
        return;
    }
    double unwrapped = theta;
    if (last->there) {
        const double step = remainder(theta - last->unwrapped, TURN_RAD);
        m->jump_rad = fmax(m->jump_rad, fabs(theta - last->theta));
        m->summary.turn_left_rad += fmax(step, 0.0);
        m->summary.turn_right_rad += fmax(-step, 0.0);
        unwrapped = last->unwrapped + step;
    }
    m->theta[k] = unwrapped;
    *last = (struct last_pose){true, m->x[k], m->y[k], theta, unwrapped, 0.0};
}

/* Converts angles to steps, unwraps headings and finds runs, in place. Processes rows from
 * .. to - 1 of a part; returns the end of the output. */
static size_t cut_part(struct maker *m, size_t from, size_t to, size_t out, double usual_s)
{
    struct last_pose last = {.there = false};
    size_t begin = out;
    double before[3] = {0.0};
    for (size_t k = from; k < to; k++) {
        const double row[3] = {m->t[k], m->left[k], m->right[k]};
        double left = row[1] - before[1];
        double right = row[2] - before[2];
        if (k == from || is_cut(m, row[0] - before[0], left, right, usual_s)) {
            out = k == from ? out : end_run(m, begin, out);
            begin = out;
            last.there = false;
            left = right = 0.0;
        }
        memcpy(before, row, sizeof before);
        m->t[out] = row[0];
        m->left[out] = left;
        m->right[out] = right;
        m->x[out] = m->x[k];
        m->y[out] = m->y[k];
        m->theta[out] = m->theta[k];
        last.moved_rad += fabs(left) + fabs(right);
        unwrap_pose(m, out, &last);
        out++;
    }
    return to > from ? end_run(m, begin, out) : out;
}

/* Median of the time steps inside the parts; sorts in scratch. */
static double usual_period(const struct maker *m, const size_t *part_end, double *scratch)
{
    size_t n = 0;
    size_t from = 0;
    for (size_t p = 0; p < m->raw->part_count; p++) {
        for (size_t k = from + 1; k < part_end[p]; k++) {
            scratch[n++] = m->t[k] - m->t[k - 1];
        }
        from = part_end[p];
    }
    gsl_sort(scratch, 1, n);
    return n > 0 ? scratch[n / 2] : 0.0;
}

static enum status check_rows(const struct maker *m, struct err *err)
{
    if (m->jump_rad > HEADING_JUMP_RAD) {
        return err_set(err, STATUS_E_RANGE, FAULT_WRONG_UNIT, "data",
                       "theta jumps by %.4g from one pose to the next, headings must be in "
                       "radians (degrees?)",
                       m->jump_rad);
    }
    if (m->run_count == 0) {
        return err_set(
            err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
            "no %d poses in a row: of %zu rows %zu lack time or a wheel, %zu lack a "
            "pose, %zu repeat an old pose, %zu a time, %zu run back in time, %zu cuts%s",
            ODOMETRY_RUN_MIN, m->raw->n, m->summary.incomplete, m->summary.pose_missing,
            m->summary.stale, m->summary.duplicates, m->summary.back_rows, m->summary.cuts,
            2 * m->summary.cuts > m->raw->n ? ": times in seconds, wheel angles in radians?"
                                            : "");
    }
    return STATUS_OK;
}

static enum status make_odometry_set(struct maker *m, double *scratch, struct err *err)
{
    size_t part_end[ODOMETRY_RUNS_MAX] = {0};
    for (size_t p = 0; p < m->raw->part_count; p++) {
        const size_t from = m->row_count;
        collect_rows(m, p);
        spread_readings(m, from, m->row_count);
        part_end[p] = m->row_count;
    }
    const double usual_s = usual_period(m, part_end, scratch);
    if (m->row_count > 1 && !(usual_s >= DT_S_MIN && usual_s <= DT_S_MAX)) {
        return err_set(err, STATUS_E_RANGE, FAULT_WRONG_UNIT, "data",
                       "rows are %.4g s apart, times must be in seconds (ms? us? ns?)",
                       usual_s);
    }
    m->summary.rate_hz = usual_s > 0.0 ? 1.0 / usual_s : 0.0;
    size_t from = 0;
    size_t out = 0;
    for (size_t p = 0; p < m->raw->part_count; p++) {
        out = cut_part(m, from, part_end[p], out, usual_s);
        from = part_end[p];
    }
    m->summary.used = out;
    m->summary.runs = m->run_count;
    return check_rows(m, err);
}

enum status odometry_set_make(const struct odometry_raw *raw, struct odometry_set *set,
                              struct odometry_summary *summary, struct err *err)
{
    struct maker m = {.raw = raw, .summary = {.rows = raw->n}};
    *summary = m.summary;
    if (raw->n < 2) {
        return err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                       "%zu rows, a recording of many is needed", raw->n);
    }
    gsl_vector *memory = gsl_vector_alloc(COLUMNS * raw->n);
    gsl_vector *scratch = gsl_vector_alloc(raw->n);
    enum status st = STATUS_E_NOMEM;
    if (memory && scratch) {
        double *const columns = memory->data;
        m.t = columns;
        m.left = columns + raw->n;
        m.right = columns + 2 * raw->n;
        m.x = columns + 3 * raw->n;
        m.y = columns + 4 * raw->n;
        m.theta = columns + 5 * raw->n;
        st = make_odometry_set(&m, scratch->data, err);
    } else {
        st = err_set(err, st, FAULT_NO_MEMORY, "data", "no memory for %zu rows", raw->n);
    }
    gsl_vector_free(scratch);
    *summary = m.summary;
    if (st != STATUS_OK) {
        gsl_vector_free(memory);
        return st;
    }
    *set = (struct odometry_set){.n = m.summary.used,
                                 .poses = m.summary.poses,
                                 .t_s = m.t,
                                 .left_rad = m.left,
                                 .right_rad = m.right,
                                 .x_m = m.x,
                                 .y_m = m.y,
                                 .theta_rad = m.theta,
                                 .run_count = m.run_count,
                                 .memory = memory};
    memcpy(set->run_start, m.run_start, sizeof set->run_start);
    return STATUS_OK;
}

void odometry_set_free(struct odometry_set *set)
{
    if (set) {
        gsl_vector_free(set->memory);
        memset(set, 0, sizeof *set);
    }
}
