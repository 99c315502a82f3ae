/* Random teams: 2 to 50 robots, 1 to 40 resources of capacity 1 to 3, every locking rule,
 * priorities, leases, failures, losses, people who release, reset, skip and abort, jobs,
 * meetings, clients that lock themselves. Checked in each trace: mutual exclusion, fences that
 * rise, service in the order of keys, every wait ends or is reported, no deadlock where the
 * locking rule excludes it, no false deadlock. The same team with the events of each instant in
 * another order, and with its state moved to other memory as bytes, must leave the same bytes.
 * TANDEM_RUNS: number of teams. */
#include "tests/support/check.h"

#include "base/numbers/hash.h"
#include "tests/support/team_random.h"
#include "twin/report/team_report.h"

enum {
    RUNS = 60,
    STEPS = 4000 /* of a run, at most */
};

/* One waits for this resource. */
struct waiting {
    bool waits;
    int64_t key_us;
};

struct run {
    const struct world *world;
    struct team_drive drive;
    uint64_t draws, shuffles;
    uint64_t hash;
    unsigned long lines;
    bool ended, watches;
    const char *wrong; /* the first law that was broken */
    /* state according to the trace so far */
    uint64_t fence;
    uint64_t held[RESOURCES][ROBOTS];
    struct waiting queue[RESOURCES][ROBOTS];
    int64_t asked_us[ROBOTS];
    bool asking[ROBOTS], reported[ROBOTS], blocked[ROBOTS], dead[ROBOTS];
    bool skipped;
    bool of_client[RESOURCES][ROBOTS]; /* it requested what it holds itself */
    bool revoked[RESOURCES][ROBOTS];   /* away from its sequence */
};

static struct {
    unsigned long grants, waits, deadlocks, blocked, expired, errors, jobs, meets, rejects,
        livelocks, revoked, ended;
} seen;

/* ---- the laws of a trace ------------------------------------------------------------------
 */

static void break_law(struct run *r, const char *law)
{
    r->wrong = r->wrong ? r->wrong : law;
}

static int64_t key_of(const struct run *r, uint16_t robot, int64_t asked_us)
{
    const struct team_params *p = &r->world->p;
    return asked_us - p->robots[robot].priority * p->head_start_us;
}

static unsigned count_held(const struct run *r, uint16_t resource)
{
    unsigned count = 0;
    for (size_t i = 0; i < ROBOTS; i++) {
        count += r->held[resource][i] != 0;
    }
    return count;
}

static void forget_wait(struct run *r, uint16_t robot)
{
    for (size_t x = 0; x < RESOURCES; x++) {
        r->queue[x][robot].waits = false;
    }
    r->asking[robot] = r->reported[robot] = r->blocked[robot] = r->dead[robot] = false;
}

static void check_grant(struct run *r, const struct team_effect *e)
{
    const uint32_t capacity = r->world->p.resources[e->resource].capacity;
    const int64_t key_us = key_of(r, e->robot, e->t_us - e->waited_us);
    const unsigned held = count_held(r, e->resource);
    unsigned before = 0;
    if (held >= capacity) {
        break_law(r, "mutual exclusion");
    }
    if (e->fence != r->fence + 1) {
        break_law(r, "fences rise by one");
    }
    if (r->held[e->resource][e->robot] != 0) {
        break_law(r, "no robot holds a resource twice");
    }
    if (r->dead[e->robot]) {
        break_law(r, "a robot in a reported deadlock is served only after help");
    }
    struct team_robot_view view;
    team_robot(r->drive.team, e->robot, &view);
    if (view.silent) {
        break_law(r, "no silent robot gets a grant");
    }
    for (uint16_t i = 0; i < ROBOTS; i++) {
        const struct waiting *q = &r->queue[e->resource][i];
        struct team_robot_view other = {.silent = false};
        if (i < r->world->p.robot_count) {
            team_robot(r->drive.team, i, &other);
        }
        before += q->waits && i != e->robot && !other.silent &&
                  (q->key_us != key_us ? q->key_us < key_us : i < e->robot);
    }
    if (held + before >= capacity) {
        break_law(r, "no robot is overtaken");
    }
    r->fence = e->fence;
    r->held[e->resource][e->robot] = e->fence;
    r->of_client[e->resource][e->robot] = e->id[0] != '\0';
    r->revoked[e->resource][e->robot] = false;
    r->queue[e->resource][e->robot].waits = false;
    r->asking[e->robot] = true;
    r->asked_us[e->robot] = e->t_us - e->waited_us;
    r->reported[e->robot] = r->blocked[e->robot] = false;
    seen.grants++;
}

