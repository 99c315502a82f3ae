/* config/drawing/drawing_shapes.c - decides the role of each shape on a page: state, decision,
 * box, bubble or remark. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/names.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

enum { AREA_MIN = 600 /* square pixels: a shape of this area can hold a text */ };

/* A bubble below this ratio of its state's area means "push that state". */
static const double PUSH_AREA = 0.6;

enum { POP_SIZE_MAX = 45 /* pixels */ };

/* ---- sorting ---- */

static bool is_label_of_edge(const struct drawing_cell *cell)
{
    const bool text = cell->kind == DRAWING_TEXT || cell->kind == DRAWING_EDGE_LABEL;
    return cell->parent && cell->parent->edge && !cell->parent->hidden &&
           (text || cell->relative);
}

static bool is_text(const struct drawing_cell *cell)
{
    const bool plain = cell->kind == DRAWING_RECT || cell->kind == DRAWING_OTHER;
    return cell->kind == DRAWING_TEXT || cell->kind == DRAWING_EDGE_LABEL ||
           (plain && cell->text[0] != '\0' && drawing_style_is(cell, "strokeColor", "none"));
}

static bool is_declaration(const struct drawing_cell *cell)
{
    static const char word[] = "machine";
    const size_t n = sizeof word - 1;
    const char next = strncasecmp(cell->text, word, n) == 0 ? cell->text[n] : 'e';
    return next == '\0' || next == ' ' || next == '\n' || next == ':';
}

static void sort_cell(struct drawing_page *page, struct drawing_cell *cell)
{
    struct drawing_list *list = &page->shapes;
    if (cell->edge) {
        drawing_append(page, &page->edges, cell);
    }
    if (!cell->vertex) {
        return;
    }
    cell->kind = drawing_kind_of(cell);
    if (is_label_of_edge(cell)) {
        list = cell->text[0] != '\0' ? &page->labels : NULL;
    } else if (cell->kind == DRAWING_GROUP || cell->kind == DRAWING_LINE ||
               cell->kind == DRAWING_IMAGE) {
        list = NULL;
    } else if (is_text(cell)) {
        list = cell->text[0] != '\0' ? &page->texts : NULL;
    } else if (cell->kind == DRAWING_NOTE) {
        list = &page->notes;
    } else if (cell->kind == DRAWING_FRAME) {
        list = NULL;
    }
    if (list) {
        drawing_append(page, list, cell);
    }
}

/* ---- texts that are laid into empty shapes are theirs ---- */

static struct drawing_cell *find_around(const struct drawing_page *page,
                                        const struct drawing_cell *text)
{
    struct drawing_cell *found = NULL;
    for (size_t i = 0; i < page->shapes.count; i++) {
        struct drawing_cell *shape = page->shapes.items[i];
        if (shape->text[0] == '\0' && shape->kind != DRAWING_START &&
            shape->kind != DRAWING_HEXAGON && shape->width * shape->height > AREA_MIN &&
            drawing_distance(shape, drawing_centre(text)) <= 0.0) {
            if (found) {
                return NULL;
            }
            found = shape;
        }
    }
    return found;
}

