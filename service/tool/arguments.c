#include "service/tool/arguments.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "service/tool/commands.h"
#include "service/tool/other_names.h"

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
#define COMMAND_AS(function, name, purpose) strcmp(command, name) == 0 ? (purpose):
    return
#include "service/tool/commands.def"
        "";
#undef COMMAND_AS
}

/* Returns the purpose of a command, one line. */
static const char *find_purpose(const struct arguments *a)
{
    return a->purpose ? a->purpose : purpose_of(a->command);
}

static void print_help(const struct arguments *a)
{
    (void)printf("NAME\n  tandem %s - %s\n\nSYNOPSIS\n  tandem %s [OPTION]...%s%s\n\n"
                 "DESCRIPTION\n%s\nOPTIONS\n",
                 a->command, find_purpose(a), a->command, a->operands[0] ? " " : "",
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
    (void)printf("\nEXIT STATUS\n  0 fine, 1 %s, 2 wrong usage%s%s%s%s\n", a->exit_status,
                 a->exit_as_asked ? ", 3 " : "", a->exit_as_asked ? a->exit_as_asked : "",
                 a->exit_undecided ? ", 4 " : "", a->exit_undecided ? a->exit_undecided : "");
}

static void (*help)(const struct arguments *a) = print_help;

void arguments_describe(void (*describe)(const struct arguments *a))
{
    help = describe;
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

static bool parse_number(const struct argument *row, const char *text)
{
    double value = 0.0;
    const char *end = number_scan(text, text + strlen(text), &value);
    const bool integer = row->kind == ARGUMENT_INTEGER;
    const bool whole = !integer || !(fabs(value - rint(value)) > 0.0);
    if (end == text || *end || !(value >= row->min && value <= row->max) || !whole) {
        return complain("--%s %s: %s within %.10g .. %.10g was expected", row->name, text,
                        integer ? "a whole number" : "a number", row->min, row->max);
    }
    if (integer) {
        *(int *)row->value = (int)value;
    } else {
        *(double *)row->value = value;
    }
    return true;
}

/* Checks that text is one of the words in "a|b"; if not, guess gets the word that was meant. */
static bool is_word_of(const char *words, const char *text, char meant[EDIT_GUESS_MAX])
{
    struct edit_guess guess = {0};
    char like[EDIT_TEXT_MAX + 1] = "";
    for (const char *at = words; at; at = strchr(at, '|')) {
        char word[EDIT_TEXT_MAX + 1];
        at += *at == '|';
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        if (strcmp(word, text) == 0) {
            return true;
        }
        const size_t before = guess.name ? guess.distance : SIZE_MAX;
        other_names_try(&guess, text, word);
        if (guess.name && guess.distance < before) {
            memcpy(like, word, sizeof like);
            guess.name = like;
        }
    }
    (void)edit_guess_text(&guess, meant);
    return false;
}

static bool parse_text(const struct argument *row, const char *text)
{
    char meant[EDIT_GUESS_MAX];
    if (row->placeholder && strchr(row->placeholder, '|') &&
        !is_word_of(row->placeholder, text, meant)) {
        return complain("--%s %s: one of %s was expected%s", row->name, text, row->placeholder,
                        meant);
    }
    *(const char **)row->value = text;
    return true;
}

static bool append_text(const struct argument *row, const char *text)
{
    struct argument_list *list = row->value;
    if (list->count == list->room) {
        return complain("--%s %s: %zu are the limit", row->name, text, list->room);
    }
    list->texts[list->count++] = text;
    return true;
}

static bool refuse_option(const struct arguments *a, const char *text, size_t bytes)
{
    struct edit_guess guess = {0};
    char name[EDIT_TEXT_MAX + 2];
    const size_t dashes = strspn(text, "-");
    (void)snprintf(name, sizeof name, "%.*s", (int)(bytes - dashes), text + dashes);
    for (size_t i = 0; dashes == 2 && i < a->row_count; i++) {
        edit_guess_try(&guess, name, a->rows[i].name);
    }
    for (size_t i = 0; dashes == 2 && a->more && i < a->more->row_count; i++) {
        edit_guess_try(&guess, name, a->more->rows[i].name);
    }
    edit_guess_try(&guess, dashes == 2 ? name : "", "help");
    return complain("unknown option '%.*s'%s%s%s, see 'tandem %s --help'", (int)bytes, text,
                    guess.name ? " (did you mean --" : "", guess.name ? guess.name : "",
                    guess.name ? "?)" : "", a->command);
}

/* Parses the option at argv[*i] and advances over its value. */
static bool parse_option(const struct arguments *a, int argc, char **argv, int *i)
{
    const char *text = argv[*i];
    const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
    const size_t bytes = equals ? (size_t)(equals - text) : strlen(text);
    const struct argument *row = find_row(a->rows, a->row_count, text, bytes);
    row = row || !a->more ? row : find_row(a->more->rows, a->more->row_count, text, bytes);
    if (!row) {
        return refuse_option(a, text, bytes);
    }
    if (row->kind == ARGUMENT_FLAG) {
        *(bool *)row->value = true;
        return !equals || complain("--%s takes no value", row->name);
    }
    if (!equals && *i + 1 >= argc) {
        return complain("--%s: its value %s is missing", row->name, row->placeholder);
    }
    const char *value = equals ? equals + 1 : argv[++*i];
    return row->kind == ARGUMENT_LIST   ? append_text(row, value)
           : row->kind == ARGUMENT_TEXT ? parse_text(row, value)
                                        : parse_number(row, value);
}

static int refuse_action(const struct arguments *a, const char *name)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < a->action_count; i++) {
        edit_guess_try(&guess, name, a->actions[i].name);
    }
    return complain_exit(EXIT_USAGE, "unknown command '%s %s'%s, see 'tandem %s --help'",
                         a->command, name, edit_guess_text(&guess, meant), a->command);
}

/* Compares the number of operands with the words of the synopsis. */
static bool check_operands(const struct arguments *a, int count, char **operands)
{
    const bool any = strstr(a->operands, "...") != NULL;
    int least = 0;
    int most = 0;
    for (const char *at = a->operands; *at; at += strspn(at, " ")) {
        least += *at != '[';
        most++;
        at += strcspn(at, " ");
    }
    if (count > most && !any) {
        return complain("%s takes %s%s '%s', see 'tandem %s --help'", a->command, a->operands,
                        most > 0 ? ", not also" : "no operand", operands[most], a->command);
    }
    return count >= least ||
           complain("%s needs %s, see 'tandem %s --help'", a->command, a->operands, a->command);
}

int arguments_parse(const struct arguments *a, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < a->action_count; i++) {
        if (strcmp(argv[1], a->actions[i].name) == 0) {
            return a->actions[i].run(argc - 1, argv + 1);
        }
    }
    if (argc > 1 && argv[1][0] != '-' && strncmp(a->operands, "ACTION", 6) == 0) {
        return refuse_action(a, argv[1]);
    }
    /* Operands may stand between options: they are moved behind them, in their order. */
    int operands = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(a);
            return EXIT_FINE;
        }
        if (argv[i][0] != '-' || !argv[i][1]) { /* "-" alone is the standard input */
            argv[1 + operands++] = argv[i];
        } else if (!parse_option(a, argc, argv, &i)) {
            return EXIT_USAGE;
        }
    }
    argv[1 + operands] = NULL;
    return check_operands(a, operands, argv + 1) ? ARGUMENTS_PARSED : EXIT_USAGE;
}
