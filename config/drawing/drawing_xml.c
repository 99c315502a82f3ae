/* config/drawing/drawing_xml.c - reads the XML of draw.io into sheets of cells. */
#include <ctype.h>
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "config/drawing/drawing_cells.h"
#include "config/drawing/drawing_text.h"
#include "config/drawing/drawing_unpack.h"

enum { DEPTH_MAX = 64, SHOWN_MAX = 40 };

/* The kind of an element, from its name and its parent. */
enum element {
    ELEMENT_OTHER,
    ELEMENT_SVG,
    ELEMENT_FILE,
    ELEMENT_PAGE,
    ELEMENT_MODEL,
    ELEMENT_ROOT,
    ELEMENT_WRAPPER, /* holds a cell's id and label */
    ELEMENT_CELL,
    ELEMENT_GEOMETRY,
    ELEMENT_POINTS
};

struct xml_reader {
    struct drawing_memory *m;
    XML_Parser parser;
    enum element stack[DEPTH_MAX];
    size_t depth;
    struct drawing_sheet *sheets;
    size_t sheet_count;
    struct drawing_sheet *sheet; /* the sheet that is being read */
    bool has_model;              /* a model was seen on this page */
    bool bare;                   /* the document is one page's model */
    bool open;                   /* a cell is being read: the last one of its sheet */
    bool placed;                 /* it has its geometry */
    const char *label, *id;      /* from the wrapper around the cell; NULL: none */
    char *packed;                /* text of a page */
    size_t packed_bytes;
    const char *content; /* of an SVG */
    struct err *err;
    enum status status;
};

static void stop_reading(struct xml_reader *x, enum status status, enum fault fault,
                         const char *what)
{
    if (x->status == STATUS_OK) {
        x->status = err_set(x->err, status, fault, "", "%s", what);
        (void)XML_StopParser(x->parser, XML_FALSE);
    }
}

static const char *find_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

static bool has_value(const char **attributes, const char *name, const char *value)
{
    const char *there = find_attribute(attributes, name);
    return there && strcmp(there, value) == 0;
}

/* NULL stays NULL. */
static const char *copy_text(struct xml_reader *x, const char *text)
{
    return text ? drawing_copy(x->m, text, strlen(text)) : NULL;
}

/* ---- pages ---- */

static void begin_page(struct xml_reader *x, const char *name)
{
    char numbered[SHOWN_MAX];
    if (x->sheet_count == DRAWING_PAGES_MAX) {
        stop_reading(x, STATUS_E_PARSE, FAULT_TOO_MANY, "more than 64 pages");
        return;
    }
    x->sheet = drawing_add(x->m, &x->sheets, &x->sheet_count, sizeof *x->sheets);
    if (!x->sheet) {
        return;
    }
    (void)snprintf(numbered, sizeof numbered, "Page-%zu", x->sheet_count);
    *x->sheet = (struct drawing_sheet){.name = copy_text(x, name && *name ? name : numbered)};
    x->has_model = false;
    x->packed = NULL;
    x->packed_bytes = 0;
}

/* ---- cells ---- */

/* Returns the cell that is being read. */
static struct drawing_cell *open_cell(const struct xml_reader *x)
{
    return &x->sheet->cells[x->sheet->count - 1];
}

