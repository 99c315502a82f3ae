#include "twin/pair/pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "twin/pair/pair_machines.h"
#include "twin/pair/pair_run.h"
#include "twin/pair/pair_thresholds.def"

/* ---- effects of a step
 * -------------------------------------------------------------------- */

void pair_emit(const struct pair_run *run, struct effect effect)
{
    effect.pair = run->pair->index;
    effect.t_us = run->t_us;
    run->fx->emit(run->fx->context, &effect);
}

void pair_emit_history(const struct pair_run *run, enum side side)
{
    struct pair *pair = run->pair;
    const uint64_t n = pair->history + 1;
    pair->history += side == SIDE_COUNT ? SIDE_COUNT : 1;
    pair_emit(run, (struct effect){.kind = EFFECT_HISTORY, .side = side, .n = n});
}

void pair_emit_payload(const struct pair_run *run, enum effect_kind kind, enum side side,
                       const char *text, size_t bytes)
{
    pair_emit(run, (struct effect){
                       .kind = kind, .side = side, .payload = {.text = text, .bytes = bytes}});
}

bool pair_alarm_allow(struct pair_alarm_rate *rate, uint64_t count, int64_t t_us)
{
    const double passed_s = lab_s(t_us - rate->t_us);
    const double tokens = count == 1 ? ALARM_BURST : rate->tokens + ALARM_RATE_HZ * passed_s;
    rate->tokens = tokens < ALARM_BURST ? tokens : ALARM_BURST;
    rate->t_us = t_us;
    if (rate->tokens < 1.0) {
        rate->suppressed++;
        return false;
    }
    rate->tokens -= 1.0;
    return true;
}

void pair_alarm_since(const struct pair_run *run, enum alarm_code code, enum side side,
                      const char *id, int64_t since_us, const char *format, ...)
{
    struct pair *pair = run->pair;
    const enum alarm_type type = alarm_code_type(code);
    pair->counts.alarm[type]++;
    pair->alarm_rate[type].code = (uint32_t)code;
    if (!pair_alarm_allow(&pair->alarm_rate[type], pair->counts.alarm[type], run->t_us)) {
        return;
    }
    pair->counts.alarms++;
    struct alarm alarm = {.pair = pair->index,
                          .n = pair->counts.alarms + pair->counts.numbers_skipped,
                          .t_us = run->t_us,
                          .since_us = since_us,
                          .type = type,
                          .code = alarm_code_name(code),
                          .side = side,
                          .suppressed = pair->alarm_rate[type].suppressed};
    pair->alarm_rate[type].suppressed = 0;
    (void)snprintf(alarm.id, sizeof alarm.id, "%s", id);
    TEXT_FORMAT(alarm.detail, sizeof alarm.detail, format);
    pair_emit(run, (struct effect){.kind = EFFECT_ALARM, .side = side, .alarm = &alarm});
}

/* ---- the logger's machine -----------------------------------------------------------------
 */

static void sense_command(void *context, unsigned cycle, int64_t t_us)
{
    struct command_run *c = context;
    const struct pair_slot *slot = c->slot;
    c->in = (struct command_in){.command = c->command && cycle == 0,
                                .t_s = lab_s(slot->t_us),
                                .now_s = lab_s(t_us),
                                .cycle_s = lab_s(c->run->p->link_cycle_us)};
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        c->in.expected[s] = slot->expected[s];
        c->in.answered[s] = slot->answered[s] && !slot->timed_out[s];
        c->in.timed_out[s] = slot->timed_out[s];
        c->in.lap_s[s] =
            c->in.answered[s] ? lab_s(slot->reply_us[s] - slot->sent_us[s]) : nan("");
    }
}

