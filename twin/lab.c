#include "twin/lab_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "logger/message/json_write.h"
#include "twin/pair/pair_run.h"

/* ---- stepping -----------------------------------------------------------------------------
 */

/* A step of a team, or of a pair that works in one. */
struct team_live_step {
    struct team_live_run run;
    struct lab *lab;
    const struct effects *fx;
};

static void step_plain(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx);

/* Announces that this pair or team is about to change. */
static void notify_watcher(const struct lab *lab, size_t part)
{
    if (lab->before) {
        lab->before(lab->watcher, part);
    }
}

void lab_watch(struct lab *lab, lab_before *before, void *context)
{
    lab->before = before;
    lab->watcher = context;
}

/* Effects of a team's pair: replies go to the team, and entries are labelled with their job and
 * task. */
static void emit_watched(void *context, const struct effect *effect)
{
    const struct team_live_step *s = context;
    const uint16_t robot = s->lab->member[effect->pair].robot;
    if (effect->kind == EFFECT_ENTRY) {
        struct entry entry = *effect->entry;
        struct effect marked = *effect;
        team_live_label_entry(&s->run, robot, &entry);
        marked.entry = &entry;
        s->fx->emit(s->fx->context, &marked);
        return;
    }
    s->fx->emit(s->fx->context, effect);
    if (effect->kind == EFFECT_REPLY) {
        team_live_apply_reply(&s->run, robot, effect);
    }
}

static void command_pair(void *context, uint32_t pair, const struct event *event)
{
    struct team_live_step *s = context;
    const struct effects watched = {emit_watched, s};
    struct event named = *event;
    memcpy(named.pair, s->lab->p.pairs[pair].id, sizeof named.pair);
    step_plain(s->lab, pair, &named, &watched);
}

static struct team_live_step begin_team_step(struct lab *lab, size_t team,
                                             const struct effects *fx)
{
    notify_watcher(lab, lab->p.pair_count + team);
    return (struct team_live_step){.run = {.live = lab->live[team],
                                           .p = &lab->p.teams[team],
                                           .fx = fx,
                                           .t_us = lab->state->t_us,
                                           .command = command_pair,
                                           .scratch = lab->scratch},
                                   .lab = lab,
                                   .fx = fx};
}

static void end_team_step(struct team_live_step *s)
{
    s->run.context = s;
    team_live_flush(&s->run);
    lab_reorder_deadline(s->lab, s->run.live->named);
}

static void fire_team(struct lab *lab, size_t team, const struct effects *fx)
{
    struct team_live_step s = begin_team_step(lab, team, fx);
    team_live_fire(&s.run);
    end_team_step(&s);
}

/* ---- missions ---- */

/* A step of a pair that takes missions. */
struct mission_step_run {
    struct missions_run run;
    struct lab *lab;
    const struct effects *fx;
};

/* Replies also go to the running mission. */
static void emit_to_mission(void *context, const struct effect *effect)
{
    struct mission_step_run *s = context;
    s->fx->emit(s->fx->context, effect);
    if (effect->kind == EFFECT_REPLY) {
        pair_missions_reply(&s->run, effect);
    }
}

static void begin_mission_step(struct mission_step_run *s, struct lab *lab, uint32_t i,
                               const struct effects *fx)
{
    const uint16_t team = lab->member[i].team;
    notify_watcher(lab, i);
    s->run.m = lab->parts[i].missions;
    s->run.pair = lab->parts[i].pair;
    s->run.p = &lab->p.pairs[i];
    s->run.place = lab_mission_place(lab, i);
    s->run.team = team == TEAM_NONE ? NULL : lab->p.teams[team].name;
    s->run.fx = fx;
    s->run.t_us = lab->state->t_us;
    s->run.out_count = 0;
    s->run.reply = NULL;
    s->lab = lab;
    s->fx = fx;
}

