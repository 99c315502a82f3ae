#include "service/map/sweeps.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(void **list, size_t *room, size_t count, size_t bytes)
{
    if (count <= *room) {
        return true;
    }
    const size_t more = 2 * count > 256 ? 2 * count : 256;
    void *larger = realloc(*list, more * bytes);
    if (larger) {
        *list = larger;
        *room = more;
    }
    return larger != NULL;
}

static void append_sweep(struct sweeps *s)
{
    const struct sweep_collector *c = &s->collector;
    void *list = s->list, *rays = s->rays;
    s->no_memory =
        s->no_memory || !make_room(&list, &s->room, s->count + 1, sizeof *s->list) ||
        !make_room(&rays, &s->ray_room, s->ray_count + c->count, sizeof *s->rays);
    s->list = list;
    s->rays = rays;
    if (s->no_memory) {
        return;
    }
    memcpy(s->rays + s->ray_count, c->rays, c->count * sizeof *s->rays);
    s->list[s->count++] =
        (struct sweep){c->begin_us, c->at, c->restarted, s->ray_count, c->count};
    s->ray_count += c->count;
}

void sweeps_add(struct sweeps *s, const struct event *event)
{
    if (strcmp(event->pair, s->pair) != 0 ||
        !sweep_collector_add(&s->collector, &s->source, s->side, event)) {
        return;
    }
    if (s->count > 0 && sweep_is_early(&s->collector, s->list[s->count - 1].t_us, s->every_us)) {
        s->skipped++;
        return;
    }
    append_sweep(s);
    s->collector.restarted = false;
}

void sweeps_end(struct sweeps *s)
{
    sweep_collector_end(&s->collector);
}

void sweeps_free(struct sweeps *s)
{
    free(s->list);
    free(s->rays);
}
