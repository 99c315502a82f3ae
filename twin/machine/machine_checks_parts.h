/* twin/machine/machine_checks_parts.h - private to the files of machine_checks. */
#ifndef TWIN_MACHINE_MACHINE_CHECKS_PARTS_H
#define TWIN_MACHINE_MACHINE_CHECKS_PARTS_H

#include "twin/machine/machine_cells.h"
#include "twin/machine/machine_checks.h"
#include "twin/machine/machine_parts.h"

/* A state with its stack, as some choice of arcs reaches it. */
struct stack_case {
    uint8_t state, depth;
    uint8_t stack[EFSM_STACK_MAX];
    uint32_t before; /* previous case + 1; 0: it is the first */
    uint32_t next;   /* next case with the same hash, + 1 */
};

enum { STACK_BUCKETS = 65536 };

struct stack_search {
    uint32_t count;
    bool cut; /* there are more */
    uint32_t buckets[STACK_BUCKETS];
    struct stack_case cases[MACHINE_STACKS_MAX];
    bool reported[MACHINE_ARCS_MAX][3];
};

struct checks {
    struct machine *machine;
    double work;      /* computed nodes so far */
    uint64_t reached; /* bits of the states that arcs can reach */
    struct cells cells;
    struct stack_search search;
};

static inline struct machine_diagnostics *checks_list(struct checks *c)
{
    return &c->machine->draft.diagnostics;
}

static inline const char *checks_state(const struct checks *c, uint8_t state)
{
    return c->machine->draft.states[state].name;
}

/* Is it drawn, not written? Then diagnostics speak of arrows, not arcs. */
static inline bool checks_is_drawn(const struct checks *c)
{
    return c->machine->draft.place.words != NULL;
}

/* Checks the guards of one state (machine_guards.c). */
void check_guards(struct checks *c, uint8_t state);

/* Checks the stack (machine_stack.c). */
void check_stack(struct checks *c);

#endif
