/* config/mapping/mapping_file.h - tables for robots that speak another way (logger/codec/mapping.h),
 * from a lab file or a file of their own: docs/robots/mapping.md.
 */
#ifndef CONFIG_MAPPING_MAPPING_FILE_H
#define CONFIG_MAPPING_MAPPING_FILE_H

#include <regex.h>

#include "config/options/option_file.h"
#include "logger/codec/mapping.h"

/* A table, with what it is made of. */
struct mapping_table {
    struct mapping mapping;
    struct mapping_table *next; /* of the list that owns it */
    const char *file;           /* NULL: it stands in the lab file */
    char *text;                 /* as flow YAML; owned */
    struct mapping_memory *memory;
    regex_t *patterns; /* [pattern_count] owned */
    size_t pattern_count;
};

/* Read the table at node. alone: it is of one pair, so that rows need not say of which. The
 * faults go to the reader; NULL then. Allocates. */
struct mapping_table *mapping_table_read(struct option_reader *r, uint32_t node,
                                         const char *shown, bool alone);

/* A file with a table, every fault of it in *errors; NULL then. */
struct mapping_table *mapping_table_load(const char *path, struct err_list *errors);

/* As a lab file says it: the path of its file, or the rows, as flow YAML. */
void mapping_table_print(const struct mapping *mapping, FILE *out);

/* Mixed into hash; NULL: as it is. */
uint64_t mapping_table_hash(const struct mapping *mapping, uint64_t hash);

/* What the pair could not do with its table, in words; NULL: it can do all. link: Tandem
 * commands its robots. */
const char *mapping_table_lacks(const struct mapping *mapping, const char *pair, bool link,
                                char out[OPTION_WHY_MAX]);

/* The whole list. */
void mapping_table_free(struct mapping_table *list);

#endif
