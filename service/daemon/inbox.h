/* service/daemon/inbox.h - the way of every input to the lab thread: stamp, journal, buffer,
 * in this order and under one short lock, so that the journal's order is the lab's order.
 *
 * What crosses is the journal line itself; the lab thread parses it exactly as replay does.
 * inbox_add() never waits for the lab thread: that one takes a whole buffer at the beginning
 * of its round, and an empty one takes its place. When it is full, the line stands in the
 * journal only, and the inbox remembers from where the lab thread has to read on there; once
 * the lab thread comes by, that stretch of the journal takes its place in the buffer and later
 * lines queue behind it. So nothing is lost, nothing comes twice and the order stays.
 *
 * What the journal cannot take, the lab does not get either: the event goes back to who has it
 * still (the broker, who is asking), so that lab, store and journal never know different
 * things. The daemon's own lines wait instead (1 MiB of them at most) and are written first
 * when the journal can be written again, with the time at which they came. The lab gets them
 * when they come. But a run whose start is not in the journal has not begun: until then the lab
 * gets nothing. Samples may be written down together (samples_together), but before the lab
 * thread gets them, and before an event that came after them: what is acknowledged, or decided
 * on, is in the journal. Killed meanwhile, the daemon has lost these samples.
 *
 * Under overload telemetry is thinned before commands and replies wait: while more lines wait
 * for the lab thread than it can take in within inbox_params.behind_us, by what lines cost it,
 * samples are left out, before the journal, so that the lab and every replay of it know the
 * same ones. Nothing else is ever left out.
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

enum inbox_kind {
    INBOX_EVENT,  /* journalled or refused, never dropped, wakes the lab thread at once */
    INBOX_SAMPLE, /* telemetry: may wait a few milliseconds; dropped when the journal refuses
                     it, or it is not to be journalled and the buffer is full */
    INBOX_OFFER,  /* as an event, but who offers it is told, and has it still */
    INBOX_OWN     /* as an event, but it waits where the journal refuses it */
};

struct inbox_params {
    size_t buffer_bytes;     /* of one of the two; 2 * MESSAGE_LINE_MAX: then any line fits */
    struct journal *journal; /* borrowed */
    const char *directory;   /* of the journal, borrowed */
    const char *prefix;      /* of topics, borrowed; for inbox_record() */
    bool journal_samples;    /* telemetry is journalled, too, */
    bool samples_together;   /* those that come between two events, or rounds, by one write */
    bool sync_each;          /* the disk has an event before the lab does */
    int64_t (*now_us)(void); /* lab time; monotonic */
    int64_t last_us;         /* no line is stamped earlier: the latest time that is known */
    int64_t behind_us;       /* work that waits, beyond which samples are left out; 0: never */
};

struct inbox_counts {
    uint64_t events, samples; /* taken */
    uint64_t bytes;           /* of lines */
    uint64_t refused;         /* events that the journal could not take: the broker's still */
    uint64_t
        not_journalled; /* own lines for which there was no room to wait: nobody has them */
    uint64_t samples_dropped; /* refused by the journal, or no room in the buffer */
    uint64_t samples_thinned; /* left out because the lab thread was behind */
    uint64_t lost;            /* events that were refused though nobody keeps them (QoS 0) */
    uint64_t overflows;       /* times the buffer was full and the journal took over */
    uint64_t sections;        /* stretches of the journal the lab thread was sent to */
    uint64_t wakes;           /* of the lab thread */
    size_t buffer_used, buffer_high_water; /* bytes that wait, and most that ever did */
};

struct inbox;

/* Cold path: allocates. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status inbox_create(const struct inbox_params *params, struct inbox **out);
void inbox_destroy(struct inbox *inbox); /* NULL is allowed */

/* Before the first inbox_add(): let the lab thread read this stretch of the journal first. Its
 * lines are handed out with restored set. */
