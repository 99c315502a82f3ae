/* twin/team/step/team_deadlock.c - finds robots that wait for ever: behind a failed robot
 * (blocked), or in a circle (deadlock).
 *
 * The search runs only when a wait began or something ended for good. With the rules `ordered`
 * and `at_once` resources alone cannot give a circle: each wait leads to a later resource or an
 * earlier claim. So without meetings and failures no search is needed. Otherwise graph
 * reduction is used, which is correct for several units: robots that could be served if all
 * others came to their end are removed, until no more can be. The remaining ones wait for ever.
 */
#include <string.h>

#include "twin/team/step/team_parts.h"

struct knot {
    struct team_set stuck; /* failed while holding something */
    struct team_set dead;  /* robots that wait for ever */
    struct team_set blocked;
};

static void find_behind(const struct team_work *w, uint16_t robot, struct team_set *robots)
{
    if (team_set_has(&w->team->waiting, robot)) {
        team_blockers(w, robot, true, robots);
    } else if (team_set_has(&w->team->meeting, robot)) {
        team_coming(w, robot, robots);
    }
}

static const struct team_meeting *meeting_of(const struct team_work *w, uint16_t robot)
{
    return &w->meetings[team_step_of(w, robot)->meeting];
}

/* Counts how many robots the meeting of this robot lacks if those in `without` do not come. */
static uint32_t count_missing(const struct team_work *w, uint16_t robot,
                              const struct team_set *without)
{
    struct team_set coming;
    team_set_clear(&coming);
    team_coming(w, robot, &coming);
    uint32_t there = meeting_of(w, robot)->count;
    TEAM_EACH(i, &coming)
    {
        there += !team_set_has(without, i);
    }
    const uint32_t wanted = team_step_of(w, robot)->robots;
    return there < wanted ? wanted - there : 0;
}

static bool can_be_served(const struct team_work *w, const struct knot *knot, uint16_t robot)
{
    if (team_set_has(&w->team->meeting, robot)) {
        return count_missing(w, robot, &knot->dead) == 0;
    }
    const struct team_request *q = &w->members[robot].request;
    if (team_is_passed(w, robot)) {
        return false;
    }
    for (unsigned bits = team_queued(w, q); bits != 0; bits &= bits - 1) {
        const unsigned k = (unsigned)__builtin_ctz(bits);
        const struct team_place *x = &w->places[q->wants[k]];
        const uint32_t capacity = w->p->resources[q->wants[k]].capacity;
        uint32_t lost = 0;
        for (uint32_t h = 0; h < capacity; h++) {
            const uint16_t owner = w->holds[x->first_hold + h].robot;
            lost += owner != TEAM_NONE &&
                    (team_set_has(&knot->dead, owner) || team_set_has(&knot->stuck, owner));
        }
        uint16_t c = w->claims[robot * TEAM_WANT_MAX + k].before;
        for (; c != TEAM_NO_CLAIM && lost < capacity; c = w->claims[c].before) {
            lost += team_set_has(&knot->dead, c / TEAM_WANT_MAX) &&
                    !team_is_passed(w, c / TEAM_WANT_MAX); /* a unit is reserved for it */
        }
        if (lost >= capacity) {
            return false;
        }
    }
    return true;
}

static void reduce_waits(const struct team_work *w, struct knot *knot)
{
    knot->dead = w->team->waiting;
    TEAM_EACH(i, &w->team->meeting)
    {
        team_set_add(&knot->dead, i);
    }
    bool moved = true;
    while (moved) {
        moved = false;
        TEAM_EACH(i, &knot->dead)
        {
            if (can_be_served(w, knot, i)) {
                team_set_remove(&knot->dead, i);
                moved = true;
            }
        }
    }
}

/* Adds the robots of `core` that wait, directly or indirectly, for one of these or of `also`.
 */
static void spread_waits(const struct team_work *w, const struct team_set *core,
                         const struct team_set *also, struct team_set *robots)
{
    bool grew = true;
    while (grew) {
        grew = false;
        TEAM_EACH(i, core)
        {
            struct team_set behind;
            team_set_clear(&behind);
            if (team_set_has(robots, i)) {
                continue;
            }
            find_behind(w, i, &behind);
            TEAM_EACH(k, &behind)
            {
                if (team_set_has(also, k) || team_set_has(robots, k)) {
                    team_set_add(robots, i);
                    grew = true;
                    break;
                }
            }
        }
    }
}

