/* service/machine/machine_steps.h - runs machines on inputs from a file and writes a step
 * table.
 *
 * Several machines form a network: an output with the name of another machine's input feeds
 * that input. All other inputs come from columns of the file. All machines plan, then all
 * update.
 */
#ifndef SERVICE_MACHINE_MACHINE_STEPS_H
#define SERVICE_MACHINE_MACHINE_STEPS_H

#include <stdio.h>

#include "twin/machine/machine_run.h"

enum { STEPS_MACHINES_MAX = 16 };

struct steps_options {
    const char *inputs; /* a CSV file; NULL: no input is needed */
    int64_t period_us;
    int64_t cycles; /* upper bound; without a file, the exact number */
};

/* Write the step table to out, one row per cycle: inputs, state, variables, outputs, stack,
 * then the arcs that fired, the next state and whether it waits. The run ends with the file, at
 * a fault, or when no machine is active.
 *
 *   report  receives the arcs that never fired; NULL: no report
 *
 * Returns the exit status of the command. EXIT_FAILED, with a message on stderr, means a fault
 * (unless report is NULL), an input without a column, or a file that cannot be read or written.
 */
int steps_run(const struct machine *const *machines, size_t count,
              const struct steps_options *options, FILE *out, FILE *report);

/* Write ",state" and the further columns of a machine, up to "blocked"; before: in front of
 * each name. */
void steps_write_columns(const struct machine *machine, const char *before, FILE *out);

#endif
