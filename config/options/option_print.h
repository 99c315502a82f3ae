/* config/options/option_print.h - prints an option table as Markdown and as JSON Schema. */
#ifndef CONFIG_OPTIONS_OPTION_PRINT_H
#define CONFIG_OPTIONS_OPTION_PRINT_H

#include <stdio.h>

#include <jansson.h>

#include "config/options/option.h"

/* Print the keys of a section, "broker.", or of none, "", as a table; NULL: all keys. defaults:
 * the values of the whole table. */
void option_print_table(const struct option_table *table, const char *section,
                        const void *defaults, FILE *out);

/* A map without properties; an empty value is an empty map. New reference; NULL without memory.
 */
json_t *option_map_schema(void);

/* The schema of a map with a table; required: keys separated by blanks, NULL: none. New
 * reference; NULL without memory. */
json_t *option_table_schema(const struct option_table *table, const char *required);

/* Add the rows of a table as properties of a map with sections, but for leave_out ("": none).
 * Maps that the table's owner reads get their description only. Returns nonzero without memory.
 */
int option_add_schema(json_t *schema, const struct option_table *table, const char *leave_out);

#endif
