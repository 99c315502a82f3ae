#include "service/daemon/inbox.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/storage/journal_reader.h"
#include "logger/storage/lock.h"
#include "service/engine/partition.h"
#include "service/tool/lab_clock.h"

enum {
    COSTED = 1000,         /* lines before their cost is known */
    WAITING_MIN = 256,     /* fewer waiting lines are no overload, whatever they cost */
    LATE_BYTES = 64 << 10, /* samples that are written together */
    OWED_BYTES = 1 << 20,  /* own lines that wait for the journal */
    ROOM_US = 1000,        /* between two looks for room */
    DURABLE_US = 100000    /* between two looks whether the inbox was released */
};

/* The lab thread's state, as far as producers need it. */
enum consumer {
    CONSUMER_AWAKE, /* checks the buffer before it sleeps: no need to wake it */
    CONSUMER_RESTS, /* returns by itself within one millisecond */
    CONSUMER_POLLS, /* returns by itself within some milliseconds */
    CONSUMER_SLEEPS
};

/* A record in a buffer: this header, then the line, or nothing for a section. */
struct record {
    struct journal_position after; /* end of the section */
    struct journal_position from;  /* start of the section */
    size_t bytes;                  /* length of the line */
    bool section;
    bool restored;
    bool unwritten; /* the journal does not have the line */
    bool owed;      /* the journal lacks the line, or something before it */
};

/* Aligned records, one after another. */
struct buffer {
    char *bytes; /* [buffer_bytes] */
    size_t used;
};

struct inbox {
    struct inbox_params params;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* wakes the lab thread */

    /* Under the lock. */
    struct buffer filling; /* records since the round began */
    uint64_t waiting;      /* lines in it */
    uint64_t waiting_max;  /* more waiting lines cause samples to be dropped; 0: no limit */
    int64_t last_us;
    int64_t written_us;          /* the journal has a line of this time, or of a later one */
    int64_t reached_us;          /* the lab gets here before it gets lines that come now */
    struct journal_position end; /* behind the last whole line; journal_end() may lie in a
                                    torn piece, where no reader can begin */
    bool behind;                 /* lines from behind_from on stand in the journal only */
    struct journal_position behind_from;
    enum consumer consumer;
    bool called; /* inbox_wake() was called since the last sleep */
    struct inbox_counts counts;
    char *line; /* [MESSAGE_LINE_MAX] where messages are formatted */
    /* [LATE_BYTES] samples that the journal lacks yet: the last records of filling, from
     * late_at on; NULL: unused */
    char *late;
    size_t late_bytes, late_lines, late_at;
    int64_t late_us, late_last_us; /* stamps of the first, and of the last there was */
    bool refused;                  /* the journal did not take the last line */
    char *owed; /* [OWED_BYTES] own lines that the journal refused, to be written first; the
                   lab has owed_given of their owed_bytes */
    size_t owed_bytes, owed_given;
    bool begun; /* the journal has a line of this run */
    atomic_bool released;

    /* Used by the lab thread only. */
    struct buffer round_buffer;    /* records of this round, */
    size_t at;                     /* read up to here */
    struct journal_reader *reader; /* reader of the current section; NULL: none */
    struct record section;
    struct journal_position position;
    bool unplaced;    /* the lab has lines that the journal lacked then */
    uint64_t reached; /* lines up to the end of this round */
    uint64_t costed;  /* recent lines, and their cost */
    int64_t cost_ns;
};

enum status inbox_create(const struct inbox_params *params, struct inbox **out)
{
    struct inbox *inbox = calloc(1, sizeof *inbox);
    if (!inbox) {
        return STATUS_E_NOMEM;
    }
    *inbox = (struct inbox){.params = *params,
                            .filling.bytes = malloc(params->buffer_bytes),
                            .round_buffer.bytes = malloc(params->buffer_bytes),
                            .line = malloc(MESSAGE_LINE_MAX),
                            .late = params->samples_together ? malloc(LATE_BYTES) : NULL,
                            .owed = malloc(OWED_BYTES),
                            .last_us = params->last_us,
                            .end = journal_end(params->journal)};
    inbox->position = inbox->end;
    lock_init(&inbox->lock);
    lock_init_condition(&inbox->wake);
    if (!inbox->filling.bytes || !inbox->round_buffer.bytes || !inbox->line || !inbox->owed ||
        (params->samples_together && !inbox->late)) {
        inbox_destroy(inbox);
        return STATUS_E_NOMEM;
    }
    *out = inbox;
    return STATUS_OK;
}

