/* config/options/option_file.h - reads a YAML file into a struct by a table of its keys, with
 * every fault. A function adds what a table cannot describe.
 */
#ifndef CONFIG_OPTIONS_OPTION_FILE_H
#define CONFIG_OPTIONS_OPTION_FILE_H

#include <stdio.h>

#include "base/errors/err.h"
#include "config/options/option.h"
#include "config/options/tree.h"

/* For an array of rows: their table. For rows: the member that receives the value, no range,
 * and a key that the file's own function reads. */
#define OPTION_TABLE(rows) (&(const struct option_table){(rows), COUNT(rows)})
#define OPTION_AT(type, m) offsetof(type, m), sizeof(((type *)0)->m), false, NULL
#define OPTION_NO_RANGE    0.0, 0.0, ""
#define OPTION_BY_HAND     OPTION_NO_RANGE, 0, 0, false, NULL

/* The rest of a row of OPTION_ITEMS: items whose `add` stores them, and items in an array. */
#define OPTION_EACH(items) OPTION_ITEMS, "", "", OPTION_NO_RANGE, 0, 0, false, &(items)
#define OPTION_ARRAY(items, type, m)                                                           \
    OPTION_ITEMS, "", "", OPTION_NO_RANGE, offsetof(type, m), sizeof(((type *)0)->m), false,   \
        &(items)

/* A file while it is read. */
struct option_reader {
    const struct tree *tree;
    const char *file;
    struct err_list *errors;
    bool failed;   /* out: at least one fault was reported */
    void *context; /* for the functions of struct option_items */
};

/* A map that is read by a table, or one item. */
struct option_reading {
    struct option_reader *r;
    const struct option_table *table;
    uint32_t *given; /* [table->count] out: node of each key that is present, else TREE_NONE */
    uint32_t node;   /* node of the map or item */
    const char *shown; /* its name in messages, of a map with a dot: "map." */
    size_t index;      /* of an item: position in its list or map */
    bool failed;       /* of an item: a fault was reported in it */
};

/* Describes how a kind of file is read. */
struct option_file {
    const char *what;  /* for the message when no path is given: "a map" */
    const char *empty; /* message for an empty file; NULL: an empty file leaves *out zero */
    /* NULL: the function reads everything, into a copy of *out */
    const struct option_table *table;
    const char *required; /* keys that it must have: "x_m y_m"; NULL: none */
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

/* Read the map at reading->node: its values and items go into *values, every fault into the
 * reader's list. Items are read after all values, in the order of the table. required: keys
 * that must be present, NULL: none. A node without value is an empty map. */
void option_read(const struct option_reading *reading, const char *required, void *values);

/* Read the items of a row that option_read() has left. */
void option_read_items(const struct option_reading *reading, const char *path, void *values);

/* Read one value or the items at node by their row. name: for messages. */
void option_read_node(struct option_reader *r, const struct option_row *row, uint32_t node,
                      const char *name, void *values);

/* The name of an item in its map; "" in a list. */
const char *option_name(const struct option_reading *item);

/* A row for option_read_node(): one number of at least `least`. */
#define OPTION_NUMBER(least)                                                                   \
    {                                                                                          \
        .type = OPTION_REAL, .min = (least), .max = HUGE_VAL, .unit = "", .fallback = "",      \
        .choices = "", .size = sizeof(double)                                                  \
    }

/* Add a fault at the value of node, or at the top of the file for TREE_NONE. Returns false, for
 * readers that return whether they could read. */
bool option_fault(struct option_reader *r, uint32_t node, enum fault fault, const char *format,
                  ...) PRINTF_LIKE(4, 5);

/* Add a fault "name: text" at the value of a key, or at its map when the key is absent. key "":
 * of the map or item itself. */
bool option_fault_at(const struct option_reading *reading, const char *key, enum fault fault,
                     const char *format, ...) PRINTF_LIKE(4, 5);

/* Is the plain scalar node empty: nothing, ~ or null? */
bool option_is_empty(const struct tree *tree, uint32_t node);

/* The node of a key's value; TREE_NONE when the key was absent. */
uint32_t option_node(const struct option_reading *reading, const char *path);

/* Read a file of at most `most` bytes; one more are read of a larger one. The text[*bytes] is
 * terminated and to be freed. NULL, with errno and what was *tried: "open" or "read". */
char *text_file_read(const char *path, size_t most, size_t *bytes, const char **tried);

/* Read the first line of a file without its end; "" when there is none. False, with errno, when
 * the file cannot be opened. */
bool text_file_first_line(const char *path, char *line, size_t size);

/* Resolve a path in a file relative to that file's folder. False when it does not fit into
 * out[size]. */
bool text_file_sibling(const char *file, const char *path, char *out, size_t size);

/* Print one line per fault: "tandem: file:line:column: what is wrong, what would be right". */
void err_list_print(const struct err_list *list, FILE *out);

#endif
