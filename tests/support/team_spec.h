/* tests/support/team_spec.h - a team from the first line of a golden trace: its JSON as struct
 * team_params. Faults of the text end the program: the traces lie in the tree. */
#ifndef TESTS_SUPPORT_TEAM_SPEC_H
#define TESTS_SUPPORT_TEAM_SPEC_H

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "twin/team/step/team.h"

struct team_spec {
    struct team_params p;
    struct team_robot_params *robots;
    struct team_resource_params *resources;
    struct team_task_params *tasks;
    struct team_sequence *sequences;
    struct team_step *steps;
    struct team_buffer *buffers;
    struct team_job *jobs;
    char (*names)[TEAM_NAME_MAX];
    uint16_t *lists;
    const json_t *json;
};

enum { SPEC_MOST = 4096 }; /* of anything */

static inline void *spec_room(size_t size)
{
    void *room = calloc(SPEC_MOST, size);
    assert(room);
    return room;
}

static inline uint16_t spec_name(struct team_spec *s, const char *name)
{
    size_t i = 0;
    if (!name) {
        return TEAM_NONE;
    }
    while (i < s->p.name_count && strcmp(s->names[i], name) != 0) {
        i++;
    }
    if (i == s->p.name_count) {
        (void)snprintf(s->names[s->p.name_count++], TEAM_NAME_MAX, "%s", name);
    }
    return (uint16_t)i;
}

static inline int64_t spec_us(const json_t *object, const char *key, int64_t missing)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? 1000 * json_integer_value(value) : missing;
}

static inline uint32_t spec_number(const json_t *object, const char *key, uint32_t missing)
{
    const json_t *value = json_object_get(object, key);
    return value ? (uint32_t)json_integer_value(value) : missing;
}

/* The place of this key among those of the object. */
static inline uint16_t spec_place(json_t *object, const char *name)
{
    const char *key;
    json_t *value;
    uint16_t place = 0;
    json_object_foreach(object, key, value) {
        if (strcmp(key, name) == 0) {
            return place;
        }
        place++;
    }
    return TEAM_NONE;
}

static inline json_t *spec_part(const struct team_spec *s, const char *key)
{
    return json_object_get(s->json, key);
}

static inline uint16_t spec_task(struct team_spec *s, const char *name)
{
    for (size_t i = 0; i < s->p.task_count; i++) {
        if (strcmp(s->tasks[i].name, name) == 0) {
            return (uint16_t)i;
        }
    }
    json_t *own = json_object_get(spec_part(s, "windows"), name);
    const json_t *window = own ? own : spec_part(s, "window");
    struct team_task_params *task = &s->tasks[s->p.task_count];
    (void)snprintf(task->name, sizeof task->name, "%s", name);
    task->window =
        (struct team_window){spec_us(window, "min", 0), spec_us(window, "max", LAB_TIME_MAX),
                             spec_us(window, "poll", 0)};
    return (uint16_t)s->p.task_count++;
}

static inline uint16_t spec_list(struct team_spec *s, uint16_t value)
{
    s->lists[s->p.list_count] = value;
    return (uint16_t)s->p.list_count++;
}

static inline const char *spec_text(const json_t *step, size_t k)
{
    return json_string_value(json_array_get(step, k));
}

static inline void spec_want(struct team_spec *s, struct team_step *to, const json_t *names)
{
    to->first_resource = (uint32_t)s->p.list_count;
    to->resource_count = (uint32_t)json_array_size(names);
    for (uint32_t k = 0; k < to->resource_count; k++) {
        (void)spec_list(s, spec_place(spec_part(s, "resources"), spec_text(names, k)));
    }
}

