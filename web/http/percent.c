#include "web/http/percent.h"

#include <ctype.h>
#include <stdlib.h>

bool percent_decode(const char *text, size_t bytes, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%') {
            if (bytes - i <= 2 || !isxdigit((unsigned char)text[i + 1]) ||
                !isxdigit((unsigned char)text[i + 2])) {
                return false;
            }
            c = (unsigned char)strtoul((char[]){text[i + 1], text[i + 2], '\0'}, NULL, 16);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f || n + 1 >= size) {
            return false;
        }
        out[n++] = (char)c;
    }
    if (size == 0) {
        return false;
    }
    out[n] = '\0';
    return true;
}
