#include "twin/team/check/model_checker.h"

#include <string.h>

#include "twin/team/check/model_checker_parts.h"
#include "twin/team/check/terminal_states.h"

ENUM_NAMES(team_move_kind, TEAM_MOVE_COUNT, TEAM_MOVES(NAMES_TEXT));
ENUM_NAMES(team_end, TEAM_END_COUNT, TEAM_ENDS(NAMES_TEXT));
ENUM_NAMES(team_stop, TEAM_STOP_COUNT, TEAM_STOPS(NAMES_TEXT));

enum { BAG_SHIFT = 16, ASK_EVERY = 256, KEY_MORE = 16 };

/* Words of a place, the head of its team in the backlog. */
enum { PLACE_WORDS = sizeof(struct model_checker_place) / sizeof(uint64_t) };
_Static_assert(sizeof(struct model_checker_place) % sizeof(uint64_t) == 0, "whole words");

static size_t count_words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* Can they happen in one instant? Each robot moves at most once, and failures stay within the
 * limit. */
static bool go_together(const struct team_move *moves, size_t count,
                        const struct model_checker_place *place)
{
    uint32_t failures = 0;
    uint32_t losses = 0;
    for (size_t i = 0; i < count; i++) {
        failures += moves[i].kind == TEAM_MOVE_FAIL;
        losses += moves[i].kind == TEAM_MOVE_SILENT;
        for (size_t k = 0; k < i; k++) {
            const bool robots =
                moves[i].kind != TEAM_MOVE_DELAY && moves[k].kind != TEAM_MOVE_DELAY &&
                moves[i].kind != TEAM_MOVE_START && moves[k].kind != TEAM_MOVE_START;
            if (robots && moves[i].subject == moves[k].subject) {
                return false;
            }
        }
    }
    return failures <= place->failures && (losses <= 1 || losses <= place->losses);
}

/* Advances to the next choice of at[0] < … < at[count - 1] < n; false after the last one. */
static bool choose_next(size_t *at, size_t count, size_t n)
{
    for (size_t i = count; i-- > 0;) {
        if (at[i] + (count - i) < n) {
            at[i]++;
            for (size_t k = i + 1; k < count; k++) {
                at[k] = at[k - 1] + 1;
            }
            return true;
        }
    }
    return false;
}

static uint64_t close_bag(const size_t *at, size_t count, size_t time)
{
    uint64_t bag = (uint64_t)time << (BAG_SHIFT * (TEAM_TOGETHER_MAX - count));
    for (size_t i = count; i-- > 0;) {
        bag = (bag << BAG_SHIFT) | (at[i] + 1);
    }
    return bag;
}

/* ---- states ---- */

static size_t write_key(struct model_checker *x, const struct model_checker_place *place)
{
    size_t bytes = team_key(&x->untimed, x->team, x->key);
    const uint32_t more[] = {place->failures, place->losses, place->started};
    memcpy(x->key + bytes, more, sizeof more);
    bytes += sizeof more;
    x->key[bytes++] = x->outcome.spins;
    return bytes;
}

/* Finds or adds the state after this instant, connects it, and queues it if it needs further
 * exploration. bag 0: the initial state. */
static enum status reach_state(struct model_checker *x, uint32_t from, uint64_t bag,
                               struct model_checker_place *place)
{
    bool is_new;
    bool changed;
    enum status st =
        team_states_find(&x->states, x->key, write_key(x, place), &place->state, &is_new);
    if (st != STATUS_OK) {
        return st;
    }
    struct team_state *state = team_state_at(&x->states, place->state);
    if (is_new && bag != 0) {
        state->parent = from;
        state->bag = bag;
    }
    state->spins = x->outcome.spins;
    state->closed = state->closed || state->spins;
    if (!team_states_add_alarmed(&x->states, place->state, place->dead, place->blocked,
                                 &changed) ||
        (changed && !state->spins &&
         !team_backlog_add(&x->backlog, place, PLACE_WORDS, x->team))) {
        return STATUS_E_NOMEM;
    }
    if (bag != 0 && !team_state_at(&x->states, from)->closed) {
        if (!team_states_connect(&x->states, from, place->state)) {
            return STATUS_E_NOMEM;
        }
        team_state_at(&x->states, from)->served |= x->outcome.served;
        x->result->edges++;
        if (x->outcome.deadlock && x->result->deadlocks++ == 0) {
            x->result->deadlock = (struct team_path){from, bag};
        }
    }
    return STATUS_OK;
}

