/* twin/team/live/team_live_request.c - requests to a team from clients and people, and their
 * answers. */
#include <stdio.h>

#include "base/numbers/hash.h"
#include "twin/team/check/team_ability.h"
#include "twin/team/live/team_live_parts.h"

/* ---- answers ------------------------------------------------------------------------------
 */

/* For requests of people. Robots choose their ids independently, so equal ids of different
 * robots are distinct. */
enum { ANYBODY = 0xfffe };

_Static_assert((int)TEAM_LIVE_DETAIL_MAX >= (int)TEAM_JOB_FAULT_MAX,
               "what speaks against a job");
_Static_assert((int)TEAM_LIVE_DETAIL_MAX >= (int)TEAM_RESET_FAULT_MAX, "and against a reset");

/* The answer may be changed by those who may change the team. */
static struct team_live_answer *find_answer(const struct team_live *live,
                                            const struct team_params *p, const char *id,
                                            uint16_t robot)
{
    struct team_live_answer *answers =
        team_live_answers((struct team_live *)(uintptr_t)live, p);
    const uint64_t max = team_live_answers_max(p);
    const uint64_t remembered = live->answers < max ? live->answers : max;
    for (uint64_t back = 1; id[0] && back <= remembered; back++) {
        struct team_live_answer *a = &answers[(live->answers - back) % max];
        if ((robot == ANYBODY || a->robot == robot) && strcmp(a->id, id) == 0) {
            return a;
        }
    }
    return NULL;
}

const struct team_live_answer *
team_live_find_answer(const struct team_live *live, const struct team_params *p, const char *id)
{
    return find_answer(live, p, id, ANYBODY);
}

/* A robot's own controller gets every answer; others only a refusal. */
static void emit_answer(const struct team_live_run *run, const struct team_live_answer *a)
{
    if (a->op == TEAM_OP_LOCK || a->op == TEAM_OP_UNLOCK || a->grant == TEAM_LIVE_REJECTED) {
        const struct effect out = {.kind = EFFECT_RESPONSE,
                                   .pair = run->live->named,
                                   .t_us = run->t_us,
                                   .side = SIDE_COUNT,
                                   .response = a};
        run->fx->emit(run->fx->context, &out);
    }
}

static void decide_answer(const struct team_live_run *run, struct team_live_answer *a,
                          enum team_live_grant grant, const char *detail)
{
    a->grant = (uint8_t)grant;
    a->t_us = run->t_us;
    (void)snprintf(a->detail, sizeof a->detail, "%s", detail);
    run->live->counts.rejected += grant == TEAM_LIVE_REJECTED;
    emit_answer(run, a);
}

static void reject_request(const struct team_live_run *run, struct team_live_answer *a,
                           const char *why)
{
    decide_answer(run, a, TEAM_LIVE_REJECTED, why);
}

/* ---- effects that answer ------------------------------------------------------------------
 */

/* Returns the position of this resource in the answer; a->count: not in it. */
static size_t find_resource(const struct team_live_answer *a, uint16_t resource)
{
    size_t k = 0;
    while (k < a->count && a->resources[k] != resource) {
        k++;
    }
    return k;
}

static void record_fence(struct team_live_answer *a, const struct team_effect *effect)
{
    const size_t k = find_resource(a, effect->resource);
    if (k < a->count) {
        a->fences[k] = effect->fence;
    }
}

/* Returns the earliest end of its leases, from its robot's last sign of life. */
static void find_lease_end(const struct team_live_run *run, struct team_live_answer *a,
                           int64_t last_message_us)
{
    a->lease_until_us = LAB_TIME_MAX;
    for (size_t k = 0; k < a->count; k++) {
        const int64_t lease_us = run->p->resources[a->resources[k]].lease_us;
        if (lease_us > 0 && a->fences[k] != 0 &&
            last_message_us + lease_us < a->lease_until_us) {
            a->lease_until_us = last_message_us + lease_us;
        }
    }
}

static void decide_granted(const struct team_live_run *run, struct team_live_answer *a)
{
    find_lease_end(run, a, run->t_us);
    decide_answer(run, a, TEAM_LIVE_GRANTED, "");
}