/* Sends the commands of the mission, as L1 would. Their replies may cause further ones. */
static void end_mission_step(struct mission_step_run *s, uint32_t i)
{
    const struct effects watched = {emit_to_mission, s};
    pair_missions_advance(&s->run);
    for (size_t k = 0; k < s->run.out_count; k++) {
        struct message message = {.t_us = s->run.t_us,
                                  .topic = "t/p/command",
                                  .payload = s->run.out[k].raw,
                                  .stored_bytes = s->run.out[k].bytes,
                                  .payload_bytes = s->run.out[k].bytes};
        struct event event = {.kind = EVENT_KIND_COUNT};
        (void)codec_native.decode("t", &message, codec_copy_event, &event);
        if (event.kind == EVENT_COMMAND) {
            memcpy(event.pair, s->run.p->id, sizeof event.pair);
            step_plain(s->lab, i, &event, &watched);
        }
    }
    pair_find_deadline(&s->lab->parts[i], s->run.p);
    lab_reorder_deadline(s->lab, i);
}

static bool refuse_owned(struct mission_step_run *s, uint32_t i, const struct event *event)
{
    const struct mission_record *owner = pair_missions_running(s->run.m);
    char why[ENTRY_DIFFERS_MAX];
    if (event->kind != EVENT_COMMAND || !owner || pair_link_overtakes(event->command.op)) {
        return false;
    }
    s->run.m->commands_refused++;
    s->run.m->version++;
    (void)snprintf(why, sizeof why,
                   "mission %s owns this robot: wait for its end, or cancel it", owner->id);
    pair_refuse_owned(&s->lab->parts[i], s->run.p, event, why, s->fx);
    return true;
}

static void step_mission_pair(struct lab *lab, uint32_t i, const struct event *event,
                              const struct effects *fx)
{
    struct mission_step_run s;
    const struct effects watched = {emit_to_mission, &s};
    begin_mission_step(&s, lab, i, fx);
    const bool of_mission =
        event->kind == EVENT_MISSION ||
        (event->kind == EVENT_MALFORMED && strcmp(event->malformed.what, "mission") == 0);
    if (event->kind != EVENT_MISSION && !refuse_owned(&s, i, event)) {
        step_plain(lab, i, event, &watched);
    }
    pair_missions_observe(&s.run, event);
    if (of_mission && event->retained) {
        lab->state->counts.retained++;
    } else if (of_mission) {
        pair_missions_apply(&s.run, event);
    }
    end_mission_step(&s, i);
}

/* away_us > 0: the deadline passed without reception, for at most this time. */
static void fire_pair(struct lab *lab, uint32_t i, int64_t away_us, const struct effects *fx)
{
    const uint16_t team = lab->member[i].team;
    struct pair *pair = lab->parts[i].pair;
    notify_watcher(lab, i);
    pair->away_us = away_us;
    const uint32_t open = pair->outstanding;
    struct team_live_step s = {.lab = lab};
    struct effects watched = *fx;
    if (team != TEAM_NONE) {
        s = begin_team_step(lab, team, fx);
        watched = (struct effects){emit_watched, &s};
    }
    struct mission_step_run m;
    const bool missions = lab->parts[i].missions && team == TEAM_NONE;
    if (missions) {
        begin_mission_step(&m, lab, i, fx);
        watched = (struct effects){emit_to_mission, &m};
    }
    pair_fire(&lab->parts[i], &lab->p.pairs[i], &watched);
    lab->state->outstanding -= open - pair->outstanding;
    if (missions) {
        end_mission_step(&m, i);
    }
    lab_reorder_deadline(lab, i);
    if (team != TEAM_NONE) {
        end_team_step(&s);
    }
}

static void fire_first(struct lab *lab, int64_t away_us, const struct effects *fx)
{
    const struct heap_item first = lab->heap[0];
    lab->state->t_us = first.t_us > lab->state->t_us ? first.t_us : lab->state->t_us;
    if (first.pair < lab->p.pair_count) {
        fire_pair(lab, first.pair, away_us, fx);
    } else {
        fire_team(lab, first.pair - lab->p.pair_count, fx);
    }
}

/* Messages that waited arrive in a burst. A message wrongly counted to the burst costs a
 * verdict; a wrong lap would cost trust. */
static const int64_t BACKLOG_US = 2000000;

static int64_t find_away_us(const struct event *event)
{
    return event->kind == EVENT_AWAY      ? event->away_us
           : event->kind == EVENT_SESSION ? event->session.away_us
                                          : 0;
}

/* Records an absence that ends now. It lasted as long as the event says, or since the last
 * message before a start. */
