/* Test whether the parts of a recording agree (docs/model/identification_theory.md, "Tests").
 *
 * Near the fit, an innovation is linear in the parameters, and innovations of a right model are
 * independent. Each part of a recording therefore has its own estimate, one Gauss-Newton step
 * away, from sums of products. If the parts agree, what their own estimates explain beyond a
 * common one is chi squared. Parts share nothing but the state at their edges.
 */
#include "identification/simulation/stability_parts.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "identification/data/data_view.h"
#include "identification/numeric/agreement.h"
#include "identification/numeric/svd.h"
#include "identification/simulation/prediction_filter.h"
#include "identification/simulation/simulation_thresholds.def"

/* An effort has a direction if it exceeds this share of its largest value. */
static const double DIRECTED = 0.02;
static const double RANK_RATIO = 1e-9;
/* Below this count of widths dry friction has not turned over: tanh(2) = 0.96. */
static const double CREEP_WIDTHS = 2.0;

ENUM_NAMES(stability_cut, STABILITY_CUTS, "halves", "thirds", "recordings", "level",
           "direction");

static size_t level_bin(size_t axis, size_t level)
{
    return SIXTHS + axis * (LEVELS + 2) + level;
}

static size_t direction_bin(size_t axis, size_t direction)
{
    return level_bin(axis, LEVELS + direction);
}

size_t stability_recording(const struct data_set *set, size_t run)
{
    const size_t part = set->run_part[run];
    return set->part_count > STABILITY_PARTS_MAX ? part * STABILITY_PARTS_MAX / set->part_count
                                                 : part;
}

/* Adds n columns of a sample to a bin. */
static void add_to_bin(const struct stability_work *work, size_t bin_at, const size_t *column,
                       size_t n, const gsl_matrix *rows, const double *z)
{
    struct part_sums *bin = &work->bins[bin_at];
    for (size_t a = 0; a < work->axes; a++) {
        for (size_t i = 0; i < n; i++) {
            const double x = gsl_matrix_get(rows, a, column[i]);
            bin->v[i] += x * z[a];
            for (size_t j = 0; j <= i; j++) {
                const double product = x * gsl_matrix_get(rows, a, column[j]);
                bin->g[i * n + j] += product;
                if (bin_at < WIDE) {
                    bin->m[i * n + j] += z[a] * z[a] * product;
                }
            }
        }
        bin->squares += z[a] * z[a];
        bin->rows += 1.0;
    }
}

/* Sets the shapes of the efforts until the next sample, each weighted by its duration. */
static void add_shapes(void *context, const struct trajectory *walk, gsl_matrix *efforts)
{
    const struct stability_work *work = context;
    const double end_s = work->set->t_s[walk->at + 1];
    double now_s = walk->t_s;
    for (size_t row = walk->effort; now_s < end_s; row++) {
        const double stop_s = fmin(fmax(trajectory_edge_s(walk, row), now_s), end_s);
        const double part = (stop_s - now_s) / (end_s - walk->t_s);
        for (size_t a = 0; a < work->axes; a++) {
            double shape[ADDED];
            if (!(work->largest[a] > 0.0)) {
                continue;
            }
            stability_find_shapes(trajectory_effort(walk, row, a) / work->largest[a], shape);
            for (size_t k = 0; k < ADDED; k++) {
                *gsl_matrix_ptr(efforts, a, a * ADDED + k) +=
                    part * work->largest[a] * shape[k];
            }
        }
        now_s = stop_s;
    }
}

static void see_shapes(const struct stability_work *work, const gsl_matrix *rows,
                       const double *z)
{
    size_t column[COLUMNS_MAX];
    memcpy(column, work->column, work->wide * sizeof *column);
    for (size_t a = 0; a < work->axes; a++) {
        for (size_t k = 0; k < SHAPES; k++) {
            column[work->wide + k] = work->shaped + a * ADDED + k;
        }
        add_to_bin(work, SHAPED + a, column, work->wide + SHAPES, rows, z);
    }
}

