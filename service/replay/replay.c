#include "service/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MINUTE_US = 60 * 1000000, LINE_BYTES = 64, HUGE_BYTES = 2 * 1024 * 1024 };

/* assumed duration of a fit without a recorded end; live fits are mostly shorter */
static const int64_t FIT_US = 5000000;

struct lab *lab_memory_create(const struct lab_params *p)
{
    const size_t bytes = lab_bytes(p);
    const size_t unit = bytes >= HUGE_BYTES ? HUGE_BYTES : LINE_BYTES;
    const size_t whole = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, whole);
    if (!memory) {
        return NULL;
    }
    if (unit == HUGE_BYTES) {
        /* Ask for huge pages; a refusal only costs speed. Only memory that lab_init() touches
         * gets them: the first touch zeroes a page, which would delay a lab at work. */
        const size_t pages = (lab_touched_bytes(p) + HUGE_BYTES - 1) / HUGE_BYTES;
        (void)madvise(memory, pages * HUGE_BYTES, MADV_HUGEPAGE);
    }
    return lab_init(memory, p);
}

void lab_memory_destroy(struct lab *lab)
{
    free(lab); /* the lab is at the start of its memory */
}

/* ---- fits ---------------------------------------------------------------------------------
 */

/* Returns the end of this side's fit when no line records it; LAB_TIME_MAX: never. If the
 * recording has the ends of earlier fits, this one never ended, and the lab gives it up as it
 * did live. */
static int64_t find_end_of_fit(const struct replay *replay, size_t pair, enum side which)
{
    const struct pair_dynamics *d = lab_dynamics(replay->lab, pair);
    const uint8_t fits = replay->fits[pair][which];
    if (!d || !d->side[which].running || fits == REPLAY_FITS_RECORDED) {
        return LAB_TIME_MAX;
    }
    const struct dynamics_side *side = &d->side[which];
    const bool may_be_recorded = replay->whole && fits == REPLAY_FITS_UNKNOWN;
    return may_be_recorded || side->give_up_us - side->began_us < FIT_US
               ? side->give_up_us
               : side->began_us + FIT_US;
}

static void find_due_fit(struct replay *replay)
{
    replay->due.t_us = LAB_TIME_MAX;
    for (size_t i = 0; i < lab_pair_count(replay->lab); i++) {
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            const int64_t t_us = find_end_of_fit(replay, i, s);
            if (t_us < replay->due.t_us) {
                replay->due.t_us = t_us;
                replay->due.pair = i;
                replay->due.side = s;
            }
        }
    }
}

static void forward_effect(void *context, const struct effect *effect)
{
    struct replay *replay = context;
    if (effect->kind == EFFECT_FIT) {
        find_due_fit(replay);
    }
    replay->effects.emit(replay->effects.context, effect);
}

static void step_lab(struct replay *replay, const struct event *event)
{
    const struct effects effects = {forward_effect, replay};
    lab_step(replay->lab, event, &effects);
}

static bool may_fit_go_on(void *context, const char *stage)
{
    struct replay *replay = context;
    return replay_may_go_on(replay, stage, replay->share);
}

/* The fit of that robot ends, without a result. */
static void step_fit(struct replay *replay, size_t pair, const struct event *event)
{
    struct event with = *event;
    struct dynamics_task task;
    struct dynamics_result result;
    struct err err = {0};
    pair_dynamics_task(lab_dynamics(replay->lab, pair),
                       &lab_pair_params(replay->lab, pair)->dynamics, event->side, &task);
    task.go_on = may_fit_go_on;
    task.context = replay;
    (void)dynamics_task_end(&task, &result, &with.fit, &err);
    step_lab(replay, &with);
    find_due_fit(replay);
}

/* Ends the fits that end before t_us. */
static void end_fits(struct replay *replay, int64_t t_us)
{
    while (replay->due.t_us < t_us) {
        const size_t pair = replay->due.pair;
        const enum side side = replay->due.side;
        const int64_t now_us = lab_time(replay->lab);
        struct event event = {.t_us = replay->due.t_us > now_us ? replay->due.t_us : now_us,
                              .kind = EVENT_FIT,
                              .side = side};
        (void)snprintf(event.pair, sizeof event.pair, "%s",
                       lab_pair_params(replay->lab, pair)->id);
        event.fit.job = lab_dynamics(replay->lab, pair)->side[side].job;
        replay->fits[pair][side] = REPLAY_FITS_UNTOLD;
        step_fit(replay, pair, &event);
    }
}