void inbox_restore(struct inbox *inbox, struct journal_position from,
                   struct journal_position to);

/* One message; its t_us is set here. What it borrows is copied. STATUS_E_IO: the journal cannot
 * take it, and it was not taken in; with sync_each also: it is not synced. */
MUST_USE enum status inbox_add(struct inbox *inbox, struct message *message,
                               enum inbox_kind kind);

/* A line of the daemon's own, logger/codec/codecs.h: what it is about and its payload,
 * JSON. */
void inbox_record(struct inbox *inbox, const char *what, const char *payload, size_t bytes);
/* The same, of what may as well not be taken in: STATUS_E_IO as of inbox_add(). */
MUST_USE enum status inbox_offer(struct inbox *inbox, const char *what, const char *payload,
                                 size_t bytes);

/* Results are about to follow from the time t_us alone. Write that time into the journal, on
 * $lab/time, unless it has a line of t_us or later: a replay then knows that t_us was reached,
 * and the next run begins after it. */
void inbox_write_time(struct inbox *inbox, int64_t t_us);

/* Lab thread, behind a round: what is due before t_us is about to happen. False: lines came
 * meanwhile, and what they tell of the past decides what is due. */
MUST_USE bool inbox_reach(struct inbox *inbox, int64_t t_us);

/* The journal's files from that of position on are needed. Any thread. */
void inbox_retain_from(struct inbox *inbox, struct journal_position position);

/* The present in lab time, never before a stamp that was given. Any thread. */
int64_t inbox_now_us(struct inbox *inbox);

/* How many lines were taken so far, the journal's tail apart. Any thread. */
uint64_t inbox_added_count(struct inbox *inbox);

/* Of them, how many are in this round and those before it: as many as inbox_added_count() said
 * when it began, unless a stretch of the journal is behind. Lab thread. */
uint64_t inbox_reached(const struct inbox *inbox);

/* Lab thread: that many lines cost it so much time of the processor. Until it has said so for
 * the first time, while it reads back the journal, nothing is left out. */
void inbox_report_cost(struct inbox *inbox, uint64_t lines, int64_t worked_ns);

/* The lab thread begins a round, having read the one before to its end. Every line of later
 * rounds is stamped at the time it returns, or later. */
int64_t inbox_begin(struct inbox *inbox);

enum inbox_next {
    INBOX_NONE, /* the round is over */
    INBOX_LINE,
    INBOX_FAULT /* a stretch of the journal could not be read: *err; go on */
};

struct inbox_line {
    const char *text; /* [bytes] borrowed until the next call */
    size_t bytes;
    bool restored;
    bool unwritten; /* the journal does not have it */
};

enum inbox_next inbox_next(struct inbox *inbox, struct inbox_line *line, struct err *err);

/* How the lab thread waits for what comes. */
enum inbox_pause {
    INBOX_SLEEPS, /* whatever comes wakes it */
    INBOX_POLLS, /* for milliseconds: samples need not, until a quarter of the buffer is full */
    INBOX_RESTS  /* for a part of one: nothing need, until then, nor what is there already */
};

/* The lab thread waits until lab_clock_monotonic_us() is until_us, or it is woken. Returns
 * false when there is something to do already, at once but for INBOX_RESTS. */
bool inbox_sleep(struct inbox *inbox, enum inbox_pause pause, int64_t until_us);
void inbox_wake(struct inbox *inbox); /* any thread */

/* Lines of a run that has begun wait for the journal: what follows from them is not to be
 * stored or sent yet. Any thread. */
bool inbox_owes(struct inbox *inbox);

/* False: such lines are in the lab's state, so it has no place in the journal. Lab thread. */
bool inbox_is_placed(const struct inbox *inbox);

/* The place in the journal up to which the lab has taken everything in. Lab thread. */
struct journal_position inbox_position(const struct inbox *inbox);

void inbox_read_counts(struct inbox *inbox, struct inbox_counts *out);

#endif
