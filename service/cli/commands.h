/* service/cli/commands.h - the subcommands of `tandem`: one function and one row in main.c
 * each.
 *
 * Each parses its own arguments (argv[0] is the subcommand's name), prints results on stdout
 * and errors on stderr as "tandem: file:line: what is wrong, what would be right".
 */
#ifndef SERVICE_CLI_COMMANDS_H
#define SERVICE_CLI_COMMANDS_H

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int command_identify(int argc, char **argv);
int command_follow(int argc, char **argv);
int command_selftest(int argc, char **argv);
int command_mission(int argc, char **argv);
int command_machines(int argc, char **argv);
int command_config(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_robot(int argc, char **argv);
int command_drive(int argc, char **argv);
int command_play(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_version(int argc, char **argv);

#endif
