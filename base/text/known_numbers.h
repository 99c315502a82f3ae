/* base/text/known_numbers.h - texts for people without "nan" and "inf".
 *
 * printf() writes a number that is not known as "nan" or "-nan". Pure.
 */
#ifndef BASE_TEXT_KNOWN_NUMBERS_H
#define BASE_TEXT_KNOWN_NUMBERS_H

#include <stddef.h>

/* Replaces each such number in text[size], with a unit s or % behind it, by "not known",
 * and "inf" by "infinite". Words and names with these letters stay. What does not fit is cut. */
void known_numbers_replace(char *text, size_t size);

#endif
