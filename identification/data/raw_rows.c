#include "identification/data/raw_rows.h"

#include <math.h>
#include <string.h>

#include "identification/data/column_steps.h"
#include "identification/data/data_thresholds.def"

/* Kinds of columns besides the time. POSITION is only compared with the velocity. */
enum kind { NU, TAU, POSE, POSITION, KINDS };

/* Columns of the result, column by column [1 + KINDS axes][n], and scratch memory. */
struct workshop {
    const struct data_raw *from;
    struct raw_rows *to;
    struct data_summary *summary;
    double *t_s, *of[KINDS][MODEL_AXES_MAX];
    double *command_t_s, *command[MODEL_AXES_MAX], *commands_before;
    double *room;    /* [n] values of one column without gaps */
    double *scratch; /* [2 n], at least COLUMN_STEPS_ROOM */
};

static const double **columns_of(struct data_raw *raw, enum kind kind)
{
    const double **const of[KINDS] = {raw->nu, raw->tau, raw->pose, raw->position};
    return of[kind];
}

static const double *column_at(const struct workshop *w, enum kind kind, size_t axis)
{
    return columns_of(&w->to->raw, kind)[axis];
}

/* Makes the column of the result a copy, which may be changed. */
static double *replace_column(struct workshop *w, enum kind kind, size_t axis)
{
    const double **column = &columns_of(&w->to->raw, kind)[axis];
    double *own = w->of[kind][axis];
    if (*column != own) {
        memcpy(own, *column, w->from->n * sizeof *own);
        *column = own;
    }
    return own;
}

/* Copies the finite values of rows `from` to `to` - 1 to w->room, and returns their number. */
static size_t collect_values(const struct workshop *w, const double *x, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++) {
        w->room[count] = x[k];
        count += isfinite(x[k]) ? 1 : 0;
    }
    return count;
}

/* Row of the n-th finite value at or after `from`. */
static size_t find_value(const double *x, size_t from, size_t n)
{
    size_t k = from;
    for (; n > 0 || !isfinite(x[k]); k++) {
        n -= isfinite(x[k]) ? 1 : 0;
    }
    return k;
}

/* Unwraps a column within one part of the recording. */
static void unwrap_part(struct workshop *w, enum kind kind, size_t axis, size_t part)
{
    const size_t first = w->from->part_start[part];
    const size_t end = w->from->part_start[part + 1];
    const double *x = column_at(w, kind, axis);
    struct column_wrap wrap;
    struct column_wrap *shown = &w->summary->wrap[axis];
    const size_t count = collect_values(w, x, first, end);
    column_wrap_find(w->room, count, w->scratch, &wrap);
    if (!(wrap.turn > 0.0)) {
        return;
    }
    if (shown->count == 0) {
        const double scale = w->from->pose_scale[axis];
        shown->turn = wrap.turn / (scale > 0.0 ? scale : 1.0);
        shown->first = find_value(x, first, wrap.first) - first;
    }
    shown->count += wrap.count;
    column_unwrap(w->room, count, wrap.turn, w->room);
    double *own = replace_column(w, kind, axis);
    for (size_t k = first, i = 0; k < end; k++) {
        own[k] = isfinite(own[k]) ? w->room[i++] : own[k];
    }
}

static struct data_channel *channel_at(struct data_summary *summary, enum kind kind, size_t a)
{
    struct data_channel *const of[] = {summary->nu, summary->tau, summary->pose};
    return &of[kind][a];
}

/* Finds steps and repeats of all columns. */
static void describe_columns(struct workshop *w)
{
    for (size_t i = 0; i < (size_t)POSITION * w->from->axes; i++) {
        const enum kind kind = (enum kind)(i / w->from->axes);
        const size_t a = i % w->from->axes;
        struct column_steps steps;
        const double *x = column_at(w, kind, a);
        if (!x) {
            continue;
        }
        column_steps_find(w->room, collect_values(w, x, 0, w->from->n), w->scratch, &steps);
        struct data_channel *channel = channel_at(w->summary, kind, a);
        channel->quantum = steps.step;
        channel->repeat_ratio = steps.repeat_ratio;
        channel->hold_rows = steps.hold_rows;
        if (kind == NU || (kind == POSE && !w->from->nu[a])) {
            w->summary->stale_rows[a] = steps.stale_rows;
        }
    }
}

