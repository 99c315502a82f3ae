/* service/machine/machine_steps.h - machines run over inputs from a file, into a step table.
 *
 * Machines that go together are a network: an output named as an input of another one is that
 * input, all others come from columns of the file. All plan, then all update.
 */
#ifndef SERVICE_MACHINE_MACHINE_STEPS_H
#define SERVICE_MACHINE_MACHINE_STEPS_H

#include <stdio.h>

#include "twin/machine/machine_run.h"

enum { STEPS_MACHINES_MAX = 16 };

struct steps_options {
    const char *inputs; /* a CSV file; NULL: there is none, and nothing asks for one */
    int64_t period_us;
    int64_t cycles; /* at most; of a run without a file: so many */
};

/* The step table goes to out, one row a cycle: inputs, state, variables, outputs, stack, then
 * the arcs that fired, the next state and whether it waits. It ends with the file, with a
 * machine at a fault, or when none is active.
 *
 *   report  where to tell which arcs were never taken; NULL: nowhere
 *
 * Returns the exit status of the command: EXIT_FAILED after a message on stderr, for a fault
 * (report is not NULL), an input that no column gives, a file that cannot be read or written.
 */
int steps_run(const struct machine *const *machines, size_t count,
              const struct steps_options *options, FILE *out, FILE *report);

#endif
