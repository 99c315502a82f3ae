/* logger/message/ros_definition.c - resolves definitions of ROS 2 messages (ros_message.h). */
#include <string.h>

#include "logger/message/ros_message.h"

/* A piece of text. */
struct piece {
    const char *at;
    size_t n;
};

static const struct {
    const char *name, *text;
} known[] = {
#define ROS_TYPE(name, text) {name, text},
#include "logger/message/ros_types.def"
};

static const struct {
    const char *name;
    enum ros_type type;
} types[] = {{"bool", ROS_BOOL},       {"byte", ROS_UINT8},    {"char", ROS_UINT8},
             {"int8", ROS_INT8},       {"uint8", ROS_UINT8},   {"int16", ROS_INT16},
             {"uint16", ROS_UINT16},   {"int32", ROS_INT32},   {"uint32", ROS_UINT32},
             {"int64", ROS_INT64},     {"uint64", ROS_UINT64}, {"float32", ROS_FLOAT32},
             {"float64", ROS_FLOAT64}, {"string", ROS_STRING}, {"wstring", ROS_WSTRING}};

/* --- text -----------------------------------------------------------------------------------
 */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static bool piece_is(struct piece p, const char *text)
{
    return p.n == strlen(text) && memcmp(p.at, text, p.n) == 0;
}

static bool same_piece(struct piece a, struct piece b)
{
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

static struct piece trim_piece(struct piece p)
{
    while (p.n > 0 && is_blank(p.at[0])) {
        p.at++;
        p.n--;
    }
    while (p.n > 0 && is_blank(p.at[p.n - 1])) {
        p.n--;
    }
    return p;
}

/* Takes the next line off the text. */
static bool next_line(struct piece *text, struct piece *line)
{
    const char *end = text->n > 0 ? memchr(text->at, '\n', text->n) : NULL;
    *line = (struct piece){text->at, end ? (size_t)(end - text->at) : text->n};
    const bool found = text->n > 0;
    const size_t used = line->n + (end ? 1 : 0);
    text->at = text->n > 0 ? text->at + used : text->at;
    text->n -= used;
    return found;
}

/* The package and the last part of a type's name: "pkg", "Type". */
static void split_name(struct piece name, struct piece *package, struct piece *last)
{
    const char *first = name.n > 0 ? memchr(name.at, '/', name.n) : NULL;
    size_t begin = name.n;
    while (begin > 0 && name.at[begin - 1] != '/') {
        begin--;
    }
    *package = (struct piece){name.at, first ? (size_t)(first - name.at) : 0};
    *last = (struct piece){name.at + begin, name.n - begin};
}

static bool same_type(struct piece one, struct piece other)
{
    struct piece packages[2];
    struct piece lasts[2];
    split_name(one, &packages[0], &lasts[0]);
    split_name(other, &packages[1], &lasts[1]);
    return same_piece(packages[0], packages[1]) && same_piece(lasts[0], lasts[1]);
}

/* --- parts ----------------------------------------------------------------------------------
 */

static bool is_rule(struct piece line)
{
    size_t n = 0;
    while (n < line.n && line.at[n] == '=') {
        n++;
    }
    return n >= 3 && n == line.n;
}

/* Begins a part behind its line of '='. */
static enum status begin_part(struct ros_definition *d, struct piece *text, struct err *err)
{
    struct piece line = {"", 0};
    while (next_line(text, &line) && (line = trim_piece(line)).n == 0) {
    }
    if (line.n < 5 || memcmp(line.at, "MSG:", 4) != 0) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, "definition",
                       "'MSG: pkg/Type' was expected behind '==='");
    }
    if (d->part_count == ROS_PARTS_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, "definition", "more than %d types",
                       ROS_PARTS_MAX);
    }
    const struct piece name = trim_piece((struct piece){line.at + 4, line.n - 4});
    d->parts[d->part_count++] =
        (struct ros_part){.name = name.at, .name_bytes = name.n, .text = text->at};
    return STATUS_OK;
}