/* A model whose friction turns over creeps while a joint rests: its velocity there, of the size
 * of the width, says nothing about friction. */
static bool is_creeping(const struct trajectory *walk)
{
    const struct model *model = walk->rules->model;
    return model->sticks && model->axis_count == 1 &&
           fabs(walk->nu[0]) < CREEP_WIDTHS * model->width;
}

/* Adds a sample of the filter to the bins of its time, effort size and direction. */
static void see_sample(void *context, const struct trajectory *walk, const gsl_matrix *rows,
                       const double *z)
{
    struct stability_work *work = context;
    const size_t at = work->first + walk->at;
    if (is_creeping(walk)) {
        return;
    }
    add_to_bin(work, SIXTHS * at / work->whole->n, work->column, work->count, rows, z);
    while (at >= work->whole->run_start[work->run + 1]) {
        work->run++;
    }
    if (work->whole->part_count > 1) {
        add_to_bin(work, RECORDINGS + stability_recording(work->whole, work->run), work->column,
                   work->count, rows, z);
    }
    if (work->wide > work->count) {
        add_to_bin(work, WIDE, work->column, work->wide, rows, z);
    }
    see_shapes(work, rows, z);
    gain_scan_add(work->scan, work->axes, GAIN_SCAN_BLOCKS * at / work->whole->n, rows,
                  work->shaped + SHAPE_SAME, ADDED, z);
    for (size_t a = 0; a < work->axes; a++) {
        work->products[a] += z[a] * work->before[a];
        work->squares[a] += z[a] * z[a];
        work->before[a] = z[a];
        if (!(work->largest[a] > 0.0)) {
            continue;
        }
        const double share = trajectory_effort(walk, walk->effort, a) / work->largest[a];
        const size_t level = (size_t)fmin(LEVELS * fabs(share), LEVELS - 1);
        add_to_bin(work, level_bin(a, level), work->column, work->count, rows, z);
        if (fabs(share) > DIRECTED) {
            add_to_bin(work, direction_bin(a, share > 0.0 ? 1 : 0), work->column, work->count,
                       rows, z);
        }
    }
}

static void add_sums(struct part_sums *to, const struct part_sums *from)
{
    for (size_t i = 0; i < COUNT(to->g); i++) {
        to->g[i] += from->g[i];
    }
    for (size_t i = 0; i < COUNT(to->m); i++) {
        to->m[i] += from->m[i];
    }
    for (size_t i = 0; i < COUNT(to->v); i++) {
        to->v[i] += from->v[i];
    }
    to->squares += from->squares;
    to->rows += from->rows;
}

/* Names the entry whose estimates differ most, in standard errors. Entries that matter come
 * first: with correlated estimates, the most accurate one need not be the one that changed. */
static void name_entry(const struct stability_work *work, const struct dynamics_fit *fit,
                       const struct part_estimate *parts, struct stability_test *test)
{
    size_t found = 0;
    double most = -1.0;
    for (size_t i = 0; i < work->count && work->index[i] < fit->estimate.p; i++) {
        const double least = STABILITY_MATTERS * fabs(fit->estimate.value[work->index[i]]);
        for (size_t k = 0; k < test->parts * test->parts; k++) {
            const struct part_estimate *a = &parts[k / test->parts];
            const struct part_estimate *b = &parts[k % test->parts];
            const double apart = fabs(a->step[i] - b->step[i]);
            const double sd = hypot(stability_part_sd(a, work->count, i),
                                    stability_part_sd(b, work->count, i));
            const double weight = apart / sd + (apart > fmax(sd, least) ? 1e9 : 0.0);
            found = weight > most ? i : found;
            most = fmax(weight, most);
        }
    }
    test->entry = work->index[found];
    for (size_t a = 0; a < test->parts; a++) {
        test->value[a] = fit->estimate.value[test->entry] + parts[a].step[found];
        test->se[a] = stability_part_sd(&parts[a], work->count, found);
    }
}