static void begin_cell(struct xml_reader *x, const char **attributes)
{
    struct drawing_sheet *sheet = x->sheet;
    if (sheet->fault.code != STATUS_OK) {
        return;
    }
    if (sheet->count == DRAWING_CELLS_MAX) {
        (void)err_set(&sheet->fault, STATUS_E_PARSE, FAULT_TOO_MANY, "",
                      "more than %d cells on a page", DRAWING_CELLS_MAX);
        return;
    }
    struct drawing_cell *cell =
        drawing_add(x->m, &sheet->cells, &sheet->count, sizeof *sheet->cells);
    if (!cell) {
        return;
    }
    const char *id = x->id ? x->id : copy_text(x, find_attribute(attributes, "id"));
    const char *value = x->label ? x->label : find_attribute(attributes, "value");
    const char *style = copy_text(x, find_attribute(attributes, "style"));
    *cell = (struct drawing_cell){
        .id = id ? id : "",
        .style = style ? style : "",
        .text = "",
        .label = "",
        .parent_id = copy_text(x, find_attribute(attributes, "parent")),
        .source_id = copy_text(x, find_attribute(attributes, "source")),
        .target_id = copy_text(x, find_attribute(attributes, "target")),
        .edge = has_value(attributes, "edge", "1"),
        .vertex = has_value(attributes, "vertex", "1"),
        .hidden = has_value(attributes, "visible", "0"),
        .from_gap = -1.0,
        .to_gap = -1.0,
    };
    if (value) {
        cell->text = drawing_plain(x->m, value, strstr(cell->style, "html=1") != NULL);
    }
    x->open = true;
    x->placed = false;
}

/* Reads a number of a cell. An invalid number makes its page unreadable. */
static double read_pixels(struct xml_reader *x, const char **attributes, const char *name)
{
    const char *text = find_attribute(attributes, name);
    struct drawing_sheet *sheet = x->sheet;
    double value = 0.0;
    if (!text || *text == '\0') {
        return 0.0;
    }
    const char *end = number_scan(text, text + strlen(text), &value);
    if (end == text || *end != '\0' || !(fabs(value) <= DRAWING_REACH_MAX)) {
        if (sheet->fault.code == STATUS_OK) {
            sheet->fault_cell_id = open_cell(x)->id;
            (void)err_set(&sheet->fault, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, "",
                          "%s is '%.40s': a number of pixels up to %d is wanted", name, text,
                          DRAWING_REACH_MAX);
        }
        return 0.0;
    }
    return value;
}

static void begin_geometry(struct xml_reader *x, const char **attributes)
{
    struct drawing_cell *cell = open_cell(x);
    x->placed = true;
    cell->x = read_pixels(x, attributes, "x");
    cell->y = read_pixels(x, attributes, "y");
    cell->width = read_pixels(x, attributes, "width");
    cell->height = read_pixels(x, attributes, "height");
    cell->relative = has_value(attributes, "relative", "1");
}

static void add_point(struct xml_reader *x, const char **attributes, bool listed)
{
    struct drawing_cell *cell = open_cell(x);
    const struct drawing_point p = {read_pixels(x, attributes, "x"),
                                    read_pixels(x, attributes, "y")};
    if (listed) {
        struct drawing_point *more =
            drawing_add(x->m, &cell->points, &cell->point_count, sizeof p);
        if (more) {
            *more = p;
        }
    } else if (has_value(attributes, "as", "sourcePoint")) {
        cell->tail = p;
        cell->has_tail = true;
    } else if (has_value(attributes, "as", "targetPoint")) {
        cell->head = p;
        cell->has_head = true;
    }
}

/* ---- elements ---- */

/* Names match with or without a prefix: "svg:svg". */
static bool is_named(const char *name, const char *wanted)
{
    const char *colon = strrchr(name, ':');
    return strcmp(colon ? colon + 1 : name, wanted) == 0;
}

static enum element begin_document(struct xml_reader *x, const char *name,
                                   const char **attributes)
{
    if (is_named(name, "svg")) {
        x->content = copy_text(x, find_attribute(attributes, "content"));
        return ELEMENT_SVG;
    }
    if (strcmp(name, "mxGraphModel") == 0) {
        begin_page(x, NULL);
        x->has_model = true;
        x->bare = true;
        return ELEMENT_MODEL;
    }
    if (strcmp(name, "mxfile") == 0) {
        return ELEMENT_FILE;
    }
    char what[ERR_TEXT_MAX];
    (void)snprintf(what, sizeof what, "no draw.io file: its first element is <%.40s>", name);
    stop_reading(x, STATUS_E_PARSE, FAULT_WRONG_FILE, what);
    return ELEMENT_OTHER;
}

