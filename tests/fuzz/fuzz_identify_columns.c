/* Any text as the --columns of `tandem identify`, for every model: taken whole or refused with
 * words; what was taken is found again. */
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
    const enum status st = identify_take_columns(text, &request, &err);
    assert(st == STATUS_OK || err.text[0] != '\0');
    assert(request.column_count <= IDENTIFY_COLUMNS_MAX);
    for (size_t i = 0; i < request.column_count; i++) {
        const struct identify_column *column = &request.columns[i];
        assert(memchr(column->role, '\0', sizeof column->role));
        assert(memchr(column->column, '\0', sizeof column->column));
        assert(column->role[0] != '\0' && column->column[0] != '\0');
        assert(identify_column(&request, column->role));
        assert(strstr(text, column->role) && strstr(text, column->column));
    }
    for (size_t i = 0; st == STATUS_OK && i < model_row_count; i++) {
        struct err fault = {0};
        const enum status checked = identify_check(model_rows[i], &request, &fault);
        assert(checked == STATUS_OK || fault.text[0] != '\0');
    }
    return 0;
}