/* Tests the agreement of one entry's estimates and records their spread. */
static void compare_entry(const struct estimate_of_one *each, size_t count, size_t entry,
                          enum stability_cut cut, struct agreement *agreement,
                          struct stability *out)
{
    agreement_find(each, count, agreement);
    const bool differ = agreement->p < DIFFER;
    struct stability_between *between = cut == STABILITY_RECORDINGS ? out->recordings
                                        : cut <= STABILITY_THIRDS   ? out->in_time
                                                                    : NULL;
    if (between && differ && agreement->between_sd > between[entry].sd) {
        between[entry].sd = agreement->between_sd;
        between[entry].mean_variance = agreement->mean_variance;
    }
    if (cut == STABILITY_RECORDINGS) {
        out->recording_count = count;
    }
}

static void compare_parts(const struct stability_work *work, const struct part_estimate *parts,
                          size_t count, enum stability_cut cut, struct stability *out)
{
    for (size_t i = 0; i < work->count; i++) {
        struct estimate_of_one each[STABILITY_PARTS_MAX];
        struct agreement ignored;
        for (size_t b = 0; b < count; b++) {
            each[b] = (struct estimate_of_one){
                parts[b].step[i], stability_part_sd(&parts[b], work->count, i), HUGE_VAL};
        }
        if (work->index[i] < DYNAMICS_P_MAX) {
            compare_entry(each, count, work->index[i], cut, &ignored, out);
        }
    }
}

void stability_compare(const struct dynamics_fit *fit, enum stability_cut cut, size_t axis,
                       const struct stability_part *parts, size_t count,
                       struct stability *stability)
{
    struct stability_test test = {.cut = cut, .axis = axis, .p = HUGE_VAL};
    size_t known = 0;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        struct estimate_of_one each[STABILITY_PARTS_MAX];
        struct agreement agreement;
        size_t n = 0;
        for (size_t b = 0; b < count; b++) {
            if (parts[b].se[i] > 0.0 && isfinite(parts[b].value[i])) {
                each[n++] = (struct estimate_of_one){parts[b].value[i], parts[b].se[i],
                                                     parts[b].freedom};
            }
        }
        if (n < 2) {
            continue;
        }
        known++;
        compare_entry(each, n, i, cut, &agreement, stability);
        if (agreement.p < test.p) {
            test.statistic = agreement.statistic;
            test.df = agreement.df;
            test.p = agreement.p;
            test.entry = i;
            test.parts = n;
            for (size_t b = 0; b < n; b++) {
                test.value[b] = each[b].value;
                test.se[b] = each[b].se;
            }
        }
    }
    if (known > 0 && isfinite(test.p)) {
        test.p = fmin(1.0, test.p * (double)known);
        stability->tests[stability->count++] = test;
    }
}

/* Returns step' g step for a lower triangle g. */
static double weigh_step(const double *g, const double *step, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            sum += (j < i ? 2.0 : 1.0) * g[i * n + j] * step[i] * step[j];
        }
    }
    return sum;
}

/* A step that rests on few innovations, all of them large, has their noise and not the mean
 * one: a joint that stops a moment sooner, a speed whose noise grows. */
static void allow_for_uneven_noise(const struct part_sums *sums, size_t n,
                                   struct part_estimate *part)
{
    const double even = weigh_step(sums->g, part->step, n) * sums->squares / sums->rows;
    const double factor = even > 0.0 ? weigh_step(sums->m, part->step, n) / even : 1.0;
    if (factor > 1.0) {
        part->noise *= factor;
        part->explained /= factor;
        for (size_t i = 0; i < n * n; i++) {
            part->svd.inverse[i] *= factor;
        }
    }
}

