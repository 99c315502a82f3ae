/* service/cli/main.c - the program: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/status.h"
#include "service/cli/commands.h"

struct command {
    const char *name;
    const char *purpose;
    int (*run)(int argc, char **argv);
};

/* clang-format off */
static const struct command commands[] = {
    {"serve",    "the daemon: compare, calibrate, serve the results",          command_serve},
    {"replay",   "run recorded messages through the code of the daemon",       command_replay},
    {"identify", "fit a model to recorded data, with error bars",             command_identify},
    {"follow",   "make one simulated robot move as another, offline",         command_follow},
    {"selftest", "inject known parameters, see whether identify finds them", command_selftest},
    {"machines", "the state machines, as tables, JSON or Graphviz",            command_machines},
    {"config",   "check a lab file and print its effective values",               command_config},
    {"play",     "publish a recording to a broker",                            command_play},
    {"robot",    "a simulated robot, or a fleet, on MQTT",                   command_robot},
    {"drive",    "command a pair with random moves",                           command_drive},
    {"mission",  "drive a pair along paths, around obstacles, and look around", command_mission},
    {"demo",     "see it work: broker, daemon, robots and driver on loopback", command_demo},
    {"version",  "print the version and the versions of the libraries",        command_version},
};
/* clang-format on */

static void print_help(FILE *out)
{
    (void)fputs("tandem - keeps a robot and its digital twin in step\n\n"
                "usage: tandem COMMAND [OPTION]...\n"
                "       tandem COMMAND --help\n\ncommands:\n",
                out);
    for (size_t i = 0; i < COUNT(commands); i++) {
        (void)fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].purpose);
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
