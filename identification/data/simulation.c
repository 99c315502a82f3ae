#include "identification/data/simulation.h"

#include <math.h>

#include "identification/data/data_thresholds.def"
#include "identification/data/data_view.h"
#include "identification/data/trajectory.h"

enum { SUBSTEPS_MAX = 64 };

static double largest_size(const double *x, size_t n)
{
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

/* Number of Runge-Kutta steps per sample, so that a step is at most one time constant. The
 * rate is highest at the fastest velocities (drag) or at rest (dry friction), so both are
 * checked. */
static int count_substeps(const struct model *model, const double *theta, const double *pose,
                          const double *fastest, double dt_s)
{
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    const double rest[MODEL_AXES_MAX] = {0.0};
    const double *const at[] = {fastest, rest};
    double rate = 0.0;
    for (size_t i = 0; i < COUNT(at); i++) {
        model->slope(model, theta, pose, at[i], NULL, slope);
        for (size_t a = 0; a < model->axis_count; a++) {
            rate = fmax(rate, fabs(slope[a * model->axis_count + a]));
        }
    }
    const double n = ceil(rate * dt_s);
    return !(n > 1.0) ? 1 : n < SUBSTEPS_MAX ? (int)n : SUBSTEPS_MAX;
}

struct walk {
    const struct model *model;
    const double *theta;
    size_t bias_count;
    const struct data_set *set;
    double fastest[MODEL_AXES_MAX];
    int steps;
};

static bool begin_walk(struct walk *w)
{
    double pose[MODEL_AXES_MAX];
    if (!data_set_suits(w->set, w->model) || model_unphysical(w->model, w->theta) >= 0) {
        return false;
    }
    for (size_t a = 0; a < w->set->axes; a++) {
        w->fastest[a] = largest_size(w->set->nu[a], w->set->n);
    }
    if (w->model->rows_under) { /* the rate may depend on the efforts */
        const double n = ceil(w->set->dt_s / trajectory_step_s(w->model, w->theta, w->set));
        w->steps = n < SUBSTEPS_MAX ? (int)n : SUBSTEPS_MAX;
        return true;
    }
    w->steps = count_substeps(w->model, w->theta, data_set_pose(w->set, 0, pose), w->fastest,
                              w->set->dt_s);
    return true;
}

/* Steps from sample k to the next, starting from the recorded pose. Returns false if it
 * diverged. */
static bool walk_on(const struct walk *w, size_t k, double *nu)
{
    double pose[MODEL_AXES_MAX];
    double force[MODEL_AXES_MAX];
    struct data_efforts acting = {.count = 1, .share = {1.0}};
    (void)data_set_pose(w->set, k, pose);
    for (size_t a = 0; a < w->set->axes; a++) {
        acting.tau[0][a] = w->set->tau[a][k];
        force[a] = -(a < w->bias_count ? w->theta[w->model->parameter_count + a] : 0.0);
    }
    /* with a curve, the mean effort acts differently from its parts */
    if (w->model->rows_under) {
        data_view_efforts(w->set, k, &acting);
    }
    for (size_t e = 0; e < acting.count; e++) {
        for (int i = 0; i < w->steps; i++) {
            model_step_pushed(w->model, w->theta, nu, w->model->needs_pose ? pose : NULL,
                              acting.tau[e], w->bias_count > 0 ? force : NULL,
                              acting.share[e] * w->set->dt_s / w->steps);
        }
    }
    for (size_t a = 0; a < w->set->axes; a++) {
        if (!(fabs(nu[a]) <= RUN_AWAY_RATIO * (1.0 + w->fastest[a]))) {
            return false;
        }
    }
    return true;
}

/* Simulates each sample from the previous simulated one or, with one_step, from the measured
 * one. */
static bool walk_runs(struct walk *w, bool from_rest, bool one_step, double *const *nu)
{
    const struct data_set *set = w->set;
    bool well = begin_walk(w);
    for (size_t run = 0; well && run < set->run_count; run++) {
        double now[MODEL_AXES_MAX] = {0.0};
        const size_t first = set->run_start[run];
        for (size_t k = first; well && k < set->run_start[run + 1]; k++) {
            for (size_t a = 0; a < set->axes; a++) {
                now[a] = k == first && !from_rest ? set->nu[a][k] : now[a];
                nu[a][k] = now[a];
                now[a] = one_step ? set->nu[a][k] : now[a];
            }
            well = (one_step && k + 1 == set->run_start[run + 1]) || walk_on(w, k, now);
        }
    }
    return well;
}

bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu)
{
    struct walk w = {.model = model, .theta = theta, .bias_count = bias_count, .set = set};
    return walk_runs(&w, from_rest, false, nu);
}

bool simulation_one_step(const struct model *model, const double *theta, size_t bias_count,
                         const struct data_set *set, double *const *nu)
{
    struct walk w = {.model = model, .theta = theta, .bias_count = bias_count, .set = set};
    return walk_runs(&w, false, true, nu);
}
