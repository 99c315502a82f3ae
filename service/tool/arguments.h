/* service/tool/arguments.h - parses a subcommand's options from one table: ranges, --help.
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
    ARGUMENT_LIST /* a text that may be repeated */
};

/* Values of an ARGUMENT_LIST; more than room is an error. */
struct argument_list {
    size_t count, room;
    const char **texts; /* [room], borrowed from argv */
};

struct argument {
    const char *name; /* without the dashes; "c" alone would be -c */
    char letter;      /* the short form, 0: none */
    enum argument_kind kind;
    void *value;             /* double, int, const char * (borrowed from argv), bool or list */
    double min, max;         /* range of numbers, inclusive */
    const char *placeholder; /* "S", "N", "FILE"; for a text "a|b" allows only these words */
    const char *help;
};

/* Options shared by several subcommands, with their own heading. */
struct argument_group {
    const char *title; /* "BROKER" */
    const struct argument *rows;
    size_t row_count;
};

/* A subcommand of a subcommand: "check" of `tandem team check`. It gets its own name as
 * argv[0]. */
struct argument_action {
    const char *name;
    int (*run)(int argc, char **argv);
};

/* Words that complete the value of a text, or an operand. */
struct argument_words {
    const char *option;          /* NULL: an operand */
    const char *(*at)(size_t i); /* NULL after the last one */
};

struct arguments {
    const char *command;        /* "robot"; its purpose is in commands.def, or here: */
    const char *purpose;        /* purpose of "team simulate"; NULL */
    const char *operands;       /* "A [B]", "FILE...", "[NAME]..." if optional, or "" */
    const char *description;    /* in the man page; lines end with '\n' */
    const char *examples;       /* or NULL */
    const char *exit_status;    /* meaning of status 1 */
    const char *exit_as_asked;  /* meaning of status 3, or NULL */
    const char *exit_undecided; /* meaning of status 4, or NULL */
    const struct argument *rows;
    size_t row_count;
    const struct argument_group *more; /* NULL: none */
    /* Their names are recognized at argv[1]. If the operands begin with ACTION, one is needed.
     */
    const struct argument_action *actions;
    size_t action_count;
    const struct argument_words *words;
    size_t word_count;
};

#define ARGUMENT_ROWS(table) .rows = (table), .row_count = COUNT(table)

/* arguments_parse() returns this to continue; otherwise the command ends with the returned
 * status. */
enum { ARGUMENTS_PARSED = -1 };

/* Parse argv; values keep their defaults without an option. Operands are then at argv[1] and
 * on, with NULL behind them; there are as many as the synopsis says. With another result --help
 * was printed, or an error. */
int arguments_parse(const struct arguments *a, int argc, char **argv);

/* From now on --help calls this function instead of printing a page. The rows live only during
 * the call. */
void arguments_describe(void (*describe)(const struct arguments *a));

#endif