/* Finds the robots whose wait leads to a failed robot, or to a meeting that can never be
 * complete. */
static void find_blocked(const struct team_work *w, struct knot *knot)
{
    struct team_set nobody;
    team_set_clear(&nobody);
    team_set_clear(&knot->blocked);
    TEAM_EACH(i, &knot->dead)
    {
        if (team_set_has(&w->team->meeting, i) &&
            (count_missing(w, i, &nobody) > 0 || team_awaits_silent(w, i))) {
            team_set_add(&knot->blocked, i);
        }
    }
    spread_waits(w, &knot->dead, &knot->stuck, &knot->blocked);
}

static void emit_blocked(const struct team_work *w, uint16_t robot)
{
    uint16_t lacks[TEAM_WANT_MAX], robots[TEAM_SET_MAX];
    struct team_set behind;
    team_set_clear(&behind);
    struct team_effect e = team_alarm_of(w, TEAM_ALARM_BLOCKED, robot);
    if (team_set_has(&w->team->meeting, robot)) {
        e.meeting = team_step_of(w, robot)->meeting;
        e.count = team_step_of(w, robot)->robots - meeting_of(w, robot)->count;
    } else {
        team_blockers(w, robot, false, &behind);
        e.resources = lacks;
        e.resource_count = team_lacks(w, robot, lacks);
        e.robots = robots;
        e.robot_count = team_set_list(&behind, robots);
    }
    w->members[robot].reported_blocked = true;
    team_emit(w, &e);
}

/* ---- the circle ---------------------------------------------------------------------------
 */

/* Finds the shortest circle through this robot within `core`, NULL: all robots; returns its
 * length, 0: none. */
static size_t find_circle(const struct team_work *w, const struct team_set *core,
                          uint16_t robot, uint16_t *circle)
{
    uint16_t queue[TEAM_ROBOTS_MAX], from[TEAM_ROBOTS_MAX];
    struct team_set seen;
    team_set_clear(&seen);
    size_t first = 0;
    size_t last = 0;
    queue[last++] = robot;
    team_set_add(&seen, robot);
    while (first < last) {
        const uint16_t at = queue[first++];
        struct team_set behind;
        team_set_clear(&behind);
        find_behind(w, at, &behind);
        if (team_set_has(&behind, robot)) {
            size_t length = 1;
            for (uint16_t i = at; i != robot; i = from[i]) {
                length++;
            }
            size_t k = length;
            for (uint16_t i = at; k > 0; i = from[i]) {
                circle[--k] = i;
            }
            return length;
        }
        TEAM_EACH(i, &behind)
        {
            if ((!core || team_set_has(core, i)) && !team_set_has(&seen, i)) {
                team_set_add(&seen, i);
                from[i] = at;
                queue[last++] = i;
            }
        }
    }
    return 0;
}

/* Does a wait that began in this instant lead back to its robot? */
static bool any_closes_circle(const struct team_work *w)
{
    uint16_t circle[TEAM_ROBOTS_MAX];
    TEAM_EACH(robot, &w->team->new_waits)
    {
        if (find_circle(w, NULL, robot, circle) > 0) {
            return true;
        }
    }
    return false;
}

/* One list has what they hold and want; a very large circle is cut there. */
enum { LIST_MAX = 4 * TEAM_RESOURCES_MAX };

static size_t list_held(const struct team_work *w, uint16_t robot, uint16_t *list, size_t room)
{
    const size_t count = team_held(w->team, robot, list, room);
    return count < room ? count : room;
}

