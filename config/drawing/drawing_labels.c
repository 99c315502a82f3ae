/* config/drawing/drawing_labels.c - assigns each text that floats near an arrow to its
 * arrow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

/* pixels: a second text of one arrow must be this near */
static const double SECOND_NEAR = 0.4 * DRAWING_NEAR;

struct nearness {
    double distance;
    size_t text, arrow; /* indices in the page */
};

struct nearness_list {
    struct nearness *items;
    size_t count;
};

static int by_distance(const void *a, const void *b)
{
    const struct nearness *x = a;
    const struct nearness *y = b;
    if (x->distance < y->distance || x->distance > y->distance) {
        return x->distance < y->distance ? -1 : 1;
    }
    return x->text != y->text ? (x->text < y->text ? -1 : 1)
                              : (x->arrow > y->arrow) - (x->arrow < y->arrow);
}

/* A cheap test on boxes saves most of the exact distances. */
static bool is_far(const struct drawing_cell *text, const struct drawing_cell *arrow)
{
    double left = HUGE_VAL;
    double top = HUGE_VAL;
    double right = -HUGE_VAL;
    double bottom = -HUGE_VAL;
    for (size_t i = 0; i < arrow->path_count; i++) {
        left = fmin(left, arrow->path[i].x);
        right = fmax(right, arrow->path[i].x);
        top = fmin(top, arrow->path[i].y);
        bottom = fmax(bottom, arrow->path[i].y);
    }
    return text->left - right > DRAWING_NEAR ||
           left - text->left - text->width > DRAWING_NEAR ||
           text->top - bottom > DRAWING_NEAR || top - text->top - text->height > DRAWING_NEAR;
}

/* Finds the arrows near each text. A text that is near no arrow is a remark. */
static bool find_near(struct drawing_page *page, struct nearness_list *near)
{
    enum { CLOSELY = 25 /* distances computed per piece of an arrow */ };
    for (size_t t = 0; t < page->texts.count; t++) {
        const struct drawing_cell *text = page->texts.items[t];
        bool found = false;
        for (size_t a = 0; a < page->arrows.count; a++) {
            const struct drawing_cell *arrow = page->arrows.items[a];
            const bool far = is_far(text, arrow);
            if (!drawing_spend(page, (far ? 1 : CLOSELY) * arrow->path_count)) {
                return false;
            }
            const double distance = far ? HUGE_VAL : drawing_label_distance(text, arrow);
            if (distance > DRAWING_NEAR) {
                continue;
            }
            struct nearness *more =
                drawing_add(page->m, &near->items, &near->count, sizeof *near->items);
            if (!more) {
                return false;
            }
            *more = (struct nearness){distance, t, a};
            found = true;
        }
        if (!found) {
            machine_diagnostics_add(&page->draft->diagnostics, "N-REMARK",
                                    (struct machine_place){0}, "remark '%s' at (%.0f, %.0f)",
                                    drawing_line(page->m, text->text, 40), text->left,
                                    text->top);
        }
    }
    return true;
}

static const char *arrow_name(const struct drawing_page *page, const struct drawing_cell *arrow)
{
    static const char air[] = "(air)";
    if (arrow->label[0] != '\0') {
        return drawing_format(page->m, "'%s'", drawing_line(page->m, arrow->label, 25));
    }
    return drawing_format(page->m, "%s to %s",
                          arrow->from ? drawing_line(page->m, arrow->from->text, 0) : air,
                          arrow->to ? drawing_line(page->m, arrow->to->text, 0) : air);
}

/* Warns when a second arrow without text is as near as the chosen one. */
static void warn_of_two(const struct drawing_page *page, const struct nearness_list *near,
                        const struct nearness *assigned)
{
    const struct drawing_cell *text = page->texts.items[assigned->text];
    for (size_t i = 0; i < near->count; i++) {
        const struct nearness *n = &near->items[i];
        const struct drawing_cell *other = page->arrows.items[n->arrow];
        if (n->text == assigned->text && n->arrow != assigned->arrow &&
            other->label[0] == '\0' && n->distance < 1.5 * assigned->distance + 4.0) {
            drawing_blame(page, "W-LABEL-NEAR-TWO", text,
                          "lies as near to the arrow %s as to %s, which got it: put it on the "
                          "arrow itself (double click the arrow)",
                          arrow_name(page, other),
                          arrow_name(page, page->arrows.items[assigned->arrow]));
            return;
        }
    }
}

/* Arrows without a label come first, then the nearest pairs. Writes taken [count]. */
static bool share_texts(struct drawing_page *page, const struct nearness_list *near,
                        struct nearness_list *assigned)
{
    bool *used = drawing_alloc(page->m, page->texts.count + 1);
    bool *served = drawing_alloc(page->m, page->arrows.count + 1);
    assigned->items = drawing_alloc(page->m, (page->texts.count + 1) * sizeof *assigned->items);
    if (!used || !served || !assigned->items) {
        return false;
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < near->count; i++) {
            const struct nearness *n = &near->items[i];
            const bool has = served[n->arrow] || page->arrows.items[n->arrow]->label[0] != '\0';
            if (used[n->text] || (round == 0 ? has : n->distance > SECOND_NEAR)) {
                continue;
            }
            if (!drawing_spend(page, near->count)) {
                return false;
            }
            used[n->text] = true;
            served[n->arrow] = true;
            assigned->items[assigned->count++] = *n;
            warn_of_two(page, near, n);
        }
    }
    return true;
}

static void report_loose_end(const struct drawing_page *page, const struct drawing_cell *arrow,
                             const char *end, double gap, const struct drawing_cell *shape)
{
    if (gap >= 0.0 && shape) {
        machine_diagnostics_add(
            &page->draft->diagnostics, "N-LOOSE-END", (struct machine_place){0},
            "the %s of '%s' is not attached, %.0f px from '%s': read as attached", end,
            drawing_line(page->m, arrow->label, 30), gap,
            drawing_line(page->m, shape->text, 0));
    }
}

bool drawing_match_labels(struct drawing_page *page)
{
    struct nearness_list near = {0};
    struct nearness_list assigned = {0};
    if (!find_near(page, &near)) {
        return false;
    }
    if (near.count > 0) {
        qsort(near.items, near.count, sizeof *near.items, by_distance);
    }
    if (!share_texts(page, &near, &assigned)) {
        return false;
    }
    if (assigned.count > 0) {
        qsort(assigned.items, assigned.count, sizeof *assigned.items, by_distance);
    }
    for (size_t i = 0; i < assigned.count; i++) {
        struct drawing_cell *arrow = page->arrows.items[assigned.items[i].arrow];
        const char *text = page->texts.items[assigned.items[i].text]->text;
        arrow->label = arrow->label[0] == '\0'
                           ? text
                           : drawing_format(page->m, "%s\n%s", arrow->label, text);
    }
    for (size_t i = 0; i < page->arrows.count; i++) {
        const struct drawing_cell *arrow = page->arrows.items[i];
        report_loose_end(page, arrow, "tail", arrow->from_gap, arrow->from);
        report_loose_end(page, arrow, "head", arrow->to_gap, arrow->to);
    }
    return true;
}
