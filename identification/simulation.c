#include "identification/simulation.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

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
    if (model_unphysical(w->model, w->theta) >= 0) {
        return false;
    }
    for (size_t a = 0; a < w->set->axes; a++) {
        w->fastest[a] = largest(w->set->nu[a], w->set->n);
    }
    w->steps = substeps(w->model, w->theta, w->fastest, w->set->dt_s);
    return true;
}

/* From sample k to the next; false when it has run away. */
static bool walk_on(const struct walk *w, size_t k, double *nu)
{
    double pose[MODEL_AXES_MAX] = {0.0};
    double tau[MODEL_AXES_MAX];
    for (size_t a = 0; a < w->set->axes; a++) {
        tau[a] = w->set->tau[a][k] -
                 (a < w->bias_count ? w->theta[w->model->parameter_count + a] : 0.0);
    }
    for (int i = 0; i < w->steps; i++) {
        model_step(w->model, w->theta, nu, pose, tau, NULL, w->set->dt_s / w->steps);
    }
    for (size_t a = 0; a < w->set->axes; a++) {
        if (!(fabs(nu[a]) <= RUN_AWAY_RATIO * (1.0 + w->fastest[a]))) {
            return false;
        }
    }
    return true;
}

bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu)
{
    struct walk w = {.model = model, .theta = theta, .bias_count = bias_count, .set = set};
    bool well = begin_walk(&w);
    for (size_t run = 0; well && run < set->run_count; run++) {
        double now[MODEL_AXES_MAX] = {0.0};
        const size_t first = set->run_start[run];
        for (size_t a = 0; a < set->axes && !from_rest; a++) {
            now[a] = set->nu[a][first];
        }
        for (size_t k = first; well && k < set->run_start[run + 1]; k++) {
            for (size_t a = 0; a < set->axes; a++) {
                nu[a][k] = now[a];
            }
            well = walk_on(&w, k, now);
        }
    }
    return well;
}

bool simulation_one_step(const struct model *model, const double *theta, size_t bias_count,
                         const struct data_set *set, double *const *nu)
{
    struct walk w = {.model = model, .theta = theta, .bias_count = bias_count, .set = set};
    bool well = begin_walk(&w);
    for (size_t run = 0; well && run < set->run_count; run++) {
        const size_t first = set->run_start[run];
        for (size_t a = 0; a < set->axes; a++) {
            nu[a][first] = set->nu[a][first];
        }
        for (size_t k = first; well && k + 1 < set->run_start[run + 1]; k++) {
            double now[MODEL_AXES_MAX];
            for (size_t a = 0; a < set->axes; a++) {
                now[a] = set->nu[a][k];
            }
            well = walk_on(&w, k, now);
            for (size_t a = 0; a < set->axes; a++) {
                nu[a][k + 1] = now[a];
            }
        }
    }
    return well;
}

struct simulation_score simulation_compare(const struct data_set *set, size_t axis,
                                           const double *computed)
{
    const double *y = set->nu[axis];
    const double n = (double)(set->n - set->run_count);
    double mean = 0.0;
    double squares = 0.0;
    double absolute = 0.0;
    double spread = 0.0;
    for (size_t run = 0; run < set->run_count; run++) {
        for (size_t k = set->run_start[run] + 1; k < set->run_start[run + 1]; k++) {
            mean += y[k] / n;
        }
    }
    for (size_t run = 0; run < set->run_count; run++) {
        for (size_t k = set->run_start[run] + 1; k < set->run_start[run + 1]; k++) {
            const double error = computed[k] - y[k];
            squares += error * error;
            absolute += fabs(error);
            spread += (y[k] - mean) * (y[k] - mean);
        }
    }
    const bool moves = spread > 0.0;
    return (struct simulation_score){
        .n = set->n - set->run_count,
        .rmse = sqrt(squares / n),
        .mae = absolute / n,
        .r2 = moves ? 1.0 - squares / spread : (double)NAN,
        .fit_percent = moves ? 100.0 * (1.0 - sqrt(squares / spread)) : (double)NAN,
    };
}

