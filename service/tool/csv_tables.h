/* service/tool/csv_tables.h - results as tables: in a folder, and for people. */
#ifndef SERVICE_TOOL_CSV_TABLES_H
#define SERVICE_TOOL_CSV_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/errors/err.h"

/* A file of the folder, and who writes it. */
struct csv_table {
    const char *name;
    void (*write)(const void *what, FILE *out);
};

/* Write tables[count] of what into a folder, which is made if need be. STATUS_E_IO. */
MUST_USE enum status csv_tables_write(const char *folder, const struct csv_table *tables,
                                      size_t count, const void *what, struct err *err);

/* A number and the comma behind it, or the end of the line; nothing stands for one that is not
 * known. */
void csv_tables_number(FILE *out, double value, bool last);

/* A cell of a page, so wide, with a space before it at least: style 'f' rounds to so many
 * decimals, '+' the same with a sign, 'g' to so many digits; "-" for what is not known. */
void csv_tables_cell(FILE *out, int width, int digits, char style, double value);

#endif