static void decide_queued(const struct team_live_run *run, struct team_live_answer *a,
                          const struct team_effect *effect)
{
    const size_t n =
        effect->robot_count < TEAM_LIVE_BEHIND ? effect->robot_count : TEAM_LIVE_BEHIND;
    a->behind_count = (uint16_t)effect->robot_count;
    memcpy(a->behind, effect->robots, n * sizeof a->behind[0]);
    decide_answer(run, a, TEAM_LIVE_QUEUED, "");
}

/* Ends the grant of the resource at position `at`; the others continue. */
static void end_grant(const struct team_live_run *run, struct team_live_answer *a, size_t at,
                      bool asked, const char *why)
{
    struct team_live_answer part = *a;
    bool last = true;
    for (size_t k = 0; k < a->count; k++) {
        last = last && (k == at || a->fences[k] == 0);
    }
    part.count = 1;
    part.resources[0] = a->resources[at];
    part.fences[0] = a->fences[at];
    if (!last) {
        a->fences[at] = 0;
    }
    if (!asked && last) {
        decide_answer(run, a, TEAM_LIVE_REVOKED, why);
    } else if (!asked) {
        decide_answer(run, &part, TEAM_LIVE_REVOKED, why);
    } else if (last) {
        a->grant = TEAM_LIVE_RELEASED;
    }
}

/* Ends the grant of this resource under this fence. The answer is that of its owner, and of the
 * request that freed it. */
static void end_freed_grant(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live *live = run->live;
    const uint64_t max = team_live_answers_max(run->p);
    const uint64_t remembered = live->answers < max ? live->answers : max;
    const bool asked = strcmp(effect->why, "unlock") == 0;
    for (uint64_t k = 0; k < remembered; k++) {
        struct team_live_answer *a = &team_live_answers(live, run->p)[k];
        const size_t at = find_resource(a, effect->resource);
        if (at == a->count || a->robot != effect->robot || a->fences[at] != effect->fence) {
            continue;
        }
        if (a->op == TEAM_OP_LOCK && a->grant == TEAM_LIVE_GRANTED) {
            end_grant(run, a, at, asked, effect->why);
        } else if (a->op == TEAM_OP_UNLOCK && a->grant == TEAM_LIVE_OPEN && asked &&
                   --a->behind_count == 0) {
            decide_answer(run, a, TEAM_LIVE_RELEASED, "");
        }
    }
}

void team_live_update_answer(const struct team_live_run *run, const struct team_effect *effect)
{
    if (run->live->answers == 0) {
        return;
    }
    if (effect->kind == TEAM_FREED) {
        end_freed_grant(run, effect);
        return;
    }
    struct team_live_answer *a = effect->id && effect->id[0]
                                     ? find_answer(run->live, run->p, effect->id, effect->robot)
                                     : NULL;
    if (!a || (a->grant != TEAM_LIVE_OPEN && a->grant != TEAM_LIVE_QUEUED)) {
        return;
    }
    if (effect->kind == TEAM_GRANT) {
        record_fence(a, effect);
    } else if (effect->kind == TEAM_DONE && a->op == TEAM_OP_LOCK) {
        decide_granted(run, a);
    } else if (effect->kind == TEAM_WAIT) {
        decide_queued(run, a, effect);
    } else if (effect->kind == TEAM_REJECT) {
        reject_request(run, a, effect->why);
    } else if (effect->kind == TEAM_ALARM && effect->alarm == TEAM_ALARM_STALE_FENCE) {
        a->stale = true;
        reject_request(run, a, "the fence is not that of a present grant");
    }
}

/* ---- kinds of requests
 * -------------------------------------------------------------------- */

/* Reads the resources by name; false, and rejected, if one does not exist. */
static bool read_resources(const struct team_live_run *run, const struct event_team *ask,
                           struct team_live_answer *a)
{
    for (size_t k = 0; k < ask->resource_count; k++) {
        const uint16_t i = team_find_resource(run->p, ask->resources[k]);
        if (i == TEAM_NONE) {
            char why[TEAM_LIVE_DETAIL_MAX];
            (void)snprintf(why, sizeof why, "there is no resource %s", ask->resources[k]);
            reject_request(run, a, why);
            return false;
        }
        a->resources[a->count++] = i;
    }
    return true;
}