static void check_wait(struct run *r, const struct team_effect *e)
{
    const size_t count = r->world->p.locking == TEAM_ORDERED ? 1 : e->resource_count;
    const int64_t asked_us = r->asking[e->robot] ? r->asked_us[e->robot] : e->t_us;
    for (size_t k = 0; k < count; k++) {
        r->queue[e->resources[k]][e->robot] =
            (struct waiting){true, key_of(r, e->robot, asked_us)};
    }
    for (size_t k = 0; k < e->robot_count; k++) {
        if (e->robots[k] == e->robot || (k > 0 && e->robots[k] <= e->robots[k - 1])) {
            break_law(r, "its predecessors in the queue, in their order");
        }
    }
    seen.waits++;
}

static void check_alarm(struct run *r, const struct team_effect *e)
{
    if (e->alarm == TEAM_ALARM_BLOCKED) {
        if (r->blocked[e->robot]) {
            break_law(r, "a blocked wait is reported once");
        }
        r->reported[e->robot] = r->blocked[e->robot] = true;
        seen.blocked++;
    }
    for (size_t k = 0; e->alarm == TEAM_ALARM_DEADLOCK && k < e->cycle_count; k++) {
        r->reported[e->cycle[k].robot] = r->dead[e->cycle[k].robot] = true;
    }
    /* Meetings in another order each are possible, but nothing that has to do with resources.
     */
    const bool excluded = r->world->p.locking != TEAM_FREE && !r->skipped;
    for (size_t k = 0; e->alarm == TEAM_ALARM_DEADLOCK && excluded && k < e->cycle_count; k++) {
        if (e->cycle[k].meeting == TEAM_NONE || e->cycle[k].held_count > 0) {
            break_law(r, "no deadlock in this discipline");
        }
    }
    r->skipped |=
        e->alarm == TEAM_ALARM_FINISHED_HOLDING; /* and its next job meets another robot */
    seen.deadlocks += e->alarm == TEAM_ALARM_DEADLOCK;
    seen.errors += e->alarm == TEAM_ALARM_TASK_ERROR;
    seen.expired += e->alarm == TEAM_ALARM_LEASE_EXPIRED;
    seen.livelocks += e->alarm == TEAM_ALARM_LIVELOCK;
}

/* Removes it from a sequence, but not from the UnLock where it is. */
static void record_revoked(struct run *r, const struct team_effect *e)
{
    struct team_robot_view m;
    team_robot(r->drive.team, e->robot, &m);
    const bool unlocks = m.phase == TEAM_PHASE_WAITING && m.step &&
                         m.step->kind == TEAM_STEP_UNLOCK && strcmp(e->why, "unlock") == 0;
    const bool within = m.phase != TEAM_PHASE_FINISHED && m.phase != TEAM_PHASE_IDLE &&
                        m.phase != TEAM_PHASE_PARKED;
    const bool own = !r->of_client[e->resource][e->robot] && within && !unlocks;
    r->revoked[e->resource][e->robot] = own;
    seen.revoked += own;
}

/* Clears revoked locks of a step that was skipped, is done, or requests them itself; NULL: of
 * its whole sequence. */
static void clear_revoked(struct run *r, uint16_t robot, const struct team_step *step)
{
    for (uint16_t x = 0; x < RESOURCES; x++) {
        bool named = !step;
        for (uint32_t k = 0; !named && k < step->resource_count; k++) {
            named = r->world->lists[step->first_resource + k] == x;
        }
        r->revoked[x][robot] = r->revoked[x][robot] && !named;
    }
}