void inbox_destroy(struct inbox *inbox)
{
    if (inbox) {
        journal_reader_close(inbox->reader);
        (void)pthread_cond_destroy(&inbox->wake);
        (void)pthread_mutex_destroy(&inbox->lock);
        free(inbox->filling.bytes);
        free(inbox->round_buffer.bytes);
        free(inbox->line);
        free(inbox->late);
        free(inbox->owed);
        free(inbox);
    }
}

/* Lock held. No stamp is earlier than the one before. */
static int64_t raise_stamp(struct inbox *inbox, int64_t now_us)
{
    if (now_us > inbox->last_us) {
        inbox->last_us = now_us;
    }
    return inbox->last_us;
}

/* Lock held. */
static int64_t stamp_us(struct inbox *inbox)
{
    return raise_stamp(inbox, inbox->params.now_us());
}

int64_t inbox_now_us(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const int64_t now_us = stamp_us(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
    return now_us;
}

void inbox_retain_from(struct inbox *inbox, struct journal_position position)
{
    (void)pthread_mutex_lock(&inbox->lock);
    journal_retain_from(inbox->params.journal, position);
    (void)pthread_mutex_unlock(&inbox->lock);
}

static void wake_lab(struct inbox *inbox)
{
    inbox->consumer = CONSUMER_AWAKE;
    inbox->counts.wakes++;
    (void)pthread_cond_signal(&inbox->wake);
}

/* Enough waits that the lab thread should process it now. */
static bool has_much(const struct inbox *inbox)
{
    return inbox->behind || inbox->filling.used > inbox->params.buffer_bytes / 4;
}

static void wake_for(struct inbox *inbox, enum inbox_kind kind)
{
    if (inbox->consumer == CONSUMER_AWAKE) {
        return;
    }
    const bool by_kind = inbox->consumer == CONSUMER_SLEEPS ||
                         (inbox->consumer == CONSUMER_POLLS && kind != INBOX_SAMPLE);
    if (by_kind || has_much(inbox)) {
        wake_lab(inbox);
    }
}

/* Record and line, rounded up to the next record's alignment. */
static size_t whole_bytes(const struct record *record)
{
    const size_t align = _Alignof(struct record);
    return (sizeof *record + record->bytes + align - 1) / align * align;
}

/* False when there is no room. */
static bool push_record(struct inbox *inbox, struct record record)
{
    struct buffer *b = &inbox->filling;
    const size_t whole = whole_bytes(&record);
    if (whole > inbox->params.buffer_bytes - b->used) {
        return false;
    }
    memcpy(b->bytes + b->used, &record, sizeof record);
    memcpy(b->bytes + b->used + sizeof record, inbox->line, record.bytes);
    b->used += whole;
    if (b->used > inbox->counts.buffer_high_water) {
        inbox->counts.buffer_high_water = b->used;
    }
    return true;
}

static bool push_section(struct inbox *inbox, struct journal_position from,
                         struct journal_position to, bool restored)
{
    const struct record record = {.after = to,
                                  .from = from,
                                  .section = true,
                                  .restored = restored,
                                  .owed = inbox->owed_given > 0};
    const bool pushed = push_record(inbox, record);
    inbox->counts.sections += pushed;
    return pushed;
}

/* Adds the journal-only section to the buffer, so that new lines can queue behind it. */
static bool catch_up(struct inbox *inbox)
{
    if (inbox->behind && push_section(inbox, inbox->behind_from, inbox->end, false)) {
        inbox->behind = false;
    }
    return !inbox->behind;
}

void inbox_restore(struct inbox *inbox, struct journal_position from,
                   struct journal_position to)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const bool pushed = push_section(inbox, from, to, true);
    assert(pushed); /* the buffer is empty */
    inbox->position = from;
    (void)pthread_mutex_unlock(&inbox->lock);
}

