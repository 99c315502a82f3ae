#include "identification/fit/null_space.h"

#include <math.h>
#include <stdio.h>

#include "identification/numeric/svd.h"

/* An unknown with more than this of a direction, beside a pivot of 1, takes part in it. */
static const double NULL_PART = 1e-3;
static const double TIE = 1e-6;

/* Returns the index of the largest entry; of nearly equal ones the last, which makes the
 * choice stable. */
static size_t largest_entry(const double *x, size_t p)
{
    size_t most = 0;
    for (size_t i = 1; i < p; i++) {
        most = fabs(x[i]) >= (1.0 - TIE) * fabs(x[most]) ? i : most;
    }
    return most;
}

static void eliminate_pivots(struct null_space *space)
{
    for (size_t k = 0; k < space->count; k++) {
        const size_t pivot = largest_entry(space->direction[k], space->p);
        const double lead = space->direction[k][pivot];
        space->pivot[k] = pivot;
        for (size_t i = 0; i < space->p; i++) {
            space->direction[k][i] /= lead;
        }
        for (size_t o = 0; o < space->count; o++) {
            const double factor = space->direction[o][pivot];
            for (size_t i = 0; i < space->p && o != k; i++) {
                space->direction[o][i] -= factor * space->direction[k][i];
            }
        }
    }
}

void null_space_find(struct null_space *space, const double *v, size_t p, size_t rank)
{
    *space = (struct null_space){.p = p, .count = p - rank};
    for (size_t k = 0; k < space->count; k++) {
        for (size_t i = 0; i < p; i++) {
            space->direction[k][i] = v[i * p + rank + k];
        }
    }
    eliminate_pivots(space);
    for (size_t k = 0; k < space->count; k++) {
        for (size_t i = 0; i < p; i++) {
            space->open[i] = space->open[i] || fabs(space->direction[k][i]) > NULL_PART;
        }
    }
}

static void append_word(char *text, size_t *used, const char *before, const char *word)
{
    if (*used < ESTIMATE_TEXT_MAX) {
        const int n = snprintf(text + *used, ESTIMATE_TEXT_MAX - *used, "%s%s", before, word);
        *used += n > 0 ? (size_t)n : 0;
    }
}

static const char *name_of(const struct null_parameters *free_parameters,
                           const struct dynamics_fit *fit, size_t i, bool in_words,
                           char text[64])
{
    const size_t index = free_parameters->index[i];
    if (index >= fit->estimate.p) {
        return in_words ? "delay" : "delay_s";
    }
    return in_words ? dynamics_parameter_words(free_parameters->model, index, text, 64)
                    : dynamics_parameter_name(free_parameters->model, index, text, 64);
}

static double length_of(const struct null_parameters *free_parameters, size_t i)
{
    return free_parameters->length[i] > 0.0 ? free_parameters->length[i] : 1.0;
}

/* "surge_mass_kg, sway_mass_kg in the ratio 1 : 0.964"; only a name if it is a single
 * unknown. */
static void name_direction(const struct null_space *space,
                           const struct null_parameters *free_parameters, size_t k,
                           const struct dynamics_fit *fit, bool in_words,
                           char text[ESTIMATE_TEXT_MAX])
{
    size_t part[NULL_SPACE_MAX];
    size_t parts = 0;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < space->p; i++) {
        if (fabs(space->direction[k][i]) > NULL_PART) {
            char name[64];
            append_word(text, &used, parts == 0 ? "" : ", ",
                        name_of(free_parameters, fit, i, in_words, name));
            part[parts++] = i;
        }
    }
    for (size_t n = 0; n < parts && parts > 1; n++) {
        char number[32];
        const double first = space->direction[k][part[0]] / length_of(free_parameters, part[0]);
        const double here = space->direction[k][part[n]] / length_of(free_parameters, part[n]);
        (void)snprintf(number, sizeof number, "%.3g", here / first);
        append_word(text, &used, n == 0 ? " in the ratio " : " : ", number);
    }
}

/* Combines unknown i with pivots, so that no null direction changes the sum. Returns false if
 * the sum is not determined either: its error exceeds its terms. */
static bool combine_unknown(const struct null_space *space,
                            const struct null_parameters *free_parameters, size_t i,
                            const struct dynamics_fit *fit,
                            struct estimate_combination *combination)
{
    double by[NULL_SPACE_MAX] = {0.0};
    char name[64];
    size_t used = 0;
    by[i] = 1.0;
    combination->name[0] = '\0';
    append_word(combination->name, &used, "", name_of(free_parameters, fit, i, false, name));
    for (size_t k = 0; k < space->count; k++) {
        const size_t pivot = space->pivot[k];
        if (fabs(space->direction[k][i]) > NULL_PART) {
            char number[32];
            by[pivot] = -space->direction[k][i] * length_of(free_parameters, pivot) /
                        length_of(free_parameters, i);
            (void)snprintf(number, sizeof number, " %c %.3g ", by[pivot] < 0.0 ? '-' : '+',
                           fabs(by[pivot]));
            append_word(combination->name, &used, number,
                        name_of(free_parameters, fit, pivot, false, name));
        }
    }
    double value = 0.0;
    double terms = 0.0;
    for (size_t a = 0; a < space->p; a++) {
        value += by[a] * free_parameters->value[a];
        terms += fabs(by[a] * free_parameters->value[a]);
    }
    combination->value = value;
    combination->se =
        sqrt(square_form(by, free_parameters->covariance[0], NULL_SPACE_MAX, space->p));
    return combination->se <= terms;
}

static bool is_pivot(const struct null_space *space, size_t i)
{
    for (size_t k = 0; k < space->count; k++) {
        if (space->pivot[k] == i) {
            return true;
        }
    }
    return false;
}

void null_space_report(const struct null_space *space,
                       const struct null_parameters *free_parameters, struct dynamics_fit *fit)
{
    fit->estimate.null_count = 0;
    fit->estimate.combination_count = 0;
    for (size_t k = 0; k < space->count && k < ESTIMATE_NULLS_MAX; k++) {
        name_direction(space, free_parameters, k, fit, false, fit->estimate.nulls[k]);
        name_direction(space, free_parameters, k, fit, true, fit->null_words[k]);
        fit->estimate.null_count++;
    }
    for (size_t i = 0; i < space->p; i++) {
        if (space->open[i] && !is_pivot(space, i) && free_parameters->length[i] > 0.0 &&
            fit->estimate.combination_count < ESTIMATE_COMBINATIONS_MAX &&
            combine_unknown(space, free_parameters, i, fit,
                            &fit->estimate.combinations[fit->estimate.combination_count])) {
            fit->estimate.combination_count++;
        }
    }
}
