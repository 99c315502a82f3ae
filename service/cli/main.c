/* service/cli/main.c - the program: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/status.h"
#include "service/cli/commands.h"

static const struct command {
    const char *name;
    const char *purpose;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND_AS(function, name, purpose) {name, purpose, command_##function},
#include "service/cli/commands.def"
#undef COMMAND_AS
};

static void print_help(FILE *out)
{
    (void)fputs("tandem - keeps a robot and its digital twin in step\n\n"
                "usage: tandem COMMAND [OPTION]...\n"
                "       tandem COMMAND --help\n\ncommands:\n",
                out);
    for (size_t i = 0; i < COUNT(commands); i++) {
        (void)fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].purpose);
    }
    (void)fputs("\nexit status: 0 fine, 1 the work failed, 2 wrong usage or configuration\n",
                out);
}

int main(int argc, char **argv)
{
    /* GSL's default handler aborts the process; every call here looks at the returned code. */
    (void)gsl_set_error_handler_off();
    /* Paho 1.3.12 would send even a loopback connection through the proxy. There is one thread
     * yet: NOLINTBEGIN(concurrency-mt-unsafe) */
    (void)unsetenv("http_proxy");
    (void)unsetenv("https_proxy");
    /* NOLINTEND(concurrency-mt-unsafe) */
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return command_version(1, argv + 1);
    }
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    (void)fprintf(stderr, "tandem: unknown command '%s', see 'tandem --help'\n", argv[1]);
    return EXIT_USAGE;
}
