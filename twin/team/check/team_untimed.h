/* twin/team/check/team_untimed.h - a team whose times are left out, for who explores all of
 * them.
 *
 * Pure; the memory is the caller's.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_UNTIMED_H
#define TWIN_TEAM_CHECK_TEAM_UNTIMED_H

#include "twin/team/check/team_states.h"
#include "twin/team/step/team.h"

enum {
    MODEL_CHECKER_ROBOTS_MAX = 64,
    TEAM_STARTS_MAX = 32,
    TEAM_TIMES_MAX = 2 * MODEL_CHECKER_ROBOTS_MAX * TEAM_STARTS_MAX + 1
};

/* A team of at most MODEL_CHECKER_ROBOTS_MAX as its file gives it, but activities end whenever
 * they are told to, and delays, leases and looks again end when they are hurried. Those of them
 * that are zero stay so; without `leases` none ends. Head starts are very long, so that much
 * can happen within one. */
struct team_untimed {
    struct team_params p; /* the rest is borrowed from the file's */
    struct team_array tasks, resources, steps;
    /* Where head starts matter: multiples of one after which a waiting request is passed by one
     * robot more, and those on which depends in which order that can happen. */
    int64_t starts[TEAM_STARTS_MAX];
    size_t start_count;
    bool inexact; /* more of them than there is room for */
};

MUST_USE bool team_untimed_make(struct checker_memory *memory, const struct team_params *p,
                                bool leases, struct team_untimed *u);
void team_untimed_free(struct checker_memory *memory, struct team_untimed *u);

/* As many bytes of a team's block as say something between two instants, of a team with no more
 * jobs than its file has. */
size_t team_used_bytes(const struct team_params *p, const struct team *team);

/* When the next instant can be, seen from now, so that it makes a difference: between the times
 * at which a head start of a request that waits is over, and at them. Their number, >= 1, in
 * times[TEAM_TIMES_MAX]; *inexact is set where there was no room between two. */
size_t team_untimed_times(const struct team_untimed *u, const struct team *team, int64_t now_us,
                          int64_t *times, bool *inexact);

/* Now, at t_us, with all that happens then: this resource's delay is over; this robot looks for
 * a part again; this robot's leases end. */
void team_hurry_delay(struct team *team, uint16_t resource, int64_t t_us);
void team_hurry_retry(struct team *team, uint16_t robot, int64_t t_us);
void team_hurry_leases(struct team *team, uint16_t robot, int64_t t_us);
/* Does it hold anything under a lease that has not ended? */
bool team_has_lease(const struct team *team, uint16_t robot);

/* What decides what can follow from a state, as bytes: the same bytes, the same future. The
 * first ones, one of each robot, are phases. At most team_key_max(p) of them; the length. */
size_t team_key_max(const struct team_untimed *u);
size_t team_key(const struct team_untimed *u, const struct team *team, uint8_t *key);

#endif
