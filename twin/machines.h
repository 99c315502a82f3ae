/* twin/machines.h - every state machine of the product, in one list.
 *
 * For `tandem machines`, the dashboard's diagrams and the test that checks them all. A new
 * machine is one row in machines.def. Pure.
 */
#ifndef TWIN_MACHINES_H
#define TWIN_MACHINES_H

#include <stddef.h>

#include "twin/efsm/efsm.h"

extern const struct efsm_table *const machines[]; /* [machine_count], names are unique */
extern const size_t machine_count;

/* The table of this name, letter case ignored; NULL when there is none. */
const struct efsm_table *machine_find(const char *name);

#endif