static void check_revoked(struct run *r, const struct team_effect *e)
{
    struct team_robot_view m;
    if (e->robot == TEAM_NONE) {
        return;
    }
    team_robot(r->drive.team, e->robot, &m);
    const bool locks =
        m.step && (m.step->kind == TEAM_STEP_LOCK || m.step->kind == TEAM_STEP_UNLOCK);
    for (uint16_t x = 0; e->kind == TEAM_START && x < RESOURCES; x++) {
        if (r->revoked[x][e->robot]) {
            break_law(r, "nothing begins whose Lock was revoked");
        }
    }
    if (e->kind == TEAM_FINISH || e->kind == TEAM_ASSIGN) {
        clear_revoked(r, e->robot, NULL);
    } else if (e->kind == TEAM_RESET && locks) {
        clear_revoked(r, e->robot, m.step);
    } else if (e->kind == TEAM_DONE && e->step && e->step->kind == TEAM_STEP_UNLOCK) {
        clear_revoked(r, e->robot, e->step);
    }
}

static void check_freed(struct run *r, const struct team_effect *e)
{
    if (r->held[e->resource][e->robot] != e->fence) {
        break_law(r, "a released resource was held under this fence");
    }
    r->held[e->resource][e->robot] = 0;
    record_revoked(r, e);
    if (strcmp(e->why, "unlock") != 0 || e->id[0]) { /* a client may, while it waits */
        memset(r->dead, 0, sizeof r->dead);
    }
}

static void check_effect(struct run *r, const struct team_effect *e)
{
    check_revoked(r, e);
    const bool lock = e->kind == TEAM_DONE && (!e->step || e->step->kind == TEAM_STEP_LOCK);
    if (e->kind == TEAM_GRANT) {
        check_grant(r, e);
    } else if (e->kind == TEAM_WAIT) {
        check_wait(r, e);
    } else if (e->kind == TEAM_FREED) {
        check_freed(r, e);
    } else if (e->kind == TEAM_ALARM) {
        check_alarm(r, e);
    } else if (lock || e->kind == TEAM_RESET) {
        forget_wait(r, e->robot);
    } else if (e->kind == TEAM_ERROR || e->kind == TEAM_HALT || e->kind == TEAM_REJECT) {
        struct team_robot_view m;
        team_robot(r->drive.team, e->robot, &m);
        if (e->kind != TEAM_REJECT ||
            m.phase == TEAM_PHASE_PARKED) { /* its Lock, not another */
            forget_wait(r, e->robot);
        }
        memset(r->dead, 0, sizeof r->dead);
        seen.rejects += e->kind == TEAM_REJECT;
    } else if (e->kind == TEAM_MEET) {
        for (size_t k = 0; k < e->robot_count; k++) {
            if (r->dead[e->robots[k]]) {
                break_law(r, "a robot in a reported deadlock meets only after help");
            }
            forget_wait(r, e->robots[k]);
        }
        seen.meets++;
    }
    /* Help also passes a robot that fell silent earlier in the queue. */
    if (e->kind == TEAM_JOB || e->kind == TEAM_ONLINE || e->kind == TEAM_RESET ||
        e->kind == TEAM_EXPIRE) {
        memset(r->dead, 0, sizeof r->dead);
    }
    seen.jobs += e->kind == TEAM_ASSIGN;
}

/* ---- events from outside ---- */

static int64_t draw_time(struct run *r, uint32_t most_s)
{
    return chance(&r->draws, 50) ? SECOND * (int64_t)draw(&r->draws, most_s)
                                 : (int64_t)draw(&r->draws, most_s * SECOND);
}

static void send_event(struct run *r, int64_t t_us, struct team_event e)
{
    team_drive_add(&r->drive, t_us, &e);
}

static bool draw_duration(void *context, uint16_t robot, const struct team_step *step,
                          uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    struct run *r = context;
    (void)robot, (void)step, (void)n;
    *took_us = draw_time(r, 12);
    const uint32_t luck = draw(&r->draws, 200);
    *event = r->world->fails && luck < 6 ? TEAM_EVENT_FAIL : TEAM_EVENT_DONE;
    return !(r->world->fails && luck == 6);
}

