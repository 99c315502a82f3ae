/* logger/message/json_write.h - writes JSON text into a buffer: the output format of every
 * result.
 *
 * Members are written in the order of the calls, without white space, so that equal values give
 * equal bytes. Numbers are the shortest text that reads back to the same double; non-finite
 * ones become null; lab times are exact decimals. Why not jansson: docs/adr/0003-json.md. Pure:
 * no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_JSON_WRITE_H
#define LOGGER_MESSAGE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"

enum { JSON_WRITE_DEPTH_MAX = 16, JSON_WRITE_NUMBER_MAX = 32, JSON_WRITE_RECENT = 32 };

/* Receives the text when the buffer is full. */
typedef void json_write_flush(void *context, const char *text, size_t bytes);

struct json_writer {
    char *text;      /* [capacity], not terminated */
    size_t capacity; /* >= JSON_WRITE_NUMBER_MAX */
    size_t used;
    json_write_flush *flush; /* NULL: text that does not fit is dropped, and overflow is set */
    void *context;
    bool overflow;
    unsigned depth;
    bool comma[JSON_WRITE_DEPTH_MAX + 1]; /* the next member needs a comma */
    char close[JSON_WRITE_DEPTH_MAX + 1];
    /* Cache of formatted numbers, by their bits: fits repeat many numbers, above all
     * correlations. */
    struct {
        double value;
        size_t bytes; /* 0: empty */
        char text[JSON_WRITE_NUMBER_MAX];
    } recent[JSON_WRITE_RECENT];
};

/* Begins to write to text[capacity]; with a flush function the length is unlimited. */
void json_write_start(struct json_writer *w, char *text, size_t capacity,
                      json_write_flush *flush, void *context);

/* Passes the remaining text to the flush function. Returns whether the text is complete:
 * nothing was dropped, and every bracket is closed. */
bool json_write_end(struct json_writer *w);

/* key: NULL inside an array and at the top. */
void json_write_object(struct json_writer *w, const char *key); /* opens */
void json_write_array(struct json_writer *w, const char *key);  /* opens */
void json_write_close(struct json_writer *w);                   /* closes the innermost */
void json_write_text(struct json_writer *w, const char *key,
                     const char *value); /* NULL: writes null */
/* Writes text[bytes] with escapes \u00XX; latin1: bytes above 0x7f as code points. */
void json_write_bytes(struct json_writer *w, const char *key, const char *text, size_t bytes,
                      bool latin1);
void json_write_real(struct json_writer *w, const char *key, double value);
/* Writes the fewest digits that read back to the same float: "0.1", not 0.10000000149011612. */
void json_write_float(struct json_writer *w, const char *key, float value);
void json_write_int(struct json_writer *w, const char *key, int64_t value);
void json_write_bool(struct json_writer *w, const char *key, bool value);
void json_write_null(struct json_writer *w, const char *key);
/* Writes microseconds as seconds ("1763617674.123456", "0.25"); LAB_TIME_NONE is null. */
void json_write_seconds(struct json_writer *w, const char *key, int64_t us);
/* Writes [a, b]: a point, or the ends of an interval. */
void json_write_two(struct json_writer *w, const char *key, double a, double b);
void json_write_numbers(struct json_writer *w, const char *key, const double *values,
                        size_t count);
/* Writes a list of numbers; nothing if count is 0. */
void json_write_axes(struct json_writer *w, const char *key, const double *axes, size_t count);
/* Writes a list of texts[count][room]. */
void json_write_texts(struct json_writer *w, const char *key, const char *texts, size_t room,
                      size_t count);
/* Opens an object and returns true if something is known; else writes null. */
bool json_write_known(struct json_writer *w, const char *key, bool known);
/* Writes {name: count, …} for all names. */
void json_write_counts(struct json_writer *w, const char *key, const struct names *names,
                       const uint64_t *counts);
/* Writes text that is JSON already; no bytes: null. */
void json_write_raw(struct json_writer *w, const char *key, const char *json, size_t bytes);

/* ---- rows: several members at once ----
 *
 *   JSON_WRITE_OBJECT(w, "last", JSON_SECONDS("t", last->t_us), JSON("n", last->n),
 *                     JSON_IF(last->detail[0], JSON("detail", last->detail)),
 *                     JSON_OBJECT("counts", JSON_OF(&last->counts, sent, applied)));
 *
 * A row is a member: its name and its value. Rows are written in their order. */

