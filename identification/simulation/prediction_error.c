#include "identification/simulation/prediction_error.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "base/constants.h"
#include "identification/simulation/information.h"
#include "identification/simulation/prediction_filter.h"

enum {
    SWEEPS_FIRST = 4, /* of the search for the noise, before the first fit */
    SWEEPS_LATER = 1,
    ROUNDS = 2, /* of noise and parameters in turn */
    SCALES = 9,
    FINER_MAX = 3,
    EXACT_MAX = 12,
    DELAYS_MAX = 33
};

static const double LAMBDA_START = 1e-4;
static const double LAMBDA_MIN = 1e-12;
static const double LAMBDA_MAX = 1e9;
static const double LAMBDA_FREE = 1e-2;
/* As in output error: of every standard error, and of -2 log likelihood. */
static const double STEP_TOLERANCE = 1e-3;
static const double COST_TOLERANCE = 1e-6;
/* Steps leave out what the covariances do with the parameters, which begins to show near the
 * minimum: a step this short that does not help ends the search. */
static const double STEP_USELESS = 0.05;
/* So does one this short with the gradient by differences, of this part of a standard error. */
static const double STEP_EXACT = 0.02;
static const double DIFFERENCE = 0.1;
/* Forces tried first: these shares of the forces that the model itself has. */
static const double SCALE_LEAST = 1e-4;
static const double SCALE_FACTOR = 3.0;
/* In the logarithm of a noise: the first probe, and the longest jump. */
static const double PROBE = 0.6;
static const double JUMP_MAX = 1.5;
/* A force lasts some samples at least and not much of the recording. */
static const double TIME_SAMPLES_START = 10.0;
static const double TIME_SAMPLES_MIN = 2.0;
static const double TIME_SHARE_MAX = 0.1;

struct pe_work {
    struct prediction_filter filter;
    struct unknown_values here, there;
    gsl_matrix *triangle, *next; /* [g + 1 x g + 1] of here and there */
    gsl_matrix *damped;          /* [g + 1 x g + 1] */
    double cost;
    size_t counted;
    bool noise_known;
};

static bool work_alloc(struct pe_work *work, const struct model *model,
                       const struct data_set *set, const struct output_error_options *options)
{
    *work = (struct pe_work){.cost = 0.0};
    const bool filter = prediction_filter_alloc(&work->filter, model, set, options);
    const size_t m = work->filter.g + 1;
    work->triangle = gsl_matrix_alloc(m, m);
    work->next = gsl_matrix_alloc(m, m);
    work->damped = gsl_matrix_alloc(m, m);
    return filter && work->triangle && work->next && work->damped;
}

static void work_free(struct pe_work *work)
{
    prediction_filter_free(&work->filter);
    gsl_matrix_free(work->triangle);
    gsl_matrix_free(work->next);
    gsl_matrix_free(work->damped);
}

/* A pass at here that wants its triangle. */
static enum status stand(struct pe_work *work)
{
    struct prediction_pass pass = {.triangle = work->triangle};
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    work->cost = pass.cost;
    work->counted = pass.counted;
    return st;
}

/* ---- noise ---- */

/* The logarithms that are searched: velocity_sd, force_sd, force_time_s. */
static double *noise_entry(struct prediction_noise *noise, size_t n, size_t j)
{
    return j < n       ? &noise->velocity_sd[j]
           : j < 2 * n ? &noise->force_sd[j - n]
                       : &noise->force_time_s;
}

static double noise_cost(struct pe_work *work, size_t j, double logarithm)
{
    double *entry = noise_entry(&work->filter.noise, work->filter.n, j);
    const double was = *entry;
    struct prediction_pass pass = {.triangle = NULL};
    *entry = exp(logarithm);
    /* Without a triangle there is nothing that could fail. */
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    *entry = was;
    return st == STATUS_OK ? pass.cost : HUGE_VAL;
}

