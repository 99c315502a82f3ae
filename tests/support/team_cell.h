/* tests/support/team_cell.h - teams made in code, and a cell: robots that take parts
 * out of one place. Names, tasks and positions are added as they are used. */
#ifndef TESTS_SUPPORT_TEAM_CELL_H
#define TESTS_SUPPORT_TEAM_CELL_H

#include "tests/support/check.h"

#include "identification/travel/travel_time.h"
#include "twin/team/step/team_params.h"

enum { CELL_ROBOTS = 1024, CELL_STEPS = 8192, CELL_NAMES = 2048, CELL_LISTS = 8192 };

struct cell {
    struct team_params p;
    struct team_robot_params robots[CELL_ROBOTS];
    struct team_resource_params resources[CELL_ROBOTS];
    struct team_task_params tasks[16];
    struct team_sequence sequences[CELL_ROBOTS];
    struct team_step steps[CELL_STEPS];
    struct team_position positions[64];
    struct team_nominal nominals[64];
    struct team_buffer buffers[4];
    struct team_job jobs[16];
    char names[CELL_NAMES][TEAM_NAME_MAX];
    uint16_t lists[CELL_LISTS];
};

static inline void cell_start(struct cell *c, const char *name, enum team_locking locking)
{
    memset(c, 0, sizeof *c);
    (void)snprintf(c->p.name, sizeof c->p.name, "%s", name);
    c->p.locking = locking;
    c->p.help_backlog = 1;
    c->p.robots = c->robots;
    c->p.resources = c->resources;
    c->p.tasks = c->tasks;
    c->p.sequences = c->sequences;
    c->p.steps = c->steps;
    c->p.buffers = c->buffers;
    c->p.jobs = c->jobs;
    c->p.positions = c->positions;
    c->p.nominals = c->nominals;
    c->p.names = (const char(*)[TEAM_NAME_MAX])c->names;
    c->p.lists = c->lists;
}

/* NULL: none. */
static inline uint16_t cell_name(struct cell *c, const char *name)
{
    if (!name) {
        return TEAM_NONE;
    }
    for (size_t i = 0; i < c->p.name_count; i++) {
        if (strcmp(c->names[i], name) == 0) {
            return (uint16_t)i;
        }
    }
    (void)snprintf(c->names[c->p.name_count], TEAM_NAME_MAX, "%s", name);
    return (uint16_t)c->p.name_count++;
}

static inline uint16_t cell_task(struct cell *c, const char *name)
{
    for (size_t i = 0; i < c->p.task_count; i++) {
        if (strcmp(c->tasks[i].name, name) == 0) {
            return (uint16_t)i;
        }
    }
    struct team_task_params *t = &c->tasks[c->p.task_count];
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    t->to_position = strncmp(name, "Move", 4) == 0;
    t->window.max_us = LAB_TIME_MAX;
    return (uint16_t)c->p.task_count++;
}

static inline uint16_t cell_resource(struct cell *c, const char *name, uint32_t capacity)
{
    struct team_resource_params *r = &c->resources[c->p.resource_count];
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    r->capacity = capacity;
    return (uint16_t)c->p.resource_count++;
}

/* The steps added from here on are its. */
static inline uint16_t cell_sequence(struct cell *c, const char *name)
{
    struct team_sequence *s = &c->sequences[c->p.sequence_count];
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    s->first = (uint32_t)c->p.step_count;
    return (uint16_t)c->p.sequence_count++;
}

static inline struct team_step *cell_step(struct cell *c, enum team_step_kind kind)
{
    struct team_step *s = &c->steps[c->p.step_count++];
    *s = (struct team_step){.kind = kind,
                            .task = TEAM_NONE,
                            .arg = TEAM_NONE,
                            .meeting = TEAM_NONE,
                            .sequence = (uint16_t)(c->p.sequence_count - 1)};
    c->sequences[c->p.sequence_count - 1].count++;
    return s;
}

static inline void cell_do(struct cell *c, const char *task, const char *arg)
{
    struct team_step *s = cell_step(c, TEAM_STEP_TASK);
    s->task = cell_task(c, task);
    s->arg = cell_name(c, arg);
}

static inline void cell_hold(struct cell *c, enum team_step_kind kind, uint16_t resource)
{
    struct team_step *s = cell_step(c, kind);
    s->first_resource = (uint32_t)c->p.list_count;
    s->resource_count = 1;
    c->lists[c->p.list_count++] = resource;
}

