/* web/http/store_pool.h - read connections to the store.
 *
 * Every server thread reads through a read-only connection from a small pool. A connection that
 * fails, or whose file was replaced, is closed, and a later request opens another. So a store
 * that appears late, or again, is read without a restart. Any thread.
 */
#ifndef WEB_HTTP_STORE_POOL_H
#define WEB_HTTP_STORE_POOL_H

#include "base/errors/err.h"
#include "logger/storage/store.h"

struct store_pool;

/* Its texts are borrowed. The store need not exist yet. STATUS_E_NOMEM. */
MUST_USE enum status store_pool_create(const struct store_params *params,
                                       struct store_pool **out);
void store_pool_destroy(
    struct store_pool *pool); /* NULL allowed; all connections must be released */

/* Get a connection, to be released. STATUS_E_IO with the reason: the store cannot be read. */
MUST_USE enum status store_pool_acquire(struct store_pool *pool, struct store_reader **reader,
                                        struct err *err);

/* status: the result of reading, STATUS_E_IO after a failure. */
enum status store_pool_release(struct store_pool *pool, struct store_reader *reader,
                               enum status status);

#endif