static enum element begin_within_root(struct xml_reader *x, const char *name,
                                      const char **attributes, bool wrapped)
{
    if (strcmp(name, "mxCell") == 0) {
        begin_cell(x, attributes);
        return x->open ? ELEMENT_CELL : ELEMENT_OTHER;
    }
    if (!wrapped && (strcmp(name, "UserObject") == 0 || strcmp(name, "object") == 0)) {
        const char *label = copy_text(x, find_attribute(attributes, "label"));
        const char *id = copy_text(x, find_attribute(attributes, "id"));
        x->label = label ? label : "";
        x->id = id ? id : "";
        return ELEMENT_WRAPPER;
    }
    return ELEMENT_OTHER;
}

static enum element begin_within(struct xml_reader *x, enum element parent, const char *name,
                                 const char **attributes)
{
    switch (parent) {
    case ELEMENT_FILE:
        if (strcmp(name, "diagram") == 0) {
            begin_page(x, find_attribute(attributes, "name"));
            return ELEMENT_PAGE;
        }
        break;
    case ELEMENT_PAGE:
        if (strcmp(name, "mxGraphModel") == 0 && !x->has_model) {
            x->has_model = true;
            return ELEMENT_MODEL;
        }
        break;
    case ELEMENT_MODEL:
        return strcmp(name, "root") == 0 ? ELEMENT_ROOT : ELEMENT_OTHER;
    case ELEMENT_ROOT:
        return begin_within_root(x, name, attributes, false);
    case ELEMENT_WRAPPER:
        return begin_within_root(x, name, attributes, true);
    case ELEMENT_CELL:
        if (strcmp(name, "mxGeometry") == 0 && !x->placed) {
            begin_geometry(x, attributes);
            return ELEMENT_GEOMETRY;
        }
        break;
    case ELEMENT_GEOMETRY:
    case ELEMENT_POINTS:
        if (strcmp(name, "mxPoint") == 0) {
            add_point(x, attributes, parent == ELEMENT_POINTS);
        }
        return parent == ELEMENT_GEOMETRY && strcmp(name, "Array") == 0 ? ELEMENT_POINTS
                                                                        : ELEMENT_OTHER;
    case ELEMENT_OTHER:
    case ELEMENT_SVG:
        break;
    }
    return ELEMENT_OTHER;
}

static void begin_element(void *user, const char *name, const char **attributes)
{
    struct xml_reader *x = user;
    /* The parser reports a few more elements after it was stopped. */
    if (x->status != STATUS_OK) {
        return;
    }
    if (x->depth == DEPTH_MAX) {
        stop_reading(x, STATUS_E_PARSE, FAULT_TOO_DEEP, "elements nested deeper than 64");
        return;
    }
    const enum element element =
        x->depth == 0 ? begin_document(x, name, attributes)
                      : begin_within(x, x->stack[x->depth - 1], name, attributes);
    x->stack[x->depth++] = element;
    if (x->m->full) {
        stop_reading(x, STATUS_E_NOMEM, FAULT_NO_MEMORY, "not enough memory to read it");
    }
}

static enum status parse_xml(struct xml_reader *x, const char *text, size_t bytes);

/* Unpacks a packed page into its sheet. */
static void unpack_page(struct xml_reader *x)
{
    struct err err = {0};
    struct xml_reader inner = {.m = x->m, .err = &err};
    const char *text = NULL;
    size_t bytes = 0;
    enum status st = drawing_from_packed(x->m, x->packed, x->packed_bytes, &text, &bytes, &err);
    st = st == STATUS_OK ? parse_xml(&inner, text, bytes) : st;
    if (st == STATUS_OK && inner.bare) {
        inner.sheets[0].name = x->sheet->name;
        *x->sheet = inner.sheets[0];
    } else {
        (void)err_set(&err, STATUS_E_PARSE, FAULT_WRONG_FILE, "", "there is no drawing in it");
        x->sheet->fault = err;
    }
}

