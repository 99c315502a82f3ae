/* twin/machine/machine_checks.h - static checks of a machine that was built, before it runs
 * (docs/model/machines.md).
 *
 * Guards of a state: each comparison is a linear form against a constant. All comparisons of
 * one form cut its number line into points and intervals. In every cell of the product of all
 * forms and truth values exactly one guard must hold. This is exact if no two forms share a
 * name. Otherwise a cell counts only if a search finds values in it, so a fault is proved by a
 * witness, never guessed. Undefined values: two dataflow analyses. Stack: every stack that some
 * choice of arcs can reach, ignoring guards.
 */
#ifndef TWIN_MACHINE_MACHINE_CHECKS_H
#define TWIN_MACHINE_MACHINE_CHECKS_H

#include "twin/machine/machine.h"

enum { MACHINE_CELLS_MAX = 65536, MACHINE_STACKS_MAX = 50000, MACHINE_SEARCH_MAX = 4000 };

/* Runs the checks; diagnostics go into the draft. Only after machine_build() returned
 * STATUS_OK.
 *
 *   memory  scratch  machine_checks_bytes(), aligned as by malloc() */
size_t machine_checks_bytes(void);
void machine_check(struct machine *machine, void *memory);

#endif