static void emit_deadlock(const struct team_work *w, const uint16_t *circle, size_t length)
{
    struct team_wait waits[TEAM_ROBOTS_MAX];
    uint16_t list[LIST_MAX];
    size_t used = 0;
    for (size_t k = 0; k < length; k++) {
        const uint16_t robot = circle[k];
        struct team_wait *wait = &waits[k];
        *wait = (struct team_wait){.robot = robot, .meeting = TEAM_NONE, .held = &list[used]};
        wait->held_count = list_held(w, robot, &list[used], LIST_MAX - used);
        used += wait->held_count;
        wait->wants = &list[used];
        if (team_set_has(&w->team->meeting, robot)) {
            wait->meeting = team_step_of(w, robot)->meeting;
        } else if (LIST_MAX - used >= TEAM_WANT_MAX) {
            wait->want_count = team_lacks(w, robot, &list[used]);
            used += wait->want_count;
        }
    }
    struct team_effect e = team_alarm_of(w, TEAM_ALARM_DEADLOCK, TEAM_NONE);
    e.cycle = waits;
    e.cycle_count = length;
    team_emit(w, &e);
}

static uint16_t count_circle(const struct team_work *w, const struct team_set *core,
                             uint32_t circle)
{
    uint16_t count = 0;
    TEAM_EACH(i, core)
    {
        count = (uint16_t)(count + (w->members[i].circle == circle));
    }
    return count;
}

/* Finds the reported circles that still exist with every robot. */
static void find_reported(const struct team_work *w, const struct team_set *core,
                          struct team_set *reported)
{
    team_set_clear(reported);
    for (uint16_t i = 0; i < w->p->robot_count; i++) {
        struct team_member *m = &w->members[i];
        if (m->circle != 0 && count_circle(w, core, m->circle) == m->circle_length) {
            team_set_add(reported, i);
        }
    }
    for (uint16_t i = 0; i < w->p->robot_count; i++) {
        w->members[i].circle = team_set_has(reported, i) ? w->members[i].circle : 0;
    }
}

/* Emits the shortest circle not yet reported, the first robot's if several are equal. */
static bool emit_next_circle(const struct team_work *w, const struct team_set *core,
                             struct team_set *reported)
{
    uint16_t circle[TEAM_ROBOTS_MAX], best[TEAM_ROBOTS_MAX];
    size_t best_length = 0;
    spread_waits(w, core, reported, reported);
    TEAM_EACH(i, core)
    {
        const size_t length = team_set_has(reported, i) ? 0 : find_circle(w, core, i, circle);
        if (length > 0 && (best_length == 0 || length < best_length)) {
            best_length = length;
            memcpy(best, circle, length * sizeof *best);
        }
    }
    w->team->circles += best_length > 0;
    for (size_t k = 0; k < best_length; k++) {
        w->members[best[k]].circle = w->team->circles;
        w->members[best[k]].circle_length = (uint16_t)best_length;
        team_set_add(reported, best[k]);
    }
    if (best_length > 0) {
        emit_deadlock(w, best, best_length);
    }
    return best_length > 0;
}

static void emit_knot(const struct team_work *w, struct knot *knot)
{
    struct team_set reported;
    reduce_waits(w, knot);
    find_blocked(w, knot);
    TEAM_EACH(i, &knot->blocked)
    {
        if (!w->members[i].reported_blocked) {
            emit_blocked(w, i);
        }
        team_set_remove(&knot->dead, i);
    }
    find_reported(w, &knot->dead, &reported);
    while (emit_next_circle(w, &knot->dead, &reported)) {
    }
}

static void find_stuck(const struct team_work *w, struct team_set *stuck)
{
    team_set_clear(stuck);
    TEAM_EACH(i, &w->team->broken)
    {
        if (w->members[i].held_count > 0) {
            team_set_add(stuck, i);
        }
    }
}

void team_find_deadlocks(const struct team_work *w)
{
    struct team *team = w->team;
    const bool waits = team_set_any(&team->waiting) || team_set_any(&team->meeting);
    if (waits && (team->check || team_set_any(&team->new_waits))) {
        struct knot knot;
        find_stuck(w, &knot.stuck);
        if (team->check || team_set_any(&knot.stuck) || team_set_any(&team->meeting) ||
            (w->p->locking == TEAM_FREE && any_closes_circle(w))) {
            emit_knot(w, &knot);
        }
    }
    team->check = false;
    team_set_clear(&team->new_waits);
}
