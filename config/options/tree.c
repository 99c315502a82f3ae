#include "config/options/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/text/names.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

struct frame {
    uint32_t node, last_child;
    bool have_key; /* a key was read, its value comes next */
    bool bad_key;  /* reported: its value will be skipped */
    uint32_t key_at;
    unsigned key_line, key_column;
};

struct builder {
    struct tree *tree;
    struct err_list *errors;
    const char *file;
    enum status status;
    bool over; /* the stream has ended, or reading further makes no sense */
    unsigned documents;
    size_t depth;
    struct frame frames[TREE_DEPTH_MAX];
};

const char *tree_key(const struct tree *tree, uint32_t node)
{
    return tree->pool + tree->nodes[node].key_at;
}

const char *tree_text(const struct tree *tree, uint32_t node)
{
    return tree->pool + tree->nodes[node].text_at;
}

void tree_finish(struct tree *tree)
{
    if (tree) {
        free(tree->nodes);
        free(tree->pool);
        *tree = (struct tree){0};
    }
}

/* --- faults --------------------------------------------------------------------------- */

static void set_fault(struct builder *b, enum status status)
{
    if (b->status == STATUS_OK || status == STATUS_E_NOMEM) {
        b->status = status;
    }
}

static void stop_reading(struct builder *b, enum status status)
{
    set_fault(b, status);
    b->over = true;
    b->tree->partial = true;
}

static PRINTF_LIKE(5, 6) void report_fault(struct builder *b, enum fault fault, unsigned line,
                                           unsigned column, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    (void)err_list_add(b->errors, STATUS_E_PARSE, fault, b->file, line, column, "%s", text);
    set_fault(b, STATUS_E_PARSE);
}

/* A mark's line and column, 1-based. */
#define AT(mark) (unsigned)(mark)->line + 1, (unsigned)(mark)->column + 1

/* --- the text, before libyaml sees it ------------------------------------------------- */

struct scan {
    size_t at, line_at; /* bytes */
    unsigned line, column;
    bool indent; /* only blanks in this line so far */
};

static void advance_scan(struct scan *s, size_t n, uint32_t code, const char *text,
                         size_t bytes)
{
    s->at += n;
    s->column++;
    const bool crlf = code == '\r' && s->at < bytes && text[s->at] == '\n';
    if (code == '\n' || (code == '\r' && !crlf)) {
        s->line++;
        s->column = 1;
        s->line_at = s->at;
        s->indent = true;
    } else if (code != ' ' && code != '\r' && code != '\t') {
        s->indent = false;
    }
}

static bool is_utf16(const char *text, size_t bytes)
{
    return bytes >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
}

/* Finds faults that libyaml would report badly or without a place: encoding, control
 * characters, and tabs in the indentation. Returns the number of bytes before the first faulty
 * line, and sets that line's number in the tree. Returns all bytes when no line is faulty. */
static size_t check_text(struct builder *b, const char *text, size_t bytes)
{
    struct scan s = {.line = 1, .column = 1, .indent = true};
    unsigned *cut_line = &b->tree->cut_line;
    size_t usable = bytes;
    unsigned tab_line = 0;

    if (is_utf16(text, bytes)) {
        report_fault(b, FAULT_BAD_ENCODING, 1, 1, "the file is UTF-16, save it as UTF-8");
        *cut_line = 1;
        return 0;
    }
    while (s.at < bytes) {
        uint32_t code = 0;
        const size_t n = utf8_next(text + s.at, bytes - s.at, &code);
        const bool tab = n > 0 && code == '\t' && s.indent && tab_line != s.line;
        const bool bad = n == 0 || !utf8_is_printable(code);
        if (n == 0) {
            report_fault(b, FAULT_BAD_ENCODING, s.line, s.column,
                         "byte 0x%02X is not UTF-8, save the file as UTF-8",
                         (unsigned)(unsigned char)text[s.at]);
        } else if (bad) {
            report_fault(b, FAULT_BAD_ENCODING, s.line, s.column,
                         "character U+%04X does not belong into a text file, remove it",
                         (unsigned)code);
        } else if (tab) {
            report_fault(b, FAULT_BAD_SYNTAX, s.line, s.column,
                         "tab in the indentation, indent with spaces");
            tab_line = s.line;
        }
        if ((bad || tab) && *cut_line == 0) {
            usable = s.line_at;
            *cut_line = s.line;
        }
        if (bad) {
            break;
        }
        advance_scan(&s, n, code, text, bytes);
    }
    return usable;
}

