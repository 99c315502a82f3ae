#include "base/text/utf8.h"

#include <string.h>

size_t utf8_next(const char *text, size_t bytes, uint32_t *code)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *code = first;
        return 1;
    }
    size_t n = 0;
    uint32_t lowest = 0;
    uint32_t c = 0;
    if (first >= 0xC2 && first < 0xE0) {
        n = 2;
        lowest = 0x80;
        c = first & 0x1FU;
    } else if (first >= 0xE0 && first < 0xF0) {
        n = 3;
        lowest = 0x800;
        c = first & 0x0FU;
    } else if (first >= 0xF0 && first < 0xF5) {
        n = 4;
        lowest = 0x10000;
        c = first & 0x07U;
    }
    if (n == 0 || n > bytes) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        const unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0U) != 0x80U) {
            return 0;
        }
        c = (c << 6) | (next & 0x3FU);
    }
    if (c < lowest || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        return 0;
    }
    *code = c;
    return n;
}

bool utf8_is_printable(uint32_t code)
{
    if (code < 0x20) {
        return code == '\t' || code == '\n' || code == '\r';
    }
    return !(code >= 0x7F && code < 0xA0) && code != 0x2028 && code != 0x2029 &&
           code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

char *utf8_tame(char *text)
{
    char *to = text;
    size_t left = strlen(text);
    for (const char *from = text; left > 0;) {
        uint32_t code = 0;
        const size_t n = utf8_next(from, left, &code);
        if (n == 0 || code < 0x20 || !utf8_is_printable(code)) {
            *to++ = '?';
        } else {
            memmove(to, from, n);
            to += n;
        }
        from += n > 0 ? n : 1;
        left -= n > 0 ? n : 1;
    }
    *to = '\0';
    return text;
}

size_t utf8_mark(const char *text, size_t bytes)
{
    return bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}
