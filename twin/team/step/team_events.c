/* twin/team/step/team_events.c - applies the events of one instant in their fixed order. */
#include <string.h>

#include "twin/team/step/team_parts.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* All members are compared, so that the order of arrival never matters. */
int team_compare_events(const void *a, const void *b)
{
    const struct team_event *x = a;
    const struct team_event *y = b;
    const uint64_t left[] = {x->kind,           x->robot,    x->resource,     x->fence,   x->n,
                             x->resource_count, x->job.part, x->job.sequence, x->job.home};
    const uint64_t right[] = {y->kind,           y->robot,    y->resource,     y->fence,   y->n,
                              y->resource_count, y->job.part, y->job.sequence, y->job.home};
    int order = 0;
    for (size_t k = 0; order == 0 && k < COUNT(left); k++) {
        order = compare_numbers(left[k], right[k]);
    }
    for (size_t k = 0; order == 0 && k < x->resource_count; k++) {
        order = compare_numbers(x->resources[k], y->resources[k]);
    }
    order = order == 0 ? strcmp(x->job.id, y->job.id) : order;
    return order ? order : strcmp(x->id, y->id);
}

/* Any message of a robot is a sign of life and renews its leases. */
static void refresh_robot(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    m->last_message_us = w->t_us;
    if (!m->silent) {
        return;
    }
    m->silent = false;
    if (m->phase != TEAM_PHASE_ERROR && m->phase != TEAM_PHASE_FINISHED) {
        team_set_broken(w, robot, false);
    }
    team_look_again(w, robot);
    for (uint32_t h = m->first_hold; h != TEAM_NO_HOLD; h = w->holds[h].next) {
        const int64_t lease_us = w->p->resources[w->holds[h].resource].lease_us;
        if (lease_us > 0) {
            team_set_timer(w, team_slot_of_lease(w, h), TEAM_DUE_LEASE, w->t_us + lease_us);
        }
    }
}

/* ---- interventions of people
 * -------------------------------------------------------------- */

static uint32_t find_fence(const struct team_work *w, uint16_t resource, uint64_t fence)
{
    const struct team_place *x = &w->places[resource];
    for (uint32_t k = 0; k < w->p->resources[resource].capacity; k++) {
        const struct team_hold *h = &w->holds[x->first_hold + k];
        if (h->robot != TEAM_NONE && h->fence == fence) {
            return x->first_hold + k;
        }
    }
    return TEAM_NO_HOLD;
}

static void refuse_request(const struct team_work *w, const struct team_event *event,
                           const char *why)
{
    struct team_effect e = team_effect_of(w, TEAM_REJECT, event->robot);
    e.resources = event->kind == TEAM_EVENT_LOCK ? event->resources : &event->resource;
    e.resource_count = event->kind == TEAM_EVENT_LOCK ? event->resource_count : 1;
    e.why = why;
    e.id = event->id;
    team_emit(w, &e);
}

/* A Lock that loses a part of what it was granted cannot be completed. A Together must not
 * begin without it either. */
static void lose_lock(const struct team_work *w, uint16_t robot, uint16_t resource)
{
    struct team_member *m = &w->members[robot];
    const struct team_request *q = &m->request;
    bool lost = m->phase == TEAM_PHASE_MEETING && m->revoked_count > 0;
    for (unsigned k = 0; m->phase == TEAM_PHASE_WAITING && k < q->count; k++) {
        lost |= q->wants[k] == resource && (q->got >> k & 1) != 0;
    }
    if (!lost) {
        return;
    }
    if (!m->client) {
        team_fail(w, robot,
                  m->phase == TEAM_PHASE_WAITING ? "a resource was taken away from its Lock"
                                                 : "a resource was taken away from it");
        return;
    }
    team_withdraw(w, robot, "a resource was taken away from it");
}

static void do_release(const struct team_work *w, const struct team_event *event)
{
    const uint32_t hold = find_fence(w, event->resource, event->fence);
    if (hold == TEAM_NO_HOLD) {
        struct team_effect e = team_alarm_of(w, TEAM_ALARM_STALE_RELEASE, TEAM_NONE);
        e.resource = event->resource;
        e.fence = event->fence;
        team_emit(w, &e);
        return;
    }
    const uint16_t owner = w->holds[hold].robot;
    w->team->check = true;
    team_revoke_hold(w, hold, "operator", w->p->resources[event->resource].delay_us, event->id);
    lose_lock(w, owner, event->resource);
}

