/* config/drawing/drawing_parts.h - a page while it is read; private to config/drawing.
 *
 * Shapes come first, because their roles decide where arrows end. Then come arrows, then the
 * texts next to them, then the paths from state to state that all of these draw.
 */
#ifndef CONFIG_DRAWING_DRAWING_PARTS_H
#define CONFIG_DRAWING_DRAWING_PARTS_H

#include <string.h>

#include "config/drawing/drawing_cells.h"
#include "twin/machine/machine_label.h"

/* Distances in pixels up to which two things belong together. */
#define DRAWING_SNAP  20.0 /* from an arrow's loose end to its shape */
#define DRAWING_TOUCH 12.0 /* from a bubble to the shape that it touches */
#define DRAWING_NEAR  60.0 /* from a text to its arrow */

enum {
    DRAWING_PATH_MAX = 40,        /* shapes on a path from state to state */
    DRAWING_WALKS_MAX = 20000,    /* arrows followed, counted again for each path */
    DRAWING_WORK_MAX = 200000000, /* comparisons of places: about a second */
};

struct drawing_list {
    struct drawing_cell **items;
    size_t count;
};

/* The parsed text of an arrow, a decision or a box. */
struct drawing_label {
    bool failed; /* parsing failed: the fault is reported and a path ends here */
    uint16_t when;
    size_t count;
    struct machine_draft_assignment *acts;
};

struct drawing_page {
    struct drawing_memory *m;
    struct drawing_sheet *sheet;
    struct machine_draft *draft;
    struct expression_pool *scratch; /* expressions computed while reading */
    bool words;
    size_t work;  /* comparisons left in the budget */
    size_t walks; /* arrows left in the budget */
    bool stopped; /* a budget is used up, and that is reported */
    struct drawing_list shapes, texts, notes, edges;
    struct drawing_list labels;   /* children of edges */
    struct drawing_list arrows;   /* edges that belong to the machine */
    struct drawing_list nodes;    /* shapes that belong to the machine … */
    struct drawing_list solid;    /* … without empty rings: arrows may end there */
    struct drawing_list stackers; /* bubbles and hexagons */
    const struct drawing_cell *arc_arrows[MACHINE_ARCS_MAX]; /* last arrow of each path */
    size_t arc_count;
    const char *name; /* the machine's name; NULL: not read */
};

struct drawing {
    struct drawing_memory memory;
    size_t count;
    struct drawing_page *pages;
    struct expression_pool *scratch;
};

/* ---- drawing_page.c ---- */

/* The place of a cell in words. NULL: the page. */
const char *drawing_words(const struct drawing_page *page, const struct drawing_cell *cell);

/* The same as a place that lives as long as the draft. */
struct machine_place drawing_place(struct drawing_page *page, struct drawing_cell *cell);

/* Returns false, for steps that return whether they could read. */
bool drawing_blame(const struct drawing_page *page, const char *code,
                   const struct drawing_cell *cell, const char *format, ...) PRINTF_LIKE(4, 5);

/* Spend `count` comparisons of the budget. False: it is used up, which is reported, and reading
 * the page stops. */
bool drawing_spend(struct drawing_page *page, size_t count);

void drawing_append(const struct drawing_page *page, struct drawing_list *list,
                    struct drawing_cell *cell);

bool drawing_has(struct drawing_cell *const *items, size_t count,
                 const struct drawing_cell *cell);

/* The shape next to an arrow's end, for messages: "'COUNT', 157 px away"; "none" when there is
 * none. */
enum drawing_end { DRAWING_TAIL, DRAWING_HEAD, DRAWING_HEAD_TO_TARGET /* state or decision */ };
const char *drawing_nearest(const struct drawing_page *page, const struct drawing_cell *arrow,
                            enum drawing_end end);

/* The draft's copy of a state's name; "" when the draft has no such state. */
const char *drawing_draft_name(const struct drawing_page *page,
                               const struct drawing_cell *cell);
#define DRAWING_END_STATE "END" /* state name given to end shapes without a text */

static inline struct machine_words drawing_text_words(const char *text)
{
    return (struct machine_words){text, strlen(text)};
}

/* Is the shape a bubble or a hexagon? */
static inline bool drawing_is_stacker(const struct drawing_cell *cell)
{
    return cell->role == ROLE_PUSH || cell->role == ROLE_POP || cell->role == ROLE_HEXAGON;
}

/* The root of the tree decides; names and choices are not looked up. */
static inline bool drawing_is_truth(const struct expression_pool *pool, uint16_t node)
{
    const uint8_t kind = pool->nodes[node].kind;
    return kind == EXPRESSION_VALUE || kind == EXPRESSION_AFTER || kind == EXPRESSION_DEFINED ||
           (kind >= EXPRESSION_NOT && kind <= EXPRESSION_GREATER_EQUAL);
}

/* steps; false: the page cannot be read any further */

void drawing_name_page(struct drawing_page *page);
void drawing_declare(struct drawing_page *page, struct drawing_cell *note);
MUST_USE bool drawing_find_shapes(struct drawing_page *page);
MUST_USE bool drawing_find_arrows(struct drawing_page *page);
MUST_USE bool drawing_match_labels(struct drawing_page *page);
MUST_USE bool drawing_find_states(struct drawing_page *page);
MUST_USE bool drawing_find_stackers(struct drawing_page *page);
void drawing_find_start(struct drawing_page *page);
void drawing_find_paths(struct drawing_page *page);

/* ---- drawing_exits.c: what labels say ---- */

/* The label of the arrow, read as an exit of the shape that it leaves. NULL only when memory is
 * full. */
const struct drawing_label *drawing_label_of(struct drawing_page *page,
                                             struct drawing_cell *arrow);

/* The assignments in a box. */
const struct drawing_label *drawing_box_of(struct drawing_page *page, struct drawing_cell *box);

#endif
