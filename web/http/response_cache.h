/* web/http/response_cache.h - the server's connections to the store, and the last answers out
 * of it.
 *
 * Every server thread reads through a read-only connection of its own, out of a small pool. One
 * that fails, or whose file is not the one at its path any more, is closed and another opened
 * by a later request, so that a store which comes late, or back, is read without a restart. Any
 * thread.
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
    struct response_cache *response_cache); /* NULL allowed; all are given back */

/* A connection, to be given back. STATUS_E_IO with the reason: the store cannot be read. */
MUST_USE enum status response_cache_acquire_reader(struct response_cache *response_cache,
                                                   struct store_reader **reader,
                                                   struct err *err);

/* status: what came of reading. STATUS_E_IO when that was a failure. */
enum status response_cache_release_reader(struct response_cache *response_cache,
                                          struct store_reader *reader, enum status status);

/* For an answer that rests on the store alone: the one that this request got before, if nobody
 * has committed anything since; false: make it anew. */
bool response_cache_find(const struct web_request *request, struct web_response *response);

/* Keep the finished answer, if response_cache_find() was asked for it and it is no problem and
 * not long. The last few are kept, of a megabyte at most. */
void response_cache_add(const struct web_request *request, const struct web_response *response);

#endif
