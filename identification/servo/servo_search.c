#include "identification/servo/servo_search.h"

#include <math.h>
#include <string.h>

#include "identification/numeric/damped_search.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/servo/servo_thresholds.def"

/* Steps of all simulations: 40 million take some seconds. More rows may use more. */
static const double STEPS_MAX = 10e6;
static const double STEPS_PER_ROW = 6000.0;
/* Differences of the Jacobian: of logarithms, in ratios of the range, and of the delay, s. */
static const double STEP_LOG = 1e-3, STEP_ANGLE = 2e-4, STEP_DELAY_S = 2e-4;
static const struct damped_rules rules = {
    .lambda = 1e-3, .ease = 0.1, .step_enough = 1e-2, .loss_enough = 1e-6};

static const double SUBSTEPS_S[] = {8e-3, 4e-3};

void servo_accuracy_set(struct servo_problem *problem, enum servo_accuracy accuracy)
{
    problem->substep_s = SUBSTEPS_S[accuracy];
}

static bool is_logarithm(enum servo_term term)
{
    return term == TERM_GAIN || term == TERM_LAG || term == TERM_TORQUE || term == TERM_SPEED ||
           term == TERM_ACCELERATION;
}

static void set_bounds(struct servo_problem *p)
{
    const double range = p->set->range_rad;
    const double lo[TERMS] = {log(0.3),
                              log(1e-3),
                              0.0,
                              -range,
                              0.0,
                              -range,
                              -range,
                              0.0,
                              log(0.05 * range),
                              log(0.05 * range),
                              log(range),
                              0.2,
                              -0.5,
                              -range,
                              -range,
                              -range,
                              -range,
                              -range,
                              0.0};
    const double hi[TERMS] = {log(300.0),
                              log(1.0),
                              range,
                              range,
                              0.5,
                              range,
                              range,
                              range,
                              log(200.0 * range),
                              log(200.0 * range),
                              log(1e4 * range),
                              5.0,
                              0.9,
                              range,
                              range,
                              range,
                              range,
                              range,
                              0.5};
    memcpy(p->lo, lo, sizeof lo);
    memcpy(p->hi, hi, sizeof hi);
}

static void set_weights(struct servo_problem *p)
{
    const struct servo_set *set = p->set;
    p->count = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t begin = set->run_start[r];
        for (size_t k = begin; k < set->run_start[r + 1]; k++) {
            const bool settled =
                set->t_s[k] >= set->t_s[begin] + SETTLE_S && k >= begin + (size_t)SETTLE_ROWS;
            p->weight[k] = settled && isfinite(set->position_rad[k]) ? 1.0 : 0.0;
            p->count += p->weight[k];
        }
    }
}

