/* twin/machine/machine_checks.h - what can be wrong with a machine that can be built, found
 * before it runs (docs/model/machines.md).
 *
 * Guards of a state: each comparison is a linear form against a constant; all comparisons of
 * one form cut the line of its values into points and intervals. In every cell of the product
 * of all forms and truths exactly one guard has to hold. That is exact when no two forms share
 * a name; else a cell counts only when a search finds values that lie in it: a fault is shown
 * with a witness, never guessed. Values without which something is read: two dataflows. The
 * stack: every stack that some choice of arcs leads to, guards left aside.
 */
#ifndef TWIN_MACHINE_MACHINE_CHECKS_H
#define TWIN_MACHINE_MACHINE_CHECKS_H

#include "twin/machine/machine.h"

enum { MACHINE_CELLS_MAX = 65536, MACHINE_STACKS_MAX = 50000, MACHINE_SEARCH_MAX = 4000 };

/* Into the draft's diagnostics. Of a machine of which machine_build() said STATUS_OK.
 *
 *   memory  scratch  machine_checks_bytes(), aligned as by malloc() */
size_t machine_checks_bytes(void);
void machine_check(struct machine *machine, void *memory);

#endif