static void send_release(struct run *r, int64_t t_us, uint16_t resource)
{
    struct team_resource_view x;
    team_resource(r->drive.team, resource, &x);
    if (x.held_count > 0) {
        const uint64_t fence = x.held[draw(&r->draws, (uint32_t)x.held_count)].fence;
        send_event(r, t_us,
                   (struct team_event){.kind = TEAM_EVENT_RELEASE,
                                       .robot = TEAM_NONE,
                                       .resource = resource,
                                       .fence = fence});
    }
}

/* People do something about alarms, most times; never the same thing. */
static void react_to_alarm(struct run *r, const struct team_effect *e)
{
    const int64_t t_us = e->t_us + draw_time(r, 8);
    if (e->alarm == TEAM_ALARM_TASK_ERROR && chance(&r->draws, 70)) {
        const bool skip = chance(&r->draws, 20);
        send_event(r, t_us,
                   (struct team_event){.kind = skip ? TEAM_EVENT_SKIP : TEAM_EVENT_RESET,
                                       .robot = e->robot});
        r->skipped |= skip;
    } else if (e->alarm == TEAM_ALARM_BLOCKED && e->resource_count > 0 &&
               chance(&r->draws, 60)) {
        send_release(r, t_us, e->resources[0]);
    } else if (e->alarm == TEAM_ALARM_LEASE_EXPIRED && chance(&r->draws, 60)) {
        send_event(r, t_us, (struct team_event){.kind = TEAM_EVENT_ALIVE, .robot = e->robot});
        send_event(r, t_us + SECOND,
                   (struct team_event){.kind = TEAM_EVENT_RESET, .robot = e->robot});
    } else if (e->alarm == TEAM_ALARM_DEADLOCK && chance(&r->draws, 70)) {
        send_event(r, t_us,
                   (struct team_event){.kind = TEAM_EVENT_ABORT, .robot = e->cycle[0].robot});
        if (e->cycle[0].held_count > 0) {
            send_release(r, t_us + SECOND, e->cycle[0].held[0]);
        }
        send_event(r, t_us + 2 * SECOND,
                   (struct team_event){.kind = TEAM_EVENT_RESET, .robot = e->cycle[0].robot});
    }
}

static void handle_effect(void *context, const struct team_effect *e)
{
    static char text[1 << 16];
    struct run *r = context;
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    team_report_effect(&w, NULL, &r->world->p, e, TEAM_TIME_S);
    if (!json_write_end(&w)) {
        break_law(r, "every effect can be printed");
    }
    r->hash = hash_bytes(r->hash, text, w.used);
    r->lines++;
    if (r->watches) {
        check_effect(r, e);
    }
    if (e->kind == TEAM_GRANT && e->id[0] && chance(&r->draws, 90)) { /* a client's */
        struct team_event unlock = {.kind = TEAM_EVENT_UNLOCK,
                                    .robot = e->robot,
                                    .resource = e->resource,
                                    .fence = e->fence};
        (void)snprintf(unlock.id, sizeof unlock.id, "u%u", (unsigned)e->fence);
        send_event(r, e->t_us + draw_time(r, 9), unlock);
    }
    if (e->kind == TEAM_ALARM && r->world->people) {
        react_to_alarm(r, e);
    }
}

static struct team_event draw_client(struct run *r, uint16_t robot)
{
    struct team_event e = {.kind = TEAM_EVENT_LOCK,
                           .robot = robot,
                           .resource_count = (uint16_t)(1 + draw(&r->draws, 3))};
    for (size_t k = 0; k < e.resource_count; k++) {
        e.resources[k] = (uint16_t)draw(&r->draws, (uint32_t)r->world->p.resource_count +
                                                       chance(&r->draws, 2));
    }
    (void)snprintf(e.id, sizeof e.id, "z%u", draw(&r->draws, 1000));
    return e;
}

