#include "service/robots/points.h"

#include <math.h>

static bool read_coordinate(struct option_reader *r, uint32_t node, const char *shown,
                            double *value)
{
    const struct tree_node *n = &r->tree->nodes[node];
    if (n->kind != TREE_SCALAR || !n->plain) {
        if (n->kind != TREE_SKIPPED) {
            option_fault(r, node, "%s: a point is two numbers, as in [1.5, -0.2]", shown);
        }
        return false;
    }
    if (!option_number(r, node, shown, value)) {
        return false;
    }
    if (!(fabs(*value) <= POINTS_LIMIT_M)) {
        option_fault(r, node, "%s: from -1e6 to 1e6 m was expected", shown);
        return false;
    }
    return true;
}

static bool read_point(struct option_reader *r, uint32_t node, const char *shown,
                       struct world_point *point)
{
    const struct tree_node *n = &r->tree->nodes[node];
    if (n->kind == TREE_SKIPPED) {
        return false;
    }
    if (n->kind != TREE_LIST || n->count != 2) {
        option_fault(r, node, "%s: a point is two numbers, as in [1.5, -0.2]", shown);
        return false;
    }
    const uint32_t y = r->tree->nodes[n->first].next;
    const bool x_fits = read_coordinate(r, n->first, shown, &point->x_m);
    return read_coordinate(r, y, shown, &point->y_m) && x_fits;
}

void points_read(struct option_reader *r, uint32_t node, const char *shown, size_t min,
                 size_t max, struct world_point *points, size_t *count)
{
    const struct tree_node *list = &r->tree->nodes[node];
    size_t n = 0;
    bool all = true;
    *count = 0;
    if (list->kind == TREE_SKIPPED) {
        return;
    }
    if (list->kind != TREE_LIST) {
        option_fault(r, node, "%s: a list of points is wanted, as in [[0, 0], [1.5, -0.2]]",
                     shown);
        return;
    }
    if (list->count < min || list->count > max) {
        option_fault(r, node, "%s: %zu to %zu points were expected, these are %u", shown, min,
                     max, (unsigned)list->count);
        return;
    }
    for (uint32_t i = list->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        all = read_point(r, i, shown, &points[n]) && all;
        n++;
    }
    *count = all ? n : 0;
}

void points_read_one(struct option_reader *r, uint32_t node, const char *shown,
                     struct world_point *point, size_t *count)
{
    *count = read_point(r, node, shown, point) ? 1 : 0;
}