static inline void spec_step(struct team_spec *s, const json_t *step, uint32_t first)
{
    const char *op = spec_text(step, 0);
    const json_t *second = json_array_get(step, 1);
    struct team_step *to = &s->steps[s->p.step_count++];
    *to = (struct team_step){.task = TEAM_NONE, .arg = TEAM_NONE, .meeting = TEAM_NONE};
    if (strcmp(op, "id") == 0) {
        to->kind = TEAM_STEP_TAKE;
        to->arg = spec_name(s, spec_text(step, 1));
        to->retry_us = 1000 * json_integer_value(json_array_get(step, 2));
    } else if (strcmp(op, "ok") == 0) {
        to->kind = TEAM_STEP_DONE;
        to->task = spec_task(s, spec_text(step, 1));
    } else if (strcmp(op, "do") == 0 || strcmp(op, "tool") == 0) {
        to->kind = op[0] == 'd' ? TEAM_STEP_TASK : TEAM_STEP_TOOL;
        to->task = spec_task(s, spec_text(step, 1));
        to->arg = spec_name(s, spec_text(step, 2));
    } else if (strcmp(op, "lock") == 0 || strcmp(op, "unlock") == 0) {
        to->kind = op[0] == 'l' ? TEAM_STEP_LOCK : TEAM_STEP_UNLOCK;
        spec_want(s, to, second);
    } else if (strcmp(op, "meet") == 0 || strcmp(op, "joint") == 0) {
        to->kind = op[0] == 'm' ? TEAM_STEP_MEET : TEAM_STEP_TOGETHER;
        to->meeting = spec_name(s, spec_text(step, 1));
        to->robots = (uint16_t)json_integer_value(json_array_get(step, 2));
        to->task = op[0] == 'j' ? spec_task(s, spec_text(step, 3)) : TEAM_NONE;
        to->arg = spec_name(s, spec_text(step, 4));
    } else if (strcmp(op, "unless") == 0) { /* part, to */
        to->kind = TEAM_STEP_UNLESS;
        to->arg = spec_name(s, spec_text(step, 1));
        to->to = first + (uint32_t)json_integer_value(json_array_get(step, 2));
    } else if (strcmp(op, "loop") == 0) { /* to, times */
        to->kind = TEAM_STEP_LOOP;
        to->to = first + (uint32_t)json_integer_value(second);
        to->times = (uint32_t)json_integer_value(json_array_get(step, 2));
    } else {
        assert(strcmp(op, "goto") == 0);
        to->kind = TEAM_STEP_GOTO;
        to->to = first + (uint32_t)json_integer_value(second);
    }
}

static inline void spec_sequences(struct team_spec *s)
{
    const char *name;
    json_t *steps;
    json_object_foreach(spec_part(s, "sequences"), name, steps) {
        struct team_sequence *to = &s->sequences[s->p.sequence_count++];
        (void)snprintf(to->name, sizeof to->name, "%s", name);
        to->first = (uint32_t)s->p.step_count;
        to->count = (uint32_t)json_array_size(steps);
        for (size_t k = 0; k < to->count; k++) {
            spec_step(s, json_array_get(steps, k), to->first);
        }
    }
}

static inline enum team_policy spec_policy(const json_t *resource, const char *key)
{
    const char *text = json_string_value(json_object_get(resource, key));
    return text && strcmp(text, "release") == 0 ? TEAM_RELEASE : TEAM_HOLD;
}

static inline void spec_resources(struct team_spec *s)
{
    const char *name;
    json_t *resource;
    json_object_foreach(spec_part(s, "resources"), name, resource) {
        struct team_resource_params *to = &s->resources[s->p.resource_count++];
        (void)snprintf(to->name, sizeof to->name, "%s", name);
        to->capacity = spec_number(resource, "cap", 1);
        to->lease_us = spec_us(resource, "lease", 0);
        to->delay_us = spec_us(resource, "delay", 0);
        to->on_error = spec_policy(resource, "on_error");
        to->on_lost = spec_policy(resource, "on_lost");
    }
}

