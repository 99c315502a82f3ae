/* service/engine/engine_session.h - a daemon among those that share a database: it registers,
 * claims the names of its pairs, and knows whose pairs the others are.
 *
 * A thread registers again every two seconds, and reads the list of pairs. It waits for the
 * database, so nobody else has to. All functions but the first and the last may be called by
 * any thread.
 */
#ifndef SERVICE_ENGINE_ENGINE_SESSION_H
#define SERVICE_ENGINE_ENGINE_SESSION_H

#include "config/labfile/lab_file.h"
#include "logger/storage/postgresql.h"
#include "twin/lab.h"

struct engine_session;

/* A pair of another daemon. */
struct engine_pair {
    char pair[EVENT_PAIR_MAX];
    char lab[LAB_NAME_MAX];
    char address[LAB_PATH_MAX]; /* where its daemon answers; "": not known */
    bool running;               /* its daemon was seen in the last 10 s */
};

/* Connects, checks the tables, registers the daemon, claims its pairs and teams, and starts the
 * thread. Waits for the database. STATUS_E_STALE, STATUS_E_IO: *err says what to do. */
MUST_USE enum status engine_session_open(const struct lab_file *file,
                                         const struct lab_params *params, uint64_t fingerprint,
                                         struct engine_session **out, struct err *err);

/* Why engine_session_open() would refuse; code STATUS_OK: it would not. */
struct engine_refusals {
    struct err instance; /* name of the lab or of the daemon */
    struct err pairs;    /* a pair or team */
};

/* Tries what engine_session_open() does to the database, and takes it back. The tables are
 * checked. STATUS_E_IO: the database does not answer. */
MUST_USE enum status engine_session_try(const struct lab_file *file,
                                        struct engine_refusals *out, struct err *err);

struct postgresql_target *engine_session_target(const struct engine_session *session);

/* Copies the last fault of registering; false: there is none. */
bool engine_session_read_fault(struct engine_session *session, struct err *err);

/* Stops registering while another daemon stores the results of the lab, so that the one that
 * stores them has the registration. */
void engine_session_pause(struct engine_session *session, bool pause);

/* Finds a pair of another daemon. NULL is allowed. */
bool engine_session_find_pair(struct engine_session *session, const char *pair,
                              struct engine_pair *out);

/* Receives a pair of another daemon; must not call the session. */
typedef void engine_pair_fn(void *context, const struct engine_pair *pair);

/* Passes on the pairs of all other daemons, in the order of their names. NULL is allowed. */
void engine_session_list_pairs(struct engine_session *session, engine_pair_fn *emit,
                               void *context);

/* Ends the thread, within the limit of a statement. NULL is allowed. */
void engine_session_close(struct engine_session *session);

#endif