static void ask_lock(const struct team_live_run *run, const struct event_team *ask,
                     struct team_live_answer *a)
{
    struct team_event e = {.kind = TEAM_EVENT_LOCK, .robot = a->robot};
    if (!read_resources(run, ask, a)) {
        return;
    }
    e.resource_count = a->count;
    memcpy(e.resources, a->resources, a->count * sizeof e.resources[0]);
    memcpy(e.id, ask->id, sizeof e.id);
    team_live_add_event(run, &e);
}

/* Is the resource held under this fence? */
static bool is_held(const struct team_live_run *run, uint16_t resource, int64_t fence)
{
    struct team_resource_view view;
    team_resource(team_live_core(run->live, run->p), resource, &view);
    for (size_t i = 0; i < view.held_count; i++) {
        if (view.held[i].fence == (uint64_t)fence) {
            return true;
        }
    }
    return false;
}

/* behind_count: number of resources not freed yet. */
static void ask_unlock(const struct team_live_run *run, const struct event_team *ask,
                       struct team_live_answer *a)
{
    if (!read_resources(run, ask, a)) {
        return;
    }
    for (size_t k = 0; k < a->count; k++) {
        a->fences[k] = (uint64_t)ask->fences[k];
    }
    a->behind_count = a->count;
    for (size_t k = 0; k < a->count; k++) {
        struct team_event e = {.kind = TEAM_EVENT_UNLOCK,
                               .robot = a->robot,
                               .resource = a->resources[k],
                               .fence = a->fences[k]};
        memcpy(e.id, ask->id, sizeof e.id);
        team_live_add_event(run, &e);
    }
}

static void ask_alive(const struct team_live_run *run, const struct event_team *ask,
                      struct team_live_answer *a)
{
    (void)ask;
    team_live_signal(run, TEAM_EVENT_ALIVE, a->robot, 0);
    decide_answer(run, a, TEAM_LIVE_DONE, "");
}

static void ask_job(const struct team_live_run *run, const struct event_team *ask,
                    struct team_live_answer *a)
{
    const struct team_params *p = run->p;
    struct team_event e = {.kind = TEAM_EVENT_JOB, .robot = TEAM_NONE};
    char why[TEAM_JOB_FAULT_MAX];
    e.job.part = team_find_name(p, ask->part);
    e.job.sequence = team_find_sequence(p, ask->sequence);
    e.job.home = ask->home[0] ? team_find_robot(p, ask->home) : TEAM_NONE;
    memcpy(e.job.id, ask->id, sizeof e.job.id);
    if (e.job.sequence == TEAM_NONE) {
        reject_request(run, a, "there is no sequence of this name");
    } else if (e.job.part == TEAM_NONE) {
        reject_request(run, a, "there is no part of this name");
    } else if (ask->home[0] && e.job.home == TEAM_NONE) {
        reject_request(run, a, "there is no robot of the name of its home");
    } else if (team_job_fault(p, &e.job, why)) {
        reject_request(run, a, why);
    } else if (team_jobs_max(team_live_core(run->live, p)) == 0) {
        reject_request(run, a, "no robot takes jobs: each has its own sequence");
    } else if (team_jobs_waiting(team_live_core(run->live, p)) >=
               team_jobs_max(team_live_core(run->live, p))) {
        reject_request(run, a, "too many jobs wait");
    } else {
        team_live_add_event(run, &e);
        decide_answer(run, a, TEAM_LIVE_DONE, "");
    }
}

static void ask_release(const struct team_live_run *run, const struct event_team *ask,
                        struct team_live_answer *a)
{
    if (!read_resources(run, ask, a)) {
        return;
    }
    a->fences[0] = (uint64_t)ask->fences[0];
    a->stale = !is_held(run, a->resources[0], ask->fences[0]);
    team_live_add_event(run, &(struct team_event){.kind = TEAM_EVENT_RELEASE,
                                                  .robot = TEAM_NONE,
                                                  .resource = a->resources[0],
                                                  .fence = a->fences[0]});
    if (a->stale) {
        reject_request(run, a, "the fence is not that of a present grant");
    } else {
        decide_answer(run, a, TEAM_LIVE_DONE, ask->reason);
    }
}

