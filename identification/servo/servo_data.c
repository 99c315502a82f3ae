#include "identification/servo/servo_data.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/numbers/constants.h"
#include "identification/data/column_steps.h"
#include "identification/data/command_levels.h"
#include "identification/servo/servo_thresholds.def"

enum { COLUMNS = 3 };

_Static_assert((int)COLUMN_STEPS_ROOM >= (int)COMMAND_LEVELS_ROOM, "one room for both");

static const double HUGE_VALUE = 1e9;

struct maker {
    const struct servo_raw *raw;
    double *t, *command, *position; /* [raw->n] each, in memory */
    double *scratch, *known;        /* [COLUMN_STEPS_ROOM]; [raw->n] values of one column */
    struct servo_summary summary;
    size_t count, run_count;
    size_t run_start[SERVO_RUNS_MAX + 1];
};

static bool is_sane(double value)
{
    return fabs(value) <= HUGE_VALUE; /* false for NaN */
}

/* Copies the rows of a part that are in order. A command holds until the next one; rows before
 * the first command and rows without anything new are left out. */
static void collect_rows(struct maker *m, size_t part)
{
    const struct servo_raw *raw = m->raw;
    double last_s = -HUGE_VAL;
    double held = NAN;
    for (size_t i = raw->part_start[part]; i < raw->part_start[part + 1]; i++) {
        const bool has_command = is_sane(raw->command_rad[i]);
        const bool has_position = is_sane(raw->position_rad[i]);
        if (!isfinite(raw->t_s[i]) || (!has_command && !has_position)) {
            m->summary.incomplete++;
        } else if (raw->t_s[i] < last_s) {
            m->summary.back_rows++;
        } else if (!(raw->t_s[i] > last_s)) {
            m->summary.duplicates++;
        } else {
            last_s = raw->t_s[i];
            held = has_command ? raw->command_rad[i] : held;
            if (isfinite(held)) {
                m->t[m->count] = last_s;
                m->command[m->count] = held;
                m->position[m->count++] = has_position ? raw->position_rad[i] : nan("");
            }
        }
    }
}

/* Copies the known positions of rows to m->known, and returns their number. */
static size_t collect_positions(const struct maker *m, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++) {
        m->known[count] = m->position[k];
        count += isfinite(m->position[k]) ? 1 : 0;
    }
    return count;
}

/* Unwraps positions, and gives commands the turn of their position. */
static void unwrap_part(struct maker *m, size_t from)
{
    const double turn = 2.0 * PI;
    const size_t count = collect_positions(m, from, m->count);
    struct column_wrap wrap;
    double at = NAN;
    column_wrap_find(m->known, count, m->scratch, &wrap);
    if (!(fabs(wrap.turn - turn) < 1e-6)) {
        return;
    }
    m->summary.wraps += wrap.count;
    column_unwrap(m->known, count, turn, m->known);
    for (size_t k = from, i = 0; k < m->count; k++) {
        if (isfinite(m->position[k])) {
            at = m->position[k] = m->known[i++];
        }
        if (isfinite(at)) {
            m->command[k] += turn * round((at - m->command[k]) / turn);
        }
    }
}

/* Ends a run from .. to - 1 of the rows; one that is too short is left out. The rows in front
 * of its first position are left out too. */
static void end_run(struct maker *m, size_t from, size_t to, size_t *out)
{
    size_t positions = 0;
    for (size_t k = to; k-- > from;) {
        positions += isfinite(m->position[k]) ? 1 : 0;
    }
    while (from < to && !isfinite(m->position[from])) {
        from++;
    }
    if (positions < SERVO_RUN_MIN || m->run_count == SERVO_RUNS_MAX) {
        m->summary.short_rows += to - from;
        return;
    }
    m->summary.positions += positions;
    m->summary.duration_s += m->t[to - 1] - m->t[from];
    m->run_start[m->run_count++] = *out;
    memmove(m->t + *out, m->t + from, (to - from) * sizeof *m->t);
    memmove(m->command + *out, m->command + from, (to - from) * sizeof *m->command);
    memmove(m->position + *out, m->position + from, (to - from) * sizeof *m->position);
    *out += to - from;
    m->run_start[m->run_count] = *out;
}

