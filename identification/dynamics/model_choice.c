#include "identification/dynamics/model_choice.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/simulation/output_error.h"

enum { VARIANTS_MAX = 16, TUNED_MAX = 1500, TUNE_STEPS = 11, TUNE_ITERATIONS = 4 };

/* Range of the search: the width divided and multiplied by TUNE_REACH. GOLDEN: ratio of the
 * golden section. */
static const double TUNE_REACH = 1.4;
static const double GOLDEN = 0.6180339887498949;
/* Largest rate times the sample time that Runge-Kutta can follow with sixteen steps per
 * sample. */
static const double RATE_MAX = 32.0;
/* Rows are near rest below this ratio of the velocity's sd; this count of them shows the noise.
 */
static const double SLOW_RATIO = 0.1;
enum { SLOW_ROWS_MIN = 50 };

/* Residuals of the weak form, root of the sum over axes, relative to the force of their
 * efforts. */
static double residual_sum(const struct model *model, const struct data_set *set,
                           const struct dynamics_fit *fit)
{
    double squares[MODEL_AXES_MAX] = {0.0};
    double sum = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        double nu[MODEL_AXES_MAX];
        double tau[MODEL_AXES_MAX];
        double force[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        data_set_velocity(set, k, nu);
        data_view_effort(set, k, tau);
        model_force(model, fit->estimate.value, data_set_pose(set, k, pose), nu, tau, force);
        for (size_t a = 0; a < model->axis_count; a++) {
            squares[a] += force[a] * force[a] / (double)set->n;
        }
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        sum += squares[a] > 0.0 ? fit->residual_sd[a] * fit->residual_sd[a] / squares[a] : 0.0;
    }
    return sqrt(sum);
}

/* Returns whether the rate at rest, where friction turns over, is slow enough for the
 * samples. */
static bool can_follow(const struct model *model, const struct data_set *set,
                       const struct dynamics_fit *fit)
{
    const double rest[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double fastest = 0.0;
    if (model_unphysical(model, fit->estimate.value) >= 0) {
        return true; /* nothing can be simulated in any case */
    }
    data_view_effort(set, 0, tau);
    model->slope(model, fit->estimate.value, data_set_pose(set, 0, pose), rest,
                 model->rows_under ? tau : NULL, slope);
    for (size_t a = 0; a < model->axis_count; a++) {
        fastest = fmax(fastest, fabs(slope[a * model->axis_count + a]));
    }
    return fastest * set->dt_s <= RATE_MAX;
}

/* Returns the first, in the order of widths, that is good enough. */
static size_t find_narrow(const double *residual, size_t count, double least)
{
    size_t at = 0;
    while (at + 1 < count &&
           !(residual[at] <= WORTH_RATIO * least && residual[at] < HUGE_VAL)) {
        at++;
    }
    return at;
}

static size_t find_least(const double *residual, size_t count)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++) {
        at = residual[i] * (at == 0 ? BETTER_RATIO : 1.0) < residual[at] ? i : at;
    }
    return at;
}

/* Returns whether the rows k .. k + 3 are one run and slow. */
static bool is_slow(const struct data_set *set, size_t axis, size_t k, double limit)
{
    double fastest = 0.0;
    for (size_t i = 0; i < 4; i++) {
        fastest = fmax(fastest, fabs(set->nu[axis][k + i]));
    }
    return fastest < limit;
}

/* Computes the noise of a velocity near rest, where friction turns over: that of all rows is
 * larger if noise grows with the speed. */
static enum status find_noise_near_rest(const struct data_set *set, size_t axis, double *noise)
{
    const double limit = SLOW_RATIO * gsl_stats_sd(set->nu[axis], 1, set->n);
    gsl_vector *values = gsl_vector_alloc(set->n);
    size_t n = 0;
    if (!values) {
        return STATUS_E_NOMEM;
    }
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k + 3 < set->run_start[r + 1]; k++) {
            const double *y = set->nu[axis] + k;
            if (is_slow(set, axis, k, limit)) {
                values->data[n++] = fabs(y[3] - 3.0 * (y[2] - y[1]) - y[0]);
            }
        }
    }
    *noise = set->noise_sd[axis];
    if (n >= SLOW_ROWS_MIN) {
        const double sd = 1.4826 * gsl_stats_median(values->data, 1, n) / sqrt(20.0);
        *noise = sd > 0.0 ? fmin(*noise, sd) : *noise;
    }
    gsl_vector_free(values);
    return STATUS_OK;
}

