/* twin/team/check/model_checker_instant.c - one instant of the explored team: its possible
 * events and their effects.
 */
#include <assert.h>
#include <string.h>

#include "twin/team/check/model_checker_parts.h"

enum { BAG_SHIFT = 16, BAG_MASK = 0xffff };

static void use_step(struct model_checker *x, uint16_t robot, const struct team_step *step)
{
    if (step) {
        ((bool *)x->used.items)[step->sequence] = true;
        x->used_robots |= team_robot_bit(robot);
    }
}

static void use_job(struct model_checker *x, const struct team_job *job)
{
    const struct team_params *p = &x->untimed.p;
    for (size_t i = 0; i < p->job_count; i++) {
        const struct team_job *of = &p->jobs[i];
        if (of->part == job->part && of->sequence == job->sequence && of->home == job->home) {
            ((bool *)x->used.items)[p->sequence_count + i] = true;
        }
    }
}

/* A waiting robot that falls silent is overtaken until it sends again. */
static bool is_passed(const struct model_checker *x, const struct team_effect *effect)
{
    struct team_robot_view view = {.phase = TEAM_PHASE_IDLE};
    if (effect->alarm == TEAM_ALARM_LEASE_EXPIRED) {
        team_robot(x->team, effect->robot, &view);
    }
    return view.phase == TEAM_PHASE_WAITING;
}

static void apply_alarm(struct model_checker *x, const struct team_effect *effect)
{
    struct model_checker_place *place = x->outcome.place;
    if (effect->alarm == TEAM_ALARM_DEADLOCK) {
        x->outcome.deadlock = true;
        for (size_t i = 0; i < effect->cycle_count; i++) {
            place->dead |= team_robot_bit(effect->cycle[i].robot);
            place->excused &= ~team_robot_bit(effect->cycle[i].robot);
        }
    } else if (effect->alarm == TEAM_ALARM_BLOCKED ||
               effect->alarm == TEAM_ALARM_FINISHED_HOLDING || is_passed(x, effect)) {
        place->blocked |= team_robot_bit(effect->robot);
        place->excused &= ~team_robot_bit(effect->robot);
    } else if (effect->alarm == TEAM_ALARM_LIVELOCK) {
        x->outcome.spins = true;
    }
}

/* The robot gets what it waited for. An earlier alarm that this never happens was then
 * wrong. */
static void serve_robot(struct model_checker *x, uint16_t robot)
{
    struct model_checker_place *place = x->outcome.place;
    const uint64_t bit = team_robot_bit(robot);
    x->outcome.served |= bit;
    x->result->unsound += (bit & (place->dead | place->blocked) & ~place->excused) != 0;
    place->dead &= ~bit;
    place->blocked &= ~bit;
}

static void handle_effect(void *context, const struct team_effect *effect)
{
    struct model_checker *x = context;
    struct model_checker_outcome *outcome = &x->outcome;
    use_step(x, effect->robot, effect->step);
    if (effect->kind == TEAM_GRANT) {
        serve_robot(x, effect->robot);
        x->result->violations += effect->fence <= outcome->fence;
        outcome->fence = effect->fence;
        outcome->granted = true;
    } else if (effect->kind == TEAM_MEET) {
        for (size_t i = 0; i < effect->robot_count; i++) {
            serve_robot(x, effect->robots[i]);
        }
    } else if (effect->kind == TEAM_EXPIRE) {
        /* Its resource may be taken from a silent owner, which no alarm can foresee. */
        outcome->place->excused = outcome->place->dead | outcome->place->blocked;
    } else if (effect->kind == TEAM_ASSIGN) {
        use_job(x, effect->job);
    } else if (effect->kind == TEAM_ALARM) {
        apply_alarm(x, effect);
    }
    if (x->also) {
        x->also->emit(x->also->context, effect);
    }
}

/* ---- one instant ---- */

static void add_event(struct model_checker *x, enum team_event_kind kind, uint16_t robot)
{
    const struct team_event event = {.kind = kind, .robot = robot, .resource = TEAM_NONE};
    /* A bag has room for all simultaneous events. */
    const bool added = team_add_event(x->team, x->outcome.place->now_us, &event);
    assert(added);
    (void)added;
}

/* Starts the robots of the next start time; at the first one jobs are assigned, too. */
static void start_robots(struct model_checker *x)
{
    const struct team_params *p = &x->untimed.p;
    struct model_checker_place *place = x->outcome.place;
    const bool any = place->started < x->start_count;
    for (uint16_t r = 0; r < p->robot_count; r++) {
        const bool asks = p->robots[r].sequence == TEAM_NONE;
        if (asks ? place->started == 0
                 : any && p->robots[r].start_us == x->starts_us[place->started]) {
            add_event(x, TEAM_EVENT_START, r);
        }
    }
    place->started += any ? 1 : 0;
}

