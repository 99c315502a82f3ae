/* config/options/option_file.h - from a file that people write to values, and every fault in
 * it: a table of its keys, and a function for what the table cannot say.
 */
#ifndef CONFIG_OPTIONS_OPTION_FILE_H
#define CONFIG_OPTIONS_OPTION_FILE_H

#include <stdio.h>

#include "base/errors/err.h"
#include "config/options/option.h"
#include "config/options/tree.h"

/* Of the rows: where a value goes in a struct; no range; read by the file's own function. */
#define OPTION_AT(type, m) offsetof(type, m), sizeof(((type *)0)->m), false
#define OPTION_NO_RANGE    0.0, 0.0, ""
#define OPTION_BY_HAND     OPTION_NO_RANGE, 0, 0, false

/* A file being read. */
struct option_reader {
    const struct tree *tree;
    const char *file;
    struct err_list *errors;
    bool failed; /* out: a fault was reported */
};

/* A map that was read by a table. */
struct option_reading {
    struct option_reader *r;
    const struct option_table *table;
    const uint32_t *given; /* [table->count] */
    uint32_t node;         /* of the map */
    const char *shown;     /* stands before its keys in messages: "map." */
};

/* What a sort of file is read by. */
struct option_file {
    const char *what;  /* "a map": whose path is wanted when there is none */
    const char *empty; /* said of a file with nothing in it; NULL: then all of *out is zero */
    const struct option_table *table; /* NULL: the function reads all, into a copy of *out */
    size_t bytes; /* of the struct that the table writes to, all zero and the defaults … */
    size_t out_bytes; /* … so many of which, from the first on, are what the caller gets */
    void (*translate)(char *text, size_t bytes); /* into YAML, in its place; NULL: it is */
    void (*finish)(const struct option_reading *reading, void *values);
};

/* Read and check a file. STATUS_E_IO, STATUS_E_PARSE or STATUS_E_NOMEM with at least one fault
 * in *errors (NULL: they are not told), sorted; *out is written on STATUS_OK only. Cold path:
 * allocates. */
MUST_USE enum status option_file_load(const struct option_file *file, const char *path,
                                      void *out, struct err_list *errors);

/* The same from memory; name stands for the path in messages. */
MUST_USE enum status option_file_parse(const struct option_file *file, const char *text,
                                       size_t bytes, const char *name, void *out,
                                       struct err_list *errors);

/* The same of a map within another file: node is its value. *out gets what could be read. */
void option_file_read(const struct option_file *file, struct option_reader *r, uint32_t node,
                      const char *shown, void *out);

/* Read the map at node: keys below path ("" or "broker.") of the table go into *values, every
 * fault into the reader's list. shown stands before the key in messages ("pairs.r1."). given,
 * [table->count] or NULL, receives the node of each key that was there; TREE_NONE stays for the
 * others. A node without value is an empty map. */
void option_read(struct option_reader *r, const struct option_table *table, const char *path,
                 uint32_t node, const char *shown, void *values, uint32_t *given);

/* Where the value of a row was given, by what option_read() wrote; TREE_NONE when it was not.
 * path is one of the table's. */
uint32_t option_given(const struct option_table *table, const uint32_t *given,
                      const char *path);

/* The number that the scalar at node stands for. False, with a fault that begins with shown,
 * when it is none. */
bool option_number(struct option_reader *r, uint32_t node, const char *shown, double *value);

/* The same, and at least so much. */
bool option_number_from(struct option_reader *r, uint32_t node, const char *shown, double least,
                        double *value);

/* One more fault at the value of node, or at the top of the file for TREE_NONE. */
void option_fault(struct option_reader *r, uint32_t node, enum fault fault, const char *format,
                  ...) PRINTF_LIKE(4, 5);

/* Is the plain scalar node empty: nothing, ~ or null? */
bool option_is_empty(const struct tree *tree, uint32_t node);

/* Where the value of a key was given; TREE_NONE when it was not. */
uint32_t option_node(const struct option_reading *reading, const char *path);

/* The first line of a file, without its end; "" when there is none. False when the file cannot
 * be opened: errno says why. */
bool text_file_first_line(const char *path, char *line, size_t size);

/* A path that stands in a file, as seen from that file's folder. False when it does not fit
 * into out[size]. */
bool text_file_sibling(const char *file, const char *path, char *out, size_t size);

/* One line a fault: "tandem: file:line:column: what is wrong, what would be right". */
void err_list_print(const struct err_list *list, FILE *out);

#endif
