/* Random shooting with a receding horizon (docs/model/identification.md, "Next input"). */
#include "identification/simulation/input_plan.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>

NAMES(input_criterion_names, INPUT_CRITERIA, "mission", "all");

/* Relative size of the differences that give sensitivities. */
static const double DIFFERENCE = 1e-4;
/* Draws have errors this much larger, and no physical parameter falls below the share. */
static const double INPUT_SPREAD = 1.3;
static const double DRAWN_MIN = 0.3;
/* Length of a segment in time constants, and about the number of its samples. */
static const double SEGMENT_RESPONSES = 1.5;
static const double SEGMENT_SAMPLES = 20.0;
/* The product of step and rate: Runge-Kutta is stable up to 2.8. */
static const double STEP_RATE = 1.5;
/* Dry friction that needs more steps in a sample is smoothed. */
enum { STICK_STEPS = 4, STEPS_MAX = 64, SEGMENT_MIN = 3 };
/* A robot stands below this share of its largest velocity. */
static const double STANDS = 0.02;
/* Efforts on several axes together may reach more than those on one. */
static const double REACH_FACTOR = 2.0;
enum { STOP_SEGMENTS = 20 }; /* the longest stop */
/* Shares of the kinds of candidates: two levels, three levels, any level. */
static const double TWO_LEVELS = 0.6;
static const double THREE_LEVELS = 0.8;
static const double FULL_SIZE = 0.5;
static const double SIZE_MIN = 0.2;

static gsl_matrix_view view_matrix(struct input_matrix *matrix, size_t count)
{
    return gsl_matrix_view_array_with_tda(matrix->at[0], count, count, INPUT_PLAN_UNKNOWNS_MAX);
}

bool input_matrix_invert(struct input_matrix *matrix, size_t count)
{
    gsl_matrix_view view = view_matrix(matrix, count);
    return gsl_linalg_cholesky_decomp1(&view.matrix) == GSL_SUCCESS &&
           gsl_linalg_cholesky_invert(&view.matrix) == GSL_SUCCESS;
}

static size_t count_theta(const struct input_plan *plan)
{
    return plan->model.parameter_count + (plan->with_biases ? plan->model.axis_count : 0);
}

/* ---- motion ---- */

/* Returns false if the motion diverged. */
static bool step_state(const struct input_plan *plan, const double *theta, const double *effort,
                       struct input_state *state)
{
    double force[MODEL_AXES_MAX] = {0.0};
    bool finite = true;
    for (size_t i = 0; plan->with_biases && i < plan->model.axis_count; i++) {
        force[i] = -theta[plan->model.parameter_count + i];
    }
    for (size_t k = 0; k < plan->steps; k++) {
        model_step_pushed(&plan->model, theta, state->nu, state->pose, effort,
                          plan->with_biases ? force : NULL, plan->dt_s / (double)plan->steps);
    }
    for (size_t i = 0; i < plan->model.axis_count; i++) {
        finite = finite && isfinite(state->nu[i]) && isfinite(state->pose[i]);
    }
    return finite;
}

/* A state may be beyond a limit only if it was before, and goes no further. */
static bool is_below(double x, double from, double most)
{
    return !(most > 0.0) || fabs(x) <= most ||
           (fabs(from) > most && fabs(x) < fabs(from) + 1e-9);
}

static bool is_within(const struct input_plan *plan, const struct input_state *state,
                      const struct input_state *from)
{
    bool within = true;
    for (size_t i = 0; i < plan->model.axis_count; i++) {
        within = within && is_below(state->nu[i], from->nu[i], plan->nu_max[i]);
    }
    for (size_t i = 0; i < model_pose_count(&plan->model); i++) {
        within = within && is_below(state->pose[i], from->pose[i], plan->pose_max[i]);
    }
    return within;
}

static double find_range(const struct input_plan *plan, size_t axis)
{
    return plan->effort_high[axis] - plan->effort_low[axis];
}

/* Moves the efforts towards the wanted ones, in a straight line, so that their sum stays as
 * small as that of both ends. */
