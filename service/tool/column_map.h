/* service/tool/column_map.h - which columns of a table are what: "role=column,role=column".
 *
 * What stands for a column is read by who looks it up in a header (service/tool/table.h):
 * products, a minus before them, ":unit" behind them.
 */
#ifndef SERVICE_TOOL_COLUMN_MAP_H
#define SERVICE_TOOL_COLUMN_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"

enum { COLUMN_MAP_MAX = 32 };

struct column_map { /* all zero: nothing is said */
    size_t count;
    struct column_row {
        char role[64];
        char column[128];
        unsigned line; /* of the file it was read from; 0: of no file */
    } rows[COLUMN_MAP_MAX];
    char path[ERR_WHERE_MAX]; /* of that file, or "columns" */
};

/* Rows with a comma or a line break between them; blanks around names do not count, nor do
 * lines that begin with '#'. "@path" stands for a file of such rows, unless files is false.
 * Returns STATUS_E_ARG with err, STATUS_E_IO for a file that cannot be read; *map is then
 * unspecified. */
MUST_USE enum status column_map_read(const char *text, bool files, struct column_map *map,
                                     struct err *err);

/* What stands for a role; NULL: nothing does. */
const char *column_map_find(const struct column_map *map, const char *role);

/* Is every role one of these, of whom? Ends with NULL. STATUS_E_ARG with err. */
MUST_USE enum status column_map_check(const struct column_map *map, const char *const *roles,
                                      const char *whose, struct err *err);

#endif