void pair_run_command(const struct pair_run *run, struct pair_slot *slot, bool command,
                      const struct efsm_machine *machine, efsm_commit *commit)
{
    struct command_run c = {.run = run, .slot = slot, .command = command};
    struct efsm_machine fed = *machine;
    fed.in = &c.in;
    const struct efsm_network net = {&fed, 1, sense_command, commit, &c, &run->pair->trace, 0};
    (void)efsm_run_instant(&net, run->t_us);
}

/* LOG is the state that writes the entry. */
static void commit_log(void *context, unsigned cycle, int64_t t_us)
{
    const struct command_run *c = context;
    (void)cycle;
    (void)t_us;
    if (c->slot->logger.state == SMARTLOG_LOG) {
        pair_write_entry(c->run, c->slot);
    }
}

/* Steps the command's machines with its new state; frees the slot when they have finished. */
static void step_slot(const struct pair_run *run, struct pair_slot *slot, bool command)
{
    struct pair *pair = run->pair;
    const int k = slot->place;
    if (run->p->mode == PAIR_LINK) {
        pair_link_step(run, slot, command);
    }
    pair_run_command(run, slot, command,
                     &(struct efsm_machine){.table = &smartlog_table,
                                            .m = &slot->logger,
                                            .stats = &pair->logger_stats,
                                            .number = (uint16_t)k},
                     commit_log);
    if (slot->logger.state == SMARTLOG_IDLE) {
        pair->open_mask &= ~(UINT64_C(1) << k);
        pair->outstanding--;
    }
}

void pair_update_deadline(const struct pair_run *run, int64_t other_us)
{
    struct pair *pair = run->pair;
    int64_t deadline_us = other_us;
    if (pair->correction.awaited_us < deadline_us) {
        deadline_us = pair->correction.awaited_us;
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (pair->side[s].next_probe_us < deadline_us) {
            deadline_us = pair->side[s].next_probe_us;
        }
        for (int k = -1; pair_next_open(pair, &k);) {
            const struct pair_slot *slot = pair_look_slot(pair, k);
            if (pair_slot_owed(slot, s) && pair_timeout_of(run, slot, s) < deadline_us) {
                deadline_us = pair_timeout_of(run, slot, s);
            }
            const int64_t late_us = pair_eta_deadline(run->p, slot, s);
            deadline_us = late_us < deadline_us ? late_us : deadline_us;
        }
    }
    pair->deadline_us = deadline_us;
}

/* ---- commands -----------------------------------------------------------------------------
 */

static struct pair_slot *open_slot(const struct pair_run *run)
{
    struct pair *pair = run->pair;
    const struct event_command *c = &run->event->command;
    int k = 0;
    while (pair->open_mask >> k & 1U) {
        k++;
    }
    struct pair_slot *slot = pair_slot_at(pair, k);
    memset(slot, 0, sizeof *slot);
    slot->place = k;
    pair->open_mask |= UINT64_C(1) << k;
    pair->outstanding++;
    slot->order = pair->order++;
    slot->t_us = run->t_us;
    slot->away_us = pair->away_us;
    slot->command_ambiguous = run->event->ambiguous;
    slot->rotation_rad = c->rotation_rad;
    slot->displacement_m = c->displacement_m;
    memcpy(slot->id, c->id, sizeof slot->id);
    memcpy(slot->op, c->op, sizeof slot->op);
    efsm_reset(&smartlog_table, &slot->logger, run->t_us);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        slot->expected[s] = true;
        slot->motion_us[s] = LAB_TIME_NONE;
        slot->transport_us[s] = LAB_TIME_NONE;
        slot->clock_sd_us[s] = nan("");
    }
    pair_arm_open(run, slot);
    return slot;
}

/* Observed robots received a command that is not tracked, and they count it. */
static void count_passed(const struct pair_run *run)
{
    run->pair->order += run->p->mode != PAIR_LINK;
}