static void end_element(void *user, const char *name)
{
    struct xml_reader *x = user;
    (void)name;
    if (x->status != STATUS_OK) {
        return;
    }
    const enum element element = x->stack[--x->depth];
    if (element == ELEMENT_CELL) {
        x->open = false;
    } else if (element == ELEMENT_WRAPPER) {
        x->label = x->id = NULL;
    } else if (element == ELEMENT_PAGE && !x->has_model) {
        unpack_page(x);
    }
}

static void add_characters(void *user, const char *text, int bytes)
{
    struct xml_reader *x = user;
    if (x->status != STATUS_OK || x->depth == 0 || x->has_model ||
        x->stack[x->depth - 1] != ELEMENT_PAGE) {
        return;
    }
    for (int i = 0; i < bytes; i++) {
        if (isspace((unsigned char)text[i])) {
            continue;
        }
        char *more = drawing_add(x->m, &x->packed, &x->packed_bytes, 1);
        if (!more) {
            stop_reading(x, STATUS_E_NOMEM, FAULT_NO_MEMORY, "not enough memory to read it");
            return;
        }
        *more = text[i];
    }
}

static void refuse_entity(void *user, const char *name, int parameter, const char *value,
                          int bytes, const char *base, const char *system, const char *public,
                          const char *notation)
{
    (void)name, (void)parameter, (void)value, (void)bytes, (void)base, (void)system,
        (void)public, (void)notation;
    stop_reading(user, STATUS_E_PARSE, FAULT_UNSUPPORTED,
                 "XML with entities of its own is not read");
}

static enum status parse_xml(struct xml_reader *x, const char *text, size_t bytes)
{
    x->parser = XML_ParserCreate(NULL);
    if (!x->parser) {
        return err_no_memory(x->err, "", "not enough memory to read it");
    }
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(x->parser, add_characters);
    XML_SetEntityDeclHandler(x->parser, refuse_entity);
    if (XML_Parse(x->parser, text, (int)bytes, 1) != XML_STATUS_OK && x->status == STATUS_OK) {
        x->status = err_set(x->err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, "",
                            "no XML: line %lu, column %lu: %s",
                            (unsigned long)XML_GetCurrentLineNumber(x->parser),
                            (unsigned long)XML_GetCurrentColumnNumber(x->parser) + 1,
                            XML_ErrorString(XML_GetErrorCode(x->parser)));
    }
    XML_ParserFree(x->parser);
    if (x->m->full && x->status == STATUS_OK) {
        x->status = err_no_memory(x->err, "", "it needs more memory than there is");
    }
    return x->status;
}

enum status drawing_sheets(struct drawing_memory *m, const char *data, size_t bytes,
                           struct drawing_sheet **sheets, size_t *count, struct err *err)
{
    struct xml_reader x = {.m = m, .err = err};
    enum status st = STATUS_OK;
    if (bytes > DRAWING_BYTES_MAX) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LARGE, "", "larger than %d MiB",
                       DRAWING_BYTES_MAX >> 20);
    }
    if (drawing_is_png(data, bytes)) {
        st = drawing_from_png(m, data, bytes, &data, &bytes, err);
    }
    st = st == STATUS_OK ? parse_xml(&x, data, bytes) : st;
    if (st == STATUS_OK && x.depth == 0 && x.sheet_count == 0 && x.content) {
        const char *content = x.content;
        x = (struct xml_reader){.m = m, .err = err};
        st = parse_xml(&x, content, strlen(content));
    }
    if (st == STATUS_OK && x.sheet_count == 0) {
        st = err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, "",
                     "no diagram inside: export with \"include a copy of my diagram\"");
    }
    if (st == STATUS_OK) {
        *sheets = x.sheets;
        *count = x.sheet_count;
    }
    return st;
}