/* Sends events that come whatever the team does. */
static void send_script(struct run *r)
{
    const struct team_params *p = &r->world->p;
    struct world copy = *r->world;
    const uint32_t robots = (uint32_t)p->robot_count;
    copy.seed = r->draws;
    for (uint32_t k = draw(&r->draws, 12); r->world->fails && k > 0; k--) {
        static const enum team_event_kind kinds[] = {
            TEAM_EVENT_OFFLINE, TEAM_EVENT_ALIVE,   TEAM_EVENT_ALIVE,  TEAM_EVENT_DONE,
            TEAM_EVENT_FAIL,    TEAM_EVENT_RELEASE, TEAM_EVENT_UNLOCK, TEAM_EVENT_ABORT,
            TEAM_EVENT_RESET,   TEAM_EVENT_START};
        struct team_event e = {.kind = kinds[draw(&r->draws, COUNT(kinds))],
                               .robot = (uint16_t)draw(&r->draws, robots)};
        e.resource = (uint16_t)draw(&r->draws, (uint32_t)p->resource_count);
        e.fence = draw(&r->draws, 20);
        e.n = draw(&r->draws, 9);
        send_event(r, draw_time(r, 60), e);
    }
    for (uint32_t k = draw(&r->draws, 6); k > 0; k--) {
        send_event(r, draw_time(r, 60),
                   (struct team_event){
                       .kind = TEAM_EVENT_JOB, .robot = TEAM_NONE, .job = draw_job(&copy)});
    }
    for (uint16_t i = 0; r->world->clients && i < robots; i++) {
        for (uint32_t k = p->robots[i].sequence == TEAM_NONE ? 4 : draw(&r->draws, 20) == 0;
             k > 0; k--) {
            send_event(r, draw_time(r, 60), draw_client(r, i));
        }
    }
}

/* ---- runs ---------------------------------------------------------------------------------
 */

enum variant { AS_IT_IS, SHUFFLED, MOVED };

static void shuffle_queue(struct run *r)
{
    for (size_t k = r->drive.count; k > 1; k--) {
        const size_t j = draw(&r->shuffles, (uint32_t)k);
        const struct team_due_event swap = r->drive.queue[k - 1];
        r->drive.queue[k - 1] = r->drive.queue[j];
        r->drive.queue[j] = swap;
    }
}

/* The whole state elsewhere, as a checkpoint would bring it back. */
static void move_state(struct run *r)
{
    const size_t bytes = team_bytes(&r->world->p);
    void *there = malloc(bytes);
    assert(there);
    memcpy(there, r->drive.team, bytes);
    memset(r->drive.team, 0xa5, bytes);
    free(r->drive.team);
    r->drive.team = there;
    team_rebind(there, &r->world->p);
}

static void run_team(struct run *r, const struct world *w, uint64_t seed, enum variant variant)
{
    memset(r, 0, sizeof *r);
    r->world = w;
    r->draws = seed ^ 0x5eed;
    r->shuffles = seed;
    r->hash = HASH_START;
    r->watches = variant == AS_IT_IS;
    r->drive = (struct team_drive){.team = team_init(malloc(team_bytes(&w->p)), &w->p),
                                   .p = &w->p,
                                   .duration = draw_duration,
                                   .emit = handle_effect,
                                   .context = r};
    team_drive_start(&r->drive);
    send_script(r);
    for (unsigned k = 0; k < STEPS && !r->ended; k++) {
        if (variant == SHUFFLED) {
            shuffle_queue(r);
        } else if (variant == MOVED && chance(&r->shuffles, 20)) {
            move_state(r);
        }
        r->ended = !team_drive_step(&r->drive);
    }
    free(r->drive.queue);
}

/* ---- at the end, every wait is explained --------------------------------------------------
 */

static bool may_come(const struct run *r, uint16_t robot, uint16_t meeting)
{
    const struct team_params *p = &r->world->p;
    for (size_t k = 0; k < p->step_count; k++) {
        const struct team_sequence *s = &p->sequences[p->robots[robot].sequence % SEQUENCES];
        const bool own = p->robots[robot].sequence == TEAM_NONE ||
                         (k >= s->first && k < s->first + s->count);
        if (own && p->steps[k].meeting == meeting) {
            return true;
        }
    }
    return false;
}

