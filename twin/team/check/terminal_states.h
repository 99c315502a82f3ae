/* twin/team/check/terminal_states.h - how it can end: the sets of states that a team never
 * leaves.
 *
 * A state without a way out is such a set, and so are states which lead to each other and to no
 * others: the strongly connected components that nothing leaves (R. Tarjan, "Depth-first search
 * and linear graph algorithms", SIAM J. Computing 1(2), 1972, without its recursion). A set
 * with a state whose ways are not all known is none. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TERMINAL_STATES_H
#define TWIN_TEAM_CHECK_TERMINAL_STATES_H

#include "twin/team/check/team_states.h"

/* states[count] is borrowed for the call. */
typedef void terminal_states_emit(void *context, const uint32_t *states, size_t count);

/* Every such set, once. STATUS_E_NOMEM. */
MUST_USE enum status terminal_states_find(struct team_states *s, terminal_states_emit *emit,
                                          void *context);

#endif
