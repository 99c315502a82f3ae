/* tests/support/team_random.h - random teams: 2 to 50 robots, 1 to 40 resources of capacity 1
 * to 3, every discipline, priorities, leases, failures, jobs, meetings, clients. */
#ifndef TESTS_SUPPORT_TEAM_RANDOM_H
#define TESTS_SUPPORT_TEAM_RANDOM_H

#include "tests/support/team_drive.h"

enum {
    ROBOTS = 50,
    RESOURCES = 40,
    SEQUENCES = 6,
    STEPS_EACH = 40,
    LISTS = 4096,
    NAMES_EACH = 4, /* buffers, parts, meetings, args */
    SECOND = 1000000
};
enum {
    NAME_BUFFER,
    NAME_PART = NAMES_EACH,
    NAME_MEETING = 2 * NAMES_EACH,
    NAME_COUNT = 3 * NAMES_EACH
};

struct world {
    struct team_params p;
    struct team_robot_params robots[ROBOTS];
    struct team_resource_params resources[RESOURCES];
    struct team_task_params tasks[3];
    struct team_sequence sequences[SEQUENCES];
    struct team_step steps[SEQUENCES * STEPS_EACH];
    struct team_buffer buffers[NAMES_EACH];
    struct team_job jobs[8];
    char names[NAME_COUNT][TEAM_NAME_MAX];
    uint16_t lists[LISTS];
    bool fails, people, clients, meets;
    uint64_t seed;
};

static inline uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below ? (uint32_t)(*state >> 33) % below : 0;
}

static inline bool chance(uint64_t *state, uint32_t percent)
{
    return draw(state, 100) < percent;
}

static inline struct team_step *add_step(struct world *w, enum team_step_kind kind)
{
    struct team_step *s = &w->steps[w->p.step_count++];
    *s = (struct team_step){
        .kind = kind, .task = TEAM_NONE, .arg = TEAM_NONE, .meeting = TEAM_NONE};
    return s;
}

static inline void add_list(struct world *w, struct team_step *s, const uint16_t *list,
                            uint32_t count)
{
    s->first_resource = (uint32_t)w->p.list_count;
    s->resource_count = count;
    memcpy(&w->lists[w->p.list_count], list, count * sizeof *list);
    w->p.list_count += count;
}

struct holding {
    uint16_t held[RESOURCES];
    uint32_t count;
};

static inline bool is_held(const struct holding *h, uint16_t resource)
{
    for (uint32_t k = 0; k < h->count; k++) {
        if (h->held[k] == resource) {
            return true;
        }
    }
    return false;
}

/* A Lock that the discipline allows, if there is one. */
static inline void add_lock(struct world *w, struct holding *h)
{
    uint16_t wants[3];
    uint32_t count = 0;
    uint16_t last = 0;
    for (uint32_t k = 0; k < h->count; k++) {
        last = h->held[k] > last ? h->held[k] : last;
    }
    for (uint32_t k = 0; k < 3 && (k == 0 || chance(&w->seed, 40)); k++) {
        const uint16_t resource = (uint16_t)draw(&w->seed, (uint32_t)w->p.resource_count);
        const bool late = h->count > 0 && resource < last && w->p.locking == TEAM_ORDERED;
        bool twice = is_held(h, resource);
        for (uint32_t j = 0; j < count; j++) {
            twice |= wants[j] == resource;
        }
        if (!late && !twice && !(h->count > 0 && w->p.locking == TEAM_AT_ONCE)) {
            wants[count++] = resource;
        }
    }
    if (count > 0) {
        add_list(w, add_step(w, TEAM_STEP_LOCK), wants, count);
        memcpy(&h->held[h->count], wants, count * sizeof *wants);
        h->count += count;
    }
}

static inline void add_unlock(struct world *w, struct holding *h, bool all)
{
    const uint32_t count = all ? h->count : 1 + draw(&w->seed, h->count);
    if (h->count > 0) {
        add_list(w, add_step(w, TEAM_STEP_UNLOCK), &h->held[h->count - count], count);
        h->count -= count;
    }
}