static void slew_effort(const struct input_plan *plan, const double *wanted, double *effort)
{
    double share = 1.0;
    for (size_t i = 0; plan->slew_per_s > 0.0 && i < plan->model.axis_count; i++) {
        const double most = plan->slew_per_s * plan->dt_s * find_range(plan, i);
        const double change = fabs(wanted[i] - effort[i]);
        share = change > most ? fmin(share, most / change) : share;
    }
    for (size_t i = 0; i < plan->model.axis_count; i++) {
        effort[i] += share * (wanted[i] - effort[i]);
    }
}

/* Effort at sample k: of the candidate, then of the stop. */
static void set_effort(const struct input_plan *plan, const double *efforts, size_t k,
                       double *effort)
{
    static const double none[MODEL_AXES_MAX] = {0.0};
    const size_t n = plan->model.axis_count;
    if (k < plan->segment) {
        memcpy(effort, efforts + k * n, n * sizeof *effort);
    } else {
        slew_effort(plan, none, effort);
    }
}

/* Do the efforts, and a stop after them, keep these parameters within the limits? */
static bool keeps_within(const struct input_plan *plan, const double *theta,
                         const struct input_state *from, const double *efforts)
{
    struct input_state state = *from;
    double effort[MODEL_AXES_MAX];
    bool within = true;
    for (size_t k = 0; k < plan->segment + plan->stop && within; k++) {
        set_effort(plan, efforts, k, effort);
        within = step_state(plan, theta, effort, &state) && is_within(plan, &state, from);
    }
    return within;
}

/* ---- information ---- */

static double find_difference(const struct input_plan *plan, size_t k)
{
    return DIFFERENCE *
           fmax(fmax(fabs(plan->theta[plan->unknown[k]]), plan->se[k]), DBL_EPSILON);
}

static bool step_copies(const struct input_plan *plan, const double *effort,
                        struct input_state *here, struct input_state *copies)
{
    bool finite = step_state(plan, plan->theta, effort, here);
    for (size_t k = 0; k < plan->unknown_count && finite; k++) {
        double theta[DYNAMICS_P_MAX];
        if (plan->unknown[k] < count_theta(plan)) {
            memcpy(theta, plan->theta, sizeof theta);
            theta[plan->unknown[k]] += find_difference(plan, k);
            finite = step_state(plan, theta, effort, &copies[k]);
        }
    }
    return finite;
}

/* Derivatives of velocities and pose by unknown k. A later effort gives an earlier motion. */
static void derive_state(const struct input_plan *plan, const double *effort,
                         const struct input_state *here, const struct input_state *copies,
                         size_t k, struct input_state *by)
{
    const struct model *model = &plan->model;
    if (plan->unknown[k] == count_theta(plan)) {
        double force[MODEL_AXES_MAX] = {0.0};
        for (size_t i = 0; plan->with_biases && i < model->axis_count; i++) {
            force[i] = -plan->theta[model->parameter_count + i];
        }
        model_accelerate(model, plan->theta, here->pose, here->nu, effort, force, by->nu);
        model->kinematics(model, here->pose, here->nu, by->pose);
    }
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        if (plan->unknown[k] == count_theta(plan)) {
            by->nu[i] = -by->nu[i];
            by->pose[i] = -by->pose[i];
        } else {
            by->nu[i] = (copies[k].nu[i] - here->nu[i]) / find_difference(plan, k);
            by->pose[i] = (copies[k].pose[i] - here->pose[i]) / find_difference(plan, k);
        }
    }
}

/* Error of a velocity or of an entry of the pose, to first order. */
static double find_error(const struct input_plan *plan, const struct input_state *by,
                         bool of_pose, size_t i)
{
    double variance = 0.0;
    for (size_t a = 0; a < plan->unknown_count; a++) {
        const double own = of_pose ? by[a].pose[i] : by[a].nu[i];
        for (size_t b = 0; b < plan->unknown_count; b++) {
            variance +=
                own * plan->covariance.at[a][b] * (of_pose ? by[b].pose[i] : by[b].nu[i]);
        }
    }
    return sqrt(fmax(variance, 0.0));
}

