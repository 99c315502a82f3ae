/* twin/team/step/team_grants.c - the arbiter of resources: who holds one, who waits for it, and
 * who is next (paper 004, figure 12).
 *
 * A queue is a list of claims, sorted by key. A Lock of several resources is in all their
 * queues and is granted when all are available. With the rule `ordered` it is in one queue at a
 * time, that of the first resource that it lacks.
 */
#include <string.h>

#include "twin/team/step/team_parts.h"

static uint16_t robot_of(uint16_t claim)
{
    return claim / TEAM_WANT_MAX;
}

static uint16_t claim_of(uint16_t robot, unsigned k)
{
    return (uint16_t)(robot * TEAM_WANT_MAX + k);
}

static bool is_served_before(const struct team_work *w, uint16_t a, uint16_t b)
{
    const int64_t key_a = w->members[a].request.key_us;
    const int64_t key_b = w->members[b].request.key_us;
    return key_a != key_b ? key_a < key_b : a < b;
}

/* ---- queues -------------------------------------------------------------------------------
 */

static void join_queue(const struct team_work *w, uint16_t robot, unsigned k)
{
    const uint16_t resource = w->members[robot].request.wants[k];
    struct team_place *x = &w->places[resource];
    const uint16_t id = claim_of(robot, k);
    uint16_t before = x->last_claim;
    while (before != TEAM_NO_CLAIM && is_served_before(w, robot, robot_of(before))) {
        before = w->claims[before].before;
    }
    struct team_claim *c = &w->claims[id];
    c->before = before;
    c->behind = before == TEAM_NO_CLAIM ? x->first_claim : w->claims[before].behind;
    if (before == TEAM_NO_CLAIM) {
        x->first_claim = id;
    } else {
        w->claims[before].behind = id;
    }
    if (c->behind == TEAM_NO_CLAIM) {
        x->last_claim = id;
    } else {
        w->claims[c->behind].before = id;
    }
    x->queue_length++;
    team_set_add(&w->team->touched, resource);
}

static void leave_queue(const struct team_work *w, uint16_t robot, unsigned k)
{
    struct team_place *x = &w->places[w->members[robot].request.wants[k]];
    const struct team_claim c = w->claims[claim_of(robot, k)];
    if (c.before == TEAM_NO_CLAIM) {
        x->first_claim = c.behind;
    } else {
        w->claims[c.before].behind = c.behind;
    }
    if (c.behind == TEAM_NO_CLAIM) {
        x->last_claim = c.before;
    } else {
        w->claims[c.behind].before = c.before;
    }
    x->queue_length--;
}

static unsigned lacking_bits(const struct team_request *q)
{
    return ((1U << q->count) - 1) & ~(unsigned)q->got;
}

unsigned team_queued(const struct team_work *w, const struct team_request *request)
{
    const unsigned lacks = lacking_bits(request);
    return w->p->locking == TEAM_ORDERED ? lacks & (~lacks + 1) : lacks;
}

static unsigned first_bit(unsigned bits)
{
    return (unsigned)__builtin_ctz(bits);
}

void team_withdraw(const struct team_work *w, uint16_t robot, const char *why)
{
    struct team_member *m = &w->members[robot];
    const struct team_request *q = &m->request;
    const bool queues =
        !team_set_has(&w->team->locking, robot); /* otherwise it was requested just now */
    team_set_remove(&w->team->locking, robot);
    for (unsigned bits = queues ? team_queued(w, q) : 0; bits != 0; bits &= bits - 1) {
        leave_queue(w, robot, first_bit(bits));
        team_set_add(&w->team->touched, q->wants[first_bit(bits)]);
    }
    w->team->check = true;
    if (m->client) {
        struct team_effect e = team_effect_of(w, TEAM_REJECT, robot);
        e.resources = q->wants;
        e.resource_count = q->count;
        e.why = why;
        e.id = m->id;
        m->client = false;
        team_signal(w, robot, ROBOT_PARKS);
        team_emit(w, &e);
    }
}

size_t team_lacks(const struct team_work *w, uint16_t robot, uint16_t *resources)
{
    const struct team_request *q = &w->members[robot].request;
    size_t count = 0;
    for (unsigned bits = lacking_bits(q); bits != 0; bits &= bits - 1) {
        resources[count++] = q->wants[first_bit(bits)];
    }
    return count;
}

