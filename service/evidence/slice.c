#include "service/evidence/slice.h"

#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "service/replay/replay.h"
#include "twin/lab.h"
#include "twin/pair/pair.h"

/* Why the recording is replayed. */
enum pass_kind {
    FIND_CENTRE, /* for the time of an entry or command */
    FIND_OPEN,   /* for the oldest command that is open when the window begins */
    HAND_OUT
};

enum {
    SAMPLES_MAX = 1024, /* of a line, whose stamps are converted */
    LINE_MAX_BYTES = 1024
};

struct pass {
    enum pass_kind kind;
    const struct slice_request *request;
    const struct slice_sink *sink;
    struct slice_found *found;
    struct replay *replay;
    bool done;
    int64_t stop_us; /* no line after this time is needed */
    bool wanted;     /* the line is one of the wanted pairs */
    bool begun;      /* the window */
    struct slice_line line;
    int64_t sent_us[SAMPLES_MAX]; /* for it */
    uint64_t last_n;              /* FIND_CENTRE: the highest number of the pair's entries */
    int64_t oldest_us;
    char *scratch; /* [MESSAGE_PAYLOAD_MAX + 1] */
};

static bool is_wanted(const struct slice_request *r, const char *pair)
{
    bool wanted = r->pair_count == 0 || strcmp(pair, "$lab") == 0;
    for (size_t i = 0; i < r->pair_count && !wanted; i++) {
        wanted = strcmp(r->pairs[i], pair) == 0;
    }
    return wanted;
}

static bool is_within(const struct pass *p, int64_t t_us)
{
    return t_us >= p->found->from_us && t_us < p->found->until_us;
}

/* --- effects and events ----------------------------------------------------------------- */

static void compare_entry(struct pass *p, const struct effect *effect, const char *pair)
{
    const struct slice_request *r = p->request;
    const struct entry *e = effect->entry;
    const bool of_pair = r->pair ? strcmp(pair, r->pair) == 0 : is_wanted(r, pair);
    if (!of_pair || p->done) {
        return;
    }
    p->last_n = e->n;
    p->done = r->around == SLICE_AROUND_ENTRY ? e->n == r->n : strcmp(e->id, r->id) == 0;
    if (p->done) {
        p->found->from_us = e->t_us - r->before_us;
        /* The window ends before until_us, but the message that ended the entry is in it. */
        p->found->until_us = effect->t_us + (r->after_us > 0 ? r->after_us : 1);
    }
}

static void extend_window(struct pass *p, const struct effect *effect, const char *pair)
{
    const struct entry *e = effect->entry;
    const int64_t from_us = p->found->from_us;
    if (!is_wanted(p->request, pair) || e->t_us >= from_us || effect->t_us < from_us) {
        return;
    }
    const int64_t least_us =
        from_us - lab_pair_params(p->replay->lab, effect->pair)->timeout_us;
    const int64_t t_us = e->t_us > least_us ? e->t_us : least_us;
    p->oldest_us = t_us < p->oldest_us ? t_us : p->oldest_us;
}

static void handle_effect(void *context, const struct effect *effect)
{
    struct pass *p = context;
    const struct lab_params params = lab_file_params(p->request->lab);
    const char *pair = lab_name(&params, effect->pair);
    const bool entry = effect->kind == EFFECT_ENTRY;
    if (!pair || (!entry && effect->kind != EFFECT_ALARM)) {
        return;
    }
    if (p->kind == FIND_CENTRE && entry) {
        compare_entry(p, effect, pair);
    } else if (p->kind == FIND_OPEN && entry) {
        extend_window(p, effect, pair);
    } else if (p->kind == HAND_OUT && p->sink->record && is_wanted(p->request, pair) &&
               is_within(p, effect->t_us)) {
        p->sink->record(p->sink->context, effect, pair);
    }
}

/* The robot's stamp of an event, by its own clock. */
static int64_t source_of(const struct event *e)
{
    return e->kind == EVENT_REPLY        ? e->reply.source_us
           : e->kind == EVENT_TELEMETRY  ? e->telemetry.source_us
           : e->kind == EVENT_CONNECTION ? e->connection.source_us
           : e->kind == EVENT_ECHO       ? e->echo.source_us
                                         : LAB_TIME_NONE;
}

