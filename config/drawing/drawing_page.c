/* config/drawing/drawing_page.c - helpers shared by all steps of reading a page. */
#include <stdio.h>
#include <string.h>

#include "base/text/names.h"
#include "base/text/text.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

enum { SHOWN_MAX = 40 };

static struct drawing_point locate_cell(const struct drawing_cell *cell)
{
    if (cell->vertex) {
        return (struct drawing_point){cell->left, cell->top};
    }
    if (cell->path_count > 0) {
        return cell->path[cell->path_count / 2];
    }
    return cell->has_tail   ? cell->tail
           : cell->has_head ? cell->head
                            : (struct drawing_point){0.0, 0.0};
}

const char *drawing_words(const struct drawing_page *page, const struct drawing_cell *cell)
{
    const char *name = drawing_line(page->m, page->sheet->name, 0);
    if (!cell) {
        return drawing_format(page->m, "page '%s'", name);
    }
    const struct drawing_point p = locate_cell(cell);
    const char *text = drawing_line(page->m, cell->text, SHOWN_MAX);
    const char *what = cell->edge ? "arrow" : "shape";
    return text[0] == '\0'
               ? drawing_format(page->m, "page '%s', %s without text at (%.0f, %.0f) [%s]",
                                name, what, p.x, p.y, cell->id)
               : drawing_format(page->m, "page '%s', %s '%s' at (%.0f, %.0f) [%s]", name, what,
                                text, p.x, p.y, cell->id);
}

struct machine_place drawing_place(struct drawing_page *page, struct drawing_cell *cell)
{
    if (!cell->place) {
        const char *words = drawing_words(page, cell);
        cell->place = machine_draft_store_text(page->draft, words, strlen(words));
    }
    return (struct machine_place){.words = cell->place};
}

bool drawing_blame(const struct drawing_page *page, const char *code,
                   const struct drawing_cell *cell, const char *format, ...)
{
    char text[MACHINE_DIAGNOSTIC_MAX];
    const struct machine_place place = {.words = drawing_words(page, cell)};
    TEXT_FORMAT(text, sizeof text, format);
    machine_diagnostics_add(&page->draft->diagnostics, code, place, "%s", text);
    return false;
}

bool drawing_spend(struct drawing_page *page, size_t count)
{
    if (!page->stopped && count > page->work) {
        page->stopped = true;
        drawing_blame(page, "E-TOO-MANY", NULL, "too many shapes, arrows and texts to be read");
    }
    page->work -= page->stopped ? 0 : count;
    return !page->stopped;
}

void drawing_append(const struct drawing_page *page, struct drawing_list *list,
                    struct drawing_cell *cell)
{
    struct drawing_cell **more =
        drawing_add(page->m, &list->items, &list->count, sizeof(struct drawing_cell *));
    if (more) {
        *more = cell;
    }
}

bool drawing_has(struct drawing_cell *const *items, size_t count,
                 const struct drawing_cell *cell)
{
    size_t i = 0;
    while (i < count && items[i] != cell) {
        i++;
    }
    return i < count;
}

const char *drawing_nearest(const struct drawing_page *page, const struct drawing_cell *arrow,
                            enum drawing_end end)
{
    const bool known = end == DRAWING_TAIL ? arrow->has_tail : arrow->has_head;
    const struct drawing_point p = end == DRAWING_TAIL ? arrow->tail : arrow->head;
    const struct drawing_cell *nearest = NULL;
    double best = 0.0;
    for (size_t i = 0; known && i < page->solid.count; i++) {
        const struct drawing_cell *cell = page->solid.items[i];
        const double distance = drawing_distance(cell, p);
        const bool target = cell->role == ROLE_STATE || cell->role == ROLE_DECISION;
        if ((target || end != DRAWING_HEAD_TO_TARGET) && (!nearest || distance < best)) {
            nearest = cell;
            best = distance;
        }
    }
    if (!nearest) {
        return "none";
    }
    const char *text = nearest->text[0] != '\0'
                           ? drawing_line(page->m, nearest->text, 0)
                           : names_text(&drawing_role_names, (size_t)nearest->role);
    return drawing_format(page->m, "'%s', %.0f px away", text, best);
}

const char *drawing_draft_name(const struct drawing_page *page, const struct drawing_cell *cell)
{
    const struct machine_draft_state *state = machine_draft_find_state(page->draft, cell->name);
    return state ? state->name : "";
}
