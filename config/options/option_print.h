/* config/options/option_print.h - a table of keys as a Markdown table, and as JSON Schema. */
#ifndef CONFIG_OPTIONS_OPTION_PRINT_H
#define CONFIG_OPTIONS_OPTION_PRINT_H

#include <stdio.h>

#include <jansson.h>

#include "config/options/option.h"

extern const char option_table_head[];
/* A line below it; defaults: the values of the whole table. */
void option_print_row(const struct option_row *row, const void *defaults, const char *name,
                      FILE *out);

/* A map without properties; an empty value is an empty map. New reference; NULL without memory.
 */
json_t *option_map_schema(void);
/* The rows of a table, but maps and leave_out ("": none), as properties of a map with its
 * sections. Not 0: no memory. */
int option_add_schema(json_t *schema, const struct option_table *table, const char *leave_out);

#endif
