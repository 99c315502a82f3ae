/* twin/machine/machine.h - a user's state machine after analysis: typed ports, a table for the
 * engine (twin/efsm/efsm.h), and programs for guards and assignments.
 *
 * It is one large block of memory. The reader allocates it (all zero), parses into its draft
 * and calls machine_build(). Users borrow it; it does not change afterwards. Pure.
 *
 * Ports are in the order of their declaration, followed by those found by their use. A name is
 * identified by its index in the pool, and so are the values that programs read.
 */
#ifndef TWIN_MACHINE_MACHINE_H
#define TWIN_MACHINE_MACHINE_H

#include "base/expression/expression_program.h"
#include "twin/machine/machine_draft.h"

enum {
    MACHINE_NONE = 255, /* means no port */
    MACHINE_STORE_MAX = 1 << 20
};

struct machine_port {
    uint8_t name; /* index in the pool, which has its text, type and constant value */
    bool found;   /* not declared, found by its use */
    bool has_otherwise;
    double otherwise; /* output: value if nothing assigns it */
    uint8_t variable; /* output that is also a variable: index of the variable. MACHINE_NONE */
    struct machine_place place;
};

struct machine_assignment {
    uint8_t to;   /* index of the variable or output */
    uint8_t name; /* index in the pool */
    uint16_t value;
    /* For a start, or an assignment without delay: output 0 is its value. */
    const struct expression_program *program;
};

struct machine_range { /* A range of the machine's assignments. */
    uint16_t first, count;
};

/* Data of an arc of the table, at the same index. */
struct machine_arc {
    uint16_t when;                          /* root of its guard; 0: always true */
    struct machine_range delayed, outputs;  /* each name once */
    const struct expression_program *guard; /* output 0 is its value; NULL: always true */
    const struct expression_program *act;   /* output k is delayed assignment k; NULL: none */
    struct machine_place place;
};

struct machine_state {
    struct machine_range outputs;
    struct machine_place place;
};

struct machine {
    struct machine_draft draft; /* as parsed; the table borrows its texts */
    bool built; /* analysis succeeded, so it can be shown, whatever the checks find */
    size_t constant_count, input_count, variable_count, output_count;
    struct machine_port constants[MACHINE_PORTS_MAX], inputs[MACHINE_PORTS_MAX],
        variables[EFSM_CELLS_MAX], outputs[MACHINE_PORTS_MAX];
    enum machine_role roles[EXPRESSION_NAMES_MAX]; /* role of each name; a variable that is also
                                                      an output is a variable */
    uint8_t places[EXPRESSION_NAMES_MAX];          /* index of a port within its role */
    struct machine_range starts;
    struct machine_state states[EFSM_STATES_MAX];
    struct machine_arc arcs[MACHINE_ARCS_MAX];
    size_t assignment_count;
    struct machine_assignment assignments[MACHINE_ASSIGNMENTS_MAX];

    /* For the engine, with the functions of machine_run.h. */
    struct efsm_table table;
    struct efsm_state table_states[EFSM_STATES_MAX];
    struct efsm_arc table_arcs[MACHINE_ARCS_MAX];
    const char *cells[EFSM_CELLS_MAX], *input_texts[MACHINE_PORTS_MAX];

    size_t store_bytes; /* programs one after the other, cut to their lengths */
    _Alignas(16) unsigned char store[MACHINE_STORE_MAX];
};

/* Analyses machine->draft: roles and types of names, targets of assignments. Diagnostics go
 * into the draft: E-TYPE, E-NAME, E-CONFLICT, E-AT-ONCE, E-OUTPUT-READ, E-INPUT-ASSIGNED,
 * E-NO-SUCH-STATE, E-TOO-MANY, N-INPUT, N-SUM. The table is then complete, but without
 * programs.
 *
 * STATUS_E_PARSE if there are errors other than conflicts; further checks are then
 * impossible. */
MUST_USE enum status machine_build(struct machine *machine);

/* Compiles its programs, so that it can run. Only for a machine without errors.
 *
 *   memory  scratch  machine_compile_bytes(), aligned as by malloc()
 *
 * STATUS_E_FULL, and E-TOO-MANY, if they are too long. */
size_t machine_compile_bytes(void);
MUST_USE enum status machine_compile(struct machine *machine, void *memory);

/* Returns the type of a name in the machine's pool. */
static inline enum expression_type machine_type(const struct machine *machine, uint8_t name)
{
    return machine->draft.pool.names[name].type;
}

static inline const char *machine_name(const struct machine *machine, uint8_t name)
{
    return machine->draft.pool.names[name].text;
}

#endif
