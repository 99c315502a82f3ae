#include "identification/simulation/input_phase.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/dot.h"
#include "identification/numeric/mixed_effects.h"
#include "identification/numeric/residual_colour.h"
#include "identification/simulation/free_parameters.h"
#include "identification/simulation/simulation_thresholds.def"

enum {
    CHANGES_MIN = 4,
    ROWS_PER_CHANGE = 6,
    ROUNDS = 5,
    SETTLED_ROWS = 6,
    FIRST_SAMPLES = 5,
    MARGIN_ROWS = 4
};
/* A response has ended after these lags, and these rows; work of one solution, in products. */
static const double RESPONSE_LAGS = 12.0;
static const double RESPONSE_ROWS = 400.0;
static const double PRODUCTS_MAX = 2e7;
/* The limit is lower for a search that no coloured residual asks for: about half a second. */
static const double HIDDEN_PRODUCTS_MAX = 1e7;
/* Difference of a time, and the longest shift, in rows. */
static const double DIFFERENCE_ROWS = 0.05;
static const double SHIFT_ROWS = 2.0;
/* Longest gap before a change, in periods, that hides when it was sent. */
static const double GAP_PERIODS = 4.0;
/* A time within its row is off by 3 at most in these units; few that are far off are effects at
 * rest, not delays. */
static const double FAR_SQUARES = 4.0;
/* A step leaves this share of a positive parameter. */
static const double LEAST_SHARE = 0.3;

/* ---- efforts with shifted times ---- */

/* Efforts of a part of a run, each from its own time on. */
struct layout {
    size_t count, room;
    double *t_s, *tau[MODEL_AXES_MAX];
};

static void set_room(struct layout *to, size_t axes, size_t room, double *memory)
{
    *to = (struct layout){.room = room, .t_s = memory};
    for (size_t a = 0; a < axes; a++) {
        to->tau[a] = memory + (a + 1) * room;
    }
}

/* Inserts the change of one effort; none moves before the first entry, `first`. */
static void insert_change(struct layout *to, size_t axes, size_t first, double t_s, size_t axis,
                          double value)
{
    size_t at = to->count++;
    for (; at > first + 1 && to->t_s[at - 1] > t_s; at--) {
        to->t_s[at] = to->t_s[at - 1];
        for (size_t a = 0; a < axes; a++) {
            to->tau[a][at] = to->tau[a][at - 1];
        }
    }
    to->t_s[at] = fmax(t_s, to->t_s[first]);
    for (size_t a = 0; a < axes; a++) {
        to->tau[a][at] = to->tau[a][at - 1];
    }
    for (; at < to->count; at++) {
        to->tau[axis][at] = value;
    }
}

/* Does an effort change since the recorded row before? */
static bool changes_at(const struct data_set *set, size_t axis, size_t k)
{
    size_t before = k - 1;
    while (before > 0 && !data_set_is_recorded(set, before)) {
        before--;
    }
    return data_set_is_recorded(set, k) &&
           fabs(set->tau[axis][k] - set->tau[axis][before]) > 0.0;
}

/* Appends the efforts of rows from .. to, of one run. */
static void lay_efforts(const struct data_set *set, const double *shift_s, size_t from,
                        size_t to, struct layout *out)
{
    double last_s[MODEL_AXES_MAX];
    const size_t first = out->count++;
    out->t_s[first] = set->t_s[from];
    for (size_t a = 0; a < set->axes; a++) {
        out->tau[a][first] = set->tau[a][from];
        last_s[a] = -HUGE_VAL;
    }
    for (size_t k = from + 1; k <= to; k++) {
        for (size_t a = 0; a < set->axes; a++) {
            if (changes_at(set, a, k)) { /* none overtakes an earlier one */
                last_s[a] = fmax(last_s[a], set->t_s[k] + shift_s[a * set->n + k]);
                insert_change(out, set->axes, first, last_s[a], a, set->tau[a][k]);
            }
        }
    }
}

