/* twin/pair/pair_close.c - closes commands: finds the command of a reply, judges the verdict,
 * writes the entry, and feeds the calibration. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/number.h"
#include "identification/travel/profile_judge.h"
#include "identification/travel/profile_time.h"
#include "identification/travel/travel_judge.h"
#include "twin/pair/pair_run.h"
#include "twin/pair/pair_thresholds.def"

/* Half width of a 95 % interval in sigmas. */
static const double Z95 = 1.96;

/* ---- the command that a reply belongs to --------------------------------------------------
 */

struct pair_slot *pair_find_slot(struct pair *pair, const char *id)
{
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        if (strcmp(slot->id, id) == 0) {
            return slot;
        }
    }
    return NULL;
}

/* Writes an id that is a number in its plain form; false: it is none. */
static bool write_number(const char *id, char plain[EVENT_ID_MAX])
{
    double value = 0.0;
    const size_t bytes = strlen(id);
    return bytes > 0 && number_scan_json(id, id + bytes, &value) == id + bytes &&
           number_write_plain(id, bytes, plain, EVENT_ID_MAX) < EVENT_ID_MAX;
}

/* Some robots copy the digits of an id, others write its value: "1.0" as a text, and 1. */
static struct pair_slot *find_by_value(struct pair *pair, const char *id)
{
    char asked[EVENT_ID_MAX];
    char other[EVENT_ID_MAX];
    if (!write_number(id, asked)) {
        return NULL;
    }
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        if (write_number(slot->id, other) && strcmp(other, asked) == 0) {
            return slot;
        }
    }
    return NULL;
}

uint32_t pair_count_owed(const struct pair *pair, enum side side)
{
    uint32_t count = 0;
    for (int k = -1; pair_next_open(pair, &k);) {
        count += pair_slot_owed(pair_look_slot(pair, k), side);
    }
    return count;
}

struct pair_slot *pair_oldest_slot(const struct pair_run *run, enum side side,
                                   bool (*matches)(const struct pair_run *run,
                                                   const struct pair_slot *slot,
                                                   enum side side))
{
    struct pair *pair = run->pair;
    struct pair_slot *oldest = NULL;
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        if ((!oldest || slot->order < oldest->order) && matches(run, slot, side)) {
            oldest = slot;
        }
    }
    return oldest;
}

static bool is_owed(const struct pair_run *run, const struct pair_slot *slot, enum side side)
{
    (void)run;
    return pair_slot_owed(slot, side);
}

/* A busy robot ignores a new command and says so at once, so the newest one is meant. */
static struct pair_slot *find_newest_owed(struct pair *pair, enum side side)
{
    struct pair_slot *newest = NULL;
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        if ((!newest || slot->order > newest->order) && pair_slot_owed(slot, side)) {
            newest = slot;
        }
    }
    return newest;
}

/* Replies without an id come in the order of the commands: the oldest owed one, except for
 * `ignored`. */
static struct pair_slot *find_without_id(const struct pair_run *run, enum side side)
{
    return run->event->reply.status == REPLY_IGNORED ? find_newest_owed(run->pair, side)
                                                     : pair_oldest_slot(run, side, is_owed);
}

static void remember_closed(struct pair *pair, const struct pair_closed *closed)
{
    pair->closed[pair->closed_count % PAIR_CLOSED_MAX] = *closed;
    pair->closed_count++;
}

/* Finds the newest closed command with this id; for a reply without id, the newest without id
 * that this side left unanswered. */
static struct pair_closed *find_closed(struct pair *pair, const char *id, enum side side)
{
    const uint64_t hash = id[0] ? hash_text(id) : 0;
    const uint32_t available =
        pair->closed_count < PAIR_CLOSED_MAX ? pair->closed_count : PAIR_CLOSED_MAX;
    for (uint32_t back = 1; back <= available; back++) {
        struct pair_closed *closed =
            &pair->closed[(pair->closed_count - back) % PAIR_CLOSED_MAX];
        if (closed->id_hash == hash && (hash != 0 || !closed->answered[side])) {
            return closed;
        }
    }
    return NULL;
}