/* Does its wait lead to one of these? */
static bool leads_to(const struct run *r, uint16_t robot, const bool *explained)
{
    uint16_t queue[ROBOTS];
    struct team_robot_view m;
    team_robot(r->drive.team, robot, &m);
    for (uint16_t i = 0; m.phase == TEAM_PHASE_MEETING && i < r->world->p.robot_count; i++) {
        if (i != robot && explained[i] && may_come(r, i, m.step->meeting)) {
            return true;
        }
    }
    for (uint16_t x = 0; m.phase == TEAM_PHASE_WAITING && x < r->world->p.resource_count; x++) {
        const size_t count = team_queue(r->drive.team, x, queue, ROBOTS);
        size_t at = 0;
        while (at < count && queue[at] != robot) {
            at++;
        }
        struct team_resource_view view;
        team_resource(r->drive.team, x, &view);
        for (size_t k = 0; at < count && k < at; k++) {
            if (explained[queue[k]]) {
                return true;
            }
        }
        for (size_t k = 0; at < count && k < view.held_count; k++) {
            if (explained[view.held[k].robot]) {
                return true;
            }
        }
    }
    return false;
}

static void check_end(struct run *r)
{
    bool explained[ROBOTS] = {false};
    bool waits[ROBOTS] = {false};
    const size_t count = r->world->p.robot_count;
    for (uint16_t i = 0; i < count; i++) {
        struct team_robot_view m;
        team_robot(r->drive.team, i, &m);
        waits[i] = m.phase == TEAM_PHASE_WAITING || m.phase == TEAM_PHASE_MEETING;
        /* An activity without end, a partner of one, a client that keeps its locks. */
        const bool stays = m.phase == TEAM_PHASE_ACTIVE || m.phase == TEAM_PHASE_JOINED ||
                           (m.phase == TEAM_PHASE_PARKED && m.held_count > 0) || m.silent;
        explained[i] = waits[i] ? r->reported[i] || m.silent : stays;
        if (m.phase == TEAM_PHASE_BEGIN || m.phase == TEAM_PHASE_RETRY) {
            break_law(r, "no robot stops in the middle");
        }
    }
    for (size_t rounds = 0; rounds < count; rounds++) {
        for (uint16_t i = 0; i < count; i++) {
            explained[i] |= waits[i] && leads_to(r, i, explained);
        }
    }
    for (uint16_t i = 0; i < count; i++) {
        if (waits[i] && !explained[i]) {
            break_law(r, "every wait ends or is reported");
        }
    }
    seen.ended++;
}

static void check_team(uint64_t seed)
{
    static struct world w;
    static struct run plain, other;
    char row[64];
    (void)snprintf(row, sizeof row, "team %llu", (unsigned long long)seed);
    make_world(&w, seed);
    run_team(&plain, &w, seed, AS_IT_IS);
    if (plain.ended) {
        check_end(&plain);
    }
    CHECK_TEXT(row, plain.wrong ? plain.wrong : "", "");
    free(plain.drive.team);
    for (enum variant v = SHUFFLED; v <= MOVED; v++) {
        run_team(&other, &w, seed, v);
        CHECK_INT(row, other.lines, plain.lines);
        CHECK(row, other.hash == plain.hash);
        free(other.drive.team);
    }
}

static void test_teams(void)
{
    const char *text = getenv("TANDEM_RUNS");
    const unsigned long runs = text && *text ? strtoul(text, NULL, 10) : RUNS;
    const uint64_t first = (uint64_t)check_seed(1) * 1000000;
    for (unsigned long k = 0; k < runs; k++) {
        check_team(first + k);
    }
    (void)printf(
        "%lu teams, %lu of them to their end: %lu grants, %lu waits, %lu deadlocks, "
        "%lu blocked, %lu leases, "
        "%lu errors, %lu meetings, %lu jobs, %lu rejected, %lu livelocks, %lu revoked\n",
        runs, seen.ended, seen.grants, seen.waits, seen.deadlocks, seen.blocked, seen.expired,
        seen.errors, seen.meets, seen.jobs, seen.rejects, seen.livelocks, seen.revoked);
    /* It can only hold what was there. */
    CHECK("seen", seen.grants > 0 && seen.waits > 0 && seen.deadlocks > 0 && seen.blocked > 0 &&
                      seen.errors > 0 && seen.meets > 0 && seen.jobs > 0 && seen.rejects > 0 &&
                      seen.revoked > 0 && seen.ended > 0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("teams", NULL, NULL);
    CU_add_test(suite, "random teams", test_teams);
    return check_run();
}