/* Writes the mean efforts from row to row of a run. */
static void average_efforts(const struct layout *from, size_t first, const struct data_set *set,
                            size_t run, double *const *tau)
{
    size_t at = first;
    for (size_t k = set->run_start[run]; k + 1 < set->run_start[run + 1]; k++) {
        double sum[MODEL_AXES_MAX] = {0.0};
        double t_s = set->t_s[k];
        while (t_s < set->t_s[k + 1]) {
            const bool last = at + 1 == from->count || from->t_s[at + 1] >= set->t_s[k + 1];
            const double end_s = last ? set->t_s[k + 1] : fmax(from->t_s[at + 1], t_s);
            for (size_t a = 0; a < set->axes; a++) {
                sum[a] += from->tau[a][at] * (end_s - t_s);
            }
            t_s = end_s;
            at += last ? 0 : 1;
        }
        while (at + 1 < from->count && from->t_s[at + 1] <= t_s) {
            at++;
        }
        for (size_t a = 0; a < set->axes; a++) {
            tau[a][k] = sum[a] / (t_s - set->t_s[k]);
        }
    }
}

static void move_column(const struct data_table *table, const gsl_vector *memory,
                        const double **column)
{
    *column = *column ? memory->data + (*column - table->memory->data) : NULL;
}

/* Lets the columns of a table be in memory that begins with a copy of the present one. */
static void move_columns(struct data_table *table, gsl_vector *memory)
{
    struct data_set *set = &table->set;
    move_column(table, memory, &set->t_s);
    move_column(table, memory, &set->gap_s);
    for (size_t a = 0; a < set->axes; a++) {
        move_column(table, memory, &set->nu[a]);
        move_column(table, memory, &set->tau[a]);
        move_column(table, memory, &set->pose[a]);
        move_column(table, memory, &set->commands.tau[a]);
    }
    move_column(table, memory, &set->commands.t_s);
    gsl_vector_free(table->memory);
    table->memory = memory;
}

enum status input_phases_apply(struct data_table *table, const double *shift_s)
{
    struct data_set *set = &table->set;
    const size_t room = set->axes * set->n + set->run_count;
    const size_t old = table->memory->size;
    gsl_vector *memory = gsl_vector_alloc(old + (1 + set->axes) * room);
    struct layout all;
    double *tau[MODEL_AXES_MAX];
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    memcpy(memory->data, table->memory->data, old * sizeof(double));
    set_room(&all, set->axes, room, memory->data + old);
    for (size_t r = 0; r < set->run_count; r++) {
        set->run_commands[r][0] = all.count;
        lay_efforts(set, shift_s, set->run_start[r], set->run_start[r + 1] - 1, &all);
        set->run_commands[r][1] = all.count;
    }
    for (size_t a = 0; a < set->axes; a++) {
        tau[a] = memory->data + (set->tau[a] - table->memory->data);
    }
    for (size_t r = 0; r < set->run_count; r++) {
        struct layout run = all;
        run.count = set->run_commands[r][1];
        average_efforts(&run, set->run_commands[r][0], set, r, tau);
    }
    move_columns(table, memory);
    set->commands = (struct data_commands){.count = all.count, .t_s = all.t_s};
    memcpy(set->commands.tau, all.tau, sizeof all.tau);
    return STATUS_OK;
}

/* ---- search ---- */

/* A change of one effort, and its effect on the simulated velocities from row `from` on. */
struct change {
    size_t row, axis, from;
};

struct search {
    const struct model *model;
    const struct data_set *set;
    struct data_set view; /* a part of a run, with shifted efforts */
    struct layout efforts;
    struct trajectory_rules rules;
    bool at_rest, rests[DATA_RUNS_MAX]; /* of the view, of each run */
    size_t p, common; /* parameters and biases; with the delay and initial velocities */
    double theta[DYNAMICS_P_MAX], delay_s;
    double initial[DATA_RUNS_MAX][MODEL_AXES_MAX];
    double weight[MODEL_AXES_MAX]; /* one over the sd of the white residual */
    double *shift_s;
    size_t count, width;              /* changes, rows of an effect */
    gsl_vector *changes;              /* [3 count] */
    gsl_matrix *effects;              /* [count x axes width], weighted */
    gsl_matrix *slopes;               /* [common x axes n], weighted */
    gsl_matrix *simulated, *residual; /* [axes x n], the residual is weighted */
    gsl_matrix *growth;               /* [common x common] of the covariance */
    gsl_vector *room, *steps;         /* efforts; steps and variances of all unknowns */
};

