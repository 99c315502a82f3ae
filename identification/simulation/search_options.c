#include "identification/simulation/search_options.h"

#include <math.h>

enum { ITERATIONS_MAX = 100 };

void search_defaults(const struct model *model, struct search_options *options)
{
    *options = (struct search_options){.iterations_max = ITERATIONS_MAX};
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        const bool any = i >= model->parameter_count || model->parameters[i].sign == MODEL_ANY;
        options->lower[i] = any ? -HUGE_VAL : 0.0;
        options->upper[i] = HUGE_VAL;
    }
}