/* Cuts the text at lines of '='. */
static enum status split_parts(struct ros_definition *d, const char *type, struct piece text,
                               struct err *err)
{
    struct piece line;
    d->parts[0] = (struct ros_part){.name = type, .name_bytes = strlen(type), .text = text.at};
    d->part_count = 1;
    while (next_line(&text, &line)) {
        struct ros_part *part = &d->parts[d->part_count - 1];
        if (!is_rule(trim_piece(line))) {
            part->text_bytes = (size_t)(text.at - part->text);
            continue;
        }
        const enum status status = begin_part(d, &text, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* Finds the members of a type; the first part may be empty in a recording without definitions.
 */
static bool find_part(const struct ros_definition *d, struct piece name, struct piece *text)
{
    for (size_t i = 0; i < d->part_count; i++) {
        const struct ros_part *part = &d->parts[i];
        const bool there = i > 0 || part->text_bytes > 0;
        if (there && same_type(name, (struct piece){part->name, part->name_bytes})) {
            *text = (struct piece){part->text, part->text_bytes};
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(known); i++) {
        if (same_type(name, (struct piece){known[i].name, strlen(known[i].name)})) {
            *text = (struct piece){known[i].text, strlen(known[i].text)};
            return true;
        }
    }
    return false;
}

/* --- one line -------------------------------------------------------------------------------
 */

struct member {
    struct piece type, name;
    enum ros_array array;
    uint32_t count;
};

static struct piece next_word(struct piece *line, bool with_slash)
{
    size_t n = 0;
    while (n < line->n && (is_word(line->at[n]) || (with_slash && line->at[n] == '/'))) {
        n++;
    }
    const struct piece word = {line->at, n};
    line->at += n;
    line->n -= n;
    return word;
}

static bool skip_text(struct piece *line, const char *text)
{
    const size_t n = strlen(text);
    const bool there = line->n >= n && memcmp(line->at, text, n) == 0;
    line->at += there ? n : 0;
    line->n -= there ? n : 0;
    return there;
}

static bool next_count(struct piece *line, uint32_t *count)
{
    uint64_t value = 0;
    size_t n = 0;
    for (; n < line->n && line->at[n] >= '0' && line->at[n] <= '9' && value <= UINT32_MAX;
         n++) {
        value = 10 * value + (uint64_t)(line->at[n] - '0');
    }
    line->at += n;
    line->n -= n;
    *count = (uint32_t)value;
    return n > 0 && value <= UINT32_MAX;
}

/* Parses "[]", "[3]" or "[<=3]", if there is one. */
static bool parse_array(struct piece *line, struct member *member)
{
    uint32_t bound = 0;
    member->array = ROS_ONE;
    if (!skip_text(line, "[")) {
        return true;
    }
    const bool bounded = skip_text(line, "<=");
    const bool counted = next_count(line, &bound);
    member->array = counted && !bounded ? ROS_FIXED : ROS_SEQUENCE;
    member->count = bound;
    return (counted || !bounded) && (member->array != ROS_FIXED || bound > 0) &&
           skip_text(line, "]");
}

/* Parses a line. *is_member: it is neither blank nor a constant. */
static bool parse_member(struct piece line, struct member *member, bool *is_member)
{
    uint32_t bound = 0;
    const char *hash = line.n > 0 ? memchr(line.at, '#', line.n) : NULL;
    line.n = hash ? (size_t)(hash - line.at) : line.n;
    line = trim_piece(line);
    *is_member = line.n > 0;
    if (line.n == 0) {
        return true;
    }
    member->type = next_word(&line, true);
    if (member->type.n == 0 || (skip_text(&line, "<=") && !next_count(&line, &bound)) ||
        !parse_array(&line, member) || line.n == 0 || !is_blank(line.at[0])) {
        return false;
    }
    line = trim_piece(line);
    member->name = next_word(&line, false);
    line = trim_piece(line);
    *is_member = line.n == 0 || line.at[0] != '=';
    return member->name.n > 0 && member->name.n <= UINT8_MAX;
}

/* --- resolving ------------------------------------------------------------------------------
 */

/* A message type whose members are being added. */
struct frame {
    struct piece text, package;
    size_t begin; /* its ROS_BEGIN; the first frame has none */
};

static enum status add_field(struct ros_definition *d, const struct member *m, int type,
                             struct err *err)
{
    if (d->count == ROS_FIELDS_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, "definition",
                       "more than %d members in all", ROS_FIELDS_MAX);
    }
    d->fields[d->count++] = (struct ros_field){.type = (uint8_t)type,
                                               .array = (uint8_t)m->array,
                                               .count = m->count,
                                               .name = m->name.at,
                                               .name_bytes = (uint8_t)m->name.n};
    return STATUS_OK;
}

static int find_type(struct piece name)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (piece_is(name, types[i].name)) {
            return (int)types[i].type;
        }
    }
    return ROS_BEGIN;
}

/* Writes "pkg/Type" of a member's type within a package; false: too long. */
static bool complete_name(struct piece package, struct piece type, char name[ROS_PATH_MAX])
{
    const bool header = piece_is(type, "Header");
    if (header) {
        package = (struct piece){"std_msgs", 8};
    }
    const bool whole = memchr(type.at, '/', type.n) != NULL;
    if (package.n + type.n + 2 > ROS_PATH_MAX) {
        return false;
    }
    size_t n = 0;
    if (!whole && package.n > 0) {
        memcpy(name, package.at, package.n);
        n = package.n;
        name[n++] = '/';
    }
    memcpy(name + n, type.at, type.n);
    name[n + type.n] = '\0';
    return true;
}

static enum status push_frame(struct ros_definition *d, struct frame *frames, size_t *depth,
                              const struct member *m, struct err *err)
{
    char name[ROS_PATH_MAX];
    struct frame *next = &frames[*depth];
    struct piece last;
    if (*depth == ROS_DEPTH_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_DEEP, "definition",
                       "more than %d messages within each other", ROS_DEPTH_MAX);
    }
    if (!complete_name(frames[*depth - 1].package, m->type, name) ||
        !find_part(d, (struct piece){name, strlen(name)}, &next->text)) {
        return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, "definition",
                       "no definition of %.*s", (int)m->type.n, m->type.at);
    }
    split_name(m->type, &next->package, &last);
    if (next->package.n == 0) {
        next->package = piece_is(m->type, "Header") ? (struct piece){"std_msgs", 8}
                                                    : frames[*depth - 1].package;
    }
    next->begin = d->count;
    (*depth)++;
    return add_field(d, m, ROS_BEGIN, err);
}

