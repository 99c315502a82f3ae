/* service/engine/engine_claim.h - names of pairs and teams belong to one lab of a database.
 *
 * A name that a lab no longer uses is free: nobody's, until a lab claims it. Its results stay
 * under the lab that made them, and lists show those of the owner only. All of this happens in
 * a transaction that one daemon at a time has, so nothing remains of a daemon that is refused.
 */
#ifndef SERVICE_ENGINE_ENGINE_CLAIM_H
#define SERVICE_ENGINE_ENGINE_CLAIM_H

#include "logger/storage/postgresql.h"

/* Begins the transaction, and waits for the daemons that are in theirs. It is rolled back when
 * the connection is closed. */
MUST_USE enum status engine_claim_begin(struct postgresql *connection, int64_t limit_ms,
                                        struct err *err);

/* Claims the names for the lab, and frees its other ones. STATUS_E_STALE: one belongs to
 * another lab; *err says which, and what to do. */
MUST_USE enum status engine_claim_names(struct postgresql *connection, const char *lab,
                                        const struct postgresql_text *names, size_t count,
                                        int64_t limit_ms, struct err *err);

MUST_USE enum status engine_claim_commit(struct postgresql *connection, int64_t limit_ms,
                                         struct err *err);

/* Frees all names of a lab in a transaction of its own; *count of them. STATUS_E_STALE: a
 * daemon of the lab runs. */
MUST_USE enum status engine_claim_retire(struct postgresql *connection, const char *lab,
                                         int64_t limit_ms, int64_t *count, struct err *err);

#endif