static void alarm_repeated(const struct pair_run *run)
{
    pair_alarm(run, ALARM_REPLY_REPEATED, run->event->side, run->event->reply.id,
               "the %s robot has answered this command before", side_name(run->event->side));
}

static void alarm_unasked(const struct pair_run *run)
{
    pair_alarm(run, ALARM_REPLY_UNASKED, run->event->side, run->event->reply.id,
               "the %s robot was not asked", side_name(run->event->side));
}

static void alarm_closed(const struct pair_run *run, struct pair_closed *closed)
{
    const enum side side = run->event->side;
    const char *id = run->event->reply.id;
    if (closed->answered[side]) {
        alarm_repeated(run);
    } else if (closed->refused) {
        pair_alarm(run, ALARM_REPLY_TO_REFUSED, side, id,
                   "its command was not followed because too many were open");
    } else if (closed->timed_out[side]) {
        pair_alarm(run, ALARM_REPLY_AFTER_CLOSE, side, id,
                   "the command was closed as TIMEOUT before");
    } else {
        alarm_unasked(run);
    }
    closed->answered[side] = true;
}

static void alarm_unmatched(const struct pair_run *run)
{
    const struct event *e = run->event;
    struct pair_closed *closed = find_closed(run->pair, e->reply.id, e->side);
    if (closed) {
        alarm_closed(run, closed);
    } else if (e->reply.id[0]) {
        pair_alarm(run, ALARM_REPLY_UNKNOWN_ID, e->side, e->reply.id,
                   "no command with this id was seen");
    } else {
        pair_alarm(run, ALARM_REPLY_WITHOUT_COMMAND, e->side, "",
                   "no command is open at the %s robot", side_name(e->side));
    }
}

struct pair_slot *pair_match_reply(const struct pair_run *run)
{
    const enum side side = run->event->side;
    const char *id = run->event->reply.id;
    struct pair_slot *slot = id[0] ? pair_find_slot(run->pair, id) : find_without_id(run, side);
    slot = slot || !id[0] ? slot : find_by_value(run->pair, id);
    if (!slot) {
        alarm_unmatched(run);
        return NULL;
    }
    if (slot->answered[side]) {
        alarm_repeated(run);
        return NULL;
    }
    if (slot->timed_out[side]) {
        pair_alarm(run, ALARM_REPLY_LATE, side, id,
                   "this side of the command was closed as TIMEOUT");
        slot->answered[side] = true;
        return NULL;
    }
    if (!slot->expected[side]) {
        alarm_unasked(run);
        return NULL;
    }
    if (!slot->sent[side]) {
        pair_alarm(run, ALARM_REPLY_EARLY, side, id, "the %s robot was not asked yet",
                   side_name(side));
        return NULL;
    }
    return slot;
}

/* ---- verdicts -----------------------------------------------------------------------------
 */

/* The lag of the robots themselves, without the network's share (docs/model/pair.md, eq. 2 to
 * 4): the estimate and its 95 % error. */
struct own_lag {
    double us;
    double off_us; /* INFINITY: stamps give no bound */
    bool guessed; /* a reply without stamp is assumed to have the usual transport of its side */
    bool tells;   /* it is known within the tolerance, or in its sign */
};

/* Each stamped reply shows by how much it was later than the fastest of its side (eq. 3). */
static struct own_lag lag_by_clocks(const struct pair *pair, const struct pair_slot *slot,
                                    double lag_us)
{
    struct own_lag own = {.us = lag_us};
    double variance = 0.0;
    bool any = false;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct clock_map *map = &pair->side[s].clock;
        if (slot->transport_us[s] != LAB_TIME_NONE) {
            const double transport_us = (double)slot->transport_us[s];
            own.us -= s == SIDE_REAL ? transport_us : -transport_us;
            variance += slot->clock_sd_us[s] * slot->clock_sd_us[s];
            any = true;
        } else if (map->state != CLOCK_MAP_NONE && map->jitter_us > 0.0) {
            own.off_us += map->jitter_us;
            own.guessed = true;
        }
    }
    own.off_us += Z95 * sqrt(variance);
    if (!(any || own.guessed) || !(own.off_us < 1e15)) {
        return (struct own_lag){.us = lag_us, .off_us = INFINITY};
    }
    return own;
}

