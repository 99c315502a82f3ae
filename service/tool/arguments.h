/* service/tool/arguments.h - options of a subcommand from one table: parsing, ranges, --help.
 *
 * Errors go to stderr as "tandem: --name value: what would be right".
 */
#ifndef SERVICE_TOOL_ARGUMENTS_H
#define SERVICE_TOOL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

enum argument_kind {
    ARGUMENT_REAL,
    ARGUMENT_INTEGER,
    ARGUMENT_TEXT,
    ARGUMENT_FLAG,
    ARGUMENT_LIST /* a text, given as often as wanted */
};

/* Of an ARGUMENT_LIST; one more than room is an error. */
struct argument_list {
    size_t count, room;
    const char **texts; /* [room], borrowed from argv */
};

struct argument {
    const char *name; /* without the dashes; "c" alone would be -c */
    char letter;      /* the short form, 0: none */
    enum argument_kind kind;
    void *value;             /* double, int, const char * (borrowed from argv), bool or list */
    double min, max;         /* of numbers, inclusive */
    const char *placeholder; /* "S", "N", "FILE"; of a text "a|b" admits these words only */
    const char *help;
};

/* Options that several subcommands share, under a heading of their own. */
struct argument_group {
    const char *title; /* "BROKER" */
    const struct argument *rows;
    size_t row_count;
};

struct arguments {
    const char *command;       /* "robot"; its purpose stands in commands.def, or here: */
    const char *purpose;       /* of "team simulate"; NULL */
    const char *operands;      /* "FILE...", "[NAME]..." where there may be none, or "" */
    const char *description;   /* of the man page; lines end with '\n' */
    const char *examples;      /* or NULL */
    const char *exit_status;   /* what 1 means here */
    const char *exit_as_asked; /* what 3 means here, or NULL */
    const struct argument *rows;
    size_t row_count;
    const struct argument_group *more; /* NULL: none */
};

/* What arguments_parse() returns to go on with; else the command ends with what it returned. */
enum { ARGUMENTS_PARSED = -1 };

/* Parse argv; values keep their defaults where no option is given. The operands then stand at
 * argv[1] and on, with NULL behind them; they are refused when there are none in the synopsis.
 * Else --help was printed, or an error. */
int arguments_parse(const struct arguments *a, int argc, char **argv);

#endif
