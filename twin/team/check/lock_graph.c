#include "twin/team/check/lock_graph.h"

#include <string.h>

enum { SEVERAL = TEAM_NONE - 1 };

void lock_graph_set(uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource)
{
    bits[resource / 64] |= (uint64_t)1 << (resource % 64);
}

bool lock_graph_has(const uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource)
{
    return (bits[resource / 64] >> (resource % 64) & 1) != 0;
}

void lock_graph_start(struct lock_graph *g)
{
    memset(g, 0, sizeof *g);
    memset(g->by, 0xff, sizeof g->by); /* TEAM_NONE */
}

void lock_graph_add(struct lock_graph *g, uint16_t from, uint16_t to, uint16_t sequence,
                    bool nested)
{
    uint16_t *by = &g->by[from];
    *by = *by == TEAM_NONE || *by == sequence ? sequence : SEVERAL;
    lock_graph_set(g->edges[from], to);
    if (nested) {
        lock_graph_set(g->nested[from], to);
    }
}

void lock_graph_close(struct lock_graph *g, size_t count)
{
    for (size_t via = 0; via < count; via++) {
        for (size_t from = 0; from < count; from++) {
            for (size_t k = 0;
                 lock_graph_has(g->edges[from], (uint16_t)via) && k < (count + 63) / 64; k++) {
                g->edges[from][k] |= g->edges[via][k];
            }
        }
    }
    for (size_t from = 0; from < count; from++) {
        for (uint16_t to = 0; to < count; to++) {
            if (!lock_graph_has(g->edges[to], (uint16_t)from)) {
                g->nested[from][to / 64] &= ~((uint64_t)1 << (to % 64));
            }
        }
    }
}

/* Counts the robots that may run the sequence: those it belongs to, and all that take jobs. */
static size_t count_runners(const struct team_params *p, uint16_t sequence)
{
    size_t n = 0;
    for (size_t i = 0; i < p->robot_count; i++) {
        const uint16_t own = p->robots[i].sequence;
        n += own == sequence || own == TEAM_NONE ? 1 : 0;
    }
    return n;
}

/* `edges` has all reachable nodes now, `nested` only the edges on a cycle. */
bool lock_graph_cycle(const struct lock_graph *g, const struct team_params *p, uint16_t a,
                      uint16_t b)
{
    bool nested = false;
    bool several = false;
    uint16_t by = TEAM_NONE;
    if (!lock_graph_has(g->edges[a], b) || !lock_graph_has(g->edges[b], a)) {
        return false;
    }
    for (uint16_t h = 0; h < p->resource_count; h++) {
        if (!lock_graph_has(g->edges[a], h) || !lock_graph_has(g->edges[h], a)) {
            continue;
        }
        several = several || g->by[h] == SEVERAL || (by != TEAM_NONE && by != g->by[h]);
        by = g->by[h];
        for (size_t k = 0; k < LOCK_GRAPH_WORDS; k++) {
            nested = nested || g->nested[h][k] != 0;
        }
    }
    return nested && (several || count_runners(p, by) > 1);
}
