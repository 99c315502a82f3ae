/* twin/team/team_untimed.h - a team whose times are left out, for who explores all of them.
 *
 * Pure; the memory is the caller's.
 */
#ifndef TWIN_TEAM_TEAM_UNTIMED_H
#define TWIN_TEAM_TEAM_UNTIMED_H

#include "twin/team/team.h"
#include "twin/team/team_states.h"

/* A team as its file gives it, but activities end whenever they are told to, and delays, leases
 * and looks again end when they are hurried. Those of them that are zero stay so; without
 * `leases` none ends. */
struct team_untimed {
    struct team_params p; /* the rest is borrowed from the file's */
    struct team_array tasks, resources, steps;
};

MUST_USE bool team_untimed_make(struct team_explore_memory *memory, const struct team_params *p,
                                bool leases, struct team_untimed *u);
void team_untimed_free(struct team_explore_memory *memory, struct team_untimed *u);

/* As many bytes of a team's block as say something between two instants, of a team with no more
 * jobs than its file has. */
size_t team_live_bytes(const struct team_params *p, const struct team *team);

/* Now, at t_us, with all that happens then: this resource's delay is over; this robot looks for
 * a part again; this robot's leases end. */
void team_hurry_delay(struct team *team, uint16_t resource, int64_t t_us);
void team_hurry_retry(struct team *team, uint16_t robot, int64_t t_us);
void team_hurry_leases(struct team *team, uint16_t robot, int64_t t_us);
/* Does it hold anything under a lease that has not ended? */
bool team_has_lease(const struct team *team, uint16_t robot);

/* What decides what can follow from a state, as bytes: the same bytes, the same future. The
 * first ones, one of each robot, are phases. At most team_key_max(p) of them; the length. */
size_t team_key_max(const struct team_params *p);
size_t team_key(const struct team *team, uint8_t *key);

#endif