void team_blockers(const struct team_work *w, uint16_t robot, bool needed,
                   struct team_set *robots)
{
    const struct team_request *q = &w->members[robot].request;
    for (unsigned bits = team_queued(w, q); bits != 0; bits &= bits - 1) {
        const unsigned k = first_bit(bits);
        const struct team_place *x = &w->places[q->wants[k]];
        const uint32_t capacity = w->p->resources[q->wants[k]].capacity;
        const uint16_t before = w->claims[claim_of(robot, k)].before;
        uint32_t taken = x->held;
        for (uint16_t c = before; needed && c != TEAM_NO_CLAIM; c = w->claims[c].before) {
            taken += !team_is_passed(w, robot_of(c));
        }
        if (needed && taken < capacity) {
            continue;
        }
        for (uint32_t h = 0; taken >= capacity && h < capacity; h++) {
            if (w->holds[x->first_hold + h].robot != TEAM_NONE) {
                team_set_add(robots, w->holds[x->first_hold + h].robot);
            }
        }
        for (uint16_t c = before; c != TEAM_NO_CLAIM; c = w->claims[c].before) {
            if (!team_is_passed(w, robot_of(c))) {
                team_set_add(robots, robot_of(c));
            }
        }
    }
    team_set_remove(robots, robot);
}

void team_look_again(const struct team_work *w, uint16_t robot)
{
    const struct team_request *q = &w->members[robot].request;
    const bool waits = w->members[robot].phase == TEAM_PHASE_WAITING &&
                       !team_set_has(&w->team->locking, robot) &&
                       !team_set_has(&w->team->unlocking, robot);
    for (unsigned bits = waits ? team_queued(w, q) : 0; bits != 0; bits &= bits - 1) {
        team_set_add(&w->team->touched, q->wants[first_bit(bits)]);
    }
    w->team->check = true;
}

/* ---- holds
 * -------------------------------------------------------------------------------- */

uint32_t team_find_hold(const struct team_work *w, uint16_t robot, uint16_t resource)
{
    uint32_t hold = w->members[robot].first_hold;
    while (hold != TEAM_NO_HOLD && w->holds[hold].resource != resource) {
        hold = w->holds[hold].next;
    }
    return hold;
}

/* Inserts a hold into the robot's list, in the order of the file. */
static void link_hold(const struct team_work *w, uint16_t robot, uint32_t hold)
{
    uint32_t *at = &w->members[robot].first_hold;
    while (*at != TEAM_NO_HOLD && w->holds[*at].resource < w->holds[hold].resource) {
        at = &w->holds[*at].next;
    }
    w->holds[hold].next = *at;
    *at = hold;
}

static void turn_unit(struct team_hold *h, enum team_unit_signal signal)
{
    TEAM_TURN(team_unit_next, h->unit, signal);
}

void team_set_broken(const struct team_work *w, uint16_t robot, bool broken)
{
    team_set_assign(&w->team->broken, robot, broken);
    for (uint32_t k = w->members[robot].first_hold; k != TEAM_NO_HOLD; k = w->holds[k].next) {
        struct team_hold *h = &w->holds[k];
        if (h->unit == (broken ? UNIT_HELD : UNIT_LOST)) {
            turn_unit(h, broken ? UNIT_ON_LOSS : UNIT_ON_RETURN);
        }
    }
}

void team_end_delay(const struct team_work *w, uint16_t resource)
{
    struct team_hold *h = &w->holds[w->places[resource].first_hold];
    for (uint32_t k = 0; k < w->p->resources[resource].capacity; k++) {
        if (h[k].unit == UNIT_DELAY) {
            turn_unit(&h[k], UNIT_ON_DUE);
        }
    }
}

static void give_unit(const struct team_work *w, uint16_t robot, unsigned k)
{
    struct team_member *m = &w->members[robot];
    const uint16_t resource = m->request.wants[k];
    struct team_place *x = &w->places[resource];
    uint32_t hold = x->first_hold;
    while (w->holds[hold].robot != TEAM_NONE) {
        hold++;
    }
    leave_queue(w, robot, k);
    m->request.got = (uint16_t)(m->request.got | 1U << k);
    if (w->holds[hold].unit == UNIT_DELAY) { /* its delay ends at this very instant */
        turn_unit(&w->holds[hold], UNIT_ON_DUE);
    }
    turn_unit(&w->holds[hold], UNIT_ON_HEAD);
    w->holds[hold] = (struct team_hold){.unit = w->holds[hold].unit,
                                        .fence = ++w->team->fence,
                                        .since_us = w->t_us,
                                        .robot = robot,
                                        .resource = resource,
                                        .client = m->client};
    link_hold(w, robot, hold);
    x->held++;
    m->held_count++;
    team_clear_revoked(w, robot, resource);
    m->client_count = (uint16_t)(m->client_count + m->client);
    m->last_message_us = m->last_message_us > w->t_us ? m->last_message_us : w->t_us;
    if (w->p->resources[resource].lease_us > 0) {
        team_set_timer(w, team_slot_of_lease(w, hold), TEAM_DUE_LEASE,
                       w->t_us + w->p->resources[resource].lease_us);
    }
    struct team_effect e = team_effect_of(w, TEAM_GRANT, robot);
    e.resource = resource;
    e.fence = w->team->fence;
    e.waited_us = w->t_us - m->request.asked_us;
    turn_unit(&w->holds[hold], UNIT_ON_NOTHING);
    if (team_set_has(&w->team->broken, robot)) {
        turn_unit(&w->holds[hold], UNIT_ON_LOSS);
    }
    e.id = m->client ? m->id : "";
    team_emit(w, &e);
}

