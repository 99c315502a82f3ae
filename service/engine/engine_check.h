/* service/engine/engine_check.h - what a lab's database is like, and what endangers it: for
 * `tandem db check` and `tandem serve --check`.
 */
#ifndef SERVICE_ENGINE_ENGINE_CHECK_H
#define SERVICE_ENGINE_ENGINE_CHECK_H

#include <stdio.h>

#include "config/labfile/lab_file.h"
#include "service/engine/engine_session.h"

enum { ENGINE_NAMES_MAX = 200 };

/* A server of the list: what it answers. */
struct engine_server {
    bool answers, standby;
    int version;            /* 150018 */
    char why[ERR_TEXT_MAX]; /* of one that does not answer */
};

/* Facts of the writable server. */
struct engine_facts {
    struct engine_server servers[LAB_SERVERS_MAX]; /* as in the lab file */
    char address[LAB_HOST_MAX];                    /* of the writable one */
    int64_t schema;
    int64_t sync_standbys;             /* connected, and waited for */
    char standbys[ENGINE_NAMES_MAX];   /* their names */
    char sync_names[ENGINE_NAMES_MAX]; /* synchronous_standby_names */
    bool fsync, full_pages, checksums; /* settings */
    bool writes;                       /* the user may write results */
    int64_t clock_ahead_ms;            /* of this machine's */
    struct engine_refusals refusals;   /* of a daemon with this lab file */
};

/* Connects to all servers and reads the facts. Fails if no server can be written, or its tables
 * do not suit this program. */
MUST_USE enum status engine_facts_read(const struct lab_file *lab, struct engine_facts *out,
                                       struct err *err);

/* Prints a line per fact, and one per danger with its remedy; each begins with `margin`.
 * Returns how many faults a person must remove before this lab may use the database. */
size_t engine_facts_print(const struct engine_facts *facts, const struct engine_options *engine,
                          const char *margin, FILE *out);

#endif
