#include "twin/team/live/team_live.h"

#include <assert.h>
#include <math.h>

#include "twin/team/live/team_live_parts.h"

/* ---- set-up -------------------------------------------------------------------------------
 */

size_t team_live_state_bytes(const struct team_params *p)
{
    return team_live_core_at(p) + team_live_align(team_bytes(p));
}

void team_live_init(struct team_live *live, const struct team_params *p, uint32_t index,
                    uint32_t named)
{
    /* Padding is cleared, too, so that equal states have equal bytes. */
    memset(live, 0, team_live_state_bytes(p));
    live->index = index;
    live->named = named;
    live->version = 1;
    live->deadline_us = LAB_TIME_MAX;
    live->start_us = LAB_TIME_MAX;
    for (size_t i = 0; i < p->resource_count; i++) {
        live->leases = live->leases || p->resources[i].lease_us > 0;
    }
    for (size_t i = 0; i < p->robot_count; i++) {
        struct team_live_robot *r = &team_live_robots(live)[i];
        r->pair = TEAM_LIVE_NO_PAIR;
        r->start_us = LAB_TIME_MAX;
    }
    (void)team_init(team_live_core(live, p), p);
}

void team_live_set_pair(struct team_live *live, const struct team_params *p, uint16_t robot,
                        uint32_t pair, bool virtual_only)
{
    assert(robot < p->robot_count);
    team_live_robots(live)[robot].pair = pair;
    team_live_robots(live)[robot].virtual_only = virtual_only;
}

void team_live_rebind(struct team_live *live, const struct team_params *p)
{
    team_rebind(team_live_core(live, p), p);
}

/* ---- effects of the team
 * ------------------------------------------------------------------ */

static void emit_team(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_counts *counts = &run->live->counts;
    counts->effect[effect->kind]++;
    const struct effect out = {.kind = EFFECT_TEAM,
                               .pair = run->live->named,
                               .t_us = effect->t_us,
                               .side = SIDE_COUNT,
                               .team = {effect, ++counts->effects}};
    run->fx->emit(run->fx->context, &out);
}

static void handle_effect(void *context, const struct team_effect *effect)
{
    const struct team_live_run *run = context;
    struct team_live_robot *robots = team_live_robots(run->live);
    emit_team(run, effect);
    if (effect->kind == TEAM_START) {
        team_live_begin_activity(run, effect);
    } else if (effect->kind == TEAM_HALT) {
        team_live_halt_robot(run, effect);
    } else if (effect->kind == TEAM_ERROR) {
        team_live_end_activity(run, effect);
    } else if (effect->kind == TEAM_ASSIGN) {
        memcpy(robots[effect->robot].job, effect->job->id, sizeof effect->job->id);
    } else if (effect->kind == TEAM_FINISH) {
        robots[effect->robot].job[0] = '\0';
    } else if (effect->kind == TEAM_ALARM) {
        team_live_record_alarm(run, effect);
    }
    team_live_learn_effect(run, effect);
    team_live_update_forecast(run, effect);
    team_live_update_course(run, effect);
    team_live_update_job(run, effect);
    team_live_update_answer(run, effect);
}

static void fire_team(const struct team_live_run *run)
{
    /* The copy is needed because emit's context is not const. The run does not change. */
    struct team_live_run again = *run;
    const struct team_effects fx = {handle_effect, &again};
    team_fire(team_live_core(run->live, run->p), &fx);
}

/* ---- events
 * ------------------------------------------------------------------------------- */

void team_live_add_event(const struct team_live_run *run, const struct team_event *event)
{
    struct team *team = team_live_core(run->live, run->p);
    if (!team_add_event(team, run->t_us, event)) {
        /* The bag is full although it has room for all robots: this instant gets a second
         * part. */
        fire_team(run);
        const bool added = team_add_event(team, run->t_us, event);
        assert(added);
        (void)added;
    }
}

void team_live_signal(const struct team_live_run *run, enum team_event_kind kind,
                      uint16_t robot, uint32_t n)
{
    team_live_add_event(run, &(struct team_event){.kind = kind, .robot = robot, .n = n});
}

void team_live_mark_due(const struct team_live_run *run, uint16_t robot)
{
    run->live->due[robot / 64] |= UINT64_C(1) << (robot % 64);
}

/* Finds a number of a reply by its name, at any depth. */
static bool find_value(const struct event_reply *reply, const char *name, double *value)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < reply->value_count; i++) {
        const struct event_value *v = &reply->values[i];
        const size_t length = strlen(v->name);
        if (v->kind == VALUE_NUMBER && length >= n && strcmp(v->name + length - n, name) == 0 &&
            (length == n || v->name[length - n - 1] == '.')) {
            *value = v->number;
            return isfinite(v->number);
        }
    }
    return false;
}