void inbox_raise_time(struct inbox *inbox, int64_t t_us)
{
    (void)pthread_mutex_lock(&inbox->lock);
    (void)raise_stamp(inbox, t_us);
    (void)pthread_mutex_unlock(&inbox->lock);
}

void inbox_release(struct inbox *inbox)
{
    if (inbox) {
        atomic_store(&inbox->released, true);
    }
}

static bool push_line(struct inbox *inbox, size_t bytes, bool unwritten)
{
    return push_record(inbox, (struct record){.after = inbox->end,
                                              .bytes = bytes,
                                              .owed = inbox->owed_given > 0,
                                              .unwritten = unwritten});
}

/* The journal now has `wrote` bytes of the waiting samples, up to end. Samples that it lacks
 * are not handed out. */
static void place_late(struct inbox *inbox, size_t wrote, struct journal_position end)
{
    struct buffer *b = &inbox->filling;
    size_t at = inbox->late_at;
    size_t bytes = 0;
    while (at < b->used) {
        struct record *record = (void *)(b->bytes + at);
        if (bytes + record->bytes > wrote) {
            break;
        }
        bytes += record->bytes;
        record->after = (struct journal_position){end.file, end.offset - (wrote - bytes)};
        at += whole_bytes(record);
        inbox->late_lines--;
    }
    b->used = at;
    inbox->waiting -= inbox->late_lines;
    inbox->counts.samples_dropped += inbox->late_lines;
    inbox->late_lines = 0;
}

/* Lock held. Waiting samples go to the journal before any later line. */
static void write_late(struct inbox *inbox)
{
    if (inbox->late_lines == 0) {
        return;
    }
    size_t wrote = 0;
    struct journal_position end = inbox->end;
    inbox->refused = journal_append_lines(inbox->params.journal, inbox->late, inbox->late_bytes,
                                          inbox->late_us, &wrote, &end) != STATUS_OK;
    place_late(inbox, wrote, end);
    inbox->end = end;
    inbox->late_bytes = 0;
}

/* Defers the write of a sample; false: write it now. */
static bool defer_line(struct inbox *inbox, size_t bytes, int64_t t_us)
{
    if (inbox->late && bytes > LATE_BYTES - inbox->late_bytes) {
        write_late(inbox);
    }
    const size_t at = inbox->filling.used;
    if (!inbox->late || inbox->refused || inbox->behind || bytes > LATE_BYTES ||
        !push_line(inbox, bytes, false)) {
        return false;
    }
    if (inbox->late_lines == 0) {
        inbox->late_at = at;
        inbox->late_us = t_us;
    }
    inbox->late_last_us = t_us;
    memcpy(inbox->late + inbox->late_bytes, inbox->line, bytes);
    inbox->late_bytes += bytes;
    inbox->late_lines++;
    return true;
}

/* Delivers a sample that is not journalled. */
static void deliver_unjournalled(struct inbox *inbox, size_t bytes, int64_t t_us)
{
    if (!inbox->begun || inbox->behind || !push_line(inbox, bytes, true)) {
        inbox->counts.samples_dropped++;
    } else {
        inbox->reached_us = t_us;
    }
}

/* Lock held. An own line that the journal refused is written before all others later, with its
 * original time. The lab gets it now, so that a replay has the same order. It gets nothing
 * before the journal has the start of this run, or while an earlier line is held back. */
static void owe_line(struct inbox *inbox, size_t bytes)
{
    if (bytes > OWED_BYTES - inbox->owed_bytes) {
        inbox->counts.not_journalled++;
        return;
    }
    const bool give = inbox->begun && inbox->owed_given == inbox->owed_bytes && catch_up(inbox);
    memcpy(inbox->owed + inbox->owed_bytes, inbox->line, bytes);
    inbox->owed_bytes += bytes;
    if (give) {
        inbox->owed_given += bytes;
        inbox->written_us = inbox->last_us;
        if (!push_line(inbox, bytes, false)) {
            inbox->owed_given -= bytes;
        }
    }
}

/* Lock held. Refused lines go to the journal first. False: it still refuses. If nothing else
 * was added there, the lab reads the lines that it lacks from the journal. */
