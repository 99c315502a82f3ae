/* base/text/utf8.h - decoding and checking of UTF-8 text, one character at a time. Pure. */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at text[0..bytes), bytes > 0, into *code and returns its length in
 * bytes. Returns 0 if it is not UTF-8: cut short, overlong, a surrogate or beyond U+10FFFF. */
size_t utf8_next(const char *text, size_t bytes, uint32_t *code);

/* May a text file of ours contain it? Refused are control characters other than tab and line
 * ends, line separators that editors do not show, a byte order mark within the text, and
 * non-characters. */
bool utf8_is_printable(uint32_t code);

/* Makes foreign text safe for a terminal, in place: '?' replaces each control character, line
 * ends and tabs included, and each byte that is not UTF-8. Returns text. */
char *utf8_tame(char *text);

/* Returns the length of a byte order mark at the beginning: 3, or 0 for none. */
size_t utf8_mark(const char *text, size_t bytes);

#endif