static void make_move(struct model_checker *x, const struct team_move *move)
{
    struct model_checker_place *place = x->outcome.place;
    switch (move->kind) {
    case TEAM_MOVE_START:
        start_robots(x);
        break;
    case TEAM_MOVE_DONE:
        add_event(x, TEAM_EVENT_DONE, move->subject);
        break;
    case TEAM_MOVE_FAIL:
        place->failures--;
        add_event(x, TEAM_EVENT_FAIL, move->subject);
        break;
    case TEAM_MOVE_DELAY:
        team_hurry_delay(x->team, move->subject, place->now_us);
        break;
    case TEAM_MOVE_RETRY:
        team_hurry_retry(x->team, move->subject, place->now_us);
        break;
    case TEAM_MOVE_SILENT: {
        struct team_robot_view view;
        team_robot(x->team, move->subject, &view);
        place->losses -= view.silent ? 0 : 1;
        team_hurry_leases(x->team, move->subject, place->now_us);
        break;
    }
    case TEAM_MOVE_COUNT:
        break;
    }
}

/* Checks that no resource has more owners than units. */
static void check_capacities(struct model_checker *x)
{
    const struct team_params *p = &x->untimed.p;
    for (uint16_t i = 0; i < p->resource_count; i++) {
        struct team_resource_view view;
        team_resource(x->team, i, &view);
        x->result->violations += view.held_count > p->resources[i].capacity;
    }
}

/* Applies an instant in which all of these moves happen to the team at this place. */
void model_checker_apply_moves(struct model_checker *x, struct model_checker_place *place,
                               int64_t t_us, const struct team_move *moves, size_t count)
{
    const struct team_effects effects = {handle_effect, x};
    place->now_us = t_us;
    x->outcome = (struct model_checker_outcome){.place = place, .fence = team_fence(x->team)};
    for (size_t i = 0; i < count; i++) {
        make_move(x, &moves[i]);
    }
    while (team_next_deadline(x->team) <= place->now_us && !x->outcome.spins) {
        team_fire(x->team, &effects);
    }
    if (x->outcome.granted) {
        check_capacities(x);
    }
}

/* Applies the first instant: the earliest robots start. */
void model_checker_begin(struct model_checker *x, struct model_checker_place *place)
{
    static const struct team_move first = {TEAM_MOVE_START, 0};
    *place = (struct model_checker_place){
        .state = TEAM_STATE_NONE, .failures = x->options.failures, .losses = x->options.losses};
    (void)team_init(x->team, &x->untimed.p);
    model_checker_apply_moves(x, place, 0, &first, 1);
}

/* ---- possible events
 * ---------------------------------------------------------------------- */

static void list_move(struct model_checker *x, enum team_move_kind kind, uint16_t subject)
{
    ((struct team_move *)x->moves.items)[x->moves.count++] = (struct team_move){kind, subject};
}

/* Lists all possible next events into x->moves, which has room for all. */
void model_checker_list_moves(struct model_checker *x, const struct model_checker_place *place)
{
    const struct team_params *p = &x->untimed.p;
    x->moves.count = 0;
    if (place->started < x->start_count) {
        list_move(x, TEAM_MOVE_START, 0);
    }
    for (uint16_t r = 0; r < p->robot_count; r++) {
        struct team_robot_view view;
        team_robot(x->team, r, &view);
        use_step(x, r, view.step);
        if (view.phase == TEAM_PHASE_ACTIVE && !view.silent) {
            list_move(x, TEAM_MOVE_DONE, r);
            if (place->failures > 0) {
                list_move(x, TEAM_MOVE_FAIL, r);
            }
        } else if (view.phase == TEAM_PHASE_RETRY && !view.silent) {
            list_move(x, TEAM_MOVE_RETRY, r);
        }
        if ((place->losses > 0 || view.silent) && team_has_lease(x->team, r)) {
            list_move(x, TEAM_MOVE_SILENT, r);
        }
    }
    x->time_count =
        team_untimed_times(&x->untimed, x->team, place->now_us, x->times_us, &x->inexact);
    for (uint16_t i = 0; i < p->resource_count; i++) {
        struct team_resource_view view;
        team_resource(x->team, i, &view);
        if (view.free_at_us > place->now_us) {
            list_move(x, TEAM_MOVE_DELAY, i);
        }
    }
}

/* A bag encodes its moves as indices in x->moves + 1, the lowest first, and above them the
 * index of its time in x->times_us. */
size_t model_checker_unpack_bag(const struct model_checker *x, uint64_t bag,
                                struct team_move moves[TEAM_TOGETHER_MAX], int64_t *t_us)
{
    size_t count = 0;
    for (; (bag & BAG_MASK) != 0 && count < TEAM_TOGETHER_MAX; bag >>= BAG_SHIFT) {
        const size_t at = (size_t)(bag & BAG_MASK) - 1;
        moves[count++] = ((const struct team_move *)x->moves.items)[at];
    }
    *t_us = x->times_us[bag >> (BAG_SHIFT * (TEAM_TOGETHER_MAX - count))];
    return count;
}
