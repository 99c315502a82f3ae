/* service/team/team_command.c - `tandem team`: calls the subcommand. */
#include "service/team/team_command.h"

#include "base/errors/status.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

static const struct argument_action actions[] = {{"check", team_check_command},
                                                 {"simulate", team_simulate_command},
                                                 {"run", team_run_command}};

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
            "  'tandem team ACTION --help' has details. FILE is a lab file with "
            "'teams:', or "
            "a\n"
            "  file with a team of its own (docs/model/teams.md).\n",
        .exit_status = "the work failed",
        .actions = actions,
        .action_count = COUNT(actions)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    return exit_status == ARGUMENTS_PARSED ? EXIT_USAGE : exit_status;
}
