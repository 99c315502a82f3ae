/* base/numbers/random.h - repeatable random numbers (SplitMix64): equal states give equal draws. Pure.
 */
#ifndef BASE_NUMBERS_RANDOM_H
#define BASE_NUMBERS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random_source {
    uint64_t state; /* any value is a valid seed */
    double spare;   /* the second normal number of a pair */
    bool has_spare;
};

/* Returns stream number `index` of a seed. Streams are independent, in whatever order they are
 * used. */
struct random_source random_stream(uint64_t seed, uint64_t index);

double random_uniform(struct random_source *source); /* [0, 1) */
double random_normal(struct random_source *source);  /* mean 0, variance 1 */
double random_between(struct random_source *source, double low, double high); /* [low, high) */
double random_exponential(struct random_source *source, double mean);
/* Chi-square variable with `freedom` >= 1 degrees of freedom. */
double random_chi_square(struct random_source *source, uint32_t freedom);

#endif
