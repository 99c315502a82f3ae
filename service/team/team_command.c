/* service/team/team_command.c - `tandem team`: calls the subcommand. */
#include "service/team/team_command.h"

#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"
#include "base/text/edit_distance.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} actions[] = {{"check", team_check_command},
               {"simulate", team_simulate_command},
               {"run", team_run_command}};

static int refuse_action(const char *name)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < COUNT(actions); i++) {
        edit_guess_try(&guess, name, actions[i].name);
    }
    (void)fprintf(stderr, "tandem: unknown command 'team %s'%s, see 'tandem team --help'\n",
                  name, edit_guess_text(&guess, meant));
    return EXIT_USAGE;
}

int command_team(int argc, char **argv)
{
    const struct arguments arguments = {
        .command = "team",
        .operands = "ACTION FILE",
        .description =
            "  check FILE     every fault of a team's file, and every order in which its work\n"
            "                 can go: is there a deadlock, and what leads into it\n"
            "  simulate FILE  how long a team takes, with error bars: who waits for whom,\n"
            "                 which resource is short, what if something were different\n"
            "  run TEAM       start a team in a lab that is being served, and print what it "
            "does\n\n"
            "  'tandem team ACTION --help' tells more. FILE is a lab file with "
            "'teams:', or "
            "a\n"
            "  file with a team of its own (docs/model/teams.md).\n",
        .exit_status = "the work failed"};
    for (size_t i = 0; argc > 1 && i < COUNT(actions); i++) {
        if (strcmp(argv[1], actions[i].name) == 0) {
            return actions[i].run(argc - 1, argv + 1);
        }
    }
    if (argc > 1 && argv[1][0] != '-') {
        return refuse_action(argv[1]);
    }
    const int exit_status = arguments_parse(&arguments, argc, argv);
    return exit_status == ARGUMENTS_PARSED ? EXIT_USAGE : exit_status;
}