/* The largest sizes that the motion has within `reach` errors of its estimate. */
static void find_extremes(const struct input_plan *plan, const double *effort,
                          const struct input_state *here, const struct input_state *copies,
                          struct input_state *most)
{
    struct input_state by[INPUT_PLAN_UNKNOWNS_MAX];
    for (size_t k = 0; k < plan->unknown_count; k++) {
        derive_state(plan, effort, here, copies, k, &by[k]);
    }
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        most->nu[i] = plan->nu_max[i] > 0.0
                          ? fabs(here->nu[i]) + plan->reach * find_error(plan, by, false, i)
                          : 0.0;
        most->pose[i] = plan->pose_max[i] > 0.0
                            ? fabs(here->pose[i]) + plan->reach * find_error(plan, by, true, i)
                            : 0.0;
    }
}

/* The same for all that lies within `reach` errors of the estimate. */
static bool keeps_errors_within(const struct input_plan *plan, const double *efforts)
{
    struct input_state copies[INPUT_PLAN_UNKNOWNS_MAX];
    struct input_state here = plan->here;
    struct input_state from;
    struct input_state most;
    double effort[MODEL_AXES_MAX];
    bool within = true;
    memcpy(copies, plan->copies, plan->unknown_count * sizeof *copies);
    find_extremes(plan, plan->effort, &here, copies, &from);
    for (size_t k = 0; k < plan->segment + plan->stop && within; k++) {
        set_effort(plan, efforts, k, effort);
        within = step_copies(plan, effort, &here, copies);
        find_extremes(plan, effort, &here, copies, &most);
        within = within && is_within(plan, &most, &from);
    }
    return within;
}

static const char *pose_name(const struct model *model, size_t i)
{
    return i < model->axis_count ? model->axes[i].pose : model->heading;
}

static bool is_length(const struct model *model, size_t i)
{
    const size_t length = strlen(pose_name(model, i));
    return length > 2 && strcmp(pose_name(model, i) + length - 2, "_m") == 0;
}

/* Positions are the lengths of a pose; a pose without any is a position as a whole. */
static void weigh_poses(const struct model *model, double weight[MODEL_AXES_MAX])
{
    bool any = false;
    for (size_t i = 0; i < model_pose_count(model); i++) {
        any = any || is_length(model, i);
    }
    for (size_t i = 0; i < model_pose_count(model); i++) {
        weight[i] = !any || is_length(model, i) ? 1.0 : 0.0;
    }
}

static void add_products(const struct input_state *by, size_t count, bool poses,
                         const double *weight, size_t entries, struct input_matrix *sum)
{
    for (size_t i = 0; i < entries; i++) {
        for (size_t a = 0; a < count; a++) {
            const double *from = poses ? by[a].pose : by[a].nu;
            const double scaled = weight[i] * from[i];
            for (size_t b = 0; b < count; b++) {
                sum->at[a][b] += scaled * (poses ? by[b].pose : by[b].nu)[i];
            }
        }
    }
}

/* One sample: moves the estimate and its copies, and adds what the sample tells. */
static bool append_sample(const struct input_plan *plan, const double *effort,
                          struct input_state *here, struct input_state *copies,
                          struct input_matrix *information, struct input_matrix *mission)
{
    struct input_state by[INPUT_PLAN_UNKNOWNS_MAX];
    if (!step_copies(plan, effort, here, copies)) {
        return false;
    }
    for (size_t k = 0; k < plan->unknown_count; k++) {
        derive_state(plan, effort, here, copies, k, &by[k]);
    }
    add_products(by, plan->unknown_count, false, plan->weight, plan->model.axis_count,
                 information);
    if (mission) {
        double weight[MODEL_AXES_MAX];
        weigh_poses(&plan->model, weight);
        add_products(by, plan->unknown_count, true, weight, model_pose_count(&plan->model),
                     mission);
    }
    return true;
}

