#include "twin/team/check/terminal_states.h"

#include <string.h>

/* Marks per state: order of its entry, from 1 (0: not entered), the earliest open state that it
 * leads back to, and its next edge. */
struct mark {
    uint32_t entered, low, edge;
    bool done; /* its component is complete */
};

struct search {
    struct team_states *s;
    struct mark *marks; /* [states] */
    uint32_t *stack;    /* [states]: path from the first state to the present one */
    uint32_t *open;     /* [states]: entered, component not complete */
    size_t depth, open_count;
    uint32_t entered;
    terminal_states_emit *emit;
    void *context;
};

static void enter_state(struct search *w, uint32_t number)
{
    w->marks[number].entered = w->marks[number].low = ++w->entered;
    w->stack[w->depth++] = number;
    w->open[w->open_count++] = number;
}

/* Are all transitions of this state known, and do they stay within the states entered since? */
static bool stays_within(const struct search *w, uint32_t number, uint32_t since)
{
    const struct team_state *state = team_state_at(w->s, number);
    const uint32_t *edges = team_state_edges(w->s, number);
    bool stays = state->closed;
    for (uint32_t i = 0; i < state->edge_count && stays; i++) {
        const struct mark *to = &w->marks[edges[i]];
        stays = !to->done && to->entered >= since;
    }
    return stays;
}

/* Completes the component of this state, from which no open state before is reachable. */
static void close_component(struct search *w, uint32_t number)
{
    const uint32_t since = w->marks[number].entered;
    size_t first = w->open_count;
    bool stays = true;
    do {
        first--;
        stays = stays && stays_within(w, w->open[first], since);
    } while (w->open[first] != number);
    if (stays) {
        w->emit(w->context, w->open + first, w->open_count - first);
    }
    for (size_t i = first; i < w->open_count; i++) {
        w->marks[w->open[i]].done = true;
    }
    w->open_count = first;
}

static void search_from(struct search *w, uint32_t first)
{
    enter_state(w, first);
    while (w->depth > 0) {
        const uint32_t number = w->stack[w->depth - 1];
        struct mark *mark = &w->marks[number];
        if (mark->edge < team_state_at(w->s, number)->edge_count) {
            const uint32_t to = team_state_edges(w->s, number)[mark->edge++];
            if (w->marks[to].entered == 0) {
                enter_state(w, to);
            } else if (!w->marks[to].done && w->marks[to].entered < mark->low) {
                mark->low = w->marks[to].entered;
            }
            continue;
        }
        w->depth--;
        if (mark->low == mark->entered) {
            close_component(w, number);
        }
        if (w->depth > 0) {
            struct mark *before = &w->marks[w->stack[w->depth - 1]];
            before->low = mark->low < before->low ? mark->low : before->low;
        }
    }
}

enum status terminal_states_find(struct team_states *s, terminal_states_emit *emit,
                                 void *context)
{
    const size_t count = s->states.count;
    struct team_array marks = {0};
    struct team_array stack_memory = {0};
    struct team_array open = {0};
    enum status st = STATUS_E_NOMEM;
    if (team_array_reserve(s->memory, &marks, count, sizeof(struct mark)) &&
        team_array_reserve(s->memory, &stack_memory, count, sizeof(uint32_t)) &&
        team_array_reserve(s->memory, &open, count, sizeof(uint32_t))) {
        struct search w = {.s = s,
                           .marks = marks.items,
                           .stack = stack_memory.items,
                           .open = open.items,
                           .emit = emit,
                           .context = context};
        memset(w.marks, 0, count * sizeof *w.marks);
        for (uint32_t i = 0; i < (uint32_t)count; i++) {
            if (w.marks[i].entered == 0) {
                search_from(&w, i);
            }
        }
        st = STATUS_OK;
    }
    team_array_free(s->memory, &marks, sizeof(struct mark));
    team_array_free(s->memory, &stack_memory, sizeof(uint32_t));
    team_array_free(s->memory, &open, sizeof(uint32_t));
    return st;
}
