#include "base/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + used, size - used, format, args);
    va_end(args);
}
