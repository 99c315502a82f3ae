/* config/mapping/mapping_source.c - reads where a mapping finds a value: pointers, columns,
 * units, maps.
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "base/numbers/number.h"
#include "base/numbers/unit.h"
#include "config/mapping/mapping_build.h"

/* ---- memory ---- */

struct mapping_memory {
    struct mapping_memory *next;
    max_align_t bytes[];
};

void *mapping_alloc(struct mapping_build *b, size_t bytes)
{
    struct mapping_memory *block = calloc(1, sizeof *block + bytes);
    if (!block) {
        option_fault(b->r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return NULL;
    }
    block->next = *b->memory;
    *b->memory = block;
    return block->bytes;
}

void *mapping_copy(struct mapping_build *b, const void *from, size_t bytes)
{
    void *copy = mapping_alloc(b, bytes + 1);
    return copy ? memcpy(copy, from, bytes) : NULL;
}

const char *mapping_copy_text(struct mapping_build *b, const char *text)
{
    return mapping_copy(b, text, strlen(text) + 1);
}

void mapping_table_free(struct mapping_table *list)
{
    while (list) {
        struct mapping_table *next = list->next;
        while (list->memory) {
            struct mapping_memory *block = list->memory;
            list->memory = block->next;
            free(block);
        }
        for (size_t k = 0; k < list->pattern_count; k++) {
            regfree(&list->patterns[k]);
        }
        free(list->patterns);
        free(list->text);
        free(list);
        list = next;
    }
}

/* ---- names ---- */

bool mapping_read_words(struct mapping_build *b, const struct option_reading *item,
                        const char *key, const struct mapping_word **words, size_t *count)
{
    const struct tree *tree = b->r->tree;
    const uint32_t node = option_node(item, key);
    const struct tree_node *map = &tree->nodes[node];
    struct mapping_word *out = NULL;
    size_t used = 0;
    if (node == TREE_NONE) {
        return true;
    }
    if (map->kind != TREE_MAP || map->count == 0) {
        return option_fault_at(item, key, FAULT_OBJECT_EXPECTED,
                               "names were expected, as in {OK: done}");
    }
    out = mapping_alloc(b, map->count * sizeof *out);
    for (uint32_t i = map->first; out && i != TREE_NONE; i = tree->nodes[i].next) {
        const char *from = tree_key(tree, i);
        const char *to = tree->nodes[i].kind == TREE_SCALAR ? tree_text(tree, i) : NULL;
        if (!to || strlen(from) >= MAPPING_WORD_MAX || strlen(to) >= MAPPING_WORD_MAX) {
            return option_fault(b->r, i, FAULT_TOO_LONG,
                                "%s%s.%.40s: a text of at most %d bytes was expected",
                                item->shown, key, from, MAPPING_WORD_MAX - 1);
        }
        out[used].from = mapping_copy_text(b, from);
        out[used].to = mapping_copy_text(b, to);
        if (!out[used].from || !out[used].to) {
            return false;
        }
        used++;
    }
    *words = out;
    *count = used;
    return out != NULL;
}

/* ---- units ---- */

static bool accepts_number(const struct mapping_member *member)
{
    return !member || !(member->type == MAPPING_PLAIN || member->type == MAPPING_NAME);
}

/* Returns a unit of base/numbers/unit.h, its "m/s" form, or a quaternion's heading; NULL:
 * none. */
static const struct unit *find_unit(const char *name)
{
    static const struct unit quaternion = {"quaternion", UNIT_ANGLE, 1.0};
    char base[8] = "";
    const char *slash = strchr(name, '/');
    if (strcmp(name, quaternion.name) == 0) {
        return &quaternion;
    }
    if (!slash) {
        return unit_find(name);
    }
    if (strcmp(slash, "/s") == 0 && (size_t)(slash - name) < sizeof base) {
        memcpy(base, name, (size_t)(slash - name));
    }
    const struct unit *unit = unit_find(base);
    return unit && (unit->kind == UNIT_LENGTH || unit->kind == UNIT_ANGLE) ? unit : NULL;
}

static bool read_unit(const struct option_reading *item, const char *name,
                      struct mapping_source *s, const struct mapping_member *member)
{
    static const struct {
        enum unit_kind kind;
        const char *wanted;
    } measured[] = {[MAPPING_NUMBER] = {UNIT_UNKNOWN, "no unit"},
                    [MAPPING_SECONDS] = {UNIT_STAMP, "a unit of time"},
                    [MAPPING_RADIANS] = {UNIT_ANGLE, "a unit of angles"},
                    [MAPPING_METRES] = {UNIT_LENGTH, "a unit of length"}};
    const struct unit *unit = find_unit(name);
    const enum mapping_quantity quantity = member ? member->quantity : MAPPING_NUMBER;
    const bool any = quantity == MAPPING_NUMBER;
    if (!unit) {
        return option_fault_at(item, "unit", FAULT_UNKNOWN_UNIT,
                               "one of %s, iso8601 was expected, not '%.40s'",
                               unit_list(UNIT_UNKNOWN), name);
    }
    if (!accepts_number(member) ||
        !(any || (unit_fits(unit, measured[quantity].kind) && !strchr(name, '/')))) {
        return option_fault_at(
            item, "unit", FAULT_UNKNOWN_UNIT, "%s was expected, not '%s'",
            measured[accepts_number(member) ? quantity : MAPPING_NUMBER].wanted, name);
    }
    s->iso8601 = unit->kind == UNIT_STAMP;
    s->quaternion = strcmp(name, "quaternion") == 0;
    s->scale *= s->iso8601 ? 1.0 : unit->factor;
    s->numeric = true;
    return true;
}

static bool read_zone(const struct option_reading *item, const char *zone,
                      struct mapping_source *s)
{
    int64_t offset_s = 0;
    if (option_node(item, "zone") == TREE_NONE) {
        return true;
    }
    if (!s->iso8601) {
        return option_fault_at(item, "zone", FAULT_NOT_APPLICABLE, "it needs unit: iso8601");
    }
    if (strcmp(zone, "UTC") != 0 &&
        (zone[0] == '\0' || !iso_time_parse_zone(zone, strlen(zone), &offset_s))) {
        return option_fault_at(item, "zone", FAULT_UNKNOWN_VALUE,
                               "an offset such as +02:00, Z or UTC was expected, not '%s'",
                               zone);
    }
    s->has_zone = true;
    s->zone_s = (int32_t)offset_s;
    return true;
}

/* ---- places ---- */

/* Returns the bytes of the token that a pointer has here. A slash within [id=a/b] belongs to
 * the value. */
static size_t token_bytes(const char *at)
{
    const size_t plain = strcspn(at, "/");
    for (const char *c = strchr(at, ']'); at[0] == '[' && c; c = strchr(c + 1, ']')) {
        if (c[1] == '\0' || c[1] == '/') {
            return memchr(at, '=', (size_t)(c - at)) ? (size_t)(c + 1 - at) : plain;
        }
    }
    return plain;
}

/* Returns the '=' of a token "[id=speed]"; NULL: it is no such token. */
static const char *find_equals(const char *token, size_t bytes)
{
    const char *equals = bytes > 3 && token[0] == '[' && token[bytes - 1] == ']'
                             ? memchr(token, '=', bytes)
                             : NULL;
    return equals && equals > token + 1 ? equals : NULL;
}

/* Writes "tags[id=speed].v" as the pointer "/tags/[id=speed]/v". False: it selects no item, and
 * the dots may belong to a name. */
static bool make_pointer(const char *path, char *out, size_t size)
{
    bool selects = false;
    size_t used = 0;
    out[used++] = '/';
    for (const char *c = path; *c && used + 3 < size; c++) {
        const char *end = c[0] == '[' ? strchr(c, ']') : NULL;
        const size_t inner = end ? (size_t)(end - c) + 1 : 0;
        if (inner > 0 && used + inner + 3 < size) {
            const bool select = find_equals(c, inner) != NULL;
            out[used] = '/';
            used += out[used - 1] != '/';
            memcpy(out + used, select ? c : c + 1, select ? inner : inner - 2);
            used += select ? inner : inner - 2;
            selects = selects || select;
            c = end;
        } else {
            out[used++] = *c == '.' ? '/' : *c;
        }
    }
    out[used] = '\0';
    return selects;
}

static bool read_path(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                      const char *shown, const char *path)
{
    const size_t k = to->count;
    if (!mapping_is_json(to->format)) {
        return option_fault(
            b->r, node, FAULT_NOT_APPLICABLE,
            "%s.path: a JSON pointer needs format: json; in %s a column is 'at: 1 …'", shown,
            to->format == MAPPING_CSV ? "csv" : "text");
    }
    char meant[2 * OPTION_TEXT_MAX];
    if (path[0] != '\0' && path[0] != '/') {
        if (!make_pointer(path, meant, sizeof meant)) {
            return option_fault(b->r, node, FAULT_BAD_POINTER,
                                "%s.path: a JSON pointer begins with '/', for example '%s'",
                                shown, meant);
        }
        path = meant;
    }
    to->source[k].origin = MAPPING_PATH;
    to->path[k] = mapping_copy_text(b, path);
    to->source[k].place = path[0] ? to->path[k] : "the payload";
    return to->path[k] != NULL;
}

static bool read_column(struct mapping_build *b, struct mapping_sources *to,
                        const struct option_reading *item, uint32_t column)
{
    struct mapping_source *s = &to->source[to->count];
    char place[32];
    if (mapping_is_json(to->format)) {
        return option_fault_at(
            item, "at", FAULT_NOT_APPLICABLE,
            "a column needs format: text or csv; in json a value is at a 'path: /…'");
    }
    (void)snprintf(place, sizeof place, "column %u", (unsigned)column);
    s->origin = MAPPING_AT;
    s->at = column;
    s->place = mapping_copy_text(b, place);
    return s->place != NULL;
}

static bool read_level(struct mapping_build *b, struct mapping_sources *to,
                       const struct option_reading *item, const char *name)
{
    struct mapping_source *s = &to->source[to->count];
    char place[64];
    for (size_t i = 0; i < to->level_count; i++) {
        const struct mapping_level *level = &to->levels[i];
        if (level->kind == MAPPING_LEVEL_NAMED && strcmp(level->text, name) == 0) {
            (void)snprintf(place, sizeof place, "topic level {%.40s}", name);
            s->origin = MAPPING_TOPIC;
            s->at = (unsigned)i;
            s->place = mapping_copy_text(b, place);
            return s->place != NULL;
        }
    }
    return option_fault_at(item, "topic", FAULT_UNKNOWN_NAME, "the topic has no level {%.40s}",
                           name);
}

/* Checks that the member accepts the word. */
static bool check_word(struct mapping_build *b, uint32_t node, const char *shown,
                       const struct mapping_member *member, const char *word)
{
    char names[96];
    double number = 0.0;
    if (!member || member->type == MAPPING_NAMED) {
        return true;
    }
    if (member->type == MAPPING_NAME &&
        names_value(member->names, word) == member->names->count) {
        names_list(member->names, names, sizeof names);
        return option_fault(b->r, node, FAULT_UNKNOWN_VALUE,
                            "%s: one of %s was expected, not '%.40s'", shown, names, word);
    }
    if (accepts_number(member) && number_parse_real(word, &number) != NUMBER_FINE) {
        return option_fault(b->r, node, FAULT_NOT_A_NUMBER,
                            "%s: a number was expected, not '%.40s'", shown, word);
    }
    if (member->type == MAPPING_PLAIN && strlen(word) >= member->size) {
        return option_fault(b->r, node, FAULT_TOO_LONG,
                            "%s: a text of at most %zu bytes was expected", shown,
                            member->size - 1);
    }
    return true;
}

static bool read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                          const char *shown, const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    const char *text = tree_text(b->r->tree, node);
    if (strlen(text) >= MAPPING_WORD_MAX) {
        return option_fault(b->r, node, FAULT_TOO_LONG,
                            "%s.value: a text of at most %d bytes was expected", shown,
                            MAPPING_WORD_MAX - 1);
    }
    s->origin = MAPPING_VALUE;
    s->place = "value";
    s->value = mapping_copy_text(b, text);
    return s->value && check_word(b, node, shown, member, text);
}

