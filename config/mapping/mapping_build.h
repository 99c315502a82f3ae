/* config/mapping/mapping_build.h - a table of a mapping while it is read: for mapping_file's
 * own files alone.
 */
#ifndef CONFIG_MAPPING_MAPPING_BUILD_H
#define CONFIG_MAPPING_MAPPING_BUILD_H

#include "config/mapping/mapping_file.h"

struct mapping_build {
    struct option_reader *r;
    struct mapping_memory **memory;
    bool alone;
};

/* Zeroed memory that lives as long as the table; NULL, with a fault, when there is none. */
void *mapping_alloc(struct mapping_build *b, size_t bytes);
const char *mapping_copy_text(struct mapping_build *b, const char *text);

/* One source after another, of a row or of what is sent. */
struct mapping_sources {
    struct mapping_source source[MAPPING_SOURCES_MAX];
    int digits[MAPPING_SOURCES_MAX];
    const char *path[MAPPING_SOURCES_MAX]; /* its pointer; NULL: it has none */
    size_t count;
    enum mapping_format format;
    const struct mapping_level *levels; /* [level_count] whose names it may have */
    size_t level_count;
    bool sends; /* the other way: by pointers alone, with digits */
};

/* Read one at node, and what is added to it. member: what it fills, or NULL. path: where it
 * stands when nothing else is said; NULL: it must be said. False after a fault. */
bool mapping_read_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const struct mapping_member *member,
                         const char *path);

/* The same of a value that is always the same: a scalar. */
bool mapping_read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                           const char *shown, const struct mapping_member *member);

/* The same of a pointer of which nothing more is said. */
bool mapping_add_pointer(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const char *path);

/* The tree of their pointers; NULL after a fault. */
const struct mapping_node *
mapping_make_nodes(struct mapping_build *b, const struct mapping_sources *from, size_t *count);

/* Names to names, as in `map:` and `sides:`. */
bool mapping_read_words(struct mapping_build *b, uint32_t node, const char *shown,
                        const struct mapping_word **words, size_t *count);

/* "one, two" out of a table of names. */
void mapping_list_names(const struct names *names, char *out, size_t size);

/* The row of `send` at node. */
bool mapping_read_send(struct mapping_build *b, uint32_t node, const char *shown,
                       struct mapping_send *send);

/* The child of a map under a key; TREE_NONE when it has none. */
uint32_t mapping_child(const struct tree *tree, uint32_t node, const char *key);

#endif
