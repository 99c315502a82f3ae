/* service/identify/dynamics_journal.h - motion of one robot out of a journal
 * (docs/protocol.md): its telemetry as rows of time, velocities, efforts and poses.
 */
#ifndef SERVICE_IDENTIFY_DYNAMICS_JOURNAL_H
#define SERVICE_IDENTIFY_DYNAMICS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "logger/message/event.h"
#include "service/tool/csv_file.h"

/* Which clock stamps the rows. Of a boot's first sample: simulated time where it is told, for
 * that is the time in which a simulator moves; else the robot's clock; else arrival. Samples of
 * the boot without it have no time. */
enum journal_stamp { JOURNAL_ARRIVAL, JOURNAL_SOURCE, JOURNAL_SIMULATED, JOURNAL_STAMP_COUNT };

extern const struct names journal_stamp_names;
const char *journal_stamp_name(enum journal_stamp stamp); /* "arrival", "robot", "simulated" */

/* What was found, beside the data card. */
struct dynamics_journal_summary {
    char pair[EVENT_PAIR_MAX];
    uint64_t lines;
    uint64_t unreadable;    /* lines that are no message, torn ones too */
    uint64_t malformed;     /* telemetry of this robot that is not of the protocol */
    uint64_t samples;       /* rows made */
    uint64_t others;        /* messages of other robots and other kinds */
    uint64_t restarts;      /* the boot mark changed: a new part */
    uint64_t sequence_gaps; /* times at which "seq" jumped ahead */
    uint64_t lost;          /* samples missing there */
    uint64_t repeated;      /* "seq" not above the one before */
    uint64_t controlled;    /* rows whose efforts are those of virtual/control */
    uint64_t stamped[JOURNAL_STAMP_COUNT]; /* rows by their clock */
    uint32_t seen;                         /* bit i: some row has a value for field i */
    /* Rows whose nu, whose tau did not fit the model's axes; how many numbers the last of them
     * had, and the one sideways where it was that. */
    uint64_t unfit[2];
    size_t unfit_count[2];
    double unfit_sideways[2]; /* 0: it was the count */
};

/* A value of a sample. */
enum journal_vector { JOURNAL_NU, JOURNAL_TAU, JOURNAL_POSE };

struct journal_field {
    enum journal_vector vector;
    size_t index; /* below EVENT_AXES_MAX */
    bool axis;    /* of nu, tau: counts the model's axes, on which the numbers are laid first */
};

/* "nu[0]", "tau[2]", "pose[1]"; false when it is none. */
bool journal_field_from_name(const char *name, struct journal_field *field);

enum { DYNAMICS_JOURNALS_MAX = DATA_RUNS_MAX };

struct dynamics_journal {
    const char *pair; /* NULL: the only one there is */
    enum side side;
    const struct model *model;          /* of fields that are axes; NULL: none is */
    size_t field_count;                 /* <= 3 EVENT_AXES_MAX */
    const struct journal_field *fields; /* [field_count] of a row after its time */
    /* A row: [1 + field_count], NaN where a value is missing. new_part: the robot started anew
     * (never with the first row). A status other than STATUS_OK ends the reading. */
    enum status (*add_row)(void *context, const double *row, bool new_part, struct err *err);
    /* Bytes of all; false ends the reading with STATUS_E_STALE. NULL: never asked. */
    bool (*go_on)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Read journals, merged by time: files, "-" or directories, or one text. marks is [count], out.
 *
 * Efforts are those of the telemetry; of the virtual side, where it has none, those of the last
 * message on virtual/control before it. STATUS_E_IO, STATUS_E_PARSE (a file cannot be read),
 * STATUS_E_EMPTY (no telemetry of the robot), STATUS_E_ARG (several pairs and none chosen, or
 * several texts), STATUS_E_NOMEM, or what take returned, with err filled. */
MUST_USE enum status dynamics_journal_read(const struct dynamics_journal *wanted,
                                           const struct csv_source *inputs, size_t count,
                                           struct file_mark *marks,
                                           struct dynamics_journal_summary *summary,
                                           struct err *err);

#endif