static bool write_owed(struct inbox *inbox, int64_t t_us)
{
    if (inbox->owed_bytes == 0) {
        return true;
    }
    size_t wrote = 0;
    inbox->refused = journal_append_lines(inbox->params.journal, inbox->owed, inbox->owed_bytes,
                                          t_us, &wrote, &inbox->end) != STATUS_OK;
    if (wrote > 0) {
        const size_t given = inbox->owed_given < wrote ? inbox->owed_given : wrote;
        const struct journal_position from = {inbox->end.file,
                                              inbox->end.offset - (wrote - given)};
        inbox->owed_bytes -= wrote;
        inbox->owed_given -= given;
        inbox->begun = true;
        memmove(inbox->owed, inbox->owed + wrote, inbox->owed_bytes);
        if (!inbox->behind && !push_section(inbox, from, inbox->end, false)) {
            inbox->behind = true;
            inbox->behind_from = from;
        }
    }
    return inbox->owed_bytes == 0;
}

/* Delivers a line that the journal holds between before and inbox->end. */
static void deliver_journalled(struct inbox *inbox, size_t bytes,
                               struct journal_position before)
{
    if (!inbox->behind && !push_line(inbox, bytes, false)) {
        inbox->behind = true;
        inbox->behind_from = before;
        inbox->counts.overflows++;
    }
}

/* Lock held. Handles a line that the journal refused. */
static enum status refuse_line(struct inbox *inbox, const struct message *message,
                               enum inbox_kind kind, size_t bytes)
{
    if (kind == INBOX_OWN) {
        owe_line(inbox, bytes);
        return STATUS_OK;
    }
    if (kind == INBOX_SAMPLE) {
        inbox->counts.samples_dropped++;
    } else if (kind == INBOX_EVENT) {
        inbox->counts.refused++;
        inbox->counts.lost += message->qos == 0;
    }
    return STATUS_E_IO;
}

/* Lock held. A dropped sample is neither journalled nor formatted, because both cost time. */
static bool leave_out(struct inbox *inbox, enum inbox_kind kind)
{
    const bool out =
        kind == INBOX_SAMPLE && inbox->waiting_max > 0 && inbox->waiting >= inbox->waiting_max;
    inbox->counts.samples_thinned += out;
    return out;
}

void inbox_report_cost(struct inbox *inbox, uint64_t lines, int64_t worked_ns)
{
    inbox->costed += lines;
    inbox->cost_ns += worked_ns;
    if (inbox->params.behind_us <= 0 || inbox->costed < COSTED || inbox->cost_ns <= 0) {
        return;
    }
    const uint64_t most =
        (uint64_t)inbox->params.behind_us * 1000 * inbox->costed / (uint64_t)inbox->cost_ns;
    inbox->costed = 0;
    inbox->cost_ns = 0;
    (void)pthread_mutex_lock(&inbox->lock);
    inbox->waiting_max = most > WAITING_MIN ? most : WAITING_MIN;
    (void)pthread_mutex_unlock(&inbox->lock);
}

/* Lock held. The line is inbox->line. */
static bool store_locked(struct inbox *inbox, size_t bytes, bool restored)
{
    const struct journal_position before = inbox->end;
    const int64_t t_us = raise_stamp(inbox, journal_line_us(inbox->line, bytes));
    if (journal_append(inbox->params.journal, inbox->line, bytes, t_us, &inbox->end) !=
        STATUS_OK) {
        return false;
    }
    inbox->begun = true;
    const struct record record = {.after = inbox->end, .bytes = bytes, .restored = restored};
    if (!catch_up(inbox) || !push_record(inbox, record)) {
        inbox->counts.overflows += !inbox->behind;
        inbox->behind_from = inbox->behind ? inbox->behind_from : before;
        inbox->behind = true;
    }
    inbox->waiting++;
    inbox->counts.bytes += bytes;
    inbox->counts.events++;
    return true;
}

