#include "service/experiments/paper.h"

#include <math.h>

static void read_row(struct option_reader *r, uint32_t node, const struct paper *paper,
                     double *values)
{
    for (uint32_t at = r->tree->nodes[node].first; at != TREE_NONE;
         at = r->tree->nodes[at].next) {
        const size_t i = names_value(paper->columns, tree_key(r->tree, at));
        if (i == paper->columns->count) {
            option_fault(r, at, "%s '%.40s'", paper->column_fault, tree_key(r->tree, at));
        } else {
            (void)option_number_from(r, at, "paper", paper->least, &values[i]);
        }
    }
}

void paper_read(const struct option_reading *reading, const struct paper *paper)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, "paper");
    for (size_t i = 0; i < paper->rows->count * paper->stride; i++) {
        paper->values[i] = nan("");
    }
    if (node == TREE_NONE) {
        return;
    }
    for (uint32_t at = r->tree->nodes[node].first; at != TREE_NONE;
         at = r->tree->nodes[at].next) {
        const size_t row = names_value(paper->rows, tree_key(r->tree, at));
        if (row == paper->rows->count || r->tree->nodes[at].kind != TREE_MAP) {
            option_fault(r, at, "%s", paper->row_fault);
        } else {
            read_row(r, at, paper, paper->values + row * paper->stride);
        }
    }
}
