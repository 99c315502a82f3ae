#include "base/random.h"

#include <math.h>

#include "base/constants.h"

/* 53 bits: what a double holds. */
static uint64_t next_bits(struct random_source *source)
{
    source->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = source->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (z ^ (z >> 31)) >> 11;
}

/* (0, 1]: its logarithm is finite. */
static double draw_above_zero(struct random_source *source)
{
    return (double)(next_bits(source) + 1) * 0x1p-53;
}

double random_uniform(struct random_source *source)
{
    return (double)next_bits(source) * 0x1p-53;
}

double random_normal(struct random_source *source)
{
    if (source->has_spare) {
        source->has_spare = false;
        return source->spare;
    }
    /* Box and Muller; 1 - u lies in (0, 1]. */
    const double radius = sqrt(-2.0 * log(1.0 - random_uniform(source)));
    const double angle = 2.0 * PI * random_uniform(source);
    source->spare = radius * sin(angle);
    source->has_spare = true;
    return radius * cos(angle);
}

double random_between(struct random_source *source, double low, double high)
{
    return low + (high - low) * (1.0 - draw_above_zero(source));
}

double random_exponential(struct random_source *source, double mean)
{
    return -mean * log(draw_above_zero(source));
}
