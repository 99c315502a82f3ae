/* config/options/tree.h - a YAML file as a tree of scalars, maps and lists with their places.
 *
 * It supports the plain part of the language only: one document, UTF-8, at most TREE_DEPTH_MAX
 * deep. Anchors, aliases, merge keys and tags are refused, because they hide a value and a few
 * lines of them can grow to gigabytes. Duplicate keys are faults. Every fault is reported with
 * line and column. The trustworthy part of the tree is kept, so that the faults of its values
 * are reported in the same run.
 */
#ifndef CONFIG_OPTIONS_TREE_H
#define CONFIG_OPTIONS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum { TREE_DEPTH_MAX = 16, TREE_BYTES_MAX = 8 << 20, TREE_NODES_MAX = 1000000 };

enum tree_kind {
    TREE_SCALAR,
    TREE_MAP,
    TREE_LIST,
    TREE_SKIPPED /* refused and reported already: do not read it */
};

/* Index of the root and, as a child or sibling, "none". */
enum { TREE_ROOT = 0, TREE_NONE = 0 };

struct tree_node {
    enum tree_kind kind;
    bool plain;            /* scalar without quotes */
    unsigned line, column; /* place of the value, 1-based */
    unsigned key_line, key_column;
    uint32_t key_at;  /* index into the pool, see tree_key() */
    uint32_t text_at; /* see tree_text() */
    uint32_t first;   /* child, or TREE_NONE */
    uint32_t next;    /* sibling, or TREE_NONE */
    uint32_t count;   /* number of children */
};

struct tree { /* all zero is empty and valid */
    struct tree_node *nodes;
    uint32_t count, capacity; /* count 0: there is no root */
    char *pool;               /* keys and scalars, each terminated */
    size_t pool_bytes, pool_capacity;
    bool partial;      /* reading stopped early: missing keys may stand further below */
    unsigned cut_line; /* number of the unreadable line at which reading stopped; else 0 */
};

/* Read text[bytes]. file is for the messages only.
 *
 * Returns STATUS_OK when nothing was wrong (an empty text is an empty tree), STATUS_E_PARSE
 * when faults were added to *errors, STATUS_E_NOMEM. *tree is valid in every case and has to be
 * finished. Allocates. */
MUST_USE enum status tree_parse(const char *text, size_t bytes, const char *file,
                                struct tree *tree, struct err_list *errors);

void tree_finish(struct tree *tree);

/* Key of a map's child ("" in lists), text of a scalar; borrowed, free of control characters.
 */
const char *tree_key(const struct tree *tree, uint32_t node);
const char *tree_text(const struct tree *tree, uint32_t node);

/* The text of a scalar; "" for TREE_NONE and any other node. */
const char *tree_scalar(const struct tree *tree, uint32_t node);

/* False for TREE_NONE. */
bool tree_is(const struct tree *tree, uint32_t node, enum tree_kind kind);

/* The child of a map under a key; TREE_NONE when there is none. */
uint32_t tree_child(const struct tree *tree, uint32_t node, const char *key);

#endif
