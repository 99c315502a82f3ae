#include "service/replay/replay.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MINUTE_US = 60 * 1000000, LINE_BYTES = 64, HUGE_BYTES = 2 * 1024 * 1024 };

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
        /* A wish: where it is refused, the lab is slower. */
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    }
    return lab_init(memory, p);
}

void lab_memory_destroy(struct lab *lab)
{
    free(lab); /* it stands at the beginning of its memory */
}

enum status replay_create(const struct lab_file *file, const struct effects *effects,
                          struct replay **out)
{
    const struct lab_params params = {file->pair_count, file->pairs};
    struct replay *replay = calloc(1, sizeof *replay);
    char *scratch = malloc(MESSAGE_PAYLOAD_MAX + 1);
    struct lab *lab = lab_memory_create(&params);
    if (!replay || !lab || !scratch) {
        free(replay);
        lab_memory_destroy(lab);
        free(scratch);
        return STATUS_E_NOMEM;
    }
    replay->lab = lab;
    lab_codecs(lab, &replay->codecs);
    replay->prefix = file->broker.prefix;
    replay->effects = *effects;
    replay->t_us = LAB_TIME_NONE;
    replay->pause_us_max = REPLAY_PAUSE_US_MAX;
    replay->scratch = scratch;
    *out = replay;
    return STATUS_OK;
}

void replay_destroy(struct replay *replay)
{
    if (!replay) {
        return;
    }
    lab_memory_destroy(replay->lab);
    free(replay->scratch);
    free(replay);
}

/* Every probe and control period up to there would be fired. */
static bool is_ahead(const struct replay *replay, const struct event *event)
{
    const int64_t now_us = lab_time(replay->lab);
    const bool away = event->kind == EVENT_START || lab_stopped(replay->lab);
    const int64_t max_us = away && replay->pause_us_max < REPLAY_AWAY_US_MAX
                               ? REPLAY_AWAY_US_MAX
                               : replay->pause_us_max;
    return now_us != LAB_TIME_NONE && event->t_us > now_us && event->t_us - now_us > max_us;
}

static void step_event(void *context, const struct event *event)
{
    struct replay *replay = context;
    if (is_ahead(replay, event)) {
        replay->refused = true;
        return;
    }
    replay->counts.events++;
    replay->counts.malformed += event->kind == EVENT_MALFORMED;
    lab_step(replay->lab, event, &replay->effects);
}

void replay_message(struct replay *replay, const struct message *message)
{
    replay->refused = false;
    if (codec_decode(&replay->codecs, replay->prefix, message, step_event, replay) == 0) {
        replay->counts.other++;
    }
    if (replay->refused) {
        replay->counts.ahead++;
    } else {
        replay->t_us = message->t_us;
    }
}

static enum status complain_ahead(const struct replay *replay, int64_t t_us, struct err *err)
{
    char t[28];
    char before[28];
    const int64_t now_us = lab_time(replay->lab);
    message_format_time(t_us, t);
    message_format_time(now_us, before);
    return err_set(err, STATUS_E_RANGE, "replay", 0, 1,
                   "stamped %s, %.0f days after what came before it (%s): not taken in", t,
                   lab_s(t_us - now_us) / 86400.0, before);
}

enum status replay_line(struct replay *replay, const struct journal_line *line, struct err *err)
{
    struct message message;
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
        replay->counts.malformed++;
        return status;
    }
    replay_message(replay, &message);
    return replay->refused ? complain_ahead(replay, message.t_us, err) : STATUS_OK;
}

enum status replay_pause(struct replay *replay, int64_t t_us, replay_go_on *go_on,
                         void *context, double share, struct err *err)
{
    int64_t now_us = replay->t_us;
    if (now_us == LAB_TIME_NONE || t_us == LAB_TIME_NONE || t_us <= now_us) {
        return STATUS_OK;
    }
    if (t_us - now_us > REPLAY_PAUSE_US_MAX) {
        return err_set(err, STATUS_E_RANGE, "replay", 0, 0,
                       "time goes on by %.0f days here, 31 at most are believed",
                       lab_s(t_us - now_us) / 86400.0);
    }
    while (t_us - now_us > MINUTE_US) {
        now_us += MINUTE_US;
        const struct event tick = {.kind = EVENT_TICK, .t_us = now_us};
        lab_step(replay->lab, &tick, &replay->effects);
        if (!go_on(context, "replaying", share)) {
            return err_set(err, STATUS_E_STALE, "replay", 0, 0, "cancelled");
        }
    }
    return STATUS_OK;
}

void replay_end(struct replay *replay)
{
    if (!lab_stopped(replay->lab)) {
        lab_finish(replay->lab, &replay->effects);
    }
}
