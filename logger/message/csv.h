/* logger/message/csv.h - reads tables with a header line from text that comes in pieces.
 *
 * RFC 4180: commas, quotes where wanted ("" inside them), LF or CRLF. Blank lines and lines
 * that begin with '#' are passed over, and so is a byte order mark; blanks around a field do
 * not count. The header is the first other line; when that line begins with a number the header
 * is the '#' line before it ("# t[s],lap[s]  (a remark)": names end at a blank, surplus names
 * are a remark too). Nothing but the current line is kept, so a file may be of any length.
 * Pure: no I/O, no allocation.
 */
#ifndef LOGGER_MESSAGE_CSV_H
#define LOGGER_MESSAGE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "base/numbers/unit.h"

/* Longer lines, longer headers and more columns are errors. */
enum {
    CSV_LINE_MAX = 65536,
    CSV_HEADER_MAX = 16384,
    CSV_COLUMNS_MAX = 512,
    CSV_NAME_MAX = 128
};

struct csv;

/* Called for the header and then for every row; a status other than STATUS_OK ends the reading
 * and becomes its outcome. */
typedef enum status csv_line(void *context, const struct csv *csv, struct err *err);

struct csv_fields {
    size_t count;
    uint32_t start[CSV_COLUMNS_MAX];  /* in the text, where the field begins */
    uint32_t column[CSV_COLUMNS_MAX]; /* 1-based byte in the line as it was read */
};

/* About 90 kB: keep it static or on the heap. */
struct csv {
    const char *name; /* of the file, for errors; borrowed */
    csv_line *on_header;
    csv_line *on_row;
    void *context;
    enum status outcome; /* sticky */
    bool has_header, begun;
    unsigned line;        /* where the current record begins, 1-based */
    unsigned line_breaks; /* in the current record, inside quotes */
    uint64_t rows;
    size_t used;         /* bytes of the current record */
    size_t scanned;      /* of them, looked through for quotes */
    size_t remark_bytes; /* of the last '#' line, kept in header until there is a header */
    unsigned remark_line;
    enum csv_quote { CSV_AT_START, CSV_PLAIN, CSV_QUOTED, CSV_AFTER_QUOTE } quote;
    char text[CSV_LINE_MAX + 1];
    struct csv_fields fields;
    char header[CSV_HEADER_MAX + 1];
    struct csv_fields names;
};

/* Start; on_header may be NULL. */
void csv_start(struct csv *csv, const char *name, csv_line *on_header, csv_line *on_row,
               void *context);

/* Take the next bytes of the file, of any number.
 *
 * Returns STATUS_E_PARSE with err filled (file, line, byte in the line, what is wrong and what
 * would be right), or what a callback returned; after that every call returns the same. */
MUST_USE enum status csv_feed(struct csv *csv, const char *bytes, size_t n, struct err *err);

/* The end of the file: takes the last line if it had no line break. An empty file and a quote
 * that is not closed are errors; a header without rows is not. */
MUST_USE enum status csv_finish(struct csv *csv, struct err *err);

/* Column by name, or -1. A header may also give a unit in brackets: "lap1[s]" is "lap1_s". */
int csv_find(const struct csv *csv, const char *name);

/* As csv_find, but a missing column is an error that lists those there are. */
MUST_USE enum status csv_require(const struct csv *csv, const char *name, size_t *column,
                                 struct err *err);

/* Name and content of a column of the current row; "" beyond the last. */
const char *csv_name(const struct csv *csv, size_t column);
const char *csv_text(const struct csv *csv, size_t column);

/* A finite decimal number of the current row. "0,05", "nan", "inf", "0x10", empty fields and
 * anything else is STATUS_E_PARSE. */
MUST_USE enum status csv_number(const struct csv *csv, size_t column, double *value,
                                struct err *err);

/* An ISO 8601 time of the current row, in microseconds since 1970. STATUS_E_PARSE. */
MUST_USE enum status csv_stamp(const struct csv *csv, size_t column, int64_t *us,
                               struct err *err);

/* Text that names a quantity, perhaps with a unit behind it: "lap:ms", unless a column is
 * called just so. What stands before the unit goes into name[CSV_NAME_MAX], *unit is NULL where
 * there is none. STATUS_E_PARSE for a unit that what is measured cannot have, or a name too
 * long. */
MUST_USE enum status csv_unit_split(const struct csv *csv, const char *text,
                                    enum unit_kind measured, char *name,
                                    const struct unit **unit, struct err *err);

/* A quantity that stands in a column of its own unit. */
struct csv_quantity {
    int column;    /* -1: the table does not have it */
    double factor; /* to its SI unit; 0: an ISO 8601 time, to Unix seconds */
};

/* The column that such a text names, which has to be there; factor is that of a text without a
 * unit. STATUS_E_PARSE. */
MUST_USE enum status csv_quantity_find(const struct csv *csv, const char *text,
                                       enum unit_kind measured, double factor,
                                       struct csv_quantity *quantity, struct err *err);

/* Of the current row in its SI unit; *value stays as it is where there is nothing. */
MUST_USE enum status csv_quantity_read(const struct csv *csv, struct csv_quantity quantity,
                                       double *value, struct err *err);

/* An error about a field of the current row, for callers with a closer look at what it says. */
enum status csv_error(const struct csv *csv, size_t column, struct err *err, enum fault fault,
                      const char *text);

#endif