enum json_form {
    JSON_FORM_END, /* no row follows */
    JSON_FORM_ABSENT,
    JSON_FORM_NULL,
    JSON_FORM_REAL,
    JSON_FORM_BOOL,
    JSON_FORM_WHOLE,
    JSON_FORM_TEXT,    /* NULL: null */
    JSON_FORM_SECONDS, /* int64_t, microseconds */
    JSON_FORM_COUNTS,  /* uint64_t for each name */
    JSON_FORM_NUMBERS, /* a list of double */
    JSON_FORM_RAW,     /* text that is JSON already */
    JSON_FORM_OBJECT,  /* of rows */
    JSON_FORM_GROUP    /* the rows themselves */
};

struct json_row {
    const char *key;
    enum json_form form;
    size_t count; /* of numbers, or bytes */
    union {
        double real;
        int64_t whole; /* or 0, 1 */
        const char *text;
        const void *at; /* counts, numbers or rows */
    } value;
    const struct names *names; /* of counts */
};

/* clang-format off */
#define JSON_ROW(row_key, row_form, ...)                                                       \
    ((struct json_row){.key = (row_key), .form = (row_form), __VA_ARGS__})
#define JSON_ROWS(...) ((const struct json_row[]){__VA_ARGS__, {.form = JSON_FORM_END}})

/* The value in the format of its type. A comparison is an int, which is refused here: use
 * JSON_BOOL or JSON_WHOLE. */
#define JSON(key, x)                                                                           \
    _Generic((x), double: json_row_real, bool: json_row_bool, uint8_t: json_row_count,         \
             uint16_t: json_row_count, uint32_t: json_row_count, uint64_t: json_row_count,     \
             int64_t: json_row_whole, char *: json_row_text, const char *: json_row_text)      \
    (key, x)
#define JSON_BOOL(key, x)     json_row_bool(key, x)
#define JSON_WHOLE(key, x)    json_row_whole(key, (int64_t)(x))
#define JSON_SECONDS(key, us) JSON_ROW(key, JSON_FORM_SECONDS, .value.whole = (us))
#define JSON_NULL(key)        JSON_ROW(key, JSON_FORM_NULL, .count = 0)
#define JSON_COUNTS(key, all, x)                                                               \
    JSON_ROW(key, JSON_FORM_COUNTS, .value.at = (x), .names = (all))
/* An empty list is written as well, unlike json_write_axes(). */
#define JSON_NUMBERS(key, x, n)                                                                \
    JSON_ROW(key, JSON_FORM_NUMBERS, .value.at = (x), .count = (n))
#define JSON_TWO(key, a, b) JSON_NUMBERS(key, ((const double[]){a, b}), 2)
#define JSON_RAW(key, json, bytes)                                                             \
    JSON_ROW(key, JSON_FORM_RAW, .value.text = (json), .count = (bytes))
#define JSON_OBJECT(key, ...)                                                                  \
    JSON_ROW(key, JSON_FORM_OBJECT, .value.at = JSON_ROWS(__VA_ARGS__))
/* One to twelve members of a struct, each under its own name. */
#define JSON_OF(s, ...)                                                                        \
    JSON_PICK(__VA_ARGS__, JSON_OF12, JSON_OF11, JSON_OF10, JSON_OF9, JSON_OF8, JSON_OF7,      \
              JSON_OF6, JSON_OF5, JSON_OF4, JSON_OF3, JSON_OF2, JSON_OF1, 0)                   \
    (s, __VA_ARGS__)
