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

/* In the order of the ring: read from the recording and decoded by any thread, then stepped. */
enum stage { STAGE_FREE, STAGE_CLAIMED, STAGE_READ, STAGE_DECODED };

struct batch {
    enum stage stage; /* under the lock */
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
    /* the lab's codecs without `coming`: reading threads would prefetch into their own caches */
    struct codec_set codecs;
    struct journal_reader *reader;
    struct batch *batches; /* [batch_count] a ring */
    size_t batch_count;
    size_t step_next;   /* first batch that is not stepped, */
    size_t line;        /* and its next line */
    struct event event; /* event of the last line returned */
    struct journal_reader_stats stats;
    struct threads *threads;
    /* Under their lock. */
    size_t read_next;   /* first batch that may be free */
    size_t decode_next; /* first batch that may need decoding */
    bool reading;       /* a thread is reading: one at a time, in the order of the recording */
    bool ended;         /* the reader has no more */
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

static void decode_batch(const struct replay_ahead *a, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct decoding d = {b, &b->lines[i]};
        const struct journal_line *line = &d.line->line;
        if (d.line->status == STATUS_OK && !line->overlong) {
            (void)codec_read_plain(&a->codecs, a->replay->prefix, line->text, line->bytes,
                                   store_event, &d);
        }
    }
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
static bool fill_batch(struct replay_ahead *a, struct batch *b)
{
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

/* ---- work: threads do the first thing that is due in the ring ------------------------ */

/* Called with the lock, which is released while it works. False: nothing to decode. */
static bool decode_next(struct replay_ahead *a)
{
    struct batch *b = &a->batches[a->decode_next % a->batch_count];
    if (b->stage != STAGE_READ) {
        return false;
    }
    a->decode_next++;
    b->stage = STAGE_CLAIMED;
    threads_unlock(a->threads);
    decode_batch(a, b);
    threads_lock(a->threads);
    b->stage = STAGE_DECODED;
    return true;
}

/* The same for reading. */
static bool read_next(struct replay_ahead *a)
{
    struct batch *b = &a->batches[a->read_next % a->batch_count];
    if (a->reading || a->ended || b->stage != STAGE_FREE) {
        return false;
    }
    a->read_next++;
    a->reading = true;
    b->stage = STAGE_CLAIMED;
    threads_unlock(a->threads);
    const bool more = fill_batch(a, b);
    threads_lock(a->threads);
    a->reading = false;
    a->ended = !more;
    b->stage = STAGE_READ;
    return true;
}

static bool work_ahead(void *context)
{
    return decode_next(context) || read_next(context);
}

/* ---- the caller's thread ---- */

/* Waits until the batch to be stepped is decoded. False: it never will be. */
static bool await_batch(struct replay_ahead *a)
{
    const struct batch *b = &a->batches[a->step_next % a->batch_count];
    threads_lock(a->threads);
    while (b->stage != STAGE_DECODED && !(a->ended && a->step_next == a->read_next)) {
        threads_help(a->threads);
    }
    const bool come = b->stage == STAGE_DECODED;
    threads_unlock(a->threads);
    return come;
}

static void free_batch(struct replay_ahead *a, struct batch *b)
{
    threads_lock(a->threads);
    b->stage = STAGE_FREE;
    threads_signal(a->threads);
    threads_unlock(a->threads);
    a->step_next++;
    a->line = 0;
}

static const struct event *event_of(const struct batch *b, const struct ahead_line *l)
{
    return (const void *)(b->events + l->event);
}

/* The next step looks up this pair, so its memory is prefetched a line ahead. */
static void prefetch_next(const struct replay_ahead *a, const struct batch *b)
{
    const struct ahead_line *l = &b->lines[a->line];
    const struct codec_set *set = &a->replay->codecs;
    if (set->coming && a->line < b->count && l->event != NO_EVENT &&
        event_of(b, l)->hash != 0) {
        set->coming(set->context, event_of(b, l)->hash);
    }
}

enum status replay_ahead_next(struct replay_ahead *ahead, struct journal_line *line,
                              const struct event **event, struct err *err)
{
    struct batch *b = &ahead->batches[ahead->step_next % ahead->batch_count];
    if (ahead->line > 0 && ahead->line == b->count) {
        free_batch(ahead, b);
        b = &ahead->batches[ahead->step_next % ahead->batch_count];
    }
    if (ahead->line == 0) {
        if (!await_batch(ahead)) {
            return STATUS_E_EMPTY;
        }
        ahead->stats = b->stats;
    }
    const struct ahead_line *l = &b->lines[ahead->line++];
    *line = l->line;
    *event = l->event == NO_EVENT ? NULL : &ahead->event;
    if (*event) {
        memcpy(&ahead->event, event_of(b, l), event_bytes(event_of(b, l)));
    }
    prefetch_next(ahead, b);
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

static bool make_batches(struct replay_ahead *a, size_t count)
{
    bool made = true;
    a->batches = calloc(count, sizeof *a->batches);
    a->batch_count = a->batches ? count : 0;
    for (size_t i = 0; i < a->batch_count; i++) {
        a->batches[i].text = malloc(TEXT_BYTES);
        a->batches[i].events = malloc(EVENT_BYTES);
        made = made && a->batches[i].text && a->batches[i].events;
    }
    return made && a->batches;
}

enum status replay_ahead_create(const struct replay *replay, struct journal_reader *reader,
                                struct threads *threads, struct replay_ahead **out)
{
    struct replay_ahead *a = calloc(1, sizeof *a);
    if (!a) {
        return STATUS_E_NOMEM;
    }
    a->replay = replay;
    a->codecs = replay->codecs;
    a->codecs.coming = NULL;
    a->reader = reader;
    a->threads = threads;
    if (!make_batches(a, (size_t)BATCHES_A_THREAD * threads_count(threads))) {
        replay_ahead_destroy(a);
        return STATUS_E_NOMEM;
    }
    threads_add(threads, work_ahead, a);
    *out = a;
    return STATUS_OK;
}

void replay_ahead_destroy(struct replay_ahead *ahead)
{
    if (!ahead) {
        return;
    }
    threads_remove(ahead->threads, ahead);
    for (size_t i = 0; i < ahead->batch_count; i++) {
        free(ahead->batches[i].text);
        free(ahead->batches[i].events);
    }
    free(ahead->batches);
    free(ahead);
}