/* Tests one cut with bins [parts]. Returns false if there are too few data. */
static bool test_cut(const struct stability_work *work, const struct dynamics_fit *fit,
                     const struct part_sums *bins, struct stability_test *test,
                     struct stability *stability)
{
    struct part_estimate parts[STABILITY_PARTS_MAX];
    struct part_sums common = {.rows = 0.0};
    struct part_estimate all;
    const double as_one = stability_innovations_as_one(work);
    test->statistic = 0.0;
    test->df = 0.0;
    size_t used = 0;
    for (size_t b = 0; b < test->parts; b++) {
        struct part_sums part = bins[b];
        if (part.rows < ROWS_PER_UNKNOWN * (double)work->count * as_one) {
            continue;
        }
        struct part_estimate *out = &parts[used];
        out->noise = as_one * fmax(part.squares / part.rows, 1e-12);
        if (!stability_solve_part(&part, work->count, out->noise, &out->svd, out->step,
                                  &out->explained)) {
            return false;
        }
        allow_for_uneven_noise(&part, work->count, out);
        test->statistic += out->explained;
        test->df += (double)out->svd.rank;
        /* Each part is weighted by its own noise. */
        for (size_t i = 0; i < COUNT(part.g); i++) {
            part.g[i] /= out->noise;
        }
        for (size_t i = 0; i < COUNT(part.v); i++) {
            part.v[i] /= out->noise;
        }
        add_sums(&common, &part);
        used++;
    }
    test->parts = used;
    if (used < 2 ||
        !stability_solve_part(&common, work->count, 1.0, &all.svd, all.step, &all.explained)) {
        return false;
    }
    test->statistic -= all.explained;
    test->df -= (double)all.svd.rank;
    if (!(test->df > 0.0) || !isfinite(test->statistic)) {
        return false;
    }
    test->p = gsl_cdf_chisq_Q(fmax(test->statistic, 0.0), test->df);
    name_entry(work, fit, parts, test);
    compare_parts(work, parts, used, test->cut, stability);
    return true;
}

/* Halves and thirds are sums of sixths, so that one pass of the filter serves all cuts. */
static void run_cut(const struct stability_work *work, const struct dynamics_fit *fit,
                    enum stability_cut cut, size_t axis, struct stability *out)
{
    struct stability_test test = {.cut = cut, .axis = axis, .parts = 2};
    struct part_sums bins[STABILITY_PARTS_MAX];
    memset(bins, 0, sizeof bins);
    if (cut == STABILITY_HALVES || cut == STABILITY_THIRDS) {
        test.parts = cut == STABILITY_HALVES ? 2 : 3;
        for (size_t k = 0; k < SIXTHS; k++) {
            add_sums(&bins[k * test.parts / SIXTHS], &work->bins[k]);
        }
    } else if (cut == STABILITY_RECORDINGS) {
        test.parts = STABILITY_PARTS_MAX;
        memcpy(bins, &work->bins[RECORDINGS], sizeof bins);
    } else {
        test.parts = cut == STABILITY_LEVEL ? LEVELS : 2;
        for (size_t k = 0; k < test.parts; k++) {
            bins[k] = work->bins[cut == STABILITY_LEVEL ? level_bin(axis, k)
                                                        : direction_bin(axis, k)];
        }
    }
    if (test_cut(work, fit, bins, &test, out)) {
        out->tests[out->count++] = test;
    }
}

/* Outside the fitted data, errors of the parameters increase the innovations, by the trace
 * of information times covariance. */
static void expect_ratio(const struct stability_work *work, const struct dynamics_fit *fit,
                         const struct part_sums *all, struct stability *out)
{
    double sum = 0.0;
    for (size_t i = 0; i < work->count; i++) {
        for (size_t j = 0; j < work->count; j++) {
            const double g = j <= i ? all->g[i * work->count + j] : all->g[j * work->count + i];
            sum += g * dynamics_covariance(fit, work->index[i], work->index[j]);
        }
    }
    out->expected_ratio = 1.0 + fmax(sum, 0.0) / all->rows;
}

