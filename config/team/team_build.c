#include "config/team/team_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/edit_distance.h"
#include "base/text/names.h"

#define ID_LETTERS   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define NAME_LETTERS ID_LETTERS "."

enum { KNOWN_MAX = 110 };

void *team_build_append(struct team_build *b, struct team_list *list, size_t bytes)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 16;
        void *items = reallocarray(list->items, capacity, bytes);
        if (!items) {
            b->no_memory = true;
            return &b->scrap;
        }
        list->items = items;
        list->capacity = capacity;
    }
    void *item = (char *)list->items + list->count * bytes;
    list->count++;
    memset(item, 0, bytes);
    return item;
}

/* --- maps and lists ---------------------------------------------------------------------- */

static void read_children(struct team_build *b, uint32_t node, team_each *read)
{
    const struct tree *tree = b->r->tree;
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        if (tree->nodes[i].kind != TREE_SKIPPED) {
            read(b, i);
        }
    }
}

void team_build_map(struct team_build *b, uint32_t node, const char *key, team_each *read)
{
    const enum tree_kind kind = b->r->tree->nodes[node].kind;
    if (node == TREE_NONE || kind == TREE_SKIPPED || option_is_empty(b->r->tree, node)) {
        return;
    }
    if (kind != TREE_MAP) {
        option_fault(b->r, node, FAULT_OBJECT_EXPECTED,
                     "%s%s: a map from names to values is required here", b->shown, key);
        return;
    }
    read_children(b, node, read);
}

void team_build_list(struct team_build *b, uint32_t node, const char *key, team_each *read)
{
    const enum tree_kind kind = b->r->tree->nodes[node].kind;
    if (node == TREE_NONE || kind == TREE_SKIPPED) {
        return;
    }
    if (kind == TREE_MAP || option_is_empty(b->r->tree, node)) {
        option_fault(b->r, node, FAULT_LIST_EXPECTED, "%s: a list is wanted, as in [a, b]",
                     key);
    } else if (kind == TREE_SCALAR) {
        read(b, node);
    } else {
        read_children(b, node, read);
    }
}

void team_build_shown(const struct team_build *b, const char *section, uint32_t node,
                      char out[OPTION_PREFIX_MAX])
{
    (void)snprintf(out, OPTION_PREFIX_MAX, "%s%s.%.31s.", b->shown, section,
                   tree_key(b->r->tree, node));
}

void team_build_require(struct team_build *b, const struct option_table *table,
                        const uint32_t *given, uint32_t node, const char *shown,
                        const char *key)
{
    if (option_given(table, given, key) == TREE_NONE) {
        option_fault(b->r, node, FAULT_MISSING_KEY, "%s%s is missing", shown, key);
    }
}

/* --- names ------------------------------------------------------------------------------- */

bool team_is_id(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n < TEAM_NAME_MAX && strspn(name, ID_LETTERS) == n;
}

static bool is_name(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n < TEAM_NAME_MAX && strspn(name, NAME_LETTERS) == n;
}

bool team_build_key(struct team_build *b, uint32_t node, const char *what)
{
    const struct tree_node *n = &b->r->tree->nodes[node];
    const char *key = tree_key(b->r->tree, node);
    if (is_name(key)) {
        return true;
    }
    (void)err_list_add(b->r->errors, STATUS_E_RANGE, FAULT_BAD_NAME, b->r->file, n->key_line,
                       n->key_column,
                       "%.*s: '%.40s': %s has 1 to 31 letters, digits, '_', '-' or '.'",
                       (int)strlen(b->shown) - 1, b->shown, key, what);
    b->r->failed = true;
    return false;
}

bool team_build_text(struct team_build *b, uint32_t node, const char *what)
{
    const struct tree_node *n = &b->r->tree->nodes[node];
    const char *text = n->kind == TREE_SCALAR ? tree_text(b->r->tree, node) : "";
    if (n->kind == TREE_SCALAR && is_name(text)) {
        return true;
    }
    option_fault(b->r, node, FAULT_BAD_NAME,
                 "%.*s: '%.40s': %s has 1 to 31 letters, digits, '_', '-' or '.'",
                 (int)strlen(b->shown) - 1, b->shown, text, what);
    return false;
}

uint16_t team_build_name(struct team_build *b, const char *text)
{
    const size_t n = TEAM_COUNT(b, TEAM_OF_NAMES);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(TEAM_AT(b, TEAM_OF_NAMES, struct team_word, i)->text, text) == 0) {
            return (uint16_t)i;
        }
    }
    if (n == TEAM_NONE) {
        option_fault(b->r, TREE_NONE, FAULT_TOO_MANY,
                     "%.*s: more than %d names of parts, places and the like",
                     (int)strlen(b->shown) - 1, b->shown, TEAM_NONE);
        return TEAM_NONE;
    }
    struct team_word *name = TEAM_ADD(b, TEAM_OF_NAMES, struct team_word);
    (void)snprintf(name->text, sizeof name->text, "%s", text);
    return (uint16_t)n;
}

const char *team_nth_resource(const struct team_build *b, size_t i)
{
    return TEAM_AT(b, TEAM_OF_RESOURCES, const struct team_resource_params, i)->name;
}

const char *team_nth_robot(const struct team_build *b, size_t i)
{
    return TEAM_AT(b, TEAM_OF_ROBOTS, const struct team_robot_params, i)->name;
}

const char *team_nth_sequence(const struct team_build *b, size_t i)
{
    return TEAM_AT(b, TEAM_OF_SEQUENCES, const struct team_sequence, i)->name;
}

const char *team_nth_task(const struct team_build *b, size_t i)
{
    return TEAM_AT(b, TEAM_OF_TASKS, const struct team_task_params, i)->name;
}

static const char *name_at(const struct team_build *b, uint16_t name)
{
    return TEAM_AT(b, TEAM_OF_NAMES, const struct team_word, name)->text;
}

const char *team_nth_buffer(const struct team_build *b, size_t i)
{
    return name_at(b, TEAM_AT(b, TEAM_OF_BUFFERS, const struct team_buffer, i)->name);
}

const char *team_nth_position(const struct team_build *b, size_t i)
{
    return name_at(b, TEAM_AT(b, TEAM_OF_POSITIONS, const struct team_position, i)->name);
}

void team_build_guess(struct edit_guess *guess, const char *text, const char *name)
{
    char small[TEAM_NAME_MAX];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof small; n++) {
        const char c = name[n];
        small[n] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    small[n] = '\0';
    const size_t distance = edit_likeness(text, small);
    if (distance != SIZE_MAX && (!guess->name || distance < guess->distance)) {
        *guess = (struct edit_guess){name, distance};
    }
}

uint16_t team_build_find(struct team_build *b, uint32_t node, const char *text,
                         const char *what, size_t count, team_nth *nth)
{
    char known[KNOWN_MAX] = "";
    char meant[EDIT_GUESS_MAX];
    struct edit_guess guess = {0};
    for (size_t i = 0; i < count; i++) {
        const char *name = nth(b, i);
        if (strcmp(name, text) == 0) {
            return (uint16_t)i;
        }
        team_build_guess(&guess, text, name);
        names_append_new(known, sizeof known, name);
    }
    option_fault(b->r, node, FAULT_UNKNOWN_NAME, "%s: there is no '%.31s'%s%s%s", what, text,
                 edit_guess_text(&guess, meant), count > 0 ? "; there is " : "", known);
    return TEAM_NONE;
}
