#include "identification/data/data_set.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector_ulong.h>

#include "identification/data/data_thresholds.def"
#include "identification/data/derived_velocity.h"
#include "identification/data/raw_rows.h"
#include "identification/numeric/local_polynomial.h"

/* Medians use at most this many values, spread evenly over the recording. */
enum { SCRATCH = 16384 };
/* Up to this many cuts gain more than they cost. More cuts would leave only short pieces. */
enum { JUMPS_MAX = 16 };

/* Smallest number of samples without a velocity when it is derived: the narrowest window. */
enum { DERIVED_ENDS_MIN = 4 };

/* Flag of a used row, stored next to its index. */
enum { NEW_PIECE = 1 };

struct piece {
    size_t first, end; /* range of used rows */
};

/* Kinds of columns besides the time: velocities, efforts, poses; one column per axis each. */
enum { OF_NU, OF_TAU, OF_POSE, KINDS, COLUMNS_MAX = KINDS * MODEL_AXES_MAX };

struct columns {
    double *t_s, *gap_s, *of[COLUMNS_MAX]; /* NULL: the column does not exist */
};

struct source {
    size_t count, column[COLUMNS_MAX];
    const double *from[COLUMNS_MAX]; /* values of column[] */
};

static void list_columns(const struct data_raw *raw, struct source *source)
{
    const double *const *const of[KINDS] = {raw->nu, raw->tau, raw->pose};
    for (size_t c = 0; c < COLUMNS_MAX; c++) {
        const size_t a = c % MODEL_AXES_MAX;
        const double *x = a < raw->axes ? of[c / MODEL_AXES_MAX][a] : NULL;
        if (x) {
            source->column[source->count] = c;
            source->from[source->count++] = x;
        }
    }
}

struct maker {
    const struct data_raw *raw;
    struct source source;
    struct data_summary summary;
    gsl_vector_ulong *used_rows; /* row index * 2 + flag */
    size_t used_count;
    gsl_vector *scratch;
    struct piece pieces[DATA_RUNS_MAX];
    size_t piece_count;
    double jump[MODEL_AXES_MAX]; /* change of an effort that counts as a jump */
    bool cut_jumps;
    bool on_grid; /* values are interpolated to a grid; otherwise rows keep their times */
};

static size_t row_at(const struct maker *m, size_t k)
{
    return (size_t)(m->used_rows->data[k] / 2);
}

static double time_at(const struct maker *m, size_t k)
{
    return m->raw->t_s[row_at(m, k)];
}

static struct data_channel *channel_of(struct data_summary *summary, size_t c)
{
    struct data_channel *const of[KINDS] = {summary->nu, summary->tau, summary->pose};
    return &of[c / MODEL_AXES_MAX][c % MODEL_AXES_MAX];
}

static bool is_complete(const struct maker *m, size_t k)
{
    bool finite = isfinite(m->raw->t_s[k]);
    for (size_t i = 0; i < m->source.count; i++) {
        finite = finite && isfinite(m->source.from[i][k]);
    }
    return finite;
}

static double find_median(double *values, size_t n)
{
    return n > 0 ? gsl_stats_median(values, 1, n) : (double)NAN;
}

/* Typical period: the median of the positive time steps; NaN if there are none. */
static double usual_period(struct maker *m)
{
    const struct data_raw *raw = m->raw;
    const size_t every = raw->n / SCRATCH + 1;
    size_t n = 0;
    for (size_t k = 1; k < raw->n && n < SCRATCH; k += every) {
        const double step = raw->t_s[k] - raw->t_s[k - 1];
        if (step > 0.0 && isfinite(step)) {
            m->scratch->data[n++] = step;
        }
    }
    return find_median(m->scratch->data, n);
}

/* Reading position in a part of the recording. */
struct cursor {
    bool begun, behind;
    double last;
    size_t row; /* row of last */
};

/* Counts a row that does not lie after the last one. Returns true if it must be skipped. */
static bool runs_back(struct maker *m, struct cursor *c, double step, bool restart)
{
    if (!c->begun || restart || step > 0.0) {
        return false;
    }
    const bool same = !(step < 0.0);
    m->summary.duplicates += same ? 1 : 0;
    m->summary.back_rows += same ? 0 : 1;
    m->summary.back_steps += same || c->behind ? 0 : 1;
    c->behind = c->behind || !same;
    return true;
}

