/* service/team/team_command.c - `tandem team`: calls the subcommand. */
#include "service/team/team_command.h"

#include "base/errors/status.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

static const struct argument_action actions[] = {{"check", team_check_command},
                                                 {"simulate", team_simulate_command},
                                                 {"plan", team_plan_command},
                                                 {"run", team_run_command}};

int command_team(int argc, char **argv)
{
    const struct arguments arguments = {
        .command = "team",
        .operands = "ACTION FILE",
        .description =
            "  check FILE     find all faults of a team's file, and try every order in which "
            "the work\n"
            "                 can go: can a deadlock happen, and how?\n"
            "  simulate FILE  predict how long a team takes, with error bars: who waits for "
            "whom,\n"
            "                 which resource is short, what would a change bring?\n"
            "  plan FILE      show an order and start times of a team's tasks, so that nobody "
            "waits\n"
            "  run TEAM       start a team of a running daemon and print what it does\n"
            "\n"
            "  'tandem team ACTION --help' has details. FILE is a lab file with 'teams:', or a "
            "file\n"
            "  with one team (docs/model/teams.md).\n",
        .exit_status = "the work failed",
        .actions = actions,
        .action_count = COUNT(actions)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    return exit_status == ARGUMENTS_PARSED ? EXIT_USAGE : exit_status;
}
