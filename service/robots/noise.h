/* service/robots/noise.h - repeatable random draws for simulated robots and drivers. Pure. */
#ifndef SERVICE_ROBOTS_NOISE_H
#define SERVICE_ROBOTS_NOISE_H

#include <stdint.h>

struct noise {
    uint64_t state; /* any value is a valid seed */
};

double noise_uniform(struct noise *n, double low, double high); /* [low, high) */
double noise_exponential(struct noise *n, double mean);

#endif