static bool effort_jumps(const struct maker *m, size_t before, size_t row)
{
    bool jump = false;
    for (size_t a = 0; a < m->raw->axes; a++) {
        jump = jump || fabs(m->raw->tau[a][row] - m->raw->tau[a][before]) > m->jump[a];
    }
    return jump;
}

/* Counts a gap before a row. Returns whether the recording is cut there. */
static bool cuts_recording(struct maker *m, const struct cursor *c, size_t row, double step,
                           double period)
{
    if (!c->begun || !(step > MISSING_RATIO * period)) {
        return false;
    }
    m->summary.missing += step < 1e9 * period ? (size_t)round(step / period) - 1 : 0;
    if (step <= BRIDGE_RATIO * period && effort_jumps(m, c->row, row)) {
        m->summary.jumps++;
        if (m->cut_jumps) {
            return true;
        }
    }
    if (!(step > GAP_RATIO * period)) {
        return false;
    }
    const bool bridge = step <= BRIDGE_RATIO * period;
    m->summary.gaps++;
    m->summary.bridged += bridge ? 1 : 0;
    m->summary.gap_s_max = fmax(m->summary.gap_s_max, step);
    return !bridge;
}

static void add_row(struct maker *m, struct cursor *c, size_t row, double period)
{
    const double step = c->begun ? m->raw->t_s[row] - c->last : 0.0;
    const bool restart = step < -RESTART_RATIO * period;
    if (runs_back(m, c, step, restart)) {
        return;
    }
    m->summary.back_steps += restart ? 1 : 0;
    const bool cut = cuts_recording(m, c, row, step, period);
    m->used_rows->data[m->used_count++] =
        2 * (unsigned long)row + (!c->begun || restart || cut ? NEW_PIECE : 0);
    *c = (struct cursor){.begun = true, .last = m->raw->t_s[row], .row = row};
}

/* Selects the rows that are used, and the cuts between pieces. */
static void collect_rows(struct maker *m, double period)
{
    const struct data_raw *raw = m->raw;
    for (size_t part = 0; part < raw->part_count; part++) {
        struct cursor c = {.begun = false};
        for (size_t k = raw->part_start[part]; k < raw->part_start[part + 1]; k++) {
            if (is_complete(m, k)) {
                add_row(m, &c, k, period);
            } else {
                m->summary.incomplete++;
            }
        }
    }
}

/* Returns whether a velocity must be derived from the pose. */
static bool derives_velocity(const struct data_raw *raw)
{
    bool any = false;
    for (size_t a = 0; a < raw->axes; a++) {
        any = any || !raw->nu[a];
    }
    return any;
}

static double sd_of(const double *x, size_t n)
{
    double mean = 0.0;
    double squares = 0.0;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        if (isfinite(x[k])) {
            const double off = x[k] - mean;
            mean += off / (double)++count;
            squares += off * (x[k] - mean);
        }
    }
    return count > 1 ? sqrt(squares / (double)(count - 1)) : 0.0;
}

/* Selects rows twice if needed. The first pass counts efforts that changed while rows were
 * missing; if there are few, the second pass cuts the recording there. */
static void select_rows(struct maker *m, double period)
{
    const struct data_summary fresh = m->summary;
    for (size_t a = 0; a < m->raw->axes; a++) {
        m->jump[a] = JUMP_RATIO * sd_of(m->raw->tau[a], m->raw->n);
    }
    collect_rows(m, period);
    if (m->summary.jumps > 0 && m->summary.jumps <= JUMPS_MAX) {
        m->summary = fresh;
        m->used_count = 0;
        m->cut_jumps = true;
        collect_rows(m, period);
    }
}

static void find_pieces(struct maker *m)
{
    const size_t least = DATA_RUN_MIN + (derives_velocity(m->raw) ? DERIVED_ENDS_MIN : 0);
    size_t first = 0;
    while (first < m->used_count) {
        size_t end = first + 1;
        while (end < m->used_count && !(m->used_rows->data[end] & NEW_PIECE)) {
            end++;
        }
        if (end - first >= least && m->piece_count < DATA_RUNS_MAX) {
            m->pieces[m->piece_count++] = (struct piece){first, end};
        } else {
            m->summary.short_rows += end - first;
        }
        first = end;
    }
}

