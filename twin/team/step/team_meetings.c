/* twin/team/step/team_meetings.c - meetings: robots that wait for each other, to continue or to
 * do one thing together.
 */
#include "twin/team/step/team_parts.h"

void team_arrive(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    const uint16_t name = team_step_of(w, robot)->meeting;
    struct team_meeting *g = &w->meetings[name];
    struct team *team = w->team;
    if (g->count == 0) {
        g->before = team->last_meeting;
        g->behind = TEAM_NONE;
        if (team->last_meeting == TEAM_NONE) {
            team->first_meeting = name;
        } else {
            w->meetings[team->last_meeting].behind = name;
        }
        team->last_meeting = name;
        g->first = robot;
    } else {
        w->members[g->last].behind_here = robot;
    }
    g->last = robot;
    g->count++;
    m->behind_here = TEAM_NONE;
    m->came_us = w->t_us;
    m->reported_blocked = false;
    m->circle = 0;
    team_signal(w, robot, ROBOT_MEETS);
    team_set_add(&team->new_waits, robot);
    team->arrived = true;
}

static void close_meeting(const struct team_work *w, struct team_meeting *g)
{
    struct team *team = w->team;
    if (g->before == TEAM_NONE) {
        team->first_meeting = g->behind;
    } else {
        w->meetings[g->before].behind = g->behind;
    }
    if (g->behind == TEAM_NONE) {
        team->last_meeting = g->before;
    } else {
        w->meetings[g->behind].before = g->before;
    }
}

void team_leave_meeting(const struct team_work *w, uint16_t robot)
{
    struct team_meeting *g = &w->meetings[team_step_of(w, robot)->meeting];
    uint16_t before = TEAM_NONE;
    for (uint16_t i = g->first; i != robot; i = w->members[i].behind_here) {
        before = i;
    }
    const uint16_t behind = w->members[robot].behind_here;
    if (before == TEAM_NONE) {
        g->first = behind;
    } else {
        w->members[before].behind_here = behind;
    }
    g->last = behind == TEAM_NONE ? before : g->last;
    g->count--;
    if (g->count == 0) {
        close_meeting(w, g);
    }
}

size_t team_ring(const struct team_work *w, uint16_t robot, uint16_t *robots)
{
    struct team_set ring;
    team_set_clear(&ring);
    uint16_t i = robot;
    do {
        team_set_add(&ring, i);
        i = w->members[i].partner;
    } while (i != robot);
    return team_set_list(&ring, robots);
}

/* Lists the first `count` arrivals in order. */
static void list_first(const struct team_work *w, const struct team_meeting *g, uint16_t count,
                       uint16_t *robots)
{
    struct team_set going;
    team_set_clear(&going);
    uint16_t i = g->first;
    for (uint16_t k = 0; k < count; k++) {
        team_set_add(&going, i);
        i = w->members[i].behind_here;
    }
    (void)team_set_list(&going, robots);
}

static void emit_meeting(const struct team_work *w, enum team_effect_kind kind, uint16_t name,
                         const uint16_t *robots, size_t count, const int64_t *waits_us)
{
    struct team_effect e = team_effect_of(w, kind, TEAM_NONE);
    e.meeting = name;
    e.robots = robots;
    e.robot_count = count;
    e.waits_us = waits_us;
    team_emit(w, &e);
}

static void hold_meeting(const struct team_work *w, uint16_t name, uint16_t count)
{
    uint16_t robots[TEAM_ROBOTS_MAX], together[TEAM_ROBOTS_MAX];
    int64_t waits_us[TEAM_ROBOTS_MAX];
    int64_t last_us = INT64_MIN;
    size_t joined = 0;
    list_first(w, &w->meetings[name], count, robots);
    for (uint16_t k = 0; k < count; k++) {
        const int64_t came_us = w->members[robots[k]].came_us;
        last_us = came_us > last_us ? came_us : last_us;
    }
    for (uint16_t k = 0; k < count; k++) {
        waits_us[k] = last_us - w->members[robots[k]].came_us;
        team_leave_meeting(w, robots[k]);
    }
    emit_meeting(w, TEAM_MEET, name, robots, count, waits_us);
    for (uint16_t k = 0; k < count; k++) {
        if (team_step_of(w, robots[k])->kind == TEAM_STEP_TOGETHER) {
            together[joined++] = robots[k];
        } else {
            team_next_step(w, robots[k]);
        }
    }
    for (size_t k = 0; k < joined; k++) {
        w->members[together[k]].partner = together[(k + 1) % joined];
        team_start_activity(w, together[k]);
    }
}

