#include "twin/team/step/team_simulate.h"

#include <string.h>

#include "twin/team/step/team_memory.h"

enum {
    /* Pending activities of a robot: the running one, and abandoned ones that still end
     * later. */
    AWAITED_MAX = 4,
    /* Limit of endings in one instant, per robot: more means an endless loop. */
    ENDINGS_MAX = 1000
};

/* Phases of robots that do nothing, that look for parts, and that have stopped for good. */
static const uint32_t RESTS = 1U << TEAM_PHASE_FINISHED | 1U << TEAM_PHASE_PARKED;
static const uint32_t RETRIES = 1U << TEAM_PHASE_RETRY;
static const uint32_t STOPS = 1U << TEAM_PHASE_IDLE | 1U << TEAM_PHASE_ERROR;

/* The future end of an activity. */
struct ending {
    int64_t t_us;
    uint16_t robot;
    bool fails;
    uint32_t n;
};

struct team_simulator {
    const struct team_params *params;
    struct team *team;
    void *team_memory;
    struct ending *heap; /* [heap_max] a binary heap by time */
    size_t heap_count, heap_max;
    /* State of the present run. */
    const struct team_scenario *scenario;
    const struct team_effects *fx;
    struct team_run *run;
    size_t script_at;
    bool refused;
};

static size_t lay_out(const struct team_params *p, void *block, struct team_simulator *s)
{
    size_t used = 0;
    (void)team_memory_cut(block, &used, sizeof *s);
    s->heap_max = p->robot_count * AWAITED_MAX;
    s->heap = team_memory_cut(block, &used, s->heap_max * sizeof *s->heap);
    s->team_memory = team_memory_cut(block, &used, team_bytes(p));
    return used;
}

size_t team_simulator_bytes(const struct team_params *p)
{
    struct team_simulator none;
    return lay_out(p, NULL, &none);
}

struct team_simulator *team_simulator_init(void *memory, const struct team_params *p)
{
    struct team_simulator *s = memory;
    *s = (struct team_simulator){.params = p};
    (void)lay_out(p, memory, s);
    s->team = team_init(s->team_memory, p);
    return s;
}

const struct team *team_simulator_team(const struct team_simulator *s)
{
    return s->team;
}

/* ---- the heap ---- */

static bool push_ending(struct team_simulator *s, const struct ending *e)
{
    if (s->heap_count == s->heap_max) {
        return false;
    }
    size_t i = s->heap_count++;
    while (i > 0 && e->t_us < s->heap[(i - 1) / 2].t_us) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = *e;
    return true;
}

static struct ending pop_ending(struct team_simulator *s)
{
    const struct ending first = s->heap[0];
    const struct ending last = s->heap[--s->heap_count];
    size_t i = 0;
    for (size_t c = 1; c < s->heap_count; c = 2 * i + 1) {
        c += c + 1 < s->heap_count && s->heap[c + 1].t_us < s->heap[c].t_us;
        if (s->heap[c].t_us >= last.t_us) {
            break;
        }
        s->heap[i] = s->heap[c];
        i = c;
    }
    s->heap[i] = last;
    return first;
}

/* ---- effects ---- */

static void await_activity(struct team_simulator *s, const struct team_effect *start)
{
    struct team_lap lap = {.answers = true};
    const uint64_t most = s->scenario->activities_max;
    s->run->activities++;
    if (s->refused || (most > 0 && s->run->activities > most) ||
        !s->scenario->ask(s->scenario->context, start, &lap)) {
        s->refused = true;
        return;
    }
    if (!lap.answers) {
        return;
    }
    const int64_t left_us = LAB_TIME_MAX - start->t_us;
    const int64_t t_us = start->t_us + (lap.lap_us < left_us ? lap.lap_us : left_us);
    /* The end of an activity that was already running may be overdue. */
    const struct ending e = {.t_us = t_us > s->scenario->from_us ? t_us : s->scenario->from_us,
                             .robot = start->robot,
                             .fails = lap.fails,
                             .n = start->n};
    s->refused = !push_ending(s, &e);
}

static void observe_effect(void *context, const struct team_effect *effect)
{
    struct team_simulator *s = context;
    if (effect->kind == TEAM_START) {
        await_activity(s, effect);
    } else if (effect->kind == TEAM_DONE || effect->kind == TEAM_FINISH) {
        s->run->makespan_us = effect->t_us;
    }
    if (s->fx->emit) {
        s->fx->emit(s->fx->context, effect);
    }
}

/* ---- time ---- */

static void queue_event(struct team_simulator *s, int64_t t_us, const struct team_event *event,
                        const struct team_effects *own)
{
    s->run->events++;
    while (!team_add_event(s->team, t_us, event)) {
        team_fire(s->team, own);
    }
}

