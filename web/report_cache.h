/* web/fit_cache.h - reports that cost a fit, kept until the pair has changed.
 *
 * A bounded table of texts, one per pair modulo its size, behind one lock that is held for
 * copying only. A text is found by pair and key: whoever asks says by the key what the report
 * depends on.
 */
#ifndef WEB_FIT_CACHE_H
#define WEB_FIT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "web/body.h"

struct fit_cache;

MUST_USE enum status fit_cache_create(struct fit_cache **out); /* STATUS_E_NOMEM */
void fit_cache_destroy(struct fit_cache *cache);               /* NULL allowed */

/* Append the text kept for this pair and key to *out. False: there is none. */
bool fit_cache_get(struct fit_cache *cache, uint32_t pair, uint64_t key, struct body *out);

/* Keep a copy; drops what was in its place. Out of memory: keeps nothing. */
void fit_cache_put(struct fit_cache *cache, uint32_t pair, uint64_t key,
                   const struct body *text);

#endif