/* Measures period and jitter. The mean replaces the median if every stamp is near its place
 * on the grid. */
static double measure_period(struct maker *m, double usual)
{
    const size_t every = m->used_count / SCRATCH + 1;
    double sum = 0.0;
    double worst = 0.0;
    size_t steps = 0;
    size_t n = 0;
    for (size_t p = 0; p < m->piece_count; p++) {
        for (size_t k = m->pieces[p].first + 1; k < m->pieces[p].end; k++) {
            const double step = time_at(m, k) - time_at(m, k - 1);
            worst = fmax(worst, fabs(step - usual));
            sum += step;
            steps++;
            if (steps % every == 0 && n < SCRATCH) {
                m->scratch->data[n++] = fabs(step - usual);
            }
        }
    }
    const double spread = find_median(m->scratch->data, n);
    m->summary.jitter_ratio = n > 0 ? 1.4826 * spread / usual : 0.0;
    return worst <= 0.5 * usual && steps > 0 ? sum / (double)steps : usual;
}

static bool is_even(const struct maker *m, double dt_s)
{
    for (size_t p = 0; p < m->piece_count; p++) {
        const struct piece *piece = &m->pieces[p];
        const double begin = time_at(m, piece->first);
        for (size_t k = piece->first; k < piece->end; k++) {
            const double due = begin + (double)(k - piece->first) * dt_s;
            if (!(fabs(time_at(m, k) - due) <= EVEN_RATIO * dt_s)) {
                return false;
            }
        }
    }
    return true;
}

/* Number of sample steps from row k to the next: 1, plus one for each missing row. */
static size_t steps_after(const struct maker *m, size_t k)
{
    const double periods = (time_at(m, k + 1) - time_at(m, k)) / m->summary.dt_s;
    return periods > MISSING_RATIO ? (size_t)round(periods) : 1;
}

/* Returns whether times are consecutive whole numbers. */
static bool counts_rows(const struct maker *m)
{
    for (size_t k = 0; k < m->used_count; k++) {
        const double t = time_at(m, k);
        if (t > (double)m->raw->n || fabs(t - floor(t)) > 0.0 ||
            (k > 0 && fabs(t - time_at(m, k - 1) - 1.0) > 0.0)) {
            return false;
        }
    }
    return true;
}

static size_t piece_samples(const struct maker *m, const struct piece *piece)
{
    if (!m->on_grid) {
        size_t n = 1;
        for (size_t k = piece->first; k + 1 < piece->end; k++) {
            n += steps_after(m, k);
        }
        return n;
    }
    const double span = time_at(m, piece->end - 1) - time_at(m, piece->first);
    return (size_t)floor(span / m->summary.dt_s * (1.0 + 1e-12)) + 1;
}

/* Integral of a held effort between two times, both between row k and the next. If a row is
 * missing there, the effort may have changed with it: after the first period, the mean of
 * both values counts. */
static double effort_integral(const struct maker *m, const struct piece *piece, size_t k,
                              const double *tau, double from, double to)
{
    const double own = tau[row_at(m, k)];
    if (k + 1 >= piece->end ||
        !(time_at(m, k + 1) - time_at(m, k) > MISSING_RATIO * m->summary.dt_s)) {
        return own * (to - from);
    }
    const double known = fmin(fmax(time_at(m, k) + m->summary.dt_s, from), to);
    const double halfway = 0.5 * (own + tau[row_at(m, k + 1)]);
    return own * (known - from) + halfway * (to - known);
}

/* Mean of a held effort over one period from t on; row k is the last one not after t. */
static double mean_effort(const struct maker *m, const struct piece *piece, size_t k,
                          const double *tau, double t)
{
    const double end = t + m->summary.dt_s;
    double sum = 0.0;
    double from = t;
    for (; k + 1 < piece->end && time_at(m, k + 1) < end; k++) {
        const double to = fmax(time_at(m, k + 1), from);
        sum += effort_integral(m, piece, k, tau, from, to);
        from = to;
    }
    return (sum + effort_integral(m, piece, k, tau, from, end)) / m->summary.dt_s;
}

static double interpolate_column(const double *x, size_t row, size_t next, double share)
{
    return x[row] + share * (x[next] - x[row]);
}

