/* twin/team/check/team_plan.h - an order and start times for tasks of several robots.
 *
 * A robot does one task at a time; a task of several robots begins when all of them are free
 * and the tasks before it have ended. List scheduling gives a plan, branch and bound the
 * shortest one of few tasks. Pure; no allocation. docs/model/teams.md, "Plan".
 */
#ifndef TWIN_TEAM_CHECK_TEAM_PLAN_H
#define TWIN_TEAM_CHECK_TEAM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/random.h"
#include "twin/team/step/team_params.h"

enum {
    TEAM_PLAN_OPTIMUM_MAX = 8 /* tasks: 8! orders have fewer than 110 000 beginnings */
};

struct team_plan_task {
    int64_t lap_us; /* predicted duration, > 0 */
    uint64_t after; /* set of the tasks that must have ended */
    uint16_t robots[TEAM_PLAN_ROBOTS_MAX];
    size_t robot_count; /* >= 1, without duplicates */
};

struct team_plan {
    size_t task_count;
    size_t order[TEAM_PLAN_TASKS_MAX];     /* by start; a task comes after those before it */
    int64_t start_us[TEAM_PLAN_TASKS_MAX]; /* by task */
    int64_t length_us;
};

/* The plan with other durations: nobody begins before the planned time, and every robot keeps
 * its order. A robot waits when it is free, its time has come, and others are late. */
struct team_plan_course {
    int64_t length_us, waited_us; /* waited_us: sum over all robots */
};

/* Returns a task that comes after itself; count: there is none. */
size_t team_plan_circle(const struct team_plan_task *tasks, size_t count);
/* Lower bound of every plan: the longest work of one robot, or the longest chain of tasks. */
int64_t team_plan_bound(const struct team_plan_task *tasks, size_t count);
/* List scheduling: of the tasks that can begin first, the one with the longest chain or the
 * most work behind it; a second list first asks what bound a task leaves, and the shorter plan
 * counts. No circles; count <= TEAM_PLAN_TASKS_MAX. */
void team_plan_list(const struct team_plan_task *tasks, size_t count, struct team_plan *plan);
/* The shortest plan of at most TEAM_PLAN_OPTIMUM_MAX tasks. */
void team_plan_optimum(const struct team_plan_task *tasks, size_t count,
                       struct team_plan *plan);
/* Multiplies every duration by a random number within 1 - spread .. 1 + spread. */
void team_plan_draw(const struct team_plan_task *tasks, const struct team_plan *plan,
                    double spread, struct random_source *source,
                    struct team_plan_course *course);

#endif
