/* config/option_file.h - from a file that people write to values, and every fault in it: a
 * table of its keys, and a function for what the table cannot say.
 */
#ifndef CONFIG_OPTION_FILE_H
#define CONFIG_OPTION_FILE_H

#include "config/option.h"

/* Of the rows: where a value goes in a struct; no range; read by the file's own function. */
#define OPTION_AT(type, m) offsetof(type, m), sizeof(((type *)0)->m), false
#define OPTION_NO_RANGE    0.0, 0.0, ""
#define OPTION_BY_HAND     OPTION_NO_RANGE, 0, 0, false

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

/* Where the value of a key was given; TREE_NONE when it was not. */
uint32_t option_node(const struct option_reading *reading, const char *path);

#endif