enum status model_choose(const struct model_variant *variants, size_t count,
                         const struct data_set *set, const struct dynamics_options *options,
                         size_t *chosen)
{
    double residual[VARIANTS_MAX];
    double noise = 0.0;
    double least = HUGE_VAL;
    const bool ordered = variants[0].velocity > 0.0;
    assert(count >= 1 && count <= VARIANTS_MAX);
    for (size_t a = 0; a < set->axes; a++) {
        double near_rest = 0.0;
        const enum status st = find_noise_near_rest(set, a, &near_rest);
        if (st != STATUS_OK) {
            return st;
        }
        noise = fmax(noise, near_rest);
    }
    for (size_t i = 0; i < count; i++) {
        struct dynamics_fit fit;
        const struct model *model = variants[i].model;
        const enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK, options, &fit);
        if (st != STATUS_OK) {
            return st;
        }
        const bool fits = !ordered || (variants[i].velocity >= CHOICE_NOISE_RATIO * noise &&
                                       can_follow(model, set, &fit));
        residual[i] = fits ? residual_sum(model, set, &fit) : HUGE_VAL;
        least = fmin(least, residual[i]);
    }
    *chosen = ordered ? find_narrow(residual, count, least) : find_least(residual, count);
    return STATUS_OK;
}

/* State of a search for the width. */
struct tuning {
    struct data_set part;
    struct search_options search;
    double theta[DYNAMICS_P_MAX];
};

/* Minus the log likelihood per sample, up to a constant. The search starts at the previous
 * result. */
static enum status try_width(const struct model *model, struct tuning *t, double *cost)
{
    struct search_report report;
    struct dynamics_fit fit;
    const enum status st =
        output_error_fit(model, &t->part, t->theta, &t->search, NULL, &fit, &report);
    *cost = st == STATUS_OK && fit.stop != DYNAMICS_STOP_DIVERGED ? 0.0 : HUGE_VAL;
    for (size_t a = 0; a < t->part.axes && *cost < HUGE_VAL; a++) {
        *cost += fit.residual_sd[a] > 0.0 ? log(fit.residual_sd[a]) : HUGE_VAL;
    }
    for (size_t i = 0; i < fit.estimate.p && *cost < HUGE_VAL; i++) {
        t->theta[i] = isfinite(fit.estimate.value[i]) ? fit.estimate.value[i] : t->theta[i];
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* Fits the busiest part of the recording with the present width. *begun stays false if that
 * fails. */
static enum status begin_tuning(const struct model *model, const struct data_set *set,
                                const struct dynamics_options *options, struct tuning *t,
                                bool *begun)
{
    size_t from = 0;
    struct dynamics_options of_part = *options;
    struct dynamics_fit fit;
    t->part = data_view_busiest(set, TUNED_MAX, &from);
    of_part.from_rest = options->from_rest && from == 0;
    of_part.skip_causes = true;
    const enum status st =
        dynamics_estimate(model, &t->part, DYNAMICS_OUTPUT_ERROR, &of_part, &fit);
    if (st != STATUS_OK || fit.method != DYNAMICS_OUTPUT_ERROR) {
        return st == STATUS_E_MATH ? STATUS_OK : st;
    }
    *begun = true;
    for (size_t i = 0; *begun && i < fit.estimate.p; i++) {
        t->theta[i] = fit.estimate.value[i];
        *begun = isfinite(t->theta[i]);
    }
    search_defaults(model, &t->search);
    t->search.with_biases = options->biases;
    t->search.delay_s = isfinite(fit.delay_s) ? fit.delay_s : 0.0;
    t->search.iterations_max = TUNE_ITERATIONS;
    t->search.budget = options->budget;
    return STATUS_OK;
}

enum status model_tune(const struct data_set *set, const struct dynamics_options *options,
                       struct model *model)
{
    struct model at[2] = {*model, *model};
    double cost[2] = {HUGE_VAL, HUGE_VAL};
    struct tuning tuning;
    bool begun = false;
    if (!(model->width > 0.0)) {
        return STATUS_OK;
    }
    double lo = log(model->width / TUNE_REACH);
    double hi = log(model->width * TUNE_REACH);
    enum status st = begin_tuning(model, set, options, &tuning, &begun);
    for (int k = 0; k < TUNE_STEPS && st == STATUS_OK && begun; k++) {
        const double width[2] = {exp(hi - GOLDEN * (hi - lo)), exp(lo + GOLDEN * (hi - lo))};
        for (size_t i = 0; i < 2 && st == STATUS_OK; i++) {
            /* The previous step already computed one of the two. */
            if (k == 0 || fabs(at[i].width - width[i]) > 1e-6 * width[i]) {
                at[i].width = width[i];
                st = try_width(&at[i], &tuning, &cost[i]);
            }
        }
        const size_t better = cost[1] < cost[0] ? 1 : 0;
        *(better == 0 ? &hi : &lo) = log(width[1 - better]);
        *model = at[better];
        at[1 - better] = at[better];
        cost[1 - better] = cost[better];
    }
    return st;
}
