#include "identification/dynamics/model_choice.h"

#include <assert.h>
#include <math.h>

enum { VARIANTS_MAX = 16 };

/* How much better, in root mean square, a wider variant has to be. */
static const double WORTH_RATIO = 1.02;
/* Velocities below so many times their noise have no sign. */
static const double NOISE_RATIO = 2.0;
/* Rates, against the sampling, that Runge-Kutta in sixteen steps a sample follows. */
static const double RATE_MAX = 32.0;

/* What the weak form leaves, summed over axes in units of their efforts' own size. */
static double left_over(const struct model *model, const struct data_set *set,
                        const struct dynamics_fit *fit)
{
    double sum = 0.0;
    for (size_t a = 0; a < model->axis_count; a++) {
        double squares = 0.0;
        for (size_t k = 0; k < set->n; k++) {
            squares += set->tau[a][k] * set->tau[a][k] / (double)set->n;
        }
        sum += squares > 0.0 ? fit->residual_sd[a] * fit->residual_sd[a] / squares : 0.0;
    }
    return sqrt(sum);
}

/* Whether rest, where friction turns over, is slow enough for the samples. */
static bool can_follow(const struct model *model, const struct data_set *set,
                       const struct dynamics_fit *fit)
{
    const double rest[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX];
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double fastest = 0.0;
    if (model_unphysical(model, fit->estimate.value) >= 0) {
        return true; /* and nothing can be simulated in any case */
    }
    model->slope(model, fit->estimate.value, data_set_pose(set, 0, 0.0, pose), rest, NULL,
                 slope);
    for (size_t a = 0; a < model->axis_count; a++) {
        fastest = fmax(fastest, fabs(slope[a * model->axis_count + a]));
    }
    return fastest * set->dt_s <= RATE_MAX;
}

enum status model_choose(const struct model_variant *variants, size_t count,
                         const struct data_set *set, const struct dynamics_options *options,
                         size_t *chosen)
{
    double left[VARIANTS_MAX];
    double noise = 0.0;
    double least = HUGE_VAL;
    assert(count >= 1 && count <= VARIANTS_MAX);
    for (size_t a = 0; a < set->axes; a++) {
        noise = fmax(noise, set->noise_sd[a]);
    }
    for (size_t i = 0; i < count; i++) {
        struct dynamics_fit fit;
        const struct model *model = variants[i].model;
        const enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK, options, &fit);
        if (st != STATUS_OK) {
            return st;
        }
        const bool fits =
            variants[i].velocity >= NOISE_RATIO * noise && can_follow(model, set, &fit);
        left[i] = fits ? left_over(model, set, &fit) : HUGE_VAL;
        least = fmin(least, left[i]);
    }
    size_t at = 0;
    while (at + 1 < count && !(left[at] <= WORTH_RATIO * least && left[at] < HUGE_VAL)) {
        at++;
    }
    *chosen = at;
    return STATUS_OK;
}