/* ---- one source ---- */

/* The option rows write to this struct. */
struct source_values {
    char path[OPTION_TEXT_MAX], topic[OPTION_TEXT_MAX], value[MAPPING_WORD_MAX];
    char metric[OPTION_TEXT_MAX], stamp[OPTION_TEXT_MAX], unit[16];
    uint32_t at, digits;
    char zone[16];
    bool held, optional;
    double scale, offset;
};

#define AT(m)   OPTION_AT(struct source_values, m), ""
#define WORD(m) #m, OPTION_WORD, "", "", OPTION_NO_RANGE, AT(m)
#define TRUTH   OPTION_BOOL, "", "false", OPTION_NO_RANGE

static const struct option_row source_rows[] = {
    {WORD(path)},
    {"at", OPTION_INTEGER, "", "", 1.0, MAPPING_COLUMNS_MAX, "", AT(at)},
    {WORD(topic)},
    {WORD(value)},
    {WORD(metric)},
    {WORD(stamp)},
    {"held", TRUTH, AT(held)},
    {WORD(unit)},
    {WORD(zone)},
    {"scale", OPTION_REAL, "", "1", -HUGE_VAL, HUGE_VAL, "", AT(scale)},
    {"offset", OPTION_REAL, "", "0", -HUGE_VAL, HUGE_VAL, "", AT(offset)},
    {"plus", OPTION_MAP, "", "", OPTION_BY_HAND, ""},
    {"map", OPTION_MAP, "", "", OPTION_BY_HAND, ""},
    {"optional", TRUTH, AT(optional)},
    {"digits", OPTION_INTEGER, "", "", 0.0, 12.0, "", AT(digits)},
};
static const struct option_table source_options = {source_rows, COUNT(source_rows)};

