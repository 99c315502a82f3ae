/* tests/support/team_build.h - teams written down in a test, and memory to explore them with.
 */
#ifndef TESTS_SUPPORT_TEAM_BUILD_H
#define TESTS_SUPPORT_TEAM_BUILD_H

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "twin/team/check/model_checker.h"

enum { BUILD_ROBOTS = 8, BUILD_RESOURCES = 8, BUILD_STEPS = 128, BUILD_LISTS = 512 };

/* Names: 0 the meeting "m", 1 the part and buffer "a". One task: "Go". */
struct team_build {
    struct team_params p;
    struct team_robot_params robots[BUILD_ROBOTS];
    struct team_resource_params resources[BUILD_RESOURCES];
    struct team_task_params task;
    struct team_sequence sequences[BUILD_ROBOTS];
    struct team_step steps[BUILD_STEPS];
    struct team_buffer buffer;
    struct team_job jobs[BUILD_ROBOTS];
    char names[2][TEAM_NAME_MAX];
    uint16_t lists[BUILD_LISTS];
};

/* Resources A, B … of capacity 1. */
static inline void build_team(struct team_build *b, enum team_locking locking, size_t resources)
{
    memset(b, 0, sizeof *b);
    b->p.locking = locking;
    b->p.help_backlog = 1;
    b->p.resource_count = resources;
    b->p.task_count = 1;
    b->p.name_count = 2;
    (void)snprintf(b->names[0], TEAM_NAME_MAX, "m");
    (void)snprintf(b->names[1], TEAM_NAME_MAX, "a");
    (void)snprintf(b->task.name, TEAM_NAME_MAX, "Go");
    b->task.window.max_us = LAB_TIME_MAX;
    for (size_t i = 0; i < resources; i++) {
        b->resources[i].name[0] = (char)('A' + i);
        b->resources[i].capacity = 1;
    }
    b->p.robots = b->robots;
    b->p.resources = b->resources;
    b->p.tasks = &b->task;
    b->p.sequences = b->sequences;
    b->p.steps = b->steps;
    b->p.buffers = &b->buffer;
    b->p.jobs = b->jobs;
    b->p.names = (const char(*)[TEAM_NAME_MAX])b->names;
    b->p.lists = b->lists;
}

/* One more step of the last sequence. */
static inline struct team_step *build_step(struct team_build *b, enum team_step_kind kind)
{
    struct team_step *step = &b->steps[b->p.step_count++];
    *step = (struct team_step){
        .kind = kind,
        .task = kind == TEAM_STEP_TASK || kind == TEAM_STEP_TOGETHER ? 0 : TEAM_NONE,
        .arg = TEAM_NONE,
        .meeting = TEAM_NONE,
        .sequence = (uint16_t)(b->p.sequence_count - 1)};
    b->sequences[b->p.sequence_count - 1].count++;
    return step;
}

/* Lock or UnLock; resources by letter. */
static inline void build_locks(struct team_build *b, enum team_step_kind kind,
                               const char *resources)
{
    struct team_step *step = build_step(b, kind);
    step->first_resource = (uint32_t)b->p.list_count;
    for (const char *c = resources; *c; c++) {
        b->lists[b->p.list_count++] = (uint16_t)(*c - 'A');
        step->resource_count++;
    }
}

/* A sequence as words: "+AB" Lock, "-AB" UnLock, "go", "meet2", "both2" Together, "take",
 * "look" IdPrt that looks again, "repeat". The robot that runs it has the name R1, R2 … */
static inline void build_sequence(struct team_build *b, const char *words)
{
    struct team_sequence *s = &b->sequences[b->p.sequence_count++];
    char text[256];
    char *rest = NULL;
    s->first = (uint32_t)b->p.step_count;
    (void)snprintf(s->name, sizeof s->name, "s%zu", b->p.sequence_count);
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        if (*w == '+' || *w == '-') {
            build_locks(b, *w == '+' ? TEAM_STEP_LOCK : TEAM_STEP_UNLOCK, w + 1);
        } else if (strncmp(w, "meet", 4) == 0 || strncmp(w, "both", 4) == 0) {
            struct team_step *step =
                build_step(b, *w == 'm' ? TEAM_STEP_MEET : TEAM_STEP_TOGETHER);
            step->meeting = 0;
            step->robots = (uint16_t)(w[4] - '0');
        } else if (strcmp(w, "take") == 0 || strcmp(w, "look") == 0) {
            struct team_step *step = build_step(b, TEAM_STEP_TAKE);
            step->arg = 1;
            step->retry_us = *w == 'l' ? 1000000 : 0;
        } else if (strcmp(w, "repeat") == 0) {
            build_step(b, TEAM_STEP_GOTO)->to = s->first;
        } else {
            (void)build_step(b, TEAM_STEP_TASK);
        }
    }
}

/* A robot that runs the last sequence. */
static inline struct team_robot_params *build_robot(struct team_build *b)
{
    struct team_robot_params *r = &b->robots[b->p.robot_count++];
    (void)snprintf(r->name, sizeof r->name, "R%zu", b->p.robot_count);
    r->sequence = (uint16_t)(b->p.sequence_count - 1);
    r->cycles = 1;
    r->handles_all = true;
    return r;
}

/* The parts in the buffer "a". */
static inline void build_parts(struct team_build *b, size_t count)
{
    b->p.buffer_count = 1;
    b->buffer = (struct team_buffer){1, (uint32_t)b->p.list_count, (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        b->lists[b->p.list_count++] = 1;
    }
}

static inline void *build_resize(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, bytes);
}

/* Explore it; the explorer is freed. */
static inline struct model_checker_result
build_checker(const struct team_build *b, const struct model_checker_options *options)
{
    struct checker_memory memory = {build_resize, NULL, 0, options->bytes_max};
    const struct model_checker_watch watch = {0};
    struct model_checker_result result = {0};
    struct model_checker *x = NULL;
    const enum status st = model_checker_run(&b->p, options, &memory, &watch, &x, &result);
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    model_checker_free(x);
    CHECK_INT("all memory given back", memory.used, 0);
    return result;
}

#endif
