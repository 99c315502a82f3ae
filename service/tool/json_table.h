/* service/tool/json_table.h - prints an array of objects of a JSON document as a table: as CSV,
 * or in columns for people.
 */
#ifndef SERVICE_TOOL_JSON_TABLE_H
#define SERVICE_TOOL_JSON_TABLE_H

#include <stdio.h>

#include <jansson.h>

/* A key "object.member" is a member of an object in the row. */
struct json_column {
    const char *key, *heading;
    int width;        /* negative: to the left */
    int digits;       /* decimals of a number */
    double scale;     /* factor of a number */
    const char *also; /* key of a text that follows, if the row has it; NULL: none */
};

/* Print the members with these keys, separated by spaces; the heading is the keys, with '_' for
 * '.'. What a row lacks, and null, is empty, but 0 for a key with a '#' behind it: a count. */
void json_table_csv(const json_t *rows, const char *keys, FILE *out);

/* Print an empty line, the headings and the rows, or nothing if there is no row. null is "-";
 * what a row lacks is left out. */
void json_table_page(const json_t *rows, const struct json_column *columns, size_t count,
                     FILE *out);

#endif