#define JSON_PICK(a, b, c, d, e, f, g, h, i, j, k, l, picked, ...) picked
#define JSON_OF1(s, member)       JSON(#member, (s)->member)
#define JSON_OF2(s, member, ...)  JSON_OF1(s, member), JSON_OF1(s, __VA_ARGS__)
#define JSON_OF3(s, member, ...)  JSON_OF1(s, member), JSON_OF2(s, __VA_ARGS__)
#define JSON_OF4(s, member, ...)  JSON_OF1(s, member), JSON_OF3(s, __VA_ARGS__)
#define JSON_OF5(s, member, ...)  JSON_OF1(s, member), JSON_OF4(s, __VA_ARGS__)
#define JSON_OF6(s, member, ...)  JSON_OF1(s, member), JSON_OF5(s, __VA_ARGS__)
#define JSON_OF7(s, member, ...)  JSON_OF1(s, member), JSON_OF6(s, __VA_ARGS__)
#define JSON_OF8(s, member, ...)  JSON_OF1(s, member), JSON_OF7(s, __VA_ARGS__)
#define JSON_OF9(s, member, ...)  JSON_OF1(s, member), JSON_OF8(s, __VA_ARGS__)
#define JSON_OF10(s, member, ...) JSON_OF1(s, member), JSON_OF9(s, __VA_ARGS__)
#define JSON_OF11(s, member, ...) JSON_OF1(s, member), JSON_OF10(s, __VA_ARGS__)
#define JSON_OF12(s, member, ...) JSON_OF1(s, member), JSON_OF11(s, __VA_ARGS__)
/* Unless its value is given, the row is left out and not even computed. */
#define JSON_IF(given, row) ((given) ? (row) : JSON_ROW(NULL, JSON_FORM_ABSENT, .count = 0))
/* A text, left out if it is NULL or "". */
#define JSON_OPTIONAL(key, text) json_row_optional(key, text)
/* An object of these rows, or null. */
#define JSON_KNOWN(key, known, ...) ((known) ? JSON_OBJECT(key, __VA_ARGS__) : JSON_NULL(key))

/* Several rows in the place of one. */
#define JSON_GROUP(...) JSON_ROW(NULL, JSON_FORM_GROUP, .value.at = JSON_ROWS(__VA_ARGS__))

/* A loop whose rounds write the items of a list, or the members of an object:
 *
 *   JSON_LIST(w, "parts", size_t i = 0; i < count; i++) { json_write_text(w, NULL, part[i]); }
 */
#define JSON_LIST(w, key, ...)                                                                 \
    JSON_SCOPE(w, (json_write_array(w, key), true), __LINE__)                                  \
    for (__VA_ARGS__)
#define JSON_MAP(w, key, ...)                                                                  \
    JSON_SCOPE(w, (json_write_object(w, key), true), __LINE__)                                 \
    for (__VA_ARGS__)
/* A block that writes the members of an object if something is known; else null is written. */
#define JSON_BLOCK(w, key, known)                                                              \
    JSON_SCOPE(w, json_write_known(w, key, known), __LINE__)
#define JSON_SCOPE(w, open, line) JSON_SCOPED(w, open, line)
#define JSON_SCOPED(w, open, line)                                                             \
    for (bool once_##line = (open); once_##line; once_##line = (json_write_close(w), false))

/* Writes these rows into the open object. */
#define JSON_WRITE(w, ...) json_write_rows(w, JSON_ROWS(__VA_ARGS__))
/* Opens an object that begins with these rows. */
#define JSON_OPEN(w, key, ...) (json_write_object(w, key), JSON_WRITE(w, __VA_ARGS__))
/* Writes an object of these rows. */
#define JSON_WRITE_OBJECT(w, key, ...) json_write_object_of(w, key, JSON_ROWS(__VA_ARGS__))
/* Formats an object of these rows as text[size]; returns its bytes, 0: it does not fit. */
#define JSON_FORMAT(text, size, ...) json_format_rows(text, size, JSON_ROWS(__VA_ARGS__))
/* clang-format on */

static inline struct json_row json_row_real(const char *key, double value)
{
    return JSON_ROW(key, JSON_FORM_REAL, .value.real = value);
}
static inline struct json_row json_row_bool(const char *key, bool value)
{
    return JSON_ROW(key, JSON_FORM_BOOL, .value.whole = value);
}
static inline struct json_row json_row_whole(const char *key, int64_t value)
{
    return JSON_ROW(key, JSON_FORM_WHOLE, .value.whole = value);
}
static inline struct json_row json_row_count(const char *key, uint64_t value)
{
    return json_row_whole(key, (int64_t)value);
}
static inline struct json_row json_row_text(const char *key, const char *value)
{
    return JSON_ROW(key, JSON_FORM_TEXT, .value.text = value);
}
static inline struct json_row json_row_optional(const char *key, const char *value)
{
    return JSON_IF(value && value[0], json_row_text(key, value));
}

void json_write_rows(struct json_writer *w, const struct json_row *rows);
void json_write_object_of(struct json_writer *w, const char *key, const struct json_row *rows);
size_t json_format_rows(char *text, size_t size, const struct json_row *rows);

/* Formats a number for CSV and tables; returns the length, terminates with NUL. */
size_t json_format_real(double value, char out[JSON_WRITE_NUMBER_MAX]);
size_t json_format_seconds(int64_t us, char out[JSON_WRITE_NUMBER_MAX]);

#endif