static void record_absence(struct lab *lab, const struct event *event)
{
    struct lab_state *state = lab->state;
    state->started = state->started || event->kind == EVENT_START;
    state->away_us = find_away_us(event);
    if (state->started && state->last_message_us != LAB_TIME_NONE &&
        event->t_us - state->last_message_us > state->away_us) {
        state->away_us = event->t_us - state->last_message_us;
    }
    state->away_until_us = event->t_us + BACKLOG_US;
}

/* Commands that the lab sent during an absence may have left at its end. */
static void mark_sent(struct lab *lab, const struct event *event)
{
    const int64_t away_us = find_away_us(event);
    for (size_t i = 0; away_us > 0 && i < lab->p.pair_count; i++) {
        struct pair *pair = lab->parts[i].pair;
        if (lab->p.pairs[i].mode == PAIR_LINK && pair->outstanding > 0) {
            notify_watcher(lab, (uint32_t)i);
            pair_mark_sent(pair, event->t_us - away_us, away_us);
        }
    }
}

/* Did the broker lose a session that it should have kept? */
static bool is_session_lost(const struct event *event)
{
    return event->kind == EVENT_SESSION && event->session.persistent && !event->session.resumed;
}

static void step_plain(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx)
{
    struct pair *pair = lab->parts[i].pair;
    const struct lab_state *state = lab->state;
    notify_watcher(lab, i);
    pair->away_us = event->t_us <= state->away_until_us ? state->away_us : 0;
    pair->gap_us = lab->deliveries->connections > 1 ? lab->deliveries->connected_us + BACKLOG_US
                                                    : LAB_TIME_NONE;
    const uint32_t open = pair->outstanding;
    const int64_t deadline_us = pair->deadline_us;
    pair_step(&lab->parts[i], &lab->p.pairs[i], event, fx);
    lab->state->outstanding += (uint64_t)pair->outstanding - (uint64_t)open;
    if (pair->deadline_us != deadline_us) {
        lab_reorder_deadline(lab, i);
    }
}

/* Answers a mission to a pair that takes none. */
static void refuse_mission(uint32_t i, const struct event *event, const struct effects *fx)
{
    char text[8 * EVENT_ID_MAX + 256];
    const size_t bytes = JSON_FORMAT(
        text, sizeof text, JSON_SECONDS("t", event->t_us), JSON("id", event->mission.id),
        JSON("kind", event->mission.kind), JSON("state", mission_state_name(MISSION_REFUSED)),
        JSON("code", fault_name(FAULT_NOT_APPLICABLE)),
        JSON("detail", "this pair takes no missions: give it missions_max in the lab file"));
    const struct effect out = {.kind = EFFECT_MISSION,
                               .pair = i,
                               .t_us = event->t_us,
                               .side = SIDE_COUNT,
                               .payload = {.text = text, .bytes = bytes}};
    fx->emit(fx->context, &out);
}

static void step_pair(struct lab *lab, uint32_t i, const struct event *event,
                      const struct effects *fx)
{
    const struct lab_member *m = &lab->member[i];
    if (lab->parts[i].missions && (m->team == TEAM_NONE || event->kind == EVENT_MISSION)) {
        step_mission_pair(lab, i, event, fx);
        return;
    }
    if (event->kind == EVENT_MISSION) {
        refuse_mission(i, event, fx);
        return;
    }
    if (m->team == TEAM_NONE) {
        step_plain(lab, i, event, fx);
        return;
    }
    struct team_live_step s = begin_team_step(lab, m->team, fx);
    const struct effects watched = {emit_watched, &s};
    team_live_receive(&s.run, m->robot, event);
    step_plain(lab, i, event, &watched);
    end_team_step(&s);
}

/* Applies a request to a team. A retained old request is ignored. */
static void step_team(struct lab *lab, size_t team, const struct event *event,
                      const struct effects *fx)
{
    struct team_live_step s = begin_team_step(lab, team, fx);
    if (event->retained) {
        lab->state->counts.retained++;
        return;
    }
    team_live_apply_request(&s.run, event);
    end_team_step(&s);
}

/* In link mode a command with a known id is not sent to the robots again. Journals without
 * connection events are replayed as they were recorded. Returns whether it was such a
 * command. */
