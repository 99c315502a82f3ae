/* config/mapping/mapping_source.c - reads where a mapping finds a value: pointers, columns,
 * units, maps.
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *mapping_copy_text(struct mapping_build *b, const char *text)
{
    char *copy = mapping_alloc(b, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
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

uint32_t mapping_child(const struct tree *tree, uint32_t node, const char *key)
{
    uint32_t i = tree->nodes[node].kind == TREE_MAP ? tree->nodes[node].first : TREE_NONE;
    while (i != TREE_NONE && strcmp(tree_key(tree, i), key) != 0) {
        i = tree->nodes[i].next;
    }
    return i;
}

void mapping_list_names(const struct names *names, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t k = 0; k < names->count; k++) {
        names_append(out, size, names_text(names, k));
    }
}

bool mapping_read_words(struct mapping_build *b, uint32_t node, const char *shown,
                        const struct mapping_word **words, size_t *count)
{
    const struct tree *tree = b->r->tree;
    const struct tree_node *map = &tree->nodes[node];
    struct mapping_word *out = NULL;
    size_t used = 0;
    if (map->kind != TREE_MAP || map->count == 0) {
        option_fault(b->r, node, FAULT_OBJECT_EXPECTED,
                     "%s: names were expected, as in {OK: done}", shown);
        return false;
    }
    out = mapping_alloc(b, map->count * sizeof *out);
    for (uint32_t i = map->first; out && i != TREE_NONE; i = tree->nodes[i].next) {
        const char *from = tree_key(tree, i);
        const char *to = tree->nodes[i].kind == TREE_SCALAR ? tree_text(tree, i) : NULL;
        if (!to || strlen(from) >= MAPPING_WORD_MAX || strlen(to) >= MAPPING_WORD_MAX) {
            option_fault(b->r, i, FAULT_TOO_LONG,
                         "%s.%.40s: a text of at most %d bytes was expected", shown, from,
                         MAPPING_WORD_MAX - 1);
            return false;
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

static bool read_unit(struct mapping_build *b, struct mapping_source *s, uint32_t node,
                      const char *shown, const struct mapping_member *member)
{
    static const struct {
        enum unit_kind kind;
        const char *wanted;
    } measured[] = {[MAPPING_NUMBER] = {UNIT_UNKNOWN, "no unit"},
                    [MAPPING_SECONDS] = {UNIT_STAMP, "a unit of time"},
                    [MAPPING_RADIANS] = {UNIT_ANGLE, "a unit of angles"},
                    [MAPPING_METRES] = {UNIT_LENGTH, "a unit of length"}};
    const char *name = tree_text(b->r->tree, node);
    const struct unit *unit = find_unit(name);
    const enum mapping_quantity quantity = member ? member->quantity : MAPPING_NUMBER;
    const bool any = quantity == MAPPING_NUMBER;
    if (!unit) {
        option_fault(b->r, node, FAULT_UNKNOWN_UNIT,
                     "%s.unit: one of %s, iso8601 was expected, not '%.40s'", shown,
                     unit_list(UNIT_UNKNOWN), name);
        return false;
    }
    if (!accepts_number(member) ||
        !(any || (unit_fits(unit, measured[quantity].kind) && !strchr(name, '/')))) {
        option_fault(b->r, node, FAULT_UNKNOWN_UNIT, "%s.unit: %s was expected, not '%s'",
                     shown, measured[accepts_number(member) ? quantity : MAPPING_NUMBER].wanted,
                     name);
        return false;
    }
    s->iso8601 = unit->kind == UNIT_STAMP;
    s->quaternion = strcmp(name, "quaternion") == 0;
    s->scale *= s->iso8601 ? 1.0 : unit->factor;
    s->numeric = true;
    return true;
}

/* ---- places ---- */

static bool read_path(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                      const char *shown, const char *path)
{
    const size_t k = to->count;
    if (!mapping_is_json(to->format)) {
        option_fault(b->r, node, FAULT_NOT_APPLICABLE,
                     "%s.path: a JSON pointer needs format: json; in %s a column is 'at: 1 …'",
                     shown, to->format == MAPPING_CSV ? "csv" : "text");
        return false;
    }
    if (path[0] != '\0' && path[0] != '/') {
        char meant[96];
        (void)snprintf(meant, sizeof meant, "%.90s", path);
        for (char *c = meant; *c; c++) {
            *c = *c == '.' ? '/' : *c;
        }
        option_fault(b->r, node, FAULT_BAD_POINTER,
                     "%s.path: a JSON pointer begins with '/', for example '/%s'", shown,
                     meant);
        return false;
    }
    to->source[k].origin = MAPPING_PATH;
    to->path[k] = mapping_copy_text(b, path);
    to->source[k].place = path[0] ? to->path[k] : "the payload";
    return to->path[k] != NULL;
}

