/* base/text/text.h - texts that grow at their end. */
#ifndef BASE_TEXT_TEXT_H
#define BASE_TEXT_TEXT_H

#include <stddef.h>

/* Appends to text[size], which is cut when full. */
__attribute__((format(printf, 3, 4))) void text_append(char *text, size_t size,
                                                       const char *format, ...);

#endif
