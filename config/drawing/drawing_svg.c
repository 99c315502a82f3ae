/* config/drawing/drawing_svg.c - writes a page as it was drawn, as SVG. Texts lose their
 * formatting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/drawing/drawing.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

enum { NUMBER_BYTES = 32, FONT_STATE = 11, FONT_NOTE = 10, FONT_LABEL = 9, FONT_BUBBLE = 7 };
enum { BUBBLE_WIDTH = 45, ROUNDNESS = 10 };

static const double MARGIN = 15.0;
static const double RIGHT = 60.0;     /* pixels of space for labels */
static const double LINE_STEP = 1.15; /* ratio of the letter size */

/* Writes the fewest decimals that read back to the number, at least one: "50.0". */
static const char *show_number(double value, char text[NUMBER_BYTES])
{
    for (int digits = 1; digits <= 12; digits++) {
        (void)snprintf(text, NUMBER_BYTES, "%.*f", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value) && !(back > value)) {
            break;
        }
    }
    return text;
}

static void write_number(FILE *out, const char *key, double value)
{
    char text[NUMBER_BYTES];
    (void)fprintf(out, "%s%s", key, show_number(value, text));
}

static void write_text(FILE *out, const char *text, struct drawing_point at, int size,
                       bool edged)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n' ? 1 : 0;
    }
    for (size_t i = 0; i < lines; i++) {
        const size_t bytes = strcspn(text, "\n");
        const double down = ((double)i - (double)(lines - 1) / 2) * size * LINE_STEP;
        (void)fprintf(out,
                      "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"middle\" "
                      "dominant-baseline=\"central\"%s>",
                      at.x, at.y + down, size,
                      edged ? " paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"4\""
                            : "");
        drawing_write_escaped(out, text, bytes);
        (void)fputs("</text>", out);
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
}

/* ---- arrows ---- */

static bool has_no_head(const struct drawing_cell *edge)
{
    size_t bytes = 0;
    (void)drawing_style(edge, "startArrow", &bytes);
    return drawing_style_is(edge, "endArrow", "none") &&
           (bytes == 0 || drawing_style_is(edge, "startArrow", "none"));
}

/* Two points make a line, more make a curve. */
static void write_curve(FILE *out, const struct drawing_cell *edge)
{
    const struct drawing_point *p = edge->path;
    const size_t n = edge->path_count;
    (void)fprintf(out, "M%.1f,%.1f", p[0].x, p[0].y);
    if (n == 2) {
        (void)fprintf(out, " L%.1f,%.1f", p[1].x, p[1].y);
    }
    for (size_t i = 1; i + 1 < n; i++) {
        const bool last = i + 2 == n;
        const double x = last ? p[n - 1].x : (p[i].x + p[i + 1].x) / 2;
        const double y = last ? p[n - 1].y : (p[i].y + p[i + 1].y) / 2;
        (void)fprintf(out, " Q%.1f,%.1f %.1f,%.1f", p[i].x, p[i].y, x, y);
    }
}

static void write_arrow(FILE *out, const struct drawing_page *page,
                        const struct drawing_cell *edge)
{
    bool first = true;
    if (edge->path_count < 2) {
        return;
    }
    (void)fputs("<path class=\"arc\" data-arcs=\"", out);
    for (size_t i = 0; i < page->arc_count; i++) {
        if (page->arc_arrows[i] == edge) {
            (void)fprintf(out, "%s%zu", first ? "" : " ", i);
            first = false;
        }
    }
    (void)fputs("\" d=\"", out);
    write_curve(out, edge);
    (void)fprintf(out, "\" fill=\"none\" stroke=\"#333\"%s%s/>",
                  drawing_style_is(edge, "dashed", "1") ? " stroke-dasharray=\"5 3\"" : "",
                  has_no_head(edge) ? "" : " marker-end=\"url(#h)\"");
}

static void write_arrow_text(FILE *out, const struct drawing_cell *edge)
{
    if (edge->path_count < 2 || !edge->own_label || edge->own_label[0] == '\0') {
        return;
    }
    const struct drawing_point *p = edge->path;
    const struct drawing_point middle = {(p[0].x + p[1].x) / 2, (p[0].y + p[1].y) / 2};
    write_text(out, edge->own_label, edge->path_count > 2 ? p[edge->path_count / 2] : middle,
               FONT_LABEL, true);
}

/* ---- shapes ---- */

static void write_polygon(FILE *out, const struct drawing_point *points, size_t count)
{
    char x[NUMBER_BYTES];
    char y[NUMBER_BYTES];
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s%s,%s", i == 0 ? " points=\"" : " ", show_number(points[i].x, x),
                      show_number(points[i].y, y));
    }
    (void)fputs("\"/>", out);
}

static void begin_shape(FILE *out, const struct drawing_page *page,
                        const struct drawing_cell *cell, const char *element, const char *lit)
{
    const char *state = cell->role == ROLE_FINAL   ? DRAWING_END_STATE
                        : cell->role == ROLE_STATE ? cell->name
                                                   : "";
    const bool now = lit && state[0] != '\0' && strcmp(lit, state) == 0;
    const char *fill = now                           ? "#ffd75e"
                       : cell->kind == DRAWING_START ? "#000"
                       : cell->kind == DRAWING_NOTE  ? "#fffde8"
                                                     : "#fff";
    (void)fprintf(out, "<%s", element);
    if (state[0] != '\0') {
        (void)fputs(" id=\"", out);
        drawing_write_escaped(out, page->name, strlen(page->name));
        (void)fputc('.', out);
        drawing_write_escaped(out, state, strlen(state));
        (void)fputs("\" class=\"state\"", out);
    }
    (void)fprintf(out, " fill=\"%s\" stroke=\"#333\"", fill);
}

