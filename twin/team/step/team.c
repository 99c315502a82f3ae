#include "twin/team/step/team.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "twin/team/step/team_parts.h"

NAMES(team_event_names, TEAM_EVENT_COUNT, TEAM_EVENTS(NAMES_TEXT));
NAMES(team_effect_names, TEAM_EFFECT_COUNT, TEAM_EFFECTS(NAMES_TEXT));
ENUM_NAMES(team_alarm, TEAM_ALARM_COUNT, TEAM_ALARMS(NAMES_TEXT));
ENUM_NAMES(team_phase, TEAM_PHASE_COUNT, TEAM_PHASES(NAMES_TEXT));

const char *team_event_name(enum team_event_kind kind)
{
    return names_text(&team_event_names, kind);
}

const char *team_effect_name(enum team_effect_kind kind)
{
    return names_text(&team_effect_names, kind);
}

/* ---- the block ----------------------------------------------------------------------------
 */

/* Reserves the next array of the block; *bytes is the first free byte behind it. */
static size_t place_array(size_t *bytes, size_t count, size_t size)
{
    const size_t at = (*bytes + 7) / 8 * 8;
    *bytes = at + count * size;
    return at;
}

static uint32_t count_units(const struct team_params *p)
{
    uint32_t units = 0;
    for (size_t i = 0; i < p->resource_count; i++) {
        units += p->resources[i].capacity;
    }
    return units;
}

static bool needs_jobs(const struct team_params *p)
{
    for (size_t i = 0; i < p->robot_count; i++) {
        if (p->robots[i].sequence == TEAM_NONE) {
            return true;
        }
    }
    return p->job_count > 0;
}

/* Sets all that depends on the parameters alone; returns the block's size. */
static size_t lay_out(struct team *team, const struct team_params *p)
{
    const uint32_t units = count_units(p);
    const size_t timers = p->resource_count + units + p->robot_count;
    size_t bytes = sizeof *team;
    team->p = p;
    team->hold_count = units;
    team->job_size = needs_jobs(p) ? TEAM_JOBS_MAX : 0;
    team->bag_size = (uint32_t)(2 * (p->robot_count + p->resource_count) + 8);
    team->members_at = place_array(&bytes, p->robot_count, sizeof(struct team_member));
    team->claims_at =
        place_array(&bytes, p->robot_count * TEAM_WANT_MAX, sizeof(struct team_claim));
    team->places_at = place_array(&bytes, p->resource_count, sizeof(struct team_place));
    team->holds_at = place_array(&bytes, units, sizeof(struct team_hold));
    team->meetings_at = place_array(&bytes, p->name_count, sizeof(struct team_meeting));
    team->homes_at = place_array(&bytes, p->robot_count, sizeof(uint16_t));
    team->buffers_at = place_array(&bytes, p->buffer_count, sizeof(uint32_t));
    team->gone_at = place_array(&bytes, p->list_count, 1);
    team->revoked_words = (uint32_t)((p->resource_count + 63) / 64);
    team->revoked_at =
        place_array(&bytes, p->robot_count * team->revoked_words, sizeof(uint64_t));
    team->heap_at = place_array(&bytes, timers, sizeof(struct team_timer));
    team->slots_at = place_array(&bytes, timers, sizeof(uint32_t));
    team->jobs_at = place_array(&bytes, team->job_size, sizeof(struct team_job));
    team->bag_at = place_array(&bytes, team->bag_size, sizeof(struct team_event));
    return bytes;
}

size_t team_bytes(const struct team_params *p)
{
    struct team team;
    return lay_out(&team, p);
}

static struct team_event *bag_of(const struct team *team)
{
    return (struct team_event *)(void *)((char *)(uintptr_t)team + team->bag_at);
}

struct team_work team_at_work(const struct team *team)
{
    char *block = (char *)(uintptr_t)team;
    return (struct team_work){.team = (struct team *)(void *)block,
                              .p = team->p,
                              .members = (void *)(block + team->members_at),
                              .claims = (void *)(block + team->claims_at),
                              .places = (void *)(block + team->places_at),
                              .holds = (void *)(block + team->holds_at),
                              .meetings = (void *)(block + team->meetings_at),
                              .jobs = (void *)(block + team->jobs_at),
                              .homes = (void *)(block + team->homes_at),
                              .revoked = (void *)(block + team->revoked_at),
                              .heap = (void *)(block + team->heap_at),
                              .slots = (void *)(block + team->slots_at),
                              .t_us = team->t_us};
}