/* Correlation of errors with x [n] so many samples earlier, within runs; both about a mean. */
static double correlate(const struct data_set *set, const double *error, double error_mean,
                        const double *x, double x_mean, size_t lag)
{
    double sum = 0.0;
    for (size_t run = 0; run < set->run_count; run++) {
        for (size_t k = set->run_start[run] + 1 + lag; k < set->run_start[run + 1]; k++) {
            sum += (error[k] - error_mean) * (x[k - lag] - x_mean);
        }
    }
    return sum;
}

static double mean_of(const struct data_set *set, const double *x)
{
    double mean = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        mean += x[k] / (double)set->n;
    }
    return mean;
}

static void whiteness(const struct data_set *set, const double *error,
                      struct residual_report *r)
{
    const double n = (double)set->n;
    const double power = correlate(set, error, r->mean, error, r->mean, 0);
    double q = 0.0;
    r->sd = sqrt(power / n);
    for (size_t lag = 1; lag <= RESIDUAL_LAGS && lag + 2 < set->n; lag++) {
        const double rho =
            power > 0.0 ? correlate(set, error, r->mean, error, r->mean, lag) / power : 0.0;
        r->lag1 = lag == 1 ? rho : r->lag1;
        q += n * (n + 2.0) * rho * rho / (n - (double)lag);
    }
    r->whiteness_p = gsl_cdf_chisq_Q(q, RESIDUAL_LAGS);
    for (size_t a = 0; a < set->axes; a++) {
        const double mean = mean_of(set, set->tau[a]);
        const double input = correlate(set, set->tau[a], mean, set->tau[a], mean, 0);
        for (size_t lag = 0; lag <= RESIDUAL_LAGS && input > 0.0 && power > 0.0; lag++) {
            const double rho =
                correlate(set, error, r->mean, set->tau[a], mean, lag) / sqrt(input * power);
            r->input_correlation = fmax(r->input_correlation, fabs(rho));
        }
    }
    const double tests = (RESIDUAL_LAGS + 1) * (double)set->axes;
    r->input_correlation_bound = gsl_cdf_ugaussian_Qinv(0.005 / tests) / sqrt(n);
}

static void runs_and_outliers(const struct data_set *set, const double *error, double *sorted,
                              struct residual_report *r)
{
    double above = 0.0;
    double below = 0.0;
    double runs = 0.0;
    bool was = false;
    for (size_t k = 0; k < set->n; k++) {
        sorted[k] = error[k];
    }
    gsl_sort(sorted, 1, set->n);
    const double middle = gsl_stats_median_from_sorted_data(sorted, 1, set->n);
    for (size_t k = 0; k < set->n; k++) {
        const bool is = error[k] > middle;
        runs += k == 0 || is != was ? 1.0 : 0.0;
        above += is ? 1.0 : 0.0;
        below += is ? 0.0 : 1.0;
        was = is;
        sorted[k] = fabs(error[k] - middle);
    }
    const double n = above + below;
    const double expected = 2.0 * above * below / n + 1.0;
    const double variance = (expected - 1.0) * (expected - 2.0) / (n - 1.0);
    r->runs_z = variance > 0.0 ? (runs - expected) / sqrt(variance) : (double)NAN;
    gsl_sort(sorted, 1, set->n);
    const double scale = 1.4826 * gsl_stats_median_from_sorted_data(sorted, 1, set->n);
    for (size_t k = 0; k < set->n; k++) {
        r->outliers += fabs(error[k] - middle) > 4.0 * scale ? 1 : 0;
    }
}

enum status simulation_residuals(const struct data_set *set, size_t axis,
                                 const double *computed, struct residual_report *report)
{
    struct residual_report r = {.n = set->n};
    gsl_vector *error = gsl_vector_alloc(set->n);
    gsl_vector *sorted = gsl_vector_alloc(set->n);
    if (error && sorted) {
        for (size_t k = 0; k < set->n; k++) {
            error->data[k] = set->nu[axis][k] - computed[k];
        }
        r.mean = mean_of(set, error->data);
        whiteness(set, error->data, &r);
        runs_and_outliers(set, error->data, sorted->data, &r);
        *report = r;
    }
    const bool done = error && sorted;
    gsl_vector_free(error);
    gsl_vector_free(sorted);
    return done ? STATUS_OK : STATUS_E_NOMEM;
}