void team_free_hold(const struct team_work *w, uint32_t hold, const char *why, int64_t delay_us,
                    const char *id)
{
    struct team_hold *h = &w->holds[hold];
    struct team_member *m = &w->members[h->robot];
    struct team_place *x = &w->places[h->resource];
    uint32_t *at = &m->first_hold;
    while (*at != hold) {
        at = &w->holds[*at].next;
    }
    *at = h->next;
    x->held--;
    m->held_count--;
    m->client_count = (uint16_t)(m->client_count - h->client);
    team_cancel_timer(w, team_slot_of_lease(w, hold));
    struct team_effect e = team_effect_of(w, TEAM_FREED, h->robot);
    e.resource = h->resource;
    e.fence = h->fence;
    e.took_us = w->t_us - h->since_us;
    e.why = why;
    e.id = id;
    turn_unit(h, strcmp(why, "unlock") == 0 ? UNIT_ON_UNLOCK : UNIT_ON_FREED);
    if (delay_us == 0 && h->unit == UNIT_DELAY) {
        turn_unit(h, UNIT_ON_DUE);
    }
    if (delay_us > 0) {
        x->free_at_us = w->t_us + delay_us;
        team_set_timer(w, team_slot_of_delay(w, h->resource), TEAM_DUE_DELAY, x->free_at_us);
    }
    team_set_add(&w->team->touched, h->resource);
    team_update_idle(w, h->robot);
    h->robot = TEAM_NONE;
    team_emit(w, &e);
}

/* ---- UnLock -------------------------------------------------------------------------------
 */

/* Lists which of these the robot does not hold. */
static size_t find_not_held(const struct team_work *w, uint16_t robot, const uint16_t *of,
                            size_t count, uint16_t *not_held)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        if (team_find_hold(w, robot, of[k]) == TEAM_NO_HOLD &&
            !team_is_forgiven(w, robot, of[k])) {
            not_held[found++] = of[k];
        }
    }
    return found;
}

static void emit_not_owner(const struct team_work *w, uint16_t robot, const uint16_t *not_held,
                           size_t count)
{
    uint16_t robots[TEAM_WANT_MAX * TEAM_CAPACITY_MAX];
    struct team_owners owners[TEAM_WANT_MAX];
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        struct team_resource_view x;
        team_resource(w->team, not_held[k], &x);
        owners[k] = (struct team_owners){not_held[k], &robots[used], x.held_count};
        for (size_t h = 0; h < x.held_count; h++) {
            robots[used++] = x.held[h].robot;
        }
    }
    struct team_effect e = team_alarm_of(w, TEAM_ALARM_NOT_OWNER, robot);
    e.resources = not_held;
    e.resource_count = count;
    e.owners = owners;
    team_emit(w, &e);
}

static void do_unlock(const struct team_work *w, uint16_t robot)
{
    const struct team_step *step = team_step_of(w, robot);
    const uint16_t *resources = &w->p->lists[step->first_resource];
    uint16_t not_held[TEAM_WANT_MAX];
    const size_t missing = find_not_held(w, robot, resources, step->resource_count, not_held);
    if (missing > 0) {
        emit_not_owner(w, robot, not_held, missing);
        team_enter_error(w, robot);
        return;
    }
    for (size_t k = 0; k < step->resource_count; k++) {
        const uint32_t hold = team_find_hold(w, robot, resources[k]);
        if (hold != TEAM_NO_HOLD) {
            team_free_hold(w, hold, "unlock", 0, "");
        } else {
            team_clear_revoked(w, robot, resources[k]);
        }
    }
    team_emit_done(w, robot, resources, step->resource_count);
    team_next_step(w, robot);
}