enum status servo_problem_init(struct servo_problem *problem, const struct servo_set *set)
{
    memset(problem, 0, sizeof *problem);
    gsl_vector *memory = gsl_vector_alloc((4 + TERMS) * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    problem->set = set;
    problem->memory = memory;
    problem->weight = memory->data;
    problem->shown = problem->weight + set->n;
    problem->spare = problem->shown + set->n;
    problem->kept = problem->spare + set->n;
    for (size_t j = 0; j < TERMS; j++) {
        problem->column[j] = problem->kept + (1 + j) * set->n;
    }
    problem->steps_max = (uint64_t)(STEPS_MAX + STEPS_PER_ROW * (double)set->n);
    servo_accuracy_set(problem, SERVO_FINE);
    problem->difference = 1.0;
    problem->gain_enough = 0.01;
    set_bounds(problem);
    set_weights(problem);
    memcpy(problem->kept, problem->weight, set->n * sizeof *problem->kept);
    return STATUS_OK;
}

void servo_weights_select(struct servo_problem *problem, const double *chosen, double limit,
                          bool above)
{
    problem->count = 0.0;
    for (size_t k = 0; k < problem->set->n; k++) {
        problem->weight[k] = (chosen[k] >= limit) == above ? problem->kept[k] : 0.0;
        problem->count += problem->weight[k];
    }
}

void servo_weights_restore(struct servo_problem *problem)
{
    servo_weights_select(problem, problem->set->t_s, -HUGE_VAL, true);
}

void servo_problem_free(struct servo_problem *problem)
{
    gsl_vector_free(problem->memory);
    memset(problem, 0, sizeof *problem);
}

bool servo_problem_is_exhausted(const struct servo_problem *problem)
{
    return problem->steps >= problem->steps_max;
}

struct servo_law servo_point_law(const struct servo_point *point)
{
    const double *x = point->x;
    const double gain = exp(x[TERM_GAIN]);
    const double damping = exp(-x[TERM_LAG]);
    struct servo_law law = {
        .stiffness = gain * damping,
        .damping = damping,
        .dead_band_rad = x[TERM_DEAD_BAND],
        .droop_rad = x[TERM_DROOP],
        .droop_sin_rad = point->free[TERM_DROOP_SIN] ? x[TERM_DROOP_SIN] : 0.0,
        .droop_cos_rad = point->free[TERM_DROOP_COS] ? x[TERM_DROOP_COS] : 0.0,
        .scale = point->free[TERM_SCALE] ? x[TERM_SCALE] : 1.0,
        .delay_s = x[TERM_DELAY],
        .play_rad = point->free[TERM_PLAY] ? x[TERM_PLAY] : 0.0,
        .error_max_rad = point->free[TERM_TORQUE] ? exp(x[TERM_TORQUE]) / gain : HUGE_VAL,
        .speed_radps = point->free[TERM_SPEED] ? exp(x[TERM_SPEED]) : HUGE_VAL,
        .acceleration_radps2 = point->free[TERM_SPEED] ? exp(x[TERM_ACCELERATION]) : HUGE_VAL,
        .friction_load = point->free[TERM_FRICTION_LOAD] ? x[TERM_FRICTION_LOAD] : 0.0,
        .friction_rest_rad = point->free[TERM_FRICTION_REST] ? x[TERM_FRICTION_REST] : 0.0,
        .sensor_lag_s = point->free[TERM_SENSOR_LAG] ? x[TERM_SENSOR_LAG] : 0.0};
    for (size_t i = 0; i < SERVO_PLACES && point->free[TERM_FRICTION_PLACE]; i++) {
        law.friction_place_rad[i] = x[TERM_FRICTION_PLACE + i];
    }
    return law;
}

static void simulate_point(struct servo_problem *p, const struct servo_point *point, double *to)
{
    struct servo_law law = servo_point_law(point);
    law.substep_s = p->substep_s;
    p->steps += servo_simulate(p->set, &law, to, NULL);
}

static double sum_squares(const struct servo_problem *p, const double *shown)
{
    const double floor_rad = 1e-9 * p->set->range_rad;
    double sse = p->count * floor_rad * floor_rad;
    for (size_t k = 0; k < p->set->n; k++) {
        if (p->weight[k] > 0.0) {
            const double e = p->set->position_rad[k] - shown[k];
            sse += p->weight[k] * e * e;
        }
    }
    return sse;
}

double servo_law_evaluate(struct servo_problem *problem, const struct servo_law *law)
{
    problem->steps += servo_simulate(problem->set, law, problem->shown, NULL);
    return sum_squares(problem, problem->shown);
}

void servo_point_evaluate(struct servo_problem *problem, struct servo_point *point)
{
    struct servo_law law = servo_point_law(point);
    law.substep_s = problem->substep_s;
    point->sse = servo_law_evaluate(problem, &law);
}

static double usual_difference(const struct servo_problem *p, enum servo_term term)
{
    const bool ratio = is_logarithm(term) || term == TERM_SCALE || term == TERM_FRICTION_LOAD;
    const bool time = term == TERM_DELAY || term == TERM_SENSOR_LAG;
    return ratio ? STEP_LOG : time ? STEP_DELAY_S : STEP_ANGLE * p->set->range_rad;
}

/* One side of the point, for a search. problem->shown is the simulation of the point. */
static void compute_column(struct servo_problem *p, const struct servo_point *point,
                           enum servo_term term)
{
    struct servo_point moved = *point;
    double difference = p->difference * usual_difference(p, term);
    difference = point->x[term] + difference > p->hi[term] ? -difference : difference;
    moved.x[term] += difference;
    simulate_point(p, &moved, p->column[term]);
    for (size_t k = 0; k < p->set->n; k++) {
        p->column[term][k] = (p->column[term][k] - p->shown[k]) / difference;
    }
}

void servo_search_differentiate(struct servo_problem *problem, const struct servo_point *point,
                                double ratio)
{
    for (enum servo_term j = 0; j < TERMS; j++) {
        const double difference = ratio * usual_difference(problem, j);
        struct servo_point low = *point;
        struct servo_point high = *point;
        low.x[j] = fmax(point->x[j] - difference, problem->lo[j]);
        high.x[j] = fmin(point->x[j] + difference, problem->hi[j]);
        if (point->free[j]) {
            simulate_point(problem, &low, problem->spare);
            simulate_point(problem, &high, problem->column[j]);
            for (size_t k = 0; k < problem->set->n; k++) {
                problem->column[j][k] =
                    (problem->column[j][k] - problem->spare[k]) / (high.x[j] - low.x[j]);
            }
        }
    }
}

/* A search, with its present and its tried point. */
struct descent {
    struct servo_problem *problem;
    struct servo_point *here, there;
    bool is_linear; /* the triangle belongs to the present point */
    struct qr_accumulator triangle;
};

/* Reduces the residuals at the present point to a triangle, in units of their spread.
 * problem->shown is its simulation: the last one that was accepted. */
static void linearise_point(struct descent *d)
{
    struct servo_problem *p = d->problem;
    const double scale = sqrt(p->count / d->here->sse);
    for (enum servo_term j = 0; j < TERMS; j++) {
        if (d->here->free[j]) {
            compute_column(p, d->here, j);
        }
    }
    qr_start(&d->triangle, TERMS + 1);
    for (size_t k = 0; k < p->set->n; k++) {
        double row[TERMS + 1];
        const double weight = scale * sqrt(p->weight[k]);
        if (weight > 0.0) {
            for (size_t j = 0; j < TERMS; j++) {
                row[j] = d->here->free[j] ? weight * p->column[j][k] : 0.0;
            }
            row[TERMS] = weight * (p->set->position_rad[k] - p->shown[k]);
            qr_add(&d->triangle, row);
        }
    }
    qr_flush(&d->triangle);
    d->is_linear = true;
}

/* Terms at a bound that the step would leave are held, and the step is found again. */
static enum status propose_step(void *context, double lambda, double *length)
{
    struct descent *d = context;
    const struct servo_problem *p = d->problem;
    double step[TERMS] = {0.0};
    bool moves[TERMS];
    bool again = true;
    if (!d->is_linear) {
        linearise_point(d);
    }
    memcpy(moves, d->here->free, sizeof moves);
    while (again) {
        again = false;
        *length = damped_step(d->triangle.r[0], NUMERIC_COLUMNS_MAX, TERMS, lambda, NULL, moves,
                              step);
        for (size_t j = 0; j < TERMS; j++) {
            const double x = d->here->x[j];
            if (moves[j] &&
                ((x <= p->lo[j] && step[j] < 0.0) || (x >= p->hi[j] && step[j] > 0.0))) {
                moves[j] = false;
                again = true;
            }
        }
    }
    d->there = *d->here;
    for (size_t j = 0; j < TERMS; j++) {
        if (moves[j]) {
            d->there.x[j] = fmin(fmax(d->here->x[j] + step[j], p->lo[j]), p->hi[j]);
        }
    }
    return STATUS_OK;
}

static enum status try_step(void *context, double *gain)
{
    struct descent *d = context;
    servo_point_evaluate(d->problem, &d->there);
    *gain = d->problem->count * log(d->here->sse / d->there.sse);
    *gain = isfinite(*gain) ? *gain : -HUGE_VAL;
    if (*gain >= 0.0) {
        *d->here = d->there;
        d->is_linear = false;
    }
    return STATUS_OK;
}

static bool is_over(void *context, size_t iteration, enum search_stop *stop)
{
    (void)iteration;
    *stop = SEARCH_LIMIT;
    return servo_problem_is_exhausted(((const struct descent *)context)->problem);
}

double servo_search_promise(struct servo_problem *problem, const struct servo_point *point)
{
    struct servo_point here = *point;
    struct descent d = {.problem = problem, .here = &here};
    double explained = 0.0;
    servo_point_evaluate(problem, &here);
    linearise_point(&d);
    for (size_t j = 0; j < TERMS; j++) {
        explained += here.free[j] ? pow(d.triangle.r[j][TERMS], 2.0) : 0.0;
    }
    return -problem->count * log1p(-fmin(explained / problem->count, 1.0));
}

bool servo_search_run(struct servo_problem *problem, struct servo_point *point,
                      size_t iterations_max)
{
    struct descent d = {.problem = problem, .here = point};
    struct damped_search search = {.rules = rules,
                                   .context = &d,
                                   .is_over = is_over,
                                   .propose = propose_step,
                                   .try_step = try_step};
    enum search_stop stop = SEARCH_LIMIT;
    size_t iterations = 0;
    search.rules.gain_enough = problem->gain_enough;
    for (enum servo_term j = 0; j < TERMS; j++) {
        point->x[j] = fmin(fmax(point->x[j], problem->lo[j]), problem->hi[j]);
    }
    servo_point_evaluate(problem, point);
    const enum status st = damped_search_run(&search, iterations_max, &iterations, &stop);
    problem->iterations += iterations;
    return st == STATUS_OK && stop != SEARCH_LIMIT;
}
