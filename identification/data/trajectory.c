#include "identification/data/trajectory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/data/data_view.h"

enum { PIECE_STEPS_MAX = 10000 };

/* Steps of a joint with dry friction are chosen from its motion (docs/model/output_error.md,
 * eq. 1a). LOCAL_RATE_MAX bounds the step times the rate of change. Friction turns over
 * within the width plus LOCAL_SCALE times the velocity. LOCAL_RESIDUAL is the accepted error
 * of a step, as a ratio of the width. CREEP_RATE_MAX bounds the step times the rate during
 * slow creep. */
static const double LOCAL_RATE_MAX = 0.5;
static const double LOCAL_SCALE = 0.3;
static const double LOCAL_RESIDUAL = 1e-5;
static const double CREEP_RATE_MAX = 1.5;
static const double LOCAL_SHARE_MIN = 1.0 / 1024.0; /* ratio of the sample time */

/* Largest product of the step and the fastest rate. The error of one Runge-Kutta step is
 * then below 3e-4 of the change. */
static const double STEP_RATE_MAX = 0.5;
/* Smallest step as a ratio of the sample time: samples cannot show faster motion. */
static const double STEP_SHARE_MIN = 1.0 / 16.0;

static size_t count_parameters(const struct trajectory_rules *rules)
{
    return rules->fixed ? 0 : rules->model->parameter_count;
}

bool step_budget_is_spent(const struct step_budget *budget)
{
    return budget && budget->used >= budget->limit;
}

size_t trajectory_columns(const struct trajectory_rules *rules)
{
    const size_t n = rules->model->axis_count;
    return n + count_parameters(rules) + (rules->with_biases ? n : 0) + 1;
}

double trajectory_effort(const struct trajectory *walk, size_t at, size_t axis)
{
    const struct data_set *set = walk->rules->set;
    return (set->commands.count > 0 ? set->commands.tau[axis] : set->tau[axis])[at];
}

double trajectory_edge_s(const struct trajectory *walk, size_t at)
{
    return at + 1 < walk->effort_end ? walk->effort_t_s[at + 1] + walk->delay_s : HUGE_VAL;
}

/* Input of the model: the efforts, plus extra forces and minus the constant ones. If each
 * effort is a force, tau contains all of them. */
struct drive {
    double tau[MODEL_AXES_MAX], force[MODEL_AXES_MAX];
};

static void set_drive(const struct trajectory *walk, struct drive *drive)
{
    const struct trajectory_rules *rules = walk->rules;
    const double *bias = walk->theta + rules->model->parameter_count;
    for (size_t i = 0; i < rules->model->axis_count; i++) {
        const double constant = rules->with_biases ? bias[i] : 0.0;
        const double effort = walk->silent ? 0.0 : trajectory_effort(walk, walk->effort, i);
        const bool apart = rules->model->rows_under;
        drive->tau[i] = apart ? effort : effort + walk->force[i] - constant;
        drive->force[i] = apart ? walk->force[i] - constant : 0.0;
    }
}

static void accelerate_drive(const struct trajectory *walk, const double *pose,
                             const double *nu, const struct drive *drive, double *nu_dot)
{
    const struct model *model = walk->rules->model;
    if (model->rows_under) {
        model_accelerate(model, walk->theta, pose, nu, drive->tau, drive->force, nu_dot);
    } else {
        model->forward(model, walk->theta, pose, nu, drive->tau, nu_dot);
    }
}

/* Second divided difference of a column around sample k. */
static double find_bend(const double *t_s, const double *x, size_t k)
{
    const double before_s = t_s[k] - t_s[k - 1];
    const double after_s = t_s[k + 1] - t_s[k];
    return ((x[k + 1] - x[k]) / after_s - (x[k] - x[k - 1]) / before_s) / (before_s + after_s);
}

/* Pose between two samples on the cubic through four neighbours, or on a parabola at the
 * ends of a run. */
static double interpolate_pose(const struct trajectory *walk, const double *x, double t_s)
{
    const double *t = walk->rules->set->t_s;
    const size_t k = walk->at;
    const size_t first = k > walk->from ? k : k + 1;
    const size_t last = k + 2 < walk->end ? k + 1 : k;
    const double line = x[k] + (t_s - t[k]) / (t[k + 1] - t[k]) * (x[k + 1] - x[k]);
    if (first > last) {
        return line;
    }
    double bend = find_bend(t, x, first);
    if (first < last) {
        bend += (t_s - t[k - 1]) / (t[k + 2] - t[k - 1]) * (find_bend(t, x, last) - bend);
    }
    return line + (t_s - t[k]) * (t_s - t[k + 1]) * bend;
}

