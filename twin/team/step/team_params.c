#include "twin/team/step/team_params.h"

#include <stdio.h>
#include <string.h>

ENUM_NAMES(team_locking, TEAM_LOCKING_COUNT, TEAM_LOCKINGS(NAMES_TEXT));
ENUM_NAMES(team_policy, TEAM_POLICY_COUNT, TEAM_POLICIES(NAMES_TEXT));
ENUM_NAMES(team_step_kind, TEAM_STEP_KIND_COUNT, TEAM_STEP_KINDS(NAMES_TEXT));

const char *team_name(const struct team_params *p, uint16_t name)
{
    return name < p->name_count ? p->names[name] : "";
}

void team_task_text(const struct team_params *p, uint16_t task, uint16_t arg, char *text,
                    size_t size)
{
    const char *name = team_name(p, arg);
    (void)snprintf(text, size, "%s%s%s", p->tasks[task].name, name[0] ? " " : "", name);
}

/* The structs items[count] begin with their names. */
static uint16_t find_named(const void *items, size_t count, size_t size, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp((const char *)items + i * size, name) == 0) {
            return (uint16_t)i;
        }
    }
    return TEAM_NONE;
}

uint16_t team_find_robot(const struct team_params *p, const char *name)
{
    return find_named(p->robots, p->robot_count, sizeof *p->robots, name);
}

uint16_t team_find_resource(const struct team_params *p, const char *name)
{
    return find_named(p->resources, p->resource_count, sizeof *p->resources, name);
}

uint16_t team_find_sequence(const struct team_params *p, const char *name)
{
    return find_named(p->sequences, p->sequence_count, sizeof *p->sequences, name);
}

uint16_t team_find_name(const struct team_params *p, const char *name)
{
    return find_named(p->names, p->name_count, sizeof *p->names, name);
}

size_t team_find_buffer(const struct team_params *p, uint16_t name)
{
    size_t i = 0;
    while (i < p->buffer_count && p->buffers[i].name != name) {
        i++;
    }
    return i;
}

bool team_handles(const struct team_params *p, uint16_t robot, uint16_t part)
{
    const struct team_robot_params *r = &p->robots[robot];
    bool can = r->handles_all;
    for (uint32_t k = 0; !can && k < r->handled_count; k++) {
        can = p->lists[r->first_handled + k] == part;
    }
    return can;
}

bool team_step_acts(const struct team_step *step)
{
    return step->kind == TEAM_STEP_TASK || step->kind == TEAM_STEP_TOOL ||
           step->kind == TEAM_STEP_TOGETHER;
}

static bool is_meant(uint16_t given, uint16_t asked)
{
    return given == TEAM_NONE || given == asked;
}

const struct team_position *team_position(const struct team_params *p, uint16_t robot,
                                          uint16_t name)
{
    const struct team_position *found = NULL;
    for (size_t i = 0; i < p->position_count; i++) {
        const struct team_position *one = &p->positions[i];
        if (one->name == name && (one->robot == robot || (one->robot == TEAM_NONE && !found))) {
            found = one;
        }
    }
    return found;
}

const struct team_nominal *team_nominal(const struct team_params *p, uint16_t robot,
                                        uint16_t task, uint16_t arg)
{
    const struct team_nominal *best = NULL;
    int best_rank = -1;
    for (size_t i = 0; i < p->nominal_count; i++) {
        const struct team_nominal *one = &p->nominals[i];
        const int rank = 2 * (one->robot != TEAM_NONE) + (one->arg != TEAM_NONE);
        if (one->task == task && is_meant(one->robot, robot) && is_meant(one->arg, arg) &&
            rank > best_rank) {
            best = one;
            best_rank = rank;
        }
    }
    return best;
}