/* Learns from a line's events whose it is, and when the robot sent it. */
static void learn_sender(struct pass *p, const struct event *event)
{
    struct slice_line *line = &p->line;
    const long index = lab_find(p->replay->lab, event->pair);
    const int64_t source_us = source_of(event);
    int64_t sent_us = LAB_TIME_NONE;
    if (index < 0) {
        return;
    }
    line->side = event->side;
    line->pair = lab_pair_params(p->replay->lab, (size_t)index)->id;
    if (event->side < SIDE_COUNT && source_us != LAB_TIME_NONE) {
        sent_us = clock_map_to_lab(
            &lab_pair(p->replay->lab, (size_t)index)->side[event->side].clock, source_us);
    }
    if (line->sent_count < COUNT(p->sent_us)) {
        p->sent_us[line->sent_count++] = sent_us;
    }
}

static void handle_event(void *context, const struct event *event)
{
    struct pass *p = context;
    if (p->kind != HAND_OUT || !is_wanted(p->request, event->pair)) {
        return;
    }
    p->wanted = true;
    learn_sender(p, event);
    if (event->kind == EVENT_TELEMETRY && p->sink->sample && is_within(p, event->t_us)) {
        p->sink->sample(p->sink->context, event);
        p->found->lines++;
    }
}

/* --- lines -------------------------------------------------------------------------------- */

static void hand_out(struct pass *p, const struct journal_line *line)
{
    struct message message;
    const bool parsed = !line->overlong && message_parse(line->text, line->bytes, p->scratch,
                                                         &message, NULL) == STATUS_OK;
    const int64_t t_us = parsed ? message.t_us : p->replay->t_us;
    if (is_within(p, t_us)) {
        p->line.line = line;
        p->line.message = parsed ? &message : NULL;
        p->sink->line(p->sink->context, &p->line);
        p->found->lines += parsed;
    }
}

/* Hands out a line that states the version of a side's program when the window begins. */
static void hand_out_version(struct pass *p, const char *pair, enum side side,
                             const char *version)
{
    char text[LINE_MAX_BYTES];
    char payload[sizeof text / 2];
    const size_t bytes = JSON_FORMAT(payload, sizeof payload, JSON("pair", pair),
                                     JSON("side", side_name(side)), JSON("version", version));
    struct message m = {.t_us = p->found->from_us,
                        .qos = 1,
                        .payload = payload,
                        .stored_bytes = bytes,
                        .payload_bytes = bytes};
    lab_line_topic(p->replay->prefix, "version", m.topic);
    const struct journal_line line = {.text = text,
                                      .bytes = message_format(&m, text, sizeof text) - 1};
    p->line = (struct slice_line){.pair = pair, .side = side};
    hand_out(p, &line);
}

/* Versions that only the lab file has are left to the lab file of the replay. */
static void hand_out_versions(struct pass *p)
{
    const struct slice_line own = p->line;
    const struct slice_request *r = p->request;
    for (size_t i = 0; i < r->lab->pair_count; i++) {
        const struct pair *pair = lab_pair(p->replay->lab, i);
        const struct pair_params *params = lab_pair_params(p->replay->lab, i);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            const struct pair_version *v = &pair->side[s].version;
            const char *version = r->version ? r->version[s]
                                  : v->sent[0] || v->is_stated
                                      ? pair_version_at(pair, params, s, p->found->from_us - 1)
                                      : "";
            if (is_wanted(r, params->id) && version[0]) {
                hand_out_version(p, params->id, s, version);
            }
        }
    }
    p->line = own;
}

/* Replays a line. Faults of single lines are counted: a recording is used as far as it goes. */
static void replay_one(struct pass *p, const struct journal_line *line)
{
    const struct replay_counts *counts = &p->replay->counts;
    const uint64_t torn = counts->torn;
    const uint64_t before = counts->lines;
    p->line = (struct slice_line){.pair = "", .side = SIDE_COUNT, .sent_us = p->sent_us};
    p->wanted = p->request->pair_count == 0;
    const enum status status = replay_line(p->replay, line, NULL);
    (void)status;
    p->done = p->done || (p->replay->t_us != LAB_TIME_NONE && p->replay->t_us >= p->stop_us);
    const bool whole = counts->lines > before && counts->torn == torn; /* not blank, not cut */
    if (p->kind == HAND_OUT && p->sink->line && whole && p->wanted) {
        if (!p->begun && p->found->from_us != LAB_TIME_NONE &&
            p->replay->t_us >= p->found->from_us) {
            p->begun = true;
            hand_out_versions(p);
        }
        hand_out(p, line);
    }
}

