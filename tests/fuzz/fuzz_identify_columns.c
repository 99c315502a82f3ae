/* Any text as the --columns of `tandem identify`, for every model: accepted as a whole or
 * refused with an error; accepted columns are found again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "service/identify/identify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct identify_request request;
    char text[TEXT_MAX + 1];
    struct err err = {0};
    const size_t n = size < TEXT_MAX ? size : TEXT_MAX;
    memcpy(text, data, n);
    text[n] = '\0';
    request = identify_request_defaults();
    request.side = "real";
    const struct column_map *map = &request.columns;
    const enum status st = column_map_read(text, false, &request.columns, &err);
    assert(st == STATUS_OK || err.text[0] != '\0');
    assert(map->count <= COLUMN_MAP_MAX);
    for (size_t i = 0; i < map->count; i++) {
        const struct column_row *row = &map->rows[i];
        assert(memchr(row->role, '\0', sizeof row->role));
        assert(memchr(row->column, '\0', sizeof row->column));
        assert(row->role[0] != '\0' && row->column[0] != '\0');
        assert(column_map_find(map, row->role) == row->column);
        assert(strstr(text, row->role) && strstr(text, row->column));
    }
    for (size_t i = 0; st == STATUS_OK && i < model_row_count; i++) {
        struct err fault = {0};
        const enum status checked = identify_check(model_rows[i], &request, &fault);
        assert(checked == STATUS_OK || fault.text[0] != '\0');
    }
    return 0;
}