/* Handles a line that records the end of a fit. */
static void apply_fit_end(struct replay *replay, const struct event *event)
{
    const long i = lab_find(replay->lab, event->pair);
    const struct pair_dynamics *d = i >= 0 ? lab_dynamics(replay->lab, (size_t)i) : NULL;
    if (!d) {
        step_lab(replay, event);
        return;
    }
    const struct dynamics_side *side = &d->side[event->side];
    const bool awaited = side->running && side->job == event->fit.job;
    uint8_t *fits = &replay->fits[i][event->side];
    /* Such a number belongs to a fit from before this recording. */
    *fits = awaited                      ? REPLAY_FITS_RECORDED
            : event->fit.job > side->job ? REPLAY_FITS_UNTOLD
                                         : *fits;
    if (awaited && event->fit.outcome == FIT_DONE) {
        step_fit(replay, (size_t)i, event);
    } else {
        step_lab(replay, event);
        find_due_fit(replay);
    }
}

/* ---- a replay -----------------------------------------------------------------------------
 */

enum status replay_create(const struct lab_file *file, const struct effects *effects,
                          struct replay **out)
{
    const struct lab_params params = lab_file_params(file);
    struct replay *replay = calloc(1, sizeof *replay);
    char *scratch = malloc(MESSAGE_PAYLOAD_MAX + 1);
    uint8_t(*fits)[SIDE_COUNT] = calloc(file->pair_count, sizeof *fits);
    struct lab *lab = lab_memory_create(&params);
    if (!replay || !lab || !scratch || !fits) {
        free(replay);
        lab_memory_destroy(lab);
        free(scratch);
        free(fits);
        return STATUS_E_NOMEM;
    }
    *replay = (struct replay){.lab = lab,
                              .prefix = file->broker.prefix,
                              .effects = *effects,
                              .fits = fits,
                              .due.t_us = LAB_TIME_MAX,
                              .t_us = LAB_TIME_NONE,
                              .pause_us_max = REPLAY_PAUSE_US_MAX,
                              .scratch = scratch};
    lab_codecs(lab, &replay->codecs);
    *out = replay;
    return STATUS_OK;
}

void replay_destroy(struct replay *replay)
{
    if (!replay) {
        return;
    }
    lab_memory_destroy(replay->lab);
    free(replay->fits);
    free(replay->scratch);
    free(replay);
}

bool replay_may_go_on(struct replay *replay, const char *stage, double share)
{
    replay->share = share;
    return !replay->go_on || replay->go_on(replay->context, stage, share);
}

/* Such a jump would fire every probe and control period up to it. */
static bool is_ahead(const struct replay *replay, const struct event *event)
{
    const int64_t now_us = lab_time(replay->lab);
    const bool away = event->kind == EVENT_START || lab_stopped(replay->lab);
    const int64_t max_us = away && replay->pause_us_max < REPLAY_AWAY_US_MAX
                               ? REPLAY_AWAY_US_MAX
                               : replay->pause_us_max;
    return now_us != LAB_TIME_NONE && event->t_us > now_us && event->t_us - now_us > max_us;
}

static void record_stranger(struct replay *replay, const char *pair)
{
    if (pair[0] != '$' && lab_find(replay->lab, pair) < 0 &&
        lab_find_team(replay->lab, pair) < 0) {
        names_append_new(replay->strangers, sizeof replay->strangers, pair);
    }
}

static void step_event(void *context, const struct event *event)
{
    struct replay *replay = context;
    const uint64_t unknown = lab_counts(replay->lab)->unknown_pair;
    if (is_ahead(replay, event)) {
        replay->refused = true;
        return;
    }
    replay->whole = replay->counts.events > 0 ? replay->whole
                                              : event->kind == EVENT_START && !replay->refit;
    if (replay->watch) {
        replay->watch(replay->context, event);
    }
    replay->counts.events++;
    replay->counts.malformed += event->kind == EVENT_MALFORMED;
    end_fits(replay, event->t_us);
    if (event->kind != EVENT_FIT) {
        step_lab(replay, event);
    } else if (!replay->refit) {
        apply_fit_end(replay, event);
    }
    if (lab_counts(replay->lab)->unknown_pair > unknown) {
        record_stranger(replay, event->pair);
    }
}

/* Handles the events of a line stamped t_us. */
static bool count_line(struct replay *replay, int64_t t_us)
{
    if (replay->refused) {
        replay->counts.ahead++;
    } else {
        replay->t_us = t_us;
    }
    return !replay->refused;
}

/* The daemon's lab reaches the time of each line of its journal, also of one without an event.
 */