/* --- storage -------------------------------------------------------------------------- */

static bool grow_block(void **block, size_t capacity, size_t size)
{
    void *grown = reallocarray(*block, capacity, size);
    if (!grown) {
        return false;
    }
    *block = grown;
    return true;
}

static uint32_t add_text(struct builder *b, const char *text, size_t bytes)
{
    struct tree *t = b->tree;
    if (t->pool_capacity - t->pool_bytes < bytes + 1) {
        const size_t capacity = 2 * t->pool_capacity + bytes + 256;
        void *block = t->pool;
        if (!grow_block(&block, capacity, 1)) {
            stop_reading(b, STATUS_E_NOMEM);
            return 0;
        }
        t->pool = block;
        t->pool_capacity = capacity;
    }
    const size_t at = t->pool_bytes;
    memcpy(t->pool + at, text, bytes);
    t->pool[at + bytes] = '\0';
    t->pool_bytes += bytes + 1;
    return (uint32_t)at;
}

/* Appends a node below the open map or list. Returns its index, TREE_NONE when it could not. */
static uint32_t add_node(struct builder *b, enum tree_kind kind, const yaml_mark_t *mark)
{
    struct tree *t = b->tree;
    if (t->count == TREE_NODES_MAX) {
        report_fault(b, FAULT_TOO_MANY, AT(mark), "too many values in one file");
        stop_reading(b, STATUS_E_PARSE);
        return TREE_NONE;
    }
    if (t->count == t->capacity) {
        const uint32_t capacity = 2 * t->capacity + 64;
        void *block = t->nodes;
        if (!grow_block(&block, capacity, sizeof t->nodes[0])) {
            stop_reading(b, STATUS_E_NOMEM);
            return TREE_NONE;
        }
        t->nodes = block;
        t->capacity = capacity;
    }
    const uint32_t index = t->count++;
    struct tree_node *node = &t->nodes[index];
    *node = (struct tree_node){
        .kind = kind, .line = (unsigned)mark->line + 1, .column = (unsigned)mark->column + 1};
    if (b->depth == 0) {
        return index;
    }
    struct frame *f = &b->frames[b->depth - 1];
    if (f->have_key) {
        node->kind = f->bad_key ? TREE_SKIPPED : kind;
        node->key_at = f->key_at;
        node->key_line = f->key_line;
        node->key_column = f->key_column;
        f->have_key = false;
    }
    if (f->last_child == TREE_NONE) {
        t->nodes[f->node].first = index;
    } else {
        t->nodes[f->last_child].next = index;
    }
    f->last_child = index;
    t->nodes[f->node].count++;
    return index;
}

/* --- events --------------------------------------------------------------------------- */

static bool expects_key(const struct builder *b)
{
    return b->depth > 0 && b->tree->nodes[b->frames[b->depth - 1].node].kind != TREE_LIST &&
           !b->frames[b->depth - 1].have_key;
}

static void set_key(struct builder *b, uint32_t text_at, bool bad, const yaml_mark_t *mark)
{
    struct frame *f = &b->frames[b->depth - 1];
    f->have_key = true;
    f->bad_key = bad;
    f->key_at = text_at;
    f->key_line = (unsigned)mark->line + 1;
    f->key_column = (unsigned)mark->column + 1;
}

static void refuse_properties(struct builder *b, const yaml_char_t *anchor,
                              const yaml_char_t *tag, const yaml_mark_t *mark)
{
    if (anchor) {
        report_fault(b, FAULT_UNSUPPORTED, AT(mark),
                     "anchors (&name) are not read, write the value where it belongs");
    }
    if (tag) {
        report_fault(b, FAULT_UNSUPPORTED, AT(mark), "tags (!name) are not read, remove it");
    }
}

/* Escapes in double quotes could bring in characters that check_text() refuses. */
static bool is_clean(const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        const size_t n = utf8_next(text + at, bytes - at, &code);
        if (n == 0 || code < 0x20 || !utf8_is_printable(code)) {
            return false;
        }
        at += n;
    }
    return true;
}