static bool read_column(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                        const char *shown)
{
    struct mapping_source *s = &to->source[to->count];
    char place[32];
    int64_t column = 0;
    if (mapping_is_json(to->format)) {
        option_fault(b->r, node, FAULT_NOT_APPLICABLE,
                     "%s.at: a column needs format: text or csv; in json a value is at a "
                     "'path: /…'",
                     shown);
        return false;
    }
    if (number_parse_int(tree_text(b->r->tree, node), &column) != NUMBER_FINE || column < 1 ||
        column > MAPPING_COLUMNS_MAX) {
        option_fault(b->r, node, FAULT_OUT_OF_RANGE,
                     "%s.at: a column from 1 to %d was expected, not '%.40s'", shown,
                     MAPPING_COLUMNS_MAX, tree_text(b->r->tree, node));
        return false;
    }
    (void)snprintf(place, sizeof place, "column %u", (unsigned)column);
    s->origin = MAPPING_AT;
    s->at = (unsigned)column;
    s->place = mapping_copy_text(b, place);
    return s->place != NULL;
}

static bool read_level(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                       const char *shown)
{
    struct mapping_source *s = &to->source[to->count];
    const char *name = tree_text(b->r->tree, node);
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
    option_fault(b->r, node, FAULT_UNKNOWN_NAME, "%s.topic: the topic has no level {%.40s}",
                 shown, name);
    return false;
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
        mapping_list_names(member->names, names, sizeof names);
        option_fault(b->r, node, FAULT_UNKNOWN_VALUE, "%s: one of %s was expected, not '%.40s'",
                     shown, names, word);
        return false;
    }
    if (accepts_number(member) && number_parse_real(word, &number) != NUMBER_FINE) {
        option_fault(b->r, node, FAULT_NOT_A_NUMBER, "%s: a number was expected, not '%.40s'",
                     shown, word);
        return false;
    }
    if (member->type == MAPPING_PLAIN && strlen(word) >= member->size) {
        option_fault(b->r, node, FAULT_TOO_LONG, "%s: a text of at most %zu bytes was expected",
                     shown, member->size - 1);
        return false;
    }
    return true;
}

static bool read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                          const char *shown, const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    const char *text = tree_text(b->r->tree, node);
    if (strlen(text) >= MAPPING_WORD_MAX) {
        option_fault(b->r, node, FAULT_TOO_LONG,
                     "%s.value: a text of at most %d bytes was expected", shown,
                     MAPPING_WORD_MAX - 1);
        return false;
    }
    s->origin = MAPPING_VALUE;
    s->place = "value";
    s->value = mapping_copy_text(b, text);
    return s->value && check_word(b, node, shown, member, text);
}

/* ---- one source ---- */

enum { KEY_PATH, KEY_AT, KEY_TOPIC, KEY_VALUE, KEY_METRIC, KEY_STAMP, SOURCE_KINDS };
static const char *const keys[] = {"path",  "at",   "topic",    "value", "metric",
                                   "stamp", "held", "unit",     "scale", "offset",
                                   "plus",  "map",  "optional", "digits"};

/* Keys that only some rows have. */
static bool has_key(const struct mapping_sources *to, const char *key)
{
    if (strcmp(key, "digits") == 0) {
        return to->sends;
    }
    return to->format == MAPPING_SPARKPLUG ||
           (strcmp(key, "metric") != 0 && strcmp(key, "stamp") != 0 &&
            strcmp(key, "held") != 0);
}

static bool check_keys(struct mapping_build *b, const struct mapping_sources *to, uint32_t node,
                       const char *shown)
{
    const struct tree *tree = b->r->tree;
    bool fine = true;
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        const char *key = tree_key(tree, i);
        char key_list[128] = "";
        bool known = false;
        for (size_t k = 0; k < COUNT(keys); k++) {
            known = known || (strcmp(keys[k], key) == 0 && has_key(to, key));
            if (has_key(to, keys[k])) {
                names_append(key_list, sizeof key_list, keys[k]);
            }
        }
        const bool map = strcmp(key, "plus") == 0 || strcmp(key, "map") == 0;
        if (!known) {
            option_fault(b->r, i, FAULT_UNKNOWN_KEY, "%s: unknown key '%.40s', known: %s",
                         shown, key, key_list);
            fine = false;
        } else if (tree->nodes[i].kind != (map ? TREE_MAP : TREE_SCALAR)) {
            option_fault(b->r, i, map ? FAULT_OBJECT_EXPECTED : FAULT_VALUE_EXPECTED,
                         "%s.%s: %s was expected", shown, key, map ? "a map" : "one value");
            fine = false;
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
        option_fault(b->r, node, FAULT_TEXT_EXPECTED, "%s: the name of a metric was expected",
                     shown);
        return false;
    }
    (void)snprintf(place, sizeof place, "%s %s",
                   strcmp(object, "stamps") == 0 ? "stamp" : "metric", name);
    to->source[to->count].place = mapping_copy_text(b, place);
    return to->source[to->count].place != NULL;
}

