/* service/engine/postgresql_schema.h - the tables of Tandem in PostgreSQL: their version, and
 * how they get there (docs/scale.md).
 *
 * A step is a few SQL files, run in one transaction. Steps only add, so that a program of the
 * previous version still works while daemons are replaced one by one.
 */
#ifndef SERVICE_ENGINE_POSTGRESQL_SCHEMA_H
#define SERVICE_ENGINE_POSTGRESQL_SCHEMA_H

#include "logger/storage/postgresql.h"

enum {
    POSTGRESQL_SCHEMA_VERSION = 3,
    POSTGRESQL_SCHEMA_OLDEST = 1 /* the oldest program that can work with these tables */
};

/* The texts of the steps (cmake/embed.cmake). */
extern const unsigned char postgresql_schema_1[];
extern const size_t postgresql_schema_1_bytes;
extern const unsigned char postgresql_results_1[];
extern const size_t postgresql_results_1_bytes;
extern const unsigned char postgresql_views_1[];
extern const size_t postgresql_views_1_bytes;
extern const unsigned char postgresql_journal_2[];
extern const size_t postgresql_journal_2_bytes;
extern const unsigned char postgresql_views_3[];
extern const size_t postgresql_views_3_bytes;

/* Reads the version; 0: the database has no tables of Tandem. */
MUST_USE enum status postgresql_schema_read(struct postgresql *connection, int64_t *version,
                                            int64_t *oldest, struct err *err);

/* Can this program work with the tables? STATUS_E_STALE: they are missing, older or newer; *err
 * says which command helps. */
MUST_USE enum status postgresql_schema_check(struct postgresql *connection, struct err *err);

/* Runs the missing steps. Several programs may do so at once: one at a time runs them. *from is
 * the version before. Needs a user that may create roles. */
MUST_USE enum status postgresql_schema_update(struct postgresql *connection, int64_t *from,
                                              struct err *err);

/* Creates a user that may write results, with this password, unless it is there; a user that is
 * there keeps its password. NULL: without one. */
MUST_USE enum status postgresql_schema_add_user(struct postgresql *connection, const char *user,
                                                const char *password, bool *added,
                                                struct err *err);

/* Creates the database if it is missing. The connection is to another one. */
MUST_USE enum status postgresql_schema_add_database(struct postgresql *connection,
                                                    const char *database, bool *added,
                                                    struct err *err);

#endif
