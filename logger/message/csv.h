/* logger/message/csv.h - parses CSV tables with a header line, piece by piece.
 *
 * RFC 4180: commas, optional quotes ("" inside them), LF or CRLF. Blank lines, lines that begin
 * with '#', a byte order mark, and blanks around a field are skipped. The header is the first
 * other line. If that line begins with a number, the header is the '#' line before it ("#
 * t[s],lap[s]  (a remark)": names end at a blank, surplus names are a remark). Only the current
 * line is stored, so a file may have any length. Pure: no I/O, no allocation.
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

/* Called for the header and for every row. A status other than STATUS_OK ends the parsing and
 * is its result. */
typedef enum status csv_line(void *context, const struct csv *csv, struct err *err);

struct csv_fields {
    size_t count;
    uint32_t start[CSV_COLUMNS_MAX];  /* offset in text of each field */
    uint32_t column[CSV_COLUMNS_MAX]; /* 1-based byte of each field in the line as read */
};

/* About 90 kB: keep it static or on the heap. */
struct csv {
    const char *name; /* file name for errors; borrowed */
    csv_line *on_header;
    csv_line *on_row;
    void *context;
    bool has_header, begun;
    unsigned header_line;
    unsigned line;        /* first line of the current record, 1-based */
    unsigned line_breaks; /* line breaks within quotes of the current record */
    uint64_t rows;
    size_t used;         /* bytes of the current record */
    size_t scanned;      /* of them, searched for quotes */
    size_t remark_bytes; /* bytes of the last "#" line, kept until there is a header */
    unsigned remark_line;
    enum csv_quote { CSV_AT_START, CSV_PLAIN, CSV_QUOTED, CSV_AFTER_QUOTE } quote;
    char text[CSV_LINE_MAX + 1];
    struct csv_fields fields;
    char header[CSV_HEADER_MAX + 1];
    struct csv_fields names;
    bool twice[CSV_COLUMNS_MAX]; /* another column has the same name: its values are refused */
};

/* Returns the next piece of the text: *bytes[n], valid until the next call; n 0 at the end. A
 * status other than STATUS_OK ends the parsing and is its result. */
typedef enum status csv_piece(void *source, const char **bytes, size_t *n, struct err *err);

struct csv_input {
    const char *name; /* file name for errors; borrowed */
    csv_piece *next;
    void *source;
    csv_line *header; /* NULL: nothing */
    csv_line *row;
    void *context; /* of header and row */
};

/* Parses a table from its first to its last piece; a last line needs no line break. csv may be
 * uninitialised.
 *
 * Returns STATUS_E_PARSE with err (file, line, byte in the line, what is wrong and what would
 * be right), or the status of a callback. An empty file and an unclosed quote are errors; a
 * header without rows is not. */
MUST_USE enum status csv_read(struct csv *csv, const struct csv_input *input, struct err *err);

/* Finds a column by name, or returns -1. A header may give a unit in brackets: "lap1[s]" is
 * "lap1_s". */
int csv_find(const struct csv *csv, const char *name);

/* Works like csv_find(), but a missing column is an error that lists the existing ones, and so
 * is a name that two columns have. */
MUST_USE enum status csv_require(const struct csv *csv, const char *name, size_t *column,
                                 struct err *err);

/* Return name and content of a column of the current row; "" beyond the last. */
const char *csv_name(const struct csv *csv, size_t column);
const char *csv_text(const struct csv *csv, size_t column);

/* Parses a finite decimal number of the current row. STATUS_E_PARSE for anything else, such as
 * "0,05", "nan", "inf", "0x10" and empty fields. */
MUST_USE enum status csv_number(const struct csv *csv, size_t column, double *value,
                                struct err *err);

/* Parses an ISO 8601 time of the current row, in microseconds since 1970. STATUS_E_PARSE. */
MUST_USE enum status csv_stamp(const struct csv *csv, size_t column, int64_t *us,
                               struct err *err);

/* Splits the name of a quantity from a unit behind it: "lap:ms". A column with exactly this
 * name has precedence. The name goes into name[CSV_NAME_MAX]; *unit is NULL if there is none.
 * STATUS_E_PARSE if the quantity cannot have the unit, or the name is too long. */
MUST_USE enum status csv_unit_split(const struct csv *csv, const char *text,
                                    enum unit_kind measured, char *name,
                                    const struct unit **unit, struct err *err);

/* A column and its unit. */
struct csv_quantity {
    int column;    /* -1: the table does not have it */
    double factor; /* factor to the SI unit; 0: an ISO 8601 time, to Unix seconds */
};

/* Finds the column that such a text names; a missing column is an error. factor is used if the
 * text has no unit. STATUS_E_PARSE. */
MUST_USE enum status csv_quantity_find(const struct csv *csv, const char *text,
                                       enum unit_kind measured, double factor,
                                       struct csv_quantity *quantity, struct err *err);

/* Reads the quantity of the current row in its SI unit; leaves *value unchanged if there is no
 * column. */
MUST_USE enum status csv_quantity_read(const struct csv *csv, struct csv_quantity quantity,
                                       double *value, struct err *err);

/* Reports an error about a field of the current row, for callers with additional checks. */
enum status csv_error(const struct csv *csv, size_t column, struct err *err, enum fault fault,
                      const char *text);

#endif
