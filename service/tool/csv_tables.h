/* service/tool/csv_tables.h - writes results as CSV tables in a folder, and as columns for
 * people. */
#ifndef SERVICE_TOOL_CSV_TABLES_H
#define SERVICE_TOOL_CSV_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "base/errors/err.h"

/* A file of the folder with its writer. */
struct csv_table {
    const char *name;
    void (*write)(const void *what, FILE *out);
};

/* Write tables[count] into a folder, which is created if needed; `what` is passed to the
 * writers. STATUS_E_IO. */
MUST_USE enum status csv_tables_write(const char *folder, const struct csv_table *tables,
                                      size_t count, const void *what, struct err *err);

/* Write a number and a comma, or the end of the line; an unknown number is empty. */
void csv_tables_number(FILE *out, double value, bool last);

/* Write the members of an array of objects with these keys, separated by spaces;
 * "object.member" is a member of an object in the row. The heading is the keys, with '_' for
 * '.'. What a row lacks, and null, is empty, but 0 for a key with a '#' behind it: a count. */
void csv_tables_rows(const json_t *rows, const char *keys, FILE *out);

/* Do the same for a document, which is freed (NULL: not enough memory, an empty table). Each
 * item of its list (NULL: the document itself) has one row for each object in its member (NULL:
 * in itself): the members of both, and the object's name under this key. */
void csv_tables_unfold(json_t *document, const char *list, const char *member, const char *name,
                       const char *keys, FILE *out);

/* Write a cell of this width with at least one space before it. Style 'f': digits decimals;
 * '+': the same with a sign; 'g': digits significant digits. "-" stands for an unknown
 * value. */
void csv_tables_cell(FILE *out, int width, int digits, char style, double value);

#endif
