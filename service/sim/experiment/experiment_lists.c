#include "service/sim/experiment/experiment_lists.h"

#include <string.h>

size_t experiment_numbers(const struct option_reading *reading, const char *path, size_t min,
                          size_t max, double least, const char *expected, double *values)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, path);
    const struct tree_node *list = &r->tree->nodes[node];
    size_t n = 0;
    if (node == TREE_NONE) {
        return 0;
    }
    if (list->kind != TREE_LIST || list->count < min || list->count > max) {
        option_fault(r, node, FAULT_LIST_EXPECTED, "%s: a list of %s", path, expected);
        return 0;
    }
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        n += option_number_from(r, at, path, least, &values[n]) ? 1 : 0;
    }
    return n;
}

void experiment_path(const struct option_reading *reading, const char *key,
                     char path[LAB_PATH_MAX])
{
    char joined[LAB_PATH_MAX];
    if (path[0] == '\0') {
        return;
    }
    if (!text_file_sibling(reading->r->file, path, joined, sizeof joined)) {
        option_fault(reading->r, option_node(reading, key), FAULT_TOO_LONG,
                     "%s: the path is too long", key);
        return;
    }
    memcpy(path, joined, strlen(joined) + 1);
}
