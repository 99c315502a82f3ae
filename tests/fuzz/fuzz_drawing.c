/* Any bytes as a drawing: no crash; a refusal has an error; an accepted drawing is within every
 * bound, builds or gives the reason, and can be shown and written; the written form reads back
 * the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/drawing/drawing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WRITTEN_MAX = 8 << 20, PAGES = 3 };

static struct machine *machine;
static char *written;

static void check_bounds(void)
{
    const struct machine_draft *d = &machine->draft;
    assert(d->name[0] != '\0' && strlen(d->name) <= MACHINE_NAME_MAX);
    assert(d->state_count <= EFSM_STATES_MAX && d->arc_count <= MACHINE_ARCS_MAX);
    for (size_t i = 0; i < d->arc_count; i++) {
        assert(machine_draft_find_state(d, d->arcs[i].from));
        assert(!d->arcs[i].to || machine_draft_find_state(d, d->arcs[i].to));
        assert(d->arcs[i].push_count <= EFSM_PUSH_MAX);
    }
    assert(!d->initial || machine_draft_find_state(d, d->initial));
    assert(d->initial || d->diagnostics.severity_count[MACHINE_ERROR] > 0);
    for (size_t i = 0; i < d->diagnostics.count; i++) {
        assert(d->diagnostics.items[i].text[0] != '\0');
    }
}

/* A machine that could be built reads back the same after it was written. */
static void check_written(void)
{
    const struct machine *const all[] = {machine};
    const size_t states = machine->draft.state_count;
    const size_t arcs = machine->draft.arc_count;
    struct drawing *again = NULL;
    FILE *out = fmemopen(written, WRITTEN_MAX, "w");
    assert(out);
    drawing_write_file(all, 1, out);
    (void)fclose(out);
    assert(drawing_open(written, strlen(written), &again, NULL) == STATUS_OK);
    drawing_read_page(again, 0, false, &machine->draft);
    assert(machine->draft.state_count == states && machine->draft.arc_count == arcs);
    drawing_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drawing *drawing = NULL;
    struct err err = {0};
    if (!machine) {
        machine = calloc(1, sizeof *machine);
        written = malloc(WRITTEN_MAX);
        assert(machine && written);
    }
    if (drawing_open((const char *)data, size, &drawing, &err) != STATUS_OK) {
        assert(!drawing && err.text[0] != '\0');
        return 0;
    }
    const size_t pages = drawing_page_count(drawing);
    assert(pages >= 1);
    for (size_t page = 0; page < pages && page < PAGES; page++) {
        FILE *out = fmemopen(written, WRITTEN_MAX, "w");
        assert(out);
        drawing_read_page(drawing, page, size % 2 == 1, &machine->draft);
        check_bounds();
        drawing_write_svg(drawing, page, "A", out);
        (void)fclose(out);
        if (machine_build(machine) == STATUS_OK) {
            check_written();
        }
    }
    drawing_free(drawing);
    return 0;
}