static inline void spec_buffers(struct team_spec *s)
{
    const char *name;
    json_t *parts;
    json_object_foreach(spec_part(s, "buffers"), name, parts) {
        struct team_buffer *to = &s->buffers[s->p.buffer_count++];
        to->name = spec_name(s, name);
        to->first_part = (uint32_t)s->p.list_count;
        to->part_count = (uint32_t)json_array_size(parts);
        for (size_t k = 0; k < to->part_count; k++) {
            (void)spec_list(s, spec_name(s, spec_text(parts, k)));
        }
    }
}

static inline void spec_robots(struct team_spec *s)
{
    const char *name;
    json_t *robot;
    json_object_foreach(spec_part(s, "robots"), name, robot) {
        struct team_robot_params *to = &s->robots[s->p.robot_count++];
        const char *prog = json_string_value(json_object_get(robot, "prog"));
        const json_t *handles = json_object_get(robot, "handles");
        (void)snprintf(to->name, sizeof to->name, "%s", name);
        to->sequence = prog ? spec_place(spec_part(s, "sequences"), prog) : TEAM_NONE;
        to->cycles = spec_number(robot, "cycles", 1);
        to->priority = spec_number(robot, "prio", 0);
        to->handles_all = !handles;
        to->first_handled = (uint32_t)s->p.list_count;
        to->handled_count = (uint32_t)json_array_size(handles);
        for (size_t k = 0; k < to->handled_count; k++) {
            (void)spec_list(s, spec_name(s, spec_text(handles, k)));
        }
        to->start_us = spec_us(spec_part(s, "start_ms"), name, 0);
    }
}

static inline struct team_job spec_job(struct team_spec *s, const json_t *job)
{
    return (struct team_job){
        .part = spec_name(s, json_string_value(json_object_get(job, "part"))),
        .sequence = spec_place(spec_part(s, "sequences"),
                               json_string_value(json_object_get(job, "seq"))),
        .home = spec_place(spec_part(s, "robots"),
                           json_string_value(json_object_get(job, "home")))};
}

static inline void spec_jobs(struct team_spec *s)
{
    const json_t *jobs = spec_part(s, "jobs");
    for (size_t k = 0; k < json_array_size(jobs); k++) {
        s->jobs[s->p.job_count++] = spec_job(s, json_array_get(jobs, k));
    }
}

/* json is borrowed for as long as the spec. */
static inline void team_spec_read(struct team_spec *s, const json_t *json)
{
    memset(s, 0, sizeof *s);
    s->json = json;
    s->p.robots = s->robots = spec_room(sizeof *s->robots);
    s->p.resources = s->resources = spec_room(sizeof *s->resources);
    s->p.tasks = s->tasks = spec_room(sizeof *s->tasks);
    s->p.sequences = s->sequences = spec_room(sizeof *s->sequences);
    s->p.steps = s->steps = spec_room(sizeof *s->steps);
    s->p.buffers = s->buffers = spec_room(sizeof *s->buffers);
    s->p.jobs = s->jobs = spec_room(sizeof *s->jobs);
    s->names = spec_room(sizeof *s->names);
    s->p.lists = s->lists = spec_room(sizeof *s->lists);
    const char *locking = json_string_value(spec_part(s, "locking"));
    s->p.locking =
        (enum team_locking)names_value(&team_locking_names, locking ? locking : "free");
    s->p.head_start_us = spec_us(json, "priority_bonus_ms", 0);
    s->p.help_backlog = spec_number(json, "help_backlog", 1);
    spec_resources(s);
    spec_sequences(s);
    spec_buffers(s);
    spec_robots(s);
    spec_jobs(s);
    s->p.names = (const char(*)[TEAM_NAME_MAX])s->names;
}

static inline void team_spec_free(struct team_spec *s)
{
    free(s->robots);
    free(s->resources);
    free(s->tasks);
    free(s->sequences);
    free(s->steps);
    free(s->buffers);
    free(s->jobs);
    free(s->names);
    free(s->lists);
}

#endif
