/* config/options/option_file.h - reads a YAML file into a struct by a table of its keys, with
 * every fault. A function adds what a table cannot describe.
 */
#ifndef CONFIG_OPTIONS_OPTION_FILE_H
#define CONFIG_OPTIONS_OPTION_FILE_H

#include <stdio.h>

#include "base/errors/err.h"
#include "config/options/option.h"
#include "config/options/tree.h"

/* For rows: the member that receives the value, no range, and a key that the file's own
 * function reads. */
#define OPTION_AT(type, m) offsetof(type, m), sizeof(((type *)0)->m), false
#define OPTION_NO_RANGE    0.0, 0.0, ""
#define OPTION_BY_HAND     OPTION_NO_RANGE, 0, 0, false

/* A file while it is read. */
struct option_reader {
    const struct tree *tree;
    const char *file;
    struct err_list *errors;
    bool failed; /* out: at least one fault was reported */
};

/* A map that was read by a table. */
struct option_reading {
    struct option_reader *r;
    const struct option_table *table;
    const uint32_t *given; /* [table->count] */
    uint32_t node;         /* node of the map */
    const char *shown;     /* prefix of its keys in messages: "map." */
};

/* Describes how a kind of file is read. */
struct option_file {
    const char *what;  /* for the message when no path is given: "a map" */
    const char *empty; /* message for an empty file; NULL: an empty file leaves *out zero */
    /* NULL: the function reads everything, into a copy of *out */
    const struct option_table *table;
    size_t bytes; /* size of the struct that the table writes to, zeroed and with defaults … */
    size_t out_bytes; /* … of which the caller gets this many bytes from the start */
    /* converts the text to YAML in place; NULL: it is YAML */
    void (*translate)(char *text, size_t bytes);
    void (*finish)(const struct option_reading *reading, void *values);
};

/* Read and check a file. STATUS_E_IO, STATUS_E_PARSE or STATUS_E_NOMEM with at least one fault
 * in *errors (NULL: faults are not reported), sorted; *out is written on STATUS_OK only. Cold
 * path: allocates. */
MUST_USE enum status option_file_load(const struct option_file *file, const char *path,
                                      void *out, struct err_list *errors);

/* The same from memory; name stands for the path in messages. */
MUST_USE enum status option_file_parse(const struct option_file *file, const char *text,
                                       size_t bytes, const char *name, void *out,
                                       struct err_list *errors);

/* The same for a map within another file: node is its value. *out gets all values that could be
 * read. */
void option_file_read(const struct option_file *file, struct option_reader *r, uint32_t node,
                      const char *shown, void *out);

/* Read the map at node: keys below path ("" or "broker.") of the table go into *values, every
 * fault into the reader's list. shown is the prefix of keys in messages ("pairs.r1."). given,
 * [table->count] or NULL, receives the node of each key that is present and stays TREE_NONE for
 * the others. A node without value is an empty map. */
void option_read(struct option_reader *r, const struct option_table *table, const char *path,
                 uint32_t node, const char *shown, void *values, uint32_t *given);

/* The node of a row's value as option_read() recorded it; TREE_NONE when the key was absent.
 * path is one of the table's. */
uint32_t option_given(const struct option_table *table, const uint32_t *given,
                      const char *path);

/* Parse the scalar at node as a number. False, with a fault that begins with shown, when it is
 * none. */
bool option_number(struct option_reader *r, uint32_t node, const char *shown, double *value);

/* The same with a lower bound. */
bool option_number_from(struct option_reader *r, uint32_t node, const char *shown, double least,
                        double *value);

/* Add a fault at the value of node, or at the top of the file for TREE_NONE. */
void option_fault(struct option_reader *r, uint32_t node, enum fault fault, const char *format,
                  ...) PRINTF_LIKE(4, 5);

/* Is the plain scalar node empty: nothing, ~ or null? */
bool option_is_empty(const struct tree *tree, uint32_t node);

/* The node of a key's value; TREE_NONE when the key was absent. */
uint32_t option_node(const struct option_reading *reading, const char *path);

/* Read the first line of a file without its end; "" when there is none. False, with errno, when
 * the file cannot be opened. */
bool text_file_first_line(const char *path, char *line, size_t size);

/* Resolve a path in a file relative to that file's folder. False when it does not fit into
 * out[size]. */
bool text_file_sibling(const char *file, const char *path, char *out, size_t size);

/* Print one line per fault: "tandem: file:line:column: what is wrong, what would be right". */
void err_list_print(const struct err_list *list, FILE *out);

#endif
