/* Any bytes as a lab file: no crash, faults with a place, and an accepted file prints to a file
 * that reads back to the same print-out. Also run over the corpus by test_lab_file. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/lab_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The print-out as text, to be freed. */
static char *fuzz_print(const struct lab_file *lab, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    assert(out);
    lab_file_print(lab, out);
    const int closed = fclose(out);
    assert(closed == 0);
    return text;
}

static void fuzz_round_trip(const struct lab_file *lab)
{
    size_t bytes = 0;
    size_t bytes_again = 0;
    struct lab_file again = {0};
    struct err_list errors = {0};
    char *text = fuzz_print(lab, &bytes);
    const enum status status = lab_file_parse(text, bytes, "print-out", &again, &errors);
    assert(status == STATUS_OK && errors.count == 0);
    char *text_again = fuzz_print(&again, &bytes_again);
    assert(bytes == bytes_again);
    assert(memcmp(text, text_again, bytes) == 0);
    free(text);
    free(text_again);
    lab_file_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    const enum status status = lab_file_parse((const char *)data, size, "fuzz", &lab, &errors);
    if (status == STATUS_OK) {
        assert(errors.count == 0);
        assert(lab.pair_count > 0);
        fuzz_round_trip(&lab);
    } else {
        assert(errors.count > 0);
        for (size_t i = 0; i < errors.count; i++) {
            assert(errors.items[i].text[0] != '\0');
        }
    }
    lab_file_free(&lab);
    return 0;
}