/* Returns whether a row has all measured channels; or any of them. */
static bool is_measured(const struct workshop *w, size_t k, bool all)
{
    size_t columns = 0;
    size_t known = 0;
    for (size_t a = 0; a < w->from->axes; a++) {
        const double *const of[] = {column_at(w, NU, a), column_at(w, POSE, a)};
        for (size_t i = 0; i < COUNT(of); i++) {
            columns += of[i] ? 1 : 0;
            known += of[i] && isfinite(of[i][k]) ? 1 : 0;
        }
    }
    return all ? known == columns : known > 0;
}

static bool has_commands(const struct workshop *w, size_t k, bool all)
{
    size_t known = 0;
    for (size_t a = 0; a < w->from->axes; a++) {
        known += isfinite(w->from->tau[a][k]) ? 1 : 0;
    }
    return all ? known == w->from->axes : known > 0;
}

/* Does the recording consist of two that were joined by time? Sets the interval between rows
 * at which commands change, which is as much as nobody knows of when they changed. */
static void find_join(struct workshop *w)
{
    size_t measured = 0;
    size_t commanded = 0;
    size_t both = 0;
    for (size_t k = 0; k < w->from->n; k++) {
        const bool moved = is_measured(w, k, true);
        measured += moved ? 1 : 0;
        commanded += has_commands(w, k, false) ? 1 : 0;
        both += moved && has_commands(w, k, true) ? 1 : 0;
    }
    const size_t more = measured > commanded ? measured : commanded;
    w->summary->joined =
        measured > 0 && commanded > 0 && (double)both < JOINED_RATIO_MAX * (double)more;
    w->summary->rows_with_both = both;
}

/* Does any command differ from the last ones? Updates them. */
static bool update_commands(const struct workshop *w, size_t k, double *held)
{
    bool changes = false;
    for (size_t a = 0; a < w->from->axes; a++) {
        const double value = w->from->tau[a][k];
        if (isfinite(value)) {
            changes = changes || !(fabs(value - held[a]) <= 0.0); /* or is the first */
            held[a] = value;
        }
    }
    return changes;
}

static void forget_commands(double *held)
{
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        held[a] = NAN;
    }
}

/* Mean interval between rows before changes of a command. Where a row is lost, the command
 * may have changed during the longer gap. */
static double find_row_time(const struct workshop *w)
{
    double held[MODEL_AXES_MAX];
    double sum = 0.0;
    double count = 0.0;
    for (size_t part = 0; part < w->from->part_count; part++) {
        forget_commands(held);
        const size_t first = w->from->part_start[part];
        for (size_t k = first; k < w->from->part_start[part + 1]; k++) {
            const double step = k > first ? w->from->t_s[k] - w->from->t_s[k - 1] : 0.0;
            if (update_commands(w, k, held) && step > 0.0) {
                sum += step;
                count += 1.0;
            }
        }
    }
    return count > 0.0 ? sum / count : 0.0;
}

/* Returns whether a row has a new measurement of a velocity that repeats. `since`: rows since
 * the last one that stayed. */
static bool is_new(const struct workshop *w, size_t k, size_t since)
{
    bool is = k == 0;
    for (size_t a = 0; a < w->from->axes && !is; a++) {
        const double *x = column_at(w, w->from->nu[a] ? NU : POSE, a);
        const size_t usual = w->summary->stale_rows[a];
        is = usual == 0 || !(fabs(x[k] - x[k - 1]) <= 0.0) || 2 * since >= 3 * usual;
    }
    return is;
}

