#include "config/drawing/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_unpack.h"

bool drawing_is_one(const char *data, size_t bytes)
{
    size_t at = utf8_mark(data, bytes);
    while (at < bytes && strchr(" \t\r\n", data[at]) && data[at] != '\0') {
        at++;
    }
    return drawing_is_png(data, bytes) || (at < bytes && data[at] == '<');
}

enum status drawing_open(const char *data, size_t bytes, struct drawing **out, struct err *err)
{
    struct drawing *d = calloc(1, sizeof *d);
    struct drawing_sheet *sheets = NULL;
    if (!d) {
        return err_no_memory(err, "", "not enough memory to read it");
    }
    enum status st = drawing_sheets(&d->memory, data, bytes, &sheets, &d->count, err);
    if (st == STATUS_OK) {
        d->pages = drawing_alloc(&d->memory, d->count * sizeof *d->pages);
        d->scratch = drawing_alloc(&d->memory, sizeof *d->scratch);
        st = d->memory.full ? err_no_memory(err, "", "it needs more memory than there is")
                            : STATUS_OK;
    }
    if (st != STATUS_OK) {
        drawing_free(d);
        return st;
    }
    for (size_t i = 0; i < d->count; i++) {
        d->pages[i] = (struct drawing_page){.m = &d->memory,
                                            .sheet = &sheets[i],
                                            .scratch = d->scratch,
                                            .work = DRAWING_WORK_MAX,
                                            .walks = DRAWING_WALKS_MAX};
    }
    *out = d;
    return STATUS_OK;
}

void drawing_free(struct drawing *drawing)
{
    if (drawing) {
        drawing_memory_finish(&drawing->memory);
    }
    free(drawing);
}

size_t drawing_page_count(const struct drawing *drawing)
{
    return drawing->count;
}

/* Finds the cell that cannot be read, so that the fault has a place. */
static const struct drawing_cell *faulty_cell(const struct drawing_sheet *sheet)
{
    for (size_t i = 0; sheet->fault_cell_id && i < sheet->count; i++) {
        if (sheet->cells[i].id == sheet->fault_cell_id) {
            return &sheet->cells[i];
        }
    }
    return NULL;
}

static void read_all(struct drawing_page *page)
{
    drawing_place_cells(page->m, page->sheet);
    const bool found = drawing_find_shapes(page) && drawing_find_arrows(page) &&
                       drawing_match_labels(page) && drawing_find_states(page) &&
                       drawing_find_stackers(page) && !page->m->full;
    if (found) {
        drawing_find_start(page);
        drawing_find_paths(page);
    }
}

void drawing_read_page(struct drawing *drawing, size_t page, bool words,
                       struct machine_draft *draft)
{
    struct drawing_page *p = &drawing->pages[page];
    p->draft = draft;
    p->words = words;
    machine_draft_start(draft);
    const char *place = drawing_words(p, NULL);
    draft->place.words = machine_draft_store_text(draft, place, strlen(place));
    draft->initial_place = draft->place;
    drawing_name_page(p);
    if (p->sheet->fault.code != STATUS_OK) {
        drawing_blame(p, "E-FILE", faulty_cell(p->sheet), "%s", p->sheet->fault.text);
        return;
    }
    read_all(p);
    if (p->m->full) {
        drawing_blame(p, "E-FILE", NULL, "it needs more memory than there is");
    }
    p->name = drawing_copy(p->m, draft->name, strlen(draft->name));
    p->arc_count = draft->arc_count;
}