static double find_median(double *values, size_t n)
{
    gsl_sort(values, 1, n);
    return n > 0 ? values[n / 2] : 0.0;
}

/* Counts values and sizes of the command about the middle of its range. */
static void describe_command(const struct maker *m, struct servo_set *set)
{
    const double middle = 0.5 * (m->summary.command_min_rad + m->summary.command_max_rad);
    struct command_levels found;
    for (size_t k = 0; k < set->n; k++) {
        m->known[k] = m->command[k] - middle;
    }
    command_levels_find(m->known, set->n, m->scratch, &found);
    set->levels = found.levels;
    set->magnitudes = found.magnitudes;
}

/* Removes positions that repeat older ones, if the sensor is slower than the rows. */
static void remove_stale(struct maker *m, size_t n, const struct column_steps *steps)
{
    double last = m->position[0];
    if (steps->stale_rows == 0) {
        return;
    }
    m->summary.hold_rows = steps->hold_rows;
    for (size_t k = 1; k < n; k++) {
        const bool is_new = !(fabs(m->position[k] - last) <= 0.0);
        last = is_new && isfinite(m->position[k]) ? m->position[k] : last;
        m->position[k] = is_new ? m->position[k] : nan("");
        m->summary.stale += is_new ? 0 : 1;
    }
}

/* Describes the columns of the rows that are used. */
static void describe_set(struct maker *m, struct servo_set *set, struct column_steps *steps)
{
    struct servo_summary *s = &m->summary;
    double sum = 0.0;
    double squares = 0.0;
    s->command_min_rad = s->position_min_rad = HUGE_VAL;
    s->command_max_rad = s->position_max_rad = -HUGE_VAL;
    for (size_t k = 0; k < set->n; k++) {
        s->command_min_rad = fmin(s->command_min_rad, m->command[k]);
        s->command_max_rad = fmax(s->command_max_rad, m->command[k]);
        s->position_min_rad = fmin(s->position_min_rad, m->position[k]); /* ignores NaN */
        s->position_max_rad = fmax(s->position_max_rad, m->position[k]);
    }
    const double middle = 0.5 * (s->position_min_rad + s->position_max_rad);
    for (size_t k = 0; k < set->n; k++) {
        const double off = isfinite(m->position[k]) ? m->position[k] - middle : 0.0;
        sum += off;
        squares += off * off;
    }
    const double n = (double)set->positions;
    set->position_sd = sqrt(fmax(squares / n - sum * sum / (n * n), 0.0));
    set->range_rad = s->command_max_rad - s->command_min_rad;
    column_steps_find(m->known, collect_positions(m, 0, set->n), m->scratch, steps);
    set->step_rad = s->step_rad = steps->step;
    describe_command(m, set);
}

/* Cuts the rows from .. count - 1 of a part at gaps; the first row of the output is *out. */
static void cut_part(struct maker *m, size_t from, size_t to, double period_s, size_t *out)
{
    size_t begin = from;
    for (size_t k = from + 1; k < to; k++) {
        const double gap_s = m->t[k] - m->t[k - 1];
        if (gap_s > GAP_PERIODS * period_s) {
            m->summary.gaps++;
            m->summary.gap_s_max = fmax(m->summary.gap_s_max, gap_s);
            end_run(m, begin, k, out);
            begin = k;
        }
    }
    end_run(m, begin, to, out);
}

static enum status check_rows(const struct maker *m, double period_s, struct err *err)
{
    if (m->count > 1 && !(period_s >= PERIOD_S_MIN && period_s <= PERIOD_S_MAX)) {
        return err_set(
            err, STATUS_E_RANGE, FAULT_WRONG_UNIT, "data",
            "rows are %.4g s apart, times must be in seconds, and a servo is recorded "
            "at 2 Hz at least (ms? us? row numbers?)",
            period_s);
    }
    if (m->run_count == 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                       "no %d positions in a row: of %zu rows %zu lack a time or both values, "
                       "%zu repeat a time, %zu run back in time, %zu gaps",
                       SERVO_RUN_MIN, m->raw->n, m->summary.incomplete, m->summary.duplicates,
                       m->summary.back_rows, m->summary.gaps);
    }
    return STATUS_OK;
}

