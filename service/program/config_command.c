/* service/program/config_command.c - tandem config: checks a lab file, or prints documents made
 * from the key tables. */
#include <stdio.h>

#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

static int check_file(const char *path)
{
    struct lab_file lab = {0};
    if (!lab_argument_load("config", path, &lab)) {
        return EXIT_USAGE;
    }
    lab_file_print(&lab, stdout);
    lab_file_free(&lab);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

int command_config(int argc, char **argv)
{
    bool docs = false;
    bool schema = false;
    const struct argument rows[] = {
        {"docs", 0, ARGUMENT_FLAG, &docs, 0, 0, NULL,
         "print the reference of all keys (Markdown)"},
        {"schema", 0, ARGUMENT_FLAG, &schema, 0, 0, NULL, "print the JSON Schema of lab files"},
    };
    const struct arguments arguments = {
        .command = "config",
        .operands = "[LAB.yaml]",
        .description =
            "  Checks a lab file and prints its effective values, which are a lab file again.\n"
            "  All faults are reported at once: tandem: file:line:column: what is wrong, what\n"
            "  would be right. Or writes documents made from the table of all keys.\n",
        .exit_status = "the output could not be written",
        .rows = rows,
        .row_count = COUNT(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    const char *path = argv[1];
    if (docs + schema + (path != NULL) != 1 || (path && argv[2])) {
        (void)fputs("tandem: config: one lab file is wanted, see 'tandem config --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    if (path) {
        return check_file(path);
    }
    if (docs) {
        lab_file_print_docs(stdout);
    }
    const bool fine = docs || lab_file_print_schema(stdout) == STATUS_OK;
    return fine && fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}