static enum status make_bag(struct model_checker *x, const struct model_checker_place *from,
                            uint64_t bag)
{
    struct team_move moves[TEAM_TOGETHER_MAX];
    int64_t t_us;
    const size_t count = model_checker_unpack_bag(x, bag, moves, &t_us);
    if (!go_together(moves, count, from)) {
        return STATUS_OK;
    }
    struct model_checker_place place = *from;
    memcpy(x->team, x->origin, x->team_words * sizeof *x->origin);
    model_checker_apply_moves(x, &place, t_us, moves, count);
    return reach_state(x, from->state, bag, &place);
}

/* Explores all transitions out of the next state in the queue. */
static enum status leave_state(struct model_checker *x)
{
    struct model_checker_place from;
    team_backlog_pop(&x->backlog, &from, PLACE_WORDS, x->origin);
    memcpy(x->team, x->origin, x->team_words * sizeof *x->origin);
    model_checker_list_moves(x, &from);
    const size_t n = x->moves.count;
    for (size_t count = 1; count <= x->options.together && count <= n; count++) {
        size_t chosen[TEAM_TOGETHER_MAX] = {0};
        for (size_t i = 0; i < count; i++) {
            chosen[i] = i;
        }
        do {
            for (size_t time = 0; time < x->time_count; time++) {
                const enum status st = make_bag(x, &from, close_bag(chosen, count, time));
                if (st != STATUS_OK) {
                    return st;
                }
            }
        } while (choose_next(chosen, count, n));
    }
    team_state_at(&x->states, from.state)->closed = true;
    return STATUS_OK;
}

/* ---- the start ---- */

/* Lists the start times of robots in order, each once. */
static void list_starts(struct model_checker *x)
{
    const struct team_params *p = &x->untimed.p;
    for (size_t r = 0; r < p->robot_count; r++) {
        const int64_t start_us = p->robots[r].start_us;
        uint32_t at = 0;
        if (p->robots[r].sequence == TEAM_NONE) {
            continue;
        }
        while (at < x->start_count && x->starts_us[at] < start_us) {
            at++;
        }
        if (at == x->start_count || x->starts_us[at] != start_us) {
            memmove(&x->starts_us[at + 1], &x->starts_us[at],
                    (x->start_count - at) * sizeof x->starts_us[0]);
            x->starts_us[at] = start_us;
            x->start_count++;
        }
    }
}

static bool reserve_rooms(struct model_checker *x)
{
    const struct team_params *p = &x->untimed.p;
    const size_t words = count_words(team_bytes(p));
    const size_t used = p->sequence_count + p->job_count + 1;
    const size_t key_words = count_words(team_key_max(&x->untimed) + KEY_MORE);
    if (!team_array_reserve(x->memory, &x->block, 3 * words + key_words, sizeof(uint64_t)) ||
        !team_array_reserve(x->memory, &x->moves, 3 * p->robot_count + p->resource_count + 1,
                            sizeof(struct team_move)) ||
        !team_array_reserve(x->memory, &x->used, used, sizeof(bool))) {
        return false;
    }
    memset(x->used.items, 0, used * sizeof(bool));
    memset(x->block.items, 0, 3 * words * sizeof(uint64_t));
    x->origin = (uint64_t *)x->block.items + words;
    x->model = x->origin + words;
    x->key = (uint8_t *)(x->model + words);
    x->team = team_init(x->block.items, p);
    x->team_words = count_words(team_used_bytes(p, x->team));
    memcpy(x->model, x->block.items, x->team_words * sizeof *x->model);
    x->backlog =
        (struct team_backlog){.memory = x->memory, .model = x->model, .words = x->team_words};
    return true;
}

