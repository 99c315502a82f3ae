#include "identification/online/online_state.h"

#include <math.h>
#include <string.h>

ENUM_NAMES(online_gate, ONLINE_GATE_COUNT, "used", "not_excited", "waiting", "incomplete",
           "no_effort", "duplicate", "out_of_order", "stale", "gap", "saturated", "outlier");

struct online_params online_params_defaults(void)
{
    return (struct online_params){.biases = false,
                                  .adapt = true,
                                  .walk_ratio = 0.01,
                                  .gate_sd = 5.0,
                                  .gap_s = 1.0,
                                  .excitation_s = 30.0,
                                  .excitation_ratio = 1.0,
                                  .drift_ratio = 0.1};
}

void online_filter_refer(struct online_filter *f, const double *theta, const double *se)
{
    memcpy(f->reference, theta, f->p * sizeof *theta);
    memcpy(f->reference_se, se, f->p * sizeof *se);
    memset(f->sum, 0, sizeof f->sum);
    memset(f->offset, 0, sizeof f->offset);
    f->opened = false;
}

double online_filter_se(const struct online_filter *f, size_t i)
{
    const size_t at = f->n + i;
    return f->running ? sqrt(f->covariance[at][at]) : nan("");
}
