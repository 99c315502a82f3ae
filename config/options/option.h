/* config/options/option.h - tables with one row per key of a YAML file, the only description of
 * a key.
 *
 * A table drives parsing into a plain struct, validation, the print-out of effective values,
 * the Markdown page and the JSON Schema. Rows of one section stand together; a dot in a path
 * opens a section.
 */
#ifndef CONFIG_OPTIONS_OPTION_H
#define CONFIG_OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    OPTION_TEXT_MAX = 256,
    OPTION_PRINT_MAX = 1280, /* bytes of a value as YAML text */
    OPTION_PREFIX_MAX = 96,
    OPTION_ROWS_MAX = 112,
    OPTION_WHY_MAX = 192,
    OPTION_NAME_MAX = 31 /* bytes of a name or id, without the terminator */
};

enum option_type {
    OPTION_TEXT,    /* char[size]; min and max are lengths, max 0: as much as fits */
    OPTION_BOOL,    /* bool; true or false, nothing else */
    OPTION_INTEGER, /* an integer of size 1, 2, 4 or 8 */
    OPTION_REAL,    /* double */
    OPTION_TIME,    /* seconds in the file, int64_t microseconds in the struct */
    OPTION_CHOICE,  /* integer of size 1, 2 or 4: position in choices */
    OPTION_WORD,    /* char[size]: any scalar of min bytes or more, numbers and truths, too */
    OPTION_NAME,    /* char[size]: a name of 1 to 31 letters, digits, '_', '-' or '.' */
    /* a list, or a map from names, as its struct option_items describes; a map with a size is a
     * struct named_number[], to which its `add` adds */
    OPTION_ITEMS,
    OPTION_MAP /* the table's owner reads it */
};

struct option_row {
    const char *path; /* "broker.tls.enabled" */
    enum option_type type;
    const char *unit; /* "s", "Hz" …; "" when it has none */
    /* default as a file would give it; numbers out of range mean "none" */
    const char *fallback;
    double min, max;                  /* range of numbers, in the file's unit */
    const char *choices;              /* "a|b|c" for OPTION_CHOICE */
    size_t offset, size;              /* place and size of the struct's member */
    bool shown_only;                  /* no decision depends on it */
    const struct option_items *items; /* for OPTION_ITEMS */
    const char *help;                 /* one sentence for a person */
};

struct option_table {
    const struct option_row *rows;
    size_t count; /* <= OPTION_ROWS_MAX */
};

enum option_shape {
    OPTION_LIST,        /* [a, b] */
    OPTION_LIST_OR_ONE, /* the same, or a without brackets */
    OPTION_NAMED        /* {name: a, other: b} with names that the user chooses */
};

/* Which names are allowed. */
enum option_names {
    OPTION_ANY_NAME,
    OPTION_ID,       /* 1 to 31 letters, digits, '_' or '-' */
    OPTION_DOTTED_ID /* the same, or '.' */
};

struct option_reading; /* config/options/option_file.h */

/* The items of a list, or of a map from names. Each is a map with a table of its own, or one
 * value. They are stored in the row's member (an array of items), or `add` copies each. */
struct option_items {
    enum option_shape shape;
    enum option_names names;
    const struct option_table *table; /* keys of an item; NULL: it is one value … */
    const struct option_row *value;   /* … of this kind, at offset 0; NULL: add reads it */
    const char *required;             /* keys that each item has: "x_m y_m"; NULL: none */
    bool later;                       /* option_read() leaves it to option_read_items() */
    bool short_form;                  /* a scalar stands for the table's first key */
    size_t least, most;               /* number of items; most 0: any number */
    size_t bytes;                     /* size of an item's struct, zeroed and with defaults */
    size_t count_at;                  /* offset of the array's size_t count, if least < most */
    enum fault fault;                 /* for another kind or number; FAULT_NONE: the usual */
    const char *what;                 /* "points"; NULL: "values" */
    const char *example;              /* "[0.1, 0.2]"; NULL: none */
    const char *reference;            /* an item's schema: "#/$defs/x"; NULL: its own */
    /* Fills the defaults of an item; NULL: those of the table. */
    void (*start)(const struct option_reading *item, void *value, void *owner);
    /* Checks an item after it was read, with or without faults; owner is the struct with the
     * row. */
    void (*add)(const struct option_reading *item, void *value, void *owner);
};

/* Is it a name of this kind? */
bool option_is_name(enum option_names names, const char *name);

/* Write every row's default into *values. */
void option_defaults(const struct option_table *table, void *values);

/* Parse a scalar's text into its member; plain: it had no quotes. False, with the reason in
 * *why and *values untouched, when the value is not allowed. */
bool option_parse(const struct option_row *row, const char *text, bool plain, void *values,
                  struct err *why);

/* Would a YAML reader parse the plain scalar as a number, a truth or null? Then a text needs
 * quotes. */
bool option_is_no_text(const char *text);

/* Row with this path, NULL when there is none. */
const struct option_row *option_find(const struct option_table *table, const char *path);

bool option_equal(const struct option_row *row, const void *a, const void *b);

/* Mix all values that a decision depends on into hash. */
uint64_t option_hash(const struct option_table *table, const void *values, uint64_t hash);

/* Format the value as YAML text that reads back to the same value. Always terminated. */
void option_format(const struct option_row *row, const void *values,
                   char out[OPTION_PRINT_MAX]);

/* Without a default, print-outs show "none". */
bool option_has_fallback(const struct option_row *row);

/* Describe the allowed values: "1 to 65535 s", "true or false", "a, b or c". */
void option_describe(const struct option_row *row, char *out, size_t size);

/* Copy the k-th choice to out[size]; false when there is none. */
bool option_choice(const struct option_row *row, size_t k, char *out, size_t size);

#endif