/* Resamples a piece to an even grid. Velocities and poses are interpolated. The effort is
 * the mean until the next sample, so that its impulse and timing are preserved. */
static void resample_piece(const struct maker *m, const struct piece *piece, size_t n,
                           const struct columns *to, size_t at)
{
    const double begin = time_at(m, piece->first);
    size_t k = piece->first;
    for (size_t i = 0; i < n; i++) {
        const double t = begin + (double)i * m->summary.dt_s;
        while (k + 2 < piece->end && time_at(m, k + 1) <= t) {
            k++;
        }
        const double part = (t - time_at(m, k)) / (time_at(m, k + 1) - time_at(m, k));
        const double share = fmin(fmax(part, 0.0), 1.0);
        const size_t row = row_at(m, k);
        const size_t next = row_at(m, k + 1);
        to->t_s[at + i] = t;
        for (size_t s = 0; s < m->source.count; s++) {
            const size_t c = m->source.column[s];
            const double *x = m->source.from[s];
            to->of[c][at + i] = c / MODEL_AXES_MAX == OF_TAU
                                    ? mean_effort(m, piece, k, x, t)
                                    : interpolate_column(x, row, next, share);
        }
    }
}

/* Copies rows with their own times. Missing rows are interpolated between their neighbours,
 * with the mean of both efforts. */
static void fill_piece(const struct maker *m, const struct piece *piece,
                       const struct columns *to, size_t at)
{
    const struct data_raw *raw = m->raw;
    for (size_t k = piece->first; k < piece->end; k++) {
        const size_t row = row_at(m, k);
        const size_t steps = k + 1 < piece->end ? steps_after(m, k) : 1;
        const size_t next = k + 1 < piece->end ? row_at(m, k + 1) : row;
        for (size_t i = 0; i < steps; i++, at++) {
            const double share = (double)i / (double)steps;
            to->t_s[at] = interpolate_column(raw->t_s, row, next, share);
            if (to->gap_s) {
                const size_t before = row_at(m, k > piece->first ? k - 1 : k);
                const double gap_s = raw->t_s[row] - raw->t_s[before];
                to->gap_s[at] = i > 0 ? 0.0 : gap_s > 0.0 ? gap_s : m->summary.dt_s;
            }
            for (size_t c = 0; c < m->source.count; c++) {
                const size_t column = m->source.column[c];
                const bool held = column / MODEL_AXES_MAX == OF_TAU && i > 0;
                to->of[column][at] =
                    interpolate_column(m->source.from[c], row, next, held ? 0.5 : share);
            }
        }
    }
}

static double difference_at(const struct maker *m, size_t k, const double *raw)
{
    double t_s[4];
    double y[4];
    for (size_t i = 0; i < 4; i++) {
        t_s[i] = m->raw->t_s[row_at(m, k - 3 + i)];
        y[i] = raw[row_at(m, k - 3 + i)];
    }
    return third_difference(t_s, y);
}

/* Computes the noise of a channel from the recorded rows. */
static void look_closely(struct maker *m, const double *raw, struct data_channel *channel)
{
    double *values = m->scratch->data;
    const size_t every = m->used_count / SCRATCH + 1;
    size_t n = 0;
    for (size_t p = 0; p < m->piece_count; p++) {
        for (size_t k = m->pieces[p].first + 3; k < m->pieces[p].end && n < SCRATCH;
             k += every) {
            values[n++] = fabs(difference_at(m, k, raw));
        }
    }
    channel->noise_sd = n > 0 ? 1.4826 * find_median(values, n) / sqrt(20.0) : 0.0;
    /* Rounding to steps is noise of variance quantum^2 / 12, even while a channel rests. */
    channel->noise_sd = fmax(channel->noise_sd, channel->quantum / sqrt(12.0));
}

