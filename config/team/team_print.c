/* config/team/team_print.c - prints teams as YAML. */
#include <stdio.h>
#include <stdlib.h>

#include "config/options/tree_print.h"
#include "config/team/team_build.h"
#include "config/team/team_file.h"

/* Prints the members of a map, one a line. */
// NOLINTNEXTLINE(misc-no-recursion)
static void print_block(const struct tree *tree, uint32_t node, int depth, int most, FILE *out)
{
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        const struct tree_node *n = &tree->nodes[i];
        (void)fprintf(out, "%*s", 2 * depth, "");
        tree_print_key(tree_key(tree, i), out);
        if (n->kind == TREE_MAP && n->count > 0 && depth < most) {
            (void)fputc('\n', out);
            print_block(tree, i, depth + 1, most, out);
        } else {
            (void)fputc(' ', out);
            tree_print(tree, i, out);
            (void)fputc('\n', out);
        }
    }
}

char *team_file_text(const struct tree *tree, uint32_t node, bool single)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    (void)fputs(single ? "team:\n" : "teams:\n", out);
    if (tree->nodes[node].kind == TREE_MAP) {
        print_block(tree, node, 1, single ? 2 : 3, out); /* entries have their own lines */
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void team_file_print(const struct team_file *file, FILE *out)
{
    if (file->team_count > 0 && file->text) {
        (void)fputs(file->text, out);
    }
}
