/* service/machine/machines_run.c - `tandem machines run`: runs machines from files, cycle by
 * cycle.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/machine/machine_list.h"
#include "service/machine/machine_steps.h"
#include "service/machine/machines_parts.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

static const char description[] =
    "  Runs machines of files over inputs, one row of the CSV file per cycle, and writes a\n"
    "  step table: inputs, state, variables, outputs and stack, then the numbers of the arcs\n"
    "  that fired, the next state, and whether the machine waits. An empty input has no\n"
    "  value, like one without a connection; truth values are 0 and 1. Several machines run\n"
    "  together: an output with the name of another machine's input is that input.\n"
    "\n"
    "  It ends with the file, when no machine is active any more, or at a fault, which it\n"
    "  prints. Then it lists the arcs that never fired and the states that were never "
    "active.\n";

static int run_machines(char **paths, const struct steps_options *options, const char *path)
{
    struct machine_list list = {0};
    int result = machine_list_load(&list, paths);
    FILE *out = stdout;
    if (result == EXIT_FINE && list.count > STEPS_MACHINES_MAX) {
        complain("machines run: at most %d machines at once", STEPS_MACHINES_MAX);
        result = EXIT_USAGE;
    }
    if (result == EXIT_FINE && path) {
        out = fopen(path, "w");
    }
    if (result == EXIT_FINE && out) {
        const struct machine *machines[STEPS_MACHINES_MAX];
        for (size_t i = 0; i < list.count; i++) {
            machines[i] = list.machines[i];
        }
        result = steps_run(machines, list.count, options, out, path ? stdout : stderr);
    }
    const bool bad = !out || ferror(out) != 0;
    if (bad || (out == stdout ? fflush(out) : fclose(out)) != 0) {
        (void)fputs("tandem: machines run: ", stderr);
        perror(path ? path : "standard output");
        result = EXIT_FAILED;
    }
    machine_list_free(&list);
    return result;
}

int machines_run(int argc, char **argv)
{
    const char *inputs = NULL;
    const char *out = NULL;
    double period_s = 0.025;
    double cycles = 1e6;
    const struct argument rows[] = {
        {"inputs", 0, ARGUMENT_TEXT, &inputs, 0, 0, "CSV",
         "a column for each input, a row for each cycle (- is standard input)"},
        {"out", 0, ARGUMENT_TEXT, &out, 0, 0, "CSV", "the step table (standard output)"},
        {"period", 0, ARGUMENT_REAL, &period_s, 1e-6, 3600, "S", "from cycle to cycle (0.025)"},
        {"cycles", 0, ARGUMENT_REAL, &cycles, 1, 1e9, "N",
         "most cycles; a machine without inputs runs this many (1000000)"},
    };
    const struct arguments arguments = {
        .command = "machines run",
        .purpose = "run machines of files over inputs, step by step",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem machines run counter.yaml --inputs pulses.csv --out steps.csv\n",
        .exit_status =
            "a machine has errors or stopped at a fault, or a file could not be read "
            "or\n                 written",
        ARGUMENT_ROWS(rows)};
    const int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    const struct steps_options options = {
        .inputs = inputs, .period_us = llround(period_s * 1e6), .cycles = llround(cycles)};
    return run_machines(argv + 1, &options, out);
}