static double limit_noise(const struct pe_work *work, size_t j, double logarithm)
{
    const struct data_set *set = work->filter.set;
    if (j < 2 * work->filter.n) {
        return logarithm;
    }
    const double span_s = TIME_SHARE_MAX * set->dt_s * (double)set->n;
    const double least_s = TIME_SAMPLES_MIN * set->dt_s;
    return fmin(fmax(logarithm, log(least_s)), log(fmax(span_s, least_s)));
}

/* The lowest point of the parabola through three costs, or the better side. */
static double lowest(double down, double at, double up, double probe)
{
    const double curve = down - 2.0 * at + up;
    if (curve > 0.0) {
        return fmin(fmax(0.5 * probe * (down - up) / curve, -JUMP_MAX), JUMP_MAX);
    }
    return down < up ? -2.0 * probe : 2.0 * probe;
}

static void improve_noise(struct pe_work *work, size_t j, double probe)
{
    double *entry = noise_entry(&work->filter.noise, work->filter.n, j);
    const double at = log(*entry);
    const double below = limit_noise(work, j, at - probe);
    const double above = limit_noise(work, j, at + probe);
    const double down = noise_cost(work, j, below);
    const double up = noise_cost(work, j, above);
    const double jump = limit_noise(work, j, at + lowest(down, work->cost, up, probe));
    const double there = noise_cost(work, j, jump);
    const struct {
        double logarithm, cost;
    } tried[] = {{below, down}, {above, up}, {jump, there}};
    for (size_t i = 0; i < COUNT(tried); i++) {
        if (tried[i].cost < work->cost) {
            work->cost = tried[i].cost;
            *entry = exp(tried[i].logarithm);
        }
    }
}

/* Noise of the measurement as the data set has it, forces as a share of the model's own. */
static void guess_noise(struct pe_work *work, double *force)
{
    struct prediction_filter *filter = &work->filter;
    const struct data_set *set = filter->set;
    const size_t n = filter->n;
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double spread = 0.0;
        force[i] = 0.0;
        for (size_t k = 0; k < set->n; k++) {
            double nu[MODEL_AXES_MAX];
            const double rest[MODEL_AXES_MAX] = {0.0};
            double tau[MODEL_AXES_MAX];
            double pose[MODEL_AXES_MAX];
            for (size_t a = 0; a < n; a++) {
                nu[a] = set->nu[a][k];
            }
            filter->model->inverse(work->here.theta, data_set_pose(set, k, 0.0, pose), nu, rest,
                                   tau);
            force[i] += tau[i] * tau[i] / (double)set->n;
            spread += nu[i] * nu[i] / (double)set->n;
        }
        force[i] = sqrt(force[i]);
        largest = fmax(largest, force[i]);
        const double sd = set->noise_sd[i] > 0.0 ? set->noise_sd[i] : 0.01 * sqrt(spread);
        filter->noise.velocity_sd[i] = sd > 0.0 ? sd : 1e-6;
    }
    for (size_t i = 0; i < n; i++) {
        /* An axis that stood still must have some force to begin with. */
        force[i] = fmax(force[i], fmax(0.01 * largest, 1e-6));
    }
    filter->noise.force_time_s =
        exp(limit_noise(work, 2 * n, log(TIME_SAMPLES_START * set->dt_s)));
}

/* The best of some common scales of the forces. */
static void scan_scales(struct pe_work *work)
{
    struct prediction_filter *filter = &work->filter;
    struct prediction_noise best;
    double force[MODEL_AXES_MAX];
    double scale = SCALE_LEAST;
    double least = HUGE_VAL;
    guess_noise(work, force);
    best = filter->noise;
    for (int k = 0; k < SCALES; k++) {
        struct prediction_pass pass = {.triangle = NULL};
        for (size_t i = 0; i < filter->n; i++) {
            filter->noise.force_sd[i] = scale * force[i];
        }
        const enum status st = prediction_filter_pass(filter, &work->here, &pass);
        if (st == STATUS_OK && (k == 0 || pass.cost < least)) {
            least = pass.cost;
            best = filter->noise;
        }
        scale *= SCALE_FACTOR;
    }
    filter->noise = best;
    work->cost = least;
}