static inline void add_task(struct world *w, enum team_step_kind kind)
{
    struct team_step *s = add_step(w, kind);
    s->task = (uint16_t)draw(&w->seed, 3);
    s->arg = (uint16_t)(NAME_PART + draw(&w->seed, NAMES_EACH));
}

static inline void add_meeting(struct world *w)
{
    struct team_step *s =
        add_step(w, chance(&w->seed, 50) ? TEAM_STEP_MEET : TEAM_STEP_TOGETHER);
    s->task = (uint16_t)draw(&w->seed, 3);
    s->meeting = (uint16_t)(NAME_MEETING + draw(&w->seed, 2));
    s->robots = (uint16_t)(2 + s->meeting % 2);
}

static inline void add_some(struct world *w, struct holding *h, uint32_t *loop_from)
{
    const uint32_t kind = draw(&w->seed, 20);
    if (kind < 5) {
        add_lock(w, h);
    } else if (kind < 8) {
        add_unlock(w, h, false);
    } else if (kind == 8 && w->meets && (h->count == 0 || w->p.locking == TEAM_FREE)) {
        add_meeting(w);
    } else if (kind == 9) {
        struct team_step *s = add_step(w, TEAM_STEP_TAKE);
        s->arg = (uint16_t)draw(&w->seed, NAMES_EACH);
        s->retry_us = chance(&w->seed, 10) ? 7 * SECOND : 0;
    } else if (kind == 10) {
        struct team_step *s = add_step(w, TEAM_STEP_UNLESS);
        s->arg = (uint16_t)(NAME_PART + draw(&w->seed, NAMES_EACH));
        s->to = (uint32_t)w->p.step_count + 1;
        add_task(w, TEAM_STEP_TASK);
    } else if (kind == 11 && h->count == 0 && *loop_from < w->p.step_count) {
        struct team_step *s = add_step(w, TEAM_STEP_LOOP);
        s->to = *loop_from;
        s->times = 1 + draw(&w->seed, 3);
        *loop_from = (uint32_t)w->p.step_count;
    } else {
        add_task(w, chance(&w->seed, 10)   ? TEAM_STEP_TOOL
                    : chance(&w->seed, 10) ? TEAM_STEP_DONE
                                           : TEAM_STEP_TASK);
    }
}

static inline void add_sequence(struct world *w)
{
    struct team_sequence *s = &w->sequences[w->p.sequence_count++];
    struct holding h = {.count = 0};
    const uint32_t items = 2 + draw(&w->seed, 12);
    s->first = (uint32_t)w->p.step_count;
    uint32_t loop_from = s->first;
    for (uint32_t k = 0; k < items; k++) {
        add_some(w, &h, &loop_from);
    }
    add_unlock(w, &h, true);
    if (chance(&w->seed, 2)) { /* a circle that takes no time */
        add_step(w, TEAM_STEP_GOTO)->to = (uint32_t)w->p.step_count - 1;
    }
    s->count = (uint32_t)w->p.step_count - s->first;
}

static inline void make_resources(struct world *w)
{
    w->p.resource_count = 1 + draw(&w->seed, chance(&w->seed, 50) ? 4 : RESOURCES);
    for (size_t i = 0; i < w->p.resource_count; i++) {
        w->resources[i] = (struct team_resource_params){
            .capacity = 1 + draw(&w->seed, 3),
            .lease_us = w->fails && chance(&w->seed, 30) ? SECOND * (1 + draw(&w->seed, 9)) : 0,
            .delay_us = chance(&w->seed, 30) ? SECOND * draw(&w->seed, 4) : 0,
            .on_error = draw(&w->seed, 2) ? TEAM_HOLD : TEAM_RELEASE,
            .on_lost = draw(&w->seed, 2) ? TEAM_HOLD : TEAM_RELEASE};
        (void)snprintf(w->resources[i].name, TEAM_NAME_MAX, "Z%zu", i);
    }
}

