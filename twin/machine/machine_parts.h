/* twin/machine/machine_parts.h - what the files that build and check machines share. */
#ifndef TWIN_MACHINE_MACHINE_PARTS_H
#define TWIN_MACHINE_MACHINE_PARTS_H

#include "twin/machine/machine.h"

/* Which name is what: from declarations and from how they are used (machine_names.c). */
void machine_find_roles(struct machine *machine);

/* Of which type everything is. After machine_find_roles(). */
void machine_find_types(struct machine *machine);

/* The engine's table, of states, arcs and variables. After machine_find_roles(). */
void machine_make_table(struct machine *machine);

/* Names of an expression in the order in which they stand in it, each once, from *at on in the
 * walk. defined: those of which it asks only whether they have a value, too. */
struct machine_names {
    size_t count;
    uint8_t name[EXPRESSION_NAMES_MAX];
};
void machine_list_names(const struct expression_pool *pool, uint16_t root, bool defined,
                        struct machine_names *names);

#endif
