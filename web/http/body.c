#include "web/http/body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve_bytes(struct body *body, size_t more)
{
    if (body->failed || more > BODY_BYTES_MAX - body->bytes) {
        body->failed = true;
        return false;
    }
    const size_t wanted = body->bytes + more;
    if (wanted <= body->capacity) {
        return true;
    }
    size_t capacity = body->capacity ? body->capacity : 1024;
    while (capacity < wanted) {
        capacity *= 2;
    }
    char *text = realloc(body->text, capacity);
    if (!text) {
        body->failed = true;
        return false;
    }
    body->text = text;
    body->capacity = capacity;
    return true;
}

void body_append(struct body *body, const char *text, size_t bytes)
{
    if (bytes > 0 && reserve_bytes(body, bytes)) {
        memcpy(body->text + body->bytes, text, bytes);
        body->bytes += bytes;
    }
}

void body_text(struct body *body, const char *text)
{
    body_append(body, text, strlen(text));
}

void body_format(struct body *body, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line) {
        body->failed = true;
        return;
    }
    body_append(body, line, (size_t)n);
}

void body_flush(void *context, const char *text, size_t bytes)
{
    body_append(context, text, bytes);
}

void body_clear(struct body *body)
{
    free(body->text);
    *body = (struct body){0};
}
