/* twin/team/live/team_live_command.c - turns the starts of a team into commands to its pairs,
 * and their replies into events. */
#include <math.h>
#include <stdio.h>

#include "base/numbers/constants.h"
#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "twin/pair/pair_run.h"
#include "twin/team/live/team_live_parts.h"
#include "twin/team/live/team_live_thresholds.def"

/* Numbers in commands are rounded to this. */
static const double STEP = 1e-6;

/* ---- ids ----------------------------------------------------------------------------------
 */

/* Makes "<team>-<job>-<robot>-<life>-<n>", without a job if there is none, and without a life
 * before a start of the daemon. Names that are too long are cut and get a hash. An id depends
 * only on the state and is never used again. */
static void make_id(const struct team_live_run *run, struct team_live_robot *r,
                    const char *robot, char id[EVENT_ID_MAX])
{
    const unsigned long long n = ++r->commands + run->live->counts.numbers_skipped;
    const char *job = r->job;
    char life[TEAM_LIVE_LIFE_MAX] = "";
    if (run->live->life_us > 0) {
        (void)snprintf(life, sizeof life, "-%llx",
                       (unsigned long long)run->live->life_us / 1000);
    }
    const int bytes = snprintf(id, EVENT_ID_MAX, "%s-%s%s%s%s-%llu", run->p->name, job,
                               job[0] ? "-" : "", robot, life, n);
    if (bytes >= EVENT_ID_MAX) {
        uint64_t hash = hash_bytes(HASH_START, run->p->name, strlen(run->p->name) + 1);
        hash = hash_bytes(hash, job, strlen(job) + 1);
        hash = hash_bytes(hash, robot, strlen(robot));
        hash = hash_bytes(hash, life, strlen(life));
        (void)snprintf(id, EVENT_ID_MAX, "%.8s-%016llx-%llu", run->p->name,
                       (unsigned long long)hash, n);
    }
}

static void remember_command(struct team_live_robot *r, const char *id, uint32_t n)
{
    struct team_live_command *sent = &r->sent[r->commands % TEAM_LIVE_COMMANDS];
    sent->id_hash = hash_text(id);
    sent->n = n;
    sent->arrived[SIDE_REAL] = sent->arrived[SIDE_VIRTUAL] = false;
    sent->task = r->task;
    sent->arg = r->arg;
    memcpy(sent->job, r->job, sizeof sent->job);
}

void team_live_label_entry(const struct team_live_run *run, uint16_t robot, struct entry *entry)
{
    const struct team_params *p = run->p;
    const struct team_live_robot *r = team_live_robot(run->live, p, robot);
    const uint64_t hash = entry->id[0] ? hash_text(entry->id) : 0;
    for (size_t k = 0; hash != 0 && k < TEAM_LIVE_COMMANDS; k++) {
        const struct team_live_command *sent = &r->sent[k];
        if (sent->id_hash == hash && sent->task < p->task_count) {
            (void)snprintf(entry->team, sizeof entry->team, "%s", p->name);
            memcpy(entry->job, sent->job, sizeof entry->job);
            team_task_text(p, sent->task, sent->arg, entry->task, sizeof entry->task);
            team_live_learn_entry(run, robot, sent, entry);
            team_live_add_entry(run, robot, sent->n, entry);
            return;
        }
    }
}

/* ---- outgoing commands
 * -------------------------------------------------------------------- */

/* Sends a command to the pair, as if L1 had sent it. False: it is not a valid command. */
static bool command_pair(const struct team_live_run *run, uint32_t pair, const char *raw,
                         size_t bytes)
{
    struct message message = {.t_us = run->t_us,
                              .topic = "t/p/command",
                              .payload = raw,
                              .stored_bytes = bytes,
                              .payload_bytes = bytes};
    struct event event = {.kind = EVENT_KIND_COUNT};
    (void)codec_native.decode("t", &message, codec_copy_event, &event);
    if (event.kind != EVENT_COMMAND || bytes > EVENT_RAW_MAX) {
        return false;
    }
    run->live->counts.commands++;
    run->live->course.owed++;
    run->command(run->context, pair, &event);
    return true;
}

static void fail_activity(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    r->id[0] = '\0';
    r->leg = TEAM_LIVE_LEG_NONE;
    team_live_signal(run, TEAM_EVENT_FAIL, robot, r->n);
}

/* Appends the members of the task's payload, with {arg} replaced; 0: too long. */
static size_t append_payload(char *raw, size_t used, size_t size, const char *payload,
                             const char *arg)
{
    static const char mark[] = "{arg}";
    const char *at = strchr(payload, '{');
    const char *end = strrchr(payload, '}');
    if (!at || !end || at + 1 + strspn(at + 1, " \t\r\n") >= end) {
        return used;
    }
    raw[used++] = ',';
    for (at++; at < end && used < size; at++) {
        if (strncmp(at, mark, sizeof mark - 1) == 0) {
            const int n = snprintf(raw + used, size - used, "%s", arg);
            used += (size_t)n;
            at += sizeof mark - 2;
        } else {
            raw[used++] = *at;
        }
    }
    return used < size ? used : 0;
}

