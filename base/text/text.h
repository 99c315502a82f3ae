/* base/text/text.h - texts that grow at their end. */
#ifndef BASE_TEXT_TEXT_H
#define BASE_TEXT_TEXT_H

#include <stddef.h>

#include "base/errors/status.h"

/* Appends to text[size], which is cut when full. */
void text_append(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
