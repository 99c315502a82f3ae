/* twin/team/step/team_timers.c - a binary heap of deadlines, by time and order, in which each
 * slot has at most one timer.
 */
#include "twin/team/step/team_parts.h"

enum { DUE_SHIFT = 29 }; /* the kind is above the order within the kind */

uint32_t team_slot_of_delay(const struct team_work *w, uint16_t resource)
{
    (void)w;
    return resource;
}

uint32_t team_slot_of_lease(const struct team_work *w, uint32_t hold)
{
    return (uint32_t)w->p->resource_count + hold;
}

uint32_t team_slot_of_robot(const struct team_work *w, uint16_t robot)
{
    return (uint32_t)w->p->resource_count + w->team->hold_count + robot;
}

/* Robots that are due at once fire in the order of their numbers as words: 1, 10, 11, 2. */
static uint32_t order_as_word(uint32_t number)
{
    uint32_t digits = 1;
    for (uint32_t k = number; k >= 10; k /= 10) {
        digits++;
    }
    for (uint32_t k = digits; k < 5; k++) {
        number *= 10;
    }
    return number * 8 + digits;
}

static uint32_t order_of(const struct team_work *w, uint32_t slot, enum team_due due)
{
    const uint32_t first_lease = team_slot_of_lease(w, 0);
    const uint32_t first_robot = team_slot_of_robot(w, 0);
    const uint32_t own = slot >= first_robot   ? order_as_word(slot - first_robot)
                         : slot >= first_lease ? slot - first_lease
                                               : slot;
    return (uint32_t)due << DUE_SHIFT | own;
}

enum team_due team_timer_due(const struct team_timer *timer)
{
    return (enum team_due)(timer->order >> DUE_SHIFT);
}

static bool is_before(const struct team_timer *a, const struct team_timer *b)
{
    return a->t_us != b->t_us ? a->t_us < b->t_us : a->order < b->order;
}

static void place_timer(const struct team_work *w, uint32_t at, struct team_timer timer)
{
    w->heap[at] = timer;
    w->slots[timer.slot] = at + 1;
}

static void lift_timer(const struct team_work *w, uint32_t at, struct team_timer timer)
{
    while (at > 0 && is_before(&timer, &w->heap[(at - 1) / 2])) {
        place_timer(w, at, w->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place_timer(w, at, timer);
}

static void sink_timer(const struct team_work *w, uint32_t at, struct team_timer timer)
{
    const uint32_t count = w->team->timer_count;
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(&w->heap[child + 1], &w->heap[child])) {
            child++;
        }
        if (!is_before(&w->heap[child], &timer)) {
            break;
        }
        place_timer(w, at, w->heap[child]);
        at = child;
    }
    place_timer(w, at, timer);
}

void team_cancel_timer(const struct team_work *w, uint32_t slot)
{
    if (w->slots[slot] == 0) {
        return;
    }
    const uint32_t at = w->slots[slot] - 1;
    w->slots[slot] = 0;
    const struct team_timer last = w->heap[--w->team->timer_count];
    if (at == w->team->timer_count) {
        return;
    }
    if (at > 0 && is_before(&last, &w->heap[(at - 1) / 2])) {
        lift_timer(w, at, last);
    } else {
        sink_timer(w, at, last);
    }
}

void team_set_timer(const struct team_work *w, uint32_t slot, enum team_due due, int64_t t_us)
{
    team_cancel_timer(w, slot);
    const struct team_timer timer = {t_us, order_of(w, slot, due), slot};
    lift_timer(w, w->team->timer_count++, timer);
}

struct team_timer team_pop_timer(const struct team_work *w)
{
    const struct team_timer first = w->heap[0];
    team_cancel_timer(w, first.slot);
    return first;
}