static void write_outline(FILE *out, const struct drawing_page *page,
                          const struct drawing_cell *cell, const char *lit)
{
    const struct drawing_point c = drawing_centre(cell);
    const double left = cell->left;
    const double top = cell->top;
    const double right = left + cell->width;
    const double bottom = top + cell->height;
    const double a = left + cell->width / 4;
    const double b = left + cell->width * 3 / 4;
    const struct drawing_point rhombus[] = {
        {c.x, top}, {right, c.y}, {c.x, bottom}, {left, c.y}};
    const struct drawing_point hexagon[] = {{left, c.y},  {a, top},    {b, top},
                                            {right, c.y}, {b, bottom}, {a, bottom}};
    if (cell->kind == DRAWING_ELLIPSE || cell->kind == DRAWING_START ||
        cell->kind == DRAWING_END) {
        begin_shape(out, page, cell, "ellipse", lit);
        write_number(out, " cx=\"", c.x);
        write_number(out, "\" cy=\"", c.y);
        write_number(out, "\" rx=\"", cell->width / 2);
        write_number(out, "\" ry=\"", cell->height / 2);
        (void)fputs("\"/>", out);
    } else if (cell->kind == DRAWING_RHOMBUS || cell->kind == DRAWING_HEXAGON) {
        const bool four = cell->kind == DRAWING_RHOMBUS;
        begin_shape(out, page, cell, "polygon", lit);
        write_polygon(out, four ? rhombus : hexagon, four ? COUNT(rhombus) : COUNT(hexagon));
    } else if (cell->kind != DRAWING_TEXT && cell->kind != DRAWING_EDGE_LABEL &&
               cell->kind != DRAWING_GROUP) {
        begin_shape(out, page, cell, "rect", lit);
        write_number(out, " x=\"", left);
        write_number(out, "\" y=\"", top);
        write_number(out, "\" width=\"", cell->width);
        write_number(out, "\" height=\"", cell->height);
        (void)fprintf(out, "\" rx=\"%d\"/>", cell->kind == DRAWING_ROUND ? ROUNDNESS : 0);
    }
}

/* ---- the page ---- */

/* A text that was merged into a shape is shown as the shape's own. */
static bool is_shown(const struct drawing_cell *cell)
{
    return cell->vertex && !cell->hidden && !cell->relative && !cell->to;
}

struct extent {
    double left, top, right, bottom;
};

static void extend_to(struct extent *e, double x, double y)
{
    e->left = fmin(e->left, x);
    e->right = fmax(e->right, x);
    e->top = fmin(e->top, y);
    e->bottom = fmax(e->bottom, y);
}

static struct extent find_extent(const struct drawing_sheet *sheet)
{
    struct extent e = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < sheet->count; i++) {
        const struct drawing_cell *cell = &sheet->cells[i];
        if (is_shown(cell)) {
            extend_to(&e, cell->left, cell->top);
            extend_to(&e, cell->left + cell->width, cell->top + cell->height);
        }
        for (size_t k = 0; !cell->hidden && k < cell->path_count; k++) {
            extend_to(&e, cell->path[k].x, cell->path[k].y);
        }
    }
    return e.left <= e.right ? e : (struct extent){0.0, 0.0, 0.0, 0.0};
}

void drawing_write_svg(const struct drawing *drawing, size_t page, const char *lit, FILE *out)
{
    const struct drawing_page *p = &drawing->pages[page];
    const struct drawing_sheet *sheet = p->sheet;
    const struct extent e = find_extent(sheet);
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%.0f %.0f %.0f %.0f\" "
                  "font-family=\"sans-serif\"><defs><marker id=\"h\" viewBox=\"0 0 8 8\" "
                  "refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
                  "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8z\"/></marker></defs>",
                  e.left - MARGIN, e.top - MARGIN, e.right + RIGHT - e.left + MARGIN,
                  e.bottom - e.top + 2 * MARGIN);
    for (size_t i = 0; i < sheet->count; i++) {
        if (!sheet->cells[i].hidden && sheet->cells[i].edge) {
            write_arrow(out, p, &sheet->cells[i]);
        }
    }
    for (size_t i = 0; i < sheet->count; i++) {
        const struct drawing_cell *cell = &sheet->cells[i];
        if (is_shown(cell)) {
            const int size = cell->width < BUBBLE_WIDTH   ? FONT_BUBBLE
                             : cell->kind == DRAWING_NOTE ? FONT_NOTE
                                                          : FONT_STATE;
            write_outline(out, p, cell, lit);
            if (cell->text[0] != '\0') {
                write_text(out, cell->text, drawing_centre(cell), size, false);
            }
        }
    }
    for (size_t i = 0; i < sheet->count; i++) {
        if (!sheet->cells[i].hidden && sheet->cells[i].edge) {
            write_arrow_text(out, &sheet->cells[i]);
        }
    }
    (void)fputs("</svg>\n", out);
}
