#include "twin/team/live/crew.h"

#include <assert.h>
#include <math.h>

#include "twin/team/live/crew_parts.h"

/* ---- set-up -------------------------------------------------------------------------------
 */

size_t crew_bytes(const struct team_params *p)
{
    return crew_core_at(p) + crew_align(team_bytes(p));
}

void crew_init(struct crew *crew, const struct team_params *p, uint32_t index, uint32_t named)
{
    /* All of it, padding too: equal states are equal bytes. */
    memset(crew, 0, crew_bytes(p));
    crew->index = index;
    crew->named = named;
    crew->version = 1;
    crew->deadline_us = LAB_TIME_MAX;
    crew->start_us = LAB_TIME_MAX;
    for (size_t i = 0; i < p->resource_count; i++) {
        crew->leases = crew->leases || p->resources[i].lease_us > 0;
    }
    for (size_t i = 0; i < p->robot_count; i++) {
        struct crew_robot *r = &crew_robots(crew)[i];
        r->pair = CREW_NO_PAIR;
        r->start_us = LAB_TIME_MAX;
    }
    (void)team_init(crew_core(crew, p), p);
}

void crew_set_pair(struct crew *crew, const struct team_params *p, uint16_t robot,
                   uint32_t pair, bool virtual_only)
{
    assert(robot < p->robot_count);
    crew_robots(crew)[robot].pair = pair;
    crew_robots(crew)[robot].virtual_only = virtual_only;
}

void crew_rebind(struct crew *crew, const struct team_params *p)
{
    team_rebind(crew_core(crew, p), p);
}

/* ---- what the team did --------------------------------------------------------------------
 */

static void emit_team(const struct crew_run *run, const struct team_effect *effect)
{
    struct crew_counts *counts = &run->crew->counts;
    counts->effect[effect->kind]++;
    const struct effect out = {.kind = EFFECT_TEAM,
                               .pair = run->crew->named,
                               .t_us = effect->t_us,
                               .side = SIDE_COUNT,
                               .team = {effect, ++counts->effects}};
    run->fx->emit(run->fx->context, &out);
}

static void take_effect(void *context, const struct team_effect *effect)
{
    const struct crew_run *run = context;
    struct crew_robot *robots = crew_robots(run->crew);
    emit_team(run, effect);
    if (effect->kind == TEAM_START) {
        crew_begin(run, effect);
    } else if (effect->kind == TEAM_HALT) {
        crew_halt(run, effect);
    } else if (effect->kind == TEAM_ERROR) {
        crew_end(run, effect);
    } else if (effect->kind == TEAM_ASSIGN) {
        memcpy(robots[effect->robot].job, effect->job->id, sizeof effect->job->id);
    } else if (effect->kind == TEAM_FINISH) {
        robots[effect->robot].job[0] = '\0';
    } else if (effect->kind == TEAM_ALARM) {
        crew_alarm(run, effect);
    }
    crew_learn_effect(run, effect);
    crew_forecast_effect(run, effect);
    crew_course_effect(run, effect);
    crew_job_effect(run, effect);
    crew_answer_effect(run, effect);
}

static void fire_team(const struct crew_run *run)
{
    /* The run is not changed: emit's context has no const. */
    struct crew_run again = *run;
    const struct team_effects fx = {take_effect, &again};
    team_fire(crew_core(run->crew, run->p), &fx);
}

/* ---- what happens -------------------------------------------------------------------------
 */

void crew_put(const struct crew_run *run, const struct team_event *event)
{
    struct team *team = crew_core(run->crew, run->p);
    if (!team_take(team, run->t_us, event)) {
        /* More than can happen at once to all of them: the instant has two parts. */
        fire_team(run);
        const bool taken = team_take(team, run->t_us, event);
        assert(taken);
        (void)taken;
    }
}

void crew_call(const struct crew_run *run, uint16_t robot)
{
    run->crew->due[robot / 64] |= UINT64_C(1) << (robot % 64);
}

/* A number of a reply by its name, however deep it lies. */
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

