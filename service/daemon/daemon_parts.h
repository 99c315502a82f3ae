/* service/daemon/daemon_parts.h - the parts of the daemon and their shared state; private to
 * service/daemon.
 *
 * Parts reach each other through struct daemon, and only after they were started (daemon.c has
 * the order). Members without a function here belong to the part's own source.
 */
#ifndef SERVICE_DAEMON_DAEMON_PARTS_H
#define SERVICE_DAEMON_DAEMON_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "logger/codec/codecs.h"
#include "logger/storage/journal_checkpoint.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/alarm_webhook.h"
#include "service/daemon/capturer.h"
#include "service/daemon/daemon.h"
#include "service/daemon/fits.h"
#include "service/daemon/forecasts.h"
#include "service/daemon/snapshots.h"
#include "service/engine/engine_session.h"
#include "service/engine/partition.h"
#include "service/mqtt/mqtt_client.h"
#include "service/sim/mission/maps.h"
#include "web/http/event_hub.h"
#include "web/http/metrics.h"

/* ---- gateway.c: between the broker and the lab ----
 *
 * Every message that the lab's codecs subscribe to goes into the inbox unchanged. Commands,
 * replies, connections and echoes arrive at QoS 1 in a session that the broker keeps while the
 * daemon is away. Telemetry arrives at QoS 0, so that a robot's stream cannot fill that
 * session's queue and push commands out. Where possible it has its own connection, so that no
 * reply waits behind it.
 *
 * The gateway also caches the state machines that robots publish, the newest of each side, for
 * display. No decision depends on them, so they enter neither the journal nor the lab. Bound:
 * WEB_MACHINES_MAX bytes per side.
 */
struct robot_state {
    char *text; /* [bytes] owned; NULL: none */
    size_t bytes;
};

struct gateway {
    struct mqtt_client *client;    /* for its callbacks; others call gateway_client() */
    atomic_bool connects;          /* the client is there */
    struct mqtt_client *telemetry; /* connection for telemetry; NULL: it shares the main one */
    struct codec_set codecs;
    char *room; /* [MESSAGE_PAYLOAD_MAX] for answers of codecs; NULL: no codec answers */
    /* Publishes what a codec sends while it decodes (struct codec_sink); set by
     * effect_executor_open().
     */
    void (*answer)(void *context, const char *pair, const char *topic, const char *payload,
                   size_t bytes);
    _Atomic uint64_t oversized; /* payloads truncated to MESSAGE_PAYLOAD_MAX */
    /* topics that are too long, or the daemon's own */
    _Atomic uint64_t ignored;
    struct robot_state (*robots)[SIDE_COUNT]; /* [pair_count] under the daemon's lock */
};

/* Prepare the codecs. STATUS_E_NOMEM. */
MUST_USE enum status gateway_open(struct daemon *daemon, struct err *err);
/* Connect in the background and subscribe; once, any thread. Errors as for
 * mqtt_client_create(). */
MUST_USE enum status gateway_connect(struct daemon *daemon, struct err *err);
/* NULL: this daemon follows another one, so it has no connection. Any thread. */
struct mqtt_client *gateway_client(const struct daemon *daemon);
/* State of the connection, all zero without one. Any thread. */
void gateway_read_state(const struct daemon *daemon, struct mqtt_client_state *state);
/* Call mqtt_client_stop() for each started client. */
void gateway_leave(struct daemon *daemon, int timeout_ms);
void gateway_close(struct daemon *daemon);
/* Any thread: the process was frozen for silent_us. Write that to the journal before the
 * messages of that time, unless a message has arrived since. */
void gateway_record_frozen(void *daemon, int64_t silent_us);

enum gateway_delivery {
    GATEWAY_SURE,     /* QoS 1: repeated until the broker acknowledges it */
    GATEWAY_RETAINED, /* the same, retained */
    GATEWAY_ONCE, /* QoS 1, never repeated if the broker may have it: no robot moves twice */
    GATEWAY_NOW   /* QoS 0, for messages that are useless later (efforts, probes, fidelity) */
};