static enum status end_frame(struct ros_definition *d, const struct frame *frame,
                             struct err *err)
{
    static const struct member none = {.name = {"", 0}};
    struct ros_field *begin = &d->fields[frame->begin];
    if (d->count == frame->begin + 1) {
        begin->type = ROS_EMPTY;
        return STATUS_OK;
    }
    begin->end = (uint16_t)d->count;
    const enum status status = add_field(d, &none, ROS_END, err);
    if (status == STATUS_OK) {
        d->fields[d->count - 1].end = (uint16_t)frame->begin;
    }
    return status;
}

static enum status add_members(struct ros_definition *d, struct frame *frames, struct err *err)
{
    enum status status = STATUS_OK;
    size_t depth = 1;
    while (depth > 0 && status == STATUS_OK) {
        struct piece line;
        struct member m = {.count = 0};
        bool is_member = false;
        if (!next_line(&frames[depth - 1].text, &line)) {
            depth--;
            status = depth > 0 ? end_frame(d, &frames[depth], err) : STATUS_OK;
        } else if (!parse_member(line, &m, &is_member)) {
            status =
                err_set(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, "definition",
                        "'%.*s': expected TYPE NAME", line.n < 80 ? (int)line.n : 80, line.at);
        } else if (is_member) {
            const int type = find_type(m.type);
            status = type == ROS_BEGIN ? push_frame(d, frames, &depth, &m, err)
                                       : add_field(d, &m, type, err);
        }
    }
    return status;
}

enum status ros_definition_parse(const char *type, const char *text, size_t bytes,
                                 struct ros_definition *out, struct err *err)
{
    struct frame frames[ROS_DEPTH_MAX];
    struct piece last;
    const struct piece name = {type, strlen(type)};
    out->count = 0;
    const enum status status =
        split_parts(out, type, (struct piece){bytes > 0 ? text : "", bytes}, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (!find_part(out, name, &frames[0].text)) {
        return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, "definition",
                       "no definition of %.100s in the bag", type);
    }
    split_name(name, &frames[0].package, &last);
    return add_members(out, frames, err);
}

/* --- paths ----------------------------------------------------------------------------------
 */

/* Finds a member by name among the siblings that begin at *field. */
static bool find_sibling(const struct ros_definition *d, struct piece name, size_t *field)
{
    size_t i = *field;
    while (i < d->count && d->fields[i].type != ROS_END) {
        const struct ros_field *f = &d->fields[i];
        if (same_piece(name, (struct piece){f->name, f->name_bytes})) {
            *field = i;
            return true;
        }
        i = f->type == ROS_BEGIN ? (size_t)f->end + 1 : i + 1;
    }
    return false;
}

/* Parses the element between brackets, if there is one. */
static bool parse_element(struct piece *text, bool *given, uint32_t *element,
                          struct ros_path *path)
{
    size_t n = 0;
    *given = skip_text(text, "[");
    if (!*given) {
        return true;
    }
    struct piece rest = *text;
    if (next_count(&rest, element) && skip_text(&rest, "]")) {
        *text = rest;
        return true;
    }
    while (n < text->n && text->at[n] != ']') {
        n++;
    }
    if (n == 0 || n >= sizeof path->joint) {
        return false;
    }
    memcpy(path->joint, text->at, n);
    path->joint[n] = '\0';
    text->at += n;
    text->n -= n;
    return skip_text(text, "]");
}

bool ros_path_find(const struct ros_definition *d, const char *text, struct ros_path *path)
{
    struct piece rest = {text, strlen(text)};
    size_t field = 0;
    *path = (struct ros_path){.field = 0};
    for (;;) {
        bool given = false;
        uint32_t element = 0;
        const struct piece name = next_word(&rest, false);
        if (name.n == 0 || !find_sibling(d, name, &field) ||
            !parse_element(&rest, &given, &element, path)) {
            return false;
        }
        const struct ros_field *f = &d->fields[field];
        if (given != (f->array != ROS_ONE)) {
            return false;
        }
        if (f->type < ROS_STRING) {
            path->field = field;
            path->element = element;
            return rest.n == 0;
        }
        if (f->type != ROS_BEGIN || path->joint[0] || !skip_text(&rest, ".")) {
            return false;
        }
        if (given) {
            path->at[path->loops++] = element;
        }
        field++;
    }
}
