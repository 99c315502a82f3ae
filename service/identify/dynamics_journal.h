/* service/identify/dynamics_journal.h - reads the motion of one robot from a journal
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

/* The clock that stamps the rows, decided by a boot's first sample. Simulated time comes first,
 * because a simulator moves in that time; then the robot's clock; then arrival. Later samples
 * of the boot without that clock have no time. */
enum journal_stamp { JOURNAL_ARRIVAL, JOURNAL_SOURCE, JOURNAL_SIMULATED, JOURNAL_STAMP_COUNT };

extern const struct names journal_stamp_names;

/* Counts of the reading, in addition to the data summary. */
struct dynamics_journal_summary {
    char pair[EVENT_PAIR_MAX];
    uint64_t lines;
    uint64_t unreadable;    /* lines that are no message, torn ones too */
    uint64_t malformed;     /* telemetry of this robot that violates the protocol */
    uint64_t samples;       /* rows made */
    uint64_t others;        /* messages of other robots and other kinds */
    uint64_t restarts;      /* changes of the boot mark: new parts */
    uint64_t sequence_gaps; /* jumps of "seq" */
    uint64_t lost;          /* samples missing in these jumps */
    uint64_t repeated;      /* "seq" not above the previous one */
    uint64_t controlled;    /* rows with efforts from virtual/control */
    uint64_t stamped[JOURNAL_STAMP_COUNT]; /* rows by their clock */
    uint32_t seen;                         /* bit i: at least one row has field i */
    /* Rows whose nu, whose tau did not fit the model's axes. */
    uint64_t unfit[2];
    size_t unfit_count[2];
    /* in the last such row: its sideways number; 0: the count was wrong */
    double unfit_sideways[2];
};

/* A vector of a sample. */
enum journal_vector { JOURNAL_NU, JOURNAL_TAU, JOURNAL_POSE };

struct journal_field {
    enum journal_vector vector;
    size_t index; /* below EVENT_AXES_MAX */
    /* nu, tau: index counts the model's axes, onto which the numbers are mapped first */
    bool axis;
};

/* Parses "nu[0]", "tau[2]", "pose[1]"; false when it is none. */
bool journal_field_from_name(const char *name, struct journal_field *field);

struct dynamics_journal {
    const char *pair; /* NULL: the only pair in the journal */
    enum side side;
    const struct model *model;          /* for fields that are axes; NULL: there are none */
    size_t field_count;                 /* <= 3 EVENT_AXES_MAX */
    const struct journal_field *fields; /* [field_count] fields of a row, after its time */
    /* Receives a row: [1 + field_count], NaN where a value is missing. new_part: the robot
     * restarted (never for the first row). A status other than STATUS_OK ends the reading. */
    enum status (*add_row)(void *context, const double *row, bool new_part, struct err *err);
    /* Gets the bytes done and the total; false ends the reading with STATUS_E_STALE. NULL: not
     * asked. */
    bool (*go_on)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Read journals, merged by time: files, "-" or directories, or one text. marks is [count], out.
 *
 * Efforts come from the telemetry. On the virtual side, if it has none, the last message on
 * virtual/control before the sample gives them. STATUS_E_IO, STATUS_E_PARSE (a file cannot be
 * read), STATUS_E_EMPTY (no telemetry of the robot), STATUS_E_ARG (several pairs and none
 * chosen, or several texts), STATUS_E_NOMEM, or the status of add_row, with err filled.
 */
MUST_USE enum status dynamics_journal_read(const struct dynamics_journal *wanted,
                                           const struct csv_source *inputs, size_t count,
                                           struct file_mark *marks,
                                           struct dynamics_journal_summary *summary,
                                           struct err *err);

#endif