/* Compares the whole recording with the fit: the parameters that it would prefer. */
static void find_moved(const struct stability_work *work, const struct dynamics_fit *fit,
                       struct stability *out)
{
    const size_t n = work->count;
    struct part_sums all = {.rows = 0.0};
    struct part_estimate part;
    for (size_t k = 0; k < SIXTHS; k++) {
        add_sums(&all, &work->bins[k]);
    }
    for (size_t i = 0; i < FREE_PARAMETERS_MAX; i++) {
        out->moved[i] = out->moved_se[i] = (double)NAN;
    }
    out->moved_p = out->expected_ratio = (double)NAN;
    /* A fit with independent innovations predicts independent ones here too, except for the
     * errors of its parameters and the differences of another recording. */
    const bool promised = fit->method >= DYNAMICS_OUTPUT_ERROR;
    if (!stability_solve_part(&all, n, 1.0, &part.svd, part.step, &part.explained)) {
        return;
    }
    const double left = fmax((all.squares - part.explained) / all.rows, 1.0);
    const double noise = left * (promised ? 1.0 : stability_innovations_as_one(work));
    for (size_t i = 0; i < n * n; i++) {
        part.svd.inverse[i] *= noise;
    }
    expect_ratio(work, fit, &all, out);
    double sum[SVD_ENTRIES_MAX];
    double length[NUMERIC_COLUMNS_MAX];
    struct svd both;
    for (size_t i = 0; i < n; i++) {
        const size_t a = work->index[i];
        out->moved[a] = part.step[i];
        out->moved_se[a] = stability_part_sd(&part, n, i);
        for (size_t j = 0; j < n; j++) {
            sum[i * n + j] =
                part.svd.inverse[i * n + j] + dynamics_covariance(fit, a, work->index[j]);
        }
        length[i] = sqrt(sum[i * n + i]);
    }
    if (part.svd.rank < n || svd_find(sum, n, length, length, RANK_RATIO, &both) != STATUS_OK) {
        return;
    }
    out->moved_statistic = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            out->moved_statistic += part.step[i] * both.inverse[i * n + j] * part.step[j];
        }
    }
    out->moved_df = (double)both.rank;
    out->moved_p = gsl_cdf_chisq_Q(out->moved_statistic, out->moved_df);
}

/* The pass always has columns for constant efforts. */
static void set_options(const struct model *model, const struct dynamics_fit *fit,
                        struct search_options *options)
{
    search_defaults(model, options);
    options->with_biases = true;
    options->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    options->delay_s_min = options->delay_s - 1.0;
    options->delay_s_max = options->delay_s + 1.0;
    options->fit_delay = true;
}

/* Selects the unknowns that have an error; false if a value is unknown. */
static bool choose_free(const struct model *model, const struct dynamics_fit *fit,
                        struct stability_work *work)
{
    const size_t constants = model->parameter_count;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        if (!isfinite(fit->estimate.value[i])) {
            return false;
        }
        if (fit->estimate.covariance[i][i] > 0.0) {
            work->column[work->count] = i;
            work->index[work->count++] = i;
        }
    }
    if (fit->delay_se_s > 0.0) {
        work->column[work->count] = constants + model->axis_count;
        work->index[work->count++] = fit->estimate.p;
    }
    work->wide = work->count;
    for (size_t a = 0; a < model->axis_count && fit->bias_count == 0; a++) {
        work->column[work->wide++] = constants + a;
    }
    return work->count > 0;
}

static void set_noise(const struct dynamics_fit *fit, const double *velocity_sd, size_t axes,
                      struct prediction_noise *noise)
{
    const bool pem = isfinite(fit->force_time_s) && fit->force_time_s > 0.0;
    noise->force_time_s = pem ? fit->force_time_s : 1.0;
    for (size_t a = 0; a < axes; a++) {
        const double sd = pem ? fit->velocity_sd[a] : velocity_sd[a];
        noise->velocity_sd[a] = sd > 0.0 ? sd : 1e-9;
        noise->force_sd[a] = pem ? fit->force_sd[a] : 0.0;
    }
}

