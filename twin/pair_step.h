/* twin/pair_step.h - one event, or one deadline, through all that is kept of a pair: the pair
 * itself, and where its options want them the dynamics of its robots and the following of one
 * by the other. Pure but for GSL's allocations in fits.
 */
#ifndef TWIN_PAIR_STEP_H
#define TWIN_PAIR_STEP_H

#include "twin/following/pair_following.h"

struct pair_parts {
    struct pair *pair;
    struct pair_dynamics *dynamics;   /* NULL: not followed */
    struct pair_following *following; /* NULL: nobody follows */
};

/* One event of this pair, at event->t_us; every deadline before it must have been fired. */
void pair_step(const struct pair_parts *parts, const struct pair_params *p,
               const struct event *event, const struct effects *fx);

/* Fire what is due at pair->deadline_us; call again until that is beyond the time wanted. */
void pair_fire(const struct pair_parts *parts, const struct pair_params *p,
               const struct effects *fx);

#endif