/* Refuses a command, which is then not tracked. Returns true. */
static bool refuse_command(const struct pair_run *run, enum alarm_code code, const char *why)
{
    const struct event_command *c = &run->event->command;
    pair_alarm(run, code, SIDE_COUNT, c->id, "%s", why);
    pair_write_unfollowed(run, VERDICT_OVERFLOW);
    if (run->p->mode == PAIR_LINK) {
        pair_link_record_end(run, c->id, (struct delivery_outcome){DELIVERY_REFUSED, 0, 0});
        pair_link_refuse(run, c->id, alarm_code_name(code), why);
    }
    count_passed(run);
    return true;
}

/* From now on a reply without id may answer another command than its order suggests. */
static void start_ambiguity(struct pair *pair)
{
    pair->ambiguous_seen = true;
    pair->side[SIDE_REAL].idle_us = LAB_TIME_NONE;
    pair->side[SIDE_VIRTUAL].idle_us = LAB_TIME_NONE;
}

/* The command may be a repetition. Link mode does not send it, so that no robot moves twice. */
static bool refuse_ambiguous(const struct pair_run *run)
{
    if (!run->event->ambiguous) {
        return false;
    }
    const bool link = run->p->mode == PAIR_LINK;
    pair_alarm(run, ALARM_COMMAND_AMBIGUOUS, SIDE_COUNT, "",
               "a command: it has no id, and may be one that was delivered before%s",
               link ? "; it was not sent" : "");
    start_ambiguity(run->pair);
    if (link) {
        pair_write_unfollowed(run, VERDICT_UNRESOLVED);
        pair_link_refuse(run, "", alarm_code_name(ALARM_COMMAND_AMBIGUOUS),
                         "it has no id, and may be one that was delivered before");
    }
    return link;
}

/* Replies without an id are matched by their order. The order is certain again once a side owed
 * no reply when a command came, after the messages of a gap. */
static void update_idle(const struct pair_run *run)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (pair_count_owed(run->pair, s) == 0) {
            run->pair->side[s].idle_us = run->t_us;
        }
    }
}

/* Refuses a command for which there is no room. */
static bool refuse_overflow(const struct pair_run *run)
{
    const struct pair_params *p = run->p;
    const bool link = p->mode == PAIR_LINK;
    const bool waits = link && !pair_link_overtakes(run->event->command.op);
    if (run->pair->outstanding >= p->outstanding_max) {
        return refuse_command(run, ALARM_OUTSTANDING_FULL, "too many commands are open");
    }
    if (waits && pair_link_waiting(run, SIDE_REAL) >= p->queue_max) {
        return refuse_command(run, ALARM_REAL_QUEUE_FULL,
                              "the queue of the real robot is full");
    }
    if (waits && pair_link_waiting(run, SIDE_VIRTUAL) >= p->queue_max) {
        return refuse_command(run, ALARM_VIRTUAL_QUEUE_FULL,
                              "the queue of the virtual robot is full");
    }
    if (link && run->event->command.raw_bytes > EVENT_RAW_MAX) {
        return refuse_command(
            run, ALARM_COMMAND_TOO_LONG,
            "the command is longer than the 256 bytes that the link can hold");
    }
    return false;
}

/* After a halt, waiting commands would set the robot in motion again, so they are withdrawn. */
static void withdraw_waiting(const struct pair_run *run)
{
    for (int k = -1; pair_next_open(run->pair, &k);) {
        struct pair_slot *slot = pair_slot_at(run->pair, k);
        if (pair_link_withdraw(run, slot)) {
            step_slot(run, slot, false);
        }
    }
}

/* A count that restarts belongs to another sender, or to the same one after a restart.
 * Malformed commands have arrived, whatever their counts were. */