bool input_plan_append(struct input_plan *plan, const double *efforts, size_t count,
                       struct input_matrix *mission)
{
    const size_t n = plan->model.axis_count;
    bool finite = true;
    for (size_t k = 0; k < count && finite; k++) {
        finite = append_sample(plan, efforts + k * n, &plan->here, plan->copies,
                               &plan->information, mission);
        for (size_t d = 0; d < plan->draw_count && finite; d++) {
            finite = step_state(plan, plan->drawn[d], efforts + k * n, &plan->draws[d]);
        }
        memcpy(plan->effort, efforts + k * n, n * sizeof *plan->effort);
    }
    return finite;
}

/* The criterion of an information; HUGE_VAL if it is singular. */
static double find_criterion(const struct input_plan *plan, struct input_matrix *information)
{
    const size_t count = plan->unknown_count;
    gsl_matrix_view view = view_matrix(information, count);
    double sum = 0.0;
    if (gsl_linalg_cholesky_decomp1(&view.matrix) != GSL_SUCCESS) {
        return HUGE_VAL;
    }
    if (plan->criterion == INPUT_PLAN_ALL) {
        for (size_t k = 0; k < count; k++) {
            sum -= 2.0 * log(information->at[k][k]);
        }
        return sum;
    }
    if (gsl_linalg_cholesky_invert(&view.matrix) != GSL_SUCCESS) {
        return HUGE_VAL;
    }
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            sum += information->at[a][b] * plan->mission.at[a][b];
        }
    }
    return sum;
}

double input_plan_cost(const struct input_plan *plan, const double *efforts)
{
    struct input_state copies[INPUT_PLAN_UNKNOWNS_MAX];
    struct input_state here = plan->here;
    struct input_matrix information;
    bool within = keeps_within(plan, plan->theta, &plan->here, efforts);
    for (size_t d = 0; d < plan->draw_count && within; d++) {
        within = keeps_within(plan, plan->drawn[d], &plan->draws[d], efforts);
    }
    if (!within || (plan->reach > 0.0 && !keeps_errors_within(plan, efforts))) {
        return HUGE_VAL;
    }
    memcpy(copies, plan->copies, plan->unknown_count * sizeof *copies);
    information = plan->information;
    for (size_t k = 0; k < plan->segment && within; k++) {
        within = append_sample(plan, efforts + k * plan->model.axis_count, &here, copies,
                               &information, NULL);
    }
    return within ? find_criterion(plan, &information) : HUGE_VAL;
}

/* ---- candidates ---- */

static size_t draw_below(struct random_source *random, size_t count)
{
    return (size_t)(random_uniform(random) * (double)count);
}

static double draw_level(struct random_source *random, double kind, double size)
{
    return kind < TWO_LEVELS     ? (draw_below(random, 2) == 0 ? -size : size)
           : kind < THREE_LEVELS ? size * ((double)draw_below(random, 3) - 1.0)
                                 : random_between(random, -1.0, 1.0);
}

/* Wanted efforts of one hold: on all axes, or on one. */
static void draw_efforts(const struct input_plan *plan, struct random_source *random,
                         double kind, double size, size_t alone, double *wanted)
{
    const size_t n = plan->model.axis_count;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double level = draw_level(random, kind, size);
        wanted[i] = alone < n && alone != i ? 0.0 : level;
        sum += find_range(plan, i) > 0.0 ? fabs(wanted[i]) : 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        wanted[i] *= sum > plan->effort_sum ? plan->effort_sum / sum : 1.0;
        wanted[i] *= wanted[i] > 0.0 ? plan->effort_high[i] : -plan->effort_low[i];
    }
}

