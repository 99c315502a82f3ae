/* service/replay/replay.h - runs a recording through the lab: the offline half of "replay
 * equals live".
 *
 * It uses the same journal lines, codecs and lab_step() as the daemon. Only the effects differ:
 * records go to the owner, messages to robots are dropped. It owns the lab's memory.
 *
 * A fit of dynamics ends when the recording says so. Recordings without such lines (made by
 * mosquitto_sub) end it a moment after it began (docs/model/online.md).
 */
#ifndef SERVICE_REPLAY_REPLAY_H
#define SERVICE_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/storage/journal_reader.h"
#include "twin/lab.h"

struct replay_counts {
    uint64_t lines;     /* lines read, without blank ones */
    uint64_t events;    /* decoded and stepped */
    uint64_t malformed; /* lines that are no message, and messages that violate the protocol */
    uint64_t other;     /* messages on topics that Tandem does not use */
    uint64_t unread;    /* of the malformed: lines that are no message */
    uint64_t torn;      /* truncated last lines */
    uint64_t overlong;
    uint64_t ahead; /* stamped too far ahead of the previous lines */
};

/* A longer pause in a recording is a wrong stamp, unless a run of the daemon ends or begins
 * there: the daemon may be away for as long as the second constant. */
#define REPLAY_PAUSE_US_MAX (INT64_C(31) * 86400 * 1000000)
#define REPLAY_AWAY_US_MAX  (INT64_C(1000) * 86400 * 1000000)

/* Called often with the current stage and the rough ratio of the work that is done (0 .. 1). */
typedef bool replay_go_on(void *context, const char *stage, double share);

/* The source of the ends of one robot's fits. */
enum replay_fits {
    REPLAY_FITS_UNKNOWN,
    REPLAY_FITS_RECORDED, /* it has the end of a fit that the lab started here, too */
    REPLAY_FITS_UNTOLD    /* nothing, or ends of fits that the lab did not start here */
};

struct replay {
    struct lab *lab;
    struct codec_set codecs;
    const char *prefix;
    struct effects effects;
    bool refit;          /* set by the owner: ignore what the recording says about fits */
    replay_go_on *go_on; /* set by the owner; NULL: never cancelled */
    void *context;       /* passed to go_on and watch */
    /* Set by the owner: sees each event before the lab's step. NULL: nobody. */
    void (*watch)(void *context, const struct event *event);
    double share;                /* ratio last passed to go_on */
    uint8_t (*fits)[SIDE_COUNT]; /* [pairs] enum replay_fits */
    bool whole;                  /* it begins with a start of the daemon */
    struct {
        int64_t t_us; /* LAB_TIME_MAX: none */
        size_t pair;
        enum side side;
    } due; /* the next fit that ends without a line */
    struct replay_counts counts;
    int64_t t_us;         /* time of the last accepted line */
    int64_t pause_us_max; /* REPLAY_PAUSE_US_MAX, unless the owner sets another bound */
    bool refused;         /* the current line is too far ahead */
    bool ended;           /* set by replay_read_files(): results may be reported */
    int64_t plain_us;     /* its stamp, if it was read at once */
    char strangers[160];  /* pairs that are not in the lab: "a, b" */
    char elsewhere[64];   /* the first topic without a reader */
    char *scratch;
};

/* Call lab_init() on one block of memory, with huge pages when it is big; NULL when there is
 * none.
 *
 * Messages go to pairs at random. With small pages a lab of thousands of pairs would add
 * page-table walks to every cache miss (docs/benchmarks.md).
 */
struct lab *lab_memory_create(const struct lab_params *p);
void lab_memory_destroy(struct lab *lab); /* NULL allowed */

/* effects: borrowed, called for every effect of the run. */
MUST_USE enum status replay_create(const struct lab_file *file, const struct effects *effects,
                                   struct replay **out);
void replay_destroy(struct replay *replay); /* NULL allowed */

/* Process one line. A line that is no message, or is too long, is counted; *err says why, and
 * the status is STATUS_E_PARSE. A line stamped too far ahead is counted and skipped, because it
 * would spoil the times of all later ones: STATUS_E_RANGE. */
enum status replay_line(struct replay *replay, const struct journal_line *line,
                        struct err *err);

/* The same for a message. */
void replay_message(struct replay *replay, const struct message *message);

/* Was anything in the recording for this lab? STATUS_E_EMPTY names what was found instead. Call
 * after replay_end(). */
MUST_USE enum status replay_judge(const struct replay *replay, const char *where,
                                  struct err *err);

/* Ask the owner whether to continue; fits ask, too. */
bool replay_may_go_on(struct replay *replay, const char *stage, double share);

/* Let time pass until the next message at t_us. Everything due meanwhile happens, and go_on is
 * called after each minute, because a pause may hold millions of probes and control periods.
 * STATUS_E_RANGE: longer than REPLAY_PAUSE_US_MAX; STATUS_E_STALE: cancelled. */
MUST_USE enum status replay_pause(struct replay *replay, int64_t t_us, double share,
                                  struct err *err);

/* End the recording: open commands time out and fits end. If the daemon stopped cleanly, its
 * state at that moment counts, and nothing more happens. */
void replay_end(struct replay *replay);

#endif
