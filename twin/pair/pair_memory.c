/* twin/pair/pair_memory.c - memory of a pair: its size, initialisation and copies. */
#include <assert.h>
#include <string.h>

#include "twin/pair/pair_arm_state.h"
#include "twin/pair/pair_machines.h"
#include "twin/pair/pair_run.h"

/* The memory cost of a large lab: ADR 0004. */
static_assert(sizeof(struct pair) + PAIR_WINDOW_MAX * sizeof(struct pair_move) <=
                  (size_t)24 * 1024,
              "a pair takes at most 24 KiB");
static_assert(sizeof(struct pair) % _Alignof(struct pair_slot) == 0 &&
                  sizeof(struct pair_move) % _Alignof(struct pair_slot) == 0,
              "places may stand right behind");
static_assert(sizeof(struct pair_slot) % _Alignof(struct pair_relay) == 0 &&
                  (sizeof(struct pair_slot) + sizeof(struct pair_relay)) % 8 == 0,
              "the one stands behind the other, and places behind each other");
static_assert(sizeof(struct pair_linked) % _Alignof(struct pair_slot) == 0,
              "places, and what is an arm's, may stand behind it");
static_assert(PAIR_OUTSTANDING_MAX <= 64, "open_mask has a bit for each");

static size_t linked_bytes(const struct pair_params *p)
{
    return p->mode == PAIR_LINK ? sizeof(struct pair_linked) : 0;
}

size_t pair_used_bytes(const struct pair *pair)
{
    return sizeof *pair + pair->window_count * sizeof pair->window[0];
}

size_t pair_moved_bytes(const struct pair_params *p)
{
    return sizeof(struct pair) + p->window * sizeof(struct pair_move);
}

static size_t arm_bytes(const struct pair_params *p)
{
    return pair_is_arm(p)
               ? sizeof(struct pair_arm) + p->outstanding_max * sizeof(struct arm_track)
               : 0;
}

size_t pair_bytes(const struct pair_params *p)
{
    return (pair_moved_bytes(p) + linked_bytes(p) + arm_bytes(p) + 63) / 64 * 64;
}

/* It is at the very end of the pair's memory, whose length is a multiple of 64. */
struct pair_arm *pair_arm_find(struct pair *pair, const struct pair_params *p)
{
    static_assert(sizeof(struct pair_arm) % _Alignof(struct pair_arm) == 0 &&
                      sizeof(struct arm_track) % _Alignof(struct pair_arm) == 0,
                  "it is aligned there");
    if (!pair_is_arm(p)) {
        return NULL;
    }
    return (void *)((char *)pair + pair_bytes(p) - arm_bytes(p));
}

const struct pair_arm *pair_arm_look(const struct pair *pair, const struct pair_params *p)
{
    if (!pair_is_arm(p)) {
        return NULL;
    }
    return (const void *)((const char *)pair + pair_bytes(p) - arm_bytes(p));
}

size_t pair_place_bytes(const struct pair_params *p)
{
    return sizeof(struct pair_slot) + (p->mode == PAIR_LINK ? sizeof(struct pair_relay) : 0);
}

/* Size of a copy without its slots. An arm's state is behind everything else. */
static size_t copied_bytes(const struct pair *pair, const struct pair_params *p)
{
    return arm_bytes(p) > 0 ? pair_bytes(p) : pair_used_bytes(pair) + linked_bytes(p);
}

size_t pair_copy_bytes(const struct pair *pair, const struct pair_params *p)
{
    const int places = pair->open_mask ? 64 - __builtin_clzll(pair->open_mask) : 0;
    return copied_bytes(pair, p) + (size_t)places * pair_place_bytes(p);
}

void pair_copy(void *to, const struct pair *pair, const struct pair_params *p)
{
    struct pair *copy = to;
    const size_t copied = copied_bytes(pair, p);
    const size_t moved = arm_bytes(p) > 0 ? copied : pair_used_bytes(pair);
    memcpy(to, pair, moved);
    if (moved < copied) {
        copy->linked = (int64_t)moved;
        *pair_linked(copy) = *pair_look_linked(pair);
    }
    pair_set_places(copy, (const char *)to + copied, pair_place_bytes(p));
    for (int k = -1; pair_next_open(pair, &k);) {
        memcpy(pair_slot_at(copy, k), pair_look_slot(pair, k), copy->place_step);
    }
}