bool inbox_store(struct inbox *inbox, const char *line, size_t bytes, bool restored,
                 struct journal_position *after)
{
    const struct record room = {.bytes = bytes + 1};
    (void)pthread_mutex_lock(&inbox->lock);
    /* A section of the journal does not say whose lines it has: those of others must fit here.
     */
    while (restored && !atomic_load(&inbox->released) &&
           whole_bytes(&room) > inbox->params.buffer_bytes - inbox->filling.used) {
        (void)pthread_mutex_unlock(&inbox->lock);
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + ROOM_US);
        (void)pthread_mutex_lock(&inbox->lock);
    }
    bool stored = !restored || !atomic_load(&inbox->released);
    if (stored) {
        memcpy(inbox->line, line, bytes);
        inbox->line[bytes] = '\n';
        stored = store_locked(inbox, bytes + 1, restored);
    }
    *after = inbox->end;
    wake_for(inbox, INBOX_EVENT);
    (void)pthread_mutex_unlock(&inbox->lock);
    return stored;
}

/* Lock held. Queues a line for the partition. One that the database can never hold is dropped:
 * the broker would deliver it again for ever. */
static enum status queue_line(struct inbox *inbox, const struct message *message,
                              enum inbox_kind kind, size_t bytes,
                              struct partition_ticket *ticket)
{
    if (kind == INBOX_SAMPLE) {
        return STATUS_OK;
    }
    struct partition *partition = *inbox->params.partition;
    const enum status status = partition && !atomic_load(&inbox->released)
                                   ? partition_append(partition, inbox->line, bytes - 1, ticket)
                                   : STATUS_E_STALE;
    inbox->written_us = status == STATUS_OK ? message->t_us : inbox->written_us;
    if (status == STATUS_OK || status == STATUS_E_PARSE) {
        inbox->counts.lost += status != STATUS_OK;
        return kind == INBOX_EVENT ? STATUS_OK : status;
    }
    inbox->counts.refused += kind == INBOX_EVENT;
    inbox->counts.not_journalled += kind == INBOX_OWN && status == STATUS_E_FULL;
    return STATUS_E_IO;
}