static void update_pose(struct team_live_robot *r, const struct event_reply *reply)
{
    double pose[3];
    if (find_value(reply, "x_m", &pose[0]) && find_value(reply, "y_m", &pose[1]) &&
        (find_value(reply, "psi_rad", &pose[2]) ||
         find_value(reply, "heading_rad", &pose[2]))) {
        memcpy(r->pose, pose, sizeof pose);
        r->posed = true;
    }
}

/* A halt that a robot missed is sent when the robot is back. */
static void resend_halt(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    if (r->halt_owed && r->halt[0] == '\0') {
        r->halt_due = true;
        team_live_mark_due(run, robot);
    }
}

/* Does a sign of life change anything? Most come many times a second and do not. */
static bool changes_state(const struct team_live_run *run, uint16_t robot)
{
    struct team_robot_view view;
    team_robot(team_live_core(run->live, run->p), robot, &view);
    return !view.online || view.silent || (run->live->leases && view.held_count > 0);
}

void team_live_receive(const struct team_live_run *run, uint16_t robot,
                       const struct event *event)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    const enum side side = r->virtual_only ? SIDE_VIRTUAL : SIDE_REAL;
    if (event->side != side || event->kind == EVENT_MALFORMED || event->kind == EVENT_FIT) {
        return;
    }
    const bool leaves = event->kind == EVENT_CONNECTION && !event->connection.online;
    if (event->kind == EVENT_REPLY) {
        update_pose(r, &event->reply);
    } else if (event->kind == EVENT_CONNECTION) {
        r->posed = false; /* it may have been moved, or may count from another origin */
    }
    if (leaves || r->gone || changes_state(run, robot)) {
        run->live->version++;
        team_live_signal(run, leaves ? TEAM_EVENT_OFFLINE : TEAM_EVENT_ALIVE, robot, 0);
    }
    r->gone = leaves;
    if (!leaves) {
        resend_halt(run, robot);
    }
}

/* ---- deadlines ----------------------------------------------------------------------------
 */

static void start_robots(const struct team_live_run *run)
{
    struct team_live *live = run->live;
    int64_t next_us = LAB_TIME_MAX;
    for (uint16_t i = 0; i < run->p->robot_count; i++) {
        struct team_live_robot *r = &team_live_robots(live)[i];
        if (r->start_us <= run->t_us) {
            r->start_us = LAB_TIME_MAX;
            team_live_signal(run, TEAM_EVENT_START, i, 0);
        }
        next_us = r->start_us < next_us ? r->start_us : next_us;
    }
    live->start_us = next_us;
}

void team_live_fire(const struct team_live_run *run)
{
    struct team_live *live = run->live;
    live->version++;
    if (live->start_us <= run->t_us) {
        start_robots(run);
    }
    if (team_next_deadline(team_live_core(live, run->p)) <= run->t_us) {
        fire_team(run);
    }
}

void team_live_flush(const struct team_live_run *run)
{
    struct team_live *live = run->live;
    for (size_t word = 0; word < TEAM_LIVE_WORDS; word++) {
        while (live->due[word] != 0) {
            const unsigned bit = (unsigned)__builtin_ctzll(live->due[word]);
            live->due[word] &= live->due[word] - 1;
            team_live_send(run, (uint16_t)(64 * word + bit));
        }
    }
    team_live_end_course(run);
    team_live_request_forecast(run);
    const int64_t team_us = team_next_deadline(team_live_core(live, run->p));
    live->deadline_us = team_us < live->start_us ? team_us : live->start_us;
}

void team_live_skip_numbers(struct team_live *live, const struct team_params *p, uint64_t count)
{
    live->counts.numbers_skipped += count;
    team_skip_fences(team_live_core(live, p), count);
}

void team_live_mark_start(struct team_live *live, int64_t t_us)
{
    if (live->life_us == 0 && live->counts.commands == 0) {
        live->life_us = t_us;
    }
}

/* ---- reading ------------------------------------------------------------------------------
 */

const struct team *team_live_team(const struct team_live *live, const struct team_params *p)
{
    return (const void *)((const char *)live + team_live_core_at(p));
}

const struct team_live_robot *team_live_robot(const struct team_live *live,
                                              const struct team_params *p, uint16_t robot)
{
    assert(robot < p->robot_count);
    return (const struct team_live_robot *)(const void *)((const char *)live +
                                                          team_live_robots_at()) +
           robot;
}

ENUM_NAMES(team_live_grant, TEAM_LIVE_GRANT_COUNT, TEAM_LIVE_GRANTS(NAMES_TEXT));