static bool is_at_work(const struct team_robot_view *view)
{
    return view->phase != TEAM_PHASE_IDLE && view->phase != TEAM_PHASE_PARKED &&
           view->phase != TEAM_PHASE_ERROR && view->phase != TEAM_PHASE_FINISHED;
}

static void ask_robot(const struct team_live_run *run, const struct event_team *ask,
                      struct team_live_answer *a)
{
    struct team_robot_view view;
    char why[TEAM_RESET_FAULT_MAX];
    team_robot(team_live_core(run->live, run->p), a->robot, &view);
    if (ask->op == TEAM_OP_ABORT && !is_at_work(&view)) {
        reject_request(run, a, "the robot does nothing that could be ended");
    } else if (ask->op != TEAM_OP_ABORT && view.phase != TEAM_PHASE_ERROR) {
        reject_request(run, a, "the robot is not in Error");
    } else if (ask->op != TEAM_OP_ABORT &&
               team_reset_fault(team_live_core(run->live, run->p), a->robot,
                                ask->op == TEAM_OP_SKIP, why)) {
        reject_request(run, a, why);
    } else {
        team_live_signal(run,
                         ask->op == TEAM_OP_ABORT  ? TEAM_EVENT_ABORT
                         : ask->op == TEAM_OP_SKIP ? TEAM_EVENT_SKIP
                                                   : TEAM_EVENT_RESET,
                         a->robot, 0);
        decide_answer(run, a, TEAM_LIVE_DONE, "");
    }
}

static bool start_robot(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    struct team_robot_view view;
    team_robot(team_live_core(run->live, run->p), robot, &view);
    const bool waits = view.phase == TEAM_PHASE_IDLE || view.phase == TEAM_PHASE_PARKED ||
                       view.phase == TEAM_PHASE_FINISHED;
    if (!waits || r->start_us != LAB_TIME_MAX) {
        return false;
    }
    r->start_us = run->t_us + run->p->robots[robot].start_us;
    if (r->start_us < run->live->start_us) {
        run->live->start_us = r->start_us;
    }
    return true;
}

static bool stop_robot(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    struct team_robot_view view;
    const bool planned = r->start_us != LAB_TIME_MAX;
    team_robot(team_live_core(run->live, run->p), robot, &view);
    r->start_us = LAB_TIME_MAX;
    if (is_at_work(&view)) {
        team_live_signal(run, TEAM_EVENT_ABORT, robot, 0);
    }
    return planned || is_at_work(&view);
}

/* Applies a request to one robot, or to all. */
static void ask_all(const struct team_live_run *run, const struct event_team *ask,
                    struct team_live_answer *a)
{
    const bool starts = ask->op == TEAM_OP_START;
    size_t count = 0;
    for (uint16_t i = 0; i < run->p->robot_count; i++) {
        if (a->robot == TEAM_NONE || a->robot == i) {
            count += starts ? start_robot(run, i) : stop_robot(run, i);
        }
    }
    if (count == 0) {
        reject_request(run, a, starts ? "no robot is left to start" : "no robot is at work");
    } else {
        decide_answer(run, a, TEAM_LIVE_DONE, "");
    }
}

/* ---- requests -----------------------------------------------------------------------------
 */

static uint64_t hash_request(const struct event_team *ask)
{
    struct event_team plain = *ask;
    memset(plain.by, 0, sizeof plain.by);
    memset(plain.reason, 0, sizeof plain.reason);
    uint64_t hash = hash_bytes(HASH_START, &plain.op, sizeof plain.op);
    hash = hash_bytes(hash, plain.robot, sizeof plain.robot);
    hash = hash_bytes(hash, plain.resources, sizeof plain.resources);
    hash = hash_bytes(hash, plain.fences, sizeof plain.fences);
    hash = hash_bytes(hash, plain.part, sizeof plain.part);
    hash = hash_bytes(hash, plain.sequence, sizeof plain.sequence);
    return hash_bytes(hash, plain.home, sizeof plain.home);
}

