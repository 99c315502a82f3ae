#include "service/robots/fleet_parts.h"

#include <math.h>
#include <stdio.h>

int64_t fleet_lab_us(const struct fleet *f, int64_t t_us)
{
    return f->executive.begin_us + llround((double)(t_us - f->sim_us) / f->options.pace);
}

int64_t fleet_clock_us(const struct fleet *f, const struct fleet_robot *r, int64_t lab_us_)
{
    const double since_us = (double)(lab_us_ - f->start_us);
    return lab_us_ - r->clock_lost_us +
           llround(f->options.clock_offset_s * 1e6 +
                   since_us * f->options.clock_drift_ppm * 1e-6);
}

void fleet_topic(const struct fleet *f, const struct fleet_robot *r, const char *word,
                 char out[MESSAGE_TOPIC_MAX])
{
    (void)snprintf(out, MESSAGE_TOPIC_MAX, "%s/%s/%s/%s", f->options.broker.prefix,
                   f->pairs[r->pair], side_name(r->side), word);
}