/* Does a command come with rows of its own, which have no position? */
static bool is_joined(const struct maker *m, size_t n)
{
    size_t changes = 0;
    size_t own = 0;
    for (size_t k = 1; k < n; k++) {
        if (fabs(m->command[k] - m->command[k - 1]) > 0.0) {
            changes++;
            own += isnan(m->position[k]) ? 1 : 0;
        }
    }
    return 10 * own > 9 * changes;
}

/* Median time between positions; end: of the parts. */
static double find_period(const struct maker *m, const size_t *end)
{
    size_t steps = 0;
    for (size_t p = 0, k = 0; p < m->raw->part_count; p++) {
        for (size_t last = m->count; k < end[p]; k++) {
            if (isfinite(m->position[k])) {
                m->known[steps] = last < k ? m->t[k] - m->t[last] : 0.0;
                steps += last < k ? 1 : 0;
                last = k;
            }
        }
    }
    return find_median(m->known, steps);
}

static enum status make_rows(struct maker *m, struct servo_set *set, struct err *err)
{
    struct column_steps columns;
    size_t part_end[SERVO_RUNS_MAX] = {0};
    for (size_t p = 0; p < m->raw->part_count; p++) {
        const size_t from = m->count;
        collect_rows(m, p);
        unwrap_part(m, from);
        part_end[p] = m->count;
    }
    const double period_s = find_period(m, part_end);
    size_t out = 0;
    size_t from = 0;
    for (size_t p = 0; p < m->raw->part_count; p++) {
        cut_part(m, from, part_end[p], period_s, &out);
        from = part_end[p];
    }
    m->summary.used = out;
    m->summary.runs = m->run_count;
    m->summary.rate_hz = period_s > 0.0 ? 1.0 / period_s : 0.0;
    const enum status st = check_rows(m, period_s, err);
    if (st == STATUS_OK) {
        set->n = out;
        set->positions = m->summary.positions;
        set->run_count = m->run_count;
        set->period_s = period_s;
        set->hold_s = is_joined(m, out) ? 0.0 : period_s;
        memcpy(set->run_start, m->run_start, sizeof set->run_start);
        describe_set(m, set, &columns);
        remove_stale(m, out, &columns);
        set->positions -= m->summary.stale;
    }
    return st;
}

enum status servo_set_make(const struct servo_raw *raw, struct servo_set *set,
                           struct servo_summary *summary, struct err *err)
{
    struct maker m = {.raw = raw, .summary = {.rows = raw->n}};
    struct servo_set made = {.n = 0};
    *summary = m.summary;
    gsl_vector *memory = raw->n > 0 ? gsl_vector_alloc(COLUMNS * raw->n) : NULL;
    gsl_vector *scratch = raw->n > 0 ? gsl_vector_alloc(COLUMN_STEPS_ROOM + raw->n) : NULL;
    enum status st = STATUS_E_NOMEM;
    if (raw->n == 0) {
        st = err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data", "no rows");
    } else if (!memory || !scratch) {
        st = err_set(err, st, FAULT_NO_MEMORY, "data", "no memory for %zu rows", raw->n);
    } else {
        m.t = memory->data;
        m.command = m.t + raw->n;
        m.position = m.command + raw->n;
        m.scratch = scratch->data;
        m.known = m.scratch + COLUMN_STEPS_ROOM;
        st = make_rows(&m, &made, err);
    }
    gsl_vector_free(scratch);
    *summary = m.summary;
    if (st != STATUS_OK) {
        gsl_vector_free(memory);
        return st;
    }
    made.t_s = made.change_s = m.t;
    made.command_rad = m.command;
    made.position_rad = m.position;
    made.memory = memory;
    *set = made;
    return STATUS_OK;
}

void servo_set_free(struct servo_set *set)
{
    if (set) {
        gsl_vector_free(set->memory);
        memset(set, 0, sizeof *set);
    }
}
