#include "identification/simulation.h"

#include <math.h>

/* A motion that leaves the measured range so far behind has run away. */
static const double RUN_AWAY_RATIO = 1e3;
enum { SUBSTEPS_MAX = 64 };

static double largest(const double *x, size_t n)
{
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

/* Runge-Kutta follows a motion well when a step is short against its time constant, here
 * bounded by the row sums of the slope at the fastest measured velocities. */
static int substeps(const struct model *model, const double *theta, const double *fastest,
                    double dt_s)
{
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double rate = 0.0;
    model->slope(theta, fastest, slope);
    for (size_t a = 0; a < model->axis_count; a++) {
        rate = fmax(rate, fabs(slope[a * model->axis_count + a]));
    }
    const double n = ceil(rate * dt_s);
    return !(n > 1.0) ? 1 : n < SUBSTEPS_MAX ? (int)n : SUBSTEPS_MAX;
}

bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu)
{
    double fastest[MODEL_AXES_MAX] = {0.0};
    if (model_unphysical(model, theta) >= 0) {
        return false;
    }
    for (size_t a = 0; a < set->axes; a++) {
        fastest[a] = largest(set->nu[a], set->n);
    }
    const int steps = substeps(model, theta, fastest, set->dt_s);
    for (size_t run = 0; run < set->run_count; run++) {
        double now[MODEL_AXES_MAX] = {0.0};
        double pose[MODEL_AXES_MAX] = {0.0};
        const size_t first = set->run_start[run];
        for (size_t a = 0; a < set->axes && !from_rest; a++) {
            now[a] = set->nu[a][first];
        }
        for (size_t k = first; k < set->run_start[run + 1]; k++) {
            double tau[MODEL_AXES_MAX];
            for (size_t a = 0; a < set->axes; a++) {
                nu[a][k] = now[a];
                tau[a] =
                    set->tau[a][k] - (a < bias_count ? theta[model->parameter_count + a] : 0.0);
                if (!(fabs(now[a]) <= RUN_AWAY_RATIO * (1.0 + fastest[a]))) {
                    return false;
                }
            }
            for (int i = 0; i < steps; i++) {
                model_step(model, theta, now, pose, tau, NULL, set->dt_s / steps);
            }
        }
    }
    return true;
}

struct simulation_score simulation_compare(const struct data_set *set, size_t axis,
                                           const double *simulated)
{
    const double *y = set->nu[axis];
    const double n = (double)set->n;
    double mean = 0.0;
    double squares = 0.0;
    double absolute = 0.0;
    double spread = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        mean += y[k] / n;
    }
    for (size_t k = 0; k < set->n; k++) {
        const double error = simulated[k] - y[k];
        squares += error * error;
        absolute += fabs(error);
        spread += (y[k] - mean) * (y[k] - mean);
    }
    const bool moves = spread > 0.0;
    return (struct simulation_score){
        .n = set->n,
        .rmse = sqrt(squares / n),
        .mae = absolute / n,
        .r2 = moves ? 1.0 - squares / spread : (double)NAN,
        .fit_percent = moves ? 100.0 * (1.0 - sqrt(squares / spread)) : (double)NAN,
    };
}
