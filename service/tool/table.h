/* service/tool/table.h - reads tables of numbers, row by row, into columns that grow.
 *
 * A channel is a quantity made of columns of the file. It is found by the given name, or else
 * by the first of its own names in the header.
 */
#ifndef SERVICE_TOOL_TABLE_H
#define SERVICE_TOOL_TABLE_H

#include "service/tool/csv_file.h"

/* A quantity made of columns: "tau_nm", "35.15*u_v", "duty*vin_v", "-right_ticks", "yaw:deg".
 */
enum { CSV_PRODUCT_MAX = 4 };

struct csv_product {
    double scale; /* factor to SI */
    /* unit of a single column of times, which count from the first row to the last digit; NULL:
     * not a time */
    const struct unit *stamp;
    bool begun; /* the first row was read: its whole units are `origin` */
    int64_t origin;
    size_t count;
    size_t column[CSV_PRODUCT_MAX];
};

/* Parse names and numbers with '*' between them; a leading minus changes the sign, and ":unit"
 * may follow. A column with exactly that name has priority. Returns STATUS_E_PARSE with err for
 * a missing column, for no column or more than CSV_PRODUCT_MAX, and for a unit that does not
 * fit the quantity. */
MUST_USE enum status csv_product_find(const struct csv *csv, const char *text,
                                      enum unit_kind measured, struct csv_product *product,
                                      struct err *err);

/* Compute the value for the current row. NaN if a field is empty or marks a missing value,
 * unless strict. Returns STATUS_E_PARSE with err for a field that is no number. */
MUST_USE enum status csv_product_value(const struct csv *csv, struct csv_product *product,
                                       bool strict, double *value, struct err *err);

enum { TABLE_CHANNELS_MAX = 28 };

struct table_channel {
    const char *given; /* must be in the file; NULL: not given */
    /* otherwise the first of these; NULL-terminated. Errors name the second one if any, which
     * is usual in files */
    const char *const *names;
    bool absent;             /* not read */
    struct csv_product from; /* in the current file */
    double *values;          /* [room]; NULL if absent */
};

struct table {
    size_t channels;
    struct table_channel channel[TABLE_CHANNELS_MAX];
    size_t rows_max;
    bool strict; /* a missing value is an error; else NaN */
    /* Further work on a header before its columns are searched, and on a row whose values are
     * stored but not counted yet. NULL: nothing. */
    csv_line *on_header, *on_row;
    bool (*go_on)(void *context, uint64_t done, uint64_t total); /* as of struct csv_lines */
    void *context;
    size_t count, room; /* rows */
};

/* Add the rows of one more file. As csv_file_read(), STATUS_E_PARSE for missing columns,
 * STATUS_E_FULL beyond rows_max, STATUS_E_NOMEM, or the result of on_header and on_row. */
MUST_USE enum status table_read(struct table *table, const struct csv_source *source,
                                struct file_mark *mark, struct err *err);

/* Make room for one more row, values[count]; name and line are its place for errors.
 * STATUS_E_FULL, STATUS_E_NOMEM. */
MUST_USE enum status table_expect(struct table *table, const char *name, unsigned line,
                                  struct err *err);

/* Does a header, or the caller, provide a channel? */
bool table_offers(const struct table *table, const struct csv *csv, size_t channel);

void table_free(struct table *table); /* Free the values. */

#endif
