#include "base/text/text.h"

#include <string.h>

void text_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    TEXT_FORMAT(text + used, size - used, format);
}
