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

/* ---- structs, by tables of their fields ----
 *
 *   #define CARD(field) JSON_MEMBER(struct card, field)
 *   static const struct json_member card_members[] = {CARD(rows), CARD(rate_hz)};
 *   json_write_members(w, card_members, COUNT(card_members), card); */

enum json_form {
    JSON_FORM_REAL,
    JSON_FORM_BOOL,
    JSON_FORM_U16,
    JSON_FORM_U32,
    JSON_FORM_64,
    JSON_FORM_CHARS,  /* char field[] */
    JSON_FORM_TEXT,   /* const char *; NULL: null */
    JSON_FORM_SECONDS /* int64_t, microseconds */
};

struct json_member {
    const char *key;
    enum json_form form;
    size_t offset;
};

/* clang-format off */
#define JSON_FORM_OF(x)                                                                        \
    _Generic((x), double: JSON_FORM_REAL, bool: JSON_FORM_BOOL, uint16_t: JSON_FORM_U16,       \
             uint32_t: JSON_FORM_U32, uint64_t: JSON_FORM_64, int64_t: JSON_FORM_64,           \
             char *: JSON_FORM_CHARS, const char *: JSON_FORM_TEXT)
/* clang-format on */

/* The field in the format of its type, under its own name or another. */
#define JSON_MEMBER(type, field) JSON_MEMBER_AS(#field, type, field)
#define JSON_MEMBER_AS(key, type, field)                                                       \
    {                                                                                          \
        key, JSON_FORM_OF(((type *)0)->field), offsetof(type, field)                           \
    }
/* The field holds microseconds and is written by json_write_seconds(). */
#define JSON_MEMBER_SECONDS(key, type, field)                                                  \
    {                                                                                          \
        key, JSON_FORM_SECONDS, offsetof(type, field)                                          \
    }

/* Writes members of the open object: these fields of the struct at from. */
void json_write_members(struct json_writer *w, const struct json_member *members, size_t count,
                        const void *from);

/* Formats a number for CSV and tables; returns the length, terminates with NUL. */
size_t json_format_real(double value, char out[JSON_WRITE_NUMBER_MAX]);
size_t json_format_seconds(int64_t us, char out[JSON_WRITE_NUMBER_MAX]);

#endif
