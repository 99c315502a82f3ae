/* service/daemon/inbox.h - the queue of all input to the lab thread. Each line is stamped,
 * journalled and buffered in this order under one short lock, so that journal and lab have the
 * same order.
 *
 * The buffer holds journal lines; the lab thread parses them exactly as replay does.
 * inbox_add() never waits for the lab thread, which swaps the whole buffer for an empty one
 * when a round begins. When the buffer is full, lines go to the journal only, and the inbox
 * remembers where. When the lab thread comes by, that section of the journal enters the buffer,
 * and later lines queue behind it. So nothing is lost or repeated, and the order stays.
 *
 * A line that the journal refuses does not reach the lab either. The sender still has the event
 * (the broker, or an HTTP client), so lab, store and journal never know different things. The
 * daemon's own lines wait instead, at most 1 MiB. They are written first when the journal works
 * again, with their original time, but the lab gets them at once. A run whose start is not in
 * the journal has not begun: until then the lab gets nothing.
 *
 * Samples may be written in groups (samples_together), but always before the lab thread gets
 * them and before a later event. So everything that is acknowledged or decided on is in the
 * journal. A daemon that is killed meanwhile loses the samples of one group.
 *
 * Under overload telemetry is dropped before commands and replies have to wait. Samples are
 * dropped while the waiting lines exceed what the lab thread can process within
 * inbox_params.behind_us at their measured cost. They are dropped before the journal, so that
 * the lab and every replay know the same ones. Nothing else is dropped.
 *
 * A lab that several daemons can own (`shared`) writes its lines to the partition instead
 * (service/engine/partition.h). The partition gives each line back once it is durable, and only
 * then journal and lab get it. inbox_add() waits for that; own lines do not wait. Samples are
 * not replicated, so the lab gets none.
 *
 * Threads: inbox_add() and inbox_counts() from any thread; the others from the lab thread.
 */
#ifndef SERVICE_DAEMON_INBOX_H
#define SERVICE_DAEMON_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/message.h"
#include "logger/storage/journal.h"

struct partition;

enum inbox_kind {
    INBOX_EVENT, /* journalled or refused, never dropped; wakes the lab thread at once */
    /* telemetry: may wait a few milliseconds; dropped if the journal refuses it, or if it is
     * not journalled and the buffer is full */
    INBOX_SAMPLE,
    INBOX_OFFER, /* like an event, but the sender learns of a refusal and still has it */
    INBOX_OWN    /* like an event, but waits while the journal refuses it */
};

struct inbox_params {
    /* size of each of the two buffers; with 2 * MESSAGE_LINE_MAX any line fits */
    size_t buffer_bytes;
    struct journal *journal; /* borrowed */
    const char *directory;   /* of the journal, borrowed */
    const char *prefix;      /* first levels of topics, borrowed; for inbox_record() */
    bool journal_samples;    /* telemetry is journalled, too, */
    bool samples_together;   /* those that come between two events, or rounds, by one write */
    bool sync_each;          /* the disk has an event before the lab does */
    int64_t (*now_us)(void); /* lab time; monotonic */
    int64_t last_us;         /* latest known time: no line is stamped earlier */
    int64_t behind_us;       /* waiting work beyond which samples are dropped; 0: never */
    /* Borrowed; NULL: not shared. While it leads to NULL, all lines are refused. */
    _Atomic(struct partition *) *partition;
};

struct inbox_counts {
    uint64_t events, samples; /* accepted */
    uint64_t bytes;           /* of lines */
    uint64_t refused;         /* events that the journal refused: still at the broker */
    uint64_t not_journalled;  /* own lines lost for want of room */
    uint64_t samples_dropped; /* refused by the journal, or no room in the buffer */
    uint64_t samples_thinned; /* dropped because the lab thread was behind */
    uint64_t lost;            /* refused events without a sender that has them (QoS 0) */
    uint64_t overflows;       /* times the buffer was full and the journal took over */
    uint64_t sections;        /* journal sections that the lab thread had to read */
    uint64_t wakes;           /* wake-ups of the lab thread */
    size_t buffer_used, buffer_high_water; /* bytes waiting now, and their maximum */
};

struct inbox;

/* Cold path: allocates. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status inbox_create(const struct inbox_params *params, struct inbox **out);
void inbox_destroy(struct inbox *inbox); /* NULL is allowed */

/* Call before the first inbox_add(): the lab thread reads this section of the journal first.
 * Its lines have restored set. */
void inbox_restore(struct inbox *inbox, struct journal_position from,
                   struct journal_position to);

