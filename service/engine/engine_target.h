/* service/engine/engine_target.h - the database that a lab file names. */
#ifndef SERVICE_ENGINE_ENGINE_TARGET_H
#define SERVICE_ENGINE_ENGINE_TARGET_H

#include "config/labfile/lab_file.h"
#include "logger/storage/postgresql.h"

struct engine_user {
    const char *database, *user;
    const char *password_file; /* NULL: none */
    bool any_encoding;         /* of the database */
};

/* Creates the target of the lab's servers. user NULL: database, user and password file of the
 * lab. Statuses and threads as postgresql_target_create(). */
MUST_USE enum status engine_target_create(const struct engine_options *engine,
                                          const struct engine_user *user,
                                          struct postgresql_target **out, struct err *err);

/* The same for one of the servers only. */
MUST_USE enum status engine_target_create_one(const struct engine_options *engine,
                                              size_t server, struct postgresql_target **out,
                                              struct err *err);

#endif