/* Returns the recorded pose h_s after the present time; NULL if not needed. Linear
 * interpolation would be biased to one side: on average by a twelfth of the acceleration
 * times the squared sample time. */
static const double *pose_at(const struct trajectory *walk, double h_s, double *memory)
{
    const struct data_set *set = walk->rules->set;
    const size_t k = walk->at;
    if (!walk->rules->model->needs_pose || k + 1 >= walk->end) {
        return walk->rules->model->needs_pose ? data_set_pose(set, k, memory) : NULL;
    }
    const double t_s = fmin(walk->t_s + h_s, set->t_s[k + 1]);
    for (size_t a = 0; a < set->axes; a++) {
        memory[a] = set->pose[a] ? interpolate_pose(walk, set->pose[a], t_s) : 0.0;
    }
    return memory;
}

/* One stage of Runge-Kutta: the rates at a state that lies h along the rates of the previous
 * stage. */
struct stage {
    double nu[MODEL_AXES_MAX];
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX]; /* only if sensitivities are wanted */
    double by[MODEL_AXES_MAX * TRAJECTORY_COLUMNS_MAX];
};

/* Rates of the sensitivities, from the stage's rate and slope (eq. 2). */
static void derive_sensitivities(const struct trajectory *walk, const double *phi,
                                 const double *inverse, const double *by, struct stage *rate)
{
    const size_t n = walk->rules->model->axis_count;
    const size_t p = count_parameters(walk->rules);
    const size_t m = trajectory_columns(walk->rules);
    for (size_t i = 0; i < n; i++) {
        double *row = rate->by + i * m;
        memset(row, 0, m * sizeof *row);
        for (size_t j = 0; j < n; j++) {
            const double *from = by + j * m;
            const double slope = rate->slope[i * n + j];
            for (size_t c = 0; c < m; c++) {
                row[c] += slope * from[c];
            }
            for (size_t q = 0; q < p; q++) {
                row[n + q] -= inverse[i * n + j] * phi[j * p + q];
            }
            if (walk->rules->with_biases) {
                row[n + p + j] -= inverse[i * n + j];
            }
        }
    }
}

/* Computes the rate at nu. With sensitivities also its slope, phi, and the inverse inertia. */
static void find_response(const struct trajectory *walk, const double *pose, const double *nu,
                          struct stage *rate, double *phi, double *inverse)
{
    const struct model *model = walk->rules->model;
    struct drive drive;
    set_drive(walk, &drive);
    if (walk->rules->sensitive && model->simulate) {
        model->simulate(model, walk->theta, pose, nu, drive.tau,
                        &(struct model_response){rate->nu, rate->slope, phi});
    } else {
        accelerate_drive(walk, pose, nu, &drive, rate->nu);
    }
    if (!walk->rules->sensitive) {
        return;
    }
    if (!model->simulate) {
        model->slope(model, walk->theta, pose, nu, drive.tau, rate->slope);
        if (count_parameters(walk->rules) > 0) {
            model_regressor(model, pose, nu, rate->nu, drive.tau, phi);
        }
    }
    model_mobility(model, walk->theta, pose, nu, inverse);
    model_hold_back(model, walk->theta, nu, drive.tau, phi, inverse);
}

static void run_stage(const struct trajectory *walk, const struct stage *former, double h_s,
                      struct stage *rate)
{
    const size_t n = walk->rules->model->axis_count;
    const size_t all = n * trajectory_columns(walk->rules);
    double nu[MODEL_AXES_MAX];
    double memory[MODEL_AXES_MAX];
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double inverse[MODEL_AXES_MAX * MODEL_AXES_MAX];
    for (size_t i = 0; i < n; i++) {
        nu[i] = walk->nu[i] + (former ? h_s * former->nu[i] : 0.0);
    }
    find_response(walk, pose_at(walk, h_s, memory), nu, rate, phi, inverse);
    if (!walk->rules->sensitive) {
        return;
    }
    if (!former) {
        derive_sensitivities(walk, phi, inverse, walk->by, rate);
        return;
    }
    double by[MODEL_AXES_MAX * TRAJECTORY_COLUMNS_MAX];
    for (size_t i = 0; i < all; i++) {
        by[i] = walk->by[i] + h_s * former->by[i];
    }
    derive_sensitivities(walk, phi, inverse, by, rate);
}