/* Waits until a queued line is durable, and journal and lab have it. */
static enum status await_durable(struct inbox *inbox, struct partition_ticket ticket)
{
    enum status status = ticket.number > 0 ? STATUS_E_EMPTY : STATUS_OK;
    while (status == STATUS_E_EMPTY && !atomic_load(&inbox->released)) {
        status = partition_wait(*inbox->params.partition, ticket, DURABLE_US);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_E_IO;
}

/* Lock held. The message has its time. One that the journal has, but not for certain, fails as
 * well: it comes again, and is known then. */
static enum status add_stamped(struct inbox *inbox, const struct message *message,
                               enum inbox_kind kind, struct partition_ticket *ticket)
{
    enum status status = STATUS_OK;
    const size_t bytes = message_format(message, inbox->line, MESSAGE_LINE_MAX);
    assert(bytes > 0);
    if (inbox->params.partition) {
        return queue_line(inbox, message, kind, bytes, ticket);
    }
    if (kind == INBOX_SAMPLE && !inbox->params.journal_samples) {
        deliver_unjournalled(inbox, bytes, message->t_us);
    } else if (kind != INBOX_SAMPLE || !defer_line(inbox, bytes, message->t_us)) {
        write_late(inbox);
        const bool in_turn = write_owed(inbox, message->t_us);
        const struct journal_position before = inbox->end;
        inbox->refused = !in_turn || journal_append(inbox->params.journal, inbox->line, bytes,
                                                    message->t_us, &inbox->end) != STATUS_OK;
        if (inbox->refused) {
            return refuse_line(inbox, message, kind, bytes);
        }
        inbox->written_us = message->t_us;
        inbox->begun = true;
        /* The lab acts on what the disk has: after a power cut a robot is not sent again what
         * the broker delivers again. */
        if (inbox->params.sync_each && kind != INBOX_SAMPLE) {
            status = journal_sync(inbox->params.journal, LAB_TIME_MAX);
        }
        deliver_journalled(inbox, bytes, before);
    }
    inbox->waiting++;
    inbox->counts.bytes += bytes;
    *(kind == INBOX_SAMPLE ? &inbox->counts.samples : &inbox->counts.events) += 1;
    return status;
}

static void make_own_line(const struct inbox *inbox, const char *what, const char *payload,
                          size_t bytes, struct message *out)
{
    *out = (struct message){
        .qos = 1, .payload = payload, .stored_bytes = bytes, .payload_bytes = bytes};
    lab_line_topic(inbox->params.prefix, what, out->topic);
}

/* Lock held. What is offered may tell of the past: that nobody listened for a while. What the
 * lab does before it gets this line stands before it. */
static enum status write_reached(struct inbox *inbox)
{
    const int64_t t_us = inbox->reached_us;
    struct message m;
    if (t_us <= inbox->written_us || t_us <= inbox->late_last_us) {
        return STATUS_OK;
    }
    make_own_line(inbox, "time", "{}", 2, &m);
    m.t_us = t_us;
    return add_stamped(inbox, &m, INBOX_OFFER, NULL); /* not shared: reached_us is 0 then */
}

/* Lock held. */
static enum status add_locked(struct inbox *inbox, struct message *message,
                              enum inbox_kind kind, int64_t now_us,
                              struct partition_ticket *ticket)
{
    if (leave_out(inbox, kind)) {
        return STATUS_OK;
    }
    message->t_us = raise_stamp(inbox, now_us);
    const enum status status = kind == INBOX_OFFER ? write_reached(inbox) : STATUS_OK;
    return status == STATUS_OK ? add_stamped(inbox, message, kind, ticket) : status;
}

enum status inbox_add(struct inbox *inbox, struct message *message, enum inbox_kind kind)
{
    /* Another thread may hold the lock while it waits for the disk (sync_each). */
    const int64_t now_us = inbox->params.now_us();
    struct partition_ticket ticket = {0};
    (void)pthread_mutex_lock(&inbox->lock);
    const enum status status = add_locked(inbox, message, kind, now_us, &ticket);
    wake_for(inbox, kind);
    (void)pthread_mutex_unlock(&inbox->lock);
    return status == STATUS_OK && kind != INBOX_OWN ? await_durable(inbox, ticket) : status;
}

bool inbox_owes(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const bool owes = inbox->begun && inbox->owed_bytes > 0;
    (void)pthread_mutex_unlock(&inbox->lock);
    return owes;
}

bool inbox_is_placed(const struct inbox *inbox)
{
    return !inbox->unplaced;
}

static enum status add_own(struct inbox *inbox, const char *what, const char *payload,
                           size_t bytes, enum inbox_kind kind)
{
    struct message m;
    make_own_line(inbox, what, payload, bytes, &m);
    return inbox_add(inbox, &m, kind);
}

void inbox_record(struct inbox *inbox, const char *what, const char *payload, size_t bytes)
{
    const enum status status = add_own(inbox, what, payload, bytes, INBOX_OWN);
    (void)status;
}

bool inbox_has_time(struct inbox *inbox, int64_t t_us)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const bool written = inbox->written_us > t_us;
    (void)pthread_mutex_unlock(&inbox->lock);
    return written;
}

void inbox_write_time(struct inbox *inbox, int64_t t_us)
{
    if (!inbox_has_time(inbox, t_us)) {
        inbox_record(inbox, "time", "{}", 2);
    }
}

bool inbox_reach(struct inbox *inbox, int64_t t_us)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const bool idle = inbox->filling.used == 0 && !inbox->behind;
    if (idle && t_us > inbox->reached_us) {
        inbox->reached_us = t_us;
    }
    (void)pthread_mutex_unlock(&inbox->lock);
    return idle;
}

enum status inbox_offer(struct inbox *inbox, const char *what, const char *payload,
                        size_t bytes)
{
    return add_own(inbox, what, payload, bytes, INBOX_OFFER);
}

int64_t inbox_begin(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    inbox->consumer = CONSUMER_AWAKE;
    const int64_t now_us = stamp_us(inbox);
    write_late(inbox);
    const bool caught_up = catch_up(inbox);
    if (inbox->at == inbox->round_buffer.used) {
        const struct buffer round_buffer = inbox->filling;
        inbox->filling = (struct buffer){.bytes = inbox->round_buffer.bytes};
        inbox->round_buffer = round_buffer;
        inbox->at = 0;
        inbox->waiting = 0;
    }
    if (caught_up) {
        inbox->reached = inbox->counts.events + inbox->counts.samples;
    } else {
        (void)catch_up(inbox); /* there is room now */
    }
    (void)pthread_mutex_unlock(&inbox->lock);
    return now_us;
}