static bool answer_known(struct lab *lab, uint32_t i, const struct event *event,
                         const struct effects *fx)
{
    const struct pair_params *p = &lab->p.pairs[i];
    notify_watcher(lab, i);
    if (event->kind != EVENT_COMMAND || p->mode != PAIR_LINK || event->command.id[0] == '\0' ||
        lab->deliveries->connections == 0 || !pair_answer_known(&lab->parts[i], p, event, fx)) {
        return false;
    }
    lab->state->counts.redelivered++;
    return true;
}

/* Applies a command or reply. */
static void step_delivered(struct lab *lab, uint32_t i, const struct event *event,
                           const struct effects *fx)
{
    if (answer_known(lab, i, event, fx)) {
        return;
    }
    const enum delivery delivery = delivery_judge(lab->deliveries, event);
    struct event ambiguous;
    if (delivery == DELIVERY_AGAIN) {
        lab->state->counts.redelivered++;
        pair_redelivered(lab->parts[i].pair);
    } else if (delivery == DELIVERY_AMBIGUOUS) {
        lab->state->counts.ambiguous++;
        ambiguous = *event;
        ambiguous.ambiguous = true;
        step_pair(lab, i, &ambiguous, fx);
    } else {
        step_pair(lab, i, event, fx);
    }
    lab->state->counts.forgotten_early = lab->deliveries->forgotten_early;
}

/* Prefetches the memory of this pair, unless that was done last. */
static void fetch_pair(struct lab *lab, uint32_t i, const struct event *event)
{
    const struct pair_parts *x = &lab->parts[i];
    if (i != lab->fetched) {
        pair_fetch(x->pair, &lab->p.pairs[i], x->places, event);
        __builtin_prefetch(&lab->place[i]);
        lab->fetched = i;
    }
}

/* Finds the pair of this event. The first place in the table is nearly always right, so its
 * memory is prefetched before its id, which is also far away, is compared. */
static long find_pair(struct lab *lab, const struct event *event)
{
    const size_t k = lab_first_place(lab, event->pair);
    if (lab->table[k] != 0) {
        fetch_pair(lab, lab->table[k] - 1, event);
    }
    return lab_find_from(lab, event->pair, k);
}

static void step_known(struct lab *lab, uint32_t i, const struct event *event,
                       const struct effects *fx)
{
    const bool delivered = event->kind == EVENT_COMMAND || event->kind == EVENT_REPLY;
    fetch_pair(lab, i, event);
    if (delivered && event->retained) {
        lab->state->counts.retained++;
    } else if (delivered) {
        step_delivered(lab, i, event, fx);
    } else {
        step_pair(lab, i, event, fx);
    }
}

static void stop_missions(struct lab *lab)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (lab->parts[i].missions) {
            pair_missions_stop(lab->parts[i].missions, &lab->p.pairs[i]);
            pair_find_deadline(&lab->parts[i], &lab->p.pairs[i]);
            lab_reorder_deadline(lab, (uint32_t)i);
        }
    }
}

static void interrupt_missions(struct lab *lab, const struct effects *fx)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (lab->parts[i].missions) {
            struct mission_step_run s;
            begin_mission_step(&s, lab, (uint32_t)i, fx);
            pair_missions_interrupt(&s.run);
            pair_find_deadline(&lab->parts[i], s.run.p);
            lab_reorder_deadline(lab, (uint32_t)i);
        }
    }
}

/* Applies an event of the whole lab. Before its first command a pair has no messages of a
 * session to lose. */
static void step_all(struct lab *lab, const struct event *event, const struct effects *fx)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (event->kind != EVENT_SESSION || lab->parts[i].pair->counts.commands > 0) {
            step_pair(lab, (uint32_t)i, event, fx);
        }
    }
}