/* Completes a Runge-Kutta step whose first stage is known. */
static void apply_step(struct trajectory *walk, const struct stage *k1, double h_s)
{
    const size_t n = walk->rules->model->axis_count;
    const size_t all = n * trajectory_columns(walk->rules);
    struct stage k2;
    struct stage k3;
    struct stage k4;
    run_stage(walk, k1, 0.5 * h_s, &k2);
    run_stage(walk, &k2, 0.5 * h_s, &k3);
    run_stage(walk, &k3, h_s, &k4);
    const double w = h_s / 6.0;
    for (size_t i = 0; i < n; i++) {
        walk->nu[i] += w * (k1->nu[i] + 2.0 * (k2.nu[i] + k3.nu[i]) + k4.nu[i]);
    }
    for (size_t i = 0; walk->rules->sensitive && i < all; i++) {
        walk->by[i] += w * (k1->by[i] + 2.0 * (k2.by[i] + k3.by[i]) + k4.by[i]);
    }
    walk->t_s += h_s;
    if (walk->rules->budget) { /* its unit is a step of one axis without sensitivities */
        walk->rules->budget->used += walk->rules->sensitive ? all : n;
    }
}

/* Equal steps over an interval with one effort. */
static void advance_evenly(struct trajectory *walk, double h_s)
{
    const double count = ceil(h_s / walk->rules->step_s - 1e-9);
    const int steps = count < PIECE_STEPS_MAX ? (int)fmax(count, 1.0) : PIECE_STEPS_MAX;
    for (int i = 0; i < steps; i++) {
        struct stage k1;
        run_stage(walk, NULL, 0.0, &k1);
        apply_step(walk, &k1, h_s / steps);
    }
}

/* Returns the longest step from the present state and rate (docs/model/output_error.md, eq.
 * 1a). Over a time constant, the truncation error is about (h lambda)^4 rate / (120 lambda).
 * Its bound LOCAL_RESIDUAL times the width gives the fourth root. */
static double local_step_s(const struct trajectory *walk, const struct stage *here)
{
    const struct model *model = walk->rules->model;
    const double rate = fabs(here->nu[0]);
    const double scale = model->width + LOCAL_SCALE * fabs(walk->nu[0]);
    double slope = here->slope[0];
    if (!walk->rules->sensitive) {
        struct drive drive;
        double memory[MODEL_AXES_MAX];
        set_drive(walk, &drive);
        model->slope(model, walk->theta, pose_at(walk, 0.0, memory), walk->nu, drive.tau,
                     &slope);
    }
    const double fastest = fabs(slope) + rate / scale;
    const double left = 120.0 * LOCAL_RESIDUAL * model->width * fastest / rate;
    const double most = fmin(fmax(sqrt(sqrt(left)), LOCAL_RATE_MAX), CREEP_RATE_MAX);
    return fmax(most / fastest, LOCAL_SHARE_MIN * walk->rules->set->dt_s);
}

static void advance_locally(struct trajectory *walk, double end_s)
{
    while (walk->t_s < end_s) {
        struct stage k1;
        run_stage(walk, NULL, 0.0, &k1);
        const double h_s = local_step_s(walk, &k1);
        const double left_s = end_s - walk->t_s;
        apply_step(walk, &k1, h_s < left_s ? h_s : left_s);
        walk->t_s = h_s < left_s ? walk->t_s : end_s;
    }
}

/* Time at which the next effort begins to act, s. */
static double next_edge_s(const struct trajectory *walk)
{
    return walk->silent ? walk->effort_t_s[walk->effort_from] + walk->delay_s
                        : trajectory_edge_s(walk, walk->effort);
}

static void advance_effort(struct trajectory *walk)
{
    walk->effort += walk->silent ? 0 : 1;
    walk->silent = false;
}

/* Sensitivity to the delay: a later edge extends the old rates and shortens the new ones. */
static void pass_edge(struct trajectory *walk)
{
    const size_t n = walk->rules->model->axis_count;
    const size_t m = trajectory_columns(walk->rules);
    struct drive drive;
    double before[MODEL_AXES_MAX];
    double after[MODEL_AXES_MAX];
    double memory[MODEL_AXES_MAX];
    if (!walk->rules->sensitive) {
        advance_effort(walk);
        return;
    }
    const double *pose = pose_at(walk, 0.0, memory);
    set_drive(walk, &drive);
    accelerate_drive(walk, pose, walk->nu, &drive, before);
    advance_effort(walk);
    set_drive(walk, &drive);
    accelerate_drive(walk, pose, walk->nu, &drive, after);
    for (size_t i = 0; i < n; i++) {
        walk->by[i * m + m - 1] += before[i] - after[i];
    }
}