static void describe_channel(const double *x, size_t n, struct data_channel *channel)
{
    double sum = 0.0;
    double squares = 0.0;
    double min = INFINITY;
    double max = -INFINITY;
    size_t at_limit = 0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k];
        min = x[k] < min ? x[k] : min; /* fmin() is slower, and no value is NaN here */
        max = x[k] > max ? x[k] : max;
    }
    const double mean = sum / (double)n;
    const double near = 1e-9 * (max - min);
    for (size_t k = 0; k < n; k++) {
        squares += (x[k] - mean) * (x[k] - mean);
        at_limit += x[k] <= min + near || x[k] >= max - near ? 1 : 0;
    }
    channel->min = min;
    channel->max = max;
    channel->mean = mean;
    channel->sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0.0;
    /* Noise at the level of rounding errors is not noise of the channel. */
    channel->noise_sd = channel->noise_sd > near ? channel->noise_sd : 0.0;
    channel->saturation_ratio = near > 0.0 ? (double)at_limit / (double)n : 0.0;
    channel->signal_ratio =
        channel->noise_sd > 0.0 ? channel->sd / channel->noise_sd : (double)NAN;
}

static void copy_commands(const struct data_raw *raw, double *to, struct data_commands *out)
{
    const size_t n = raw->commands.count;
    *out = (struct data_commands){.count = n, .t_s = to};
    for (size_t c = 0; c <= raw->axes && n > 0; c++, to += n) {
        memcpy(to, c == 0 ? raw->commands.t_s : raw->commands.tau[c - 1], n * sizeof *to);
        if (c > 0) {
            out->tau[c - 1] = to;
        }
    }
}

/* Divides one block of memory into columns of n samples; false if there is no memory. */
static bool point_columns(const struct maker *m, size_t n, struct data_table *table,
                          struct columns *to)
{
    const size_t axes = m->raw->axes;
    size_t columns = 1 + m->source.count;
    for (size_t a = 0; a < axes; a++) {
        columns += m->raw->nu[a] ? 0 : 1; /* a derived velocity */
    }
    memset(table, 0, sizeof *table);
    const bool lost = m->summary.missing > 0 && !m->on_grid && !derives_velocity(m->raw);
    columns += lost ? 1 : 0;
    const size_t commands = m->raw->commands.count * (1 + axes);
    table->memory = n <= SIZE_MAX / sizeof(double) / columns - commands
                        ? gsl_vector_alloc(columns * n + commands)
                        : NULL;
    if (!table->memory) {
        return false;
    }
    double *at = table->memory->data;
    *to = (struct columns){.t_s = at};
    for (size_t a = 0; a < axes; a++) {
        to->of[a] = at += n;
    }
    for (size_t i = 0; i < m->source.count; i++) {
        double **column = &to->of[m->source.column[i]];
        *column = *column ? *column : (at += n);
    }
    memcpy(table->set.nu, to->of, sizeof table->set.nu);
    memcpy(table->set.tau, to->of + MODEL_AXES_MAX, sizeof table->set.tau);
    memcpy(table->set.pose, to->of + (size_t)OF_POSE * MODEL_AXES_MAX, sizeof table->set.pose);
    if (lost) {
        table->set.gap_s = to->gap_s = at += n;
    }
    copy_commands(m->raw, at + n, &table->set.commands);
    table->set.axes = axes;
    table->set.n = n;
    table->set.t_s = to->t_s;
    return true;
}

/* Removes `cut` samples from both ends of every run; the others move to the front. */
static void trim_ends(struct data_set *set, const struct columns *to, size_t cut)
{
    size_t at = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t first = set->run_start[r] + cut;
        const size_t bytes = (set->run_start[r + 1] - cut - first) * sizeof(double);
        (void)memmove(to->t_s + at, to->t_s + first, bytes);
        for (size_t c = 0; c < COLUMNS_MAX; c++) {
            if (to->of[c]) {
                (void)memmove(to->of[c] + at, to->of[c] + first, bytes);
            }
        }
        set->run_start[r] = at;
        at += bytes / sizeof(double);
    }
    set->run_start[set->run_count] = at;
    set->n = at;
}

/* Derives the velocities of an axis and their noise. *cut, in/out: number of samples without
 * a velocity at either end of a run. */