void pair_check_command_seq(const struct pair_run *run)
{
    struct pair *pair = run->pair;
    const struct event_command *c = &run->event->command;
    const int64_t before = pair->command_seq;
    if (c->seq < 0) {
        return;
    }
    const int64_t missing =
        c->seq - before - 1 - (int64_t)(pair->malformed - pair->malformed_seq);
    if (before >= 0 && missing > 0) {
        pair_alarm(run, ALARM_COMMAND_SEQ_GAP, SIDE_COUNT, c->id,
                   "the commands' seq jumps to %lld after %lld: %lld commands were lost",
                   (long long)c->seq, (long long)before, (long long)missing);
    }
    pair->command_seq = c->seq;
    pair->malformed_seq = pair->malformed;
}

/* Robots with their own topics: the second one to get an open command begins its own lap. */
static bool join_command(const struct pair_run *run)
{
    const struct event *e = run->event;
    struct pair_slot *slot =
        e->side < SIDE_COUNT && e->command.id[0] && run->p->mode != PAIR_LINK
            ? pair_find_slot(run->pair, e->command.id)
            : NULL;
    if (!slot || slot->delivered[e->side]) {
        return false;
    }
    slot->delivered[e->side] = true;
    slot->sent_us[e->side] = run->t_us;
    return true;
}

static void on_command(const struct pair_run *run)
{
    struct pair *pair = run->pair;
    const struct event_command *c = &run->event->command;
    pair->counts.commands++;
    pair_check_command_seq(run);
    update_idle(run);
    if (refuse_ambiguous(run)) {
        return;
    }
    if (join_command(run)) {
        return;
    }
    if (c->id[0] && pair_find_slot(pair, c->id)) {
        pair_alarm(run, ALARM_COMMAND_REPEATED, SIDE_COUNT, c->id,
                   "another command with this id is still open");
        count_passed(run);
        return;
    }
    if (run->p->mode == PAIR_LINK && strcmp(c->op, "halt") == 0) {
        withdraw_waiting(run);
    }
    if (run->p->mode == PAIR_LINK && run->deliveries && c->id[0]) {
        delivery_add_id(run->deliveries, run->p->id, c->id, run->t_us);
    }
    if (refuse_overflow(run)) {
        return;
    }
    struct pair_slot *slot = open_slot(run);
    if (run->p->mode == PAIR_LINK) {
        pair_link_open(run, slot);
        pair_link_expect(pair, run->p, slot->expected);
        pair_dispatch(run);
    } else {
        /* The robots received it when we did. */
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            slot->sent[s] = true;
            slot->sent_us[s] = run->t_us;
            slot->delivered[s] = run->event->side == s || run->event->side == SIDE_COUNT;
        }
        pair_forecast_sent(run, slot, 1U << SIDE_REAL | 1U << SIDE_VIRTUAL);
    }
    step_slot(run, slot, true);
}

/* ---- replies ------------------------------------------------------------------------------
 */

static void report_clock_jump(const struct pair_run *run, enum side side,
                              enum clock_map_outcome outcome)
{
    if (outcome == CLOCK_MAP_JUMPED) {
        pair_alarm(run, ALARM_CLOCK_SET, side, "", "the %s robot's clock was set by %+.3f s",
                   side_name(side), lab_s(run->pair->side[side].clock.last_jump_us));
        run->changes->clock_set = true;
    }
}

/* sim_us: NULL if the message has no simulated time. */
static void apply_stamp(const struct pair_run *run, enum side side, int64_t source_us,
                        const int64_t *sim_us)
{
    const bool simulated = run->p->source_clock[side] == PAIR_CLOCK_SIMULATION;
    if (sim_us || (simulated && source_us != LAB_TIME_NONE)) {
        pace_sample(&run->pair->side[side].pace, run->t_us, sim_us ? *sim_us : source_us);
    }
    if (source_us != LAB_TIME_NONE && !simulated) {
        report_clock_jump(run, side,
                          clock_map_sample(&run->pair->side[side].clock, &run->p->clock,
                                           run->t_us, source_us));
    }
}

/* Returns the robot's clock when it sent its reply: at the end of the move, or later on
 * purpose. */
