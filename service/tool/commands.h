/* service/tool/commands.h - the subcommands of `tandem`: one function and one row in
 * commands.def each.
 *
 * Each parses its own arguments (arguments.h; argv[0] is the subcommand's name). It prints
 * results on stdout and errors on stderr as "tandem: file:line: what is wrong, what would be
 * right".
 */
#ifndef SERVICE_TOOL_COMMANDS_H
#define SERVICE_TOOL_COMMANDS_H

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_AS_ASKED = 3, EXIT_UNDECIDED = 4 };

#define COMMAND_AS(function, name, purpose) int command_##function(int argc, char **argv);
#include "service/tool/commands.def"
#undef COMMAND_AS

#endif