static void search_noise(struct pe_work *work, int sweeps)
{
    double probe = PROBE;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (size_t j = 0; j < 2 * work->filter.n + 1; j++) {
            improve_noise(work, j, probe);
        }
        probe *= 0.6;
    }
}

/* Of the sample time: a delay this close to the right one leads there. */
static const double DELAY_SHARE = 0.5;

/* The best of the delays that may be, a period or so apart at most. What predicts from sample
 * to sample sees a late effort in single innovations, so that the likelihood has a valley for
 * each sample, and output error, where forces and dry friction act together, may begin in a
 * wrong one. */
static enum status scan_delays(struct pe_work *work)
{
    const struct output_error_options *o = work->filter.unknowns.options;
    const double span_s = o->delay_s_max - o->delay_s_min;
    const double count =
        fmin(ceil(span_s / (DELAY_SHARE * work->filter.set->dt_s)), DELAYS_MAX);
    const double start_s = work->here.delay_s;
    double best_s = start_s;
    for (double k = 0.0; k <= count; k += 1.0) {
        struct prediction_pass pass = {.triangle = NULL};
        work->here.delay_s = o->delay_s_min + span_s * k / count;
        const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
        if (st != STATUS_OK) {
            work->here.delay_s = start_s;
            return st;
        }
        if (pass.cost < work->cost) {
            work->cost = pass.cost;
            best_s = work->here.delay_s;
        }
    }
    work->here.delay_s = best_s;
    return STATUS_OK;
}

/* ---- parameters ---- */

static double length_of(const gsl_matrix *triangle, size_t column)
{
    gsl_vector_const_view v = gsl_matrix_const_subcolumn(triangle, column, 0, column + 1);
    const double length = gsl_blas_dnrm2(&v.vector);
    return length > 0.0 ? length : 1.0;
}

/* The damped step from here, for the free unknowns only. */
static enum status solve(struct pe_work *work, double lambda, const double *scale,
                         const bool *free, double *step, double *length)
{
    const size_t g = work->filter.g;
    gsl_matrix_view rows = gsl_matrix_submatrix(work->filter.below, 0, 0, g, g + 1);
    gsl_matrix_memcpy(work->damped, work->triangle);
    gsl_matrix_set_zero(&rows.matrix);
    for (size_t j = 0; j < g; j++) {
        gsl_vector_view column = gsl_matrix_column(work->damped, j);
        gsl_vector_scale(&column.vector, free[j] ? scale[j] : 0.0);
        gsl_matrix_set(&rows.matrix, j, j,
                       free[j] ? sqrt(lambda) * length_of(work->damped, j) : 1.0);
    }
    int code = gsl_linalg_QR_UR_decomp(work->damped, &rows.matrix, work->filter.reflector);
    gsl_vector_view x = gsl_vector_view_array(step, g);
    gsl_vector_const_view z = gsl_matrix_const_subcolumn(work->damped, g, 0, g);
    gsl_matrix_const_view u = gsl_matrix_const_submatrix(work->damped, 0, 0, g, g);
    gsl_vector_memcpy(&x.vector, &z.vector);
    *length = gsl_blas_dnrm2(&x.vector);
    if (code == GSL_SUCCESS) {
        code = gsl_blas_dtrsv(CblasUpper, CblasNoTrans, CblasNonUnit, &u.matrix, &x.vector);
    }
    return code == GSL_SUCCESS ? STATUS_OK : STATUS_E_MATH;
}