static int64_t reply_clock_us(const struct event_reply *r)
{
    return r->source_us == LAB_TIME_NONE ? LAB_TIME_NONE : r->source_us + lab_us(r->held_s);
}

/* A robot that received more commands than we did got commands that were lost on their way to
 * us, or one twice. Fewer: commands were lost on their way to the robot, or not sent to it,
 * which their entries show. An observed robot may or may not count malformed ones. */
static void check_command_count(const struct pair_run *run, const struct pair_slot *slot)
{
    const struct event *e = run->event;
    const struct pair *pair = run->pair;
    struct pair_side *side = &run->pair->side[e->side];
    if (e->reply.commands < 1) {
        return;
    }
    const int64_t ahead = e->reply.commands - (int64_t)slot->order;
    const bool observed = run->p->mode != PAIR_LINK;
    const int64_t excuse = observed ? (int64_t)(pair->malformed - side->excused) : 0;
    if (side->counts && ahead > side->ahead + excuse) {
        pair_alarm(run, ALARM_COMMAND_COUNT_GAP, e->side, slot->id,
                   "the %s robot has got %lld commands that never came here, or came once and "
                   "reached it twice",
                   side_name(e->side), (long long)(ahead - side->ahead));
    }
    side->counts = true;
    side->ahead = ahead;
    if (slot->order >= pair->malformed_order) { /* it came after the last of them */
        side->excused = pair->malformed;
    }
}

static void record_reply(const struct pair_run *run, struct pair_slot *slot)
{
    const struct event *e = run->event;
    const enum side side = e->side;
    const enum side other = side == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
    const struct event_reply *r = &e->reply;
    const struct clock_map *map = &run->pair->side[side].clock;
    slot->answered[side] = true;
    slot->reply_us[side] = run->t_us;
    slot->away_us = run->pair->away_us > slot->away_us ? run->pair->away_us : slot->away_us;
    slot->status[side] = (uint8_t)r->status;
    slot->uncalibrated[side] = r->uncalibrated;
    if (r->source_us != LAB_TIME_NONE) {
        if (run->p->source_clock[side] == PAIR_CLOCK_WALL) {
            slot->transport_us[side] =
                clock_map_transport_us(map, run->t_us, reply_clock_us(r));
            slot->clock_sd_us[side] =
                clock_map_is_implausible(map) ? nan("") : clock_map_sd_us(map, run->t_us);
        }
        if (r->source_start_us != LAB_TIME_NONE && r->source_start_us <= r->source_us &&
            pair_motion_fits(run, slot, lab_s(r->source_us - r->source_start_us))) {
            slot->motion_us[side] = r->source_us - r->source_start_us;
        }
    }
    const bool second = slot->answered[other] && !slot->timed_out[other];
    if (slot->ambiguous[SIDE_REAL] || slot->ambiguous[SIDE_VIRTUAL]) {
        return; /* it may not be the reply to this command: nothing to compare */
    }
    if (second) {
        pair_read_poses(run, slot, other, r, &run->changes->poses);
    }
    run->pair->counts.values_omitted += r->values_omitted;
    if (!second) {
        run->pair->counts.values_omitted += pair_store_values(slot, r);
    } else if (pair_reply_differs(slot, other, r, run->p, run->changes->differs)) {
        slot->consistency = INCONSISTENT;
        pair_alarm(run, ALARM_REPLIES_DIFFER, SIDE_COUNT, slot->id, "%s",
                   run->changes->differs);
        if (run->p->mode == PAIR_LINK) {
            pair_link_notice(run, slot);
        }
    } else {
        slot->consistency = CONSISTENT;
    }
}

/* Reports that a reply may not belong to this command. fits: commands that it may answer. slot:
 * NULL: none. */
