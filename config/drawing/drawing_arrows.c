/* config/drawing/drawing_arrows.c - finds the shapes that each arrow joins, and the texts next
 * to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

enum { PARENTS_MAX = 8 /* steps from a text within a shape to the shape */ };

static const double BETWEEN = 4.0; /* pixels: two shapes are equally near */

/* pixels: how far a loop leads out of its state */
static const double LOOP_SIDE = 30.0;
static const double LOOP_DOWN = 20.0;

/* ---- ends ---- */

/* Returns the shape that a cell is or belongs to. */
static struct drawing_cell *find_shape(struct drawing_cell *cell)
{
    for (int n = 0; cell && cell->role == ROLE_NONE && n < PARENTS_MAX; n++) {
        cell = cell->vertex ? cell->parent : NULL;
    }
    return cell && cell->role != ROLE_NONE ? cell : NULL;
}

/* An empty ring around a state stands for the state. */
static struct drawing_cell *look_into_ring(const struct drawing_page *page,
                                           struct drawing_cell *ring)
{
    struct drawing_cell *inside = NULL;
    for (size_t i = 0; i < page->solid.count; i++) {
        struct drawing_cell *shape = page->solid.items[i];
        if (drawing_distance(ring, drawing_centre(shape)) <= 0.0) {
            if (inside) {
                return ring;
            }
            inside = shape;
        }
    }
    return inside ? inside : ring;
}

/* Returns the shape near a loose end; NULL when there is none, or two. */
static struct drawing_cell *snap_end(const struct drawing_page *page,
                                     const struct drawing_cell *arrow, struct drawing_point end,
                                     double *gap)
{
    struct drawing_cell *near[2] = {NULL, NULL};
    double distance[2] = {HUGE_VAL, HUGE_VAL};
    for (size_t i = 0; i < page->solid.count; i++) {
        const double d = drawing_distance(page->solid.items[i], end);
        if (d < distance[0]) {
            near[1] = near[0];
            distance[1] = distance[0];
            near[0] = page->solid.items[i];
            distance[0] = d;
        } else if (d < distance[1]) {
            near[1] = page->solid.items[i];
            distance[1] = d;
        }
    }
    if (!near[0] || distance[0] > DRAWING_SNAP) {
        return NULL;
    }
    if (near[1] && distance[1] <= DRAWING_SNAP && distance[1] - distance[0] < BETWEEN &&
        near[0]->role == ROLE_STATE && near[1]->role == ROLE_STATE) {
        drawing_blame(page, "E-END-BETWEEN", arrow,
                      "ends between '%s' and '%s': drag the end onto the one that is meant",
                      drawing_line(page->m, near[0]->text, 0),
                      drawing_line(page->m, near[1]->text, 0));
        return NULL;
    }
    *gap = distance[0];
    return near[0];
}

static struct drawing_cell *find_end(const struct drawing_page *page,
                                     const struct drawing_cell *arrow,
                                     struct drawing_cell *attached, bool has_point,
                                     struct drawing_point point, double *gap)
{
    struct drawing_cell *shape = find_shape(attached);
    if (shape) {
        return shape->role == ROLE_BLANK ? look_into_ring(page, shape) : shape;
    }
    return has_point ? snap_end(page, arrow, point, gap) : NULL;
}

/* ---- where they run ---- */

static void draw_loop(struct drawing_cell *arrow)
{
    const struct drawing_cell *s = arrow->from;
    const struct drawing_point c = drawing_centre(s);
    const double right = c.x + s->width / 2;
    const double bottom = c.y + s->height / 2;
    const struct drawing_point path[] = {{right, c.y},
                                         {right + LOOP_SIDE, c.y},
                                         {right + LOOP_SIDE, bottom + LOOP_DOWN},
                                         {c.x, bottom + LOOP_DOWN},
                                         {c.x, bottom}};
    memcpy(arrow->path, path, sizeof path);
    arrow->path_count = COUNT(path);
}

static void draw_path(const struct drawing_page *page, struct drawing_cell *arrow)
{
    const size_t points = arrow->point_count;
    struct drawing_point *path = drawing_alloc(page->m, (points + 5) * sizeof *path);
    size_t n = 0;
    if (!path) {
        return;
    }
    arrow->path = path;
    if (arrow->from && arrow->from == arrow->to && points == 0) {
        draw_loop(arrow);
        return;
    }
    if (arrow->from || arrow->has_tail) {
        path[n++] = arrow->from ? drawing_centre(arrow->from) : arrow->tail;
    }
    if (points > 0) {
        memcpy(path + n, arrow->points, points * sizeof *path);
        n += points;
    }
    if (arrow->to || arrow->has_head) {
        path[n++] = arrow->to ? drawing_centre(arrow->to) : arrow->head;
    }
    if (n >= 2 && arrow->from) {
        path[0] = drawing_border(arrow->from, path[1]);
    }
    if (n >= 2 && arrow->to) {
        path[n - 1] = drawing_border(arrow->to, path[n - 2]);
    }
    if (n < 2) { /* a path of no length */
        path[1] = path[0];
        n = 2;
    }
    arrow->path_count = n;
}

