/* twin/team/step/team_steps.c - executes the zero-time steps of a robot's sequence, up to one
 * that takes time.
 */
#include <assert.h>

#include "twin/team/step/team_parts.h"

void team_signal(const struct team_work *w, uint16_t robot, enum team_robot_signal signal)
{
    struct team *team = w->team;
    struct team_member *m = &w->members[robot];
    const enum team_phase old = (enum team_phase)m->phase;
    const enum team_phase phase = (enum team_phase)team_turn(team_robot_next[old][signal]);
    team->phase_count[old]--;
    team->phase_count[phase]++;
    m->phase = (uint8_t)phase;
    m->since_us = w->t_us;
    if (old == TEAM_PHASE_WAITING || phase == TEAM_PHASE_WAITING) {
        team_set_assign(&team->waiting, robot, phase == TEAM_PHASE_WAITING);
    }
    if (old == TEAM_PHASE_MEETING || phase == TEAM_PHASE_MEETING) {
        team_set_assign(&team->meeting, robot, phase == TEAM_PHASE_MEETING);
    }
    if (old == TEAM_PHASE_PARKED || phase == TEAM_PHASE_PARKED) {
        team_update_idle(w, robot);
    }
    const bool ends =
        phase == TEAM_PHASE_ERROR || (phase == TEAM_PHASE_FINISHED && m->held_count > 0);
    if (ends || old == TEAM_PHASE_ERROR || old == TEAM_PHASE_FINISHED) {
        team_set_broken(w, robot, ends || m->silent);
    }
    if (phase == TEAM_PHASE_BEGIN) {
        team_set_add(&team->todo, robot);
    }
}

void team_next_step(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    m->step++;
    m->again = false;
    if (m->task != TASK_PASSIVE) {
        TEAM_TURN(team_task_next, m->task, TASK_ON_DONE);
        TEAM_TURN(team_task_next, m->task, TASK_ON_NOTHING);
    }
    if (m->phase != TEAM_PHASE_BEGIN) {
        team_signal(w, robot, ROBOT_GOES_ON);
    }
}

void team_begin_sequence(const struct team_work *w, uint16_t robot, uint16_t sequence,
                         uint32_t cycles)
{
    struct team_member *m = &w->members[robot];
    m->sequence = sequence;
    m->step = w->p->sequences[sequence].first;
    m->end = m->step + w->p->sequences[sequence].count;
    m->cycles = cycles;
    m->loop_depth = 0;
    m->again = false;
    team_clear_all_revoked(w, robot);
    team_signal(w, robot, ROBOT_BEGINS);
}

static void finish_sequence(const struct team_work *w, uint16_t robot)
{
    const bool job = w->p->robots[robot].sequence == TEAM_NONE;
    struct team_member *m = &w->members[robot];
    uint16_t held[TEAM_RESOURCES_MAX];
    team_clear_all_revoked(w, robot);
    team_signal(w, robot, job ? ROBOT_PARKS : ROBOT_FINISHES);
    team_emit_plain(w, TEAM_FINISH, robot);
    w->team->check |= team_set_any(&w->team->meeting);
    if (m->held_count > 0) {
        struct team_effect e = team_alarm_of(w, TEAM_ALARM_FINISHED_HOLDING, robot);
        e.resources = held;
        e.resource_count = team_held(w->team, robot, held, TEAM_RESOURCES_MAX);
        w->team->check = true;
        team_emit(w, &e);
    }
    m->cycles = 0;
    if (job) {
        m->sequence = TEAM_NONE;
        m->step = m->end = 0;
    }
}

/* The end of the sequence is reached: the robot repeats it or is finished. */
static void end_cycle(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    m->cycles--;
    m->step = w->p->sequences[m->sequence].first;
    m->loop_depth = 0;
    if (m->cycles == 0) {
        finish_sequence(w, robot);
    }
}

bool team_can_handle(const struct team_work *w, uint16_t robot, uint16_t part)
{
    const uint16_t tool = w->members[robot].tool;
    return (tool != TEAM_NONE && tool == part) || team_handles(w->p, robot, part);
}

/* ---- the kinds of steps -------------------------------------------------------------------
 */

/* Takes the first part of the buffer that the robot can handle; TEAM_NONE: none. */
static uint16_t pick_part(const struct team_work *w, uint16_t robot, uint16_t name)
{
    const size_t at = team_find_buffer(w->p, name);
    const struct team_buffer *b = &w->p->buffers[at];
    uint8_t *consumed = (uint8_t *)w->team + w->team->gone_at;
    uint32_t *gone = (uint32_t *)(void *)((char *)w->team + w->team->buffers_at);
    if (at == w->p->buffer_count) {
        return TEAM_NONE;
    }
    for (uint32_t k = gone[at]; k < b->part_count; k++) {
        const uint16_t part = w->p->lists[b->first_part + k];
        if (!consumed[b->first_part + k] && team_can_handle(w, robot, part)) {
            consumed[b->first_part + k] = 1;
            while (gone[at] < b->part_count && consumed[b->first_part + gone[at]]) {
                gone[at]++;
            }
            return part;
        }
    }
    return TEAM_NONE;
}