static void init_members(const struct team_work *w)
{
    for (size_t i = 0; i < w->p->robot_count; i++) {
        const uint16_t sequence = w->p->robots[i].sequence;
        const bool idles = sequence != TEAM_NONE;
        const struct team_sequence none = {.first = 0};
        const struct team_sequence *s = idles ? &w->p->sequences[sequence] : &none;
        w->members[i] =
            (struct team_member){.phase = idles ? TEAM_PHASE_IDLE : TEAM_PHASE_PARKED,
                                 .online = true,
                                 .part = TEAM_NONE,
                                 .tool = TEAM_NONE,
                                 .sequence = sequence,
                                 .step = s->first,
                                 .end = s->first + s->count,
                                 .cycles = idles ? w->p->robots[i].cycles : 0,
                                 .partner = TEAM_NONE,
                                 .first_hold = TEAM_NO_HOLD,
                                 .since_us = LAB_TIME_NONE,
                                 .last_message_us = LAB_TIME_NONE};
        w->team->phase_count[w->members[i].phase]++;
        team_update_idle(w, (uint16_t)i);
    }
}

static void init_places(const struct team_work *w)
{
    uint32_t hold = 0;
    for (size_t i = 0; i < w->p->resource_count; i++) {
        w->places[i] = (struct team_place){.first_claim = TEAM_NO_CLAIM,
                                           .last_claim = TEAM_NO_CLAIM,
                                           .first_hold = hold,
                                           .free_at_us = LAB_TIME_NONE};
        hold += w->p->resources[i].capacity;
    }
    for (uint32_t h = 0; h < hold; h++) {
        w->holds[h] = (struct team_hold){.robot = TEAM_NONE, .next = TEAM_NO_HOLD};
    }
}

struct team *team_init(void *memory, const struct team_params *p)
{
    struct team *team = memory;
    assert(p->robot_count <= TEAM_ROBOTS_MAX && p->resource_count <= TEAM_RESOURCES_MAX);
    assert(p->job_count <= TEAM_JOBS_MAX);
    memset(team, 0, sizeof *team);
    (void)lay_out(team, p);
    memset((char *)memory + team->members_at, 0, team->jobs_at - team->members_at);
    team->t_us = LAB_TIME_NONE;
    team->first_meeting = team->last_meeting = TEAM_NONE;
    const struct team_work w = team_at_work(team);
    init_members(&w);
    init_places(&w);
    for (size_t k = 0; k < p->job_count; k++) {
        w.jobs[team->job_count++] = p->jobs[k];
        if (p->jobs[k].home != TEAM_NONE) {
            w.homes[p->jobs[k].home]++;
        }
    }
    team->jobs_due = true;
    return team;
}

void team_rebind(struct team *team, const struct team_params *p)
{
    team->p = p;
}

/* ---- an instant ---------------------------------------------------------------------------
 */

bool team_add_event(struct team *team, int64_t t_us, const struct team_event *event)
{
    assert(t_us >= team->t_us && (!team->bag_open || t_us == team->bag_us));
    assert(event->kind < TEAM_EVENT_COUNT);
    if (team->bag_count == team->bag_size) {
        return false;
    }
    bag_of(team)[team->bag_count++] = *event;
    team->bag_open = true;
    team->bag_us = t_us;
    return true;
}

int64_t team_next_deadline(const struct team *team)
{
    const struct team_work w = team_at_work(team);
    return team->bag_open          ? team->bag_us
           : team->timer_count > 0 ? w.heap[0].t_us
                                   : LAB_TIME_MAX;
}

/* An upper bound of rounds: each robot that waits for a resource may be served in turn. */
static size_t most_rounds(const struct team_params *p)
{
    const size_t needed = 4 * p->robot_count;
    return needed > TEAM_ROUNDS_MAX ? needed : TEAM_ROUNDS_MAX;
}

/* Stops robots that never wait, in zero time. */
static void stop_livelock(const struct team_work *w, struct team_set *robots)
{
    const struct team_effect e = team_alarm_of(w, TEAM_ALARM_LIVELOCK, TEAM_NONE);
    team_emit(w, &e);
    TEAM_EACH(robot, robots)
    {
        team_fail(w, robot, "its steps come to no end in no time");
    }
    team_set_clear(robots);
}

/* Runs robots in their order until each waits, then resources, meetings and jobs; repeats until
 * nothing changes. */
static void run_instant(const struct team_work *w)
{
    struct team *team = w->team;
    size_t rounds_left = most_rounds(w->p);
    team_hand_out_jobs(w);
    while (team_set_any(&team->todo) || team_set_any(&team->touched) ||
           team_set_any(&team->locking)) {
        if (rounds_left-- == 0) {
            stop_livelock(w, &team->todo);
            rounds_left = most_rounds(w->p);
        }
        TEAM_EACH(robot, &team->todo)
        {
            team_run_robot(w, robot);
        }
        team_set_clear(&team->todo);
        if (team_set_any(&team->turning)) {
            stop_livelock(w, &team->turning);
        }
        team_serve(w);
        team_hand_out_jobs(w);
    }
    team_find_deadlocks(w);
}

