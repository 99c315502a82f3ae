/* config/options/tree_print.h - prints parts of a tree as YAML that reads back to the same
 * tree.
 */
#ifndef CONFIG_OPTIONS_TREE_PRINT_H
#define CONFIG_OPTIONS_TREE_PRINT_H

#include <stdio.h>

#include "config/options/tree.h"

/* A text, quoted when it needs quotes; plain: it had none. */
void tree_print_scalar(const char *text, bool plain, FILE *out);

/* "key:" */
void tree_print_key(const char *key, FILE *out);

/* A node on one line: "{a: 1, b: [x, y]}". */
void tree_print(const struct tree *tree, uint32_t node, FILE *out);

#endif
