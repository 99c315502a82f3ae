#include "config/options/tree_print.h"

#include <ctype.h>
#include <string.h>

#include "config/options/option_file.h"

/* Plain scalars of these letters read back unchanged, also inside brackets. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.+-";
    const bool number =
        strchr("+-.", text[0]) && (isdigit((unsigned char)text[1]) || text[1] == '.');
    return text[0] && strspn(text, letters) == strlen(text) &&
           (isalnum((unsigned char)text[0]) || number);
}

void tree_print_scalar(const char *text, bool plain, FILE *out)
{
    if (plain && (is_plain(text) || strcmp(text, "~") == 0)) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (const char *p = text; *p; p++) {
        (void)fprintf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    }
    (void)fputc('"', out);
}

void tree_print_key(const char *key, FILE *out)
{
    tree_print_scalar(key, isalpha((unsigned char)key[0]) && !option_is_no_text(key), out);
    (void)fputc(':', out);
}

static void print_value(const struct tree *tree, uint32_t node, FILE *out)
{
    const bool empty = option_is_empty(tree, node);
    tree_print_scalar(empty ? "~" : tree_text(tree, node), tree->nodes[node].plain, out);
}

/* Recursion is as deep as the file's nesting. */
// NOLINTNEXTLINE(misc-no-recursion)
void tree_print(const struct tree *tree, uint32_t node, FILE *out)
{
    const struct tree_node *n = &tree->nodes[node];
    if (n->kind == TREE_SCALAR || n->kind == TREE_SKIPPED) {
        print_value(tree, node, out);
        return;
    }
    const bool map = n->kind == TREE_MAP;
    (void)fputc(map ? '{' : '[', out);
    for (uint32_t i = n->first; i != TREE_NONE; i = tree->nodes[i].next) {
        if (map) {
            tree_print_key(tree_key(tree, i), out);
            (void)fputc(' ', out);
        }
        tree_print(tree, i, out);
        (void)fputs(tree->nodes[i].next != TREE_NONE ? ", " : "", out);
    }
    (void)fputc(map ? '}' : ']', out);
}