void pair_set_places(struct pair *pair, const void *places, size_t step)
{
    pair->places = (const char *)places - (const char *)pair;
    pair->place_step = step;
}

/* Prefetches what every message with a stamp touches of a side. */
static void fetch_side(const struct pair_side *s)
{
    pair_fetch_lines(s, offsetof(struct pair_side, clock.bucket));
    pair_fetch_lines(&s->clock.samples, sizeof s->clock - offsetof(struct clock_map, samples));
}

void pair_fetch(const struct pair *pair, const struct pair_params *p, const void *places,
                const struct event *event)
{
    pair_fetch_lines(p, offsetof(struct pair_params, tolerances));
    if (event->kind == EVENT_TELEMETRY) {
        pair_fetch_lines(pair, offsetof(struct pair, order));
        if (event->side < SIDE_COUNT) {
            fetch_side(&pair->side[event->side]);
        }
        return;
    }
    pair_fetch_lines(pair, offsetof(struct pair, recent));
    pair_fetch_lines(&pair->counts, offsetof(struct pair_counts, alarm));
    pair_fetch_lines(&pair->logger_stats, 64);
    pair_fetch_lines(&pair->logger_stats.stay_us, 64);
    pair_fetch_lines(&pair->trace, 1);
    pair_fetch_lines(places, offsetof(struct pair_slot, value));
    pair_fetch_lines(&pair->correction, sizeof pair->correction);
    pair_fetch_lines(&pair->parameters.promotions, 1);
    pair_fetch_lines(&pair->force.applied, 1);
    pair_fetch_lines(&pair->virtual_since_us,
                     sizeof *pair - offsetof(struct pair, virtual_since_us));
    pair_fetch_lines(&pair->side[SIDE_VIRTUAL].pace.count, 1);
    for (enum side x = SIDE_REAL; x < SIDE_COUNT; x++) {
        if (event->side == x) {
            fetch_side(&pair->side[x]);
        } else {
            pair_fetch_lines(&pair->side[x], offsetof(struct pair_side, last_seq));
        }
    }
}

static void init_arm(struct pair *pair, const struct pair_params *p)
{
    struct pair_arm *arm = pair_arm_find(pair, p);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT && arm; s++) {
        arm->seen[s].t_us = LAB_TIME_NONE;
    }
}

void pair_init(struct pair *pair, const struct pair_params *p, uint32_t index)
{
    /* Padding is cleared, too, so that equal states have equal bytes. */
    memset(pair, 0, pair_bytes(p));
    pair->index = index;
    pair_set_places(pair, (const char *)pair + pair_bytes(p), pair_place_bytes(p));
    pair->linked = p->mode == PAIR_LINK ? (int64_t)pair_moved_bytes(p) : 0;
    pair->deadline_us = LAB_TIME_MAX;
    pair->command_seq = -1;
    pair->gap_us = LAB_TIME_NONE;
    pair->last_lag_us = LAB_TIME_NONE;
    pair->last_judged_lag_us = LAB_TIME_NONE;
    pair->last_lag_uncertainty_us = LAB_TIME_NONE;
    pair->last_entry_us = LAB_TIME_NONE;
    pair->history_since_us = LAB_TIME_NONE;
    pair->correction.awaited_us = LAB_TIME_MAX;
    pair->virtual_since_us = LAB_TIME_NONE;
    pair->virtual_unsure_us = LAB_TIME_NONE;
    const struct travel_kalman_params kalman = pair_kalman_params(p);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct pair_side *side = &pair->side[s];
        side->seen_us = LAB_TIME_NONE;
        side->idle_us = LAB_TIME_NONE;
        side->last_seq = -1;
        side->busy_slot = -1;
        side->next_probe_us = LAB_TIME_MAX;
        if (p->mode == PAIR_LINK) {
            efsm_reset(&dispatch_table, &pair_linked(pair)->dispatch[s], LAB_TIME_NONE);
        }
        travel_kalman_reset(&side->kalman, &kalman);
    }
    forecast_init(&pair->forecast);
    init_arm(pair, p);
}
