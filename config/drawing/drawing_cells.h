/* config/drawing/drawing_cells.h - what lies on a page of a drawing: cells, as the file has
 * them, and where they are.
 */
#ifndef CONFIG_DRAWING_DRAWING_CELLS_H
#define CONFIG_DRAWING_DRAWING_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "config/drawing/drawing_memory.h"

enum {
    DRAWING_CELLS_MAX = 20000,  /* of a page */
    DRAWING_PAGES_MAX = 64,     /* of a file */
    DRAWING_PARENTS_MAX = 64,   /* one in the other */
    DRAWING_REACH_MAX = 1000000 /* pixels: no number of a drawing is beyond */
};

struct drawing_point {
    double x, y; /* pixels, y downwards */
};

/* What a shape looks like. */
enum drawing_kind {
    DRAWING_RECT,
    DRAWING_ROUND,
    DRAWING_ELLIPSE,
    DRAWING_SWIMLANE,
    DRAWING_RHOMBUS,
    DRAWING_HEXAGON,
    DRAWING_START,
    DRAWING_END,
    DRAWING_NOTE,
    DRAWING_TEXT,
    DRAWING_EDGE_LABEL,
    DRAWING_GROUP,
    DRAWING_FRAME,
    DRAWING_IMAGE,
    DRAWING_LINE,
    DRAWING_OTHER,
    DRAWING_KIND_COUNT
};
extern const struct names drawing_kind_names; /* base/text/names.h */

/* What a shape is taken for. */
enum drawing_role {
    ROLE_NONE, /* nothing of the machine */
    ROLE_STATE,
    ROLE_PUSH, /* a state that is put on the stack */
    ROLE_POP,
    ROLE_HEXAGON, /* the whole stack: emptied, or its top */
    ROLE_START,
    ROLE_FINAL,
    ROLE_DECISION,
    ROLE_ACTION,
    ROLE_BAD_NAME,
    ROLE_BLANK,
    ROLE_OTHER,
    ROLE_COUNT
};
extern const struct names drawing_role_names;

struct drawing_label; /* drawing_parts.h */

struct drawing_cell {
    const char *id, *style, *text;                 /* never NULL; "" */
    const char *parent_id, *source_id, *target_id; /* NULL: none */
    struct drawing_cell *parent, *source, *target; /* NULL: none, or not there */
    bool edge, vertex, relative;                   /* relative: to its edge, no pixels */
    bool hidden;                                   /* itself, or what it lies in */
    double x, y, width, height;                    /* x, y as in the file */
    double left, top;                              /* of shapes, on the page */
    bool has_tail, has_head;                       /* of edges: loose ends */
    struct drawing_point tail, head;               /* on the page */
    struct drawing_point *points;                  /* on its way */
    size_t point_count;

    enum drawing_kind kind; /* of shapes */
    enum drawing_role role;
    bool holds; /* other shapes lie in it */
    bool final; /* a state that the machine ends in */

    struct drawing_cell *from, *to; /* of edges: the shapes at its ends, NULL: none */
    double from_gap, to_gap;        /* pixels: an end that is not attached; -1.0: it is */
    const char *own_label;          /* of edges: with its children's … */
    const char *label;              /* … and what lies beside it */
    struct drawing_point *path;     /* [path_count >= 2] once it is found */
    size_t path_count;
    bool walked;                    /* it is part of a way that was looked at */
    struct drawing_cell *next_out;  /* the next arrow that leaves from */
    struct drawing_cell *first_out; /* of shapes: the first arrow that leaves it, … */
    struct drawing_cell *last_out;  /* … and the last */
    bool entered;                   /* of shapes: an arrow ends there */
    struct drawing_cell *
        *touching; /* [touching_count]: of bubbles and hexagons, what they touch */
    size_t touching_count;
    struct drawing_label *parsed; /* what its label says, once it was asked for */
    const char *place;            /* in words, once it was asked for */
};

struct drawing_sheet { /* a page as it stands in the file */
    const char *name;
    size_t count;
    struct drawing_cell *cells;
    struct err fault;          /* why it could not be read; STATUS_OK: it could */
    const char *fault_cell_id; /* in this cell; NULL: in none */
};

/* Read a file of draw.io: XML, a PNG or SVG with the diagram inside, packed pages, or a bare
 * model. sheets [*count] lie in *m. STATUS_E_PARSE or STATUS_E_NOMEM with err when it is no
 * such file. */
MUST_USE enum status drawing_sheets(struct drawing_memory *m, const char *data, size_t bytes,
                                    struct drawing_sheet **sheets, size_t *count,
                                    struct err *err);

/* Find parents and ends, and where everything lies on the page. */
void drawing_place_cells(struct drawing_memory *m, struct drawing_sheet *sheet);

/* The value of a key in a style, "" when there is none; *bytes out. */
const char *drawing_style(const struct drawing_cell *cell, const char *key, size_t *bytes);
bool drawing_style_is(const struct drawing_cell *cell, const char *key, const char *value);

enum drawing_kind drawing_kind_of(const struct drawing_cell *cell);

/* ---- distances, in pixels ---- */

struct drawing_point drawing_centre(const struct drawing_cell *cell);

/* From a point to a shape's box; 0 within. */
double drawing_distance(const struct drawing_cell *cell, struct drawing_point p);

/* Between the boxes of two shapes. */
double drawing_gap(const struct drawing_cell *a, const struct drawing_cell *b);

/* From a text's box to an arrow. */
double drawing_label_distance(const struct drawing_cell *text,
                              const struct drawing_cell *arrow);

/* Where the line from a shape's middle to a point leaves its box. */
struct drawing_point drawing_border(const struct drawing_cell *cell, struct drawing_point to);

#endif
