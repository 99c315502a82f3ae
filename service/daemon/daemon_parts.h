/* service/daemon/daemon_parts.h - what a daemon consists of, part by part. The parts know each
 * other by struct daemon: one is used when it has been started (the order is that of
 * daemon.c), and what is not a function here is for the part's own source alone. Private to
 * service/daemon.
 */
#ifndef SERVICE_DAEMON_DAEMON_PARTS_H
#define SERVICE_DAEMON_DAEMON_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "logger/codec/codecs.h"
#include "logger/storage/journal_checkpoint.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/daemon.h"
#include "service/daemon/fits.h"
#include "service/daemon/forecasts.h"
#include "service/daemon/snapshots.h"
#include "service/mqtt/mqtt_client.h"
#include "service/sim/mission/map_file.h"
#include "web/http/event_hub.h"
#include "web/http/metrics.h"

/* ---- gateway.c: between the broker and the lab ----
 *
 * Receiving: everything the codecs of the lab listen to goes into the inbox as it came; nothing
 * is looked at here. Commands, replies, connections and echoes come at QoS 1 through a session
 * that the broker keeps while the daemon is away; telemetry comes at QoS 0, so that a robot's
 * stream cannot fill that session's queue and push commands out of it, and over a connection of
 * its own where that is possible, so that no reply waits behind it.
 *
 * The state machines that robots publish of themselves are kept here, the newest of each side,
 * for display. Nothing is decided by them, so they go neither into the journal nor to the lab.
 * Bounded: WEB_MACHINES_MAX bytes a side.
 */
struct robot_state {
    char *text; /* [bytes] owned; NULL: none */
    size_t bytes;
};

struct gateway {
    struct mqtt_client *client;
    struct mqtt_client *telemetry; /* the other one; NULL: it comes with all the rest */
    struct codec_set codecs;
    char *room; /* [MESSAGE_PAYLOAD_MAX] for what codecs send; NULL: none does */
    /* What a codec sends while it decodes (struct codec_sink): set by effect_executor_open().
     */
    void (*answer)(void *context, const char *pair, const char *topic, const char *payload,
                   size_t bytes);
    _Atomic uint64_t oversized;               /* payloads beyond MESSAGE_PAYLOAD_MAX: cut */
    _Atomic uint64_t ignored;                 /* topics too long, or the daemon's own */
    struct robot_state (*robots)[SIDE_COUNT]; /* [pair_count] under the daemon's lock */
};

/* Connect in the background and subscribe. Errors as of mqtt_client_create(). */
MUST_USE enum status gateway_start(struct daemon *daemon, struct err *err);
/* mqtt_client_stop() of what was started. */
void gateway_leave(struct daemon *daemon, int timeout_ms);
void gateway_close(struct daemon *daemon);
/* Any thread: the process stood still for this time. Note it in the journal before what the
 * broker sent meanwhile, unless a message has come since. */
void gateway_record_frozen(void *daemon, int64_t silent_us);

enum gateway_delivery {
    GATEWAY_SURE,     /* QoS 1: sent until the broker has acknowledged it */
    GATEWAY_RETAINED, /* the same, retained */
    GATEWAY_ONCE, /* QoS 1, and not again where the broker may have it: no robot moves twice */
    GATEWAY_NOW   /* QoS 0, now or never: worth nothing later (efforts, probes, fidelity) */
};

/* A message under the prefix, "<prefix>/<rest>". Any thread; errors as of mqtt_client_publish()
 * and its kin. */
MUST_USE enum status gateway_send(struct daemon *daemon, const char *rest, const char *payload,
                                  size_t bytes, enum gateway_delivery delivery);

/* The same on a topic that need not be below the prefix. */
MUST_USE enum status gateway_send_whole(struct daemon *daemon, const char *topic,
                                        const char *payload, size_t bytes,
                                        enum gateway_delivery delivery);

/* Copy the newest machine states of a side; returns their bytes, 0 when there are none. Any
 * thread, as machines() of struct web_source. */
size_t gateway_read_robot(void *daemon, size_t pair, enum side side,
                          char out[WEB_MACHINES_MAX]);

