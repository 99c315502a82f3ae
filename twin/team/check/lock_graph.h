/* twin/team/check/lock_graph.h - for free locking: the graph of who may wait for whose
 * resource, and its cycles.
 *
 * Resources are the nodes. A robot that holds h and requests w gives an edge from h to w. A
 * robot that requests several at once is in all their queues and delays others in each for all
 * of them, which gives edges in both directions between them. Pure; docs/model/teams_theory.md,
 * "Static check".
 */
#ifndef TWIN_TEAM_CHECK_LOCK_GRAPH_H
#define TWIN_TEAM_CHECK_LOCK_GRAPH_H

#include "twin/team/step/team_params.h"

enum { LOCK_GRAPH_WORDS = TEAM_RESOURCES_MAX / 64 };

struct lock_graph {
    uint64_t edges[TEAM_RESOURCES_MAX][LOCK_GRAPH_WORDS];
    uint64_t nested[TEAM_RESOURCES_MAX]
                   [LOCK_GRAPH_WORDS]; /* edges from a Lock while holding another resource */
    uint16_t by[TEAM_RESOURCES_MAX];   /* sequence of the edges from each node */
};

/* Functions on sets of resources. */
void lock_graph_set(uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource);
bool lock_graph_has(const uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource);

void lock_graph_start(struct lock_graph *g);
void lock_graph_add(struct lock_graph *g, uint16_t from, uint16_t to, uint16_t sequence,
                    bool nested);
/* Computes the transitive closure when all edges of the first `count` resources are set. */
void lock_graph_close(struct lock_graph *g, size_t count);

/* After lock_graph_close(): are the two on a common cycle on which a robot waits while holding,
 * and which needs more than one robot? Then a deadlock is possible, otherwise it is not. */
bool lock_graph_cycle(const struct lock_graph *g, const struct team_params *p, uint16_t a,
                      uint16_t b);

#endif
