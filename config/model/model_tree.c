/* config/model/model_tree.c - access to the tree of a model file, for its readers. */
#include "config/model/model_parts.h"

uint32_t model_next(const struct model_loader *l, uint32_t node)
{
    return l->tree->nodes[node].next;
}

bool model_is_kind(const struct model_loader *l, uint32_t node, enum tree_kind kind)
{
    return node != TREE_NONE && l->tree->nodes[node].kind == kind;
}

uint32_t model_entries(const struct model_loader *l, const char *key, enum tree_kind kind,
                       size_t most, bool needed)
{
    const uint32_t node = option_node(l->reading, key);
    const char *what = kind == TREE_MAP ? "a map" : "a list";
    if (node == TREE_NONE) {
        if (needed && !l->tree->partial) {
            option_fault(l->r, TREE_NONE, FAULT_MISSING_KEY, "%s are missing: %s of 1 to %zu",
                         key, what, most);
        }
        return TREE_NONE;
    }
    if (model_is_kind(l, node, TREE_SKIPPED)) {
        return TREE_NONE;
    }
    if (!model_is_kind(l, node, kind)) {
        option_fault(l->r, node, kind == TREE_MAP ? FAULT_OBJECT_EXPECTED : FAULT_LIST_EXPECTED,
                     "%s: %s is wanted", key, what);
        return TREE_NONE;
    }
    const size_t count = l->tree->nodes[node].count;
    if (count < 1 || count > most) {
        option_fault(l->r, node, FAULT_WRONG_COUNT, "%s: %zu entries, 1 to %zu are possible",
                     key, count, most);
        return TREE_NONE;
    }
    return node;
}

const char *model_scalar(const struct model_loader *l, uint32_t node)
{
    return model_is_kind(l, node, TREE_SCALAR) ? tree_text(l->tree, node) : "";
}
