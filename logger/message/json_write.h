/* logger/message/json_write.h - writes JSON text into a buffer: what every result leaves the
 * program by.
 *
 * Members come out in the order of the calls, without white space, so that equal values give
 * equal bytes. Numbers are the shortest text that reads back to the same double; non-finite
 * ones become null; lab times are exact decimals. Why not jansson: docs/adr/0003-json.md. Pure:
 * no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_JSON_WRITE_H
#define LOGGER_MESSAGE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_WRITE_DEPTH_MAX = 16, JSON_WRITE_NUMBER_MAX = 32 };

/* Takes the text when the buffer is full. */
typedef void json_write_flush(void *context, const char *text, size_t bytes);

struct json_writer {
    char *text;      /* [capacity], not terminated */
    size_t capacity; /* >= JSON_WRITE_NUMBER_MAX */
    size_t used;
    json_write_flush *flush; /* NULL: what does not fit is dropped and overflow is set */
    void *context;
    bool overflow;
    unsigned depth;
    bool comma[JSON_WRITE_DEPTH_MAX + 1]; /* a member stands before the next one */
    char close[JSON_WRITE_DEPTH_MAX + 1];
};

/* Write to text[capacity]; with a flush function the length is unlimited. */
void json_write_start(struct json_writer *w, char *text, size_t capacity,
                      json_write_flush *flush, void *context);

/* Hand out what is left to the flush function. Returns whether the text is whole: nothing was
 * dropped and every bracket is closed. */
bool json_write_end(struct json_writer *w);

/* key: NULL inside an array and at the top. */
void json_write_object(struct json_writer *w, const char *key); /* opens */
void json_write_array(struct json_writer *w, const char *key);  /* opens */
void json_write_close(struct json_writer *w);                   /* the innermost */
void json_write_text(struct json_writer *w, const char *key,
                     const char *value); /* NULL: null */
void json_write_real(struct json_writer *w, const char *key, double value);
void json_write_int(struct json_writer *w, const char *key, int64_t value);
void json_write_bool(struct json_writer *w, const char *key, bool value);
void json_write_null(struct json_writer *w, const char *key);
/* Microseconds as seconds ("1763617674.123456", "0.25"); LAB_TIME_NONE is null. */
void json_write_seconds(struct json_writer *w, const char *key, int64_t us);
/* [a, b]: a point, or the ends of an interval. */
void json_write_two(struct json_writer *w, const char *key, double a, double b);
/* A list of numbers; nothing at all when there is none. */
void json_write_axes(struct json_writer *w, const char *key, const double *axes, size_t count);
/* A list of texts[count][room]. */
void json_write_texts(struct json_writer *w, const char *key, const char *texts, size_t room,
                      size_t count);
/* Text that is JSON already. */
void json_write_raw(struct json_writer *w, const char *key, const char *json, size_t bytes);

/* The number formats alone, for CSV and tables; return the length, terminate with NUL. */
size_t json_format_real(double value, char out[JSON_WRITE_NUMBER_MAX]);
size_t json_format_seconds(int64_t us, char out[JSON_WRITE_NUMBER_MAX]);

#endif