/* A request without an id is answered but not retained. */
static struct team_live_answer *begin_answer(const struct team_live_run *run,
                                             const struct event_team *ask, uint16_t robot,
                                             struct team_live_answer *forgotten)
{
    struct team_live *live = run->live;
    struct team_live_answer *a =
        ask->id[0]
            ? &team_live_answers(live, run->p)[live->answers++ % team_live_answers_max(run->p)]
            : forgotten;
    memset(a, 0, sizeof *a);
    memcpy(a->id, ask->id, sizeof a->id);
    a->content = hash_request(ask);
    a->op = (uint8_t)ask->op;
    a->grant = TEAM_LIVE_OPEN;
    a->robot = robot;
    a->t_us = run->t_us;
    a->lease_until_us = LAB_TIME_MAX;
    return a;
}

/* Repeats the answer to a repeated request, with its present state. */
static void answer_again(const struct team_live_run *run, const struct event_team *ask,
                         struct team_live_answer *known)
{
    struct team_robot_view view;
    run->live->counts.repeated++;
    if (known->content == hash_request(ask)) {
        if (known->grant == TEAM_LIVE_GRANTED) {
            team_robot(team_live_core(run->live, run->p), known->robot, &view);
            find_lease_end(run, known, view.last_message_us);
        }
        if (known->grant != TEAM_LIVE_OPEN) {
            emit_answer(run, known);
        }
        return;
    }
    struct team_live_answer other = *known;
    other.op = (uint8_t)ask->op;
    other.count = 0;
    reject_request(run, &other, "this id was another request's: use a new one");
}

/* Answers a request that violates the protocol. */
static void refuse_malformed(const struct team_live_run *run, const struct event_malformed *m)
{
    struct team_live_answer a = {.op = TEAM_OP_LOCK, .robot = TEAM_NONE};
    memcpy(a.id, m->id, sizeof a.id);
    run->live->counts.malformed++;
    reject_request(run, &a, m->detail);
}

void team_live_apply_request(const struct team_live_run *run, const struct event *event)
{
    static void (*const asks[TEAM_OP_COUNT])(
        const struct team_live_run *, const struct event_team *, struct team_live_answer *) = {
        [TEAM_OP_LOCK] = ask_lock,       [TEAM_OP_UNLOCK] = ask_unlock,
        [TEAM_OP_ALIVE] = ask_alive,     [TEAM_OP_JOB] = ask_job,
        [TEAM_OP_RELEASE] = ask_release, [TEAM_OP_RESET] = ask_robot,
        [TEAM_OP_SKIP] = ask_robot,      [TEAM_OP_ABORT] = ask_robot,
        [TEAM_OP_START] = ask_all,       [TEAM_OP_STOP] = ask_all,
    };
    const struct event_team *ask = &event->team;
    struct team_live_answer forgotten;
    run->live->version++;
    if (event->kind == EVENT_MALFORMED) {
        refuse_malformed(run, &event->malformed);
        return;
    }
    if (event->kind == EVENT_FORECAST) {
        team_live_apply_forecast(run, event->forecast);
        return;
    }
    const uint16_t robot = ask->robot[0] ? team_find_robot(run->p, ask->robot) : TEAM_NONE;
    if (ask->op == TEAM_OP_SENT) {
        if (robot != TEAM_NONE) {
            team_live_confirm_command(&team_live_robots(run->live)[robot], ask->id,
                                      event->side);
        }
        return;
    }
    run->live->counts.requests++;
    if (ask->robot[0] && robot == TEAM_NONE) {
        forgotten = (struct team_live_answer){.op = (uint8_t)ask->op, .robot = TEAM_NONE};
        memcpy(forgotten.id, ask->id, sizeof forgotten.id);
        reject_request(run, &forgotten, "there is no robot of this name");
        return;
    }
    struct team_live_answer *known = find_answer(run->live, run->p, ask->id, robot);
    if (known) {
        answer_again(run, ask, known);
    } else {
        asks[ask->op](run, ask, begin_answer(run, ask, robot, &forgotten));
    }
}