static void report_ambiguous(const struct pair_run *run, struct pair_slot *slot, uint32_t fits)
{
    const struct event *e = run->event;
    const bool unsure = (run->pair->gap_us != LAB_TIME_NONE || run->pair->ambiguous_seen) &&
                        run->pair->side[e->side].idle_us <= run->pair->gap_us;
    if (e->ambiguous) {
        pair_alarm(run, ALARM_REPLY_AMBIGUOUS, e->side, slot ? slot->id : "",
                   "a reply of the %s robot: it has no id, and may have been delivered before",
                   side_name(e->side));
        start_ambiguity(run->pair);
    } else if (slot && e->reply.id[0] == '\0' && fits > 1 && unsure) {
        pair_alarm(run, ALARM_REPLY_ORDER_AMBIGUOUS, e->side, slot->id,
                   "a reply of the %s robot without id fits %u open commands, and others may "
                   "have been lost: it counts as that of the oldest",
                   side_name(e->side), fits);
    } else {
        return;
    }
    if (slot) {
        slot->ambiguous[e->side] = true;
    }
}

static void on_reply(const struct pair_run *run)
{
    run->pair->counts.replies++;
    const struct event_reply *r = &run->event->reply;
    apply_stamp(run, run->event->side, reply_clock_us(r), r->has_sim ? &r->sim_us : NULL);
    const uint32_t fits = pair_count_owed(run->pair, run->event->side);
    struct pair_slot *slot = pair_match_reply(run);
    report_ambiguous(run, slot, fits);
    if (!slot) {
        return;
    }
    record_reply(run, slot);
    pair_arm_reply(run, slot);
    check_command_count(run, slot);
    step_slot(run, slot, false);
    if (run->p->mode == PAIR_LINK) {
        pair_dispatch(run);
    }
}

/* ---- other messages of the sides
 * ---------------------------------------------------------- */

static void restart_side(const struct pair_run *run, struct pair_side *side)
{
    clock_map_restart(&side->clock);
    side->counts = false;
    side->pace = (struct pace){0};
    run->changes->restarted = true;
    if (run->event->side == SIDE_VIRTUAL) {
        pair_resend_parameters(run);
    }
}

static void check_boot(const struct pair_run *run, struct pair_side *side, const char *boot)
{
    const enum side s = run->event->side;
    if (boot[0] == '\0' || strcmp(side->boot, boot) == 0) {
        return;
    }
    if (side->boot[0]) {
        pair_alarm(run, ALARM_BOOT_CHANGED, s, "",
                   "the %s robot restarted (boot %s, before %s)", side_name(s), boot,
                   side->boot);
        restart_side(run, side);
        side->last_seq = -1;
    }
    (void)snprintf(side->boot, sizeof side->boot, "%s", boot);
}

static void check_seq(const struct pair_run *run, struct pair_side *side, int64_t seq)
{
    const enum side s = run->event->side;
    if (seq < 0) {
        return;
    }
    if (seq <= 1 && side->last_seq > 1 && !run->event->dup &&
        run->event->telemetry.boot[0] == '\0') {
        pair_alarm(run, ALARM_SEQ_RESTARTED, s, "",
                   "the %s robot's seq restarted at %lld, before %lld", side_name(s),
                   (long long)seq, (long long)side->last_seq);
        restart_side(run, side);
    } else if (side->last_seq >= 0 && seq > side->last_seq + 1) {
        side->seq_missing += (uint64_t)(seq - side->last_seq - 1);
    } else if (seq <= side->last_seq) {
        return; /* an older one, delivered late or again */
    }
    side->last_seq = seq;
}