/* Present row of the result, and commands held since. */
struct merge {
    size_t rows, since;
    bool open; /* the last row waits for the mean of its commands */
    double until_s, held[MODEL_AXES_MAX], sum[MODEL_AXES_MAX];
};

/* Adds the commands held until t_s. */
static void hold_until(const struct workshop *w, struct merge *m, double t_s)
{
    for (size_t a = 0; a < w->from->axes && m->open && t_s > m->until_s; a++) {
        m->sum[a] += m->held[a] * (t_s - m->until_s);
    }
    m->until_s = fmax(t_s, m->until_s);
}

/* Writes the mean of the commands between the last row and t_s. */
static void close_row(struct workshop *w, struct merge *m, double t_s)
{
    for (size_t a = 0; a < w->from->axes && m->open; a++) {
        const double time = t_s - w->t_s[m->rows - 1];
        w->of[TAU][a][m->rows - 1] = time > 0.0 ? m->sum[a] / time : m->held[a];
    }
    m->open = false;
}

static void copy_row(struct workshop *w, struct merge *m, size_t k)
{
    w->t_s[m->rows] = w->from->t_s[k];
    for (size_t i = 0; i < (size_t)KINDS * w->from->axes; i++) {
        const enum kind kind = (enum kind)(i / w->from->axes);
        const size_t a = i % w->from->axes;
        const double *x = column_at(w, kind, a);
        if (x && kind != TAU) {
            w->of[kind][a][m->rows] = x[k];
        }
        m->sum[a] = 0.0;
    }
    m->rows++;
    m->since = 0;
    m->open = true;
    m->until_s = w->from->t_s[k];
    w->commands_before[m->rows - 1] = (double)w->to->raw.commands.count;
}

/* Appends the commands held since a time, once all are known. */
static void append_commands(struct workshop *w, const struct merge *m, double t_s)
{
    size_t *count = &w->to->raw.commands.count;
    bool known = true;
    for (size_t a = 0; a < w->from->axes; a++) {
        known = known && isfinite(m->held[a]);
        w->command[a][*count] = m->held[a];
    }
    w->command_t_s[*count] = t_s;
    *count += known ? 1 : 0;
}

static void merge_part(struct workshop *w, struct merge *m, size_t part)
{
    const size_t end = w->from->part_start[part + 1];
    forget_commands(m->held);
    m->since = SIZE_MAX / 4;
    for (size_t k = w->from->part_start[part]; k < end; k++) {
        const double t_s = w->from->t_s[k];
        const bool all = is_measured(w, k, true);
        const bool stays = all && (m->since > w->from->n || is_new(w, k, m->since + 1));
        m->since++;
        hold_until(w, m, t_s);
        if (stays) {
            close_row(w, m, t_s);
        }
        if (update_commands(w, k, m->held)) {
            append_commands(w, m, t_s);
        }
        if (stays) {
            copy_row(w, m, k);
        } else {
            w->summary->incomplete += !all && is_measured(w, k, false) ? 1 : 0;
            w->summary->repeated += all ? 1 : 0;
        }
    }
    close_row(w, m, m->until_s);
}

/* Keeps measured rows only. Works in place, because no row moves back. */
static void merge_rows(struct workshop *w)
{
    struct data_raw *raw = &w->to->raw;
    struct merge m = {.rows = 0};
    for (size_t part = 0; part < w->from->part_count; part++) {
        const size_t first = m.rows;
        merge_part(w, &m, part);
        raw->part_start[part] = first;
    }
    raw->part_start[raw->part_count] = raw->n = m.rows;
    raw->t_s = w->t_s;
    raw->commands.t_s = w->command_t_s;
    raw->commands_before = w->commands_before;
    memcpy(raw->commands.tau, w->command, sizeof raw->commands.tau);
    for (size_t i = 0; i < (size_t)KINDS * raw->axes; i++) {
        const enum kind kind = (enum kind)(i / raw->axes);
        const size_t a = i % raw->axes;
        const double **column = &columns_of(raw, kind)[a];
        *column = *column ? w->of[kind][a] : NULL;
    }
}