bool pair_motion_fits(const struct pair_run *run, const struct pair_slot *slot, double motion_s)
{
    const enum side s = run->event->side;
    struct pair_side *side = &run->pair->side[s];
    const double lap_s = lab_s(slot->reply_us[s] - slot->sent_us[s]);
    const double most_s = MOTION_PER_LAP_MAX * fmax(lap_s, 1.0);
    if (slot->away_us > 0 || run->p->source_clock[s] != PAIR_CLOCK_WALL) {
        return true;
    }
    const bool fits = motion_s <= most_s;
    if (!fits && !side->other_unit) {
        pair_alarm(
            run, ALARM_MOTION_TOO_LONG, s, slot->id,
            "a motion of %.4g s in a lap of %.4g s: looks like %s; t_start and t must be "
            "seconds",
            motion_s, lap_s,
            motion_s <= 1e3 * most_s   ? "milliseconds"
            : motion_s <= 1e6 * most_s ? "microseconds"
                                       : "nanoseconds");
    }
    side->other_unit = !fits;
    return fits;
}

/* Both motions by the robots' own clocks: free of offset, only drift matters (eq. 4). A robot
 * whose motion is longer than its lap, or zero, has invalid stamps. */
static struct own_lag lag_by_motion(const struct pair_slot *slot, const struct pair_params *p,
                                    double lag_us)
{
    double motion_us[SIDE_COUNT];
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const int64_t us = slot->motion_us[s];
        if (p->source_clock[s] != PAIR_CLOCK_WALL || us == LAB_TIME_NONE || us <= 0 ||
            us > slot->reply_us[s] - slot->sent_us[s]) {
            return (struct own_lag){.us = lag_us, .off_us = INFINITY};
        }
        motion_us[s] = (double)us;
    }
    return (struct own_lag){.us = motion_us[SIDE_REAL] - motion_us[SIDE_VIRTUAL],
                            .off_us = p->clock.drift_ppm_max * 1e-6 *
                                      (motion_us[SIDE_REAL] + motion_us[SIDE_VIRTUAL])};
}

/* The more precise of the two, if the motion does not contradict the clocks' interval (a robot
 * may stamp its motion too late). An estimate known neither within the tolerance nor in its
 * sign is dropped, so that stamps never make a pair less decided than it is without them. */
static struct own_lag find_own_lag(const struct pair *pair, const struct pair_slot *slot,
                                   const struct pair_params *p, double lag_us)
{
    struct own_lag own = lag_by_clocks(pair, slot, lag_us);
    const struct own_lag motion = lag_by_motion(slot, p, lag_us);
    if (motion.off_us < own.off_us && fabs(motion.us - own.us) <= own.off_us) {
        own = motion;
    }
    own.tells = own.off_us <= (double)p->sync_tolerance_us || fabs(own.us) > own.off_us;
    return own.tells || own.guessed ? own : (struct own_lag){.us = lag_us, .off_us = INFINITY};
}

/* Returns how much of the lag transport and clocks may explain; LAB_TIME_NONE: unknown. */
static int64_t lag_uncertainty_us(const struct own_lag *own, int64_t lag_us)
{
    const double us = fabs((double)lag_us - own->us) + own->off_us;
    return us < 1e15 ? (int64_t)ceil(us) : LAB_TIME_NONE;
}

static enum verdict judge_lag(int64_t lag_us, const struct own_lag *own, int64_t tolerance_us)
{
    const double tolerance = (double)tolerance_us;
    const double judged_us = own->tells ? own->us : (double)lag_us;
    if (fabs((double)lag_us) <= tolerance) {
        return VERDICT_SYNC;
    }
    if (own->guessed && !own->tells) {
        return VERDICT_UNRESOLVED;
    }
    if (fabs(judged_us) <= tolerance) {
        return VERDICT_SYNC;
    }
    return judged_us > 0.0 ? VERDICT_AHEAD : VERDICT_BEHIND;
}

/* Returns the lag that decided, if it is not the lag of arrivals; LAB_TIME_NONE otherwise. */
static int64_t find_judged_lag(enum verdict verdict, int64_t lag_us, const struct own_lag *own,
                               int64_t tolerance_us)
{
    const bool decided =
        verdict == VERDICT_SYNC || verdict == VERDICT_AHEAD || verdict == VERDICT_BEHIND;
    const int64_t us = own->tells ? llround(own->us) : lag_us;
    return decided && llabs(lag_us) > tolerance_us && us != lag_us ? us : LAB_TIME_NONE;
}

