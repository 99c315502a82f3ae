/* service/replay/replay_read.h - reads journals through a replay, and reports lines that it
 * could not use. */
#ifndef SERVICE_REPLAY_REPLAY_READ_H
#define SERVICE_REPLAY_REPLAY_READ_H

#include "service/replay/replay.h"

struct replay_input {
    const char *const *paths; /* [count] journals, or one table of moves */
    size_t count;
    const char *pair;    /* of a table's moves; NULL: the table names them */
    const char *columns; /* roles of a table's columns; NULL: by their names */
    bool is_table;       /* whatever the name says */
    double speed;        /* 0: as fast as possible */
    bool goes_on;        /* past a file that cannot be read, with its error on stderr */
};

/* Read the input and end the recording, which sets replay->ended; faults of lines go to stderr.
 * Errors as those of journal_reader_open_files(), replay_moves() and replay_judge();
 * STATUS_E_ARG: a table that cannot be read so; STATUS_E_IO: not all of it could be read. */
MUST_USE enum status replay_read_files(struct replay *replay, const struct lab_file *file,
                                       const struct replay_input *input, struct err *err);

/* Count the lines that are in no result, and name them on stderr. False makes the command fail:
 * strict requires all lines, or whole valid lines are missing. Duplicates of processed messages
 * and retained messages do not count. */
bool replay_report_left_out(const struct replay *replay, bool strict);

#endif
