/* tests/support/team_drive.h - runs a team in simulated time: activities end on request, and
 * events of a script come when they are due. */
#ifndef TESTS_SUPPORT_TEAM_DRIVE_H
#define TESTS_SUPPORT_TEAM_DRIVE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "twin/team/step/team.h"

struct team_due_event {
    int64_t t_us;
    struct team_event event;
};

/* Duration of an activity; `event` is DONE, and may be made FAIL. False: it never ends. */
typedef bool team_duration(void *context, uint16_t robot, const struct team_step *step,
                           uint32_t n, int64_t *took_us, enum team_event_kind *event);

struct team_drive {
    struct team *team;
    const struct team_params *p;
    struct team_due_event *queue; /* not in order: the least is looked for */
    size_t count, size;
    team_duration *duration;
    void (*emit)(void *context, const struct team_effect *effect);
    void *context;
};

static inline void team_drive_add(struct team_drive *d, int64_t t_us,
                                  const struct team_event *event)
{
    if (d->count == d->size) {
        d->size = 2 * d->size + 64;
        d->queue = realloc(d->queue, d->size * sizeof *d->queue);
        assert(d->queue);
    }
    d->queue[d->count++] = (struct team_due_event){t_us, *event};
}

static inline void team_drive_effect(void *context, const struct team_effect *effect)
{
    struct team_drive *d = context;
    if (effect->kind == TEAM_START) {
        struct team_event event = {
            .kind = TEAM_EVENT_DONE, .robot = effect->robot, .n = effect->n};
        int64_t took_us = 0;
        if (d->duration(d->context, effect->robot, effect->step, effect->n, &took_us,
                        &event.kind)) {
            team_drive_add(d, effect->t_us + took_us, &event);
        }
    }
    d->emit(d->context, effect);
}

static inline void team_drive_start(struct team_drive *d)
{
    for (size_t i = 0; i < d->p->robot_count; i++) {
        const struct team_event event = {.kind = TEAM_EVENT_START, .robot = (uint16_t)i};
        team_drive_add(d, d->p->robots[i].start_us, &event);
    }
}

static inline int64_t team_drive_next(const struct team_drive *d)
{
    int64_t next_us = team_next_deadline(d->team);
    for (size_t k = 0; k < d->count; k++) {
        next_us = d->queue[k].t_us < next_us ? d->queue[k].t_us : next_us;
    }
    return next_us;
}

/* Events of one instant, or those that are due then; false: no event will ever come. */
static inline bool team_drive_step(struct team_drive *d)
{
    const struct team_effects fx = {team_drive_effect, d};
    const int64_t t_us = team_drive_next(d);
    if (t_us == LAB_TIME_MAX) {
        return false;
    }
    for (size_t k = 0; k < d->count;) {
        if (d->queue[k].t_us == t_us && team_add_event(d->team, t_us, &d->queue[k].event)) {
            d->queue[k] = d->queue[--d->count];
        } else {
            k++;
        }
    }
    team_fire(d->team, &fx);
    return true;
}

#endif