/* Levels are held for a whole, a half or a quarter of the segment, from any phase on. */
static void draw_candidate(const struct input_plan *plan, struct random_source *random,
                           double *efforts)
{
    const size_t n = plan->model.axis_count;
    const double kind = random_uniform(random);
    const double size =
        random_uniform(random) < FULL_SIZE ? 1.0 : random_between(random, SIZE_MIN, 1.0);
    const size_t hold = (plan->segment + 3) >> draw_below(random, 3);
    const size_t phase = draw_below(random, hold);
    /* Axes may share their actuators, so that half of the candidates use one axis alone. */
    const size_t alone = draw_below(random, n > 1 ? 2 * n : n + 1);
    double wanted[MODEL_AXES_MAX] = {0.0};
    double effort[MODEL_AXES_MAX];
    memcpy(effort, plan->effort, sizeof effort);
    for (size_t k = 0; k < plan->segment; k++) {
        if (k == 0 || (k + phase) % hold == 0) {
            draw_efforts(plan, random, kind, size, alone, wanted);
        }
        slew_effort(plan, wanted, effort);
        memcpy(efforts + k * n, effort, n * sizeof *effort);
    }
}

static void slew_down(const struct input_plan *plan, size_t count, double *efforts)
{
    static const double none[MODEL_AXES_MAX] = {0.0};
    const size_t n = plan->model.axis_count;
    double effort[MODEL_AXES_MAX];
    memcpy(effort, plan->effort, sizeof effort);
    for (size_t k = 0; k < count; k++) {
        slew_effort(plan, none, effort);
        memcpy(efforts + k * n, effort, n * sizeof *effort);
    }
}

size_t input_plan_choose(struct input_plan *plan, struct random_source *random, double *efforts)
{
    double candidate[INPUT_PLAN_SEGMENT_MAX * MODEL_AXES_MAX];
    const size_t bytes = plan->segment * plan->model.axis_count * sizeof *candidate;
    double least = HUGE_VAL;
    size_t within = 0;
    slew_down(plan, plan->segment, efforts);
    for (size_t c = 0; c < INPUT_PLAN_CANDIDATES; c++) {
        if (c == 0) {
            memcpy(candidate, efforts, bytes);
        } else {
            draw_candidate(plan, random, candidate);
        }
        const double cost = input_plan_cost(plan, candidate);
        within += cost < HUGE_VAL ? 1 : 0;
        if (cost < least) {
            least = cost;
            memcpy(efforts, candidate, bytes);
        }
    }
    (void)input_plan_append(plan, efforts, plan->segment, NULL);
    return within;
}

void input_plan_stop(const struct input_plan *plan, double *efforts)
{
    slew_down(plan, plan->stop, efforts);
}

/* ---- start ---- */

static void rest_state(struct input_state *state)
{
    *state = (struct input_state){{0.0}, {0.0}};
}

void input_plan_rest(struct input_plan *plan)
{
    rest_state(&plan->here);
    for (size_t k = 0; k < plan->unknown_count; k++) {
        rest_state(&plan->copies[k]);
    }
    for (size_t d = 0; d < plan->draw_count; d++) {
        rest_state(&plan->draws[d]);
    }
    memset(plan->effort, 0, sizeof plan->effort);
}

bool input_plan_draw(struct input_plan *plan, const struct input_matrix *covariance,
                     struct random_source *random)
{
    const size_t count = plan->unknown_count;
    struct input_matrix root = *covariance;
    gsl_matrix_view view = view_matrix(&root, count);
    plan->information = *covariance;
    if (gsl_linalg_cholesky_decomp1(&view.matrix) != GSL_SUCCESS ||
        !input_matrix_invert(&plan->information, count)) {
        return false;
    }
    plan->covariance = *covariance;
    plan->draw_count = INPUT_PLAN_DRAWS;
    for (size_t d = 0; d < INPUT_PLAN_DRAWS; d++) {
        double normal[INPUT_PLAN_UNKNOWNS_MAX];
        memcpy(plan->drawn[d], plan->theta, sizeof plan->drawn[d]);
        for (size_t k = 0; k < count; k++) {
            const size_t at = plan->unknown[k];
            double by = 0.0;
            normal[k] = random_normal(random);
            for (size_t j = 0; j <= k; j++) {
                by += root.at[k][j] * normal[j];
            }
            if (at < count_theta(plan)) {
                const double drawn = plan->theta[at] + INPUT_SPREAD * by;
                const bool any = at >= plan->model.parameter_count ||
                                 plan->model.parameters[at].sign == MODEL_ANY;
                plan->drawn[d][at] =
                    any ? drawn : fmax(fabs(drawn), DRAWN_MIN * fabs(plan->theta[at]));
            }
        }
    }
    return true;
}

