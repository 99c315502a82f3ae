#include "twin/experiments/time_optimal.h"

#include <math.h>

void time_optimal_make(struct time_optimal *out, double command_max, double position_gain,
                       double lag_s, double error, double w)
{
    const double ratio = fabs(w) / command_max;
    /* Where it would come to rest under full speed back from now on: the switching curve. */
    const double stop =
        position_gain * lag_s * copysign(command_max * (ratio - log1p(ratio)), w);
    const double sign = error < stop ? -1.0 : 1.0;
    const double rest_s =
        sign * (error - position_gain * lag_s * w) / (position_gain * command_max);
    double back_s = 0.0;
    if (lag_s > 0.0) {
        const double root = 1.0 - exp(-rest_s / lag_s) * (1.0 - sign * w / command_max);
        back_s = lag_s * log1p(sqrt(fmax(root, 0.0)));
    }
    out->command = sign * command_max;
    out->switch_s = fmax(rest_s + back_s, 0.0);
    out->end_s = out->switch_s + back_s;
}

double time_optimal_travel(const struct time_optimal *plan, double t_s)
{
    const double t = fmin(fmax(t_s, 0.0), plan->end_s);
    return plan->command * (t < plan->switch_s ? t : 2.0 * plan->switch_s - t);
}
