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
    OPTION_ROWS_MAX = 96,
    OPTION_WHY_MAX = 192
};

enum option_type {
    OPTION_TEXT,    /* char[size]; min and max are lengths, max 0: as much as fits */
    OPTION_BOOL,    /* bool; true or false, nothing else */
    OPTION_INTEGER, /* an integer of size 1, 2, 4 or 8 */
    OPTION_REAL,    /* double */
    OPTION_TIME,    /* seconds in the file, int64_t microseconds in the struct */
    OPTION_CHOICE,  /* integer of size 1, 2 or 4: position in choices */
    /* struct named_number[] with names chosen by the user; a later table adds to it */
    OPTION_NUMBERS,
    OPTION_MAP /* the table's owner reads it */
};

struct option_row {
    const char *path; /* "broker.tls.enabled" */
    enum option_type type;
    const char *unit; /* "s", "Hz" …; "" when it has none */
    /* default as a file would give it; numbers out of range mean "none" */
    const char *fallback;
    double min, max;     /* range of numbers, in the file's unit */
    const char *choices; /* "a|b|c" for OPTION_CHOICE */
    size_t offset, size; /* place and size of the struct's member */
    bool shown_only;     /* no decision depends on it */
    const char *help;    /* one sentence for a person */
};

struct option_table {
    const struct option_row *rows;
    size_t count; /* <= OPTION_ROWS_MAX */
};

/* Write every row's default into *values. */
void option_defaults(const struct option_table *table, void *values);

/* Parse a scalar's text into its member; plain: it had no quotes. False, with the reason in
 * *why and *values untouched, when the value is not allowed. */
bool option_parse(const struct option_row *row, const char *text, bool plain, void *values,
                  struct err *why);

/* The same for a named number, in a row of OPTION_NUMBERS; it replaces the previous value of
 * that name. */
bool option_parse_named(const struct option_row *row, const char *name, const char *text,
                        bool plain, void *values, struct err *why);

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
