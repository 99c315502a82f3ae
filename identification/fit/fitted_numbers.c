#include "identification/fit/fitted_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/fit/fit_thresholds.def"

/* A derived number is reported instead of a parameter that differs about as much. */
static const double DERIVED_WEIGHT = 1.5;

void fitted_numbers_add(struct fitted_numbers *numbers, const struct fitted_number *number)
{
    if (numbers->count < FITTED_NUMBERS_MAX) {
        numbers->number[numbers->count++] = *number;
    }
}

void fitted_numbers_add_estimate(struct fitted_numbers *numbers, const struct estimate *e)
{
    for (size_t i = 0; i < e->p; i++) {
        struct fitted_number number = {.value = e->value[i],
                                       .se = e->se[i],
                                       .lo = e->lo[i],
                                       .hi = e->hi[i],
                                       .known = e->identifiable[i]};
        (void)snprintf(number.name, sizeof number.name, "%s", e->name[i]);
        fitted_numbers_add(numbers, &number);
    }
}

const struct fitted_number *fitted_numbers_find(const struct fitted_numbers *numbers,
                                                const char *name)
{
    for (size_t i = 0; i < numbers->count; i++) {
        if (strcmp(numbers->number[i].name, name) == 0) {
            return &numbers->number[i];
        }
    }
    return NULL;
}

void number_between_add(struct number_between *number, size_t recording,
                        const struct fitted_number *fitted)
{
    const double se = 0.5 * (fitted->hi - fitted->lo) / NORMAL_95;
    if (fitted->known && number->n < BETWEEN_MAX && se > 0.0 &&
        se <= SE_RATIO_MAX * fabs(fitted->value)) {
        number->value[number->n] = fitted->value;
        number->se[number->n] = se;
        number->recording[number->n++] = recording;
    }
}

const struct number_between *numbers_between_find(struct number_between *numbers, size_t count)
{
    const struct number_between *worst = NULL;
    double most = 0.0;
    double tests = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct number_between *number = &numbers[i];
        if (number->n >= BETWEEN_MIN) {
            between_find(number->value, number->se, number->n, &number->found);
            tests += number->derived ? 0.0 : 1.0; /* derived ones test nothing new */
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct between *found = &numbers[i].found;
        const double weight = found->n > 0 ? found->q / (double)(found->n - 1) *
                                                 (numbers[i].derived ? DERIVED_WEIGHT : 1.0)
                                           : 0.0;
        if (weight > most && found->p * fmax(tests, 1.0) < BETWEEN_P) {
            most = weight;
            worst = &numbers[i];
        }
    }
    return worst;
}
