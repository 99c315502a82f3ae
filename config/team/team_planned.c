/* config/team/team_planned.c - the tasks under `plan`. */
#include <stdio.h>
#include <string.h>

#include "config/team/team_values.h"
#include "twin/team/check/team_plan.h"

void team_add_planned_robot(const struct option_reading *item, void *value, void *owner)
{
    struct team_planned *planned = &((struct planned_values *)owner)->params;
    const uint16_t robot = item->failed ? TEAM_NONE
                                        : team_build_find(item->r->context, item->node, value,
                                                          "robot", TEAM_OF_ROBOTS);
    for (size_t i = 0; i < planned->robot_count && robot != TEAM_NONE; i++) {
        if (planned->robots[i] == robot) {
            option_fault_at(item, "", FAULT_DUPLICATE_NAME, "'%s' is there twice",
                            (const char *)value);
            return;
        }
    }
    if (robot != TEAM_NONE && planned->robot_count < TEAM_PLAN_ROBOTS_MAX) {
        planned->robots[planned->robot_count++] = robot;
    }
}

/* A task may stand behind those that come after it, so names are looked up at the end. */
void team_add_earlier(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = item->r->context;
    (void)owner;
    if (!item->failed) {
        struct earlier_task *earlier = TEAM_ADD(b, TEAM_OF_EARLIER, struct earlier_task);
        (void)snprintf(earlier->name, sizeof earlier->name, "%s", (const char *)value);
        earlier->node = item->node;
        earlier->task = TEAM_COUNT(b, TEAM_OF_PLANNED);
    }
}

void team_add_planned(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    struct planned_values *values = value;
    if (TEAM_COUNT(b, TEAM_OF_PLANNED) == TEAM_PLAN_TASKS_MAX) {
        option_fault_at(item, "", FAULT_TOO_MANY, "more than %d are too many",
                        TEAM_PLAN_TASKS_MAX);
        return;
    }
    (void)snprintf(values->params.name, sizeof values->params.name, "%s", option_name(item));
    if (values->sequence[0]) {
        values->params.sequence =
            team_build_find_at(item, "seq", values->sequence, TEAM_OF_SEQUENCES);
    }
    *TEAM_ADD(b, TEAM_OF_PLANNED, struct team_planned) = values->params;
    *TEAM_ADD(b, TEAM_OF_PLANNED_NODES, uint32_t) = item->node;
}

static void find_earlier(struct team_build *b, struct team_planned *planned, size_t count)
{
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_EARLIER); i++) {
        const struct earlier_task *e = TEAM_AT(b, TEAM_OF_EARLIER, struct earlier_task, i);
        size_t at = 0;
        while (at < count && strcmp(planned[at].name, e->name) != 0) {
            at++;
        }
        if (at == count) {
            option_fault(b->r, e->node, FAULT_UNKNOWN_NAME,
                         "%splan: there is no task '%s' to come after", b->shown, e->name);
        } else if (e->task < count) {
            planned[e->task].after |= UINT64_C(1) << at;
        }
    }
}

void team_build_plan(struct team_build *b)
{
    const size_t count = TEAM_COUNT(b, TEAM_OF_PLANNED);
    struct team_planned *planned = b->memory.arrays[TEAM_OF_PLANNED].items;
    struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX] = {0};
    find_earlier(b, planned, count);
    for (size_t i = 0; i < count && !b->no_memory; i++) {
        tasks[i].after = planned[i].after;
    }
    const size_t circle = b->no_memory ? count : team_plan_circle(tasks, count);
    if (circle < count) {
        option_fault(b->r, *TEAM_AT(b, TEAM_OF_PLANNED_NODES, uint32_t, circle),
                     FAULT_INCONSISTENT, "%splan: task '%s' comes after itself", b->shown,
                     planned[circle].name);
    }
}