/* Reads a metric of this message, or with `held: true` the last value received. */
static bool read_named(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                       const char *shown, bool stamp)
{
    const struct tree *tree = b->r->tree;
    const uint32_t at = mapping_child(tree, node, stamp ? "stamp" : "metric");
    const uint32_t held = mapping_child(tree, node, "held");
    const char *text = held != TREE_NONE ? tree_text(tree, held) : "false";
    const bool is_held = strcmp(text, "true") == 0;
    if ((!is_held && strcmp(text, "false") != 0) || (stamp && held != TREE_NONE)) {
        option_fault(b->r, held, stamp ? FAULT_NOT_APPLICABLE : FAULT_BOOLEAN_EXPECTED,
                     "%s.held: %s", shown,
                     stamp ? "a stamp is that of this message" : "true or false was expected");
        return false;
    }
    return read_metric(b, to, at, shown,
                       stamp     ? "stamps"
                       : is_held ? "held"
                                 : "metrics",
                       tree_text(tree, at));
}

/* Exactly one way to a value is allowed. */
static bool read_one_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                            const char *shown, const struct mapping_member *member,
                            const char *path)
{
    const struct tree *tree = b->r->tree;
    uint32_t at[SOURCE_KINDS];
    size_t given_count = 0;
    size_t origin = 0;
    for (size_t k = 0; k < SOURCE_KINDS; k++) {
        at[k] = mapping_child(tree, node, keys[k]);
        given_count += at[k] != TREE_NONE;
        origin = at[k] != TREE_NONE ? k : origin;
    }
    if (to->sends && (given_count == 0 || (given_count == 1 && origin == KEY_PATH))) {
        return given_count == 1 ? read_path(b, to, at[0], shown, tree_text(tree, at[0]))
                                : read_path(b, to, node, shown, path);
    }
    if (given_count != 1 || to->sends) {
        option_fault(b->r, node, FAULT_CONFLICTING_KEYS, "%s: exactly one of %s was expected",
                     shown,
                     to->sends                         ? "path"
                     : to->format == MAPPING_SPARKPLUG ? "metric, stamp, path, topic, value"
                                                       : "path, at, topic, value");
        return false;
    }
    switch (origin) {
    case KEY_PATH:
        return read_path(b, to, at[origin], shown, tree_text(tree, at[origin]));
    case KEY_AT:
        return read_column(b, to, at[origin], shown);
    case KEY_TOPIC:
        return read_level(b, to, at[origin], shown);
    case KEY_VALUE:
        return read_constant(b, to, at[origin], shown, member);
    default:
        return read_named(b, to, node, shown, origin == KEY_STAMP);
    }
}

static bool read_size(struct mapping_build *b, uint32_t node, const char *shown,
                      const char *key, double *value)
{
    const uint32_t at = mapping_child(b->r->tree, node, key);
    char name[OPTION_PREFIX_MAX];
    (void)snprintf(name, sizeof name, "%s.%s", shown, key);
    return at == TREE_NONE || option_number(b->r, at, name, value);
}

static bool read_sizes(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                       const char *shown, const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    const struct tree *tree = b->r->tree;
    const uint32_t unit = mapping_child(tree, node, "unit");
    const uint32_t digits = mapping_child(tree, node, "digits");
    int64_t places = -1;
    s->scale = 1.0;
    if (!read_size(b, node, shown, "scale", &s->scale) ||
        !read_size(b, node, shown, "offset", &s->offset)) {
        return false;
    }
    if (!(fabs(s->scale) > 0.0)) {
        option_fault(b->r, mapping_child(tree, node, "scale"), FAULT_OUT_OF_RANGE,
                     "%s.scale: another number than 0 was expected", shown);
        return false;
    }
    if (digits != TREE_NONE &&
        (number_parse_int(tree_text(tree, digits), &places) != NUMBER_FINE || places < 0 ||
         places > 12)) {
        option_fault(b->r, digits, FAULT_OUT_OF_RANGE, "%s.digits: 0 to 12 was expected",
                     shown);
        return false;
    }
    to->digits[to->count] = (int)places;
    s->numeric = mapping_child(tree, node, "scale") != TREE_NONE ||
                 mapping_child(tree, node, "offset") != TREE_NONE || digits != TREE_NONE;
    if (unit == TREE_NONE && mapping_child(tree, node, keys[KEY_STAMP]) != TREE_NONE) {
        s->scale *= 1e-3; /* Sparkplug stamps are in milliseconds. */
    }
    return unit == TREE_NONE || read_unit(b, s, unit, shown, member);
}

