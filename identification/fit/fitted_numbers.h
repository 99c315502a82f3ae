/* identification/fit/fitted_numbers.h - the numbers of any fit by their names, with errors; and
 * one number as several recordings give it.
 *
 * Readers are the comparison of recordings and fragments for simulators. Plain data, pure.
 */
#ifndef IDENTIFICATION_FIT_FITTED_NUMBERS_H
#define IDENTIFICATION_FIT_FITTED_NUMBERS_H

#include "identification/fit/estimate.h"
#include "identification/numeric/between.h"

enum { FITTED_NUMBERS_MAX = 192 };

struct fitted_number {
    char name[ESTIMATE_NAME_MAX];
    double value, se, lo, hi; /* NaN: unknown */
    bool known;               /* determined, and accurate enough to be useful */
    bool derived;             /* it follows from parameters */
};

struct fitted_numbers {
    size_t count;
    struct fitted_number number[FITTED_NUMBERS_MAX];
};

/* Appends a number; a full list drops it. */
void fitted_numbers_add(struct fitted_numbers *numbers, const struct fitted_number *number);
/* Appends the parameters of an estimate. */
void fitted_numbers_add_estimate(struct fitted_numbers *numbers, const struct estimate *e);
/* Returns NULL if there is none of this name. */
const struct fitted_number *fitted_numbers_find(const struct fitted_numbers *numbers,
                                                const char *name);

/* A number as each recording alone gives it. */
struct number_between {
    char name[ESTIMATE_NAME_MAX];
    bool derived;
    size_t n; /* recordings that determine it */
    double value[BETWEEN_MAX], se[BETWEEN_MAX];
    size_t recording[BETWEEN_MAX]; /* their indices */
    struct between found;          /* found.n is 0: too few recordings determine it */
};

/* Adds what a recording says, unless it does not determine the number. The error is that of a
 * normal interval as wide as the printed one, so that few data count for less. */
void number_between_add(struct number_between *number, size_t recording,
                        const struct fitted_number *fitted);

/* Compares the recordings of each number. Returns the number that differs most beyond chance,
 * NULL if none does. */
const struct number_between *numbers_between_find(struct number_between *numbers, size_t count);

#endif