static enum verdict judge_entry(const struct entry *e, const struct pair_slot *slot,
                                const struct pair_params *p, const struct own_lag *own)
{
    if (e->timed_out[SIDE_REAL] || e->timed_out[SIDE_VIRTUAL]) {
        return slot->unwatched ? VERDICT_UNRESOLVED : VERDICT_TIMEOUT;
    }
    if (!slot->expected[SIDE_REAL] && !slot->expected[SIDE_VIRTUAL]) {
        return VERDICT_HALTED;
    }
    if (!slot->expected[SIDE_REAL]) {
        return VERDICT_VIRTUAL_ONLY;
    }
    if (!slot->expected[SIDE_VIRTUAL]) {
        return VERDICT_REAL_ONLY;
    }
    if (slot->away_us > 0 || e->ambiguous != ENTRY_SURE) {
        return VERDICT_UNRESOLVED; /* the times are those of the delivery, or of another one */
    }
    return judge_lag(e->lag_us, own, p->sync_tolerance_us);
}

bool pair_pace_is_off(double ratio, double se)
{
    return fabs(ratio - 1.0) > PACE_MATTERS && fabs(ratio - 1.0) > 3.0 * se;
}

/* A simulator slower than real time is late even if its model is right: at pace 1 its lap would
 * have been pace times as long. */
static void explain_by_pace(const struct pair *pair, const struct pair_params *p,
                            struct entry *e)
{
    double ratio = 1.0;
    double se = 0.0;
    if (!pace_read(&pair->side[SIDE_VIRTUAL].pace, &ratio, &se)) {
        return;
    }
    e->virtual_pace = ratio;
    if (pair_pace_is_off(ratio, se) &&
        (e->verdict == VERDICT_AHEAD || e->verdict == VERDICT_BEHIND)) {
        const double lag_us =
            (double)e->lap_us[SIDE_REAL] - ratio * (double)e->lap_us[SIDE_VIRTUAL];
        const double slack_us =
            (double)p->sync_tolerance_us + 2.0 * se * (double)e->lap_us[SIDE_VIRTUAL];
        e->explained_by_pace = fabs(lag_us) <= slack_us;
    }
}

/* Only the command is known yet. */
static struct entry start_entry(const struct pair *pair, int64_t t_us, const char *id,
                                const char *op, double rotation_rad, double displacement_m)
{
    struct entry e = {.pair = pair->index,
                      .n = pair->counts.entries + pair->counts.numbers_skipped + 1,
                      .t_us = t_us,
                      .rotation_rad = rotation_rad,
                      .displacement_m = displacement_m,
                      .lag_us = LAB_TIME_NONE,
                      .judged_lag_us = LAB_TIME_NONE,
                      .lag_uncertainty_us = LAB_TIME_NONE,
                      .virtual_pace = nan("")};
    memcpy(e.id, id, sizeof e.id);
    memcpy(e.op, op, sizeof e.op);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        e.lap_us[s] = LAB_TIME_NONE;
        e.wait_us[s] = LAB_TIME_NONE;
        e.motion_us[s] = LAB_TIME_NONE;
        e.transport_us[s] = LAB_TIME_NONE;
    }
    for (size_t i = 0; i < ENTRY_FORECASTS; i++) {
        e.forecast[i] = (struct entry_forecast){LAB_TIME_NONE, LAB_TIME_NONE, LAB_TIME_NONE};
    }
    return e;
}

static enum entry_ambiguity ambiguity_of(const struct pair_slot *slot)
{
    if (slot->command_ambiguous) {
        return ENTRY_AMBIGUOUS_COMMAND;
    }
    if (slot->ambiguous[SIDE_REAL] && slot->ambiguous[SIDE_VIRTUAL]) {
        return ENTRY_AMBIGUOUS_BOTH;
    }
    return slot->ambiguous[SIDE_REAL]      ? ENTRY_AMBIGUOUS_REAL
           : slot->ambiguous[SIDE_VIRTUAL] ? ENTRY_AMBIGUOUS_VIRTUAL
                                           : ENTRY_SURE;
}

