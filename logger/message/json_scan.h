/* logger/message/json_scan.h - a strict pull reader of JSON text, for messages and journal
 * lines.
 *
 * RFC 8259: one pass, no allocation, valid UTF-8 only, bounded depth. Numbers are correctly
 * rounded and independent of the locale. The first error wins and stays: after it every call
 * returns false. Why not jansson here: docs/adr/0003-json.md.
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_JSON_SCAN_H
#define LOGGER_MESSAGE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"

enum { JSON_SCAN_DEPTH_MAX = 64, JSON_NAME_MAX = 16 /* its NUL with it */ };

enum json_kind {
    JSON_KIND_NONE, /* an error, or the end */
    JSON_KIND_OBJECT,
    JSON_KIND_ARRAY,
    JSON_KIND_TEXT,
    JSON_KIND_NUMBER,
    JSON_KIND_TRUE,
    JSON_KIND_FALSE,
    JSON_KIND_NULL
};

struct json_scan {
    const char *begin, *at, *end;
    const char *error; /* NULL: none; else what would be right */
    enum fault fault;  /* its kind */
    unsigned depth, depth_max;
    bool first[JSON_SCAN_DEPTH_MAX + 1]; /* no member of this level was read yet */
};

struct json_text { /* the inside of a string as it stands, escapes unresolved */
    const char *at;
    size_t bytes;
    bool escaped;
};

/* depth_max <= JSON_SCAN_DEPTH_MAX. */
void json_scan_start(struct json_scan *s, const char *text, size_t bytes, unsigned depth_max);

/* What comes next, without reading it. */
enum json_kind json_scan_peek(struct json_scan *s);

/* Enter an object or array; then call next until it is false, which leaves it. */
bool json_scan_enter(struct json_scan *s, enum json_kind kind);
bool json_scan_next_member(struct json_scan *s, struct json_text *key);
bool json_scan_next_item(struct json_scan *s);
/* As json_scan_next_member(), when this one is likely to be next: quoted[bytes] is its name as
 * JSON writes it without escapes, its quotes and the colon, "\"x\":". *same: it is. Then the
 * key is not read anew, for it is known. */
bool json_scan_next_likely(struct json_scan *s, const char *quoted, size_t bytes, bool *same,
                           struct json_text *key);

/* As json_scan_next_member(). *row: which of rows[count], each of row_bytes and with its name
 * (a char[JSON_NAME_MAX], 1 to 15 bytes as JSON writes them without escapes) first, it is of;
 * count: of none. It is looked for from the row behind *row on, for members come in the order
 * of rows: count at first. */
bool json_scan_next_row(struct json_scan *s, const void *rows, size_t row_bytes, size_t count,
                        size_t *row, struct json_text *key);

bool json_scan_text(struct json_scan *s, struct json_text *text);
bool json_scan_number(struct json_scan *s, double *value);
bool json_scan_bool(struct json_scan *s, bool *value);
bool json_scan_null(struct json_scan *s);

/* Read and check one value of any kind; [*from, *from + *bytes) is its text. NULLs allowed. */
bool json_scan_skip(struct json_scan *s, const char **from, size_t *bytes);

/* Nothing but white space is left, and there was no error. */
bool json_scan_finish(struct json_scan *s);

/* 1-based column of the error or of the position. */
size_t json_scan_column(const struct json_scan *s);

/* Set the error unless there is one; for callers with rules of their own. Returns false. */
bool json_scan_fail(struct json_scan *s, enum fault fault, const char *what_would_be_right);

/* Is this key `name`? Keys with escapes match nothing. */
bool json_text_is(const struct json_text *text, const char *name);

/* Resolve escapes into out[size] with a NUL. Returns the bytes without it, or size when they do
 * not fit (out then holds a cut text, never half a character). latin1: code points to bytes. */
size_t json_text_copy(const struct json_text *text, char *out, size_t size, bool latin1);

/* Take the next character off *text, its escape resolved, into out[4]: its bytes, 0 at the end.
 */
size_t json_text_next(struct json_text *text, char out[4]);

#endif