static bool read_optional(struct mapping_build *b, struct mapping_source *s, uint32_t node,
                          const char *shown)
{
    const uint32_t at = mapping_child(b->r->tree, node, "optional");
    const char *text = at != TREE_NONE ? tree_text(b->r->tree, at) : "false";
    s->optional = strcmp(text, "true") == 0;
    if (!s->optional && strcmp(text, "false") != 0) {
        option_fault(b->r, at, FAULT_BOOLEAN_EXPECTED,
                     "%s.optional: true or false was expected", shown);
        return false;
    }
    return true;
}

static bool read_map(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                     const char *shown, const struct mapping_member *member)
{
    struct mapping_source *s = &to->source[to->count];
    const uint32_t map = mapping_child(b->r->tree, node, "map");
    char name[OPTION_PREFIX_MAX];
    (void)snprintf(name, sizeof name, "%s.map", shown);
    if (map == TREE_NONE) {
        return true;
    }
    if (!mapping_read_words(b, map, name, &s->map, &s->map_count)) {
        return false;
    }
    bool fine = true;
    for (size_t k = 0; !to->sends && k < s->map_count; k++) {
        fine = check_word(b, map, name, member, s->map[k].to) && fine;
    }
    return fine;
}

/* Adds a source; NULL with a fault when there is no room. */
static struct mapping_source *begin_source(struct mapping_build *b, struct mapping_sources *to,
                                           uint32_t node, const char *shown)
{
    if (to->count == MAPPING_SOURCES_MAX) {
        option_fault(b->r, node, FAULT_TOO_MANY, "%s: at most %d values were expected", shown,
                     MAPPING_SOURCES_MAX);
        return NULL;
    }
    to->source[to->count] = (struct mapping_source){.scale = 1.0};
    to->digits[to->count] = -1;
    to->path[to->count] = NULL;
    return &to->source[to->count];
}

bool mapping_read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                           const char *shown, const struct mapping_member *member)
{
    if (!begin_source(b, to, node, shown) || !read_constant(b, to, node, shown, member)) {
        return false;
    }
    to->count++;
    return true;
}

bool mapping_add_pointer(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const char *path)
{
    if (!begin_source(b, to, node, shown) || !read_path(b, to, node, shown, path)) {
        return false;
    }
    to->count++;
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion)
bool mapping_read_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const struct mapping_member *member,
                         const char *path)
{
    struct mapping_source *s = begin_source(b, to, node, shown);
    if (!s) {
        return false;
    }
    const uint32_t plus = mapping_child(b->r->tree, node, "plus");
    if (!check_keys(b, to, node, shown) || !read_one_source(b, to, node, shown, member, path) ||
        !read_sizes(b, to, node, shown, member) || !read_optional(b, s, node, shown) ||
        !read_map(b, to, node, shown, member)) {
        return false;
    }
    to->count++;
    if (plus == TREE_NONE) {
        return true;
    }
    char name[OPTION_PREFIX_MAX];
    (void)snprintf(name, sizeof name, "%s.plus", shown);
    if (to->sends || !accepts_number(member)) {
        option_fault(b->r, plus, FAULT_NOT_APPLICABLE, "%s: a number can be added to, %s not",
                     name, to->sends ? "what is sent" : member->name);
        return false;
    }
    return mapping_read_source(b, to, plus, name, member, NULL);
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
        list->nodes[list->count++] = (struct mapping_node){
            .token = token, .bytes = strlen(token), .index = read_index(token), .rank = rank};
        quote_token(b, &list->nodes[*link]);
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
        for (const char *at = strchr(from->path[k], '/'); at; at = strchr(at + 1, '/')) {
            node = find_child(b, &list, node, at + 1, strcspn(at + 1, "/"));
            if (node == 0) {
                return NULL;
            }
        }
        list.nodes[node].leaves |= UINT64_C(1) << k;
    }
    *count = list.count;
    return list.nodes;
}
