/* twin/team/step/team_revoked.c - resources taken away from a robot in the middle of its
 * sequence.
 *
 * A person, its failure, its lease, or an UnLock of its own controller can take them away. The
 * robot may still stand there, but no longer owns the place: no step begins before it has
 * locked the resource again. A person who clears its error allows it to request the resource.
 */
#include <stdio.h>

#include "twin/team/step/team_parts.h"

static uint64_t *revoked_of(const struct team_work *w, uint16_t robot)
{
    return w->revoked + (size_t)robot * w->team->revoked_words;
}

static bool is_revoked(const struct team_work *w, uint16_t robot, uint16_t resource)
{
    return (revoked_of(w, robot)[resource / 64] >> resource % 64 & 1) != 0;
}

void team_clear_revoked(const struct team_work *w, uint16_t robot, uint16_t resource)
{
    struct team_member *m = &w->members[robot];
    if (m->revoked_count > 0 && is_revoked(w, robot, resource)) {
        revoked_of(w, robot)[resource / 64] &= ~(UINT64_C(1) << resource % 64);
        m->revoked_count--;
        m->may_regain = m->may_regain && m->revoked_count > 0;
    }
}

static void forget_step(const struct team_work *w, uint16_t robot, const struct team_step *step)
{
    for (uint32_t k = 0; k < step->resource_count; k++) {
        team_clear_revoked(w, robot, w->p->lists[step->first_resource + k]);
    }
}

void team_clear_all_revoked(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    for (uint16_t i = 0; m->revoked_count > 0 && i < w->p->resource_count; i++) {
        team_clear_revoked(w, robot, i);
    }
}

void team_revoke_hold(const struct team_work *w, uint32_t hold, const char *why,
                      int64_t delay_us, const char *id)
{
    const struct team_hold *h = &w->holds[hold];
    struct team_member *m = &w->members[h->robot];
    const bool within = m->sequence != TEAM_NONE && m->phase != TEAM_PHASE_IDLE &&
                        m->phase != TEAM_PHASE_FINISHED;
    if (within && !h->client) {
        revoked_of(w, h->robot)[h->resource / 64] |= UINT64_C(1) << h->resource % 64;
        m->revoked_count++;
    }
    team_free_hold(w, hold, why, delay_us, id);
}

bool team_is_forgiven(const struct team_work *w, uint16_t robot, uint16_t resource)
{
    return w->members[robot].may_regain && is_revoked(w, robot, resource);
}

void team_resolve_revoked(const struct team_work *w, uint16_t robot, bool skips)
{
    struct team_member *m = &w->members[robot];
    const struct team_step *step = team_step_if_any(w, robot);
    if (m->revoked_count > 0 && skips && step &&
        (step->kind == TEAM_STEP_LOCK || step->kind == TEAM_STEP_UNLOCK)) {
        forget_step(w, robot, step);
    }
    m->may_regain = m->revoked_count > 0;
}

static bool is_jump(enum team_step_kind kind)
{
    return kind == TEAM_STEP_GOTO || kind == TEAM_STEP_UNLESS || kind == TEAM_STEP_LOOP;
}

/* Lists the first `size` of them, in the order of the file. */
static size_t list_revoked(const struct team_work *w, uint16_t robot, uint16_t *list,
                           size_t size)
{
    size_t count = 0;
    for (uint16_t i = 0; count < size && i < w->p->resource_count; i++) {
        if (is_revoked(w, robot, i)) {
            list[count++] = i;
        }
    }
    return count;
}

bool team_has_all(const struct team_work *w, uint16_t robot, const struct team_step *step)
{
    struct team_member *m = &w->members[robot];
    uint16_t wants[TEAM_WANT_MAX];
    if (m->revoked_count > 0 && step->kind == TEAM_STEP_LOCK) {
        forget_step(w, robot, step); /* its step requests them itself */
    }
    if (m->revoked_count == 0 || is_jump(step->kind) || step->kind == TEAM_STEP_UNLOCK) {
        return true;
    }
    if (m->may_regain) {
        team_ask(w, robot, wants, list_revoked(w, robot, wants, TEAM_WANT_MAX), false);
        m->regains = true;
    } else {
        team_fail(w, robot, "a resource was taken away from it");
    }
    return false;
}

/* ---- reading ------------------------------------------------------------------------------
 */

bool team_reset_fault(const struct team *team, uint16_t robot, bool skips,
                      char why[TEAM_RESET_FAULT_MAX])
{
    const struct team_work w = team_at_work(team);
    const struct team_member *m = &w.members[robot];
    const uint32_t at = m->step + skips;
    uint16_t revoked = 0;
    uint16_t held[TEAM_RESOURCES_MAX];
    if (m->revoked_count == 0 || m->held_count == 0 || at >= m->end) {
        return false;
    }
    const enum team_step_kind kind = w.p->steps[at].kind;
    if (is_jump(kind) || kind == TEAM_STEP_LOCK || kind == TEAM_STEP_UNLOCK) {
        return false; /* these come first */
    }
    (void)list_revoked(&w, robot, &revoked, 1);
    const size_t count = team_held(team, robot, held, TEAM_RESOURCES_MAX);
    const uint16_t last = held[count - 1];
    if (w.p->locking == TEAM_FREE || (w.p->locking == TEAM_ORDERED && last < revoked)) {
        return false;
    }
    (void)snprintf(why, TEAM_RESET_FAULT_MAX,
                   "%s was taken away and may not be locked while it holds %s: release "
                   "that, too",
                   w.p->resources[revoked].name, w.p->resources[last].name);
    return true;
}
