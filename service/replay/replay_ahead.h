/* service/replay/replay_ahead.h - reads and decodes recordings with several threads, ahead of
 * the lab.
 *
 * The meaning of a line does not depend on other lines if the codec has no memory. So threads
 * decode batches of lines. The lab's result depends on all earlier lines (deadlines,
 * deliveries, teams, clocks), so the caller's thread steps them in order. The results are
 * identical, to the byte, to those of one thread. Lines of other codecs and unusual lines are
 * read by the caller's thread in their turn.
 *
 * All functions must be called by the owner of the threads.
 */
#ifndef SERVICE_REPLAY_REPLAY_AHEAD_H
#define SERVICE_REPLAY_REPLAY_AHEAD_H

#include "service/replay/replay.h"
#include "service/replay/threads.h"

struct replay_ahead;

/* All are borrowed; the reader is one of recordings (journal_reader_open_files()), and nobody
 * else may read from it until the end. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status replay_ahead_create(const struct replay *replay,
                                         struct journal_reader *reader, struct threads *threads,
                                         struct replay_ahead **out);
void replay_ahead_destroy(struct replay_ahead *ahead); /* NULL is allowed; waits for threads */

/* Get the next line as journal_reader_next() does. *event is its decoded event, or NULL: parse
 * it with replay_line(). Both are valid until the next call. */
MUST_USE enum status replay_ahead_next(struct replay_ahead *ahead, struct journal_line *line,
                                       const struct event **event, struct err *err);

/* The reader's statistics at the current line's batch. The threads own the reader, so it must
 * not be asked itself. */
void replay_ahead_stats(const struct replay_ahead *ahead, struct journal_reader_stats *out);

#endif