static void reach_line(struct replay *replay, int64_t t_us)
{
    const struct event tick = {.t_us = t_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
    if (lab_counts(replay->lab)->starts > 0 && !is_ahead(replay, &tick)) {
        end_fits(replay, t_us);
        step_lab(replay, &tick);
    }
}

void replay_message(struct replay *replay, const struct message *message)
{
    const uint64_t events = replay->counts.events;
    replay->refused = false;
    if (codec_decode(&replay->codecs, replay->prefix, message, step_event, replay) == 0) {
        replay->counts.other++;
        if (!replay->elsewhere[0]) {
            (void)snprintf(replay->elsewhere, sizeof replay->elsewhere, "%.63s",
                           message->topic);
        }
    }
    if (replay->counts.events == events && !replay->refused) {
        reach_line(replay, message->t_us);
    }
    (void)count_line(replay, message->t_us);
}

static void step_plain(void *context, const struct event *event)
{
    struct replay *replay = context;
    replay->plain_us = event->t_us;
    step_event(replay, event);
}

static enum status complain_ahead(const struct replay *replay, int64_t t_us, struct err *err)
{
    char t[28];
    char before[28];
    const int64_t now_us = lab_time(replay->lab);
    message_format_time(t_us, t);
    message_format_time(now_us, before);
    return err_set_at(err, STATUS_E_RANGE, FAULT_TIME_JUMP, "replay", 0, 1,
                      "stamped %s, %.0f days after the previous line (%s): skipped", t,
                      lab_s(t_us - now_us) / 86400.0, before);
}

static enum status end_line(struct replay *replay, int64_t t_us, struct err *err)
{
    replay->counts.lines++;
    return count_line(replay, t_us) ? STATUS_OK : complain_ahead(replay, t_us, err);
}

enum status replay_line(struct replay *replay, const struct journal_line *line, struct err *err)
{
    struct message message;
    if (line->overlong) {
        replay->counts.lines++;
        replay->counts.overlong++;
        replay->counts.unread++;
        replay->counts.malformed++;
        return err_set_at(err, STATUS_E_PARSE, FAULT_TOO_LONG, "journal line", 0, 1,
                          "a line of more than %d bytes: not read", MESSAGE_LINE_MAX);
    }
    replay->refused = false;
    if (codec_read_plain(&replay->codecs, replay->prefix, line->text, line->bytes, step_plain,
                         replay)) {
        return end_line(replay, replay->plain_us, err);
    }
    const enum status status =
        message_parse(line->text, line->bytes, replay->scratch, &message, err);
    if (status == STATUS_E_EMPTY) {
        return STATUS_OK;
    }
    replay->counts.lines++;
    if (status != STATUS_OK && line->torn) {
        replay->counts.torn++;
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        replay->counts.unread++;
        replay->counts.malformed++;
        return status;
    }
    replay_message(replay, &message);
    return replay->refused ? complain_ahead(replay, message.t_us, err) : STATUS_OK;
}

enum status replay_pause(struct replay *replay, int64_t t_us, double share, struct err *err)
{
    int64_t now_us = replay->t_us;
    replay->share = share;
    if (now_us == LAB_TIME_NONE || t_us == LAB_TIME_NONE || t_us <= now_us) {
        return STATUS_OK;
    }
    if (t_us - now_us > REPLAY_PAUSE_US_MAX) {
        return err_set(err, STATUS_E_RANGE, FAULT_TIME_JUMP, "replay",
                       "time goes on by %.0f days here, 31 at most are believed",
                       lab_s(t_us - now_us) / 86400.0);
    }
    while (t_us - now_us > MINUTE_US) {
        now_us += MINUTE_US;
        const struct event tick = {.kind = EVENT_TICK, .t_us = now_us};
        end_fits(replay, now_us);
        step_lab(replay, &tick);
        if (!replay_may_go_on(replay, "replaying", share)) {
            return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "replay", "cancelled");
        }
    }
    return STATUS_OK;
}

enum status replay_judge(const struct replay *replay, const char *where, struct err *err)
{
    const struct replay_counts *c = &replay->counts;
    const struct lab_counts *l = lab_counts(replay->lab);
    if (c->events > l->unknown_pair || c->ahead > 0) {
        return STATUS_OK;
    }
    if (l->unknown_pair > 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, where,
                       "no message is for a pair of the lab file; those in the recording: %s",
                       replay->strangers);
    }
    if (c->other > 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, where,
                       "no message is below '%s/', which the lab file reads; the first is on "
                       "'%s'",
                       replay->prefix, replay->elsewhere);
    }
    return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, where,
                   "%s: what mosquitto_sub -F %%J printed, or a journal of the daemon, was "
                   "expected",
                   c->lines == 0 ? "nothing is in it" : "not one line of it is a message");
}

void replay_end(struct replay *replay)
{
    if (!lab_stopped(replay->lab)) {
        end_fits(replay, replay->t_us + FIT_US + 1);
        lab_finish(replay->lab, &replay->effects);
    }
}