static inline void make_robots(struct world *w)
{
    w->p.robot_count = 2 + draw(&w->seed, chance(&w->seed, 50) ? 4 : ROBOTS - 1);
    for (size_t i = 0; i < w->p.robot_count; i++) {
        struct team_robot_params *r = &w->robots[i];
        *r = (struct team_robot_params){
            .sequence = chance(&w->seed, 85) ? (uint16_t)draw(&w->seed, SEQUENCES) : TEAM_NONE,
            .cycles = 1 + draw(&w->seed, 3),
            .priority = chance(&w->seed, 20) ? draw(&w->seed, 3) : 0,
            .handles_all = chance(&w->seed, 50),
            .start_us = SECOND * (int64_t)draw(&w->seed, 3)};
        r->first_handled = (uint32_t)w->p.list_count;
        r->handled_count = 1;
        w->lists[w->p.list_count++] = (uint16_t)(NAME_PART + draw(&w->seed, NAMES_EACH));
        (void)snprintf(r->name, TEAM_NAME_MAX, "R%zu", i);
    }
}

static inline struct team_job draw_job(struct world *w)
{
    return (struct team_job){.part = (uint16_t)(NAME_PART + draw(&w->seed, NAMES_EACH)),
                             .sequence = (uint16_t)draw(&w->seed, SEQUENCES),
                             .home = chance(&w->seed, 80)
                                         ? (uint16_t)draw(&w->seed, (uint32_t)w->p.robot_count)
                                         : TEAM_NONE};
}

static inline void make_parts(struct world *w)
{
    for (size_t k = 0; k < NAME_COUNT; k++) {
        (void)snprintf(w->names[k], TEAM_NAME_MAX, "n%zu", k);
    }
    w->p.buffer_count = NAMES_EACH;
    for (size_t k = 0; k < NAMES_EACH; k++) {
        w->buffers[k] =
            (struct team_buffer){(uint16_t)k, (uint32_t)w->p.list_count, draw(&w->seed, 12)};
        for (uint32_t j = 0; j < w->buffers[k].part_count; j++) {
            w->lists[w->p.list_count++] = (uint16_t)(NAME_PART + draw(&w->seed, NAMES_EACH));
        }
    }
    w->p.job_count = chance(&w->seed, 50) ? draw(&w->seed, COUNT(w->jobs)) : 0;
    for (size_t k = 0; k < w->p.job_count; k++) {
        w->jobs[k] = draw_job(w);
    }
}

static inline void make_tasks(struct world *w)
{
    static const struct team_window windows[] = {
        {0, LAB_TIME_MAX, 0}, {SECOND, 20 * SECOND, 0}, {2 * SECOND, 9 * SECOND, SECOND / 10}};
    w->p.task_count = COUNT(windows);
    for (size_t k = 0; k < COUNT(windows); k++) {
        w->tasks[k].window = windows[chance(&w->seed, 60) ? 0 : k];
        (void)snprintf(w->tasks[k].name, TEAM_NAME_MAX, "T%zu", k);
    }
}

static inline void make_world(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->fails = chance(&w->seed, 50);
    w->people = w->fails && chance(&w->seed, 60);
    w->clients = chance(&w->seed, 30);
    w->meets = chance(&w->seed, 40);
    w->p.locking = (enum team_locking)draw(&w->seed, TEAM_LOCKING_COUNT);
    w->p.head_start_us = SECOND * draw(&w->seed, 6);
    w->p.help_backlog = 1 + draw(&w->seed, 2);
    make_tasks(w);
    make_resources(w);
    make_robots(w);
    make_parts(w);
    while (w->p.sequence_count < SEQUENCES) {
        add_sequence(w);
    }
    w->p.name_count = NAME_COUNT;
    w->p.robots = w->robots;
    w->p.resources = w->resources;
    w->p.tasks = w->tasks;
    w->p.sequences = w->sequences;
    w->p.steps = w->steps;
    w->p.buffers = w->buffers;
    w->p.jobs = w->jobs;
    w->p.names = (const char(*)[TEAM_NAME_MAX])w->names;
    w->p.lists = w->lists;
}

#endif