static enum status propose(struct pe_work *work, double lambda, double *length)
{
    double scale[INFORMATION_MAX];
    double step[INFORMATION_MAX];
    bool free[INFORMATION_MAX];
    const struct unknowns *unknowns = &work->filter.unknowns;
    memcpy(free, unknowns->free, sizeof free);
    unknowns_scale(unknowns, &work->here, scale);
    do {
        const enum status st = solve(work, lambda, scale, free, step, length);
        if (st != STATUS_OK) {
            return st;
        }
    } while (unknowns_hold(unknowns, &work->here, step, free));
    (void)unknowns_move(unknowns, &work->here, step, free, &work->there);
    return STATUS_OK;
}

/* Effort that accelerates an axis by 1, at rest. */
static double inertia(const struct model *model, const double *theta, size_t axis)
{
    const double zero[MODEL_AXES_MAX] = {0.0};
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    double still[MODEL_AXES_MAX];
    double moved[MODEL_AXES_MAX];
    model->inverse(theta, zero, zero, nu_dot, still);
    nu_dot[axis] = 1.0;
    model->inverse(theta, zero, zero, nu_dot, moved);
    return moved[axis] - still[axis];
}

/* Forces that are searched as well keep what they do to the motion while the inertia changes: a
 * step in the parameters alone, which is what the sensitivities know of. */
static void carry_forces(struct pe_work *work)
{
    struct prediction_filter *filter = &work->filter;
    for (size_t i = 0; i < filter->n; i++) {
        const double ratio = inertia(filter->model, work->there.theta, i) /
                             inertia(filter->model, work->here.theta, i);
        if (isfinite(ratio) && ratio > 0.0) {
            filter->noise.force_sd[i] *= ratio;
        }
    }
}

/* Accept there. */
static void move(struct pe_work *work, double cost)
{
    gsl_matrix *left = work->triangle;
    work->triangle = work->next;
    work->next = left;
    work->here = work->there;
    work->cost = cost;
}

/* Cost at here with one unknown moved, forces carried. */
static double cost_beside(struct pe_work *work, size_t j, double by)
{
    const struct prediction_noise noise = work->filter.noise;
    struct prediction_pass pass = {.triangle = NULL};
    work->there = work->here;
    *(j < work->filter.unknowns.p ? &work->there.theta[j] : &work->there.delay_s) += by;
    if (!work->noise_known) {
        carry_forces(work);
    }
    const enum status st = prediction_filter_pass(&work->filter, &work->there, &pass);
    work->filter.noise = noise;
    return st == STATUS_OK ? pass.cost : HUGE_VAL;
}

/* The right side of the triangle at here from the cost itself: sensitivities take the gain as
 * given, which is not enough where forces outweigh the noise of the measurement. */
static void set_gradient(struct pe_work *work)
{
    const size_t g = work->filter.g;
    double slope[INFORMATION_MAX] = {0.0};
    for (size_t j = 0; j < g; j++) {
        const double length = length_of(work->triangle, j);
        const double h = DIFFERENCE / length;
        if (work->filter.unknowns.free[j] && fabs(gsl_matrix_get(work->triangle, j, j)) > 0.0) {
            slope[j] = (cost_beside(work, j, h) - cost_beside(work, j, -h)) / (2.0 * h);
        }
    }
    /* R' z = -slope / 2, column by column */
    for (size_t j = 0; j < g; j++) {
        double sum = -0.5 * slope[j];
        for (size_t i = 0; i < j; i++) {
            sum -= gsl_matrix_get(work->triangle, i, j) * gsl_matrix_get(work->triangle, i, g);
        }
        const double pivot = gsl_matrix_get(work->triangle, j, j);
        gsl_matrix_set(work->triangle, j, g,
                       fabs(pivot) > 0.0 && isfinite(sum) ? sum / pivot : 0.0);
    }
}

/* A step that did not help: whether the search is over, and why. */
static bool give_up(double lambda, double length, enum dynamics_stop *stop)
{
    if (lambda <= LAMBDA_FREE && length <= STEP_USELESS) {
        *stop = DYNAMICS_STOP_CONVERGED;
        return true;
    }
    if (10.0 * lambda > LAMBDA_MAX) {
        *stop = DYNAMICS_STOP_STALLED;
        return true;
    }
    return false;
}

