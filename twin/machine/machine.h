/* twin/machine/machine.h - a machine that somebody wrote or drew, understood: ports with types,
 * a table for the engine (twin/efsm/efsm.h), and programs for what its arcs ask and assign.
 *
 * One block of memory, large: who reads allocates it (all zero), reads into its draft and calls
 * machine_build(). Whoever runs it borrows it; it does not change afterwards. Pure.
 *
 * Ports stand in the order of their declaration, those that were found by their use behind. A
 * name is named by its place in the pool; so are the values that programs take.
 */
#ifndef TWIN_MACHINE_MACHINE_H
#define TWIN_MACHINE_MACHINE_H

#include "base/expression/expression_program.h"
#include "twin/machine/machine_draft.h"

enum {
    MACHINE_NONE = 255, /* no port */
    MACHINE_STORE_MAX = 1 << 20
};

struct machine_port {
    uint8_t name; /* in the pool, which has its text, its type and a constant's value */
    bool found;   /* it is not declared */
    bool has_otherwise;
    double otherwise; /* of an output, where nothing gives it a value */
    uint8_t variable; /* of an output that is a variable, too: which one. MACHINE_NONE */
    struct machine_place place;
};

struct machine_assignment {
    uint8_t to;   /* the variable's place among the variables, or the output's */
    uint8_t name; /* in the pool */
    uint16_t value;
    /* Of one that is not delayed, or of a start: its value is output 0. */
    const struct expression_program *program;
};

struct machine_range { /* of the machine's assignments */
    uint16_t first, count;
};

/* What goes with an arc of the table, at the same place. */
struct machine_arc {
    uint16_t when;                          /* root of its guard; 0: always */
    struct machine_range delayed, outputs;  /* each name once */
    const struct expression_program *guard; /* its value is output 0; NULL: always */
    const struct expression_program *act;   /* output k is delayed assignment k; NULL: none */
    struct machine_place place;
};

struct machine_state {
    struct machine_range outputs;
    struct machine_place place;
};

struct machine {
    struct machine_draft draft; /* as it was read; the table borrows its texts */
    bool built; /* it was understood, and can be shown, whatever the checks say */
    size_t constant_count, input_count, variable_count, output_count;
    struct machine_port constants[MACHINE_PORTS_MAX], inputs[MACHINE_PORTS_MAX],
        variables[EFSM_CELLS_MAX], outputs[MACHINE_PORTS_MAX];
    enum machine_role roles[EXPRESSION_NAMES_MAX]; /* of each name; a variable that is an
                                                      output, too, is a variable */
    uint8_t places[EXPRESSION_NAMES_MAX];          /* of a port among those of its role */
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

    size_t store_bytes; /* programs, one after the other, cut to their lengths */
    _Alignas(16) unsigned char store[MACHINE_STORE_MAX];
};

/* Understand what was read into machine->draft: which name is what and of which type, what is
 * assigned where. What is wrong is told in the draft's diagnostics: E-TYPE, E-NAME, E-CONFLICT,
 * E-AT-ONCE, E-OUTPUT-READ, E-INPUT-ASSIGNED, E-NO-SUCH-STATE, E-TOO-MANY, N-INPUT, N-SUM. The
 * table is complete then, programs are not there yet.
 *
 * STATUS_E_PARSE when there are errors, other than conflicts: then nothing more can be said of
 * it. */
MUST_USE enum status machine_build(struct machine *machine);

/* Make its programs; it can be run then. Only of a machine without errors.
 *
 *   memory  scratch  machine_compile_bytes(), aligned as by malloc()
 *
 * STATUS_E_FULL, and E-TOO-MANY, when they are too long. */
size_t machine_compile_bytes(void);
MUST_USE enum status machine_compile(struct machine *machine, void *memory);

/* Of a name in the machine's pool. */
static inline enum expression_type machine_type(const struct machine *machine, uint8_t name)
{
    return machine->draft.pool.names[name].type;
}

static inline const char *machine_name(const struct machine *machine, uint8_t name)
{
    return machine->draft.pool.names[name].text;
}

#endif
