/* base/text/text.h - texts that are formatted, and that grow at their end. */
#ifndef BASE_TEXT_TEXT_H
#define BASE_TEXT_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* Appends to text[size], which is cut when full. */
__attribute__((format(printf, 3, 4))) void text_append(char *text, size_t size,
                                                       const char *format, ...);

/* Formats the arguments of a function f(..., format, ...) as text[size], which is cut. */
#define TEXT_FORMAT(text, size, format)                                                        \
    do {                                                                                       \
        va_list arguments_of_##format;                                                         \
        va_start(arguments_of_##format, format);                                               \
        (void)vsnprintf(text, size, format, arguments_of_##format);                            \
        va_end(arguments_of_##format);                                                         \
    } while (0)

#endif
