/* config/mapping/mapping_outgoing.c - reads templates of messages sent to robots with their own
 * formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "config/mapping/mapping_build.h"
#include "logger/message/json_write.h"

enum { LITERAL_MAX = 2048, PLACE_MAX = 64 };

/* An outgoing row while it is read: what it says, then what is made of it. */
struct send_reading {
    char op[EVENT_OP_MAX], topic[OPTION_TEXT_MAX], text[OPTION_TEXT_MAX];
    uint8_t event, side; /* without meaning when they are not given */
    const struct option_reading *item;
    struct mapping_build *b;
    char shown[OPTION_PREFIX_MAX]; /* "send[0]" */
    struct mapping_send *send;
    struct mapping_sources sources;
    char name[MAPPING_SOURCES_MAX][PLACE_MAX]; /* names of the sources in the templates */
    bool in_topic, by_side;
    struct mapping_part parts[MAPPING_PARTS_MAX];
    size_t part_count;
    char literal[LITERAL_MAX]; /* [literal_bytes] text before the next part */
    size_t literal_bytes;
};

static const enum codec_kind kinds[] = {CODEC_COMMAND, CODEC_PARAMETERS, CODEC_POSE,
                                        CODEC_CONTROL, CODEC_PROBE};
static void add_send(const struct option_reading *item, void *value, void *owner);

#define SEND_AT(m)                OPTION_AT(struct send_reading, m)
#define TEXT_AT(m)                OPTION_TEXT, "", "", OPTION_NO_RANGE, SEND_AT(m)
#define CHOICE(fallback, choices) OPTION_CHOICE, "", fallback, 0.0, 0.0, choices
#define BY_HAND                   OPTION_MAP, "", "", OPTION_BY_HAND

/* clang-format off */
static const struct option_row send_rows[] = {
    {"event", CHOICE("command", "command|parameters|pose|control|probe"), SEND_AT(event), "What goes out."},
    {"op", TEXT_AT(op), "Commands of this operation only."},
    {"side", CHOICE("real", "real|virtual"), SEND_AT(side), "To which robot; {side} in the topic: to either."},
    {"sides", BY_HAND, "What {side} becomes: {bt: real, sim: virtual}."},
    {"topic", TEXT_AT(topic), "Under which topic."},
    {"text", TEXT_AT(text), "The payload: \"1 {rotation_rad} {displacement_m}\"."},
    {"json", BY_HAND, "The same as JSON: {angle: \"{rotation_rad}\"}."},
    {"fields", BY_HAND, "Units, scales, maps and digits of its values."},
};
const struct option_items mapping_send_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(send_rows), .most = MAPPING_ROWS_MAX,
    .bytes = sizeof(struct send_reading), .fault = FAULT_LIST_EXPECTED, .what = "rows", .add = add_send};
/* clang-format on */

/* ---- parts ---- */

static bool add_part(struct send_reading *sr, struct mapping_part part)
{
    if (sr->part_count == MAPPING_PARTS_MAX) {
        return option_fault_at(sr->item, "", FAULT_TOO_MANY, "at most %d parts were expected",
                               MAPPING_PARTS_MAX);
    }
    sr->parts[sr->part_count++] = part;
    return true;
}

static bool flush_literal(struct send_reading *sr)
{
    if (sr->literal_bytes == 0) {
        return true;
    }
    sr->literal[sr->literal_bytes] = '\0';
    const char *text = mapping_copy_text(sr->b, sr->literal);
    const size_t bytes = sr->literal_bytes;
    sr->literal_bytes = 0;
    return text && add_part(sr, (struct mapping_part){
                                    .kind = MAPPING_LITERAL, .text = text, .bytes = bytes});
}

static bool add_literal(struct send_reading *sr, const char *text, size_t bytes)
{
    if (sr->literal_bytes + bytes >= LITERAL_MAX) {
        return option_fault_at(sr->item, "", FAULT_TOO_LONG, "a shorter template was expected");
    }
    memcpy(sr->literal + sr->literal_bytes, text, bytes);
    sr->literal_bytes += bytes;
    return true;
}

/* ---- what stands in braces ---- */

/* Returns the length of the name in the braces at text; 0: the braces are literal. */
static size_t name_length(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.~-";
    const size_t n = text[0] == '{' ? strspn(text + 1, letters) : 0;
    return n > 0 && n < PLACE_MAX && text[n + 1] == '}' && !strchr("0123456789-.", text[1]) ? n
                                                                                            : 0;
}