/* ---- lab_alarms.c: alarms of the lab itself, on their way to the lab thread ----
 *
 * They are stored and published as those of pairs; their pair is "$lab". What the daemon's disk
 * does is no event of the lab: a replay knows nothing of it.
 */
enum { LAB_ALARMS_MAX = 8 };

struct lab_alarms { /* under the daemon's lock; more than fit are in the log only */
    struct alarm alarm[LAB_ALARMS_MAX];
    size_t count;
};

/* Any thread. */
void lab_alarm_raise(struct daemon *daemon, enum alarm_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The oldest one that waits; false: none does. */
bool lab_alarm_next(struct daemon *daemon, struct alarm *alarm);

/* ---- pending_fits.c: travel times of pairs for their history ----
 *
 * The lab thread notes a pair when its moves are to be fitted; the keeper fits and stores them.
 */
struct pending_fit {
    _Atomic bool waits;   /* the two below are the keeper's: */
    struct effect effect; /* the fits of these moves */
    struct pair *window;  /* a copy of the pair, which holds them */
};

struct pending_fits {
    struct pending_fit *fit; /* [pair_count] */
    uint64_t dropped;        /* under the daemon's lock: the one before was not through */
};

/* Lab thread: have the travel times of this EFFECT_HISTORY fitted and stored. */
void pending_fits_add(struct daemon *daemon, const struct effect *effect);
/* Keeper: fit and store what waits. */
void pending_fits_store(struct daemon *daemon);

/* ---- effect_executor.c: carries out what the lab wants done, to the store, to the broker ----
 *
 * While the journal's tail is read back after a start, nothing is sent to robots or to L1 (it
 * was sent when it happened, or else comes too late: a robot must not move twice), and entries
 * and alarms are stored and published only when the store does not have them: an entry is known
 * by its pair and the stamp and id of its command, which do not change when the lab file does.
 * Where neither store nor checkpoint is there they are those of a whole journal, which were
 * published when they happened: they are only stored.
 *
 * The lab thread's.
 */
enum { EFFECT_EXECUTOR_LATENESS = 9 };
extern const double
    effect_executor_lateness_s[EFFECT_EXECUTOR_LATENESS - 1]; /* the bounds of the classes */

struct effect_executor_counts {
    uint64_t effects[EFFECT_KIND_COUNT];
    uint64_t published;
    uint64_t not_published; /* refused by the broker client: its buffer is full, or the link
                               down and the message worth nothing later */
    uint64_t not_stored;    /* the store's queue was full: the next start stores them */
    uint64_t known;         /* restored records that the store had already */
    uint64_t held_back;     /* restored messages: not sent again */
    uint64_t stale; /* commands and probes too old to be sent when their turn came (a frozen
                       process) */
    /* Efforts by how late after their control period they went out: up to 0.1, 0.25, 0.5, 1, 2,
     * 5, 10, 100 ms, and later. */
    uint64_t late[EFFECT_EXECUTOR_LATENESS];
    /* Grants of teams by how long after what they followed from (the arrival of the UnLock) the
     * robot's next command, or the answer to its controller, was with the broker's client. */
    uint64_t granted[EFFECT_EXECUTOR_LATENESS];
    double granted_s;  /* of all */
    uint64_t overruns; /* of efforts, so late that the next one replaces them: not sent */
};

enum { EFFECT_EXECUTOR_GRANTS = 16 }; /* of one instant that are timed */

struct effect_executor {
    bool live;
    bool may_owe;                /* lines that results follow from may wait for the journal */
    uint64_t last_alarm_n;       /* number of the last one */
    bool republishes;            /* what is read back and not in the store is published, too */
    struct store_reader *reader; /* what was stored before this start; NULL: nothing */
    int64_t newest_us[STORE_KIND_COUNT]; /* in the store at the start */
    struct effect_executor_counts counts;
    int64_t grant_us; /* the instant of the last grants … */
    size_t grants_due;
    uint32_t grant_pair[EFFECT_EXECUTOR_GRANTS]; /* … and whose led to no message yet */
};

/* Before gateway_start(). */
void effect_executor_open(struct daemon *daemon);

/* What lab_step() is given: context is the daemon. */
void effect_executor_emit(void *context, const struct effect *effect);

/* Lab thread: store and publish the alarms of the lab that wait. */
void effect_executor_publish_alarms(struct daemon *daemon);

/* The journal's tail and the start of this run are in: from now on everything is carried out.
 */
void effect_executor_go_live(struct daemon *daemon);

/* ---- maintenance.c: the thread for what may take its time ----
 *
 * Syncing the journal, writing checkpoints, fitting calibrations for publication, watching over
 * health.
 */
enum { MAINTENANCE_STATUS_MAX = 800 };

/* What may stand on disks of their own. */
enum { MAINTENANCE_DISKS = 3 };
extern const char *const maintenance_disks[MAINTENANCE_DISKS];

/* A connection to the broker, as last told. */
struct maintenance_link {
    bool up, reported;
};

struct maintenance {
    pthread_t thread;
    bool runs;
    uint64_t teams_published[TEAMS_MAX]; /* version of each team's state that was published */

    /* Under the daemon's lock. */
    pthread_cond_t changed; /* the end was asked for, or there is something to write */
    bool leaves_broker;     /* on purpose: no cause for a warning */
    bool stop;
    int64_t stop_us; /* monotonic: give up the last checkpoint then */
    struct view_health health;

    _Atomic bool save_now;  /* the lab thread is to offer a checkpoint at once */
    _Atomic bool lab_beats; /* the lab thread has gone round since the watchdog was fed */

    /* The thread's. */
    int64_t alive_every_us, alive_us;    /* feeding it: how often (0: never), when last */
    char status[MAINTENANCE_STATUS_MAX]; /* as last told */
    bool journal_down;
    struct maintenance_link main, telemetry;
    _Atomic uint64_t free_bytes[MAINTENANCE_DISKS];
    char space_text[160]; /* little space is left, and where; "": enough */
    int64_t space_us;     /* monotonic: look again then */
    struct journal_stats journal_seen;
    struct store_queue_stats store_seen;
    struct inbox_counts seen;
    int64_t gap_us;                /* when it last tried to note a gap */
    int64_t stepped_us, slept_us;  /* lab_clock_compare() when it last told of them, */
    int64_t clock_us;              /* monotonic: not again before then */
    _Atomic int64_t wall_ahead_us; /* the wall clock minus lab time */
};

/* Lab thread: put it into the health that journal lines have not been synced for too long. The
 * keeper itself waits for the disk then. */
void maintenance_check_synced(struct daemon *daemon, struct view_health *health);
/* Any thread: how long the oldest line that is not synced has waited. */
int64_t maintenance_unsynced_us(struct daemon *daemon);

/* Cold path: allocates. STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status maintenance_start(struct daemon *daemon);

/* Finish what was offered (a checkpoint only if the store commits within timeout_ms), end the
 * thread. Returns whether the last checkpoint offered is on the disk. */
bool maintenance_stop(struct daemon *daemon, int timeout_ms);

/* Lab thread, each time it goes round. The supervisor's watchdog is fed by the keeper's own
 * rounds, and only while these come: a thread that hangs, either of the two, ends the feeding.
 */
void maintenance_beat(struct daemon *daemon);

/* ---- checkpoint_writer.c: checkpoints, on their way from the lab to the disk ----
 *
 * The lab thread copies the lab's state by slices, piece by piece, and the keeper writes what
 * has been copied meanwhile: not more than some megabytes wait between them, but for what is
 * about to change, which is copied at once. Where less than half of the pairs and teams have
 * changed since the last whole checkpoint, only those are written, to a file beside it.
 *
 * A checkpoint becomes durable only after the store has committed every record the lab had made
 * up to it, and after the journal is synced up to its position: whatever a restart does not
 * find in the store, it finds in the journal behind the checkpoint.
 */
enum { CHECKPOINT_VERSION = 4 };

struct checkpoint_writer_counts {
    uint64_t written, whole, failed; /* checkpoints */
    uint64_t bytes;                  /* written of the last one, */
    int64_t duration_us;             /* in this time */
    int64_t t_us;                    /* its lab time; LAB_TIME_NONE before the first */
};

struct checkpoint_writer {
    /* Under the daemon's lock. */
    bool waits;                     /* one is copied: what follows is the keeper's meanwhile */
    bool saved;                     /* the last one that was tried */
    uint64_t base;                  /* id of the whole one on the disk; 0: none that is known */
    struct checkpoint_block *first; /* what was copied of one, */
    struct checkpoint_block **end;
    struct checkpoint_writer_counts counts;
    _Atomic size_t waiting; /* so many bytes */

    struct journal_checkpoint checkpoint;
    bool spoiled;    /* no memory for a piece of it */
    bool counted;    /* the next one is known: */
    uint64_t pushed; /* rows that the store must have before */

    /* The lab thread's. */
    bool copies;
    bool *copied;  /* [lab_part_count()] */
    bool *changed; /* [lab_part_count()] since the last whole one began, */
    size_t changed_count;
    unsigned changes_count; /* checkpoints of changes since then */
    size_t next_part;
    struct lab_save save;
    struct checkpoint_block *filling;

    /* The keeper's. */
    struct journal_checkpoint_writer writer;
    int64_t duration_us;
};

/* Before the lab is stepped. False: no memory. */
MUST_USE bool checkpoint_writer_open(struct daemon *daemon);
void checkpoint_writer_close(struct daemon *daemon);

/* Lab thread: begin to copy the lab's state for a checkpoint: the lab has taken in everything
 * before inbox_position(). False when the one before is not written yet: begin again later. The
 * copy is of this moment, though it takes its time: a slice now and then, and what changes
 * meanwhile is copied before. */
bool checkpoint_writer_begin(struct daemon *daemon);
bool checkpoint_writer_is_copying(const struct daemon *daemon);
/* Lab thread: for some slice_us, as far as there is room; whether nothing is left to copy. What
 * is whole is the keeper's, to be ended. */
bool checkpoint_writer_copy_slice(struct daemon *daemon, int64_t slice_us);

/* Keeper: what was copied goes to the file. */
void checkpoint_writer_write_copied(struct daemon *daemon);
/* Keeper: what the lab had made up to the checkpoint is in the store's queue by now, notes too.
 */
void checkpoint_writer_count_rows(struct daemon *daemon);
/* Keeper, of one that waits, when the store has those rows. */
void checkpoint_writer_commit(struct daemon *daemon);

/* ---- result_publisher.c: what is known of pairs, published when it has changed ----
 *
 * The lab thread says that there is something new of a pair; the keeper makes the calibration
 * of its newest moves, which takes a part of a millisecond, and publishes it. Thousands of
 * pairs that move ask for more of that than a core can bear, so it takes a bounded share of
 * one: what has waited for longest comes first, with the moves that there are by then, and of a
 * pair one waits at most. A pair that moves several times a second has a calibration every two
 * seconds, and one of its last moves. How many wait, and how long, is told.
 */
enum result_kind { RESULT_TRAVEL_TIME, RESULT_DYNAMICS, RESULT_KIND_COUNT };

struct result_publisher_counts {
    uint64_t published;
    uint64_t dropped;  /* by the broker's client */
    uint64_t waiting;  /* those that rest included */
    int64_t waits_us;  /* the one that has waited for longest, since it was its turn */
    int64_t worked_us; /* making and publishing them */
};

struct result_publisher {
    struct result_item *item; /* [RESULT_KIND_COUNT * pair_count] a ring */
    struct result_pair *pair; /* [pair_count] */
    /* The lab thread's: */
    uint64_t added_count; /* items ever, */
    uint64_t due;         /* and when the snapshot that is being made began */
    /* [RESULT_KIND_COUNT * pair_count] each: new again while they waited, since then and
     * before. */
    uint32_t *missed, *carried;
    size_t missed_count, carried_count;
    _Atomic uint64_t shown;          /* items of which the newest snapshot has what is new */
    _Atomic uint64_t resting;        /* not items yet: their pair was calibrated a moment ago */
    _Atomic uint64_t consumed_count; /* by the keeper */
    /* The keeper's: */
    int64_t looked_us;   /* monotonic */
    int64_t budget_ns;   /* what is left of its share */
    int64_t reported_us; /* that many wait */
    /* Under the daemon's lock. */
    struct result_publisher_counts counts;
};

MUST_USE bool result_publisher_open(struct daemon *daemon); /* false: no memory */
void result_publisher_free(struct daemon *daemon);

/* Lab thread: publish this of a pair as the next snapshot has it; */
void result_publisher_offer(struct daemon *daemon, enum result_kind what, uint32_t pair);
/* this one begins, and now it is there. */
void result_publisher_begin_snapshot(struct daemon *daemon);
void result_publisher_end_snapshot(struct daemon *daemon);

/* Keeper, now and then: as many as its share allows. Returns whether others still wait. */
bool result_publisher_publish(struct daemon *daemon);
void result_publisher_read_counts(struct daemon *daemon,
                                  struct result_publisher_counts *out); /* any thread */

/* ---- backfill.c: makes the records that the store lacks again, from the journal ----
 *
 * The store may be lost, replaced by an older copy, or have missed rows for which there was no
 * room. Then the journal is run through a second lab, in a thread of its own, while the lab
 * goes on; what that one says up to where the lab stood at the beginning is stored unless it is
 * there already. Meanwhile the daemon is not ready and writes no checkpoint.
 */
enum backfill_phase {
    BACKFILL_IDLE,
    BACKFILL_WAITS,  /* for the lab thread to say where it stands */
    BACKFILL_MARKED, /* it has said so */
    BACKFILL_RUNS,
    BACKFILL_DONE /* the thread is to be joined */
};

struct backfill {
    pthread_t thread;
    bool runs; /* the keeper's */
    _Atomic bool stop, asks;
    _Atomic unsigned percent;
    uint32_t attempts; /* the thread's */

    /* Under the daemon's lock; fixed while it runs. */
    enum backfill_phase phase;
    struct journal_position to;  /* the journal's lines before this one, */
    int64_t to_us;               /* and what is due before this time */
    uint64_t lacks;              /* of the store's queue, at the beginning */
    int64_t not_before_us;       /* monotonic: the next attempt */
    uint64_t succeeded, records; /* attempts that succeeded, and what they made */
};

/* Keeper: begin, or end, where it is time. */
void backfill_update(struct daemon *daemon, const struct store_queue_stats *stats);
/* Lab thread, between events, when it is live. */
void backfill_mark(struct daemon *daemon);
/* After the keeper's end. */
void backfill_stop(struct daemon *daemon);

/* ---- lab_thread.c: the one thread that owns all twin state ----
 *
 * Takes lines from the inbox, steps the lab, hands its effects to the outbox, publishes
 * snapshots and makes checkpoints.
 *
 * It decodes journal lines exactly as replay does. One round: read the present under the
 * inbox's lock, take in every line stamped before it, then let the deadlines before it fire:
 * the order is that of replay, which knows no rounds.
 */
enum {
    LAB_THREAD_DURATIONS = 6
}; /* classes of round times: 0.1, 1, 10, 100, 1000 ms, longer */

struct lab_thread_counts {
    uint64_t lines;          /* taken in, restored ones included */
    uint64_t restored;       /* of them: read from the journal at the start */
    uint64_t skipped;        /* lines that are no message */
    uint64_t other;          /* messages that the codec does not listen to */
    uint64_t events;         /* steps of the lab */
    uint64_t malformed;      /* of them: EVENT_MALFORMED */
    uint64_t deadline_steps; /* steps because a deadline had passed */
    uint64_t faults;         /* stretches of the journal that could not be read */
    uint64_t durations[LAB_THREAD_DURATIONS]; /* rounds by their duration, chores included */
    int64_t duration_us_max;
    int64_t chores_us_max;     /* of them: snapshots, checkpoints; longest at a stretch */
    int64_t chores_cpu_us_max; /* the same, of the processor's time */
    int64_t restore_us;        /* how long reading the journal's tail took; -1: not done yet */
};

struct lab_thread {
    pthread_t thread;
    bool runs;
    _Atomic bool stop;
    char *scratch; /* [MESSAGE_PAYLOAD_MAX + 1] for payloads with escapes */

    bool live;              /* the journal's tail is in */
    bool no_line;           /* the step at hand follows from no line of the journal yet */
    bool follows;           /* some pair does */
    bool raised;            /* before all others, as far as the system allows it */
    bool dirty;             /* stepped since the last snapshot */
    bool unsaved;           /* stepped since the last checkpoint */
    bool unsynced;          /* lines have not been synced for too long */
    bool sampled;           /* this round saw lines that did not wake it */
    bool many;              /* thousands a second of late */
    int64_t counted_us;     /* since then */
    uint64_t lines;         /* so many */
    int64_t started_us;     /* all on the monotonic clock */
    bool saves;             /* the last slice was of a checkpoint */
    bool viewing;           /* a snapshot is being made: */
    uint64_t view_lines;    /* it shows so many lines of the inbox */
    int64_t view_worked_ns; /* and took so long so far */
    int64_t viewed_us;
    int64_t view_wait_us; /* until the next snapshot, by what the last one cost */
    int64_t saved_us;
    int64_t forgotten_us;   /* when it was told last, */
    uint64_t forgotten;     /* that so many messages were forgotten early */
    uint64_t reached;       /* so many lines of the inbox are taken in */
    _Atomic uint64_t asked; /* so many are waited for, until a snapshot shows them */
    struct lab_thread_counts counts;

    /* Under the daemon's lock: copies of the counts, */
    struct lab_thread_counts shown;
    struct effect_executor_counts shown_effect_counts;
    uint64_t shown_lines;   /* what the newest snapshot shows, */
    bool late;              /* somebody waited in vain for it, */
    pthread_cond_t changed; /* and there is another one */
};

/* STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status lab_thread_start(struct daemon *daemon);

/* Wait some moments until a snapshot shows every line that the inbox has taken so far, and the
 * store's queue has what came of them; not when others have just waited in vain. Any thread. */
void lab_thread_catch_up(struct daemon *daemon);

/* End once the inbox is empty; wait for it. What the inbox got before is taken in. */
void lab_thread_stop(struct daemon *daemon);

/* ---- all of them ---- */

enum { DAEMON_BUFFER_BYTES = 16 << 20 }; /* of the inbox */

/* In the order in which they are started; NULL: not yet, or not any more. */
struct daemon {
    const struct lab_file *file;
    struct lab_params params;
    struct lab *lab; /* the lab thread's alone while that runs */
    uint64_t fingerprint;
    struct journal *journal;
    struct journal_position tail; /* of the journal begins here: behind the checkpoint */
    int64_t last_us; /* the latest that journal, checkpoint and store know; or LAB_TIME_NONE */
    struct store *store;
    struct store_queue *queue;
    struct inbox *inbox;
    struct snapshots *snapshots;
    struct worker *worker;
    struct fits *fits;
    struct forecasts *forecasts;
    struct maps *maps;
    struct event_hub *events; /* NULL without HTTP */
    struct web *web;
    pthread_mutex_t lock; /* for what parts tell each other; held for moments */
    struct gateway gateway;
    struct lab_alarms lab_alarms;
    struct pending_fits pending_fits;
    struct maintenance maintenance;
    struct checkpoint_writer checkpoint_writer;
    struct result_publisher result_publisher;
    struct effect_executor effect_executor;
    struct lab_thread thread;
    struct backfill backfill;
    struct store_mark mark; /* of the store, in the checkpoint that was loaded */
    bool resumes;           /* from that checkpoint */
    uint64_t stream_number; /* of the newest record in the store, of any kind */
    bool is_first;          /* there is neither journal nor checkpoint: no number was used */
    int64_t started_us;
    _Atomic bool running; /* all of the above stand; the server's threads may use them */
};

/* daemon_metrics.c: the process's own. Any thread, as metrics() of struct web_source. */
void daemon_write_metrics(void *daemon, struct metrics *metrics);

#endif