static void on_telemetry(const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    struct pair_side *side = &run->pair->side[run->event->side];
    side->telemetry++;
    check_boot(run, side, m->boot);
    const int64_t last_seq = side->last_seq;
    check_seq(run, side, m->seq);
    apply_stamp(run, run->event->side, m->source_us, m->has_sim ? &m->sim_us : NULL);
    if (m->nu_count > 0) {
        side->nu_count = (uint8_t)m->nu_count;
        memcpy(side->nu, m->nu, m->nu_count * sizeof m->nu[0]);
    }
    if (m->pose_count > 0) {
        side->pose_count = (uint8_t)m->pose_count;
        memcpy(side->pose, m->pose, m->pose_count * sizeof m->pose[0]);
    }
    run->changes->old = m->seq >= 0 && side->last_seq == last_seq && m->seq <= last_seq;
    run->changes->repeated = m->seq == last_seq;
    pair_count_pause(run, m->paused == 1 && !run->event->retained);
    pair_arm_watch(run);
}

static void on_connection(const struct pair_run *run)
{
    const struct event_connection *c = &run->event->connection;
    const enum side s = run->event->side;
    struct pair_side *side = &run->pair->side[s];
    /* A retained "offline" from earlier is not new. */
    if (!c->online && (side->online || (!side->known && !run->event->retained))) {
        pair_alarm(run, ALARM_ROBOT_OFFLINE, s, "", "the %s robot went offline%s%s",
                   side_name(s), c->reason[0] ? ": " : "", c->reason);
    }
    side->known = true;
    side->online = c->online;
    if (c->online) {
        pair_version_receive(run);
        check_boot(run, side, c->boot);
    }
}

static void on_echo(const struct pair_run *run)
{
    const struct event_echo *c = &run->event->echo;
    const enum side s = run->event->side;
    struct pair_side *side = &run->pair->side[s];
    /* A robot with single precision cannot echo the exact send time. Probes of an earlier run
     * in a recording are unknown, so only their echoes count. */
    const bool known =
        c->probe > 0 && c->probe <= side->probe && c->probe > side->probe - PAIR_PROBES;
    const int64_t sent_us = known ? side->probe_sent_us[c->probe % PAIR_PROBES] : c->sent_us;
    report_clock_jump(run, s,
                      clock_map_probe(&side->clock, &run->p->clock, sent_us,
                                      c->source_received_us, c->source_us, run->t_us));
}

static void record_seen(const struct pair_run *run)
{
    if (run->event->side >= SIDE_COUNT || run->event->kind == EVENT_MALFORMED ||
        run->event->kind == EVENT_FIT || run->event->kind == EVENT_VERSION) {
        return;
    }
    struct pair_side *side = &run->pair->side[run->event->side];
    side->seen = true;
    side->seen_us = run->t_us;
    if (run->p->probe_interval_us > 0 && side->next_probe_us == LAB_TIME_MAX) {
        side->next_probe_us = run->t_us + run->p->probe_interval_us;
        if (side->next_probe_us < run->pair->deadline_us) {
            run->pair->deadline_us = side->next_probe_us;
        }
    }
}

static void stop_probes(const struct pair_run *run)
{
    run->pair->side[SIDE_REAL].next_probe_us = LAB_TIME_MAX;
    run->pair->side[SIDE_VIRTUAL].next_probe_us = LAB_TIME_MAX;
}

/* The machines' time begins with the first event. */
static void begin_dispatch(const struct pair_run *run)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct efsm *machine = &pair_linked(run->pair)->dispatch[s];
        if (machine->entered_us == LAB_TIME_NONE) {
            machine->entered_us = run->t_us;
        }
    }
}

static void on_malformed(const struct pair_run *run)
{
    const struct event_malformed *m = &run->event->malformed;
    pair_alarm(run, ALARM_MALFORMED_MESSAGE, run->event->side, m->id, "%s", m->detail);
    if (strcmp(m->what, "command") != 0 || run->event->retained) {
        return;
    }
    if (!run->event->dup) {
        run->pair->malformed++;
        run->pair->malformed_order = run->pair->order;
    }
    if (run->p->mode == PAIR_LINK) {
        pair_link_refuse(run, m->id, fault_name(m->fault), m->detail);
    }
}