static void on_scalar(struct builder *b, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;
    /* libyaml's characters are unsigned. */
    const char *text = (const char *)event->data.scalar.value;
    const size_t bytes = event->data.scalar.length;
    const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool bad = false;

    refuse_properties(b, event->data.scalar.anchor, event->data.scalar.tag, mark);
    if (!is_clean(text, bytes)) {
        report_fault(b, FAULT_BAD_ENCODING, AT(mark),
                     "line breaks, tabs and control characters are not read in a value");
        bad = true;
    }
    const uint32_t text_at = add_text(b, text, bad ? 0 : bytes);
    if (expects_key(b)) {
        if (plain && strcmp(text, "<<") == 0) {
            report_fault(b, FAULT_UNSUPPORTED, AT(mark),
                         "merge keys (<<) are not read, write the keys out or under defaults");
            bad = true;
        }
        set_key(b, text_at, bad, mark);
        return;
    }
    const uint32_t node = add_node(b, bad ? TREE_SKIPPED : TREE_SCALAR, mark);
    if (!b->over) {
        b->tree->nodes[node].plain = plain;
        b->tree->nodes[node].text_at = text_at;
    }
}

static void on_alias(struct builder *b, const yaml_mark_t *mark)
{
    report_fault(b, FAULT_UNSUPPORTED, AT(mark),
                 "aliases (*name) are not read, write the value out");
    if (expects_key(b)) {
        set_key(b, add_text(b, "", 0), true, mark);
    } else {
        (void)add_node(b, TREE_SKIPPED, mark);
    }
}

static void on_open(struct builder *b, enum tree_kind kind, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;
    if (kind == TREE_MAP) {
        refuse_properties(b, event->data.mapping_start.anchor, event->data.mapping_start.tag,
                          mark);
    } else {
        refuse_properties(b, event->data.sequence_start.anchor, event->data.sequence_start.tag,
                          mark);
    }
    if (expects_key(b)) {
        report_fault(b, FAULT_TEXT_EXPECTED, AT(mark),
                     "a key is wanted here, not a list or a map");
        stop_reading(b, STATUS_E_PARSE);
        return;
    }
    if (b->depth == TREE_DEPTH_MAX) {
        report_fault(b, FAULT_TOO_DEEP, AT(mark), "nested too deep");
        stop_reading(b, STATUS_E_PARSE);
        return;
    }
    const uint32_t node = add_node(b, kind, mark);
    if (!b->over) {
        b->frames[b->depth++] = (struct frame){.node = node};
    }
}

/* Marks all but the first of equal keys, so that only one of them is read. */
static void check_duplicates(struct builder *b, uint32_t map)
{
    struct tree *t = b->tree;
    const size_t n = t->nodes[map].count;
    if (n < 2 || t->nodes[map].kind == TREE_LIST) {
        return;
    }
    struct name_at *list = calloc(n, sizeof list[0]);
    if (!list) {
        stop_reading(b, STATUS_E_NOMEM);
        return;
    }
    size_t k = 0;
    for (uint32_t i = t->nodes[map].first; i != TREE_NONE; i = t->nodes[i].next) {
        list[k++] = (struct name_at){tree_key(t, i), i};
    }
    qsort(list, n, sizeof list[0], names_by_name);
    for (size_t i = 1, first = 0; i < n; i++) {
        struct tree_node *node = &t->nodes[list[i].at];
        if (strcmp(list[i].name, list[first].name) != 0) {
            first = i;
        } else if (node->kind != TREE_SKIPPED) {
            report_fault(b, FAULT_DUPLICATE_NAME, node->key_line, node->key_column,
                         "'%.40s' is given twice, first on line %u; keep one of them",
                         list[i].name, t->nodes[list[first].at].key_line);
            node->kind = TREE_SKIPPED;
        }
    }
    free(list);
}

static void on_document(struct builder *b, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;
    if (++b->documents > 1) {
        report_fault(b, FAULT_UNSUPPORTED, AT(mark),
                     "a second document begins here; a file holds one, remove the '---'");
        b->over = true;
        return;
    }
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end) {
        report_fault(b, FAULT_UNSUPPORTED, AT(mark),
                     "tag directives (%%TAG) are not read, remove it");
    }
}

static void on_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        on_document(b, event);
        break;
    case YAML_SCALAR_EVENT:
        on_scalar(b, event);
        break;
    case YAML_ALIAS_EVENT:
        on_alias(b, &event->start_mark);
        break;
    case YAML_MAPPING_START_EVENT:
        on_open(b, TREE_MAP, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        on_open(b, TREE_LIST, event);
        break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        b->depth--;
        check_duplicates(b, b->frames[b->depth].node);
        break;
    case YAML_STREAM_END_EVENT:
        b->over = true;
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
}

