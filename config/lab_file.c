#include "config/lab_file.h"

#include <stdlib.h>
#include <string.h>

#include "config/lab_check.h"
#include "config/text_file.h"

void lab_file_defaults(struct lab_file *out)
{
    *out = (struct lab_file){0};
    option_defaults(&lab_options, out);
    lab_pair_defaults(&out->defaults, "");
}

void lab_file_free(struct lab_file *lab)
{
    if (lab) {
        free(lab->pairs);
        *lab = (struct lab_file){0};
    }
}

/* --- pairs ---------------------------------------------------------------------------- */

struct pair_list {
    struct pair_params *items;
    uint32_t *nodes; /* where each was written */
    size_t count, capacity;
};

static bool append_pair(struct pair_list *list, const struct pair_params *params, uint32_t node)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 16;
        struct pair_params *items = reallocarray(list->items, capacity, sizeof list->items[0]);
        if (!items) {
            return false;
        }
        list->items = items;
        uint32_t *nodes = reallocarray(list->nodes, capacity, sizeof list->nodes[0]);
        if (!nodes) {
            return false;
        }
        list->nodes = nodes;
        list->capacity = capacity;
    }
    list->items[list->count] = *params;
    list->nodes[list->count++] = node;
    return true;
}

static void fault_at_key(struct option_reader *r, uint32_t node, const char *text)
{
    const struct tree_node *n = &r->tree->nodes[node];
    (void)err_list_add(r->errors, STATUS_E_RANGE, r->file, n->key_line, n->key_column,
                       "pair '%.40s': %s", tree_key(r->tree, node), text);
    r->failed = true;
}

/* r with count 3 becomes r1, r2 and r3. */
static enum status add_pairs(struct option_reader *r, struct pair_list *list, uint32_t node,
                             struct lab_pair *pair)
{
    const char *id = tree_key(r->tree, node);
    const uint32_t last = pair->count > 0 ? pair->count : 1;

    for (uint32_t k = 1; k <= last; k++) {
        char *to = pair->params.id;
        const int n = pair->count > 0
                          ? snprintf(to, sizeof pair->params.id, "%s%u", id, (unsigned)k)
                          : snprintf(to, sizeof pair->params.id, "%s", id);
        if (n < 0 || (size_t)n >= sizeof pair->params.id) {
            fault_at_key(r, node, "with its number the id is longer than 31 characters");
            return STATUS_OK;
        }
        if (list->count == LAB_PAIRS_MAX) {
            fault_at_key(r, node, "the lab has more than 10000 pairs");
            return STATUS_E_FULL;
        }
        if (!append_pair(list, &pair->params, node)) {
            return STATUS_E_NOMEM;
        }
    }
    return STATUS_OK;
}

static enum status read_pair(struct option_reader *r, uint32_t node,
                             const struct pair_params *defaults, struct pair_list *list)
{
    const char *id = tree_key(r->tree, node);
    char shown[OPTION_PREFIX_MAX];
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct lab_pair pair = {.params = *defaults};

    if (r->tree->nodes[node].kind == TREE_SKIPPED) {
        return STATUS_OK;
    }
    if (!lab_check_id(id)) {
        fault_at_key(r, node, "an id has 1 to 31 letters, digits, '_' or '-'");
        return STATUS_OK;
    }
    (void)snprintf(shown, sizeof shown, "pairs.%s.", id);
    option_read(r, &lab_pair_options, "", node, shown, &pair, given);
    lab_check_following(r, shown, &pair.params.following, given);
    lab_check_pair(r, shown, &pair.params, given);
    return add_pairs(r, list, node, &pair);
}

struct named {
    const char *id;
    size_t index;
};

static int by_id(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    const int order = strcmp(x->id, y->id);
    if (order != 0) {
        return order;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The file's own duplicates are found by the tree; what count makes may meet them, too. */
static enum status check_ids(struct option_reader *r, const struct pair_list *list)
{
    struct named *sorted = calloc(list->count + 1, sizeof sorted[0]);
    if (!sorted) {
        return STATUS_E_NOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        sorted[i] = (struct named){list->items[i].id, i};
    }
    qsort(sorted, list->count, sizeof sorted[0], by_id);
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(sorted[i].id, sorted[i - 1].id) == 0) {
            const uint32_t first = list->nodes[sorted[i - 1].index];
            char text[ERR_TEXT_MAX / 2];
            (void)snprintf(text, sizeof text,
                           "%s is there twice, from line %u and from here; give one another id",
                           sorted[i].id, r->tree->nodes[first].key_line);
            fault_at_key(r, list->nodes[sorted[i].index], text);
        }
    }
    free(sorted);
    return STATUS_OK;
}