/* Robots without a sequence take the jobs of the file. */
static void start_robots(struct team_simulator *s)
{
    for (size_t i = 0; i < s->params->robot_count; i++) {
        const struct team_robot_params *r = &s->params->robots[i];
        if (r->sequence != TEAM_NONE || s->params->job_count > 0) {
            const struct ending start = {
                .t_us = r->start_us, .robot = (uint16_t)i, .n = UINT32_MAX};
            s->refused = !push_ending(s, &start) || s->refused;
        }
    }
}

/* Copies the initial state of the team and its running activities. */
static void copy_start_state(struct team_simulator *s)
{
    memcpy(s->team_memory, s->scenario->from, team_bytes(s->params));
    team_rebind(s->team, s->params);
    for (size_t i = 0; i < s->params->robot_count; i++) {
        struct team_robot_view view;
        team_robot(s->team, (uint16_t)i, &view);
        if (view.phase == TEAM_PHASE_ACTIVE && view.step) {
            const struct team_effect start = {.kind = TEAM_START,
                                              .t_us = view.since_us,
                                              .robot = (uint16_t)i,
                                              .step = view.step,
                                              .n = view.n};
            await_activity(s, &start);
        }
    }
}

/* Adds all events of t_us to the bag. */
static void fill_bag(struct team_simulator *s, int64_t t_us, const struct team_effects *own)
{
    while (s->heap_count > 0 && s->heap[0].t_us == t_us) {
        const struct ending e = pop_ending(s);
        const struct team_event event = {.kind = e.n == UINT32_MAX ? TEAM_EVENT_START
                                                 : e.fails         ? TEAM_EVENT_FAIL
                                                                   : TEAM_EVENT_DONE,
                                         .robot = e.robot,
                                         .n = e.n == UINT32_MAX ? 0 : e.n};
        queue_event(s, t_us, &event, own);
    }
    while (s->script_at < s->scenario->script_count &&
           s->scenario->script[s->script_at].t_us == t_us) {
        queue_event(s, t_us, &s->scenario->script[s->script_at++].event, own);
    }
}

static int64_t next_instant(const struct team_simulator *s)
{
    int64_t t_us = team_next_deadline(s->team);
    if (s->heap_count > 0 && s->heap[0].t_us < t_us) {
        t_us = s->heap[0].t_us;
    }
    if (s->script_at < s->scenario->script_count &&
        s->scenario->script[s->script_at].t_us < t_us) {
        t_us = s->scenario->script[s->script_at].t_us;
    }
    return t_us;
}

/* Do robots look for parts again and again while nothing else can happen? Nobody brings parts,
 * so they never find any. */
static bool is_in_vain(const struct team_simulator *s)
{
    const uint32_t phases = team_phases(s->team);
    return s->heap_count == 0 && s->script_at == s->scenario->script_count &&
           (phases & RETRIES) != 0 && (phases & ~(RESTS | RETRIES | STOPS)) == 0;
}

/* No event is left: has every robot finished? */
static enum team_run_end judge_end(const struct team_simulator *s)
{
    const bool done =
        team_jobs_waiting(s->team) == 0 && (team_phases(s->team) & ~(RESTS | RETRIES)) == 0;
    return done ? TEAM_RUN_FINISHED : TEAM_RUN_STUCK;
}

static enum team_run_end run_events(struct team_simulator *s, const struct team_effects *own)
{
    const uint64_t endings_max = ENDINGS_MAX * (uint64_t)s->params->robot_count;
    uint64_t before = 0;
    for (;;) {
        const int64_t t_us = next_instant(s);
        if (t_us == LAB_TIME_MAX || is_in_vain(s)) {
            return judge_end(s);
        }
        if (t_us > s->scenario->horizon_us) {
            return TEAM_RUN_HORIZON;
        }
        if (t_us > s->run->t_us) {
            before = s->run->activities;
        } else if (s->run->activities - before > endings_max) {
            return TEAM_RUN_ENDLESS;
        }
        s->run->t_us = t_us;
        fill_bag(s, t_us, own);
        team_fire(s->team, own);
        if (s->refused) {
            return TEAM_RUN_REFUSED;
        }
    }
}

void team_simulate(struct team_simulator *s, const struct team_scenario *scenario,
                   const struct team_effects *fx, struct team_run *run)
{
    const struct team_effects own = {observe_effect, s};
    *run = (struct team_run){.t_us = INT64_MIN};
    s->heap_count = s->script_at = 0;
    s->scenario = scenario;
    s->fx = fx;
    s->run = run;
    s->refused = false;
    if (scenario->from) {
        copy_start_state(s);
    } else {
        s->team = team_init(s->team_memory, s->params);
        start_robots(s);
    }
    run->end = run_events(s, &own);
}

ENUM_NAMES(team_run_end, TEAM_RUN_END_COUNT, TEAM_RUN_ENDS(NAMES_TEXT));
