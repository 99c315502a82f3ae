/* service/program/completion_command.c - `tandem completion`: prints the completion script of a
 * shell.
 *
 * Each command is called for its help, and its tables are described instead of printed as a
 * page. So the scripts know what the program knows, and need not start it.
 */
#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"
#include "base/text/text.h"
#include "service/program/command_table.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

enum { WORDS_MAX = 4096 };

/* ---- parts of every shell ------------------------------------------------------------- */

/* Prints a text for use in single quotes, and escapes the characters in `special`. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'') {
            (void)fputs("'\\''", stdout);
        } else {
            (void)printf(strchr(special, *text) ? "\\%c" : "%c", *text);
        }
    }
}

static const struct argument_words *find_words(const struct arguments *a, const char *option)
{
    for (size_t i = 0; i < a->word_count; i++) {
        const char *name = a->words[i].option;
        if (option && name ? strcmp(option, name) == 0 : option == name) {
            return &a->words[i];
        }
    }
    return NULL;
}

static void add_word(char words[WORDS_MAX], const char *word)
{
    text_append(words, WORDS_MAX, "%s%s", words[0] ? " " : "", word);
}

/* Lists the words of an option's value, or of the operands (row: NULL), with blanks between;
 * "": none are known. */
static const char *list_words(const struct arguments *a, const struct argument *row,
                              char out[WORDS_MAX])
{
    const struct argument_words *words = find_words(a, row ? row->name : NULL);
    const char *text =
        row && row->kind == ARGUMENT_TEXT && row->placeholder ? row->placeholder : "";
    out[0] = '\0';
    for (size_t i = 0; words && words->at(i); i++) {
        add_word(out, words->at(i));
    }
    for (size_t i = 0; !row && i < a->action_count; i++) {
        add_word(out, a->actions[i].name);
    }
    if (strchr(text, '|') && !strpbrk(text, "[,/")) {
        add_word(out, text);
        for (char *bar = strchr(out, '|'); bar; bar = strchr(bar, '|')) {
            *bar = ' ';
        }
    }
    return out;
}

static void for_each_row(const struct arguments *a,
                         void (*print)(const struct arguments *a, const struct argument *row))
{
    static const struct argument page = {
        .name = "help", .letter = 'h', .kind = ARGUMENT_FLAG, .help = "print this page"};
    for (size_t i = 0; i < a->row_count; i++) {
        print(a, &a->rows[i]);
    }
    print(a, &page);
    for (size_t i = 0; a->more && i < a->more->row_count; i++) {
        print(a, &a->more->rows[i]);
    }
}

static void describe_action(int (*run)(int argc, char **argv), const char *name)
{
    char word[32];
    char page[] = "--help";
    char *words[] = {word, page, NULL};
    (void)snprintf(word, sizeof word, "%s", name);
    (void)run(2, words);
}

/* Subcommands come before their command, because the first pattern that fits counts. */
static void describe_actions(const struct arguments *a)
{
    for (size_t i = 0; i < a->action_count; i++) {
        describe_action(a->actions[i].run, a->actions[i].name);
    }
}

static void print_commands(void)
{
    for (size_t i = 0; i < command_count; i++) {
        (void)printf(" %s", commands[i].name);
    }
}

/* ---- bash ---- */

static void print_bash_option(const struct arguments *a, const struct argument *row)
{
    (void)a;
    (void)printf(" --%s", row->name);
}

static void print_bash_value(const struct arguments *a, const struct argument *row)
{
    char words[WORDS_MAX];
    if (row->kind == ARGUMENT_FLAG || !list_words(a, row, words)[0]) {
        return;
    }
    (void)printf("        --%s", row->name);
    if (row->letter) {
        (void)printf(" | -%c", row->letter);
    }
    (void)printf(") words='%s' ;;\n", words);
}

/* After an option with a value of other kinds, files are completed. */
static void print_bash_other(const struct arguments *a, const struct argument *row)
{
    (void)a;
    if (row->kind != ARGUMENT_FLAG) {
        (void)printf(" | --%s", row->name);
    }
}

static void print_bash(const struct arguments *a)
{
    char words[WORDS_MAX];
    describe_actions(a);
    (void)printf("    '%s '*)\n        options='", a->command);
    for_each_row(a, print_bash_option);
    (void)fputs("'\n        case $before in\n", stdout);
    for_each_row(a, print_bash_value);
    if (list_words(a, NULL, words)[0]) {
        (void)fputs("        ''", stdout);
        for_each_row(a, print_bash_other);
        (void)printf(") ;;\n        *) words='%s' ;;\n", words);
    }
    (void)fputs("        esac\n        ;;\n", stdout);
}

static void begin_bash(void)
{
    (void)fputs(
        "# Completion of tandem in bash, made by `tandem completion bash`.\n"
        "_tandem()\n{\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    local line=\"${COMP_WORDS[*]:1:COMP_CWORD - 1} \" options= words=\n"
        "    case $line in\n    ' ') words='help",
        stdout);
    print_commands();
    (void)fputs("' ;;\n    'help ') words='", stdout);
    print_commands();
    (void)fputs("' ;;\n", stdout);
}

static void end_bash(void)
{
    (void)fputs("    esac\n    [[ $word == -* ]] && words=$options\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
                "complete -o default -F _tandem tandem\n",
                stdout);
}

/* ---- zsh ---- */

static void print_zsh_option(const struct arguments *a, const struct argument *row)
{
    char words[WORDS_MAX];
    (void)fputs(" \\\n            ", stdout);
    if (row->letter) {
        (void)printf("'(-%c --%s)'{-%c,--%s}'", row->letter, row->name, row->letter, row->name);
    } else {
        (void)printf("'%s--%s", row->kind == ARGUMENT_LIST ? "*" : "", row->name);
    }
    (void)putchar('[');
    print_quoted(row->help, "[]\\");
    (void)putchar(']');
    if (row->kind != ARGUMENT_FLAG) {
        (void)putchar(':');
        print_quoted(row->placeholder, ":\\");
        (void)printf(list_words(a, row, words)[0] ? ":(%s)" : ":_files%s", words);
    }
    (void)putchar('\'');
}