static inline void cell_meet(struct cell *c, enum team_step_kind kind, const char *meeting,
                             uint16_t robots, const char *task)
{
    struct team_step *s = cell_step(c, kind);
    s->meeting = cell_name(c, meeting);
    s->robots = robots;
    s->task = task ? cell_task(c, task) : TEAM_NONE;
}

static inline uint16_t cell_robot(struct cell *c, const char *name, uint16_t sequence,
                                  uint32_t cycles)
{
    struct team_robot_params *r = &c->robots[c->p.robot_count];
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    r->sequence = sequence;
    r->cycles = cycles;
    r->handles_all = true;
    return (uint16_t)c->p.robot_count++;
}

static inline void cell_nominal(struct cell *c, uint16_t robot, const char *task,
                                const char *arg, double mean_s, double sd_s)
{
    c->nominals[c->p.nominal_count++] = (struct team_nominal){.robot = robot,
                                                              .task = cell_task(c, task),
                                                              .arg = cell_name(c, arg),
                                                              .mean_us = lab_us(mean_s),
                                                              .sd_us = lab_us(sd_s)};
}

static inline void cell_position(struct cell *c, const char *name, double x_m, double y_m)
{
    c->positions[c->p.position_count++] = (struct team_position){.name = cell_name(c, name),
                                                                 .robot = TEAM_NONE,
                                                                 .x_m = x_m,
                                                                 .y_m = y_m,
                                                                 .heading_rad = (double)NAN};
}

/* ---- the cell ---- */

/* lap = t0 + [turns] (ta + |rotation| / w) + [drives] (tr + |way| / v) + noise */
struct cell_truth {
    double beta[TRAVEL_P], se[TRAVEL_P], sd_s;
};

static const struct cell_truth CELL_FITS[2] = {
    {{0.06, 0.12, 0.16, 1.0 / 1.2, 1.0 / 0.2}, {0.02, 0.02, 0.03, 0.012, 0.06}, 0.05},
    {{0.08, 0.10, 0.20, 1.0 / 1.1, 1.0 / 0.18}, {0.02, 0.02, 0.03, 0.015, 0.08}, 0.07}};
static const double CELL_LEGS[3][2] = {{1.57, 1.0}, {3.14, 0.6}, {1.57, 1.4}};

/* Three robots that hold the place for PickPrt alone, which comes first; else two, or one, that
 * hold it from before Move(IB) until after Move(SPos). Ten parts each. Each move goes to a
 * position of its own, so that every leg has the rotation and way wanted. */
static inline void cell_transport(struct cell *c, size_t robots, bool brief_hold)
{
    enum { PARTS = 10 };
    double x_m = 0.0;
    double y_m = 0.0;
    double heading_rad = 0.0;
    char name[TEAM_NAME_MAX];
    cell_start(c, "cell", TEAM_ORDERED);
    const uint16_t place = cell_resource(c, "IB", 1);
    const uint16_t sequence = cell_sequence(c, "cycle");
    for (size_t part = 0; part < PARTS; part++) {
        cell_hold(c, TEAM_STEP_LOCK, place);
        if (brief_hold) {
            cell_do(c, "PickPrt", NULL);
            cell_hold(c, TEAM_STEP_UNLOCK, place);
        }
        for (size_t leg = 0; leg < 3; leg++) {
            heading_rad += CELL_LEGS[leg][0];
            x_m += CELL_LEGS[leg][1] * cos(heading_rad);
            y_m += CELL_LEGS[leg][1] * sin(heading_rad);
            (void)snprintf(name, sizeof name, "P%zu", 3 * part + leg);
            cell_position(c, name, x_m, y_m);
            cell_do(c, "Move", name);
            if (leg == 0 && !brief_hold) {
                cell_do(c, "PickPrt", NULL);
            } else if (leg == 1 && !brief_hold) {
                cell_hold(c, TEAM_STEP_UNLOCK, place);
            }
        }
        cell_do(c, "PlacePrt", NULL);
    }
    for (size_t r = 0; r < robots; r++) {
        (void)snprintf(name, sizeof name, "R%zu", r + 1);
        (void)cell_robot(c, name, sequence, 1);
    }
    cell_nominal(c, TEAM_NONE, "PickPrt", NULL, 2.0, 0.1);
    cell_nominal(c, TEAM_NONE, "PlacePrt", NULL, 1.5, 0.1);
}

#endif
