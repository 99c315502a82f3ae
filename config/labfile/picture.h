/* config/labfile/picture.h - reads a picture in shades of grey: PGM, as text (P2) or as bytes
 * (P5).
 */
#ifndef CONFIG_LABFILE_PICTURE_H
#define CONFIG_LABFILE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum { PICTURE_SIDE_MAX = 8192, PICTURE_PIXELS_MAX = 16 << 20, PICTURE_BYTES_MAX = 80 << 20 };

struct picture { /* all zero is empty and may be freed */
    size_t width, height;
    unsigned white;  /* 1 .. 65535 */
    uint16_t *shade; /* [height][width] owned; 0 is black; the first row is the top */
};

/* Parses text[bytes]; name stands for the path in messages. STATUS_E_PARSE or STATUS_E_NOMEM
 * with a fault in *errors; *out is empty then. */
MUST_USE enum status picture_parse(const char *text, size_t bytes, const char *name,
                                   struct picture *out, struct err_list *errors);
void picture_free(struct picture *picture);

#endif