static size_t write_command(const struct team_live_run *run, const struct team_live_robot *r,
                            const char *op, const double move[2], char *raw, size_t size)
{
    size_t used = JSON_FORMAT(
        raw, size, JSON("id", r->leg == TEAM_LIVE_LEG_NONE ? r->halt : r->id), JSON("op", op),
        JSON_IF(move && fabs(move[0]) > 0.0, JSON("rotation_rad", move[0])),
        JSON_IF(move && fabs(move[1]) > 0.0, JSON("displacement_m", move[1])));
    if (used > 0 && r->leg == TEAM_LIVE_LEG_OP) {
        used = append_payload(raw, used - 1, size - 1, run->p->tasks[r->task].payload,
                              team_name(run->p, r->arg));
        raw[used++] = '}';
        used = used > 1 ? used : 0;
    }
    return used;
}

/* Sends the command of r->leg. */
static void send_leg(const struct team_live_run *run, uint16_t robot, const double move[2])
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    char raw[4 * EVENT_RAW_MAX];
    const char *op = r->leg == TEAM_LIVE_LEG_OP ? run->p->tasks[r->task].op : "go";
    make_id(run, r, run->p->robots[robot].name, r->id);
    remember_command(r, r->id, r->n);
    const size_t bytes = write_command(run, r, op, move, raw, sizeof raw);
    if (r->pair == TEAM_LIVE_NO_PAIR || op[0] == '\0' || bytes == 0 ||
        !command_pair(run, r->pair, raw, bytes)) {
        fail_activity(run, robot);
    }
}

static void send_halt(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    const uint8_t leg = r->leg;
    char raw[EVENT_RAW_MAX];
    r->halt_due = false;
    if (r->pair == TEAM_LIVE_NO_PAIR || r->gone) {
        return; /* the halt stays owed */
    }
    make_id(run, r, run->p->robots[robot].name, r->halt);
    remember_command(r, r->halt, 0);
    run->live->counts.halts++;
    r->leg = TEAM_LIVE_LEG_NONE;
    const size_t bytes = write_command(run, r, "halt", NULL, raw, sizeof raw);
    r->leg = leg;
    if (!command_pair(run, r->pair, raw, bytes)) {
        r->halt[0] = '\0';
    }
}

/* ---- legs ---------------------------------------------------------------------------------
 */

static double wrap_angle(double rad)
{
    return remainder(rad, 2.0 * PI);
}

/* Plans a turn and then a distance, like the legs of layer 1. False: the robot is there
 * already. */
static bool plan_go(const struct team_live_robot *r, const struct team_position *to,
                    double move[2])
{
    const double dx = to->x_m - r->pose[0];
    const double dy = to->y_m - r->pose[1];
    move[1] = STEP * round(hypot(dx, dy) / STEP);
    move[0] = STEP * round(wrap_angle(atan2(dy, dx) - r->pose[2]) / STEP);
    return move[1] >= LEAST_M;
}

static bool plan_turn(const struct team_live_robot *r, const struct team_position *to,
                      double move[2])
{
    move[1] = 0.0;
    move[0] = isnan(to->heading_rad)
                  ? 0.0
                  : STEP * round(wrap_angle(to->heading_rad - r->pose[2]) / STEP);
    return fabs(move[0]) >= LEAST_RAD;
}

/* Returns the next leg of a task to a position, from the robot's present pose. NONE: no leg is
 * left. */
static enum team_live_leg next_leg(const struct team_live_robot *r,
                                   const struct team_position *to, double move[2])
{
    if (!r->posed) {
        return TEAM_LIVE_LEG_LOCATE;
    }
    if (r->leg < TEAM_LIVE_LEG_GO && plan_go(r, to, move)) {
        return TEAM_LIVE_LEG_GO;
    }
    return r->leg < TEAM_LIVE_LEG_TURN && plan_turn(r, to, move) ? TEAM_LIVE_LEG_TURN
                                                                 : TEAM_LIVE_LEG_NONE;
}

static void run_leg(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    const bool moves = run->p->tasks[r->task].to_position;
    const struct team_position *to = moves ? team_position(run->p, robot, r->arg) : NULL;
    double move[2] = {0.0, 0.0};
    const enum team_live_leg leg = to                             ? next_leg(r, to, move)
                                   : r->leg == TEAM_LIVE_LEG_NONE ? TEAM_LIVE_LEG_OP
                                                                  : TEAM_LIVE_LEG_NONE;
    const bool lost = leg == TEAM_LIVE_LEG_LOCATE && r->leg >= TEAM_LIVE_LEG_LOCATE;
    if ((moves && !to) || lost) {
        fail_activity(run, robot); /* no such position, or the pose is unknown */
    } else if (leg == TEAM_LIVE_LEG_NONE) {
        r->id[0] = '\0';
        r->leg = TEAM_LIVE_LEG_NONE;
        team_live_signal(run, TEAM_EVENT_DONE, robot, r->n);
    } else {
        r->leg = (uint8_t)leg;
        send_leg(run, robot, move);
    }
}

