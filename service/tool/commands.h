/* service/tool/commands.h - the subcommands of `tandem`: one function and one row in
 * commands.def each.
 *
 * Each parses its own arguments (arguments.h; argv[0] is the subcommand's name). It prints
 * results on stdout and errors on stderr as "tandem: file:line: what is wrong, what would be
 * right".
 */
#ifndef SERVICE_TOOL_COMMANDS_H
#define SERVICE_TOOL_COMMANDS_H

#include <stdbool.h>

#include "base/errors/err.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_AS_ASKED = 3, EXIT_UNDECIDED = 4 };

#define COMMAND_AS(function, name, purpose) int command_##function(int argc, char **argv);
#include "service/tool/commands.def"
#undef COMMAND_AS

/* Print "tandem: ..." and a line's end on stderr. They return false, so that a function can
 * end with `return complain(...)`. */
bool complain(const char *format, ...) PRINTF_LIKE(1, 2);
bool complain_err(const struct err *err);

/* Does the same and returns exit_status. */
int complain_exit(int exit_status, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
