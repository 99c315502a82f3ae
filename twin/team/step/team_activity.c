/* twin/team/step/team_activity.c - activities: when they may end, and the consequences of their
 * failure (paper 004, figure 10).
 */
#include <stdio.h>

#include "twin/team/step/team_parts.h"

static const struct team_window *window_of(const struct team_work *w, uint16_t robot)
{
    return &w->p->tasks[team_step_of(w, robot)->task].window;
}

static int64_t last_look_us(const struct team_member *m, const struct team_window *window)
{
    if (window->poll_us == 0) {
        return m->began_us + window->max_us;
    }
    const int64_t looks = (window->max_us - window->min_us) / window->poll_us + 1;
    return m->began_us + window->min_us + looks * window->poll_us;
}

void team_start_activity(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    const struct team_window *window = window_of(w, robot);
    team_signal(w, robot, ROBOT_ACTS);
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_CMD);
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_NOTHING);
    m->began_us = w->t_us;
    m->seen = false;
    m->n++;
    if (window->max_us < LAB_TIME_MAX) {
        team_set_timer(w, team_slot_of_robot(w, robot), TEAM_DUE_MAX, last_look_us(m, window));
    }
    struct team_effect e = team_effect_of(w, TEAM_START, robot);
    e.step = team_step_of(w, robot);
    e.n = m->n;
    team_emit(w, &e);
}

static void end_activity(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    const struct team_step *step = team_step_of(w, robot);
    team_cancel_timer(w, team_slot_of_robot(w, robot));
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_SEEN);
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_NOTHING);
    struct team_effect e = team_effect_of(w, TEAM_DONE, robot);
    e.step = step;
    e.n = m->n;
    e.timed = true;
    e.took_us = w->t_us - m->began_us;
    team_emit(w, &e);
    if (step->kind == TEAM_STEP_TOGETHER) {
        team_signal(w, robot, ROBOT_JOINS);
        team_end_together(w, robot);
        return;
    }
    if (step->kind == TEAM_STEP_TOOL) {
        m->tool = step->arg;
    }
    team_next_step(w, robot);
}

/* With polling, an answer is seen at the first look that is not before it. */
static void handle_polled(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    const struct team_window *window = window_of(w, robot);
    const int64_t late_us = w->t_us - m->began_us - window->min_us;
    const int64_t looks = late_us > 0 ? (late_us - 1) / window->poll_us + 1 : 0;
    const int64_t look_us = m->began_us + window->min_us + looks * window->poll_us;
    if (look_us > m->began_us + window->max_us) {
        return; /* too late to be seen: the deadline stays */
    }
    m->seen = true;
    if (look_us == w->t_us) {
        end_activity(w, robot);
    } else {
        team_set_timer(w, team_slot_of_robot(w, robot), TEAM_DUE_SEEN, look_us);
    }
}

void team_handle_done(const struct team_work *w, uint16_t robot)
{
    const struct team_member *m = &w->members[robot];
    const struct team_window *window = window_of(w, robot);
    if (window->poll_us > 0) {
        handle_polled(w, robot);
        return;
    }
    const int64_t took_us = w->t_us - m->began_us;
    if (took_us < window->min_us) {
        struct team_effect e = team_alarm_of(w, TEAM_ALARM_EARLY, robot);
        e.took_us = took_us;
        e.min_us = window->min_us;
        team_emit(w, &e);
    }
    end_activity(w, robot);
}

void team_enter_error(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    m->may_regain = m->regains = false;
    if (m->activity == ACTIVITY_RUN) {
        TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_HALT);
    }
    if (m->task == TASK_ACTIVE || m->task == TASK_NONE) {
        TEAM_TURN(team_task_next, m->task, TASK_ON_ERROR);
    }
    team_signal(w, robot, ROBOT_FAILS);
    w->team->check = true;
}

void team_stop_robot(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    if (m->phase == TEAM_PHASE_WAITING) {
        m->again = m->regains ? m->again : !m->client;
        team_withdraw(w, robot, "its robot was stopped");
    } else if (m->phase == TEAM_PHASE_MEETING) {
        team_leave_meeting(w, robot);
    } else {
        team_cancel_timer(w, team_slot_of_robot(w, robot));
    }
    const bool together = m->partner != TEAM_NONE;
    uint16_t ring[TEAM_ROBOTS_MAX];
    const size_t count = together ? team_ring(w, robot, ring) : 0;
    team_enter_error(w, robot);
    for (size_t i = 0; i < count; i++) {
        w->members[ring[i]].partner = TEAM_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        if (ring[i] != robot) {
            team_emit_halt(w, ring[i], robot);
            team_stop_robot(w, ring[i]);
        }
    }
}

/* Frees what its failure frees, in the order of the file. */
static void free_failed(const struct team_work *w, uint16_t robot)
{
    uint32_t hold = w->members[robot].first_hold;
    while (hold != TEAM_NO_HOLD) {
        const uint32_t next = w->holds[hold].next;
        const struct team_resource_params *r = &w->p->resources[w->holds[hold].resource];
        if (r->on_error == TEAM_RELEASE) {
            team_revoke_hold(w, hold, "error", r->delay_us, "");
        }
        hold = next;
    }
}

void team_fail(const struct team_work *w, uint16_t robot, const char *why)
{
    uint16_t held[TEAM_RESOURCES_MAX];
    struct team_effect e = team_effect_of(w, TEAM_ERROR, robot);
    e.step = team_step_if_any(w, robot);
    e.n = w->members[robot].n;
    if (w->members[robot].phase == TEAM_PHASE_ACTIVE) {
        e.took_us = w->t_us - w->members[robot].began_us;
    }
    e.why = why;
    team_emit(w, &e);
    e = team_alarm_of(w, TEAM_ALARM_TASK_ERROR, robot);
    e.held = held;
    e.held_count = team_held(w->team, robot, held, TEAM_RESOURCES_MAX);
    team_emit(w, &e);
    team_stop_robot(w, robot);
    free_failed(w, robot);
}

void team_activity_is_due(const struct team_work *w, uint16_t robot, enum team_due due)
{
    if (due == TEAM_DUE_SEEN) {
        end_activity(w, robot);
        return;
    }
    struct team_member *m = &w->members[robot];
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_LATE);
    TEAM_TURN(team_activity_next, m->activity, ACTIVITY_ON_NOTHING);
    char why[64];
    const int64_t max_us = window_of(w, robot)->max_us;
    if (max_us % 1000 == 0) {
        (void)snprintf(why, sizeof why, "no answer within %lld ms", (long long)(max_us / 1000));
    } else {
        (void)snprintf(why, sizeof why, "no answer within %.3f ms", (double)max_us / 1000.0);
    }
    team_fail(w, robot, why);
}