uint64_t inbox_added_count(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    const uint64_t round_buffer = inbox->counts.events + inbox->counts.samples;
    (void)pthread_mutex_unlock(&inbox->lock);
    return round_buffer;
}

uint64_t inbox_reached(const struct inbox *inbox)
{
    return inbox->reached;
}

/* Returns the next line of the section; INBOX_NONE at its end. */
static enum inbox_next next_of_section(struct inbox *inbox, struct inbox_line *line,
                                       struct err *err)
{
    struct journal_line read;
    const enum status status = journal_reader_next(inbox->reader, &read, err);
    if (status == STATUS_OK && journal_is_before(read.start, inbox->section.after)) {
        inbox->position = read.after;
        *line = (struct inbox_line){
            .text = read.text, .bytes = read.bytes, .restored = inbox->section.restored};
        return INBOX_LINE;
    }
    if (status != STATUS_OK && status != STATUS_E_EMPTY) {
        /* The rest of this file is skipped; the next call continues behind it. */
        return INBOX_FAULT;
    }
    journal_reader_close(inbox->reader);
    inbox->reader = NULL;
    inbox->position = inbox->section.after;
    return INBOX_NONE;
}

static enum inbox_next enter_section(struct inbox *inbox, const struct record *record,
                                     struct err *err)
{
    inbox->section = *record;
    if (journal_reader_open_directory(inbox->params.directory, record->from, &inbox->reader,
                                      err) != STATUS_OK) {
        inbox->reader = NULL;
        inbox->position = record->after;
        return INBOX_FAULT;
    }
    return INBOX_NONE;
}

enum inbox_next inbox_next(struct inbox *inbox, struct inbox_line *line, struct err *err)
{
    enum inbox_next next = INBOX_NONE;
    while (next == INBOX_NONE) {
        if (inbox->reader) {
            next = next_of_section(inbox, line, err);
            continue;
        }
        if (inbox->at == inbox->round_buffer.used) {
            break;
        }
        const char *text = inbox->round_buffer.bytes + inbox->at + sizeof(struct record);
        const struct record *record = (const void *)(inbox->round_buffer.bytes + inbox->at);
        inbox->at += whole_bytes(record);
        inbox->unplaced = record->owed;
        if (record->section) {
            next = enter_section(inbox, record, err);
        } else {
            inbox->position = record->after;
            *line = (struct inbox_line){.text = text,
                                        .bytes = record->bytes,
                                        .restored = record->restored,
                                        .unwritten = record->unwritten};
            next = INBOX_LINE;
        }
    }
    return next;
}

bool inbox_sleep(struct inbox *inbox, enum inbox_pause pause, int64_t until_us)
{
    static const enum consumer consumers[] = {[INBOX_SLEEPS] = CONSUMER_SLEEPS,
                                              [INBOX_POLLS] = CONSUMER_POLLS,
                                              [INBOX_RESTS] = CONSUMER_RESTS};
    (void)pthread_mutex_lock(&inbox->lock);
    const bool idle = inbox->filling.used == 0 && !inbox->behind;
    if (idle || (pause == INBOX_RESTS && !has_much(inbox))) {
        inbox->consumer = consumers[pause];
        if (!inbox->called) {
            lock_wait(&inbox->wake, &inbox->lock, until_us);
        }
        inbox->called = false;
    }
    (void)pthread_mutex_unlock(&inbox->lock);
    return idle;
}

void inbox_wake(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    inbox->called = true;
    wake_lab(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
}

struct journal_position inbox_position(const struct inbox *inbox)
{
    return inbox->position;
}

void inbox_read_counts(struct inbox *inbox, struct inbox_counts *out)
{
    (void)pthread_mutex_lock(&inbox->lock);
    *out = inbox->counts;
    out->buffer_used = inbox->filling.used;
    (void)pthread_mutex_unlock(&inbox->lock);
}