static void apply_lab_event(struct lab *lab, const struct event *event,
                            const struct effects *fx)
{
    if (event->kind == EVENT_TICK) {
        return;
    }
    mark_sent(lab, event);
    if (event->kind == EVENT_AWAY || event->kind == EVENT_START) {
        lab->deliveries->quiet_us = event->t_us;
        lab->state->counts.starts += event->kind == EVENT_START;
        for (size_t k = 0; event->kind == EVENT_START && k < lab->p.team_count; k++) {
            team_live_mark_start(lab->live[k], event->t_us);
        }
        if (event->kind == EVENT_START) {
            interrupt_missions(lab, fx);
        }
        record_absence(lab, event);
        return;
    }
    if (event->kind == EVENT_SESSION) {
        delivery_connect(lab->deliveries, event);
        /* Otherwise nothing can have waited, or the duration is unknown. */
        if (event->session.resumed && lab->deliveries->connections > 1) {
            record_absence(lab, event);
        }
    }
    if (event->kind == EVENT_STOP || is_session_lost(event)) {
        step_all(lab, event, fx);
    }
    if (event->kind == EVENT_STOP || event->kind == EVENT_SESSION) {
        return;
    }
    const bool team_only = event->kind == EVENT_TEAM || event->kind == EVENT_FORECAST;
    const bool of_daemon = event->kind == EVENT_REQUEST || event->kind == EVENT_FIT ||
                           event->kind == EVENT_VERSION || team_only;
    if (!of_daemon) {
        lab->state->last_message_us = event->t_us;
        lab->state->started = false;
    }
    delivery_record(lab->deliveries, event);
    const long i = find_pair(lab, event);
    const bool of_team = team_only || event->kind == EVENT_MALFORMED;
    const long team = i < 0 && of_team ? lab_find_team(lab, event->pair) : -1;
    if (team >= 0) {
        step_team(lab, (size_t)team, event, fx);
    } else if (i < 0 || team_only) {
        lab->state->counts.unknown_pair++;
    } else {
        step_known(lab, (uint32_t)i, event, fx);
    }
}

/* Returns how long nothing had been received when the next deadline passed. */
static int64_t unwatched_us(const struct lab *lab, const struct event *event)
{
    const int64_t passed_us = event->t_us - lab_next_deadline(lab);
    return event->kind == EVENT_AWAY && passed_us <= event->away_us ? event->away_us : 0;
}

void lab_step(struct lab *lab, const struct event *event, const struct effects *fx)
{
    assert(lab && event && fx);
    struct lab_state *state = lab->state;
    struct lab_words worded = {lab, fx};
    const struct effects words = {lab_emit_words, &worded};
    if (event->kind == EVENT_START && !state->stopped) {
        /* The run before crashed. Also the deadlines that fire now have new numbers. */
        lab_skip_numbers(lab, event->start.number_gap);
    }
    if (event->kind == EVENT_START) {
        stop_missions(lab); /* before the deadlines of the time that the daemon was away */
    }
    while (lab_next_deadline(lab) < event->t_us) {
        fire_first(lab, unwatched_us(lab, event), &words);
    }
    if (event->kind != EVENT_TICK) {
        state->counts.events[event->kind]++;
        state->stopped = event->kind == EVENT_STOP;
    }
    if (event->t_us >= state->t_us) {
        state->t_us = event->t_us;
        apply_lab_event(lab, event, &words);
        return;
    }
    struct event late = *event;
    late.t_us = state->t_us;
    state->counts.out_of_order += event->kind != EVENT_TICK;
    apply_lab_event(lab, &late, &words);
}

void lab_finish(struct lab *lab, const struct effects *fx)
{
    struct lab_words worded = {lab, fx};
    const struct effects words = {lab_emit_words, &worded};
    /* Closes the last instant, too. */
    while (lab_next_deadline(lab) <= lab->state->t_us ||
           (lab->state->outstanding > 0 && lab_next_deadline(lab) < LAB_TIME_MAX)) {
        fire_first(lab, 0, &words);
    }
}

void lab_repeat_commands(const struct lab *lab, const struct effects *fx)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        const struct lab_member *m = &lab->member[i];
        if (lab->parts[i].missions) {
            const struct missions_run run = {.m = lab->parts[i].missions,
                                             .pair = lab->parts[i].pair,
                                             .p = &lab->p.pairs[i],
                                             .fx = fx,
                                             .t_us = lab->state->t_us};
            pair_missions_repeat(&run);
        }
        if (m->team != TEAM_NONE) {
            team_live_resend(lab->live[m->team], &lab->p.teams[m->team], m->robot,
                             lab->parts[i].pair, fx);
        }
    }
}