static enum status read_lines(struct pass *p, struct journal_reader *reader, struct err *err)
{
    struct journal_line line;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !p->done) {
        status = journal_reader_next(reader, &line, err);
        if (status == STATUS_OK) {
            replay_one(p, &line);
        }
    }
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

static enum status run_pass(struct pass *p, enum pass_kind kind, int64_t stop_us,
                            struct err *err)
{
    const struct effects effects = {handle_effect, p};
    struct journal_reader *reader = NULL;
    p->kind = kind;
    p->stop_us = stop_us;
    p->done = false;
    if (replay_create(p->request->lab, &effects, &p->replay) != STATUS_OK) {
        return err_no_memory(err, "export", "no memory");
    }
    p->replay->watch = handle_event;
    p->replay->context = p;
    enum status status =
        journal_reader_open_files(p->request->paths, p->request->path_count, &reader, err);
    status = status == STATUS_OK ? read_lines(p, reader, err) : status;
    if (status == STATUS_OK && !p->done) {
        replay_end(p->replay);
    }
    p->found->torn = p->replay->counts.torn;
    p->found->unread = p->replay->counts.unread;
    if (status == STATUS_OK && kind == HAND_OUT && p->found->lines == 0) {
        status = replay_judge(p->replay, "export", err);
    }
    journal_reader_close(reader);
    replay_destroy(p->replay);
    return status;
}

/* --- the window --------------------------------------------------------------------------- */

static enum status find_centre(struct pass *p, struct err *err)
{
    const struct slice_request *r = p->request;
    const enum status status = run_pass(p, FIND_CENTRE, LAB_TIME_MAX, err);
    if (status != STATUS_OK || p->done) {
        return status;
    }
    if (r->around == SLICE_AROUND_ID) {
        return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, "export",
                       "no entry has the command id '%s' in these files", r->id);
    }
    if (p->last_n == 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, "export",
                       "%s has no entry in these files", r->pair);
    }
    return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, "export",
                   "%s has entries 1 to %llu in these files", r->pair,
                   (unsigned long long)p->last_n);
}

static int64_t longest_timeout(const struct lab_file *lab)
{
    int64_t longest_us = 0;
    for (size_t i = 0; i < lab->pair_count; i++) {
        const int64_t us = lab->pairs[i].timeout_us;
        longest_us = us > longest_us ? us : longest_us;
    }
    return longest_us;
}

/* Moves the begin of the window back to the oldest command that is open then. */
static enum status find_open(struct pass *p, struct err *err)
{
    const int64_t from_us = p->found->from_us;
    p->oldest_us = from_us;
    const enum status status =
        run_pass(p, FIND_OPEN, from_us + longest_timeout(p->request->lab), err);
    p->found->from_us = p->oldest_us;
    return status;
}

enum status slice_read(const struct slice_request *request, const struct slice_sink *sink,
                       struct slice_found *found, struct err *err)
{
    struct pass p = {.request = request,
                     .sink = sink,
                     .found = found,
                     .scratch = malloc(MESSAGE_PAYLOAD_MAX + 1)};
    *found = (struct slice_found){.from_us = request->since_us, .until_us = request->until_us};
    enum status status = p.scratch ? STATUS_OK : err_no_memory(err, "export", "no memory");
    if (status == STATUS_OK && request->around == SLICE_AROUND_TIME) {
        found->from_us = request->t_us - request->before_us;
        found->until_us = request->t_us + request->after_us;
    } else if (status == STATUS_OK && request->around != SLICE_ALL) {
        status = find_centre(&p, err);
    }
    if (status == STATUS_OK && found->from_us != LAB_TIME_NONE) {
        status = find_open(&p, err);
    }
    status = status == STATUS_OK ? run_pass(&p, HAND_OUT, found->until_us, err) : status;
    free(p.scratch);
    if (status == STATUS_OK && found->lines == 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, "export",
                       sink->sample ? "no telemetry is in this window"
                                    : "no message is in this window");
    }
    return status;
}