static void do_reset(const struct team_work *w, const struct team_event *event)
{
    struct team_member *m = &w->members[event->robot];
    if (m->phase != TEAM_PHASE_ERROR) {
        team_emit_out_of_context(w, event->robot, event->kind);
        return;
    }
    team_emit_plain(w, TEAM_RESET, event->robot);
    team_resolve_revoked(w, event->robot, event->kind == TEAM_EVENT_SKIP);
    if (m->sequence == TEAM_NONE) {
        team_signal(w, event->robot, ROBOT_PARKS);
    } else if (event->kind == TEAM_EVENT_SKIP) {
        team_next_step(w, event->robot);
    } else {
        team_signal(w, event->robot, ROBOT_AGAIN);
    }
}

static void do_abort(const struct team_work *w, const struct team_event *event)
{
    const enum team_phase phase = (enum team_phase)w->members[event->robot].phase;
    const bool works = phase == TEAM_PHASE_ACTIVE || phase == TEAM_PHASE_WAITING ||
                       phase == TEAM_PHASE_MEETING || phase == TEAM_PHASE_JOINED ||
                       phase == TEAM_PHASE_RETRY;
    if (works) {
        team_fail(w, event->robot, "aborted");
    } else {
        team_emit_out_of_context(w, event->robot, event->kind);
    }
}

static void do_start(const struct team_work *w, const struct team_event *event)
{
    const struct team_robot_params *r = &w->p->robots[event->robot];
    const enum team_phase phase = (enum team_phase)w->members[event->robot].phase;
    refresh_robot(w, event->robot);
    if (r->sequence == TEAM_NONE) {
        return;
    }
    if (phase == TEAM_PHASE_IDLE || phase == TEAM_PHASE_FINISHED) {
        team_begin_sequence(w, event->robot, r->sequence, r->cycles);
    } else {
        team_emit_out_of_context(w, event->robot, event->kind);
    }
}

static void do_job(const struct team_work *w, const struct team_event *event)
{
    team_queue_job(w, &event->job);
}

/* ---- robots -------------------------------------------------------------------------------
 */

static void do_offline(const struct team_work *w, const struct team_event *event)
{
    struct team_member *m = &w->members[event->robot];
    uint16_t held[TEAM_RESOURCES_MAX];
    if (!m->online) {
        return;
    }
    m->online = false;
    team_update_idle(w, event->robot);
    struct team_effect e = team_effect_of(w, TEAM_OFFLINE, event->robot);
    e.resources = held;
    e.resource_count = team_held(w->team, event->robot, held, TEAM_RESOURCES_MAX);
    team_emit(w, &e);
}

static void do_alive(const struct team_work *w, const struct team_event *event)
{
    struct team_member *m = &w->members[event->robot];
    refresh_robot(w, event->robot);
    if (!m->online) {
        m->online = true;
        team_update_idle(w, event->robot);
        team_emit_plain(w, TEAM_ONLINE, event->robot);
    }
}

static void do_end(const struct team_work *w, const struct team_event *event)
{
    const struct team_member *m = &w->members[event->robot];
    refresh_robot(w, event->robot);
    if (m->phase != TEAM_PHASE_ACTIVE || m->seen || (event->n != 0 && event->n != m->n)) {
        team_emit_out_of_context(w, event->robot, event->kind);
    } else if (event->kind == TEAM_EVENT_FAIL) {
        team_fail(w, event->robot, "robot reported an error");
    } else {
        team_handle_done(w, event->robot);
    }
}

static void do_unlock(const struct team_work *w, const struct team_event *event)
{
    const uint32_t hold = team_find_hold(w, event->robot, event->resource);
    refresh_robot(w, event->robot);
    if (hold != TEAM_NO_HOLD && w->holds[hold].fence == event->fence) {
        team_revoke_hold(w, hold, "unlock", 0, event->id);
        lose_lock(w, event->robot, event->resource);
        return;
    }
    struct team_effect e = team_alarm_of(w, TEAM_ALARM_STALE_FENCE, event->robot);
    struct team_resource_view x;
    team_resource(w->team, event->resource, &x);
    e.resource = event->resource;
    e.fence = event->fence;
    for (size_t k = 0; k < x.held_count; k++) {
        e.current = x.held[k].fence > e.current ? x.held[k].fence : e.current;
    }
    e.id = event->id;
    team_emit(w, &e);
    if (event->id[0]) {
        refuse_request(w, event, "it does not hold this resource under this fence");
    }
}