/* The ways to a value, the first rows of the table but for held. */
enum { KEY_PATH, KEY_AT, KEY_TOPIC, KEY_VALUE, KEY_METRIC, KEY_STAMP, SOURCE_KINDS };

/* Refuses keys that only other rows have. */
static bool check_keys(const struct option_reading *item, const struct mapping_sources *to)
{
    const bool sparkplug = to->format == MAPPING_SPARKPLUG;
    const struct {
        const char *key;
        bool allowed;
    } rare[] = {{"digits", to->sends},
                {"metric", sparkplug},
                {"stamp", sparkplug},
                {"held", sparkplug}};
    bool fine = true;
    for (size_t i = 0; i < COUNT(rare); i++) {
        if (option_node(item, rare[i].key) != TREE_NONE && !rare[i].allowed) {
            fine = option_fault_at(item, rare[i].key, FAULT_UNKNOWN_KEY,
                                   "only rows %s have this key",
                                   i == 0 ? "of send" : "with format: sparkplug");
        }
    }
    return fine;
}

/* A Sparkplug metric, or its stamp in milliseconds, is a pointer into the JSON that
 * sparkplug_rows.h makes of a message. */
static bool read_metric(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                        const char *shown, const char *object, const char *name)
{
    char path[2 * OPTION_TEXT_MAX + 16];
    char place[OPTION_TEXT_MAX + 16];
    size_t used = (size_t)snprintf(path, sizeof path, "/%s/", object);
    for (const char *c = name; *c && used + 3 < sizeof path; c++) {
        const bool escaped = *c == '/' || *c == '~';
        path[used++] = escaped ? '~' : *c;
        if (escaped) {
            path[used++] = *c == '/' ? '1' : '0';
        }
    }
    path[used] = '\0';
    if (name[0] == '\0' || strlen(name) >= OPTION_TEXT_MAX ||
        !read_path(b, to, node, shown, path)) {
        return option_fault(b->r, node, FAULT_TEXT_EXPECTED,
                            "%s: the name of a metric was expected", shown);
    }
    (void)snprintf(place, sizeof place, "%s %s",
                   strcmp(object, "stamps") == 0 ? "stamp" : "metric", name);
    to->source[to->count].place = mapping_copy_text(b, place);
    return to->source[to->count].place != NULL;
}