void model_checker_free(struct model_checker *x)
{
    struct checker_memory *memory = x->memory;
    team_states_free(&x->states);
    team_backlog_free(&x->backlog);
    team_array_free(memory, &x->block, sizeof(uint64_t));
    team_array_free(memory, &x->moves, sizeof(struct team_move));
    team_array_free(memory, &x->used, sizeof(bool));
    team_array_free(memory, &x->path, sizeof(uint64_t));
    team_untimed_free(memory, &x->untimed);
    memory->used -= sizeof *x;
    (void)memory->resize(memory->context, x, 0);
}

static enum status create_checker(const struct team_params *p,
                                  const struct model_checker_options *options,
                                  struct checker_memory *memory, struct model_checker **checker)
{
    struct model_checker *x = memory->resize(memory->context, NULL, sizeof *x);
    if (!x) {
        return STATUS_E_NOMEM;
    }
    memory->used += sizeof *x;
    *x = (struct model_checker){.memory = memory, .options = *options};
    x->states.memory = memory;
    x->backlog.memory = memory;
    if (!team_untimed_make(memory, p, options->losses > 0, &x->untimed) || !reserve_rooms(x)) {
        model_checker_free(x);
        return STATUS_E_NOMEM;
    }
    x->inexact = x->untimed.inexact;
    list_starts(x);
    *checker = x;
    return STATUS_OK;
}

/* ---- the whole search
 * --------------------------------------------------------------------- */

static enum team_stop search_all_states(struct model_checker *x,
                                        const struct model_checker_watch *watch)
{
    const struct model_checker_result *result = x->result;
    for (size_t i = 0; x->backlog.waiting > 0; i++) {
        if (x->states.states.count > x->options.states_max) {
            return TEAM_STOP_STATES;
        }
        if (watch->go_on && i % ASK_EVERY == 0 &&
            !watch->go_on(watch->context, x->states.states.count, x->backlog.waiting)) {
            return TEAM_STOP_ASKED;
        }
        if (leave_state(x) != STATUS_OK) {
            return TEAM_STOP_MEMORY;
        }
        if (x->options.first_deadlock && result->deadlocks > 0) {
            return TEAM_STOP_FOUND;
        }
    }
    return x->inexact ? TEAM_STOP_PRIORITIES : TEAM_STOP_COMPLETE;
}

enum status
model_checker_run(const struct team_params *p, const struct model_checker_options *options,
                  struct checker_memory *memory, const struct model_checker_watch *watch,
                  struct model_checker **checker, struct model_checker_result *result)
{
    struct model_checker *x;
    struct model_checker_place first;
    struct model_checker_result found = {.deadlock = {.state = TEAM_STATE_NONE}};
    if (p->robot_count > MODEL_CHECKER_ROBOTS_MAX || options->together < 1 ||
        options->together > TEAM_TOGETHER_MAX) {
        return STATUS_E_RANGE;
    }
    enum status st = create_checker(p, options, memory, &x);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t i = 0; i < TEAM_END_COUNT; i++) {
        found.path[i].state = TEAM_STATE_NONE;
    }
    x->result = &found;
    model_checker_begin(x, &first);
    found.deadlocks = x->outcome.deadlock ? 1 : 0;
    st = reach_state(x, TEAM_STATE_NONE, 0, &first);
    if (st != STATUS_OK) {
        model_checker_free(x);
        return st;
    }
    if (x->outcome.deadlock) {
        found.deadlock.state = first.state;
    }
    found.stop = search_all_states(x, watch);
    found.states = x->states.states.count;
    if (terminal_states_find(&x->states, model_checker_add_end, x) != STATUS_OK) {
        found.stop = TEAM_STOP_MEMORY;
    }
    x->result = NULL;
    *result = found;
    *checker = x;
    return STATUS_OK;
}

bool model_checker_used(const struct model_checker *x, enum model_checker_item kind, size_t i)
{
    const size_t first = kind == MODEL_CHECKER_JOB ? x->untimed.p.sequence_count : 0;
    return kind == MODEL_CHECKER_ROBOT ? (x->used_robots >> i & 1U) != 0
                                       : ((const bool *)x->used.items)[first + i];
}
