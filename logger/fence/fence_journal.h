/* logger/fence/fence_journal.h - the statements of the fence row and the journal of a
 * partition, run in PostgreSQL.
 *
 * It runs what service/engine/ownership.h requests. It decides nothing and repeats nothing.
 * Each write is one statement that commits by itself: an owner that stopped inside a
 * transaction would lock the row. A write on the server that was replaced waits for a standby
 * in vain, so it is never durable there; a read proves nothing.
 *
 * Threads: one at a time. Waits at most limit_ms to connect and limit_ms for an answer.
 */
#ifndef LOGGER_FENCE_FENCE_JOURNAL_H
#define LOGGER_FENCE_FENCE_JOURNAL_H

#include "logger/fence/fence.h"
#include "logger/storage/postgresql.h"

enum { FENCE_BYTES_MAX = 4 << 20 }; /* lines of one FENCE_WRITE together; a longer one alone */

struct fence_journal_params {
    struct postgresql_target *target; /* borrowed */
    const char *partition;            /* borrowed */
    const char *owner;                /* name of this instance; borrowed */
    unsigned require_sync;            /* standbys that a commit must wait for; 0: none */
    int64_t limit_ms;                 /* > 0 */
};

struct fence_journal;

/* Does not connect yet. STATUS_E_ARG: a parameter is out of its range. STATUS_E_NOMEM. */
MUST_USE enum status fence_journal_create(const struct fence_journal_params *params,
                                          struct fence_journal **out, struct err *err);

void fence_journal_destroy(struct fence_journal *journal); /* NULL is allowed */

/* Creates the row and the first tables of the partition, if they are missing. */
MUST_USE enum status fence_journal_prepare(struct fence_journal *journal, struct err *err);

/* Reads the identifier of the database, which its standbys and its backups share. A position in
 * the journal is this and a line's number; of another database it means nothing. */
MUST_USE enum status fence_journal_identify(struct fence_journal *journal, int64_t *database,
                                            struct err *err);

/* Can the line be stored? Not if it has a NUL or is not UTF-8. Ask before it is queued: such a
 * line would fail the whole statement, again and again. */
bool fence_journal_accepts(const char *line, size_t bytes);

/* Runs a statement; *result is always filled. lines: the request->lines lines of WRITE and ASK.
 * After FOLLOW, fence_journal_line() has the lines, and the caller sets result->same: line
 * min(request->n, result->row.n) comes first, unless that is 0.
 * If the answer is FENCE_FAILED, *err says why. */
void fence_journal_run(struct fence_journal *journal, const struct fence_request *request,
                       const struct postgresql_text *lines, struct fence_result *result,
                       struct err *err);

/* Reports that this instance, which is registered, has n lines. It does not matter if that
 * fails: the next one says it. */
void fence_journal_report(struct fence_journal *journal, int64_t n);

/* The lines of the follower that is furthest, among those that reported within the last
 * FENCE_REPORT_S; -1: there is none. */
enum { FENCE_REPORT_S = 5 };
int64_t fence_journal_follower(struct fence_journal *journal);

/* The number of lines that FOLLOW read, at most FENCE_LINES_MAX + 1. */
size_t fence_journal_count(const struct fence_journal *journal);

/* Line i of those, from 0, with its number. Valid until the next run. */
struct postgresql_text fence_journal_line(const struct fence_journal *journal, size_t i,
                                          int64_t *n);

#endif
