/* service/replay/replay_ahead.h - the lines of recordings, read by several threads ahead of the
 * lab.
 *
 * What a line says does not depend on other lines, where robots speak a codec that remembers
 * nothing: that part of the work is spread over threads, batch by batch of lines. What the lab
 * makes of it depends on all lines before (deadlines, what was delivered, teams, clocks): one
 * thread, the caller's, steps it in the order of the lines. So the results are the same, to the
 * byte, as of one thread. Lines of other codecs, and those that are odd in any way, are read by
 * the caller's thread when their turn has come.
 *
 * All functions belong to the owner of the threads.
 */
#ifndef SERVICE_REPLAY_REPLAY_AHEAD_H
#define SERVICE_REPLAY_REPLAY_AHEAD_H

#include "service/replay/replay.h"
#include "service/replay/threads.h"

struct replay_ahead;

/* All are borrowed; the reader is one of recordings (journal_reader_open_files()), and nobody
 * else reads from it until the end. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status replay_ahead_create(const struct replay *replay,
                                         struct journal_reader *reader, struct threads *threads,
                                         struct replay_ahead **out);
void replay_ahead_destroy(struct replay_ahead *ahead); /* NULL is allowed; waits for threads */

/* The next line, as journal_reader_next() hands it out. *event becomes what it says, or NULL:
 * to be read by replay_line(). Both are valid until the next call. */
MUST_USE enum status replay_ahead_next(struct replay_ahead *ahead, struct journal_line *line,
                                       const struct event **event, struct err *err);

/* What had been read when the batch of the line at hand was: the reader itself is the threads',
 * and may not be asked. */
void replay_ahead_stats(const struct replay_ahead *ahead, struct journal_reader_stats *out);

#endif
