/* service/replay/replay.h - a recording run through the lab: the offline half of "replay equals
 * live".
 *
 * The same journal lines, codec and lab_step() as the daemon's; only the effects end elsewhere:
 * records are handed to the owner, messages to robots are dropped. Owns the lab's memory.
 *
 * A fit of dynamics that the lab asks for ends where the recording says so. Where it says
 * nothing, as what mosquitto_sub wrote, replay ends it a moment after it began
 * (docs/model/online.md).
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
    uint64_t lines;  /* read, blank ones left out */
    uint64_t events; /* decoded and stepped */
    uint64_t
        malformed;   /* lines that are no message, and messages that are not of the protocol */
    uint64_t other;  /* messages on topics that Tandem does not listen to */
    uint64_t unread; /* of the malformed: lines that are no message */
    uint64_t torn;   /* cut last lines */
    uint64_t overlong;
    uint64_t ahead; /* stamped too far ahead of the lines before them */
};

/* A longer pause in a recording is a wrong stamp rather than a pause, unless a run of the
 * daemon ends or begins there: that may have been away for as long as the second one. */
#define REPLAY_PAUSE_US_MAX (INT64_C(31) * 86400 * 1000000)
#define REPLAY_AWAY_US_MAX  (INT64_C(1000) * 86400 * 1000000)

/* Asked often: what is being done, and roughly which part of the whole is behind (0 .. 1). */
typedef bool replay_go_on(void *context, const char *stage, double share);

/* What the recording has said of how one robot's fits ended. */
enum replay_fits {
    REPLAY_FITS_UNKNOWN,
    REPLAY_FITS_RECORDED, /* of one that the lab asked for here, too */
    REPLAY_FITS_UNTOLD    /* nothing, or of fits that the lab did not ask for here */
};

struct replay {
    struct lab *lab;
    struct codec_set codecs;
    const char *prefix;
    struct effects effects;
    bool refit;          /* set by its owner: what the recording says of fits is passed over */
    replay_go_on *go_on; /* set by its owner; NULL: nobody wants to end it */
    void *context;       /* of go_on */
    double share;        /* that go_on was told last */
    uint8_t (*fits)[SIDE_COUNT]; /* [pairs] enum replay_fits */
    bool whole;                  /* it begins with a start of the daemon */
    struct {
        int64_t t_us; /* LAB_TIME_MAX: none */
        size_t pair;
        enum side side;
    } due; /* the next fit that is to end though no line says so */
    struct replay_counts counts;
    int64_t t_us;         /* of the last line that was taken in */
    int64_t pause_us_max; /* REPLAY_PAUSE_US_MAX, unless its owner knows better */
    bool refused;         /* the line at hand: too far ahead, */
    int64_t plain_us;     /* and its stamp, where it was read in one go */
    char strangers[160];  /* pairs that are not of the lab, the first of them: "a, b" */
    char elsewhere[64];   /* the first topic that nobody reads */
    char *scratch;
};

/* lab_init() on memory of its own, one block, on huge pages when it is big; NULL when there is
 * none.
 *
 * Messages go to pairs at random. A lab of thousands of pairs on small pages would pay for
 * every message with walks through the page table besides the misses themselves
 * (docs/benchmarks.md).
 */
struct lab *lab_memory_create(const struct lab_params *p);
void lab_memory_destroy(struct lab *lab); /* NULL allowed */

/* effects: borrowed, called for every effect of the run. */
MUST_USE enum status replay_create(const struct lab_file *file, const struct effects *effects,
                                   struct replay **out);
void replay_destroy(struct replay *replay); /* NULL allowed */

/* One line. A line that is no message, or is too long, is counted; *err says why, and status is
 * STATUS_E_PARSE. One that is stamped too far ahead is counted and not taken in, or else
 * nothing that follows would have its time: STATUS_E_RANGE. */
enum status replay_line(struct replay *replay, const struct journal_line *line,
                        struct err *err);

/* The same of a line that codec_read_plain() has read, by the lab's codecs, to this event. */
enum status replay_event(struct replay *replay, const struct event *event, struct err *err);

/* The same of a message. */
void replay_message(struct replay *replay, const struct message *message);

/* Whether anything of the recording was for this lab: STATUS_E_EMPTY and what was found
 * instead. After replay_end(). */
MUST_USE enum status replay_judge(const struct replay *replay, const char *where,
                                  struct err *err);

/* Ask the owner; fits ask, too. */
bool replay_may_go_on(struct replay *replay, const char *stage, double share);

/* Let the time until the next message pass, which is at t_us: what is due meanwhile happens as
 * it would, and go_on is asked after each minute of it. A pause may hold millions of probes and
 * control periods. STATUS_E_RANGE: longer than REPLAY_PAUSE_US_MAX; STATUS_E_STALE: go_on said
 * no. */
MUST_USE enum status replay_pause(struct replay *replay, int64_t t_us, double share,
                                  struct err *err);

/* The end of the recording: open commands time out and fits end, unless the daemon that wrote
 * it was stopped in good order, when its state at that moment is what counts. */
void replay_end(struct replay *replay);

#endif
