/* service/tool/column_map.h - maps roles to columns of a table: "role=column,role=column".
 *
 * A column may be a product, with a minus before it and ":unit" behind it. service/tool/table.h
 * parses that when it searches the header.
 */
#ifndef SERVICE_TOOL_COLUMN_MAP_H
#define SERVICE_TOOL_COLUMN_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"

enum { COLUMN_MAP_MAX = 32 };

struct column_map { /* all zero: empty */
    size_t count;
    struct column_row {
        char role[64];
        char column[128];
        unsigned line; /* line in its file; 0: no file */
    } rows[COLUMN_MAP_MAX];
    char path[ERR_WHERE_MAX]; /* that file, or "columns" */
};

/* Parse rows separated by commas or line breaks. Blanks around names are ignored, and so are
 * lines that begin with '#'. "@path" stands for a file of such rows, unless files is false.
 * Returns STATUS_E_ARG with err, STATUS_E_IO for a file that cannot be read; *map is then
 * unspecified. */
MUST_USE enum status column_map_read(const char *text, bool files, struct column_map *map,
                                     struct err *err);

/* The column of a role; NULL: none. */
const char *column_map_find(const struct column_map *map, const char *role);

/* Check that every role is in roles (NULL-terminated); `of` names the model. STATUS_E_ARG with
 * err. */
MUST_USE enum status column_map_check(const struct column_map *map, const char *const *roles,
                                      const char *whose, struct err *err);

#endif