static enum status derive_axis(struct maker *m, struct data_set *set, const struct columns *to,
                               size_t a, size_t *cut)
{
    struct derived_velocity derived;
    const struct data_channel *pose = &m->summary.pose[a];
    size_t shortest = SIZE_MAX;
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t n = set->run_start[r + 1] - set->run_start[r];
        shortest = n < shortest ? n : shortest;
    }
    const struct derived_runs runs = {.position = to->of[OF_POSE * MODEL_AXES_MAX + a],
                                      .start = set->run_start,
                                      .count = set->run_count,
                                      .dt_s = set->dt_s,
                                      .noise_sd =
                                          fmax(pose->noise_sd, pose->quantum / sqrt(12.0))};
    const enum status st =
        derived_velocity_choose(&runs, (shortest - DATA_RUN_MIN) / 2, &derived);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + derived.half;
             k + derived.half < set->run_start[r + 1]; k++) {
            to->of[a][k] = derived_velocity_at(&runs, &derived, k);
        }
    }
    *cut = derived.half > *cut ? derived.half : *cut;
    m->summary.derived_window[a] = 2 * derived.half + 1;
    m->summary.nu[a].noise_sd = derived.noise_sd;
    set->derived[a] = true;
    return STATUS_OK;
}

static enum status derive_velocities(struct maker *m, struct data_set *set,
                                     const struct columns *to)
{
    size_t cut = 0;
    for (size_t a = 0; a < set->axes; a++) {
        const enum status st = m->raw->nu[a] ? STATUS_OK : derive_axis(m, set, to, a, &cut);
        if (st != STATUS_OK) {
            return st;
        }
    }
    if (cut > 0) {
        trim_ends(set, to, cut);
    }
    return STATUS_OK;
}

static void look_at_channels(struct maker *m)
{
    for (size_t i = 0; i < m->source.count; i++) {
        const size_t c = m->source.column[i];
        if (c / MODEL_AXES_MAX != OF_TAU) {
            look_closely(m, m->source.from[i], channel_of(&m->summary, c));
        }
    }
}

static void describe_channels(struct maker *m, struct data_set *set, const struct columns *to)
{
    for (size_t c = 0; c < COLUMNS_MAX; c++) {
        if (to->of[c]) {
            describe_channel(to->of[c], set->n, channel_of(&m->summary, c));
        }
    }
    for (size_t a = 0; a < set->axes; a++) {
        set->noise_sd[a] = m->summary.nu[a].noise_sd;
        set->quantum[a] = m->summary.nu[a].quantum;
    }
    m->summary.used = set->n;
    m->summary.runs = set->run_count;
    m->summary.duration_s = (double)(set->n - set->run_count) * m->summary.dt_s;
    m->summary.rate_hz = 1.0 / m->summary.dt_s;
}

static void fill_columns(const struct maker *m, struct data_set *set, const struct columns *to)
{
    size_t at = 0;
    size_t part = 0; /* part of the recording */
    set->dt_s = m->summary.dt_s;
    set->phase_s[1] = m->summary.row_s;
    set->run_count = m->piece_count;
    set->part_count = 0;
    for (size_t p = 0; p < m->piece_count; p++) {
        const size_t samples = piece_samples(m, &m->pieces[p]);
        set->run_start[p] = at;
        if (set->commands.count > 0) {
            const double *until = m->raw->commands_before;
            set->run_commands[p][0] = (size_t)until[row_at(m, m->pieces[p].first)] - 1;
            set->run_commands[p][1] = (size_t)until[row_at(m, m->pieces[p].end - 1)];
        }
        const size_t before = part;
        while (row_at(m, m->pieces[p].first) >= m->raw->part_start[part + 1]) {
            part++;
        }
        set->part_count += p == 0 || part > before ? 1 : 0;
        set->run_part[p] = set->part_count - 1;
        if (m->on_grid) {
            resample_piece(m, &m->pieces[p], samples, to, at);
        } else {
            fill_piece(m, &m->pieces[p], to, at);
        }
        at += samples;
    }
    set->run_start[m->piece_count] = at;
}

static enum status fill_table(struct maker *m, struct data_table *table, struct err *err)
{
    struct columns to;
    struct data_table out;
    size_t n = 0;
    size_t rows = 0;
    for (size_t p = 0; p < m->piece_count; p++) {
        n += piece_samples(m, &m->pieces[p]);
        rows += m->pieces[p].end - m->pieces[p].first;
    }
    m->summary.resampled = m->on_grid || n > rows;
    if (!point_columns(m, n, &out, &to)) {
        return err_no_memory(err, "data", "no memory for %zu samples", n);
    }
    fill_columns(m, &out.set, &to);
    look_at_channels(m);
    const enum status st = derive_velocities(m, &out.set, &to);
    if (st != STATUS_OK) {
        data_table_free(&out);
        return err_set(err, st, FAULT_FIT_FAILED, "data", "no velocities can be derived: %s",
                       status_name(st));
    }
    describe_channels(m, &out.set, &to);
    *table = out;
    return STATUS_OK;
}