/* Steps by sensitivities while they help; in the last round by differences of the cost after
 * that. */
static enum status search(struct pe_work *work, bool last, size_t *iterations,
                          enum dynamics_stop *stop)
{
    const struct output_error_options *o = work->filter.unknowns.options;
    double lambda = LAMBDA_START;
    int exact = 0; /* gradients by differences so far */
    *stop = DYNAMICS_STOP_LIMIT;
    for (; *iterations < o->iterations_max; (*iterations)++) {
        struct prediction_pass pass = {.triangle = work->next};
        double length = 0.0;
        work->filter.unknowns.iteration = *iterations;
        if (o->go_on && !o->go_on(o->context, *iterations)) {
            *stop = DYNAMICS_STOP_CANCELLED;
            return STATUS_OK;
        }
        enum status st = propose(work, lambda, &length);
        const double enough = exact > 0 ? STEP_EXACT : STEP_TOLERANCE;
        if (st == STATUS_OK && lambda <= LAMBDA_FREE && length <= enough) {
            *stop = DYNAMICS_STOP_CONVERGED;
            return STATUS_OK;
        }
        const struct prediction_noise noise = work->filter.noise;
        if (st == STATUS_OK) {
            if (!work->noise_known) {
                carry_forces(work);
            }
            st = prediction_filter_pass(&work->filter, &work->there, &pass);
        }
        if (st != STATUS_OK) {
            return st;
        }
        const double gain = work->cost - pass.cost;
        if (gain >= 0.0) {
            move(work, pass.cost);
            if (gain <= COST_TOLERANCE && lambda <= LAMBDA_FREE) {
                *stop = DYNAMICS_STOP_CONVERGED;
                return STATUS_OK;
            }
            lambda = fmax(0.2 * lambda, LAMBDA_MIN);
        } else {
            work->filter.noise = noise;
            if (give_up(lambda, length, stop)) {
                return STATUS_OK;
            }
            lambda = exact > 0 || !last ? 10.0 * lambda : LAMBDA_START;
        }
        if (last && (exact > 0 ? gain >= 0.0 : gain < 0.0)) {
            if (exact++ == EXACT_MAX) {
                return STATUS_OK;
            }
            set_gradient(work);
        }
    }
    return STATUS_OK;
}

/* ---- the whole ---- */

/* A model that runs away may do so for its long steps only. */
static enum status begin(struct pe_work *work, const double *start,
                         const struct prediction_noise *noise)
{
    struct prediction_filter *filter = &work->filter;
    const struct output_error_options *o = filter->unknowns.options;
    unknowns_place(&filter->unknowns, start, &work->here);
    filter->rules.step_s =
        o->step_s > 0.0 ? o->step_s
                        : trajectory_step_s(filter->model, work->here.theta, filter->set);
    for (int finer = 0; finer < FINER_MAX; finer++) {
        if (noise) {
            filter->noise = *noise;
        } else {
            scan_scales(work);
        }
        const enum status st = stand(work);
        if (st != STATUS_OK || work->cost < HUGE_VAL) {
            return st;
        }
        filter->rules.step_s *= 0.5;
    }
    return STATUS_OK;
}

/* Noise and parameters in turn; ends with a pass at the result. */
static enum status refine(struct pe_work *work, size_t *iterations, enum dynamics_stop *stop)
{
    enum status st = STATUS_OK;
    const int rounds = work->noise_known ? 1 : ROUNDS;
    for (int round = 0; round < rounds && st == STATUS_OK; round++) {
        if (!work->noise_known) {
            search_noise(work, round == 0 ? SWEEPS_FIRST : SWEEPS_LATER);
        }
        if (round == 0 && work->filter.unknowns.free[work->filter.unknowns.p]) {
            const double before_s = work->here.delay_s;
            st = scan_delays(work);
            if (st == STATUS_OK && !work->noise_known &&
                fabs(work->here.delay_s - before_s) > 0.0) {
                search_noise(work, SWEEPS_FIRST);
            }
        }
        st = st == STATUS_OK ? stand(work) : st;
        if (st == STATUS_OK) {
            st = search(work, round + 1 == rounds, iterations, stop);
        }
        if (*stop == DYNAMICS_STOP_CANCELLED) {
            break;
        }
    }
    return st == STATUS_OK ? stand(work) : st;
}

