/* service/program/main.c - the program: finds the subcommand and runs it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/text/edit_distance.h"
#include "identification/model/model_check.h"
#include "service/program/command_table.h"
#include "service/tool/commands.h"

const struct command commands[] = {
#define COMMAND_AS(function, name, purpose) {name, purpose, command_##function},
#include "service/tool/commands.def"
#undef COMMAND_AS
};
const size_t command_count = COUNT(commands);

static void print_help(FILE *out)
{
    (void)fputs("tandem - keeps a robot and its digital twin in step\n\n"
                "usage: tandem COMMAND [OPTION]...\n"
                "       tandem help COMMAND\n\ncommands:\n",
                out);
    for (size_t i = 0; i < COUNT(commands); i++) {
        (void)fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].purpose);
    }
    (void)fputs("\nexit status: 0 fine, 1 the work failed, 2 wrong usage or configuration\n",
                out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int refuse_command(const char *name)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < COUNT(commands); i++) {
        edit_guess_try(&guess, name, commands[i].name);
    }
    return complain_exit(EXIT_USAGE, "unknown command '%s'%s, see 'tandem --help'", name,
                         edit_guess_text(&guess, meant));
}

/* All that was printed must have been written. */
static int finish_output(int exit_status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return exit_status;
    }
    complain("standard output: cannot be written");
    return exit_status == EXIT_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    /* GSL's default handler aborts the process; every call here checks the returned code. */
    (void)gsl_set_error_handler_off();
    /* Paho 1.3.12 would send even a loopback connection through the proxy. Only one thread
     * exists yet: NOLINTBEGIN(concurrency-mt-unsafe) */
    (void)unsetenv("http_proxy");
    (void)unsetenv("https_proxy");
    /* NOLINTEND(concurrency-mt-unsafe) */
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const bool help = strcmp(argv[1], "help") == 0;
    if ((help && argc == 2) || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        return command_version(1, argv + 1);
    }
    if (help) { /* one command's own help */
        static char page[] = "--help";
        argv[1] = argv[2];
        argv[2] = page;
    }
    char problem[MODEL_PROBLEM_MAX];
    if (!model_rows_check(problem)) {
        return complain_exit(EXIT_FAILED, "%s", problem);
    }
    const struct command *command = find_command(argv[1]);
    if (command) {
        return finish_output(command->run(argc - 1, argv + 1));
    }
    return refuse_command(argv[1]);
}