static void close_bag(const struct team_work *w)
{
    struct team_event *bag = bag_of(w->team);
    if (w->team->bag_count > 1) {
        qsort(bag, w->team->bag_count, sizeof *bag, team_compare_events);
    }
    for (uint32_t k = 0; k < w->team->bag_count; k++) {
        team_apply_event(w, &bag[k]);
    }
    w->team->bag_count = 0;
    w->team->bag_open = false;
}

void team_fire(struct team *team, const struct team_effects *fx)
{
    const int64_t t_us = team_next_deadline(team);
    if (t_us == LAB_TIME_MAX) {
        return;
    }
    struct team_work w = team_at_work(team);
    w.fx = fx;
    w.t_us = team->t_us = t_us;
    if (team->bag_open) {
        close_bag(&w);
    } else {
        while (team->timer_count > 0 && w.heap[0].t_us == t_us) {
            const struct team_timer timer = team_pop_timer(&w);
            team_fire_timer(&w, &timer);
        }
    }
    run_instant(&w);
}

/* ---- reading ------------------------------------------------------------------------------
 */

void team_robot(const struct team *team, uint16_t robot, struct team_robot_view *view)
{
    const struct team_work w = team_at_work(team);
    const struct team_member *m = &w.members[robot];
    const bool works = m->phase != TEAM_PHASE_IDLE && m->phase != TEAM_PHASE_PARKED &&
                       m->phase != TEAM_PHASE_FINISHED;
    uint16_t lacks[TEAM_WANT_MAX] = {TEAM_NONE};
    if (m->phase == TEAM_PHASE_WAITING && !team_set_has(&team->unlocking, robot)) {
        (void)team_lacks(&w, robot, lacks);
    }
    *view = (struct team_robot_view){.phase = (enum team_phase)m->phase,
                                     .task = m->task,
                                     .activity = m->activity,
                                     .online = m->online,
                                     .silent = m->silent,
                                     .step = works ? team_step_if_any(&w, robot) : NULL,
                                     .n = m->n,
                                     .since_us = m->since_us,
                                     .last_message_us = m->last_message_us,
                                     .part = m->part,
                                     .tool = m->tool,
                                     .waits_for = lacks[0],
                                     .held_count = m->held_count};
}

void team_resource(const struct team *team, uint16_t resource, struct team_resource_view *view)
{
    const struct team_work w = team_at_work(team);
    const struct team_place *x = &w.places[resource];
    view->held_count = 0;
    view->queue_length = x->queue_length;
    view->free_at_us = x->free_at_us;
    for (uint32_t k = 0; k < w.p->resources[resource].capacity; k++) {
        const struct team_hold *h = &w.holds[x->first_hold + k];
        view->unit[k] = h->unit;
        if (h->robot != TEAM_NONE) {
            view->held[view->held_count].robot = h->robot;
            view->held[view->held_count].fence = h->fence;
            view->held[view->held_count].since_us = h->since_us;
            view->held_count++;
        }
    }
}

size_t team_queue(const struct team *team, uint16_t resource, uint16_t *robots, size_t size)
{
    const struct team_work w = team_at_work(team);
    size_t count = 0;
    uint16_t c = w.places[resource].first_claim;
    while (c != TEAM_NO_CLAIM) {
        const uint16_t robot = c / TEAM_WANT_MAX;
        if (count < size) {
            robots[count] = robot;
        }
        count++;
        c = w.claims[c].behind;
    }
    return count;
}

size_t team_held(const struct team *team, uint16_t robot, uint16_t *resources, size_t size)
{
    const struct team_work w = team_at_work(team);
    size_t count = 0;
    for (uint32_t h = w.members[robot].first_hold; h != TEAM_NO_HOLD; h = w.holds[h].next) {
        if (count < size) {
            resources[count] = w.holds[h].resource;
        }
        count++;
    }
    return count;
}

size_t team_jobs_waiting(const struct team *team)
{
    return team->job_count;
}

size_t team_jobs_max(const struct team *team)
{
    return team->job_size;
}

const struct team_job *team_job_waiting(const struct team *team, size_t i)
{
    const struct team_work w = team_at_work(team);
    return &w.jobs[i];
}

uint64_t team_fence(const struct team *team)
{
    return team->fence;
}

void team_skip_fences(struct team *team, uint64_t count)
{
    team->fence += count;
}

uint32_t team_phases(const struct team *team)
{
    uint32_t phases = 0;
    for (unsigned k = 0; k < TEAM_PHASE_COUNT; k++) {
        phases |= (uint32_t)(team->phase_count[k] > 0) << k;
    }
    return phases;
}

bool team_finished(const struct team *team)
{
    const uint32_t rest = 1U << TEAM_PHASE_FINISHED | 1U << TEAM_PHASE_PARKED;
    return (team_phases(team) & ~rest) == 0 && team->job_count == 0;
}