/* Reads a metric of this message, or with `held: true` the last value received. */
static bool read_named(struct mapping_build *b, struct mapping_sources *to,
                       const struct option_reading *item, const char *shown,
                       const struct source_values *v)
{
    const bool stamp = v->stamp[0] != '\0';
    if (stamp && option_node(item, "held") != TREE_NONE) {
        return option_fault_at(item, "held", FAULT_NOT_APPLICABLE,
                               "a stamp is that of this message");
    }
    return read_metric(b, to, option_node(item, stamp ? "stamp" : "metric"), shown,
                       stamp     ? "stamps"
                       : v->held ? "held"
                                 : "metrics",
                       stamp ? v->stamp : v->metric);
}

/* Exactly one way to a value is allowed. */
static bool read_one_source(struct mapping_build *b, struct mapping_sources *to,
                            const struct option_reading *item, const struct source_values *v,
                            const char *shown, const struct mapping_member *member,
                            const char *path)
{
    static const char *const keys[] = {"path", "at", "topic", "value", "metric", "stamp"};
    size_t given_count = 0;
    size_t origin = 0;
    for (size_t k = 0; k < SOURCE_KINDS; k++) {
        const bool given = option_node(item, keys[k]) != TREE_NONE;
        given_count += given;
        origin = given ? k : origin;
    }
    const uint32_t at = option_node(item, keys[origin]);
    if (to->sends && given_count == 0) {
        return read_path(b, to, item->node, shown, path);
    }
    if (given_count != 1 || (to->sends && origin != KEY_PATH)) {
        return option_fault_at(
            item, "", FAULT_CONFLICTING_KEYS, "exactly one of %s was expected",
            to->sends                         ? "path"
            : to->format == MAPPING_SPARKPLUG ? "metric, stamp, path, topic, value"
                                              : "path, at, topic, value");
    }
    switch (origin) {
    case KEY_PATH:
        return read_path(b, to, at, shown, v->path);
    case KEY_AT:
        return read_column(b, to, item, v->at);
    case KEY_TOPIC:
        return read_level(b, to, item, v->topic);
    case KEY_VALUE:
        return read_constant(b, to, at, shown, member);
    default:
        return read_named(b, to, item, shown, v);
    }
}