/* A reply is not under way for longer than the whole lap: the robot's clock was set. */
static void remove_impossible(struct entry *e, enum side s, int64_t most_us)
{
    e->clock_set[s] = e->transport_us[s] > most_us;
    e->transport_us[s] = e->clock_set[s] ? LAB_TIME_NONE : e->transport_us[s];
}

static void fill_entry(const struct pair *pair, const struct pair_params *p,
                       const struct pair_slot *slot, struct entry *e)
{
    struct own_lag own = {.off_us = INFINITY};
    *e = start_entry(pair, slot->t_us, slot->id, slot->op, slot->rotation_rad,
                     slot->displacement_m);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        e->answered[s] = slot->answered[s] && !slot->timed_out[s];
        e->timed_out[s] = slot->timed_out[s];
        e->uncalibrated[s] = slot->uncalibrated[s];
        e->status[s] = (enum reply_status)slot->status[s];
        if (slot->sent[s]) {
            const int64_t t_us = e->answered[s] ? slot->reply_us[s] : slot->sent_us[s];
            (void)snprintf(e->version[s], sizeof e->version[s], "%s",
                           pair_version_at(pair, p, s, t_us));
        }
        if (p->mode == PAIR_LINK && slot->sent[s]) {
            e->wait_us[s] = slot->sent_us[s] - slot->t_us;
        }
        if (e->answered[s]) {
            e->lap_us[s] = slot->reply_us[s] - slot->sent_us[s];
            e->motion_us[s] = slot->motion_us[s];
            e->transport_us[s] = slot->transport_us[s];
            remove_impossible(e, s, e->lap_us[s] + p->clock.jump_us);
        }
    }
    if (e->answered[SIDE_REAL] && e->answered[SIDE_VIRTUAL]) {
        e->lag_us = e->lap_us[SIDE_REAL] - e->lap_us[SIDE_VIRTUAL];
        own = find_own_lag(pair, slot, p, (double)e->lag_us);
        e->lag_uncertainty_us = lag_uncertainty_us(&own, e->lag_us);
        if (slot->away_us > 0 && slot->away_us > e->lag_uncertainty_us) {
            e->lag_uncertainty_us = slot->away_us;
        }
    }
    e->interrupted_us = slot->away_us;
    e->ambiguous = ambiguity_of(slot);
    e->verdict = judge_entry(e, slot, p, &own);
    e->judged_lag_us = find_judged_lag(e->verdict, e->lag_us, &own, p->sync_tolerance_us);
    e->consistency = (enum consistency)slot->consistency;
    explain_by_pace(pair, p, e);
    pair_forecast_fill(slot, e);
    pair_arm_fill(pair, p, slot, e);
}

static void remember_entry(struct pair *pair, const struct entry *e)
{
    pair->last_entry_us = e->t_us;
    pair->recent[pair->recent_next] =
        (struct pair_judged){(uint8_t)e->verdict, (uint8_t)e->consistency};
    pair->recent_next = (pair->recent_next + 1) % PAIR_RECENT;
    pair->recent_count += pair->recent_count < PAIR_RECENT;
    if (e->lag_us != LAB_TIME_NONE) {
        pair->last_lag_us = e->lag_us;
        pair->last_judged_lag_us = e->judged_lag_us;
        pair->last_lag_uncertainty_us = e->lag_uncertainty_us;
    }
}

static void emit_entry(const struct pair_run *run, const struct entry *e)
{
    run->pair->counts.entries++;
    run->pair->counts.ambiguous += e->ambiguous != ENTRY_SURE;
    run->pair->counts.verdict[e->verdict]++;
    run->pair->counts.consistency[e->consistency]++;
    remember_entry(run->pair, e);
    pair_emit(run, (struct effect){.kind = EFFECT_ENTRY, .side = SIDE_COUNT, .entry = e});
}

/* ---- calibration --------------------------------------------------------------------------
 */