static struct change get_change(const struct search *s, size_t j)
{
    const double *at = gsl_vector_const_ptr(s->changes, 3 * j);
    return (struct change){(size_t)at[0], (size_t)at[1], (size_t)at[2]};
}

static double find_gap_s(const struct data_set *set, size_t row)
{
    const double gap_s = set->gap_s ? set->gap_s[row] : set->t_s[row] - set->t_s[row - 1];
    return fmin(gap_s, GAP_PERIODS * set->dt_s);
}

/* The middle of a longer gap is earlier than that of a period, which belongs to the delay. */
static double find_middle_s(const struct data_set *set, size_t row)
{
    return -0.5 * (find_gap_s(set, row) - set->dt_s);
}

/* Counts the changes of efforts; changes NULL: only counts. */
static size_t list_changes(const struct data_set *set, double *changes)
{
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r] + 1; k < set->run_start[r + 1]; k++) {
            for (size_t a = 0; a < set->axes; a++) {
                if (changes_at(set, a, k)) {
                    if (changes) {
                        changes[3 * count] = (double)k;
                        changes[3 * count + 1] = (double)a;
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

/* Row of the run at or before a time. */
static size_t find_row(const struct data_set *set, size_t run, size_t near, double t_s)
{
    size_t k = near;
    while (k > set->run_start[run] && set->t_s[k] > t_s) {
        k--;
    }
    while (k + 1 < set->run_start[run + 1] && set->t_s[k + 1] <= t_s) {
        k++;
    }
    return k;
}

/* Prepares a walk from row `from` to row `to` of a run with the present shifts. */
static void begin_walk(struct search *s, size_t run, size_t from, size_t to, const double *nu_0,
                       struct trajectory *walk)
{
    const struct data_set *set = s->set;
    const size_t start = set->run_start[run];
    const size_t known = find_row(set, run, from, set->t_s[from] - s->delay_s);
    const size_t late = find_row(set, run, to, set->t_s[to] - s->delay_s) + MARGIN_ROWS;
    const size_t early = known > start + MARGIN_ROWS ? known - MARGIN_ROWS : start;
    const size_t end = set->run_start[run + 1] - 1;
    s->efforts.count = 0;
    lay_efforts(set, s->shift_s, early, late < end ? late : end, &s->efforts);
    s->view.run_start[0] = from;
    s->view.run_start[1] = to + 1;
    s->view.run_commands[0][0] = 0;
    s->view.run_commands[0][1] = s->view.commands.count = s->efforts.count;
    s->view.commands.t_s = s->efforts.t_s;
    memcpy(s->view.commands.tau, s->efforts.tau, sizeof s->efforts.tau);
    s->at_rest = early == start && s->rests[run];
    trajectory_begin(walk, &s->rules, 0, s->theta, s->delay_s, nu_0);
}

/* Column of the slopes that belongs to column `by` of a sensitive walk. */
static size_t find_column(const struct search *s, size_t run, size_t by)
{
    const size_t n = s->set->axes;
    return by < n ? s->p + 1 + run * n + by : by - n;
}

static bool is_counted(const struct search *s, size_t run, size_t k)
{
    const size_t start = s->set->run_start[run];
    return k >= start + SETTLED_ROWS && data_set_is_recorded(s->set, k) &&
           s->set->t_s[k] >= s->set->t_s[start] + fmax(s->delay_s, 0.0);
}

/* Simulates a run; fills simulated, residual and slopes. */
static bool simulate_run(struct search *s, size_t run)
{
    const struct data_set *set = s->set;
    const size_t n = set->axes;
    struct trajectory walk;
    bool more = true;
    begin_walk(s, run, set->run_start[run], set->run_start[run + 1] - 1, s->initial[run],
               &walk);
    const size_t m = trajectory_columns(&s->rules);
    while (more) {
        const size_t k = walk.at;
        for (size_t a = 0; a < n; a++) {
            const double weight = is_counted(s, run, k) ? s->weight[a] : 0.0;
            gsl_matrix_set(s->simulated, a, k, walk.nu[a]);
            gsl_matrix_set(s->residual, a, k, weight * (set->nu[a][k] - walk.nu[a]));
            for (size_t c = 0; c < m && s->rules.sensitive; c++) {
                gsl_matrix_set(s->slopes, find_column(s, run, c), a * set->n + k,
                               c < n && s->rests[run] ? 0.0 : weight * walk.by[a * m + c]);
            }
        }
        more = walk.at + 1 < walk.end;
        if (more && !trajectory_next(&walk)) {
            return false;
        }
    }
    return true;
}

/* A joint that friction holds forgets its first velocity: its slope is rounding. */
static void drop_forgotten(struct search *s, size_t run, size_t axis)
{
    gsl_vector_view slope = gsl_matrix_row(s->slopes, find_column(s, run, axis));
    if (gsl_blas_dnrm2(&slope.vector) * gsl_stats_sd(s->set->nu[axis], 1, s->set->n) < 1.0) {
        gsl_vector_set_zero(&slope.vector);
    }
}

static bool simulate_all(struct search *s, bool sensitive)
{
    bool well = true;
    s->rules.sensitive = sensitive;
    if (sensitive) {
        gsl_matrix_set_zero(s->slopes);
    }
    for (size_t r = 0; r < s->set->run_count && well; r++) {
        well = simulate_run(s, r);
        for (size_t a = 0; a < s->set->axes && sensitive; a++) {
            drop_forgotten(s, r, a);
        }
    }
    return well;
}

static double sum_squares(const struct search *s, size_t axis)
{
    const double *e = gsl_matrix_const_ptr(s->residual, axis, 0);
    return dot_product(e, e, s->set->n);
}

/* Effect of a later change j on the velocities, by a difference. */
static bool find_effect(struct search *s, size_t j, size_t run)
{
    const struct data_set *set = s->set;
    const double step_s = DIFFERENCE_ROWS * set->dt_s;
    struct change change = get_change(s, j);
    double *shift = &s->shift_s[change.axis * set->n + change.row];
    const double acts_s = set->t_s[change.row] + *shift + s->delay_s;
    const size_t from = find_row(set, run, change.row, acts_s);
    const size_t last = set->run_start[run + 1] - 1;
    const size_t to = from + s->width < last ? from + s->width : last;
    double nu[MODEL_AXES_MAX];
    struct trajectory walk;
    gsl_vector_set(s->changes, 3 * j + 2, (double)from);
    for (size_t a = 0; a < set->axes; a++) {
        nu[a] = gsl_matrix_get(s->simulated, a, from);
    }
    *shift += step_s;
    begin_walk(s, run, from, to, nu, &walk);
    *shift -= step_s;
    while (walk.at < to) {
        if (!trajectory_next(&walk)) {
            return false;
        }
        for (size_t a = 0; a < set->axes; a++) {
            const double weight = is_counted(s, run, walk.at) ? s->weight[a] : 0.0;
            const double off = walk.nu[a] - gsl_matrix_get(s->simulated, a, walk.at);
            gsl_matrix_set(s->effects, j, a * s->width + walk.at - from - 1,
                           weight * off / step_s);
        }
    }
    return true;
}

static bool find_effects(struct search *s)
{
    size_t run = 0;
    bool well = true;
    gsl_matrix_set_zero(s->effects);
    s->rules.sensitive = false;
    for (size_t j = 0; j < s->count && well; j++) {
        while (get_change(s, j).row >= s->set->run_start[run + 1]) {
            run++;
        }
        well = find_effect(s, j, run);
    }
    return well;
}

/* Sum of products of the effect of change j with a column [axes n]. */
static double multiply_effect(const struct search *s, size_t j, const double *column)
{
    const size_t from = get_change(s, j).from + 1;
    const size_t rows = from + s->width < s->set->n ? s->width : s->set->n - from;
    double sum = 0.0;
    for (size_t a = 0; a < s->set->axes; a++) {
        sum += dot_product(gsl_matrix_const_ptr(s->effects, j, a * s->width),
                           column + a * s->set->n + from, rows);
    }
    return sum;
}

/* Sum of products of the effects of two changes. */
static double multiply_effects(const struct search *s, size_t j, size_t i)
{
    size_t a = get_change(s, j).from;
    size_t b = get_change(s, i).from;
    if (a > b) { /* a shift may exchange their order */
        const size_t other = i;
        i = j;
        j = other;
        const size_t row = a;
        a = b;
        b = row;
    }
    const size_t late = b - a;
    double sum = 0.0;
    for (size_t c = 0; c < s->set->axes && late < s->width; c++) {
        sum += dot_product(gsl_matrix_const_ptr(s->effects, j, c * s->width + late),
                           gsl_matrix_const_ptr(s->effects, i, c * s->width), s->width - late);
    }
    return sum;
}

/* Largest number of later changes whose effects overlap with one. */
static size_t find_band(const struct search *s, size_t width)
{
    size_t band = 1;
    size_t last = 0;
    for (size_t j = 0; j < s->count; j++) {
        while (last + 1 < s->count &&
               get_change(s, last + 1).row <= get_change(s, j).row + width + MARGIN_ROWS) {
            last++;
        }
        band = last > j && last - j > band ? last - j : band;
    }
    return band < s->count ? band : s->count - 1;
}

/* Products of one solution. */
static double find_products(const struct search *s)
{
    const double band = (double)find_band(s, s->width);
    return (double)s->count * band * band;
}

static double find_prior(const struct search *s, size_t j, double ratio2)
{
    const double gap_s = find_gap_s(s->set, get_change(s, j).row);
    return ratio2 * gap_s * gap_s / 12.0;
}

static void fill_equations(const struct search *s, double ratio2, struct mixed_effects *m)
{
    const size_t all = s->set->axes * s->set->n;
    const double *e = s->residual->data;
    for (size_t j = 0; j < s->count; j++) {
        const struct change change = get_change(s, j);
        const double prior = find_prior(s, j, ratio2);
        const double shift = s->shift_s[change.axis * s->set->n + change.row] -
                             find_middle_s(s->set, change.row);
        for (size_t i = 0; i <= m->band && j + i < s->count; i++) {
            gsl_matrix_set(m->local, j, i,
                           multiply_effects(s, j, j + i) + (i == 0 ? 1.0 / prior : 0.0));
        }
        for (size_t c = 0; c < s->common; c++) {
            gsl_matrix_set(m->border, j, c,
                           multiply_effect(s, j, gsl_matrix_const_ptr(s->slopes, c, 0)));
        }
        gsl_vector_set(m->local_right, j, multiply_effect(s, j, e) - shift / prior);
    }
    for (size_t c = 0; c < s->common; c++) {
        const double *slope = gsl_matrix_const_ptr(s->slopes, c, 0);
        for (size_t d = 0; d <= c; d++) {
            gsl_matrix_set(m->corner, c, d,
                           dot_product(slope, gsl_matrix_const_ptr(s->slopes, d, 0), all));
        }
        gsl_vector_set(m->common_right, c, dot_product(slope, e, all));
    }
}

static void move_common(struct search *s, const double *step)
{
    for (size_t i = 0; i < s->p; i++) {
        const bool positive = i < s->model->parameter_count && s->theta[i] > 0.0 &&
                              s->model->parameters[i].sign != MODEL_ANY;
        s->theta[i] = positive ? fmax(s->theta[i] + step[i], LEAST_SHARE * s->theta[i])
                               : s->theta[i] + step[i];
    }
    s->delay_s += step[s->p];
    for (size_t r = 0; r < s->set->run_count; r++) {
        for (size_t a = 0; a < s->set->axes; a++) {
            s->initial[r][a] += step[s->p + 1 + r * s->set->axes + a];
        }
    }
}

/* One step of all times and common unknowns. *ratio2, in/out: squared ratio of their spread,
 * by expectation and maximisation; *freedom, out: number of times that the data determine. */
static bool move_shifts(struct search *s, size_t band, double *ratio2, double *freedom,
                        gsl_matrix *growth)
{
    struct mixed_effects m;
    double *step = s->steps->data;
    double *variance = step + s->count;
    double sum = 0.0;
    bool well = mixed_effects_init(&m, s->count, band, s->common) == STATUS_OK;
    if (well) {
        fill_equations(s, *ratio2, &m);
        well = mixed_effects_solve(&m, step, variance, step + 2 * s->count, growth);
    }
    mixed_effects_free(&m);
    if (!well) {
        return false;
    }
    *freedom = 0.0;
    for (size_t j = 0; j < s->count; j++) {
        const struct change change = get_change(s, j);
        const double most_s = SHIFT_ROWS * find_gap_s(s->set, change.row);
        const double prior = find_prior(s, j, *ratio2);
        double *shift = &s->shift_s[change.axis * s->set->n + change.row];
        const double middle_s = find_middle_s(s->set, change.row);
        *shift = middle_s + fmin(fmax(*shift + step[j] - middle_s, -most_s), most_s);
        sum += fmin((pow(*shift - middle_s, 2.0) + variance[j]) / prior, FAR_SQUARES);
        *freedom += 1.0 - fmin(variance[j] / prior, 1.0);
    }
    *ratio2 *= sum / (double)s->count;
    move_common(s, step + 2 * s->count);
    return true;
}

/* Sets the weights from the white part of the residuals. Returns whether any has colour. */
static bool weigh_axes(struct search *s, double white[MODEL_AXES_MAX])
{
    const struct data_set *set = s->set;
    bool coloured = false;
    for (size_t a = 0; a < set->axes; a++) {
        struct residual_colour colour;
        residual_colour_find(gsl_matrix_const_ptr(s->residual, a, 0), set->run_start,
                             set->run_count, &colour);
        coloured = coloured || residual_colour_share(&colour, 1.0) > 0.0;
        white[a] = colour.white / (s->weight[a] * s->weight[a]);
        s->weight[a] = colour.white > 0.0 ? s->weight[a] / sqrt(colour.white) : s->weight[a];
    }
    return coloured;
}

/* Squares of the residuals in units of the velocities. */
static void find_squares(const struct search *s, const double weight[MODEL_AXES_MAX],
                         double squares[MODEL_AXES_MAX])
{
    for (size_t a = 0; a < s->set->axes; a++) {
        squares[a] = sum_squares(s, a) / (weight[a] * weight[a]);
    }
}

static bool explains_motion(const struct search *s, const double squares[MODEL_AXES_MAX])
{
    bool well = true;
    for (size_t a = 0; a < s->set->axes; a++) {
        const double moved = gsl_stats_variance(s->set->nu[a], 1, s->set->n);
        const double left = squares[a] / (double)s->set->n;
        well = well && (!(moved > 0.0) || left < (1.0 - CAUSE_R2_MIN) * moved);
    }
    return well;
}

/* Compares squares of the residuals before and after. white, now: variances of their white
 * parts before and after. */
static void compare_residuals(const struct search *s, const double *before, const double *after,
                              const double *white, const double *now, double freedom,
                              struct input_phases *out)
{
    const double n = (double)s->set->n;
    const double grown = n / fmax(1.0, n - freedom / (double)s->set->axes);
    double explained = 0.0;
    double coloured = 0.0;
    out->chi2 = out->news_chi2 = -freedom;
    for (size_t a = 0; a < s->set->axes; a++) {
        if (white[a] > 0.0 && after[a] > 0.0 && now[a] > 0.0) {
            out->chi2 += n * log(before[a] / after[a]);
            out->news_chi2 += n * log(white[a] / now[a]);
            explained += (before[a] - grown * after[a]) / white[a];
            coloured += (before[a] - n * white[a]) / white[a];
        }
    }
    out->share = explained / fmax(coloured, 1e-9 * n);
}

/* Fits all times. The effect of each changes little, so that two rounds share them. */
static bool search_times(struct search *s, struct input_phases *out)
{
    const size_t band = find_band(s, s->width);
    double before[MODEL_AXES_MAX];
    double after[MODEL_AXES_MAX];
    double white[MODEL_AXES_MAX];
    double now[MODEL_AXES_MAX];
    double ratio2 = 1.0;
    double freedom = 0.0;
    double gaps2 = 0.0;
    bool well = simulate_all(s, false);
    find_squares(s, s->weight, before);
    /* If commands change all the time, their phases look like white noise; they are searched
     * where that is cheap. Lost rows hide colour. */
    const bool often = s->count * ROWS_PER_CHANGE > s->set->n;
    const bool hidden = (often && find_products(s) < HIDDEN_PRODUCTS_MAX) || s->set->gap_s;
    if (!well || !(weigh_axes(s, white) || hidden) || !explains_motion(s, before)) {
        return false;
    }
    for (int round = 0; round < ROUNDS && well; round++) {
        well = simulate_all(s, true) && (round % 2 != 0 || find_effects(s)) &&
               move_shifts(s, band, &ratio2, &freedom, s->growth) && simulate_all(s, false);
        find_squares(s, s->weight, after);
        (void)weigh_axes(s, now);
    }
    for (size_t j = 0; j < s->count; j++) {
        gaps2 += find_prior(s, j, 1.0) / (double)s->count;
    }
    compare_residuals(s, before, after, white, now, freedom, out);
    out->count = s->count;
    out->ratio = sqrt(ratio2);
    out->spread_s = sqrt(ratio2 * gaps2);
    for (size_t i = 0; i <= s->p && well; i++) {
        for (size_t k = 0; k <= s->p; k++) {
            out->growth[i][k] = gsl_matrix_get(s->growth, i, k);
        }
    }
    return well;
}

/* ---- set-up ---- */

static void set_start(struct search *s, const struct dynamics_fit *fit, bool of_set)
{
    const struct data_set *set = s->set;
    memcpy(s->theta, fit->estimate.value, s->p * sizeof *s->theta);
    s->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        s->rests[r] = of_set;
        for (size_t a = 0; a < set->axes; a++) {
            const double known = of_set ? fit->initial[r][a] : (double)NAN;
            const size_t rows = set->run_start[r + 1] - set->run_start[r];
            s->initial[r][a] =
                isfinite(known) ? known
                                : gsl_stats_mean(set->nu[a] + set->run_start[r], 1,
                                                 rows < FIRST_SAMPLES ? rows : FIRST_SAMPLES);
            s->rests[r] = s->rests[r] && !(fabs(s->initial[r][a]) > 0.0);
        }
    }
    for (size_t a = 0; a < set->axes; a++) {
        double largest = 0.0;
        s->weight[a] = 1.0;
        s->rules.limit[a] = free_parameters_limit(set, a, &largest);
    }
}

/* Finds the rows of a response. Returns whether the search is affordable: efforts that change
 * at each row, as a controller's do, hardly have phases. */
static bool choose_width(struct search *s)
{
    double response_s[MODEL_AXES_MAX];
    double lag_s = 0.0;
    free_parameters_responses(s->model, s->theta, s->set, response_s);
    for (size_t a = 0; a < s->set->axes; a++) {
        lag_s = fmax(lag_s, response_s[a]);
    }
    s->width = (size_t)fmin(ceil(RESPONSE_LAGS * lag_s / s->set->dt_s) + 2.0, RESPONSE_ROWS);
    return find_products(s) < PRODUCTS_MAX;
}

static bool alloc_search(struct search *s, bool *affordable)
{
    const size_t n = s->set->n;
    const size_t axes = s->set->axes;
    const size_t room = axes * n + s->set->run_count;
    s->changes = gsl_vector_calloc(3 * s->count);
    if (!s->changes) {
        return false;
    }
    (void)list_changes(s->set, s->changes->data);
    *affordable = choose_width(s);
    if (!*affordable) {
        return true;
    }
    s->effects = gsl_matrix_alloc(s->count, axes * s->width);
    s->slopes = gsl_matrix_alloc(s->common, axes * n);
    s->simulated = gsl_matrix_alloc(axes, n);
    s->residual = gsl_matrix_alloc(axes, n);
    s->growth = gsl_matrix_alloc(s->common, s->common);
    s->room = gsl_vector_alloc((1 + axes) * room);
    s->steps = gsl_vector_alloc(2 * s->count + s->common);
    const bool well = s->effects && s->slopes && s->simulated && s->residual && s->growth &&
                      s->room && s->steps;
    if (well) {
        set_room(&s->efforts, axes, room, s->room->data);
    }
    return well;
}

static void free_search(struct search *s)
{
    gsl_vector_free(s->changes);
    gsl_matrix_free(s->effects);
    gsl_matrix_free(s->slopes);
    gsl_matrix_free(s->simulated);
    gsl_matrix_free(s->residual);
    gsl_matrix_free(s->growth);
    gsl_vector_free(s->room);
    gsl_vector_free(s->steps);
}

enum status input_phases_find(const struct model *model, const struct data_set *set,
                              const struct dynamics_fit *fit, bool of_set,
                              struct step_budget *budget, double *shift_s,
                              struct input_phases *phases)
{
    struct search s = {.model = model, .set = set, .view = *set, .p = fit->estimate.p};
    *phases = (struct input_phases){.count = 0};
    memset(shift_s, 0, set->axes * set->n * sizeof *shift_s);
    s.count = list_changes(set, NULL);
    const bool ended =
        fit->stop == DYNAMICS_STOP_CONVERGED || fit->stop == DYNAMICS_STOP_STALLED;
    if (fit->method != DYNAMICS_OUTPUT_ERROR || !ended || set->commands.count > 0 ||
        s.count < CHANGES_MIN) {
        return STATUS_OK;
    }
    s.common = s.p + 1 + set->run_count * set->axes;
    s.shift_s = shift_s;
    s.view.run_count = 1;
    s.rules = (struct trajectory_rules){.model = model,
                                        .set = &s.view,
                                        .at_rest = &s.at_rest,
                                        .with_biases = fit->bias_count > 0,
                                        .budget = budget};
    s.rules.step_s = trajectory_step_s(model, fit->estimate.value, set);
    set_start(&s, fit, of_set);
    bool affordable = false;
    const bool room = alloc_search(&s, &affordable);
    if (room && affordable && search_times(&s, phases)) {
        const bool explain = phases->share >= CAUSE_SHARE && phases->chi2 > CAUSE_CHI2;
        phases->within_row = explain && phases->ratio <= ROW_REACH;
        /* Forces from outside are slow: times imitate them, and predict nothing better. */
        phases->vary = explain && !phases->within_row && phases->news_chi2 > CAUSE_CHI2;
    }
    free_search(&s);
    return room ? STATUS_OK : STATUS_E_NOMEM;
}

void input_phases_widen(const struct input_phases *phases, const struct model *model,
                        const struct data_set *set, struct dynamics_fit *fit)
{
    const size_t p = fit->estimate.p;
    for (size_t i = 0; i < p && fit->estimate.rank >= p; i++) {
        for (size_t k = 0; k < p; k++) {
            fit->estimate.covariance[i][k] += phases->growth[i][k];
        }
        fit->delay_covariance[i] += phases->growth[i][p];
    }
    fit->delay_se_s = sqrt(fit->delay_se_s * fit->delay_se_s + fmax(phases->growth[p][p], 0.0));
    dynamics_judge(fit, model, set);
}

void input_phases_judge(const struct input_phases *phases, struct dynamics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    if (phases->within_row) {
        estimate_note(e, REASON_AUTOCORRELATED,
                      "commands change between rows: the time of each was fitted");
    } else if (phases->vary && !estimate_has_reason(e, REASON_CAUSE)) {
        estimate_reason_first(e, REASON_CAUSE, ESTIMATE_MARGINAL,
                              "the delay differs from command to command (sd %.2g s)",
                              phases->spread_s);
        estimate_advise(e, "stamp commands when they act, or send them at a fixed rate");
    }
}