static void run_take_step(const struct team_work *w, uint16_t robot)
{
    const struct team_step *step = team_step_of(w, robot);
    const uint16_t part = pick_part(w, robot, step->arg);
    if (part != TEAM_NONE) {
        w->members[robot].part = part;
        team_emit_done(w, robot, NULL, 0);
        team_next_step(w, robot);
        return;
    }
    TEAM_TURN(team_task_next, w->members[robot].task, TASK_ON_NONE);
    struct team_effect e = team_effect_of(w, TEAM_NOTHING, robot);
    e.step = step;
    team_emit(w, &e);
    if (step->retry_us > 0) {
        team_signal(w, robot, ROBOT_FINDS_NONE);
        team_set_timer(w, team_slot_of_robot(w, robot), TEAM_DUE_RETRY,
                       w->t_us + step->retry_us);
    } else {
        finish_sequence(w, robot);
    }
}

static void do_done(const struct team_work *w, uint16_t robot)
{
    team_emit_done(w, robot, NULL, 0);
    team_next_step(w, robot);
}

static void do_lock(const struct team_work *w, uint16_t robot)
{
    const struct team_step *step = team_step_of(w, robot);
    team_ask(w, robot, &w->p->lists[step->first_resource], step->resource_count, false);
}

static void do_unlock(const struct team_work *w, uint16_t robot)
{
    team_signal(w, robot, ROBOT_ASKS); /* the Lock waits for the UnLocks of this round */
    team_set_add(&w->team->unlocking, robot);
}

/* Running loops are on a stack, the innermost on top. A jump out of a loop ends it. */
static void jump_to(const struct team_work *w, struct team_member *m, uint32_t to)
{
    while (m->loop_depth > 0) {
        const struct team_loop *top = &m->loops[m->loop_depth - 1];
        if (w->p->steps[top->step].to <= to && to <= top->step) {
            break;
        }
        m->loop_depth--;
    }
    m->step = to;
}

static void do_goto(const struct team_work *w, uint16_t robot)
{
    jump_to(w, &w->members[robot], team_step_of(w, robot)->to);
}

static void do_unless(const struct team_work *w, uint16_t robot)
{
    const struct team_step *step = team_step_of(w, robot);
    struct team_member *m = &w->members[robot];
    jump_to(w, m, m->part == step->arg ? m->step + 1 : step->to);
}

static void do_loop(const struct team_work *w, uint16_t robot)
{
    const struct team_step *step = team_step_of(w, robot);
    struct team_member *m = &w->members[robot];
    if (m->loop_depth == 0 || m->loops[m->loop_depth - 1].step != m->step) {
        assert(m->loop_depth < TEAM_LOOPS_MAX);
        m->loops[m->loop_depth++] = (struct team_loop){m->step, 0};
    }
    struct team_loop *loop = &m->loops[m->loop_depth - 1];
    loop->rounds++;
    if (loop->rounds < step->times) {
        m->step = step->to;
    } else {
        m->loop_depth--;
        m->step++;
    }
}

/* Jumps are not tasks. */
static void begin_task(struct team_member *m, enum team_step_kind kind)
{
    if (kind != TEAM_STEP_GOTO && kind != TEAM_STEP_UNLESS && kind != TEAM_STEP_LOOP) {
        TEAM_TURN(team_task_next, m->task, TASK_ON_BEG);
        TEAM_TURN(team_task_next, m->task, TASK_ON_NOTHING);
    }
}

typedef void team_do(const struct team_work *w, uint16_t robot);
static team_do *const step_does[] = {
    [TEAM_STEP_TAKE] = run_take_step,
    [TEAM_STEP_TASK] = team_start_activity,
    [TEAM_STEP_TOOL] = team_start_activity,
    [TEAM_STEP_LOCK] = do_lock,
    [TEAM_STEP_UNLOCK] = do_unlock,
    [TEAM_STEP_MEET] = team_arrive,
    [TEAM_STEP_TOGETHER] = team_arrive,
    [TEAM_STEP_GOTO] = do_goto,
    [TEAM_STEP_UNLESS] = do_unless,
    [TEAM_STEP_LOOP] = do_loop,
    [TEAM_STEP_DONE] = do_done,
};
_Static_assert(COUNT(step_does) == TEAM_STEP_KIND_COUNT, "every kind of step does something");

void team_run_robot(const struct team_work *w, uint16_t robot)
{
    struct team_member *m = &w->members[robot];
    size_t left = TEAM_ROUNDS_MAX + w->p->step_count; /* no path without a loop is longer */
    while (m->phase == TEAM_PHASE_BEGIN && left > 0) {
        const struct team_step *step = team_step_if_any(w, robot);
        if (step && m->revoked_count > 0 && !team_has_all(w, robot, step)) {
            break;
        }
        if (step) {
            begin_task(m, step->kind);
            step_does[step->kind](w, robot);
        } else {
            end_cycle(w, robot);
        }
        left--;
    }
    if (m->phase == TEAM_PHASE_BEGIN) {
        team_set_add(&w->team->turning, robot);
    }
}