/* shared, on the partition's thread: the line, without its '\n', is durable. Writes it to the
 * journal and gives it to the lab, with restored set if another daemon owned the lab. Such a
 * line waits for room. False: the journal refuses it, or the inbox was released meanwhile;
 * *after is the place behind it. */
MUST_USE bool inbox_store(struct inbox *inbox, const char *line, size_t bytes, bool restored,
                          struct journal_position *after);

/* shared: stamp no later line earlier than this. Any thread. */
void inbox_raise_time(struct inbox *inbox, int64_t t_us);

/* shared: accept nothing more, and let nobody wait for a durable line; else no effect. NULL is
 * allowed. Any thread. */
void inbox_release(struct inbox *inbox);

/* Add a message; its t_us is set here. Everything borrowed is copied. STATUS_E_IO: the journal
 * refused it, and it was not accepted; with sync_each also: it is not synced. */
MUST_USE enum status inbox_add(struct inbox *inbox, struct message *message,
                               enum inbox_kind kind);

/* Add a line of the daemon's own (logger/codec/codecs.h): its subject and its JSON payload. */
void inbox_record(struct inbox *inbox, const char *what, const char *payload, size_t bytes);
/* The same for a line that may be refused: STATUS_E_IO as for inbox_add(). */
MUST_USE enum status inbox_offer(struct inbox *inbox, const char *what, const char *payload,
                                 size_t bytes);

/* Call before results that follow from the time t_us alone. Writes that time into the journal,
 * on $lab/time, unless a later line exists. A replay then knows that t_us has passed, and the
 * next run begins after it. */
void inbox_write_time(struct inbox *inbox, int64_t t_us);

/* Is a line later than t_us on its way? Any thread. */
bool inbox_has_time(struct inbox *inbox, int64_t t_us);

/* Lab thread, after a round: deadlines before t_us are about to fire. False: lines arrived
 * meanwhile, and must be processed first because they may change the deadlines. */
MUST_USE bool inbox_reach(struct inbox *inbox, int64_t t_us);

/* Retain the journal's files from that of position on. Any thread. */
void inbox_retain_from(struct inbox *inbox, struct journal_position position);

/* The present in lab time, never before a given stamp. Any thread. */
int64_t inbox_now_us(struct inbox *inbox);

/* The number of lines added so far, without the journal's tail. Any thread. */
uint64_t inbox_added_count(struct inbox *inbox);

/* The number of those lines in this round and earlier ones. It equals inbox_added_count() at
 * the round's start, unless a section of the journal is still unread. Lab thread. */
uint64_t inbox_reached(const struct inbox *inbox);

/* Lab thread: report the processor time of a number of lines. Nothing is dropped before the
 * first report, that is while the journal is read back. */
void inbox_report_cost(struct inbox *inbox, uint64_t lines, int64_t worked_ns);

/* The lab thread begins a round after it has read the previous one to its end. Every line of
 * later rounds has at least the returned time as its stamp. */
int64_t inbox_begin(struct inbox *inbox);

enum inbox_next {
    INBOX_NONE, /* the round is over */
    INBOX_LINE,
    INBOX_FAULT /* a section of the journal could not be read: *err; continue */
};

struct inbox_line {
    const char *text; /* [bytes] borrowed until the next call */
    size_t bytes;
    bool restored;
    bool unwritten; /* the journal does not have it */
};

enum inbox_next inbox_next(struct inbox *inbox, struct inbox_line *line, struct err *err);

/* Decides what wakes the lab thread. */
enum inbox_pause {
    INBOX_SLEEPS, /* every line wakes it */
    /* for milliseconds: samples do not wake it until a quarter of the buffer is full */
    INBOX_POLLS,
    /* for a fraction of one: nothing wakes it, not even lines that are there already */
    INBOX_RESTS
};

/* Lab thread: sleep until lab_clock_monotonic_us() is until_us, or until woken. Returns false
 * when there is work already, at once except for INBOX_RESTS. */
bool inbox_sleep(struct inbox *inbox, enum inbox_pause pause, int64_t until_us);
void inbox_wake(struct inbox *inbox); /* any thread */

/* Lines of a run that has begun wait for the journal: their results must not be stored or sent
 * yet. Any thread. */
bool inbox_owes(struct inbox *inbox);

/* False: the lab's state includes such lines, so no place in the journal matches it. Lab
 * thread. */
bool inbox_is_placed(const struct inbox *inbox);

/* The place in the journal up to which the lab has processed everything. Lab thread. */
struct journal_position inbox_position(const struct inbox *inbox);

void inbox_read_counts(struct inbox *inbox, struct inbox_counts *out);

#endif
