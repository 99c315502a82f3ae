/* twin/machines.h - the list of all state machines of the product.
 *
 * It serves `tandem machines`, the dashboard's diagrams and the test that checks them all. A
 * new machine is one row in machines.def. Pure.
 */
#ifndef TWIN_MACHINES_H
#define TWIN_MACHINES_H

#include <stddef.h>

#include "twin/efsm/efsm.h"

extern const struct efsm_table *const machines[]; /* [machine_count], names are unique */
extern const size_t machine_count;

/* Finds the table of this name, ignoring case; NULL if there is none. */
const struct efsm_table *machine_find(const char *name);

#endif
