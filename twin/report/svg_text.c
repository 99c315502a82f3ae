#include "twin/report/svg_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void svg_printf(const struct svg_text *svg, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0) {
        const size_t bytes = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
        svg->output(svg->context, text, bytes);
    }
}

/* Returns NULL for a character that needs no entity. */
static const char *find_entity(char c)
{
    return c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : NULL;
}

const char *svg_escape(const char *name, char *out)
{
    char *at = out;
    for (; *name; name++) {
        const char *entity = find_entity(*name);
        const size_t length = entity ? strlen(entity) : 1;
        memcpy(at, entity ? entity : name, length);
        at += length;
    }
    *at = '\0';
    return out;
}

void svg_print_escaped(const struct svg_text *svg, const char *text)
{
    for (; *text; text++) {
        const char *entity = find_entity(*text);
        svg->output(svg->context, entity ? entity : text, entity ? strlen(entity) : 1);
    }
}
