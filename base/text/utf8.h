/* base/text/utf8.h - one character of UTF-8 text, checked. Pure. */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text[0..bytes), and itself in *code; 0 when it is not UTF-8: cut
 * short, overlong, a surrogate or beyond U+10FFFF. bytes > 0. */
size_t utf8_next(const char *text, size_t bytes, uint32_t *code);

/* May a file of ours hold it? No control characters but tab and line ends, no line separators
 * that editors do not show, no byte order mark within the text, no non-characters. */
bool utf8_is_printable(uint32_t code);

/* What came from somebody else, made fit for a terminal, in place: '?' for each control
 * character, line ends and tabs too, and for each byte that is no UTF-8. Returns text. */
char *utf8_tame(char *text);

/* Bytes of a byte order mark at the beginning: 3, or 0 for none. */
size_t utf8_mark(const char *text, size_t bytes);

#endif
