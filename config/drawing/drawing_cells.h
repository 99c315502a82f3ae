/* config/drawing/drawing_cells.h - the cells on a page of a drawing, as the file has them, and
 * their places on the page.
 */
#ifndef CONFIG_DRAWING_DRAWING_CELLS_H
#define CONFIG_DRAWING_DRAWING_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "config/drawing/drawing_memory.h"

enum {
    DRAWING_CELLS_MAX = 20000,  /* per page */
    DRAWING_PAGES_MAX = 64,     /* per file */
    DRAWING_PARENTS_MAX = 64,   /* levels of nesting */
    DRAWING_REACH_MAX = 1000000 /* pixels: largest coordinate */
};

struct drawing_point {
    double x, y; /* pixels, y downwards */
};

/* The shape of a cell, from its style. */
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

/* The meaning of a shape for the machine. */
enum drawing_role {
    ROLE_NONE, /* no part of the machine */
    ROLE_STATE,
    ROLE_PUSH, /* a state that is pushed onto the stack */
    ROLE_POP,
    ROLE_HEXAGON, /* the whole stack is cleared, or its top is the target */
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
    struct drawing_cell *parent, *source, *target; /* NULL: none, or not in the file */
    /* relative: coordinates along its edge, not pixels */
    bool edge, vertex, relative;
    bool hidden;                     /* the cell, or one of its parents */
    double x, y, width, height;      /* x, y as in the file */
    double left, top;                /* pixels on the page, for shapes */
    bool has_tail, has_head;         /* for edges: loose ends */
    struct drawing_point tail, head; /* on the page */
    struct drawing_point *points;    /* between the ends */
    size_t point_count;

    enum drawing_kind kind; /* for shapes */
    enum drawing_role role;
    const char *name; /* of a shape: the first line of its text */
    bool holds;       /* other shapes lie in it */
    bool final;       /* the machine ends in this state */

    struct drawing_cell *from, *to; /* for edges: the shapes at its ends, NULL: none */
    double from_gap, to_gap;        /* pixels to the nearest shape; -1.0: the end is attached */
    const char *own_label;          /* for edges: its own and its children's text … */
    const char *label;              /* … and the text next to it */
    struct drawing_point *path;     /* [path_count >= 2] once it is found */
    size_t path_count;
    bool walked;                    /* part of a path that was followed */
    struct drawing_cell *next_out;  /* next arrow with the same source */
    struct drawing_cell *first_out; /* for shapes: the first arrow that leaves it, … */
    struct drawing_cell *last_out;  /* … and the last */
    bool entered;                   /* for shapes: an arrow ends there */
    struct drawing_cell *
        *touching; /* [touching_count]: touching shapes of a bubble or hexagon */
    size_t touching_count;
    struct drawing_label *parsed; /* meaning of the label, parsed on first use */
    const char *place;            /* place in words, made on first use */
};

struct drawing_sheet { /* a page as it stands in the file */
    const char *name;
    size_t count;
    struct drawing_cell *cells;
    struct err fault;          /* STATUS_OK: the page was read */
    const char *fault_cell_id; /* the faulty cell; NULL: none */
};

/* Read a draw.io file: XML, a PNG or SVG with the diagram inside, packed pages, or a bare
 * model. sheets [*count] live in *m. STATUS_E_PARSE or STATUS_E_NOMEM with err when it is no
 * such file. */
MUST_USE enum status drawing_sheets(struct drawing_memory *m, const char *data, size_t bytes,
                                    struct drawing_sheet **sheets, size_t *count,
                                    struct err *err);

/* Find parents, ends and the place of every cell on the page. */
void drawing_place_cells(struct drawing_memory *m, struct drawing_sheet *sheet);

/* Returns the value of a key in a style, "" when there is none; writes its length to *bytes. */
const char *drawing_style(const struct drawing_cell *cell, const char *key, size_t *bytes);
bool drawing_style_is(const struct drawing_cell *cell, const char *key, const char *value);

enum drawing_kind drawing_kind_of(const struct drawing_cell *cell);

/* ---- distances, in pixels ---- */

struct drawing_point drawing_centre(const struct drawing_cell *cell);

/* From a point to a shape's box; 0 inside it. */
double drawing_distance(const struct drawing_cell *cell, struct drawing_point p);

/* Between the boxes of two shapes. */
double drawing_gap(const struct drawing_cell *a, const struct drawing_cell *b);

/* From a text's box to an arrow. */
double drawing_label_distance(const struct drawing_cell *text,
                              const struct drawing_cell *arrow);

/* The point at which the line from a shape's middle to a point leaves the shape's box. */
struct drawing_point drawing_border(const struct drawing_cell *cell, struct drawing_point to);

#endif
