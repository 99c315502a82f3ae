/* service/replay/replay_read.h - reads journals through a replay, and reports lines that it
 * could not use. */
#ifndef SERVICE_REPLAY_REPLAY_READ_H
#define SERVICE_REPLAY_REPLAY_READ_H

#include "service/replay/replay_ahead.h"

/* Read all lines and end the recording; faults of lines go to stderr. ahead: NULL reads without
 * threads; speed 0: without pauses. False: a file could not be read whole. The first reason is
 * in *first; NULL: all go to stderr, and the next files are read. */
bool replay_read(struct replay *replay, struct journal_reader *reader,
                 struct replay_ahead *ahead, double speed, struct err *first);

/* Read journals, or one table of moves of a pair ("": the table names them), and end the
 * recording; faults of lines go to stderr.
 * Errors as those of journal_reader_open_files(), journal_reader_next(), replay_moves() and
 * replay_judge(). */
MUST_USE enum status replay_read_files(struct replay *replay, const struct lab_file *file,
                                       const char *const *paths, size_t count, const char *pair,
                                       struct err *err);

/* Count the lines that are in no result, and name them on stderr. False makes the command fail:
 * strict requires all lines, or whole valid lines are missing. Duplicates of processed messages
 * and retained messages do not count. */
bool replay_report_left_out(const struct replay *replay, bool strict);

#endif