static enum status make_data_set(struct maker *m, struct data_table *table, struct err *err)
{
    const double usual = usual_period(m);
    if (!(usual > 0.0)) {
        return err_set(err, STATUS_E_EMPTY, FAULT_TIME_NOT_RISING, "data",
                       "time does not go on in these %zu rows, a recording in order is needed",
                       m->raw->n);
    }
    if (!(usual >= DT_S_MIN && usual <= DT_S_MAX)) {
        return err_set(err, STATUS_E_RANGE, FAULT_WRONG_UNIT, "data",
                       "rows are %.4g s apart, times must be in seconds (ms? us? ns?)", usual);
    }
    select_rows(m, usual);
    find_pieces(m);
    if (m->piece_count == 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                       "no %d samples in a row: of %zu rows %zu are incomplete, %zu repeat a "
                       "time, %zu run back in time, and there are %zu gaps",
                       DATA_RUN_MIN, m->raw->n, m->summary.incomplete, m->summary.duplicates,
                       m->summary.back_rows, m->summary.gaps);
    }
    m->summary.dt_s = measure_period(m, usual);
    const bool even = is_even(m, m->summary.dt_s);
    m->on_grid = !even && (m->summary.jitter_ratio > TIMED_RATIO || derives_velocity(m->raw));
    m->summary.dt_s = even ? m->summary.dt_s : usual;
    m->summary.counted = counts_rows(m);
    return fill_table(m, table, err);
}

enum status data_table_make(const struct data_raw *raw, struct data_table *table,
                            struct data_summary *summary, struct err *err)
{
    struct raw_rows ready;
    struct maker m = {.raw = &ready.raw, .summary = {.rows = raw->n}};
    if (raw->n < 2) {
        *summary = m.summary;
        return err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                       "%zu rows, a recording of many is needed", raw->n);
    }
    for (size_t a = 0; a < raw->axes; a++) {
        assert(raw->tau[a] && (raw->nu[a] || raw->pose[a]));
    }
    struct data_table made;
    enum status st = raw_rows_prepare(raw, &ready, &m.summary);
    list_columns(m.raw, &m.source);
    m.used_rows = gsl_vector_ulong_alloc(raw->n);
    m.scratch = gsl_vector_alloc(SCRATCH);
    st = st == STATUS_OK && m.used_rows && m.scratch
             ? make_data_set(&m, &made, err)
             : err_no_memory(err, "data", "no memory for %zu rows", raw->n);
    gsl_vector_ulong_free(m.used_rows);
    gsl_vector_free(m.scratch);
    raw_rows_free(&ready);
    if (st == STATUS_OK && raw_rows_find_copies(raw, &m.summary) != STATUS_OK) {
        data_table_free(&made);
        st = err_no_memory(err, "data", "no memory for %zu rows", raw->n);
    }
    if (st == STATUS_OK) {
        *table = made;
    }
    *summary = m.summary;
    return st;
}

void data_table_free(struct data_table *table)
{
    if (table) {
        gsl_vector_free(table->memory);
        memset(table, 0, sizeof *table);
    }
}

bool data_set_is_recorded(const struct data_set *set, size_t k)
{
    return !set->gap_s || set->gap_s[k] > 0.0;
}

bool data_set_suits(const struct data_set *set, const struct model *model)
{
    bool suits = set->axes == model->axis_count;
    for (size_t a = 0; a < set->axes && suits && model->needs_pose; a++) {
        suits = set->pose[a] != NULL;
    }
    return suits;
}

void data_set_velocity(const struct data_set *set, size_t k, double *nu)
{
    for (size_t a = 0; a < set->axes; a++) {
        nu[a] = set->nu[a][k];
    }
}

const double *data_set_pose(const struct data_set *set, size_t k, double *pose)
{
    bool any = false;
    for (size_t a = 0; a < set->axes; a++) {
        const double *x = set->pose[a];
        any = any || x;
        pose[a] = x ? x[k] : 0.0;
    }
    return any ? pose : NULL;
}
