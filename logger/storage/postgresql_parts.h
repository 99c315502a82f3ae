/* logger/storage/postgresql_parts.h - shared by the files of the connection to PostgreSQL.
 * Private to them.
 */
#ifndef LOGGER_STORAGE_POSTGRESQL_PARTS_H
#define LOGGER_STORAGE_POSTGRESQL_PARTS_H

#include <libpq-fe.h>

#include "logger/storage/postgresql.h"

enum { POSTGRESQL_ADDRESS_MAX = 280 };

struct postgresql {
    PGconn *pg;
    char address[POSTGRESQL_ADDRESS_MAX]; /* "HOST:PORT" */
    bool broken;
    bool warned; /* by the statement that runs */
    char warning[sizeof((struct postgresql_result *)NULL)->warning];
};

/* Milliseconds of a clock that also counts while the machine is suspended. */
int64_t postgresql_clock_ms(void);

/* Waits until the socket is ready for `events` (POLLIN, POLLOUT) or until_ms. False: time is
 * up. */
bool postgresql_wait(PGconn *pg, short events, int64_t until_ms);

/* Copies the first line of a message of libpq, without control characters. */
void postgresql_first_line(const char *message, char *out, size_t size);

#endif