static int by_shape(const void *a, const void *b)
{
    const struct drawing_cell *x = *(struct drawing_cell *const *)a;
    const struct drawing_cell *y = *(struct drawing_cell *const *)b;
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    if (x->top < y->top || x->top > y->top) {
        return x->top < y->top ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static bool name_empty_shapes(struct drawing_page *page)
{
    struct drawing_list inner = {0};
    size_t left = 0;
    if (!drawing_spend(page, page->texts.count * page->shapes.count)) {
        return false;
    }
    for (size_t i = 0; i < page->texts.count; i++) {
        struct drawing_cell *text = page->texts.items[i];
        text->to = find_around(page, text);
        if (text->to) {
            drawing_append(page, &inner, text);
        } else {
            page->texts.items[left++] = text;
        }
    }
    page->texts.count = left;
    if (inner.count > 0) {
        qsort(inner.items, inner.count, sizeof(struct drawing_cell *), by_shape);
    }
    for (size_t i = 0; i < inner.count; i++) {
        struct drawing_cell *shape = inner.items[i]->to;
        shape->text = shape->text[0] == '\0' ? inner.items[i]->text
                                             : drawing_format(page->m, "%s\n%s", shape->text,
                                                              inner.items[i]->text);
    }
    return true;
}

static void read_notes(struct drawing_page *page)
{
    size_t left = 0;
    for (size_t i = 0; i < page->texts.count; i++) {
        struct drawing_cell *text = page->texts.items[i];
        if (is_declaration(text)) {
            drawing_append(page, &page->notes, text);
        } else {
            page->texts.items[left++] = text;
        }
    }
    page->texts.count = left;
    for (size_t i = 0; i < page->notes.count; i++) {
        if (is_declaration(page->notes.items[i])) {
            drawing_declare(page, page->notes.items[i]);
        }
    }
}

/* ---- states in states ---- */

static bool refuse_composite(const struct drawing_page *page)
{
    const struct drawing_cell *outer = NULL;
    const char *list = "";
    size_t count = 0;
    for (size_t i = 0; i < page->shapes.count; i++) {
        struct drawing_cell *parent = page->shapes.items[i]->parent;
        if (parent) {
            parent->holds = true;
        }
    }
    for (size_t i = 0; i < page->shapes.count && !outer; i++) {
        const struct drawing_cell *shape = page->shapes.items[i];
        outer = shape->holds && shape->text[0] != '\0' ? shape : NULL;
    }
    for (size_t i = 0; outer && i < page->shapes.count && count < 3; i++) {
        const struct drawing_cell *shape = page->shapes.items[i];
        if (shape->parent == outer) {
            const char *text = shape->text[0] != '\0'
                                   ? drawing_line(page->m, shape->text, 0)
                                   : names_text(&drawing_kind_names, (size_t)shape->kind);
            list = drawing_format(page->m, "%s%s'%s'", list, count > 0 ? ", " : "", text);
            count++;
        }
    }
    if (outer) {
        drawing_blame(page, "E-COMPOSITE", outer,
                      "holds other shapes (%s): a state inside a state is not drawn here. Give "
                      "the inner machine a page of its own and let them talk by active/ready",
                      list);
    }
    return outer != NULL;
}

/* ---- roles ---- */

static bool has_state_name(const struct drawing_cell *cell)
{
    const bool kind = cell->kind == DRAWING_ELLIPSE || cell->kind == DRAWING_ROUND ||
                      cell->kind == DRAWING_SWIMLANE || cell->kind == DRAWING_RECT;
    const size_t bytes = strlen(cell->name);
    return kind && bytes <= MACHINE_NAME_MAX && drawing_is_state_name(cell->name, bytes);
}

/* Joins the words of a text by "_", in small letters; returns the bytes. */
static size_t join_words(const char *text, size_t bytes, char out[MACHINE_NAME_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < bytes && n < MACHINE_NAME_MAX; i++) {
        const char c = text[i];
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
            (unsigned char)c >= 0x80) {
            out[n++] = upper ? (char)(c - 'A' + 'a') : c;
        } else if (n > 0 && out[n - 1] != '_') {
            out[n++] = '_';
        }
    }
    n -= n > 0 && out[n - 1] == '_';
    out[n] = '\0';
    return n;
}

/* For sketches: words in the place of a name become one, "Drive ahead" is drive_ahead. */
static void name_by_words(struct drawing_page *page, struct drawing_cell *shape)
{
    const size_t bytes = strlen(shape->name);
    struct machine_assignment_words assignment;
    char name[MACHINE_NAME_MAX + 1];
    const bool box = shape->kind == DRAWING_RECT;
    if ((!box && shape->kind != DRAWING_ELLIPSE && shape->kind != DRAWING_ROUND &&
         shape->kind != DRAWING_SWIMLANE) ||
        (box &&
         machine_words_assignment((struct machine_words){shape->text, bytes}, &assignment)) ||
        has_state_name(shape) || bytes > MACHINE_NAME_MAX ||
        !drawing_is_state_name(name, join_words(shape->text, bytes, name))) {
        return;
    }
    drawing_blame(page, "N-WORDS", shape, "'%.*s' is no name: used as the state %s", (int)bytes,
                  shape->text, name);
    shape->text = drawing_format(page->m, "%s%s", name, shape->text + bytes);
    shape->name = drawing_copy(page->m, name, strlen(name));
}

static int by_name(const void *a, const void *b)
{
    const struct drawing_cell *x = *(struct drawing_cell *const *)a;
    const struct drawing_cell *y = *(struct drawing_cell *const *)b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Among shapes [count] of one name, the small ones mean that the state is pushed. */
static void name_states(const struct drawing_page *page, struct drawing_cell **shapes,
                        size_t count)
{
    double most = 0.0;
    size_t states = 0;
    const struct drawing_cell *second = NULL;
    for (size_t i = 0; i < count; i++) {
        const double area = shapes[i]->width * shapes[i]->height;
        most = area > most ? area : most;
    }
    for (size_t i = 0; i < count; i++) {
        const double area = shapes[i]->width * shapes[i]->height;
        const bool small =
            count > 1 && area < PUSH_AREA * most && !strchr(shapes[i]->text, '\n');
        shapes[i]->role = small ? ROLE_PUSH : ROLE_STATE;
        states += small ? 0 : 1;
        second = !small && states == 2 ? shapes[i] : second;
    }
    if (second) {
        drawing_blame(page, "N-DRAWN-TWICE", second, "state %s is drawn %zu times: read as one",
                      second->name, states);
    }
}

static void find_states(struct drawing_page *page)
{
    struct drawing_list named = {0};
    for (size_t i = 0; i < page->shapes.count; i++) {
        struct drawing_cell *shape = page->shapes.items[i];
        shape->name = drawing_copy(page->m, shape->text, strcspn(shape->text, "\n"));
        if (page->words) {
            name_by_words(page, shape);
        }
    }
    for (size_t i = 0; i < page->shapes.count; i++) {
        if (has_state_name(page->shapes.items[i])) {
            drawing_append(page, &named, page->shapes.items[i]);
        }
    }
    if (named.count > 0) {
        qsort(named.items, named.count, sizeof(struct drawing_cell *), by_name);
    }
    for (size_t from = 0, to = 0; from < named.count; from = to) {
        while (to < named.count &&
               strcmp(named.items[from]->name, named.items[to]->name) == 0) {
            to++;
        }
        name_states(page, named.items + from, to - from);
    }
}

static enum drawing_role find_role(const struct drawing_page *page,
                                   const struct drawing_cell *cell)
{
    const bool empty = cell->text[0] == '\0';
    const bool pop = empty || strcmp(cell->text, "-") == 0 || strcmp(cell->text, "pop") == 0;
    if (cell->kind == DRAWING_START || cell->kind == DRAWING_END) {
        return cell->kind == DRAWING_START ? ROLE_START : ROLE_FINAL;
    }
    if (cell->kind == DRAWING_RHOMBUS || cell->kind == DRAWING_HEXAGON) {
        return cell->kind == DRAWING_RHOMBUS ? ROLE_DECISION : ROLE_HEXAGON;
    }
    if (cell->kind == DRAWING_ELLIPSE && pop && cell->width <= POP_SIZE_MAX &&
        cell->height <= POP_SIZE_MAX) {
        return ROLE_POP;
    }
    if (!empty && (cell->kind == DRAWING_ELLIPSE || cell->kind == DRAWING_ROUND ||
                   cell->kind == DRAWING_SWIMLANE)) {
        const size_t bytes = strlen(cell->name);
        const bool longer =
            bytes > MACHINE_NAME_MAX && drawing_is_state_name(cell->name, bytes);
        drawing_blame(
            page, "E-STATE-NAME", cell, "'%s' cannot be the name of a state: %s", cell->name,
            longer ? "it is longer than 32 bytes" : "letters, digits and _, first line only");
        return ROLE_BAD_NAME;
    }
    return empty ? ROLE_BLANK : cell->kind == DRAWING_RECT ? ROLE_ACTION : ROLE_OTHER;
}

bool drawing_find_shapes(struct drawing_page *page)
{
    for (size_t i = 0; i < page->sheet->count; i++) {
        if (!page->sheet->cells[i].hidden) {
            sort_cell(page, &page->sheet->cells[i]);
        }
    }
    if (!name_empty_shapes(page)) {
        return false;
    }
    read_notes(page);
    if (refuse_composite(page)) {
        return false;
    }
    find_states(page);
    for (size_t i = 0; i < page->shapes.count; i++) {
        struct drawing_cell *shape = page->shapes.items[i];
        shape->role = shape->role == ROLE_NONE ? find_role(page, shape) : shape->role;
        if (shape->role != ROLE_OTHER) {
            drawing_append(page, &page->nodes, shape);
        }
        if (shape->role != ROLE_OTHER && shape->role != ROLE_BLANK) {
            drawing_append(page, &page->solid, shape);
        }
    }
    return true;
}
