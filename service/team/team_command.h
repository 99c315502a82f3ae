/* service/team/team_command.h - the subcommands of `tandem team`: one function and one row of
 * team_command.c each. */
#ifndef SERVICE_TEAM_TEAM_COMMAND_H
#define SERVICE_TEAM_TEAM_COMMAND_H

/* argv[0] is the word behind `tandem team`; returns the exit status. */
int team_check_command(int argc, char **argv);
int team_simulate_command(int argc, char **argv);
int team_plan_command(int argc, char **argv);
int team_run_command(int argc, char **argv);

#endif