/* Publish on "<prefix>/<rest>". Any thread; errors as for mqtt_client_publish().
 * STATUS_E_STALE: this daemon does not own the lab, so another one sends. */
MUST_USE enum status gateway_send(struct daemon *daemon, const char *rest, const char *payload,
                                  size_t bytes, enum gateway_delivery delivery);

/* The same on a whole topic, which may be outside the prefix. */
MUST_USE enum status gateway_send_whole(struct daemon *daemon, const char *topic,
                                        const char *payload, size_t bytes,
                                        enum gateway_delivery delivery);

/* The same for a message that a broker of MQTT 5 retains for expiry_s only, others not at all.
 */
MUST_USE enum status gateway_send_expiring(struct daemon *daemon, const char *rest,
                                           const char *payload, size_t bytes,
                                           uint32_t expiry_s);

/* Copy the newest machine states of a side; returns their bytes, 0 when there are none. Any
 * thread, as machines() of struct web_source. */
size_t gateway_read_robot(void *daemon, size_t pair, enum side side,
                          char out[WEB_MACHINES_MAX]);

/* ---- lab_alarms.c: alarms of the lab itself, queued for the lab thread ----
 *
 * They are stored and published like those of pairs, with "$lab" as the pair. The state of the
 * daemon's disk is no event of the lab, so a replay does not have these alarms.
 */
enum { LAB_ALARMS_MAX = 8 };

struct lab_alarms { /* under the daemon's lock; alarms beyond the bound are only logged */
    struct alarm alarm[LAB_ALARMS_MAX];
    size_t count;
};