void team_hold_meetings(const struct team_work *w)
{
    if (!w->team->arrived) {
        return;
    }
    w->team->arrived = false;
    uint16_t next = TEAM_NONE;
    for (uint16_t name = w->team->first_meeting; name != TEAM_NONE; name = next) {
        const struct team_meeting *g = &w->meetings[name];
        const uint16_t wanted = team_step_of(w, g->first)->robots;
        next = g->behind;
        while (g->count > 0 && g->count >= wanted) {
            hold_meeting(w, name, wanted);
        }
    }
}

void team_end_together(const struct team_work *w, uint16_t robot)
{
    uint16_t ring[TEAM_ROBOTS_MAX];
    const size_t count = team_ring(w, robot, ring);
    const uint16_t name = team_step_of(w, robot)->meeting;
    for (size_t k = 0; k < count; k++) {
        if (w->members[ring[k]].phase != TEAM_PHASE_JOINED) {
            return;
        }
    }
    for (size_t k = 0; k < count; k++) {
        w->members[ring[k]].partner = TEAM_NONE;
        team_next_step(w, ring[k]);
    }
    emit_meeting(w, TEAM_TOGETHER, name, ring, count, NULL);
}

/* ---- who may still come -------------------------------------------------------------------
 */

static bool comes_by(const struct team_work *w, uint16_t sequence, uint32_t from, uint16_t name)
{
    const struct team_sequence *s = &w->p->sequences[sequence];
    for (uint32_t k = from; k < s->first + s->count; k++) {
        const struct team_step *step = &w->p->steps[k];
        const bool meets = step->kind == TEAM_STEP_MEET || step->kind == TEAM_STEP_TOGETHER;
        if (meets && step->meeting == name) {
            return true;
        }
    }
    return false;
}

static bool turns_back(const struct team_work *w, uint16_t sequence, uint32_t from)
{
    const struct team_sequence *s = &w->p->sequences[sequence];
    for (uint32_t k = from; k < s->first + s->count; k++) {
        const struct team_step *step = &w->p->steps[k];
        const bool jumps = step->kind == TEAM_STEP_GOTO || step->kind == TEAM_STEP_LOOP;
        if (jumps && step->to <= k) {
            return true;
        }
    }
    return false;
}

/* Can it come with a waiting job that it may get after its present one? */
static bool comes_by_job(const struct team_work *w, uint16_t robot, uint16_t name)
{
    for (uint32_t k = 0; k < w->team->job_count; k++) {
        const struct team_job *job = &w->jobs[k];
        if (team_can_handle(w, robot, job->part) &&
            comes_by(w, job->sequence, w->p->sequences[job->sequence].first, name)) {
            return true;
        }
    }
    return false;
}

static bool may_come(const struct team_work *w, uint16_t robot, uint16_t name)
{
    const struct team_member *m = &w->members[robot];
    if (m->phase == TEAM_PHASE_ERROR || m->phase == TEAM_PHASE_FINISHED) {
        return false;
    }
    if (m->phase == TEAM_PHASE_PARKED || m->sequence == TEAM_NONE) {
        return false; /* all assignable jobs are assigned already */
    }
    const uint32_t first = w->p->sequences[m->sequence].first;
    const bool again = m->cycles > 1 || turns_back(w, m->sequence, m->step);
    /* A robot that waits or has met at this step comes again only by a later step. */
    const bool there = m->phase == TEAM_PHASE_MEETING || m->partner != TEAM_NONE;
    return comes_by(w, m->sequence, again ? first : m->step + there, name) ||
           (w->p->robots[robot].sequence == TEAM_NONE && comes_by_job(w, robot, name));
}

void team_coming(const struct team_work *w, uint16_t robot, struct team_set *robots)
{
    const uint16_t name = team_step_of(w, robot)->meeting;
    for (uint16_t i = 0; i < w->p->robot_count; i++) {
        const struct team_member *m = &w->members[i];
        const bool here = m->phase == TEAM_PHASE_MEETING && team_step_of(w, i)->meeting == name;
        if (!here && !m->silent && may_come(w, i, name)) {
            team_set_add(robots, i);
        }
    }
}

bool team_awaits_silent(const struct team_work *w, uint16_t robot)
{
    const uint16_t name = team_step_of(w, robot)->meeting;
    TEAM_EACH(i, &w->team->broken)
    {
        if (w->members[i].silent && may_come(w, i, name)) {
            return true;
        }
    }
    return false;
}