static bool read_sizes(struct mapping_sources *to, const struct option_reading *item,
                       const struct source_values *v, const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    const bool unit = option_node(item, "unit") != TREE_NONE;
    const bool digits = option_node(item, "digits") != TREE_NONE;
    s->scale = v->scale;
    s->offset = v->offset;
    s->optional = v->optional;
    if (!(fabs(s->scale) > 0.0)) {
        return option_fault_at(item, "scale", FAULT_OUT_OF_RANGE,
                               "another number than 0 was expected");
    }
    to->digits[to->count] = digits ? (int)v->digits : -1;
    s->numeric = option_node(item, "scale") != TREE_NONE ||
                 option_node(item, "offset") != TREE_NONE || digits;
    if (!unit && v->stamp[0]) {
        s->scale *= 1e-3; /* Sparkplug stamps are in milliseconds. */
    }
    return (!unit || read_unit(item, v->unit, s, member)) && read_zone(item, v->zone, s);
}

static bool read_map(struct mapping_build *b, struct mapping_sources *to,
                     const struct option_reading *item, const char *shown,
                     const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    char name[OPTION_PREFIX_MAX + 8];
    (void)snprintf(name, sizeof name, "%s.map", shown);
    bool fine = mapping_read_words(b, item, "map", &s->map, &s->map_count);
    for (size_t k = 0; !to->sends && k < s->map_count; k++) {
        fine = check_word(b, option_node(item, "map"), name, member, s->map[k].to) && fine;
    }
    return fine;
}

/* Adds a source; false with a fault when there is no room. */
static bool begin_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown)
{
    if (to->count == MAPPING_SOURCES_MAX) {
        return option_fault(b->r, node, FAULT_TOO_MANY, "%s: at most %d values were expected",
                            shown, MAPPING_SOURCES_MAX);
    }
    to->source[to->count] = (struct mapping_source){.scale = 1.0};
    to->digits[to->count] = -1;
    to->path[to->count] = NULL;
    return true;
}

bool mapping_read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                           const char *shown, const struct mapping_member *member)
{
    const bool fine =
        begin_source(b, to, node, shown) && read_constant(b, to, node, shown, member);
    to->count += fine ? 1 : 0;
    return fine;
}

bool mapping_add_pointer(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const char *path)
{
    const bool fine = begin_source(b, to, node, shown) && read_path(b, to, node, shown, path);
    to->count += fine ? 1 : 0;
    return fine;
}

// NOLINTNEXTLINE(misc-no-recursion)
bool mapping_read_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const struct mapping_member *member,
                         const char *path)
{
    struct source_values values;
    uint32_t given[COUNT(source_rows)] = {0};
    char below[OPTION_PREFIX_MAX + 8];
    const struct option_reading item = {b->r, &source_options, given, node, below, 0, false};
    const bool failed = b->r->failed;
    if (!begin_source(b, to, node, shown)) {
        return false;
    }
    (void)snprintf(below, sizeof below, "%s.", shown);
    b->r->failed = false;
    option_defaults(&source_options, &values);
    option_read(&item, NULL, &values);
    const bool fine = !b->r->failed && check_keys(&item, to) &&
                      read_one_source(b, to, &item, &values, shown, member, path) &&
                      read_sizes(to, &item, &values, member) &&
                      read_map(b, to, &item, shown, member);
    b->r->failed = b->r->failed || failed;
    const uint32_t plus = option_node(&item, "plus");
    to->count += fine ? 1 : 0;
    if (!fine || plus == TREE_NONE) {
        return fine;
    }
    if (to->sends || !accepts_number(member)) {
        return option_fault_at(&item, "plus", FAULT_NOT_APPLICABLE,
                               "a number can be added to, %s not",
                               to->sends ? "what is sent" : member->name);
    }
    (void)snprintf(below, sizeof below, "%s.plus", shown);
    return mapping_read_source(b, to, plus, below, member, NULL);
}