static void summarise(const struct pe_work *work, struct prediction_error_report *report)
{
    const struct prediction_filter *filter = &work->filter;
    const struct data_set *set = filter->set;
    const struct unknowns *unknowns = &filter->unknowns;
    report->noise = filter->noise;
    report->white = true;
    for (size_t i = 0; i < filter->n; i++) {
        struct residual_summary whitened;
        struct residual_summary *axis = &report->axis[i];
        residual_summarise(gsl_matrix_const_ptr(filter->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, axis);
        residual_summarise(gsl_matrix_const_ptr(filter->whitened, i, 0), set->nu[i],
                           set->run_start, set->run_count, &whitened);
        axis->correlation = whitened.correlation;
        axis->runs_z = whitened.runs_z;
        axis->ljung_box = whitened.ljung_box;
        axis->ljung_box_p = whitened.ljung_box_p;
        axis->white = whitened.white;
        report->white = report->white && axis->white;
    }
    for (size_t i = 0; i < unknowns->p; i++) {
        report->at_bound[i] = unknowns_at_bound(unknowns, &work->here, i);
    }
    report->delay_at_bound = unknowns_at_bound(unknowns, &work->here, unknowns->p);
    report->log_likelihood =
        -0.5 * (work->cost + (double)(filter->n * work->counted) * log(2.0 * PI));
    report->evaluations = filter->evaluations;
    report->step_s = filter->rules.step_s;
}

static void judge(const struct pe_work *work, const struct prediction_error_report *report,
                  struct dynamics_fit *fit)
{
    const struct model *model = work->filter.model;
    if (fit->stop != DYNAMICS_STOP_CONVERGED) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "the search ended early: %s",
                        dynamics_stop_name(fit->stop));
    }
    for (size_t i = 0; i < work->filter.n; i++) {
        if (!report->axis[i].white && report->axis[i].n > 0) {
            const bool much = !residual_has_trace(&report->axis[i]);
            estimate_reason(&fit->estimate, much ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                            "innovations of %s are not white (next to each other %.2f): the "
                            "model and its forces %s",
                            model->axes[i].velocity, report->axis[i].correlation,
                            much ? "do not explain them" : "leave a trace unexplained");
        }
    }
    for (size_t i = 0; i < fit->estimate.p; i++) {
        char name[128];
        if (report->at_bound[i]) {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "%s stands at its bound %.4g",
                            dynamics_parameter_both(model, i, name, sizeof name),
                            work->here.theta[i]);
        }
    }
    if (report->delay_at_bound) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                        "the delay stands at its bound of %.4g s", work->here.delay_s);
    }
}

static double root(double variance)
{
    return isfinite(variance) && variance >= 0.0 ? sqrt(variance) : nan("");
}

/* C S C into robust [g x g], S the long-run covariance of the scores: one more pass, whose
 * triangle is lost. */
