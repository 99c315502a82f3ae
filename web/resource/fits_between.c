#include "web/resource/fits_between.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "identification/fit/fitted_numbers.h"
#include "twin/report/fit_report.h"

/* Two robots, each with travel times and one model of dynamics. */
enum { GROUPS_MAX = 4 };

/* Fits of one robot with one model. */
struct group {
    char side[16], model[ESTIMATE_NAME_MAX];
    size_t fit_count, number_count;
    json_int_t fits[BETWEEN_MAX]; /* their numbers in the pair */
    double since_s, until_s;      /* data of the last one that counts */
    struct number_between number[ESTIMATE_P_MAX];
};

struct fits_between {
    size_t count;
    struct group group[GROUPS_MAX];
};

struct fits_between *fits_between_create(void)
{
    return calloc(1, sizeof(struct fits_between));
}

/* Returns NULL if there are too many. */
static struct group *find_group(struct fits_between *between, const char *side,
                                const char *model)
{
    struct group *group = between->group;
    while (group < between->group + between->count &&
           (strcmp(group->side, side) != 0 || strcmp(group->model, model) != 0)) {
        group++;
    }
    if (group == between->group + GROUPS_MAX) {
        return NULL;
    }
    if (group == between->group + between->count) {
        between->count++;
        (void)snprintf(group->side, sizeof group->side, "%s", side);
        (void)snprintf(group->model, sizeof group->model, "%s", model);
    }
    return group;
}

static double get_number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static struct number_between *find_number(struct group *group, const char *name)
{
    size_t i = 0;
    while (i < group->number_count && strcmp(group->number[i].name, name) != 0) {
        i++;
    }
    if (i == ESTIMATE_P_MAX) {
        return NULL;
    }
    if (i == group->number_count) {
        group->number_count++;
        (void)snprintf(group->number[i].name, sizeof group->number[i].name, "%s", name);
    }
    return &group->number[i];
}

static void add_values(struct group *group, json_t *fit)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(fit, "values"), name, value) {
        const json_t *interval = json_object_get(json_object_get(fit, "ci95"), name);
        const struct fitted_number fitted = {.value = get_number(value),
                                             .lo = get_number(json_array_get(interval, 0)),
                                             .hi = get_number(json_array_get(interval, 1)),
                                             .known = true};
        struct number_between *number = find_number(group, name);
        if (number) {
            number_between_add(number, group->fit_count, &fitted);
        }
    }
}

static void add_fit(struct fits_between *between, json_t *fit)
{
    const char *side = json_string_value(json_object_get(fit, "side"));
    const char *model = json_string_value(json_object_get(fit, "model"));
    const char *verdict = json_string_value(json_object_get(fit, "verdict"));
    const double since_s = get_number(json_object_get(fit, "data_since_t"));
    const double until_s = get_number(json_object_get(fit, "data_until_t"));
    struct group *group = side && model ? find_group(between, side, model) : NULL;
    if (!group || !verdict || strcmp(verdict, "FAIL") == 0 || !(until_s > since_s) ||
        group->fit_count == BETWEEN_MAX) {
        return;
    }
    if (group->fit_count == 0 || until_s <= group->since_s || since_s >= group->until_s) {
        add_values(group, fit);
        group->fits[group->fit_count++] = json_integer_value(json_object_get(fit, "n"));
        group->since_s = since_s;
        group->until_s = until_s;
    }
}

void fits_between_add(struct fits_between *between, const char *json, size_t bytes)
{
    json_t *fit = json_loadb(json, bytes, 0, NULL);
    add_fit(between, fit);
    json_decref(fit);
}

static void write_group(struct json_writer *w, struct group *group)
{
    const struct number_between *differs =
        numbers_between_find(group->number, group->number_count);
    JSON_OPEN(w, NULL, JSON("side", group->side), JSON("model", group->model));
    JSON_LIST(w, "fits", size_t i = 0; i < group->fit_count; i++) {
        json_write_int(w, NULL, group->fits[i]);
    }
    json_write_text(w, "differs", differs ? differs->name : NULL);
    JSON_MAP(w, "numbers", size_t i = 0; i < group->number_count; i++) {
        const struct number_between *number = &group->number[i];
        const struct between *found = &number->found;
        if (found->n > 0) {
            json_write_object(w, number->name);
            between_report(w, found);
            JSON_WRITE(w, found->odd < found->n
                              ? JSON_WHOLE("odd", group->fits[number->recording[found->odd]])
                              : JSON_NULL("odd"));
            json_write_close(w);
        }
    }
    json_write_close(w);
}

void fits_between_write(struct json_writer *w, struct fits_between *between)
{
    JSON_LIST(w, "between", size_t i = 0; i < between->count; i++) {
        write_group(w, &between->group[i]);
    }
}