/* Runs the filter over one set or a piece. *ran: the model could be simulated. */
static enum status pass_piece(const struct model *model, const struct dynamics_fit *fit,
                              const struct prediction_noise *noise,
                              const struct search_options *options, const struct data_set *set,
                              struct stability_work *work, bool *ran)
{
    struct prediction_filter filter;
    struct free_values at;
    struct prediction_pass pass = {.add = add_shapes, .see = see_sample, .context = work};
    enum status st = STATUS_E_NOMEM;
    work->set = set;
    memset(work->before, 0, sizeof work->before);
    if (prediction_filter_alloc(&filter, model, set, options, work->axes * ADDED)) {
        work->shaped = filter.g;
        filter.noise = *noise;
        filter.rules.step_s = trajectory_step_s(model, fit->estimate.value, set);
        memset(at.theta, 0, sizeof at.theta);
        memcpy(at.theta, fit->estimate.value, fit->estimate.p * sizeof *at.theta);
        at.delay_s = options->delay_s;
        st = prediction_filter_pass(&filter, &at, &pass);
        *ran = pass.cost < HUGE_VAL;
    }
    prediction_filter_free(&filter);
    return st;
}

static enum status pass_pieces(const struct model *model, const struct dynamics_fit *fit,
                               const struct prediction_noise *noise, const struct data_set *set,
                               struct stability_work *work, bool *ran)
{
    struct search_options options;
    set_options(model, fit, &options);
    if (set->n <= LONG) {
        return pass_piece(model, fit, noise, &options, set, work, ran);
    }
    enum status st = STATUS_OK;
    *ran = true;
    for (size_t piece = 0; piece < PIECES && st == STATUS_OK && *ran; piece++) {
        size_t run = 0;
        const size_t first = set->n / PIECES * piece;
        while (set->run_start[run + 1] <= first) {
            run++;
        }
        const size_t left = set->run_start[run + 1] - first;
        const size_t n = left < PIECE_SAMPLES ? left : PIECE_SAMPLES;
        const struct data_set part = data_view_piece(set, first, n);
        work->first = first;
        st = part.n < DATA_RUN_MIN ? STATUS_OK
                                   : pass_piece(model, fit, noise, &options, &part, work, ran);
    }
    return st;
}

static void find_largest(const struct data_set *set, struct stability_work *work)
{
    for (size_t a = 0; a < set->axes; a++) {
        for (size_t k = 0; k < set->n; k++) {
            const double tau = set->tau[a][k];
            work->least[a] = fmin(work->least[a], tau);
            work->most[a] = fmax(work->most[a], tau);
        }
        work->largest[a] = fmax(work->most[a], -work->least[a]);
        work->least[a] /= work->largest[a] > 0.0 ? work->largest[a] : 1.0;
        work->most[a] /= work->largest[a] > 0.0 ? work->largest[a] : 1.0;
    }
}

/* Converts a fit to the extended model, with the additional parameters at zero. work gets
 * the columns of the fitted unknowns, then those of the additional ones. */
static void enrich_fit(const struct model *model, const struct model *rich,
                       const struct dynamics_fit *fit, struct dynamics_fit *out,
                       struct stability_work *work, struct stability_term *term)
{
    const size_t more = rich->parameter_count - model->parameter_count;
    *out = *fit;
    out->estimate.p += more;
    for (size_t i = 0; i < out->estimate.p; i++) {
        const bool bias = i >= rich->parameter_count;
        const int from =
            bias ? (int)(i - more) : model_parameter_find(model, rich->parameters[i].name);
        out->estimate.value[i] = from < 0 ? 0.0 : fit->estimate.value[from];
        for (size_t k = 0; k < work->count && from >= 0; k++) {
            work->column[k] = work->index[k] == (size_t)from ? i : work->column[k];
        }
        if (from < 0 && term->count < STABILITY_TERMS_MAX) {
            term->entry[term->count++] = i;
        }
    }
    for (size_t k = 0; k < work->count; k++) {
        if (work->index[k] == fit->estimate.p) { /* the delay */
            work->column[k] = rich->parameter_count + rich->axis_count;
        }
    }
    work->wide = work->count;
    for (size_t k = 0; k < term->count; k++) {
        work->column[work->wide++] = term->entry[k];
    }
}

