/* twin/team/check/lock_graph.h - locking free: who may wait for whose owner, and whether that
 * can go round. Pure; docs/model/teams_theory.md, "Static check".
 *
 * Resources are the nodes. Who holds h and asks for w makes an edge from h to w; who asks for
 * several at once stands in all their queues and keeps others waiting in each for all of them:
 * edges both ways between them.
 */
#ifndef TWIN_TEAM_CHECK_LOCK_GRAPH_H
#define TWIN_TEAM_CHECK_LOCK_GRAPH_H

#include "twin/team/step/team_params.h"

enum { LOCK_GRAPH_WORDS = TEAM_RESOURCES_MAX / 64 };

struct lock_graph {
    uint64_t edges[TEAM_RESOURCES_MAX][LOCK_GRAPH_WORDS];
    uint64_t nested[TEAM_RESOURCES_MAX]
                   [LOCK_GRAPH_WORDS]; /* of those by a Lock while holding */
    uint16_t by[TEAM_RESOURCES_MAX];   /* whose sequence's the edges from it are */
};

/* Sets of resources. */
void lock_graph_set(uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource);
bool lock_graph_has(const uint64_t bits[LOCK_GRAPH_WORDS], uint16_t resource);

void lock_graph_start(struct lock_graph *g);
void lock_graph_add(struct lock_graph *g, uint16_t from, uint16_t to, uint16_t sequence,
                    bool nested);
/* When all edges of the first `count` resources are there. */
void lock_graph_close(struct lock_graph *g, size_t count);

/* Behind lock_graph_close(): are the two on one way round on which somebody waits while he
 * holds, and that is not one robot's alone? Then there may be a deadlock; otherwise there is
 * none. */
bool lock_graph_cycle(const struct lock_graph *g, const struct team_params *p, uint16_t a,
                      uint16_t b);

#endif
