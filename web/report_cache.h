/* web/report_cache.h - reports of pairs, kept until the pair has changed.
 *
 * A bounded table of texts behind one lock that is held for copying only. A text is found by
 * the place of its pair, what it is, and a key that says what it depends on. A place holds the
 * text that came last.
 */
#ifndef WEB_REPORT_CACHE_H
#define WEB_REPORT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "web/body.h"

enum { REPORT_CACHE_TAG_MAX = 24 };

struct report_cache;

/* Which text. */
struct report_name {
    uint32_t pair;
    const void *what; /* compared as an address: the route's row */
    uint64_t key;     /* equal keys: equal texts */
};

MUST_USE enum status report_cache_create(struct report_cache **out); /* STATUS_E_NOMEM */
void report_cache_destroy(struct report_cache *cache);               /* NULL allowed */

/* Append the text kept under this name to *out, and its tag. False: there is none. */
bool report_cache_get(struct report_cache *cache, const struct report_name *name,
                      struct body *out, char tag[REPORT_CACHE_TAG_MAX]);

/* Keep a copy; drops what was in its place. Out of memory: keeps nothing. */
void report_cache_put(struct report_cache *cache, const struct report_name *name,
                      const struct body *text, const char *tag);

#endif
