/* twin/machine/machine_draft.h - a machine as parsed from a text or drawing: places,
 * expressions as trees, names without meaning yet.
 *
 * A reader calls machine_draft_start() and then reports what it finds, in the order of the
 * file, with the functions below and those of machine_label.h. Errors become diagnostics of the
 * draft. machine_build() (machine.h) makes a machine of it.
 *
 * Texts are borrowed for the draft's life, unless stated otherwise: machine_draft_store_text()
 * copies them into the draft. Pure; bounded; exceeding a limit is E-TOO-MANY.
 */
#ifndef TWIN_MACHINE_MACHINE_DRAFT_H
#define TWIN_MACHINE_MACHINE_DRAFT_H

#include "base/expression/expression.h"
#include "twin/efsm/efsm.h"
#include "twin/machine/machine_diagnostics.h"

enum {
    MACHINE_NAME_MAX = EXPRESSION_NAME_MAX, /* bytes of names of machines, states and ports */
    MACHINE_PURPOSE_MAX = 240,
    MACHINE_ARCS_MAX = 254,
    MACHINE_PORTS_MAX = EXPRESSION_NAMES_MAX - 2, /* in all; t and elapsed are names, too */
    MACHINE_ASSIGNMENTS_MAX = 2048,
    MACHINE_TEXT_MAX = 1 << 18 /* bytes of all texts together */
};

enum machine_role {
    MACHINE_UNKNOWN, /* used but not declared */
    MACHINE_TIME,    /* t and elapsed */
    MACHINE_CONSTANT,
    MACHINE_INPUT,
    MACHINE_VARIABLE,
    MACHINE_OUTPUT,
    MACHINE_ROLE_COUNT
};

/* A declared name. A variable that is also declared as an output has two entries. */
struct machine_draft_port {
    uint8_t name; /* index in the pool */
    enum machine_role role;
    enum expression_type type; /* EXPRESSION_ANY: not declared */
    bool has_value;            /* constant: its value; output: its default */
    double value;              /* truth values are 0.0 or 1.0 */
    struct machine_place place;
};

struct machine_draft_assignment {
    uint8_t name; /* index in the pool */
    bool delayed; /* "name+ = value": takes effect in the next cycle */
    bool sum;     /* written as "name += value" */
    uint16_t value;
    struct machine_place place;
};

struct machine_draft_range { /* A range of the draft's assignments. */
    uint16_t first, count;
};

struct machine_draft_state {
    const char *name;
    bool final;
    struct machine_draft_range outputs;
    struct machine_place place;
};

enum machine_waits { MACHINE_WAITS_UNSAID, MACHINE_WAITS_NOT, MACHINE_WAITS };

struct machine_draft_arc {
    const char *from;
    const char *to; /* NULL: the state on top of the stack */
    uint16_t when;  /* 0: always true */
    struct machine_draft_range acts;
    bool empties;
    unsigned pops;
    size_t push_count;
    const char *push[EFSM_PUSH_MAX]; /* the last one ends on top */
    enum machine_waits waits;
    struct machine_place place;
};

struct machine_draft {
    const char *name, *purpose;
    bool clocked;                       /* every arc waits: one cycle per period */
    bool stays;                         /* if no arc holds, the machine stays and waits */
    bool closed;                        /* undeclared names are errors, not inputs */
    const char *initial;                /* NULL: not found, which is reported */
    struct machine_place place;         /* of the whole machine */
    struct machine_place initial_place; /* place of its first state's name, or arrow */
    struct machine_draft_range starts;  /* all delayed */
    size_t port_count, state_count, arc_count, assignment_count, text_bytes;
    struct machine_draft_port ports[2 * MACHINE_PORTS_MAX];
    struct machine_draft_state states[EFSM_STATES_MAX];
    struct machine_draft_arc arcs[MACHINE_ARCS_MAX];
    struct machine_draft_assignment assignments[MACHINE_ASSIGNMENTS_MAX];
    struct expression_pool pool; /* open; its first names are t and elapsed */
    struct machine_diagnostics diagnostics;
    char text[MACHINE_TEXT_MAX];
};

enum { MACHINE_TIME_NAME = 0, MACHINE_ELAPSED_NAME = 1 }; /* indices in the pool */

/* Starts an empty draft: clocked, without a name. */
void machine_draft_start(struct machine_draft *draft);

/* Copies text[bytes] into the draft, terminated; "" if there is no more room. */
const char *machine_draft_store_text(struct machine_draft *draft, const char *text,
                                     size_t bytes);

/* Can it name a state or a machine: a letter or _, then letters, digits and _? */
bool machine_is_name(const char *name);

/* Declares a port. value: NULL, or its value, a truth value if type is EXPRESSION_TRUTH. False
 * with E-NAME if the name is invalid, a word of the language, or declared twice (an output may
 * also be a variable). name is copied; "I[1]" becomes I_1. */
bool machine_draft_declare(struct machine_draft *draft, enum machine_role role,
                           const char *name, enum expression_type type, const double *value,
                           struct machine_place place);

/* Parses the expression in text[bytes]. False with E-EXPR if it is invalid. *root is 0 only for
 * the number zero. */
bool machine_draft_expression(struct machine_draft *draft, const char *text, size_t bytes,
                              struct machine_place place, uint16_t *root);

/* Parses without diagnostics. A failure adds no names. err may be NULL. */
MUST_USE enum status machine_draft_try(struct machine_draft *draft, const char *text,
                                       size_t bytes, uint16_t *root, struct err *err);

/* Adds an item to be filled in. NULL, and E-TOO-MANY, if there is no more room. */
struct machine_draft_state *machine_draft_add_state(struct machine_draft *draft,
                                                    struct machine_place place);
struct machine_draft_arc *machine_draft_add_arc(struct machine_draft *draft,
                                                struct machine_place place);

/* Assignments that are being collected for a draft. */
enum { MACHINE_ACTS_MAX = 64 };
struct machine_acts { /* All zero is empty. */
    size_t count;
    struct machine_draft_assignment items[MACHINE_ACTS_MAX];
};

/* Adds an assignment. False, and E-TOO-MANY, if there is no more room. */
bool machine_draft_act(struct machine_draft *draft, struct machine_acts *acts,
                       const struct machine_draft_assignment *assignment);

/* Appends them to the draft and returns their range, for a state, an arc or the start. */
struct machine_draft_range machine_draft_add_acts(struct machine_draft *draft,
                                                  const struct machine_acts *acts);

/* Returns NULL if there is none. */
const struct machine_draft_state *machine_draft_find_state(const struct machine_draft *draft,
                                                           const char *name);

#endif
