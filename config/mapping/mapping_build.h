/* config/mapping/mapping_build.h - a mapping table while it is read; private to the files of
 * config/mapping.
 */
#ifndef CONFIG_MAPPING_MAPPING_BUILD_H
#define CONFIG_MAPPING_MAPPING_BUILD_H

#include "config/mapping/mapping_file.h"

struct mapping_build {
    struct option_reader *r;
    struct mapping_memory **memory;
    bool alone;
    struct mapping_table *table;
    struct mapping_row *rows; /* room for all of the file */
    struct mapping_send *sends;
};

/* Zeroed memory that lives as long as the table; NULL, with a fault, when there is none. */
void *mapping_alloc(struct mapping_build *b, size_t bytes);
void *mapping_copy(struct mapping_build *b, const void *from, size_t bytes);
const char *mapping_copy_text(struct mapping_build *b, const char *text);

/* The sources of one row, or of one outgoing message. */
struct mapping_sources {
    struct mapping_source source[MAPPING_SOURCES_MAX];
    int digits[MAPPING_SOURCES_MAX];
    const char *path[MAPPING_SOURCES_MAX]; /* JSON pointer; NULL: none */
    size_t count;
    enum mapping_format format;
    const struct mapping_level *levels; /* [level_count] topic levels whose names it may use */
    size_t level_count;
    bool sends; /* for outgoing messages: pointers only, with digits */
};

/* Read the source at node and add it. member: the member that it fills, or NULL. path: its
 * default pointer; NULL: the file must give one. False after a fault. */
bool mapping_read_source(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const struct mapping_member *member,
                         const char *path);

/* The same for a constant: a scalar. */
bool mapping_read_constant(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                           const char *shown, const struct mapping_member *member);

/* The same for a plain pointer. */
bool mapping_add_pointer(struct mapping_build *b, struct mapping_sources *to, uint32_t node,
                         const char *shown, const char *path);

/* Build the tree of their pointers; NULL after a fault. */
const struct mapping_node *
mapping_make_nodes(struct mapping_build *b, const struct mapping_sources *from, size_t *count);

/* Read a key with a map from words to names, as in `map:` and `sides:`; none when it is absent.
 */
bool mapping_read_words(struct mapping_build *b, const struct option_reading *item,
                        const char *key, const struct mapping_word **words, size_t *count);

/* The rows of `send` (mapping_outgoing.c); the owner is a struct mapping_build. */
extern const struct option_items mapping_send_items;

#endif
