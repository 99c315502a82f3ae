#include "config/drawing/drawing_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/names.h"

NAMES(drawing_kind_names, DRAWING_KIND_COUNT, "rect", "round", "ellipse", "swimlane", "rhombus",
      "hexagon", "startState", "endState", "note", "text", "edgeLabel", "group", "frame",
      "image", "line", "other");
NAMES(drawing_role_names, ROLE_COUNT, "nothing", "state", "bubble", "empty bubble", "hexagon",
      "black dot", "end", "decision", "box", "shape without a state's name", "empty shape",
      "shape of another kind");

/* ---- parents, ends, places ---- */

static int by_id(const void *a, const void *b)
{
    const struct drawing_cell *const *x = a;
    const struct drawing_cell *const *y = b;
    const int order = strcmp((*x)->id, (*y)->id);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* Several cells may have one id: the last one counts. */
static struct drawing_cell *find_cell(struct drawing_cell *const *sorted, size_t count,
                                      const char *id)
{
    size_t low = 0;
    size_t high = count;
    if (!id || id[0] == '\0') {
        return NULL;
    }
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(sorted[middle]->id, id) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && strcmp(sorted[low - 1]->id, id) == 0 ? sorted[low - 1] : NULL;
}

static void move_points(struct drawing_cell *cell, double x, double y)
{
    for (size_t i = 0; i < cell->point_count; i++) {
        cell->points[i].x += x;
        cell->points[i].y += y;
    }
    cell->tail.x += x;
    cell->tail.y += y;
    cell->head.x += x;
    cell->head.y += y;
}

/* Groups and containers shift the cells within them. */
static void place_cell(struct drawing_cell *cell)
{
    double x = 0.0;
    double y = 0.0;
    unsigned depth = 0;
    for (const struct drawing_cell *p = cell->parent; p && depth < DRAWING_PARENTS_MAX;
         p = p->parent, depth++) {
        if (p->vertex && !p->edge) {
            x += p->x;
            y += p->y;
        }
    }
    cell->left = cell->x + x;
    cell->top = cell->y + y;
    if (cell->edge) {
        move_points(cell, x, y);
    }
}

/* Is the cell or one of its parents hidden? */
static bool is_hidden(const struct drawing_cell *cell)
{
    unsigned depth = 0;
    for (const struct drawing_cell *p = cell; p && depth < DRAWING_PARENTS_MAX;
         p = p->parent, depth++) {
        if (p->hidden) {
            return true;
        }
    }
    return false;
}

void drawing_place_cells(struct drawing_memory *m, struct drawing_sheet *sheet)
{
    struct drawing_cell **sorted = drawing_alloc(m, (sheet->count + 1) * sizeof *sorted);
    if (!sorted) {
        return;
    }
    for (size_t i = 0; i < sheet->count; i++) {
        sorted[i] = &sheet->cells[i];
    }
    qsort(sorted, sheet->count, sizeof *sorted, by_id);
    for (size_t i = 0; i < sheet->count; i++) {
        struct drawing_cell *cell = &sheet->cells[i];
        cell->parent = find_cell(sorted, sheet->count, cell->parent_id);
        cell->source = find_cell(sorted, sheet->count, cell->source_id);
        cell->target = find_cell(sorted, sheet->count, cell->target_id);
    }
    for (size_t i = 0; i < sheet->count; i++) {
        place_cell(&sheet->cells[i]);
    }
    /* A hidden cell hides all cells within it, so each cell gets the flag of its whole
     * chain. */
    for (size_t i = 0; i < sheet->count; i++) {
        sheet->cells[i].hidden = is_hidden(&sheet->cells[i]);
    }
}

/* ---- styles ---- */

const char *drawing_style(const struct drawing_cell *cell, const char *key, size_t *bytes)
{
    const size_t n = strlen(key);
    for (const char *at = cell->style; *at;) {
        const size_t part = strcspn(at, ";");
        if (part > n && at[n] == '=' && strncmp(at, key, n) == 0) {
            *bytes = part - n - 1;
            return at + n + 1;
        }
        at += part + (at[part] == ';' ? 1 : 0);
    }
    *bytes = 0;
    return "";
}

bool drawing_style_is(const struct drawing_cell *cell, const char *key, const char *value)
{
    size_t bytes = 0;
    const char *there = drawing_style(cell, key, &bytes);
    return bytes == strlen(value) && strncmp(there, value, bytes) == 0;
}

static bool is_black(const struct drawing_cell *cell)
{
    static const char *const blacks[] = {"#000000", "black", "strokecolor"};
    size_t bytes = 0;
    const char *colour = drawing_style(cell, "fillColor", &bytes);
    for (size_t i = 0; i < COUNT(blacks); i++) {
        if (strlen(blacks[i]) == bytes && strncasecmp(colour, blacks[i], bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* Keywords of styles, and the shapes that they stand for. */
struct style_row {
    const char *word;
    enum drawing_kind kind;
};
static const struct style_row first_words[] = {
    {"text", DRAWING_TEXT},   {"edgeLabel", DRAWING_EDGE_LABEL},
    {"group", DRAWING_GROUP}, {"image", DRAWING_IMAGE},
    {"line", DRAWING_LINE},   {"swimlane", DRAWING_SWIMLANE},
};
static const struct style_row shapes[] = {
    {"startState", DRAWING_START},
    {"endState", DRAWING_END},
    {"note", DRAWING_NOTE},
    {"note2", DRAWING_NOTE},
    {"card", DRAWING_NOTE},
    {"document", DRAWING_NOTE},
    {"rhombus", DRAWING_RHOMBUS},
    {"hexagon", DRAWING_HEXAGON},
    {"ellipse", DRAWING_ELLIPSE},
    {"doubleEllipse", DRAWING_ELLIPSE},
    {"mxgraph.flowchart.on-page_reference", DRAWING_ELLIPSE},
    {"mxgraph.flowchart.start_1", DRAWING_ELLIPSE},
    {"umlFrame", DRAWING_FRAME},
    {"umlState", DRAWING_ROUND},
    {"mxgraph.uml.state", DRAWING_ROUND},
    {"rect", DRAWING_RECT},
    {"rectangle", DRAWING_RECT},
    {"process", DRAWING_RECT},
};
static const struct style_row first_shapes[] = {{"rhombus", DRAWING_RHOMBUS},
                                                {"hexagon", DRAWING_HEXAGON},
                                                {"ellipse", DRAWING_ELLIPSE},
                                                {"doubleEllipse", DRAWING_ELLIPSE}};

static bool find_row(const struct style_row *rows, size_t count, const char *word, size_t bytes,
                     enum drawing_kind *kind)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(rows[i].word) == bytes && strncmp(rows[i].word, word, bytes) == 0) {
            *kind = rows[i].kind;
            return true;
        }
    }
    return false;
}

enum drawing_kind drawing_kind_of(const struct drawing_cell *cell)
{
    const size_t first = strcspn(cell->style, ";");
    size_t bytes = 0;
    const char *shape = drawing_style(cell, "shape", &bytes);
    enum drawing_kind kind = DRAWING_OTHER;
    if (find_row(first_words, COUNT(first_words), cell->style, first, &kind)) {
        return kind;
    }
    const bool named = find_row(shapes, COUNT(shapes), shape, bytes, &kind);
    const bool special = kind == DRAWING_START || kind == DRAWING_END || kind == DRAWING_NOTE;
    if (!(named && special) && strstr(cell->style, "flowchart.decision")) {
        kind = DRAWING_RHOMBUS;
    } else if (!(named && special)) {
        enum drawing_kind also = kind;
        kind = find_row(first_shapes, COUNT(first_shapes), cell->style, first, &also) ? also
                                                                                      : kind;
    }
    if (bytes == 0 && kind == DRAWING_OTHER) {
        kind = strstr(cell->style, "perimeter=ellipsePerimeter") ? DRAWING_ELLIPSE
               : drawing_style_is(cell, "rounded", "1")          ? DRAWING_ROUND
                                                                 : DRAWING_RECT;
    }
    const double size = cell->width > cell->height ? cell->width : cell->height;
    if (kind == DRAWING_ELLIPSE && cell->text[0] == '\0' && is_black(cell) && size <= 40.0) {
        return DRAWING_START;
    }
    return kind;
}

/* ---- distances ---- */

static double outside_by(double value, double from, double to)
{
    return value < from ? from - value : value > to ? value - to : 0.0;
}

struct drawing_point drawing_centre(const struct drawing_cell *cell)
{
    return (struct drawing_point){cell->left + cell->width / 2, cell->top + cell->height / 2};
}

double drawing_distance(const struct drawing_cell *cell, struct drawing_point p)
{
    return hypot(outside_by(p.x, cell->left, cell->left + cell->width),
                 outside_by(p.y, cell->top, cell->top + cell->height));
}

static double gap_between(double a, double a_size, double b, double b_size)
{
    return fmax(fmax(a - b - b_size, b - a - a_size), 0.0);
}

double drawing_gap(const struct drawing_cell *a, const struct drawing_cell *b)
{
    return hypot(gap_between(a->left, a->width, b->left, b->width),
                 gap_between(a->top, a->height, b->top, b->height));
}

static double line_distance(struct drawing_point p, struct drawing_point a,
                            struct drawing_point b)
{
    const double x = b.x - a.x;
    const double y = b.y - a.y;
    const double square = x * x + y * y;
    const double along = square > 0.0 ? ((p.x - a.x) * x + (p.y - a.y) * y) / square : 0.0;
    const double t = fmax(0.0, fmin(1.0, along));
    return hypot(p.x - a.x - t * x, p.y - a.y - t * y);
}

double drawing_label_distance(const struct drawing_cell *text, const struct drawing_cell *arrow)
{
    double best = HUGE_VAL;
    for (size_t k = 0; k + 1 < arrow->path_count; k++) {
        const struct drawing_point a = arrow->path[k];
        const struct drawing_point b = arrow->path[k + 1];
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 3; j++) {
                const struct drawing_point p = {text->left + text->width * i / 4,
                                                text->top + text->height * j / 2};
                best = fmin(best, line_distance(p, a, b));
            }
        }
        for (int i = 0; i < 10; i++) {
            const struct drawing_point p = {(a.x * (9 - i) + b.x * i) / 9,
                                            (a.y * (9 - i) + b.y * i) / 9};
            best = fmin(best, drawing_distance(text, p));
        }
    }
    return best;
}

struct drawing_point drawing_border(const struct drawing_cell *cell, struct drawing_point to)
{
    const struct drawing_point c = drawing_centre(cell);
    const double x = to.x - c.x;
    const double y = to.y - c.y;
    const double across = x < 0.0 || x > 0.0 ? cell->width / 2 / fabs(x) : HUGE_VAL;
    const double down = y < 0.0 || y > 0.0 ? cell->height / 2 / fabs(y) : HUGE_VAL;
    const double s = fmin(fmin(across, down), 1.0);
    return (struct drawing_point){c.x + x * s, c.y + y * s};
}