static void note_pose(struct crew_robot *r, const struct event_reply *reply)
{
    double pose[3];
    if (find_value(reply, "x_m", &pose[0]) && find_value(reply, "y_m", &pose[1]) &&
        (find_value(reply, "psi_rad", &pose[2]) ||
         find_value(reply, "heading_rad", &pose[2]))) {
        memcpy(r->pose, pose, sizeof pose);
        r->posed = true;
    }
}

/* A halt that a robot did not hear is sent when it is back. */
static void note_return(const struct crew_run *run, uint16_t robot)
{
    struct crew_robot *r = &crew_robots(run->crew)[robot];
    if (r->halt_owed && r->halt[0] == '\0') {
        r->halt_due = true;
        crew_call(run, robot);
    }
}

/* Does a sign of life change anything? Most come many times a second. */
static bool is_news(const struct crew_run *run, uint16_t robot)
{
    struct team_robot_view view;
    team_robot(crew_core(run->crew, run->p), robot, &view);
    return !view.online || view.silent || (run->crew->leases && view.held_count > 0);
}

void crew_hear(const struct crew_run *run, uint16_t robot, const struct event *event)
{
    struct crew_robot *r = &crew_robots(run->crew)[robot];
    const enum side side = r->virtual_only ? SIDE_VIRTUAL : SIDE_REAL;
    if (event->side != side || event->kind == EVENT_MALFORMED || event->kind == EVENT_FIT) {
        return;
    }
    const bool leaves = event->kind == EVENT_CONNECTION && !event->connection.online;
    if (event->kind == EVENT_REPLY) {
        note_pose(r, &event->reply);
    } else if (event->kind == EVENT_CONNECTION) {
        r->posed = false; /* it may have been moved, or count from elsewhere */
    }
    if (leaves || r->gone || is_news(run, robot)) {
        run->crew->version++;
        crew_put(run,
                 &(struct team_event){.kind = leaves ? TEAM_EVENT_OFFLINE : TEAM_EVENT_ALIVE,
                                      .robot = robot});
    }
    r->gone = leaves;
    if (!leaves) {
        note_return(run, robot);
    }
}

/* ---- deadlines ----------------------------------------------------------------------------
 */

static void start_robots(const struct crew_run *run)
{
    struct crew *crew = run->crew;
    int64_t next_us = LAB_TIME_MAX;
    for (uint16_t i = 0; i < run->p->robot_count; i++) {
        struct crew_robot *r = &crew_robots(crew)[i];
        if (r->start_us <= run->t_us) {
            r->start_us = LAB_TIME_MAX;
            crew_put(run, &(struct team_event){.kind = TEAM_EVENT_START, .robot = i});
        }
        next_us = r->start_us < next_us ? r->start_us : next_us;
    }
    crew->start_us = next_us;
}

void crew_fire(const struct crew_run *run)
{
    struct crew *crew = run->crew;
    crew->version++;
    if (crew->start_us <= run->t_us) {
        start_robots(run);
    }
    if (team_next_deadline(crew_core(crew, run->p)) <= run->t_us) {
        fire_team(run);
    }
}

void crew_flush(const struct crew_run *run)
{
    struct crew *crew = run->crew;
    for (size_t word = 0; word < CREW_WORDS; word++) {
        while (crew->due[word] != 0) {
            const unsigned bit = (unsigned)__builtin_ctzll(crew->due[word]);
            crew->due[word] &= crew->due[word] - 1;
            crew_send(run, (uint16_t)(64 * word + bit));
        }
    }
    crew_course_end(run);
    crew_forecast_ask(run);
    const int64_t team_us = team_next_deadline(crew_core(crew, run->p));
    crew->deadline_us = team_us < crew->start_us ? team_us : crew->start_us;
}

/* ---- reading ------------------------------------------------------------------------------
 */

const struct team *crew_team(const struct crew *crew, const struct team_params *p)
{
    return (const void *)((const char *)crew + crew_core_at(p));
}

const struct crew_robot *crew_robot(const struct crew *crew, const struct team_params *p,
                                    uint16_t robot)
{
    assert(robot < p->robot_count);
    return (const struct crew_robot *)(const void *)((const char *)crew + crew_robots_at()) +
           robot;
}

ENUM_NAMES(crew_grant, CREW_GRANT_COUNT, CREW_GRANTS(NAMES_TEXT));