/* The largest velocities that the limits allow and that the efforts can reach: limits alone may
 * ask for a rate that no simulation can follow. */
static void find_reach(const struct input_plan *plan, double most[MODEL_AXES_MAX])
{
    struct input_plan walk = *plan;
    double reached[MODEL_AXES_MAX] = {0.0};
    bool finite = true;
    walk.steps = STEPS_MAX;
    for (size_t end = 0; end < 2 * plan->model.axis_count; end++) {
        const size_t i = end / 2;
        struct input_state state = {{0.0}, {0.0}};
        double effort[MODEL_AXES_MAX] = {0.0};
        effort[i] = plan->effort_sum * (end % 2 == 0 ? plan->effort_high : plan->effort_low)[i];
        for (size_t k = 0; k < STOP_SEGMENTS * plan->segment && finite; k++) {
            finite = step_state(&walk, plan->theta, effort, &state);
            for (size_t a = 0; a < plan->model.axis_count; a++) {
                reached[a] = fmax(reached[a], fabs(state.nu[a]));
            }
        }
    }
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        most[a] = finite ? fmin(plan->nu_max[a], REACH_FACTOR * reached[a]) : plan->nu_max[a];
    }
}

/* The fastest rate of the axes, at rest and at the largest velocities. */
static double find_rate(const struct input_plan *plan, const double *most)
{
    const struct model *model = &plan->model;
    const double none[MODEL_AXES_MAX] = {0.0};
    const double *const at[] = {none, most};
    double rate = 0.0;
    for (size_t k = 0; k < COUNT(at); k++) {
        double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
        model->slope(model, plan->theta, none, at[k], model->rows_under ? none : NULL, slope);
        for (size_t i = 0; i < model->axis_count; i++) {
            rate = fmax(rate, fabs(slope[i * model->axis_count + i]));
        }
    }
    return rate;
}

/* Counts the samples until a robot of the largest velocities stands. */
static size_t count_stop(const struct input_plan *plan, const double *fastest)
{
    const size_t most = STOP_SEGMENTS * plan->segment;
    struct input_state state = {{0.0}, {0.0}};
    size_t count = 0;
    bool stands = false;
    memcpy(state.nu, fastest, sizeof state.nu);
    while (count < most && !stands) {
        static const double none[MODEL_AXES_MAX] = {0.0};
        stands = step_state(plan, plan->theta, none, &state);
        for (size_t i = 0; i < plan->model.axis_count; i++) {
            stands = stands && fabs(state.nu[i]) <= STANDS * fastest[i] + DBL_EPSILON;
        }
        count++;
    }
    return count;
}

void input_plan_time(struct input_plan *plan, double dt_s, double response_s)
{
    const double segment_s = SEGMENT_RESPONSES * response_s;
    plan->dt_s = dt_s * fmax(floor(segment_s / (SEGMENT_SAMPLES * dt_s)), 1.0);
    const double segment = rint(segment_s / plan->dt_s);
    plan->segment =
        (size_t)fmin(fmax(segment, (double)SEGMENT_MIN), (double)INPUT_PLAN_SEGMENT_MAX);
    double fastest[MODEL_AXES_MAX];
    find_reach(plan, fastest);
    double steps = find_rate(plan, fastest) * plan->dt_s / STEP_RATE;
    if (plan->model.sticks && plan->model.width > 0.0 && steps > STICK_STEPS) {
        plan->model.width *= steps / STICK_STEPS;
        steps = STICK_STEPS;
    }
    plan->steps = (size_t)fmin(fmax(ceil(steps), 1.0), (double)STEPS_MAX);
    plan->stop = count_stop(plan, fastest);
}