void team_live_send(const struct team_live_run *run, uint16_t robot)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    if (r->halt_due) {
        send_halt(run, robot);
    }
    if (r->leg_due) {
        r->leg_due = false;
        run_leg(run, robot);
    }
}

/* ---- effects of activities
 * ---------------------------------------------------------------- */

void team_live_begin_activity(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_robot *r = &team_live_robots(run->live)[effect->robot];
    run->live->counts.activities++;
    r->n = effect->n;
    r->task = effect->step->task;
    r->arg = effect->step->arg;
    r->leg = TEAM_LIVE_LEG_NONE;
    r->id[0] = '\0';
    r->posed = r->posed && !r->over; /* after an error the pose is unknown */
    r->over = false;
    r->leg_due = true;
    team_live_mark_due(run, effect->robot);
}

void team_live_halt_robot(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_robot *r = &team_live_robots(run->live)[effect->robot];
    r->over = true;
    r->leg_due = false;
    r->halt_due = true;
    r->halt_owed = true;
    team_live_mark_due(run, effect->robot);
}

/* Ends an activity that failed although its command still runs: timed out, or ended by a
 * person. */
void team_live_end_activity(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_robot *r = &team_live_robots(run->live)[effect->robot];
    r->over = true;
    r->leg_due = false;
    if (r->id[0]) {
        r->halt_due = true;
        r->halt_owed = true;
        team_live_mark_due(run, effect->robot);
    }
}

/* ---- replies ------------------------------------------------------------------------------
 */

static bool is_done(const struct team_live_robot *r, const struct effect *effect)
{
    const enum reply_status status = effect->payload.status;
    const enum side own = r->virtual_only ? SIDE_VIRTUAL : SIDE_REAL;
    return effect->payload.from == own &&
           (status == REPLY_DONE || (status == REPLY_DATA && r->leg == TEAM_LIVE_LEG_OP));
}

void team_live_apply_reply(const struct team_live_run *run, uint16_t robot,
                           const struct effect *effect)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    const char *id = effect->payload.id;
    if (id[0] && strcmp(id, r->halt) == 0) {
        r->halt[0] = '\0';
        r->halt_owed = effect->payload.from == SIDE_COUNT;
        return;
    }
    if (!id[0] || strcmp(id, r->id) != 0) {
        return;
    }
    run->live->version++;
    const bool done = is_done(r, effect);
    if (r->over && (!done || r->leg == TEAM_LIVE_LEG_LOCATE)) {
        r->id[0] = '\0'; /* it ended as commanded, or early */
    } else if (!done) {
        fail_activity(run, robot);
    } else if (r->over) {
        r->id[0] = '\0';
        team_live_signal(run, TEAM_EVENT_DONE, robot, r->n);
    } else {
        r->leg_due = true;
        team_live_mark_due(run, robot);
    }
}

/* ---- after a start ------------------------------------------------------------------------
 */

/* Finds a recent command by its id; NULL: none. */
static const struct team_live_command *find_sent(const struct team_live_robot *r,
                                                 const char *id)
{
    const uint64_t hash = hash_text(id);
    for (size_t k = 0; k < TEAM_LIVE_COMMANDS; k++) {
        if (r->sent[k].id_hash == hash) {
            return &r->sent[k];
        }
    }
    return NULL;
}

/* A command whose activity was given up is not sent again. */
static bool may_lack(const struct team_live_robot *r, const char *id, enum side side)
{
    const struct team_live_command *sent = find_sent(r, id);
    const bool over = r->over && side == SIDE_REAL && strcmp(r->id, id) == 0;
    return sent && !sent->arrived[side] && !over;
}

void team_live_confirm_command(struct team_live_robot *r, const char *id, enum side side)
{
    const struct team_live_command *sent = find_sent(r, id);
    if (sent) {
        r->sent[sent - r->sent].arrived[side] = true;
    }
}

void team_live_resend(const struct team_live *live, const struct team_params *p, uint16_t robot,
                      const struct pair *pair, const struct effects *fx)
{
    const struct team_live_robot *r = team_live_robot(live, p, robot);
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        const struct pair_relay *relay = pair_relay(pair, k);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (pair_slot_owed(slot, s) && may_lack(r, slot->id, s)) {
                const struct effect again = {
                    .kind = EFFECT_COMMAND,
                    .pair = pair->index,
                    .t_us = slot->sent_us[s],
                    .side = s,
                    .payload = {.text = relay->raw, .bytes = relay->raw_bytes}};
                fx->emit(fx->context, &again);
            }
        }
    }
}