/* Moves in the window before a change show an earlier robot. */
static void forget_before(struct pair *pair, const struct pair_params *p, enum side side,
                          int64_t since_us)
{
    for (uint32_t k = 0; k < pair->window_count; k++) {
        struct pair_move *move = &pair->window[(pair->window_first + k) % p->window];
        if (move->t_us < since_us) {
            move->lap_s[side] = nanf("");
        }
    }
}

static void alarm_drift(const struct pair_run *run, enum side side,
                        const struct travel_drift *drift, const char *id)
{
    const double before_s = lab_s(run->t_us - drift->since_us);
    if (drift->term == TRAVEL_T0) {
        pair_alarm_since(
            run, ALARM_DRIFT_DELAY, side, id, drift->since_us,
            "the %s robot's start-up delay changed from %.3f to %.3f s, %.1f s before",
            side_name(side), drift->before, drift->after, before_s);
        return;
    }
    const bool turns = drift->term == TRAVEL_INV_W;
    if (pair_is_arm(run->p)) {
        pair_alarm_since(run, ALARM_DRIFT_MOVE_TIME, side, id, drift->since_us,
                         "the %s robot's %s take %+.1f %% more time, since %.1f s before",
                         side_name(side), turns ? "moves of joints" : "lines",
                         100.0 * (1.0 / (1.0 + drift->change_ratio) - 1.0), before_s);
        return;
    }
    pair_alarm_since(
        run, ALARM_DRIFT_SPEED, side, id, drift->since_us,
        "the %s robot's %s speed changed by %+.1f %%, from %.4g to %.4g %s, %.1f s before",
        side_name(side), turns ? "angular" : "linear", 100.0 * drift->change_ratio,
        drift->before, drift->after, turns ? "rad/s" : "m/s", before_s);
}

static bool is_ambiguous(const struct entry *e, enum side s)
{
    const enum entry_ambiguity own =
        s == SIDE_REAL ? ENTRY_AMBIGUOUS_REAL : ENTRY_AMBIGUOUS_VIRTUAL;
    return e->ambiguous == own || e->ambiguous == ENTRY_AMBIGUOUS_BOTH ||
           e->ambiguous == ENTRY_AMBIGUOUS_COMMAND;
}

/* Returns the move for the filter. For an arm its size is replaced by the commanded duration,
 * so that the filter tracks the ratio of actual to commanded time. */
static struct travel_move filtered_move(const struct pair_run *run, const struct entry *e,
                                        enum side s, const struct pair_move *row)
{
    /* The robot's own clock counts if it stamped both ends. */
    struct travel_move move = {
        .lap_s = lab_s(e->motion_us[s] != LAB_TIME_NONE ? e->motion_us[s] : e->lap_us[s])};
    pair_move_sizes(run->p, row, &move.rotation_rad, &move.displacement_m);
    return move;
}

static bool calibrate_side(const struct pair_run *run, const struct entry *e, enum side s,
                           struct pair_move *row)
{
    struct pair_side *side = &run->pair->side[s];
    row->lap_s[s] = nanf("");
    /* A lap during an absence is useless; the robot's own clock is still valid. */
    const bool unwatched = e->interrupted_us > 0 && e->motion_us[s] == LAB_TIME_NONE;
    /* The move began with other parameters than those in force, or with unknown ones. */
    const int64_t sent_us = e->t_us + (e->wait_us[s] != LAB_TIME_NONE ? e->wait_us[s] : 0);
    const bool past = s == SIDE_VIRTUAL && sent_us < run->pair->virtual_since_us;
    if (!e->answered[s] || e->status[s] != REPLY_DONE || e->uncalibrated[s] || unwatched ||
        past || is_ambiguous(e, s)) {
        side->moves_excluded++;
        return false;
    }
    const struct travel_move move = filtered_move(run, e, s, row);
    if (!(move.lap_s > 0.0)) {
        side->moves_excluded++;
        return false;
    }
    const struct travel_kalman_params kalman = pair_kalman_params(run->p);
    struct travel_drift drift;
    row->lap_s[s] = (float)move.lap_s;
    side->moves++;
    if (travel_kalman_step(&side->kalman, &kalman, e->t_us, &move, &drift)) {
        forget_before(run->pair, run->p, s, drift.since_us);
        alarm_drift(run, s, &drift, e->id);
    }
    return true;
}

