#include "identification/dynamics/dynamics_options.h"

#include <math.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/numeric/local_polynomial.h"

/* Vessels need windows of 2 s; faster motion and short runs need shorter ones. The standard
 * deviation of (1 - s^2)^4 is 0.3 of its half width. It must equal the correlation time of
 * the motion, hence the factor 3. */
static const double HALF_WIDTH_S_MAX = 2.0;
static const double HALF_WIDTH_TIMES = 3.0;
static const double HALF_WIDTH_SAMPLES_MIN = 4.0;
static const double WINDOWS_IN_RUN = 8.0;
static const double SG_HALF_MIN = 2.0;
/* Below this window length, a polynomial of order 4 hardly smooths. */
enum { SG_SMALL = 9 };

struct step_budget dynamics_options_budget(const struct data_set *set)
{
    return (struct step_budget){.limit = (uint64_t)STEPS_MIN * set->axes +
                                         (uint64_t)STEPS_PER_SAMPLE * set->n};
}

struct dynamics_options dynamics_options_defaults(void)
{
    return (struct dynamics_options){
        .sg_order = 4,
        .iv_iterations = 3,
        .hac_s = 5.0,
        .delay_max_s = (double)NAN,
    };
}

/* Returns an odd number of samples over about a width, limited to what fits into a short
 * run. */
static size_t odd_window(double width_s, const struct data_set *set)
{
    const double run = (double)set->n / (double)set->run_count;
    const double most = fmin(LOCAL_POLYNOMIAL_MAX / 2, floor(run / 4.0));
    const double half = fmin(round(0.5 * width_s / set->dt_s), most);
    return 2 * (size_t)fmax(half, SG_HALF_MIN) + 1;
}

struct dynamics_options dynamics_options_chosen(const struct data_set *set,
                                                const struct dynamics_options *options)
{
    struct dynamics_options o = *options;
    const double run_s = set->dt_s * (double)set->n / (double)set->run_count;
    if (!(o.half_width_s > 0.0)) {
        const double motion_s = motion_time_s(set, HALF_WIDTH_S_MAX / HALF_WIDTH_TIMES);
        o.half_width_s = fmin(HALF_WIDTH_TIMES * motion_s, run_s / WINDOWS_IN_RUN);
        o.half_width_s = fmax(o.half_width_s, HALF_WIDTH_SAMPLES_MIN * set->dt_s);
    }
    o.stride_s = o.stride_s > 0.0 ? o.stride_s : 0.25 * o.half_width_s;
    if (o.sg_window == 0) {
        o.sg_window = odd_window(o.half_width_s, set);
        o.sg_order = o.sg_window < SG_SMALL && o.sg_order > 2 ? 2 : o.sg_order;
    }
    return o;
}

struct dynamics_options dynamics_options_for(const struct model *model)
{
    struct dynamics_options options = dynamics_options_defaults();
    if (model->window_s > 0.0) {
        options.half_width_s = model->window_s;
        options.stride_s = 0.25 * model->window_s;
        options.reach_s = 10.0 * model->window_s;
    }
    return options;
}