/* Explains what is wrong with a client's Lock; NULL: nothing. */
static const char *find_fault(const struct team_work *w, const struct team_event *event)
{
    const enum team_phase phase = (enum team_phase)w->members[event->robot].phase;
    if (phase != TEAM_PHASE_PARKED) {
        return phase == TEAM_PHASE_WAITING ? "it waits for another Lock"
               : phase == TEAM_PHASE_ERROR ? "it is in Error until a person resets it"
                                           : "it executes commands of the team";
    }
    if (event->resource_count == 0 || event->resource_count > TEAM_WANT_MAX) {
        return "a Lock is of 1 to 16 resources";
    }
    for (size_t k = 0; k < event->resource_count; k++) {
        if (event->resources[k] >= w->p->resource_count) {
            return "there is no such resource";
        }
        for (size_t j = 0; j < k; j++) {
            if (event->resources[j] == event->resources[k]) {
                return "it has one resource twice";
            }
        }
    }
    return NULL;
}

static void do_lock(const struct team_work *w, const struct team_event *event)
{
    struct team_member *m = &w->members[event->robot];
    const char *fault = find_fault(w, event);
    refresh_robot(w, event->robot);
    if (fault) {
        refuse_request(w, event, fault);
        return;
    }
    memcpy(m->id, event->id, sizeof m->id);
    team_ask(w, event->robot, event->resources, event->resource_count, true);
}

typedef void team_happen(const struct team_work *w, const struct team_event *event);
static team_happen *const event_does[] = {
    [TEAM_EVENT_RELEASE] = do_release, [TEAM_EVENT_OFFLINE] = do_offline,
    [TEAM_EVENT_ALIVE] = do_alive,     [TEAM_EVENT_DONE] = do_end,
    [TEAM_EVENT_FAIL] = do_end,        [TEAM_EVENT_UNLOCK] = do_unlock,
    [TEAM_EVENT_LOCK] = do_lock,       [TEAM_EVENT_RESET] = do_reset,
    [TEAM_EVENT_SKIP] = do_reset,      [TEAM_EVENT_ABORT] = do_abort,
    [TEAM_EVENT_START] = do_start,     [TEAM_EVENT_JOB] = do_job,
};
_Static_assert(COUNT(event_does) == TEAM_EVENT_COUNT, "every kind of event does something");

void team_apply_event(const struct team_work *w, const struct team_event *event)
{
    event_does[event->kind](w, event);
}

/* ---- deadlines
 * ---------------------------------------------------------------------------- */

static void end_lease(const struct team_work *w, uint32_t hold)
{
    const struct team_hold *h = &w->holds[hold];
    const uint16_t robot = h->robot;
    struct team_member *m = &w->members[robot];
    const struct team_resource_params *r = &w->p->resources[h->resource];
    if (w->t_us - m->last_message_us < r->lease_us) { /* a message came since */
        team_set_timer(w, team_slot_of_lease(w, hold), TEAM_DUE_LEASE,
                       m->last_message_us + r->lease_us);
        return;
    }
    struct team_effect e = team_effect_of(w, TEAM_EXPIRE, robot);
    e.resource = h->resource;
    e.fence = h->fence;
    team_emit(w, &e);
    e.kind = TEAM_ALARM;
    e.alarm = TEAM_ALARM_LEASE_EXPIRED;
    e.policy = r->on_lost;
    team_emit(w, &e);
    m->silent = true;
    team_set_broken(w, robot, true);
    team_look_again(w, robot);
    if (r->on_lost == TEAM_RELEASE) {
        if (m->phase != TEAM_PHASE_ERROR && m->phase != TEAM_PHASE_FINISHED) {
            team_emit_halt(w, robot, TEAM_NONE);
            team_stop_robot(w, robot);
        }
        team_revoke_hold(w, hold, "expired", r->delay_us, "");
    }
}

void team_fire_timer(const struct team_work *w, const struct team_timer *timer)
{
    const enum team_due due = team_timer_due(timer);
    const uint16_t robot = (uint16_t)(timer->slot - team_slot_of_robot(w, 0));
    if (due == TEAM_DUE_DELAY) {
        team_set_add(&w->team->touched, timer->slot);
        team_end_delay(w, (uint16_t)timer->slot);
    } else if (due == TEAM_DUE_LEASE) {
        end_lease(w, timer->slot - team_slot_of_lease(w, 0));
    } else if (due == TEAM_DUE_RETRY) {
        team_signal(w, robot, ROBOT_AGAIN);
    } else {
        team_activity_is_due(w, robot, due);
    }
}