/* Fits are recorded often at first, when they change with every move, and less often later: a
 * fit costs some milliseconds, also when the journal is read again (docs/storage.md). */
static void schedule_history(const struct pair_run *run)
{
    static const int64_t least_us = 20 * INT64_C(1000000);
    static const int64_t most_us = 3600 * INT64_C(1000000);
    enum { SHARE = 64 }; /* share of the elapsed time */
    struct pair *pair = run->pair;
    if (pair->history_since_us == LAB_TIME_NONE) {
        pair->history_since_us = run->t_us;
    } else if (run->t_us < pair->history_us) {
        return;
    }
    const int64_t gap_us = (run->t_us - pair->history_since_us) / SHARE;
    pair->history_us = run->t_us + (gap_us < least_us  ? least_us
                                    : gap_us > most_us ? most_us
                                                       : gap_us);
    pair_emit_history(run, SIDE_COUNT);
}

static void calibrate_pair(const struct pair_run *run, const struct pair_slot *slot,
                           const struct entry *e)
{
    struct pair *pair = run->pair;
    assert(run->p->window > 0);
    struct pair_move row = {
        .t_us = e->t_us, .rotation_rad = e->rotation_rad, .displacement_m = e->displacement_m};
    if (pair_is_arm(run->p) && !pair_arm_move(pair, run->p, slot, &row)) {
        pair->forecast.left_out += slot->forecast.known != 0;
        pair->side[SIDE_REAL].moves_excluded++;
        pair->side[SIDE_VIRTUAL].moves_excluded++;
        return;
    }
    const bool real = calibrate_side(run, e, SIDE_REAL, &row);
    const bool virtual = calibrate_side(run, e, SIDE_VIRTUAL, &row);
    unsigned started = 0;
    const bool forecast = pair_forecast_learn(run, slot, e, &row, &started);
    if (!real && !virtual && !forecast) {
        return;
    }
    pair->window_version++;
    if (pair->window_count < run->p->window) {
        pair->window[(pair->window_first + pair->window_count++) % run->p->window] = row;
    } else {
        pair->window[pair->window_first] = row;
        pair->window_first = (pair->window_first + 1) % run->p->window;
    }
    pair_forecast_start(run, started);
    if (!real && !virtual) {
        return;
    }
    if (real) {
        pair_consider_parameters(run);
    }
    if (++pair->since_published >= run->p->publish_every) {
        pair->since_published = 0;
        pair_emit(run, (struct effect){.kind = EFFECT_CALIBRATION, .side = SIDE_COUNT});
        schedule_history(run);
    }
}

/* ---- entries ------------------------------------------------------------------------------
 */

/* Prefetches what learns from an entry, once it is written. */
static void fetch_filters(const struct pair *pair)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct travel_kalman *k = &pair->side[s].kalman;
        pair_fetch_lines(k, offsetof(struct travel_kalman, recent));
        pair_fetch_lines(&k->recent[k->n % TRAVEL_RECENT_MAX], 1);
    }
}

void pair_write_entry(const struct pair_run *run, const struct pair_slot *slot)
{
    struct entry e;
    struct pair *pair = run->pair;
    fetch_filters(pair);
    fill_entry(pair, run->p, slot, &e);
    pair_parts_fill(run, slot, &e);
    if (e.consistency == INCONSISTENT) {
        /* The reply that was found to differ closes the entry. */
        memcpy(e.differs, run->changes->differs, sizeof e.differs);
    }
    if (e.consistency != CONSISTENCY_UNKNOWN && run->event && run->event->kind == EVENT_REPLY) {
        memcpy(e.not_compared, run->event->reply.outside, sizeof e.not_compared);
    }
    pair_correct(run, slot, &e);
    emit_entry(run, &e);
    remember_closed(
        pair, &(struct pair_closed){slot->id[0] ? hash_text(slot->id) : 0,
                                    {slot->answered[SIDE_REAL], slot->answered[SIDE_VIRTUAL]},
                                    {slot->timed_out[SIDE_REAL], slot->timed_out[SIDE_VIRTUAL]},
                                    false});
    if (fabs(e.rotation_rad) > 0.0 || fabs(e.displacement_m) > 0.0) {
        calibrate_pair(run, slot, &e);
    }
}

