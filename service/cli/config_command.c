/* tandem config - checks a lab file, or writes what is made from the tables of its keys. */
#include <stdio.h>
#include <string.h>

#include "config/lab_file.h"
#include "config/text_file.h"
#include "service/cli/commands.h"

static const char help[] =
    "usage: tandem config LAB.yaml\n"
    "       tandem config --docs | --schema\n"
    "\n"
    "Checks a lab file and prints its effective values, which are a lab file again.\n"
    "All faults are reported at once: tandem: file:line:column: what is wrong, what would be "
    "right.\n"
    "\n"
    "  --docs     print the reference of all keys (Markdown)\n"
    "  --schema   print the JSON Schema of lab files\n"
    "\n"
    "exit status: 0 the file is fine, 2 it is not\n";

static int check(const char *path)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    if (lab_file_load(path, &lab, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    lab_file_print(&lab, stdout);
    lab_file_free(&lab);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

int command_config(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        (void)fputs(help, stdout);
        return EXIT_FINE;
    }
    if (argc == 2 && strcmp(argv[1], "--docs") == 0) {
        lab_file_print_docs(stdout);
        return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
    }
    if (argc == 2 && strcmp(argv[1], "--schema") == 0) {
        const bool fine = lab_file_print_schema(stdout) == STATUS_OK && fflush(stdout) == 0;
        return fine ? EXIT_FINE : EXIT_FAILED;
    }
    if (argc == 2 && argv[1][0] != '-') {
        return check(argv[1]);
    }
    (void)fputs("tandem: config: one lab file is wanted, see 'tandem config --help'\n", stderr);
    return EXIT_USAGE;
}
