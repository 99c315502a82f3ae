/* service/tool/table.h - tables of numbers, read row by row into columns that grow.
 *
 * A channel is a quantity made of columns of the file: by the name that somebody gave, or by
 * the first of its own names that the header has.
 */
#ifndef SERVICE_TOOL_TABLE_H
#define SERVICE_TOOL_TABLE_H

#include "service/tool/csv_file.h"

/* A quantity made of columns: "tau_nm", "35.15*u_v", "duty*vin_v", "-right_ticks", "yaw:deg".
 */
enum { CSV_PRODUCT_MAX = 4 };

struct csv_product {
    double scale;             /* to SI */
    const struct unit *stamp; /* of one column of times with a unit, which count from the first
                               * of them to the last digit; NULL: it is none */
    bool begun;               /* there was a first one: whole units since origin */
    int64_t origin;
    size_t count;
    size_t column[CSV_PRODUCT_MAX];
};

/* Names and numbers with '*' between them, a minus before the whole turns its sign, a unit
 * stands behind it after a ':'; a column of just that name comes first. Returns STATUS_E_PARSE
 * with err for a column that is not there, more than CSV_PRODUCT_MAX columns or none, and for a
 * unit that what is measured cannot have. */
MUST_USE enum status csv_product_find(const struct csv *csv, const char *text,
                                      enum unit_kind measured, struct csv_product *product,
                                      struct err *err);

/* Of the current row; NaN where a field is empty or says that there is no value, unless strict.
 * Returns STATUS_E_PARSE with err for a field that is no number. */
MUST_USE enum status csv_product_value(const struct csv *csv, struct csv_product *product,
                                       bool strict, double *value, struct err *err);

enum { TABLE_CHANNELS_MAX = 28 };

struct table_channel {
    const char *given;        /* has to be in the file; NULL: nobody said */
    const char *const *names; /* else the first of these; ends with NULL. An error calls the
                               * second one, if there is one, by which it is found in files */
    bool absent;              /* not read */
    struct csv_product from;  /* in the file at hand */
    double *values;           /* [room]; NULL where absent */
};

struct table {
    size_t channels;
    struct table_channel channel[TABLE_CHANNELS_MAX];
    size_t rows_max;
    bool strict; /* a field without a value is an error; else NaN */
    /* What else there is to do with a header, before columns are looked for in it, and with a
     * row, whose values are in place and not counted yet. NULL: nothing. */
    csv_line *on_header, *on_row;
    bool (*go_on)(void *context, uint64_t done, uint64_t total); /* as of struct csv_lines */
    void *context;
    size_t count, room; /* rows */
};

/* Add the rows of one more file. As csv_file_read(), STATUS_E_PARSE for columns that are not
 * there, STATUS_E_FULL beyond rows_max, STATUS_E_NOMEM, or what on_header and on_row return. */
MUST_USE enum status table_read(struct table *table, const struct csv_source *source,
                                struct file_mark *mark, struct err *err);

/* Room for one more row, values[count], or why not: name and line are where it stands.
 * STATUS_E_FULL, STATUS_E_NOMEM. */
MUST_USE enum status table_expect(struct table *table, const char *name, unsigned line,
                                  struct err *err);

/* Whether a header, or who asks, has something for a channel. */
bool table_offers(const struct table *table, const struct csv *csv, size_t channel);

void table_free(struct table *table); /* the values */

#endif