/* Tests the terms of the extended model, by another pass with their columns. */
static enum status find_term(const struct model *model, const struct dynamics_fit *fit,
                             const struct prediction_noise *noise, const struct data_set *set,
                             struct stability_work *work, struct stability_term *out)
{
    struct stability_term term = {.model = model->extended[0]};
    struct dynamics_fit rich;
    struct added_columns added;
    bool ran = false;
    memset(work->bins, 0, BINS_MAX * sizeof *work->bins);
    memset(work->products, 0, sizeof work->products);
    memset(work->squares, 0, sizeof work->squares);
    enrich_fit(model, term.model, fit, &rich, work, &term);
    const enum status st = pass_pieces(term.model, &rich, noise, set, work, &ran);
    if (st != STATUS_OK || !ran ||
        !stability_test_added(work, &work->bins[WIDE], work->count, work->wide, &added)) {
        return st;
    }
    term.statistic = added.statistic;
    term.df = added.df;
    term.p = added.p;
    for (size_t k = 0; k < term.count; k++) {
        const size_t at = work->count + k;
        term.value[k] = added.all.step[at];
        term.se[k] = sqrt(added.all.noise) * stability_part_sd(&added.all, work->wide, at);
    }
    for (size_t k = 0; k < work->count; k++) {
        if (work->index[k] < fit->estimate.p) {
            term.shift[work->index[k]] = added.all.step[k];
        }
    }
    *out = term;
    return st;
}

enum status stability_find(const struct model *model, const struct dynamics_fit *fit,
                           const double *velocity_sd, const struct data_set *set,
                           struct stability *stability)
{
    struct stability out = {.tested = false, .constant_p = (double)NAN};
    struct stability_work work = {.axes = model->axis_count, .whole = set};
    struct prediction_noise noise;
    bool ran = false;
    if (!choose_free(model, fit, &work) || model_unphysical(model, fit->estimate.value) >= 0) {
        *stability = out;
        return STATUS_OK;
    }
    gsl_vector *memory = gsl_vector_calloc(BINS_MAX * sizeof *work.bins / sizeof(double));
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    work.bins = (struct part_sums *)(void *)memory->data;
    find_largest(set, &work);
    set_noise(fit, velocity_sd, model->axis_count, &noise);
    enum status st = pass_pieces(model, fit, &noise, set, &work, &ran);
    if (st == STATUS_OK && ran) {
        out.tested = true;
        for (int cut = STABILITY_HALVES; cut < STABILITY_CUTS; cut++) {
            const bool by_effort = cut >= STABILITY_LEVEL;
            for (size_t a = 0; a < (by_effort ? model->axis_count : 1); a++) {
                run_cut(&work, fit, (enum stability_cut)cut, a, &out);
            }
        }
        find_moved(&work, fit, &out);
        stability_find_constant(&work, &out);
        for (size_t a = 0; a < model->axis_count; a++) {
            stability_find_shape(model, fit->estimate.value, &work, a, &out.shape[a]);
            gain_scan_find(&work.scan[a], &out.episode[a]);
        }
        /* For models that stick, regressions find terms: see unmodelled_term.h. */
        if (model->extended[0] && !model->sticks) {
            st = find_term(model, fit, &noise, set, &work, &out.term);
        }
    }
    gsl_vector_free(memory);
    if (st == STATUS_OK) {
        *stability = out;
    }
    return st;
}