/* ---- Lock ---------------------------------------------------------------------------------
 */

void team_ask(const struct team_work *w, uint16_t robot, const uint16_t *wants, size_t count,
              bool client)
{
    struct team_member *m = &w->members[robot];
    struct team_request *q = &m->request;
    const int64_t head_start_us = w->p->robots[robot].priority * w->p->head_start_us;
    q->asked_us = w->t_us;
    q->key_us = w->t_us - head_start_us;
    q->count = (uint16_t)count;
    q->got = 0;
    for (size_t k = 0; k < count; k++) { /* in the order of the file */
        size_t at = k;
        for (; at > 0 && q->wants[at - 1] > wants[k]; at--) {
            q->wants[at] = q->wants[at - 1];
        }
        q->wants[at] = wants[k];
    }
    m->client = client;
    m->reported_blocked = false;
    m->circle = 0;
    team_signal(w, robot, ROBOT_ASKS);
    team_set_add(&w->team->locking, robot);
}

/* Checks the locking rule; TEAM_ALARM_COUNT: no violation. Sets `got` if a Lock is resumed
 * halfway. */
static enum team_alarm find_violation(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    struct team_request *q = &m->request;
    for (unsigned k = 0; m->held_count > 0 && k < q->count; k++) {
        const bool holds = team_find_hold(w, robot, q->wants[k]) != TEAM_NO_HOLD;
        if (holds && !m->again) {
            return TEAM_ALARM_DOUBLE_LOCK;
        }
        q->got = (uint16_t)(q->got | (unsigned)holds << k);
    }
    if (m->held_count == 0 || lacking_bits(q) == 0) {
        return TEAM_ALARM_COUNT;
    }
    if (w->p->locking == TEAM_AT_ONCE) {
        return TEAM_ALARM_NESTED_LOCK;
    }
    uint32_t last = m->first_hold;
    while (w->holds[last].next != TEAM_NO_HOLD) {
        last = w->holds[last].next;
    }
    return w->p->locking == TEAM_ORDERED &&
                   q->wants[first_bit(lacking_bits(q))] < w->holds[last].resource
               ? TEAM_ALARM_ORDER
               : TEAM_ALARM_COUNT;
}

static const char *const violation_words[TEAM_ALARM_COUNT] = {
    [TEAM_ALARM_DOUBLE_LOCK] = "it holds one of them already",
    [TEAM_ALARM_NESTED_LOCK] = "it holds others: locking is at_once",
    [TEAM_ALARM_ORDER] = "it holds one that comes later in the order of resources",
};

/* A client's request is refused. A violation in a sequence puts the robot into Error. */
static void refuse_lock(const struct team_work *w, uint16_t robot, enum team_alarm violation)
{
    const struct team_member *m = &w->members[robot];
    uint16_t held[TEAM_RESOURCES_MAX];
    struct team_effect e =
        m->client ? team_effect_of(w, TEAM_REJECT, robot) : team_alarm_of(w, violation, robot);
    const struct team_step *step = m->client ? NULL : team_step_if_any(w, robot);
    e.resources = step && !m->regains ? &w->p->lists[step->first_resource] : m->request.wants;
    e.resource_count = m->request.count;
    if (violation != TEAM_ALARM_DOUBLE_LOCK) {
        e.held = held;
        e.held_count = team_held(w->team, robot, held, TEAM_RESOURCES_MAX);
    }
    e.why = violation_words[violation];
    e.id = m->client ? m->id : "";
    if (m->client) {
        team_signal(w, robot, ROBOT_PARKS);
    } else {
        team_enter_error(w, robot);
    }
    team_emit(w, &e);
}

static void end_lock(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    team_emit_done(w, robot, m->request.wants, m->request.count);
    if (m->regains) {
        m->regains = false;
        team_signal(w, robot, ROBOT_GOES_ON);
    } else if (m->client) {
        m->client = false;
        team_signal(w, robot, ROBOT_PARKS);
    } else {
        team_next_step(w, robot);
    }
}

static void record_lock(const struct team_work *w, uint16_t robot)
{
    const enum team_alarm violation = find_violation(w, robot);
    const struct team_request *q = &w->members[robot].request;
    if (violation != TEAM_ALARM_COUNT) {
        refuse_lock(w, robot, violation);
        return;
    }
    if (lacking_bits(q) == 0) {
        end_lock(w, robot);
        return;
    }
    for (unsigned bits = team_queued(w, q); bits != 0; bits &= bits - 1) {
        join_queue(w, robot, first_bit(bits));
    }
}

/* ---- grants
 * ------------------------------------------------------------------------------- */

