/* config/mapping/mapping_file.h - reads tables for robots with their own message formats
 * (logger/codec/mapping.h), from a lab file or a file of their own: docs/robots/mapping.md.
 */
#ifndef CONFIG_MAPPING_MAPPING_FILE_H
#define CONFIG_MAPPING_MAPPING_FILE_H

#include <regex.h>

#include "config/options/option_file.h"
#include "logger/codec/mapping.h"

/* A table with the memory that it owns. */
struct mapping_table {
    struct mapping mapping;
    struct mapping_table *next; /* next table of the list that owns it */
    const char *file;           /* path; NULL: the table is inside the lab file */
    bool alone;                 /* it serves one pair, so rows need not name one */
    char *text;                 /* as flow YAML; owned */
    struct mapping_memory *memory;
    regex_t *patterns; /* [pattern_count] owned */
    size_t pattern_count;
};

/* Read the table at node. alone: it serves one pair, so rows need not name one. Faults go to
 * the reader, and NULL is returned. Allocates. */
struct mapping_table *mapping_table_read(struct option_reader *r, uint32_t node,
                                         const char *shown, bool alone);

/* Read a table from its own file. Faults go to *errors, and NULL is returned. */
struct mapping_table *mapping_table_load(const char *path, bool alone, struct err_list *errors);

/* Does each row say which pair its messages are of? */
bool mapping_names_pairs(const struct mapping *mapping);

/* Print the table as a lab file gives it: the path of its file, or the rows as flow YAML. */
void mapping_table_print(const struct mapping *mapping, FILE *out);

/* Mix the table into hash; NULL leaves it unchanged. */
uint64_t mapping_table_hash(const struct mapping *mapping, uint64_t hash);

/* The first thing that the pair cannot do with its table, in words; NULL: the table is
 * complete. link: Tandem commands its robots. */
const char *mapping_table_lacks(const struct mapping *mapping, const char *pair, bool link,
                                char out[OPTION_WHY_MAX]);

/* Free the whole list. */
void mapping_table_free(struct mapping_table *list);

#endif
