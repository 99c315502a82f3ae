/* service/engine/engine_instance.h - the daemons that share a database know each other by name.
 *
 * Each daemon registers at its start and then every second or so. Times are those of the
 * database, so clocks of machines do not matter. A daemon that has not done so for 10 s is
 * gone.
 */
#ifndef SERVICE_ENGINE_ENGINE_INSTANCE_H
#define SERVICE_ENGINE_ENGINE_INSTANCE_H

#include "logger/storage/postgresql.h"

enum { ENGINE_HOME_MAX = 512 };

struct engine_instance {
    const char *name;        /* engine.instance of the lab file */
    const char *lab;         /* the lab's name: the partition of its results */
    const char *home;        /* engine_instance_home() */
    const char *version;     /* of this program */
    const char *fingerprint; /* of the lab file */
    const char *address;     /* where readers reach it; "": nowhere */
    bool shares_lab; /* others may work for this lab, if their fingerprint is the same */
};

/* Writes what stays the same when this daemon is started again, and what no other daemon has:
 * the machine and the folder of the journal, which is locked. */
void engine_instance_home(const char *journal_dir, char out[ENGINE_HOME_MAX]);

/* Registers the daemon; at its start between engine_claim_begin() and engine_claim_commit().
 * STATUS_E_STALE: another daemon has its name, or works for this lab; *err says which, and what
 * to do. STATUS_E_IO: the database does not answer. */
MUST_USE enum status engine_instance_register(struct postgresql *connection,
                                              const struct engine_instance *instance,
                                              int64_t limit_ms, struct err *err);

#endif
