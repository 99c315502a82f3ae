/* service/engine/partition.h - one instance of a partition that is stored in PostgreSQL: a
 * thread that runs the protocol of ownership.h.
 *
 * The owner queues each line. The thread writes waiting lines, and gives them to `store` once
 * they are durable; only then may the lab see them, and the broker's message be acknowledged. A
 * follower gets the owner's lines through `store`, too. So every instance has the same lines in
 * its own file journal, numbered from 1, and can give them back if the database loses some.
 *
 * Bounds: PARTITION_QUEUE_BYTES and PARTITION_QUEUE_LINES of waiting lines; a line beyond is
 * refused, and its sender still has it. No call but partition_wait(), partition_hand_over() and
 * partition_stop() waits.
 */
#ifndef SERVICE_ENGINE_PARTITION_H
#define SERVICE_ENGINE_PARTITION_H

#include "logger/fence/fence_journal.h"
#include "service/engine/ownership.h"

enum {
    PARTITION_QUEUE_BYTES = 16 << 20,
    PARTITION_QUEUE_LINES = 1 << 16,
    PARTITION_LINE_MAX = 1 << 20
};

enum partition_origin {
    PARTITION_APPENDED, /* appended here: its effects are carried out, its sender answered */
    PARTITION_TAKEN,    /* the `$lab/take` of this instance: from here on it owns */
    PARTITION_FOLLOWED  /* of another owner: effects are suppressed */
};

/* Called on the partition's thread, one at a time. */
struct partition_calls {
    void *context;
    /* Line n is durable: append it to the own journal, give it to the lab. */
    void (*store)(void *context, int64_t n, struct postgresql_text line,
                  enum partition_origin origin);
    /* Copies line n of the own journal, at most PARTITION_LINE_MAX bytes; returns its length.
     */
    size_t (*read_own)(void *context, int64_t n, char *out);
    /* Writes the line `$lab/take` at lab time t_us; returns its length. It must differ from
     * every other line. */
    size_t (*format_take)(void *context, int64_t t_us, char *out);
    /* Connects to the broker in the background, or disconnects at once without acknowledging.
     */
    void (*connect)(void *context, bool open);
    /* Brings the lab to the state behind the last stored line; may take its time. */
    void (*roll_back)(void *context);
    void (*raise_alarm)(void *context, enum ownership_alarm alarm);
    int64_t (*read_lab_us)(void *context); /* lab time */
};

struct partition_params {
    struct fence_journal_params journal;
    struct ownership_params times;
    struct partition_calls calls;
    int64_t own_n; /* lines of the own journal */
};

struct partition_report {
    enum ownership_state state;
    int64_t epoch;
    int64_t n;              /* durable lines of the partition, as far as known */
    int64_t own_n;          /* lines stored here; n - own_n: how far it is behind */
    size_t waiting;         /* lines in the queue */
    bool durable;           /* commits wait for the standbys that are required */
    int64_t success_age_us; /* since the start of the last write that succeeded */
    uint64_t takes, losses, refused, failures; /* failures: of statements */
    enum ownership_alarm alarm;                /* the last one */
    char error[ERR_TEXT_MAX];                  /* of the last failed statement; "": none */
};

struct partition;

/* Creates what the partition needs in the database, and starts to follow. */
MUST_USE enum status partition_start(const struct partition_params *params,
                                     struct partition **out, struct err *err);

/* Ends the thread. An owner that has not handed over is replaced after take_us. NULL is
 * allowed. */
void partition_stop(struct partition *partition);

/* A queued line, for partition_wait(). */
struct partition_ticket {
    uint64_t generation, number;
};

/* Queues a line. Any thread. STATUS_E_STALE: this instance does not own the partition.
 * STATUS_E_FULL: too many lines wait. STATUS_E_PARSE: the database cannot store it: it has a
 * NUL, is not UTF-8, or is longer than PARTITION_LINE_MAX. */
MUST_USE enum status partition_append(struct partition *partition, const char *line,
                                      size_t bytes, struct partition_ticket *ticket);

/* Waits until the line is durable and `store` has it. STATUS_E_STALE: it may not be, because
 * the lease was lost: do not acknowledge it. STATUS_E_EMPTY: not yet, after limit_us. Any
 * thread but the partition's. */
MUST_USE enum status partition_wait(struct partition *partition, struct partition_ticket ticket,
                                    int64_t limit_us);

/* Waits until an effect of a durable line may be sent: while the database stands still, it may
 * not. STATUS_E_STALE: this instance does not own the partition, so it is not sent here.
 * STATUS_E_EMPTY: not yet, after limit_us. Any thread but the partition's. */
MUST_USE enum status partition_await_send(struct partition *partition, int64_t limit_us);

/* ownership_may_connect(), now. Any thread. */
bool partition_may_connect(struct partition *partition);

/* Hands the partition over to a follower, and waits until this instance follows.
 * STATUS_E_EMPTY: no follower has caught up, so it still owns. STATUS_E_STALE: it does not own.
 * STATUS_E_IO: not done after limit_us. */
MUST_USE enum status partition_hand_over(struct partition *partition, int64_t limit_us);

void partition_get_report(struct partition *partition, struct partition_report *out);

#endif
