/* twin/machine/machine_parts.h - private to the files that build and check machines. */
#ifndef TWIN_MACHINE_MACHINE_PARTS_H
#define TWIN_MACHINE_MACHINE_PARTS_H

#include "twin/machine/machine.h"

/* Finds the role of each name, from declarations and uses (machine_names.c). */
void machine_find_roles(struct machine *machine);

/* Finds the type of each name and expression. Call it after machine_find_roles(). */
void machine_find_types(struct machine *machine);

/* Makes the engine's table of states, arcs and variables. Call it after
 * machine_find_roles(). */
void machine_make_table(struct machine *machine);

/* Iterator over the names of an expression in their order, each once; *at is the position.
 * defined: includes names that it only tests for a value. */
struct machine_names {
    size_t count;
    uint8_t name[EXPRESSION_NAMES_MAX];
};
void machine_list_names(const struct expression_pool *pool, uint16_t root, bool defined,
                        struct machine_names *names);

#endif
