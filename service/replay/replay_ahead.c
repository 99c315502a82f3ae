#include "service/replay/replay_ahead.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES = 256,                                /* lines of a batch, at most */
    TEXT_BYTES = 128 * 1024 + MESSAGE_LINE_MAX, /* bytes of their texts: any line fits */
    /* bytes after which no more lines are started */
    TEXT_FULL = 128 * 1024,
    EVENT_BYTES = 192 * 1024, /* bytes of their events; a line without room waits */
    BATCHES_A_THREAD = 4,
    NO_EVENT = -1
};

/* A line from the reader, with its event. */
struct ahead_line {
    struct journal_line line;
    enum status status; /* result of journal_reader_next() */
    long event;         /* offset of its event; NO_EVENT: not parsed */
};

struct batch {
    size_t count;
    struct ahead_line lines[LINES];
    struct err err;                    /* error of the last line if the reader failed there */
    struct journal_reader_stats stats; /* the reader's statistics after that line */
    size_t text_used, event_used;
    char *text;   /* [TEXT_BYTES] */
    char *events; /* [EVENT_BYTES] one after another, each as long as its kind needs */
};

struct replay_ahead {
    const struct replay *replay;
    struct journal_reader *reader;
    struct threads *threads;
    struct belt belt;      /* read from the recording and decoded by any thread, then stepped */
    struct batch *batches; /* [belt.batch_count] */
    struct batch *current; /* the batch that is stepped; NULL: none */
    size_t line;           /* its next line */
    struct event event;    /* event of the last line returned */
    struct journal_reader_stats stats;
};

/* ---- events, as long as they need to be ---- */

static size_t event_bytes(const struct event *e)
{
    static const size_t part[EVENT_KIND_COUNT] = {
        [EVENT_COMMAND] = sizeof(struct event_command),
        [EVENT_TELEMETRY] = sizeof(struct event_telemetry),
        [EVENT_CONNECTION] = sizeof(struct event_connection),
        [EVENT_ECHO] = sizeof(struct event_echo),
    };
    if (e->kind == EVENT_REPLY) {
        return offsetof(struct event, reply.values) +
               e->reply.value_count * sizeof e->reply.values[0];
    }
    return part[e->kind] > 0 ? offsetof(struct event, command) + part[e->kind] : sizeof *e;
}

/* The current batch and line. */
struct decoding {
    struct batch *batch;
    struct ahead_line *line;
};

static void store_event(void *context, const struct event *event)
{
    struct decoding *d = context;
    struct batch *b = d->batch;
    const size_t bytes = (event_bytes(event) + 7) / 8 * 8;
    if (bytes <= EVENT_BYTES - b->event_used) {
        memcpy(b->events + b->event_used, event, bytes);
        d->line->event = (long)b->event_used;
        b->event_used += bytes;
    }
}

static bool decode_batch(void *context, size_t batch)
{
    const struct replay_ahead *a = context;
    struct batch *b = &a->batches[batch];
    for (size_t i = 0; i < b->count; i++) {
        struct decoding d = {b, &b->lines[i]};
        const struct journal_line *line = &d.line->line;
        if (d.line->status == STATUS_OK && !line->overlong) {
            (void)codec_read_plain(&a->replay->codecs, a->replay->prefix, line->text,
                                   line->bytes, store_event, &d);
        }
    }
    return true;
}

/* ---- reading: one thread at a time ---- */

/* Returns false at the end. */
static bool read_line(struct replay_ahead *a, struct batch *b)
{
    struct ahead_line *l = &b->lines[b->count++];
    l->event = NO_EVENT;
    l->status = journal_reader_next(a->reader, &l->line, &b->err);
    if (l->status == STATUS_OK) {
        char *text = b->text + b->text_used;
        memcpy(text, l->line.text, l->line.bytes);
        b->text_used += l->line.bytes;
        l->line.text = text;
    }
    return l->status != STATUS_E_EMPTY;
}

/* Reads lines until the batch is full or a line fails. False at the end. */
static bool fill_batch(void *context, size_t batch)
{
    struct replay_ahead *a = context;
    struct batch *b = &a->batches[batch];
    bool more = true;
    b->count = b->text_used = b->event_used = 0;
    b->err = (struct err){0};
    do {
        more = read_line(a, b);
    } while (b->count < LINES && b->text_used < TEXT_FULL &&
             b->lines[b->count - 1].status == STATUS_OK);
    journal_reader_stats(a->reader, &b->stats);
    return more;
}

/* ---- the caller's thread ---- */

static const struct event *event_of(const struct batch *b, const struct ahead_line *l)
{
    return (const void *)(b->events + l->event);
}

enum status replay_ahead_next(struct replay_ahead *ahead, struct journal_line *line,
                              const struct event **event, struct err *err)
{
    if (ahead->current && ahead->line == ahead->current->count) {
        threads_pass(ahead->threads, &ahead->belt);
        ahead->current = NULL;
    }
    if (!ahead->current) {
        const size_t i = threads_await(ahead->threads, &ahead->belt);
        if (i == ahead->belt.batch_count) {
            return STATUS_E_EMPTY;
        }
        ahead->current = &ahead->batches[i];
        ahead->line = 0;
        ahead->stats = ahead->current->stats;
    }
    const struct batch *b = ahead->current;
    const struct ahead_line *l = &b->lines[ahead->line++];
    *line = l->line;
    *event = l->event == NO_EVENT ? NULL : &ahead->event;
    if (*event) {
        memcpy(&ahead->event, event_of(b, l), event_bytes(event_of(b, l)));
    }
    if (l->status != STATUS_OK) {
        *err = b->err;
    }
    return l->status;
}

void replay_ahead_stats(const struct replay_ahead *ahead, struct journal_reader_stats *out)
{
    *out = ahead->stats;
}

/* ---- beginning and end ---- */

enum status replay_ahead_create(const struct replay *replay, struct journal_reader *reader,
                                struct threads *threads, struct replay_ahead **out)
{
    static const struct belt_stage stages[] = {
        {fill_batch, true}, {decode_batch, false}, {NULL, true}};
    const size_t count = (size_t)BATCHES_A_THREAD * threads_count(threads);
    struct replay_ahead *a = calloc(1, sizeof *a);
    struct batch *batches = calloc(count, sizeof *batches);
    if (!a || !batches) {
        free(a);
        free(batches);
        return STATUS_E_NOMEM;
    }
    *a = (struct replay_ahead){.replay = replay,
                               .reader = reader,
                               .threads = threads,
                               .batches = batches,
                               .belt = {.stages = stages,
                                        .stage_count = COUNT(stages),
                                        .batch_count = count,
                                        .context = a}};
    for (size_t i = 0; i < count; i++) {
        batches[i].text = malloc(TEXT_BYTES);
        batches[i].events = malloc(EVENT_BYTES);
        if (!batches[i].text || !batches[i].events) {
            replay_ahead_destroy(a);
            return STATUS_E_NOMEM;
        }
    }
    threads_add(threads, &a->belt);
    *out = a;
    return STATUS_OK;
}

void replay_ahead_destroy(struct replay_ahead *ahead)
{
    if (!ahead) {
        return;
    }
    threads_remove(ahead->threads, &ahead->belt);
    for (size_t i = 0; i < ahead->belt.batch_count; i++) {
        free(ahead->batches[i].text);
        free(ahead->batches[i].events);
    }
    free(ahead->batches);
    free(ahead);
}