static enum status find_robust(struct pe_work *work, const struct information *information,
                               const struct prediction_error_report *report, double *robust,
                               struct dynamics_fit *fit)
{
    const size_t g = work->filter.g;
    struct hac_covariance scores;
    double half[INFORMATION_MAX * INFORMATION_MAX];
    double rho = 0.0;
    for (size_t i = 0; i < work->filter.n; i++) {
        rho = fmax(rho, fabs(report->axis[i].correlation));
    }
    const size_t lags = hac_lags(rho, work->counted);
    fit->hac_share = report->white ? 0.0 : (double)lags / (double)work->counted;
    hac_start(&scores, g, lags, false);
    struct prediction_pass pass = {.triangle = work->next, .scores = &scores};
    const enum status st = prediction_filter_pass(&work->filter, &work->here, &pass);
    gsl_matrix_view s = gsl_matrix_view_array(scores.robust, g, g);
    gsl_matrix_view h = gsl_matrix_view_array(half, g, g);
    gsl_matrix_view to = gsl_matrix_view_array(robust, g, g);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, information->covariance, &s.matrix,
                         0.0, &h.matrix);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, &h.matrix, information->covariance,
                         0.0, &to.matrix);
    return st;
}

/* Estimate and error bars, from the triangle of the last pass. */
static enum status set_bars(struct pe_work *work, struct information *information,
                            const struct prediction_error_report *report,
                            struct dynamics_fit *fit)
{
    const struct unknowns *unknowns = &work->filter.unknowns;
    const size_t g = work->filter.g;
    const double left = (double)fit->rows - (double)information->count;
    const double factor = left > 0.0 ? (double)fit->rows / left : nan("");
    const bool *open = information->open;
    double robust[INFORMATION_MAX * INFORMATION_MAX];
    double value[INFORMATION_MAX];
    for (size_t j = 0; j < g; j++) {
        gsl_vector_view column = gsl_matrix_column(work->triangle, j);
        gsl_vector_scale(&column.vector, unknowns->free[j] ? 1.0 : 0.0);
    }
    enum status st = information_take(information, work->triangle);
    st = st == STATUS_OK ? find_robust(work, information, report, robust, fit) : st;
    if (st != STATUS_OK) {
        return st;
    }
    const gsl_matrix *c = information->covariance;
    gsl_matrix_scale(information->covariance, factor);
    gsl_matrix_view v = gsl_matrix_view_array(robust, g, g);
    gsl_matrix_scale(&v.matrix, factor);
    const gsl_matrix *used = report->white ? c : &v.matrix;
    memcpy(value, work->here.theta, unknowns->p * sizeof *value);
    value[unknowns->p] = work->here.delay_s;
    information_describe(information, work->filter.model, value, used, fit);
    for (size_t a = 0; a < unknowns->p; a++) {
        fit->estimate.value[a] = open[a] ? nan("") : work->here.theta[a];
        fit->estimate.se_white[a] = open[a] ? nan("") : root(gsl_matrix_get(c, a, a));
        fit->se_hac[a] = open[a] ? nan("") : root(robust[a * g + a]);
        for (size_t b = 0; b < unknowns->p; b++) {
            fit->estimate.covariance[a][b] =
                open[a] || open[b] ? nan("") : gsl_matrix_get(used, a, b);
        }
    }
    const size_t delay = unknowns->p;
    if (unknowns->free[delay] && !open[delay]) {
        fit->delay_s = work->here.delay_s;
        fit->delay_se_s = root(gsl_matrix_get(used, delay, delay));
        for (size_t a = 0; a < unknowns->p; a++) {
            fit->delay_covariance[a] = open[a] ? nan("") : gsl_matrix_get(used, a, delay);
        }
    }
    return STATUS_OK;
}

static void describe(const struct pe_work *work, struct dynamics_fit *fit)
{
    const struct prediction_filter *filter = &work->filter;
    fit->n = filter->set->n;
    fit->rows = filter->n * work->counted;
    fit->force_time_s = filter->noise.force_time_s;
    for (size_t i = 0; i < filter->n; i++) {
        const double *residual = gsl_matrix_const_ptr(filter->residual, i, 0);
        double sum = 0.0;
        for (size_t k = 0; k < filter->set->n; k++) {
            sum += isnan(residual[k]) ? 0.0 : residual[k] * residual[k];
        }
        fit->residual_sd[i] = sqrt(sum / (double)work->counted);
        fit->velocity_sd[i] = filter->noise.velocity_sd[i];
        fit->force_sd[i] = filter->noise.force_sd[i];
        for (size_t r = 0; r < filter->set->run_count; r++) {
            fit->initial[r][i] = filter->set->nu[i][filter->set->run_start[r]];
            fit->initial_se[r][i] = filter->noise.velocity_sd[i];
        }
    }
}

