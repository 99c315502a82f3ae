/* twin/machine/machine_draft.h - a machine as a reader found it, in a text or in a drawing:
 * what stands where, its expressions as trees, names not yet understood.
 *
 * A reader begins with machine_draft_start(), and then tells what it found, in the order in
 * which it stands in the file, by the functions below and those of machine_label.h. What is
 * wrong goes into the draft's diagnostics. machine_build() (machine.h) makes a machine of it.
 *
 * Texts that are given are borrowed for the draft's life, if nothing else is said:
 * machine_draft_store_text() copies them into the draft. Pure; bounded; too much of something
 * is E-TOO-MANY.
 */
#ifndef TWIN_MACHINE_MACHINE_DRAFT_H
#define TWIN_MACHINE_MACHINE_DRAFT_H

#include "base/expression/expression.h"
#include "twin/efsm/efsm.h"
#include "twin/machine/machine_diagnostics.h"

enum {
    MACHINE_NAME_MAX = EXPRESSION_NAME_MAX, /* bytes, of machines, states and ports */
    MACHINE_PURPOSE_MAX = 240,
    MACHINE_ARCS_MAX = 254,
    MACHINE_PORTS_MAX = EXPRESSION_NAMES_MAX - 2, /* all together; t and elapsed are names */
    MACHINE_ASSIGNMENTS_MAX = 2048,
    MACHINE_TEXT_MAX = 1 << 18 /* bytes of all texts together */
};

enum machine_role {
    MACHINE_UNKNOWN, /* a name that somebody used */
    MACHINE_TIME,    /* t and elapsed */
    MACHINE_CONSTANT,
    MACHINE_INPUT,
    MACHINE_VARIABLE,
    MACHINE_OUTPUT,
    MACHINE_ROLE_COUNT
};

/* A name that is declared. A variable that is declared as an output, too, is there twice. */
struct machine_draft_port {
    uint8_t name; /* in the pool */
    enum machine_role role;
    enum expression_type type; /* EXPRESSION_ANY: it is not said */
    bool has_value;            /* of a constant; of an output, where nothing gives it one */
    double value;              /* of truths 0.0 or 1.0 */
    struct machine_place place;
};

struct machine_draft_assignment {
    uint8_t name; /* in the pool */
    bool delayed; /* name+ = value: in the next cycle */
    bool sum;     /* it was written name += value */
    uint16_t value;
    struct machine_place place;
};

struct machine_draft_range { /* of the draft's assignments */
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
    uint16_t when;  /* 0: always */
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
    bool clocked;                       /* every arc waits: a cycle a period */
    bool stays;                         /* where no arc holds the machine stays, and waits */
    bool closed;                        /* names that are not declared are errors, not inputs */
    const char *initial;                /* NULL: none was found, and that is told */
    struct machine_place place;         /* of the whole */
    struct machine_place initial_place; /* of its first state's name, or arrow */
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

enum { MACHINE_TIME_NAME = 0, MACHINE_ELAPSED_NAME = 1 }; /* in the pool */

/* An empty draft: clocked, without a name. */
void machine_draft_start(struct machine_draft *draft);

/* A copy of text[bytes] in the draft, terminated; "" when there is no more room. */
const char *machine_draft_store_text(struct machine_draft *draft, const char *text,
                                     size_t bytes);

/* Can it name a state or a machine: a letter or _, then letters, digits and _? */
bool machine_is_name(const char *name);

/* Declare a port. value: NULL, or its value, a truth when type is EXPRESSION_TRUTH. What is
 * wrong is told as E-NAME: no name, a word of the language, declared twice (an output may be a
 * variable, too); false then. name is copied; "I[1]" is I_1. */
bool machine_draft_declare(struct machine_draft *draft, enum machine_role role,
                           const char *name, enum expression_type type, const double *value,
                           struct machine_place place);

/* The expression in text[bytes]. What is wrong with it is told as E-EXPR; false then. *root is
 * never 0 for what is no number. */
bool machine_draft_expression(struct machine_draft *draft, const char *text, size_t bytes,
                              struct machine_place place, uint16_t *root);

/* The same, and nothing is told. What cannot be read leaves no names behind. err: NULL is
 * allowed. */
MUST_USE enum status machine_draft_try(struct machine_draft *draft, const char *text,
                                       size_t bytes, uint16_t *root, struct err *err);

/* One more of them, to be filled in. NULL, and E-TOO-MANY, when there is no more room. */
struct machine_draft_state *machine_draft_add_state(struct machine_draft *draft,
                                                    struct machine_place place);
struct machine_draft_arc *machine_draft_add_arc(struct machine_draft *draft,
                                                struct machine_place place);

/* Assignments on their way into a draft. */
enum { MACHINE_ACTS_MAX = 64 };
struct machine_acts { /* all zero is empty */
    size_t count;
    struct machine_draft_assignment items[MACHINE_ACTS_MAX];
};

/* One more of them. False, and E-TOO-MANY, when there is no more room. */
bool machine_draft_act(struct machine_draft *draft, struct machine_acts *acts,
                       const struct machine_draft_assignment *assignment);

/* Put them into the draft: the range that a state, an arc or the start has of them. */
struct machine_draft_range machine_draft_add_acts(struct machine_draft *draft,
                                                  const struct machine_acts *acts);

/* NULL when there is none. */
const struct machine_draft_state *machine_draft_find_state(const struct machine_draft *draft,
                                                           const char *name);

#endif