/* The broker lost a session that it should have kept. */
static void on_lost_session(const struct pair_run *run)
{
    pair_alarm(
        run, ALARM_SESSION_LOST, SIDE_COUNT, "",
        "the broker has forgotten Tandem's session (restarted? its last save is "
        "unknown): what it stored for Tandem is lost, commands and replies may be missing");
}

/* clang-format off */
static void (*const appliers[EVENT_KIND_COUNT])(const struct pair_run *run) = {
    [EVENT_COMMAND] = on_command,     [EVENT_REPLY] = on_reply,
    [EVENT_TELEMETRY] = on_telemetry, [EVENT_CONNECTION] = on_connection,
    [EVENT_ECHO] = on_echo,           [EVENT_ACK] = pair_acknowledge,
    [EVENT_MALFORMED] = on_malformed, [EVENT_SESSION] = on_lost_session,
    [EVENT_STOP] = stop_probes,       [EVENT_POSE_ACK] = pair_correct_acknowledge,
    [EVENT_FAULT] = pair_apply_fault, [EVENT_NOTE] = pair_apply_note,
    [EVENT_VERSION] = pair_version_apply,
};
/* clang-format on */

void pair_apply(const struct pair_run *run)
{
    const struct event *e = run->event;
    run->pair->version++;
    if (run->p->record == PAIR_ALL) {
        pair_emit(
            run, (struct effect){
                     .kind = EFFECT_LOG, .side = e->side, .n = run->pair->version, .event = e});
    }
    record_seen(run);
    if (run->p->mode == PAIR_LINK) {
        begin_dispatch(run);
    }
    if (appliers[e->kind]) {
        appliers[e->kind](run);
    }
}

/* ---- deadlines ----------------------------------------------------------------------------
 */

void pair_fire_probes(const struct pair_run *run)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct pair_side *side = &run->pair->side[s];
        if (side->next_probe_us > run->t_us) {
            continue;
        }
        side->next_probe_us = run->t_us + run->p->probe_interval_us;
        side->probe++;
        side->probe_sent_us[side->probe % PAIR_PROBES] = run->t_us;
        pair_emit(run, (struct effect){.kind = EFFECT_PROBE, .side = s, .probe = side->probe});
    }
}

static bool is_overdue(const struct pair_run *run, const struct pair_slot *slot, enum side side)
{
    return pair_slot_owed(slot, side) && pair_timeout_of(run, slot, side) <= run->t_us;
}

static bool is_overdue_anywhere(const struct pair_run *run, const struct pair_slot *slot,
                                enum side side)
{
    (void)side;
    return is_overdue(run, slot, SIDE_REAL) || is_overdue(run, slot, SIDE_VIRTUAL);
}

static void time_out(const struct pair_run *run, struct pair_slot *slot)
{
    const int64_t away_us = run->pair->away_us;
    slot->unwatched = slot->unwatched || away_us > 0;
    slot->away_us = away_us > slot->away_us ? away_us : slot->away_us;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (!is_overdue(run, slot, s)) {
            continue;
        }
        slot->timed_out[s] = true;
        if (away_us > 0) {
            pair_alarm(run, ALARM_NO_REPLY, s, slot->id,
                       "no answer of the %s robot was received within %g s: Tandem was not "
                       "listening for up to %g s",
                       side_name(s), lab_s(run->p->timeout_us), lab_s(away_us));
        } else {
            pair_alarm(run, ALARM_NO_REPLY, s, slot->id,
                       "the %s robot did not answer within %g s", side_name(s),
                       lab_s(run->p->timeout_us));
        }
    }
}

void pair_fire_timeouts(const struct pair_run *run)
{
    struct pair_slot *slot = NULL;
    while ((slot = pair_oldest_slot(run, SIDE_COUNT, is_overdue_anywhere))) {
        time_out(run, slot);
        step_slot(run, slot, false);
    }
    if (run->p->mode == PAIR_LINK) {
        pair_dispatch(run);
    }
}