static enum status read_pairs(struct option_reader *r, uint32_t node,
                              const struct pair_params *defaults, struct pair_list *list)
{
    const struct tree_node *map = &r->tree->nodes[node];
    const bool empty = option_is_empty(r->tree, node);
    if (map->kind == TREE_SKIPPED) {
        return STATUS_OK;
    }
    if (!empty && map->kind != TREE_MAP) {
        option_fault(r, node,
                     "pairs: ids and their options are wanted, as in {r1: {}, r2: {}}");
        return STATUS_OK;
    }
    if (empty || map->count == 0) {
        option_fault(r, node, "pairs: the lab has no pair, the least is {r1: {}}");
        return STATUS_OK;
    }
    for (uint32_t i = map->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        const enum status status = read_pair(r, i, defaults, list);
        if (status != STATUS_OK) {
            return status == STATUS_E_FULL ? STATUS_OK : status;
        }
    }
    return check_ids(r, list);
}

/* --- the whole file ------------------------------------------------------------------- */

static void read_defaults(struct option_reader *r, uint32_t node, struct pair_params *defaults)
{
    struct lab_pair pair = {.params = *defaults};
    uint32_t given[OPTION_ROWS_MAX] = {0};
    if (node == TREE_NONE) {
        return;
    }
    option_read(r, &lab_pair_options, "", node, "defaults.", &pair, given);
    const struct option_row *count = option_find(&lab_pair_options, "count");
    const uint32_t at = given[count - lab_pair_options.rows];
    if (at != TREE_NONE) {
        option_fault(r, at, "defaults.count: count belongs to one entry of pairs");
    }
    lab_check_following(r, "defaults.", &pair.params.following, given);
    lab_check_pair(r, "defaults.", &pair.params, given);
    *defaults = pair.params;
}

static enum status read_tree(struct option_reader *r, struct lab_file *lab,
                             struct pair_list *list)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    if (r->tree->count == 0 || option_is_empty(r->tree, TREE_ROOT)) {
        if (!r->tree->partial) {
            (void)err_list_add(r->errors, STATUS_E_PARSE, r->file, 1, 1,
                               "the file is empty, the least is \"pairs: {r1: {}}\"");
            r->failed = true;
        }
        return STATUS_OK;
    }
    option_read(r, &lab_options, "", TREE_ROOT, "", lab, given);
    lab_check_file(r, lab, given);
    read_defaults(r, option_given(&lab_options, given, "defaults"), &lab->defaults);
    const uint32_t pairs = option_given(&lab_options, given, "pairs");
    if (pairs != TREE_NONE) {
        const enum status status = read_pairs(r, pairs, &lab->defaults, list);
        lab_check_journal(r, lab, list->items, list->count, given);
        return status;
    }
    if (!r->tree->partial && r->tree->nodes[TREE_ROOT].kind == TREE_MAP) {
        option_fault(r, TREE_ROOT, "pairs are missing, the least is \"pairs: {r1: {}}\"");
    }
    return STATUS_OK;
}

static enum status no_memory(const char *name, struct err_list *errors)
{
    return err_list_add(errors, STATUS_E_NOMEM, name, 0, 0, "not enough memory to read it");
}

enum status lab_file_parse(const char *text, size_t bytes, const char *name,
                           struct lab_file *out, struct err_list *errors)
{
    struct tree tree = {0};
    struct pair_list list = {0};
    struct lab_file lab;

    lab_file_defaults(&lab);
    const enum status parsed = tree_parse(text, bytes, name, &tree, errors);
    struct option_reader r = {.tree = &tree, .file = name, .errors = errors};
    enum status status = parsed;
    if (parsed != STATUS_E_NOMEM && bytes <= TREE_BYTES_MAX) {
        status = read_tree(&r, &lab, &list);
        if (status == STATUS_OK && (parsed != STATUS_OK || r.failed)) {
            status = STATUS_E_PARSE;
        }
    }
    tree_finish(&tree);
    free(list.nodes);
    if (status == STATUS_OK) {
        lab.pairs = list.items;
        lab.pair_count = list.count;
        *out = lab;
        return STATUS_OK;
    }
    free(list.items);
    if (errors) {
        err_list_sort(errors);
    }
    return status == STATUS_E_NOMEM ? no_memory(name, errors) : status;
}

enum status lab_file_load(const char *path, struct lab_file *out, struct err_list *errors)
{
    size_t bytes = 0;
    char *text = NULL;
    enum status status = text_file_read(path, "a lab file", &text, &bytes, errors);
    if (status == STATUS_OK) {
        status = lab_file_parse(text, bytes, path, out, errors);
    }
    free(text);
    return status;
}
