#include "service/robots/noise.h"

#include <math.h>

/* SplitMix64: short, and any seed will do. */
static uint64_t next(struct noise *n)
{
    n->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = n->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* (0, 1]: its logarithm is finite. */
static double unit(struct noise *n)
{
    return (double)((next(n) >> 11) + 1) * 0x1p-53;
}

double noise_uniform(struct noise *n, double low, double high)
{
    return low + (high - low) * (1.0 - unit(n));
}

double noise_exponential(struct noise *n, double mean)
{
    return -mean * log(unit(n));
}