static bool read_named(struct send_reading *sr, uint32_t node, const char *name)
{
    struct mapping_build *b = sr->b;
    char shown[2 * OPTION_PREFIX_MAX];
    char path[PLACE_MAX + 1];
    size_t axis = 0;
    const bool pointer = name[0] == '/';
    const bool command = sr->send->kind == CODEC_COMMAND;
    const struct mapping_member *member =
        command ? mapping_member_find(EVENT_COMMAND, name, &axis) : NULL;
    member = member && member->type == MAPPING_TARGET ? NULL : member;
    const uint32_t fields = option_node(sr->item, "fields");
    const uint32_t field =
        fields == TREE_NONE ? TREE_NONE : tree_child(b->r->tree, fields, name);
    const bool has_path =
        field != TREE_NONE && tree_child(b->r->tree, field, "path") != TREE_NONE;
    (void)snprintf(path, sizeof path, "%s%s", pointer ? "" : "/", name);
    if (!pointer && !member && !has_path) {
        return option_fault(
            b->r, node, FAULT_UNKNOWN_KEY,
            "%s: {%s}: a command has no such member; it has id, op, rotation_rad, "
            "displacement_m, t, others by a pointer, {/%s}",
            sr->shown, name, name);
    }
    (void)snprintf(shown, sizeof shown, "%s.fields.%s", sr->shown, name);
    const size_t k = sr->sources.count;
    if (!(field == TREE_NONE
              ? mapping_add_pointer(b, &sr->sources, node, shown, path)
              : mapping_read_source(b, &sr->sources, field, shown, member, path))) {
        return false;
    }
    /* A size is a number, and a missing size counts as 0. */
    sr->sources.source[k].numeric =
        sr->sources.source[k].numeric || (member && member->type == MAPPING_REAL);
    (void)snprintf(sr->name[k], PLACE_MAX, "%s", name);
    return true;
}

static bool add_named(struct send_reading *sr, uint32_t node, const char *at, size_t bytes,
                      enum mapping_part_kind kind)
{
    char name[PLACE_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)bytes, at);
    if (!flush_literal(sr)) {
        return false;
    }
    if (strcmp(name, "pair") == 0) {
        return add_part(sr, (struct mapping_part){.kind = MAPPING_PAIR});
    }
    if (strcmp(name, "side") == 0) {
        sr->by_side = sr->by_side || sr->in_topic;
        return add_part(sr, (struct mapping_part){.kind = MAPPING_SIDE});
    }
    size_t k = 0;
    while (k < sr->sources.count && strcmp(sr->name[k], name) != 0) {
        k++;
    }
    if (k == sr->sources.count && !read_named(sr, node, name)) {
        return false;
    }
    return add_part(sr, (struct mapping_part){.kind = kind, .source = k});
}

/* ---- templates ---- */

static bool add_template(struct send_reading *sr, uint32_t node, const char *text,
                         enum mapping_part_kind kind)
{
    while (*text) {
        const size_t n = name_length(text);
        if (n > 0) {
            if (!add_named(sr, node, text + 1, n, kind)) {
                return false;
            }
            text += n + 2;
        } else if (kind == MAPPING_INNER && (*text == '"' || *text == '\\')) {
            const char escaped[2] = {'\\', *text++};
            if (!add_literal(sr, escaped, 2)) {
                return false;
            }
        } else if (!add_literal(sr, text++, 1)) {
            return false;
        }
    }
    return true;
}

/* Numbers, truths and null stand for themselves; a text that is one name in braces becomes that
 * name's value. */
static bool add_scalar(struct send_reading *sr, uint32_t node)
{
    const struct tree *tree = sr->b->r->tree;
    const char *text = tree_text(tree, node);
    const size_t bytes = strlen(text);
    const size_t n = name_length(text);
    double number = 0.0;
    const bool bare =
        tree->nodes[node].plain &&
        (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
         (bytes > 0 && number_scan_json(text, text + bytes, &number) == text + bytes));
    if (bare) {
        return add_literal(sr, text, bytes);
    }
    if (option_is_empty(tree, node)) {
        return add_literal(sr, "null", 4);
    }
    if (n > 0 && bytes == n + 2 && strcmp(text, "{pair}") != 0 && strcmp(text, "{side}") != 0) {
        return add_named(sr, node, text + 1, n, MAPPING_QUOTED);
    }
    return add_literal(sr, "\"", 1) && add_template(sr, node, text, MAPPING_INNER) &&
           add_literal(sr, "\"", 1);
}

static bool add_key(struct send_reading *sr, const char *key)
{
    char text[OPTION_TEXT_MAX * 2];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_text(&w, NULL, key);
    return json_write_end(&w) && add_literal(sr, text, w.used) && add_literal(sr, ":", 1);
}

/* Recursion is as deep as the file's nesting. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool add_json(struct send_reading *sr, uint32_t node)
{
    const struct tree *tree = sr->b->r->tree;
    const struct tree_node *n = &tree->nodes[node];
    if (n->kind == TREE_SCALAR) {
        return add_scalar(sr, node);
    }
    const bool map = n->kind == TREE_MAP;
    if (map && n->count == 1 && option_is_empty(tree, n->first)) {
        return option_fault(sr->b->r, node, FAULT_TEXT_EXPECTED,
                            "%s.json: write \"{%.40s}\" in quotes", sr->shown,
                            tree_key(tree, n->first));
    }
    if (!add_literal(sr, map ? "{" : "[", 1)) {
        return false;
    }
    for (uint32_t i = n->first; i != TREE_NONE; i = tree->nodes[i].next) {
        if ((map && !add_key(sr, tree_key(tree, i))) || !add_json(sr, i) ||
            !add_literal(sr, ",", tree->nodes[i].next != TREE_NONE ? 1 : 0)) {
            return false;
        }
    }
    return add_literal(sr, map ? "}" : "]", 1);
}

static bool copy_parts(struct send_reading *sr, const struct mapping_part **parts,
                       size_t *count)
{
    if (!flush_literal(sr)) {
        return false;
    }
    *parts = mapping_copy(sr->b, sr->parts, sr->part_count * sizeof sr->parts[0]);
    *count = sr->part_count;
    sr->part_count = 0;
    return *parts != NULL;
}

/* ---- a row ---- */

