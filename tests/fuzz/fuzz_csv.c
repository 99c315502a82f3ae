/* Any bytes as a CSV file: the rows do not depend on how the bytes are cut into pieces, fields
 * lie inside the row, faults have a place. The first byte chooses the length of the pieces. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/csv.h"
#include "tests/support/text_pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_table {
    uint64_t hash; /* of all that was read */
    uint64_t rows;
};

static enum status fuzz_row(void *context, const struct csv *csv, struct err *err)
{
    struct fuzz_table *table = context;
    (void)err;
    table->rows++;
    for (size_t i = 0; i < csv->names.count || i < csv->fields.count; i++) {
        const char *text = csv_text(csv, i);
        const char *name = csv_name(csv, i);
        double number = 0.0;
        struct err fault = {0};
        table->hash = hash_bytes(table->hash, text, strlen(text) + 1);
        table->hash = hash_bytes(table->hash, name, strlen(name) + 1);
        if (csv_number(csv, i, &number, &fault) == STATUS_OK) {
            assert(isfinite(number));
        } else {
            assert(fault.text[0] != '\0');
        }
        if (i < csv->names.count && name[0] != '\0') {
            const int found = csv_find(csv, name);
            assert(found < (int)csv->names.count);
        }
    }
    return STATUS_OK;
}

static enum status fuzz_read(const char *text, size_t size, size_t piece,
                             struct fuzz_table *table, struct err *err)
{
    static struct csv csv;
    *table = (struct fuzz_table){.hash = HASH_START};
    *err = (struct err){0};
    struct text_pieces pieces = {.text = text, .n = size, .piece = piece};
    const struct csv_input input = {"fuzz", next_text_piece, &pieces, NULL, fuzz_row, table};
    return csv_read(&csv, &input, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_table whole;
    struct fuzz_table pieces;
    struct err err;
    struct err err_pieces;
    if (size < 1) {
        return 0;
    }
    const char *text = (const char *)data + 1;
    const enum status status = fuzz_read(text, size - 1, size, &whole, &err);
    const enum status again = fuzz_read(text, size - 1, 1U + data[0], &pieces, &err_pieces);
    assert(status == again);
    assert(whole.hash == pieces.hash && whole.rows == pieces.rows);
    assert(err.line == err_pieces.line && strcmp(err.text, err_pieces.text) == 0);
    assert(status == STATUS_OK || err.text[0] != '\0');
    return 0;
}
