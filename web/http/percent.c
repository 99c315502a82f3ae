#include "web/http/percent.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool percent_decode(const char *text, size_t bytes, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%') {
            const int high = bytes - i > 2 ? hex_value(text[i + 1]) : -1;
            const int low = bytes - i > 2 ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = (unsigned char)(high * 16 + low);
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
