#include "twin/team/check/team_ends.h"

#include <string.h>

/* Of a state: when it was entered, from 1 on (0: not yet), the earliest one still open that it
 * leads back to, and the next of its edges to be followed. */
struct mark {
    uint32_t entered, low, edge;
    bool done; /* its component is known */
};

struct search {
    struct team_states *s;
    struct mark *marks; /* [states] */
    uint32_t *way;      /* [states]: from the first state to the present one */
    uint32_t *open;     /* [states]: entered, their components not known */
    size_t way_count, open_count;
    uint32_t entered;
    team_ends_take *take;
    void *context;
};

static void enter_state(struct search *w, uint32_t number)
{
    w->marks[number].entered = w->marks[number].low = ++w->entered;
    w->way[w->way_count++] = number;
    w->open[w->open_count++] = number;
}

/* Are all ways out of this state known, and do they lead to none but those entered since? */
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

/* The component that ends at this state, the last open one that leads back to none before. */
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
        w->take(w->context, w->open + first, w->open_count - first);
    }
    for (size_t i = first; i < w->open_count; i++) {
        w->marks[w->open[i]].done = true;
    }
    w->open_count = first;
}

static void search_from(struct search *w, uint32_t first)
{
    enter_state(w, first);
    while (w->way_count > 0) {
        const uint32_t number = w->way[w->way_count - 1];
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
        w->way_count--;
        if (mark->low == mark->entered) {
            close_component(w, number);
        }
        if (w->way_count > 0) {
            struct mark *before = &w->marks[w->way[w->way_count - 1]];
            before->low = mark->low < before->low ? mark->low : before->low;
        }
    }
}

enum status team_ends_find(struct team_states *s, team_ends_take *take, void *context)
{
    const size_t count = s->states.count;
    struct team_array marks = {0};
    struct team_array ways = {0};
    struct team_array open = {0};
    enum status st = STATUS_E_NOMEM;
    if (team_array_reserve(s->memory, &marks, count, sizeof(struct mark)) &&
        team_array_reserve(s->memory, &ways, count, sizeof(uint32_t)) &&
        team_array_reserve(s->memory, &open, count, sizeof(uint32_t))) {
        struct search w = {.s = s,
                           .marks = marks.items,
                           .way = ways.items,
                           .open = open.items,
                           .take = take,
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
    team_array_free(s->memory, &ways, sizeof(uint32_t));
    team_array_free(s->memory, &open, sizeof(uint32_t));
    return st;
}