static void turn_arrow(struct drawing_cell *arrow)
{
    struct drawing_cell *from = arrow->from;
    const double gap = arrow->from_gap;
    arrow->from = arrow->to;
    arrow->to = from;
    arrow->from_gap = arrow->to_gap;
    arrow->to_gap = gap;
    for (size_t i = 0; i < arrow->path_count / 2; i++) {
        const struct drawing_point p = arrow->path[i];
        arrow->path[i] = arrow->path[arrow->path_count - 1 - i];
        arrow->path[arrow->path_count - 1 - i] = p;
    }
}

/* ---- which of them mean something ---- */

static bool has_head(const struct drawing_cell *arrow, const char *key, bool otherwise)
{
    size_t bytes = 0;
    const char *there = drawing_style(arrow, key, &bytes);
    return bytes == 0 ? otherwise : !(bytes == 4 && strncmp(there, "none", 4) == 0);
}

/* A line without a head joins bubbles; any other is a remark. */
static bool is_joint(const struct drawing_page *page, const struct drawing_cell *line)
{
    if (!line->from || !line->to) {
        return drawing_blame(page, "N-LINE", line, "a line without a head, read as a remark");
    }
    if (!drawing_is_stacker(line->from) && !drawing_is_stacker(line->to)) {
        return drawing_blame(page, "E-NO-HEAD", line, "has no head: which way does it go?");
    }
    return true;
}

static bool is_arrow(const struct drawing_page *page, struct drawing_cell *edge)
{
    const bool head = has_head(edge, "endArrow", true);
    const bool tail = has_head(edge, "startArrow", false);
    if (drawing_has(page->notes.items, page->notes.count, edge->source) ||
        drawing_has(page->notes.items, page->notes.count, edge->target) ||
        (!edge->from && !edge->to && !head)) {
        return false; /* a remark's leader, decoration */
    }
    if (head && tail) {
        return drawing_blame(
            page, "E-TWO-HEADS", edge,
            "has a head at both ends: draw two arrows, each with its own label");
    }
    if (!head && !tail) {
        return is_joint(page, edge);
    }
    if (tail) {
        turn_arrow(edge);
    }
    return true;
}

/* ---- labels that are their children ---- */

static int by_place_on_edge(const void *a, const void *b)
{
    const struct drawing_cell *x = *(struct drawing_cell *const *)a;
    const struct drawing_cell *y = *(struct drawing_cell *const *)b;
    const double x_at = nearbyint(x->x * 1000.0);
    const double y_at = nearbyint(y->x * 1000.0);
    if (x_at < y_at || x_at > y_at) {
        return x_at < y_at ? -1 : 1;
    }
    if (x->y < y->y || x->y > y->y) {
        return x->y < y->y ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static void join_labels(struct drawing_page *page)
{
    for (size_t i = 0; i < page->edges.count; i++) {
        page->edges.items[i]->label = page->edges.items[i]->text;
    }
    if (page->labels.count > 0) {
        qsort(page->labels.items, page->labels.count, sizeof(struct drawing_cell *),
              by_place_on_edge);
    }
    for (size_t i = 0; i < page->labels.count; i++) {
        const struct drawing_cell *label = page->labels.items[i];
        struct drawing_cell *edge = label->parent;
        edge->label = edge->label[0] == '\0'
                          ? label->text
                          : drawing_format(page->m, "%s\n%s", edge->label, label->text);
    }
    for (size_t i = 0; i < page->edges.count; i++) {
        page->edges.items[i]->own_label = page->edges.items[i]->label;
    }
}

bool drawing_find_arrows(struct drawing_page *page)
{
    if (!drawing_spend(page, page->edges.count * (3 * page->solid.count + page->notes.count))) {
        return false;
    }
    join_labels(page);
    for (size_t i = 0; i < page->edges.count; i++) {
        struct drawing_cell *edge = page->edges.items[i];
        edge->from =
            find_end(page, edge, edge->source, edge->has_tail, edge->tail, &edge->from_gap);
        edge->to =
            find_end(page, edge, edge->target, edge->has_head, edge->head, &edge->to_gap);
        draw_path(page, edge);
    }
    for (size_t i = 0; i < page->edges.count; i++) {
        if (is_arrow(page, page->edges.items[i])) {
            drawing_append(page, &page->arrows, page->edges.items[i]);
        }
    }
    return true;
}
