#include "service/cli/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/commands.h"

enum { HELP_COLUMN = 30 };

/* --- help ----------------------------------------------------------------------------------
 */

static void print_row(const struct argument *row)
{
    char left[64];
    int used = row->letter ? snprintf(left, sizeof left, "  -%c, ", row->letter)
                           : snprintf(left, sizeof left, "      ");
    used += snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s", row->name,
                     row->placeholder ? " " : "", row->placeholder ? row->placeholder : "");
    if (used < HELP_COLUMN - 1) {
        (void)printf("%-*s%s\n", HELP_COLUMN, left, row->help);
    } else {
        (void)printf("%s\n%*s%s\n", left, HELP_COLUMN, "", row->help);
    }
}

static const char *purpose_of(const char *command)
{
#define COMMAND(name, purpose) strcmp(command, #name) == 0 ? (purpose):
    return
#include "service/cli/commands.def"
        "";
#undef COMMAND
}

static void print_help(const struct arguments *a)
{
    (void)printf("NAME\n  tandem %s - %s\n\nSYNOPSIS\n  tandem %s [OPTION]...%s%s\n\n"
                 "DESCRIPTION\n%s\nOPTIONS\n",
                 a->command, purpose_of(a->command), a->command, a->operands[0] ? " " : "",
                 a->operands, a->description);
    for (size_t i = 0; i < a->row_count; i++) {
        print_row(&a->rows[i]);
    }
    (void)puts("  -h, --help                  print this page");
    if (a->more) {
        (void)printf("\n%s\n", a->more->title);
        for (size_t i = 0; i < a->more->row_count; i++) {
            print_row(&a->more->rows[i]);
        }
    }
    if (a->examples) {
        (void)printf("\nEXAMPLES\n%s", a->examples);
    }
    (void)printf("\nEXIT STATUS\n  0 fine, 1 %s, 2 wrong usage\n", a->exit_status);
}

/* --- parsing -------------------------------------------------------------------------------
 */

static const struct argument *find_row(const struct argument *rows, size_t count,
                                       const char *text, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_long = text[0] == '-' && text[1] == '-';
        if (is_long ? strlen(rows[i].name) == bytes - 2 &&
                          strncmp(rows[i].name, text + 2, bytes - 2) == 0
                    : rows[i].letter && bytes == 2 && rows[i].letter == text[1]) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool take_number(const struct argument *row, const char *text)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    const bool integer = row->kind == ARGUMENT_INTEGER;
    const bool whole = !integer || !(fabs(value - rint(value)) > 0.0);
    if (end == text || *end || !(value >= row->min && value <= row->max) || !whole) {
        (void)fprintf(stderr, "tandem: --%s %s: %s within %.10g .. %.10g was expected\n",
                      row->name, text, integer ? "a whole number" : "a number", row->min,
                      row->max);
        return false;
    }
    if (integer) {
        *(int *)row->value = (int)value;
    } else {
        *(double *)row->value = value;
    }
    return true;
}

static bool take_text(const struct argument *row, const char *text)
{
    if (row->placeholder && strchr(row->placeholder, '|')) {
        const size_t bytes = strlen(text);
        const char *word = row->placeholder;
        while (word) {
            const char *end = strchr(word, '|');
            const size_t word_bytes = end ? (size_t)(end - word) : strlen(word);
            if (word_bytes == bytes && strncmp(word, text, bytes) == 0) {
                break;
            }
            word = end ? end + 1 : NULL;
        }
        if (!word) {
            (void)fprintf(stderr, "tandem: --%s %s: one of %s was expected\n", row->name, text,
                          row->placeholder);
            return false;
        }
    }
    *(const char **)row->value = text;
    return true;
}

static bool take_more(const struct argument *row, const char *text)
{
    struct argument_list *list = row->value;
    if (list->count == list->room) {
        (void)fprintf(stderr, "tandem: --%s %s: %zu are the limit\n", row->name, text,
                      list->room);
        return false;
    }
    list->texts[list->count++] = text;
    return true;
}

static bool take_value(const struct argument *row, const char *text)
{
    if (row->kind == ARGUMENT_LIST) {
        return take_more(row, text);
    }
    return row->kind == ARGUMENT_TEXT ? take_text(row, text) : take_number(row, text);
}

/* One option at argv[*i]; advances over its value. */
static bool parse_option(const struct arguments *a, int argc, char **argv, int *i)
{
    const char *text = argv[*i];
    const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
    const size_t bytes = equals ? (size_t)(equals - text) : strlen(text);
    const struct argument *row = find_row(a->rows, a->row_count, text, bytes);
    if (!row && a->more) {
        row = find_row(a->more->rows, a->more->row_count, text, bytes);
    }
    if (!row) {
        (void)fprintf(stderr, "tandem: unknown option '%.*s', see 'tandem %s --help'\n",
                      (int)bytes, text, a->command);
        return false;
    }
    if (row->kind == ARGUMENT_FLAG) {
        if (equals) {
            (void)fprintf(stderr, "tandem: --%s takes no value\n", row->name);
            return false;
        }
        *(bool *)row->value = true;
        return true;
    }
    if (equals) {
        return take_value(row, equals + 1);
    }
    if (*i + 1 >= argc) {
        (void)fprintf(stderr, "tandem: --%s: its value %s is missing\n", row->name,
                      row->placeholder);
        return false;
    }
    (*i)++;
    return take_value(row, argv[*i]);
}

static bool ends_options(const char *text)
{
    return text[0] != '-' || text[1] == '\0'; /* "-" alone is the standard input */
}

bool arguments_parse(const struct arguments *a, int argc, char **argv, int *first,
                     int *exit_status)
{
    /* Operands may stand between options: they are moved behind them, in their order. */
    int operands = 0;
    *exit_status = EXIT_USAGE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(a);
            *exit_status = EXIT_FINE;
            return false;
        }
        if (ends_options(argv[i])) {
            argv[1 + operands++] = argv[i];
        } else if (!parse_option(a, argc, argv, &i)) {
            return false;
        }
    }
    if (operands > 0 && !a->operands[0]) {
        (void)fprintf(stderr, "tandem: %s takes no operand '%s', see 'tandem %s --help'\n",
                      a->command, argv[1], a->command);
        return false;
    }
    if (operands == 0 && a->operands[0] && a->operands[0] != '[') {
        (void)fprintf(stderr, "tandem: %s needs %s, see 'tandem %s --help'\n", a->command,
                      a->operands, a->command);
        return false;
    }
    /* operands stand at argv[1..operands]: terminated for the caller */
    if (operands + 1 < argc) {
        argv[1 + operands] = NULL;
    }
    *first = 1;
    return true;
}
