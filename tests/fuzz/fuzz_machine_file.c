/* Any bytes as a machine in text: no crash, bounded time; diagnostics have a code and a text,
 * and are in order; an accepted machine has programs, and its written form reads back the
 * same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/machine/machine_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print_machine(const struct machine *machine, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    assert(out);
    machine_yaml_print(machine, out);
    assert(fclose(out) == 0);
    return text;
}

static void check_diagnostics(const struct machine_diagnostics *told)
{
    char line[MACHINE_LINE_MAX];
    for (size_t i = 0; i < told->count; i++) {
        const struct machine_diagnostic *d = &told->items[i];
        assert(strchr("EWN", d->code[0]) && d->code[1] == '-' && d->text[0] != '\0');
        assert(machine_diagnostic_print(d, "fuzz", line, sizeof line) < sizeof line);
        assert(!strchr(line, '\n'));
    }
}

/* Short ways to write an expression may be beyond the limits when they are written out. */
static void check_again(const struct machine *machine)
{
    struct machine_file *again = NULL;
    size_t bytes = 0;
    size_t more = 0;
    char *text = print_machine(machine, &bytes);
    assert(machine_file_parse(text, bytes, "again", false, &again) == STATUS_OK);
    if (again->count == 1 && machine_file_count(again, MACHINE_ERROR) == 0) {
        char *second = print_machine(again->machines[0], &more);
        assert(more == bytes && memcmp(text, second, bytes) == 0);
        free(second);
    }
    machine_file_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine_file *file = NULL;
    char *text = malloc(size + 1); /* it is read with an end */
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    assert(machine_file_parse(text, size, "fuzz", size % 2 == 1, &file) == STATUS_OK);
    check_diagnostics(&file->problems);
    for (size_t i = 0; i < file->count; i++) {
        const struct machine *m = file->machines[i];
        check_diagnostics(&m->draft.diagnostics);
        if (m->draft.diagnostics.severity_count[MACHINE_ERROR] == 0) {
            assert(m->table.state_count > 0 && m->draft.initial);
            for (size_t k = 0; k < m->table.arc_count; k++) {
                assert((m->arcs[k].when != 0) == (m->arcs[k].guard != NULL));
            }
            check_again(m);
        }
    }
    machine_file_free(file);
    free(text);
    return 0;
}
