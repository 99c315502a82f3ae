/* web/http/body.h - a growing text: the body of a response.
 *
 * BODY_BYTES_MAX bounds it. `failed` records a lack of memory or room, so that writers need not
 * check every call. One owner, no locks.
 */
#ifndef WEB_HTTP_BODY_H
#define WEB_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

enum { BODY_BYTES_MAX = 64 * 1024 * 1024 };

/* All zero is an empty body. */
struct body {
    char *text; /* [bytes], not terminated; NULL while empty */
    size_t bytes, capacity;
    bool failed; /* an addition failed; the text is a prefix */
};

void body_append(struct body *body, const char *text, size_t bytes);
void body_text(struct body *body, const char *text);
void body_format(struct body *body, const char *format, ...) PRINTF_LIKE(2, 3);

/* A json_write_flush: context is the struct body. */
void body_flush(void *context, const char *text, size_t bytes);

/* Back to empty; frees the memory. */
void body_clear(struct body *body);

#endif
