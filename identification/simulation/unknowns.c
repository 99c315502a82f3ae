#include "identification/simulation/unknowns.h"

#include <math.h>
#include <string.h>

/* A positive parameter moves by no more than a factor e in one step. */
static const double LOG_STEP_MAX = 1.0;

/* Some tens of milliseconds. */
enum { GO_ON_SAMPLES = 4096 };

enum status unknowns_check(const struct model *model, const struct data_set *set,
                           const double *start, const struct output_error_options *o)
{
    const size_t p = model->parameter_count + (o->with_biases ? model->axis_count : 0);
    if (!data_set_suits(set, model) || set->run_count > DATA_RUNS_MAX ||
        !isfinite(o->delay_s) || !(o->step_s >= 0.0) || !(set->dt_s > 0.0) ||
        (o->fit_delay && (!(o->delay_s_min <= o->delay_s) || !(o->delay_s <= o->delay_s_max) ||
                          !isfinite(o->delay_s_max - o->delay_s_min)))) {
        return STATUS_E_ARG;
    }
    for (size_t i = 0; i < p; i++) {
        if (!isfinite(start[i]) || !(o->lower[i] <= o->upper[i])) {
            return STATUS_E_ARG;
        }
    }
    if (set->run_count < 1 || set->run_start[set->run_count] == 0) {
        return STATUS_E_EMPTY;
    }
    for (size_t r = 0; r < set->run_count; r++) {
        if (set->run_start[r] >= set->run_start[r + 1]) {
            return STATUS_E_EMPTY;
        }
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            bool well = isfinite(set->t_s[k]) &&
                        (k == set->run_start[r] || set->t_s[k] > set->t_s[k - 1]);
            for (size_t i = 0; i < set->axes; i++) {
                well = well && isfinite(set->nu[i][k]) && isfinite(set->tau[i][k]);
            }
            if (!well) {
                return STATUS_E_RANGE;
            }
        }
    }
    return STATUS_OK;
}

bool unknowns_go_on(struct unknowns *unknowns)
{
    const struct output_error_options *o = unknowns->options;
    if (++unknowns->walked >= GO_ON_SAMPLES) {
        unknowns->walked = 0;
        unknowns->ended =
            unknowns->ended || (o->go_on && !o->go_on(o->context, unknowns->iteration));
    }
    return !unknowns->ended;
}

/* Moves in its logarithm. */
static bool is_positive(const struct unknowns *unknowns, size_t i)
{
    return i < unknowns->model->parameter_count &&
           unknowns->model->parameters[i].sign == MODEL_POSITIVE;
}

void unknowns_set(struct unknowns *unknowns, const struct model *model,
                  const struct output_error_options *options)
{
    *unknowns = (struct unknowns){.model = model, .options = options};
    unknowns->p = model->parameter_count + (options->with_biases ? model->axis_count : 0);
    unknowns->g = unknowns->p + 1;
    for (size_t j = 0; j < unknowns->p; j++) {
        unknowns->free[j] = !options->fixed[j] && options->lower[j] < options->upper[j];
    }
    unknowns->free[unknowns->p] =
        options->fit_delay && options->delay_s_min < options->delay_s_max;
}

void unknowns_place(const struct unknowns *unknowns, const double *start,
                    struct unknown_values *values)
{
    const struct output_error_options *o = unknowns->options;
    for (size_t i = 0; i < unknowns->p; i++) {
        double x = start[i];
        if (is_positive(unknowns, i) && !(x > 0.0)) {
            x = x < 0.0 ? -x : 1.0;
        }
        values->theta[i] = o->fixed[i] ? start[i] : fmin(fmax(x, o->lower[i]), o->upper[i]);
    }
    values->delay_s = o->delay_s;
}

void unknowns_scale(const struct unknowns *unknowns, const struct unknown_values *at,
                    double *scale)
{
    for (size_t j = 0; j < unknowns->g; j++) {
        scale[j] = j < unknowns->p && is_positive(unknowns, j) ? at->theta[j] : 1.0;
    }
}

struct range {
    double at, lower, upper;
};

static struct range range_of(const struct unknowns *unknowns, const struct unknown_values *at,
                             size_t j)
{
    const struct output_error_options *o = unknowns->options;
    return j < unknowns->p ? (struct range){at->theta[j], o->lower[j], o->upper[j]}
                           : (struct range){at->delay_s, o->delay_s_min, o->delay_s_max};
}

bool unknowns_hold(const struct unknowns *unknowns, const struct unknown_values *at,
                   const double *step, bool *free)
{
    bool held = false;
    for (size_t j = 0; j < unknowns->g; j++) {
        const struct range x = range_of(unknowns, at, j);
        if (free[j] &&
            ((x.at <= x.lower && step[j] < 0.0) || (x.at >= x.upper && step[j] > 0.0))) {
            free[j] = false;
            held = true;
        }
    }
    return held;
}

double unknowns_move(const struct unknowns *unknowns, const struct unknown_values *from,
                     const double *step, const bool *free, struct unknown_values *to)
{
    double ratio = 1.0;
    for (size_t j = 0; j < unknowns->p; j++) {
        if (is_positive(unknowns, j) && fabs(step[j]) * ratio > LOG_STEP_MAX) {
            ratio = LOG_STEP_MAX / fabs(step[j]);
        }
    }
    *to = *from;
    for (size_t j = 0; j < unknowns->g; j++) {
        const struct range x = range_of(unknowns, from, j);
        const bool logarithm = j < unknowns->p && is_positive(unknowns, j);
        const double moved = logarithm ? x.at * exp(ratio * step[j]) : x.at + ratio * step[j];
        if (free[j]) {
            *(j < unknowns->p ? &to->theta[j] : &to->delay_s) =
                fmin(fmax(moved, x.lower), x.upper);
        }
    }
    return ratio;
}

bool unknowns_at_bound(const struct unknowns *unknowns, const struct unknown_values *at,
                       size_t j)
{
    const struct range x = range_of(unknowns, at, j);
    return unknowns->free[j] && (x.at <= x.lower || x.at >= x.upper);
}

double unknowns_settled_s(const struct unknowns *unknowns, const struct data_set *set,
                          size_t run)
{
    const struct output_error_options *o = unknowns->options;
    const double delay_s = o->fit_delay ? o->delay_s_max : o->delay_s;
    const double from_s = set->t_s[set->run_start[run]];
    return delay_s > 0.0 && !o->at_rest[run] ? from_s + delay_s : from_s;
}