/* Is a unit left for it and for each robot before it? */
static bool may_have(const struct team_work *w, uint16_t robot, unsigned k)
{
    const struct team_request *q = &w->members[robot].request;
    const struct team_place *x = &w->places[q->wants[k]];
    const uint32_t capacity = w->p->resources[q->wants[k]].capacity;
    uint32_t before = 0;
    for (uint16_t c = w->claims[claim_of(robot, k)].before;
         c != TEAM_NO_CLAIM && x->held + before < capacity; c = w->claims[c].before) {
        before += !team_is_passed(w, robot_of(c));
    }
    return w->t_us >= x->free_at_us && x->held + before < capacity && !team_is_passed(w, robot);
}

static void serve_robot(const struct team_work *w, uint16_t robot)
{
    const struct team_request *q = &w->members[robot].request;
    for (unsigned now = team_queued(w, q); now != 0; now = team_queued(w, q)) {
        for (unsigned bits = now; bits != 0; bits &= bits - 1) {
            if (!may_have(w, robot, first_bit(bits))) {
                return;
            }
        }
        for (unsigned bits = now; bits != 0; bits &= bits - 1) {
            give_unit(w, robot, first_bit(bits));
        }
        if (lacking_bits(q) != 0) { /* ordered: it joins the next queue */
            team_set_add(&w->team->progressed, robot);
            w->members[robot].reported_blocked = false; /* a new wait */
            join_queue(w, robot, first_bit(lacking_bits(q)));
        }
    }
    end_lock(w, robot);
}

/* Lists the first robots of queues where a unit may be free, in the order of their keys. */
static size_t find_heads(const struct team_work *w, const struct team_set *touched,
                         uint16_t *heads)
{
    struct team_set seen;
    team_set_clear(&seen);
    size_t count = 0;
    TEAM_EACH(resource, touched)
    {
        const struct team_place *x = &w->places[resource];
        const uint32_t capacity = w->p->resources[resource].capacity;
        uint16_t c = w->t_us >= x->free_at_us ? x->first_claim : TEAM_NO_CLAIM;
        for (uint32_t k = x->held; k < capacity && c != TEAM_NO_CLAIM;) {
            const uint16_t robot = robot_of(c);
            const bool passed = team_is_passed(w, robot);
            k += !passed;
            if (!passed && !team_set_has(&seen, robot)) {
                team_set_add(&seen, robot);
                size_t at = count++;
                for (; at > 0 && is_served_before(w, robot, heads[at - 1]); at--) {
                    heads[at] = heads[at - 1];
                }
                heads[at] = robot;
            }
            c = w->claims[c].behind;
        }
    }
    return count;
}

static void serve_waiting(const struct team_work *w)
{
    uint16_t heads[TEAM_ROBOTS_MAX];
    while (team_set_any(&w->team->touched)) {
        const size_t count = find_heads(w, &w->team->touched, heads);
        team_set_clear(&w->team->touched);
        for (size_t i = 0; i < count; i++) {
            serve_robot(w, heads[i]);
        }
    }
}

static void emit_wait(const struct team_work *w, uint16_t robot)
{
    uint16_t lacks[TEAM_WANT_MAX], behind[TEAM_SET_MAX];
    const struct team_member *m = &w->members[robot];
    struct team_set robots;
    team_set_clear(&robots);
    team_blockers(w, robot, false, &robots);
    struct team_effect e = team_effect_of(w, TEAM_WAIT, robot);
    e.resources = lacks;
    e.resource_count = team_lacks(w, robot, lacks);
    e.robots = behind;
    e.robot_count = team_set_list(&robots, behind);
    e.id = m->client ? m->id : "";
    team_set_add(&w->team->new_waits, robot);
    team_emit(w, &e);
}

void team_serve(const struct team_work *w)
{
    struct team *team = w->team;
    TEAM_EACH(robot, &team->unlocking)
    {
        do_unlock(w, robot);
    }
    team_set_clear(&team->unlocking);
    TEAM_EACH(robot, &team->locking)
    {
        record_lock(w, robot);
    }
    serve_waiting(w);
    TEAM_EACH(robot, &team->progressed)
    { /* waits for the next, or has got it, too */
        team_set_add(&team->locking, robot);
    }
    TEAM_EACH(robot, &team->locking)
    {
        if (w->members[robot].phase == TEAM_PHASE_WAITING) {
            emit_wait(w, robot);
        }
    }
    team_set_clear(&team->progressed);
    team_set_clear(&team->locking);
    team_hold_meetings(w);
}
