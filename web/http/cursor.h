/* web/http/cursor.h - where a list goes on, as an opaque text.
 *
 * The text is base64url, without padding, of a place and a check over it and the salt: the list
 * and the selection that the cursor was made for. A cursor that was cut, altered, or taken to
 * another list is recognised. Not a secret: it says no more than the rows did. Pure.
 */
#ifndef WEB_HTTP_CURSOR_H
#define WEB_HTTP_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CURSOR_PLACE_MAX = 256, /* bytes of a place with its NUL: what the list itself goes by */
    CURSOR_TEXT_MAX = 356   /* bytes of a cursor with its NUL */
};

/* place: 1..CURSOR_PLACE_MAX - 1 bytes. */
void cursor_write(const char *place, uint64_t salt, char out[CURSOR_TEXT_MAX]);

/* False, with place untouched, when the text is not one that cursor_write() made with this
 * salt. */
bool cursor_read(const char *text, uint64_t salt, char place[CURSOR_PLACE_MAX]);

#endif
