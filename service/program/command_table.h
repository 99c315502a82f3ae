/* service/program/command_table.h - the table of subcommands, for the program's own commands.
 *
 * main.c holds it, because what calls every room belongs to no room.
 */
#ifndef SERVICE_PROGRAM_COMMAND_TABLE_H
#define SERVICE_PROGRAM_COMMAND_TABLE_H

#include <stddef.h>

struct command {
    const char *name;
    const char *purpose;
    int (*run)(int argc, char **argv);
};

extern const struct command commands[];
extern const size_t command_count;

#endif