/* Returns the most likely cause of a libyaml message. */
static const char *hint_for(const char *problem)
{
    static const struct {
        const char *problem, *hint;
    } table[] = {
        {"cannot start any token", "quote texts that begin with @ ` or %"},
        {"could not find expected ':'", "a key needs a colon and a space behind it"},
        {"mapping values are not allowed",
         "a key is indented too far, or a text with ': ' needs quotes"},
        {"expected key", "check the indentation of this line against the lines above"},
        {"expected ',' or",
         "a bracket is not closed, a comma is missing, or a text with brackets lacks quotes"},
        {"unexpected end of stream", "a quote is not closed"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        if (problem && strstr(problem, table[i].problem)) {
            return table[i].hint;
        }
    }
    return "check the indentation, the colons and the quotes";
}

static void on_parser_error(struct builder *b, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        stop_reading(b, STATUS_E_NOMEM);
        return;
    }
    const yaml_mark_t *mark = &parser->problem_mark;
    const unsigned line = (unsigned)mark->line + 1;
    if (b->tree->cut_line > 0 && line >= b->tree->cut_line) {
        /* The cut text ends early, so this fault is our own doing. */
        stop_reading(b, STATUS_E_PARSE);
        return;
    }
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    const char *context = parser->context ? parser->context : "";
    char from[96] = "";
    b->tree->cut_line = line;
    if (strstr(context, "quoted scalar")) {
        /* The opening quote is the useful place, not the end of the file. */
        mark = &parser->context_mark;
    } else if (context[0] != '\0') {
        (void)snprintf(from, sizeof from, " %s from line %u", context,
                       (unsigned)parser->context_mark.line + 1);
    }
    report_fault(b, FAULT_BAD_SYNTAX, AT(mark), "not valid YAML: %s%s; %s", problem, from,
                 hint_for(problem));
    stop_reading(b, STATUS_E_PARSE);
}

static void build_tree(struct builder *b, yaml_parser_t *parser)
{
    while (!b->over) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            on_parser_error(b, parser);
            break;
        }
        on_event(b, &event);
        yaml_event_delete(&event);
    }
    /* Maps that were open when reading stopped may still hold a key twice. */
    while (b->depth > 0 && b->status != STATUS_E_NOMEM) {
        b->depth--;
        check_duplicates(b, b->frames[b->depth].node);
    }
}

enum status tree_parse(const char *text, size_t bytes, const char *file, struct tree *tree,
                       struct err_list *errors)
{
    *tree = (struct tree){0};
    if (bytes > TREE_BYTES_MAX) {
        return err_list_add(errors, STATUS_E_PARSE, FAULT_TOO_LARGE, file, 0, 0,
                            "the file is larger than %d MiB, split the lab",
                            TREE_BYTES_MAX >> 20);
    }
    if (utf8_mark(text, bytes) > 0) { /* Some editors write a byte order mark. */
        text += 3;
        bytes -= 3;
    }
    struct builder b = {.tree = tree, .errors = errors, .file = file};
    const size_t usable = check_text(&b, text, bytes);
    tree->partial = tree->cut_line > 0;
    (void)add_text(&b, "", 0); /* Nodes without key or text point at this empty text. */
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return STATUS_E_NOMEM;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, usable);
    build_tree(&b, &parser);
    yaml_parser_delete(&parser);
    return b.status;
}

bool tree_is(const struct tree *tree, uint32_t node, enum tree_kind kind)
{
    return node != TREE_NONE && tree->nodes[node].kind == kind;
}

const char *tree_scalar(const struct tree *tree, uint32_t node)
{
    return tree_is(tree, node, TREE_SCALAR) ? tree_text(tree, node) : "";
}

uint32_t tree_child(const struct tree *tree, uint32_t node, const char *key)
{
    uint32_t i = tree->nodes[node].kind == TREE_MAP ? tree->nodes[node].first : TREE_NONE;
    while (i != TREE_NONE &&
           (tree->nodes[i].kind == TREE_SKIPPED || strcmp(tree_key(tree, i), key) != 0)) {
        i = tree->nodes[i].next;
    }
    return i;
}