void trajectory_linearise(struct trajectory *walk)
{
    const size_t n = walk->rules->model->axis_count;
    const size_t m = trajectory_columns(walk->rules);
    memset(walk->by, 0, sizeof walk->by);
    for (size_t i = 0; walk->rules->sensitive && i < n; i++) {
        walk->by[i * m + i] = 1.0;
    }
}

void trajectory_begin(struct trajectory *walk, const struct trajectory_rules *rules, size_t run,
                      const double *theta, double delay_s, const double *nu_0)
{
    const size_t n = rules->model->axis_count;
    assert(n <= MODEL_AXES_MAX && trajectory_columns(rules) <= TRAJECTORY_COLUMNS_MAX);
    walk->rules = rules;
    walk->theta = theta;
    walk->delay_s = delay_s;
    walk->from = rules->set->run_start[run];
    walk->end = rules->set->run_start[run + 1];
    walk->at = walk->from;
    walk->t_s = rules->set->t_s[walk->from];
    const bool apart = rules->set->commands.count > 0;
    walk->effort_t_s = apart ? rules->set->commands.t_s : rules->set->t_s;
    walk->effort_from = apart ? rules->set->run_commands[run][0] : walk->from;
    walk->effort_end = apart ? rules->set->run_commands[run][1] : walk->end;
    walk->effort = walk->effort_from;
    walk->silent = rules->at_rest && rules->at_rest[run];
    memcpy(walk->nu, nu_0, n * sizeof *nu_0);
    memset(walk->force, 0, sizeof walk->force);
    trajectory_linearise(walk);
    /* Edges before the first sample do not affect the run. An exception is the first edge of
     * a run that starts at rest: a later delay would move it into the run. */
    while (next_edge_s(walk) < walk->t_s || (next_edge_s(walk) <= walk->t_s && !walk->silent)) {
        advance_effort(walk);
    }
}

/* Skips rows that repeat the previous effort: they are no edges. */
static void skip_same(struct trajectory *walk, double end_s)
{
    while (!walk->silent && next_edge_s(walk) < end_s &&
           !(fabs(trajectory_effort(walk, walk->effort + 1, 0) -
                  trajectory_effort(walk, walk->effort, 0)) > 0.0)) {
        walk->effort++;
    }
}

bool trajectory_next(struct trajectory *walk)
{
    const struct model *model = walk->rules->model;
    /* Dry friction that turns over within a width needs short steps near rest, and only there.
     */
    const bool locally = model->sticks && model->width > 0.0 && model->axis_count == 1;
    assert(walk->at + 1 < walk->end);
    const double end_s = walk->rules->set->t_s[walk->at + 1];
    if (step_budget_is_spent(walk->rules->budget)) {
        return false;
    }
    while (walk->t_s < end_s) {
        while (next_edge_s(walk) <= walk->t_s) {
            pass_edge(walk);
        }
        if (locally) {
            skip_same(walk, end_s);
        }
        const double stop_s = fmin(next_edge_s(walk), end_s);
        if (locally) {
            advance_locally(walk, stop_s);
        } else {
            advance_evenly(walk, stop_s - walk->t_s);
        }
        walk->t_s = stop_s;
    }
    walk->at++;
    for (size_t i = 0; i < walk->rules->model->axis_count; i++) {
        if (!isfinite(walk->nu[i]) || !(fabs(walk->nu[i]) <= walk->rules->limit[i])) {
            return false;
        }
    }
    return true;
}

double trajectory_step_s(const struct model *model, const double *theta,
                         const struct data_set *set)
{
    const size_t n = model->axis_count;
    double fastest = 0.0; /* upper bound of the rates, 1/s, from row sums of the slope */
    for (size_t k = 0; k < set->n; k++) {
        double nu[MODEL_AXES_MAX];
        double tau[MODEL_AXES_MAX];
        double pose[MODEL_AXES_MAX];
        double a[MODEL_AXES_MAX * MODEL_AXES_MAX];
        data_set_velocity(set, k, nu);
        data_view_effort(set, k, tau);
        model->slope(model, theta, data_set_pose(set, k, pose), nu,
                     model->rows_under ? tau : NULL, a);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += fabs(a[i * n + j]);
            }
            fastest = fmax(fastest, sum);
        }
    }
    /* Slightly more than the sample time, so that rounding does not split a step in two. */
    const double step_s = fmin(1.001 * set->dt_s, STEP_RATE_MAX / fastest);
    return step_s > STEP_SHARE_MIN * set->dt_s ? step_s : STEP_SHARE_MIN * set->dt_s;
}