/* Any thread. */
void lab_alarm_raise(struct daemon *daemon, enum alarm_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Get the oldest waiting alarm; false: none. */
bool lab_alarm_next(struct daemon *daemon, struct alarm *alarm);

/* ---- pending_fits.c: travel-time fits for the history of pairs ----
 *
 * The lab thread registers a pair whose moves should be fitted; the maintenance thread fits and
 * stores.
 */
struct pending_fit {
    _Atomic bool waits;   /* the maintenance thread owns the two members below while set */
    struct effect effect; /* describes the fits of these moves */
    struct pair *window;  /* a copy of the pair with its moves */
};

struct pending_fits {
    struct pending_fit *fit; /* [pair_count] */
    uint64_t dropped;        /* under the daemon's lock: the previous fit had not finished */
};

/* Lab thread: schedule the travel-time fit of this EFFECT_HISTORY. */
void pending_fits_add(struct daemon *daemon, const struct effect *effect);
/* Maintenance thread: fit and store what is scheduled. */
void pending_fits_store(struct daemon *daemon);

/* ---- effect_executor.c: carries out the lab's effects on the store and the broker ----
 *
 * While the journal's tail is read back after a start, nothing is sent to robots or L1. It was
 * sent when it happened, or it would come too late: a robot must not move twice. Entries and
 * alarms are then stored and published only if the store lacks them. An entry is identified by
 * its pair and its command's stamp and id, which survive a change of the lab file. With neither
 * store nor checkpoint, the whole journal is read. Its records were published when they
 * happened, so they are only stored.
 *
 * Runs on the lab thread.
 */
enum { EFFECT_EXECUTOR_LATENESS = 9 };
extern const double
    effect_executor_lateness_s[EFFECT_EXECUTOR_LATENESS - 1]; /* s, class bounds */

struct effect_executor_counts {
    uint64_t effects[EFFECT_KIND_COUNT];
    uint64_t published;
    /* rejected by the broker client: its buffer is full, or the link is down and the message
     * useless later */
    uint64_t not_published;
    uint64_t not_stored; /* the store's queue was full: the next start stores them */
    uint64_t known;      /* restored records that the store had already */
    uint64_t held_back;  /* restored messages: not sent again */
    uint64_t stale;      /* commands and probes too old to send (the process was frozen) */
    /* Efforts by their delay after the control period: up to 0.1, 0.25, 0.5, 1, 2, 5, 10, 100
     * ms, and later. */
    uint64_t late[EFFECT_EXECUTOR_LATENESS];
    /* Grants of teams by latency: from the event that caused them (the UnLock's arrival) until
     * the broker client has the next command, or the answer to the robot's controller. */
    uint64_t granted[EFFECT_EXECUTOR_LATENESS];
    double granted_s;  /* s, sum of all latencies */
    uint64_t overruns; /* efforts so late that the next one replaces them: not sent */
};

enum { EFFECT_EXECUTOR_GRANTS = 16 }; /* grants of one instant whose latency is measured */

struct effect_executor {
    bool live;
    /* results may depend on lines that still wait for the journal */
    bool may_owe;
    uint64_t last_alarm_n;       /* number of the newest alarm */
    bool republishes;            /* restored records that the store lacks are also published */
    struct store_reader *reader; /* reads rows stored before this start; NULL: none */
    int64_t newest_us[STORE_KIND_COUNT]; /* newest rows in the store at the start */
    struct effect_executor_counts counts;
    int64_t grant_us; /* time of the newest grants … */
    size_t grants_due;
    /* … and the pairs whose grant led to no message yet */
    uint32_t grant_pair[EFFECT_EXECUTOR_GRANTS];
};

/* Call before gateway_open(). */
void effect_executor_open(struct daemon *daemon);

/* The emit function for lab_step(); context is the daemon. */
void effect_executor_emit(void *context, const struct effect *effect);

/* Lab thread: store and publish the waiting alarms of the lab. */
void effect_executor_publish_alarms(struct daemon *daemon);

/* The journal's tail and this run's start are processed: from now on every effect is carried
 * out. */
void effect_executor_go_live(struct daemon *daemon);

/* ---- maintenance.c: the thread for slow work ----
 *
 * It syncs the journal, writes checkpoints, fits calibrations for publication and watches
 * health.
 */
enum { MAINTENANCE_STATUS_MAX = 800 };

/* journal, store and checkpoint may be on different disks */
enum { MAINTENANCE_DISKS = 3 };
extern const char *const maintenance_disks[MAINTENANCE_DISKS];

/* State of a connection to the broker, as last logged. */
struct maintenance_link {
    bool up, reported;
};

struct maintenance {
    pthread_t thread;
    bool runs;
    uint64_t teams_published[TEAMS_MAX]; /* version of each team's published state */

    /* Under the daemon's lock. */
    pthread_cond_t changed; /* wakes the thread for its end or for work */
    bool leaves_broker;     /* the daemon disconnects deliberately: no warning */
    bool stop;
    int64_t stop_us; /* monotonic deadline of the last checkpoint */
    struct view_health health;

    _Atomic bool save_now;  /* the lab thread must offer a checkpoint at once */
    _Atomic bool lab_beats; /* the lab thread made a round since the watchdog was fed */

    /* Used by the maintenance thread only. */
    /* watchdog: period (0: none), time of the last feeding */
    int64_t alive_every_us, alive_us;
    char status[MAINTENANCE_STATUS_MAX]; /* as last sent to the supervisor */
    bool journal_down;
    struct maintenance_link main, telemetry;
    _Atomic uint64_t free_bytes[MAINTENANCE_DISKS];
    char space_text[160]; /* which disk is nearly full; "": none */
    int64_t space_us;     /* monotonic time of the next check */
    struct journal_stats journal_seen;
    struct store_queue_stats store_seen;
    int64_t engine_us; /* of the next report that registering fails; 0: it works */
    struct inbox_counts seen;
    int64_t gap_us;                /* time of the last attempt to record a gap */
    int64_t stepped_us, slept_us;  /* lab_clock_compare() results as last logged, */
    int64_t clock_us;              /* monotonic: no new message before this time */
    _Atomic int64_t wall_ahead_us; /* wall clock minus lab time */
};

/* Lab thread: add to health that journal lines have waited too long for a sync. The maintenance
 * thread cannot do it, because it waits for the disk then. */
void maintenance_check_synced(struct daemon *daemon, struct view_health *health);
/* Any thread: age of the oldest line that is not synced. */
int64_t maintenance_unsynced_us(struct daemon *daemon);

/* Cold path: allocates. STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status maintenance_start(struct daemon *daemon);

/* Finish offered work (a checkpoint only if the store commits within timeout_ms) and end the
 * thread. Returns whether the last offered checkpoint is on the disk. */
bool maintenance_stop(struct daemon *daemon, int timeout_ms);

/* Lab thread, once a round. The maintenance thread feeds the supervisor's watchdog in its own
 * rounds, and only after a beat. So a hang of either thread stops the feeding.
 */
void maintenance_beat(struct daemon *daemon);

/* ---- checkpoint_writer.c: checkpoints, on their way from the lab to the disk ----
 *
 * The lab thread copies the lab's state in slices while the maintenance thread writes what has
 * been copied. At most some megabytes wait between them, apart from parts that are about to
 * change, which are copied at once. If less than half of the pairs and teams changed since the
 * last whole checkpoint, only those are written, to a second file.
 *
 * A checkpoint becomes durable only after the store has committed all records made before it,
 * and after the journal is synced up to its position. So a restart finds every record in the
 * store or in the journal behind the checkpoint.
 */
enum { CHECKPOINT_VERSION = 4 };

struct checkpoint_writer_counts {
    uint64_t written, whole, failed; /* checkpoints */
    uint64_t bytes;                  /* size of the last one, */
    int64_t duration_us;             /* time spent on it */
    int64_t t_us;                    /* its lab time; LAB_TIME_NONE before the first */
};

struct checkpoint_writer {
    /* Under the daemon's lock. */
    /* a copy is complete: the maintenance thread owns the members below */
    bool waits;
    bool saved;                     /* the last attempt succeeded */
    uint64_t base;                  /* id of the whole checkpoint on the disk; 0: none known */
    struct checkpoint_block *first; /* copied blocks that wait, */
    struct checkpoint_block **end;
    struct checkpoint_writer_counts counts;
    _Atomic size_t waiting; /* and their bytes */

    struct journal_checkpoint checkpoint;
    bool followed;   /* another daemon owned the lab, and stores its records */
    bool spoiled;    /* a block could not be allocated */
    bool counted;    /* `pushed` is valid */
    uint64_t pushed; /* rows that the store must commit first */

    /* Used by the lab thread only. */
    bool copies;
    bool *copied;  /* [lab_part_count()] */
    bool *changed; /* [lab_part_count()] since the last whole checkpoint began */
    size_t changed_count;
    unsigned changes_count; /* partial checkpoints since then */
    size_t next_part;
    struct lab_save save;
    struct checkpoint_block *filling;

    /* Used by the maintenance thread only. */
    struct journal_checkpoint_writer writer;
    int64_t duration_us;
};

/* Call before the lab is stepped. False: no memory. */
MUST_USE bool checkpoint_writer_open(struct daemon *daemon);
void checkpoint_writer_close(struct daemon *daemon);

/* Lab thread: begin to copy the lab's state for a checkpoint. The lab has processed everything
 * before inbox_position(). False while the previous one is not written yet: try again later.
 * The copy shows this moment although it is made in slices, because parts are copied before
 * they change. */
bool checkpoint_writer_begin(struct daemon *daemon);
bool checkpoint_writer_is_copying(const struct daemon *daemon);
/* Lab thread: copy for about slice_us, as far as there is room. Returns true when all is
 * copied; the maintenance thread then finishes the checkpoint. */
bool checkpoint_writer_copy_slice(struct daemon *daemon, int64_t slice_us);

/* Maintenance thread: write copied blocks to the file. */
void checkpoint_writer_write_copied(struct daemon *daemon);
/* Maintenance thread: all records up to the checkpoint, pending fits included, are in the
 * store's queue now.
 */
void checkpoint_writer_count_rows(struct daemon *daemon);
/* Maintenance thread: finish a waiting checkpoint once the store has those rows. */
void checkpoint_writer_commit(struct daemon *daemon);

/* ---- result_publisher.c: publishes new results of pairs ----
 *
 * The lab thread offers a pair with something new. The maintenance thread computes the
 * calibration of its newest moves, which takes a fraction of a millisecond, and publishes it.
 * Thousands of moving pairs could use up a core, so the work has a bounded share of one. The
 * pair that has waited longest comes first, and each pair waits at most once. A pair that moves
 * several times a second gets a calibration every two seconds, and one after its last move.
 * Counts of waiting pairs and their delay are reported.
 */
enum result_kind { RESULT_TRAVEL_TIME, RESULT_DYNAMICS, RESULT_KIND_COUNT };

struct result_publisher_counts {
    uint64_t published;
    uint64_t dropped;  /* by the broker client */
    uint64_t waiting;  /* including pairs that were calibrated a moment ago */
    int64_t waits_us;  /* longest wait so far in the queue */
    int64_t worked_us; /* time spent on computing and publishing */
};

struct result_publisher {
    struct result_item *item; /* [RESULT_KIND_COUNT * pair_count] a ring */
    struct result_pair *pair; /* [pair_count] */
    /* Used by the lab thread only. */
    uint64_t added_count; /* items ever added, */
    uint64_t due;         /* and when the snapshot in progress began */
    /* [RESULT_KIND_COUNT * pair_count] each: offered again while waiting, since then and
     * before. */
    uint32_t *missed, *carried;
    size_t missed_count, carried_count;
    _Atomic uint64_t shown; /* items whose news are in the newest snapshot */
    /* not queued yet: their pair was calibrated a moment ago */
    _Atomic uint64_t resting;
    _Atomic uint64_t consumed_count; /* by the maintenance thread */
    /* Used by the maintenance thread only. */
    int64_t looked_us;   /* monotonic */
    int64_t budget_ns;   /* remaining share of a core */
    int64_t reported_us; /* time of the last log line about waiting items */
    /* Under the daemon's lock. */
    struct result_publisher_counts counts;
};

MUST_USE bool result_publisher_open(struct daemon *daemon); /* false: no memory */
void result_publisher_free(struct daemon *daemon);

/* Lab thread: publish this result once the next snapshot shows it. */
void result_publisher_offer(struct daemon *daemon, enum result_kind what, uint32_t pair);
/* Lab thread: the next snapshot begins; it is complete. */
void result_publisher_begin_snapshot(struct daemon *daemon);
void result_publisher_end_snapshot(struct daemon *daemon);

/* Maintenance thread, periodically: publish as much as its share allows. Returns whether others
 * still wait. */
bool result_publisher_publish(struct daemon *daemon);
void result_publisher_read_counts(struct daemon *daemon,
                                  struct result_publisher_counts *out); /* any thread */

/* ---- backfill.c: makes records that the store lacks again, from the journal ----
 *
 * The store may be lost, replaced by an older copy, or lack rows for which there was no room.
 * Then a thread replays the journal through a second lab while the first one goes on. All
 * records up to the first lab's place at the beginning are stored unless they exist. Meanwhile
 * the daemon is not ready and writes no checkpoint.
 */
enum backfill_phase {
    BACKFILL_IDLE,
    BACKFILL_WAITS,  /* the lab thread must mark its place */
    BACKFILL_MARKED, /* the lab thread has marked its place */
    BACKFILL_RUNS,
    BACKFILL_DONE /* the thread can be joined */
};

struct backfill {
    pthread_t thread;
    bool runs; /* used by the maintenance thread */
    _Atomic bool stop, asks;
    _Atomic unsigned percent;
    uint32_t attempts; /* used by the backfill thread */

    /* Under the daemon's lock; fixed while the thread runs. */
    enum backfill_phase phase;
    struct journal_position to; /* replay lines before this one, */
    int64_t to_us;              /* and deadlines before this time */
    uint64_t missed;            /* the store queue's count at the beginning */
    int64_t not_before_us;      /* monotonic time of the next attempt */
    uint64_t records;           /* made by all attempts */
};

/* Maintenance thread: begin or end an attempt when it is time. */
void backfill_update(struct daemon *daemon, const struct store_queue_stats *stats);
/* Lab thread, between events, when it is live. */
void backfill_mark(struct daemon *daemon);
/* Call after the maintenance thread ended. */
void backfill_stop(struct daemon *daemon);

/* ---- lab_thread.c: the only thread that owns twin state ----
 *
 * It reads lines from the inbox, steps the lab, hands its effects to the effect executor,
 * publishes snapshots and copies checkpoints.
 *
 * It decodes journal lines exactly as replay does. A round reads the present under the inbox's
 * lock, processes every line stamped before it, then lets the deadlines before it fire. That is
 * the order of replay, which has no rounds.
 */
enum {
    LAB_THREAD_DURATIONS = 6
}; /* upper bounds of round times: 0.1, 1, 10, 100, 1000 ms; the last class has none */

struct lab_thread_counts {
    uint64_t lines;          /* processed, restored ones included */
    uint64_t restored;       /* part of them: read from the journal at the start */
    uint64_t skipped;        /* lines that are no message */
    uint64_t other;          /* messages that the codec does not use */
    uint64_t events;         /* steps of the lab */
    uint64_t malformed;      /* part of them: EVENT_MALFORMED */
    uint64_t deadline_steps; /* steps for deadlines */
    uint64_t faults;         /* sections of the journal that could not be read */
    uint64_t durations[LAB_THREAD_DURATIONS]; /* rounds by duration, chores included */
    int64_t duration_us_max;
    int64_t chores_us_max;     /* longest stretch of snapshot or checkpoint work */
    int64_t chores_cpu_us_max; /* the same in processor time */
    int64_t restore_us;        /* duration of reading the journal's tail; -1: not done yet */
};

struct lab_thread {
    pthread_t thread;
    bool runs;
    _Atomic bool stop;
    char *scratch; /* [MESSAGE_PAYLOAD_MAX + 1] for payloads with escapes */

    bool live; /* the journal's tail is processed */
    /* this step comes from a deadline, so the journal has no line for it yet */
    bool no_line;
    bool follows;           /* some pair follows */
    bool raised;            /* real-time priority is set */
    bool dirty;             /* stepped since the last snapshot */
    bool unsaved;           /* stepped since the last checkpoint */
    bool unsynced;          /* lines have waited too long for a sync */
    bool sampled;           /* this round had lines that did not wake the thread */
    bool many;              /* thousands of lines a second lately */
    int64_t counted_us;     /* start of the count below */
    uint64_t lines;         /* lines since then */
    int64_t started_us;     /* this and the next times: monotonic clock */
    bool saves;             /* the last slice was for a checkpoint */
    bool viewing;           /* a snapshot is in progress */
    uint64_t view_lines;    /* inbox lines that it shows */
    int64_t view_worked_ns; /* processor time spent on it so far */
    int64_t viewed_us;
    int64_t view_wait_us; /* pause before the next snapshot, from the cost of the last one */
    int64_t saved_us;
    int64_t forgotten_us;   /* time of the last warning */
    uint64_t forgotten;     /* about this count of messages forgotten early */
    uint64_t reached;       /* inbox lines processed */
    _Atomic uint64_t asked; /* inbox lines that a reader wants to see in a snapshot */
    struct lab_thread_counts counts;

    /* Under the daemon's lock: copies of the counts, */
    struct lab_thread_counts shown;
    struct effect_executor_counts shown_effect_counts;
    uint64_t shown_lines;   /* inbox lines in the newest snapshot */
    bool late;              /* a reader waited in vain for them */
    pthread_cond_t changed; /* signals a new snapshot */
};

/* STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status lab_thread_start(struct daemon *daemon);

/* Wait briefly until a snapshot shows every line that the inbox has so far, and the store's
 * queue has the resulting rows. Do not wait if others have just waited in vain. Any thread. */
void lab_thread_catch_up(struct daemon *daemon);

/* End the thread once the inbox is empty and join it. Earlier lines are processed. */
void lab_thread_stop(struct daemon *daemon);

/* ---- standby.c, standby_state.c: the daemon as one of several that can own its lab
 * (engine.role) ----
 *
 * One of them owns the lab: it receives, decides and sends. The others follow: they step the
 * same lines, as after a restart, answer over HTTP, and send nothing. Every line passes through
 * the database before a lab sees it, so their labs and journals are equal.
 *
 * A daemon begins as a follower. It takes the lab when the owner is silent, and goes live with
 * the line $lab/start. When it loses the lab, its process ends without acknowledging more.
 */
struct standby {
    _Atomic(struct partition *) partition; /* NULL: not started, or the lab has one daemon */
    struct own_journal *own;               /* used by the partition's thread */
    bool taken;                            /* the same: it stored the line that took the lab */
    atomic_bool live;                      /* the lab thread has gone live */
    atomic_bool settled;                   /* the lab thread has processed the own journal */
    atomic_bool hands_over, stops;
    /* Lab thread: time of the newest line of another owner, */
    int64_t newest_us;
    /* and of a checkpoint that a follower wrote: the store may lack records before it;
     * LAB_TIME_NONE: it lacks none */
    int64_t lean_us;
};

/* Can several daemons own the lab? */
bool standby_is_shared(const struct daemon *daemon);
/* Does this one carry effects out? Always, if the lab has one daemon. Any thread. */
bool standby_is_live(const struct daemon *daemon);

/* Follow; nothing if the lab has one daemon. Waits for the database. */
MUST_USE enum status standby_start(struct daemon *daemon, struct err *err);
/* Let a follower take over, and disconnect. False: there is none, or nothing to hand over. */
MUST_USE bool standby_hand_over(struct daemon *daemon);
void standby_stop(struct daemon *daemon);

/* Lab thread: the line that took the lab is processed. */
void standby_go_live(struct daemon *daemon);
/* Lab thread: a line of the own journal, or of another owner, is processed. */
void standby_note_restored(struct daemon *daemon);

/* False: the lab has one daemon, or it does not follow yet. Any thread. */
bool standby_read_report(struct daemon *daemon, struct partition_report *out);
/* Who owns the lab; "": this daemon. Returns whether that is as it should be. */
bool standby_describe(struct daemon *daemon, char text[160]);

/* ---- the daemon ---------------------------------------------------------------------- */

enum { DAEMON_BUFFER_BYTES = 16 << 20 }; /* of the inbox */

/* Members in the order of their start; NULL: not started, or stopped. */
struct daemon {
    const struct lab_file *file;
    struct lab_params params;
    struct lab *lab; /* used by the lab thread only while it runs */
    uint64_t fingerprint;
    struct journal *journal;
    struct journal_position tail; /* start of the journal's tail: behind the checkpoint */
    int64_t last_us; /* latest time in journal, checkpoint and store, or LAB_TIME_NONE */
    struct engine_session *engine;    /* NULL: no database */
    struct store_params store_params; /* where the results are */
    const char *store_name;           /* for people */
    struct store *store;
    struct store_queue *queue;
    struct inbox *inbox;
    struct snapshots *snapshots;
    struct worker *worker;
    struct fits *fits;
    struct forecasts *forecasts;
    struct capturer *capturer;           /* NULL: captures are off */
    struct alarm_webhook *alarm_webhook; /* NULL: no address is given */
    struct maps *maps;
    struct event_hub *events; /* NULL without HTTP */
    struct rays *rays;        /* NULL without HTTP */
    struct web *web;
    char *public_lab;     /* the lab file without secrets, for reports; NULL without HTTP */
    pthread_mutex_t lock; /* protects what parts share; held briefly */
    struct gateway gateway;
    struct lab_alarms lab_alarms;
    struct pending_fits pending_fits;
    struct maintenance maintenance;
    struct checkpoint_writer checkpoint_writer;
    struct result_publisher result_publisher;
    struct effect_executor effect_executor;
    struct lab_thread thread;
    struct backfill backfill;
    struct standby standby;
    struct store_mark mark; /* mark of the store in the loaded checkpoint */
    bool resumes;           /* the lab continues from that checkpoint */
    uint64_t stream_number; /* number of the newest record in the store, of any kind */
    bool is_first;          /* no journal and no checkpoint: no number was used */
    int64_t started_us;
    _Atomic bool running; /* all members are ready; server threads may use them */
};

/* web_calls.c: the daemon's functions for the HTTP server; context is the daemon. */
struct web_source web_calls_source(struct daemon *daemon);
int64_t web_calls_now(void *daemon); /* lab time */

/* daemon_metrics.c: metrics of the process. Any thread, as metrics() of struct web_source. */
void daemon_write_metrics(void *daemon, struct metrics *metrics);

#endif