/* Compares recorded positions with recorded velocities. */
static void compare_rates(struct workshop *w)
{
    const struct data_raw *raw = &w->to->raw;
    for (size_t a = 0; a < raw->axes; a++) {
        const double *v = raw->nu[a];
        const double *q = raw->position[a] ? raw->position[a] : raw->pose[a];
        double *const x[] = {w->room, w->scratch, w->scratch + raw->n};
        size_t n = 0;
        for (size_t k = 0; v && q && k < raw->n; k++) {
            x[0][n] = raw->t_s[k];
            x[1][n] = q[k];
            x[2][n] = v[k];
            n += isfinite(raw->t_s[k]) && isfinite(q[k]) && isfinite(v[k]) ? 1 : 0;
        }
        column_rate_find(x[0], x[1], x[2], n, w->scratch + 2 * w->from->n,
                         &w->summary->rate[a]);
    }
}

static bool repeats_velocities(const struct data_summary *summary, size_t axes)
{
    bool all = true;
    for (size_t a = 0; a < axes; a++) {
        all = all && summary->stale_rows[a] > 0;
    }
    return all;
}

static bool divide_memory(struct workshop *w)
{
    const size_t n = w->from->n > COLUMN_STEPS_ROOM ? w->from->n : COLUMN_STEPS_ROOM;
    const size_t columns = 1 + (size_t)KINDS * w->from->axes + 2 + w->from->axes + 1 + 4;
    w->to->memory =
        n <= SIZE_MAX / sizeof(double) / columns ? gsl_vector_alloc(columns * n) : NULL;
    if (!w->to->memory) {
        return false;
    }
    double *at = w->to->memory->data;
    w->t_s = at;
    for (size_t i = 0; i < (size_t)KINDS * w->from->axes; i++) {
        w->of[i / w->from->axes][i % w->from->axes] = at += n;
    }
    w->command_t_s = at += n;
    w->commands_before = at += n;
    for (size_t a = 0; a < w->from->axes; a++) {
        w->command[a] = at += n;
    }
    w->room = at += n;
    w->scratch = at + n;
    return true;
}

enum status raw_rows_prepare(const struct data_raw *raw, struct raw_rows *rows,
                             struct data_summary *summary)
{
    struct workshop w = {.from = raw, .to = rows, .summary = summary};
    *rows = (struct raw_rows){.raw = *raw};
    if (!divide_memory(&w)) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < raw->axes; a++) {
        for (size_t part = 0; part < raw->part_count; part++) {
            if (raw->pose[a] || raw->position[a]) {
                unwrap_part(&w, raw->pose[a] ? POSE : POSITION, a, part);
            }
        }
    }
    describe_columns(&w);
    find_join(&w);
    const bool apart = summary->joined && 10 * summary->rows_with_both < raw->n;
    summary->row_s = apart ? 0.0 : find_row_time(&w);
    if (summary->joined || repeats_velocities(summary, raw->axes)) {
        merge_rows(&w);
    }
    compare_rates(&w);
    return STATUS_OK;
}

enum status raw_rows_find_copies(const struct data_raw *raw, struct data_summary *summary)
{
    struct copied_column columns[MODEL_AXES_MAX];
    for (size_t a = 0; a < raw->axes; a++) {
        const struct data_channel *of = raw->nu[a] ? &summary->nu[a] : &summary->pose[a];
        columns[a] = (struct copied_column){raw->nu[a] ? raw->nu[a] : raw->pose[a],
                                            of->noise_sd, of->quantum};
    }
    return copied_rows_find(columns, raw->axes, raw->n, &summary->copied);
}

void raw_rows_free(struct raw_rows *rows)
{
    gsl_vector_free(rows->memory);
    rows->memory = NULL;
}
