#include "service/identify/travel_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "logger/message/codec_native.h"
#include "service/identify/journal_lines.h"

enum { OPEN_MAX = 256 };

struct command {
    char id[EVENT_ID_MAX];
    int64_t t_us;
    bool go;
    struct travel_move move;
};

struct reading {
    struct travel_journal *journal;
    struct command open[OPEN_MAX]; /* [count] without an answer, oldest first */
    size_t count;
    char pair[EVENT_PAIR_MAX]; /* the chosen one; "": none yet */
    char found[128];           /* pairs of the journal, for errors */
    enum status outcome;
    struct err *err;
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
};

static size_t find_command(const struct reading *r, const char *id)
{
    size_t k = 0;
    while (k < r->count && strcmp(r->open[k].id, id) != 0) {
        k++;
    }
    return k;
}

static void remove_command(struct reading *r, size_t k)
{
    memmove(&r->open[k], &r->open[k + 1], (--r->count - k) * sizeof *r->open);
}

/* In link mode a command comes twice, from L1 and to the robot: the later time counts. */
static void open_command(struct reading *r, const struct event *e)
{
    const struct event_command *c = &e->command;
    const size_t same = c->id[0] ? find_command(r, c->id) : r->count;
    if (same < r->count) {
        r->open[same].t_us = e->t_us;
        return;
    }
    if (r->count == OPEN_MAX) {
        r->journal->skipped++;
        remove_command(r, 0);
    }
    struct command *to = &r->open[r->count++];
    *to = (struct command){
        .t_us = e->t_us,
        .go = strcmp(c->op, "go") == 0,
        .move = {.rotation_rad = c->rotation_rad, .displacement_m = c->displacement_m}};
    memcpy(to->id, c->id, sizeof to->id);
}

/* A reply without id answers the oldest command. */
static void close_command(struct reading *r, const struct event *e)
{
    struct travel_journal *j = r->journal;
    const struct event_reply *reply = &e->reply;
    const size_t k = reply->id[0] ? find_command(r, reply->id) : 0;
    if (k >= r->count) {
        return;
    }
    struct command done = r->open[k];
    const bool stamped =
        reply->source_us != LAB_TIME_NONE && reply->source_start_us != LAB_TIME_NONE;
    remove_command(r, k);
    if (!done.go || reply->status != REPLY_DONE) {
        j->skipped++;
        return;
    }
    done.move.lap_s =
        lab_s(stamped ? reply->source_us - reply->source_start_us : e->t_us - done.t_us);
    j->motions += stamped;
    j->laps += !stamped;
    r->outcome = j->add(j->context, &done.move, r->err);
}

static void handle_event(void *context, const struct event *e)
{
    struct reading *r = context;
    if (r->outcome != STATUS_OK) {
        return;
    }
    if (e->kind == EVENT_COMMAND) {
        open_command(r, e);
    } else if (e->kind == EVENT_REPLY) {
        close_command(r, e);
    }
}

/* Is the message of the chosen pair? Without one the first pair is chosen, and a second one is
 * an error. */
static bool is_of_pair(struct reading *r, const char *pair, size_t bytes)
{
    char name[EVENT_PAIR_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)bytes, pair);
    names_append_new(r->found, sizeof r->found, name);
    if (r->pair[0] == '\0') {
        memcpy(r->pair, name, sizeof r->pair);
    }
    const bool same = strcmp(r->pair, name) == 0;
    if (!same && !r->journal->pair) {
        r->outcome = err_set(r->err, STATUS_E_ARG, FAULT_AMBIGUOUS_PAIR, "journal",
                             "moves of several pairs (%s): choose one with --pair", r->found);
    }
    return same;
}

static enum status read_line(void *context, const struct journal_line *line, struct err *err)
{
    struct reading *r = context;
    struct message m;
    char prefix[MESSAGE_TOPIC_MAX];
    const char *pair = NULL;
    size_t bytes = 0;
    const bool real = r->journal->side == SIDE_REAL;
    (void)err;
    if (message_parse(line->text, line->bytes, r->scratch, &m, NULL) != STATUS_OK ||
        m.retained) {
        return STATUS_OK;
    }
    const bool other = journal_topic_split(m.topic, real ? "/virtual/command" : "/real/command",
                                           prefix, &pair, &bytes);
    const bool ours =
        journal_topic_split(m.topic, real ? "/real/command" : "/virtual/command", prefix, &pair,
                            &bytes) ||
        journal_topic_split(m.topic, real ? "/real/reply" : "/virtual/reply", prefix, &pair,
                            &bytes) ||
        (!other && journal_topic_split(m.topic, "/command", prefix, &pair, &bytes));
    if (ours && is_of_pair(r, pair, bytes)) {
        (void)codec_native.decode(prefix, &m, handle_event, r);
    }
    return r->outcome;
}

static bool ask_on(void *context, uint64_t done, uint64_t total)
{
    const struct travel_journal *j = ((const struct reading *)context)->journal;
    return !j->go_on || j->go_on(j->context, done, total);
}

enum status travel_journal_read(struct travel_journal *journal, const struct csv_source *input,
                                struct err *err)
{
    struct reading *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, "journal", "no memory");
    }
    r->journal = journal;
    r->err = err;
    (void)snprintf(r->pair, sizeof r->pair, "%s", journal->pair ? journal->pair : "");
    const struct journal_lines lines = {input, 1, NULL, read_line, ask_on, r};
    enum status st = journal_lines_read(&lines, err);
    if (st == STATUS_OK && journal->motions + journal->laps == 0) {
        st = err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, input->path,
                     "no 'go' of %s%s that the %s robot answered 'done'%s%s; for robots with "
                     "another codec: tandem replay -c LAB.yaml",
                     r->pair[0] ? "pair " : "a pair", r->pair, side_name(journal->side),
                     r->found[0] ? "; pairs of the journal: " : "", r->found);
    }
    free(r);
    return st;
}
