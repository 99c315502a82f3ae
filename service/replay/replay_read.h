/* service/replay/replay_read.h - reads journals through a replay, and reports lines that it
 * could not use. */
#ifndef SERVICE_REPLAY_REPLAY_READ_H
#define SERVICE_REPLAY_REPLAY_READ_H

#include "service/replay/replay_ahead.h"

/* Read all lines and end the recording; faults go to stderr. ahead: NULL reads without threads;
 * speed 0: without pauses. False: a file could not be read whole. */
bool replay_read(struct replay *replay, struct journal_reader *reader,
                 struct replay_ahead *ahead, double speed);

/* Count the lines that are in no result, and name them on stderr. False makes the command fail:
 * strict requires all lines, or whole valid lines are missing. Duplicates of processed messages
 * and retained messages do not count. */
bool replay_report_left_out(const struct replay *replay, bool strict);

#endif
