#include "base/numbers/random.h"

#include <math.h>

#include "base/numbers/constants.h"

static const uint64_t STEP = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t mix_bits(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A double holds 53 bits. */
static uint64_t next_bits(struct random_source *source)
{
    source->state += STEP;
    return mix_bits(source->state) >> 11;
}

/* The state is mixed twice. Otherwise states that differ by STEP would give the same sequence,
 * shifted by one number. */
struct random_source random_stream(uint64_t seed, uint64_t index)
{
    return (struct random_source){.state = mix_bits(mix_bits(seed + STEP) + STEP * index)};
}

/* Draws from (0, 1], so that the logarithm is finite. */
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
    /* Box-Muller transform; 1 - u lies in (0, 1]. */
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

/* Two degrees of freedom are an exponential of mean 2. The uniform numbers are multiplied, and
 * the logarithm is computed before the product underflows. */
double random_chi_square(struct random_source *source, uint32_t freedom)
{
    enum { PIECE = 16 }; /* 2^-53 to this power is a double */
    const double odd = freedom % 2 == 1 ? random_normal(source) : 0.0;
    double sum = odd * odd;
    for (uint32_t left = freedom / 2; left > 0;) {
        double product = 1.0;
        const uint32_t piece = left < PIECE ? left : PIECE;
        for (uint32_t i = 0; i < piece; i++) {
            product *= draw_above_zero(source);
        }
        sum -= 2.0 * log(product);
        left -= piece;
    }
    return sum;
}
