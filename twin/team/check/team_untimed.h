/* twin/team/check/team_untimed.h - a team without durations, for the model checker, which
 * explores all of them.
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

/* A team of at most MODEL_CHECKER_ROBOTS_MAX robots from a file. Activities end when the
 * checker says so; delays, leases and repeated looks end when they are hurried. Those that are
 * zero stay zero; without `leases` none ends. Head starts are very long, so that much can
 * happen within one. */
struct team_untimed {
    struct team_params p; /* other arrays are borrowed from the file's */
    struct team_array tasks, resources, steps;
    /* Relevant times of head starts: multiples of one after which one more robot overtakes a
     * waiting request, and those that decide the order of such overtaking. */
    int64_t starts[TEAM_STARTS_MAX];
    size_t start_count;
    bool inexact; /* some did not fit */
};

MUST_USE bool team_untimed_make(struct checker_memory *memory, const struct team_params *p,
                                bool leases, struct team_untimed *u);
void team_untimed_free(struct checker_memory *memory, struct team_untimed *u);

/* Returns the bytes of a team's block that matter between two instants, for a team with no more
 * jobs than its file has. */
size_t team_used_bytes(const struct team_params *p, const struct team *team);

/* Lists the distinct times of the next instant: the ends of head starts of waiting requests,
 * and between them. Returns their number, >= 1, in times[TEAM_TIMES_MAX]; *inexact is set if
 * there was no time between two ends. */
size_t team_untimed_times(const struct team_untimed *u, const struct team *team, int64_t now_us,
                          int64_t *times, bool *inexact);

/* Adds an event at t_us: the delay of this resource ends; this robot looks for a part again;
 * this robot's leases end. */
void team_hurry_delay(struct team *team, uint16_t resource, int64_t t_us);
void team_hurry_retry(struct team *team, uint16_t robot, int64_t t_us);
void team_hurry_leases(struct team *team, uint16_t robot, int64_t t_us);
/* Does the robot hold anything under a lease that has not ended? */
bool team_has_lease(const struct team *team, uint16_t robot);

/* Encodes the state as bytes: equal bytes have an equal future. The first bytes, one per robot,
 * are phases. Returns the length, at most team_key_max(p). */
size_t team_key_max(const struct team_untimed *u);
size_t team_key(const struct team_untimed *u, const struct team *team, uint8_t *key);

#endif