static bool read_side(struct send_reading *sr)
{
    const bool to_simulator = sr->send->kind != CODEC_COMMAND && sr->send->kind != CODEC_PROBE;
    sr->send->side = option_node(sr->item, "side") != TREE_NONE ? (enum side)sr->side
                     : to_simulator                             ? SIDE_VIRTUAL
                                                                : SIDE_COUNT;
    if (sr->send->side == SIDE_COUNT && !sr->by_side) {
        return option_fault_at(
            sr->item, "", FAULT_MISSING_KEY,
            "side is missing: give 'side: real' or a level {side} in the topic");
    }
    return mapping_read_words(sr->b, sr->item, "sides", &sr->send->sides,
                              &sr->send->side_count);
}

static bool read_payload(struct send_reading *sr)
{
    const uint32_t text = option_node(sr->item, "text");
    const uint32_t json = option_node(sr->item, "json");
    if ((text == TREE_NONE) == (json == TREE_NONE)) {
        return option_fault_at(sr->item, "", FAULT_UNKNOWN_VALUE,
                               "one of text, json was expected");
    }
    return (text != TREE_NONE ? add_template(sr, text, sr->text, MAPPING_FILLED)
                              : add_json(sr, json)) &&
           copy_parts(sr, &sr->send->text, &sr->send->text_count);
}

/* A field that no template uses was probably meant for one with a similar name. */
static bool check_fields(struct send_reading *sr)
{
    const struct tree *tree = sr->b->r->tree;
    const uint32_t fields = option_node(sr->item, "fields");
    uint32_t i = fields == TREE_NONE ? TREE_NONE : tree->nodes[fields].first;
    for (; i != TREE_NONE; i = tree->nodes[i].next) {
        size_t k = 0;
        while (k < sr->sources.count && strcmp(sr->name[k], tree_key(tree, i)) != 0) {
            k++;
        }
        if (k == sr->sources.count) {
            return option_fault(sr->b->r, i, FAULT_UNKNOWN_NAME,
                                "%s.fields.%.40s: {%.40s} does not stand in the template",
                                sr->shown, tree_key(tree, i), tree_key(tree, i));
        }
    }
    return true;
}

static bool copy_sources(struct send_reading *sr)
{
    const struct mapping_sources *from = &sr->sources;
    sr->send->sources = mapping_copy(sr->b, from->source, from->count * sizeof from->source[0]);
    sr->send->digits = mapping_copy(sr->b, from->digits, from->count * sizeof from->digits[0]);
    sr->send->source_count = from->count;
    if (!sr->send->sources || !sr->send->digits) {
        return false;
    }
    sr->send->nodes = mapping_make_nodes(sr->b, from, &sr->send->node_count);
    return sr->send->nodes != NULL;
}

static void fill_send(struct send_reading *sr)
{
    const uint32_t topic = option_node(sr->item, "topic");
    if (option_node(sr->item, "event") == TREE_NONE) {
        option_fault_at(sr->item, "event", FAULT_UNKNOWN_VALUE,
                        "command, parameters, pose, control or probe was expected");
        return;
    }
    if (sr->topic[0] == '\0') {
        option_fault_at(sr->item, "topic", FAULT_BAD_TOPIC,
                        "a topic was expected, such as 'robots/{pair}/{side}/cmd'");
        return;
    }
    sr->send->kind = kinds[sr->event];
    sr->send->op = sr->op[0] ? mapping_copy_text(sr->b, sr->op) : NULL;
    sr->in_topic = true;
    if (!add_template(sr, topic, sr->topic, MAPPING_FILLED) ||
        !copy_parts(sr, &sr->send->topic, &sr->send->topic_count)) {
        return;
    }
    sr->in_topic = false;
    (void)(read_side(sr) && read_payload(sr) && check_fields(sr) && copy_sources(sr));
}

static void add_send(const struct option_reading *item, void *value, void *owner)
{
    struct send_reading *sr = value;
    sr->item = item;
    sr->b = owner;
    (void)snprintf(sr->shown, sizeof sr->shown, "%.*s", (int)strlen(item->shown) - 1,
                   item->shown);
    sr->send = &sr->b->sends[sr->b->table->mapping.send_count++];
    sr->sources.sends = true;
    sr->sources.format = MAPPING_JSON;
    if (!item->failed) {
        fill_send(sr);
    }
}
