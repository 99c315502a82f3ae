/* twin/team/check/team_ends.h - how it can end: the sets of states that a team never leaves.
 *
 * A state without a way out is such a set, and so are states which lead to each other and to no
 * others: the strongly connected components that nothing leaves (R. Tarjan, "Depth-first search
 * and linear graph algorithms", SIAM J. Computing 1(2), 1972, without its recursion). A set
 * with a state whose ways are not all known is none. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_ENDS_H
#define TWIN_TEAM_CHECK_TEAM_ENDS_H

#include "twin/team/check/team_states.h"

/* states[count] is borrowed for the call. */
typedef void team_ends_take(void *context, const uint32_t *states, size_t count);

/* Every such set, once. STATUS_E_NOMEM. */
MUST_USE enum status team_ends_find(struct team_states *s, team_ends_take *take, void *context);

#endif
