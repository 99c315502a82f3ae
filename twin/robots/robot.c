#include "twin/robots/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"

const struct robot_kind *robot_kind_find(const char *name)
{
    for (size_t i = 0; i < robot_kind_count; i++) {
        if (strcmp(robot_kinds[i]->name, name) == 0) {
            return robot_kinds[i];
        }
    }
    return NULL;
}

int robot_parameter_find(const struct robot_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->parameter_count; i++) {
        if (strcmp(kind->parameters[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static size_t choice_count(const struct robot_parameter *parameter)
{
    return (size_t)parameter->max + 1;
}

int robot_choice_find(const struct robot_parameter *parameter, const char *word)
{
    for (size_t i = 0; parameter->choices && i < choice_count(parameter); i++) {
        if (strcmp(parameter->choices[i], word) == 0) {
            return (int)i;
        }
    }
    return -1;
}

void robot_presets(const struct robot_kind *kind, double parameters[ROBOT_PARAMETERS_MAX])
{
    for (size_t i = 0; i < kind->parameter_count; i++) {
        parameters[i] = kind->parameters[i].preset;
    }
}

bool robot_value_fits(const struct robot_parameter *parameter, double value)
{
    const bool within = value >= parameter->min && value <= parameter->max;
    return within && (!parameter->choices || !(fabs(value - floor(value)) > 0.0));
}

enum status robot_set(const struct robot_kind *kind, void *memory, const char *name,
                      double value, char reason[ROBOT_REASON_MAX])
{
    const int index = robot_parameter_find(kind, name);
    if (index < 0) {
        (void)snprintf(reason, ROBOT_REASON_MAX, "a %s has no such parameter", kind->name);
        return STATUS_E_RANGE;
    }
    const struct robot_parameter *row = &kind->parameters[index];
    if (!robot_value_fits(row, value)) {
        (void)snprintf(reason, ROBOT_REASON_MAX, "%g to %g%s%s was expected", row->min,
                       row->max, row->unit[0] ? " " : "", row->unit);
        return STATUS_E_RANGE;
    }
    kind->set_parameter(memory, (size_t)index, value);
    return STATUS_OK;
}

void robot_command(const struct robot_kind *kind, void *memory,
                   const struct event_command *command, robot_sink *sink, void *context)
{
    struct robot_sample now = {0};
    if (kind->command(memory, command)) {
        return;
    }
    kind->sample(memory, &now);
    struct robot_reply reply = {
        .status = REPLY_ERROR, .start_us = now.t_us, .end_us = now.t_us};
    (void)snprintf(reply.id, sizeof reply.id, "%s", command->id);
    (void)snprintf(reply.detail, sizeof reply.detail, "too many commands wait already");
    sink(context, &reply);
}

/* SplitMix64: short, and any seed will do. */
static uint64_t next_bits(struct robot_random *random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double robot_random_uniform(struct robot_random *random)
{
    return (double)(next_bits(random) >> 11) * 0x1p-53;
}

double robot_random_normal(struct robot_random *random)
{
    if (random->has_spare) {
        random->has_spare = false;
        return random->spare;
    }
    /* 1 - u lies in (0, 1]: its logarithm is finite. */
    const double radius = sqrt(-2.0 * log(1.0 - robot_random_uniform(random)));
    const double angle = 2.0 * PI * robot_random_uniform(random);
    random->spare = radius * sin(angle);
    random->has_spare = true;
    return radius * cos(angle);
}