static void print_zsh(const struct arguments *a)
{
    char words[WORDS_MAX];
    const int depth = strchr(a->command, ' ') ? 2 : 1;
    describe_actions(a);
    (void)printf("    '%s '*)\n        shift %d words\n        (( CURRENT -= %d ))\n"
                 "        _arguments -S",
                 a->command, depth, depth);
    for_each_row(a, print_zsh_option);
    if (a->operands[0]) {
        (void)fputs(" \\\n            '*:", stdout);
        print_quoted(a->operands, ":\\");
        (void)printf(list_words(a, NULL, words)[0]
                         ? ":{_alternative \"words:word:(%s)\" \"files:file:_files\"}'"
                         : ":_files%s'",
                     words);
    }
    (void)fputs("\n        ;;\n", stdout);
}

static void begin_zsh(void)
{
    (void)fputs(
        "#compdef tandem\n# Completion of tandem in zsh, made by `tandem completion zsh`.\n"
        "_tandem()\n{\n    local line=\"${(j: :)words[2,CURRENT-1]} \"\n"
        "    local -a commands\n    commands=('help:print the page of a command'",
        stdout);
    for (size_t i = 0; i < command_count; i++) {
        (void)printf("\n        '%s:", commands[i].name);
        print_quoted(commands[i].purpose, "\\");
        (void)putchar('\'');
    }
    (void)fputs(")\n    case $line in\n    ' ' | 'help ') _describe command commands ;;\n",
                stdout);
}

static void end_zsh(void)
{
    (void)fputs("    esac\n}\n"
                "if [[ $funcstack[1] == _tandem ]]; then\n    _tandem \"$@\"\nelse\n"
                "    compdef _tandem tandem\nfi\n",
                stdout);
}

/* ---- fish ---- */

/* Begins a line that holds after a command and, if it has one, its subcommand. */
static void begin_fish_line(const struct arguments *a)
{
    const size_t n = strcspn(a->command, " ");
    (void)printf("complete -c tandem -n '__fish_seen_subcommand_from %.*s", (int)n, a->command);
    if (a->command[n]) {
        (void)printf("; and __fish_seen_subcommand_from %s", a->command + n + 1);
    }
    (void)putchar('\'');
}

static void print_fish_option(const struct arguments *a, const struct argument *row)
{
    char words[WORDS_MAX];
    begin_fish_line(a);
    (void)printf(" -l %s", row->name);
    if (row->letter) {
        (void)printf(" -s %c", row->letter);
    }
    if (row->kind != ARGUMENT_FLAG) {
        (void)printf(list_words(a, row, words)[0] ? " -x -a '%s'" : " -r%s", words);
    }
    (void)fputs(" -d '", stdout);
    print_quoted(row->help, "\\");
    (void)fputs("'\n", stdout);
}

static void print_fish(const struct arguments *a)
{
    char words[WORDS_MAX];
    describe_actions(a);
    for_each_row(a, print_fish_option);
    if (list_words(a, NULL, words)[0]) {
        begin_fish_line(a);
        (void)printf(" -a '%s'\n", words);
    }
}

static void begin_fish(void)
{
    (void)fputs(
        "# Completion of tandem in fish, made by `tandem completion fish`.\n"
        "complete -c tandem -n __fish_use_subcommand -f -a help -d 'print the page of a "
        "command'\n",
        stdout);
    for (size_t i = 0; i < command_count; i++) {
        (void)printf("complete -c tandem -n __fish_use_subcommand -f -a %s -d '",
                     commands[i].name);
        print_quoted(commands[i].purpose, "\\");
        (void)fputs("'\n", stdout);
    }
    (void)fputs("complete -c tandem -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    print_commands();
    (void)fputs("'\n", stdout);
}

static void end_fish(void)
{
}

/* ---- the command ---- */

static const struct shell {
    const char *name;
    void (*begin)(void);
    void (*describe)(const struct arguments *a);
    void (*end)(void);
} shells[] = {{"bash", begin_bash, print_bash, end_bash},
              {"zsh", begin_zsh, print_zsh, end_zsh},
              {"fish", begin_fish, print_fish, end_fish}};

static const char *shell_name(size_t i)
{
    return i < COUNT(shells) ? shells[i].name : NULL;
}

static int print_script(const struct shell *shell)
{
    arguments_describe(shell->describe);
    shell->begin();
    for (size_t i = 0; i < command_count; i++) {
        describe_action(commands[i].run, commands[i].name);
    }
    shell->end();
    return EXIT_FINE;
}

int command_completion(int argc, char **argv)
{
    const struct arguments arguments = {
        .command = "completion",
        .operands = "bash|zsh|fish",
        .description = "  Prints a script with which a shell completes the commands of tandem, "
                       "their options\n"
                       "  and the values of options. The package installs all three scripts.\n",
        .examples = "  eval \"$(tandem completion bash)\"\n"
                    "  tandem completion fish > ~/.config/fish/completions/tandem.fish\n",
        .exit_status = "the output could not be written",
        .words = &(const struct argument_words){NULL, shell_name},
        .word_count = 1};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    for (size_t i = 0; i < COUNT(shells); i++) {
        if (strcmp(argv[1], shells[i].name) == 0) {
            return print_script(&shells[i]);
        }
    }
    return complain_exit(EXIT_USAGE, "completion: one of bash, zsh and fish was expected");
}
