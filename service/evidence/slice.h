/* service/evidence/slice.h - a window of a recording: its messages, and the entries and alarms
 * that a replay makes of them.
 *
 * Files are read from their beginning, so that entries have the numbers of the whole recording.
 * The window begins earlier than asked for if a command is open then: at its arrival, at most
 * timeout_s before. Otherwise its reply would belong to no command when the slice is replayed.
 * Its first lines state the versions in force then, because the lines that stated them are
 * older.
 */
#ifndef SERVICE_EVIDENCE_SLICE_H
#define SERVICE_EVIDENCE_SLICE_H

#include "config/labfile/lab_file.h"
#include "logger/storage/journal_reader.h"
#include "twin/pair/effect.h"

enum slice_around { SLICE_ALL, SLICE_AROUND_ENTRY, SLICE_AROUND_ID, SLICE_AROUND_TIME };

struct slice_request {
    const struct lab_file *lab;
    const char *const *paths; /* as for journal_reader_open_files(); no standard input */
    size_t path_count;
    const char *const *pairs; /* [pair_count] ids; none: all */
    size_t pair_count;
    /* [SIDE_COUNT] versions when the window of the only pair begins, if the recording may lack
     * the lines that state them; NULL: it has them */
    const char (*version)[EVENT_VERSION_MAX];
    int64_t since_us, until_us; /* until is exclusive; LAB_TIME_NONE, LAB_TIME_MAX: no bound */
    enum slice_around around;   /* replaces both times */
    const char *pair, *id;      /* of the entry or command; pair NULL: any */
    uint64_t n;                 /* the entry's number */
    int64_t t_us, before_us, after_us;
};

/* A line of the window. */
struct slice_line {
    const struct journal_line *line;
    const struct message *message; /* NULL: the line is no message */
    const char *pair;              /* "": none */
    enum side side;                /* SIDE_COUNT: none */
    /* [sent_count] the robot's stamps in lab time, one for each event of the line;
     * LAB_TIME_NONE: unknown */
    const int64_t *sent_us;
    size_t sent_count;
};

/* The receiver. NULL functions are not called. */
struct slice_sink {
    void (*line)(void *context, const struct slice_line *line);
    void (*sample)(void *context, const struct event *event); /* EVENT_TELEMETRY */
    /* An entry or alarm, at the time of the effect. pair: name of the pair or team. */
    void (*record)(void *context, const struct effect *effect, const char *pair);
    void *context;
};

struct slice_found {
    int64_t from_us, until_us; /* the window; LAB_TIME_NONE, LAB_TIME_MAX: no bound */
    uint64_t lines;            /* messages handed out */
    uint64_t torn, unread;     /* of the whole recording: cut last lines, no messages */
};

/* STATUS_E_EMPTY: no such entry or command, or no message is in the window. STATUS_E_IO,
 * STATUS_E_PARSE, STATUS_E_ARG, STATUS_E_NOMEM: the recording cannot be read. */
MUST_USE enum status slice_read(const struct slice_request *request,
                                const struct slice_sink *sink, struct slice_found *found,
                                struct err *err);

#endif
