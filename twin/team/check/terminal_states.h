/* twin/team/check/terminal_states.h - finds how a team can end: the sets of states that it
 * never leaves.
 *
 * Such a set is a strongly connected component without an outgoing transition, in particular a
 * single state without transitions (R. Tarjan, "Depth-first search and linear graph
 * algorithms", SIAM J. Computing 1(2), 1972, here without recursion). A set with a state that
 * is not fully explored does not count. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TERMINAL_STATES_H
#define TWIN_TEAM_CHECK_TERMINAL_STATES_H

#include "twin/team/check/team_states.h"

/* states[count] is borrowed for the call. */
typedef void terminal_states_emit(void *context, const uint32_t *states, size_t count);

/* Finds every such set, once. STATUS_E_NOMEM. */
MUST_USE enum status terminal_states_find(struct team_states *s, terminal_states_emit *emit,
                                          void *context);

#endif
