/* logger/fence/fence.h - the fence row of a partition: what a statement asks, what it
 * answers.
 *
 * A partition has one row in the database: who owns it (`lease`, a random token), under which
 * number (`epoch`), how many lines its journal has (`n`). Every write names the lease that the
 * row must have, so a write of anybody else changes nothing. The token is replaced after each
 * doubt: a statement that was sent before, and may still run, is refused then. Pure data:
 * service/engine/ownership.h decides which statement to run, fence_journal.h runs it.
 */
#ifndef LOGGER_FENCE_FENCE_H
#define LOGGER_FENCE_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FENCE_LEASE_MAX = 37 };   /* a UUID as text, with its end */
enum { FENCE_LINES_MAX = 1000 }; /* lines of one statement */

struct fence_lease {
    char text[FENCE_LEASE_MAX]; /* "": none */
};

struct fence_row {
    struct fence_lease lease;
    int64_t epoch; /* counts the takes */
    int64_t beat;  /* counts the changes of the row */
    int64_t n;     /* lines of the journal, which are numbered from 1 */
    int64_t t_us;  /* lab time at which the last write began */
    bool released; /* the owner has handed over, or there was none yet */
};

enum fence_statement {
    FENCE_NONE,
    FENCE_FOLLOW, /* reads the row, then lines behind `n` */
    FENCE_TAKE,   /* takes the row if lease and beat are those given */
    FENCE_ASK,    /* replaces the lease, on a new connection */
    FENCE_WRITE,  /* appends lines, or none: the beat of an idle owner */
    FENCE_YIELD,  /* releases the row */
};

/* Which lines a FENCE_WRITE appends. */
enum fence_source {
    FENCE_WAITING,   /* those that wait, in their order */
    FENCE_TAKE_LINE, /* `$lab/take` at `t_us` */
    FENCE_OWN_LINES, /* those of the own file journal behind `n` */
};

struct fence_request {
    enum fence_statement statement;
    struct fence_lease lease; /* the row must have it; FOLLOW: not used */
    struct fence_lease next;  /* TAKE, ASK: the new one; ASK accepts it in the row, too */
    int64_t beat;             /* TAKE: the row must have it */
    int64_t n;                /* WRITE: the row must have it; ASK: before the lines in doubt */
    int64_t t_us;             /* WRITE */
    size_t lines;             /* WRITE: to append; ASK: in doubt behind `n` */
    enum fence_source source; /* WRITE, ASK */
    bool refill;              /* TAKE, ASK: `state` of the row */
};

enum fence_answer {
    FENCE_FAILED, /* nothing is known: no connection, no answer in time, any error */
    FENCE_NO_ROW, /* the condition did not hold, and nothing changed */
    FENCE_ROW,    /* it ran */
};

struct fence_result {
    enum fence_answer answer;
    struct fence_row row; /* after the statement; NO_ROW of ASK: as a read found it */
    /* On a standby, too: no notice of class 01, synchronous standbys are named, and
     * `synchronous_commit` waits for them. FOLLOW: a write would be. */
    bool durable;
    /* ASK: the lines behind `n` are those in doubt. FOLLOW: the newest line that the database
     * and the own file journal both have is the same in both, or there is none. */
    bool same;
};

#endif
