/* web/http/response_cache.h - read connections to the store, and a cache of the last answers
 * from it.
 *
 * Every server thread reads through a read-only connection from a small pool. A connection that
 * fails, or whose file was replaced, is closed, and a later request opens another. So a store
 * that appears late, or again, is read without a restart. Any thread.
 */
#ifndef WEB_HTTP_RESPONSE_CACHE_H
#define WEB_HTTP_RESPONSE_CACHE_H

#include "base/errors/err.h"
#include "logger/storage/store.h"
#include "web/http/handler.h"

struct response_cache;

/* path: the SQLite file; need not exist yet. STATUS_E_NOMEM. */
MUST_USE enum status response_cache_create(const char *path, struct response_cache **out);
void response_cache_destroy(
    struct response_cache *response_cache); /* NULL allowed; all connections must be released */

/* Get a connection, to be released. STATUS_E_IO with the reason: the store cannot be read. */
MUST_USE enum status response_cache_acquire_reader(struct response_cache *response_cache,
                                                   struct store_reader **reader,
                                                   struct err *err);

/* status: the result of reading, STATUS_E_IO after a failure. */
enum status response_cache_release_reader(struct response_cache *response_cache,
                                          struct store_reader *reader, enum status status);

/* For an answer that depends on the store alone: get the cached one if nothing was committed
 * since; false: compute it. */
bool response_cache_find(const struct web_request *request, struct web_response *response);

/* Cache the finished answer after response_cache_find() for this request, unless it is a
 * problem or too long. The last few are cached, up to a megabyte. */
void response_cache_add(const struct web_request *request, const struct web_response *response);

#endif
