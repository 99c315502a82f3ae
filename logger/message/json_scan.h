/* logger/message/json_scan.h - a strict pull parser of JSON text, for messages and journal
 * lines.
 *
 * RFC 8259: one pass, no allocation, valid UTF-8 only, bounded depth. Numbers are correctly
 * rounded, whatever the locale. The first error is final: every later call returns false. Why
 * not jansson here: docs/adr/0003-json.md. Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_JSON_SCAN_H
#define LOGGER_MESSAGE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"

enum { JSON_SCAN_DEPTH_MAX = 64, JSON_NAME_MAX = 16 /* with its NUL */ };

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
    enum fault fault;  /* kind of the error */
    unsigned depth, depth_max;
    bool first[JSON_SCAN_DEPTH_MAX + 1]; /* no member of this level was read yet */
};

struct json_text { /* the content of a string as written, with escapes unresolved */
    const char *at;
    size_t bytes;
    bool escaped;
};

/* depth_max <= JSON_SCAN_DEPTH_MAX. */
void json_scan_start(struct json_scan *s, const char *text, size_t bytes, unsigned depth_max);

/* Returns the kind of the next value without reading it. */
enum json_kind json_scan_peek(struct json_scan *s);

/* Enters an object or array. Call next until it is false: it was left, or there is a fault. */
bool json_scan_enter(struct json_scan *s, enum json_kind kind);
bool json_scan_next_member(struct json_scan *s, struct json_text *key);
bool json_scan_next_item(struct json_scan *s);
/* Works like json_scan_next_member(), optimised for a likely member: quoted[bytes] is its name
 * as JSON writes it without escapes, with quotes and colon, "\"x\":". If it matches, *same is
 * set and the key is not parsed. */
bool json_scan_next_likely(struct json_scan *s, const char *quoted, size_t bytes, bool *same,
                           struct json_text *key);

/* Works like json_scan_next_member() with a table of names: *row becomes the index of the key
 * in rows[count], or count if it is not there. Each row has row_bytes bytes and begins with its
 * name (a char[JSON_NAME_MAX], 1 to 15 bytes without escapes). The search starts behind *row,
 * because members usually come in the order of rows; set it to count at first. */
bool json_scan_next_row(struct json_scan *s, const void *rows, size_t row_bytes, size_t count,
                        size_t *row, struct json_text *key);

bool json_scan_text(struct json_scan *s, struct json_text *text);
bool json_scan_number(struct json_scan *s, double *value);
bool json_scan_bool(struct json_scan *s, bool *value);
bool json_scan_null(struct json_scan *s);

/* Checks and skips one value of any kind; [*from, *from + *bytes) is its text. NULLs
 * allowed. */
bool json_scan_skip(struct json_scan *s, const char **from, size_t *bytes);

/* Is nothing but white space left, and was there no error? */
bool json_scan_finish(struct json_scan *s);

/* Returns the 1-based column of the error, or of the position. */
size_t json_scan_column(const struct json_scan *s);

/* Writes the error as a phrase, cut to size: what would be right, or "NaN is not a JSON number
 * (values.range_m): send null or leave it out". Returns out. */
const char *json_scan_explain(const struct json_scan *s, char *out, size_t size);

/* Sets the error unless there is one; for callers with additional rules. Returns false. */
bool json_scan_fail(struct json_scan *s, enum fault fault, const char *what_would_be_right);

/* Is this key `name`? Keys with escapes match nothing. */
bool json_text_is(const struct json_text *text, const char *name);

/* Copies the text to out[size] with escapes resolved and a NUL. Returns the bytes without it,
 * or size if they do not fit (out then has a cut text with complete characters). latin1: code
 * points become bytes. */
size_t json_text_copy(const struct json_text *text, char *out, size_t size, bool latin1);

/* Removes the next character from *text and writes it, unescaped, to out[4]. Returns its bytes,
 * 0 at the end. */
size_t json_text_next(struct json_text *text, char out[4]);

#endif