void pair_write_unfollowed(const struct pair_run *run, enum verdict verdict)
{
    const struct event_command *command = &run->event->command;
    struct entry e = start_entry(run->pair, run->t_us, command->id, command->op,
                                 command->rotation_rad, command->displacement_m);
    e.verdict = verdict;
    e.ambiguous = run->event->ambiguous ? ENTRY_AMBIGUOUS_COMMAND : ENTRY_SURE;
    emit_entry(run, &e);
    remember_closed(
        run->pair, &(struct pair_closed){.id_hash = command->id[0] ? hash_text(command->id) : 0,
                                         .refused = true});
}

/* ---- reading the window -------------------------------------------------------------------
 */

size_t pair_moves(const struct pair *pair, const struct pair_params *p, enum side side,
                  struct travel_move *moves, int64_t t_us[2])
{
    size_t n = 0;
    for (uint32_t k = 0; k < pair->window_count; k++) {
        const struct pair_move *row = &pair->window[(pair->window_first + k) % p->window];
        if (!isnan(row->lap_s[side])) {
            t_us[0] = n == 0 ? row->t_us : t_us[0];
            t_us[1] = row->t_us;
            moves[n++] = (struct travel_move){
                fabs(row->rotation_rad), fabs(row->displacement_m), (double)row->lap_s[side]};
        }
    }
    return n;
}

size_t pair_commanded_moves(const struct pair *pair, const struct pair_params *p,
                            enum side side, struct profile_move *moves, int64_t t_us[2])
{
    size_t n = 0;
    for (uint32_t k = 0; k < pair->window_count; k++) {
        const struct pair_move *row = &pair->window[(pair->window_first + k) % p->window];
        if (!isnan(row->lap_s[side])) {
            t_us[0] = n == 0 ? row->t_us : t_us[0];
            t_us[1] = row->t_us;
            moves[n++] =
                (struct profile_move){(enum profile_class)row->kind, (double)row->speed,
                                      (double)row->acceleration, (double)row->lap_s[side]};
        }
    }
    return n;
}

/* Names the program that has made all moves since that time. */
static void name_version(const struct pair *pair, const struct pair_params *p, enum side s,
                         int64_t since_us, struct pair_fits *out)
{
    const char *now = pair_version_at(pair, p, s, LAB_TIME_MAX);
    const bool same = strcmp(now, pair_version_at(pair, p, s, since_us)) == 0;
    (void)snprintf(out->version[s], sizeof out->version[s], "%s", same ? now : "");
}

static void fit_commanded(const struct pair *pair, const struct pair_params *p, enum side s,
                          struct pair_fits *out)
{
    struct profile_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2] = {LAB_TIME_NONE, LAB_TIME_NONE};
    const size_t n = pair_commanded_moves(pair, p, s, moves, t_us);
    out->since_us[s] = t_us[0];
    out->until_us[s] = t_us[1];
    name_version(pair, p, s, t_us[0], out);
    out->known[s] = profile_time_fit(moves, n, p->method, &out->profile[s]) == STATUS_OK;
    if (out->known[s] && p->dynamics.plausible) {
        profile_judge_units(&out->profile[s]);
    }
    if (out->known[s]) {
        estimate_advise_worst(&out->profile[s].estimate);
    }
}

void pair_fit_window(const struct pair *pair, const struct pair_params *p,
                     struct pair_fits *out)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2] = {LAB_TIME_NONE, LAB_TIME_NONE};
    out->commanded = pair_is_arm(p);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT && out->commanded; s++) {
        fit_commanded(pair, p, s, out);
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT && !out->commanded; s++) {
        const size_t n = pair_moves(pair, p, s, moves, t_us);
        out->since_us[s] = t_us[0];
        out->until_us[s] = t_us[1];
        name_version(pair, p, s, t_us[0], out);
        out->known[s] =
            travel_time_fit(moves, n, p->motion, p->method, &out->fit[s]) == STATUS_OK;
        if (out->known[s] && p->dynamics.plausible) {
            travel_judge_units(&out->fit[s], moves, n);
        }
        if (out->known[s]) {
            estimate_advise_worst(&out->fit[s].estimate);
        }
    }
}
