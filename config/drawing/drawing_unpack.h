/* config/drawing/drawing_unpack.h - unpacks the text of a drawing from PNG, base64, deflate and
 * percent signs.
 */
#ifndef CONFIG_DRAWING_DRAWING_UNPACK_H
#define CONFIG_DRAWING_DRAWING_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"
#include "config/drawing/drawing_memory.h"

enum { DRAWING_BYTES_MAX = 8 << 20 }; /* per file, and per page after unpacking */

bool drawing_is_png(const char *data, size_t bytes);

/* The diagram that draw.io puts into a PNG, as XML. STATUS_E_PARSE with err. */
MUST_USE enum status drawing_from_png(struct drawing_memory *m, const char *data, size_t bytes,
                                      const char **text, size_t *text_bytes, struct err *err);

/* A page as base64 of raw deflate of percent-encoded XML. STATUS_E_PARSE with err. */
MUST_USE enum status drawing_from_packed(struct drawing_memory *m, const char *packed,
                                         size_t bytes, const char **text, size_t *text_bytes,
                                         struct err *err);

#endif
