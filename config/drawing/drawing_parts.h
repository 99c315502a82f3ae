/* config/drawing/drawing_parts.h - a page that is being read; for the files of config/drawing
 * alone.
 *
 * Shapes first, for what they are taken for decides which arrow ends where; then arrows, then
 * the texts beside them; then the ways from state to state that all of it draws.
 */
#ifndef CONFIG_DRAWING_DRAWING_PARTS_H
#define CONFIG_DRAWING_DRAWING_PARTS_H

#include <string.h>

#include "config/drawing/drawing_cells.h"
#include "twin/machine/machine_label.h"

/* How near is near, in pixels. */
#define DRAWING_SNAP                                                                           \
    20.0                   /* an arrow's end that is not attached, to the shape that is meant  \
                            */
#define DRAWING_TOUCH 12.0 /* a bubble to what it touches */
#define DRAWING_NEAR  60.0 /* a text to its arrow */

enum {
    DRAWING_PATH_MAX = 40,        /* shapes on a way from state to state */
    DRAWING_WALKS_MAX = 20000,    /* arrows that are followed, those of several ways again */
    DRAWING_WORK_MAX = 200000000, /* comparisons of places: about a second */
};

struct drawing_list {
    struct drawing_cell **items;
    size_t count;
};

/* What stands beside an arrow, on a decision or in a box, understood. */
struct drawing_label {
    bool failed; /* it cannot be: that is told, and a way ends here */
    uint16_t when;
    size_t count;
    struct machine_draft_assignment *acts;
};

struct drawing_page {
    struct drawing_memory *m;
    struct drawing_sheet *sheet;
    struct machine_draft *draft;
    struct expression_pool *scratch; /* for what is computed while reading */
    bool words;
    size_t work;  /* comparisons that are left */
    size_t walks; /* arrows that may still be followed */
    bool stopped; /* too much of something: that is told */
    struct drawing_list shapes, texts, notes, edges;
    struct drawing_list labels;   /* children of edges */
    struct drawing_list arrows;   /* edges that mean something */
    struct drawing_list nodes;    /* shapes that mean something … */
    struct drawing_list solid;    /* … and are no empty rings: arrows end there */
    struct drawing_list stackers; /* bubbles and hexagons */
    const struct drawing_cell *arc_arrows[MACHINE_ARCS_MAX]; /* the last one of each way */
    size_t arc_count;
    const char *name; /* of the machine; NULL: it was not read */
};

struct drawing {
    struct drawing_memory memory;
    size_t count;
    struct drawing_page *pages;
    struct expression_pool *scratch;
};

/* ---- drawing_page.c ---- */

/* Where a cell is, in words. NULL: the page. */
const char *drawing_words(const struct drawing_page *page, const struct drawing_cell *cell);

/* The same as a place that lives as long as the draft. */
struct machine_place drawing_place(struct drawing_page *page, struct drawing_cell *cell);

void drawing_blame(const struct drawing_page *page, const char *code,
                   const struct drawing_cell *cell, const char *format, ...) PRINTF_LIKE(4, 5);

/* May so many more comparisons be made? If not, that is told, and the page is stopped. */
bool drawing_spend(struct drawing_page *page, size_t count);

void drawing_append(const struct drawing_page *page, struct drawing_list *list,
                    struct drawing_cell *cell);

/* A text as a line. */
const char *drawing_shown(const struct drawing_page *page, const char *text, size_t characters);

/* "'COUNT', 157 px away": the shape next to the end of an arrow; "none" when it is nowhere. */
enum drawing_end { DRAWING_TAIL, DRAWING_HEAD, DRAWING_HEAD_TO_TARGET /* state or decision */ };
const char *drawing_nearest(const struct drawing_page *page, const struct drawing_cell *arrow,
                            enum drawing_end end);

/* The first line of a state's text; the same as the draft has it, "" when it has it not. */
const char *drawing_state_name(const struct drawing_page *page,
                               const struct drawing_cell *cell);
const char *drawing_draft_name(const struct drawing_page *page,
                               const struct drawing_cell *cell);
#define DRAWING_END_STATE "END" /* of shapes that are an end without a name */

static inline struct machine_words drawing_text_words(const char *text)
{
    return (struct machine_words){text, strlen(text)};
}

/* By what it is made with: names and choices are not looked into. */
static inline bool drawing_is_truth(const struct expression_pool *pool, uint16_t node)
{
    const uint8_t kind = pool->nodes[node].kind;
    return kind == EXPRESSION_VALUE || kind == EXPRESSION_AFTER || kind == EXPRESSION_DEFINED ||
           (kind >= EXPRESSION_NOT && kind <= EXPRESSION_GREATER_EQUAL);
}

/* ---- steps; false: nothing more can be said of the page ---- */

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

/* Of the arrow, as it leaves from; never NULL but when memory is full. */
const struct drawing_label *drawing_label_of(struct drawing_page *page,
                                             struct drawing_cell *arrow);

/* Of a box with assignments. */
const struct drawing_label *drawing_box_of(struct drawing_page *page, struct drawing_cell *box);

#endif