/* Told to end in the middle of a pass. */
static enum status stop_here(struct pe_work *work, struct dynamics_fit *fit)
{
    fit->stop = DYNAMICS_STOP_CANCELLED;
    memcpy(fit->estimate.value, work->here.theta,
           work->filter.unknowns.p * sizeof *fit->estimate.value);
    gsl_matrix_set_all(work->filter.residual, nan(""));
    estimate_reason(&fit->estimate, ESTIMATE_FAIL, "the search ended early: %s",
                    dynamics_stop_name(fit->stop));
    return STATUS_OK;
}

static enum status run(struct pe_work *work, struct information *information,
                       const double *start, const struct prediction_noise *noise,
                       struct dynamics_fit *fit, struct prediction_error_report *report)
{
    enum status st = begin(work, start, noise);
    if (st != STATUS_OK) {
        return st == STATUS_E_STALE ? stop_here(work, fit) : st;
    }
    if (work->counted == 0 && work->cost < HUGE_VAL) {
        return STATUS_E_EMPTY;
    }
    if (!(work->cost < HUGE_VAL)) {
        fit->stop = DYNAMICS_STOP_DIVERGED;
        memcpy(fit->estimate.value, work->here.theta, work->filter.unknowns.p * sizeof *start);
        gsl_matrix_set_all(work->filter.residual, nan(""));
        estimate_reason(&fit->estimate, ESTIMATE_FAIL,
                        "the model runs away from the recording: wrong units, signs or start?");
        return STATUS_OK;
    }
    work->noise_known = noise != NULL;
    st = refine(work, &fit->iterations, &fit->stop);
    if (st != STATUS_OK) {
        return st == STATUS_E_STALE ? stop_here(work, fit) : st;
    }
    describe(work, fit);
    summarise(work, report);
    st = set_bars(work, information, report, fit);
    if (st == STATUS_OK) {
        judge(work, report, fit);
        dynamics_judge(fit, work->filter.model, work->filter.set);
    }
    return st;
}

static bool noise_is_well(const struct model *model, const struct prediction_noise *noise)
{
    bool well = noise->force_time_s > 0.0 && isfinite(noise->force_time_s);
    for (size_t i = 0; i < model->axis_count; i++) {
        well = well && noise->velocity_sd[i] > 0.0 && isfinite(noise->velocity_sd[i]) &&
               noise->force_sd[i] >= 0.0 && isfinite(noise->force_sd[i]);
    }
    return well;
}

enum status prediction_error_fit(const struct model *model, const struct data_set *set,
                                 const double *start,
                                 const struct output_error_options *options,
                                 const struct prediction_noise *noise, struct dynamics_fit *fit,
                                 struct prediction_error_report *report)
{
    assert(model && set && start && options && fit && report);
    enum status st = noise && !noise_is_well(model, noise)
                         ? STATUS_E_ARG
                         : unknowns_check(model, set, start, options);
    if (st != STATUS_OK) {
        return st;
    }
    struct pe_work work;
    struct information information = {.g = 0};
    struct prediction_error_report told = {.evaluations = 0};
    struct dynamics_fit out;
    dynamics_fit_start(&out, model, DYNAMICS_PEM, options->with_biases);
    const bool there =
        work_alloc(&work, model, set, options) &&
        information_alloc(&information, work.filter.g, work.filter.unknowns.free);
    st = there ? run(&work, &information, start, noise, &out, &told) : STATUS_E_NOMEM;
    if (st == STATUS_OK) {
        *fit = out;
        *report = told;
    }
    information_free(&information);
    work_free(&work);
    return st;
}