/* ---- the tree of pointers ---- */

struct node_list {
    struct mapping_node *nodes; /* one per token, and the root */
    size_t count;
};

/* An array index has no sign and no leading zeros. */
static long read_index(const char *token)
{
    int64_t index = -1;
    const bool digits = token[0] && strspn(token, "0123456789") == strlen(token);
    if (!digits || (token[0] == '0' && token[1]) ||
        number_parse_int(token, &index) != NUMBER_FINE || index > MESSAGE_PAYLOAD_MAX) {
        return -1;
    }
    return (long)index;
}

/* Decodes "~1" to '/' and "~0" to '~'. */
static const char *copy_token(struct mapping_build *b, const char *at, size_t bytes)
{
    char *out = mapping_alloc(b, bytes + 1);
    size_t used = 0;
    for (size_t i = 0; out && i < bytes; i++) {
        const bool escaped =
            at[i] == '~' && i + 1 < bytes && (at[i + 1] == '0' || at[i + 1] == '1');
        out[used++] = escaped && at[i + 1] == '1' ? '/' : at[i];
        i += escaped;
    }
    return out;
}

/* Stores the token as JSON usually writes it; a name that needs escapes is compared after
 * decoding. */
static void quote_token(struct mapping_build *b, struct mapping_node *node)
{
    bool plain = node->bytes < MAPPING_WORD_MAX;
    for (const char *c = node->token; *c; c++) {
        plain = plain && (unsigned char)*c >= ' ' && *c != '"' && *c != '\\';
    }
    char *quoted = plain ? mapping_alloc(b, node->bytes + 4) : NULL;
    if (quoted) {
        node->quoted = quoted;
        node->quoted_bytes = (uint16_t)(node->bytes + 3);
        (void)snprintf(quoted, node->bytes + 4, "\"%s\":", node->token);
    }
}

static size_t find_child(struct mapping_build *b, struct node_list *list, size_t parent,
                         const char *at, size_t bytes)
{
    const char *token = copy_token(b, at, bytes);
    uint16_t *link = &list->nodes[parent].first;
    if (!token) {
        return 0;
    }
    uint16_t rank = 0;
    while (*link > 0 && strcmp(list->nodes[*link].token, token) != 0) {
        link = &list->nodes[*link].next;
        rank++;
    }
    if (*link == 0) {
        *link = (uint16_t)list->count;
        struct mapping_node *node = &list->nodes[list->count++];
        *node = (struct mapping_node){
            .token = token, .bytes = strlen(token), .index = read_index(token), .rank = rank};
        quote_token(b, node);
        const char *equals = find_equals(token, node->bytes);
        if (equals) {
            list->nodes[parent].selects = true;
            node->key = (struct mapping_text){token + 1, (size_t)(equals - token) - 1};
            node->value = (struct mapping_text){equals + 1,
                                                node->bytes - (size_t)(equals + 1 - token) - 1};
            node->of_pair = strcmp(equals + 1, "{pair}]") == 0;
        }
    }
    return *link;
}

const struct mapping_node *mapping_make_nodes(struct mapping_build *b,
                                              const struct mapping_sources *from, size_t *count)
{
    size_t most = 1;
    for (size_t k = 0; k < from->count; k++) {
        for (const char *c = from->path[k] ? from->path[k] : ""; *c; c++) {
            most += *c == '/';
        }
    }
    if (most > MAPPING_NODES_MAX) {
        option_fault(b->r, TREE_NONE, FAULT_TOO_MANY,
                     "pointers of one row have more than %d parts", MAPPING_NODES_MAX);
        return NULL;
    }
    struct node_list list = {mapping_alloc(b, most * sizeof *list.nodes), 1};
    if (!list.nodes) {
        return NULL;
    }
    list.nodes[0] = (struct mapping_node){.token = "", .index = -1};
    for (size_t k = 0; k < from->count; k++) {
        size_t node = 0;
        if (!from->path[k]) {
            continue;
        }
        for (const char *at = from->path[k]; *at == '/';) {
            const size_t bytes = token_bytes(at + 1);
            node = find_child(b, &list, node, at + 1, bytes);
            if (node == 0) {
                return NULL;
            }
            at += bytes + 1;
        }
        list.nodes[node].leaves |= UINT64_C(1) << k;
    }
    *count = list.count;
    return list.nodes;
}
